"""What the surfaces need: a ground on which to provoke real situations."""

import pytest
from leak_ground import Ground, running


@pytest.fixture(scope="session")
def lasting_server():
    """Give one server of canned answers to all surfaces: there are hundreds."""
    with running() as server:
        yield server


@pytest.fixture
def ground(tmp_path, lasting_server, monkeypatch):
    """Give a ground, and see that what was asked there was asked with the key."""
    for memory in (lasting_server.replies, lasting_server.paths, lasting_server.headers_seen):
        memory.clear()
    ground = Ground(tmp_path, lasting_server, monkeypatch)
    yield ground
    assert ground.was_asked_with_the_key()
