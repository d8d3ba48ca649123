"""What a folder of Parquet files costs to read, in memory and in the processor's time.

A million balances; ten of them with ``WF_TEST_FOLDER_ROWS=10000000``. Each way runs in a process of
its own; times are the smallest of some runs, of the processor alone, on one thread.
"""

import json
import os
import subprocess
import sys

import pytest
from large_folder import write_folder

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1_200)]

ROWS, REPEATS = int(os.environ.get("WF_TEST_FOLDER_ROWS", "1000000")), 3
BEGIN = """
import json, resource, sys, time
import duckdb, numpy as np, pyarrow as pa, pyarrow.parquet as pq
import walletframe as wf
wf.read_wallets

folder, taken = sys.argv[1], []
duckdb.sql("SET threads TO 1")
pa.set_cpu_count(1)
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(int(sys.argv[2])):
    found = None
    begun = time.process_time()
"""
END = """
    taken.append(time.process_time() - begun)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base
size = sum(int(frame.memory_usage(deep=True).sum()) for frame in found) if whole else 0
print(json.dumps({"cpu": min(taken), "peak": peak * 1024, "size": size}))
"""
READ = "    found, whole = wf.read_wallets(folder), True"
PLAIN = """
    wallets, holdings = (
        pq.read_table(f"{folder}/{name}", partitioning=None) for name in ("wallets", "holdings")
    )
    order = np.argsort(wallets["position"].to_numpy(), kind="stable")
    counts = wallets["tokens"].to_numpy()
    taken_each = counts[order]
    first = np.cumsum(counts)[order] - np.cumsum(taken_each)
    rows = np.repeat(first, taken_each) + np.arange(len(holdings))
    names = [name for name in holdings.column_names if name != "amount_decimal"]
    frame = holdings.select(names).take(pa.array(rows)).to_pandas()
    found, whole = (wallets.to_pandas(), frame.astype({"amount": "amount"})), True
"""


def run(folder, code, repeats=REPEATS):
    """Run code in a process of its own; give what it cost."""
    words = [sys.executable, "-c", BEGIN + code + END, str(folder), str(repeats)]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write a folder."""
    return write_folder(tmp_path_factory.mktemp("large") / "bulk", ROWS)


def told(what, ratio, limit):
    """Print a ratio beside what it may be, and compare them."""
    print(f"{what}: {ratio:.2f} (wanted: at most {limit})")
    assert ratio <= limit


def test_read_wallets(folder):
    """Its peak against the frames it returns, and its time against reading tables as they are."""
    found, plain = run(folder, READ), run(folder, PLAIN)
    single = run(folder, READ, 1)
    print(f"\n{ROWS:,} balances: {found['cpu']:.2f} s, {single['peak'] / 2**20:,.0f} MiB")
    told("read_wallets, peak against the frames", single["peak"] / single["size"], 2.5)
    told("read_wallets, CPU against tables as they are", found["cpu"] / plain["cpu"], 0.5)


DUCKDB = """
    summed = "SELECT token_blockchain, token_address, sum(amount_decimal)"
    query = f"{summed} FROM '{folder}/holdings/*.parquet' GROUP BY ALL"
    found, whole = duckdb.sql(query).fetchall(), False
"""
OPEN = "    stored, whole = wf.open_wallets(folder), False\n"
ASKED = {
    "totals": "    found = stored.wf.totals()",
    "totals by wallet": "    found = stored.wf.totals('wallet')",
    "value": "    found = stored.wf.value(by_symbol=False).wf.totals()",
    "share": "    found = stored.wf.share(('BSC', None))",
    "pivot": "    found = stored.wf.pivot(10)",
}


def test_totals_by_token(folder):
    """Their time against DuckDB's sum of decimals, on one thread each."""
    ours, theirs = run(folder, OPEN + ASKED["totals"]), run(folder, DUCKDB)
    ratio = ours["cpu"] / theirs["cpu"]
    print(f"\ntotals by token: {ours['cpu']:.2f} s, {ratio:.1f} times DuckDB's sum (wanted: 3)")


@pytest.mark.parametrize("what", ASKED)
def test_peak(folder, what):
    """Of each table, in MiB, beyond what the imports take."""
    peak = run(folder, OPEN + ASKED[what], 1)["peak"] / 2**20
    print(f"\n{what}: {peak:,.0f} MiB (wanted: at most 500)")
    assert peak <= 500
