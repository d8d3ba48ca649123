"""Fixtures of the surfaces: a ground on which real situations are provoked."""

import pytest
from leak_ground import Ground, running


@pytest.fixture(scope="session")
def lasting_server():
    """Start one server of canned answers for all surfaces: there are hundreds."""
    with running() as server:
        yield server


@pytest.fixture
def ground(tmp_path, lasting_server, monkeypatch):
    """Yield a ground, and check that each request there had the key."""
    for memory in (lasting_server.replies, lasting_server.paths, lasting_server.headers_seen):
        memory.clear()
    ground = Ground(tmp_path, lasting_server, monkeypatch)
    yield ground
    assert ground.requests_had_the_key()
