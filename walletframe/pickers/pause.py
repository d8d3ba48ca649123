"""Work that waits until a person stops typing."""

from __future__ import annotations

from threading import Lock, Timer, current_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

TYPING_S = 0.15
_PATIENCE_S = 5.0


class Pause:
    """Does a piece of work once a while has passed without another call."""

    def __init__(self, work: Callable[[], None], wait_s: float = TYPING_S) -> None:
        self._work, self._wait_s = work, wait_s
        self._lock = Lock()
        self._timer: Timer | None = None
        self._stopped = False

    def begin(self, wait_s: float | None = None) -> None:
        """Wait from now on."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if not self._stopped:
                self._timer = Timer(self._wait_s if wait_s is None else wait_s, self._work)
                self._timer.daemon = True
                self._timer.start()

    def stop(self) -> None:
        """Let go of what waits, for good; what has begun is waited for."""
        with self._lock:
            self._stopped = True
            timer = self._timer
        if timer is not None:
            timer.cancel()
            if timer is not current_thread():
                timer.join(_PATIENCE_S)
