"""Answers that machines share in a real server, by requests-cache's own `RedisCache`."""

import subprocess
import sys
import warnings
from contextlib import contextmanager

import pytest
import redis
import valkeys
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
    print(client.fetch("ETH.0xa", offline=True).wallets.source.item())
"""


@contextmanager
def shared(canned, server, **given):
    """Open a client whose answers are in a server."""
    canned.default = (200, {}, answer(wallet()))
    with redis.Redis.from_url(server.url) as link:
        cache = RedisCache("answers", connection=link, serializer="json")
        with canned.client(cache=cache, deadline_s=0, **given) as client:
            yield client


def status(client, address, **given):
    """Fetch a wallet; return its status and its source."""
    found = client.fetch(address, on_failure="ignore", **given).wallets
    return found.status.item(), found.source.item()


def test_what_one_machine_keeps_others_read(canned, valkey):
    """Another process finds it there, and asks nobody."""
    with shared(canned, valkey) as client:
        assert status(client, "ETH.0xa") == ("ok", "service")
        service = client.settings.service
    words = [sys.executable, "-c", ANOTHER, valkey.url, service]
    run = subprocess.run(words, capture_output=True, check=True, text=True)
    assert run.stdout.strip() == "cache"
    assert len(canned.paths) == 1


def test_an_answer_that_is_no_longer_fresh_is_served_where_the_service_fails(canned, valkey):
    """As from a file."""
    with shared(canned, valkey, expire_after_s=0) as client:
        assert status(client, "ETH.0xa") == ("ok", "service")
        canned.default = (500, {}, b"")
        assert status(client, "ETH.0xa") == ("ok", "stale")


def test_nothing_there_has_the_key(canned, valkey):
    """Neither the names nor the values."""
    with shared(canned, valkey) as client, valkey.asked() as asked:
        assert status(client, "ETH.0xa") == ("ok", "service")
        names = asked.keys("*")
        assert names
        assert not any(KEY.encode() in each for each in [*names, *map(asked.dump, names)])


def test_a_server_that_only_may_be_read_is_read(canned):
    """What is there is found; what comes is kept in memory, after one warning."""
    with valkeys.running() as server, shared(canned, server) as client:
        assert status(client, "ETH.0xa") == ("ok", "service")
        with server.asked() as asked:
            asked.replicaof("127.0.0.1", 9)  # a copy of a server that is not there
        canned.default = (200, {}, answer(wallet("0xb")))
        with pytest.warns(CacheWarning, match="can't be kept in the given RedisCache") as caught:
            assert status(client, "ETH.0xb") == ("ok", "service")
        assert status(client, "ETH.0xa", offline=True) == ("ok", "cache")
        assert status(client, "ETH.0xb", offline=True) == ("ok", "cache")
        assert len(caught) == 1


def test_a_server_that_is_gone_is_done_without(canned):
    """One warning, and answers are kept in memory."""
    with valkeys.running() as server, shared(canned, server) as client:
        server.kill()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert status(client, "ETH.0xa") == ("ok", "service")
            assert status(client, "ETH.0xa") == ("ok", "cache")
        assert ["kept in memory instead" in str(each.message) for each in caught] == [True]
        server.start()


def test_pickles_are_refused(canned, valkey):
    """Reading one runs what its writer wanted, and anyone on the network may write there."""
    with redis.Redis.from_url(valkey.url) as link:
        cache = RedisCache("answers", connection=link, serializer="pickle")
        with (
            pytest.raises(SettingsError, match="JSON serializer"),
            canned.client(cache=cache) as it,
        ):
            it.fetch("ETH.0xa")
