"""Surfaces that a node offers, whose URL holds the key as a login, in its path and its query."""

import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
import traceback
import warnings
from base64 import b64encode
from urllib.parse import quote, quote_plus

import pytest
from anvil import Relay
from fault_server import reply_of
from IPython.core.ultratb import VerboseTB
from leak_ground import frame_locals, full_listener, serving, texts_of, within
from leak_scan import KEY
from leak_surfaces import surface, surfaces
from leaks_in_logs import listening

import walletframe as wf
from walletframe.settings.key import RpcUrl
from walletframe.transport import NodeSession

WALLET = "ETH.0x" + "a" * 40
LOGIN = b64encode(f"{KEY}:{KEY}".encode()).decode()
BRIEFLY = 0.3


def hidden(ground, base_url):
    """Name a node in the environment, so that no frame of a test has its URL."""
    text = quote(KEY, safe="")
    whole = base_url.replace("://", f"://{text}:{text}@") + f"/v2/{text}?key={quote_plus(KEY)}"
    ground.patch.setenv("WALLETFRAME_RPC_URL", whole)


@contextlib.contextmanager
def node(ground, says):
    """Run a node with a test's replies."""
    with serving(Relay()) as relay:
        relay.reply = says
        hidden(ground, relay.url)
        yield relay
        assert all(LOGIN in headers["Authorization"] for _, headers in relay.lines)


def balance():
    """Request a balance of the node."""
    return wf.token_balance(WALLET, None, timeout_s=5)


REPEATED = {
    "the header": f"Basic {LOGIN}",
    "the header in lower case": f"basic {LOGIN}".lower(),
    "the header without its end": LOGIN.rstrip("="),
    "the header in JSON": json.dumps(LOGIN).replace("/", "\\/"),
    "the header in JSON for a script": LOGIN.replace("/", "\\u002F").replace("=", "\\u003D"),
    "the header in HTML": LOGIN.replace("/", "&#47;").replace("=", "&#61;"),
    "the header percent-encoded": quote(LOGIN, safe=""),
    "the name": KEY,
    "the path": quote(KEY, safe=""),
    "the query": quote_plus(KEY),
}
STATUSES = (200, 401, 404, 500)


@surfaces([f"{part} with {status}" for part in REPEATED for status in STATUSES])
def echo(ground, variant):
    """The error and the warning where the node repeats."""
    part, _, status = variant.rpartition(" with ")
    answer = {"id": None, "error": {"code": 1, "message": f"no: {REPEATED[part]}"}}
    headers = {"X-Login": LOGIN, "WWW-Authenticate": f'Basic realm="{LOGIN}"'}
    text = int(status), headers, json.dumps(answer).encode()
    with node(ground, lambda _: text), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        frame = balance()
    assert "no: " in frame.error.item()
    return [frame.to_string(), *(str(each.message) for each in warned)]


class AlarmError(Exception):
    """The error of a caller's own signal handler."""


@contextlib.contextmanager
def _stalled(reply):
    """Run a server that sends something to its first client, and then no more."""
    ended = threading.Event()

    def serve(listener):
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(reply)
            ended.wait()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=[listener])
        thread.start()
        try:
            yield "http://{}:{}".format(*listener.getsockname())
        finally:
            ended.set()
            thread.join()


ECHO = KEY.encode() * 9_000
CHUNK = b"%x\r\n%s\r\n" % (len(ECHO), ECHO)
WAITS = {
    "a connection": full_listener,
    "an answer": lambda: _stalled(b""),
    "the rest of an echo": lambda: _stalled(reply_of("200 OK", ECHO, length=10**6)),
    "the next chunk of an echo": lambda: _stalled(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNK
    ),
}


def _interrupted(ground, variant, handler):
    """Request a balance of a silent node, raise in a signal handler, and return the error."""
    with WAITS[variant]() as url:
        hidden(ground, url)
        before = signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, BRIEFLY)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # urllib3 drops a half-made connection
            with pytest.raises(AlarmError) as caught:
                balance()
        signal.signal(signal.SIGALRM, before)
    return caught.value


