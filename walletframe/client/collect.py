"""Collect: replies become records, in the order asked or, in a flow, as they arrive.

A kept answer that proves not to be ok is asked for when its turn comes.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from itertools import count, islice
from typing import TYPE_CHECKING

from walletframe.client.conclusion import Oddities
from walletframe.client.plan import plan, resolve_kept, resolve_reply
from walletframe.frames import WalletRecord
from walletframe.wire import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from threading import Event

    from walletframe.address import WalletAddress
    from walletframe.client.plan import Policy, Step
    from walletframe.client.send import Arrival, Sending
    from walletframe.transport import AnswerStore, Kept

_KEEP_EVERY_S = 0.25
_LOOK = 256  # kept answers that are looked at before the first of them is handed out
_CANCELLED = Outcome(Status.CANCELLED, "cancelled before its turn came")


class Collection:
    """The records of one fetch; what is ok is kept at once, and then each status reported.

    All runs on one thread, the only one that writes to the cache.
    """

    def __init__(
        self,
        steps: list[Step],
        store: AnswerStore,
        sending: Sending,
        *,
        report: Callable[[Status], None],
        cancel: Event,
    ) -> None:
        self.oddities: Oddities = Oddities()
        self._steps, self._store, self._sending = steps, store, sending
        self._report, self._cancel = report, cancel
        self._arrivals: Iterator[Arrival | None] = iter(())
        self._early: dict[int, WalletRecord] = {}
        self._unkept: list[tuple[WalletAddress, Kept]] = []
        self._unreported: list[Status] = []
        self._kept_at = time.monotonic()

    def close(self) -> None:
        """Let go of what is under way."""
        self._sending.stop()
        self.oddities.note_strangers(self._sending.strangers)

    def records(self) -> Iterator[WalletRecord]:
        """Hand out the records, one for each step, in the order asked."""
        self._ask([place for place, step in enumerate(self._steps) if step.ask])
        for start in range(0, len(self._steps), _LOOK):
            places = range(start, min(start + _LOOK, len(self._steps)))
            self._ask([place for place in places if not self._look(place)])
            for place in places:
                while place not in self._early:
                    self._take_in(next(self._arrivals))
                record = self._early.pop(place)
                self.oddities.note_unread(record)
                yield record
        self._keep()

    def _ask(self, places: list[int]) -> None:
        if places:
            self._sending.add({place: self._steps[place].wallet for place in places})
            self._arrivals = self._sending.arrivals()

    def _look(self, place: int) -> bool:
        """Look at what is kept; tell whether the service has been asked, or need not be."""
        step, service = self._steps[place], self._store.service
        if step.ask:
            return True
        if self._cancel.is_set():
            record: WalletRecord | None = WalletRecord(step.wallet, _CANCELLED, service)
        else:
            record = resolve_kept(step, service)
        if record is None:
            return False
        self._early[place] = record
        self._report(record.outcome.status)
        return True

    def _take_in(self, arrival: Arrival | None) -> None:
        if arrival is not None:
            place, reply = arrival
            step = self._steps[place]
            record, keep, strangers = resolve_reply(step, reply, self._store.service)
            if keep is not None:
                self._unkept.append((step.wallet, keep))
            self.oddities.note_strangers(strangers)
            self._early[place] = record
            self._unreported.append(record.outcome.status)
        if time.monotonic() - self._kept_at > _KEEP_EVERY_S:
            self._keep()

    def _keep(self) -> None:
        """Keep what has arrived, then report it: what is shown as done is never lost."""
        self._store.write_many(self._unkept)
        for status in self._unreported:
            self._report(status)
        self._unkept, self._unreported = [], []
        self._kept_at = time.monotonic()


class Flow:
    """A fetch of more wallets than memory holds: with at most `ahead` under way, and none kept.

    It ends where it is cancelled, or where the service refuses the key. Backpressure: while nobody
    takes the records, no more is asked for than is under way already.
    """

    def __init__(
        self, store: AnswerStore, policy: Policy, sending: Sending, *, ahead: int, cancel: Event
    ) -> None:
        self.key_refused: bool = False
        self.oddities: Oddities = Oddities()
        self._store, self._policy, self._sending = store, policy, sending
        self._ahead, self._cancel = ahead, cancel
        self._numbers = count()
        self._steps: dict[int, Step] = {}

    def close(self) -> None:
        """Let go of what is under way."""
        self._sending.stop()
        self.oddities.note_strangers(self._sending.strangers)

    def records(self, portions: Iterable[list[WalletAddress]]) -> Iterator[WalletRecord]:
        """Hand out what becomes of distinct wallets, in no order, until the flow ends.

        An empty portion says that there are none for the moment.
        """
        for portion in portions:
            yield from self._worked_off(portion) if portion else self._arrived(most=1)
            if self._is_over():
                break
        yield from self._arrived()

    def _is_over(self) -> bool:
        return self.key_refused or self._cancel.is_set()

    def _worked_off(self, portion: list[WalletAddress]) -> Iterator[WalletRecord]:
        asked = []
        for step in plan(portion, self._store.read(portion), self._policy, datetime.now(UTC)):
            record = None if step.ask else resolve_kept(step, self._store.service)
            if record is None:
                asked.append(step)
            else:
                self.oddities.note_unread(record)
                yield record
        size = self._sending.batch_size
        for start in range(0, len(asked), size):
            batch = asked[start : start + size]
            yield from self._arrived(leave=self._ahead - len(batch))
            if self._is_over():
                return
            numbered = dict(zip(self._numbers, batch, strict=False))
            self._steps.update(numbered)
            self._sending.add({number: step.wallet for number, step in numbered.items()})

    def _arrived(self, *, leave: int = 0, most: int | None = None) -> Iterator[WalletRecord]:
        """Hand out what arrives, until so many are missing, or after so many looks."""
        for arrival in islice(self._sending.arrivals(leave), most):
            if arrival is not None:
                number, reply = arrival
                self.key_refused |= reply.key_refused
                step = self._steps.pop(number)
                record, _, strangers = resolve_reply(step, reply, self._store.service)
                self.oddities.note_strangers(strangers)
                self.oddities.note_unread(record)
                yield record
