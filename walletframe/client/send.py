"""Then act: ask for wallets, several at a time, in batches where wished, and stop when told.

Replies come as they arrive. Who keeps them, and what they mean, is not known here.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from queue import Empty, SimpleQueue
from threading import Event, Thread, get_ident
from typing import TYPE_CHECKING

from walletframe.client.ask import Asking, is_of_the_batch
from walletframe.transport import Reply
from walletframe.wire import Outcome, Status, split_answer, unforeseen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from walletframe.address import WalletAddress

_CANCELLED = Outcome(Status.CANCELLED, "cancelled before it was answered")
_TICK_S = 0.1
_GRACE_S = 0.4


@dataclass(frozen=True, slots=True)
class Arrival:
    """A reply, and whose it is.

    Attributes
    ----------
    place : int
        Which of the wallets sent for.
    reply : Reply
        What came of it.
    """

    place: int
    reply: Reply


class Sending:
    """Requests for wallets, each under way from the moment it is added.

    Each wallet is asked for alone, or in a batch; what a batch leaves open is asked for alone.

    Parameters
    ----------
    asking : Asking
        Asks, and knows when it is told to stop.
    workers : int
        How many requests are under way at once.

    Attributes
    ----------
    strangers : list of str
        Wallets in the answers to batches that nobody asked for.
    """

    def __init__(self, asking: Asking, *, workers: int) -> None:
        self.strangers: list[str] = []
        self._asking, self._cancel = asking, asking.cancel
        self._batches_refused = Event()
        self._threads: set[int] = set()
        self._added = 0
        self._missing: set[int] = set()
        self._arrived: SimpleQueue[Arrival] = SimpleQueue()
        self._wanted: SimpleQueue[Mapping[int, WalletAddress] | None] = SimpleQueue()
        self._workers: list[Thread] = []
        self._most = workers

    def add(self, batch: Sequence[WalletAddress]) -> range:
        """Send for some more wallets.

        Parameters
        ----------
        batch : sequence of WalletAddress
            What a request asks for; distinct, also from those before.

        Returns
        -------
        range
            Their places among all that were added.
        """
        places = range(self._added, self._added + len(batch))
        self._added = places.stop
        self._missing.update(places)
        self._wanted.put(dict(zip(places, batch, strict=True)))
        if len(self._workers) < self._most:  # daemons: one that hangs keeps no process alive
            name = f"walletframe_{len(self._workers)}"
            self._workers.append(Thread(target=self._work, name=name, daemon=True))
            self._workers[-1].start()
        return places

    def arrivals(self, leave: int = 0) -> Iterator[Arrival | None]:
        """Hand out the replies.

        Parameters
        ----------
        leave : int, default 0
            How many may be missing at the end; none where all was cancelled.

        Yields
        ------
        Arrival or None
            One for each wallet, as they arrive; None now and then, where none does.
        """
        missing = self._missing
        patience_ends = float("inf")
        while len(missing) > leave:
            if self._cancel.is_set():
                leave = 0
                self._asking.abort(self._threads)
                patience_ends = min(patience_ends, time.monotonic() + _GRACE_S)
            try:
                arrival = self._arrived.get(timeout=_TICK_S)
            except Empty:
                if time.monotonic() > patience_ends:
                    break
                yield None
                continue
            if arrival.place in missing:  # what was given up as cancelled may still come
                missing.remove(arrival.place)
                yield arrival
        while missing and self._cancel.is_set():
            yield Arrival(missing.pop(), Reply(datetime.now(UTC), _CANCELLED))

    def stop(self) -> None:
        """Let go of what has not begun, and tell what is under way that nobody waits for it."""
        self._cancel.set()
        for _ in self._workers:
            self._wanted.put(None)

    def _work(self) -> None:
        self._threads.add(get_ident())
        while (wanted := self._wanted.get()) is not None:
            if not self._cancel.is_set():
                self._ask_for(wanted)

    def _ask_for(self, wanted: Mapping[int, WalletAddress]) -> None:
        """Ask, and let something arrive for each of the wallets, whatever happens."""
        alone = wanted
        try:
            if len(wanted) > 1 and not self._batches_refused.is_set():
                alone = self._ask_together(wanted)
        except BaseException as fault:  # noqa: BLE001 - else these wallets would be waited for
            self._give_up(wanted, fault)
            return
        for place, wallet in alone.items():
            try:
                self._arrived.put(Arrival(place, self._asking.reply([wallet])))
            except BaseException as fault:  # noqa: BLE001 - the same
                self._give_up([place], fault)

    def _give_up(self, places: Iterable[int], fault: BaseException) -> None:
        reply = Reply(datetime.now(UTC), unforeseen(fault))
        for place in places:
            self._arrived.put(Arrival(place, reply))

    def _ask_together(self, wanted: Mapping[int, WalletAddress]) -> Mapping[int, WalletAddress]:
        """Ask for several wallets at once; return those that have to be asked for alone."""
        places, wallets = list(wanted), list(wanted.values())
        reply = self._asking.reply(wallets)
        if isinstance(reply.answer, Outcome):
            if not is_of_the_batch(reply):
                for place in places:
                    self._arrived.put(Arrival(place, reply))
                return {}
            if reply.answer.status is not Status.SERVICE_ERROR:
                self._batches_refused.set()
            return wanted
        split = split_answer(reply.answer, wallets)
        if len(split.bodies) <= 1:
            self._batches_refused.set()
        self.strangers += split.strangers
        answered = {places[number]: body for number, body in split.bodies.items()}
        for place, body in answered.items():
            self._arrived.put(Arrival(place, replace(reply, answer=body)))
        return {place: wallet for place, wallet in wanted.items() if place not in answered}
