"""The explorer with real widgets and frames, without a page."""

import io
import json
import threading

import pandas as pd
import pytest
from canned_service import balance
from fetches import failed, record
from hostile_symbols import SYMBOLS, hostile_holdings
from ipywidgets.widgets.widget import _instances
from traitlets import dlink
from widgets import Page, wait

from walletframe.charts import token_colors
from walletframe.errors import ColumnsError
from walletframe.frames import WalletDetails, assemble, read_positions
from walletframe.pickers import (
    BlockchainPicker,
    FetchPanel,
    HoldingsExplorer,
    TokenPicker,
    WalletPicker,
)
from walletframe.pickers.selection import Catalog, Selection
from walletframe.pickers.views import CHARTS
from walletframe.service import SHOWCASE

USDC = ("ETH", "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48")


@pytest.fixture(scope="module")
def details(service):
    """Give the wallets of the showcase, one of which fails."""
    with service.client(cache="memory") as client:
        return client.fetch(SHOWCASE, on_failure="ignore")


@pytest.fixture(autouse=True)
def nothing_left():
    """Expect that every test closes the widgets that it opens."""
    before = set(_instances)
    yield
    assert set(_instances) == before


@pytest.fixture
def explorer(details, client):
    """Give an explorer of the showcase."""
    opened = HoldingsExplorer(details, client=client)
    yield opened
    opened.close()


def pick(explorer, blockchains=None, wallets=None, tokens=None):
    """Pick some of each, and wait until what is shown follows."""
    page = Page(explorer)
    parts = {BlockchainPicker: blockchains, WalletPicker: wallets, TokenPicker: tokens}
    for kind, value in parts.items():
        if value is not None:
            page.part(kind).value = value
    wait()


def plotted(explorer):
    """Return the data of the chart."""
    return Page(explorer).chart()["application/vnd.plotly.v1+json"]


def run(code, details):
    """Run lines of code as a person would, and return what they make."""
    names = {"details": details}
    exec(code, names)  # noqa: S102 - our own text
    return names


def test_everything_is_shown_at_first(explorer, details):
    """All rows, a chart, the table and a summary that says what failed."""
    assert explorer.shown.holdings is details.holdings
    said = Page(explorer).html()
    assert plotted(explorer)["data"]
    assert "14 wallets on 12 blockchains: 12 ok, 2 failed" in said
    assert "Simulated data" in said
    assert str(details.holdings.amount[0]) in said


def test_picking_changes_all_that_is_seen(explorer):
    """Chart, table and summary follow a pick."""
    before = plotted(explorer)
    assert ">ARBITRUM." in Page(explorer).html()
    pick(explorer, ["POLYGON"])
    said = Page(explorer).html()
    assert set(explorer.shown.holdings.blockchain) == {"POLYGON"}
    assert "1 wallet on 1 blockchain: 1 ok" in said
    assert "POLYGON" in said
    assert "ARBITRUM" not in said
    assert plotted(explorer) != before


def test_selection_is_by_identity(details):
    """Blockchains, wallets and tokens in any spelling; nothing chosen means everything."""
    catalog = Catalog(details)
    eight = "eth.0X" + "8" * 40
    wallets, held = catalog.select(Selection(("eth",), (eight,), (USDC,)))
    assert (len(wallets), len(held.holdings)) == (1, 1)
    assert held.holdings.symbol.item() == "USDC"
    wallets, held = catalog.select(Selection(("AVAX_CCHAIN",)))
    assert (wallets.status.item(), len(held.holdings)) == ("failed", 0)
    assert len(catalog.select(Selection((), (), (USDC,)))[0]) == 14


@pytest.mark.parametrize("chosen", [{}, {"blockchains": ("bsc", "ETH")}, {"tokens": (USDC,)}])
def test_selected_rows_are_identified_as_they_would_be_alone(details, chosen):
    """What is known of the whole fetch tells it of some of its rows."""
    _, picked = Catalog(details).select(Selection(**chosen))
    alone = read_positions(picked.holdings)
    assert picked.tokens.keys == alone.tokens.keys
    assert picked.tokens.codes.tolist() == alone.tokens.codes.tolist()
    assert picked.tokens.first.tolist() == alone.tokens.first.tolist()
    assert picked.wallet_keys == alone.wallet_keys
    assert picked.wallet_codes.tolist() == alone.wallet_codes.tolist()
    assert picked.wallets.equals(alone.wallets)


@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.parametrize("picked", [{}, {"blockchains": ["eth"]}, {"tokens": [USDC]}])
def test_every_chart_is_drawn(explorer, chart, picked):
    """Each chart works for everything, for a blockchain and for one token."""
    Page(explorer).click(chart)
    pick(explorer, **picked)
    assert Page(explorer).alert() == ""
    assert plotted(explorer)["data"]


