"""The rate of requests: the pure state, and the limiter that threads and processes share."""

import gc
import hashlib
import json
import os
import sqlite3
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from pathlib import Path
from threading import Barrier, Event, Thread

import pytest
from addresses import A, B, C
from canned_service import answer, wallet
from permit_takers import KEY, Takers, count_permits, limiter_at, permit_comes
from small_disk import mounted, remount

from walletframe.bulk.run import fetch_to_parquet
from walletframe.errors import AnswerWarning, CacheWarning, TestKeyWarning
from walletframe.service import sandbox
from walletframe.transport.rate import (
    ASSUMED_PROCESSES,
    MIN_RATE,
    RATE_FILE_SPEC,
    START_RATE,
    RateState,
    count_answers,
    divide_rate,
    initial_state,
    next_permit_at,
    rate_file_path,
    restore_permits,
    slow_down,
    take_permit,
)
from walletframe.transport.session import parse_retry_after


def simulate(limit, wallets, latency_s=0.05, state=None):
    """Simulate a service that allows `limit` in any second; return seconds, refusals, the state."""
    state, now, served, refusals, replies = state or RateState(), 1000.0, [], 0, []
    while wallets or replies:
        ready = next_permit_at(state, now, 60)
        if replies and (not wallets or replies[0][0] <= ready):
            now, ok = replies.pop(0)
            state = count_answers(state, 1, now) if ok else slow_down(state, None, now)
            wallets, refusals = wallets + (not ok), refusals + (not ok)
            continue
        now, wallets = ready, wallets - 1
        state = take_permit(state, now)
        ok = len([each for each in served if each > now - 1]) < limit
        served += [now] * ok
        replies.append((now + latency_s, ok))
    return now - 1000, refusals, state


@pytest.mark.parametrize("limit", [10, 40, 100])
def test_hidden_limit_is_discovered_with_few_refusals(limit):
    """Most of the limit is used, with few refusals."""
    seconds, refusals, _ = simulate(limit, 25 * limit)
    assert seconds <= 1.3 * 25
    assert refusals <= 12


def test_known_rate_is_kept():
    """A configured rate is neither raised nor lowered."""
    seconds, refusals, state = simulate(
        1000, 200, state=RateState(rate=50, fixed=True, slow_start=False)
    )
    assert state.rate == 50
    assert refusals == 0
    assert seconds == pytest.approx(4, abs=0.2)
    assert slow_down(state, None, 1.0).rate == 50


def test_rate_rises_only_while_it_is_used():
    """A rate does not rise for a time in which it was not used."""
    state = RateState(rate=10, window_at=1.0, served=3)
    assert count_answers(state, 1, 2.5).rate == 10
    assert count_answers(RateState(rate=10, window_at=1.0, served=30), 1, 60.0).rate == 10


def test_refusals_of_one_burst_slow_down_once():
    """Requests that were under way at the first refusal do not halve the rate again."""
    state = slow_down(RateState(rate=80, served_before=40), None, 5.0)
    again = slow_down(slow_down(state, None, 5.1), 3.0, 5.2)
    assert (state.rate, again.rate) == (36, 36)
    assert again.paused_until == pytest.approx(8.2)


def test_late_refusals_do_not_lower_the_rate_to_zero():
    """With a pause of no length, or a slow service, they arrive after the pause."""
    state = RateState(rate=80, served_before=40)
    for late in range(16):
        state = slow_down(state, 0.0, 5.0 + late * 0.07)
        state = count_answers(state, 1, 5.01 + late * 0.07)
    assert state.rate == 36


def test_a_refused_first_request_halves_the_rate():
    """The limit is unknown; each further refusal halves it again."""
    once = slow_down(RateState(), None, 1000.0)
    again = slow_down(once, None, once.window_at + 1.5)
    assert (once.rate, again.rate) == pytest.approx((0.45 * START_RATE, 0.45**2 * START_RATE))


