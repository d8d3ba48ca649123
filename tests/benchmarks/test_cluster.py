"""Totals of a folder's shards in two worker processes, compared with pandas in one process.

There are two million balances, or ten with ``WF_TEST_FOLDER_ROWS=10000000``. Times are the CPU
times of all processes together. Peaks are those of the largest process, without its imports. The
figures are medians of three pairs of runs.
"""

import json
import os
import subprocess
import sys
from statistics import median

import pytest
from large_folder import write_folder
from shards import write_shards

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1_200)]

ROWS = int(os.environ.get("WF_TEST_FOLDER_ROWS", "2000000"))
LARGE = 10_000_000
COST = """
import json, os, sys, time

def cost():
    with open("/proc/self/status") as file:
        highest = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    return time.process_time(), highest / 1024
"""
PANDAS = """
import walletframe as wf
wf.read_wallets
begun = cost()
wf.read_wallets(sys.argv[1]).wf.totals()
ended = cost()
print(json.dumps([ended[0] - begun[0], ended[1] - begun[1]]))
"""
DASK = """
from distributed import Client, LocalCluster
import walletframe.dask

if __name__ == "__main__":
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as workers,
        Client(workers) as client,
    ):
        opened = walletframe.dask.open_wallets(sys.argv[1])
        client.run(__import__, "walletframe.dask")
        begun = [cost(), *client.run(cost).values()]
        opened.wf.totals()
        ended = [cost(), *client.run(cost).values()]
        taken = sum(last[0] - first[0] for first, last in zip(begun, ended))
        peak = max(last[1] - first[1] for first, last in zip(begun, ended))
        print(json.dumps([taken, peak]))
"""


def run(code, folder, script):
    """Run a script, and return its CPU seconds and its peak in MiB."""
    script.write_text(COST + code)
    words = [sys.executable, str(script), str(folder)]
    result = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(result)


def test_totals_of_shards(tmp_path):
    """Compare workers that read their shards with one process that reads all frames."""
    whole = write_folder(tmp_path / "whole", ROWS)
    shards = write_shards(whole, tmp_path / "shards")
    pairs = []
    for _ in range(3):
        cpu, peak = run(DASK, shards, tmp_path / "cluster.py")
        own_cpu, own_peak = run(PANDAS, whole, tmp_path / "frames.py")
        pairs.append((cpu / own_cpu, own_peak / peak))
        print(f"\n{ROWS:,} balances: {cpu:.1f} s and {peak:,.0f} MiB, ", end="")
        print(f"pandas {own_cpu:.1f} s and {own_peak:,.0f} MiB", end="")
    cost, less = (median(column) for column in zip(*pairs, strict=True))
    print(f": {cost:.2f} (wanted: at most 0.6) and 1/{less:.0f} (wanted: 1/15 of ten million)")
    if ROWS >= LARGE:
        assert cost <= 0.6
        assert less >= 15
