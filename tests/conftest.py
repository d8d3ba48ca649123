"""What several test modules need: a sandbox, a client of it, and a server of canned answers."""

import os
from threading import Thread

import pytest
from canned_service import Canned

from walletframe.service import sandbox


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Keep every test away from the user's cache folder, environment and default client."""
    monkeypatch.setattr("walletframe.client.default._default", None)
    for name in [name for name in os.environ if name.startswith("WALLETFRAME_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    return tmp_path


@pytest.fixture(scope="session")
def service():
    """Give one sandbox to the whole run."""
    with sandbox() as running:
        yield running


@pytest.fixture
def client(service):
    """Give a client of the sandbox that keeps its answers in memory."""
    with service.client(cache="memory") as opened:
        yield opened


@pytest.fixture
def canned():
    """Give a server of canned answers."""
    with Canned() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()
