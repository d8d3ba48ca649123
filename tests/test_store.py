"""Answers that are kept on this machine."""

from datetime import UTC, datetime

import pytest
from requests_cache import BaseCache, FileCache

from walletframe.address import parse_wallets
from walletframe.errors import CacheWarning, SettingsError
from walletframe.transport import AnswerStore, Kept, clear, default_path, describe

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
WALLETS = parse_wallets(["ETH.0xAB", "SOLANA.abC", "NEAR.alice.near"])
KEPT = Kept(b'{"x": "\xf0\x9f\x9a\x80"}\xff\x00', NOW)


@pytest.fixture(params=["file", "memory", "backend"])
def choice(request, tmp_path):
    """Give each way to keep answers."""
    return {"file": tmp_path / "new" / "a.sqlite", "memory": "memory", "backend": BaseCache()}[
        request.param
    ]


def test_what_is_written_is_read(choice):
    """Bytes and times come back exactly, under any spelling of the wallet."""
    with AnswerStore(choice, "s") as store:
        store.write(WALLETS[0], KEPT)
        [spelled] = parse_wallets("eth.0xab")
        assert store.read([spelled, WALLETS[1]]) == {spelled: KEPT}


def test_newer_answers_replace_older_ones(choice):
    """The last one written is the one that is read."""
    with AnswerStore(choice, "s") as store:
        store.write(WALLETS[0], Kept(b"old", NOW))
        store.write(WALLETS[0], KEPT)
        assert store.read(WALLETS) == {WALLETS[0]: KEPT}


def test_a_file_outlives_its_store(tmp_path):
    """What one process keeps, another finds."""
    path = tmp_path / "a.sqlite"
    for wallet in WALLETS:
        with AnswerStore(path, "s") as store:
            store.write(wallet, KEPT)
    with AnswerStore(path, "s") as store:
        assert store.read(WALLETS) == dict.fromkeys(WALLETS, KEPT)


def test_nothing_is_kept_where_that_is_chosen():
    """False keeps nothing, silently."""
    with AnswerStore(False, "s") as store:  # noqa: FBT003 - the setting's own value
        store.write(WALLETS[0], KEPT)
        assert store.read(WALLETS) == {}


def test_default_is_in_the_users_cache_folder(home):
    """Without a choice the file is where the platform keeps such things."""
    with AnswerStore(None, "s") as store:
        store.write(WALLETS[0], KEPT)
    assert default_path().is_relative_to(home)
    assert describe(default_path()).answers == {"s": 1}


def test_a_backend_of_the_users_is_used(tmp_path):
    """Any requests-cache backend will do."""
    backend = FileCache(tmp_path / "folder", serializer="json")
    with AnswerStore(backend, "s") as store:
        store.write(WALLETS[0], Kept(b"{}", NOW))
        assert store.read(WALLETS) == {WALLETS[0]: Kept(b"{}", NOW)}


def test_what_keeps_no_answers_is_refused():
    """Another object is an error that says what will do."""
    with pytest.raises(SettingsError, match="requests-cache backend"):
        AnswerStore(object(), "s")


def test_a_place_that_can_not_be_written_falls_back_to_memory(tmp_path):
    """A folder in the way gives one warning, and answers are kept in memory."""
    with pytest.warns(CacheWarning, match="in memory"):
        store = AnswerStore(tmp_path, "s")
    store.write(WALLETS[0], KEPT)
    assert store.read(WALLETS) == {WALLETS[0]: KEPT}
    store.close()


def test_describe_counts_by_service(tmp_path):
    """Each service's answers are counted, names with spaces included."""
    path = tmp_path / "a.sqlite"
    for service, count in (("one", 3), ("the other", 1)):
        with AnswerStore(path, service) as store:
            for wallet in WALLETS[:count]:
                store.write(wallet, KEPT)
    facts = describe(path)
    assert facts.answers == {"one": 3, "the other": 1}
    assert facts.size_bytes == path.stat().st_size


def test_clear_forgets_everything(tmp_path):
    """Clearing says how many there were."""
    path = tmp_path / "a.sqlite"
    with AnswerStore(path, "s") as store:
        store.write(WALLETS[0], KEPT)
    assert (clear(path), clear(path)) == (1, 0)
    assert describe(path).answers == {}


def test_looking_makes_no_file(tmp_path):
    """A file that is not there is neither made nor an error."""
    path = tmp_path / "none.sqlite"
    assert (describe(path).answers, clear(path), path.exists()) == ({}, 0, False)
