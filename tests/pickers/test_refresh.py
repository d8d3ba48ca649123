"""Refresh in the explorer: nothing that was known or done to it is lost."""

import pandas as pd
import pytest
from canned_service import KEY, answer, balance, wallet
from copied_code import executed_on
from widgets import MODELS, Page, wait

from walletframe.client import configure
from walletframe.errors import ArgumentError
from walletframe.frames.assembly import assemble
from walletframe.pickers import HoldingsExplorer
from walletframe.service import SHOWCASE, Sandbox, sandbox

NAMES = ["ETH.0xa", "ETH.0xb", "ETH.0xc"]


@pytest.fixture(autouse=True)
def nothing_left():
    """Expect that every test closes the widgets that it opens."""
    before = set(MODELS)
    yield
    assert set(MODELS) == before


@pytest.fixture(scope="module")
def details(service):
    """Give the wallets of the showcase, one of which fails."""
    with service.client(cache="memory") as client:
        return client.fetch(SHOWCASE, on_failure="ignore")


@pytest.fixture
def opened(client):
    """Give explorers that are closed at the end."""
    panes = []

    def open_explorer(*given, **more):
        panes.append(HoldingsExplorer(*given, **{"client": client} | more))
        return panes[-1]

    yield open_explorer
    for pane in panes:
        pane.close()


@pytest.fixture
def asked(canned):
    """Give a client without a cache, and what three wallets hold."""
    for address, symbol in (("0xa", "A"), ("0xb", "B"), ("0xc", "C")):
        canned.say(answer(wallet(address, balances=[balance(symbol=symbol)] * 2)))
    with canned.client(cache=False, workers=1) as client:
        yield client, client.fetch(NAMES)


def refresh(explorer):
    """Refresh, and wait until that is shown."""
    Page(explorer).tell("fetch")
    wait()


def in_money(holdings):
    """Value what is no spam."""
    return holdings.wf.without_spam().wf.value({("ETH", None): 2500.0}, currency="USD")


def test_refresh_asks_anew(opened, details):
    """New answers replace the old ones; what is picked stays picked."""
    explorer = opened(details)
    Page(explorer).choose("blockchains", "ETH")
    refresh(explorer)
    assert explorer.details is not details
    assert (explorer.details.wallets.fetched_at > details.wallets.fetched_at).any()
    assert Page(explorer).look()["chosen"]["blockchains"] == ["ETH"]
    assert set(explorer.shown.holdings.blockchain) == {"ETH"}


def test_what_is_done_to_holdings_is_done_to_each_answer(opened, details):
    """With `prepare`, charts stay in money, and the code that is offered makes the same rows."""
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
    "change, said",
    [
        (lambda holdings: holdings.wf.value(currency="USD"), "would lose the columns"),
        (lambda holdings: holdings.wf.without_spam(), "other rows than the fetch"),
    ],
)
def test_what_was_done_to_holdings_is_not_undone(opened, details, change, said):
    """Without `prepare`, Refresh says what would be lost and what to do, and asks nothing."""
    explorer = opened(details._replace(holdings=change(details.holdings)))
    page = Page(explorer)
    page.tell("fetch")
    assert said in page.alert()
    assert "prepare=" in page.alert()
    assert not page.is_busy()


def test_prepare_can_not_change_what_was_fetched(opened, details):
    """A function that writes into its argument writes into a copy."""

    def write(holdings):
        holdings["decimals"] = 0
        holdings["mine"] = 1
        return holdings

    explorer = opened(details, prepare=write)
    assert "mine" in explorer.shown.holdings
    assert "mine" not in explorer.details.holdings
    assert (explorer.details.holdings.decimals > 0).any()


def test_what_is_no_function_of_holdings_is_refused(details):
    """Before there is any widget, with what to give instead."""
    with pytest.raises(ArgumentError, match="not a function"):
        HoldingsExplorer(details, prepare="USD")
    with pytest.raises(ArgumentError, match="prepare returned a NoneType"):
        HoldingsExplorer(details, prepare=lambda _: None)


