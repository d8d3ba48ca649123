"""Charts by any columns: bars, boxes, rows and lines of groups, and their completeness."""

import re
from collections import defaultdict
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from addresses import A, B, C, whole
from fetches import fetched, token
from hostile_symbols import SYMBOLS
from test_charts import hovers, notes_of

from walletframe import charts
from walletframe.analysis.sums import totals
from walletframe.charts.palette import choose_group_fills
from walletframe.errors import SettingsError, UnknownTokenError
from walletframe.frames.assembly import assemble
from walletframe.frames.details import WalletDetails
from walletframe.pandas_versions import TEXT

DAY = pd.Timestamp("2026-01-31", tz="UTC")
USDC, USDC_BASE, USDT = (
    "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
    "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    "0xdAC17F958D2ee523a2206206994597C13D831ec7",
)
WALLETS = pd.DataFrame(
    {
        "blockchain": ["ETH", "BASE", "ETH", "ETH", "ETH", "BASE", "ETH"],
        "address": [*map(whole, ("a1", "a2", "a3", "a4", "b1", "b2", "c1"))],
        "status": ["ok", "ok", "ok", "failed", "failed", "failed", "ok"],
        "tokens": pd.array([2, 1, 0, None, None, None, 1], dtype="Int64"),
        "fetched_at": DAY,
        "source": "service",
        "service": "https://api.example",
        "owner": pd.array(["Ada", "Ada", "Ada", "Ada", "Ben", "Ben", None], dtype=TEXT),
        "team": pd.array([1, 2, 1, 1, 2, 2, None], dtype="Int64"),
    }
)
HOLDINGS = pd.DataFrame(
    {
        "blockchain": ["ETH", "ETH", "BASE", "ETH"],
        "address": [*map(whole, ("a1", "a1", "a2", "c1"))],
        "symbol": ["USDC", "USDT", "USDC", "USDC"],
        "token_address": [USDC, USDT, USDC_BASE, USDC],
        "amount": pd.array(["1.000000000000000001", "7", "2", "4"], dtype="amount"),
        "token_blockchain": ["ETH", "ETH", "BASE", "ETH"],
        "bag": [True, False, True, True],
    }
)
VALUED = HOLDINGS.assign(value=[10.0, 70.0, 20.0, 40.0], currency="USD")
DETAILS = WalletDetails(WALLETS, HOLDINGS)
UNKNOWN = ("Ada · ETH.0x0000…00a4", "Ben · ETH.0x0000…00b1", "Ben · BASE.0x0000…00b2")


def bars(figure):
    """Return the lengths of the bars by name and by colour."""
    names = figure.layout.yaxis.ticktext
    return {
        name: {trace.name: trace.x[place] for trace in figure.data if trace.x[place]}
        for place, name in enumerate(names)
    }


def owned(labels):
    """Return a fetch with one wallet for each owner label."""
    count = len(labels)
    wallets = pd.concat([WALLETS.iloc[:1]] * count, ignore_index=True)
    addresses = [f"0x{number:04}" for number in range(count)]
    wallets = wallets.assign(address=addresses, owner=pd.array(labels, dtype=object))
    holdings = pd.concat([HOLDINGS.iloc[:1]] * count, ignore_index=True)
    return WalletDetails(wallets, holdings.assign(address=addresses))


