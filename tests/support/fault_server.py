"""A server on raw sockets that sends a fault for one wallet, and valid answers for others."""

import contextlib
import gzip
import socket
import struct
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from functools import cache
from threading import Event, Thread
from urllib.parse import parse_qs, urlsplit

from canned_service import answer, balance, wallet

_SLOWLY_S = 0.05
_OK = "200 OK"
_HEAD_200 = b"HTTP/1.1 200 OK\r\n"


@dataclass(frozen=True)
class Fault:
    """A fault of a server, and the status that a client has to report.

    `raw` is the reply, or a function of the connection, the server and the requested target that
    sends it. If the function raises, the connection is closed. After a fault that is
    `retryable`, a client has to retry the request.
    """

    raw: bytes | Callable
    status: str
    retryable: bool = False

    @property
    def timeout_s(self):
        """The time limit of the client."""
        return 1.0 if self.status == "timeout" else 10.0


class FaultServer:
    """A server that sends `fault` for the wallet `faulty`, `times` times or until `heal`.

    With an SSL `context`, the server uses TLS.
    """

    def __init__(self, fault, faulty, times=1_000_000, *, context=None):
        self.requested = []
        self.flooded = 0
        self.stopped = Event()
        self._fault, self._faulty, self._left = fault, faulty, times
        self._open = set()
        self._threads = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._elsewhere = socket.create_server(("127.0.0.1", 0))
        self._elsewhere.setblocking(False)  # noqa: FBT003 - the socket's own signature
        self.base_url = _url(self._listener)
        self._context = context
        if context is not None:
            self.base_url = self.base_url.replace("http:", "https:")
        self.elsewhere_url = _url(self._elsewhere)

    def __enter__(self):
        self._start(self._accept)
        return self

    def __exit__(self, *exc):
        self.stopped.set()
        for each in [self._listener, *self._open]:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._listener.close()
        self._elsewhere.close()

    def heal(self):
        """Send valid answers from now on."""
        self._left = 0

    def redirect_was_followed(self):
        """Return whether a redirect to the other host was followed."""
        try:
            self._elsewhere.accept()[0].close()
        except BlockingIOError:
            return False
        return True

    def _start(self, work, *args):
        thread = Thread(target=work, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                self._start(self._serve, self._listener.accept()[0])

    def _serve(self, conn):
        if self._context is not None:
            try:
                conn = self._context.wrap_socket(conn, server_side=True)
            except OSError:
                return  # the client does not trust the certificate
        self._open.add(conn)
        with conn, contextlib.suppress(OSError):
            while target := _target(conn):
                requested = _wallet_in(target)
                self.requested.append(requested)
                if requested == self._faulty and self._left > 0:
                    self._left -= 1
                    self._misbehave(conn, target)
                else:
                    conn.sendall(reply_of(_OK, valid_body(target)))
        self._open.discard(conn)

    def _misbehave(self, conn, target):
        if isinstance(self._fault.raw, bytes):
            conn.sendall(self._fault.raw)
        else:
            self._fault.raw(conn, self, target)


def _url(listener):
    return "http://{}:{}".format(*listener.getsockname())


def _target(conn):
    """Read the head of a request and return its target, or "" at the end of the stream."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        piece = conn.recv(65536)
        if not piece:
            return ""
        head += piece
    return head.split(b" ", 2)[1].decode()


def _wallet_in(target):
    return parse_qs(urlsplit(target).query)["address"][0]


def valid_body(target):
    """Return the body of a valid answer."""
    return answer(wallet(_wallet_in(target).partition(".")[2]))


def reply_of(status, body=b"", *headers, length=None):
    """Return a whole reply as bytes. A `length` replaces the correct Content-Length."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}"]
    return "\r\n".join([*lines, *headers, "", ""]).encode() + body


def _chunked(*chunks, end=b""):
    pieces = [b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks]
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"".join(pieces) + end


def _nothing(_conn, _server, _target):
    """Send nothing."""


def _then_hangs_up(raw):
    """Run a function or send bytes, and close the connection."""

    def act(conn, server, target):
        conn.sendall(raw) if isinstance(raw, bytes) else raw(conn, server, target)
        raise ConnectionAbortedError

    return act


def _reset(conn, _server, _target):
    conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _reset_in_body(conn, server, target):
    _half(conn, server, target)
    time.sleep(_SLOWLY_S)
    _reset(conn, server, target)


