"""The one place that knows the key: it joins the request at the socket, and its echo ends there.

requests, urllib3, http.client, their exceptions, frames and logs see a request without the key, a
head of the answer without echoes of it, and none of its body while they wait for more. The adapter
belongs to a session that asks one address alone and follows no redirect, so the key can go nowhere
else. Connections are made by `dialing`, within the time of the attempt that needs them.
"""

from __future__ import annotations

import sys
from functools import partial
from http.client import HTTPResponse
from typing import TYPE_CHECKING, Any, TypeVar
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


class KeyedAdapter(HTTPAdapter):
    """An adapter whose connections put a secret into each request.

    Parameters
    ----------
    pool_classes : dict of str to type
        The pools of such connections, by scheme.
    under_way : UnderWay
        The attempts that the connections are made for.
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

    def build_response(self, req: Any, resp: BaseHTTPResponse) -> requests.Response:
        """Let the body be read by `_pieces`, without a circle that would keep the connection."""
        resp.stream = partial(_pieces, proxy(resp))  # type: ignore[method-assign]
        return super().build_response(req, resp)


def _pieces(body: BaseHTTPResponse, amt: int, *, decode_content: bool) -> Iterator[bytes]:
    """Hand out a body as it comes: no frame keeps an echo while the next piece is waited for."""
    yield from iter(partial(body.read1, amt, decode_content), b"")


def keyed_adapter(key: ApiKey, scrub: Callable[[bytes], bytes], connections: int) -> KeyedAdapter:
    """Return an adapter whose connections append the key to each request's query.

    Parameters
    ----------
    key : ApiKey
        The key.
    scrub : callable
        Takes it out of a line of an answer's head.
    connections : int
        How many connections to keep open.

    Returns
    -------
    KeyedAdapter
        For one session.
    """
    under_way = UnderWay()
    pools = pool_classes(lambda head: _with_key(head, key), scrub, under_way)
    return KeyedAdapter(pools, under_way, connections)


class _Head:
    """The head of an answer, line by line, without echoes of the key: some lines are logged."""

    def __init__(self, stream: BufferedReader, scrub: Callable[[bytes], bytes]) -> None:
        self._stream, self._scrub = stream, scrub

    def readline(self, limit: int = -1) -> bytes:
        """Return the next line."""
        return self._scrub(self._stream.readline(limit))

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()


def _answer_class(scrub: Callable[[bytes], bytes]) -> type[HTTPResponse]:
    class Answer(HTTPResponse):
        def begin(self) -> None:
            stream = self.fp
            head: Any = _Head(stream, scrub)
            self.fp = head
            try:
                super().begin()
            finally:
                if self.fp is head:
                    self.fp = stream

    return Answer


def _with_key(head: bytes, key: ApiKey) -> bytes:
    method, target, rest = head.split(b" ", 2)
    joint, pair = b"&" if b"?" in target else b"?", urlencode({KEY_PARAMETER: key.reveal()})
    return b"%s %s%s%s %s" % (method, target, joint, pair.encode(), rest)


def pool_classes(
    attach: Callable[[bytes], bytes], scrub: Callable[[bytes], bytes], under_way: UnderWay
) -> dict[str, type[HTTPConnectionPool]]:
    """Return pools of connections that put a secret into each request.

    Parameters
    ----------
    attach : callable
        From a request's head as requests knows it to the one that is sent.
    scrub : callable
        Takes the secret out of a line of an answer's head.
    under_way : UnderWay
        The attempts that the connections are made for.

    Returns
    -------
    dict of str to type
        By scheme.
    """
    answer_class = _answer_class(scrub)

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = _connection_class(HTTPConnection, attach, answer_class, under_way)

    class EncryptedPool(HTTPSConnectionPool):
        ConnectionCls = _connection_class(HTTPSConnection, attach, answer_class, under_way)

    return {"http": PlainPool, "https": EncryptedPool}


def _connection_class(
    base: type[C],
    attach: Callable[[bytes], bytes],
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