class TestBars:
    """Bars of any groups."""

    def test_a_bar_for_each_owner(self):
        """Colours are assets; wallets without an owner and unknown owners also have a bar."""
        figure = charts.bar(VALUED, by="owner", wallets=WALLETS)
        assert figure.layout.title.text == "Holdings by owner"
        assert figure.layout.yaxis.title.text == "owner"
        assert bars(figure) == {
            "Ada (3 of 4 known)": {"USDC": 30, "USDT": 70},
            "no owner": {"USDC": 40},
            "Ben (unknown)": {},
        }

    @pytest.mark.parametrize("draw", [charts.bar, charts.treemap, charts.sunburst])
    def test_groups_that_hold_nothing_are_named(self, draw):
        """Known groups without the asset have no bar and no box, but are in a note."""
        wallets = WALLETS.assign(status="ok", tokens=WALLETS.tokens.fillna(0))
        notes = notes_of(draw(HOLDINGS, by="owner", asset="USDT", wallets=wallets))
        assert "2 groups have no USDT: Ben, no owner." in notes
        valued = HOLDINGS.assign(value=[10.0, 7.0, 2.0, 0.0])
        notes = notes_of(draw(valued, by="owner", wallets=wallets))
        assert "2 groups have no known value above 0: Ben, no owner." in notes
        twin = {"token_blockchain": "POLYGON"}
        twin["token_address"] = "0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174"
        rows = pd.concat([HOLDINGS[:3], HOLDINGS[3:].assign(**twin)])
        notes = notes_of(draw(rows, by="owner", asset="USDC", wallets=wallets))
        assert "2 groups have no USDC, apart from bridged versions: Ben, no owner." in notes

    @pytest.mark.parametrize("name", ["token", "symbol"])
    def test_tokens_are_colours_on_request(self, name):
        """Contracts of an asset have separate colours."""
        frame = VALUED.assign(symbol=["USDC", "USDT", "USDbC", "USDC"])
        figure = charts.bar(frame, by=["owner", name], wallets=WALLETS)
        assert figure.layout.title.text == "Holdings by owner and token"
        assert bars(figure) == {
            "Ada (3 of 4 known)": {"USDbC": 20, "USDC": 10, "USDT": 70},
            "no owner": {"USDC": 40},
            "Ben (unknown)": {},
        }

    def test_names_of_tokens_on_several_blockchains(self):
        """A shared symbol has its contract."""
        assert bars(charts.bar(VALUED, by=["owner", "token"], wallets=WALLETS)) == {
            "Ada (3 of 4 known)": {
                "USDC (BASE 0x8335…2913)": 20,
                "USDC (ETH 0xa0b8…eb48)": 10,
                "USDT": 70,
            },
            "no owner": {"USDC (ETH 0xa0b8…eb48)": 40},
            "Ben (unknown)": {},
        }

    def test_assets_are_colours_if_they_are_the_last_name(self):
        """The contracts of an asset are added up exactly."""
        figure = charts.bar(VALUED, by=["owner", "asset"], wallets=WALLETS)
        assert figure.layout.title.text == "Holdings by owner and asset"
        assert bars(figure) == {
            "Ada (3 of 4 known)": {"USDT": 70, "USDC": 30},
            "no owner": {"USDC": 40},
            "Ben (unknown)": {},
        }
        [text] = [text for text in hovers(figure) if "000000001" in text]
        assert text == (
            "<b>USDC</b><br>2 contracts on 2 blockchains<br>owner Ada<br>"
            "3 of 4 wallets that could hold it are known<br>3.000000000000000001 USDC<br>"
            "30.00 USD (21.4% of all)"
        )
        assert any(
            "2 of 3 wallets that could hold it are known<br>7" in each for each in hovers(figure)
        )
        assert "3 groups and 2 assets are drawn." in notes_of(figure)

    @pytest.mark.parametrize("bridged, name", [(False, "USDC.e"), (True, "USDC")])
    def test_the_only_contract_of_an_asset_is_in_its_hover(self, bridged, name):
        """A single contract is not counted; the asset keeps its name."""
        contract = "0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174"
        twin = {"symbol": "USDC.e", "token_blockchain": "POLYGON", "token_address": contract}
        [text] = hovers(charts.bar(HOLDINGS.iloc[1:2].assign(**twin), bridged=bridged))
        assert text.startswith(
            f"<b>{name}</b><br>POLYGON<br>{contract}<br>ETH.{whole('a1')}<br>7 {name}<br>"
        )
        [text] = hovers(charts.bar(HOLDINGS.iloc[1:2]))
        assert text.startswith(f"<b>USDT</b><br>ETH {USDT}<br>ETH.{whole('a1')}<br>7 USDT<br>")

    def test_groups_count_their_known_wallets(self):
        """Unknown groups have an empty bar, and are named first."""
        about = notes_of(charts.bar(VALUED, by="owner", wallets=WALLETS))
        assert (
            "0 of 2 wallets of owner Ben are known. 3 of 4 wallets of owner Ada are known." in about
        )
        assert "Not counted: 3 of 7 wallets unknown." in about

    def test_many_incomplete_groups_are_counted(self):
        """Notes name the first incomplete groups, and count the rest."""
        wallets, holdings = owned([f"o{number}" for number in range(20)])
        failed = wallets.assign(status=["ok"] * 3 + ["failed"] * 17)
        rows = holdings[holdings.address.isin(failed.address[:3])]
        about = notes_of(charts.bar(rows, by="owner", wallets=failed))
        assert about.count("The only wallet of owner o") == 8
        assert "Some wallets of 9 more owners are unknown." in about

    def test_completeness_counts_the_wallets_that_could_hold_the_token(self):
        """A failed ETH wallet does not affect a token on BASE, as in totals."""
        holdings = VALUED[VALUED.blockchain == "BASE"]
        figure = charts.bar(holdings, by="owner", token="USDC", wallets=WALLETS)
        assert "1 of 1 wallet that could hold it is known" in hovers(figure)[0]
        assert "The only wallet of owner Ben is unknown." in notes_of(figure)
        assert "owner Ada" not in notes_of(figure)

    def test_a_wallet_with_an_unreadable_balance_may_hold_more(self):
        """Its amount is drawn and incomplete, not unknown, as in totals."""
        usdt = HOLDINGS[HOLDINGS["symbol"] == "USDT"]
        rows = pd.concat([usdt, usdt.assign(amount=pd.array([None], "amount"))])
        wallets = WALLETS.iloc[[0, 6]].assign(tokens=pd.array([2, 0], dtype="Int64"))
        figure = charts.bar(rows, by="owner", asset="USDT", wallets=wallets)
        assert bars(figure) == {"Ada (0 of 1 known)": {"USDT": 7}}
        text = hovers(figure)[0].replace("<br>", " ")
        assert "The only wallet that could hold it is partly unknown" in text

    def test_one_asset(self):
        """Lengths are the asset's amounts, whichever of its contracts is passed."""
        for asset in ("USDC", ("BASE", USDC_BASE)):
            figure = charts.bar(HOLDINGS, by="owner", asset=asset, wallets=WALLETS)
            assert figure.layout.title.text == "USDC by owner"
            assert bars(figure) == {
                "no owner": {"USDC": 4},
                "Ada (3 of 4 known)": {"USDC": 3},
                "Ben (unknown)": {},
            }

    def test_the_title_names_the_only_asset_of_values(self):
        """The values of a selected asset are not those of all holdings."""
        selected = WalletDetails(WALLETS, VALUED).wf.where(asset="USDC")
        assert selected.wf.plot.bar(by="owner").layout.title.text == "USDC by owner"

    def test_bridged_tokens_count_on_request(self):
        """The amounts are those of totals."""
        twin = HOLDINGS.iloc[:1].assign(
            token_blockchain="POLYGON", token_address="0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174"
        )
        rows = pd.concat([HOLDINGS, twin])
        amounts = [
            Decimal(sum(each.values()))
            for bridged in (False, True)
            for each in bars(charts.bar(rows, by="asset", asset="USDC", bridged=bridged)).values()
        ]
        assert amounts == [7, 8]

    @pytest.mark.parametrize("by", ["wallet", "blockchain", "owner", ["wallet", "token"]])
    @pytest.mark.parametrize("draw", [charts.bar, charts.treemap, charts.sunburst, charts.timeline])
    def test_amounts_of_a_single_asset_need_no_argument(self, draw, by):
        """They are drawn as if the asset was passed, unless there are values."""
        rows = HOLDINGS[HOLDINGS["symbol"] == "USDC"].assign(snapshot=DAYS[0])
        wallets = WALLETS.assign(snapshot=DAYS[0])
        figure, same = (
            draw(rows, by=by, wallets=wallets, **asset) for asset in ({}, {"asset": "USDC"})
        )
        assert figure == same
        assert figure.layout.title.text.startswith("USDC by ")
        assert "the amount of USDC." in notes_of(figure)
        assert "value" in notes_of(draw(rows.assign(value=1.0), by=by, wallets=wallets))

    @pytest.mark.parametrize("by, lengths", [("asset", (70, 70)), ("token", (70, 50, 20))])
    def test_a_bar_for_each_token_or_asset(self, by, lengths):
        """Each bar has one colour and needs no legend."""
        figure = charts.bar(VALUED, by=by)
        assert [tuple(trace.x) for trace in figure.data] == [lengths]
        assert figure.layout.showlegend is False
        look = figure.data[0].marker
        assert len({*zip(look.color, look.pattern.shape, strict=True)}) == len(lengths)
        assert "1.000000000000000001" in " ".join(hovers(charts.bar(HOLDINGS.iloc[:2], by=by)))

    def test_the_rest_of_assets_is_other(self):
        """The bar Other is grey, or an annotation if the bar is too long."""
        many = pd.concat([HOLDINGS.iloc[:1].assign(token_address=f"0x{n}") for n in range(9)])
        few = charts.bar(many, by="asset", top=4)
        assert few.layout.yaxis.ticktext[-1] == "Other (5 assets)"
        assert "5 balances, 55.6% of all" in {note.text for note in few.layout.annotations}
        [trace] = charts.bar(many, by="token", top=7).data
        assert (trace.x[-1], trace.marker.color[-1]) == (2, charts.palette.OTHER_COLOR)

    def test_assets_and_their_tokens(self):
        """Bars are assets, colours their contracts."""
        assert bars(charts.bar(VALUED, by=["asset", "token"])) == {
            "USDC": {"USDC (BASE 0x8335…2913)": 20, "USDC (ETH 0xa0b8…eb48)": 50},
            "USDT": {"USDT": 70},
        }

    @pytest.mark.parametrize(
        "by, names",
        [
            (
                ["owner", "blockchain"],
                (
                    *("Ada · ETH (2 of 3 known)", "no owner · ETH", "Ada · BASE"),
                    *("Ben · ETH (unknown)", "Ben · BASE (unknown)"),
                ),
            ),
            (
                ["owner", "wallet"],
                (
                    *(
                        "Ada · ETH.0x0000…00a1",
                        "no owner · ETH.0x0000…00c1",
                        "Ada · BASE.0x0000…00a2",
                    ),
                    *(f"{name} (unknown)" for name in UNKNOWN),
                ),
            ),
            (
                ["team", "owner"],
                ("1 · Ada (2 of 3 known)", "no team · no owner", "2 · Ada", "2 · Ben (unknown)"),
            ),
            (
                ["wallet", "blockchain"],
                (
                    *("ETH.0x0000…00a1", "ETH.0x0000…00c1", "BASE.0x0000…00a2"),
                    *(f"{name.partition(' · ')[2]} (unknown)" for name in UNKNOWN),
                ),
            ),
            ("blockchain", ("ETH (3 of 5 known)", "BASE (1 of 2 known)")),
            ("bag", ("True", "False")),
            (["token_blockchain"], ("ETH", "BASE")),
        ],
    )
    def test_any_columns(self, by, names):
        """Columns of wallets and of holdings, alone or together."""
        figure = charts.bar(VALUED, by=by, wallets=WALLETS)
        labels = (text.replace("<br>", " ") for text in figure.layout.yaxis.ticktext)
        assert tuple(labels) == names
        assert sum(sum(each.values()) for each in bars(figure).values()) == 140

    def test_the_rest_of_several_columns_are_groups(self):
        """Other counts "groups", also for a column name without a plural."""
        figure = charts.bar(VALUED, by=["owner", "bag"], wallets=WALLETS, top=1)
        assert "1 of 3 groups and 2 assets are drawn; Other contains the rest." in notes_of(figure)
        renamed = WALLETS.rename(columns={"owner": "treasury"})
        assert "3 groups and 2 assets are drawn." in notes_of(
            charts.bar(VALUED, by="treasury", wallets=renamed)
        )

    def test_labels_that_look_alike_are_distinct(self):
        """Labels that look alike are shortened less, or numbered."""
        long = "The treasury of the foundation of the people "
        labels = [f"{long}A", f"{long}B", "Ada", "Ada\u200b", " Ada ", "no owner", None, ""]
        details = owned(labels)
        labels = charts.bar(details.holdings, by="owner", wallets=details).layout.yaxis.ticktext
        names = tuple(label.replace("<br>", " ") for label in labels)
        assert names == (
            *(f"{long}A", f"{long}B", "Ada", "Ada #2", "Ada #3"),
            *("no owner", "no owner #2", "no owner #3"),
        )

    def test_labels_are_harmless(self):
        """Any value and any name of a column is escaped."""
        labels = [*SYMBOLS.values()]
        details = owned(labels)
        column = "<b onload='x'>$x$</b>"
        wallets = details.wallets.rename(columns={"owner": column})
        figure = charts.bar(details.holdings, by=column, wallets=wallets, top=200)
        texts = [*figure.layout.yaxis.ticktext, *hovers(figure), figure.layout.title.text]
        assert len({*figure.layout.yaxis.ticktext}) == len(labels)
        for text in [*texts, figure.layout.yaxis.title.text, *figure.layout.meta["about"]]:
            assert re.findall(r"<(?!/?b>|br>)", text) == []
            assert "$" not in text

    def test_a_small_chart_for_each_label(self):
        """All small charts have the same scale and colours, and their label as heading."""
        figure = charts.bar(VALUED, facet="owner", wallets=WALLETS)
        assert figure.layout.title.text == "Holdings by owner and wallet"
        lengths = {(trace.name, trace.yaxis): tuple(trace.x) for trace in figure.data}
        assert lengths == {
            ("USDC", "y"): (10, 20, None),
            ("USDC", "y2"): (40,),
            ("USDC", "y3"): (None, None),
            ("USDT", "y"): (70, None, None),
            ("USDT", "y2"): (None,),
            ("USDT", "y3"): (None, None),
        }
        colors = {(trace.name, trace.marker.color) for trace in figure.data}
        assert len(colors) == sum(trace.showlegend for trace in figure.data) == 2
        assert figure.layout.xaxis.matches or figure.layout.xaxis2.matches
        names = (
            "ETH.0x0000…00a1",
            "BASE.0x0000…00a2",
            "ETH.0x0000…00a4<br>(unknown)",
            "ETH.0x0000…00c1",
        )
        names += ("ETH.0x0000…00b1<br>(unknown)", "BASE.0x0000…00b2<br>(unknown)")
        assert figure.layout.yaxis.ticktext == names
        assert [figure.layout.yaxis.range, figure.layout.yaxis2.range] == [(2.5, -0.5), (3.5, 2.5)]
        heads = [each for each in figure.layout.annotations if each.text.startswith("<b>")]
        assert [each.text for each in heads] == [
            *("<b>Ada (3 of 4 known)</b>", "<b>no owner</b>", "<b>Ben (unknown)</b>")
        ]
        assert heads[0].hovertext == "<b>owner Ada</b><br>3 of 4 wallets are known"
        about = notes_of(figure)
        assert "0 of 2 wallets of owner Ben are known. 3 of 4 wallets of owner Ada are" in about
        assert "3 groups, 6 bars and 2 assets are drawn." in about

    @pytest.mark.parametrize(
        "options, ranges, names",
        [
            (
                {"by": "blockchain"},
                [(1.5, -0.5), (2.5, 1.5)],
                ("ETH (2 of 3 known)", "BASE", "ETH", "ETH (unknown)", "BASE (unknown)"),
            ),
            (
                {"by": "owner"},
                [(0.5, -0.5), (1.5, 0.5)],
                ("Ada (3 of 4 known)", "no owner", "Ben (unknown)"),
            ),
            (
                {"by": "asset"},
                [(1.5, -0.5), (2.5, 1.5)],
                ("USDT (2 of 3 known)", "USDC (3 of 4 known)", "USDC", "no asset (unknown)"),
            ),
            (
                {"asset": "USDC"},
                [(0.5, -0.5), (3.5, 0.5)],
                (
                    *(
                        "ETH.0x0000…00c1",
                        "BASE.0x0000…00a2",
                        "ETH.0x0000…00a1",
                        "ETH.0x0000…00a4 (unknown)",
                    ),
                    *("ETH.0x0000…00b1 (unknown)", "BASE.0x0000…00b2 (unknown)"),
                ),
            ),
            (
                {"top": 1},
                [(0.5, -0.5), (1.5, 0.5)],
                ("ETH.0x0000…00a1", "Other (2 groups, 2 of 5 wallets known)"),
            ),
        ],
    )
    def test_bars_of_small_charts(self, options, ranges, names):
        """Bars omit the small chart's label, and the rest is a separate bar."""
        figure = charts.bar(VALUED, facet="owner", wallets=WALLETS, **options)
        assert [figure.layout.yaxis.range, figure.layout.yaxis2.range] == ranges
        labels = (text.replace("<br>", " ") for text in figure.layout.yaxis.ticktext)
        assert tuple(labels) == names
        total = 7 if "asset" in options else 140
        assert sum(x for trace in figure.data for x in trace.x if x) == pytest.approx(total)

    def test_other_counts_its_known_wallets(self):
        """Notes name drawn owners before Other, and don't repeat the column's name."""
        wallets, holdings = owned([f"Owner {number // 2}" for number in range(8)])
        failed = wallets.assign(status=["ok", "failed"] * 2 + ["ok", "ok", "ok", "failed"])
        rows = holdings[(failed.status == "ok").to_numpy()]
        rows = rows.assign(amount=pd.array([5, 4, 2, 2, 1], dtype="amount"))
        figure = charts.bar(rows, by="owner", wallets=failed, top=2)
        assert figure.layout.yaxis.ticktext[-1] == "Other (2 owners, 3<br>of 4 wallets known)"
        assert "Other (2 owners)<br>3 of 4 wallets known<br>5 USDC" in hovers(figure)[-1]
        assert (
            "1 of 2 wallets of Owner 0 is known. 1 of 2 wallets of Owner 1 is known. "
            "3 of 4 wallets of Other (2 owners) are known. 1 of 2 wallets of Owner 3 is known."
        ) in notes_of(figure)

    def test_at_most_ten_small_charts_are_drawn(self):
        """The rest is one bar or, if this bar is too long, a text."""
        details = owned([f"o{number:02}" for number in range(40)])
        figure = charts.bar(details.holdings, facet="owner", wallets=details)
        assert "10 of 40 owners and 10 of 40 bars are drawn; Other" in notes_of(figure)
        assert figure.layout.yaxis11.ticktext[-1] == "Other (30 groups)"
        [note] = [each for each in figure.layout.annotations if "of all" in each.text]
        assert (note.yref, note.y, note.text) == ("y11", 10, "30 USDC, 75.0% of all")

    def test_labels_of_small_charts_are_harmless(self):
        """The headings are escaped and distinct, and a wallet keeps its name in each asset."""
        details = owned([*SYMBOLS.values()])
        figure = charts.bar(details.holdings, facet="owner", wallets=details, top=200)
        texts = [each.text for each in figure.layout.annotations if each.text.startswith("<b>")]
        assert len({*texts}) == 10
        for text in [*texts, *(each.hovertext or "" for each in figure.layout.annotations)]:
            assert re.findall(r"<(?!/?b>|br>)", text) == []
            assert "$" not in text
        by_asset = charts.bar(VALUED, facet="asset")
        assert by_asset.layout.yaxis.ticktext == (
            "ETH.0x0000…00c1",
            "BASE.0x0000…00a2",
            "ETH.0x0000…00a1",
            "ETH.0x0000…00a1",
        )

    def test_labels_of_any_type(self):
        """Numbers, times and exact amounts are formatted for people."""
        labels = [Decimal("1E+3"), pd.Timestamp("2026-01-31 12:00"), 7, 0.5, np.nan]
        details = owned(labels)
        names = charts.bar(details.holdings, by="owner", wallets=details).layout.yaxis.ticktext
        assert names == ("1000", "2026-01-31 12:00", "7", "0.5", "no owner")

    def test_an_asset_has_the_colour_of_its_largest_token(self):
        """An asset's colour is chosen from the colours of all its tokens."""
        colors = charts.token_colors(VALUED)
        figure = charts.bar(VALUED, by=["owner", "asset"], wallets=WALLETS, colors=colors)
        painted = {trace.name: trace.marker.color for trace in figure.data}
        keys = {"USDT": ("ETH", USDT.lower()), "USDC": ("ETH", USDC.lower())}
        assert painted == {name: colors[key] for name, key in keys.items()}

    def test_lengths_are_those_of_totals(self):
        """The chart has the names and the amounts of `totals`."""
        table = totals(HOLDINGS, ["owner", "asset"], wallets=WALLETS).dropna(subset="asset")
        figure = charts.bar(HOLDINGS, by=["owner", "asset"], wallets=WALLETS)
        written = " ".join(hovers(figure))
        for row in table.itertuples():
            assert f"{row.amount:,} {row.asset}<br>" in written

    def test_no_holdings(self):
        """The chart has the reason, and the owners of unknown wallets."""
        figure = charts.bar(assemble([]).holdings, by="owner", wallets=WALLETS)
        assert figure.data == ()
        assert "3 of 4 wallets of owner Ada are known." in notes_of(figure)


