"""Refresh in the explorer loses no known wallets and no changes."""

import pandas as pd
import pytest
from addresses import A, B, C, D
from canned_service import KEY, answer, balance, wallet
from copied_code import executed_on
from widgets import MODELS, Page, wait

from walletframe.client import configure
from walletframe.errors import ArgumentError
from walletframe.frames.assembly import assemble
from walletframe.pickers import HoldingsExplorer
from walletframe.service import SHOWCASE, Sandbox, sandbox

NAMES = [f"ETH.{A}", f"ETH.{B}", f"ETH.{C}"]


@pytest.fixture(autouse=True)
def nothing_left():
    """Check that a test closes its widgets."""
    before = set(MODELS)
    yield
    assert set(MODELS) == before


@pytest.fixture(scope="module")
def details(service):
    """Return the wallets of the showcase, one of which fails."""
    with service.client(cache="memory") as client:
        return client.fetch(SHOWCASE, on_failure="ignore")


@pytest.fixture
def opened(client):
    """Return a function whose explorers are closed after the test."""
    panes = []

    def open_explorer(*args, **more):
        panes.append(HoldingsExplorer(*args, **{"client": client} | more))
        return panes[-1]

    yield open_explorer
    for pane in panes:
        pane.close()


@pytest.fixture
def client_and_fetch(canned):
    """Return a client without a cache, and a fetch of three wallets."""
    for address, symbol in ((A, "A"), (B, "B"), (C, "C")):
        canned.add_reply(answer(wallet(address, balances=[balance(symbol=symbol)] * 2)))
    with canned.client(cache=False, workers=1) as client:
        yield client, client.fetch(NAMES)


def refresh(explorer):
    """Refresh, and wait for the end."""
    Page(explorer).click("fetch")
    wait()


def in_money(holdings):
    """Return holdings without spam, valued."""
    return holdings.wf.without_spam().wf.value({("ETH", None): 2500.0}, currency="USD")


def test_refresh_requests_again(opened, details):
    """New answers replace the old ones; the selection stays."""
    explorer = opened(details)
    Page(explorer).choose("blockchains", "ETH")
    refresh(explorer)
    assert explorer.details is not details
    assert (explorer.details.wallets.fetched_at > details.wallets.fetched_at).any()
    assert Page(explorer).look()["chosen"]["blockchains"] == ["ETH"]
    assert set(explorer.shown.holdings.blockchain) == {"ETH"}


def test_prepare_is_applied_to_each_answer(opened, details):
    """With `prepare`, charts keep values, and the offered code makes the same rows."""
    explorer = opened(details, prepare=in_money)
    for _ in range(2):
        shown = explorer.shown.holdings
        pd.testing.assert_frame_equal(shown, in_money(explorer.details.holdings))
        assert len(shown) < len(explorer.details.holdings)
        assert "USD" in str(Page(explorer).plotted())
        names = executed_on(explorer.details, explorer.code, prepare=in_money)
        pd.testing.assert_frame_equal(names["shown"].holdings, shown)
        assert "USD" in names["figure"].to_json()
        before = explorer.details
        refresh(explorer)
        assert explorer.details is not before


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda holdings: holdings.wf.value(currency="USD"), "would lose the columns"),
        (
            lambda holdings: holdings.wf.without_spam(),
            "Refresh would lose added rows and restore removed rows",
        ),
    ],
)
def test_refresh_refuses_to_drop_changes_of_holdings(opened, details, change, message):
    """Without `prepare`, it names the lost columns, has a hint, and sends no request."""
    explorer = opened(details._replace(holdings=change(details.holdings)))
    page = Page(explorer)
    page.click("fetch")
    assert message in page.alert()
    assert "prepare=" in page.alert()
    assert not page.is_busy()


def test_prepare_can_not_change_the_fetch(opened, details):
    """A function that writes into its argument writes into a copy."""

    def write(holdings):
        holdings["decimals"] = 0
        holdings["mine"] = 1
        return holdings

    explorer = opened(details, prepare=write)
    assert "mine" in explorer.shown.holdings
    assert "mine" not in explorer.details.holdings
    assert (explorer.details.holdings.decimals > 0).any()


def test_other_prepares_are_refused(details):
    """Before there is any widget, with a hint."""
    with pytest.raises(ArgumentError, match="not a function"):
        HoldingsExplorer(details, prepare="USD")
    with pytest.raises(ArgumentError, match="`prepare` returned a NoneType"):
        HoldingsExplorer(details, prepare=lambda _: None)


