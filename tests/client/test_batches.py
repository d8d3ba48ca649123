"""Several wallets in one request: each is cached alone, and requested alone after a failure."""

import json
import time
from urllib.parse import parse_qs, urlsplit

import pytest
from addresses import UPPER_A, UPPER_B, A, B, C, D, E, whole
from canned_service import answer, balance, wallet
from hypothesis import given
from hypothesis import strategies as st

from walletframe.address.lists import parse_wallets
from walletframe.errors import AnswerWarning
from walletframe.service import SHOWCASE, sandbox
from walletframe.wire.answer import read_answer, split_into_bodies_and_unrequested

ABC = [f"ETH.{A}", f"ETH.{B}", f"ETH.{C}"]


def requested_wallets(canned):
    """Return the wallets of each request, in the order of the requests."""
    return [parse_qs(urlsplit(path).query)["address"] for path in canned.paths]


def statuses(details):
    """Return the status by address."""
    return dict(zip(details.wallets.address, details.wallets.status, strict=True))


@pytest.fixture
def batched(canned):
    """Return a client that requests three wallets at a time, one request after the other."""
    with canned.client(batch_size=3, workers=1) as client:
        yield client


def test_a_batch_is_one_request_and_each_wallet_is_cached_alone(canned, batched):
    """Parameters are repeated; later each wallet comes from the cache, in any batch."""
    canned.add_reply(answer(wallet(C), wallet(B), wallet(UPPER_A)))
    first = batched.fetch(ABC)
    assert requested_wallets(canned) == [ABC]
    assert first.wallets.address.tolist() == [A, B, C]
    again = batched.fetch([f"ETH.{B}"])
    assert len(canned.paths) == 1
    assert again.wallets.source.tolist() == ["cache"]
    assert again.wallets.explorer_url.tolist() == [f"https://explorer.example/{B}"]


def test_only_misses_are_requested_in_batches(canned, batched):
    """A cached wallet takes no room in a batch."""
    canned.add_reply(answer(wallet(B)))
    batched.fetch(f"ETH.{B}")
    canned.add_reply(answer(wallet(A), wallet(C)))
    batched.fetch(ABC)
    assert requested_wallets(canned)[1:] == [[f"ETH.{A}", f"ETH.{C}"]]


def test_the_sandbox_answers_batches_as_it_answers_single_requests():
    """Ordinary, failing, empty and null wallets are the same either way."""
    result = []
    for size in (1, 5):
        with (
            sandbox(failure_share=0.3, seed=3) as service,
            service.client(cache=False, batch_size=size) as client,
        ):
            result.append(client.fetch(SHOWCASE, on_failure="ignore"))
    alone, together = result
    differing = ["fetched_at"]
    assert together.holdings.equals(alone.holdings)
    assert together.wallets.drop(columns=differing).equals(alone.wallets.drop(columns=differing))


@pytest.mark.parametrize("status", [400, 404, 413, 414, 422])
def test_a_service_that_refuses_batches_gets_single_requests(canned, batched, status):
    """After the first refusal no second batch is tried in this call."""
    canned.add_reply(b"one address, please", status=status)
    for name in "abcdef":
        canned.add_reply(answer(wallet(f"0x{name:0>40}")))
    details = batched.fetch([f"ETH.0x{name:0>40}" for name in "abcdef"])
    assert set(details.wallets.status) == {"ok"}
    assert [len(wallets) for wallets in requested_wallets(canned)] == [3, 1, 1, 1, 1, 1, 1]


def test_a_service_that_reads_one_address_gets_single_requests(canned, batched):
    """An answer to the first address alone is used, and ends the batches."""
    for name in "abcdef":
        canned.add_reply(answer(wallet(f"0x{name:0>40}")))
    details = batched.fetch([f"ETH.0x{name:0>40}" for name in "abcdef"])
    assert set(details.wallets.status) == {"ok"}
    assert [len(wallets) for wallets in requested_wallets(canned)] == [3, 1, 1, 1, 1, 1]


def test_a_wallet_missing_in_a_batch_is_requested_alone(canned, batched):
    """The other answers are used, and batches go on."""
    canned.add_reply(answer(wallet(A), wallet(C)))
    canned.add_reply(answer(wallet(B)))
    canned.add_reply(answer(wallet(D), wallet(E)))
    details = batched.fetch([*ABC, f"ETH.{D}", f"ETH.{E}"])
    assert set(details.wallets.status) == {"ok"}
    assert requested_wallets(canned) == [ABC, [f"ETH.{B}"], [f"ETH.{D}", f"ETH.{E}"]]


def test_a_failed_batch_is_requested_wallet_by_wallet(canned, batched):
    """After the service's error for a batch, batches go on."""
    canned.add_reply(b"oops", status=500)
    canned.add_reply(answer(wallet(A)))
    canned.add_reply(b"oops", status=500)
    canned.add_reply(answer(wallet(C)))
    canned.add_reply(answer(wallet(D), wallet(E)))
    with pytest.warns(match="1 of 5"):
        details = batched.fetch([*ABC, f"ETH.{D}", f"ETH.{E}"])
    assert statuses(details)[B] == "service_error"
    assert [len(wallets) for wallets in requested_wallets(canned)] == [3, 1, 1, 1, 2]


@pytest.mark.parametrize("body", [b"<html>", b'{"wallets": 3}', b'{"wallets": [NaN]}', b"", b"[]"])
def test_an_answer_that_can_not_be_split(canned, batched, body):
    """Nothing of it is cached; every wallet is requested alone."""
    canned.add_reply(body)
    for name in "abc":
        canned.add_reply(answer(wallet(f"0x{name:0>40}")))
    assert set(batched.fetch(ABC).wallets.status) == {"ok"}
    assert [len(wallets) for wallets in requested_wallets(canned)] == [3, 1, 1, 1]


