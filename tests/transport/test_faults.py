"""Faults of a real server: they harm one wallet, the others are ok, and it recovers soon."""

import time

import pytest
from canned_service import KEY
from fault_server import FAULTS, FaultServer

from walletframe.client import Client

pytestmark = pytest.mark.timeout(120)

WALLETS = [f"ETH.0x{number:040x}" for number in (1, 2, 3)]
FAULTY = WALLETS[1]
REFUSED = {"401", "403"}
FLOOD_MAX = 300 * 2**20
SLOW = {  # each takes its whole time limit, like silence and a slow body
    "slow headers",
    "slow body, no length",
    "slow body, last of all",
    "slow header line",
    "length too long",
    "endless trailers",
    "401 that stalls",
    "endless interim answers",
}
PASSING = [
    pytest.param(name, marks=[pytest.mark.stress] * (name in SLOW))
    for name, fault in FAULTS.items()
    if fault.retryable
]


def client_of(server, cache, **settings):
    """Return a client that does not retry, and caches answers in a file."""
    own = {
        "api_key": KEY,
        "key_kind": "private",
        "base_url": server.base_url,
        "cache": cache / "kept.sqlite",
        "deadline_s": 0,
        "retry_after_max_s": 0.3,
        "requests_per_second": 1000,
    }
    return Client(**own | settings)


def look(client, **how):
    """Fetch the wallets, without a warning about failures."""
    return client.fetch(WALLETS, on_failure="ignore", progress=False, **how)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_harms_its_own_wallet_alone(tmp_path, name):
    """The others are ok, no fault is cached, and one request repairs it."""
    fault = FAULTS[name]
    workers = 1 if name in REFUSED else 3
    after = "cancelled" if name in REFUSED else "ok"
    with FaultServer(fault, FAULTY) as server:
        settings = {"timeout_s": fault.timeout_s, "workers": workers}
        with client_of(server, tmp_path, **settings) as client:
            begun = time.monotonic()
            wallets, holdings = look(client)
            assert time.monotonic() - begun < fault.timeout_s + 20  # it ends
            assert server.flooded < FLOOD_MAX
            assert wallets.status.tolist() == ["ok", fault.status, after]
            sound = wallets.address[wallets.status == "ok"].tolist()
            assert holdings.address.tolist() == sound
            assert_is_one_safe_line(wallets.error[1])
            kept = look(client, offline=True).wallets
            assert kept.address[kept.status == "ok"].tolist() == sound
            server.heal()
            del server.requested[:]
            mended = look(client)
            assert mended.wallets.status.tolist() == ["ok"] * 3
            assert mended.holdings.address.tolist() == wallets.address.tolist()
            assert server.requested == WALLETS[1 : 4 - len(sound)]
        assert not server.redirect_was_followed()


def assert_is_one_safe_line(reason):
    """Check that a reason is there, is printable, and does not contain the key."""
    assert reason
    assert reason.isprintable()
    assert KEY not in reason
    assert len(reason) < 200


@pytest.mark.parametrize("name", PASSING)
def test_a_passing_fault_is_repaired_within_the_call(tmp_path, monkeypatch, name):
    """With time left, the wallet is requested once more, and is ok."""
    monkeypatch.setattr("walletframe.client.workers._FIRST_WAIT_S", 0.01)
    fault = FAULTS[name]
    with FaultServer(fault, FAULTY, times=1) as server:
        settings = {"timeout_s": fault.timeout_s, "deadline_s": 60}
        with client_of(server, tmp_path, **settings) as client:
            wallets, holdings = look(client)
    assert wallets.status.tolist() == ["ok"] * 3
    assert holdings.address.tolist() == wallets.address.tolist()
    assert sorted(server.requested) == sorted([*WALLETS, FAULTY])


def test_two_lengths_are_no_fault_of_the_address(tmp_path):
    """The reason blames the answer: the address, and any proxy, are right."""
    with (
        FaultServer(FAULTS["two lengths"], FAULTY) as server,
        client_of(server, tmp_path) as client,
    ):
        wallets, _ = look(client)
    assert wallets.error[1] == "the headers of the answer contradict each other"
