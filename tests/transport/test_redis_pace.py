"""A pace in a real Valkey: one limit for all processes, and a part for each while it is gone."""

import json
import pickle
import time
import warnings
from contextlib import contextmanager
from threading import Event

import pytest
import valkeys
from canned_service import answer, wallet
from slot_takers import Takers, by_second, comes, taken

from walletframe.errors import CacheWarning
from walletframe.settings import ServerUrl, Settings
from walletframe.transport import Pacer
from walletframe.transport.pace import START_RATE, Pace, share
from walletframe.transport.pacer import pace_place
from walletframe.transport.slots import UNCOUNTED

PACE, PROCESSES = "walletframe:pace:s", "walletframe:processes:s"


@contextmanager
def opened(server, *, rate=None, processes=None, longest_s=60):
    """Open a pacer of the service s."""
    place = ServerUrl(server.url)
    pacer = Pacer(place, "s", rate=rate, longest_s=longest_s, processes=processes)
    try:
        yield pacer
    finally:
        pacer.close()


def take_until(pacer, rate):
    """Take slots until a pacer goes by a rate: a server that was gone is asked each second."""
    until = time.monotonic() + 60
    while pacer.slots.own.rate != rate and time.monotonic() < until:
        comes(pacer)
    assert pacer.slots.own.rate == rate


def stored(client):
    """Return the rate on the server."""
    return json.loads(client.hget(PACE, "pace"))["rate"]


def test_a_part_of_a_pace():
    """Of a known rate exactly, of a found one no less than the least, from the next slot on."""
    known = share(Pace(200, fixed=True, paused_until=12.0), 16, 10.0)
    assert (known.rate, known.next_at, known.paused_until) == (12.5, 10.08, 12.0)
    found = share(Pace(0.2, rate_before=8.0), 16, 10.0)
    assert (found.rate, found.rate_before, found.slow_start) == (0.02, 0, True)


def test_processes_share_a_pace_whatever_their_clocks_say(valkey):
    """All of them together as one would, with hardly more than a trip for each slot."""
    takers = Takers(valkey.url, 3, clocks_s=(0, 2, -3600))
    now = time.time()
    takers.go(60, now + 3.2)
    slots, trips = takers.slots()
    assert all(1 <= count <= 75 for count in by_second(slots, now + 1, now + 3))
    assert sum(map(len, slots)) <= 60 * 3.2 + 3
    assert trips / sum(map(len, slots)) < 2.5
    assert all(slots)


def test_what_one_finds_out_all_go_by(valkey):
    """A pause and a slower rate, and who comes later too; another service is another pace."""
    with opened(valkey) as one, opened(valkey) as other:
        assert comes(other)
        one.note_refusal(30)
        assert taken(other, 0.5) <= 1  # which it had taken before
        assert other.slots.own.rate < START_RATE
    with opened(valkey) as later, valkey.asked() as client:
        assert later.slots.own.rate == stored(client) < START_RATE
    pacer = Pacer(ServerUrl(valkey.url), "t", rate=None, longest_s=60)
    assert pacer.slots.own.rate == START_RATE
    pacer.close()


def test_answers_of_all_raise_the_rate(valkey):
    """It doubles as one process's does, by what all were answered."""
    with opened(valkey) as one, opened(valkey) as other:
        end = time.monotonic() + 30
        while one.slots.own.rate < 2 * START_RATE and time.monotonic() < end:
            for pacer in (one, other):
                pacer.wait(Event(), end)
                pacer.note_answer()
        assert one.slots.own.rate >= 2 * START_RATE


def test_a_given_rate_is_forgotten_when_it_is_no_longer_given(valkey):
    """What somebody knew once is not taken for what was found out."""
    with opened(valkey, rate=0.01), valkey.asked() as client:
        assert stored(client) == 0.01
    with opened(valkey) as pacer:
        assert comes(pacer)


def test_a_slot_that_is_far_off_is_not_taken(valkey):
    """Nobody waits for it, and it is there for whoever asks then."""
    with opened(valkey, rate=0.02) as one, opened(valkey, rate=0.02) as other:
        assert comes(one)
        assert taken(other, 0.3) == taken(one, 0.3) == 0


def test_a_pace_that_was_idle_is_begun_anew(valkey):
    """What was found out five minutes ago may be higher today; the next slot is to be had."""
    with opened(valkey) as pacer, valkey.asked() as client:
        for _ in range(3):
            pacer.note_refusal(0.3)
        fields = {"next_at": time.time() - 301, "paused_until": 0}
        before = json.loads(client.hget(PACE, "pace")) | {"paused_until": 0, "rate": 0.5}
        client.hset(PACE, mapping=fields | {"pace": json.dumps(before)})
        assert comes(pacer)
        assert stored(client) >= START_RATE


def test_a_clock_that_was_set_back_holds_up_nobody(valkey):
    """A time that is later than any pause can be is none."""
    with opened(valkey, longest_s=5) as pacer, valkey.asked() as client:
        client.hset(PACE, "next_at", time.time() + 86_400)
        assert comes(pacer)


