"""Concurrent requests for wallets, in batches if `batch_size` is set, and retries."""

from __future__ import annotations

import math
import random
import time
from collections import deque
from datetime import UTC, datetime
from functools import cached_property
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeAlias

from walletframe.transport import RateLimiter, Reply, ServiceSession
from walletframe.wire.answer import split_into_bodies_and_unrequested
from walletframe.wire.outcome import Outcome, Status, outcome_of_exception
from walletframe.wire.schemas import details_query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from walletframe.address.forms import WalletAddress
    from walletframe.settings.values import Settings

OnReply: TypeAlias = "Callable[[Sequence[WalletAddress], Reply], object]"

CANCELLED = Outcome(Status.CANCELLED, "cancelled before it was answered")
_NOT_REQUESTED = Outcome(Status.CANCELLED, "not requested, since the API key was rejected")
_BATCH_FAILURES = frozenset({Status.REJECTED, Status.SERVICE_ERROR, Status.INVALID})
_MAX_ATTEMPTS = 5
_FIRST_WAIT_S = 0.5
_MAX_WAIT_S = 20.0
_CHECK_INTERVAL_S = 0.25
_PATIENCE_S = 5.0  # 429s may continue for this time after the requested pause
_TICK_S = 0.1
_GRACE_S = 0.4  # time for requests in flight after a cancellation


