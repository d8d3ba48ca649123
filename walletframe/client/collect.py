"""Collect: replies become records in the requested order; what is ok is cached at once.

A kept answer that proves not to be ok is asked for when its turn comes. All runs on one thread, the
only one that writes to the cache.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from walletframe.client.conclusion import Oddities
from walletframe.client.plan import missed
from walletframe.client.records import resolve_cancelled, resolve_kept, resolve_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from threading import Event

    from walletframe.address import WalletAddress
    from walletframe.client.plan import Step
    from walletframe.client.records import Resolved
    from walletframe.client.send import Arrival, Sending
    from walletframe.frames import WalletRecord
    from walletframe.transport import AnswerStore, Kept
    from walletframe.wire import Status

_KEEP_EVERY_S = 0.25
_LOOK = 256  # kept answers that are looked at before the first of them is handed out


class Collection:
    """The records of one fetch; `report` gets the status of each finished wallet."""

    def __init__(
        self,
        steps: list[Step],
        store: AnswerStore,
        sending: Sending,
        *,
        report: Callable[[Status], None],
        cancel: Event,
    ) -> None:
        self.oddities = Oddities()
        self._steps, self._service, self._store = steps, store.service, store
        self._sending, self._report, self._cancel = sending, report, cancel
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
        return self.oddities.counted(self._records())

    def _records(self) -> Iterator[WalletRecord]:
        self._ask([place for place, step in enumerate(self._steps) if step.ask])
        for start in range(0, len(self._steps), _LOOK):
            places = range(start, min(start + _LOOK, len(self._steps)))
            self._ask([place for place in places if not self._look(place)])
            for place in places:
                while place not in self._early:
                    self._take_in(next(self._arrivals))
                yield self._early.pop(place)
        self._keep()

    def _ask(self, places: list[int]) -> None:
        if places:
            self._sending.add({place: self._steps[place].wallet for place in places})
            self._arrivals = self._sending.arrivals()

    def _look(self, place: int) -> bool:
        """Look at what is kept; tell whether the service has been asked, or need not be."""
        step = self._steps[place]
        if step.ask:
            return True
        if self._cancel.is_set():
            resolved: Resolved | None = resolve_cancelled(step, self._service)
        else:
            resolved = resolve_kept(step, self._service)
        if resolved is None:
            self._steps[place] = missed(step)
            return not step.may_ask and self._look(place)
        self._early[place] = resolved.record
        self._report(resolved.record.outcome.status)
        return True

    def _take_in(self, arrival: Arrival | None) -> None:
        if arrival is not None:
            step = self._steps[arrival.number]
            resolved = resolve_reply(step, arrival.reply, self._service)
            if resolved.keep is not None:
                self._unkept.append((step.wallet, resolved.keep))
            self.oddities.note_strangers(resolved.strangers)
            self._early[arrival.number] = resolved.record
            self._unreported.append(resolved.record.outcome.status)
        if time.monotonic() - self._kept_at > _KEEP_EVERY_S:
            self._keep()

    def _keep(self) -> None:
        """Keep what has arrived, then report it: what is shown as done is never lost."""
        self._store.write_many(self._unkept)
        for status in self._unreported:
            self._report(status)
        self._unkept, self._unreported = [], []
        self._kept_at = time.monotonic()
