"""Refused wallets as a person sees them: the lines, and no internals."""

import os
import re
import subprocess
import sys

import pytest
from jupyter_client.manager import start_new_kernel
from own_folders import own_folders

pytestmark = pytest.mark.children
CALLS = {
    "fetch_wallets": "wf.fetch_wallets(BAD)",
    "Client.fetch": "wf.Client().fetch(BAD)",
    "fetch_to_parquet": "wf.fetch_to_parquet(BAD, 'bulk')",
    "parse": "pd.Series(BAD).wf.parse()",
    "fetch": "pd.Series(BAD).wf.fetch()",
    "read_wallets": "wf.read_wallets('bulk', wallets=BAD)",
    "history": "wf.history.load(wallets=BAD)",
    "token_balance": "wf.token_balance(BAD, None, rpc_url='http://127.0.0.1:1')",
    "parse one": "wf.WalletAddress.parse(BAD[0])",
    "by hand": "wf.WalletAddress('', 'x')",
}
SETUP = "import pandas as pd\nimport walletframe as wf\nBAD = ['nonsense', 'ETH.']\n"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """Start a kernel, isolated from the user's profile and folders."""
    folder = str(tmp_path_factory.mktemp("ipython"))
    environment = os.environ | {"IPYTHONDIR": folder} | own_folders(folder, folder)
    manager, client = start_new_kernel(env=environment, cwd=folder)
    client.execute_interactive(SETUP + "%colors NoColor", timeout=60)
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


_CELL = r"\S*ipykernel_\d+\S*\.py"  # IPython 7's folder of cells


def trace_of(kernel, code):
    """Return the traceback of a cell."""
    result = []

    def listen(message):
        if message["msg_type"] == "error":
            result.append("\n".join(message["content"]["traceback"]))

    # an error would abort requests soon after it
    kernel.execute_interactive(code, timeout=60, output_hook=listen, stop_on_error=False)
    [trace] = result
    return trace


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_notebook_shows_the_callers_own_lines_alone(kernel, call):
    """No file of the package, in any of IPython's modes."""
    for mode in ("Context", "Verbose", "Minimal", "Plain"):
        kernel.execute_interactive(f"%xmode {mode}", timeout=60, output_hook=lambda _: None)
        trace = trace_of(kernel, f"def mine():\n    return {call}\n\nmine()")
        assert "can't be read" in trace
        frames = re.sub(f"<module .*?>|{_CELL}", "", trace.partition("AddressError:")[0])
        assert ".py" not in frames  # except a caller's variable that is a module
        assert mode == "Minimal" or "mine()" in trace


BOUNDARIES = list(CALLS)[:-2]
CAUGHT = """
try:
    {call}
except wf.errors.AddressError:
    traceback.print_exc()
"""


@pytest.fixture(scope="module")
def tracebacks(tmp_path_factory):
    """Return the output of one script for each call: all are caught but the last."""
    folder = tmp_path_factory.mktemp("plain")
    *others, last = [CALLS[name] for name in BOUNDARIES]
    caught = "".join(CAUGHT.format(call=call) for call in others)
    (folder / "mine.py").write_text(f"import traceback\n{SETUP}{caught}{last}")
    environment = os.environ | own_folders(folder, folder)
    words = [sys.executable, folder / "mine.py"]
    done = subprocess.run(
        words, capture_output=True, text=True, cwd=folder, env=environment, check=False
    )
    assert done.returncode == 1
    before, *result = done.stderr.split("Traceback (most recent call last):\n")
    assert before == ""
    return dict(zip(BOUNDARIES, result, strict=True))


@pytest.mark.parametrize("name", BOUNDARIES)
def test_plain_python_shows_one_frame_of_the_package(tracebacks, name):
    """It is that of the boundary, since an exception can't leave a function without its frame."""
    lines = tracebacks[name].splitlines()
    frames = [line for line in lines if line.startswith("  File ")]
    assert [("mine.py" in frame, "walletframe" in frame) for frame in frames] == [
        (True, False),
        (False, True),
    ]
    reason = 'there is no dot between blockchain and address: write a wallet as "ETH.0x52…"'
    assert f"  0: 'nonsense': {reason}" in lines
    assert "  1: 'ETH.': the address is empty" in lines
