"""Time limits of whole HTTP requests, and the abort of requests in flight.

urllib3 has no time limit for DNS lookups, and restarts its connect timeout for each address of a
host. So this module resolves host names and opens sockets itself.
"""

from __future__ import annotations

import os
import socket
import time
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Event, Lock, Thread, get_ident
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakSet

from urllib3.util.connection import allowed_gai_family

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from urllib3.connection import HTTPConnection

_AddressInfo: TypeAlias = "tuple[Any, Any, int, str, Any]"  # an item of socket.getaddrinfo's list
# The types of urllib3's arguments `socket_options` and `_socks_options`:
SocketOptions: TypeAlias = "Collection[tuple[int, int, int | bytes]] | None"
SocksOptions: TypeAlias = "Mapping[str, Any] | None"

_TICK_S = 0.05


class Attempt:
    """One HTTP request and its time limit, from the DNS lookup to the end of the answer."""

    def __init__(self, limit_s: float) -> None:
        self.deadline: float = time.monotonic() + limit_s
        self.is_aborted: bool = False
        self._lock = Lock()
        self._handle: socket.socket | None = None

    def remaining_s(self) -> float:
        """Return the remaining seconds. Raise a TimeoutError at the deadline or after `abort`."""
        remaining = self.deadline - time.monotonic()
        if self.is_aborted or remaining <= 0:
            raise TimeoutError
        return remaining

    def store_duplicate_handle(self, sock: socket.socket) -> None:
        """Duplicate the socket's handle for `abort`, since TLS replaces the socket object."""
        handle = socket.fromfd(sock.fileno(), socket.AF_INET, socket.SOCK_STREAM)
        self.close_duplicate_handle()
        with self._lock:
            self._handle = handle
        if self.is_aborted:
            self.abort()

    def abort(self) -> None:
        """Shut down the socket, so that a thread stops waiting for data."""
        with self._lock:
            self.is_aborted = True
            if self._handle is not None:
                with suppress(OSError):
                    self._handle.shutdown(socket.SHUT_RDWR)

    def close_duplicate_handle(self) -> None:
        """Close the duplicate that `store_duplicate_handle` made."""
        with self._lock:
            if self._handle is not None:
                self._handle.close()
                self._handle = None


class InFlightRequests:
    """The requests in flight, at most one per thread, with their connections and DNS lookups."""

    def __init__(self) -> None:
        self.connections: WeakSet[HTTPConnection] = WeakSet()
        self._lock = Lock()
        self._attempts: dict[int, Attempt] = {}
        self._lookups: dict[tuple[str, int], Future[list[_AddressInfo]]] = {}

    @contextmanager
    def register_attempt(self, limit_s: float) -> Iterator[Attempt]:
        """Register an attempt of this thread until the end of the ``with`` block."""
        attempt = Attempt(limit_s)
        with self._lock:
            self._attempts[get_ident()] = attempt
        try:
            yield attempt
        finally:
            with self._lock:
                del self._attempts[get_ident()]
            attempt.close_duplicate_handle()

    def current_attempt(self) -> Attempt:
        """Return this thread's attempt."""
        return self._attempts[get_ident()]

    def abort_attempts(self, thread_ids: Collection[int | None]) -> None:
        """Abort the attempts of these threads."""
        with self._lock:
            for thread_id, attempt in self._attempts.items():
                if thread_id in thread_ids:
                    attempt.abort()

    def watch_deadlines(self, closed: Event) -> None:
        """Abort each attempt at its deadline, until `closed` is set."""
        while not closed.wait(_TICK_S):
            now = time.monotonic()
            with self._lock:
                for attempt in self._attempts.values():
                    if attempt.deadline <= now:
                        attempt.abort()

    def close_sockets_after_fork(self) -> None:
        """Close a forked child's copies of the sockets, without locks and without sending data."""
        for connection in list(self.connections):
            if connection.sock is not None:
                with suppress(OSError):
                    os.close(connection.sock.detach())

    def resolve_host(self, host: str, port: int) -> list[_AddressInfo]:
        """Return a host's addresses. Raise a TimeoutError at the attempt's deadline."""
        with suppress(socket.gaierror):
            return _look_up_addresses(host, port, socket.AI_NUMERICHOST)
        with self._lock:
            lookup = self._lookups.get((host, port))
            if lookup is None:  # a lookup can't be aborted, so its thread may outlive the attempt
                lookup = self._lookups[host, port] = Future()
                target, args = self._run_dns_lookup, (lookup, host, port)
                Thread(target=target, args=args, name="walletframe-name", daemon=True).start()
        while not lookup.done():
            wait([lookup], min(_TICK_S, self.current_attempt().remaining_s()))
        fault = lookup.exception()
        if isinstance(fault, OSError):
            raise type(fault)(*fault.args)  # a copy, since several threads get the exception
        return lookup.result()

    def _run_dns_lookup(self, lookup: Future[list[_AddressInfo]], host: str, port: int) -> None:
        try:
            lookup.set_result(_look_up_addresses(host, port))
        except (OSError, UnicodeError) as fault:
            lookup.set_exception(fault)
        finally:
            with self._lock:
                del self._lookups[host, port]


def _look_up_addresses(host: str, port: int, flags: int = 0) -> list[_AddressInfo]:
    family = allowed_gai_family()
    return socket.getaddrinfo(host.strip("[]"), port, family, socket.SOCK_STREAM, flags=flags)


def open_socket(
    host: str, port: int, in_flight: InFlightRequests, socks: SocksOptions, options: SocketOptions
) -> socket.socket:
    """Connect to a host. Each address gets an equal share of the remaining time."""
    socket_class, attempt = socket.socket, in_flight.current_attempt()
    if socks is None:
        addresses = in_flight.resolve_host(host, port)
    else:
        socket_class, options = import_module("socks").socksocket, None
        addresses = in_flight.resolve_host(socks["proxy_host"], socks["proxy_port"] or 1080)
        if not socks["rdns"]:  # the proxy does not resolve names
            resolved = in_flight.resolve_host(host, port)
            host = min(resolved, key=lambda info: info[0] != socket.AF_INET)[4][0]
    fault = OSError("the host has no address")
    for index, (family, kind, protocol, _, address) in enumerate(addresses):
        limit_s = attempt.remaining_s() / (len(addresses) - index)
        sock = socket_class(family, kind, protocol)
        try:
            for option in options or ():
                sock.setsockopt(*option)
            attempt.store_duplicate_handle(sock)
            sock.settimeout(limit_s)
            if socks is not None:
                credentials = (socks["username"], socks["password"])
                proxy = (socks["socks_version"], *address[:2], socks["rdns"])
                sock.set_proxy(*proxy, *credentials)  # type: ignore[attr-defined]  # a method of PySocks
            sock.connect(address if socks is None else (host, port))
            sock.settimeout(attempt.remaining_s())  # the limit of the TLS handshake
        except BaseException as error:
            sock.close()
            if not isinstance(error, OSError):
                raise
            fault = error
        else:
            return sock
    raise fault