def _half(conn, _server, target):
    body = valid_body(target)
    conn.sendall(reply_of(_OK, body[: len(body) // 2], length=len(body)))


def _open_ended_half(conn, _server, target):
    body = valid_body(target)
    conn.sendall(_HEAD_200 + b"\r\n" + body[: len(body) // 2])


def _off_by(count):
    """Send a wrong length."""
    return lambda conn, _, target: conn.sendall(
        reply_of(_OK, valid_body(target), length=len(valid_body(target)) + count)
    )


def _chunked_half(conn, _server, target):
    body = valid_body(target)
    conn.sendall(_chunked(body[: len(body) // 2], end=b"ff\r\n" + body[len(body) // 2 :]))


def _chunked_without_end(conn, _server, target):
    conn.sendall(_chunked(valid_body(target)))


def _gzip_half(conn, _server, target):
    packed = gzip.compress(valid_body(target))
    conn.sendall(reply_of(_OK, packed[: len(packed) // 2], "Content-Encoding: gzip"))


def _bomb(status, *headers):
    """Send a small body that decompresses to 300 MB."""

    def blow(conn, _server, _target):
        conn.sendall(reply_of(status, _packed(), "Content-Encoding: gzip", *headers))

    return blow


@cache
def _packed():
    packer = zlib.compressobj(1, wbits=31)
    block = bytes(1 << 20)
    return b"".join(packer.compress(block) for _ in range(300)) + packer.flush()


def _members(times):
    """Send gzip files in a row that decompress to 300 MB, compressed `times` more times."""
    packed = gzip.compress(bytes(1 << 20), 1) * 300
    for _ in range(times):
        packed = gzip.compress(packed)
    return reply_of(_OK, packed, "Content-Encoding: " + ", ".join(["gzip"] * (1 + times)))


def _slowly(head, piece):
    """Send a head at once, and then endless pieces, each before a socket would time out."""

    def dribble(conn, server, _target):
        conn.sendall(head)
        while not server.stopped.wait(_SLOWLY_S):
            conn.sendall(piece)

    return dribble


def _flood(head, piece):
    """Send a head and then 512 MB, as fast as the client reads."""

    def pour(conn, server, _target):
        conn.sendall(head)
        block = piece * (2**20 // len(piece))
        for _ in range(512):
            conn.sendall(block)
            server.flooded += len(block)

    return pour


def _echo(status):
    """Repeat the requested target, which contains the key, with terminal control characters."""
    return lambda conn, _, target: conn.sendall(
        reply_of(status, f"\x1b[2J\r\nno: {target}\u202e\r\n".encode())
    )


def _echo_that_stalls(conn, _server, target):
    """Repeat the requested target, and announce more bytes than are sent."""
    body = f"no: {target}".encode()
    conn.sendall(reply_of("401 Unauthorized", body, length=len(body) + 9))


def _twice(conn, _server, target):
    """Send two different entries for one wallet."""
    address = _wallet_in(target).partition(".")[2]
    conn.sendall(reply_of(_OK, answer(wallet(address), wallet(address, balances=[]))))


def _elsewhere(conn, server, target):
    conn.sendall(reply_of("302 Found", b"", f"Location: {server.elsewhere_url}{target}"))


def _in_a_loop(conn, _server, target):
    conn.sendall(reply_of("307 Temporary Redirect", b"", f"Location: {target}"))


def _busy(*headers):
    return reply_of("429 Too Many Requests", b"busy", *headers)


def _busy_until(conn, _server, _target):
    conn.sendall(_busy(f"Retry-After: {formatdate(time.time() + 3600, usegmt=True)}"))


def _odd(**fields):
    """Send a wallet with these unusual fields."""
    return lambda conn, _, target: conn.sendall(
        reply_of(_OK, answer(wallet(_wallet_in(target).partition(".")[2], **fields)))
    )


def _rewritten(old, new, **fields):
    """Send a wallet with a piece of its JSON replaced."""

    def fault(conn, _server, target):
        body = answer(wallet(_wallet_in(target).partition(".")[2], **fields))
        assert old in body
        conn.sendall(reply_of(_OK, body.replace(old, new)))

    return fault


_DEEP = b"[" * 200_000 + b"]" * 200_000

FAULTS = {
    # the connection
    "reset at the start": Fault(_then_hangs_up(_reset), "unreachable", retryable=True),
    "reset in the body": Fault(_then_hangs_up(_reset_in_body), "unreachable", retryable=True),
    "closed without a byte": Fault(_then_hangs_up(b""), "unreachable", retryable=True),
    "closed in the headers": Fault(_then_hangs_up(_HEAD_200 + b"Content-Ty"), "invalid"),
    "silence": Fault(_nothing, "timeout", retryable=True),
    "slow headers": Fault(_slowly(_HEAD_200, b"X: y\r\n"), "timeout", retryable=True),
    "slow header line": Fault(_slowly(_HEAD_200 + b"X: ", b"y"), "timeout", retryable=True),
    "slow body": Fault(_slowly(reply_of(_OK, length=9999), b" "), "timeout", retryable=True),
    "slow body, no length": Fault(_slowly(_HEAD_200 + b"\r\n", b" "), "timeout", retryable=True),
    "slow body, last of all": Fault(
        _slowly(reply_of(_OK, b"", "Connection: close", length=9999), b" "),
        "timeout",
        retryable=True,
    ),
    # the length
    "truncated": Fault(_then_hangs_up(_half), "unreachable", retryable=True),
    "truncated, no length": Fault(_then_hangs_up(_open_ended_half), "invalid"),
    "truncated chunk": Fault(_then_hangs_up(_chunked_half), "unreachable", retryable=True),
    "chunks without an end": Fault(
        _then_hangs_up(_chunked_without_end), "unreachable", retryable=True
    ),
    "garbage for a chunk": Fault(_chunked(end=b"zz\r\n{}"), "unreachable", retryable=True),
    "length too long": Fault(_off_by(5), "timeout", retryable=True),
    "length too short": Fault(_off_by(-5), "invalid"),
    "length of 3 GB": Fault(_flood(reply_of(_OK, length=3 << 30), b" "), "invalid"),
    "endless chunks": Fault(_flood(_chunked(), b"fff8\r\n" + b" " * 0xFFF8 + b"\r\n"), "invalid"),
    "two lengths": Fault(reply_of(_OK, b"{}", "Content-Length: 3"), "unreachable"),
    "endless length of a chunk": Fault(_flood(_chunked(), b"0"), "unreachable", retryable=True),
    "endless extension of a chunk": Fault(
        _flood(_chunked(end=b"5;x="), b"y"), "unreachable", retryable=True
    ),
    "endless trailers": Fault(
        _flood(_chunked(b"{}", end=b"0\r\n"), b"X: y\r\n"), "timeout", retryable=True
    ),
    # the compression
    "gzip bomb": Fault(_bomb(_OK), "invalid"),
    "gzip bomb in an error": Fault(_bomb("404 Not Found"), "invalid"),
    "gzip bomb of many files": Fault(_members(0), "invalid"),
    "gzip bomb in gzip": Fault(_members(1), "invalid"),
    "compressed otherwise": Fault(reply_of(_OK, b"\x28\xb5", "Content-Encoding: zstd"), "invalid"),
    "gzip that is none": Fault(reply_of(_OK, b"{}", "Content-Encoding: gzip"), "invalid"),
    "half a gzip": Fault(_gzip_half, "invalid"),
    # the protocol
    "header flood": Fault(_HEAD_200 + b"X: y\r\n" * 10_000 + b"\r\n{}", "unreachable"),
    "endless header line": Fault(_flood(_HEAD_200 + b"X: ", b"y"), "unreachable"),
    "endless status line": Fault(_flood(b"HTTP/1.1 200 ", b"y"), "unreachable"),
    "flood of interim answers": Fault(_flood(b"", b"HTTP/1.1 103 Wait\r\n\r\n"), "invalid"),
    "another protocol": Fault(b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "invalid"),
    "endless interim answers": Fault(
        _slowly(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "timeout", retryable=True
    ),
    "not HTTP": Fault(b"SSH-2.0-OpenSSH_9.2\r\n" + bytes(range(256)), "unreachable"),
    "no status": Fault(b"HTTP/1.1 yes\r\n\r\n{}", "unreachable"),
    "status 999": Fault(reply_of("999 \xff", b"{}"), "service_error"),
    # the body
    "HTML with 200": Fault(reply_of(_OK, b"<html>\r\n<h1>Sign in</h1>"), "invalid"),
    "204": Fault(b"HTTP/1.1 204 No Content\r\n\r\n", "invalid"),
    "nothing with 200": Fault(reply_of(_OK), "invalid"),
    "invalid JSON": Fault(reply_of(_OK, b'{"wallets": [,]}'), "invalid"),
    "not UTF-8": Fault(reply_of(_OK, b'{"wallets": ["\xff\xfe"]}'), "invalid"),
    "deep nesting": Fault(reply_of(_OK, _DEEP), "invalid"),
    "deep nesting inside": Fault(reply_of(_OK, b'{"x":' + _DEEP + b',"wallets":[]}'), "invalid"),
    "no wallets": Fault(reply_of(_OK, b'{"error": "down for maintenance"}'), "invalid"),
    "no such wallet": Fault(reply_of(_OK, answer()), "missing"),
    "failed": Fault(_odd(failed=True, balances=None), "failed"),
    "wrong schema": Fault(_odd(balances={"1": balance()}), "invalid"),
    "two documents": Fault(reply_of(_OK, answer() + answer()), "invalid"),
    "null for a wallet": Fault(reply_of(_OK, b'{"wallets": [null]}'), "invalid"),
    "a wallet twice": Fault(_twice, "invalid"),
    "text for a truth": Fault(_odd(failed="no"), "invalid"),
    "NaN": Fault(_odd(balances=[balance() | {"price": float("nan")}]), "invalid"),
    "no list": Fault(_odd(balances=None), "failed"),
    # an error instead of balances
    "error of a wallet without balances": Fault(_odd(balances=[], error="down"), "invalid"),
    "error of a wallet without a list": Fault(_odd(balances=None, error={"code": 5}), "invalid"),
    "error of the answer": Fault(
        _rewritten(b'{"wallets"', b'{"error": "down", "wallets"', balances=[]), "invalid"
    ),
    "error, and no such wallet": Fault(reply_of(_OK, b'{"wallets": [], "error": "x"}'), "invalid"),
    "error of a failed wallet": Fault(_odd(failed=True, error="down"), "failed"),
    # a name twice in an object
    "failed twice": Fault(_rewritten(b'"failed"', b'"failed": true, "failed"'), "invalid"),
    "failed twice, once escaped": Fault(
        _rewritten(b'"failed"', rb'"f\u0061iled": true, "symbol": "\u003a", "failed"'), "invalid"
    ),
    "failed twice, without a link": Fault(
        reply_of(
            _OK,
            b'{"wallets":[{"failed":true,"failed":false,"blockChain":"ETH","address":"0xa",'
            b'"balances":[]}]}',
        ),
        "invalid",
    ),
    "balances twice": Fault(_rewritten(b'"explorerUrl"', b'"balances": [], "x"'), "invalid"),
    "wallets twice": Fault(_rewritten(b'{"wallets"', b'{"wallets": [], "wallets"'), "invalid"),
    "address twice": Fault(_rewritten(b'"address"', b'"address": "0xb", "address"'), "invalid"),
    "decimals twice": Fault(_rewritten(b'"decimals"', b'"decimals": 18, "decimals"'), "invalid"),
    "a name twice, in bad UTF-8": Fault(
        _rewritten(b'"TKN"', b'"\xff", "symbol": "TKN"'), "invalid"
    ),
    # the status
    "400": Fault(_echo("400 Bad Request"), "rejected"),
    "401": Fault(_echo("401 Unauthorized"), "rejected"),
    "401 that stalls": Fault(_echo_that_stalls, "timeout", retryable=True),
    "403": Fault(_echo("403 Forbidden"), "rejected"),
    "404": Fault(_echo("404 Not Found"), "rejected"),
    "429": Fault(_busy(), "rate_limited", retryable=True),
    "429 for a number": Fault(_busy("Retry-After: 120"), "rate_limited", retryable=True),
    "429 for a fraction": Fault(_busy("Retry-After: 0.25"), "rate_limited", retryable=True),
    "429 for less than nothing": Fault(_busy("Retry-After: -1"), "rate_limited", retryable=True),
    "429 for no number": Fault(_busy("Retry-After: nan"), "rate_limited", retryable=True),
    "429 for ever": Fault(_busy("Retry-After: " + "9" * 5000), "rate_limited", retryable=True),
    "429 until a date": Fault(_busy_until, "rate_limited", retryable=True),
    "429 with nonsense": Fault(_busy("Retry-After: soon"), "rate_limited", retryable=True),
    "429 until no year": Fault(
        _busy(f"Retry-After: Mon, 01 Jan {10**20} 00:00:00 GMT"), "rate_limited", retryable=True
    ),
    "500": Fault(_echo("500 Internal Server Error"), "service_error"),
    "502": Fault(_echo("502 Bad Gateway"), "service_error", retryable=True),
    "503": Fault(
        reply_of("503 Service Unavailable", b"", "Retry-After: 1"),
        "service_error",
        retryable=True,
    ),
    # redirects
    "redirect to another host": Fault(_elsewhere, "rejected"),
    "redirect in a loop": Fault(_in_a_loop, "rejected"),
    "redirect to nowhere": Fault(reply_of("301 Moved", b"", "Location: http://[::"), "rejected"),
    "redirect with 3 GB": Fault(
        _flood(reply_of("302 Found", b"", "Location: /", length=3 << 30), b" "), "invalid"
    ),
}
