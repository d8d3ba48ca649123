"""The notebooks run from top to bottom against the sandbox, and are committed without outputs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.timeout(600)  # nine kernels, one after the other
def test_notebooks_run():
    """Every cell of every notebook runs in a real kernel; their asserts hold."""
    plugin = ["-p", "nbval", "--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=60"]
    settings = ["-o", "addopts=", "-o", "filterwarnings=default", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, *settings, str(FOLDER)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebook_holds_no_outputs(path):
    """A notebook is committed without its outputs."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert cells
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells)
    assert "widgets" not in notebook["metadata"]


@pytest.mark.parametrize("path", NOTEBOOKS[1:], ids=lambda path: path.name)
def test_notebook_begins_with_a_link_to_its_terms(path):
    """Any first notebook leads to the definitions of blockchain, wallet and token."""
    first = json.loads(path.read_text(encoding="utf-8"))["cells"][0]
    assert f"[{NOTEBOOKS[0].name}]({NOTEBOOKS[0].name})" in "".join(first["source"])
