"""The one place that knows the key: it is added at the socket, and echoes of it are removed there.

requests, urllib3, http.client, their exceptions, frames and logs see a request without the key, a
head of the answer without echoes of it, and none of its body while they wait for more. The adapter
belongs to a session that asks one address alone and follows no redirect, so the key can go nowhere
else. Connections are made by `dialing`, within the time of the attempt that needs them.
"""

from __future__ import annotations

import sys
from functools import partial
from http.client import HTTPResponse
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import urlencode
from weakref import proxy

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from walletframe.transport.attempt import UnderWay
from walletframe.transport.dialing import timed
from walletframe.wire import KEY_PARAMETER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import BufferedReader

    import requests
    from urllib3 import BaseHTTPResponse, PoolManager

    from walletframe.settings import ApiKey

C = TypeVar("C", bound=HTTPConnection)
_Rewrite: TypeAlias = "Callable[[bytes], bytes]"
_Pool: TypeAlias = type[HTTPConnectionPool]


class KeyedAdapter(HTTPAdapter):
    """An adapter of one session, whose connections put a secret into each request.

    `attach` turns a request's head as requests knows it into the one that is sent, `scrub` takes
    the secret out of a line of an answer's head, `pool_of` changes the pools of connections.
    """

    def __init__(
        self,
        attach: _Rewrite,
        scrub: _Rewrite,
        *,
        connections: int,
        pool_of: Callable[[_Pool], _Pool] = lambda pool: pool,
    ) -> None:
        self.under_way = UnderWay()
        pools = _pool_classes(attach, scrub, self.under_way)
        self._pool_classes = {scheme: pool_of(pool) for scheme, pool in pools.items()}
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

    def build_response(self, req: Any, resp: BaseHTTPResponse) -> requests.Response:
        """Let the body be read by `_pieces`, without a circle that would keep the connection."""
        resp.stream = partial(_pieces, proxy(resp))  # type: ignore[method-assign]
        return super().build_response(req, resp)


def _pieces(body: BaseHTTPResponse, amt: int, *, decode_content: bool) -> Iterator[bytes]:
    """Hand out a body as it comes: no frame keeps an echo while the next piece is waited for."""
    yield from iter(partial(body.read1, amt, decode_content), b"")


def with_key(head: bytes, key: ApiKey) -> bytes:
    """Append the key to the query in a request's head."""
    method, target, rest = head.split(b" ", 2)
    joint, pair = b"&" if b"?" in target else b"?", urlencode({KEY_PARAMETER: key.reveal()})
    return b"%s %s%s%s %s" % (method, target, joint, pair.encode(), rest)


def _pool_classes(attach: _Rewrite, scrub: _Rewrite, under_way: UnderWay) -> dict[str, _Pool]:
    """Return pools of connections that put a secret into each request, by scheme."""
    answer_class = _answer_class(scrub)

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = _connection_class(HTTPConnection, attach, answer_class, under_way)

    class EncryptedPool(HTTPSConnectionPool):
        ConnectionCls = _connection_class(HTTPSConnection, attach, answer_class, under_way)

    return {"http": PlainPool, "https": EncryptedPool}


def _connection_class(
    base: type[C],
    attach: _Rewrite,
    answer_class: type[HTTPResponse],
    under_way: UnderWay,
) -> type[C]:
    class Keyed(timed(base, under_way)):  # type: ignore[misc]  # a class is a value here
        response_class = answer_class
        _is_head_next = False

        def putrequest(self, method: str, url: str, *args: Any, **kwargs: Any) -> None:
            super().putrequest(method, url, *args, **kwargs)
            self._is_head_next = True

        def send(self, data: bytes) -> None:
            """Send the head of a request with the secret, which stands in no frame's locals."""
            is_head, self._is_head_next = self._is_head_next, False
            if not is_head:
                super().send(data)
                return
            if self.sock is None:
                self.connect()
            sys.audit("http.client.send", self, data)
            self.sock.sendall(attach(data))

    return Keyed


def _answer_class(scrub: _Rewrite) -> type[HTTPResponse]:
    class Answer(HTTPResponse):
        def begin(self) -> None:
            stream = self.fp
            head: Any = _Head(stream, scrub)
            self.fp = head
            try:
                super().begin()
            finally:
                if self.fp is head:  # pragma: no branch - else it is closed, and an error ends this
                    self.fp = stream

    return Answer


class _Head:
    """The head of an answer, line by line, without echoes of the key: some lines are logged."""

    def __init__(self, stream: BufferedReader, scrub: _Rewrite) -> None:
        self._stream, self._scrub = stream, scrub

    def readline(self, limit: int = -1) -> bytes:
        """Return the next line."""
        return self._scrub(self._stream.readline(limit))

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()
