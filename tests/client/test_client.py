"""The engine: requests, cached answers and messages, over real sockets."""

import asyncio
import gc
import gzip
import pickle
import ssl
import sys
import time
import traceback
import warnings
from datetime import UTC, datetime, timedelta
from threading import Event, Thread, Timer
from threading import enumerate as enumerate_threads

import pytest
import trustme
from addresses import UPPER_A, A, B, base58
from canned_service import KEY, Canned, answer, balance, wallet
from requests_cache import BaseCache

import walletframe as wf
from walletframe.address.lists import parse_wallets
from walletframe.client import Client, append_reasons, configure, fetch_wallets
from walletframe.errors import (
    AddressError,
    AnswerWarning,
    CacheWarning,
    FetchError,
    FetchWarning,
    InputWarning,
    SettingsError,
)
from walletframe.service import SHOWCASE
from walletframe.transport import AnswerStore, CachedAnswer


def statuses(details):
    """Return the statuses in order."""
    return details.wallets["status"].tolist()


class Late(list):
    """A reply that is sent when a test releases it."""

    def __init__(self, body):
        super().__init__([body])
        self.requested, self.allowed = Event(), Event()

    def __iter__(self):
        self.requested.set()
        self.allowed.wait(10)
        return super().__iter__()


def test_showcase_is_complete(client):
    """Ordinary, failing, empty and null wallets have their rows, and only ok ones holdings."""
    wallets, holdings = client.fetch(SHOWCASE, on_failure="ignore")
    assert len(wallets) == len(SHOWCASE)
    assert set(wallets.status) == {"ok", "failed"}
    assert (wallets.tokens == 0).any()
    assert (wallets.tokens.isna() == (wallets.status == "failed")).all()
    held = holdings.groupby(["blockchain", "address"]).size()
    assert held.sum() == wallets.tokens.sum()
    failed = wallets.loc[wallets.status == "failed", "address"]
    assert not holdings.address.isin(failed).any()


def test_one_request_for_each_distinct_wallet(canned):
    """Spellings of one wallet cause one request; the frames have the first."""
    canned.default = (200, {}, answer(wallet(A), wallet(base58("b"), "SOLANA")))
    repeated = pytest.warns(InputWarning, match="found 2 wallets in 4 rows")
    with canned.client() as client, pytest.warns(AnswerWarning), repeated:
        details = client.fetch(
            [f"ETH.{UPPER_A}", f"SOLANA.{base58('b')}", f"eth.{A.upper()}", f"ETH.{A}"]
        )
    assert len(canned.paths) == 2
    assert details.wallets.address.tolist() == [UPPER_A, base58("b")]


def test_bad_addresses_send_nothing(canned):
    """One bad address among good ones stops the call before any request."""
    with canned.client() as client, pytest.raises(AddressError) as caught:
        client.fetch([f"ETH.{A}", "nonsense", "ETH."])
    assert [problem[0] for problem in caught.value.problems] == [1, 2]
    assert canned.paths == []


def test_no_wallets_send_nothing(canned):
    """An empty list returns both frames with their columns."""
    with canned.client() as client:
        wallets, holdings = client.fetch([])
    assert (len(wallets), len(holdings), canned.paths) == (0, 0, [])


def test_answers_are_cached(canned):
    """A second fetch sends no request, marks its source, and is equal otherwise."""
    canned.default = (200, {}, answer(wallet()))
    with canned.client() as client:
        first, second = client.fetch(f"ETH.{A}"), client.fetch(f"ETH.{A.upper()}")
    assert len(canned.paths) == 1
    assert (first.wallets.source.item(), second.wallets.source.item()) == ("service", "cache")
    assert first.wallets.fetched_at.item() == second.wallets.fetched_at.item()
    assert first.holdings.drop(columns="address").equals(second.holdings.drop(columns="address"))


