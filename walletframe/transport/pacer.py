"""The rate limiter: lets the requests of all threads through, each at its slot."""

from __future__ import annotations

import math
import time
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from walletframe.settings import ServerUrl
from walletframe.transport.slots import FileSlots, Slots
from walletframe.transport.store import default_path

if TYPE_CHECKING:
    from threading import Event

    from walletframe.settings import CacheChoice

_POLL_S = 0.1
_LATE_S = 1.0


class Pacer:
    """Lets requests through at the pace that a service takes, which is kept at `place`.

    `rate` is known to somebody, or None; `longest_s` is the longest pause that the service may
    ask for; `processes` share the pace, None where nobody knows how many.
    """

    def __init__(
        self,
        place: Path | ServerUrl | None,
        service: str,
        *,
        rate: float | None,
        longest_s: float,
        processes: int | None = None,
    ) -> None:
        self.slots: Slots = _slots(place, service, rate, longest_s, processes)
        self._waiting, self._lock = Lock(), Lock()
        self._answers = 0
        self._slot_at = -math.inf  # of the slot that is taken, by time.monotonic()

    def close(self) -> None:
        """Close what the pace is kept in."""
        self.slots.close()

    def wait(self, cancel: Event, until: float) -> bool:
        """Wait for a slot until `cancel`, or a time of ``time.monotonic()``; True: it is used."""
        while not self._waiting.acquire(timeout=_POLL_S):  # one thread waits for the next slot
            if cancel.is_set() or time.monotonic() > until:
                return False
        try:
            while not cancel.is_set() and time.monotonic() <= until:
                wait_s = self._wait_s()
                if wait_s <= 0:
                    self._slot_at = -math.inf
                    return True
                cancel.wait(min(wait_s, max(0.0, until - time.monotonic()) + 0.001))
            return False
        finally:
            self._waiting.release()

    def note_answer(self) -> None:
        """Take note of a request that was answered, or failed for another reason than the pace."""
        with self._lock:
            self._answers += 1

    def note_refusal(self, retry_after_s: float | None) -> None:
        """Slow down, and pause for as long as the service asks, whoever has taken a slot."""
        self.slots.refuse(self._noted(), retry_after_s)
        self._slot_at = -math.inf

    def _wait_s(self) -> float:
        """Return how long to wait for the slot that is taken, or before asking for one."""
        if self._slot_at < time.monotonic() - _LATE_S:
            slot = self.slots.take(self._noted())
            if not slot.is_taken:
                return slot.wait_s
            self._slot_at = time.monotonic() + slot.wait_s
        return self._slot_at - time.monotonic()

    def _noted(self) -> int:
        with self._lock:
            answers, self._answers = self._answers, 0
            return answers


def _slots(
    place: Path | ServerUrl | None,
    service: str,
    rate: float | None,
    longest_s: float,
    processes: int | None,
) -> Slots:
    """Return where slots are taken; trouble there is a warning, never an exception."""
    if place is None:
        return Slots(rate=rate, longest_s=longest_s, processes=processes)
    if isinstance(place, Path):
        return FileSlots(place, service, rate=rate, longest_s=longest_s, processes=processes)
    from walletframe.transport.redis import RedisSlots  # noqa: PLC0415 - an extra

    return RedisSlots(place, service, rate=rate, longest_s=longest_s, processes=processes)


def pace_place(cache: CacheChoice, pace: ServerUrl | None) -> Path | ServerUrl | None:
    """Return where the paces are: beside the answers, in a file or a server, unless set apart.

    >>> str(pace_place(Path("answers.sqlite"), None))
    'answers.sqlite.pace'
    """
    place = pace or (default_path() if cache is None else cache)
    if isinstance(place, ServerUrl):
        return place
    return place.with_name(f"{place.name}.pace") if isinstance(place, Path) else None