def test_a_low_rate_rises_again():
    """After an hour of refusals, the old rate is reached soon."""
    state, now = RateState(rate=MIN_RATE, slow_start=False, window_at=1000.0), 1000.0
    while state.rate < 1 and now < 1300:
        now += 1 / state.rate
        state = count_answers(state, 1, now)
    assert (state.rate >= 1, now < 1200) == (True, True)


def refused_for(seconds, state):
    """Refuse all requests for some seconds; return the state and the time then."""
    now = end = 1000.0
    end += seconds
    while (ready := next_permit_at(state, now, 60)) < end:
        now = ready + 0.05
        state = slow_down(take_permit(state, ready), None, now)
    return state, max(now, end)


@pytest.mark.parametrize("seconds", [2, 10, 60, 3600])
@pytest.mark.parametrize("rate", [START_RATE, 200.0])
def test_the_rate_recovers_soon_after_an_outage(seconds, rate):
    """After any time of refusals, 60 requests are answered within seconds."""
    state, now = refused_for(seconds, RateState(rate=rate))
    end = now + 15
    for _ in range(60):
        now = next_permit_at(state, now, 60)
        state = count_answers(take_permit(state, now), 1, now + 0.05)
    assert state.rate >= 0.9 * min(rate, START_RATE)
    assert now < end


def test_an_outage_is_probed_every_two_seconds():
    """Not more often and, even after hours, not less."""
    state, now = refused_for(3600, RateState())
    assert 1 <= next_permit_at(state, now, 60) - now + 2 <= 4


def test_an_old_rate_expires():
    """A discovered rate is dropped after five minutes, and a known rate stays."""
    slow = RateState(rate=MIN_RATE, slow_start=False, next_at=1000.0, rate_before=3.0)
    assert take_permit(slow, 1200.0).rate == MIN_RATE
    restarted = take_permit(slow, 1301.0)
    assert (restarted.rate, restarted.slow_start, restarted.rate_before) == (START_RATE, True, 0)
    assert take_permit(RateState(rate=0.01, fixed=True), 1e9).rate == 0.01
    assert take_permit(RateState(rate=300.0, slow_start=False), 1e9).rate == 300


def test_a_pause_holds_for_all():
    """No request is sent before the time that the service named."""
    assert next_permit_at(slow_down(RateState(), 30.0, 5.0), 6.0, 60) == 35.0


def test_rate_never_falls_to_zero():
    """A service that refuses everything still gets a request now and then."""
    state = RateState()
    for second in range(100):
        state = slow_down(state, 0.0, float(second))
    assert state.rate > 0


def date_in(seconds):
    """Return an HTTP date."""
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    "header, least, most",
    [
        ("5", 5, 5),
        ("1.5", 1.5, 1.5),
        ("-3", 0, 0),
        ("86400", 60, 60),
        ("inf", 60, 60),
    ],
)
def test_retry_after_is_read_and_capped(header, least, most):
    """Numbers and fractions, never longer than the settings allow."""
    assert least <= parse_retry_after(header, 60) <= most


@pytest.mark.parametrize("seconds, least, most", [(20, 15, 20), (-20, 0, 0), (9999, 60, 60)])
def test_retry_after_may_be_a_date(seconds, least, most):
    """The wait lasts until the date, never longer than the settings allow."""
    assert least <= parse_retry_after(date_in(seconds), 60) <= most


def test_retry_after_may_be_a_date_without_a_zone():
    """It is in UTC, as all dates of HTTP are."""
    assert 15 <= parse_retry_after(date_in(20).replace("GMT", "-0000"), 60) <= 20


@pytest.mark.parametrize("header", [None, "", "soon", "nan", "1,5", "2026-13-45"])
def test_nonsense_in_retry_after_is_ignored(header):
    """Without a readable wait, the rate limiter decides."""
    assert parse_retry_after(header, 60) is None


