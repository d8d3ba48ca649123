"""Cached answers, on this machine or in a backend of the caller's."""

import itertools
import pickle
import sqlite3
import time
import warnings
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
import redis
from addresses import base58, whole
from requests_cache import BaseCache, FileCache, RedisCache, SQLiteCache
from requests_cache.serializers import SerializerPipeline, Stage

from walletframe.address.forms import WalletAddress
from walletframe.address.lists import parse_wallets
from walletframe.errors import CacheError, CacheWarning, SettingsError
from walletframe.settings.values import default_cache_path
from walletframe.transport import AnswerStore, CachedAnswer, cache_statistics, clear_cache

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
WALLETS = parse_wallets([f"ETH.{whole('AB')}", f"SOLANA.{base58('abC')}", "NEAR.alice.near"])
KEPT = CachedAnswer(b'{"x": "\xf0\x9f\x9a\x80"}\xff\x00', NOW)
OLDER = CachedAnswer(b"older", NOW - timedelta(microseconds=1))
SERVICE = "https://api.example/v1"
BACKENDS = {
    "file": lambda folder: folder / "new" / "a.sqlite",
    "memory": lambda _: "memory",
    "requests-cache, memory": lambda _: BaseCache(),
    "requests-cache, folder": lambda folder: FileCache(folder / "f", serializer="json"),
    "requests-cache, sqlite": lambda folder: SQLiteCache(folder / "s.sqlite", serializer="json"),
    "requests-cache, redis": None,
}


def many(count, size=20_000):
    """Return wallets and answers of some size, each a second younger than the one before."""
    return [
        (WalletAddress("ETH", f"0x{n:040x}"), CachedAnswer(b"x" * size, NOW + timedelta(0, n)))
        for n in range(count)
    ]


@pytest.mark.parametrize("backend", BACKENDS)
class TestContract:
    """Promises of every backend."""

    @pytest.fixture
    def chosen(self, backend, tmp_path, request):
        """Return a function that returns one of the backends, at each call."""
        if BACKENDS[backend] is not None:
            return lambda: BACKENDS[backend](tmp_path)
        link = redis.Redis.from_url(request.getfixturevalue("valkey").url)
        return lambda: RedisCache("walletframe", connection=link, serializer="json")

    @pytest.fixture
    def store(self, chosen):
        """Open a store in one of the backends."""
        choice = chosen()
        with AnswerStore(choice, SERVICE) as store:
            yield store
        if isinstance(choice, BaseCache):
            choice.close()

    def test_written_answers_are_read(self, store):
        """Bytes and times are exact, under any spelling of the wallet."""
        store.write_answers([(WALLETS[0], KEPT)])
        [lower_case] = parse_wallets(f"eth.{whole('ab')}")
        assert store.read_answers([lower_case, WALLETS[1]]) == {lower_case: KEPT}

    @pytest.mark.parametrize("clock", [timedelta(hours=-8), timedelta(hours=8)])
    def test_the_answer_to_the_latest_request_wins(self, store, clock):
        """In any order of writing, and at any time of the clock."""
        early, late = (store.sequence_now() for _ in range(2))
        older, newer = CachedAnswer(b"older", NOW, early), CachedAnswer(b"newer", NOW + clock, late)
        for first, second in ((older, newer), (newer, older)):
            store.write_answers([(WALLETS[0], first)])
            store.write_answers([(WALLETS[0], second)])
            assert store.read_answers(WALLETS) == {WALLETS[0]: newer}

    def test_an_answer_without_a_sequence_is_the_latest(self, store):
        """A hand-written entry has none."""
        for kept in (KEPT, OLDER):
            store.write_answers([(WALLETS[0], kept)])
            assert store.read_answers(WALLETS) == {WALLETS[0]: kept}

    def test_sequence_goes_on_for_another_store(self, store, chosen):
        """A later request of a second store wins over the first one's answers."""
        store.write_answers([(WALLETS[0], CachedAnswer(b"older", NOW, store.sequence_now()))])
        choice = store._store._backend if hasattr(store._store, "_backend") else chosen()
        with AnswerStore(choice, SERVICE) as other:
            other.read_answers(WALLETS)
            other.write_answers([(WALLETS[0], CachedAnswer(b"newer", NOW, other.sequence_now()))])
            assert store.read_answers(WALLETS) == {WALLETS[0]: CachedAnswer(b"newer", NOW)}

    def test_many_are_written_and_read_at_once(self, store):
        """More than one statement can name, from an iterator, in the requested order."""
        answers = many(501, size=10)
        store.write_answers(iter(answers))
        assert list(store.read_answers(wallet for wallet, _ in answers).items()) == answers

    def test_no_answers_are_no_error(self, store):
        """Writing and reading none does nothing."""
        store.write_answers([])
        assert store.read_answers([]) == {}

    def test_services_do_not_see_each_other(self, chosen):
        """The same wallet of another service is another answer."""
        choice = chosen()
        with AnswerStore(choice, "one") as one, AnswerStore(choice, "two") as two:
            one.write_answers([(WALLETS[0], KEPT)])
            assert two.read_answers(WALLETS) == {}
        if isinstance(choice, BaseCache):
            choice.close()