def boxes(figure):
    """Return the sizes of the leaves of a hierarchy by their paths."""
    [trace] = figure.data
    above = dict(zip(trace.ids, trace.parents, strict=True))
    texts = zip(trace.ids, trace.labels, trace.text, strict=True)
    names = {key: label.removesuffix(f" · {size}") for key, label, size in texts}

    def path(key):
        return [*path(above[key]), names[key]] if key else []

    sizes = zip(trace.ids, trace["values"], strict=True)
    return {"/".join(path(key)): size for key, size in sizes if key not in trace.parents}


def boxes_above(draw, wallets, options):
    """Return the labels of the boxes that contain boxes."""
    [trace] = draw(VALUED, wallets=wallets, **options).data
    texts = zip(trace.ids, trace.labels, trace.text, strict=True)
    return [label.removesuffix(f" · {size}") for key, label, size in texts if key in trace.parents]


class TestHierarchies:
    """Treemap and sunburst of any path."""

    @pytest.mark.parametrize("draw", [charts.treemap, charts.sunburst])
    def test_the_path_runs_from_outside_in(self, draw):
        """Owners around their assets, or assets around owners."""
        figure = draw(VALUED, by=["owner", "asset"], wallets=WALLETS)
        assert figure.layout.title.text == "Holdings by owner and asset"
        assert boxes(figure) == {"Ada/USDT": 70, "Ada/USDC": 30, "no owner/USDC": 40}
        figure = draw(VALUED, by=["asset", "owner"], wallets=WALLETS)
        assert boxes(figure) == {"USDT/Ada": 70, "USDC/Ada": 30, "USDC/no owner": 40}

    @pytest.mark.parametrize(
        "by, paths",
        [
            ("owner", {"Ada": 100, "no owner": 40}),
            ("bag", {"True": 70, "False": 70}),
            (["owner", "team"], {"Ada/1": 80, "Ada/2": 20, "no owner/no team": 40}),
            (
                ["owner", "wallet"],
                {
                    "Ada/ETH.0x0000…00a1": 80,
                    "Ada/BASE.0x000…": 20,
                    "no owner/ETH.0x0000…00c1": 40,
                },
            ),
            (
                ["blockchain", "owner", "wallet", "token"],
                {
                    "ETH/Ada/0x0000…00a1/USDT": 70,
                    "ETH/Ada/0x0000…00a1/USDC<br>(ETH…": 10,
                    "BASE/Ada/0x0000…00a2/USDC<br>(BASE 0x8…": 20,
                    "ETH/no owner/0x0000…00c1/USDC<br>(ETH 0xa0b8…eb48)": 40,
                },
            ),
        ],
    )
    def test_any_path(self, by, paths):
        """A path has one column or many."""
        assert boxes(charts.treemap(VALUED, by=by, wallets=WALLETS)) == paths

    @pytest.mark.parametrize("by", ["usual", ["owner", "wallet", "token"]])
    def test_names_of_outer_boxes_have_one_line(self, by):
        """A treemap's outer boxes have one line, and plotly hides two."""
        named = WALLETS.assign(name=["savings", *WALLETS["address"].tolist()[1:]])
        options = {} if by == "usual" else {"by": by}
        [tile] = [name for name in boxes_above(charts.treemap, named, options) if "savings" in name]
        assert tile == ("savings · 0x0000…00a1" if by == "usual" else "savings · ETH.0x0000…00a1")
        [arc] = [name for name in boxes_above(charts.sunburst, named, options) if "savings" in name]
        assert arc == tile.replace(" · ", "<br>")

    def test_the_usual_path_is_the_default(self):
        """The default path can also be written out."""
        usual = charts.treemap(VALUED).to_json()
        assert charts.treemap(VALUED, by=["blockchain", "wallet", "asset"]).to_json() == usual
        one = charts.treemap(VALUED, token="USDT").to_json()
        assert charts.treemap(VALUED, token="USDT", by=["blockchain", "wallet"]).to_json() == one
        asset = charts.treemap(VALUED, asset="USDC").to_json()
        assert charts.treemap(VALUED, asset="USDC", by=["blockchain", "wallet"]).to_json() == asset

    def test_hovers_name_the_path(self):
        """Hover texts name the path from inside out, the known wallets, and the exact amount."""
        texts = hovers(charts.treemap(VALUED, by=["owner", "asset"], wallets=WALLETS))
        assert (
            "<b>USDC</b><br>2 contracts on 2 blockchains<br>owner Ada<br>"
            "3 of 4 wallets that could hold it are known<br>3.000000000000000001 USDC<br>"
            "30.00 USD (21.4% of all)"
        ) in texts
        assert "<b>owner Ada</b><br>3 of 4 wallets are known<br>100.00 USD (71.4% of all)" in texts
        assert "0 of 2 wallets of owner Ben are known." in notes_of(
            charts.sunburst(VALUED, by="owner", wallets=WALLETS)
        )

    def test_one_asset(self):
        """Areas are the asset's amounts on any path, without a ring for the asset."""
        figure = charts.treemap(HOLDINGS, asset="USDC", wallets=WALLETS)
        assert figure.layout.title.text == "USDC by blockchain and wallet"
        assert boxes(figure) == {"ETH/0x0000…00a1": 1, "ETH/0x0000…00c1": 4, "BASE/0x0000…00a2": 2}
        figure = charts.treemap(HOLDINGS, by="owner", asset="USDC", wallets=WALLETS)
        assert boxes(figure) == {"Ada": 3, "no owner": 4}
        assert set(figure.data[0].text) == {"3 USDC", "4 USDC"}
        assert "3.000000000000000001 USDC" in hovers(figure)[0]

    def test_balances_are_counted_without_values(self):
        """A leaf shows the amount of its token, or the number of its tokens."""
        figure = charts.treemap(HOLDINGS, by=["owner", "asset"], wallets=WALLETS)
        assert boxes(figure) == {"Ada/USDT": 1, "Ada/USDC": 2, "no owner/USDC": 1}
        assert {"3", "7", "4"} <= set(figure.data[0].text)
        figure = charts.treemap(HOLDINGS, by="owner", wallets=WALLETS)
        assert set(figure.data[0].text) == {"3 balances", "1 balance"}

    def test_colours(self):
        """Tokens and assets have their usual colours; otherwise each outermost group has one."""
        colors = charts.token_colors(VALUED)
        figure = charts.treemap(VALUED, by=["owner", "asset"], wallets=WALLETS, colors=colors).data[
            0
        ]
        painted = dict(zip(figure.labels, figure.marker.colors, strict=True))
        assert painted["USDT"] == colors["ETH", USDT.lower()]
        assert painted["USDC"] == colors["ETH", USDC.lower()]
        figure = charts.treemap(VALUED, by=["owner", "team"], wallets=WALLETS).data[0]
        painted = dict(zip(figure.labels, figure.marker.colors, strict=True))
        assert painted["1"] == painted["2"] != painted["no team"]
        assert {painted["1"], painted["no team"]} <= {*charts.palette.COLORS}

    def test_top_limits_each_group(self):
        """The largest groups are drawn, and the rest of each parent is combined as Other."""
        wallets, holdings = owned([f"o{number % 7}" for number in range(90)])
        frame = holdings.assign(value=np.linspace(1, 2, 90))
        for top in range(1, 40):
            figure = charts.treemap(frame, by=["owner", "wallet"], wallets=wallets, top=top)
            assert 0 < len(figure.data[0].ids) <= top
            drawn = sum(figure.data[0]["values"])
            assert drawn == pytest.approx(135, rel=1e-12)
        text = "7 owners and 18 of 90 inner groups are drawn; the others are not drawn separately."
        assert text in notes_of(figure)

    @pytest.mark.parametrize("draw", [charts.treemap, charts.sunburst])
    def test_each_group_has_its_whole_size(self, draw):
        """A rest without space for a name is grey, and Other is inside its own group."""
        wallets, holdings = owned(["Ada", "Ada", "Ben", "Ben", "Cem"])
        frame = holdings.assign(value=[690.0, 9.0, 200.0, 94.0, 1.0])
        small = frame.iloc[[0]].assign(token_address=["0x1"], symbol="NEW", value=6.0)
        frame = pd.concat([frame, small])
        figure = draw(frame, by=["owner", "wallet", "token"], wallets=wallets)
        [trace] = figure.data
        above, drawn = dict(zip(trace.ids, trace.parents, strict=True)), defaultdict(float)
        for key, size in zip(trace.ids, trace["values"], strict=True):
            inner = key
            while inner:
                drawn[inner] += size
                inner = above[inner]
        names = {
            label.partition(" · ")[0]: key
            for label, key in zip(trace.labels, trace.ids, strict=True)
        }
        assert {"Ada": 705, "Ben": 294, "ETH.0x0000": 696}.items() <= {
            name: drawn[key] for name, key in names.items()
        }.items()
        text = notes_of(figure)
        assert "1 of 3 owners is too small to draw: Cem (0.1% of the total)." in text
        assert "1.6% of the total is grey, too small for names." in text
        assert sum(trace["values"]) == pytest.approx(1000)

    def test_incomplete_groups_of_wallets_are_noted(self):
        """A path with wallets has notes on the known wallets of each owner."""
        by = ["owner", "wallet", "asset"]
        text = notes_of(charts.treemap(VALUED, by=by, wallets=WALLETS))
        assert "3 of 4 wallets of owner Ada are known." in text
        assert " are known." not in notes_of(charts.treemap(VALUED, wallets=WALLETS))

    def test_bands_use_their_space(self):
        """A name is whole where its band has space; otherwise, it has no cut address."""
        names = ["Wallet for payments", "A second wallet for pay", "Reserve"]
        wallets, holdings = owned(["Ada", "Ben", "Cem"])
        frame = holdings.assign(value=[70.0, 20.0, 10.0])
        by = ["owner", "wallet", "token"]
        figure = charts.treemap(frame, by=by, wallets=wallets.assign(name=names))
        drawn = [*figure.data[0].labels]
        assert f"{names[0]} · ETH.0x0000 · 70" in drawn
        assert {names[1], f"{names[2]} · 10"} <= {*drawn}

    def test_a_single_rest_is_not_other(self):
        """A single remaining box is drawn itself."""
        wallets, holdings = owned(["Ada", "Ben", "Cem"])
        figure = charts.treemap(holdings, by="owner", wallets=wallets, top=3)
        assert set(boxes(figure)) == {"Ada", "Ben", "Cem"}
        assert set(boxes(charts.treemap(holdings, by="owner", wallets=wallets, top=1))) == {
            "Other (3 owners)"
        }

    def test_invisible_boxes_are_not_drawn(self):
        """Boxes without space in their parent are left out; the parent has its token's colour."""
        wallets, holdings = owned(["Ada", "Ben", "Ben", "Cem", "Dan"])
        frame = holdings.assign(value=[1e4, 120.0, 130.0, 250.0, 1.0])
        figure = charts.treemap(frame, by=["owner", "wallet"], wallets=wallets)
        assert boxes(figure) == {"Ada/ETH.0x0000": 1e4, "Ben": 250, "Cem": 250}
        assert "1 of 4 owners is too small to draw: Dan (&lt;0.1% of the total)." in notes_of(
            figure
        )
        figure = charts.treemap(frame, by=["token", "owner", "wallet"], wallets=wallets)
        painted = dict(zip(figure.data[0].labels, figure.data[0].marker.colors, strict=True))
        assert painted["Ben"] == painted["ETH.0x0000"]

    def test_rings_of_others_are_left_out(self):
        """A sunburst draws only arcs with space for their name."""
        wallets, holdings = owned([f"o{number % 3}" for number in range(300)])
        figure = charts.sunburst(holdings, by=["owner", "wallet"], wallets=wallets)
        assert boxes(figure) == {"o0": 100, "o1": 100, "o2": 100}
        assert "3 owners are drawn." in notes_of(figure)
        shown = figure.layout.title.subtitle.text.replace("<br>", " ")
        assert "No wallet is drawn: most are too small, or there are too many." in shown

    def test_named_wallets_break_before_their_address(self):
        """The name of a wallet is above its address, on any path."""
        named = WALLETS.assign(name="Vault")
        paths = boxes(charts.treemap(VALUED, by=["owner", "wallet"], wallets=named))
        assert "Ada/Vault<br>ETH.0x0000…00a1" in paths
        named = WALLETS.assign(name="Vault · old")  # with other text before an address
        paths = boxes(charts.treemap(VALUED, by=["owner", "wallet"], wallets=named))
        assert "Ada/Vault · old<br>ETH.0x0000…00a1" in paths

    def test_labels_are_harmless(self):
        """Any value of a column is escaped."""
        details = owned([*SYMBOLS.values()])
        figure = charts.sunburst(details.holdings, by=["owner", "token"], wallets=details)
        for text in [*figure.data[0].labels, *hovers(figure), *figure.layout.meta["about"]]:
            assert re.findall(r"<(?!/?b>|br>)", text) == []
            assert "$" not in text


