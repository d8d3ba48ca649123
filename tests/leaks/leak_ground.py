"""Where situations are provoked: a real service on a socket, clients with the key, a folder."""

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
from canned_service import Canned, answer, wallet
from leak_scan import KEY

from walletframe.client import Client
from walletframe.errors import FetchError

WALLET = "ETH.0xa"


@contextmanager
def serving(server):
    """Let a server serve."""
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
    """Listen, but take no more connections."""
    with ExitStack() as stack:
        full = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(2):
            caller = stack.enter_context(socket.socket())
            caller.settimeout(0)
            caller.connect_ex(full.getsockname())
        yield "http://{}:{}".format(*full.getsockname())


@dataclass(frozen=True, repr=False)
class Ground:
    """A folder, a service that says what it is told to, and pytest's patches."""

    folder: Path
    server: Canned
    patch: pytest.MonkeyPatch

    def settings(self, **given):
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
        return own | given

    def environment(self, **given):
        """Set the same in the environment."""
        for name, value in self.settings(**given).items():
            self.patch.setenv(f"WALLETFRAME_{name.upper()}", str(value))

    def client(self, **given):
        """Return a client of the service."""
        return Client(**self.settings(**given))

    def fetch(self, **given):
        """Fetch one wallet, whatever comes of it."""
        with self.client(**given) as client:
            return client.fetch(WALLET, on_failure="ignore")

    def failure(self, **given):
        """Fetch one wallet, and return the error that is raised for it."""
        with self.client(**given) as client, pytest.raises(FetchError) as caught:
            client.fetch(WALLET, on_failure="raise")
        return caught.value

    def echo(self, form=KEY, status=500):
        """Let the service repeat the key, with the address that it was asked at."""
        said = form if isinstance(form, bytes) else form.encode()
        self.server.default = (status, {}, b"no: /wallets/details?address=ETH.0xa&apiKey=" + said)

    def answer(self, **fields):
        """Let the service answer soundly."""
        self.server.default = (200, {}, answer(wallet(**fields)))

    def was_asked_with_the_key(self):
        """Tell whether each request brought the key, so that it was there to be lost."""
        sent = f"apiKey={quote_plus(KEY)}"
        return all(path.endswith(sent) for path in self.server.paths)


def told(error):
    """Return all that can be shown of an exception: causes, contexts, and the frames' locals."""
    if error is None:
        return []
    parts = traceback.format_exception(error)
    parts += frame_locals(traceback.walk_tb(error.__traceback__))
    parts += [str(error), repr(error), repr(error.args), repr(vars(error))]
    parts += getattr(error, "__notes__", [])
    with suppress(Exception):  # not every foreign exception can be pickled
        parts.append(pickle.dumps(error))
    return parts + told(error.__cause__) + told(error.__context__)


def frame_locals(frames):
    """Return the reprs of all locals, of those that have one."""
    shown = []
    for frame, _ in frames:
        for value in frame.f_locals.values():
            with suppress(AttributeError):  # what is half made has no repr
                shown.append(repr(value))
    return shown


def within(thing, seen=None):
    """Return the reprs of a thing and of all that it is made of."""
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
    return [repr(thing)] + [said for part in parts for said in within(part, seen)]