@pytest.mark.parametrize(
    "body, status",
    [
        (answer(wallet(failed=True)), "failed"),
        (answer(wallet(balances=5)), "invalid"),
        (answer(), "missing"),
        (b"<html>", "invalid"),
    ],
)
def test_failures_are_not_cached(canned, body, status):
    """A second fetch requests them again, and repairs them."""
    canned.add_reply(body)
    canned.default = (200, {}, answer(wallet()))
    with canned.client() as client:
        first = client.fetch(f"ETH.{A}", on_failure="ignore")
        second = client.fetch(f"ETH.{A}")
    assert (statuses(first), statuses(second)) == ([status], ["ok"])
    assert len(canned.paths) == 2


def test_refresh_sends_a_request(canned):
    """With refresh the service is requested, and the cached answer is replaced."""
    canned.add_reply(answer(wallet()))
    canned.add_reply(answer(wallet(balances=[])))
    with canned.client() as client:
        client.fetch(f"ETH.{A}")
        assert client.fetch(f"ETH.{A}", refresh=True).wallets.tokens.item() == 0
        assert client.fetch(f"ETH.{A}").wallets.tokens.item() == 0
    assert len(canned.paths) == 2


@pytest.mark.parametrize("body", [answer(wallet(failed=True)), b"<html>"])
def test_failed_refresh_keeps_the_older_answer(canned, body):
    """After a failed refresh the older answer is used as stale, and stays in the cache."""
    canned.add_reply(answer(wallet()))
    canned.default = (200, {}, body)
    with canned.client() as client:
        client.fetch(f"ETH.{A}")
        with pytest.warns(FetchWarning, match="not refreshed"):
            details = client.fetch(f"ETH.{A}", refresh=True)
        assert statuses(details) == ["ok"]
        assert details.wallets.source.item() == "stale"
        assert "not refreshed" in details.wallets.error.item()
        kept = client.fetch(f"ETH.{A}", offline=True)
    assert (statuses(kept), kept.wallets.source.item()) == (["ok"], "cache")


def test_out_of_date_answer_is_labelled_stale(canned):
    """An expired answer is requested again, and is stale if that fails."""
    canned.add_reply(answer(wallet()))
    canned.default = (500, {}, b"down")
    with canned.client(expire_after_s=0) as client:
        client.fetch(f"ETH.{A}")
        details = client.fetch(f"ETH.{A}", on_failure="ignore")
        offline = client.fetch(f"ETH.{A}", offline=True, on_failure="ignore")
    assert details.wallets.source.item() == offline.wallets.source.item() == "stale"
    assert "the service answered 500" in details.wallets.error.item()
    assert len(canned.paths) == 2


AHEAD = timedelta(hours=8)


def write_cached(path, body, fetched_at, service):
    """Write an answer into a cache, as a process with another clock would."""
    with AnswerStore(path, service) as store:
        [each] = parse_wallets(f"ETH.{A}")
        store.write_answers([(each, CachedAnswer(body, fetched_at, store.sequence_now()))])


def test_a_clock_that_was_ahead_has_no_lasting_effect(canned, tmp_path):
    """An answer dated in the future is requested again, and the new one stays."""
    path = tmp_path / "kept.sqlite"
    write_cached(path, answer(wallet()), datetime.now(UTC) + AHEAD, canned.base_url)
    canned.default = (200, {}, answer(wallet(balances=[])))
    for refresh in (False, True, False):
        with canned.client(cache=path) as client:
            assert client.fetch(f"ETH.{A}", refresh=refresh).wallets.tokens.item() == 0
    assert len(canned.paths) == 2


@pytest.mark.parametrize("ahead_s, requested", [(50, 0), (120, 1)])
def test_another_clock_may_be_a_little_ahead(canned, tmp_path, ahead_s, requested):
    """A teammate's answer that is less than a minute ahead is fresh."""
    path = tmp_path / "kept.sqlite"
    write_cached(
        path, answer(wallet()), datetime.now(UTC) + timedelta(seconds=ahead_s), canned.base_url
    )
    canned.default = (200, {}, answer(wallet()))
    with canned.client(cache=path) as client:
        client.fetch(f"ETH.{A}")
    assert len(canned.paths) == requested


