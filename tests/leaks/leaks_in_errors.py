"""Surfaces that exceptions offer: every failure, in every display."""

import contextlib
import copy
import pickle
import ssl
import traceback

import pytest
import trustme
from canned_service import answer, wallet
from fault_server import FAULTS, FaultServer
from IPython.core.ultratb import VerboseTB
from leak_ground import WALLET, running, texts_of
from leak_surfaces import surface, surfaces
from moments import interrupt_when

from walletframe.errors import AddressError, FetchInterrupted
from walletframe.settings.values import Settings
from walletframe.transport import ServiceSession

NOBODY = "http://127.0.0.1:9"
UNKNOWN = "https://nobody.invalid"
BRIEFLY = 0.6
FAILURES = [
    "reset at the start",
    "reset in the body",
    "closed without a byte",
    "closed in the headers",
    "silence",
    "slow body",
    "truncated",
    "truncated chunk",
    "garbage for a chunk",
    "gzip that is none",
    "header flood",
    "not HTTP",
    "no status",
    "status 999",
    "HTML with 200",
    "invalid JSON",
    "400",
    "401",
    "403",
    "404",
    "429",
    "500",
    "502",
    "redirect to another host",
    "redirect in a loop",
    "redirect to nowhere",
]
BELOW = [
    "reset at the start",
    "reset in the body",
    "closed without a byte",
    "silence",
    "truncated chunk",
    "garbage for a chunk",
    "gzip that is none",
    "header flood",
    "not HTTP",
    "no status",
]


@surfaces(FAILURES)
def fetch_error(ground, variant):
    """The error of a fetch."""
    with FaultServer(FAULTS[variant], WALLET) as server:
        error = ground.failure(base_url=server.base_url, timeout_s=BRIEFLY)
        assert server.requested
    return [*texts_of(error), error.details.wallets.to_string()]


@contextlib.contextmanager
def _untrusted(ground):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with running() as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        yield server.base_url.replace("http:", "https:")


def _through(proxy):
    """Send requests through a proxy."""

    def reach(ground):
        ground.patch.setenv("https_proxy", proxy or ground.server.base_url)
        return contextlib.nullcontext(UNKNOWN)

    return reach


def _without_certificates(ground):
    """Use a file of certificates that does not exist."""
    ground.patch.setenv("REQUESTS_CA_BUNDLE", str(ground.folder / "nothing.pem"))
    return contextlib.nullcontext(UNKNOWN)


UNREACHED = {
    "nobody listens": lambda ground: contextlib.nullcontext(NOBODY),
    "unknown host": lambda ground: contextlib.nullcontext(UNKNOWN),
    "no TLS": lambda ground: contextlib.nullcontext(
        ground.server.base_url.replace("http:", "https:")
    ),
    "untrusted certificate": _untrusted,
    "no proxy": _through(NOBODY),
    "proxy that knows no CONNECT": _through(None),
    "no SOCKS proxy": _through("socks5h://127.0.0.1:9"),
    "no certificates": _without_certificates,
}


@surfaces(UNREACHED)
def unreached(ground, variant):
    """The error of a fetch that did not reach the service."""
    with UNREACHED[variant](ground) as base_url:
        error = ground.failure(base_url=base_url)
    assert error.details.wallets.status.tolist() == ["unreachable"]
    return [*texts_of(error), error.details.wallets.to_string()]


def _foreign(ground, base_url):
    """Return requests's exception, before it is translated."""
    session = ServiceSession(Settings(**ground.settings(base_url=base_url)))
    with (
        contextlib.closing(session),
        session.in_flight.register_attempt(60),
        pytest.raises(OSError) as caught,  # noqa: PT011 - any of them
    ):
        session._session.get(session._url, params=f"address={WALLET}", timeout=BRIEFLY)
    return caught.value


@surfaces(UNREACHED)
def foreign_unreached(ground, variant):
    """The exception of requests that did not reach the service."""
    with UNREACHED[variant](ground) as base_url:
        return texts_of(_foreign(ground, base_url))


@surfaces(BELOW)
def foreign(ground, variant):
    """The exception of requests."""
    with FaultServer(FAULTS[variant], WALLET) as server:
        error = _foreign(ground, server.base_url)
        assert server.requested
    return texts_of(error)


def _noted(error):
    error.add_note(f"raised with {error!r} in {vars(error)}")
    return error.__notes__


PLACES = {
    "str": str,
    "repr": repr,
    "args": lambda error: repr(error.args),
    "attributes": lambda error: repr(vars(error)),
    "hint": lambda error: error.hint,
    "notes": _noted,
    "pickle": pickle.dumps,
    "copy": lambda error: texts_of(copy.copy(error)),
    "cause and context": lambda error: repr([error.__cause__, error.__context__, error]),
    "traceback": lambda error: "".join(traceback.format_exception(error)),
    "traceback with locals": texts_of,
    "IPython's verbose traceback": lambda error: VerboseTB("nocolor").text(
        type(error), error, error.__traceback__
    ),
    "details": lambda error: repr([error.details, *error.details]),
}


@surfaces(PLACES)
def quoted(ground, variant):
    """An error that quotes the service."""
    ground.echo()
    error = ground.failure()
    assert "answered 500" in str(error)
    return PLACES[variant](error)


@surface
def interrupted(ground):
    """An interrupted fetch."""
    ground.server.add_reply([answer(wallet()), b" " * 9] * 9)
    interrupt_when(lambda: ground.server.paths)
    with ground.client() as client, pytest.raises(FetchInterrupted) as caught:
        client.fetch(WALLET)
    return texts_of(caught.value)


@surface
def called_back(ground):
    """A progress callable that fails."""
    ground.answer()
    with ground.client() as client, pytest.raises(ZeroDivisionError) as caught:
        client.fetch(WALLET, progress=lambda *_: 1 / 0)
    return texts_of(caught.value)


@surface
def unread_wallet(ground):
    """A wallet that can't be read."""
    with ground.client() as client, pytest.raises(AddressError) as caught:
        client.fetch("nonsense")
    return texts_of(caught.value)