class TestPie:
    """One wallet by asset or token."""

    @pytest.mark.parametrize(
        "options, slices",
        [
            ({}, {"USDC 55.6%": 10, "USDC.e 44.4%": 8}),
            ({"bridged": True}, {"USDC 100%": 18}),
            ({"by": "token"}, {"USDC 55.6%": 10, "USDC.e 44.4%": 8}),
        ],
    )
    def test_contracts_of_an_asset_are_one_slice(self, options, slices):
        """Bridged versions count on request."""
        twin = VALUED.iloc[:1].assign(
            symbol="USDC.e",
            value=8.0,
            token_blockchain="POLYGON",
            token_address="0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174",
        )
        figure = charts.pie(pd.concat([VALUED.iloc[:1], twin]), f"ETH.{whole('a1')}", **options)
        [trace] = figure.data
        assert dict(zip(trace.labels, trace["values"], strict=True)) == slices
        noun = "token" if options.get("by") else "asset"
        assert f"{len(slices)} {noun}{'s' * (len(slices) > 1)} " in notes_of(figure)
        assert ("2.000000000000000002 USDC" in " ".join(hovers(figure))) == (len(slices) == 1)


class TestHeatmap:
    """Rows of any groups, columns of tokens or assets."""

    def test_rows_are_groups_and_columns_assets(self):
        """Shares are those of the whole asset."""
        figure = charts.heatmap(HOLDINGS, by=["owner", "asset"], wallets=WALLETS)
        assert figure.layout.title.text == "Share of each asset by owner"
        assert figure.data[0].x == ("USDC", "USDT")
        assert figure.layout.yaxis.ticktext == ("Ada (3 of 4 known)", "no owner", "Ben (unknown)")
        assert figure.data[0].text == (["42.9%", "100%"], ["57.1%", ""], ["", ""])
        assert list(zip(figure.data[1].x, figure.data[1].y, strict=True)) == [
            ("USDC", 2),
            ("USDT", 2),
        ]
        assert (
            "3 of 4 wallets that could hold it are known<br>3.000000000000000001 USDC<br>42.9%"
            in (figure.data[0].hovertext[0][0])
        )
        assert "0 of 2 wallets of owner Ben are known." in notes_of(figure)
        assert "Colours show the share of the asset's total in these holdings" in notes_of(figure)

    def test_unknown_cells_have_question_marks(self):
        """An empty cell means that the group holds none; a question mark, that it may hold some."""
        figure = charts.heatmap(HOLDINGS, by="team", wallets=WALLETS)
        [marks] = figure.select_traces({"type": "scatter"})
        assert (marks.x, marks.y, marks.text) == (("USDT",), (1,), "?")
        assert marks.hovertext == (
            f"<b>USDT</b><br>ETH {USDT}<br>team 2<br>The only wallet that could hold it is unknown",
        )
        assert "Cells with “?” are unknown, perhaps not empty." in notes_of(figure)

    def test_unreadable_cells_have_question_marks(self):
        """A balance without a known value is not nothing."""
        unpriced = VALUED.assign(value=[10.0, None, 20.0, 40.0])
        both = pd.concat([unpriced, VALUED[1:2].assign(address=whole("c1"))])
        one = WalletDetails(WALLETS, VALUED).wf.where(asset="USDC").wf.plot.heatmap(by="owner")
        assert one.layout.yaxis.ticktext[2:] == ("Ben (unknown)",)
        for options, row in (({}, 2), ({"by": "owner", "wallets": WALLETS}, 1)):
            figure = charts.heatmap(both, **options)
            [marks] = figure.select_traces({"type": "scatter"})
            assert ("USDT", row) in zip(marks.x, marks.y, strict=True)

    def test_values(self):
        """Values of a group are added up."""
        figure = charts.heatmap(VALUED, by="team", wallets=WALLETS)
        assert figure.layout.title.text == "Holdings by team and asset"
        assert dict(zip(figure.layout.yaxis.ticktext, figure.data[0].text, strict=True)) == {
            "1 (2 of 3 known)": ["10", "70"],
            "no team": ["40", ""],
            "2 (1 of 3 known)": ["20", ""],
        }
        figure = charts.heatmap(VALUED, by=["team", "token"], wallets=WALLETS)
        assert figure.layout.title.text == "Holdings by team and token"
        assert dict(zip(figure.layout.yaxis.ticktext, figure.data[0].text, strict=True)) == {
            "1 (2 of 3 known)": ["70", "10", ""],
            "no team": ["", "40", ""],
            "2 (1 of 3 known)": ["", "", "20"],
        }

    def test_assets_alone_are_columns(self):
        """Rows are wallets, the largest first."""
        figure = charts.heatmap(VALUED, by="asset")
        assert figure.layout.yaxis.ticktext == (
            "ETH.0x0000…00a1",
            "ETH.0x0000…00c1",
            "BASE.0x0000…00a2",
        )
        assert figure.data[0].x == ("USDC", "USDT")