@pytest.mark.parametrize("chart", CHARTS)
def test_the_code_makes_what_is_shown(explorer, details, chart):
    """The lines run, and give the same rows, wallets and chart."""
    page = Page(explorer)
    page.click(chart)
    page.pick("Tokens", *range(9))
    assert len(page.part(TokenPicker).value) == 9
    wallets = ["ETH.0x" + "8" * 40, "POLYGON.0x" + "3" * 40]
    pick(explorer, ["ETH", "POLYGON"], wallets)
    made = run(explorer.code, details)
    assert explorer.code.isascii()
    assert len(made["shown"]) > 1
    pd.testing.assert_frame_equal(made["shown"], explorer.shown.holdings)
    pd.testing.assert_frame_equal(made["wallets"], explorer.shown.wallets)
    assert json.loads(made["figure"].to_json()) == plotted(explorer)


def test_downloads_hold_what_is_shown_to_the_last_digit(explorer):
    """CSV and Parquet have every selected row, and the amounts exactly."""
    pick(explorer, ["ETH"])
    shown = explorer.shown.holdings.reset_index(drop=True)
    amounts = [str(amount) for amount in shown.amount]
    csv = pd.read_csv(io.BytesIO(Page(explorer).download("CSV")), dtype="str")
    assert csv.amount.tolist() == amounts
    parquet = pd.read_parquet(io.BytesIO(Page(explorer).download("Parquet")))
    assert parquet.amount.tolist() == amounts
    assert any(len(amount) > 70 for amount in amounts)


def test_page_and_code_can_be_downloaded(explorer, details):
    """The page needs no network and holds chart, summary and table; the code runs."""
    pick(explorer, ["POLYGON"])
    page = Page(explorer).download("HTML page").decode()
    assert "1 wallet on 1 blockchain" in page
    assert "Plotly.newPlot" in page
    assert not [line for line in page.splitlines() if 'src="http' in line[:200]]
    code = Page(explorer).download("pandas code").decode()
    assert len(run(code, details)["shown"]) == len(explorer.shown.holdings)


def test_a_link_is_of_what_is_shown(explorer):
    """Whatever changes takes an older link away."""
    assert Page(explorer).download("CSV")
    pick(explorer, ["ETH"])
    assert "download=" not in Page(explorer).html()


def test_a_kind_of_file_that_does_not_exist_is_told(explorer):
    """It is no other kind of file."""
    explorer.save("csv")
    page = Page(explorer)
    assert "one of CSV, Parquet, HTML page, pandas code" in page.alert()
    assert "download=" not in page.html()


def test_too_much_for_a_browser_is_told(explorer, monkeypatch):
    """Many rows are left to the code, with the line that does it."""
    page = Page(explorer)
    assert page.download("CSV")
    monkeypatch.setattr("walletframe.pickers.views._MOST_ROWS", 3)
    page.click("CSV")
    assert "download=" not in page.html()
    assert "too many for a download" in page.alert()
    assert "to_parquet" in page.alert()


@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.parametrize(
    "records, picked, reason",
    [
        ([], {}, "No balance to show: no wallet was asked for."),
        ([failed("0xa"), failed("0xb")], {}, "No balance to show: 2 wallets not ok."),
        ([record(balances=None)], {}, "1 wallet not ok."),
        ([record(balances=[])], {}, "1 wallet without any balance."),
        (
            [record(), failed("0xb")],
            {"wallets": ["ETH.0xb"], "tokens": ["TKN"]},
            "1 wallet not ok. Take away some of what is picked.",
        ),
        (
            [record(), record("0xb", balances=[balance(symbol="B", address="0xB")])],
            {"wallets": ["ETH.0xa"], "tokens": ["B"]},
            "1 wallet with other tokens than are picked. Take away some of what is picked.",
        ),
    ],
)
def test_why_there_is_no_chart(records, picked, reason, chart):
    """The true reason is said, and the code that is offered runs, whatever the chart."""
    details = assemble(records)
    explorer = HoldingsExplorer(details)
    page = Page(explorer)
    page.click(chart)
    pick(explorer, **picked)
    assert page.chart()["text/plain"].endswith(reason)
    made = run(explorer.code, details)
    assert made["shown"].empty
    assert "figure" not in made
    assert page.alert() == ""
    explorer.close()


