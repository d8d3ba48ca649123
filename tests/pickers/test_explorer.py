"""The explorer with real widgets and frames, without a page."""

import io
import json
import threading

import pandas as pd
import pytest
from addresses import UPPER_B, A, B
from canned_service import balance
from copied_code import executed_on
from fetches import failed, record
from hostile_symbols import SYMBOLS, hostile_holdings
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import dlink
from widgets import MODELS, Line, Page, ask, ask_for_data, wait

from walletframe.analysis.selection import Selection
from walletframe.charts import token_colors
from walletframe.errors import ColumnsError
from walletframe.frames.assembly import assemble
from walletframe.frames.details import WalletDetails
from walletframe.frames.positions import read_positions
from walletframe.pandas_versions import TEXT
from walletframe.pickers import FetchPanel, HoldingsExplorer
from walletframe.pickers.chart import CHARTS
from walletframe.pickers.data import ExplorerData
from walletframe.pickers.explorer import static_mime_bundle
from walletframe.service import SHOWCASE

USDC = ("ETH", "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48")


@pytest.fixture(scope="module")
def details(service):
    """Return the wallets of the showcase, one of which fails."""
    with service.client(cache="memory") as client:
        return client.fetch(SHOWCASE, on_failure="ignore")


@pytest.fixture(autouse=True)
def nothing_left():
    """Check that a test closes its widgets."""
    before = set(MODELS)
    yield
    assert set(MODELS) == before


@pytest.fixture
def explorer(details, client):
    """Return an explorer of the showcase."""
    opened = HoldingsExplorer(details, client=client)
    yield opened
    opened.close()


def pick(explorer, **chosen):
    """Choose in pickers, and return the page's answer about the chart."""
    page = Page(explorer)
    for kind, values in chosen.items():
        page.choose(kind, *values)
    return page.look()


def drawn(figure):
    """Return the data of a chart."""
    return json.loads(figure.to_json())["data"] if not isinstance(figure, dict) else figure["data"]


def same_fetch(one, other):
    """Check that two fetches are equal."""
    for frames in zip(one, other, strict=True):
        pd.testing.assert_frame_equal(*frames)


def shown_by(data, *picked, **more):
    """Return the selection, spam included."""
    return data.select_holdings(Selection(*picked, **more, spam=None))


def test_everything_is_shown_at_first(explorer, details):
    """Values first: all rows but spam, a chart, the table, and a line about known wallets."""
    page = Page(explorer)
    answer = page.look()
    assert explorer.shown.holdings["symbol"].equals(details.holdings.wf.without_spam()["symbol"])
    assert answer["measure"] == "value"
    assert answer["spam"]["text"].startswith("Show ")
    assert answer["figure"]["data"]
    assert answer["summary"]["known"] == "12 of 14 wallets are known"
    assert answer["summary"]["simulated"]
    assert "14 wallets on 12 blockchains: 12 ok, 2 failed" in page.status()
    assert "Simulated data" in page.status()
    page.look(spam=True)
    assert len(explorer.shown.holdings) == len(details.holdings)


def test_the_page_has_plotly_before_any_sum(details):
    """The browser's work takes longest, so it is requested first."""
    before, seen = set(MODELS), []

    def prepare(holdings):
        [widget] = (
            widget
            for key, widget in MODELS.items()
            if key not in before and isinstance(widget, HoldingsExplorer)
        )
        seen.append((widget._edition, widget._plotly, ask_for_data(widget, "plotly")[1]))
        return holdings

    HoldingsExplorer(details, prepare=prepare).close()
    [(edition, version, [script])] = seen
    assert (edition, script[:60].decode().count(version)) == (0, 1)
    assert len(script) > 1e6


