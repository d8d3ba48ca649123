"""The one place that knows the key: it joins the request below requests, on its way to the socket.

requests, its exceptions, its logs and the cache see a URL without the key. The adapter belongs to a
session that asks one address alone and follows no redirect, so the key can go nowhere else. Since
the connections are made here, they are also where a request can be cut off.
"""

from __future__ import annotations

import contextlib
import socket
import time
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus, urlencode

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from walletframe.wire import KEY_PARAMETER

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from urllib3 import PoolManager

    from walletframe.settings import ApiKey, Secret

_SCRUB_FROM = 8
_MASK = b"*"


class KeyedAdapter(HTTPAdapter):
    """An adapter whose connections put a secret into each request.

    Parameters
    ----------
    pool_classes : dict of str to type
        The pools of such connections, by scheme.
    under_way : UnderWay
        Where the connections note their requests.
    connections : int
        How many connections to keep open.
    """

    def __init__(
        self,
        pool_classes: dict[str, type[HTTPConnectionPool]],
        under_way: UnderWay,
        connections: int,
    ) -> None:
        self.under_way = under_way
        self._pool_classes = pool_classes
        super().__init__(pool_maxsize=connections)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Make the pools of direct connections keyed ones."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = self._pool_classes

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> PoolManager:
        """Make the pools of connections through a proxy keyed ones."""
        manager: PoolManager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = self._pool_classes
        return manager


def keyed_adapter(key: ApiKey, connections: int) -> KeyedAdapter:
    """Return an adapter whose connections append the key to each request's query.

    Parameters
    ----------
    key : ApiKey
        The key.
    connections : int
        How many connections to keep open.

    Returns
    -------
    KeyedAdapter
        For one session.
    """
    under_way = UnderWay()
    pools = pool_classes(lambda url: _with_key(url, key), under_way)
    return KeyedAdapter(pools, under_way, connections)


class UnderWay:
    """The requests that are under way, one for each thread, and the sockets to cut them off by."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._begun: dict[int, tuple[HTTPConnection, float]] = {}
        self._sockets: dict[int, socket.socket | None] = {}
        self._cut: set[int] = set()

    def begin(self, connection: HTTPConnection) -> None:
        """Take note of a request that is being sent by this thread."""
        with self._lock:
            self._begun[get_ident()] = (connection, time.monotonic())

    def read(self, connection: HTTPConnection) -> None:
        """Take note of the socket, which a connection forgets once it knows that it will close."""
        with self._lock:
            self._sockets[get_ident()] = connection.sock

    def end(self) -> bool:
        """Forget this thread's request, and tell whether it was cut off."""
        thread = get_ident()
        with self._lock:
            self._begun.pop(thread, None)
            self._sockets.pop(thread, None)
            was_cut = thread in self._cut
            self._cut.discard(thread)
        return was_cut

    def cut_of(self, threads: Collection[int]) -> None:
        """Cut off the requests of some threads, so that they hear of it at once.

        Parameters
        ----------
        threads : collection of int
            The threads, by ``threading.get_ident()``.
        """
        with self._lock:
            self._shut([thread for thread in self._begun if thread in threads])

    def cut_older(self, seconds: float) -> None:
        """Cut off the requests that take too long.

        Parameters
        ----------
        seconds : float
            How long a request may be under way.
        """
        limit = time.monotonic() - seconds
        with self._lock:
            self._shut([thread for thread, (_, since) in self._begun.items() if since <= limit])

    def _shut(self, threads: Iterable[int]) -> None:
        for thread in threads:
            line = self._sockets.get(thread) or self._begun[thread][0].sock
            if line is not None:
                self._cut.add(thread)
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(line, socket.SHUT_RDWR)


def scrubbed(body: bytes, secret: Secret) -> bytes:
    """Return a body without the key that a server may echo.

    Parameters
    ----------
    body : bytes
        What the server sent.
    secret : Secret
        The key; one of fewer than 8 characters is too common a text to be looked for.

    Returns
    -------
    bytes
        The same length, with asterisks for the key, raw or percent-encoded.

    Examples
    --------
    >>> from walletframe.settings import ApiKey
    >>> scrubbed(b"no such key: secret-1", ApiKey("secret-1"))
    b'no such key: ********'
    """
    plain = secret.reveal()
    if len(plain) >= _SCRUB_FROM:
        for form in {plain, quote_plus(plain)}:
            echo = form.encode()
            body = body.replace(echo, _MASK * len(echo))
    return body


def _with_key(url: str, key: ApiKey) -> str:
    joint = "&" if "?" in url else "?"
    return f"{url}{joint}{urlencode({KEY_PARAMETER: key.reveal()})}"


def pool_classes(
    attach: Callable[[str], str], under_way: UnderWay
) -> dict[str, type[HTTPConnectionPool]]:
    """Return pools of connections that put a secret into each request.

    Parameters
    ----------
    attach : callable
        From the path and query that requests knows to the one that is sent.
    under_way : UnderWay
        Where the connections note their requests.

    Returns
    -------
    dict of str to type
        By scheme.
    """

    class Plain(HTTPConnection):
        debuglevel = 0  # whatever http.client is told: it would print the key

        def putrequest(self, method: str, url: str, *args: Any, **kwargs: Any) -> None:
            under_way.begin(self)
            super().putrequest(method, attach(url), *args, **kwargs)

        def getresponse(self) -> Any:
            under_way.read(self)
            return super().getresponse()

    class Encrypted(HTTPSConnection):
        debuglevel = 0  # whatever http.client is told: it would print the key

        def putrequest(self, method: str, url: str, *args: Any, **kwargs: Any) -> None:
            under_way.begin(self)
            super().putrequest(method, attach(url), *args, **kwargs)

        def getresponse(self) -> Any:
            under_way.read(self)
            return super().getresponse()

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class EncryptedPool(HTTPSConnectionPool):
        ConnectionCls = Encrypted

    return {"http": PlainPool, "https": EncryptedPool}
