"""Collect: arrivals in any order become records in the order asked, and what is ok is kept at once.

Runs on one thread, the only one that writes to the cache.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from walletframe.client.records import resolve_cancelled, resolve_kept, resolve_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from threading import Event

    from walletframe.address import WalletAddress
    from walletframe.client.plan import Step
    from walletframe.client.send import Arrival
    from walletframe.frames import WalletRecord
    from walletframe.transport import AnswerStore, Kept
    from walletframe.wire import Status

_KEEP_EVERY_S = 0.25


class Collection:
    """The records of one fetch.

    Parameters
    ----------
    steps : list of Step
        What was planned, in the order asked.
    service : str
        The service's name.
    store : AnswerStore
        Where to keep what is ok.
    report : callable
        Is told the status of each finished wallet.
    cancel : Event
        Set where the rest is to be left alone.
    """

    def __init__(
        self,
        steps: list[Step],
        service: str,
        store: AnswerStore,
        report: Callable[[Status], None],
        cancel: Event,
    ) -> None:
        self.strangers: list[str] = []
        self._steps, self._service = steps, service
        self._store, self._report, self._cancel = store, report, cancel
        self._early: dict[int, WalletRecord] = {}
        self._unkept: list[tuple[WalletAddress, Kept]] = []
        self._untold: list[Status] = []
        self._kept_at = time.monotonic()

    def records(self, arrivals: Iterator[Arrival | None]) -> Iterator[WalletRecord]:
        """Hand out the records in the order asked.

        Parameters
        ----------
        arrivals : iterator of Arrival or None
            Replies for the steps that ask, numbered among those.

        Yields
        ------
        WalletRecord
            One for each step.
        """
        asking = [place for place, step in enumerate(self._steps) if step.ask]
        for place, step in enumerate(self._steps):
            if not step.ask:
                yield self._kept_record(step)
                continue
            while place not in self._early:
                self._take_in(asking, next(arrivals))
            yield self._early.pop(place)
        self._keep()

    def _kept_record(self, step: Step) -> WalletRecord:
        if self._cancel.is_set():
            resolved = resolve_cancelled(step, self._service)
        else:
            resolved = resolve_kept(step, self._service)
        self._report(resolved.record.outcome.status)
        return resolved.record

    def _take_in(self, asking: list[int], arrival: Arrival | None) -> None:
        if arrival is not None:
            place = asking[arrival.place]
            step = self._steps[place]
            resolved = resolve_reply(step, arrival.reply, self._service)
            if resolved.keep is not None:
                self._unkept.append((step.wallet, resolved.keep))
            self.strangers += resolved.strangers
            self._early[place] = resolved.record
            self._untold.append(resolved.record.outcome.status)
        if time.monotonic() - self._kept_at > _KEEP_EVERY_S:
            self._keep()

    def _keep(self) -> None:
        """Keep what has arrived, then tell of it: what is shown as done is never lost."""
        self._store.write_many(self._unkept)
        for status in self._untold:
            self._report(status)
        self._unkept, self._untold = [], []
        self._kept_at = time.monotonic()
