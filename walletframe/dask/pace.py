"""One pace for a whole cluster: its scheduler keeps it, and workers fetch permits in batches.

A batch has as many permits as a worker used in the last moment, so that most requests need no
message. If the scheduler is lost, each worker keeps to its share of the last rate.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from concurrent.futures import CancelledError, wait
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from distributed import SchedulerPlugin

from walletframe.settings.values import require_service
from walletframe.transport import pace
from walletframe.transport.pace import AHEAD_S, ASSUMED_PROCESSES, LATE_S, Pace, Pacer, Permit

if TYPE_CHECKING:
    from concurrent.futures import Future

    from distributed import Scheduler, Worker

    from walletframe.settings.values import Settings

    Reply: TypeAlias = dict[str, Any]

_BATCH_S = 0.1  # the permits for this time are divided among the waiting workers
_USED_S = 0.2  # twice as long, so that a worker with few permits catches up with the others
_POLL_S = 0.1
_RETRY_S = 0.001
_TIMEOUT_S = 2.0
_CONNECTION_ERRORS = (OSError, RuntimeError, CancelledError)  # of closed connections


class _Message(TypedDict):
    """The part that all messages of a worker to the scheduler have."""

    whose: str  # the service, and the kind of key
    first: bytes  # the worker's initial pace
    answers: int
    unused: int  # permits that it returns


class _SharedPace:
    """A pace that all workers share."""

    def __init__(self, first: bytes) -> None:
        self.first = first
        self.pace: Pace = pace.read_pace(first, Pace())
        self.lock = asyncio.Lock()  # first come, first served
        self.waiting = 0  # workers that wait for the lock, or hold it


class PaceKeeper(SchedulerPlugin):
    """Keeps a pace for each service and kind of key on the scheduler.

    Its times are of the scheduler's monotonic clock; the times that it sends are relative to now.
    """

    name = "walletframe-pace"
    idempotent = True

    def __init__(self, release: str) -> None:
        self._release = release
        self._paces: dict[str, _SharedPace] = {}

    async def start(self, scheduler: Scheduler) -> None:
        """Register the handlers that workers call; raise if the scheduler has another release."""
        own = version("walletframe")
        if own != self._release:
            raise ValueError(f"it has walletframe {own}, and here it is {self._release}")
        self._scheduler = scheduler
        scheduler.handlers.update(
            walletframe_permits=self.permits,
            walletframe_refused=self.refused,
            walletframe_closed=self.closed,
        )

    async def permits(self, wanted: int, message: _Message) -> Reply:
        """Wait until the next permit is near; return in how many seconds each permit is due.

        All waiting workers get the same share of the rate.
        """
        shared = self._updated(message)
        shared.waiting += 1
        try:
            async with shared.lock:
                while True:  # a refusal meanwhile delays the permit
                    now = time.monotonic()
                    wait_s = pace.ready_at(shared.pace, now, math.inf) - now - AHEAD_S
                    if wait_s <= 0:
                        break
                    await asyncio.sleep(min(wait_s, _POLL_S))
                most, waits = max(1, int(shared.pace.rate * _BATCH_S / shared.waiting)), []
                for _ in range(min(wanted, most)):
                    ready = pace.ready_at(shared.pace, now, math.inf)
                    shared.pace = pace.take(shared.pace, ready)
                    waits.append(ready - now)
        finally:
            shared.waiting -= 1
        return {"waits_s": waits, "share": self._share(shared)}

    def refused(self, retry_after_s: float | None, message: _Message) -> Reply:
        """Slow down and pause the whole cluster."""
        shared = self._updated(message)
        shared.pace = pace.refused(shared.pace, retry_after_s, time.monotonic())
        return {"waits_s": [], "share": self._share(shared)}

    def closed(self, message: _Message) -> None:
        """Take back the permits of a closed worker."""
        self._updated(message)

    def _updated(self, message: _Message) -> _SharedPace:
        """Return the pace, updated by a worker's message."""
        first, now = message["first"], time.monotonic()
        shared = self._paces.setdefault(message["whose"], _SharedPace(first))
        if shared.first != first:  # the settings have changed since the last message
            shared.first = first
            shared.pace = pace.with_settings_of(shared.pace, pace.read_pace(first, Pace()))
        if message["answers"]:
            shared.pace = pace.answered(shared.pace, message["answers"], now)
        shared.pace = pace.returned(shared.pace, message["unused"], now)
        return shared

    def _share(self, shared: _SharedPace) -> bytes:
        """Return the pace of a worker if this is the last reply that it gets."""
        threads, now = max(1, self._scheduler.total_nthreads), time.monotonic()
        return pace.write_pace(_shifted(pace.share(shared.pace, threads, now), -now))


