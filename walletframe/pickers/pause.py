"""Work that waits until a person stops typing."""

from __future__ import annotations

from threading import Lock, Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

TYPING_S = 0.15


class Pause:
    """Does a piece of work once a while has passed without another call.

    Parameters
    ----------
    work : callable
        Is called without arguments, on a thread of its own.
    wait_s : float, default 0.15
        How long to wait, in seconds.
    """

    def __init__(self, work: Callable[[], None], wait_s: float = TYPING_S) -> None:
        self._work, self._wait_s = work, wait_s
        self._lock = Lock()
        self._timer: Timer | None = None
        self._stopped = False

    def begin(self) -> None:
        """Wait from now on."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if not self._stopped:
                self._timer = Timer(self._wait_s, self._work)
                self._timer.daemon = True
                self._timer.start()

    def stop(self) -> None:
        """Let go of what waits, for good."""
        with self._lock:
            self._stopped = True
            if self._timer is not None:
                self._timer.cancel()
