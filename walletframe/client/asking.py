"""Requests for wallets, several at a time, in batches if set, each with its retries.

Who keeps the replies, and what they mean, is not known here.
"""

from __future__ import annotations

import math
import random
import time
from collections import deque
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeAlias

from walletframe.transport import Reply
from walletframe.wire.answer import split_answer
from walletframe.wire.outcome import Outcome, Status, unforeseen
from walletframe.wire.shapes import details_query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from walletframe.address.forms import WalletAddress
    from walletframe.settings.values import Settings
    from walletframe.transport import Pacer, ServiceSession

OnReply: TypeAlias = "Callable[[Sequence[WalletAddress], Reply], object]"
Arrival: TypeAlias = "tuple[int, Reply]"  # with the number under which its wallet was added

CANCELLED = Outcome(Status.CANCELLED, "cancelled before it was answered")
_NOT_ASKED = Outcome(Status.CANCELLED, "not asked for, since the key was refused before")
_OF_THE_BATCH = frozenset({Status.REJECTED, Status.SERVICE_ERROR, Status.INVALID})
_ATTEMPTS = 5
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 20.0
_LOOK_S = 0.25
_PATIENCE_S = 5.0  # with a row of 429, beyond what the service asks for
_TICK_S = 0.1
_GRACE_S = 0.4  # for what is under way when all is cancelled


