"""The explorer with real widgets and frames, without a page."""

import base64
import io
import threading

import pandas as pd
import pytest
from canned_service import balance
from hostile_symbols import SYMBOLS, hostile_holdings
from ipywidgets.widgets.widget import _instances
from test_display import failed, record
from traitlets import dlink

from walletframe.errors import ColumnsError
from walletframe.frames import WalletDetails, assemble, identified
from walletframe.pickers import FetchPanel, HoldingsExplorer
from walletframe.pickers.explorer.selection import Catalog, Selection
from walletframe.pickers.explorer.sight import look
from walletframe.pickers.explorer.views import VIEWS
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


def settle(explorer):
    """Wait until what is shown follows what was picked."""
    explorer._pause._timer.join()


def drawn(explorer):
    """Return the chart as the page gets it."""
    return explorer._output.outputs[0]["data"]


def run(code, details):
    """Run lines of code as a person would, and return what they make."""
    names = {"details": details}
    exec(code, names)  # noqa: S102 - our own text
    return names


def test_everything_is_shown_at_first(explorer, details):
    """All rows, a chart, the table and a summary that says what failed."""
    assert explorer.shown.holdings is details.holdings
    assert "application/vnd.plotly.v1+json" in drawn(explorer)
    assert "14 wallets on 12 blockchains: 12 ok, 2 failed" in explorer._summary.value
    assert "Simulated data" in explorer._summary.value
    assert str(details.holdings.amount[0]) in explorer._table.value


def test_picking_changes_all_that_is_seen(explorer):
    """Chart, table and summary follow a pick."""
    before = explorer._output.outputs
    explorer._chains.value = ["POLYGON"]
    settle(explorer)
    assert set(explorer.shown.holdings.blockchain) == {"POLYGON"}
    assert "1 wallet on 1 blockchain: 1 ok" in explorer._summary.value
    assert "POLYGON" in explorer._table.value
    assert "ARBITRUM" not in explorer._table.value
    assert explorer._output.outputs != before


def test_selection_is_by_identity(details):
    """Blockchains, wallets and tokens in any spelling; nothing chosen means everything."""
    catalog = Catalog(details)
    eight = "eth.0X" + "8" * 40
    both = catalog.select(Selection(("eth",), (eight,), (USDC,))).details
    assert (len(both.wallets), len(both.holdings)) == (1, 1)
    assert both.holdings.symbol.item() == "USDC"
    failing = catalog.select(Selection(("AVAX_CCHAIN",))).details
    assert (failing.wallets.status.item(), len(failing.holdings)) == ("failed", 0)
    assert len(catalog.select(Selection((), (), (USDC,))).wallets) == 14


@pytest.mark.parametrize("chosen", [{}, {"blockchains": ("bsc", "ETH")}, {"tokens": (USDC,)}])
def test_selected_rows_are_identified_as_they_would_be_alone(details, chosen):
    """What is known of the whole fetch tells it of some of its rows."""
    picked = Catalog(details).select(Selection(**chosen)).holdings
    alone = identified(picked.frame)
    for one, other in ((picked.tokens, alone.tokens), (picked.wallets, alone.wallets)):
        assert one.keys == other.keys
        assert one.codes.tolist() == other.codes.tolist()
        assert one.first.tolist() == other.first.tolist()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("picked", [{}, {"_chains": ["eth"]}, {"_tokens": [USDC]}])
def test_every_chart_is_drawn(explorer, view, picked):
    """Each chart works for everything, for a blockchain and for one token."""
    for part, value in picked.items():
        getattr(explorer, part).value = value
    explorer._view.value = view
    explorer._draw()
    assert explorer._alert.value == ""
    assert drawn(explorer)["application/vnd.plotly.v1+json"]["data"]


@pytest.mark.parametrize("view", VIEWS)
def test_the_code_makes_what_is_shown(explorer, details, view):
    """The lines run, and give the same rows, wallets and chart."""
    explorer._chains.value = ["ETH", "POLYGON"]
    explorer._wallets.value = ["ETH.0x" + "8" * 40, "POLYGON.0x" + "3" * 40]
    explorer._tokens.value = [
        option.value for option in explorer._tokens._options.find("us", 9).options
    ]
    explorer._view.value = view
    made = run(explorer.code, details)
    assert explorer.code.isascii()
    assert len(made["shown"]) > 1
    pd.testing.assert_frame_equal(made["shown"], explorer.shown.holdings)
    pd.testing.assert_frame_equal(made["wallets"], explorer.shown.wallets)
    assert made["figure"] == look(explorer._wish()).figure