def test_failed_and_broken_wallets_of_a_batch_keep_their_own_status(canned, batched):
    """An entry about a wallet is its answer, good or bad, and only good ones are cached."""
    bad = wallet(B, balances="none")
    canned.add_reply(answer(wallet(A, failed=True, balances=None), bad, wallet(C)))
    with pytest.warns(match="2 of 3"):
        details = batched.fetch(ABC)
    assert statuses(details) == {A: "failed", B: "invalid", C: "ok"}
    offline = batched.fetch(ABC, offline=True, on_failure="ignore")
    assert statuses(offline) == {A: "not_cached", B: "not_cached", C: "ok"}


def test_contradicting_repeats_are_seen_in_a_batch_too(canned, batched):
    """Two entries of one wallet that differ are invalid; equal ones are one."""
    twice = [wallet(B), wallet(UPPER_B, balances=[])]
    canned.add_reply(answer(wallet(A), wallet(UPPER_A), *twice, wallet(C)))
    with pytest.warns(match="1 of 3"):
        details = batched.fetch(ABC)
    assert statuses(details) == {A: "ok", B: "invalid", C: "ok"}


def test_unrequested_wallets_in_a_batch_are_reported(canned, batched):
    """They are left out with a warning, and not cached."""
    canned.add_reply(answer(wallet(A), wallet(B), wallet(C), wallet(whole("dead"))))
    with pytest.warns(AnswerWarning, match=whole("dead")):
        details = batched.fetch(ABC)
    assert len(details.wallets) == 3
    assert batched.fetch(f"ETH.{A}").wallets.source.tolist() == ["cache"]


def test_a_refused_key_stops_batches(canned, batched):
    """No single requests follow with a refused key."""
    canned.default = (401, {}, b"no")
    with pytest.warns(match="6 of 6"):
        details = batched.fetch([f"ETH.0x{name:0>40}" for name in "abcdef"])
    assert len(canned.paths) == 1
    assert details.wallets.status.tolist() == ["rejected"] * 3 + ["cancelled"] * 3


def test_a_batch_waits_for_retry_after(canned):
    """After 429 the batch is sent again, not split."""
    canned.add_reply(b"slow down", status=429, Retry_After="1")
    canned.add_reply(answer(*(wallet(f"0x{name:0>40}") for name in "abc")))
    begun = time.monotonic()
    with canned.client(batch_size=3, deadline_s=20) as client:
        details = client.fetch(ABC)
    assert set(details.wallets.status) == {"ok"}
    assert requested_wallets(canned) == [ABC, ABC]
    assert time.monotonic() - begun >= 0.9


def test_a_batch_that_times_out_is_requested_wallet_by_wallet(canned):
    """One wallet may take less time."""
    canned.add_reply([b" "] * 60)
    for name in "abc":
        canned.add_reply(answer(wallet(f"0x{name:0>40}")))
    with canned.client(batch_size=3, workers=1, timeout_s=1.5, deadline_s=60) as client:
        details = client.fetch(ABC)
    assert set(details.wallets.status) == {"ok"}
    assert [len(wallets) for wallets in requested_wallets(canned)] == [3, 1, 1, 1]


def test_the_pace_counts_requests_not_wallets():
    """Batches of twenty get a hundred wallets through where five requests a second are allowed."""
    many = [f"ETH.0x{number:040x}" for number in range(100)]
    with sandbox(requests_per_second=5) as service:
        begun = time.monotonic()
        with service.client(cache=False, batch_size=20, requests_per_second=5) as client:
            details = client.fetch(many)
    assert set(details.wallets.status) == {"ok"}
    assert time.monotonic() - begun < 19  # single requests would be twenty


def test_an_invalid_entry_costs_no_other(canned, batched):
    """An entry without a wallet is left out, the others are used."""
    canned.default = (200, {}, json.dumps({"wallets": [5, wallet(A), {}]}).encode())
    with pytest.warns(AnswerWarning, match="unrequested wallet"):  # as for a single request
        details = batched.fetch(ABC, on_failure="ignore")
    assert statuses(details)[A] == "ok"
    bodies, _ = split_into_bodies_and_unrequested(canned.default[2], parse_wallets(ABC))
    assert len(bodies) == 1


NAMES = st.sampled_from([A, UPPER_A, B, C, "zz"])
ENTRIES = st.lists(
    st.builds(
        lambda name, amounts, failed: wallet(
            name, balances=[*map(balance, amounts)], failed=failed
        ),
        NAMES,
        st.lists(st.sampled_from(["1", "2", "x"]), max_size=1),
        st.booleans(),
    ),
    max_size=6,
)


@given(ENTRIES, st.sampled_from([None, "", "down", {"code": 5}]))
def test_a_split_answer_equals_the_whole(entries, error):
    """For every wallet in the answer, its own part reads as the whole does."""
    wallets = parse_wallets(ABC)
    body = json.dumps({"wallets": entries, "note": None, "error": error}).encode()
    whole = read_answer(body, wallets)
    bodies, unrequested = split_into_bodies_and_unrequested(body, wallets)
    for place, one in enumerate(wallets):
        if place in bodies:
            [outcome] = read_answer(bodies[place], [one]).outcomes
            assert outcome == whole.outcomes[place]
        else:
            assert whole.outcomes[place].status == ("invalid" if error else "missing")
    assert sorted(unrequested) == sorted(whole.unrequested)