class Asking:
    """The requests of one fetch, each under way from the moment its wallets are added.

    `opened` gives what they go through, at the first of them: the cache alone needs no key.
    `on_reply` gets each reply on the thread that asked; `turn` numbers the requests.
    """

    def __init__(
        self,
        opened: Callable[[], tuple[ServiceSession, Pacer]],
        settings: Settings,
        cancel: Event,
        *,
        on_reply: OnReply | None = None,
        turn: Callable[[], int] | None = None,
    ) -> None:
        self.strangers: list[str] = []  # which answers to batches name
        self._opened, self._cancel, self._on_reply, self._turn = opened, cancel, on_reply, turn
        self._deadline_s, self._most = settings.deadline_s, settings.workers
        self._wanted: SimpleQueue[Mapping[int, WalletAddress] | None] = SimpleQueue()
        self._missing: set[int] = set()
        self._arrived: SimpleQueue[Arrival] = SimpleQueue()
        self._workers: list[Thread] = []
        self._batches_refused, self._key_refused = Event(), Event()
        self._refused_until = math.inf  # a row of 429 is put up with until then
        self._patience_s = self._deadline_s

    @cached_property
    def _link(self) -> tuple[ServiceSession, Pacer]:
        return self._opened()

    def add(self, batch: Mapping[int, WalletAddress]) -> None:
        """Ask for the wallets of a batch, by numbers that no other has."""
        _ = self._link  # here: what is not set is an error of who adds
        self._missing.update(batch)
        self._wanted.put(batch)
        if len(self._workers) < self._most:  # daemons: one that hangs keeps no process alive
            name = f"walletframe_{len(self._workers)}"
            work = (map(self._ask, iter(self._wanted.get, None)), 0)  # a deque of none does it all
            self._workers.append(Thread(target=deque, args=work, name=name, daemon=True))
            self._workers[-1].start()

    def arrivals(self, leave: int = 0) -> Iterator[Arrival | None]:
        """Hand out the replies as they arrive, until so many are missing; None now and then.

        Where all was cancelled, what was under way gets a moment, and then none is missing.
        """
        missing = self._missing
        patience_ends = math.inf
        while len(missing) > (0 if self._cancel.is_set() else leave):
            if self._cancel.is_set():
                self._link[0].abort([each.ident for each in self._workers])
                patience_ends = min(patience_ends, time.monotonic() + _GRACE_S)
            try:
                number, reply = self._arrived.get(timeout=_TICK_S)
            except Empty:
                if time.monotonic() <= patience_ends:
                    yield None
                    continue
                while missing:
                    yield missing.pop(), Reply(datetime.now(UTC), CANCELLED)
                return
            if number in missing:  # what was given up as cancelled may still come
                missing.remove(number)
                yield number, reply

    def stop(self) -> None:
        """Drop the requests that have not begun, and abandon those under way."""
        self._cancel.set()
        for _ in self._workers:
            self._wanted.put(None)

    def _ask(self, wanted: Mapping[int, WalletAddress]) -> None:
        """Ask until there is an answer, or no sense in asking on; a reply arrives for each wallet.

        Several wallets are given up at once where they may fare better alone.
        """
        if len(wanted) > 1 and self._batches_refused.is_set():
            self._arrive(wanted, {})
            return
        wallets, reply = list(wanted.values()), Reply(datetime.now(UTC), CANCELLED)
        end, attempt = math.inf, 0
        try:
            session, pacer = self._link
            while (barrier := self._barrier(end)) is None:
                end = min(end, time.monotonic() + self._deadline_s)
                most_s = end - time.monotonic() if self._deadline_s else math.inf
                turn = None if self._turn is None else self._turn()
                query = f"?{details_query(wallets)}"
                reply = replace(session.ask(query, most_s=most_s), turn=turn)
                if self._on_reply is not None:
                    self._on_reply(wallets, reply)  # before anyone else hears of it
                if reply.failure is Status.RATE_LIMITED:
                    if self._refused_until == math.inf:  # the first in a row
                        patience_s = (reply.retry_after_s or 0.0) + _PATIENCE_S
                        self._patience_s = max(self._deadline_s, patience_s)
                        self._refused_until = time.monotonic() + self._patience_s
                    pacer.note_refusal(reply.retry_after_s)
                else:
                    if time.monotonic() <= self._refused_until:  # else all has been given up by now
                        self._refused_until = math.inf
                    pacer.note_answer()
                wait_s = math.inf if _is_of_the_batch(wanted, reply) else _wait_s(attempt, reply)
                if time.monotonic() + wait_s > end or self._cancel.wait(wait_s):
                    break
                attempt += 1
            replies = self._replies(wanted, self._last(reply, barrier, end))
        except BaseException as fault:  # noqa: BLE001 - else these wallets would be waited for
            replies = dict.fromkeys(wanted, Reply(datetime.now(UTC), unforeseen(fault)))
        self._arrive(wanted, replies)

    def _arrive(self, wanted: Mapping[int, WalletAddress], replies: Mapping[int, Reply]) -> None:
        """Hand out the replies, and ask alone for the wallets that got none."""
        for arrival in replies.items():
            self._arrived.put(arrival)
        for number, wallet in wanted.items():
            if number not in replies:
                self._ask({number: wallet})

    def _barrier(self, end: float) -> Outcome | None:
        """Wait for a slot as long as that makes sense; return why there is none."""
        if self._key_refused.is_set():
            return _NOT_ASKED
        while not self._cancel.is_set() and time.monotonic() <= min(end, self._refused_until):
            until = min(end, self._refused_until, time.monotonic() + _LOOK_S)
            if self._link[1].wait(self._cancel, until):
                return None
        if self._cancel.is_set():
            return CANCELLED
        said = f"429 (too many requests) to everything for {self._patience_s:.0f} s"
        return Outcome(Status.RATE_LIMITED, f"not asked for: the service answered {said}")

    def _last(self, reply: Reply, barrier: Outcome | None, end: float) -> Reply:
        """Return the reply that counts, by the last one and what kept from asking again."""
        if barrier is not None and (barrier is _NOT_ASKED or reply.answer is CANCELLED):
            return Reply(datetime.now(UTC), barrier)
        if self._cancel.is_set() and reply.failure:
            return Reply(reply.fetched_at, CANCELLED)
        if self._deadline_s and time.monotonic() > end and reply.failure is Status.TIMEOUT:
            late = f"no answer within {self._deadline_s:g} s"  # and not within the last attempt
            return replace(reply, answer=Outcome(Status.TIMEOUT, late))
        return reply

    def _replies(self, wanted: Mapping[int, WalletAddress], reply: Reply) -> dict[int, Reply]:
        """Return the replies to wallets, but for those that have to be asked for alone."""
        if reply.key_refused:
            self._key_refused.set()
        if isinstance(reply.answer, Outcome):
            if not _is_of_the_batch(wanted, reply):
                return dict.fromkeys(wanted, reply)
            if reply.failure is not Status.SERVICE_ERROR:
                self._batches_refused.set()
            return {}
        if len(wanted) == 1:
            return dict.fromkeys(wanted, reply)
        bodies, strangers = split_answer(reply.answer, list(wanted.values()))
        if len(bodies) <= 1:
            self._batches_refused.set()
        self.strangers += strangers
        numbers = list(wanted)
        return {numbers[place]: replace(reply, answer=body) for place, body in bodies.items()}


def _is_of_the_batch(wanted: Mapping[int, WalletAddress], reply: Reply) -> bool:
    """Return whether wallets may fare better alone than in the batch they were asked for in."""
    if len(wanted) == 1 or reply.key_refused:
        return False
    of_the_batch = reply.failure in _OF_THE_BATCH and not reply.passing
    return of_the_batch or reply.failure is Status.TIMEOUT


def _wait_s(attempt: int, reply: Reply) -> float:
    """Return how long to wait before the next attempt; infinity where there is to be none."""
    if reply.failure is Status.RATE_LIMITED:  # the pacer waits, too
        return reply.retry_after_s or 0.0
    if not reply.passing or attempt + 1 >= _ATTEMPTS:
        return math.inf
    longest = min(_FIRST_WAIT_S * 2**attempt, _LONGEST_WAIT_S)
    jittered = random.uniform(longest / 2, longest)  # noqa: S311 - no secret
    return max(jittered, reply.retry_after_s or 0.0)