DAYS = pd.date_range("2026-01-01", periods=4, tz="UTC")


def snapshots():
    """Return four snapshots: on the third day Ada is unknown, on the fourth day one wallet."""
    wallets = pd.concat([WALLETS.assign(snapshot=day) for day in DAYS], ignore_index=True)
    holdings = pd.concat([VALUED.assign(snapshot=day) for day in DAYS], ignore_index=True)
    day, third, fourth = wallets.snapshot, DAYS[2], DAYS[3]
    lost = (wallets.owner == "Ada").fillna(value=False) & (day == third)
    lost |= (wallets.address == whole("a2")) & (day == fourth)
    wallets.loc[lost, "status"] = "failed"
    wallets.loc[lost, "tokens"] = pd.NA
    gone = holdings.address.isin([whole("a1"), whole("a2")]) & (holdings.snapshot == third)
    gone |= (holdings.address == whole("a2")) & (holdings.snapshot == fourth)
    return wallets, holdings[~gone]


def lines(figure):
    """Return the heights of lines by name: the complete and the incomplete points."""
    named = {trace.legendgroup: trace.name for trace in figure.data if trace.name}
    result = {}
    for trace in figure.data:
        if trace.legendgroup is not None and trace.hoverinfo == "text":
            kind = "alone" if trace.mode == "markers" else "line"
            result[named[trace.legendgroup], kind] = list(trace.y)
    return result