def test_picking_updates_everything(explorer):
    """Chart, table and summary follow a selection."""
    page = Page(explorer)
    before = page.plotted()
    assert "ARBITRUM." in page.rows()
    answer = pick(explorer, blockchains=["polygon"])
    assert set(explorer.shown.holdings.blockchain) == {"POLYGON"}
    assert answer["chosen"]["blockchains"] == ["POLYGON"]
    assert answer["crumbs"] == ["POLYGON"]
    assert "1 wallet on 1 blockchain: 1 ok" in page.status()
    assert "POLYGON" in page.rows()
    assert "ARBITRUM" not in page.rows()
    assert answer["figure"] != before
    assert page.look(back=0)["crumbs"] == []


def test_pickers_filter_each_other(explorer):
    """Each shows the others' remaining options, with their holdings; its own choice aside."""
    everything = ask(explorer, "remaining")["counts"]
    pick(explorer, blockchains=["ETH"])
    answer = ask(explorer, "remaining", open=["wallets", "tokens"])
    assert {kind: each["all"] for kind, each in answer["counts"].items()} == {
        kind: each["all"] for kind, each in everything.items()
    }
    assert answer["counts"]["wallets"]["remaining"] == len(explorer.shown.wallets)
    tokens = explorer.shown.holdings[["token_blockchain", "token_address"]]
    assert answer["counts"]["tokens"]["remaining"] == len(tokens.drop_duplicates())
    assert answer["counts"]["blockchains"] == everything["blockchains"]
    assert set(answer["options"]) == {"wallets", "tokens"}
    assert len(answer["options"]["tokens"]["indices"]) == answer["counts"]["tokens"]["remaining"]
    pick(explorer, tokens=[USDC])
    left = ask(explorer, "options wallets")["remaining"]
    assert left["balances"] == [1] * len(left["indices"])
    assert ask(explorer, "remaining")["counts"]["blockchains"]["remaining"] == 1


def test_pickers_filter_each_other_without_a_price(details):
    """Options without a price have no value."""
    holdings = details.holdings
    priced = holdings["price"].where(holdings["blockchain"] != "POLYGON")
    explorer = HoldingsExplorer(details._replace(holdings=holdings.assign(price=priced)))
    pick(explorer, blockchains=["POLYGON"])
    left = ask(explorer, "remaining", open=["wallets"])["options"]["wallets"]
    assert left["value_texts"] == [""] * len(left["indices"])
    explorer.close()


def test_selection_is_by_identity(details):
    """Blockchains, wallets and tokens match in any spelling; no choice means everything."""
    data = ExplorerData(details)
    eight = "eth.0X" + "8" * 40
    result = shown_by(data, ("eth",), (eight,), (USDC,))
    assert (len(result.wallets), len(result.held.holdings)) == (1, 1)
    assert result.held.holdings.symbol.item() == "USDC"
    result = shown_by(data, ("AVAX_CCHAIN",))
    assert (result.wallets.status.item(), len(result.held.holdings)) == ("failed", 0)
    assert len(shown_by(data, (), (), (USDC,)).wallets) == 14


@pytest.mark.parametrize("chosen", [{}, {"blockchains": ("bsc", "ETH")}, {"tokens": (USDC,)}])
def test_selected_rows_are_identified_as_alone(details, chosen):
    """The identities of the whole fetch serve some of its rows."""
    picked = shown_by(ExplorerData(details), **chosen).held
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
    pick(explorer, **picked)
    assert Page(explorer).look(chart=chart)["figure"]["data"]
    assert Page(explorer).alert() == ""


@pytest.mark.parametrize("chart", CHARTS)
def test_the_code_reproduces_the_view(explorer, details, chart):
    """The lines run, and return the same rows, wallets and chart."""
    page = Page(explorer)
    page.look(chart=chart, small=False)
    page.pick("Tokens", *range(9))
    wallets = ["ETH.0x" + "8" * 40, "BSC.0x" + "1" * 40]
    pick(explorer, blockchains=["ETH", "BSC"], wallets=wallets)
    made = executed_on(details, explorer.code)
    assert explorer.code.isascii()
    assert len(made["shown"].holdings) > 1
    same_fetch(made["shown"], explorer.shown)
    assert drawn(made["figure"]) == drawn(page.plotted())


