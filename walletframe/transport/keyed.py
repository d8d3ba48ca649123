"""The one place that adds the key, or a node's URL, at the socket, and masks its echoes there.

requests, urllib3, http.client, their exceptions, frames and logs see a request without the secret
and response headers without echoes of it. No frame holds body data while it waits for more.
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

from walletframe.settings.key import Secret, basic_credentials, secret_pieces
from walletframe.transport.attempt import InFlightRequests, dial
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
_HostPort: TypeAlias = tuple[str, int]

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
    """A requests adapter for one session, whose connections add a secret to each request.

    The session uses one address and follows no redirect, so the secret can go nowhere else.
    `attach` adds it to the head of a request, `scrub` masks it in answers.
    """

    def __init__(
        self, attach: _Rewrite, scrub: _Rewrite, *, connections: int, real: _HostPort | None = None
    ) -> None:
        self.scrub = scrub
        self.in_flight: InFlightRequests = InFlightRequests()
        attributes = {
            "in_flight": self.in_flight,
            "attach": staticmethod(attach),
            "scrub": staticmethod(scrub),
            "real": real,
        }

        class PlainPool(HTTPConnectionPool):
            ConnectionCls = type("Keyed", (_Keyed,), attributes)

        class EncryptedPool(HTTPSConnectionPool):
            ConnectionCls = type("KeyedOverTLS", (_KeyedOverTLS,), attributes)

        self._pool_classes = {"http": PlainPool, "https": EncryptedPool}
        super().__init__(pool_maxsize=connections)
        self.poolmanager.pool_classes_by_scheme = self._pool_classes

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> PoolManager:
        """Return a proxy manager whose pools make keyed connections."""
        manager: PoolManager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = self._pool_classes
        return manager

    def build_response(self, req: Any, resp: BaseHTTPResponse) -> requests.Response:
        """Read the body with `_pieces`, without a reference cycle that would keep it alive."""
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
    """Return an adapter for requests to `MASK`, whose connections alone know the node's URL."""
    target = requote_uri((url.path or "/") + (f"?{url.query}" if url.query else "")).encode()

    def attach(head: bytes) -> bytes:
        method, _, rest = head.split(b" ", 2)
        version, _, lines = rest.partition(b"\r\n")
        if login := basic_credentials(url):
            lines = b"Authorization: Basic %s\r\n%s" % (login.reveal().encode(), lines)
        return b"%s %s %s\r\n%s" % (method, target, version, lines)

    real = (url.hostname or "", url.port or _PORTS[url.scheme])
    return KeyedAdapter(attach, scrubber(*secret_pieces(url)), connections=1, real=real)


def _pieces(body: BaseHTTPResponse, amt: int, *, decode_content: bool) -> Iterator[bytes]:
    """Yield a body piece by piece; while it waits for the next one, no frame holds an echo.

    zlib unpacks gzip, `amt` bytes at a time, since urllib3 before 2.6 unpacks a piece as a whole.
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
            if unpacker.eof:  # another gzip member may follow
                packed, unpacker = unpacker.unused_data, None
    if unpacker is not None:
        raise exceptions.DecodeError("gzip is cut off")


class _Keyed(HTTPConnection):
    """A connection that is opened within the attempt's time and adds the secret to each request."""

    in_flight: InFlightRequests
    attach: _Rewrite
    scrub: _Rewrite
    real: _HostPort | None
    _is_head_next = False

    def __init__(
        self, host: str, port: int | None = None, *, _socks_options: Socks = None, **options: Any
    ) -> None:
        # A proxy keeps its own name.
        place = self.real if self.real is not None and host == MASK else (host, port)
        super().__init__(*place, **options)
        self._socks = _socks_options
        self.response_class = partial(_Answer, self.scrub)  # type: ignore[assignment]  # only called

    def set_tunnel(self, host: str, port: int | None = None, *args: Any, **kwargs: Any) -> None:
        """Tunnel through a proxy to the real host and port."""
        super().set_tunnel(*(self.real or (host, port)), *args, **kwargs)

    def _new_conn(self) -> socket.socket:
        self.in_flight.connections.add(self)
        place, how = (self._dns_host, self.port), (self._socks, self.socket_options)
        try:
            sock = dial(*place, self.in_flight, *how)
        except TimeoutError as fault:
            raise exceptions.ConnectTimeoutError(self, "no connection in time") from fault
        except OSError as fault:
            if self._socks is not None:
                message = "the SOCKS proxy did not let the connection through"
                raise exceptions.ProxyError(message, fault) from fault
            if isinstance(fault, socket.gaierror):
                raise exceptions.NameResolutionError(self.host, self, fault) from fault
            raise exceptions.NewConnectionError(self, f"no connection: {fault}") from fault
        sys.audit("http.client.connect", self, self.host, self.port)
        return sock

    def _tunnel(self) -> None:
        super()._tunnel()
        self.in_flight.current().remaining_s()  # an aborted one can look like a complete answer

    def putrequest(self, *args: Any, **kwargs: Any) -> None:
        """Start the head of a request."""
        if self.sock is not None:
            self.in_flight.current().track_socket(self.sock)
        super().putrequest(*args, **kwargs)
        self._is_head_next = True

    def send(self, data: Any) -> None:
        """Send the head of a request with the secret, which no frame's locals hold."""
        is_head, self._is_head_next = self._is_head_next, False
        if not is_head:
            super().send(data)
            return
        if self.sock is None:
            self.connect()
        sys.audit("http.client.send", self, data)
        self.sock.sendall(self.attach(data))