@surfaces(WAITS)
def alarm(ground, variant):
    """The traceback, with locals, of an alarm during a request to the node."""

    def ring(_number, _frame):
        raise AlarmError

    error = _interrupted(ground, variant, ring)
    return [*texts_of(error), VerboseTB("nocolor").text(type(error), error, error.__traceback__)]


@surfaces(WAITS)
def frames(ground, variant):
    """The frames, with their locals, that wait for."""
    seen = []

    def look(_number, frame):
        stack = list(traceback.walk_stack(frame))
        asking = next(at for at, (each, _) in enumerate(stack) if each.f_code is balance.__code__)
        seen.extend(frame_locals(stack[:asking]))
        raise AlarmError

    _interrupted(ground, variant, look)
    return seen


@surface
def log(ground):
    """All logs, at their most talkative."""
    text = (500, {"X-Login": LOGIN}, LOGIN.encode())
    with (
        node(ground, lambda _: text),
        listening(ground) as heard,
        pytest.warns(wf.errors.FetchWarning),
    ):
        balance()
    assert "node.invalid" in heard.getvalue()
    return heard.getvalue()


@surface
def session(ground):
    """All within a session with a node."""
    with node(ground, lambda _: b"{}") as relay:
        hidden(ground, relay.url)
        session = NodeSession(RpcUrl.from_argument(None), 5)
        session.send(body=b"{}")
        seen = within(session)
        session.close()
    assert "node.invalid" in "".join(seen)
    return seen


def typed():
    """Return a URL with the key as getpass would: no variable of the caller's holds it."""
    return f"http://node.example/v2/{quote(KEY, safe='')}"


WRONG = {
    "as the token": lambda: wf.token_balance(WALLET, typed()),
    "as the token, with white space": lambda: wf.token_balance(WALLET, f" {typed()}\n"),
    "as the token, without http": lambda: wf.token_balance(WALLET, typed()[7:]),
    "as the token, in bytes": lambda: wf.token_balance(WALLET, typed().encode()),
    "as the block": lambda: wf.token_balance(WALLET, None, block=typed()),
    "as the time": lambda: wf.token_balance(WALLET, None, timeout_s=typed()),
    "as the chains": lambda: wf.token_balance(WALLET, None, chain_ids={"ETH": typed()}),
    "for another machine": lambda: wf.token_balance(WALLET, None, rpc_url=typed()),
    "in quotes": lambda: wf.token_balance(WALLET, None, rpc_url=f"'{typed()}'"),
    "on two lines": lambda: wf.token_balance(WALLET, None, rpc_url=f"{typed()}\n{typed()}"),
    "as bytes": lambda: wf.token_balance(WALLET, None, rpc_url=typed().encode()),
}


@surfaces(WRONG)
def misplaced(ground, variant):
    """The error where the URL is passed as."""
    with pytest.raises(wf.errors.SettingsError) as caught:
        WRONG[variant]()
    error = caught.value
    return [*texts_of(error), VerboseTB("nocolor").text(type(error), error, error.__traceback__)]


SCRIPT = """
import http.client, sys
import walletframe as wf
http.client.HTTPConnection.debuglevel = 1
audit = open(sys.argv[1], "w")
sys.addaudithook(lambda event, args: print(event, args, file=audit))
wf.token_balance("ETH.0x" + "a" * 40, None)
audit.flush()
"""
_printed = {}


@surfaces(("output", "errors", "audit events"))
def script(ground, variant):
    """The output of a script that queries a node in Python's debug mode."""
    if not _printed:
        with node(ground, lambda _: (401, {"X-Login": LOGIN}, LOGIN.encode())):
            words = [sys.executable, "-X", "dev", "-c", SCRIPT, str(ground.folder / "audit")]
            done = subprocess.run(words, capture_output=True, check=True)
        _printed["output"] = b"output:" + done.stdout
        _printed["errors"] = done.stderr
        _printed["audit events"] = (ground.folder / "audit").read_bytes()
        assert b"http.client.send" in _printed["audit events"]
    return _printed[variant]