def test_the_code_counts_as_the_chart_does(explorer, details):
    """Balances are drawn if they are the measure, even if there are values."""
    Page(explorer).look(measure="balances")
    made = executed_on(details, explorer.code)
    assert explorer.code.endswith("\nfigure"), "the last line of a cell is displayed"
    same_fetch(made["shown"], explorer.shown)
    assert drawn(made["figure"]) == drawn(Page(explorer).plotted())


def test_the_code_finds_the_tables_rows(explorer, details):
    """A search narrows what is shown and saved; groups are searched by themselves."""
    page = Page(explorer)
    everything = len(explorer.shown.holdings)
    answer = ask(explorer, "rows", find="usdc ETH")
    assert 0 < len(explorer.shown.holdings) == answer["total"] < everything
    assert len(pd.read_csv(io.BytesIO(page.file("CSV")))) == answer["total"]
    for measure in ("value", "balances"):
        page.look(measure=measure)
        made = executed_on(details, explorer.code)
        same_fetch(made["shown"], explorer.shown)
        assert drawn(made["figure"]) == drawn(page.plotted())
    ask(explorer, "rows", find="usdc", by="wallet")
    assert "search" not in explorer.code
    assert len(explorer.shown.holdings) == everything


def test_bridged_versions_are_combined_on_request(explorer, details):
    """The button names their number, the code has the argument, and a click selects all of them."""
    page = Page(explorer)
    assert page.look()["bridged"]["text"].startswith("Combine ")
    answer = page.look(bridged=True)
    assert answer["bridged"]["text"].startswith("Separate ")
    assert "bridged=True" in explorer.code
    assert drawn(executed_on(details, explorer.code)["figure"]) == drawn(answer["figure"])
    answer = page.look(chart="Bars")
    names = [trace["name"] for trace in answer["figure"]["data"]]
    page.look(click={"token": names.index("ETH")}, view=answer["view"])
    assert {*explorer.shown.holdings["symbol"]} == {"ETH", "WETH"}
    assert page.look(combine="tokens")["bridged"]["text"] == ""


def test_failed_wallets_are_requested_again(service):
    """Without an earlier fetch of the explorer, too; if all failed, the page says why."""
    with service.client(cache=False) as client:
        failing = client.fetch(["AVAX_CCHAIN.0x" + "7" * 40], on_failure="ignore")
        explorer = HoldingsExplorer(failing, client=client)
        page = Page(explorer)
        assert page.look()["all_failed"]
        assert explorer._retry_label == "Retry 1 unknown wallet"
        page.click("retry")
        wait()
        assert explorer.details is not failing
        assert (explorer._retry_label, page.alert()) == ("Retry 1 unknown wallet", "")
        explorer.close()


def test_the_code_begins_with_the_calls_filters(explorer):
    """Without `prepare`, the fetch result itself is filtered."""
    pick(explorer, blockchains=["ETH"])
    assert explorer.code.startswith("shown = details.wf.where(blockchain=['ETH'], spam=False)")


def test_files_have_the_shown_rows_to_the_last_digit(explorer):
    """CSV, Parquet and Excel have every selected row, and exact amounts."""
    pick(explorer, blockchains=["ETH"])
    page = Page(explorer)
    page.look(spam=True)
    shown = explorer.shown.holdings.reset_index(drop=True)
    amounts = [str(amount) for amount in shown.amount]
    csv = pd.read_csv(io.BytesIO(page.file("CSV")), dtype="str")
    assert csv.amount.tolist() == amounts
    parquet = pd.read_parquet(io.BytesIO(page.file("Parquet")))
    assert parquet.amount_text.tolist() == amounts
    excel = pd.read_excel(io.BytesIO(page.file("Excel")), dtype="str")
    assert excel.amount_text.tolist() == amounts
    assert any(len(amount) > 70 for amount in amounts)


