"""Answers that machines share in a real server, by requests-cache's own `RedisCache`."""

import subprocess
import sys
import warnings
from contextlib import contextmanager

import pytest
import redis
import valkeys
from addresses import A, B
from canned_service import KEY, answer, wallet
from requests_cache import RedisCache

from walletframe.errors import CacheWarning, SettingsError

ANOTHER = """
import redis, sys
from requests_cache import RedisCache
from walletframe.client import Client
link = redis.Redis.from_url(sys.argv[1])
cache = RedisCache("answers", connection=link, serializer="json")
with Client(service=sys.argv[2], cache=cache) as client:
    print(client.fetch(sys.argv[3], offline=True).wallets.source.item())
"""


@contextmanager
def shared(canned, server, **options):
    """Open a client whose answers are in a server."""
    canned.default = (200, {}, answer(wallet()))
    with redis.Redis.from_url(server.url) as link:
        cache = RedisCache("answers", connection=link, serializer="json")
        with canned.client(cache=cache, deadline_s=0, **options) as client:
            yield client


def status(client, address, **options):
    """Fetch a wallet; return its status and its source."""
    result = client.fetch(address, on_failure="ignore", **options).wallets
    return result.status.item(), result.source.item()


def test_answers_of_one_machine_are_read_by_others(canned, valkey):
    """Another process finds them there, and sends no request."""
    with shared(canned, valkey) as client:
        assert status(client, f"ETH.{A}") == ("ok", "service")
        service = client.settings.service
    words = [sys.executable, "-c", ANOTHER, valkey.url, service, f"ETH.{A}"]
    run = subprocess.run(words, capture_output=True, check=True, text=True)
    assert run.stdout.strip() == "cache"
    assert len(canned.paths) == 1


def test_a_stale_answer_is_used_if_the_service_fails(canned, valkey):
    """A stale answer of a file is used, too."""
    with shared(canned, valkey, expire_after_s=0) as client:
        assert status(client, f"ETH.{A}") == ("ok", "service")
        canned.default = (500, {}, b"")
        assert status(client, f"ETH.{A}") == ("ok", "stale")


def test_the_server_does_not_hold_the_key(canned, valkey):
    """Neither in names nor in values."""
    with shared(canned, valkey) as client, valkey.connection() as plain:
        assert status(client, f"ETH.{A}") == ("ok", "service")
        names = plain.keys("*")
        assert names
        assert not any(KEY.encode() in each for each in [*names, *map(plain.dump, names)])


def test_a_read_only_server_is_read(canned):
    """Stored answers are read; new ones are kept in memory, after one warning."""
    with valkeys.running() as server, shared(canned, server) as client:
        assert status(client, f"ETH.{A}") == ("ok", "service")
        with server.connection() as plain:
            plain.replicaof("127.0.0.1", 9)  # a replica of a missing server
        canned.default = (200, {}, answer(wallet(B)))
        expected = "can't be stored in the backend RedisCache"
        with pytest.warns(CacheWarning, match=expected) as caught:
            assert status(client, f"ETH.{B}") == ("ok", "service")
        assert status(client, f"ETH.{A}", offline=True) == ("ok", "cache")
        assert status(client, f"ETH.{B}", offline=True) == ("ok", "cache")
        assert len(caught) == 1


def test_without_the_server_memory_is_used(canned):
    """There is one warning."""
    with valkeys.running() as server, shared(canned, server) as client:
        server.kill()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert status(client, f"ETH.{A}") == ("ok", "service")
            assert status(client, f"ETH.{A}") == ("ok", "cache")
        assert ["kept in memory instead" in str(each.message) for each in caught] == [True]
        server.start()


def test_pickles_are_refused(canned, valkey):
    """Reading a pickle runs code of its writer, and anyone on the network may write there."""
    with redis.Redis.from_url(valkey.url) as link:
        cache = RedisCache("answers", connection=link, serializer="pickle")
        with (
            pytest.raises(SettingsError, match="JSON serializer"),
            canned.client(cache=cache) as it,
        ):
            it.fetch(f"ETH.{A}")
