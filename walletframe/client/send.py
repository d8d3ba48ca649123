"""Then act: ask for wallets, several at a time, again where that may help, and stop when told.

Replies come as they arrive. Who keeps them, and what they mean, is not known here.
"""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from queue import Empty, SimpleQueue
from threading import Event, get_ident
from typing import TYPE_CHECKING

from walletframe.transport import Reply
from walletframe.wire import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from walletframe.address import WalletAddress
    from walletframe.transport import Pacer, ServiceSession

_NOT_ASKED = Outcome(Status.CANCELLED, "not asked for, since the key was refused before")
_CANCELLED = Outcome(Status.CANCELLED, "cancelled before it was answered")
_ATTEMPTS = 5
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 20.0
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
    """Requests for wallets, each in one of its own, under way from the moment this is made.

    Parameters
    ----------
    session : ServiceSession
        Whom to ask.
    pacer : Pacer
        When.
    wallets : sequence of WalletAddress
        The distinct wallets.
    workers : int
        How many requests are under way at once.
    deadline_s : float
        How long one wallet may take from its first request, in seconds.
    cancel : Event
        Ends it all.
    """

    def __init__(
        self,
        session: ServiceSession,
        pacer: Pacer,
        wallets: Sequence[WalletAddress],
        *,
        workers: int,
        deadline_s: float,
        cancel: Event,
    ) -> None:
        self._session, self._pacer = session, pacer
        self._deadline_s = deadline_s
        self._cancel = cancel
        self._key_refused = Event()
        self._threads: set[int] = set()
        self._count = len(wallets)
        self._arrived: SimpleQueue[Arrival] = SimpleQueue()
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="walletframe")
        for place, wallet in enumerate(wallets):
            self._pool.submit(self._ask_for, place, wallet)

    def arrivals(self) -> Iterator[Arrival | None]:
        """Hand out the replies.

        Yields
        ------
        Arrival or None
            One for each wallet, as they arrive; None now and then, where none does.
        """
        missing = set(range(self._count))
        patience_ends = float("inf")
        while missing:
            if self._cancel.is_set():
                self._session.abort(self._threads)
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

    def _ask_for(self, place: int, wallet: WalletAddress) -> None:
        self._threads.add(get_ident())
        try:
            reply = self._reply(wallet)
        except Exception as fault:  # noqa: BLE001 - else nobody would hear of this wallet again
            outcome = Outcome(Status.INVALID, f"an answer beyond words: {type(fault).__name__}")
            reply = Reply(datetime.now(UTC), outcome)
        self._arrived.put(Arrival(place, reply))

    def _reply(self, wallet: WalletAddress) -> Reply:
        """Ask until there is an answer, or no sense in asking on."""
        end = float("inf")
        reply = Reply(datetime.now(UTC), _CANCELLED)
        for attempt in count():
            if self._key_refused.is_set():
                return Reply(datetime.now(UTC), _NOT_ASKED)
            if not self._pacer.wait(self._cancel, end):
                break
            end = min(end, time.monotonic() + self._deadline_s)
            reply = self._attempt(wallet)
            wait_s = _wait_s(attempt, reply)
            if wait_s is None or time.monotonic() + wait_s > end or self._cancel.wait(wait_s):
                break
        return Reply(reply.fetched_at, _CANCELLED) if self._is_cut_off(reply) else reply

    def _attempt(self, wallet: WalletAddress) -> Reply:
        reply = self._session.ask([wallet])
        if reply.key_refused:
            self._key_refused.set()
        if _is_refused(reply):
            self._pacer.tell_refused(reply.retry_after_s)
        else:
            self._pacer.tell_answered()
        return reply

    def _is_cut_off(self, reply: Reply) -> bool:
        return self._cancel.is_set() and isinstance(reply.answer, Outcome)


def _is_refused(reply: Reply) -> bool:
    return isinstance(reply.answer, Outcome) and reply.answer.status is Status.RATE_LIMITED


def _wait_s(attempt: int, reply: Reply) -> float | None:
    """Return how long to wait before the next attempt; None where there is to be none."""
    if not reply.passing:
        return None
    if _is_refused(reply):
        return 0.0 if reply.retry_after_s is None else reply.retry_after_s
    if attempt + 1 >= _ATTEMPTS:
        return None
    longest = min(_FIRST_WAIT_S * 2**attempt, _LONGEST_WAIT_S)
    jittered = random.uniform(longest / 2, longest)  # noqa: S311 - no secret
    return max(jittered, reply.retry_after_s or 0.0)