def test_an_answer_from_the_future_is_labelled_stale(canned, tmp_path):
    """If it is used it is stale, with the service's failure as the reason."""
    path = tmp_path / "kept.sqlite"
    write_cached(path, answer(wallet()), datetime.now(UTC) + AHEAD, canned.base_url)
    canned.default = (500, {}, b"down")
    with canned.client(cache=path) as client:
        failed = client.fetch(f"ETH.{A}", on_failure="ignore").wallets
        offline = client.fetch(f"ETH.{A}", offline=True, on_failure="ignore").wallets
    assert failed.source.item() == offline.source.item() == "stale"
    assert "not refreshed: the service answered 500" in failed.error.item()
    assert "is dated in the future, and no request" in offline.error.item()


@pytest.mark.parametrize("cache", ["a file", "memory"])
def test_the_answer_to_the_latest_request_is_cached(canned, tmp_path, cache):
    """An answer that comes last, to an earlier request, does not replace a newer one."""
    late = Late(answer(wallet()))
    canned.replies.append((200, {"Content-Length": str(len(late[0]))}, late))
    canned.default = (200, {}, answer(wallet(balances=[])))
    with canned.client(cache="memory" if cache == "memory" else tmp_path / "a") as client:
        early = Thread(target=client.fetch, args=(f"ETH.{A}",))
        early.start()
        late.requested.wait(10)
        assert client.fetch(f"ETH.{A}").wallets.tokens.item() == 0
        late.allowed.set()
        early.join()
        assert client.fetch(f"ETH.{A}", offline=True).wallets.tokens.item() == 0


@pytest.mark.parametrize("body", [answer(wallet(balances=5)), b'{"wallets": [', answer()])
def test_a_cached_failure_is_ignored(canned, tmp_path, body):
    """It is requested again, is never used as stale, and is unknown offline."""
    path = tmp_path / "kept.sqlite"
    write_cached(path, body, datetime.now(UTC), canned.base_url)
    canned.add_reply(b"down", 500)
    canned.default = (200, {}, answer(wallet(A), wallet(B)))
    wallets = [f"ETH.{B}", f"ETH.{A}"]
    with canned.client(cache=path, workers=1) as client, warnings.catch_warnings():
        warnings.simplefilter("ignore", AnswerWarning)
        offline = client.fetch(f"ETH.{A}", offline=True, on_failure="ignore")
        failed = client.fetch(f"ETH.{A}", on_failure="ignore")
        result = client.fetch(wallets)
        again = client.fetch(wallets)
    assert statuses(offline) == ["not_cached"]
    assert statuses(failed) == ["service_error"]
    assert statuses(result) == statuses(again) == ["ok", "ok"]
    assert again.wallets.source.tolist() == ["cache", "cache"]
    assert len(canned.paths) == 3


def test_many_cached_failures_are_requested_together(canned):
    """Each has its row, in the requested order, with any cached answers of the others."""
    wallets = [f"ETH.0x{number:0>40}" for number in range(600)]
    cache = BaseCache()
    with AnswerStore(cache, canned.base_url) as store:
        for number, each in enumerate(parse_wallets(wallets)):
            body = b"{}" if number % 3 == 1 else answer(wallet(each.address))
            if number % 3:
                store.write_answers([(each, CachedAnswer(body, datetime.now(UTC)))])
    canned.default = (200, {}, answer(*(wallet(f"0x{number:0>40}") for number in range(600))))
    settings = {"cache": cache, "batch_size": 50, "requests_per_second": 1_000}
    with canned.client(**settings) as client, pytest.warns(AnswerWarning):
        result = client.fetch(wallets).wallets
    assert result.address.tolist() == [f"0x{number:0>40}" for number in range(600)]
    assert (result.status == "ok").all()
    assert result.source.tolist() == ["service", "service", "cache"] * 200
    assert len(canned.paths) < 60