def test_files_have_the_kept_columns(details):
    """They are at the end of each row, and columns of the holdings come first."""
    owners = [f"owner {number}" for number in range(len(details.wallets))]
    wallets = details.wallets.assign(owner=owners, team="one")
    explorer = HoldingsExplorer((wallets, details.holdings.assign(team="own")))
    page, shown = Page(explorer), explorer.shown.holdings
    named = wallets.set_index(["blockchain", "address"])["owner"]
    expected = named.loc[pd.MultiIndex.from_frame(shown[["blockchain", "address"]])].tolist()
    for kind, read in (
        ("CSV", pd.read_csv),
        ("Parquet", pd.read_parquet),
        ("Excel", pd.read_excel),
    ):
        file = read(io.BytesIO(page.file(kind)))
        assert file.columns[-1] == "owner"
        assert file["owner"].tolist() == expected
        assert {*file["team"]} == {"own"}
    explorer.close()


def test_the_report_is_of_the_selection(explorer):
    """It is one page that needs no network."""
    pick(explorer, blockchains=["POLYGON"])
    page = Page(explorer).file("Report").decode()
    assert "POLYGON" in page
    assert "ARBITRUM" not in page
    assert not [line for line in page.splitlines() if 'src="http' in line[:200]]


def test_files_are_offered_from_python(explorer):
    """`save` sends them to each page of the explorer."""
    explorer.comm = line = Line(explorer.comm.comm_id)
    explorer.save("CSV")
    [message] = [each for each in line.take() if each["data"].get("method") == "custom"]
    assert message["data"]["content"] == {
        "name": "holdings.csv",
        "type": "text/csv",
        "kind": "file",
    }
    assert len(message["buffers"]) == 1


def test_an_unknown_kind_of_file_is_refused(explorer):
    """The message lists the kinds."""
    explorer.save("csv")
    assert "one of CSV, Parquet, Excel, Report" in Page(explorer).alert()
    Page(explorer).look()
    assert Page(explorer).alert() == ""


def test_too_much_for_a_browser_is_refused(explorer, monkeypatch):
    """The message has the line of code for many rows."""
    assert Page(explorer).file("CSV")
    monkeypatch.setattr("walletframe.pickers.explorer._MAX_DOWNLOAD_ROWS", 3)
    explorer.save("CSV")
    assert "too many for a download in the browser" in Page(explorer).alert()
    assert "to_parquet" in Page(explorer).alert()


@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.parametrize(
    "records, picked, reason",
    [
        ([], {}, "There are no balances to show: no wallet was requested."),
        (
            [failed(A), failed(B)],
            {},
            "2 failed: it said <b>no</b>.",
        ),
        ([record(balances=None)], {}, "1 failed: the service sent no list of balances."),
        ([record(balances=[])], {}, "1 wallet without any balance."),
        (
            [record(), failed(B)],
            {"wallets": [f"ETH.{B}"], "tokens": [("ETH", A)]},
            "1 wallet whose balances are unknown. Remove some of the selected items.",
        ),
        (
            [record(), record(B, balances=[balance(symbol="B", address=UPPER_B)])],
            {"wallets": [f"ETH.{A}"], "tokens": [("ETH", B)]},
            "1 wallet with only tokens that are not selected. Remove some of the selected items.",
        ),
    ],
)
def test_a_missing_chart_has_its_reason(records, picked, reason, chart):
    """The reason is right, and the offered code runs, for any chart."""
    details = assemble(records)
    explorer = HoldingsExplorer(details)
    Page(explorer).look(chart=chart)
    answer = pick(explorer, **picked)
    assert answer["reason"].endswith(reason)
    assert answer["figure"] is None
    made = executed_on(details, explorer.code)
    assert made["shown"].holdings.empty
    assert "figure" not in made
    assert Page(explorer).alert() == ""
    explorer.close()