@pytest.mark.parametrize("shared", [True, False])
def test_threads_share_a_limiter(tmp_path, shared):
    """Several threads together keep the rate."""
    limiter = limiter_at(tmp_path / "p.pace" if shared else None, rate=50)
    counts, end = [], time.monotonic() + 1

    def take():
        while limiter.wait_for_permit(Event(), end):
            counts.append(1)

    threads = [Thread(target=take) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    limiter.close()
    assert 1 <= len(counts) <= 52


def test_a_process_takes_the_permits_of_20_ms_at_once(tmp_path, monkeypatch):
    """Each keeps its time; a refusal drops those that are left."""
    limiter = limiter_at(tmp_path / "p.pace", rate=1000)
    write, writes = limiter.database.write_in_transaction, []

    def counted(change):
        writes.append(change)
        return write(change)

    monkeypatch.setattr(limiter.database, "write_in_transaction", counted)
    begun = time.monotonic()
    assert all(permit_comes(limiter) for _ in range(120))
    assert time.monotonic() - begun >= 0.119
    assert len(writes) <= 10
    limiter.note_refusal(None)
    assert count_permits(limiter, 0.2) == 0
    limiter.close()


def test_a_refusal_drops_permits_that_another_thread_has_just_taken(tmp_path, monkeypatch):
    """The refusal comes after their transaction, and before the thread uses them."""
    limiter = limiter_at(tmp_path / "p.pace", rate=1000)
    write, is_first = limiter.database.write_in_transaction, iter([True])

    def write_then_refuse(change):
        state = write(change)
        if next(is_first, False):
            limiter.note_refusal(5.0)
        return state

    monkeypatch.setattr(limiter.database, "write_in_transaction", write_then_refuse)
    assert count_permits(limiter, 0.3) == 0
    limiter.close()


def test_processes_share_a_rate(tmp_path):
    """Two processes together keep the rate that one would."""
    takers = Takers(tmp_path / "p.pace", 2)
    takers.go(40, time.time() + 2)
    permits = takers.permits()
    assert all(permits)
    assert sum(map(len, permits)) <= 84


def test_files_created_at_the_same_moment_are_shared(tmp_path):
    """No limiter sends on its own, in addition to the others."""
    together = Barrier(4)

    def begin(number):
        together.wait()
        return limiter_at(tmp_path / f"p{number}.pace", rate=40)

    with ThreadPoolExecutor(4) as threads:
        for number in range(40):
            for limiter in threads.map(begin, [number] * 4):
                assert limiter.database._memory is None
                limiter.close()


def test_a_divided_rate():
    """A known rate is divided exactly, a discovered one no lower than the minimum."""
    known = divide_rate(RateState(200, fixed=True, paused_until=12.0), 16, 10.0)
    assert (known.rate, known.next_at, known.paused_until) == (12.5, 10.08, 12.0)
    result = divide_rate(RateState(0.2, rate_before=8.0), 16, 10.0)
    assert (result.rate, result.rate_before, result.slow_start) == (0.02, 0, True)


def test_returned_permits_are_for_others():
    """The next one is earlier by as much, but never in the past."""
    assert restore_permits(RateState(10, next_at=103.0), 5, 100.0).next_at == 102.5
    assert restore_permits(RateState(10, next_at=103.0), 50, 100.0).next_at == 100
    assert restore_permits(RateState(10, next_at=90.0), 0, 100.0).next_at == 90


def test_rate_is_remembered(tmp_path):
    """A later limiter continues an earlier one; another service or key starts at the beginning."""
    first = limiter_at(tmp_path / "p.pace")
    first.note_refusal(None)
    first.close()
    for service, key, known in (("s", KEY, True), ("t", KEY, False), ("s", ANOTHER, False)):
        limiter = limiter_at(tmp_path / "p.pace", service, key=key)
        assert (limiter.last_state.rate < START_RATE) is known
        limiter.close()


def test_a_file_does_not_reveal_a_key(tmp_path):
    """It has neither the key nor a digest by which a guessed key can be verified."""
    names = []
    for number in (1, 2):
        path = tmp_path / f"{number}.pace"
        limiter_at(path).close()
        with closing(sqlite3.connect(path)) as file:
            names += [name for (name,) in file.execute("SELECT key FROM paces")]
        content = path.read_bytes()
        digests = [
            getattr(hashlib.new(each, KEY.encode()), form)(*length)
            for each in sorted(hashlib.algorithms_guaranteed)
            for form in ("digest", "hexdigest")
            for length in ([[16]] if each.startswith("shake") else [[]])
        ]
        pieces = [each if isinstance(each, bytes) else each.encode() for each in digests]
        assert not any(piece[:8] in content for piece in [KEY.encode(), *pieces])
    assert len({*names}) == len(names) == 2


def test_a_test_key_is_used_slowly():
    """It begins at one a second and stays below two, at any limit of the service."""
    state = initial_state(None, is_test=True)
    assert state.rate == 1
    seconds, refusals, state = simulate(1000, 60, state=state)
    assert (60 / 2 <= seconds <= 60 / 1.5, refusals, state.rate <= 2) == (True, 0, True)
    assert take_permit(replace(state, rate=0.1, next_at=2000.0), 2301.0).rate == 1
    assert divide_rate(state, 4, 0.0).rate <= divide_rate(state, 4, 0.0).max_rate <= 2 / 4


def test_a_test_key_stays_below_the_limit_of_the_sandbox(tmp_path):
    """The sandbox allows two a second; a private key is as fast as ever after it."""
    rates = []
    with sandbox() as service, warnings.catch_warnings():
        warnings.simplefilter("ignore", TestKeyWarning)
        for kind in ("test", "private"):
            with service.client(kind, cache=tmp_path / "a") as client:
                client.fetch([f"ETH.0x{number:040x}" for number in range(5)], refresh=True)
                rates.append(client._limiter.last_state.rate)
    assert rates[0] <= 2 < START_RATE <= rates[1]


def test_the_last_kind_of_a_key_counts(tmp_path):
    """A rate discovered for a private key does not hold for a test key."""
    states = []
    for kind in ("private", "test", "private"):
        limiter = limiter_at(tmp_path / "p.pace", kind=kind)
        states.append(limiter.last_state)
        limiter.close()
    assert states[0].rate == START_RATE
    assert states[1].rate == states[1].max_rate == states[2].rate <= 2
    assert states[2].max_rate == states[0].max_rate


def test_a_configured_rate_holds_for_a_test_key_too(tmp_path):
    """Without it, the test key is slow again."""
    path = tmp_path / "p.pace"
    for rate, result in ((50, 50), (None, 1)):
        limiter = limiter_at(path, kind="test", rate=rate)
        assert limiter.last_state.rate == result
        limiter.close()


def test_a_configured_rate_is_forgotten_without_its_setting(tmp_path):
    """It is not mistaken for a discovered one."""
    limiter_at(tmp_path / "p.pace", rate=0.01).close()
    limiter = limiter_at(tmp_path / "p.pace")
    assert permit_comes(limiter)
    limiter.close()


ANOTHER = "a-key-of-nobody-2"


@pytest.mark.parametrize(
    "row, rate",
    [
        (b'{"rate": 4.5, "mood": "good", "fixed": false, "next_at": 9e18}', 4.5),
        (b'{"rate": 0}', START_RATE),
        (b'{"rate": -3}', START_RATE),
        (b'{"rate": 1e300}', START_RATE),
        (b'{"rate": NaN}', START_RATE),
        (b'{"rate": "fast"}', START_RATE),
        (b'{"rate": 4, "served": -1}', START_RATE),
        (b'{"rate": 4, "next_at": "soon"}', START_RATE),
        (b'{"rate": 4, "next_at": 1e300, "paused_until": 9e18}', 4),
        (b"[4]", START_RATE),
        (b'{"rate": 4', START_RATE),
        (b"\xff", START_RATE),
    ],
)
def test_a_damaged_row_is_read_or_replaced(canned, tmp_path, row, rate):
    """Unknown fields are ignored, and an impossible value harms no wallet."""
    path = tmp_path / "kept.sqlite"
    canned.default = (200, {}, answer(wallet()))
    for _ in range(2):
        with canned.client(cache=path) as client:
            assert client.fetch(f"ETH.{A}", refresh=True).wallets.status.item() == "ok"
            result = client._limiter.last_state.rate
        with closing(sqlite3.connect(rate_file_path(path))) as file, file:
            assert file.execute("UPDATE paces SET pace = CAST(? AS TEXT)", (row,)).rowcount == 1
    assert result == rate


class Watched(sqlite3.Connection):
    """A connection that reports that it was not closed, as Python does from 3.13 on."""

    left_open = ()

    def close(self):
        """Close it."""
        self.is_closed = True
        super().close()

    def __del__(self):
        if not getattr(self, "is_closed", False):
            Watched.left_open = (*Watched.left_open, self)


def open_files(path):
    """Return this process's open files whose names begin with a path."""
    targets = []
    for handle in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            targets.append(str(handle.readlink()))
    return [target for target in targets if target.startswith(str(path))]


@pytest.mark.parametrize("fault", [None, "garbage"])
def test_a_client_that_is_dropped_leaves_nothing_open(canned, tmp_path, monkeypatch, fault):
    """Neither the cache nor the rate limit file, and no other file."""
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Watched))
    monkeypatch.setattr(Watched, "left_open", ())
    canned.default = (200, {}, answer(wallet()))
    path = tmp_path / "kept.sqlite"
    if fault:
        rate_file_path(path).write_bytes(b"garbage" * 1000)
    client = canned.client(cache=path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        client.fetch(f"ETH.{A}")
    del client
    until = time.monotonic() + 10  # its threads end on their own
    while open_files(path) and time.monotonic() < until:
        gc.collect()
    assert open_files(path) == []
    assert Watched.left_open == ()


def test_a_service_that_always_refuses_is_given_up(canned, tmp_path, monkeypatch):
    """After one deadline the rest is not requested; after recovery, all is as fast as before."""
    monkeypatch.setattr(
        "walletframe.client.workers._PATIENCE_S", 1
    )  # the refusal's would be longer
    canned.default = (429, {}, b"slow down")
    wallets = [f"ETH.0x{number:0>40}" for number in range(1_000)]
    settings = {"cache": tmp_path / "kept.sqlite", "deadline_s": 2}
    with canned.client(**settings) as client:
        result = client.fetch(wallets, on_failure="ignore", progress=False).wallets
    assert set(result.status) == {"rate_limited"}
    gave_up = r"for 2 s, all answers were 429 \(too many requests\)"
    assert result.error.str.contains(gave_up).sum() > 900
    assert len(canned.paths) < 200
    canned.default = (200, {}, answer(wallet()))
    begun = time.monotonic()
    with canned.client(**settings) as client, warnings.catch_warnings():
        warnings.simplefilter("ignore", AnswerWarning)
        client.fetch([f"ETH.0xb{number:0>39}" for number in range(60)], on_failure="ignore")
    assert time.monotonic() - begun < 60  # at the least rate it would be four minutes


def test_a_late_answer_revives_nothing(canned, tmp_path, monkeypatch):
    """After giving up, requests under way count, and a later wallet is not requested."""
    monkeypatch.setattr("walletframe.client.workers._PATIENCE_S", 0.5)
    canned.add_reply([b" "] * 25 + [answer(wallet(A))])  # takes 2.5 s
    canned.default = (429, {}, b"slow down")
    answered_at = time.monotonic() + 4

    def stream():
        yield f"ETH.{A}"
        time.sleep(0.3)  # then both are requested, as a batch that was slow to arrive
        yield f"ETH.{B}"
        time.sleep(max(0.0, answered_at - time.monotonic()))
        yield f"ETH.{C}"

    with canned.client(workers=2) as client:
        result = fetch_to_parquet(stream(), tmp_path / "f", client=client, on_failure="ignore")
    assert result.statuses == {"ok": 1, "rate_limited": 2}
    assert len(canned.paths) == 2


def test_a_requested_pause_is_waited_out(canned):
    """It may exceed the deadline: nothing is given up before its end."""
    canned.add_reply(b"", 429, Retry_After="1")
    canned.default = (200, {}, answer(wallet(A), wallet(B)))
    with canned.client(workers=1) as client, warnings.catch_warnings():
        warnings.simplefilter("ignore", AnswerWarning)
        result = client.fetch([f"ETH.{A}", f"ETH.{B}"], on_failure="ignore").wallets
    assert result.status.tolist() == ["rate_limited", "ok"]


def test_waiting_ends_if_it_is_cancelled_or_too_late(tmp_path):
    """Neither a slow rate nor a pause delays a cancellation."""
    limiter = limiter_at(None, rate=0.01)
    cancel = Event()
    assert limiter.wait_for_permit(cancel, time.monotonic() + 1)
    begun = time.monotonic()
    assert not limiter.wait_for_permit(cancel, time.monotonic() + 0.2)
    cancel.set()
    assert not limiter.wait_for_permit(cancel, time.monotonic() + 60)
    assert time.monotonic() - begun < 30


def stored(path):
    """Return the rates in a file, by service, of one key."""
    with closing(sqlite3.connect(path)) as file:
        rows = file.execute("SELECT service, pace FROM paces").fetchall()
    return {service: json.loads(state)["rate"] for service, state in rows}


TABLES = {
    "a later release": "PRAGMA user_version = 99",
    "another program": "CREATE TABLE paces (id INTEGER)",
}


@pytest.mark.parametrize("fault", ["folder", *TABLES])
def test_an_unusable_file_is_left_alone(tmp_path, fault):
    """There is one warning, and the rate is not shared; the file is unchanged."""
    path = tmp_path / "p.pace"
    if fault == "folder":
        path.mkdir()
    else:
        with closing(sqlite3.connect(path)) as file, file:
            file.execute(TABLES[fault])
    with pytest.warns(CacheWarning, match="not shared") as caught:
        limiter = limiter_at(path, rate=100)
    assert permit_comes(limiter)
    assert permit_comes(limiter)
    limiter.close()
    assert (len(caught), [each.name for each in tmp_path.iterdir()]) == (1, ["p.pace"])
    if fault != "folder":
        with closing(sqlite3.connect(path)) as file:
            assert "service" not in str(file.execute("SELECT sql FROM sqlite_schema").fetchall())


def test_a_read_only_file_is_not_used(tmp_path):
    """There is one warning at the first step, and the rate is not shared."""
    with mounted(tmp_path / "m", "size=8m") as folder:
        limiter_at(folder / "p.pace").close()
        remount(folder, "ro")
        with pytest.warns(CacheWarning, match="not shared.*readonly") as caught:
            limiter = limiter_at(folder / "p.pace")
        assert (permit_comes(limiter), len(caught)) == (True, 1)
        limiter.close()


def test_a_broken_file_is_renamed_and_the_rate_continues(tmp_path):
    """There is one warning with its name, and a new file, as private, that is shared."""
    path, aside = tmp_path / "p.pace", tmp_path / "p.pace.broken-1"
    path.write_bytes(b"garbage" * 1000)
    with pytest.warns(CacheWarning, match=f"rate limit file .*{aside}") as caught:
        limiter = limiter_at(path)
    limiter.note_refusal(None)
    limiter.close()
    assert (len(caught), aside.read_bytes()) == (1, b"garbage" * 1000)
    assert stored(path)["s"] < START_RATE
    assert oct(path.stat().st_mode & 0o777) == "0o600"


@pytest.mark.parametrize("fault", ["gone", "garbage", "no table"])
def test_a_discovered_rate_survives_the_loss_of_its_file(tmp_path, fault):
    """The rate continues, and does not start again."""
    path = tmp_path / "p.pace"
    limiter = limiter_at(path)
    limiter.note_refusal(None)
    rate = limiter.last_state.rate
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        if fault == "no table":
            with closing(sqlite3.connect(path)) as file, file:
                file.execute("DROP TABLE paces")
        else:
            limiter.database.close()
            path.unlink()
            path.write_bytes(b"garbage" * 1000) if fault == "garbage" else None
        limiter.note_refusal(None)
    assert limiter.last_state.rate <= rate < START_RATE
    limiter.close()
    if fault != "no table":
        assert stored(path) == {"s": limiter.last_state.rate}


@contextmanager
def locked_limiter(monkeypatch, path, rate):
    """Yield a limiter that waits 0.3 seconds for its file, which another connection locks."""
    monkeypatch.setattr(
        "walletframe.transport.rate.RATE_FILE_SPEC", RATE_FILE_SPEC._replace(lock_timeout_s=0.3)
    )
    limiter = limiter_at(path, rate=rate)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield limiter


def test_a_lasting_lock_is_awaited_and_then_skipped(tmp_path, monkeypatch):
    """There is one warning, and the file is not awaited again."""
    with locked_limiter(monkeypatch, tmp_path / "p.pace", rate=100) as limiter:
        with pytest.warns(CacheWarning, match="not shared.*locked") as caught:
            assert all(permit_comes(limiter) for _ in range(2))
        assert len(caught) == 1
    assert limiter.last_state.rate == 100 / ASSUMED_PROCESSES  # others are there: not the full rate
    limiter.close()


def test_a_lock_while_permits_are_taken_divides_the_first_of_them(tmp_path, monkeypatch):
    """All processes that wait for the file take permits at the same moment."""
    with (
        locked_limiter(monkeypatch, tmp_path / "p.pace", rate=1000) as limiter,
        pytest.warns(CacheWarning, match="not shared.*locked"),
    ):
        assert permit_comes(limiter)
    assert count_permits(limiter, 0.1) <= 10
    limiter.close()


def test_waiting_for_the_file_stores_no_old_time(tmp_path):
    """A refusal has the time of its writing: the times of a state only increase."""
    path = tmp_path / "p.pace"
    limiter = limiter_at(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        thread = Thread(target=limiter.note_refusal, args=(5.0,))
        thread.start()
        time.sleep(0.5)
        released = time.time()
        other.execute("COMMIT")
        thread.join()
    assert limiter.last_state.paused_until >= released + 5
    limiter.close()


def test_a_late_refusal_opens_no_file(tmp_path):
    """A thread may report a refusal after the end."""
    limiter = limiter_at(tmp_path / "p.pace")
    limiter.close()
    before = stored(tmp_path / "p.pace")
    limiter.note_refusal(None)
    assert (open_files(tmp_path), stored(tmp_path / "p.pace")) == ([], before)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_shares_no_connection(tmp_path):
    """Parent and child share one state, each by a connection of its own."""
    path = tmp_path / "p.pace"
    limiter = limiter_at(path)
    child = os.fork()
    if child == 0:
        before = open_files(path)
        limiter.note_refusal(None)
        os._exit(7 if not before and limiter.database._memory is None else 8)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert stored(path)["s"] < START_RATE
    limiter.note_refusal(None)
    assert limiter.last_state.rate == stored(path)["s"] < START_RATE
    limiter.close()


def test_the_file_is_beside_the_cache(tmp_path):
    """There is a file for the rate only if the cache is a file."""
    assert rate_file_path(tmp_path / "a.sqlite") == tmp_path / "a.sqlite.pace"
    assert rate_file_path(None).name == "answers.sqlite.pace"
    assert rate_file_path("memory") is rate_file_path(False) is None  # noqa: FBT003 - the setting's value
