"""One pace for a whole cluster: its scheduler keeps it, and workers fetch permits in batches.

A batch is what a worker used in the last moment, so that most requests cost no message. Where the
scheduler is gone each worker keeps to its share of the last rate.
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
from walletframe.transport.pace import AHEAD_S, LATE_S, UNCOUNTED, Pace, Pacer, Slot

if TYPE_CHECKING:
    from concurrent.futures import Future

    from distributed import Scheduler, Worker

    from walletframe.settings.values import Settings

    Reply: TypeAlias = dict[str, Any]

_BATCH_S = 0.1  # of the rate, divided among the workers that wait
_USED_S = 0.2  # twice as long, so that a worker with few permits catches up with the others
_LOOK_S = 0.1
_AGAIN_S = 0.001
_PATIENCE_S = 2.0
_GONE = (OSError, RuntimeError, CancelledError)  # from connections that were closed


class _Message(TypedDict):
    """What a worker says with everything that it asks the scheduler."""

    whose: str  # the service, and the kind of key
    first: bytes  # the pace with which it would begin
    answers: int
    unused: int  # permits that it gives back


class _Shared:
    """A pace that all workers share."""

    def __init__(self, first: bytes) -> None:
        self.first = first
        self.pace: Pace = pace.read_pace(first, Pace())
        self.turn = asyncio.Lock()  # first come, first served
        self.waiting = 0  # for their turn, or holding it


class PaceKeeper(SchedulerPlugin):
    """Keeps a pace for each service and kind of key on the scheduler.

    Times are those of the scheduler's own monotonic clock, and what it sends is relative to now.
    """

    name = "walletframe-pace"
    idempotent = True

    def __init__(self, release: str) -> None:
        self._release = release
        self._shared: dict[str, _Shared] = {}

    async def start(self, scheduler: Scheduler) -> None:
        """Add what workers call to the scheduler's handlers; raise if it has another release."""
        found = version("walletframe")
        if found != self._release:
            raise ValueError(f"it has walletframe {found}, and here it is {self._release}")
        self._scheduler = scheduler
        scheduler.handlers.update(
            walletframe_permits=self.permits,
            walletframe_refused=self.refused,
            walletframe_closed=self.closed,
        )

    async def permits(self, wanted: int, message: _Message) -> Reply:
        """Return in how many seconds each of the next permits is due, once the first one is near.

        Every worker that waits gets the same share of the rate.
        """
        shared = self._changed(message)
        shared.waiting += 1
        try:
            async with shared.turn:
                while True:  # a refusal moves it
                    now = time.monotonic()
                    wait_s = pace.ready_at(shared.pace, now, math.inf) - now - AHEAD_S
                    if wait_s <= 0:
                        break
                    await asyncio.sleep(min(wait_s, _LOOK_S))
                most, waits = max(1, int(shared.pace.rate * _BATCH_S / shared.waiting)), []
                for _ in range(min(wanted, most)):
                    ready = pace.ready_at(shared.pace, now, math.inf)
                    shared.pace = pace.take(shared.pace, ready)
                    waits.append(ready - now)
        finally:
            shared.waiting -= 1
        return {"waits_s": waits, "share": self._share(shared)}

    def refused(self, retry_after_s: float | None, message: _Message) -> Reply:
        """Slow down and pause for the whole cluster."""
        shared = self._changed(message)
        shared.pace = pace.refused(shared.pace, retry_after_s, time.monotonic())
        return {"waits_s": [], "share": self._share(shared)}

    def closed(self, message: _Message) -> None:
        """Take back the permits of a worker that has ended."""
        self._changed(message)

    def _changed(self, message: _Message) -> _Shared:
        """Return a pace after what a worker says of it."""
        first, now = message["first"], time.monotonic()
        shared = self._shared.setdefault(message["whose"], _Shared(first))
        if shared.first != first:  # other settings than those of the last message
            shared.first = first
            shared.pace = pace.begun(shared.pace, pace.read_pace(first, Pace()))
        if message["answers"]:
            shared.pace = pace.answered(shared.pace, message["answers"], now)
        shared.pace = pace.returned(shared.pace, message["unused"], now)
        return shared

    def _share(self, shared: _Shared) -> bytes:
        """Return the pace to which a worker keeps if this was the last reply."""
        threads, now = max(1, self._scheduler.total_nthreads), time.monotonic()
        return pace.write_pace(_later(pace.share(shared.pace, threads, now), -now))


def _later(pace: Pace, seconds: float) -> Pace:
    """Return a pace by another clock."""
    times = {
        name: getattr(pace, name) + seconds for name in ("next_at", "paused_until", "window_at")
    }
    return replace(pace, **times)


class ClusterPacer(Pacer):
    """The pacer of one worker's fetch, whose permits its scheduler keeps."""

    def __init__(self, settings: Settings, worker: Worker) -> None:
        super().__init__(settings, in_file=False)
        self._worker = worker
        whose = f"{require_service(settings)} {settings.key_kind}"
        self._said = {"whose": whose, "first": pace.write_pace(self.own)}
        self.own: Pace = pace.share(self.own, UNCOUNTED, time.time())  # until the first reply
        self._permits: deque[float] = deque()  # when each is due, by time.monotonic()
        self._asked: Future[Reply] | None = None
        self._asked_at, self._received = time.monotonic(), 0
        self._is_alone = False

    def _take(self) -> Slot:
        """Take the next permit; where there is none, ask the scheduler for as many as were used."""
        if self._is_alone:
            return super()._take()
        now = time.monotonic()
        with self._lock:
            while self._permits and self._permits[0] < now - LATE_S:
                self._permits.popleft()
            if self._permits:
                return Slot(self._permits.popleft() - now, is_taken=True)
        if self._asked is None:
            wanted = math.ceil(self._received * _USED_S / (now - self._asked_at + _AGAIN_S))
            self._asked, self._asked_at = self._send("permits", wanted=max(1, wanted)), now
        if self._is_over(self._asked, _LOOK_S):
            self._asked, self._received = None, len(self._permits)
        return Slot(_AGAIN_S, is_taken=False)

    def note_refusal(self, retry_after_s: float | None) -> None:
        """Slow down the whole cluster, and give back the permits that are left."""
        if not self._is_alone:
            self._is_over(self._send("refused", retry_after_s=retry_after_s), _PATIENCE_S)
        if self._is_alone:
            super().note_refusal(retry_after_s)
        self._slot_at = -math.inf

    def close(self) -> None:
        """Return the permits that are left; threads that are late keep to a share."""
        with suppress(RuntimeError):  # a worker that has ended
            self._send("closed")
        self._is_alone = True

    def _send(self, handler: str, **given: object) -> Future[Reply]:
        with self._lock:
            message = {**self._said, "answers": self._answers, "unused": len(self._permits)}
            self._answers = 0
            self._permits.clear()
        call = getattr(self._worker.scheduler, f"walletframe_{handler}")
        loop = self._worker.loop.asyncio_loop  # type: ignore[attr-defined]
        return asyncio.run_coroutine_threadsafe(call(message=message, **given), loop)

    def _is_over(self, asked: Future[Reply], patience_s: float) -> bool:
        """Wait for a reply and store what it says; return False if it may still come.

        Without the scheduler there is none: this worker then keeps to the share that it heard last.
        """
        try:
            if not wait([asked], patience_s).done:
                return False
            reply = asked.result()
        except _GONE:
            self._is_alone = True
            return True
        with self._lock:
            now = time.monotonic()
            self._permits.extend(now + wait_s for wait_s in reply["waits_s"])
            self.own = _later(pace.read_pace(reply["share"], self.own), time.time())
        return True
