"""What the explorer of a folder larger than it reads costs, in memory and in the processor's time.

A million balances; ten with ``WF_TEST_FOLDER_ROWS=10000000``. In a process of its own.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from large_folder import write_folder

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(3_600)]

ROWS = int(os.environ.get("WF_TEST_FOLDER_ROWS", "1000000"))
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
explorer = HoldingsExplorer(stored)
explorer.comm = Line(explorer.comm.comm_id)
left = {"kind": "remaining", "of": ["tokens"]}
page = [{"kind": "rows"}, {"kind": "rows", "by": "wallet"}, left]
first = stored.wallets.iloc[0]
picks = {
    "a blockchain": {"of": "blockchains", "values": ["ETH"]},
    "a wallet, too": {"of": "wallets", "values": [f"{first.blockchain}.{first.address}"]},
}
costs["opening"] = ask({"kind": "chart"}, *page, {"kind": "options tokens"})
for name, pick in picks.items():
    costs[name] = ask({"kind": "chart", "pick": pick}, *page)
costs["everything again"] = ask({"kind": "chart", "back": 0}, *page)
explorer.close()
print(json.dumps({"costs": costs, "peak": highest() - base}))
"""


def run(rows, folder):
    """Explore a folder; give what it cost."""
    write_folder(folder, rows)
    given = {"env": {**os.environ, "PYTHONPATH": str(SUPPORT)}, "stdout": subprocess.PIPE}
    words = [sys.executable, "-c", CODE, str(folder)]
    return json.loads(subprocess.run(words, text=True, check=True, **given).stdout)


def test_exploring_a_folder(tmp_path):
    """The peak beyond what the imports take, and how it grows with the balances."""
    found, few = run(ROWS, tmp_path / "large"), run(ROWS // 2, tmp_path / "small")
    peak, before = (each["peak"] / 2**20 for each in (found, few))
    for name, cost in found["costs"].items():
        print(f"\n{name}: {cost:.2f} s of the processor", end="")
    print(f"\n{ROWS:,} balances: peak {peak:,.0f} MiB; {ROWS // 2:,}: {before:,.0f} MiB")
    assert peak <= (500 if ROWS < LARGE else 700)  # the table names 100,000 wallets then
    assert peak <= 1.5 * before