def test_a_file_outlives_its_store(tmp_path):
    """One process finds another's answers."""
    path = tmp_path / "a ?#%41.sqlite"
    for wallet in WALLETS:
        with AnswerStore(path, "s") as store:
            store.write_answers([(wallet, KEPT)])
    with AnswerStore(path, "s") as store:
        assert store.read_answers(WALLETS) == dict.fromkeys(WALLETS, KEPT)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_rows_are_plain(tmp_path):
    """Any SQLite tool can read them: a readable key, a time, and the body as it was sent."""
    with AnswerStore(tmp_path / "a.sqlite", SERVICE) as store:
        store.write_answers([(WALLETS[0], KEPT)])
    link = sqlite3.connect(tmp_path / "a.sqlite")
    rows = link.execute("SELECT key, fetched_at, body FROM answers").fetchall()
    link.close()
    assert rows == [(f"{SERVICE} ETH.{whole('ab')}", "2026-01-02T03:04:05.678901+00:00", KEPT.body)]


DAMAGES = [
    "fetched_at = 'then'",
    "fetched_at = '2025-01-02T03:04:05.678901+00:00'",
    "fetched_at = CAST(x'ff' AS TEXT)",
    "body = 'text'",
    "body = x'7b7d'",
    "turn = 1000000",
    "turn = 'x'",
    "checksum = checksum + 1",
    "checksum = NULL",
    f"key = 's SOLANA.{base58('abC')}'",
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_row_is_not_there(tmp_path, damage):
    """With any damage; the next answer replaces it."""
    path = tmp_path / "a.sqlite"
    with AnswerStore(path, "s") as store:
        store.write_answers(
            (wallet, CachedAnswer(b"{}", NOW)) for wallet in (WALLETS[0], WALLETS[2])
        )
        store.write_answers([(WALLETS[0], KEPT)])
        with closing(sqlite3.connect(path)) as link, link:
            link.execute(f"UPDATE answers SET {damage} WHERE key = 's ETH.{whole('ab')}'")
        assert list(store.read_answers(WALLETS)) == [WALLETS[2]]
        for wallet in WALLETS:
            store.write_answers([(wallet, CachedAnswer(b"anew", NOW, store.sequence_now()))])
        assert store.read_answers(WALLETS) == dict.fromkeys(WALLETS, CachedAnswer(b"anew", NOW))


def test_a_flipped_bit_changes_no_answer(tmp_path):
    """Anywhere in the file: an answer is read as written, or not at all."""
    path, whole, seen = tmp_path / "a.sqlite", answers_of_three(tmp_path), set()
    rng = np.random.default_rng(1)
    for _ in range(120):
        place, bit = rng.integers(len(whole)), 1 << rng.integers(8)
        path.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CacheWarning)
            with AnswerStore(path, "s") as store:
                result = store.read_answers(WALLETS)
                for wallet in WALLETS * 2:  # the first time, the file may be moved aside
                    store.write_answers(
                        [(wallet, CachedAnswer(b"anew", NOW, store.sequence_now()))]
                    )
                assert store.read_answers(WALLETS) == dict.fromkeys(
                    WALLETS, CachedAnswer(b"anew", NOW)
                )
        assert set(result.values()) <= {KEPT}
        seen.add(len(result))
        for file in tmp_path.iterdir():
            file.unlink()
    assert {2, 3} <= seen


