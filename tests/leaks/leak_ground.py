"""The ground of situations: a real service on a socket, clients with the key, a folder."""

import pickle
import socket
import traceback
from collections import deque
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from types import ModuleType
from urllib.parse import quote_plus

import pytest
from addresses import A
from canned_service import Canned, answer, wallet
from leak_scan import KEY

from walletframe.client import Client
from walletframe.errors import FetchError

WALLET = f"ETH.{A}"


@contextmanager
def serving(server):
    """Run a server in a thread."""
    with server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def running():
    """Run a server of canned answers."""
    return serving(Canned())


@contextmanager
def full_listener():
    """Listen, but accept no more connections."""
    with ExitStack() as stack:
        full = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(2):
            caller = stack.enter_context(socket.socket())
            caller.settimeout(0)
            caller.connect_ex(full.getsockname())
        yield "http://{}:{}".format(*full.getsockname())


@dataclass(frozen=True, repr=False)
class Ground:
    """A folder, a service with a test's replies, and pytest's patches."""

    folder: Path
    server: Canned
    patch: pytest.MonkeyPatch

    def settings(self, **options):
        """Return settings that name the service, with the key."""
        own = {
            "api_key": KEY,
            "key_kind": "private",
            "base_url": self.server.base_url,
            "cache": "memory",
            "deadline_s": 0,
            "timeout_s": 5,
            "requests_per_second": 1000,
        }
        return own | options

    def environment(self, **options):
        """Set the same settings in the environment."""
        for name, value in self.settings(**options).items():
            self.patch.setenv(f"WALLETFRAME_{name.upper()}", str(value))

    def client(self, **options):
        """Return a client of the service."""
        return Client(**self.settings(**options))

    def fetch(self, **options):
        """Fetch one wallet, and ignore a failure."""
        with self.client(**options) as client:
            return client.fetch(WALLET, on_failure="ignore")

    def failure(self, **options):
        """Fetch one wallet, and return the error that is raised for it."""
        with self.client(**options) as client, pytest.raises(FetchError) as caught:
            client.fetch(WALLET, on_failure="raise")
        return caught.value

    def echo(self, form=KEY, status=500):
        """Repeat the key in the service's replies, with the address of the request."""
        text = form if isinstance(form, bytes) else form.encode()
        path = f"/wallets/details?address={WALLET}&apiKey=".encode()
        self.server.default = (status, {}, b"no: " + path + text)

    def answer(self, **fields):
        """Send sound answers."""
        self.server.default = (200, {}, answer(wallet(**fields)))

    def requests_had_the_key(self):
        """Return whether each request had the key, so that it could leak."""
        sent = f"apiKey={quote_plus(KEY)}"
        return all(path.endswith(sent) for path in self.server.paths)


def texts_of(error):
    """Return all visible parts of an exception: causes, contexts, and the frames' locals."""
    if error is None:
        return []
    parts = traceback.format_exception(error)
    parts += frame_locals(traceback.walk_tb(error.__traceback__))
    parts += [str(error), repr(error), repr(error.args), repr(vars(error))]
    parts += getattr(error, "__notes__", [])
    with suppress(Exception):  # not every foreign exception can be pickled
        parts.append(pickle.dumps(error))
    return parts + texts_of(error.__cause__) + texts_of(error.__context__)


def frame_locals(frames):
    """Return the reprs of all locals that have one."""
    shown = []
    for frame, _ in frames:
        for value in frame.f_locals.values():
            with suppress(AttributeError):  # a half-made object has no repr
                shown.append(repr(value))
    return shown


def within(thing, seen=None):
    """Return the reprs of an object and of all that it contains."""
    seen = {} if seen is None else seen
    if id(thing) in seen:
        return []
    seen[id(thing)] = thing
    if isinstance(thing, ModuleType | type):
        return [repr(thing)]
    parts = [*thing.keys(), *thing.values()] if isinstance(thing, dict) else []
    parts += list(thing) if isinstance(thing, tuple | list | set | frozenset | deque) else []
    parts += vars(thing).values() if hasattr(thing, "__dict__") else []
    slots = [name for each in type(thing).__mro__ for name in getattr(each, "__slots__", ())]
    parts += [getattr(thing, name, None) for name in slots]
    return [repr(thing)] + [text for part in parts for text in within(part, seen)]
