"""Unforeseen exceptions: a worker that raises costs its own wallet and no time."""

from contextlib import closing
from threading import Event

import pytest
from addresses import TWO
from canned_service import answer, wallet

from walletframe.address.lists import parse_wallets
from walletframe.client import CachePolicy, stream
from walletframe.errors import FetchError
from walletframe.transport import ServiceSession

pytestmark = pytest.mark.timeout(120)

WALLETS = [f"ETH.0x{number:0>40}" for number in range(6)]
BROKEN = WALLETS[2]


class SurpriseError(BaseException):
    """An error that no except clause names."""


@pytest.fixture
def whole(canned):
    """Answer all wallets soundly, for any request."""
    canned.default = (200, {}, answer(*(wallet(each.partition(".")[2]) for each in WALLETS)))
    return canned


def broken_at(method, fault):
    """Return a method that raises for one wallet."""

    def work(session, query, **how):
        if BROKEN in query:
            raise fault
        return method(session, query, **how)

    return work


@pytest.mark.filterwarnings("ignore::walletframe.errors.AnswerWarning")
@pytest.mark.parametrize(
    "fault", [TypeError("no"), RecursionError(), SurpriseError(), SystemExit()]
)
@pytest.mark.parametrize("workers", [1, 4])
def test_a_worker_that_raises_costs_its_own_wallet(whole, monkeypatch, fault, workers):
    """The others are ok, the error names the exception, and its details have all."""
    monkeypatch.setattr(ServiceSession, "send", broken_at(ServiceSession.send, fault))
    with whole.client(workers=workers) as client, pytest.raises(FetchError) as caught:
        client.fetch(WALLETS, on_failure="raise")
    wallets = caught.value.details.wallets.set_index("address")
    assert wallets.status.tolist() == ["ok", "ok", "invalid", "ok", "ok", "ok"]
    assert wallets.error[TWO] == f"an unexpected error: {type(fault).__name__}"


@pytest.mark.filterwarnings("ignore::walletframe.errors.AnswerWarning")
def test_an_answer_that_can_not_be_split_costs_its_batch(whole, monkeypatch):
    """The wallets of the batch are reported, and nothing waits for them."""

    def split(body, wallets):
        raise LookupError

    monkeypatch.setattr("walletframe.client.workers.split_into_bodies_and_unrequested", split)
    with whole.client(batch_size=3, workers=1) as client:
        wallets = client.fetch(WALLETS, on_failure="ignore").wallets
    assert wallets.error.tolist() == ["an unexpected error: LookupError"] * 6


@pytest.mark.filterwarnings("ignore::walletframe.errors.AnswerWarning")
def test_an_answer_that_can_not_be_read_costs_its_wallet(whole, monkeypatch):
    """The others are ok."""
    monkeypatch.setattr(stream, "read_answer", reading_all_but_one(stream.read_answer))
    with whole.client(workers=1) as client:
        wallets = client.fetch(WALLETS, on_failure="ignore").wallets
    assert wallets.status.tolist() == ["ok", "ok", "invalid", "ok", "ok", "ok"]


def reading_all_but_one(read):
    """Return a reader that raises for one wallet."""

    def work(body, wallets):
        if BROKEN in map(str, wallets):
            raise ZeroDivisionError
        return read(body, wallets)

    return work


@pytest.mark.filterwarnings("ignore::walletframe.errors.AnswerWarning")
def test_a_reply_that_can_not_be_kept_costs_its_wallet(whole):
    """In a bulk run, too, the others are ok."""

    def keep(wallets, reply):
        if BROKEN in map(str, wallets):
            raise AttributeError

    with (
        whole.client(workers=2) as client,
        closing(client._open_result_stream(CachePolicy(), Event(), on_reply=keep)) as outcomes,
    ):
        settled = outcomes.results([parse_wallets(WALLETS)])
        records = [each.record for each in settled if each]
    failed = [each for each in records if each.outcome.status != "ok"]
    assert len(records) == len(WALLETS)
    assert [(str(each.wallet), each.outcome.status) for each in failed] == [(BROKEN, "invalid")]
