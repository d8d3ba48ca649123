"""The rate limiter: lets the requests of all threads through, each at its slot."""

from __future__ import annotations

import math
import time
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from walletframe.transport.slots import FileSlots, Slots
from walletframe.transport.store import default_path

if TYPE_CHECKING:
    from threading import Event

    from walletframe.settings import CacheChoice

_POLL_S = 0.1
_LATE_S = 1.0


class Pacer:
    """Lets requests through at the pace that a service takes, which is in the file at `path`.

    `rate` is known to somebody, or None; `longest_s` is the longest pause that the service may
    ask for.
    """

    def __init__(
        self, path: Path | None, service: str, *, rate: float | None, longest_s: float
    ) -> None:
        self.slots = (
            Slots(rate=rate, longest_s=longest_s)
            if path is None
            else FileSlots(path, service, rate=rate, longest_s=longest_s)
        )
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


def pace_path(choice: CacheChoice) -> Path | None:
    """Return the file for the paces: beside the answers, where they are in a file of ours.

    >>> str(pace_path(Path("answers.sqlite")))
    'answers.sqlite.pace'
    """
    path = default_path() if choice is None else choice
    return path.with_name(f"{path.name}.pace") if isinstance(path, Path) else None
