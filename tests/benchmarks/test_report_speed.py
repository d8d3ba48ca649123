"""What a report of 100,000 holdings takes, in seconds and in bytes."""

import time
from statistics import median

import pytest
from fetches import made_up_details

import walletframe as wf

ROWS, LIMIT_S, LIMIT_BYTES = 100_000, 10, 6_000_000

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(300)]


def test_report_of_many_holdings(tmp_path):
    """Under 10 seconds, and under 6 MB with plotly inside."""
    details = made_up_details(ROWS, wallets=5_000, tokens=8_000)
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        path = wf.report(details, tmp_path / "report.html")
        taken.append(time.perf_counter() - start)
    size = path.stat().st_size
    print(f"\nreport of {ROWS:,} holdings: {median(taken):.1f} s, {size / 1e6:.2f} MB")
    assert median(taken) < LIMIT_S
    assert size < LIMIT_BYTES