def download(explorer, kind):
    """Prepare a download and return its bytes."""
    [button] = [button for button in explorer._savers if button.description == kind]
    button.click()
    assert explorer._alert.value == ""
    head, _, data = explorer._link.value.partition("base64,")
    assert "download=" in head
    return base64.b64decode(data.partition('"')[0])


def test_downloads_hold_what_is_shown_to_the_last_digit(explorer):
    """CSV and Parquet have every selected row, and the amounts exactly."""
    explorer._chains.value = ["ETH"]
    shown = explorer.shown.holdings.reset_index(drop=True)
    amounts = [str(amount) for amount in shown.amount]
    csv = pd.read_csv(io.BytesIO(download(explorer, "CSV")), dtype="str")
    assert csv.amount.tolist() == amounts
    parquet = pd.read_parquet(io.BytesIO(download(explorer, "Parquet")))
    assert parquet.amount.tolist() == amounts
    assert any(len(amount) > 70 for amount in amounts)


def test_page_and_code_can_be_downloaded(explorer, details):
    """The page needs no network and holds chart, summary and table; the code runs."""
    explorer._chains.value = ["POLYGON"]
    page = download(explorer, "HTML page").decode()
    assert "1 wallet on 1 blockchain" in page
    assert "Plotly.newPlot" in page
    assert not [line for line in page.splitlines() if 'src="http' in line[:200]]
    code = download(explorer, "pandas code").decode()
    assert len(run(code, details)["shown"]) == len(explorer.shown.holdings)


def test_a_link_is_of_what_is_shown(explorer):
    """Whatever changes takes an older link away."""
    download(explorer, "CSV")
    explorer._chains.value = ["ETH"]
    settle(explorer)
    assert explorer._link.value == ""


def test_too_much_for_a_browser_is_told(explorer, monkeypatch):
    """Many rows are left to the code, with the line that does it."""
    monkeypatch.setattr("walletframe.pickers.explorer.downloads._MOST_ROWS", 3)
    explorer._link.value = "of before"
    explorer.save("CSV")
    assert explorer._link.value == ""
    assert "too many for a download" in explorer._alert.value
    assert "to_parquet" in explorer._alert.value


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    "records, picked, reason",
    [
        ([], {}, "No balance to show: no wallet was asked for."),
        ([failed("0xa"), failed("0xb")], {}, "No balance to show: 2 wallets not ok."),
        ([record(balances=None)], {}, "1 wallet not ok."),
        ([record(balances=[])], {}, "1 wallet without any balance."),
        (
            [record(), failed("0xb")],
            {"_wallets": ["ETH.0xb"], "_tokens": ["TKN"]},
            "1 wallet not ok. Take away some of what is picked.",
        ),
        (
            [record(), record("0xb", balances=[balance(symbol="B", address="0xB")])],
            {"_wallets": ["ETH.0xa"], "_tokens": ["B"]},
            "1 wallet with other tokens than are picked. Take away some of what is picked.",
        ),
    ],
)
def test_why_there_is_no_chart(records, picked, reason, view):
    """The true reason is said, and the code that is offered runs, whatever the chart."""
    details = assemble(records)
    explorer = HoldingsExplorer(details)
    explorer._view.value = view
    for part, value in picked.items():
        getattr(explorer, part).value = value
    explorer._draw()
    assert drawn(explorer)["text/plain"].endswith(reason)
    made = run(explorer.code, details)
    assert made["shown"].empty
    assert "figure" not in made
    assert explorer._alert.value == ""
    explorer.close()


def test_a_chart_that_fails_stops_nothing_else(details):
    """The reason stands in its place; table, summary, code and downloads follow the selection."""
    currencies = pd.array(["USD", "EUR"] * 29, dtype="str")
    mixed = details._replace(holdings=details.holdings.assign(value=1.0, currency=currencies))
    explorer = HoldingsExplorer(mixed)
    for chain in ("BSC", "POLYGON"):
        explorer._chains.value = [chain]
        settle(explorer)
        assert "the values are in 2 currencies" in drawn(explorer)["text/html"]
        assert 'role="alert"' in drawn(explorer)["text/html"]
        assert chain in explorer._table.value
        assert "1 wallet on 1 blockchain: 1 ok" in explorer._summary.value
        assert len(run(explorer.code, mixed)["shown"]) == len(explorer.shown.holdings) > 0
        csv = pd.read_csv(io.BytesIO(download(explorer, "CSV")), dtype="str")
        assert len(csv) == len(explorer.shown.holdings)
    assert "the values are in 2 currencies" in download(explorer, "HTML page").decode()
    explorer.close()


