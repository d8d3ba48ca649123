"""Then act: ask for wallets, several at a time, in batches where wished, and stop when told.

Replies come as they arrive. Who keeps them, and what they mean, is not known here.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from queue import Empty, SimpleQueue
from threading import Event, get_ident
from typing import TYPE_CHECKING

from walletframe.client.ask import Asking, is_of_the_batch
from walletframe.transport import Reply
from walletframe.wire import Outcome, Status, split_answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    """Requests for wallets, under way from the moment this is made.

    Each wallet is asked for alone, or in a batch; what a batch leaves open is asked for alone.

    Parameters
    ----------
    asking : Asking
        Asks, and knows when it is told to stop.
    wallets : sequence of WalletAddress
        The distinct wallets.
    workers : int
        How many requests are under way at once.
    batch_size : int
        How many wallets a request asks for.

    Attributes
    ----------
    strangers : list of str
        Wallets in the answers to batches that nobody asked for.
    """

    def __init__(
        self, asking: Asking, wallets: Sequence[WalletAddress], *, workers: int, batch_size: int
    ) -> None:
        self.strangers: list[str] = []
        self._asking, self._cancel = asking, asking.cancel
        self._batches_refused = Event()
        self._threads: set[int] = set()
        self._wallets = wallets
        self._arrived: SimpleQueue[Arrival] = SimpleQueue()
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="walletframe")
        for start in range(0, len(wallets), batch_size):
            self._pool.submit(self._ask_for, range(start, min(start + batch_size, len(wallets))))

    def arrivals(self) -> Iterator[Arrival | None]:
        """Hand out the replies.

        Yields
        ------
        Arrival or None
            One for each wallet, as they arrive; None now and then, where none does.
        """
        missing = set(range(len(self._wallets)))
        patience_ends = float("inf")
        while missing:
            if self._cancel.is_set():
                self._asking.abort(self._threads)
                patience_ends = min(patience_ends, time.monotonic() + _GRACE_S)
            try:
                arrival = self._arrived.get(timeout=_TICK_S)
            except Empty:
                if time.monotonic() > patience_ends:
                    break
                yield None
            else:
                missing.discard(arrival.place)
                yield arrival
        for place in missing:
            yield Arrival(place, Reply(datetime.now(UTC), _CANCELLED))

    def stop(self) -> None:
        """Let go of what has not begun, and tell what is under way that nobody waits for it."""
        self._cancel.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ask_for(self, places: Sequence[int]) -> None:
        self._threads.add(get_ident())
        if len(places) > 1 and not self._batches_refused.is_set():
            places = self._ask_together(places)
        for place in places:
            self._arrived.put(Arrival(place, self._asking.reply([self._wallets[place]])))

    def _ask_together(self, places: Sequence[int]) -> Sequence[int]:
        """Ask for several wallets at once; return those that have to be asked for alone."""
        wallets = [self._wallets[place] for place in places]
        reply = self._asking.reply(wallets)
        if isinstance(reply.answer, Outcome):
            if not is_of_the_batch(reply):
                for place in places:
                    self._arrived.put(Arrival(place, reply))
                return []
            if reply.answer.status is not Status.SERVICE_ERROR:
                self._batches_refused.set()
            return places
        split = split_answer(reply.answer, wallets)
        if len(split.bodies) <= 1:
            self._batches_refused.set()
        self.strangers += split.strangers
        for number, body in split.bodies.items():
            self._arrived.put(Arrival(places[number], replace(reply, answer=body)))
        return [place for number, place in enumerate(places) if number not in split.bodies]
