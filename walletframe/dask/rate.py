"""A rate limiter on the scheduler of a Dask cluster.

Each request needs a permit. Workers request batches of permits from the scheduler. A batch lasts
about 0.2 seconds. If the scheduler is lost, each thread continues at an equal share of the rate.
"""

from __future__ import annotations

import asyncio
import math
import time
from concurrent.futures import CancelledError, Future, wait
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from distributed import Scheduler, SchedulerPlugin, Worker

from walletframe.settings.values import Settings, require_service
from walletframe.transport import rate
from walletframe.transport.rate import RateLimiter, RateState

if TYPE_CHECKING:
    Reply: TypeAlias = dict[str, Any]

_BATCH_S = 0.1  # seconds of permits that all waiting workers share
_USED_S = 0.2  # seconds of permits that a worker requests; longer, so that its rate can grow
_POLL_S = 0.1
_RETRY_S = 0.001
_TIMEOUT_S = 2.0
_CONNECTION_ERRORS = (OSError, RuntimeError, CancelledError)  # raised by closed connections


class _WorkerMessage(TypedDict):
    limit_key: str  # the service and the kind of the API key
    initial: bytes  # the worker's initial state, as JSON
    answers: int  # number of answers since the last message
    unused: int  # number of unused permits, which the worker returns


class _SharedRate:
    def __init__(self, initial: bytes) -> None:
        self.initial = initial
        self.state: RateState = rate.state_from_json(initial, RateState())
        self.lock = asyncio.Lock()  # served in the order of arrival
        self.waiting = 0  # number of workers that wait for the lock or hold it


class RateLimiterPlugin(SchedulerPlugin):
    """The rate limiter on the scheduler, with one rate limit per service and kind of API key.

    Stored times use the scheduler's monotonic clock. Times in replies are relative to now.
    """

    name = "walletframe-rate"
    idempotent = True

    def __init__(self, required_version: str) -> None:
        self._required_version = required_version
        self._rates: dict[str, _SharedRate] = {}

    async def start(self, scheduler: Scheduler) -> None:
        """Register the message handlers. Raise an error if the scheduler's version differs."""
        installed, required = version("walletframe"), self._required_version
        if installed != required:
            raise ValueError(
                f"the scheduler runs walletframe {installed}, but this machine runs {required}"
            )
        self._scheduler = scheduler
        scheduler.handlers.update(
            walletframe_permits=self.send_permits,
            walletframe_refused=self.slow_down,
            walletframe_closed=self.take_back_permits,
        )

    async def send_permits(self, wanted: int, message: _WorkerMessage) -> Reply:
        """Wait until the next permit is nearly due. Return the delays of one or more permits."""
        shared = self._update_from_message(message)
        shared.waiting += 1
        try:
            async with shared.lock:
                while True:  # a rate-limited answer may delay the permit meanwhile
                    now = time.monotonic()
                    wait_s = rate.next_permit_at(shared.state, now, math.inf) - now - rate.LEAD_S
                    if wait_s <= 0:
                        break
                    await asyncio.sleep(min(wait_s, _POLL_S))
                maximum = max(1, int(shared.state.rate * _BATCH_S / shared.waiting))
                shared.state, times = rate.take_permits(shared.state, min(wanted, maximum), now)
        finally:
            shared.waiting -= 1
        return {"waits_s": [each - now for each in times], "share": self._fallback_state(shared)}

    def slow_down(self, retry_after_s: float | None, message: _WorkerMessage) -> Reply:
        """Reduce the rate, and pause all workers."""
        shared = self._update_from_message(message)
        shared.state = rate.slow_down(shared.state, retry_after_s, time.monotonic())
        return {"waits_s": [], "share": self._fallback_state(shared)}

    def take_back_permits(self, message: _WorkerMessage) -> None:
        """Take back the unused permits of a finished worker."""
        self._update_from_message(message)

    def _update_from_message(self, message: _WorkerMessage) -> _SharedRate:
        initial, now = message["initial"], time.monotonic()
        shared = self._rates.setdefault(message["limit_key"], _SharedRate(initial))
        if shared.initial != initial:  # the settings have changed since the last message
            shared.initial = initial
            changed = rate.state_from_json(initial, RateState())
            shared.state = rate.apply_current_limits(shared.state, changed)
        if message["answers"]:
            shared.state = rate.count_answers(shared.state, message["answers"], now)
        shared.state = rate.restore_permits(shared.state, message["unused"], now)
        return shared

    def _fallback_state(self, shared: _SharedRate) -> bytes:
        """Return the rate of one thread as JSON, for a worker that loses the scheduler."""
        threads, now = max(1, self._scheduler.total_nthreads), time.monotonic()
        return rate.state_to_json(_shift_times(rate.divide_rate(shared.state, threads, now), -now))