def _shifted(pace: Pace, seconds: float) -> Pace:
    """Return a pace with its times shifted to another clock."""
    times = {
        name: getattr(pace, name) + seconds for name in ("next_at", "paused_until", "window_at")
    }
    return replace(pace, **times)


class ClusterPacer(Pacer):
    """The pacer of one worker's fetch, with permits from the scheduler."""

    def __init__(self, settings: Settings, worker: Worker) -> None:
        super().__init__(settings, in_file=False)
        self._worker = worker
        whose = f"{require_service(settings)} {settings.key_kind}"
        self._message = {"whose": whose, "first": pace.write_pace(self.last_pace)}
        # Until the first reply:
        self.last_pace: Pace = pace.share(self.last_pace, ASSUMED_PROCESSES, time.time())
        self._permits: deque[float] = deque()  # when each is due, by time.monotonic()
        self._reply: Future[Reply] | None = None
        self._requested_at, self._received = time.monotonic(), 0
        self._is_alone = False

    def _take_permit(self) -> Permit:
        """Take the next permit; if there is none, request as many as were used before."""
        if self._is_alone:
            return super()._take_permit()
        now = time.monotonic()
        with self._lock:
            while self._permits and self._permits[0] < now - LATE_S:
                self._permits.popleft()
            if self._permits:
                return Permit(self._permits.popleft() - now, is_granted=True)
        if self._reply is None:
            wanted = math.ceil(self._received * _USED_S / (now - self._requested_at + _RETRY_S))
            self._reply, self._requested_at = self._send("permits", wanted=max(1, wanted)), now
        if self._receive(self._reply, _POLL_S):
            self._reply, self._received = None, len(self._permits)
        return Permit(_RETRY_S, is_granted=False)

    def note_refusal(self, retry_after_s: float | None) -> None:
        """Slow down the whole cluster, and return the unused permits."""
        if not self._is_alone:
            self._receive(self._send("refused", retry_after_s=retry_after_s), _TIMEOUT_S)
        if self._is_alone:
            super().note_refusal(retry_after_s)
        self._permit_at = -math.inf

    def close(self) -> None:
        """Return the unused permits; late threads keep to a share."""
        with suppress(RuntimeError):  # the worker has ended
            self._send("closed")
        self._is_alone = True

    def _send(self, handler: str, **arguments: object) -> Future[Reply]:
        with self._lock:
            message = {**self._message, "answers": self._answers, "unused": len(self._permits)}
            self._answers = 0
            self._permits.clear()
        call = getattr(self._worker.scheduler, f"walletframe_{handler}")
        loop = self._worker.loop.asyncio_loop  # type: ignore[attr-defined]
        return asyncio.run_coroutine_threadsafe(call(message=message, **arguments), loop)

    def _receive(self, future: Future[Reply], timeout_s: float) -> bool:
        """Wait for a reply and store its permits; return False if it may still come."""
        try:
            if not wait([future], timeout_s).done:
                return False
            reply = future.result()
        except _CONNECTION_ERRORS:  # from now on the share of the last reply counts
            self._is_alone = True
            return True
        with self._lock:
            now = time.monotonic()
            self._permits.extend(now + wait_s for wait_s in reply["waits_s"])
            self.last_pace = _shifted(pace.read_pace(reply["share"], self.last_pace), time.time())
        return True