class RequestWorkers:
    """The worker threads of one fetch."""

    def __init__(
        self,
        connect: Callable[[], tuple[ServiceSession, RateLimiter]],
        settings: Settings,
        cancel: Event,
        on_reply: OnReply | None = None,
        sequence_now: Callable[[], int] | None = None,
    ) -> None:
        self.unrequested: list[str] = []  # unrequested wallets in the answers to batches
        self.cancel: Event = cancel
        self._connect, self._on_reply, self._sequence_now = connect, on_reply, sequence_now
        self._deadline_s, self._max_workers = settings.deadline_s, settings.workers
        self._batch_queue: SimpleQueue[Mapping[int, WalletAddress] | None] = SimpleQueue()
        self._pending: set[int] = set()
        self._reply_queue: SimpleQueue[tuple[int, Reply]] = SimpleQueue()
        self._workers: list[Thread] = []
        self._batches_unsupported, self._key_rejected = Event(), Event()
        self._give_up_at = math.inf  # give up if 429s continue past this time
        self._patience_s = self._deadline_s

    @cached_property
    def _connection(self) -> tuple[ServiceSession, RateLimiter]:
        return self._connect()

    def enqueue(self, batch: Mapping[int, WalletAddress]) -> None:
        """Queue a batch of wallets by request id. `receive_replies` yields these ids."""
        _ = self._connection  # connect in the caller's thread, where a missing setting raises
        self._pending.update(batch)
        self._batch_queue.put(batch)
        if len(self._workers) < self._max_workers:  # a daemon thread can't block the exit
            name = f"walletframe_{len(self._workers)}"
            results = map(self._request_and_queue_replies, iter(self._batch_queue.get, None))
            # A deque of length 0 iterates over the map without storing the results.
            self._workers.append(Thread(target=deque, args=(results, 0), name=name, daemon=True))
            self._workers[-1].start()

    def receive_replies(self, max_pending: int = 0) -> Iterator[tuple[int, Reply] | None]:
        """Yield ids and replies until `max_pending` wallets remain. While waiting, yield None."""
        pending, grace_ends = self._pending, math.inf
        while len(pending) > (0 if self.cancel.is_set() else max_pending):
            if self.cancel.is_set():
                self._connection[0].in_flight.abort_attempts([each.ident for each in self._workers])
                grace_ends = min(grace_ends, time.monotonic() + _GRACE_S)
            try:
                request_id, reply = self._reply_queue.get(timeout=_TICK_S)
            except Empty:
                if time.monotonic() <= grace_ends:
                    yield None
                    continue
                while pending:
                    yield pending.pop(), Reply(datetime.now(UTC), CANCELLED)
                return
            if request_id in pending:  # otherwise it was already yielded as cancelled
                pending.remove(request_id)
                yield request_id, reply

    def stop(self) -> None:
        """Send no more requests, and abandon requests in flight."""
        self.cancel.set()
        for _ in self._workers:
            self._batch_queue.put(None)

    def _request_and_queue_replies(self, batch: Mapping[int, WalletAddress]) -> None:
        """Request a batch, then each wallet without a reply one by one."""
        is_unsupported = len(batch) > 1 and self._batches_unsupported.is_set()
        replies = {} if is_unsupported else self._send_with_retries(batch)
        for numbered_reply in replies.items():
            self._reply_queue.put(numbered_reply)
        for request_id, wallet in batch.items():
            if request_id not in replies:
                self._request_and_queue_replies({request_id: wallet})

    def _send_with_retries(self, batch: Mapping[int, WalletAddress]) -> dict[int, Reply]:
        wallets, reply = list(batch.values()), Reply(datetime.now(UTC), CANCELLED)
        deadline, attempt = math.inf, 0
        try:
            session, limiter = self._connection
            while (denial := self._wait_for_permit(deadline)) is None:
                deadline = min(deadline, time.monotonic() + self._deadline_s)
                max_s = deadline - time.monotonic() if self._deadline_s else math.inf
                sequence = None if self._sequence_now is None else self._sequence_now()
                query = f"?{details_query(wallets)}"
                reply = session.send(query, max_s=max_s)._replace(sequence=sequence)
                if self._on_reply is not None:
                    self._on_reply(wallets, reply)  # before other code uses the reply
                if reply.failure is Status.RATE_LIMITED:
                    if self._give_up_at == math.inf:  # the first 429 of a series
                        patience_s = (reply.retry_after_s or 0.0) + _PATIENCE_S
                        self._patience_s = max(self._deadline_s, patience_s)
                        self._give_up_at = time.monotonic() + self._patience_s
                    limiter.note_refusal(reply.retry_after_s)
                else:
                    if time.monotonic() <= self._give_up_at:  # otherwise the fetch has given up
                        self._give_up_at = math.inf
                    limiter.note_answer()
                wait_s = _retry_delay_s(batch, attempt, reply)
                if time.monotonic() + wait_s > deadline or self.cancel.wait(wait_s):
                    break
                attempt += 1
            return self._replies_by_id(batch, self._final_reply(reply, denial, deadline))
        except BaseException as fault:  # noqa: BLE001 - else the caller would wait forever
            return dict.fromkeys(batch, Reply(datetime.now(UTC), outcome_of_exception(fault)))

    def _wait_for_permit(self, deadline: float) -> Outcome | None:
        """Wait for a permit. Return an outcome if the request must not be sent."""
        if self._key_rejected.is_set():
            return _NOT_REQUESTED
        while not self.cancel.is_set() and time.monotonic() <= min(deadline, self._give_up_at):
            until = min(deadline, self._give_up_at, time.monotonic() + _CHECK_INTERVAL_S)
            if self._connection[1].wait_for_permit(self.cancel, until):
                return None
        if self.cancel.is_set():
            return CANCELLED
        answers = f"for {self._patience_s:.0f} s, all answers were 429 (too many requests)"
        return Outcome(Status.RATE_LIMITED, f"not requested: {answers}")

    def _final_reply(self, reply: Reply, denial: Outcome | None, deadline: float) -> Reply:
        if denial is not None and (denial is _NOT_REQUESTED or reply.answer is CANCELLED):
            return Reply(datetime.now(UTC), denial)
        if self.cancel.is_set() and reply.failure:
            return Reply(reply.fetched_at, CANCELLED)
        if self._deadline_s and time.monotonic() > deadline and reply.failure is Status.TIMEOUT:
            late = f"no answer within {self._deadline_s:g} s"  # not the last attempt's limit
            return reply._replace(answer=Outcome(Status.TIMEOUT, late))
        return reply

    def _replies_by_id(self, batch: Mapping[int, WalletAddress], reply: Reply) -> dict[int, Reply]:
        """Return replies by id. The caller requests wallets without a reply one by one."""
        if reply.key_rejected:
            self._key_rejected.set()
        if isinstance(reply.answer, Outcome):
            if not _may_succeed_singly(batch, reply):
                return dict.fromkeys(batch, reply)
            if reply.failure is not Status.SERVICE_ERROR:
                self._batches_unsupported.set()
            return {}
        if len(batch) == 1:
            return dict.fromkeys(batch, reply)
        bodies, unrequested = split_into_bodies_and_unrequested(reply.answer, list(batch.values()))
        if len(bodies) <= 1:
            self._batches_unsupported.set()
        self.unrequested += unrequested
        ids = list(batch)
        return {ids[position]: reply._replace(answer=body) for position, body in bodies.items()}


def _may_succeed_singly(batch: Mapping[int, WalletAddress], reply: Reply) -> bool:
    if len(batch) == 1 or reply.key_rejected:
        return False
    is_batch_failure = reply.failure in _BATCH_FAILURES and not reply.retryable
    return is_batch_failure or reply.failure is Status.TIMEOUT


def _retry_delay_s(batch: Mapping[int, WalletAddress], attempt: int, reply: Reply) -> float:
    if reply.failure is Status.RATE_LIMITED:  # the rate limiter also waits
        return reply.retry_after_s or 0.0
    if not reply.retryable or attempt + 1 >= _MAX_ATTEMPTS or _may_succeed_singly(batch, reply):
        return math.inf
    longest = min(_FIRST_WAIT_S * 2**attempt, _MAX_WAIT_S)
    jittered = random.uniform(longest / 2, longest)  # noqa: S311 - not a secret
    return max(jittered, reply.retry_after_s or 0.0)
