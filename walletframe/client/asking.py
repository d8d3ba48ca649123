"""Requests for wallets, several at a time, in batches if `batch_size` is set, with their retries.

Other modules interpret the replies and cache them.
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
from walletframe.wire.outcome import Outcome, Status, outcome_of_exception
from walletframe.wire.shapes import details_query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from walletframe.address.forms import WalletAddress
    from walletframe.settings.values import Settings
    from walletframe.transport import RateLimiter, ServiceSession

OnReply: TypeAlias = "Callable[[Sequence[WalletAddress], Reply], object]"
Arrival: TypeAlias = "tuple[int, Reply]"  # with the key under which the wallet was added

CANCELLED = Outcome(Status.CANCELLED, "cancelled before it was answered")
_NOT_REQUESTED = Outcome(Status.CANCELLED, "not requested, since the key was refused before")
_OF_THE_BATCH = frozenset({Status.REJECTED, Status.SERVICE_ERROR, Status.INVALID})
_ATTEMPTS = 5
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 20.0
_LOOK_S = 0.25
_PATIENCE_S = 5.0  # with a series of 429s, beyond the pause that the service asks for
_TICK_S = 0.1
_GRACE_S = 0.4  # for requests in flight at a cancellation


class Sender:
    """The worker threads that send the requests of one fetch, and start when wallets are added.

    `connect` opens the session with the first request, since the cache alone needs no key.
    `on_reply` gets each reply on its worker thread; `next_sequence` numbers the requests.
    """

    def __init__(
        self,
        connect: Callable[[], tuple[ServiceSession, RateLimiter]],
        settings: Settings,
        cancel: Event,
        on_reply: OnReply | None = None,
        next_sequence: Callable[[], int] | None = None,
    ) -> None:
        self.unrequested: list[str] = []  # wallets in answers to batches that were not requested
        self._connect, self._cancel = connect, cancel
        self._on_reply, self._next_sequence = on_reply, next_sequence
        self._deadline_s, self._most = settings.deadline_s, settings.workers
        self._wanted: SimpleQueue[Mapping[int, WalletAddress] | None] = SimpleQueue()
        self._missing: set[int] = set()
        self._arrived: SimpleQueue[Arrival] = SimpleQueue()
        self._workers: list[Thread] = []
        self._batches_refused, self._key_refused = Event(), Event()
        self._refused_until = math.inf  # give up if 429s continue past this time
        self._patience_s = self._deadline_s

    @cached_property
    def _link(self) -> tuple[ServiceSession, RateLimiter]:
        return self._connect()

    def add(self, batch: Mapping[int, WalletAddress]) -> None:
        """Queue a batch of wallets by unique numbers, which the replies carry."""
        _ = self._link  # here, so that a missing setting raises in the caller's thread
        self._missing.update(batch)
        self._wanted.put(batch)
        if len(self._workers) < self._most:  # daemons: one that hangs keeps no process alive
            name = f"walletframe_{len(self._workers)}"
            results = map(self._request, iter(self._wanted.get, None))
            # A deque of length 0 runs the map to its end.
            self._workers.append(Thread(target=deque, args=(results, 0), name=name, daemon=True))
            self._workers[-1].start()

    def arrivals(self, leave: int = 0) -> Iterator[Arrival | None]:
        """Yield replies as they arrive, until at most `leave` are pending, and None when idle.

        After a cancellation, requests in flight get a short grace period; the rest is cancelled.
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
            if number in missing:  # else it was yielded as cancelled before
                missing.remove(number)
                yield number, reply

    def stop(self) -> None:
        """Drop the requests that have not started, and abandon those in flight."""
        self._cancel.set()
        for _ in self._workers:
            self._wanted.put(None)

    def _request(self, wanted: Mapping[int, WalletAddress]) -> None:
        """Send a request and retry it while that may help; queue a reply for each wallet.

        A batch that fails as a batch is not retried: its wallets are requested one by one.
        """
        if len(wanted) > 1 and self._batches_refused.is_set():
            self._arrive(wanted, {})
            return
        wallets, reply = list(wanted.values()), Reply(datetime.now(UTC), CANCELLED)
        end, attempt = math.inf, 0
        try:
            session, limiter = self._link
            while (refusal := self._wait_for_permit(end)) is None:
                end = min(end, time.monotonic() + self._deadline_s)
                max_s = end - time.monotonic() if self._deadline_s else math.inf
                sequence = None if self._next_sequence is None else self._next_sequence()
                query = f"?{details_query(wallets)}"
                reply = replace(session.send(query, max_s=max_s), sequence=sequence)
                if self._on_reply is not None:
                    self._on_reply(wallets, reply)  # before anyone else sees the reply
                if reply.failure is Status.RATE_LIMITED:
                    if self._refused_until == math.inf:  # the first 429 of a series
                        patience_s = (reply.retry_after_s or 0.0) + _PATIENCE_S
                        self._patience_s = max(self._deadline_s, patience_s)
                        self._refused_until = time.monotonic() + self._patience_s
                    limiter.note_refusal(reply.retry_after_s)
                else:
                    if time.monotonic() <= self._refused_until:  # else the fetch has given up
                        self._refused_until = math.inf
                    limiter.note_answer()
                wait_s = math.inf if _is_of_the_batch(wanted, reply) else _wait_s(attempt, reply)
                if time.monotonic() + wait_s > end or self._cancel.wait(wait_s):
                    break
                attempt += 1
            replies = self._replies(wanted, self._last(reply, refusal, end))
        except BaseException as fault:  # noqa: BLE001 - else the caller would wait for ever
            replies = dict.fromkeys(wanted, Reply(datetime.now(UTC), outcome_of_exception(fault)))
        self._arrive(wanted, replies)

    def _arrive(self, wanted: Mapping[int, WalletAddress], replies: Mapping[int, Reply]) -> None:
        """Queue the replies, and request wallets without a reply one by one."""
        for arrival in replies.items():
            self._arrived.put(arrival)
        for number, wallet in wanted.items():
            if number not in replies:
                self._request({number: wallet})

    def _wait_for_permit(self, end: float) -> Outcome | None:
        """Wait for a permit; return None, or the outcome if the request must not be sent."""
        if self._key_refused.is_set():
            return _NOT_REQUESTED
        while not self._cancel.is_set() and time.monotonic() <= min(end, self._refused_until):
            until = min(end, self._refused_until, time.monotonic() + _LOOK_S)
            if self._link[1].wait(self._cancel, until):
                return None
        if self._cancel.is_set():
            return CANCELLED
        answer = f"429 (too many requests) to everything for {self._patience_s:.0f} s"
        return Outcome(Status.RATE_LIMITED, f"not requested: the service answered {answer}")

    def _last(self, reply: Reply, refusal: Outcome | None, end: float) -> Reply:
        """Return the final reply, from the last one and the reason not to retry (`refusal`)."""
        if refusal is not None and (refusal is _NOT_REQUESTED or reply.answer is CANCELLED):
            return Reply(datetime.now(UTC), refusal)
        if self._cancel.is_set() and reply.failure:
            return Reply(reply.fetched_at, CANCELLED)
        if self._deadline_s and time.monotonic() > end and reply.failure is Status.TIMEOUT:
            late = f"no answer within {self._deadline_s:g} s"  # not the last attempt's own limit
            return replace(reply, answer=Outcome(Status.TIMEOUT, late))
        return reply

    def _replies(self, wanted: Mapping[int, WalletAddress], reply: Reply) -> dict[int, Reply]:
        """Return the replies to wallets, without those to be requested one by one."""
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
        bodies, unrequested = split_answer(reply.answer, list(wanted.values()))
        if len(bodies) <= 1:
            self._batches_refused.set()
        self.unrequested += unrequested
        numbers = list(wanted)
        return {numbers[position]: replace(reply, answer=body) for position, body in bodies.items()}


def _is_of_the_batch(wanted: Mapping[int, WalletAddress], reply: Reply) -> bool:
    """Return whether the failure may be the batch's, so that single wallets may succeed."""
    if len(wanted) == 1 or reply.key_refused:
        return False
    of_the_batch = reply.failure in _OF_THE_BATCH and not reply.retryable
    return of_the_batch or reply.failure is Status.TIMEOUT


def _wait_s(attempt: int, reply: Reply) -> float:
    """Return how long to wait before the next attempt; infinity if there is none."""
    if reply.failure is Status.RATE_LIMITED:  # the rate limiter also waits
        return reply.retry_after_s or 0.0
    if not reply.retryable or attempt + 1 >= _ATTEMPTS:
        return math.inf
    longest = min(_FIRST_WAIT_S * 2**attempt, _LONGEST_WAIT_S)
    jittered = random.uniform(longest / 2, longest)  # noqa: S311 - not a secret
    return max(jittered, reply.retry_after_s or 0.0)
