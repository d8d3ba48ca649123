"""Values, spam and dust of a fetch, its pictures, and its saved form."""

import json
from functools import partial

import numpy as np
import pandas as pd
import plotly.io as pio
import pytest
from addresses import A, B
from canned_service import balance
from fetches import failed, fetched, made_up_details, record, token

from walletframe.analysis.selection import Selection
from walletframe.analysis.spam.flags import flag_spam, without_spam
from walletframe.analysis.valuation import value
from walletframe.errors import ArgumentError, ColumnsError
from walletframe.frames.assembly import assemble
from walletframe.numerals import compact
from walletframe.pickers.chart import CHARTS, ChartOptions, draw_chart
from walletframe.pickers.data import (
    ExplorerData,
    small_filter_label,
    spam_button_label,
    status_message,
    summary_parts,
)
from walletframe.pickers.view import (
    ExplorerState,
    breadcrumb_texts,
    keep_first_breadcrumb_filters,
    selection_after_click,
)
from walletframe.service import SHOWCASE

EVERYTHING = Selection()
USDC = ("ETH", "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48")


@pytest.fixture(scope="module")
def details(service):
    """Fetch the showcase: fourteen wallets, two of which fail; some hold spam."""
    with service.client(cache="memory") as client:
        return client.fetch(list(SHOWCASE), on_failure="ignore", progress=False)


@pytest.fixture(scope="module")
def data(details):
    """Return an explorer's data."""
    return ExplorerData(details)


def left(data, **selection):
    """Return the selection, and the words about filtered rows."""
    result = data.select_holdings(Selection(**selection))
    return result, spam_button_label(result), small_filter_label(result)


def drawn(data, *options, selection=EVERYTHING, **more):
    """Return the picture of a selection."""
    return draw_chart(data.select_holdings(selection), ChartOptions(*options, **more))


def test_the_status_has_the_coverage():
    """As below each table: what is not counted."""
    wallets, holdings = fetched({f"ETH.{A}": [token(), token("B", 1, contract=B)]}
                                | {f"BSC.{B}": "failed"})  # fmt: skip
    lines = status_message(wallets, holdings.assign(value=[1.0, np.nan]))["lines"]
    unpriced = "Not counted: 1 of 2 wallets unknown; the value of 1 balance without a price."
    as_of = "As of 2026-01-31 05:59 UTC."
    assert f"{unpriced} {as_of}" in lines
    whole = status_message(*fetched({f"ETH.{A}": [token()]}))["lines"]
    assert f"The only balance of 1 wallet is counted. {as_of}" in whole