def test_without_stale_if_error_a_failure_is_a_failure(canned):
    """The older answer is used only with that setting."""
    canned.add_reply(answer(wallet()))
    canned.default = (500, {}, b"down")
    with canned.client(expire_after_s=0, stale_if_error=False) as client:
        client.fetch(f"ETH.{A}")
        assert statuses(client.fetch(f"ETH.{A}", on_failure="ignore")) == ["service_error"]


def test_offline_sends_no_request(canned):
    """Offline, an uncached wallet is not_cached, and the frames keep their order."""
    canned.default = (200, {}, answer(wallet()))
    with canned.client() as client:
        client.fetch(f"ETH.{A}")
        details = client.fetch([f"ETH.{B}", f"ETH.{A}"], offline=True, on_failure="ignore")
    assert statuses(details) == ["not_cached", "ok"]
    assert details.wallets.source.isna().tolist() == [True, False]
    assert len(canned.paths) == 1


def test_offline_needs_no_key(canned, tmp_path):
    """Cached answers need nothing but the service's address."""
    canned.default = (200, {}, answer(wallet()))
    with canned.client(cache=tmp_path / "kept.sqlite") as client:
        client.fetch(f"ETH.{A}")
    with Client(base_url=canned.base_url, cache=tmp_path / "kept.sqlite") as client:
        assert statuses(client.fetch(f"ETH.{A}")) == ["ok"]


def test_services_do_not_share_answers(canned, tmp_path):
    """Each service has its own answers."""
    canned.default = (200, {}, answer(wallet()))
    for service in ("one", "two", "one"):
        with canned.client(cache=tmp_path / "kept.sqlite", service=service) as client:
            assert client.fetch(f"ETH.{A}").wallets.service.item() == service
    assert len(canned.paths) == 2


@pytest.mark.parametrize(
    "status, expected",
    [
        (404, "rejected"),
        (400, "rejected"),
        (429, "rate_limited"),
        (500, "service_error"),
        (503, "service_error"),
        (302, "rejected"),
        (204, "invalid"),
        (201, "invalid"),
    ],
)
def test_statuses_are_mapped_by_class(canned, status, expected):
    """Any HTTP status becomes a wallet status with a reason that names it."""
    canned.default = (status, {"Location": "/elsewhere"}, b"" if status == 204 else b"why\x1b[31m")
    with canned.client() as client:
        details = client.fetch(f"ETH.{A}", on_failure="ignore")
    assert statuses(details) == [expected]
    assert str(status) in details.wallets.error.item()
    assert details.wallets.error.item().isprintable()
    assert details.wallets.source.isna().all()
    assert len(canned.paths) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_refused_key_ends_the_call(canned, status):
    """After a refused key no more requests are sent in this call."""
    canned.default = (status, {}, b"no")
    with canned.client(workers=1) as client:
        details = client.fetch([f"ETH.0x{i:0>40}" for i in range(20)], on_failure="ignore")
    assert statuses(details) == ["rejected"] + ["cancelled"] * 19
    assert "rejected the API key" in details.wallets.error[0]
    assert len(canned.paths) == 1


def test_unreachable_service_is_reported(canned):
    """A closed port, a broken answer and a wrong compression have their statuses."""
    with Client(
        api_key=KEY, key_kind="private", base_url="http://127.0.0.1:9", cache=False
    ) as client:
        assert statuses(client.fetch(f"ETH.{A}", on_failure="ignore")) == ["unreachable"]
    canned.add_reply(b"{", Content_Length="5000", Connection="close")
    canned.add_reply(b"nonsense", Content_Encoding="gzip")
    with canned.client(timeout_s=2) as client:
        broken = client.fetch(f"ETH.{A}", on_failure="ignore")
        squeezed = client.fetch(f"ETH.{A}", on_failure="ignore")
    assert statuses(broken)[0] in ("unreachable", "timeout")
    assert statuses(squeezed) == ["invalid"]


