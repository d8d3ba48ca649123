"""The one place that adds the key, or a node's URL, at the socket, and removes echoes of it there.

requests, urllib3, http.client, their exceptions, frames and logs see a request without the secret,
a head of the answer without echoes of it, and none of its body while they wait for more.
"""

from __future__ import annotations

import re
import socket
import sys
import zlib
from contextlib import suppress
from functools import partial
from html.entities import codepoint2name
from http.client import HTTPResponse
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote, unquote_plus, urlencode
from weakref import proxy

from requests.adapters import HTTPAdapter
from requests.utils import requote_uri
from urllib3 import exceptions
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from walletframe.settings.key import Secret, login_of, secret_pieces
from walletframe.transport.attempt import UnderWay, dial
from walletframe.wire.shapes import KEY_PARAMETER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import BufferedReader
    from urllib.parse import SplitResult

    import requests
    from urllib3 import BaseHTTPResponse, PoolManager

    from walletframe.settings.key import ApiKey
    from walletframe.transport.attempt import Socks

_Rewrite: TypeAlias = "Callable[[bytes], bytes]"
_Place: TypeAlias = tuple[str, int]

MASK = "node.invalid"  # RFC 2606: never the name of a host
PACKING = "gzip"
_GZIP = 16 + zlib.MAX_WBITS
_PORTS = {"http": 80, "https": 443}
_ANYWHERE_FROM = 8
_LATIN_1 = 256
_ENTITIES = codepoint2name | {ord("'"): "apos"}
_PLAIN = re.compile(rb"[0-9A-Za-z_.-]+")
_BEHIND_NAME = "|".join(f"(?<={KEY_PARAMETER}{sign})" for sign in ("=", "%3D")).encode()


class KeyedAdapter(HTTPAdapter):
    """An adapter of one session, whose connections put a secret into each request.

    The session asks one address and follows no redirect, so the secret can go nowhere else:
    `attach` puts it into the head of a request, `scrub` takes it out of answers.
    """

    def __init__(
        self, attach: _Rewrite, scrub: _Rewrite, *, connections: int, real: _Place | None = None
    ) -> None:
        self.scrub = scrub
        self.under_way: UnderWay = UnderWay()
        known = {
            "under_way": self.under_way,
            "attach": staticmethod(attach),
            "scrub": staticmethod(scrub),
            "real": real,
        }

        class PlainPool(HTTPConnectionPool):
            ConnectionCls = type("Keyed", (_Keyed,), known)

        class EncryptedPool(HTTPSConnectionPool):
            ConnectionCls = type("KeyedOverTLS", (_KeyedOverTLS,), known)

        self._pool_classes = {"http": PlainPool, "https": EncryptedPool}
        super().__init__(pool_maxsize=connections)
        self.poolmanager.pool_classes_by_scheme = self._pool_classes

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> PoolManager:
        """Make the pools of connections through a proxy keyed ones."""
        manager: PoolManager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = self._pool_classes
        return manager

    def build_response(self, req: Any, resp: BaseHTTPResponse) -> requests.Response:
        """Read the body by `_pieces`, without a reference cycle that would keep the connection."""
        resp.stream = partial(_pieces, proxy(resp))  # type: ignore[method-assign]
        return super().build_response(req, resp)


def service_adapter(key: ApiKey, *, connections: int) -> KeyedAdapter:
    """Return an adapter whose connections add the key to the query."""

    def attach(head: bytes) -> bytes:
        method, target, rest = head.split(b" ", 2)
        joint, pair = b"&" if b"?" in target else b"?", urlencode({KEY_PARAMETER: key.reveal()})
        return b"%s %s%s%s %s" % (method, target, joint, pair.encode(), rest)

    return KeyedAdapter(attach, scrubber(key), connections=connections)


def node_adapter(url: SplitResult) -> KeyedAdapter:
    """Return an adapter that is asked for `MASK`: its connections alone know the node."""
    target = requote_uri((url.path or "/") + (f"?{url.query}" if url.query else "")).encode()

    def attach(head: bytes) -> bytes:
        method, _, rest = head.split(b" ", 2)
        version, _, lines = rest.partition(b"\r\n")
        if login := login_of(url):
            lines = b"Authorization: Basic %s\r\n%s" % (login.reveal().encode(), lines)
        return b"%s %s %s\r\n%s" % (method, target, version, lines)

    real = (url.hostname or "", url.port or _PORTS[url.scheme])
    return KeyedAdapter(attach, scrubber(*secret_pieces(url)), connections=1, real=real)


def _pieces(body: BaseHTTPResponse, amt: int, *, decode_content: bool) -> Iterator[bytes]:
    """Yield a body as it comes: no frame keeps an echo while the next piece is waited for.

    gzip is unpacked by zlib, `amt` bytes at a time: urllib3 before 2.6 unpacks a piece as a whole.
    """
    read = partial(body.read1, amt, decode_content=False)
    if not decode_content or body.headers.get("Content-Encoding", "").lower() != PACKING:
        yield from iter(read, b"")
        return
    unpacker = None
    while packed := read():
        while packed:
            unpacker = unpacker or zlib.decompressobj(_GZIP)
            try:
                yield unpacker.decompress(packed, amt)
            except zlib.error as fault:
                raise exceptions.DecodeError("not gzip", fault) from fault
            packed = unpacker.unconsumed_tail
            if unpacker.eof:  # another file may follow
                packed, unpacker = unpacker.unused_data, None
    if unpacker is not None:
        raise exceptions.DecodeError("gzip is cut off")