def small_charts(figure):
    """Return the heights of bars and marks by the heading of their small chart and their name."""
    headings = [each.text for each in figure.layout.annotations if each.text.startswith("<b>")]
    return {
        (headings[int(trace.yaxis[1:] or 1) - 1][3:-4], trace.name): list(trace.y)
        for trace in figure.data
    }


def test_heatmaps_of_one_asset_have_the_largest_shares_first():
    """Also without values, although rows of several assets are sorted by balances."""
    amounts = {A: [token(raw=2)], B: [token(raw=3)], C: [token(raw=1)] * 2}
    drawn = fetched({f"ETH.{wallet}": held for wallet, held in amounts.items()}).wf.plot.heatmap()
    assert drawn.data[0].text == (["42.9%"], ["28.6%"], ["28.6%"])


def test_heatmaps_count_assets_of_which_nothing_is_known():
    """They have no column."""
    rows = pd.concat(
        [
            HOLDINGS,
            HOLDINGS.iloc[:1].assign(
                symbol="NEW", token_address="0xNew", amount=pd.array([None], "amount")
            ),
        ]
    )
    assert "1 asset of unknown amount is not drawn." in notes_of(
        charts.heatmap(rows, by="owner", wallets=WALLETS)
    )


class TestTimeline:
    """Lines of any groups, and bars in small charts."""

    def test_bars_by_snapshot_count_each_wallet_once(self):
        """In the label of each bar, oldest first; headings state the range of all snapshots."""
        wallets, holdings = snapshots()
        figure = charts.bar(holdings, by="snapshot", asset="USDC", wallets=wallets)
        texts = [
            text.replace("<br>", " ").split("00:00 ")[1] for text in figure.layout.yaxis.ticktext
        ]
        assert texts == [f"({count} of 7 known)" for count in (4, 4, 1, 3)]
        facets = charts.bar(holdings, by="snapshot", facet="owner", asset="USDC", wallets=wallets)
        headings = [note.text for note in facets.layout.annotations if note.text.startswith("<b>")]
        counted = ["<b>no owner</b>", "<b>Ada (0 to 3 of 4 known)</b>", "<b>Ben (unknown)</b>"]
        assert headings == counted
        stale = wallets.assign(source=wallets["source"].mask(wallets["owner"].isna(), "stale"))
        facets = charts.bar(holdings, by="snapshot", facet="owner", asset="USDC", wallets=stale)
        assert facets.layout.annotations[0].text == "<b>no owner</b>"  # an older answer counts
        facets = charts.bar(holdings, by="snapshot", facet="wallet", asset="USDC", wallets=wallets)
        headings = [note.text for note in facets.layout.annotations if note.text.startswith("<b>")]
        assert [heading[-8:-4] for heading in headings] == ["00c1", "00a2", "00a1"]

    @pytest.mark.parametrize("draw", [charts.bar, charts.heatmap])
    def test_snapshots_are_in_the_order_of_time(self, draw):
        """Whatever their sizes; within a snapshot, the largest group is first."""
        days = [
            VALUED.assign(snapshot=day, value=VALUED.value * n) for n, day in enumerate(DAYS, 1)
        ]
        wallets = pd.concat([WALLETS.assign(snapshot=day) for day in DAYS])
        figure = draw(pd.concat(days), by=["snapshot", "owner"], top=6, wallets=wallets)
        labels = [label.replace("<br>", " ") for label in figure.layout.yaxis.ticktext]
        groups = [
            f"{day:%Y-%m-%d} 00:00 · {owner}" for day in DAYS for owner in ("Ada", "no owner")
        ]
        drawn = [group for group in groups if any(label.startswith(group) for label in labels)]
        assert len(drawn) == 6
        assert all(label.startswith(group) for label, group in zip(labels, drawn, strict=False))

    def test_small_charts_of_snapshots_are_in_the_order_of_time(self):
        """So are the bars of snapshots in each small chart."""
        wallets, holdings = snapshots()
        options = {"asset": "USDC", "wallets": wallets}
        figure = charts.bar(holdings, by="owner", facet="snapshot", **options)
        headings = [note.text for note in figure.layout.annotations if note.text.startswith("<b>")]
        assert [heading[3:13] for heading in headings] == [f"{day:%Y-%m-%d}" for day in DAYS]
        figure = charts.bar(holdings, by="snapshot", facet="owner", **options)
        labels = [axis.ticktext for axis in figure.select_yaxes()][-1]
        assert [label[:10] for label in labels[:4]] == [f"{day:%Y-%m-%d}" for day in DAYS]

    def test_a_line_for_each_owner(self):
        """A line has gaps for unknown values, and hollow points for incomplete values."""
        wallets, holdings = snapshots()
        figure = charts.timeline(holdings, by="owner", wallets=wallets)
        assert figure.layout.title.text == "Holdings by owner over time"
        assert lines(figure) == {
            ("Ada", "line"): [100, 100, None, None],
            ("Ada", "alone"): [None, None, None, 80],
            ("no owner", "line"): [40, 40, 40, 40],
        }
        assert figure.data[1].hovertext[0] == "Ada: 100 USD (3 of 4 wallets known)"
        assert figure.data[2].hovertext[3] == "Ada: 80 USD (2 of 4 wallets known)"
        shown = figure.layout.title.subtitle.text.replace("<br>", " ")
        assert (
            "Hollow points mark times with fewer known wallets. Triangles also mark gaps." in shown
        )
        assert "In 4 of 4 snapshots, up to 6 of 7 wallets are unknown." in shown
        assert "0 of 2 wallets of owner Ben are known." in notes_of(figure)
        assert "0 to 3 of 4 wallets of owner Ada are known, depending on the snapshot." in notes_of(
            figure
        )
        assert "2 groups are drawn." in notes_of(figure)
        labels = {each.hovertext: each.text for each in figure.layout.annotations if each.ayref}
        assert labels == {"Ada": "Ada<br>2/4 known", "no owner": "no owner 40"}
        assert {*figure.data[-1].y} == {figure.layout.yaxis.range[1]}  # triangles above the lines

    def test_an_only_point_has_its_name(self):
        """A point without a line, which is far from the label at the end, is named beside it."""
        _, holdings = snapshots()
        is_left_out = (holdings.address == whole("a1")) & (holdings.snapshot != DAYS[1])
        figure = charts.timeline(holdings[~is_left_out], by="wallet")
        texts = {trace.name: trace.text for trace in figure.data if trace.mode != "lines"}
        named = {name for name, text in texts.items() if text}
        assert named == {"ETH.0x0000…00a1"}
        assert texts["ETH.0x0000…00a1"] == "ETH.0x0000…00a1"

    def test_a_line_has_the_colour_of_its_name(self):
        """Colours don't depend on ranks. Nine groups have nine colours."""
        _, holdings = details = owned([f"Owner {n}" for n in range(9)])
        styles = []
        for values in (range(1, 10), range(9, 0, -1)):
            frame = holdings.assign(value=[*map(float, values)], snapshot=DAYS[0])
            wallets = details.wallets.assign(snapshot=DAYS[0])
            traces = charts.timeline(frame, by="owner", wallets=wallets, top_tokens=9).data
            styles.append({each.name: each.line.color for each in traces if each.name})
        assert styles[0] == styles[1]
        assert len({*styles[0].values()}) == 9

    def test_more_groups_than_colours(self):
        """Groups of one colour have different patterns."""
        fills = choose_group_fills([f"Owner {n}" for n in range(20)])
        assert len({*fills}) == 20
        assert len({color for color, _ in fills}) == 9

    def test_known_empty_wallets_are_at_zero(self):
        """Known empty wallets are at zero; unknown wallets are gaps."""
        wallets, holdings = snapshots()
        figure = charts.timeline(
            holdings[holdings.snapshot != DAYS[0]], by="owner", asset="USDT", wallets=wallets
        )
        assert lines(figure)["Ada", "line"] == [0, 7, None, 7]
        unread = holdings.assign(amount=holdings["amount"].where(holdings.snapshot != DAYS[1]))
        figure = charts.timeline(unread, by="owner", asset="USDT", wallets=wallets)
        assert lines(figure)["Ada", "line"][1] is None  # as in total_timeline
        figure = charts.timeline(unread, asset="USDT", wallets=wallets)
        assert figure.data[0].y[1] is None

    def test_lines_without_points_above_zero_are_named(self):
        """An owner whose amount is 0 on one day and unknown on another day is in a note."""
        wallets, holdings = snapshots()
        first = wallets.snapshot == DAYS[0]
        wallets.loc[(wallets.owner == "Ben") & first, ["status", "tokens"]] = ["ok", 0]
        figure = charts.timeline(holdings, by="owner", asset="USDT", wallets=wallets)
        assert {name for name, _ in lines(figure)} == {"Ada"}
        note = "The only wallet of owner Ben is unknown in some snapshots."
        assert note in notes_of(figure)
        assert "1 group has no USDT: no owner." in notes_of(figure)

    def test_labels_of_lines_have_space(self):
        """Labels of equal lines don't overlap. An address is below its blockchain."""
        frame = pd.concat(
            [HOLDINGS.iloc[:1].assign(address=whole(f"d{n}"), snapshot=DAYS[0]) for n in range(9)]
        )
        figure = charts.timeline(frame, by="wallet", token="USDC", top_tokens=20)
        labels = [each for each in figure.layout.annotations if each.ayref]
        assert labels[0].text == "ETH<br>0x0000…00d0<br>1"
        pixels = figure.layout.meta["plot_height"] / figure.layout.yaxis.range[1]
        assert np.diff(sorted(each.ay for each in labels)).min() * pixels >= 3 * 14

    def test_missing_rows_without_wallets_are_gaps(self):
        """They may be zero or unknown."""
        _, holdings = snapshots()
        figure = charts.timeline(holdings, by="wallet", token="USDT")
        assert lines(figure) == {("ETH.0x0000…00a1", "line"): [7, 7, None, 7]}

    def test_one_asset_is_exact(self):
        """The asset's line has the amounts of `totals` on all blockchains."""
        wallets, holdings = snapshots()
        figure = charts.timeline(holdings, by="owner", asset="USDC", wallets=wallets)
        assert figure.layout.title.text == "USDC by owner over time"
        assert "Ada: 3.000000000000000001 (3 of 4 wallets known)" in hovers(figure)

    def test_wallets_are_lines(self):
        """Each has a gap where it is unknown, and no hollow points."""
        wallets, holdings = snapshots()
        figure = charts.timeline(holdings, by=["wallet"], wallets=wallets)
        assert lines(figure) == {
            ("ETH.0x0000…00a1", "line"): [80, 80, None, 80],
            ("ETH.0x0000…00c1", "line"): [40, 40, 40, 40],
            ("BASE.0x0000…00a2", "line"): [20, 20, None, None],
        }
        assert "hollow" not in notes_of(figure)

    @pytest.mark.parametrize("token", [None, "USDC"])
    def test_the_rest_is_other(self, token):
        """The line Other is grey, and its label counts the groups."""
        frame = pd.concat(
            [HOLDINGS.iloc[:1].assign(address=f"0x{n:02}", snapshot=DAYS[0]) for n in range(9)]
        )
        usual = notes_of(charts.timeline(frame, by="wallet", token=token))
        assert "6 of 9 wallets are drawn" in usual
        figure = charts.timeline(frame, by="wallet", token=token, top_tokens=3)
        assert lines(figure)["Other (6 wallets)", "line"] == [6]
        assert figure.data[-1].hovertext[0] in {
            "Other (6 wallets): 6",
            "Other (6 wallets): 6 USDC",
        }
        assert "3 of 9 wallets are drawn; Other contains the rest." in notes_of(figure)

    def test_other_has_gaps_and_hollow_points(self):
        """Other has the counts of a drawn group. The picture counts the drawn owners."""
        details = owned([f"o{number}" for number in range(6)])
        wallets, holdings = (
            pd.concat([each.assign(snapshot=day) for day in DAYS], ignore_index=True)
            for each in details
        )
        wallets.loc[11, "status"], wallets.loc[17, "status"] = "failed", "failed"
        wallets.loc[15:16, "status"] = "failed"
        holdings = holdings[(wallets.status == "ok").to_numpy()]
        figure = charts.timeline(holdings, by="owner", asset="USDC", wallets=wallets, top_tokens=3)
        name = "Other (3 owners)"
        assert lines(figure)[name, "line"] == [pytest.approx(3), None, None, pytest.approx(3)]
        assert lines(figure)[name, "alone"] == [None, pytest.approx(2), None, None]
        texts = [each for each in hovers(figure) if each.startswith(name)]
        assert f"{name}: 2 USDC (2 of 3 wallets known)" in texts
        assert f"0 to 3 of 3 wallets of {name} are known, depending" in notes_of(figure)
        assert "Other (3<br>owners) 3" in [each.text for each in figure.layout.annotations]
        shown = figure.layout.title.subtitle.text.replace("<br>", " ")
        assert "3 of 6 owners are drawn; Other contains the rest." in shown

    def test_several_names_with_the_asset(self):
        """Each line has the amounts of one asset."""
        wallets, holdings = snapshots()
        bare = holdings.drop(columns=["value", "currency"])
        figure = charts.timeline(bare, by=["owner", "asset"], wallets=wallets)
        assert set(lines(figure)) > {("Ada · USDC", "line"), ("Ada · USDT", "line")}
        valued = charts.timeline(holdings, by=["owner", "asset"], wallets=wallets)
        assert "Ada · USDT: 7 (70 USD) (3 of 4 wallets known)" in hovers(valued)

    def test_assets_are_stacked(self):
        """Assets are stacked like tokens."""
        wallets, holdings = snapshots()
        figure = charts.timeline(holdings, by="asset", wallets=wallets)
        assert [(trace.type, trace.name) for trace in figure.data[:2]] == [
            ("bar", "USDC"),
            ("bar", "USDT"),
        ]
        assert figure.layout.title.text == "Holdings over time"
        assert "2 assets are drawn." in notes_of(figure)

    def test_a_small_chart_for_each_label(self):
        """All have the same axes and colours; unknown snapshots are marked gaps, not 0."""
        wallets, holdings = snapshots()
        figure = charts.timeline(holdings, facet="owner", wallets=wallets)
        assert figure.layout.title.text == "Holdings by owner over time"
        unknown, none = [None] * 4, [0, 0, 0, 0]
        assert small_charts(figure) == {
            ("Ada (0 to 3 of 4 known)", "USDC"): [30, 30, None, 10],
            ("Ada (0 to 3 of 4 known)", "USDT"): [70, 70, None, 70],
            ("Ada (0 to 3 of 4 known)", "incomplete"): [None, None, 0, 0],
            ("no owner", "USDC"): [40, 40, 40, 40],
            ("no owner", "USDT"): none,
            ("no owner", "incomplete"): unknown,
            ("Ben (unknown)", "USDC"): unknown,
            ("Ben (unknown)", "USDT"): unknown,
            ("Ben (unknown)", "incomplete"): none,
        }
        assert {"0 of 4 wallets are known", "2 of 4 wallets are known"} < {*hovers(figure)}
        y_axes = [*figure.select_yaxes()]
        assert [axis.matches for axis in y_axes] == ["y3", "y3", None]
        assert [axis.title.text for axis in y_axes] == [None, "value in USD", None]
        assert [axis.matches for axis in figure.select_xaxes()] == ["x3", "x3", None]
        colors = {(trace.name, trace.marker.color) for trace in figure.data}
        assert len(colors) == sum(trace.showlegend for trace in figure.data) == 3
        assert "0 of 2 wallets of owner Ben are known." in notes_of(figure)

    def test_known_empty_wallets_of_a_small_chart_are_at_zero(self):
        """Amounts are exact. A snapshot without any known wallet is a gap in all small charts."""
        wallets, holdings = snapshots()
        wallets.loc[wallets.snapshot == DAYS[3], "status"] = "failed"
        holdings = holdings[holdings.snapshot.isin(DAYS[1:3])]
        figure = charts.timeline(holdings, facet="owner", asset="USDC", wallets=wallets)
        heights = small_charts(figure)
        assert heights["Ada (0 to 3 of 4 known)", "USDC"] == [0, 3, None, None]
        assert heights["no owner (0 to 1 of 1 known)", "USDC"] == [0, 4, 4, None]
        assert heights["no owner (0 to 1 of 1 known)", "incomplete"] == [
            None,
            None,
            None,
            0,
        ]
        assert "USDC: 3.000000000000000001" in hovers(figure)
        assert "4 snapshots are drawn" in notes_of(figure)
        figure = charts.timeline(holdings, asset="USDC", wallets=wallets)
        assert "3 snapshots are drawn" in notes_of(figure)

    @pytest.mark.parametrize("facet", [None, "owner"])
    def test_unknown_values_are_marked_gaps(self, facet):
        """With a triangle, in small charts and in a single one, also if the wallets are known."""
        wallets, holdings = snapshots()
        rows = holdings.symbol.eq("USDC") & (holdings.snapshot == DAYS[1])
        holdings = holdings[holdings.symbol == "USDC"].assign(
            value=holdings.value.mask(rows), currency="USD"
        )
        wallets = wallets[wallets.owner.isna()].assign(status="ok", owner="Ada")
        holdings = holdings[holdings.address == whole("c1")]
        figure = charts.timeline(holdings, facet=facet, wallets=wallets)
        bars, marks = figure.data
        assert bars.y[1] is None
        assert [text for text in marks.hovertext if text] == ["no value is known"]
        assert [x for x, y in zip(marks.x, marks.y, strict=True) if y == 0] == [
            f"{DAYS[1]:%Y-%m-%d %H:%M:%S}"
        ]

    def test_missing_rows_of_a_small_chart_without_wallets_are_gaps(self):
        """They may be zero or unknown. Small charts of assets can have bars of tokens."""
        _, holdings = snapshots()
        figure = charts.timeline(holdings, facet="asset", by="token")
        heights = small_charts(figure)
        assert len(heights) == 6
        assert heights["USDC", "USDC (ETH 0xa0b8…eb48)"] == [50, 50, 40, 50]
        assert heights["USDC", "USDC (BASE 0x8335…2913)"] == [20, 20, 0, 0]
        assert heights["USDT", "USDT"] == [70, 70, None, 70]

    def test_at_most_ten_small_charts_of_snapshots_are_drawn(self):
        """A note counts the undrawn charts; assets are chosen from the drawn charts."""
        details = owned([f"o{number:02}" for number in range(40)])
        wallets, holdings = (frame.assign(snapshot=DAYS[0]) for frame in details)
        figure = charts.timeline(holdings, facet="owner", wallets=wallets)
        assert len([*figure.select_yaxes()]) == 10
        assert {heights for [heights] in small_charts(figure).values()} == {1}
        assert "30 owners are not drawn." in notes_of(figure)

    def test_labels_of_small_charts_of_snapshots_are_harmless(self):
        """The headings are escaped and distinct."""
        details = owned([*SYMBOLS.values()])
        wallets, holdings = (frame.assign(snapshot=DAYS[0]) for frame in details)
        figure = charts.timeline(holdings, facet="owner", wallets=wallets)
        assert len({heading for heading, _ in small_charts(figure)}) == 10
        for text in (each.text + (each.hovertext or "") for each in figure.layout.annotations):
            assert re.findall(r"<(?!/?b>|br>)", text) == []
            assert "$" not in text

    @pytest.mark.parametrize("by", ["wallet", ["owner", "asset"]])
    def test_lines_are_refused_in_small_charts(self, by):
        """The error names the groups that can be bars."""
        wallets, holdings = snapshots()
        with pytest.raises(SettingsError, match=r"(?s)facet= needs bars.*by=\"asset\""):
            charts.timeline(holdings, facet="owner", by=by, wallets=wallets)

    def test_snapshots_are_refused_as_groups(self):
        """Snapshots can't be groups, since they are on the axis."""
        wallets, holdings = snapshots()
        with pytest.raises(
            SettingsError, match="the axis of a timeline already shows the snapshots"
        ):
            charts.timeline(holdings, by=["owner", "snapshot"], wallets=wallets)
        with pytest.raises(SettingsError, match="can't be grouped by 'snapshot'"):
            charts.timeline(holdings, facet="snapshot", wallets=wallets)


class TestRefusals:
    """Columns that can't be drawn."""

    def test_unknown_columns_are_refused(self):
        """The error names the columns of `wallets`."""
        with pytest.raises(
            SettingsError, match=r"no column 'bla' to group by\n\nHint: .*owner, team"
        ):
            charts.bar(HOLDINGS, by="bla", wallets=WALLETS)
        with pytest.raises(
            SettingsError, match="extra columns of wallets need the wallets of the fetch"
        ):
            charts.heatmap(HOLDINGS, by="owner")

    def test_useless_options_of_assets_are_refused(self):
        """Options of assets without an asset are refused, and so are contradictory options."""
        with pytest.raises(SettingsError, match="applies only to tables of assets"):
            charts.bar(HOLDINGS, token="USDT", bridged=True)
        with pytest.raises(SettingsError, match="Hint: group by asset, or leave out assets=…"):
            charts.bar(HOLDINGS, by="token", assets="own.csv")
        with pytest.raises(SettingsError, match="token=… and asset=… can't be combined"):
            charts.bar(HOLDINGS, token="USDT", asset="USDC")
        with pytest.raises(UnknownTokenError, match="DAI"):
            charts.bar(HOLDINGS, asset="DAI")