class TestExplorerData:
    """Values and filters of an explorer's data."""

    def test_values_are_at_the_services_prices(self, details, data):
        """If there are some, which is mentioned once; values equal the accessor's."""
        held = data.details.holdings
        pd.testing.assert_series_equal(held["value"], value(details.holdings)["value"])
        summary = summary_parts(data.select_holdings(Selection()))
        assert summary["prices"] == "the service's prices, currency not stated"
        assert summary["simulated"]
        assert (summary["known"], summary["as_of"][:6]) == ("12 of 14 wallets are known", "as of ")
        assert float(summary["value"].replace(",", "")) > 0

    def test_without_prices_there_are_no_values(self, details):
        """Balances are counted."""
        bare = ExplorerData(details._replace(holdings=details.holdings.assign(price=np.nan)))
        assert (bare.priced_by, bare.row_values) == ("", None)
        summary = summary_parts(bare.select_holdings(Selection()))
        assert (summary["value"], summary["prices"]) == ("", "")
        assert drawn(bare).measures == ("amounts", "balances")

    def test_invalid_prices_are_reported_and_not_used(self, details):
        """A negative one is an example."""
        odd = ExplorerData(details._replace(holdings=details.holdings.assign(price=-1.0)))
        assert odd.priced_by == ""
        [message] = [summary_parts(odd.select_holdings(Selection()))["unpriced"]]
        assert "of the service can't be used" in message

    def test_the_source_of_prices_is_named(self, details):
        """It is the service, even if a currency alone was added."""
        for prices, text in ((None, "the service's prices"), ({USDC: 7}, "your own prices")):
            valued = value(details.holdings, prices, currency="USD")
            own = ExplorerData(details._replace(holdings=valued))
            assert summary_parts(own.select_holdings(Selection()))["prices"] == text
        bare = ExplorerData(details, lambda holdings: holdings.assign(value=2.0))
        assert summary_parts(bare.select_holdings(Selection()))["prices"] == "your own prices"

    def test_the_reason_of_stale_answers_is_shown(self, details):
        """In the first line, if it is one reason."""
        text = "12 of 14 wallets are known, 12 out of date"
        places = range(len(details.wallets))
        for why, end in (
            (["closed" for _ in places], " (closed)"),
            ([f"{at}" for at in places], ""),
        ):
            old = details.wallets.assign(source="stale", error=why)
            old = ExplorerData(details._replace(wallets=old.astype(details.wallets.dtypes)))
            assert summary_parts(old.select_holdings(Selection()))["known"] == text + end

    def test_prepare_wins(self, details):
        """Its values are shown, its rows stay, and its flags are the spam."""
        own = ExplorerData(details, lambda holdings: holdings.assign(value=2.0, currency="EUR"))
        assert own.priced_by == "own"
        total = f"{2 * len(details.holdings):,}.00 EUR"
        assert summary_parts(own.select_holdings(Selection(spam=None)))["value"] == total
        spam = flag_spam(details.holdings)
        assert own.spam_mask.sum() == spam["is_spam"].sum() > 0
        allowed = spam[spam["is_spam"]]
        for clean in (flag_spam, without_spam):
            assert not ExplorerData(details, partial(clean, allow=allowed)).spam_mask.any()

    def test_other_arguments_are_refused(self, details):
        """A frame without prices, and a prepare that is no function."""
        with pytest.raises(ColumnsError, match="price"):
            ExplorerData(details._replace(holdings=details.holdings.drop(columns="price")))
        with pytest.raises(ArgumentError, match="not a function"):
            ExplorerData(details, 7)

    def test_spam_is_left_out_and_counted(self, details, data):
        """The rows are those of `without_spam`; a switch shows it, with its number."""
        flags = flag_spam(details.holdings)["is_spam"]
        result, spam, _ = left(data)
        assert len(result.held.holdings) == (~flags).sum()
        assert spam == f"Show {result.spam_tokens} spam tokens"
        every, spam, _ = left(data, spam=None)
        assert len(every.held.holdings) == len(details.holdings)
        assert spam == f"Hide {result.spam_tokens} spam tokens"

    def test_dust_can_be_hidden(self, data):
        """A value that is known to be below one; unpriced rows stay."""
        values = data.details.holdings["value"]
        tiny = (values < 1) & ~data.spam_mask
        result, _, dust = left(data)
        assert (result.small_balances, len(result.held.holdings)) == (
            tiny.sum(),
            (~data.spam_mask).sum(),
        )
        assert dust.startswith(f"Hide {tiny.sum()} balances below 1.00 (")
        result, _, dust = left(data, small=1.0)
        assert result.held.holdings["value"].min() >= 1
        assert result.held.holdings["value"].isna().sum() == (values.isna() & ~data.spam_mask).sum()
        assert dust.startswith("Show ")
        assert left(ExplorerData(assemble([record()])))[2] == ""

    def test_a_selection_has_its_own_rows_and_words(self, data):
        """Rows and words cover the selection alone."""
        result = data.select_holdings(Selection(blockchains=("POLYGON",)))
        assert set(result.held.holdings["blockchain"]) == {"POLYGON"}
        assert set(result.wallets["blockchain"]) == {"POLYGON"}