def test_an_outage_is_retried():
    """A service that answered before, and is gone for a second, is requested again."""
    servers = []

    def serve(port, reply):
        servers.append(Canned(port))
        servers[-1].replies.append(reply)
        Thread(target=servers[-1].serve_forever, daemon=True).start()

    def close(server):
        server.shutdown()
        server.server_close()

    serve(0, (200, {"Connection": "close"}, answer(wallet())))
    with servers[0].client(deadline_s=20) as client:
        client.fetch(f"ETH.{A}")
        close(servers[0])
        again = (200, {}, answer(wallet(B)))
        Timer(0.6, serve, [servers[0].server_port, again]).start()
        assert statuses(client.fetch(f"ETH.{B}")) == ["ok"]
    close(servers[1])


def test_slow_service_times_out(service):
    """An answer that takes longer than timeout_s is a timeout, with the seconds named."""
    limits = {"timeout_s": 0.2, "deadline_s": 0}
    with wf.sandbox(latency_s=5) as slow, slow.client(cache=False, **limits) as client:
        details = client.fetch(SHOWCASE[0], on_failure="ignore")
    assert statuses(details) == ["timeout"]
    assert "0.2 s" in details.wallets.error.item()


def test_slow_body_times_out(canned):
    """An answer that trickles is a timeout too, though bytes arrive all the time."""
    canned.add_reply([b" "] * 8 + [answer(wallet())])
    with canned.client(timeout_s=0.3) as client:
        details = client.fetch(f"ETH.{A}", on_failure="ignore")
    assert statuses(details) == ["timeout"]


def test_decompression_bomb_is_invalid(canned):
    """A body that grows beyond the limit is not read into memory."""
    canned.add_reply(gzip.compress(bytes(300_000_000), 1), Content_Encoding="gzip")
    with canned.client() as client:
        details = client.fetch(f"ETH.{A}", on_failure="ignore")
    assert statuses(details) == ["invalid"]
    assert "too large" in details.wallets.error.item()


def test_proxy_that_refuses_is_named(canned, monkeypatch):
    """The error of a missing proxy names it."""
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    with canned.client(base_url="https://api.example") as client:
        details = client.fetch(f"ETH.{A}", on_failure="ignore")
    assert statuses(details) == ["unreachable"]
    assert "proxy" in details.wallets.error.item()


def test_unrequested_wallets_warn_and_are_left_out(canned):
    """They are named in one warning and are in no frame."""
    canned.default = (200, {}, answer(wallet(), wallet("0xstranger")))
    with canned.client() as client, pytest.warns(AnswerWarning, match="0xstranger") as caught:
        details = client.fetch([f"ETH.{A}"])
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert details.wallets.address.tolist() == [A]
    assert details.holdings.address.unique().tolist() == [A]


def test_failures_warn_once_at_the_callers_line(canned):
    """One warning sums up all failures, and points at the line that fetched."""
    canned.default = (500, {}, b"down")
    with canned.client() as client, pytest.warns(FetchWarning, match="2 of 2 wallets") as caught:
        client.fetch([f"ETH.{A}", f"ETH.{B}"])
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_many_reasons_are_shortened(canned):
    """The warning names the most frequent reasons and counts the others."""
    for number in range(5):
        canned.add_reply(f"reason {number}".encode(), status=500 + number)
    with canned.client(workers=1) as client, pytest.warns(FetchWarning, match="2 other reasons"):
        client.fetch([f"ETH.0x{number:0>40}" for number in range(5)])


def test_reasons_are_counted_without_their_hints():
    """The most frequent reason comes first."""
    reasons = {"no such page; a typo?": 1, "timed out": 2}
    text = append_reasons("3 of 4 wallets are not ok", reasons)
    assert text == "3 of 4 wallets are not ok (2 x timed out; 1 x no such page)"


