"""Files that one version of pandas writes and another one reads; .ci/versions has both."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.versions
SCRIPT = Path(__file__).parents[1] / "support" / "exchanged.py"
OTHER = os.environ.get("WF_TEST_OTHER_PYTHON", sys.executable)


def ran(python, *words):
    """Run the script in an interpreter, and return its output."""
    done = subprocess.run(
        [python, SCRIPT, *words], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("writer,reader", [(OTHER, sys.executable), (sys.executable, OTHER)])
def test_files_are_the_same_frames_under_another_pandas(tmp_path, writer, reader):
    """Names, dtypes and cells of each kind of file, to the last digit."""
    versions = {ran(python, "version") for python in (writer, reader)}
    assert len(versions) == 2
    ran(writer, "write", tmp_path)
    result = json.loads(ran(reader, "read", tmp_path))
    assert result == json.loads(ran(writer, "read", tmp_path))
    assert result["a.pickle"]["a"][1] == str(2**256 - 1)
