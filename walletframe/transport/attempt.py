"""Running requests: how long each may take, how it is cut off, how large its answer may be.

A name lookup can't be cut off: who waits for one asks the attempt how much time is left.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from io import BytesIO
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Protocol
from weakref import WeakSet

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import requests

MAX_BODY_BYTES = 256 * 1024 * 1024
SMALL_BODY_BYTES = 8 * 1024 * 1024
_PIECE = 256 * 1024
_TICK_S = 0.05


class Connection(Protocol):
    """What has a socket, now and then."""

    sock: socket.socket | None


class Attempt:
    """One request, whatever it is at: a name, a connection, a proxy, TLS, the answer."""

    def __init__(self, seconds: float) -> None:
        self.until = time.monotonic() + seconds
        self.is_cut = False
        self._lock = Lock()
        self._handle: socket.socket | None = None

    def left_s(self) -> float:
        """Return how many seconds are left; a TimeoutError where none are, or it was cut off."""
        left = self.until - time.monotonic()
        if self.is_cut or left <= 0:
            raise TimeoutError
        return left

    def hold(self, sock: socket.socket) -> None:
        """Keep a handle of our own to the socket in use: TLS wraps it, its users forget it."""
        handle = socket.fromfd(sock.fileno(), socket.AF_INET, socket.SOCK_STREAM)
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
    """The attempts that are under way, one for each thread, and the connections made for them."""

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
        """Cut off the attempts of some threads, named by ``threading.get_ident()``."""
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


class Bodies:
    """Reads bodies of answers: any number of small ones at once, large ones one at a time."""

    def __init__(self, scrub: Callable[[bytes], bytes]) -> None:
        self._scrub = scrub
        self._large = Lock()

    def read(self, response: requests.Response, attempt: Attempt) -> bytes | None:
        """Return a body, scrubbed; None where it is beyond the limit.

        A TimeoutError where the attempt ends before another large body was read.
        """
        read, is_large = BytesIO(), False  # shows nobody what it holds, and is of one piece
        try:
            for _ in map(read.write, response.iter_content(_PIECE)):
                if read.tell() > MAX_BODY_BYTES:
                    return None
                if read.tell() > SMALL_BODY_BYTES and not is_large:
                    while not self._large.acquire(timeout=min(_TICK_S, attempt.left_s())):
                        pass
                    is_large = True
            return self._scrub(read.getvalue())
        finally:
            read.close()
            if is_large:
                self._large.release()


def _shut(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