def test_on_failure_raise_carries_everything(canned):
    """The error holds both frames, pickles, and needs no second fetch."""
    canned.add_reply(answer(wallet()))
    canned.default = (500, {}, b"down")
    with canned.client(workers=1) as client, pytest.raises(FetchError, match="1 of 2") as caught:
        client.fetch([f"ETH.{A}", f"ETH.{B}"], on_failure="raise")
    again = pickle.loads(pickle.dumps(caught.value))
    assert statuses(again.details) == ["ok", "service_error"]
    assert len(again.details.holdings) == 1


def test_on_failure_ignore_is_silent(canned):
    """There is no warning; the rows have the failures."""
    canned.default = (500, {}, b"down")
    with canned.client() as client, warnings.catch_warnings():
        warnings.simplefilter("error")
        client.fetch(f"ETH.{A}", on_failure="ignore")


@pytest.mark.parametrize(
    "switches", [{"on_failure": "explode"}, {"refresh": True, "offline": True}]
)
def test_contradicting_switches_are_refused(canned, switches):
    """An impossible combination is an error before any request."""
    with canned.client() as client, pytest.raises(SettingsError):
        client.fetch(f"ETH.{A}", **switches)
    assert canned.paths == []


def test_without_settings_the_hint_names_the_variables():
    """A first call without any settings names the variables to set, and the sandbox."""
    with pytest.raises(SettingsError, match=r"WALLETFRAME_BASE_URL.*sandbox\(\)"):
        fetch_wallets(f"ETH.{A}")
    with (
        Client(base_url="https://api.example", cache=False) as client,
        pytest.raises(SettingsError, match="WALLETFRAME_API_KEY"),
    ):
        client.fetch(f"ETH.{A}")


def test_default_client_follows_configure(service, canned):
    """The helper uses the settings of configure, until they are replaced."""
    canned.default = (200, {}, answer(wallet()))
    configure(api_key=KEY, key_kind="private", base_url=canned.base_url, cache=False)
    assert fetch_wallets(f"ETH.{A}").wallets.service.item() == canned.base_url
    configure(cache=False)
    with pytest.raises(SettingsError):
        fetch_wallets(f"ETH.{A}")


def test_environment_is_enough(canned, monkeypatch):
    """Three variables are enough for the helper."""
    canned.default = (200, {}, answer(wallet()))
    monkeypatch.setenv("WALLETFRAME_API_KEY", KEY)
    monkeypatch.setenv("WALLETFRAME_KEY_KIND", "private")
    monkeypatch.setenv("WALLETFRAME_BASE_URL", canned.base_url)
    assert statuses(fetch_wallets(f"ETH.{A}")) == ["ok"]
    configure(cache=False)


def test_key_is_sent_but_leaks_nowhere(canned, tmp_path, caplog):
    """The key is in the request, and in no log, error, repr, file or traceback."""
    caplog.set_level("DEBUG")
    canned.add_reply(answer(wallet()))
    canned.default = (500, {}, f"you said {KEY}".encode())
    path = tmp_path / "kept.sqlite"
    with canned.client(cache=path) as client:
        client.fetch(f"ETH.{A}")
        try:
            client.fetch(f"ETH.{B}", on_failure="raise")
        except FetchError as error:
            text = "".join(
                traceback.TracebackException.from_exception(error, capture_locals=True).format()
            )
            text += error.details.wallets.to_string()
        text += repr(client)
    assert all(f"apiKey={KEY}" in sent for sent in canned.paths)
    assert KEY not in text + caplog.text
    assert "***" in text
    assert KEY.encode() not in b"".join(file.read_bytes() for file in tmp_path.glob("kept*"))
    assert path.stat().st_mode & 0o077 == 0


def test_cookies_and_netrc_are_not_sent(canned, tmp_path, monkeypatch):
    """Data of the server or the home folder is not sent."""
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    canned.add_reply(answer(wallet()), Set_Cookie="id=1")
    canned.default = (200, {}, answer(wallet(B)))
    with canned.client(workers=1) as client:
        client.fetch(f"ETH.{A}")
        client.fetch(f"ETH.{B}")
    assert len(canned.headers_seen) == 2
    assert not [
        name for seen in canned.headers_seen for name in seen if name in ("Cookie", "Authorization")
    ]


