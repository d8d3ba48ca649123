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

_Found: TypeAlias = "tuple[Any, Any, int, str, Any]"
_Options: TypeAlias = "list[tuple[int, int, int | bytes]] | None"
_TICK_S = 0.05
_SOCKS_PORT = 1080


class Lookups:
    """Names that are looked up, each by one thread at a time, which keeps nobody waiting."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pending: dict[tuple[str, int], Future[list[_Found]]] = {}

    def addresses(self, host: str, port: int, attempt: Attempt) -> list[_Found]:
        """Return the addresses of a host.

        Parameters
        ----------
        host : str
            Its name, or an address.
        port : int
            The port.
        attempt : Attempt
            Says how long to wait.

        Returns
        -------
        list of tuple
            As ``socket.getaddrinfo`` gives them.

        Raises
        ------
        socket.gaierror
            Where there are none.
        TimeoutError
            Where the attempt ended before.
        """
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

    def _begun(self, host: str, port: int) -> Future[list[_Found]]:
        with self._lock:
            found = self._pending.get((host, port))
            if found is None:
                found = self._pending[host, port] = Future()
                asked = (found, host, port)
                Thread(target=self._run, args=asked, name="walletframe-name", daemon=True).start()
        return found

    def _run(self, found: Future[list[_Found]], host: str, port: int) -> None:
        try:
            found.set_result(_look_up(host, port))
        except (OSError, UnicodeError) as fault:
            found.set_exception(fault)
        finally:
            with self._lock:
                del self._pending[host, port]


def _look_up(host: str, port: int, flags: int = 0) -> list[_Found]:
    family = allowed_gai_family()
    return socket.getaddrinfo(host.strip("[]"), port, family, socket.SOCK_STREAM, flags=flags)


def timed(base: type[C], under_way: UnderWay) -> type[C]:
    """Return connections that are made within the time of the attempt that needs them.

    Parameters
    ----------
    base : type
        urllib3's for http or for https.
    under_way : UnderWay
        The attempts.

    Returns
    -------
    type
        It takes urllib3's options for SOCKS, too.
    """
    lookups = Lookups()

    class Timed(base):  # type: ignore[valid-type,misc]  # a class is a value here
        def __init__(
            self, *place: Any, _socks_options: Mapping[str, Any] | None = None, **options: Any
        ) -> None:
            super().__init__(*place, **options)
            self._socks = _socks_options

        def _new_conn(self) -> socket.socket:
            under_way.connections.add(self)
            way = (lookups, self._dns_host, self.port, under_way.now())
            try:
                if self._socks is None:
                    line = dial(*way, self.socket_options)
                else:
                    line = dial_through(self._socks, *way)
            except OSError as fault:
                raise _told(fault, self, through=self._socks) from fault
            sys.audit("http.client.connect", self, self.host, self.port)
            return line

        def _tunnel(self) -> None:
            super()._tunnel()
            under_way.now().left_s()  # what was cut off can look like the end of a proxy's answer

        def putrequest(self, *args: Any, **kwargs: Any) -> None:
            if self.sock is not None:
                under_way.now().hold(self.sock)
            super().putrequest(*args, **kwargs)

    return Timed


def _told(fault: OSError, connection: HTTPConnection, *, through: object) -> HTTPError:
    """Return the exception by which urllib3 tells that no connection could be made."""
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
    """Connect to a host.

    Parameters
    ----------
    lookups : Lookups
        Where names are looked up.
    host, port : str, int
        Where to.
    attempt : Attempt
        How long that may take; each of the host's addresses gets its share of what is left.
    options : list of tuple or None
        Of the socket, as for ``setsockopt``.

    Returns
    -------
    socket.socket
        Connected.

    Raises
    ------
    OSError
        Where none of the addresses can be reached; a TimeoutError where time was up.
    """

    def reach(line: socket.socket, address: Any) -> None:
        line.connect(address)

    return _reached(lookups.addresses(host, port, attempt), attempt, options, socket.socket, reach)


def dial_through(
    proxy: Mapping[str, Any], lookups: Lookups, host: str, port: int, attempt: Attempt
) -> socket.socket:
    """Connect to a host through a SOCKS proxy.

    Parameters
    ----------
    proxy : mapping
        Its ``socks_version``, ``proxy_host``, ``proxy_port``, ``username`` and ``password``, and
        whether it looks up names (``rdns``), as urllib3 has them.
    lookups : Lookups
        Where the other names are looked up.
    host, port : str, int
        Where to.
    attempt : Attempt
        How long that may take.

    Returns
    -------
    socket.socket
        Connected.

    Raises
    ------
    OSError
        Where the proxy can't be reached, or refuses.
    """
    through = lookups.addresses(proxy["proxy_host"], proxy["proxy_port"] or _SOCKS_PORT, attempt)
    if not proxy["rdns"]:
        found = lookups.addresses(host, port, attempt)
        host = min(found, key=lambda each: each[0] != socket.AF_INET)[4][0]

    def reach(line: Any, address: Any) -> None:
        login = (proxy["username"], proxy["password"])
        line.set_proxy(proxy["socks_version"], *address[:2], proxy["rdns"], *login)
        line.connect((host, port))

    return _reached(through, attempt, None, import_module("socks").socksocket, reach)


def _reached(
    found: list[_Found],
    attempt: Attempt,
    options: _Options,
    made: Callable[..., socket.socket],
    reach: Callable[[Any, Any], None],
) -> socket.socket:
    """Try one address after the other."""
    fault = OSError("no address")
    for number, (family, kind, protocol, _, address) in enumerate(found):
        share_s = attempt.left_s() / (len(found) - number)
        line = made(family, kind, protocol)
        try:
            for option in options or ():
                line.setsockopt(*option)
            attempt.hold(line)
            line.settimeout(share_s)
            reach(line, address)
            line.settimeout(attempt.left_s())  # for TLS, which takes it as a whole
        except OSError as error:
            line.close()
            fault = error
        except BaseException:
            line.close()
            raise
        else:
            return line
    raise fault
