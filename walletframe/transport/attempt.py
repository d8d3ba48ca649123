"""Running requests: how long each may take, in whatever step it is, and how it is cut off.

urllib3's name lookup has no limit, and its limit for connecting counts for each address of a host
anew: so names are looked up, and connections made, here, within the time of an attempt.
"""

from __future__ import annotations

import os
import socket
import time
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Lock, Thread, get_ident
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakSet

from urllib3.util.connection import allowed_gai_family

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from threading import Event

    from urllib3.connection import HTTPConnection

_Address: TypeAlias = "tuple[Any, Any, int, str, Any]"  # as socket.getaddrinfo gives them
Options: TypeAlias = "Collection[tuple[int, int, int | bytes]] | None"  # these two as urllib3's are
Socks: TypeAlias = "Mapping[str, Any] | None"

_TICK_S = 0.05
_SOCKS_PORT = 1080


class Attempt:
    """One request, whatever it is at: a name, a connection, a proxy, TLS, the answer."""

    def __init__(self, seconds: float) -> None:
        self.until: float = time.monotonic() + seconds
        self.is_cut: bool = False
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
        self.end()
        with self._lock:
            self._handle = handle
        if self.is_cut:
            self.cut()

    def cut(self) -> None:
        """End it, so that its thread hears of it at once."""
        with self._lock:
            self.is_cut = True
            if self._handle is not None:
                with suppress(OSError):
                    self._handle.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """Forget the socket."""
        with self._lock:
            if self._handle is not None:
                self._handle.close()
                self._handle = None


class UnderWay:
    """The attempts that are under way, one for each thread, and what is done for them.

    That is connections, and lookups of names, each by one thread at a time, which keeps nobody
    waiting.
    """

    def __init__(self) -> None:
        self.connections: WeakSet[HTTPConnection] = WeakSet()
        self._lock = Lock()
        self._attempts: dict[int, Attempt] = {}
        self._pending: dict[tuple[str, int], Future[list[_Address]]] = {}

    @contextmanager
    def begun(self, seconds: float) -> Iterator[Attempt]:
        """Begin and end this thread's attempt, which may take so long as a whole."""
        attempt = Attempt(seconds)
        with self._lock:
            self._attempts[get_ident()] = attempt
        try:
            yield attempt
        finally:
            with self._lock:
                del self._attempts[get_ident()]
            attempt.end()

    def now(self) -> Attempt:
        """Return this thread's attempt."""
        return self._attempts[get_ident()]

    def cut_of(self, threads: Collection[int | None]) -> None:
        """Cut off the attempts of some threads, named by ``threading.get_ident()``."""
        with self._lock:
            for thread, attempt in self._attempts.items():
                if thread in threads:
                    attempt.cut()

    def watch(self, closed: Event) -> None:
        """Until `closed`, cut off what takes too long as a whole, however steadily it dribbles."""
        while not closed.wait(_TICK_S):
            now = time.monotonic()
            with self._lock:
                for attempt in self._attempts.values():
                    if attempt.until <= now:
                        attempt.cut()

    def leave(self) -> None:
        """Close a forked child's copies of the sockets, waiting for no lock and saying nothing."""
        for connection in list(self.connections):
            if connection.sock is not None:
                with suppress(OSError):
                    os.close(connection.sock.detach())

    def addresses(self, host: str, port: int) -> list[_Address]:
        """Return the addresses of a host; a TimeoutError where the attempt ends before."""
        with suppress(socket.gaierror):
            return _look_up(host, port, socket.AI_NUMERICHOST)
        with self._lock:
            found = self._pending.get((host, port))
            if found is None:  # a lookup can't be cut off: its thread may outlast who asked
                found = self._pending[host, port] = Future()
                asked = (found, host, port)
                Thread(target=self._run, args=asked, name="walletframe-name", daemon=True).start()
        while not found.done():
            wait([found], min(_TICK_S, self.now().left_s()))
        fault = found.exception()
        if isinstance(fault, OSError):
            raise type(fault)(*fault.args)  # its own for each thread that raises it
        return found.result()

    def _run(self, found: Future[list[_Address]], host: str, port: int) -> None:
        try:
            found.set_result(_look_up(host, port))
        except (OSError, UnicodeError) as fault:
            found.set_exception(fault)
        finally:
            with self._lock:
                del self._pending[host, port]


def _look_up(host: str, port: int, flags: int = 0) -> list[_Address]:
    family = allowed_gai_family()
    return socket.getaddrinfo(host.strip("[]"), port, family, socket.SOCK_STREAM, flags=flags)


def dial(
    host: str, port: int, under_way: UnderWay, socks: Socks, options: Options
) -> socket.socket:
    """Connect to a host, through a SOCKS proxy if there is one, in what is left of the time.

    Each address of a name gets its share of that; the last one's OSError is raised.
    """
    made, attempt = socket.socket, under_way.now()
    if socks is None:
        addresses = under_way.addresses(host, port)
    else:
        made, options = import_module("socks").socksocket, None
        proxy = (socks["proxy_host"], socks["proxy_port"] or _SOCKS_PORT)
        addresses = under_way.addresses(*proxy)
        if not socks["rdns"]:  # the proxy looks up no names
            found = under_way.addresses(host, port)
            host = min(found, key=lambda each: each[0] != socket.AF_INET)[4][0]
    fault = OSError("no address")
    for number, (family, kind, protocol, _, address) in enumerate(addresses):
        share_s = attempt.left_s() / (len(addresses) - number)
        sock = made(family, kind, protocol)
        try:
            for option in options or ():
                sock.setsockopt(*option)
            attempt.hold(sock)
            sock.settimeout(share_s)
            if socks is not None:
                login = (socks["username"], socks["password"])
                through = (socks["socks_version"], *address[:2], socks["rdns"])
                sock.set_proxy(*through, *login)  # type: ignore[attr-defined]
            sock.connect(address if socks is None else (host, port))
            sock.settimeout(attempt.left_s())  # for TLS, which takes it as a whole
        except OSError as error:
            sock.close()
            fault = error
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise fault