def answers_of_three(folder):
    """Return a file of three answers, of pages so small that most bits of it matter."""
    path = folder / "small.sqlite"
    with closing(sqlite3.connect(path)) as link:
        link.execute("PRAGMA page_size = 512")
        link.execute("VACUUM")
    with AnswerStore(path, "s") as store:
        store.write_answers((wallet, KEPT) for wallet in WALLETS)
    whole = path.read_bytes()
    path.unlink()
    return whole


@pytest.mark.parametrize("damage", ["headers", "content"])
def test_a_borrowed_backend_is_checked_too(damage):
    """A damaged entry is not there, and the next answer replaces it."""
    backend = BaseCache()
    with AnswerStore(backend, "s") as store:
        store.write_answers([(WALLETS[0], KEPT)])
        response = backend.responses[f"s ETH.{whole('ab')}"]
        if damage == "headers":
            response.headers["walletframe-turn"] = "x"
        else:
            response._content = b"else"
        backend.responses[f"s ETH.{whole('ab')}"] = response
        assert store.read_answers(WALLETS) == {}
        store.write_answers([(WALLETS[0], KEPT)])
        assert store.read_answers(WALLETS) == {WALLETS[0]: KEPT}


@pytest.mark.parametrize("restarted", [True, False])
def test_later_requests_win_after_a_restart(tmp_path, monkeypatch, restarted):
    """The machine's clock restarts at zero; the wall clock may be any time."""
    path, before = tmp_path / "a.sqlite", time.monotonic_ns()
    with AnswerStore(path, "s") as store:
        store.write_answers([(WALLETS[0], KEPT)])
    if restarted:
        monkeypatch.setattr(time, "monotonic_ns", itertools.count(7).__next__)
    with AnswerStore(path, "s") as one, AnswerStore(path, "s") as other:
        early, late = one.sequence_now(), other.sequence_now()
        assert before < early < late
        one.write_answers([(WALLETS[0], CachedAnswer(b"late", NOW, late))])
        other.write_answers([(WALLETS[0], CachedAnswer(b"early", NOW, early))])
        assert one.read_answers(WALLETS) == {WALLETS[0]: CachedAnswer(b"late", NOW)}


def test_a_clock_that_is_ahead_is_read_with_the_answers(tmp_path):
    """Another machine, whose clock is older, may have opened the file meanwhile."""
    path = tmp_path / "a.sqlite"
    with AnswerStore(path, "s") as store:
        with closing(sqlite3.connect(path)) as file, file:
            file.execute("UPDATE clock SET ahead = ?", (10**15,))
        before = store.sequence_now()
        store.read_answers(WALLETS)
        assert store.sequence_now() - before >= 10**15


def test_false_caches_nothing():
    """Silently."""
    with AnswerStore(False, "s") as store:  # noqa: FBT003 - the setting's own value
        store.write_answers([(WALLETS[0], KEPT)])
        assert store.read_answers(WALLETS) == {}


def test_default_is_in_the_users_cache_folder(home):
    """Without a setting the file is in the platform's folder for caches."""
    with AnswerStore(None, "s") as store:
        store.write_answers([(WALLETS[0], KEPT)])
    assert default_cache_path().is_relative_to(home)
    assert cache_statistics(default_cache_path()).answers == {"s": 1}


def test_other_objects_are_refused():
    """The error lists the possible values."""
    with pytest.raises(SettingsError, match="requests-cache backend"):
        AnswerStore(object(), "s")


@pytest.mark.parametrize(
    "serializer",
    ["pickle", pickle, Stage(pickle), SerializerPipeline([Stage(pickle)])],
    ids=["name", "module", "stage", "pipeline"],
)
def test_pickles_are_refused(tmp_path, serializer):
    """For any spelling of the serializer: reading a pickle runs code of its writer."""
    backend = FileCache(tmp_path / "f", serializer=serializer)
    with pytest.raises(SettingsError, match="JSON serializer"):
        AnswerStore(backend, "s")
    backend.close()


def test_a_backends_default_of_pickle_is_refused(tmp_path):
    """Without a chosen serializer it would write pickles."""
    backend = SQLiteCache(tmp_path / "s.sqlite")
    with pytest.raises(SettingsError, match="pickle"):
        AnswerStore(backend, "s")
    backend.close()