def test_what_can_not_be_asked_anew_stays(opened, canned, asked):
    """The new answer where there is one; else what was known, marked as out of date."""
    client, known = asked
    explorer = opened(known, client=client)
    canned.default = (503, {}, b"closed")
    canned.say(b"", status=404)
    canned.say(answer(wallet("0xb", balances=[balance("7", symbol="NEW")])))
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
    assert "ETH.0xa" in Page(explorer).status()
    assert "not refreshed: " in Page(explorer).status()


def test_a_wallet_that_was_unknown_has_its_new_reason(opened, canned, asked):
    """Where nothing was known, nothing can stand in."""
    client, known = asked
    canned.default = (503, {}, b"closed")
    explorer = opened(client.fetch(["ETH.0xd"], on_failure="ignore"), client=client)
    canned.default = (404, {}, b"gone")
    refresh(explorer)
    assert explorer.details.wallets.status.tolist() == ["rejected"]
    assert len(known.holdings) == 6


def test_a_cancelled_refresh_loses_nothing(opened, canned, asked):
    """What was known stays, and says why it is not newer; one button asks for the rest."""
    client, known = asked
    canned.say([b" "] * 200)
    explorer = opened(known, client=client)
    page = Page(explorer)
    page.tell("fetch")
    page.tell("cancel")
    wait()
    wallets, holdings = explorer.details
    pd.testing.assert_frame_equal(holdings, known.holdings)
    assert wallets.error.str.contains("not refreshed: cancelled").all()
    assert explorer._again == "Retry 3 wallets"


def test_no_wallets_to_refresh(opened):
    """What to do is told as far as it can be done here."""
    explorer = opened(assemble([]))
    page = Page(explorer)
    page.tell("fetch")
    assert "there are no wallets to fetch" in page.alert()
    assert "paste" not in page.alert()


def test_refresh_finds_the_client_of_the_data(monkeypatch):
    """The default one, where its service is theirs; else a sandbox; else it says what to give."""
    with sandbox() as service, service.client(cache="memory") as client:
        details = client.fetch(["NEAR.alice.near"])
    explorer = HoldingsExplorer(details)  # the sandbox has stopped by now
    refresh(explorer)
    assert Page(explorer).alert() == ""
    assert explorer.details is not details
    with monkeypatch.context() as patch:
        patch.setattr(Sandbox, "_latest", None)  # as where the data are of another process
        refresh(explorer)
        assert "Refresh needs a client for sandbox" in Page(explorer).alert()
    elsewhere = details.wallets.assign(service="elsewhere")
    explorer.details = details._replace(wallets=elsewhere)
    refresh(explorer)
    assert "Refresh needs a client for elsewhere" in Page(explorer).alert()
    assert "client=" in Page(explorer).alert()
    explorer.close()


def test_the_default_client_is_asked_where_the_data_are_its_own(canned, monkeypatch):
    """Refresh asks it; where none can be made, it says why."""
    canned.say(answer(wallet("0xa")))
    with canned.client(cache=False, service="mine") as client:
        explorer = HoldingsExplorer(client.fetch("ETH.0xa"))
    with monkeypatch.context() as patch:
        patch.setenv("WALLETFRAME_WORKERS", "some")
        refresh(explorer)
        assert "for mine; WALLETFRAME_WORKERS can't be 'some'" in Page(explorer).alert()
    configure(
        api_key=KEY, key_kind="private", base_url=canned.base_url, cache=False, service="mine"
    )
    canned.say(answer(wallet("0xa", balances=[balance("3")])))
    refresh(explorer)
    assert Page(explorer).alert() == ""
    assert explorer.details.holdings.raw_amount.tolist() == ["3"]
    explorer.close()


def test_spam_of_a_prepare_is_left_out_by_the_code(details):
    """By its column, as in the explorer; without one, nothing is spam."""

    def flagged(holdings):
        return holdings.assign(is_spam=holdings.symbol == "ETH")

    for prepare in (flagged, lambda holdings: holdings.head(5)):
        explorer = HoldingsExplorer(details, prepare=prepare)
        made = executed_on(details, explorer.code, prepare=prepare)
        assert made["shown"].holdings.index.equals(explorer.shown.holdings.index)
        explorer.close()
