"""What becomes of wallets: from the cache, or from the service, one record for each.

An answer that is kept and fresh is not asked for; one that proves not to be ok is, and one that
is not fresh stands in where a new one can't be had, if the settings say so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count, islice
from typing import TYPE_CHECKING, NamedTuple

from walletframe.chains import doubt
from walletframe.client.conclusion import Oddities
from walletframe.frames.assembly import WalletRecord
from walletframe.frames.contract import Source
from walletframe.transport import Kept
from walletframe.wire.answer import read_answer
from walletframe.wire.outcome import Outcome, Status, unforeseen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from threading import Event

    from walletframe.address.forms import WalletAddress
    from walletframe.client.asking import Asking
    from walletframe.settings.values import Settings
    from walletframe.transport import AnswerStore, Reply

_AHEAD = 4  # requests for each worker that are under way or waiting
_OTHER_CLOCKS_S = 60.0  # how far another computer's clock may be ahead
_CANCELLED = Outcome(Status.CANCELLED, "cancelled before its turn came")
_NOT_CACHED = Outcome(Status.NOT_CACHED, "not in the cache, and no request was sent")
_SAID_BY_THE_SERVICE = frozenset(
    {Status.FAILED, Status.REJECTED, Status.SERVICE_ERROR, Status.INVALID, Status.MISSING}
)


@dataclass(frozen=True, slots=True)
class Policy:
    """What the caller wants of the cache: how long an answer is fresh, and whether to ask."""

    expire_after_s: float
    refresh: bool = False  # ask for every wallet, whatever is kept
    offline: bool = False  # ask for none
    stale_if_error: bool = True  # let a kept answer stand in where a new one can't be had


class Settled(NamedTuple):
    """The record of a wallet, by its place among all, and its answer where that is to be stored."""

    place: int
    record: WalletRecord
    answer: Kept | None = None


class Stream:
    """The records of one fetch, as they come; the store is only read.

    Backpressure: while nobody takes them, no more is asked for than is under way already.
    """

    def __init__(
        self, store: AnswerStore, policy: Policy, asking: Asking, settings: Settings, cancel: Event
    ) -> None:
        self.key_refused: bool = False
        self.oddities: Oddities = Oddities()
        self._store, self._policy, self._asking, self._cancel = store, policy, asking, cancel
        self._batch_size = settings.batch_size
        self._ahead = settings.workers * settings.batch_size * _AHEAD
        self._places = count()
        self._under_way: dict[int, tuple[WalletAddress, Kept | None]] = {}

    def close(self) -> None:
        """Abandon the requests under way."""
        self._asking.stop()
        self.oddities.note(None, self._asking.strangers)

    def records(self, portions: Iterable[list[WalletAddress]]) -> Iterator[Settled | None]:
        """Hand out a record for each of distinct wallets, in any order; None now and then.

        An empty portion says that there are none for the moment.
        """
        for portion in portions:
            if self._cancel.is_set():
                yield from map(self._cancelled, portion, self._places)
                continue
            kept, now = self._store.read(portion), datetime.now(UTC)
            asked: dict[int, WalletAddress] = {}
            for wallet, place in zip(portion, self._places, strict=False):
                found = self._found(wallet, kept.get(wallet), now)
                if found is None:
                    asked[place] = wallet
                else:
                    self.oddities.note(found, [])
                    yield Settled(place, found)
            for start in range(0, len(asked), self._batch_size):
                batch = dict(islice(asked.items(), start, start + self._batch_size))
                yield from self._arrived(leave=self._ahead - len(batch))
                if self._cancel.is_set():
                    yield from map(self._cancelled, batch.values(), batch)
                    continue
                stand_in = kept if self._policy.stale_if_error else {}
                self._under_way |= {
                    place: (wallet, stand_in.get(wallet)) for place, wallet in batch.items()
                }
                self._asking.add(batch)
            if not portion:
                yield from islice(self._arrived(), 1)
        yield from self._arrived()

    def _cancelled(self, wallet: WalletAddress, place: int) -> Settled:
        return Settled(place, WalletRecord(wallet, _CANCELLED, self._store.service))

    def _found(
        self, wallet: WalletAddress, kept: Kept | None, now: datetime
    ) -> WalletRecord | None:
        """Return the record of a wallet that is not asked for; None where it has to be."""
        outdated = None
        if kept is not None:
            age_s = (now - kept.fetched_at).total_seconds()
            if age_s < -_OTHER_CLOCKS_S:
                outdated = "dated ahead of this computer's clock"
            elif max(age_s, 0.0) >= self._policy.expire_after_s:
                outdated = "out of date"
        if self._policy.offline:
            error = outdated and f"{outdated}, and no request was sent"
            found = self._kept_record(wallet, kept, error)
            return found or WalletRecord(wallet, _NOT_CACHED, self._store.service)
        if outdated or self._policy.refresh:
            return None
        return self._kept_record(wallet, kept, None)

    def _kept_record(
        self, wallet: WalletAddress, kept: Kept | None, error: str | None
    ) -> WalletRecord | None:
        """Return the record of an answer that is kept; None where there is none that is ok.

        An error says why there is none that is newer: then it is stale, whatever its age.
        """
        if kept is None:
            return None
        outcome = read_answer(kept.body, [wallet]).outcomes[0]
        if outcome.status is not Status.OK:
            return None
        source = Source.CACHE if error is None else Source.STALE
        return WalletRecord(wallet, outcome, self._store.service, kept.fetched_at, source, error)

    def _arrived(self, *, leave: int = 0) -> Iterator[Settled | None]:
        """Hand out what arrives, until so many are missing."""
        for arrival in self._asking.arrivals(leave):
            if arrival is None:
                yield None
                continue
            place, reply = arrival
            self.key_refused |= reply.key_refused
            wallet, kept = self._under_way.pop(place)
            try:
                settled, strangers = self._answered(place, wallet, kept, reply)
            except Exception as fault:  # noqa: BLE001 - one answer is no reason to lose the others
                broken = replace(reply, answer=unforeseen(fault))
                settled, strangers = self._answered(place, wallet, kept, broken)
            self.oddities.note(settled.record, strangers)
            yield settled

    def _answered(
        self, place: int, wallet: WalletAddress, kept: Kept | None, reply: Reply
    ) -> tuple[Settled, list[str]]:
        """Settle a wallet by the service's reply; what is kept stands in where that is not ok.

        Beside it come wallets that nobody asked for.
        """
        strangers: list[str] = []
        came: tuple[()] | tuple[datetime, Source] = ()
        answer = None
        if isinstance(reply.answer, Outcome):
            outcome = reply.answer
        else:
            [outcome], strangers = read_answer(reply.answer, [wallet])
            came = (reply.fetched_at, Source.SERVICE)
            answer = Kept(reply.answer, reply.fetched_at, reply.turn)
        if outcome.status in _SAID_BY_THE_SERVICE and not reply.key_refused:
            said = doubt(wallet.blockchain)  # which may be mistaken
            outcome = replace(outcome, error=f"{outcome.error}; {said}") if said else outcome
        record = WalletRecord(wallet, outcome, self._store.service, *came)
        if outcome.status is Status.OK:
            return Settled(place, record, answer), strangers
        stale = self._kept_record(wallet, kept, f"not refreshed: {outcome.error}")
        return Settled(place, stale or record), strangers
