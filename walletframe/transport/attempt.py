"""What is under way: requests, from the first step to the last, and how one is cut off.

Knows time and sockets, and nothing of HTTP. A name can't be cut off while it is looked up, so that
who waits for it asks the attempt how long.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Protocol
from weakref import WeakSet

if TYPE_CHECKING:
    from collections.abc import Collection


class Connection(Protocol):
    """What has a socket, now and then."""

    sock: socket.socket | None


class Attempt:
    """One request, whatever it is at: a name, a connection, a proxy, TLS, the answer.

    Parameters
    ----------
    seconds : float
        How long it may take as a whole.
    """

    def __init__(self, seconds: float) -> None:
        self.until = time.monotonic() + seconds
        self.is_cut = False
        self._lock = Lock()
        self._handle: socket.socket | None = None

    def left_s(self) -> float:
        """Return how many seconds are left.

        Raises
        ------
        TimeoutError
            Where none are, or it was cut off.
        """
        left = self.until - time.monotonic()
        if self.is_cut or left <= 0:
            raise TimeoutError
        return left

    def hold(self, line: socket.socket) -> None:
        """Take note of the socket in use: TLS will wrap it, and who is done with it forget it."""
        handle = socket.fromfd(line.fileno(), socket.AF_INET, socket.SOCK_STREAM)
        with self._lock:
            self._release()
            self._handle = handle
            if self.is_cut:
                _shut(handle)

    def cut(self) -> None:
        """End it, so that its thread hears of it at once."""
        with self._lock:
            self.is_cut = True
            if self._handle is not None:
                _shut(self._handle)

    def end(self) -> None:
        """Let go of the socket."""
        with self._lock:
            self._release()

    def _release(self) -> None:
        if self._handle is not None:
            self._handle.close()
            self._handle = None


class UnderWay:
    """The attempts that are under way, one for each thread.

    Attributes
    ----------
    connections : WeakSet
        Those that were made.
    """

    def __init__(self) -> None:
        self.connections: WeakSet[Connection] = WeakSet()
        self._lock = Lock()
        self._attempts: dict[int, Attempt] = {}

    def begin(self, seconds: float) -> Attempt:
        """Begin this thread's attempt, which may take so long as a whole."""
        attempt = Attempt(seconds)
        with self._lock:
            self._attempts[get_ident()] = attempt
        return attempt

    def now(self) -> Attempt:
        """Return this thread's attempt."""
        return self._attempts[get_ident()]

    def end(self) -> bool:
        """End this thread's attempt, and tell whether it was cut off."""
        with self._lock:
            attempt = self._attempts.pop(get_ident())
        attempt.end()
        return attempt.is_cut

    def cut_of(self, threads: Collection[int]) -> None:
        """Cut off the attempts of some threads.

        Parameters
        ----------
        threads : collection of int
            The threads, by ``threading.get_ident()``.
        """
        with self._lock:
            for thread, attempt in self._attempts.items():
                if thread in threads:
                    attempt.cut()

    def cut_overdue(self) -> None:
        """Cut off the attempts that take too long."""
        now = time.monotonic()
        with self._lock:
            for attempt in self._attempts.values():
                if attempt.until <= now:
                    attempt.cut()

    def leave(self) -> None:
        """Close a forked child's copies of the sockets, waiting for no lock and saying nothing."""
        for connection in list(self.connections):
            if connection.sock is not None:
                with contextlib.suppress(OSError):
                    os.close(connection.sock.detach())


def _shut(line: socket.socket) -> None:
    with contextlib.suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
