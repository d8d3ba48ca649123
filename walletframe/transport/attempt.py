"""Running requests: how long each may take, in whatever step it is, and how it is cut off.

urllib3's name lookup has no limit, and its limit for connecting counts for each address of a host
anew: so names are looked up, and connections made, here, within the time of an attempt.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from concurrent.futures import Future, wait
from contextlib import suppress
from importlib import import_module
from threading import Lock, Thread, get_ident
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from weakref import WeakSet

from urllib3 import exceptions
from urllib3.connection import HTTPConnection
from urllib3.util.connection import allowed_gai_family

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from threading import Event

C = TypeVar("C", bound=HTTPConnection)
_Address: TypeAlias = "tuple[Any, Any, int, str, Any]"  # as socket.getaddrinfo gives them

_WATCH_S = 0.05
_TICK_S = 0.05
_SOCKS_PORT = 1080


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
        self.end()
        with self._lock:
            self._handle = handle
            if self.is_cut:
                self._shut()

    def cut(self) -> None:
        """End it, so that its thread hears of it at once."""
        with self._lock:
            self.is_cut = True
            self._shut()

    def end(self) -> None:
        """Let go of the socket."""
        with self._lock:
            if self._handle is not None:
                self._handle.close()
                self._handle = None

    def _shut(self) -> None:
        if self._handle is not None:
            with suppress(OSError):
                self._handle.shutdown(socket.SHUT_RDWR)


class UnderWay:
    """The attempts that are under way, one for each thread, and the connections made for them."""

    def __init__(self) -> None:
        self.connections: WeakSet[HTTPConnection] = WeakSet()
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

    def watch(self, closed: Event) -> None:
        """Until `closed`, cut off what takes too long as a whole, however steadily it dribbles."""
        while not closed.wait(_WATCH_S):
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


class _Lookups:
    """Names that are looked up, each by one thread at a time, which keeps nobody waiting."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pending: dict[tuple[str, int], Future[list[_Address]]] = {}

    def addresses(self, host: str, port: int, attempt: Attempt) -> list[_Address]:
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
            wait([found], min(_TICK_S, attempt.left_s()))
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


def timed(base: type[C], under_way: UnderWay) -> type[C]:
    """Return urllib3's connections, made within the attempt's time; for SOCKS proxies, too."""
    lookups = _Lookups()

    class Timed(base):  # type: ignore[valid-type,misc]  # a class is a value here
        def __init__(
            self, *place: Any, _socks_options: Mapping[str, Any] | None = None, **options: Any
        ) -> None:
            super().__init__(*place, **options)
            self._socks = _socks_options

        def _new_conn(self) -> socket.socket:
            under_way.connections.add(self)
            host, port, attempt = self._dns_host, self.port, under_way.now()
            try:
                if self._socks is not None:
                    sock = _through_socks(self._socks, lookups, host, port, attempt)
                else:
                    found = lookups.addresses(host, port, attempt)
                    connect, options = socket.socket.connect, self.socket_options
                    sock = _dial(found, attempt, socket.socket, connect, options or ())
            except OSError as fault:
                raise _as_of_urllib3(fault, self, through=self._socks) from fault
            sys.audit("http.client.connect", self, self.host, self.port)
            return sock

        def _tunnel(self) -> None:
            super()._tunnel()
            under_way.now().left_s()  # what was cut off can look like the end of a proxy's answer

        def putrequest(self, *args: Any, **kwargs: Any) -> None:
            if self.sock is not None:
                under_way.now().hold(self.sock)
            super().putrequest(*args, **kwargs)

    return Timed


def _as_of_urllib3(fault: OSError, connection: HTTPConnection, *, through: object) -> Exception:
    """Return the exception that urllib3 raises where no connection can be made."""
    if isinstance(fault, TimeoutError):
        return exceptions.ConnectTimeoutError(connection, "no connection in time")
    if through is not None:
        return exceptions.ProxyError("the SOCKS proxy did not let the connection through", fault)
    if isinstance(fault, socket.gaierror):
        return exceptions.NameResolutionError(connection.host, connection, fault)
    return exceptions.NewConnectionError(connection, f"no connection: {fault}")


def _through_socks(
    proxy: Mapping[str, Any], lookups: _Lookups, host: str, port: int, attempt: Attempt
) -> socket.socket:
    """Connect to a host through a SOCKS proxy, which is given as urllib3 has it."""
    through = lookups.addresses(proxy["proxy_host"], proxy["proxy_port"] or _SOCKS_PORT, attempt)
    if not proxy["rdns"]:  # the proxy looks up no names
        found = lookups.addresses(host, port, attempt)
        host = min(found, key=lambda each: each[0] != socket.AF_INET)[4][0]

    def reach(sock: Any, address: Any) -> None:
        login = (proxy["username"], proxy["password"])
        sock.set_proxy(proxy["socks_version"], *address[:2], proxy["rdns"], *login)
        sock.connect((host, port))

    return _dial(through, attempt, import_module("socks").socksocket, reach)


def _dial(
    addresses: list[_Address],
    attempt: Attempt,
    made: type[socket.socket],
    reach: Callable[[Any, Any], None],
    options: Collection[Any] = (),
) -> socket.socket:
    """Connect to one address after the other, each with its share of the time that is left.

    The last one's OSError is raised where none can be reached.
    """
    fault = OSError("no address")
    for number, (family, kind, protocol, _, address) in enumerate(addresses):
        share_s = attempt.left_s() / (len(addresses) - number)
        sock = made(family, kind, protocol)
        try:
            for option in options:
                sock.setsockopt(*option)
            attempt.hold(sock)
            sock.settimeout(share_s)
            reach(sock, address)
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