def test_the_oldest_are_removed(tmp_path):
    """Beyond the limit the newest stay, and a larger file shrinks."""
    path, limit, answers = tmp_path / "a.sqlite", 1_000_000, many(200)
    numbered = [(wallet, replace(kept, sequence=n)) for n, (wallet, kept) in enumerate(answers, 1)]
    with AnswerStore(path, "s") as store:
        store.write_answers(reversed(numbered))
    assert path.stat().st_size > 4_000_000
    with AnswerStore(path, "s", max_bytes=limit) as store:
        store.write_answers([(WALLETS[0], CachedAnswer(b"new", NOW + timedelta(1)))])
        kept = store.read_answers([*WALLETS, *(wallet for wallet, _ in answers)])
        assert list(kept) == [WALLETS[0], *(wallet for wallet, _ in answers[-len(kept) + 1 :])]
        assert 30 <= len(kept) <= 50
    assert path.stat().st_size <= limit * 1.2


def test_a_limit_too_small_for_any_answer_keeps_none(tmp_path):
    """There is no error and no endless loop."""
    with AnswerStore(tmp_path / "a.sqlite", "s", max_bytes=1) as store:
        store.write_answers([(WALLETS[0], KEPT)])
        assert store.read_answers(WALLETS) == {}


def test_describe_counts_by_service(tmp_path):
    """Each service's answers are counted, names with spaces included, with the ends in time."""
    path = tmp_path / "a.sqlite"
    for service, count, kept in (("one", 3, KEPT), ("the other", 1, OLDER)):
        with AnswerStore(path, service) as store:
            store.write_answers((wallet, kept) for wallet in WALLETS[:count])
    facts = cache_statistics(path)
    assert facts.answers == {"one": 3, "the other": 1}
    assert (facts.oldest, facts.newest) == (OLDER.fetched_at, NOW)
    assert facts.size_bytes == path.stat().st_size
    with closing(sqlite3.connect(path)) as link, link:
        link.execute("UPDATE answers SET fetched_at = CAST(x'ff' AS TEXT) WHERE key LIKE 'one%'")
    facts = cache_statistics(path)
    assert (facts.answers, facts.newest) == ({"one": 3, "the other": 1}, None)


def test_clear_deletes_everything_and_shrinks_the_file(tmp_path):
    """It returns the number of answers, also while the file is in use."""
    path = tmp_path / "a.sqlite"
    with AnswerStore(path, "s") as store:
        store.write_answers(many(100))
        assert cache_statistics(path).size_bytes > 2_000_000
        assert (clear_cache(path), clear_cache(path)) == (100, 0)
        assert cache_statistics(path).size_bytes < 100_000
        store.write_answers([(WALLETS[0], KEPT)])
        assert store.read_answers(WALLETS) == {WALLETS[0]: KEPT}
    assert cache_statistics(path).answers == {"s": 1}


@pytest.mark.parametrize("content", [None, b""])
def test_describe_makes_no_file(tmp_path, content):
    """A missing or empty file is neither made nor an error."""
    path = tmp_path / "none.sqlite"
    if content is not None:
        path.write_bytes(content)
    before = list(tmp_path.iterdir())
    facts = cache_statistics(path)
    assert (facts.answers, facts.oldest, clear_cache(path)) == ({}, None, 0)
    assert list(tmp_path.iterdir()) == before


def test_describing_another_file_is_an_error(tmp_path):
    """Garbage, a folder, and a later version's file are named, with a hint, and unchanged."""
    later = tmp_path / "later"
    link = sqlite3.connect(later)
    link.execute("PRAGMA user_version = 99")
    link.close()
    (tmp_path / "garbage").write_bytes(b"garbage " * 1_000)
    for path in (later, tmp_path / "garbage", tmp_path):
        for look in (cache_statistics, clear_cache):
            with pytest.raises(CacheError, match="Hint: ") as caught:
                look(path)
            assert str(path) in str(caught.value)


def test_a_later_releases_file_is_left_alone(tmp_path):
    """One warning, and answers are kept in memory."""
    path = tmp_path / "later"
    link = sqlite3.connect(path)
    link.execute("PRAGMA user_version = 99")
    link.close()
    before = path.read_bytes()
    with pytest.warns(CacheWarning, match="later version"):
        store = AnswerStore(path, "s")
    store.write_answers([(WALLETS[0], KEPT)])
    assert store.read_answers(WALLETS) == {WALLETS[0]: KEPT}
    store.close()
    assert path.read_bytes() == before