class _Keyed(HTTPConnection):
    """A connection made within the attempt's time, which puts the secret into each request."""

    under_way: UnderWay
    attach: _Rewrite
    scrub: _Rewrite
    real: _Place | None
    _is_head_next = False

    def __init__(
        self, host: str, port: int | None = None, *, _socks_options: Socks = None, **options: Any
    ) -> None:
        # a proxy is called by its own name
        place = self.real if self.real is not None and host == MASK else (host, port)
        super().__init__(*place, **options)
        self._socks = _socks_options
        self.response_class = partial(_Answer, self.scrub)  # type: ignore[assignment]  # it calls it

    def set_tunnel(self, host: str, port: int | None = None, *args: Any, **kwargs: Any) -> None:
        """Lead through a proxy to the real place."""
        super().set_tunnel(*(self.real or (host, port)), *args, **kwargs)

    def _new_conn(self) -> socket.socket:
        self.under_way.connections.add(self)
        place, how = (self._dns_host, self.port), (self._socks, self.socket_options)
        try:
            sock = dial(*place, self.under_way, *how)
        except TimeoutError as fault:
            raise exceptions.ConnectTimeoutError(self, "no connection in time") from fault
        except OSError as fault:
            if self._socks is not None:
                said = "the SOCKS proxy did not let the connection through"
                raise exceptions.ProxyError(said, fault) from fault
            if isinstance(fault, socket.gaierror):
                raise exceptions.NameResolutionError(self.host, self, fault) from fault
            raise exceptions.NewConnectionError(self, f"no connection: {fault}") from fault
        sys.audit("http.client.connect", self, self.host, self.port)
        return sock

    def _tunnel(self) -> None:
        super()._tunnel()
        self.under_way.now().left_s()  # what was cut off can look like the end of a proxy's answer

    def putrequest(self, *args: Any, **kwargs: Any) -> None:
        """Begin the head of a request."""
        if self.sock is not None:
            self.under_way.now().hold(self.sock)
        super().putrequest(*args, **kwargs)
        self._is_head_next = True

    def send(self, data: Any) -> None:
        """Send the head of a request with the secret, which stands in no frame's locals."""
        is_head, self._is_head_next = self._is_head_next, False
        if not is_head:
            super().send(data)
            return
        if self.sock is None:
            self.connect()
        sys.audit("http.client.send", self, data)
        self.sock.sendall(self.attach(data))


class _KeyedOverTLS(_Keyed, HTTPSConnection):
    """The same with TLS."""


class _Answer(HTTPResponse):
    def __init__(self, scrub: _Rewrite, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self._scrub, self._sock = scrub, sock

    def begin(self) -> None:
        """Read the head."""
        stream = self.fp
        head: Any = _Head(stream, self._scrub)
        self.fp = head
        try:
            super().begin()
        finally:
            if self.fp is head:  # pragma: no branch - else it is closed, and an error ends this
                self.fp = stream

    def _close_conn(self) -> None:
        """End the answer, and the connection if more has come than was asked for."""
        limit_s = self._sock.gettimeout()
        self._sock.settimeout(0)
        with suppress(OSError):  # TLS says so that there is no more
            if self.fp.peek():
                self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.settimeout(limit_s)
        super()._close_conn()  # type: ignore[misc]  # typeshed lacks it


class _Head:
    """The head of an answer, line by line, without echoes of the key: some lines are logged."""

    def __init__(self, stream: BufferedReader, scrub: _Rewrite) -> None:
        self._scrub = scrub
        self._stream, self.close, self.peek = stream, stream.close, stream.peek

    def readline(self, limit: int = -1) -> bytes:
        """Return the next line."""
        return self._scrub(self._stream.readline(limit))


def scrubber(*secrets: Secret) -> _Rewrite:
    """Return a function that puts as many asterisks into bytes where they echo a secret.

    It is found plain, encoded for a URL, JSON or HTML once or twice, or decoded once too often, in
    either case, but not in forms that nobody makes by accident (backwards, in base64).
    """
    texts = (secret.reveal() for secret in secrets)
    decoded = ((text, unquote(text), unquote_plus(text)) for text in texts)
    echoes = []
    for text in dict.fromkeys(chain.from_iterable(decoded)):
        rare = max(_PLAIN.findall(text.encode()), key=len, default=b"").lower()
        pattern = rb"\x00{0,3}".join(map(_forms, text))  # wide characters have zero bytes between
        if len(text) < _ANYWHERE_FROM:  # it could be any word
            pattern = b"(?:%s)%s" % (_BEHIND_NAME, pattern)
        echoes.append((rare, re.compile(pattern, re.IGNORECASE)))

    def scrubbed(said: bytes) -> bytes:
        folded = said.lower()
        for rare, echo in echoes:
            if rare in folded or b"\0" in said:  # its longest piece that only wide forms change
                said = echo.sub(lambda found: b"*" * len(found[0]), said)
        return said

    return scrubbed


def _forms(char: str) -> bytes:
    if char.isascii() and char.isalnum():
        return char.encode()
    forms: list[bytes] = []
    for each in "+ " if char in "+ " else char:  # these stand for each other in a form
        code, units = ord(each), each.encode("utf-16-be").hex()
        percent = "".join(rf"(?:%(?:25){{0,2}}|\\{{1,4}}x){byte:02x}" for byte in each.encode())
        escaped = "".join(rf"\\{{1,4}}u{units[at : at + 4]}" for at in range(0, len(units), 4))
        entity = f"&(?:amp;){{0,2}}(?:#0*{code}|#x0*{code:x}|{_ENTITIES.get(code, '#')});"
        wide = ["latin-1"] if code < _LATIN_1 else ["utf-16-be", "utf-16-le"]
        plain = b"|".join(re.escape(each.encode(encoding)) for encoding in ("utf-8", *wide))
        forms += [percent.encode(), escaped.encode(), entity.encode()]
        forms.append(rb"\\{0,3}(?:%s)" % plain)
    return b"(?:%s)" % b"|".join(forms)