class _KeyedOverTLS(_Keyed, HTTPSConnection):
    """A keyed connection over TLS."""


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
            if self.fp is head:  # pragma: no branch - else it is closed, and an error is raised
                self.fp = stream

    def _close_conn(self) -> None:
        """End the answer, and close the connection if it has unrequested data left to read."""
        limit_s = self._sock.gettimeout()
        self._sock.settimeout(0)
        with suppress(OSError):  # TLS raises if there is no more
            if self.fp.peek():
                self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.settimeout(limit_s)
        super()._close_conn()  # type: ignore[misc]  # typeshed lacks it


class _Head:
    """The head of an answer, line by line, without echoes of the key, since some are logged."""

    def __init__(self, stream: BufferedReader, scrub: _Rewrite) -> None:
        self._scrub = scrub
        self._stream, self.close, self.peek = stream, stream.close, stream.peek

    def readline(self, limit: int = -1) -> bytes:
        """Return the next line."""
        return self._scrub(self._stream.readline(limit))


def scrubber(*secrets: Secret) -> _Rewrite:
    """Return a function that masks echoes of a secret in bytes, with an asterisk for each byte.

    It finds plain text, text encoded once or twice for a URL, JSON or HTML, and text decoded once
    too often, in upper or lower case, but not reversed text or base64.
    """
    texts = (secret.reveal() for secret in secrets)
    decoded = ((text, unquote(text), unquote_plus(text)) for text in texts)
    echoes = []
    for text in dict.fromkeys(chain.from_iterable(decoded)):
        rare = max(_PLAIN.findall(text.encode()), key=len, default=b"").lower()
        pattern = rb"\x00{0,3}".join(map(_forms, text))  # wide characters have zero bytes between
        if len(text) < _ANYWHERE_FROM:  # so short a secret could be any word
            rare = KEY_PARAMETER.lower().encode()
            pattern = b"(?:%s)%s" % (_BEHIND_NAME, pattern)
        echoes.append((rare, re.compile(pattern, re.IGNORECASE)))

    def scrub(content: bytes) -> bytes:
        folded = content.lower()
        for rare, echo in echoes:  # `rare` is the longest piece that only wide forms change
            if rare in folded or b"\0" in content:
                content = echo.sub(lambda match: b"*" * len(match[0]), content)
        return content

    return scrub


def _forms(char: str) -> bytes:
    if char.isascii() and char.isalnum():
        return char.encode()
    forms: list[bytes] = []
    for each in "+ " if char in "+ " else char:  # in form data, + means a space
        code, units = ord(each), each.encode("utf-16-be").hex()
        percent = "".join(rf"(?:%(?:25){{0,2}}|\\{{1,4}}x){byte:02x}" for byte in each.encode())
        escaped = "".join(rf"\\{{1,4}}u{units[at : at + 4]}" for at in range(0, len(units), 4))
        entity = f"&(?:amp;){{0,2}}(?:#0*{code}|#x0*{code:x}|{_ENTITIES.get(code, '#')});"
        wide = ["latin-1"] if code < _LATIN_1 else ["utf-16-be", "utf-16-le"]
        plain = b"|".join(re.escape(each.encode(encoding)) for encoding in ("utf-8", *wide))
        forms += [percent.encode(), escaped.encode(), entity.encode()]
        forms.append(rb"\\{0,3}(?:%s)" % plain)
    return b"(?:%s)" % b"|".join(forms)
