"""Huge answers: one limit for all workers, measured in a real process."""

import gzip
import json
import subprocess
import sys

import pytest
from addresses import ONE, ZERO
from canned_service import KEY, answer, balance, wallet

pytestmark = pytest.mark.timeout(240)

FETCH = """
import collections, json, resource, sys
from walletframe.client import Client
client = Client(
    api_key=sys.argv[1], key_kind="private", base_url=sys.argv[2], cache="memory", workers=8,
    deadline_s=0, timeout_s=200, requests_per_second=1000,
)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
requested = [f"ETH.0x{n:040}" for n in range(int(sys.argv[3]))]
wallets = client.fetch(requested, on_failure="ignore").wallets
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
told = collections.Counter(zip(wallets.status, wallets.error.fillna("")))
print(json.dumps([(peak - before) // 1024, [[*each, n] for each, n in told.items()]]))
"""


def fetched(server, wallets):
    """Fetch in a process of its own; return its growth in MB, and its output."""
    words = [sys.executable, "-W", "ignore", "-c", FETCH, KEY, server.base_url, str(wallets)]
    run = subprocess.run(words, capture_output=True, text=True, check=True, timeout=230)
    return json.loads(run.stdout)


def packed(body):
    """Return a body compressed by gzip."""
    return gzip.compress(body, 6)


BOMBS = {
    "beyond the limit": (300_000_000, "the answer is too large", 450),
    "below the limit": (250_000_000, "the answer is not JSON; it begins with '…'", 1000),
}


@pytest.mark.parametrize(
    "size, reason, most_mb",
    [
        pytest.param(*BOMBS["beyond the limit"], id="beyond the limit"),
        pytest.param(*BOMBS["below the limit"], id="below the limit", marks=pytest.mark.stress),
    ],
)
def test_bombs_for_all_workers_take_no_more_than_one(canned, size, reason, most_mb):
    """A few hundred kilobytes that decompress to hundreds of megabytes each, four at once."""
    canned.default = (200, {"Content-Encoding": "gzip"}, packed(bytes(size)))
    grown_mb, outcomes = fetched(canned, 4)
    assert outcomes == [["invalid", reason, 4]]
    assert grown_mb < most_mb


def test_a_large_answer_waits_for_another(canned):
    """It is read after the one before is complete."""
    for address in (ZERO, ONE):
        body = answer(wallet(address))
        canned.add_reply([b" " * 9_000_000, *[b" "] * 4, body])
    with canned.client(workers=2) as client:
        result = client.fetch([f"ETH.{ZERO}", f"ETH.{ONE}"], on_failure="ignore").wallets
    assert result.status.tolist() == ["ok", "ok"]


def test_an_answer_may_be_compressed_in_two_parts(canned):
    """The decompressed parts are one body, as in joined files of gzip."""
    body = answer(wallet(ZERO))
    canned.default = (200, {"Content-Encoding": "gzip"}, packed(body[:9]) + packed(body[9:]))
    with canned.client() as client:
        assert client.fetch([f"ETH.{ZERO}"]).wallets.status.tolist() == ["ok"]


def test_large_answers_pass(canned):
    """Eight valid answers of 20 MB at once pass."""
    padding = {"symbol": "x" * 20_000_000}
    held = [balance(), balance(**padding)]
    wallets = [
        wallet(f"0x{number:0>40}", balances=held[: 1 + (number == 0)]) for number in range(8)
    ]
    body = answer(*wallets)
    canned.default = (200, {"Content-Encoding": "gzip"}, packed(body))
    grown_mb, outcomes = fetched(canned, 8)
    assert outcomes == [["ok", "", 8]]
    assert grown_mb < 1000
