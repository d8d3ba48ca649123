"""Memory of a bulk run of 50,000 wallets with 100 tokens each, which is killed twice.

``WF_TEST_BULK_WALLETS=100000`` sets another number of wallets. The service and the client run in
separate processes. The figure is the client's peak in each step of 10,000 wallets, or five parts.
Peaks of smaller steps would vary, since the reading of a part overlaps with the writing of another.
"""

import os
import subprocess
import sys
import time

import duckdb
import pytest
from canned_service import KEY
from fast_service import fast_service

pytestmark = [pytest.mark.benchmark, pytest.mark.together, pytest.mark.timeout(1_200)]

WALLETS = int(os.environ.get("WF_TEST_BULK_WALLETS", "50000"))
STEP, TOKENS, WORKERS, MIB = 10_000, 100, 16, 2**20
MOST_GROWTH = 1.25 if WALLETS >= 100_000 else 1.15  # a leak grows less in a shorter run
CLIENT = """
import os, sys
from pathlib import Path
import walletframe as wf
from fast_service import wallet_address

base_url, folder, wallets, step = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
page, peak = os.sysconf("SC_PAGE_SIZE"), 0

def watch(done, total, counts):
    global peak
    if done % 100 == 0:
        peak = max(peak, int(Path("/proc/self/statm").read_text().split()[1]) * page)
    if done % step == 0:
        print(done, peak, flush=True)
        peak = 0

settings = {"base_url": base_url, "key_kind": "private", "cache": False}
with wf.Client(**settings, workers=WORKERS, requests_per_second=100_000) as client:
    stream = (wallet_address(number) for number in range(wallets))
    summary = wf.fetch_to_parquet(stream, folder, client=client, progress=watch)
print(summary.resumed, summary.ok_count, summary.balances)
""".replace("WORKERS", str(WORKERS))


def run(service, folder, peaks, *, until=None):
    """Run a client in a separate process. If `until` is a step, kill the client shortly after it.

    Append the peak of each step in MiB to `peaks`, and return the client's last line.
    """
    words = [sys.executable, "-c", CLIENT, service.base_url, str(folder)]
    environment = os.environ | {"WALLETFRAME_API_KEY": KEY, "PYTHONPATH": os.pathsep.join(sys.path)}
    words += [str(WALLETS), str(STEP)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as process:
        for line in process.stdout:
            first, *others = map(int, line.split())
            if len(others) > 1:
                return first, *others
            peaks.append(others[0] / MIB)
            if first == until:
                time.sleep(1.7)
                process.kill()
    return None


def rows_and_wallets(folder):
    """Return the number of rows and of their wallets."""
    query = f"SELECT count(*), count(DISTINCT address) FROM '{folder}/*.parquet'"
    [counts] = duckdb.sql(query).fetchall()
    return counts


def test_memory_stays_flat_and_no_request_is_repeated(tmp_path):
    """Print the peak of each step, and the cost of two kills."""
    folder, peaks, later = tmp_path / "bulk", [], []
    with fast_service(tokens=TOKENS) as service:
        begun = time.monotonic()
        assert run(service, folder, peaks, until=WALLETS - 2 * STEP) is None
        assert run(service, folder, later, until=WALLETS - STEP) is None
        resumed, ok, _ = run(service, folder, later)
        taken, requested = time.monotonic() - begun, service.request_counts()
    in_flight, again = 2 * WORKERS, requested.total() - len(requested)
    highest, growth = max(peaks + later), max(peaks) / peaks[0]
    size = sum(path.stat().st_size for path in folder.rglob("*.parquet")) / MIB
    print(f"\n{WALLETS:,} wallets of {TOKENS} tokens, killed twice: {taken:.0f} s, {size:.0f} MiB")
    print(f"peak of each {STEP:,}, MiB:", " ".join(f"{peak:.0f}" for peak in peaks))
    print(f"growth after the first step: {growth:.2f} (wanted: flat, at most {MOST_GROWTH:.2f})")
    print(f"highest, after the kills too: {highest:.0f} MiB (wanted: under 1,024)")
    print(f"requested again: {again} (at most {in_flight} were in flight at the kills)")
    print(f"missing: {WALLETS - ok} (wanted: 0); resumed at the end: {resumed:,}")
    assert rows_and_wallets(folder / "wallets") == (WALLETS, WALLETS)
    assert rows_and_wallets(folder / "holdings") == (WALLETS * TOKENS, WALLETS)
    assert ok == len(requested) == WALLETS
    assert again <= in_flight
    assert highest < 1024
    assert growth <= MOST_GROWTH
