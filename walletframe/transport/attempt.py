"""Requests in flight: their time limit, which covers every step, and how they are aborted.

urllib3 has no time limit for DNS lookups, and applies its connect timeout to each address of a host
separately. So this module does the lookups and opens the connections, within an attempt's time.
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

_Address: TypeAlias = "tuple[Any, Any, int, str, Any]"  # as socket.getaddrinfo returns them
Options: TypeAlias = "Collection[tuple[int, int, int | bytes]] | None"  # both as in urllib3
Socks: TypeAlias = "Mapping[str, Any] | None"

_TICK_S = 0.05
_SOCKS_PORT = 1080


class Attempt:
    """One request in any step: DNS lookup, connection, proxy, TLS, answer."""

    def __init__(self, seconds: float) -> None:
        self.deadline: float = time.monotonic() + seconds
        self.is_aborted: bool = False
        self._lock = Lock()
        self._handle: socket.socket | None = None

    def remaining_s(self) -> float:
        """Return the remaining seconds; raise a TimeoutError if none remain or it was aborted."""
        remaining = self.deadline - time.monotonic()
        if self.is_aborted or remaining <= 0:
            raise TimeoutError
        return remaining

    def track_socket(self, sock: socket.socket) -> None:
        """Keep a duplicate of the socket's handle, since TLS wraps sockets and users drop them."""
        handle = socket.fromfd(sock.fileno(), socket.AF_INET, socket.SOCK_STREAM)
        self.release_socket()
        with self._lock:
            self._handle = handle
        if self.is_aborted:
            self.abort()

    def abort(self) -> None:
        """Shut the socket down, so that the thread that waits for it stops at once."""
        with self._lock:
            self.is_aborted = True
            if self._handle is not None:
                with suppress(OSError):
                    self._handle.shutdown(socket.SHUT_RDWR)

    def release_socket(self) -> None:
        """Close the handle of the socket."""
        with self._lock:
            if self._handle is not None:
                self._handle.close()
                self._handle = None


class InFlightRequests:
    """The requests in flight, one for each thread, with their connections and DNS lookups.

    Each lookup runs on a thread of its own, so that the requests that wait for it can time out.
    """

    def __init__(self) -> None:
        self.connections: WeakSet[HTTPConnection] = WeakSet()
        self._lock = Lock()
        self._attempts: dict[int, Attempt] = {}
        self._pending: dict[tuple[str, int], Future[list[_Address]]] = {}

    @contextmanager
    def attempt(self, seconds: float) -> Iterator[Attempt]:
        """Register an attempt for this thread, which may take `seconds` as a whole."""
        attempt = Attempt(seconds)
        with self._lock:
            self._attempts[get_ident()] = attempt
        try:
            yield attempt
        finally:
            with self._lock:
                del self._attempts[get_ident()]
            attempt.release_socket()

    def current(self) -> Attempt:
        """Return this thread's attempt."""
        return self._attempts[get_ident()]

    def abort_threads(self, threads: Collection[int | None]) -> None:
        """Abort the attempts of these threads, identified by ``threading.get_ident()``."""
        with self._lock:
            for thread, attempt in self._attempts.items():
                if thread in threads:
                    attempt.abort()

    def watch(self, closed: Event) -> None:
        """Abort attempts past their deadline, even if they still receive data, until `closed`."""
        while not closed.wait(_TICK_S):
            now = time.monotonic()
            with self._lock:
                for attempt in self._attempts.values():
                    if attempt.deadline <= now:
                        attempt.abort()

    def discard_after_fork(self) -> None:
        """Close a forked child's copies of the sockets, without a lock and without sending."""
        for connection in list(self.connections):
            if connection.sock is not None:
                with suppress(OSError):
                    os.close(connection.sock.detach())

    def addresses(self, host: str, port: int) -> list[_Address]:
        """Return the addresses of a host, or raise a TimeoutError if the attempt ends first."""
        with suppress(socket.gaierror):
            return _look_up(host, port, socket.AI_NUMERICHOST)
        with self._lock:
            lookup = self._pending.get((host, port))
            if lookup is None:  # a lookup can't be aborted: its thread may outlive the attempt
                lookup = self._pending[host, port] = Future()
                args = (lookup, host, port)
                Thread(target=self._run, args=args, name="walletframe-name", daemon=True).start()
        while not lookup.done():
            wait([lookup], min(_TICK_S, self.current().remaining_s()))
        fault = lookup.exception()
        if isinstance(fault, OSError):
            raise type(fault)(*fault.args)  # a new one for each thread, since raising changes it
        return lookup.result()

    def _run(self, lookup: Future[list[_Address]], host: str, port: int) -> None:
        try:
            lookup.set_result(_look_up(host, port))
        except (OSError, UnicodeError) as fault:
            lookup.set_exception(fault)
        finally:
            with self._lock:
                del self._pending[host, port]


def _look_up(host: str, port: int, flags: int = 0) -> list[_Address]:
    family = allowed_gai_family()
    return socket.getaddrinfo(host.strip("[]"), port, family, socket.SOCK_STREAM, flags=flags)


def dial(
    host: str, port: int, in_flight: InFlightRequests, socks: Socks, options: Options
) -> socket.socket:
    """Connect to a host, through a SOCKS proxy if there is one, in the attempt's remaining time.

    The addresses of the host share that time; if all fail, the last one's OSError is raised.
    """
    make_socket, attempt = socket.socket, in_flight.current()
    if socks is None:
        addresses = in_flight.addresses(host, port)
    else:
        make_socket, options = import_module("socks").socksocket, None
        proxy = (socks["proxy_host"], socks["proxy_port"] or _SOCKS_PORT)
        addresses = in_flight.addresses(*proxy)
        if not socks["rdns"]:  # the proxy does no DNS lookups
            resolved = in_flight.addresses(host, port)
            host = min(resolved, key=lambda each: each[0] != socket.AF_INET)[4][0]
    fault = OSError("no address")
    for number, (family, kind, protocol, _, address) in enumerate(addresses):
        share_s = attempt.remaining_s() / (len(addresses) - number)
        sock = make_socket(family, kind, protocol)
        try:
            for option in options or ():
                sock.setsockopt(*option)
            attempt.track_socket(sock)
            sock.settimeout(share_s)
            if socks is not None:
                login = (socks["username"], socks["password"])
                through = (socks["socks_version"], *address[:2], socks["rdns"])
                sock.set_proxy(*through, *login)  # type: ignore[attr-defined]
            sock.connect(address if socks is None else (host, port))
            sock.settimeout(attempt.remaining_s())  # for the whole TLS handshake
        except OSError as error:
            sock.close()
            fault = error
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise fault
