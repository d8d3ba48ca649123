"""The panel that fetches: real widgets, a real thread, a real service, without a page."""

import threading
import time
from collections import deque

import pytest
from addresses import ONE, A
from canned_service import answer, wallet
from traitlets import TraitError, dlink
from widgets import MODELS, Page, send_state, wait, wait_for

from walletframe.client import default
from walletframe.pickers import FetchPanel, HoldingsExplorer
from walletframe.pickers.fetching import format_time_left
from walletframe.service import sandbox

WALLETS = [f"ETH.0x{number:040x}" for number in range(1, 31)]


@pytest.fixture(autouse=True)
def nothing_left():
    """Check that a test closes its widgets."""
    before = set(MODELS)
    yield
    assert set(MODELS) == before


@pytest.fixture
def panel(client):
    """Return a panel of the sandbox, and check that its thread ends."""
    opened = FetchPanel(client=client)
    yield opened
    opened.close()
    assert "walletframe-panel" not in {thread.name for thread in threading.enumerate()}


def finished(panel):
    """Wait for the end of a panel's work."""
    wait()
    return panel.details


def test_pasted_wallets_are_fetched(panel):
    """Pasting and one click are enough; the result is in the trait, and observed."""
    seen = []
    panel.observe(lambda change: seen.append(change["new"]), "details")
    page = Page(panel)
    page.paste("\n".join(WALLETS[:3]))
    page.click("fetch")
    details = finished(panel)
    assert details.wallets.address.tolist() == [name[4:] for name in WALLETS[:3]]
    assert seen == [details]
    assert "3 wallets on 1 blockchain: 3 ok" in page.status()
    assert "Simulated data" in page.status()
    assert panel._retry_label == ""


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


def test_known_wallets_are_selected_at_first(client):
    """A panel made with wallets has them chosen."""
    panel = FetchPanel(WALLETS[:2], client=client)
    panel.fetch()
    assert len(finished(panel).wallets) == 2
    panel.close()


def test_a_bad_line_stops_the_fetch(panel):
    """There is no request until each line is readable; the error is beside it."""
    page = Page(panel)
    page.paste(f"ETH.{ONE}\nnonsense")
    page.click("fetch")
    assert not page.is_busy()
    assert "Line 1: nonsense" in page.alert()
    assert panel._problems[0] == "1 line can't be read. Correct it in the field above:"
    assert (
        "nothing was fetched, because some pasted lines can't be read. Hint: correct"
        in panel._alert
    )


def test_no_wallets_are_reported(panel):
    """An alert has a hint."""
    page = Page(panel)
    page.click("fetch")
    assert "there are no wallets to fetch" in page.alert()


def test_missing_settings_are_reported(monkeypatch):
    """Without a client and without settings, the hint is shown in the panel."""
    panel = FetchPanel(WALLETS[:1])
    page = Page(panel)
    page.click("fetch")
    finished(panel)
    assert "base_url" in page.alert()
    assert not page.is_busy()
    monkeypatch.setattr(default, "_default", None)
    panel.close()


def test_cancel_keeps_finished_wallets():
    """Control returns soon; the rest is cancelled, listed, and requested by a button."""
    with sandbox(latency_s=0.15) as service:
        settings = {"cache": "memory", "workers": 4, "requests_per_second": 1000}
        with service.client(**settings) as client:
            panel = FetchPanel(WALLETS, client=client)
            page = Page(panel)
            page.click("fetch")
            assert page.is_busy()
            wait_for(lambda: page.progress() > 4)
            assert "of 30 wallets, about" in panel._progress["text"]
            page.click("cancel")
            counts = finished(panel).wallets.status.value_counts()
            assert counts["ok"] >= 4
            assert counts["ok"] + counts["cancelled"] == 30
            again = f"Retry all {counts['cancelled']} unknown wallets"
            assert panel._retry_label == again
            assert "cancelled before it was answered" in page.status()
            page.click("retry")
            again = finished(panel).wallets
            panel.close()
    assert (again.status == "ok").all()
    assert (again.source == "cache").sum() >= counts["ok"]


def test_failures_are_listed(canned):
    """The table has the failed wallets and the reasons, with any text of the service."""
    canned.default = (500, {}, b"<script>alert(1)</script>")
    with canned.client() as client:
        panel = FetchPanel([f"ETH.{A}"], client=client)
        panel.fetch()
        assert finished(panel).wallets.status.tolist() == ["service_error"]
        assert f"ETH.{A}" in Page(panel).status()
        canned.default = (200, {}, answer(wallet()))
        panel.retry()
        assert finished(panel).wallets.status.tolist() == ["ok"]
        assert len(canned.paths) == 2
        send_state(panel, _refresh=True)
        panel.fetch()
        finished(panel)
        assert len(canned.paths) == 3
        panel.close()


def test_known_wallets_stay_if_the_service_fails(canned):
    """Without a cache, too: they are marked as stale, with the reason."""
    canned.default = (200, {}, answer(wallet()))
    with canned.client(cache=False) as client:
        panel = FetchPanel([f"ETH.{A}"], client=client)
        panel.fetch()
        known = finished(panel)
        canned.default = (503, {}, b"closed")
        panel.fetch()
        wallets, holdings = finished(panel)
        assert wallets.source.tolist() == ["stale"]
        assert holdings.equals(known.holdings)
        assert "not refreshed: " in Page(panel).status()
        assert panel._retry_label == "Retry 1 unknown wallet"
        panel.close()


def test_closing_ends_the_fetch(canned):
    """A hanging service can't block the panel."""
    canned.add_reply([b" "] * 200 + [answer(wallet())])
    with canned.client() as client:
        panel = FetchPanel([f"ETH.{A}"], client=client)
        panel.fetch()
        wait_for(lambda: canned.paths)
        begun = time.monotonic()
        panel.close()
        assert time.monotonic() - begun < 15  # of twenty
    assert "walletframe-panel" not in {thread.name for thread in threading.enumerate()}


def test_one_fetch_at_a_time(canned):
    """A second click while one is under way does nothing."""
    canned.add_reply([b" "] * 8 + [answer(wallet())])
    with canned.client() as client:
        panel = FetchPanel([f"ETH.{A}"], client=client)
        panel.fetch()
        panel.fetch()
        finished(panel)
        panel.cancel()
        panel.close()
    assert len(canned.paths) == 1


def test_time_left_follows_the_last_seconds():
    """Quick answers from the cache don't promise a quick end for long."""
    marks = deque([(0.0, 0)])
    assert format_time_left(marks, 100) == ""
    marks.append((0.1, 50))
    assert format_time_left(marks, 100) == "about 1 s left"
    for second in range(1, 40):
        marks.append((float(second), 50 + second // 4))
    assert format_time_left(marks, 100) == "about 3 min left"
    marks.append((40.0, 100))
    assert format_time_left(marks, 100) == ""
