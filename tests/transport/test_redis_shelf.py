"""Answers in a real Valkey: how many a trip, how large, how long, and while it is gone."""

import math
import os
import pickle
import signal
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta

import pytest
import valkeys
from canned_service import answer, wallet

from walletframe.address import WalletAddress
from walletframe.client import Client
from walletframe.errors import CacheWarning, MissingExtraError
from walletframe.settings import ServerUrl
from walletframe.transport import AnswerStore, Kept

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
KEPT = Kept(b'{"x": "\xf0\x9f\x9a\x80"}\xff\x00', NOW)
WALLET = WalletAddress("ETH", "0xab")
NAME = "walletframe:answer:s ETH.0xab"
DAY_MS = 86_400_000


def many(count, size=20_000):
    """Return wallets and answers of some size, in the order of their turns."""
    return [
        (WalletAddress("ETH", f"0x{n:040x}"), Kept(b"%d " % n * (size // 5), NOW, n + 1))
        for n in range(count)
    ]


@contextmanager
def opened(server, **bounds):
    """Open a store of the service s."""
    with AnswerStore(ServerUrl(server.url), "s", **bounds) as store:
        yield store


def await_full_second():
    """Wait until servers that are gone are asked again."""
    time.sleep(1 - time.time() % 1 + 0.05)


def test_many_are_read_and_written_in_a_trip(valkey):
    """Not one by one, and packed: 18 kB of an answer are far fewer there."""
    answers = many(1000)
    with opened(valkey) as store, valkey.asked() as client:
        client.config_resetstat()
        store.write_many(answers)
        assert store.read(wallet for wallet, _ in answers) == dict(answers)
        calls = {name: each["calls"] for name, each in client.info("commandstats").items()}
        assert calls["cmdstat_mget"] == 4
        assert sum(calls.get(f"cmdstat_{name}", 0) for name in ("evalsha", "eval")) <= 5
        assert client.strlen(client.keys("walletframe:answer:*")[0]) < 2_000


def test_another_process_finds_them_by_a_pickled_client(canned, valkey):
    """The settings travel, and what one keeps the other has."""
    canned.default = (200, {}, answer(wallet()))
    with canned.client(cache=valkey.url) as client:
        client.fetch("ETH.0xa")
        code = "import pickle, sys; client = pickle.load(sys.stdin.buffer); print("
        code += "client.fetch('ETH.0xa', offline=True).wallets.source.item()); client.close()"
        sent = pickle.dumps(client)
    run = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, check=True)
    assert run.stdout.strip() == b"cache"


def test_the_oldest_give_way(valkey):
    """What is kept stays below the limit, whatever the order in which it came."""
    answers, limit = many(300, size=30_000), 100_000
    with opened(valkey, max_bytes=limit) as store, valkey.asked() as client:
        store.write_many(reversed(answers))
        kept = store.read([wallet for wallet, _ in answers])
        assert list(kept) == [wallet for wallet, _ in answers[-len(kept) :]]
        assert 50 <= len(kept) < 290
        assert int(client.get("walletframe:bytes")) <= limit
        taken = sum(client.memory_usage(key, samples=0) for key in client.keys("walletframe:*"))
        assert 0.5 * limit < taken <= 1.1 * limit
        assert client.zcard("walletframe:list") == client.hlen("walletframe:sizes") == len(kept)


def test_the_limit_holds_where_somebody_deleted_the_list(valkey):
    """Nothing is left that could give way: the count begins anew."""
    with opened(valkey, max_bytes=1_000_000) as store, valkey.asked() as client:
        store.write_many(many(10))
        client.delete("walletframe:list")
        client.set("walletframe:bytes", 2_000_000)
        store.write_many(many(20)[10:])
        assert client.exists("walletframe:bytes") == 0
        store.write(WALLET, KEPT)
        assert 0 < int(client.get("walletframe:bytes")) < 2_000


@pytest.mark.parametrize(
    "fresh_s, days", [(0.0, 30), (3600.0, 30), (60 * 86_400.0, 60), (math.inf, None)]
)
def test_answers_go_after_a_time(valkey, fresh_s, days):
    """After 30 days, or as long as they are fresh; where that is for ever, never."""
    with opened(valkey, fresh_s=fresh_s) as store, valkey.asked() as client:
        store.write(WALLET, KEPT)
        for name in (NAME, "walletframe:list", "walletframe:sizes", "walletframe:bytes"):
            left = client.pttl(name)
            assert left == -1 if days is None else (days - 1) * DAY_MS < left <= days * DAY_MS


@pytest.mark.parametrize("place", [0, 5, 20, 49, 53, -1, None])
def test_what_is_damaged_is_not_there(valkey, place):
    """Nor what is cut short; the next answer takes its place."""
    with opened(valkey) as store, valkey.asked() as client:
        store.write(WALLET, KEPT)
        whole = bytearray(client.get(NAME))
        if place is None:
            del whole[10:]
        else:
            whole[place] ^= 0x0C
        client.set(NAME, bytes(whole))
        assert store.read([WALLET]) == {}
        store.write(WALLET, Kept(b"anew", NOW, store.turn()))
        assert store.read([WALLET]) == {WALLET: Kept(b"anew", NOW)}


def test_what_stands_under_another_name_is_not_there(valkey):
    """As where somebody renamed a key."""
    with opened(valkey) as store, valkey.asked() as client:
        store.write(WalletAddress("ETH", "0xcd"), KEPT)
        client.rename("walletframe:answer:s ETH.0xcd", NAME)
        assert store.read([WALLET]) == {}


def test_turns_go_on_where_the_server_was_emptied(valkey):
    """They are the server's time, so what is asked then is later than all before."""
    with opened(valkey) as store, opened(valkey) as other, valkey.asked() as client:
        before = [store.turn(), other.turn(), store.turn()]
        client.flushall()
        after = [other.turn(), store.turn()]
    assert before + after == sorted({*before, *after})
    assert before[0] == pytest.approx(time.time() * 1e6, abs=60e6)


def test_a_server_that_is_gone_is_done_without_until_it_is_back():
    """One warning, and memory; then it is asked again, and what is in memory is still there."""
    later = WalletAddress("ETH", "0xcd")
    with valkeys.running() as server, opened(server) as store:
        store.write(WALLET, KEPT)
        server.kill()
        with pytest.warns(CacheWarning, match="kept in memory instead") as told:
            assert store.read([WALLET]) == {}
        assert ServerUrl(server.url).place in str(told[0].message)
        store.write(WALLET, Kept(b"meanwhile", NOW, store.turn()))
        assert store.read([WALLET]) == {WALLET: Kept(b"meanwhile", NOW)}
        server.start()
        await_full_second()
        store.write(later, Kept(b"back", NOW, store.turn()))
        assert len(store.read([WALLET, later])) == 2
        with server.asked() as client:
            assert client.exists("walletframe:answer:s ETH.0xcd")
        server.kill()
        assert store.read([WALLET, later]) == {WALLET: Kept(b"meanwhile", NOW)}
        assert len(told) == 1
        server.start()


def test_a_server_that_was_gone_for_one_read_is_read_again():
    """It comes back with what it had, and what was kept there is found."""
    with valkeys.running() as server, opened(server) as store:
        store.write(WALLET, KEPT)
        server.signal(signal.SIGSTOP)
        begun = time.monotonic()
        with pytest.warns(CacheWarning, match="no answer within 2 s"):
            assert store.read([WALLET]) == {}
        assert store.read([WALLET]) == {}  # at once
        assert time.monotonic() - begun < 30
        server.signal(signal.SIGCONT)
        until = time.monotonic() + 30
        while not store.read([WALLET]) and time.monotonic() < until:
            await_full_second()
        assert store.read([WALLET]) == {WALLET: KEPT}


def test_a_connection_that_was_cut_while_it_was_idle_is_made_anew(valkey):
    """As servers and firewalls do: no warning, nothing lost."""
    with opened(valkey) as store, valkey.asked() as client:
        store.write(WALLET, KEPT)
        client.client_kill_filter(_type="normal", skipme=True)
        assert store.read([WALLET]) == {WALLET: KEPT}


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_takes_no_connection_along(valkey):
    """Parent and child go on with one cache, each by a connection of its own."""
    with opened(valkey) as store:
        store.write(WALLET, KEPT)
        with store._shelf._lock:  # as another thread of the parent may hold it
            child = os.fork()
            if child == 0:
                store.write(WALLET, Kept(b"the child's", NOW, store.turn()))
                os._exit(7 if store.read([WALLET])[WALLET].body == b"the child's" else 8)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert store.read([WALLET])[WALLET].body == b"the child's"


def test_a_password_is_needed_and_given():
    """By TCP and by a socket; a wrong one is one warning, and memory."""
    with valkeys.running("p@ss/w:rd?#%41 ü") as server:
        for url in (server.url, server.socket_url):
            with AnswerStore(ServerUrl(url), "s") as store:
                store.write(WALLET, KEPT)
        wrong = ServerUrl(server.url.replace(":p", ":q"))
        with pytest.warns(CacheWarning, match="refuses the login") as told:
            store = AnswerStore(wrong, "s")
        with closing(store):
            assert store.read([WALLET]) == {}
        with server.asked() as client:
            rights = {"enabled": True, "keys": ["walletframe:*"], "commands": ["+@all"]}
            client.acl_setuser("ann", passwords=["+s@cret"], **rights)
        named = ServerUrl(server.url.replace(server.login, "ann:s%40cret@"))
        with AnswerStore(named, "s") as store:
            assert (len(told), store.read([WALLET])) == (1, {WALLET: KEPT})


def test_a_server_that_refuses_commands_is_done_without(valkey):
    """As one that is full: one warning, memory, and nothing lost."""
    with opened(valkey) as store, valkey.asked() as client:
        client.set("walletframe:list", "no list")
        with pytest.warns(CacheWarning, match="refuses a command"):
            store.write(WALLET, KEPT)
        assert store.read([WALLET]) == {WALLET: KEPT}


def test_the_extra_is_named_where_it_is_missing(monkeypatch, valkey):
    """Without redis-py the error says what to install."""
    for name in [name for name in sys.modules if name.startswith("walletframe.transport.redis")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(MissingExtraError, match=r"walletframe\[redis\]"):
        Client(cache=valkey.url, service="s").fetch("ETH.0xa", offline=True)


def test_what_was_kept_is_sent_later_and_served_stale(canned, valkey):
    """All that a client does with a file it does with a server."""
    canned.default = (200, {}, answer(wallet()))
    settings = {"cache": valkey.url, "expire_after_s": 0, "deadline_s": 0}
    with canned.client(**settings) as client:
        assert client.fetch("ETH.0xa").wallets.source.item() == "service"
        canned.default = (500, {}, b"")
        stale = client.fetch("ETH.0xa", on_failure="ignore").wallets
    assert stale.source.item() == "stale"
    assert datetime.now(UTC) - stale.fetched_at.item().to_pydatetime() < timedelta(minutes=5)
