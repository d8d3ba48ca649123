"""Connections that add a secret to each request, and mask the secret in responses.

The secret is the API key or the URL of a node. The connection adds the secret when it writes a
request to the socket. So no exception, stack frame or log of another library contains the secret.
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
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import SplitResult, unquote, unquote_plus, urlencode
from weakref import proxy

from requests.adapters import HTTPAdapter
from requests.utils import requote_uri
from urllib3 import BaseHTTPResponse, PoolManager, exceptions
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from walletframe.settings.key import ApiKey, Secret, basic_credentials, possibly_secret_url_parts
from walletframe.transport.attempt import InFlightRequests, SocksOptions, open_socket
from walletframe.wire.schemas import KEY_PARAMETER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import requests


_BytesFilter: TypeAlias = "Callable[[bytes], bytes]"

MASKED_HOST = "node.invalid"  # no host can have this name (RFC 2606)
ENCODING = "gzip"
_MIN_LENGTH = 8  # shorter secrets are masked only after the name of the parameter
_LATIN_1_SIZE = 256
_HTML_ENTITIES = codepoint2name | {ord("'"): "apos"}
_NEVER_ENCODED = re.compile(rb"[0-9A-Za-z_.-]+")
_AFTER_PARAMETER = "|".join(f"(?<={KEY_PARAMETER}{sign})" for sign in ("=", "%3D")).encode()


class SecretAdapter(HTTPAdapter):
    """An `HTTPAdapter` for one session, with connections that add a secret to requests.

    `add_secret` changes the head of a request. `scrub` masks the secret in received bytes. Requests
    for `MASKED_HOST` are sent to `real_address`.
    """

    # No other host receives the secret: a session has one host, and follows no redirects.

    def __init__(
        self,
        add_secret: _BytesFilter,
        scrub: _BytesFilter,
        *,
        connections: int,
        real_address: tuple[str, int] | None = None,
    ) -> None:
        self.scrub = scrub
        self.in_flight: InFlightRequests = InFlightRequests()
        attributes = {
            "in_flight": self.in_flight,
            "add_secret": staticmethod(add_secret),
            "scrub": staticmethod(scrub),
            "real_address": real_address,
        }

        class SecretHTTPPool(HTTPConnectionPool):
            ConnectionCls = type("SecretConnection", (_SecretAddingConnection,), attributes)

        class SecretHTTPSPool(HTTPSConnectionPool):
            ConnectionCls = type("SecretTLSConnection", (_SecretAddingTLSConnection,), attributes)

        self._pool_classes = {"http": SecretHTTPPool, "https": SecretHTTPSPool}
        super().__init__(pool_maxsize=connections)
        self.poolmanager.pool_classes_by_scheme = self._pool_classes

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> PoolManager:
        """Return a proxy manager with connections that add the secret."""
        manager: PoolManager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = self._pool_classes
        return manager

    def build_response(self, req: Any, resp: BaseHTTPResponse) -> requests.Response:
        """Return a response that is streamed in decompressed chunks of limited size."""
        resp.stream = partial(_decoded_chunks, proxy(resp))  # type: ignore[method-assign]  # a proxy: no reference cycle
        return super().build_response(req, resp)


def service_adapter(key: ApiKey, *, connections: int) -> SecretAdapter:
    """Return an adapter that adds the API key to the query of the URL."""

    def add_secret(head: bytes) -> bytes:
        method, target, rest = head.split(b" ", 2)
        mark, parameter = b"&" if b"?" in target else b"?", urlencode({KEY_PARAMETER: key.reveal()})
        return b"%s %s%s%s %s" % (method, target, mark, parameter.encode(), rest)

    return SecretAdapter(add_secret, scrubber(key), connections=connections)


def node_adapter(url: SplitResult) -> SecretAdapter:
    """Return an adapter that sends requests for `MASKED_HOST` to the URL of a node."""
    target = requote_uri((url.path or "/") + (f"?{url.query}" if url.query else "")).encode()

    def add_secret(head: bytes) -> bytes:
        method, _, rest = head.split(b" ", 2)
        version, _, lines = rest.partition(b"\r\n")
        if credentials := basic_credentials(url):
            lines = b"Authorization: Basic %s\r\n%s" % (credentials.reveal().encode(), lines)
        return b"%s %s %s\r\n%s" % (method, target, version, lines)

    scrub = scrubber(*possibly_secret_url_parts(url))
    real_address = (url.hostname or "", url.port or {"http": 80, "https": 443}[url.scheme])
    return SecretAdapter(add_secret, scrub, connections=1, real_address=real_address)


def _decoded_chunks(body: BaseHTTPResponse, amt: int, *, decode_content: bool) -> Iterator[bytes]:
    """Yield decompressed chunks of at most `amt` bytes. urllib3 before 2.6 yields larger ones.

    While a chunk is awaited, no variable contains earlier chunks, which may echo the secret.
    """
    read = partial(body.read1, amt, decode_content=False)
    if not decode_content or body.headers.get("Content-Encoding", "").lower() != ENCODING:
        yield from iter(read, b"")
        return
    decompressor = None
    while compressed := read():
        while compressed:
            decompressor = decompressor or zlib.decompressobj(16 + zlib.MAX_WBITS)  # gzip
            try:
                yield decompressor.decompress(compressed, amt)
            except zlib.error as fault:
                raise exceptions.DecodeError("the body is not valid gzip", fault) from fault
            compressed = decompressor.unconsumed_tail
            if decompressor.eof:  # another gzip member may follow
                compressed, decompressor = decompressor.unused_data, None
    if decompressor is not None:
        raise exceptions.DecodeError("the gzip data of the body is incomplete")


class _SecretAddingConnection(HTTPConnection):
    """A connection that adds the secret to requests."""

    in_flight: InFlightRequests
    add_secret: _BytesFilter
    scrub: _BytesFilter
    real_address: tuple[str, int] | None
    _is_head_next = False

    def __init__(self, host: str, port: int | None = None, **options: Any) -> None:
        # A connection to a proxy keeps its host.
        real = self.real_address
        address = real if real is not None and host == MASKED_HOST else (host, port)
        self._socks: SocksOptions = options.pop("_socks_options", None)
        super().__init__(*address, **options)
        self.response_class = partial(_ScrubbedResponse, self.scrub)  # type: ignore[assignment]  # urllib3 only calls the class

    def set_tunnel(self, host: str, port: int | None = None, *args: Any, **kwargs: Any) -> None:
        super().set_tunnel(*(self.real_address or (host, port)), *args, **kwargs)

    def _new_conn(self) -> socket.socket:
        self.in_flight.connections.add(self)
        address, options = (self._dns_host, self.port), (self._socks, self.socket_options)
        try:
            sock = open_socket(*address, self.in_flight, *options)
        except TimeoutError as fault:
            raise exceptions.ConnectTimeoutError(self, "the connection timed out") from fault
        except OSError as fault:
            if self._socks is not None:
                message = "the SOCKS proxy did not let the connection through"
                raise exceptions.ProxyError(message, fault) from fault
            if isinstance(fault, socket.gaierror):
                raise exceptions.NameResolutionError(self.host, self, fault) from fault
            message = f"failed to establish a new connection: {fault}"
            raise exceptions.NewConnectionError(self, message) from fault
        sys.audit("http.client.connect", self, self.host, self.port)
        return sock

    def _tunnel(self) -> None:
        super()._tunnel()
        # After an abort, the answer of a proxy can look complete.
        self.in_flight.current_attempt().remaining_s()

    def putrequest(self, *args: Any, **kwargs: Any) -> None:
        if self.sock is not None:
            self.in_flight.current_attempt().store_duplicate_handle(self.sock)
        super().putrequest(*args, **kwargs)
        self._is_head_next = True

    def send(self, data: Any) -> None:
        """Send data. If the data are the head of a request, add the secret."""
        is_head, self._is_head_next = self._is_head_next, False
        if not is_head:
            super().send(data)
            return
        if self.sock is None:
            self.connect()
        sys.audit("http.client.send", self, data)
        self.sock.sendall(self.add_secret(data))  # a traceback could show a variable


class _SecretAddingTLSConnection(_SecretAddingConnection, HTTPSConnection):
    """A connection over TLS that adds the secret to each request."""


class _ScrubbedResponse(HTTPResponse):
    """A response with a scrubbed head, since http.client may log lines of the head."""

    def __init__(self, scrub: _BytesFilter, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self._scrub, self._sock = scrub, sock

    def begin(self) -> None:
        stream, scrub = self.fp, self._scrub
        head: Any = SimpleNamespace(close=stream.close, peek=stream.peek)
        head.readline = lambda limit=-1: scrub(stream.readline(limit))  # some lines are logged
        self.fp = head
        try:
            super().begin()
        finally:
            if self.fp is head:  # pragma: no branch - False after an error
                self.fp = stream

    def _close_conn(self) -> None:
        """End the response. If the server sent data after the response, close the connection."""
        limit_s = self._sock.gettimeout()
        self._sock.settimeout(0)
        with suppress(OSError):  # TLS raises an OSError if there is no more data
            if self.fp.peek():
                self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.settimeout(limit_s)
        super()._close_conn()  # type: ignore[misc]  # typeshed lacks it


def scrubber(*secrets: Secret) -> _BytesFilter:
    """Return a function that replaces echoes of the secrets in bytes with asterisks.

    An echo can be in upper or lower case, URL-decoded, or encoded for a URL, JSON or HTML. Reversed
    or base64-encoded echoes are not found. Each byte of an echo becomes one asterisk.
    """
    texts = (secret.reveal() for secret in secrets)
    variants = ((text, unquote(text), unquote_plus(text)) for text in texts)
    echoes = []
    for text in dict.fromkeys(chain.from_iterable(variants)):
        substring = max(_NEVER_ENCODED.findall(text.encode()), key=len, default=b"").lower()
        # In UTF-16 and UTF-32, zero bytes separate the characters.
        pattern = rb"\x00{0,3}".join(map(_pattern_of_encodings, text))
        if len(text) < _MIN_LENGTH:  # a short secret may equal a common word
            substring = KEY_PARAMETER.lower().encode()
            pattern = b"(?:%s)%s" % (_AFTER_PARAMETER, pattern)
        echoes.append((substring, re.compile(pattern, re.IGNORECASE)))

    def scrub(content: bytes) -> bytes:
        lowercase = content.lower()
        for substring, echo in echoes:  # in UTF-16 and UTF-32, the substring differs
            if substring in lowercase or b"\0" in content:
                content = echo.sub(lambda match: b"*" * len(match[0]), content)
        return content

    return scrub


def _pattern_of_encodings(char: str) -> bytes:
    if char.isascii() and char.isalnum():
        return char.encode()
    forms: list[bytes] = []
    for each in "+ " if char in "+ " else char:  # form data encodes a space as +
        code, units = ord(each), each.encode("utf-16-be").hex()
        percent = "".join(rf"(?:%(?:25){{0,2}}|\\{{1,4}}x){byte:02x}" for byte in each.encode())
        escaped = "".join(rf"\\{{1,4}}u{units[at : at + 4]}" for at in range(0, len(units), 4))
        entity = f"&(?:amp;){{0,2}}(?:#0*{code}|#x0*{code:x}|{_HTML_ENTITIES.get(code, '#')});"
        wide = ["latin-1"] if code < _LATIN_1_SIZE else ["utf-16-be", "utf-16-le"]
        plain = b"|".join(re.escape(each.encode(encoding)) for encoding in ("utf-8", *wide))
        forms += [percent.encode(), escaped.encode(), entity.encode()]
        forms.append(rb"\\{0,3}(?:%s)" % plain)
    return b"(?:%s)" % b"|".join(forms)