@pytest.mark.parametrize("field", ["pace", "interval", "next_at", "paused_until", "tuned_at"])
def test_what_another_release_wrote_harms_nobody(valkey, field):
    """A value that can't be is found out anew."""
    with opened(valkey, rate=100) as pacer, valkey.asked() as client:
        client.hset(PACE, field, "soon")
        assert comes(pacer)
        assert comes(pacer)
        pacer.note_refusal(0.3)
    with opened(valkey, rate=100) as pacer:
        assert pacer.slots.own.rate == 100


def test_two_that_write_at_once_both_count(valkey):
    """Who was slower reads what the other wrote, and changes that."""
    with opened(valkey) as one, opened(valkey) as other:
        look = one.slots._look

        def late(redis):
            one.slots._look = look
            found = look(redis)
            other.note_refusal(9.0)
            return found

        one.slots._look = late
        one.note_refusal(0.3)
        assert one.slots.own.paused_until > time.time() + 5


def test_what_was_found_out_outlives_what_the_server_kept(valkey):
    """Where it was emptied the rate goes on from where it was."""
    with opened(valkey) as pacer, valkey.asked() as client:
        pacer.note_refusal(None)
        rate = pacer.slots.own.rate
        client.flushall()
        assert comes(pacer)
        assert stored(client) <= rate < START_RATE


def test_who_ends_is_counted_no_longer(valkey):
    """And who hears of a refusal after that changes nothing."""
    with opened(valkey, rate=100) as one, valkey.asked() as client:
        with opened(valkey, rate=100) as other:
            assert comes(one)
            assert comes(other)
            assert client.zcard(PROCESSES) == 2
        assert client.zcard(PROCESSES) == 1
        before = client.hgetall(PACE)
        other.note_refusal(5.0)
        assert client.hgetall(PACE) == before


@pytest.mark.parametrize("told, parts", [(None, 2), (4, 4)])
def test_each_keeps_to_its_part_while_the_server_is_gone(told, parts):
    """As they were counted, or told; they are told once, and come back together."""
    with valkeys.running() as server:
        with opened(server, rate=40, processes=told) as one, opened(server, rate=40) as other:
            assert all(comes(each) for each in (one, other, one))
            server.kill()
            with pytest.warns(CacheWarning, match="each process keeps to its part") as caught:
                assert comes(one)
            assert taken(one, 1) <= 40 / parts + 2
            assert (one.slots.own.rate, one.slots.own.fixed) == (40 / parts, True)
            server.start()
            take_until(one, 40)
            assert len(caught) == 1
            with server.asked() as client:
                assert stored(client) == 40
            server.kill()
            taken(one, 0.3)  # no second warning
        server.start()


@pytest.mark.parametrize("told, parts", [(None, UNCOUNTED), (4, 4)])
def test_who_begins_without_the_server_keeps_to_a_part_too(told, parts):
    """To that of as many as it is told, or, where nobody knows, of sixteen; then all are one."""
    with valkeys.running() as server:
        server.kill()
        with pytest.warns(CacheWarning, match="processes="):
            pacer = Pacer(ServerUrl(server.url), "s", rate=80, longest_s=60, processes=told)
        assert pacer.slots.own.rate == 80 / parts
        server.start()
        take_until(pacer, 80)
        pacer.close()


def test_a_pause_holds_where_the_server_goes_meanwhile(monkeypatch):
    """By the own clock, which may be another: nobody asks before its time."""
    monkeypatch.setattr(time, "time", lambda now=time.time: now() + 7200)
    with valkeys.running() as server, opened(server, rate=50) as pacer:
        pacer.note_refusal(30)
        server.kill()
        with pytest.warns(CacheWarning, match="can't be reached"):
            assert taken(pacer, 0.8) == 0
        assert 0 < pacer.slots.own.paused_until - time.time() < 30
        server.start()


def test_a_client_shares_the_pace_that_is_set_or_the_one_beside_its_cache(canned, valkey):
    """On the server of the answers, or on another; a pickled client too."""
    assert pace_place(None, ServerUrl("redis://h")) == ServerUrl("redis://h")
    assert pace_place(ServerUrl("redis://h"), None) == ServerUrl("redis://h")
    canned.default = (200, {}, answer(wallet()))
    place = f"walletframe:pace:{canned.base_url}"
    for given in ({"pace": valkey.url, "cache": "memory"}, {"cache": valkey.url}):
        with canned.client(**given) as client, valkey.asked() as asked:
            client.fetch("ETH.0xa", refresh=True)
            assert asked.exists(place)
            asked.delete(place)
    sent = pickle.dumps(Settings(pace=valkey.url, processes=3))
    assert pickle.loads(sent) == Settings(pace=valkey.url, processes=3)


def test_a_client_fetches_while_the_server_is_gone(canned):
    """A warning, not an error."""
    canned.default = (200, {}, answer(wallet()))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with canned.client(pace="redis://127.0.0.1:9", requests_per_second=100) as client:
            assert client.fetch("ETH.0xa").wallets.status.item() == "ok"
    assert ["can't be shared" in str(each.message) for each in warned] == [True]
