"""Then act: send requests, several at a time, in batches if set, until done or cancelled.

Replies come as they arrive. Who keeps them, and what they mean, is not known here.
"""

from __future__ import annotations

import time
from dataclasses import replace
from queue import Empty, SimpleQueue
from threading import Event, Thread, get_ident
from typing import TYPE_CHECKING, TypeAlias

from walletframe.client.ask import CANCELLED, is_of_the_batch, not_answered
from walletframe.wire import Outcome, Status, split_answer, unforeseen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from walletframe.address import WalletAddress
    from walletframe.client.ask import Asking
    from walletframe.transport import Reply

Arrival: TypeAlias = "tuple[int, Reply]"  # with the number under which its wallet was added
_TICK_S = 0.1
_GRACE_S = 0.4


class Sending:
    """Requests for wallets, each under way from the moment it is added.

    Each wallet is asked for alone, or in a batch; what a batch leaves open is asked for alone.
    The asking is opened with the first wallet, since the cache alone needs no key.
    """

    def __init__(
        self, opened: Callable[[], Asking], cancel: Event, *, workers: int, batch_size: int
    ) -> None:
        self.strangers: list[str] = []  # which answers to batches name
        self.batch_size = batch_size
        self._opened, self._cancel = opened, cancel
        self._asking: Asking | None = None
        self._batches_refused = Event()
        self._threads: set[int] = set()
        self._missing: set[int] = set()
        self._arrived: SimpleQueue[Arrival] = SimpleQueue()
        self._wanted: SimpleQueue[Mapping[int, WalletAddress] | None] = SimpleQueue()
        self._workers: list[Thread] = []
        self._most = workers

    def add(self, wanted: Mapping[int, WalletAddress]) -> None:
        """Send for wallets, by numbers that no other has."""
        numbers = list(wanted)
        for start in range(0, len(numbers), self.batch_size):
            batch = {number: wanted[number] for number in numbers[start : start + self.batch_size]}
            if self._asking is None:
                self._asking = self._opened()
            self._missing.update(batch)
            self._wanted.put(batch)
            if len(self._workers) < self._most:  # daemons: one that hangs keeps no process alive
                asking, name = (self._asking,), f"walletframe_{len(self._workers)}"
                self._workers.append(Thread(target=self._work, args=asking, name=name, daemon=True))
                self._workers[-1].start()

    def arrivals(self, leave: int = 0) -> Iterator[Arrival | None]:
        """Hand out the replies as they arrive, until so many are missing; None now and then.

        Where all was cancelled, what was under way gets a moment, and then none is missing.
        """
        missing = self._missing
        patience_ends = float("inf")
        while len(missing) > leave:
            if self._cancel.is_set() and self._asking is not None:
                leave = 0
                self._asking.abort(self._threads)
                patience_ends = min(patience_ends, time.monotonic() + _GRACE_S)
            try:
                number, reply = self._arrived.get(timeout=_TICK_S)
            except Empty:
                if time.monotonic() > patience_ends:
                    break
                yield None
                continue
            if number in missing:  # what was given up as cancelled may still come
                missing.remove(number)
                yield number, reply
        while missing and self._cancel.is_set():
            yield missing.pop(), not_answered(CANCELLED)

    def stop(self) -> None:
        """Let go of what has not begun, and tell what is under way that nobody waits for it."""
        self._cancel.set()
        for _ in self._workers:
            self._wanted.put(None)

    def _work(self, asking: Asking) -> None:
        self._threads.add(get_ident())
        while (wanted := self._wanted.get()) is not None:
            if not self._cancel.is_set():
                self._ask_for(asking, wanted)

    def _ask_for(self, asking: Asking, wanted: Mapping[int, WalletAddress]) -> None:
        """Ask, and let something arrive for each of the wallets, whatever happens."""
        try:
            alone = self._ask_together(asking, wanted)
        except BaseException as fault:  # noqa: BLE001 - else these wallets would be waited for
            reply = not_answered(unforeseen(fault))
            for number in wanted:
                self._arrived.put((number, reply))
            return
        for number, wallet in alone.items():
            try:
                reply = asking.reply([wallet])
            except BaseException as fault:  # noqa: BLE001 - the same
                reply = not_answered(unforeseen(fault))
            self._arrived.put((number, reply))

    def _ask_together(
        self, asking: Asking, wanted: Mapping[int, WalletAddress]
    ) -> Mapping[int, WalletAddress]:
        """Ask for several wallets at once; return those that have to be asked for alone."""
        if len(wanted) == 1 or self._batches_refused.is_set():
            return wanted
        numbers, wallets = list(wanted), list(wanted.values())
        reply = asking.reply(wallets)
        if isinstance(reply.answer, Outcome):
            if not is_of_the_batch(reply):
                for number in numbers:
                    self._arrived.put((number, reply))
                return {}
            if reply.answer.status is not Status.SERVICE_ERROR:
                self._batches_refused.set()
            return wanted
        split = split_answer(reply.answer, wallets)
        if len(split.bodies) <= 1:
            self._batches_refused.set()
        self.strangers += split.strangers
        for place, body in split.bodies.items():
            self._arrived.put((numbers[place], replace(reply, answer=body)))
        return {numbers[n]: wallet for n, wallet in enumerate(wallets) if n not in split.bodies}
