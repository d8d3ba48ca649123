"""Surfaces that a cache in Redis offers, which is requests-cache's, and keeps answers."""

import contextlib
import warnings

import redis
import valkeys
from leak_ground import WALLET, within
from leak_surfaces import surface, surfaces
from leaks_in_files import echoing
from leaks_in_logs import listening
from leaks_in_values import DISPLAYS
from requests_cache import RedisCache

TRAVELLING = ("copies", "pickle", "state", "reduced", "unpickled")  # a connection does not


@contextlib.contextmanager
def client_of(ground, server):
    """Open a client whose answers are in a server, of a service that repeats the key."""
    echoing(ground)
    with redis.Redis.from_url(server.url) as link:
        cache = RedisCache("answers", connection=link, serializer="json")
        with ground.client(cache=cache) as client:
            yield client


@surfaces([way for way in DISPLAYS if way not in TRAVELLING])
def at_work(ground, variant):
    """A client with such a cache, and its fetch."""
    with valkeys.running() as server, client_of(ground, server) as client:
        details = client.fetch(WALLET)
        assert details.wallets.status.item() == "ok"
        return [*within(details), DISPLAYS[variant](client)]


@surface
def stored(ground):
    """All data of the server, its log, and its list of slow commands."""
    with (
        valkeys.running() as server,
        server.connection() as plain,
        client_of(ground, server) as client,
    ):
        plain.config_set("slowlog-log-slower-than", 0)
        client.fetch(WALLET)
        names = plain.keys("*")
        assert b"answers:" in b"".join(names)
        values = [plain.dump(name) for name in names]
        return [*names, *values, repr(plain.slowlog_get(100)), server.log.read_bytes()]


@surface
def log(ground):
    """All logs, at their most talkative."""
    with (
        valkeys.running() as server,
        listening(ground) as heard,
        client_of(ground, server) as client,
    ):
        client.fetch(WALLET)
    return [heard.getvalue(), "the log:"]


@surface
def gone(ground):
    """The warning and all within the settings where the server is gone."""
    with valkeys.running() as server, client_of(ground, server) as client:
        server.kill()
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            details = client.fetch(WALLET)
        server.start()
        seen = [str(each.message) for each in warned]
        assert "they are kept in memory instead" in "".join(seen)
        return [*seen, *within(details), repr(client)]