def _shift_times(state: RateState, seconds: float) -> RateState:
    names = ("next_at", "paused_until", "window_at")
    return replace(state, **{name: getattr(state, name) + seconds for name in names})


class WorkerRateLimiter(RateLimiter):
    """The rate limiter of one worker. Permits come from the scheduler."""

    def __init__(self, settings: Settings, worker: Worker) -> None:
        super().__init__(settings, in_file=False)
        self._worker = worker
        limit_key = f"{require_service(settings)} {settings.key_kind}"
        self._message = {"limit_key": limit_key, "initial": rate.state_to_json(self.last_state)}
        share = rate.divide_rate(self.last_state, rate.ASSUMED_PROCESSES, time.time())
        self.last_state: RateState = share  # until the first reply
        self._reply: Future[Reply] | None = None
        self._requested_at, self._received = time.monotonic(), 0
        self._has_lost_scheduler = False

    def _request_permits(self) -> float:
        """Request permits from the scheduler. Return the seconds to wait before the next check."""
        if self._has_lost_scheduler:
            return super()._request_permits()
        now = time.monotonic()
        if self._reply is None:
            wanted = math.ceil(self._received * _USED_S / (now - self._requested_at + _RETRY_S))
            self._reply, self._requested_at = self._send("permits", wanted=max(1, wanted)), now
        if self._receive_reply(self._reply, _POLL_S):
            self._reply, self._received = None, len(self._permits)
        return _RETRY_S

    def note_refusal(self, retry_after_s: float | None) -> None:
        """Reduce the rate of the cluster, and send unused permits back to the scheduler."""
        if not self._has_lost_scheduler:
            self._receive_reply(self._send("refused", retry_after_s=retry_after_s), _TIMEOUT_S)
        if self._has_lost_scheduler:
            super().note_refusal(retry_after_s)

    def close(self) -> None:
        """Send unused permits back. Later requests use this worker's share of the rate."""
        with suppress(RuntimeError):  # the worker has ended
            self._send("closed")
        self._has_lost_scheduler = True

    def _send(self, handler: str, **arguments: object) -> Future[Reply]:
        with self._lock:
            message = {**self._message, "answers": self._answers, "unused": len(self._permits)}
            self._answers = 0
            self._permits.clear()
        call = getattr(self._worker.scheduler, f"walletframe_{handler}")
        loop = self._worker.loop.asyncio_loop  # type: ignore[attr-defined]  # every IOLoop on asyncio has it
        return asyncio.run_coroutine_threadsafe(call(message=message, **arguments), loop)

    def _receive_reply(self, future: Future[Reply], timeout_s: float) -> bool:
        """Store the permits of a reply. Return False if the reply has not arrived yet."""
        try:
            if not wait([future], timeout_s).done:
                return False
            reply = future.result()
        except _CONNECTION_ERRORS:  # use the share in the last reply
            self._has_lost_scheduler = True
            return True
        with self._lock:
            now = time.monotonic()
            self._permits.extend(now + wait_s for wait_s in reply["waits_s"])
            share = rate.state_from_json(reply["share"], self.last_state)
            self.last_state = _shift_times(share, time.time())
        return True