def test_a_chart_that_fails_stops_nothing_else(details):
    """The reason replaces it; table, summary, code and files follow the selection."""
    currencies = pd.array(["USD", "EUR"] * 29, dtype=TEXT)
    mixed = details._replace(holdings=details.holdings.assign(value=1.0, currency=currencies))
    explorer = HoldingsExplorer(mixed)
    page = Page(explorer)
    for chain in ("BSC", "POLYGON"):
        answer = pick(explorer, blockchains=[chain])
        assert "the values are in 2 currencies" in answer["reason"]
        assert f"{chain}." in page.rows()
        assert "1 wallet on 1 blockchain: 1 ok" in page.status()
        assert (
            len(executed_on(mixed, explorer.code)["shown"].holdings)
            == len(explorer.shown.holdings)
            > 0
        )
        csv = pd.read_csv(io.BytesIO(page.file("CSV")), dtype="str")
        assert len(csv) == len(explorer.shown.holdings)
    explorer.close()


def test_details_of_a_panel_can_be_linked(explorer, details, client):
    """A panel's fetch is explored at once; at first both have the earlier fetch."""
    panel = FetchPanel(details, client=client)
    assert panel.details is details
    linked = dlink((panel, "details"), (explorer, "details"))
    panel.value = ["NEAR.alice.near"]
    Page(panel).click("fetch")
    wait()
    assert explorer.details is panel.details
    assert "1 wallet on 1 blockchain" in Page(explorer).status()
    linked.unlink()
    panel.close()


def test_other_arguments_than_a_fetch_are_refused(explorer, details):
    """With a message, and the old view stays; at first no widget is made."""
    page = Page(explorer)
    before = page.plotted()
    bad = details._replace(holdings=details.holdings.drop(columns="amount"))
    explorer.details = bad
    assert "lacks 'amount'" in page.alert()
    assert page.plotted() == before
    with pytest.raises(ColumnsError, match="'amount'"):
        HoldingsExplorer(bad)


def test_frames_changed_in_place_are_reported(details):
    """An inserted row must not fail silently."""
    changed = WalletDetails(details.wallets.copy(), details.holdings)
    explorer = HoldingsExplorer(changed)
    changed.wallets.loc[len(changed.wallets)] = changed.wallets.loc[0]
    assert ask(explorer, "chart", pick={"filter": "blockchains", "values": ["POLYGON"]})["failed"]
    assert "wrong length" in Page(explorer).alert()
    explorer.close()


def test_every_page_follows_the_others(explorer, details):
    """Each selection, filter or fetch makes a new edition; looking does not."""
    page = Page(explorer)
    editions = [page.look()["edition"], page.look(chart="Heatmap")["edition"]]
    editions.append(pick(explorer, blockchains=["ETH"])["edition"])
    editions.append(page.look(spam=True)["edition"])
    explorer.details = details._replace(holdings=details.holdings.iloc[:5])
    editions.append(page.look()["edition"])
    assert editions == [0, 0, 1, 2, 3]
    assert explorer._edition == 3


def test_the_last_selection_wins(explorer):
    """Many quick changes, from several threads, end in the same one everywhere."""
    page = Page(explorer)
    threads = []
    for chain in ("ETH", "BSC", "POLYGON") * 3:
        message = {"kind": "chart", "pick": {"filter": "blockchains", "values": [chain]}}
        threads.append(threading.Thread(target=explorer._handle_custom_msg, args=[message, []]))
        threads[-1].start()
    for thread in threads:
        thread.join()
    pick(explorer, blockchains=["POLYGON"])
    assert set(explorer.shown.holdings.blockchain) == {"POLYGON"}
    assert "POLYGON." in page.rows()
    assert "ETH." not in page.rows()


def test_a_token_keeps_its_colour(explorer, details):
    """The colours are those of the whole fetch, for any selection."""
    answer = pick(explorer, tokens=[USDC])
    colors = token_colors(explorer._explorer_state.data.details.holdings)
    assert colors[USDC] in json.dumps(answer["figure"])


