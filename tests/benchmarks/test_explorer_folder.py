"""What the explorer of a folder larger than it reads costs, in memory and in the processor's time.

And what opening costs where an earlier one has kept the sums. Two million balances; ten with
``WF_TEST_FOLDER_ROWS=10000000``. In a process of its own.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest
from large_folder import write_folder

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(3_600)]

ROWS = int(os.environ.get("WF_TEST_FOLDER_ROWS", "2000000"))
LARGE = 10_000_000
SUPPORT = Path(__file__).parents[1] / "support"
CODE = """
import json, sys, time
import walletframe as wf
from walletframe.pickers import HoldingsExplorer
from widgets import Line, wait

def highest():
    with open("/proc/self/status") as file:  # resource has the highest of the parent, too
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) * 1024

def ask(*asked):
    begun = time.process_time()
    for number, each in enumerate(asked):
        explorer._handle_custom_msg({"n": number, **each}, [])
    wait(3_600)
    assert explorer._alert == "", explorer._alert
    return time.process_time() - begun

stored = wf.open_wallets(sys.argv[1])
base, costs = highest(), {}
explorer = HoldingsExplorer(stored, cache=sys.argv[2] == "kept")
explorer.comm = Line(explorer.comm.comm_id)
left = {"kind": "remaining", "of": ["tokens"]}
page = [{"kind": "rows"}, {"kind": "rows", "by": "wallet"}, left]
first = stored.wallets.iloc[0]
picks = {
    "a blockchain": {"of": "blockchains", "values": ["ETH"]},
    "a wallet, too": {"of": "wallets", "values": [f"{first.blockchain}.{first.address}"]},
}
costs["opening"] = ask({"kind": "chart"}, *page, {"kind": "options tokens"})
for name, pick in [] if sys.argv[2] else picks.items():  # what is kept is for opening
    costs[name] = ask({"kind": "chart", "pick": pick}, *page)
if not sys.argv[2]:
    costs["everything again"] = ask({"kind": "chart", "back": 0}, *page)
explorer.close()
print(json.dumps({"costs": costs, "peak": highest() - base}))
"""


def run(folder, cache=""):
    """Explore a folder; give what it cost."""
    given = {"env": {**os.environ, "PYTHONPATH": str(SUPPORT)}, "stdout": subprocess.PIPE}
    words = [sys.executable, "-c", CODE, str(folder), cache]
    return json.loads(subprocess.run(words, text=True, check=True, **given).stdout)


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    """Explore folders by turns: large, half as large, and large with what was kept, in three runs.

    Gives what they cost, and how large the kept sums are in MiB.
    """
    own = tmp_path_factory.mktemp("folders")
    large, half = (write_folder(own / f"{rows}", rows) for rows in (ROWS, ROWS // 2))
    run(large, "kept")
    costs = [(run(large), run(half), run(large, "kept")) for _ in range(3)]
    size = (large / ".walletframe" / "explorer").stat().st_size / 2**20
    return [*zip(*costs, strict=True)], size


def test_exploring_a_folder(rounds):
    """The peak beyond what the imports take, and how it grows with the balances."""
    found, few, _ = rounds[0]
    peak, before = (median(each["peak"] for each in runs) / 2**20 for runs in (found, few))
    for name, cost in found[0]["costs"].items():
        print(f"\n{name}: {cost:.2f} s of the processor", end="")
    print(f"\n{ROWS:,} balances: peak {peak:,.0f} MiB; {ROWS // 2:,}: {before:,.0f} MiB")
    assert peak <= (500 if ROWS < LARGE else 700)  # the table names 100,000 wallets then
    assert peak <= 1.5 * before


def test_opening_what_was_kept(rounds):
    """What opening costs without and with sums that an earlier explorer has kept."""
    (found, _, again), size = rounds
    without, kept = (median(each["costs"]["opening"] for each in runs) for runs in (found, again))
    print(f"\n{ROWS:,} balances: opening {without:.2f} s of the processor, ", end="")
    print(f"with what was kept {kept:.2f} s, {kept / without:.2f} of it; {size:.1f} MiB")
    assert kept <= 0.5 * without
