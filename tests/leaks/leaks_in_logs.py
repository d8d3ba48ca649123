"""Surfaces that logs, warnings and progress offer, all of them at their most talkative."""

import contextlib
import http.client
import http.cookiejar
import logging
import warnings
from io import StringIO
from urllib.parse import quote_plus

from canned_service import answer, wallet
from fault_server import FAULTS, Fault, FaultServer, valid_body
from leak_ground import WALLET
from leak_scan import KEY
from leak_surfaces import surface, surfaces
from leaks_in_requests import HEADER

from walletframe.service import sandbox


@contextlib.contextmanager
def listening(ground):
    """Record the output of all loggers, of http.client and of print."""
    output = StringIO()
    handler = logging.StreamHandler(output)
    root = logging.getLogger()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        root.addHandler(handler)
        level = root.level
        root.setLevel(logging.DEBUG)
        ground.patch.setattr(http.client.HTTPConnection, "debuglevel", 1)
        ground.patch.setattr(http.cookiejar, "debug", True)
        yield output
        root.setLevel(level)
        root.removeHandler(handler)


HEADERS = {
    "Location": f"http://elsewhere.example/?apiKey={HEADER}",
    "Set-Cookie": f"key={quote_plus(KEY)}",
    "X-Request": HEADER,
}
SAID = {
    "a sound answer": (200, {}, answer(wallet())),
    "an answer that repeats it": (200, {}, answer(wallet(explorerUrl=KEY))),
    "headers that repeat it": (200, HEADERS, answer(wallet())),
    "a refused key": (401, HEADERS, KEY.encode()),
    "an error": (500, HEADERS, KEY.encode()),
    "a redirect": (302, HEADERS, b""),
    "no content": (204, HEADERS, b""),
    "another compression": (200, {"Content-Encoding": "gzip"}, b"{}"),
}


@surfaces(SAID)
def exchange(ground, variant):
    """The log of an exchange."""
    ground.server.default = SAID[variant]
    with listening(ground) as output:
        ground.fetch()
    assert f"GET /wallets/details?address={WALLET}" in output.getvalue()
    return output.getvalue()


def _answers(head):
    """Send a sound answer, with the target in lines of the head, and close the connection."""

    def act(conn, _server, target):
        body = valid_body(target)
        length = f"Content-Length: {len(body)}\r\n".encode()
        conn.sendall(head.replace(b"@", target.encode()).replace(b"#", HEADER.encode("latin-1")))
        conn.sendall(length + b"\r\n" + body)
        raise ConnectionAbortedError

    return act


ODD = {
    "headers that are none": _answers(b"HTTP/1.1 200 OK\r\nX: #\r\nno header: #\r\n#@\r\nY: y\r\n"),
    "a continued header": _answers(b"HTTP/1.1 200 OK\r\nX: y\r\n #\r\n"),
    "an interim answer": _answers(b"HTTP/1.1 100 Continue\r\nX: #@\r\n\r\nHTTP/1.1 200 OK\r\n"),
    "a reason that repeats it": _answers(b"HTTP/1.1 200 #@\r\n"),
    "a status that repeats it": _answers(b"HTTP/1.1 #@\r\n"),
    "a protocol that repeats it": _answers(b"HTTP/1.#@ 200 OK\r\n"),
    "a chunk's length": _answers(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n#@\r\n"),
    "a line without an end": _answers(b"HTTP/1.1 200 OK\r\nX: #@" + b"y" * 70_000 + b"\r\n"),
    "a dropped connection": _answers(b"HTTP/1.1 200 OK\r\n"),
    "a reset": FAULTS["reset at the start"].raw,
    "silence": FAULTS["silence"].raw,
}


@surfaces(ODD)
def odd(ground, variant):
    """The log of an odd exchange."""
    fault = Fault(ODD[variant], "")
    with FaultServer(fault, WALLET, times=1) as server, listening(ground) as output:
        settings = {"base_url": server.base_url, "timeout_s": 0.2}
        with ground.client(**settings) as client:
            for _ in range(2):
                details = client.fetch(WALLET, refresh=True, on_failure="ignore")
    assert details.wallets.status.tolist() == ["ok"]
    assert f"GET /wallets/details?address={WALLET}" in output.getvalue()
    return output.getvalue()


@surface
def refused_by_the_sandbox(ground):
    """The log of a sandbox that does not know the key."""
    with contextlib.ExitStack() as stack:
        output = stack.enter_context(listening(ground))
        service = stack.enter_context(sandbox())
        client = stack.enter_context(service.client(api_key=KEY, cache="memory"))
        details = client.fetch(WALLET, on_failure="ignore")
    assert details.wallets.status.tolist() == ["rejected"]
    return [output.getvalue(), details.wallets.to_string()]


@surface
def error_logged(ground):
    """An error logged as such."""
    ground.echo()
    with listening(ground) as output:
        error = ground.failure()
        logging.getLogger("app").error("it failed: %r", error, exc_info=error)
    assert "Traceback" in output.getvalue()
    return output.getvalue()


WARNED = {
    "failures": (500, {}, KEY.encode()),
    "strangers": (200, {}, answer(wallet(), wallet(KEY))),
    "an answer that is none": (200, {}, KEY.encode()),
    "an amount that is none": (
        200,
        {},
        answer(
            wallet(
                balances=[
                    {"asset": {"blockchain": "ETH", "symbol": "T"}, "amount": {"amount": KEY}}
                ]
            )
        ),
    ),
}


@surfaces(WARNED)
def warning(ground, variant):
    """A warning."""
    ground.server.default = WARNED[variant]
    with warnings.catch_warnings(record=True) as caught, ground.client() as client:
        warnings.simplefilter("always")
        client.fetch(WALLET)
    return [
        warnings.formatwarning(each.message, each.category, each.filename, each.lineno)
        for each in caught
    ] + [repr(vars(each)) for each in caught]


@surface
def out_of_date(ground):
    """The warning of an answer that could not be made fresh."""
    ground.answer()
    with ground.client() as client, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        client.fetch(WALLET)
        ground.echo()
        client.fetch(WALLET, refresh=True)
    return [str(each.message) for each in caught]


@surface
def progress_bar(ground):
    """The progress bar."""
    ground.echo()
    with listening(ground) as output, ground.client() as client:
        client.fetch(WALLET, progress=True, on_failure="ignore")
    assert "1/1" in output.getvalue()
    return output.getvalue()


@surface
def progress_calls(ground):
    """The arguments of a progress callable."""
    ground.echo()
    calls = []
    with ground.client() as client:
        client.fetch(WALLET, progress=lambda *call: calls.append(repr(call)), on_failure="ignore")
    return calls