def test_a_cell_of_the_table_selects(explorer):
    """The wallet, token or blockchain of the cell, and nothing else of its kind."""
    page = Page(explorer)
    pick(explorer, tokens=[USDC])
    answer = page.look(only={"by": "", "sort": "value", "down": True, "row": 0, "column": "wallet"})
    assert len(answer["chosen"]["wallets"]) == 1
    assert set(explorer.shown.holdings.address) == {answer["chosen"]["wallets"][0].split(".")[1]}
    before = page.look()["chosen"]
    assert page.look(only={"row": 5, "column": "value"})["chosen"] == before


def test_hostile_symbols_are_harmless():
    """The page gets lines of text, and the code is plain."""
    holdings = hostile_holdings()
    records = [record(balances=[balance()]), failed(B, error=SYMBOLS["script"])]
    fetched = assemble(records)
    hostile = holdings[["blockchain", "address"]].drop_duplicates().assign(status="ok", tokens=1)
    explorer = HoldingsExplorer(
        WalletDetails(
            pd.concat([fetched.wallets, hostile]).astype(fetched.wallets.dtypes),
            pd.concat([fetched.holdings, holdings]).astype(fetched.holdings.dtypes),
        )
    )
    page = Page(explorer)
    page.look(spam=True)
    page.pick("Tokens", *range(len(page.listed("Tokens"))))
    assert len(page.look()["chosen"]["tokens"]) == len(page.listed("Tokens")) > 1
    assert page.alert() == ""
    texts = "".join([page.rows(), page.status(), *page.listed("Tokens"), *page.look()["crumbs"]])
    assert "\u202e" not in texts
    assert "https://evil" not in texts
    assert explorer.code.isascii()
    explorer.close()


def test_a_saved_notebook_has_the_view_as_text(explorer, capsys):
    """Before the widget: the completeness, the failures, and the first rows."""
    explorer._ipython_display_()
    output = capsys.readouterr().out
    assert repr(explorer.shown) in output
    assert "The chart is drawn only while a kernel runs. Run the cell again" in output


def test_a_saved_notebook_gets_the_picture_of_its_chart(explorer, monkeypatch):
    """All outputs of the explorer are updated; what a page sends can't add markup."""
    shell = InteractiveShell.instance()
    monkeypatch.setattr(shell, "display_pub", CapturingDisplayPublisher())
    explorer._handle_custom_msg({"kind": "picture", "image": "early"}, [])
    explorer._ipython_display_()
    explorer._handle_custom_msg({"kind": "picture", "image": 'image/webp;base64,UklG"><b>'}, [])
    explorer._handle_custom_msg({"kind": "picture", "image": ""}, [])
    # Without an output to update, front ends ignore the first picture.
    early, static, _, pictured, without = shell.display_pub.outputs
    assert "<img" not in static["data"]["text/html"]
    assert 'src="data:image/webp;base64,UklG&quot;&gt;&lt;b&gt;"' in pictured["data"]["text/html"]
    assert "The chart was drawn at 2" in pictured["data"]["text/plain"]
    assert without["data"] == static["data"]
    saved = (early, static, pictured, without)
    assert [each["update"] for each in saved] == [True, False, True, True]
    ids = {each["transient"]["display_id"] for each in saved}
    assert ids == {explorer.model_id}


def test_a_saved_notebook_has_harmless_html(explorer):
    """It is that of the fetch, without untrusted markup."""
    html = static_mime_bundle(explorer.shown)["text/html"]
    assert explorer.shown._repr_html_() in html
    assert "<script" not in html


def test_closing_leaves_nothing(details):
    """A closed explorer leaves neither models nor threads, and does nothing more."""
    before = set(threading.enumerate())
    explorer = HoldingsExplorer(details)
    explorer.close()
    explorer._handle_custom_msg({"kind": "chart", "n": 1}, [])
    explorer.refresh()
    assert explorer.is_closed()
    assert not {thread for thread in set(threading.enumerate()) - before if thread.is_alive()}