def test_redirects_are_not_followed(canned):
    """Another server never gets the key."""
    with Canned() as other:
        canned.add_reply(b"", status=307, Location=f"{other.base_url}/wallets/details")
        with canned.client() as client:
            details = client.fetch(f"ETH.{A}", on_failure="ignore")
        assert other.paths == []
    assert "redirect" in details.wallets.error.item()


def test_no_proxy_reads_the_key(canned, monkeypatch):
    """Loopback is reached directly: over http a proxy would read the key."""
    canned.default = (200, {}, answer(wallet()))
    monkeypatch.setenv("no_proxy", "")
    with Canned() as proxy:
        monkeypatch.setenv("http_proxy", proxy.base_url)
        with canned.client() as client:
            client.fetch(f"ETH.{A}")
        assert proxy.paths == []
    assert len(canned.paths) == 1


@pytest.mark.parametrize("path", ["/%7Ev1", "/é", "/v1/../x", "/a b"])
def test_base_address_in_any_spelling_is_reached(canned, path):
    """A spelling that the HTTP library normalizes is the same address."""
    canned.default = (200, {}, answer(wallet()))
    base_url = canned.base_url + path.replace(" ", "%20")
    with canned.client(base_url=base_url) as client:
        assert statuses(client.fetch(f"ETH.{A}")) == ["ok"]


def test_pickled_client_leaves_the_key_out(canned):
    """A client can be sent to another process, which has to bring its own key."""
    with canned.client(workers=3) as client:
        pickled = pickle.dumps(client)
    assert KEY.encode() not in pickled
    assert pickle.loads(pickled).settings.workers == 3


@pytest.mark.parametrize(
    "environment, is_taken",
    [
        ({}, True),
        ({"BASE_URL": "{address}", "KEY_KIND": "private"}, True),
        ({"BASE_URL": "https://other.example"}, False),
        ({"PUBLIC_BASE_URL": "{address}", "KEY_KIND": "public"}, False),
    ],
)
def test_pickled_client_uses_the_key_of_its_new_process(canned, monkeypatch, environment, is_taken):
    """The environment's key for another address, or of another kind, is not used."""
    with canned.client() as client:
        pickled = pickle.dumps(client)
    for name, text in environment.items():
        monkeypatch.setenv(f"WALLETFRAME_{name}", text.format(address=canned.base_url))
    monkeypatch.setenv("WALLETFRAME_API_KEY", "another key")
    for arrived in (pickle.loads(pickled), Client(pickle.loads(pickled).settings)):
        with arrived:
            assert bool(arrived.settings.api_key) is is_taken
    if is_taken:
        canned.default = (200, {}, answer(wallet()))
        with arrived:
            assert statuses(arrived.fetch(f"ETH.{A}")) == ["ok"]
        assert canned.paths[-1].endswith("apiKey=another+key")


def test_refused_key_ends_a_long_call_at_once(canned):
    """Later wallets wait for no permit."""
    canned.default = (401, {}, b"no")
    with canned.client() as client:
        client.fetch([f"ETH.0x{number:0>40}" for number in range(2_000)], on_failure="ignore")
    assert len(canned.paths) <= 8


def test_key_is_not_printed_by_http_debugging(canned, capsys, monkeypatch):
    """The usual recipe for logging requests does not show the key."""
    monkeypatch.setattr("http.client.HTTPConnection.debuglevel", 1)
    canned.default = (200, {}, answer(wallet()))
    with canned.client() as client:
        client.fetch(f"ETH.{A}")
    assert KEY not in capsys.readouterr().out