def test_wallets_without_a_new_answer_stay(opened, canned, client_and_fetch):
    """They are marked as stale; the others have the new answer."""
    client, known = client_and_fetch
    explorer = opened(known, client=client)
    canned.default = (503, {}, b"closed")
    canned.add_reply(b"", status=404)
    canned.add_reply(answer(wallet(B, balances=[balance("7", symbol="NEW")])))
    refresh(explorer)
    wallets, holdings = explorer.details
    assert wallets.status.tolist() == ["ok"] * 3
    assert wallets.source.tolist() == ["stale", "service", "stale"]
    assert wallets.error.str.startswith("not refreshed: ").tolist() == [True, False, True]
    assert wallets.fetched_at[0] == known.wallets.fetched_at[0]
    assert holdings.symbol.tolist() == ["A", "A", "NEW", "C", "C"]
    assert holdings.amount.tolist()[:2] == known.holdings.amount.tolist()[:2]
    assert wallets.dtypes.equals(known.wallets.dtypes)
    assert holdings.dtypes.equals(known.holdings.dtypes)
    assert wallets.index.equals(known.wallets.index)
    assert "2 wallets show an older answer" in Page(explorer).status()
    assert f"ETH.{A}" in Page(explorer).status()
    assert "not refreshed: " in Page(explorer).status()


def test_an_unknown_wallet_gets_its_new_reason(opened, canned, client_and_fetch):
    """There is no older answer to use."""
    client, known = client_and_fetch
    canned.default = (503, {}, b"closed")
    explorer = opened(client.fetch([f"ETH.{D}"], on_failure="ignore"), client=client)
    canned.default = (404, {}, b"gone")
    refresh(explorer)
    assert explorer.details.wallets.status.tolist() == ["rejected"]
    assert len(known.holdings) == 6


def test_a_cancelled_refresh_loses_nothing(opened, canned, client_and_fetch):
    """Old answers stay, with the reason; one button requests the rest."""
    client, known = client_and_fetch
    canned.add_reply([b" "] * 200)
    explorer = opened(known, client=client)
    page = Page(explorer)
    page.click("fetch")
    page.click("cancel")
    wait()
    wallets, holdings = explorer.details
    pd.testing.assert_frame_equal(holdings, known.holdings)
    assert wallets.error.str.contains("not refreshed: cancelled").all()
    assert explorer._retry_label == "Retry all 3 unknown wallets"


def test_no_wallets_to_refresh(opened):
    """The hint fits the widget."""
    explorer = opened(assemble([]))
    page = Page(explorer)
    page.click("fetch")
    assert "there are no wallets to fetch" in page.alert()
    assert "paste" not in page.alert()


def test_refresh_finds_the_client_of_the_data(monkeypatch):
    """The default one, if its service is theirs; else a sandbox; else there is a hint."""
    with sandbox() as service, service.client(cache="memory") as client:
        details = client.fetch(["NEAR.alice.near"])
    explorer = HoldingsExplorer(details)  # the sandbox has stopped by now
    refresh(explorer)
    assert Page(explorer).alert() == ""
    assert explorer.details is not details
    with monkeypatch.context() as patch:
        patch.setattr(Sandbox, "_latest", None)  # as if the data were another process's
        refresh(explorer)
        assert "Refresh needs a client for sandbox" in Page(explorer).alert()
    elsewhere = details.wallets.assign(service="elsewhere")
    explorer.details = details._replace(wallets=elsewhere)
    refresh(explorer)
    assert "Refresh needs a client for elsewhere" in Page(explorer).alert()
    assert "client=" in Page(explorer).alert()
    explorer.close()


def test_refresh_uses_the_default_client_of_its_service(canned, monkeypatch):
    """If none can be made, the error says why."""
    canned.add_reply(answer(wallet(A)))
    with canned.client(cache=False, service="mine") as client:
        explorer = HoldingsExplorer(client.fetch(f"ETH.{A}"))
    with monkeypatch.context() as patch:
        patch.setenv("WALLETFRAME_WORKERS", "some")
        refresh(explorer)
        assert (
            "for mine; WALLETFRAME_WORKERS is not valid: 'some'. Hint: pass client="
            in Page(explorer).alert()
        )
    configure(
        api_key=KEY, key_kind="private", base_url=canned.base_url, cache=False, service="mine"
    )
    canned.add_reply(answer(wallet(A, balances=[balance("3")])))
    refresh(explorer)
    assert Page(explorer).alert() == ""
    assert explorer.details.holdings.raw_amount.tolist() == ["3"]
    explorer.close()


def test_the_code_leaves_out_spam_of_a_prepare(details):
    """By its column, as in the explorer; without one, nothing is spam."""

    def flagged(holdings):
        return holdings.assign(is_spam=holdings.symbol == "ETH")

    for prepare in (flagged, lambda holdings: holdings.head(5)):
        explorer = HoldingsExplorer(details, prepare=prepare)
        made = executed_on(details, explorer.code, prepare=prepare)
        assert made["shown"].holdings.index.equals(explorer.shown.holdings.index)
        explorer.close()


def test_wallets_are_refreshed_as_they_were_requested(canned, opened):
    """Even if their address does not have the form of the blockchain."""
    canned.add_reply(answer(wallet("0x12", balances=[])))
    canned.default = (200, {}, answer(wallet("0x12")))
    with canned.client(cache=False) as client:
        explorer = opened(client.fetch("ETH.0x12", on_unreadable="ask"), client=client)
        refresh(explorer)
        assert len(explorer.details.holdings) == 1
