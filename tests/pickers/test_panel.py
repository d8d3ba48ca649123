"""The panel that fetches: real widgets, a real thread, a real service, without a page."""

import threading
import time

import pytest
from canned_service import answer, wallet
from ipywidgets.widgets.widget import _instances
from traitlets import TraitError, dlink

from walletframe.client import default
from walletframe.pickers import FetchPanel, HoldingsExplorer
from walletframe.pickers.pane import TURN
from walletframe.pickers.speed import Speed
from walletframe.service import sandbox

WALLETS = [f"ETH.0x{number:040x}" for number in range(1, 31)]


@pytest.fixture(autouse=True)
def nothing_left():
    """Expect that every test closes the widgets that it opens."""
    before = set(_instances)
    yield
    assert set(_instances) == before


@pytest.fixture
def panel(client):
    """Give a panel that asks the sandbox, and expect its thread to end."""
    opened = FetchPanel(client=client)
    yield opened
    opened.close()
    assert "walletframe-panel" not in {thread.name for thread in threading.enumerate()}


def wait_for(condition, seconds=10):
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()


def finished(panel):
    """Wait for the end of what a panel does."""
    wait_for(lambda: panel._bar._fetching is None)
    with TURN:
        return panel.details


def test_what_is_pasted_is_fetched(panel):
    """Pasting and one click are enough; the result is in the trait, and told."""
    seen = []
    panel.observe(lambda change: seen.append(change["new"]), "details")
    panel._picker._text.value = "\n".join(WALLETS[:3])
    panel._bar._start.click()
    details = finished(panel)
    assert details.wallets.address.tolist() == [name[4:] for name in WALLETS[:3]]
    assert seen == [details]
    assert "3 wallets on 1 blockchain: 3 ok" in panel._found.value
    assert "Simulated data" in panel._found.value
    assert panel._bar._retry.layout.display == "none"


def test_details_are_never_missing(panel, client):
    """Before a fetch they are empty, so that an explorer can be linked; None is refused."""
    assert panel.details.wallets.empty
    assert panel.details.holdings.empty
    with pytest.raises(TraitError):
        panel.details = None
    explorer = HoldingsExplorer(panel.details, client=client)
    linked = dlink((panel, "details"), (explorer, "details"))
    assert explorer.details is panel.details
    linked.unlink()
    explorer.close()


def test_known_wallets_are_chosen_at_first(client):
    """A panel made with wallets has them chosen."""
    panel = FetchPanel(WALLETS[:2], client=client)
    panel.fetch()
    assert len(finished(panel).wallets) == 2
    panel.close()


def test_a_bad_line_stops_the_fetch(panel):
    """Nothing is asked until each line can be read; what is wrong is told where it stands."""
    panel._picker._text.value = "ETH.0x1\nnonsense"
    panel._bar._start.click()
    assert panel._bar._fetching is None
    assert "Line 1: nonsense" in panel._picker._problems.value


def test_no_wallets_are_told(panel):
    """An alert says what to do."""
    panel._bar._start.click()
    assert 'role="alert"' in panel._bar._alert.value
    assert "no wallets to fetch" in panel._bar._alert.value


def test_settings_that_are_missing_are_told(monkeypatch):
    """Without a client and without settings, the hint is shown in the panel."""
    panel = FetchPanel(WALLETS[:1])
    panel._bar._start.click()
    finished(panel)
    assert "base_url" in panel._bar._alert.value
    assert not panel._bar._start.disabled
    monkeypatch.setattr(default, "_default", None)
    panel.close()


def test_cancel_keeps_what_was_finished():
    """Control comes back soon; the rest is cancelled, listed, and asked for again by a button."""
    with sandbox(latency_s=0.15) as service:
        settings = {"cache": "memory", "workers": 4, "requests_per_second": 1000}
        with service.client(**settings) as client:
            panel = FetchPanel(WALLETS, client=client)
            panel._bar._start.click()
            assert (panel._bar._start.disabled, panel._bar._cancel.disabled) == (True, False)
            wait_for(lambda: panel._bar._bar.value > 4)
            assert "of 30 wallets, about" in panel._bar._said.value
            begun = time.monotonic()
            panel._bar._cancel.click()
            counts = finished(panel).wallets.status.value_counts()
            assert time.monotonic() - begun < 2
            assert counts["ok"] >= 4
            assert counts["ok"] + counts["cancelled"] == 30
            assert f"Ask again for {counts['cancelled']} not ok" == panel._bar._retry.description
            assert "cancelled before it was answered" in panel._found.value
            panel._bar._retry.click()
            again = finished(panel).wallets
            panel.close()
    assert (again.status == "ok").all()
    assert (again.source == "cache").sum() >= counts["ok"]


def test_failures_are_listed_and_escaped(canned):
    """The table says which wallets failed and why, whatever the service says."""
    canned.default = (500, {}, b"<script>alert(1)</script>")
    with canned.client() as client:
        panel = FetchPanel(["ETH.0xa"], client=client)
        panel.fetch()
        assert finished(panel).wallets.status.tolist() == ["service_error"]
        assert "ETH.0xa" in panel._found.value
        assert "<script" not in panel._found.value
        canned.default = (200, {}, answer(wallet()))
        panel.retry()
        assert finished(panel).wallets.status.tolist() == ["ok"]
        assert len(canned.paths) == 2
        panel._refresh.value = True
        panel.fetch()
        finished(panel)
        assert len(canned.paths) == 3
        panel.close()


def test_what_was_known_stays_where_the_service_fails(canned):
    """Without a cache, too: it is marked as out of date, and told with the reason."""
    canned.default = (200, {}, answer(wallet()))
    with canned.client(cache=False) as client:
        panel = FetchPanel(["ETH.0xa"], client=client)
        panel.fetch()
        known = finished(panel)
        canned.default = (503, {}, b"closed")
        panel.fetch()
        wallets, holdings = finished(panel)
        assert wallets.source.tolist() == ["stale"]
        assert holdings.equals(known.holdings)
        assert "not refreshed: " in panel._found.value
        assert panel._bar._retry.description == "Ask again for 1 not ok"
        panel.close()


def test_closing_ends_the_fetch(canned):
    """A service that hangs can't hold the panel."""
    canned.say([b" "] * 200 + [answer(wallet())])
    with canned.client() as client:
        panel = FetchPanel(["ETH.0xa"], client=client)
        panel.fetch()
        time.sleep(0.2)
        begun = time.monotonic()
        panel.close()
        assert time.monotonic() - begun < 2
    assert "walletframe-panel" not in {thread.name for thread in threading.enumerate()}


def test_one_fetch_at_a_time(canned):
    """A second click while one is under way does nothing."""
    canned.say([b" "] * 8 + [answer(wallet())])
    with canned.client() as client:
        panel = FetchPanel(["ETH.0xa"], client=client)
        panel.fetch()
        panel.fetch()
        finished(panel)
        panel.cancel()
        panel.close()
    assert len(canned.paths) == 1


def test_time_left_follows_the_last_seconds():
    """Quick answers from the cache don't promise a quick end for long."""
    speed = Speed(0.0)
    assert speed.left(100) == ""
    speed.note(0.1, 50)
    assert speed.left(100) == "about 1 s left"
    for second in range(1, 40):
        speed.note(float(second), 50 + second // 4)
    assert speed.left(100) == "about 3 min left"
    speed.note(40.0, 100)
    assert speed.left(100) == ""