def test_forgotten_client_leaves_no_thread(canned):
    """A client that is never closed ends with its last reference."""
    canned.default = (200, {}, answer(wallet()))
    canned.client(cache=False).fetch(f"ETH.{A}")
    gc.collect()
    end = time.monotonic() + 30
    while any(thread.name == "walletframe-watch" for thread in enumerate_threads()):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_https_is_verified_and_works(canned, tmp_path, monkeypatch):
    """Over TLS a known certificate is enough, and an unknown one is reported."""
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    canned.socket = context.wrap_socket(canned.socket, server_side=True)
    canned.default = (200, {}, answer(wallet()))
    base_url = canned.base_url.replace("http:", "https:")
    with canned.client(base_url=base_url) as client:
        refused = client.fetch(f"ETH.{A}", on_failure="ignore")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "ca.pem"))
    with canned.client(base_url=base_url) as client:
        trusted = client.fetch(f"ETH.{A}")
    assert (statuses(refused), statuses(trusted)) == (["unreachable"], ["ok"])
    assert "certificate" in refused.wallets.error.item()
    assert f"apiKey={KEY}" in canned.paths[-1]


def test_short_key_is_not_removed_from_answers(canned):
    """A key that could be any word does not change the service's text."""
    canned.default = (200, {}, answer(wallet(balances=[balance(symbol="KEY")])))
    with canned.client(api_key="KEY") as client:
        assert client.fetch(f"ETH.{A}").holdings.symbol.item() == "KEY"


def test_works_inside_a_running_event_loop(service):
    """A notebook has one."""

    async def cell():
        with service.client(cache=False) as client:
            return client.fetch(SHOWCASE[0])

    assert statuses(asyncio.run(cell())) == ["ok"]


def test_one_client_serves_several_threads(service):
    """Threads that share a client get their own answers."""
    result = {}
    with service.client(cache="memory") as client:

        def fetch(each):
            result[each] = client.fetch(each, on_failure="ignore").wallets.address.item()

        threads = [Thread(target=fetch, args=(each,)) for each in SHOWCASE]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert result == {each: each.address for each in SHOWCASE}


def test_closed_client_opens_again(service):
    """Closing twice works, and so does a later fetch."""
    client = service.client(cache="memory")
    client.fetch(SHOWCASE[0])
    client.close()
    client.close()
    assert client.fetch(SHOWCASE[0]).wallets.source.item() == "service"
    client.close()


def test_cache_warnings_name_the_callers_line(service, tmp_path):
    """A thread does the work, and has no such line."""
    path = tmp_path / "answers.sqlite"
    path.write_bytes(b"no database" * 100)
    with service.client(cache=path) as client, pytest.warns(CacheWarning, match="broken") as caught:
        client.fetch(SHOWCASE[0])
    assert [warning.filename for warning in caught] == [__file__]


def test_progress_calls_back_with_counts(service):
    """A callable is called for every wallet, cached ones included."""
    calls = []
    with service.client(cache=False) as client:
        client.fetch(SHOWCASE, on_failure="ignore", progress=lambda *call: calls.append(call))
    assert [call[:2] for call in calls] == [(i + 1, len(SHOWCASE)) for i in range(len(SHOWCASE))]
    assert calls[-1][2]["failed"] == 2
    assert sum(calls[-1][2].values()) == len(SHOWCASE)


def test_progress_bar_is_drawn_only_in_a_terminal(service, capsys):
    """A pipe gets no bar unless it is requested."""
    with service.client(cache=False) as client:
        client.fetch(SHOWCASE[0])
        client.fetch(SHOWCASE[0], progress=False)
        assert capsys.readouterr().err == ""
        client.fetch(SHOWCASE[0], progress=True)
    assert "1/1" in capsys.readouterr().err


def test_no_bar_is_drawn_before_an_error_of_the_settings(capsys):
    """A missing setting raises first."""
    with Client(cache=False) as client, pytest.raises(SettingsError, match="not set"):
        client.fetch(SHOWCASE[0], progress=True)
    assert capsys.readouterr().err == ""


def test_an_imported_kernel_is_no_notebook(canned, monkeypatch, capsys):
    """A bar needs a running notebook; an imported kernel is not enough."""
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    canned.default = (200, {}, answer(wallet()))
    with canned.client() as client:
        client.fetch(f"ETH.{A}")
    assert capsys.readouterr().err == ""