def test_details_of_a_panel_can_be_linked(explorer, details, client):
    """What a panel fetches is explored at once; at first both have what was fetched before."""
    panel = FetchPanel(details, client=client)
    assert panel.details is details
    linked = dlink((panel, "details"), (explorer, "details"))
    panel._picker.value = ["NEAR.alice.near"]
    panel.fetch()
    panel._bar._fetching._thread.join()
    settle(explorer)
    assert explorer.details is panel.details
    assert "1 wallet on 1 blockchain" in explorer._summary.value
    linked.unlink()
    panel.close()


def test_what_is_no_fetch_is_refused(explorer, details):
    """It is told, and what was seen before stays; at first no widget is made."""
    before = explorer._output.outputs
    bad = details._replace(holdings=details.holdings.drop(columns="amount"))
    explorer.details = bad
    assert "lacks &#x27;amount&#x27;" in explorer._alert.value
    assert explorer._output.outputs == before
    with pytest.raises(ColumnsError, match="'amount'"):
        HoldingsExplorer(bad)


def test_frames_that_somebody_changed_are_told(details):
    """A row put in behind the explorer's back is no reason to keep still."""
    changed = WalletDetails(details.wallets.copy(), details.holdings)
    explorer = HoldingsExplorer(changed)
    changed.wallets.loc[len(changed.wallets)] = changed.wallets.loc[0]
    explorer._chains.value = ["POLYGON"]
    settle(explorer)
    assert "Item wrong length" in explorer._alert.value
    explorer.close()


def test_one_button_says_that_it_is_on(explorer):
    """By its text, not by a shade alone; a click on another one moves the mark."""
    buttons = explorer._view._buttons
    assert [button.description for button in buttons.values()][:2] == ["✓ Treemap", "Sunburst"]
    buttons["Heatmap"].click()
    settle(explorer)
    marked = [label for label, button in buttons.items() if button.description != label]
    assert marked == [explorer._view.value] == ["Heatmap"]
    assert explorer._view.children[0].value == "Chart"


def test_the_last_pick_wins(explorer):
    """Many quick changes, from several threads, end in the last one."""
    for name in ("ETH", "BSC", "POLYGON") * 5:
        threading.Thread(target=explorer._draw).start()
        explorer._chains.value = [name]
    settle(explorer)
    explorer._draw()
    assert set(explorer.shown.holdings.blockchain) == {"POLYGON"}
    assert "POLYGON" in explorer._table.value


def test_a_token_keeps_its_colour(explorer):
    """The colours are those of the whole fetch, whatever is selected."""
    colors = explorer._catalog.colors
    explorer._tokens.value = [USDC]
    assert colors[USDC] in look(explorer._wish()).figure.to_json()


def test_hostile_symbols_are_harmless():
    """Neither what is shown nor the code nor the page holds markup of strangers."""
    holdings = hostile_holdings()
    records = [record(balances=[balance()]), failed("0xb", error=SYMBOLS["script"])]
    wallets = assemble(records).wallets
    details = WalletDetails(wallets, assemble(records).holdings)
    frame = pd.concat([details.holdings, holdings]).astype(details.holdings.dtypes)
    explorer = HoldingsExplorer(details._replace(holdings=frame))
    explorer._tokens.value = [option.value for option in explorer._tokens._options]
    settle(explorer)
    assert explorer._alert.value == ""
    for part in (explorer._summary, explorer._table, explorer._code, explorer._link):
        assert "evil.example'" not in part.value.replace("&#x27;", "")
        assert "<script" not in part.value
    assert explorer.code.isascii()
    explorer.close()


def test_closing_ends_the_drawing(details):
    """A closed explorer leaves neither models nor threads."""
    before = set(threading.enumerate())
    explorer = HoldingsExplorer(details)
    explorer._chains.value = ["ETH"]
    explorer.close()
    explorer._draw()
    assert not {thread for thread in set(threading.enumerate()) - before if thread.is_alive()}