class TestPictures:
    """Pictures, and selection by clicks in them."""

    @pytest.mark.parametrize("chart", CHARTS)
    def test_every_chart_is_drawn(self, data, chart):
        """The page gets JSON without a title, no larger than needed."""
        picture = drawn(data, chart)
        figure = json.loads(picture.figure)
        assert figure["data"]
        assert "title" not in figure["layout"]
        assert not figure["layout"].get("template")
        assert (picture.reason, len(picture.figure) < 100_000) == ("", True)
        assert picture.title
        assert "Simulated data." in picture.notes

    def test_a_users_template_is_kept(self, data, monkeypatch):
        """The page leaves the colours of paper and text unchanged."""
        monkeypatch.setattr(pio.templates, "default", "plotly_dark")
        figure = json.loads(drawn(data).figure)
        assert figure["layout"]["template"]["layout"]["paper_bgcolor"]
        assert Page(data).ask()["has_template"]

    def test_value_comes_first(self, data):
        """Other measures can be chosen; one that a chart lacks is ignored."""
        picture = drawn(data)
        assert picture.options.measure == "value"
        assert picture.measures == ("value", "amounts", "balances")
        assert picture.coverage_line.startswith("Areas show the value.")
        counts = drawn(data, measure="balances")
        assert counts.coverage_line.startswith("Areas show the number of balances")
        assert drawn(data, "Heatmap", "amounts").options.measure == "value"
        assert drawn(data, "Heatmap", "balances").title.startswith("Share of")

    def test_a_title_has_what_is_picked(self, data):
        """The selection and its value; or what is drawn in place of values."""
        page = Page(data)
        chain = page.ask(pick={"filter": "blockchains", "values": ["ETH"]})
        worth = compact(data.select_holdings(page.selection).held.holdings["value"].sum())
        assert chain["title"] == f"ETH: {worth} by wallet and asset"
        assert chain["heading"] == f"{worth} by wallet and asset"  # the crumbs precede it
        counted = page.ask(measure="balances", combine="tokens")
        assert counted["title"] == "ETH: Holdings by wallet and token"
        assert page.ask(chart="Lorenz curve")["title"].startswith("ETH: Lorenz curve of ")
        pie = page.ask(chart="Pie of a wallet", measure="value", combine="assets")
        owner, held = (
            page.view.drawn_chart().arguments["wallet"],
            page.view.drawn_chart().selected.held,
        )
        rows = held.holdings[held.wallet_codes == held.wallet_keys.index(owner)]
        worth_of_wallet = compact(rows["value"].sum())
        assert pie["heading"].startswith(f"ETH.{owner[1][:6]}")
        assert pie["heading"].endswith(f": {worth_of_wallet} by asset")
        one = page.ask(pick={"filter": "wallets", "values": [".".join(owner)]})
        assert one["heading"] == f"{worth_of_wallet} by asset"
        assert (one["groups"], page.ask(chart="Treemap")["groups"]) == ([], [])
        assert page.ask()["heading"] == f"{worth_of_wallet} by asset"
        last = page.ask(pick={"filter": "tokens", "values": [("ETH", None)]}, measure="amounts")
        amount = rows["amount"][rows["token_address"].isna()].iloc[0]
        assert last["heading"] == f"{compact(float(amount))} ETH"
        assert last["combines"] == []
        priced = data.details.holdings.assign(currency="USD")
        page = Page(ExplorerData(data.details._replace(holdings=priced)))
        assert (
            f"{worth} USD by"
            in page.ask(pick={"filter": "blockchains", "values": ["ETH"]})["title"]
        )

    def test_a_pie_opens_on_the_largest_wallet(self, data):
        """Its value is the largest; if no value is drawn, it has most balances."""
        rows = data.select_holdings(Selection()).held.holdings
        best = rows.groupby(["blockchain", "address"])["value"].sum().idxmax()
        assert drawn(data, "Pie of a wallet").arguments["wallet"] == best
        most = rows.groupby(["blockchain", "address"]).size().idxmax()
        assert drawn(data, "Pie of a wallet", "balances").arguments["wallet"] == most

    def test_one_token_is_drawn_by_its_amounts(self, data):
        """The selected one, or the one with most balances."""
        picture = drawn(data, selection=Selection(tokens=(USDC,)))
        assert (picture.options.measure, picture.token[:4]) == ("amounts", "USDC")
        assert drawn(data, measure="amounts").token
        assert (
            drawn(data, measure="value", selection=Selection(tokens=(USDC,))).options.measure
            == "value"
        )

    @pytest.mark.parametrize("chart", ["Treemap", "Sunburst"])
    def test_nodes_select(self, data, chart):
        """A blockchain, a wallet, a token in a wallet. A combined node selects nothing."""
        picture = drawn(data, chart)
        ids = json.loads(picture.figure)["data"][0]["ids"]
        chain = next(each for each in ids if each.startswith("0."))
        selection = selection_after_click(picture, {"id": chain})
        assert selection.blockchains[0] in {wallet.blockchain for wallet in SHOWCASE}
        wallet = next(each for each in ids if each.startswith("1."))
        selection = selection_after_click(picture, {"id": wallet})
        assert selection.wallets[0] in {str(each) for each in SHOWCASE}
        assert (selection.blockchains, selection.tokens) == ((), ())
        token = next(each for each in ids if each.startswith("2."))
        selection = selection_after_click(picture, {"id": token})
        assert (len(selection.wallets), len(selection.tokens)) == (1, 1)
        for nothing in ("o0.0", "o", "oo0.0", "", "x", "0.", f"0.{10**9}"):
            assert selection_after_click(picture, {"id": nothing}) == Selection()

    def test_a_token_of_many_wallets_is_selected_alone(self):
        """A combined node belongs to none of its wallets."""
        data = ExplorerData(made_up_details(5_000, wallets=500, tokens=10))
        picture = drawn(data)
        ids = json.loads(picture.figure)["data"][0]["ids"]
        token = next(each for each in ids if each.startswith("2.") and each.endswith("+"))
        result = selection_after_click(picture, {"id": token})
        assert (len(result.tokens), result.wallets) == (1, ())

    def test_bars_select_their_owner_and_legends_a_token(self, data):
        """By the position of the click; Other selects nothing."""
        picture = drawn(data, "Bars")
        names = json.loads(picture.figure)["layout"]["yaxis"]["ticktext"]
        result = selection_after_click(picture, {"trace": 0, "point": 0})
        assert names[0].partition("…")[0] in result.wallets[0]
        assert selection_after_click(picture, {"token": 0}).tokens
        for nothing in (
            {"trace": 0, "point": 99},
            {"token": 99},
            {"token": -1},
            {"point": "x"},
            {},
        ):
            assert selection_after_click(picture, nothing) == Selection()
        picture = drawn(data, "Bars", group="blockchain")
        assert selection_after_click(picture, {"trace": 0, "point": 0}).blockchains

    def test_slices_and_cells_select(self, data):
        """A slice its token, a cell both its wallet and its token; a grey row neither."""
        picture = drawn(data, "Pie of a wallet")
        assert selection_after_click(picture, {"trace": 0, "point": 0}).tokens
        picture = drawn(data, "Heatmap")
        result = selection_after_click(picture, {"trace": 0, "point": [0, 0]})
        assert (len(result.wallets), len(result.tokens)) == (1, 1)
        assert selection_after_click(picture, {"trace": 1, "point": [0, 99]}) == Selection()
        picture = drawn(data, "Lorenz curve")
        assert selection_after_click(picture, {"trace": 0, "point": 0}) == Selection()

    def test_a_path_leads_back(self, data):
        """Kinds are in one order; a crumb removes the later ones."""
        selection = Selection(("ETH",), ("ETH.0x" + "8" * 40,), (USDC,))
        assert breadcrumb_texts(data, Selection()) == []
        assert breadcrumb_texts(data, selection) == [
            "ETH",
            "ETH.0x8888…8888",
            "USDC (ETH 0xa0b8…eb48)",
        ]
        assert keep_first_breadcrumb_filters(selection, 2) == Selection(
            selection.blockchains, selection.wallets
        )
        assert (
            keep_first_breadcrumb_filters(selection, 0)
            == keep_first_breadcrumb_filters(selection, -1)
            == Selection()
        )
        many = Selection(("ETH", "BSC"), ("ETH.0xnobody",), ())
        assert breadcrumb_texts(data, many) == ["2 blockchains", "1 wallet"]

    def test_a_narrow_page_gets_fewer_columns(self, data):
        """And fewer colours, and no numbers on small cells."""
        wide, narrow = (
            json.loads(drawn(data, "Heatmap", width=width).figure) for width in (1000, 400)
        )
        assert len(narrow["data"][0]["z"][0]) <= 6 < len(wide["data"][0]["z"][0])
        assert narrow["layout"]["yaxis"]["ticklabelposition"] == "inside"
        wide, narrow = (
            json.loads(drawn(data, "Bars", width=width).figure)["layout"] for width in (1000, 400)
        )
        assert wide["yaxis"]["title"]["text"] == "wallet"
        assert "title" not in narrow["yaxis"]
        assert narrow["margin"]["l"] < 20 < wide["margin"]["l"]
        assert narrow["height"] > wide["height"]
        heights = [json.loads(drawn(data, "Sunburst", width=width).figure) for width in (1000, 400)]
        assert heights[0]["layout"]["height"] > heights[1]["layout"]["height"]

    @pytest.mark.parametrize(
        "records, selection, reason",
        [
            ([], Selection(), "There are no balances to show: no wallet was requested."),
            (
                [failed(A), failed(B)],
                Selection(),
                "2 failed: it said <b>no</b>.",
            ),
            ([record(balances=[])], Selection(), "1 wallet without any balance."),
            (
                [record(), failed(B)],
                Selection(wallets=(f"ETH.{B}",)),
                "1 wallet whose balances are unknown. Remove some of the selected items.",
            ),
            ([record()], Selection(("BSC",)), "no wallet matches the selection"),
            (
                [record(balances=[balance(symbol="visit evil.com to claim")])],
                Selection(),
                "Spam is hidden (1 token).",
            ),
            (
                [record(balances=[balance(amount="0")])],
                Selection(),
                "No amount is above zero.",
            ),
        ],
    )
    def test_a_missing_chart_has_its_reason(self, records, selection, reason):
        """The reason is the right one."""
        picture = draw_chart(
            ExplorerData(assemble(records)).select_holdings(selection), ChartOptions()
        )
        assert reason in picture.reason
        assert (picture.figure, picture.arguments) == (b"", None)

    def test_hidden_dust_is_a_reason(self, data):
        """If nothing else is left."""
        dust = ExplorerData(assemble([record(balances=[balance() | {"price": 0.1}])]))
        picture = drawn(dust, selection=Selection(small=1.0))
        assert "Small balances are hidden (1 balance below 1.00)." in picture.reason
        named = dust.details.holdings.assign(currency="USD", value=0.1)
        picture = drawn(
            ExplorerData(dust.details._replace(holdings=named)), selection=Selection(small=1.0)
        )
        assert "(1 balance below 1.00 USD)." in picture.reason

    def test_a_chart_that_fails_has_a_reason(self, details):
        """Values in two currencies can't be added; the rows are there all the same."""
        halves = ["USD", "EUR"] * (len(details.holdings) // 2)
        mixed = ExplorerData(details, lambda holdings: holdings.assign(value=1.0, currency=halves))
        picture = drawn(mixed)
        assert picture.reason.startswith("The chart can't be drawn: the values are in 2 currencies")
        assert len(picture.selected.held.holdings) == (~mixed.spam_mask).sum()


class Page:
    """A page's knowledge of a view, and the selection."""

    def __init__(self, data):
        self.view = ExplorerState(data)
        self.content, self.figure = None, None

    @property
    def selection(self):
        """Return the selection."""
        return self.view.selection

    def ask(self, **text):
        """Send a request as the page does."""
        content, buffers = self.view.answer_action(text)
        self.content = json.loads(json.dumps(content))
        self.figure = json.loads(buffers[0]) if buffers else None
        return self.content


class TestView:
    """Answers to the page."""

    def test_the_whole_trip(self, data):
        """Choose a chart and a measure, show spam, select, and go back."""
        page = Page(data)
        first = page.ask()
        assert (first["chart"], first["measure"]) == ("Treemap", "value")
        assert first["spam"]["text"].startswith("Show ")
        assert page.ask(spam=True)["spam"]["shown"]
        assert page.ask(small=False)["small"]["text"].startswith("Show ")
        heatmap = page.ask(chart="Heatmap")
        assert heatmap["title"] == "Holdings by wallet and asset"
        assert heatmap["subtitle"].startswith("Simulated data.")
        assert page.ask(measure="balances")["title"] == "Share of each asset by wallet"
        assert page.ask(combine="tokens")["title"] == "Share of each token by wallet"
        page.ask(combine="assets")
        page.ask(chart="Treemap", measure="")
        node = next(each for each in page.figure["data"][0]["ids"] if each.startswith("0."))
        assert page.ask(click={"id": node}, view=page.content["view"])["crumbs"]
        assert page.selection.blockchains
        assert page.ask(back=0)["crumbs"] == []
        assert page.selection == Selection(spam=None, small=1.0)

    def test_a_click_in_an_older_picture_is_ignored(self, data):
        """Its positions are of other rows."""
        page = Page(data)
        view = page.ask()["view"]
        page.ask(chart="Heatmap")
        page.ask(click={"id": "0.0"}, view=view)
        assert page.selection == Selection()

    def test_the_same_picture_has_the_same_view(self, data):
        """The page keeps its zoom by it, and figures are made once."""
        page = Page(data)
        view, figure = page.ask()["view"], page.view.drawn_chart().figure
        assert page.ask(chart="Heatmap")["view"] != view
        assert page.ask(chart="Treemap")["view"] == view
        assert page.view.drawn_chart().figure is figure

    def test_few_pictures_are_cached(self, data):
        """Twenty of them use as much memory as sixteen."""
        page = Page(data)
        for number in range(20):
            page.ask(measure=f"none {number}")
        assert page.view._draw.cache_info().currsize == 16

    def test_an_unknown_chart_is_refused(self, data):
        """The error lists the charts."""
        with pytest.raises(ArgumentError, match="choose one of Treemap, Sunburst"):
            Page(data).ask(chart="Cake")
