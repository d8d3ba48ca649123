"""Connections made within the time of an attempt: names, addresses that are dead, SOCKS proxies.

Nothing here can be had from urllib3: its name lookup has no limit, and its limit for connecting
counts for each address of a host anew.
"""

from __future__ import annotations

import socket
import sys
from concurrent.futures import Future, wait
from importlib import import_module
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from urllib3.connection import HTTPConnection
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NameResolutionError,
    NewConnectionError,
    ProxyError,
)
from urllib3.util.connection import allowed_gai_family

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from walletframe.transport.attempt import Attempt, UnderWay

C = TypeVar("C", bound=HTTPConnection)

_Address: TypeAlias = "tuple[Any, Any, int, str, Any]"  # as socket.getaddrinfo gives them
_Options: TypeAlias = "list[tuple[int, int, int | bytes]] | None"
_TICK_S = 0.05
_SOCKS_PORT = 1080


class Lookups:
    """Names that are looked up, each by one thread at a time, which keeps nobody waiting."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pending: dict[tuple[str, int], Future[list[_Address]]] = {}

    def addresses(self, host: str, port: int, attempt: Attempt) -> list[_Address]:
        """Return the addresses of a host; a TimeoutError where the attempt ends before."""
        try:
            return _look_up(host, port, socket.AI_NUMERICHOST)
        except socket.gaierror:
            found = self._begun(host, port)
        while not found.done():
            wait([found], min(_TICK_S, attempt.left_s()))
        fault = found.exception()
        if isinstance(fault, OSError):
            raise type(fault)(*fault.args)  # its own for each thread that raises it
        return found.result()

    def _begun(self, host: str, port: int) -> Future[list[_Address]]:
        with self._lock:
            found = self._pending.get((host, port))
            if found is None:
                found = self._pending[host, port] = Future()
                asked = (found, host, port)
                Thread(target=self._run, args=asked, name="walletframe-name", daemon=True).start()
        return found

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
    lookups = Lookups()

    class Timed(base):  # type: ignore[valid-type,misc]  # a class is a value here
        def __init__(
            self, *place: Any, _socks_options: Mapping[str, Any] | None = None, **options: Any
        ) -> None:
            super().__init__(*place, **options)
            self._socks = _socks_options

        def _new_conn(self) -> socket.socket:
            under_way.connections.add(self)
            target = (lookups, self._dns_host, self.port, under_way.now())
            try:
                if self._socks is None:
                    sock = dial(*target, self.socket_options)
                else:
                    sock = dial_through(self._socks, *target)
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


def _as_of_urllib3(fault: OSError, connection: HTTPConnection, *, through: object) -> HTTPError:
    """Return the exception that urllib3 raises where no connection can be made."""
    if isinstance(fault, TimeoutError):
        return ConnectTimeoutError(connection, "no connection in time")
    if through is not None:
        return ProxyError("the SOCKS proxy did not let the connection through", fault)
    if isinstance(fault, socket.gaierror):
        return NameResolutionError(connection.host, connection, fault)
    return NewConnectionError(connection, f"no connection: {fault}")


def dial(
    lookups: Lookups, host: str, port: int, attempt: Attempt, options: _Options
) -> socket.socket:
    """Connect to a host, each of its addresses having its share of the time that is left."""

    def reach(sock: socket.socket, address: Any) -> None:
        sock.connect(address)

    addresses = lookups.addresses(host, port, attempt)
    return _reached(addresses, attempt, options, socket.socket, reach)


def dial_through(
    proxy: Mapping[str, Any], lookups: Lookups, host: str, port: int, attempt: Attempt
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

    return _reached(through, attempt, None, import_module("socks").socksocket, reach)


def _reached(
    addresses: list[_Address],
    attempt: Attempt,
    options: _Options,
    made: Callable[..., socket.socket],
    reach: Callable[[Any, Any], None],
) -> socket.socket:
    """Try one address after the other; raise the last one's OSError."""
    fault = OSError("no address")
    for number, (family, kind, protocol, _, address) in enumerate(addresses):
        share_s = attempt.left_s() / (len(addresses) - number)
        sock = made(family, kind, protocol)
        try:
            for option in options or ():
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