def test_a_chart_that_fails_stops_nothing_else(details):
    """The reason stands in its place; table, summary, code and downloads follow the selection."""
    currencies = pd.array(["USD", "EUR"] * 29, dtype="str")
    mixed = details._replace(holdings=details.holdings.assign(value=1.0, currency=currencies))
    explorer = HoldingsExplorer(mixed)
    for chain in ("BSC", "POLYGON"):
        pick(explorer, [chain])
        page = Page(explorer)
        assert "the values are in 2 currencies" in page.chart()["text/html"]
        assert 'role="alert"' in page.chart()["text/html"]
        assert f">{chain}." in page.html()
        assert "1 wallet on 1 blockchain: 1 ok" in page.html()
        assert len(run(explorer.code, mixed)["shown"]) == len(explorer.shown.holdings) > 0
        csv = pd.read_csv(io.BytesIO(Page(explorer).download("CSV")), dtype="str")
        assert len(csv) == len(explorer.shown.holdings)
    assert "the values are in 2 currencies" in Page(explorer).download("HTML page").decode()
    explorer.close()


def test_details_of_a_panel_can_be_linked(explorer, details, client):
    """What a panel fetches is explored at once; at first both have what was fetched before."""
    panel = FetchPanel(details, client=client)
    assert panel.details is details
    linked = dlink((panel, "details"), (explorer, "details"))
    Page(panel).part(WalletPicker).value = ["NEAR.alice.near"]
    Page(panel).click("Fetch")
    wait()
    assert explorer.details is panel.details
    assert "1 wallet on 1 blockchain" in Page(explorer).html()
    linked.unlink()
    panel.close()


def test_what_is_no_fetch_is_refused(explorer, details):
    """It is told, and what was seen before stays; at first no widget is made."""
    page = Page(explorer)
    before = plotted(explorer)
    bad = details._replace(holdings=details.holdings.drop(columns="amount"))
    explorer.details = bad
    assert "lacks &#x27;amount&#x27;" in page.alert()
    assert plotted(explorer) == before
    with pytest.raises(ColumnsError, match="'amount'"):
        HoldingsExplorer(bad)


def test_frames_that_somebody_changed_are_told(details):
    """A row put in behind the explorer's back is no reason to keep still."""
    changed = WalletDetails(details.wallets.copy(), details.holdings)
    explorer = HoldingsExplorer(changed)
    changed.wallets.loc[len(changed.wallets)] = changed.wallets.loc[0]
    pick(explorer, ["POLYGON"])
    assert "Item wrong length" in Page(explorer).alert()
    explorer.close()


def test_one_button_says_that_it_is_on(explorer):
    """By its text, not by a shade alone; a click on another one moves the mark."""
    page = Page(explorer)
    assert "✓ Treemap" in page.buttons()
    assert [name for name in page.buttons() if name in CHARTS] == list(CHARTS)[1:]
    page.click("Heatmap")
    wait()
    assert [name for name in page.buttons() if name.startswith("✓")] == ["✓ Heatmap", "✓ tokens"]
    assert plotted(explorer)["data"][0]["type"] == "heatmap"


def test_the_last_pick_wins(explorer):
    """Many quick changes, from several threads, end in the last one."""
    chains = Page(explorer).part(BlockchainPicker)
    for chart in ("Treemap", "Sunburst", "Heatmap") * 3:
        threading.Thread(target=Page(explorer).click, args=[chart]).start()
        chains.value = ["ETH"]
        chains.value = ["POLYGON"]
    wait()
    assert set(explorer.shown.holdings.blockchain) == {"POLYGON"}
    assert ">POLYGON." in Page(explorer).html()
    assert ">ETH." not in Page(explorer).html()


def test_a_token_keeps_its_colour(explorer, details):
    """The colours are those of the whole fetch, whatever is selected."""
    pick(explorer, tokens=[USDC])
    assert token_colors(details.holdings)[USDC] in json.dumps(plotted(explorer))


def test_hostile_symbols_are_harmless():
    """Neither what is shown nor the code nor the page holds markup of strangers."""
    holdings = hostile_holdings()
    records = [record(balances=[balance()]), failed("0xb", error=SYMBOLS["script"])]
    wallets = assemble(records).wallets
    details = WalletDetails(wallets, assemble(records).holdings)
    frame = pd.concat([details.holdings, holdings]).astype(details.holdings.dtypes)
    explorer = HoldingsExplorer(details._replace(holdings=frame))
    page = Page(explorer)
    page.pick("Tokens", *range(len(page.listed("Tokens"))))
    wait()
    assert len(page.part(TokenPicker).value) == len(page.listed("Tokens")) > 1
    assert page.alert() == ""
    assert "evil.example'" not in page.html(hidden=True).replace("&#x27;", "")
    assert "<script" not in page.html(hidden=True)
    assert explorer.code.isascii()
    explorer.close()


def test_closing_ends_the_drawing(details):
    """A closed explorer leaves neither models nor threads."""
    before = set(threading.enumerate())
    explorer = HoldingsExplorer(details)
    Page(explorer).part(BlockchainPicker).value = ["ETH"]
    explorer.close()
    Page(explorer).click("Heatmap")
    assert not {thread for thread in set(threading.enumerate()) - before if thread.is_alive()}
