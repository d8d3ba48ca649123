"""Charts: their marks, their labels and their notes."""

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from addresses import UPPER_A, whole
from fetches import fetched, made_up_details, token
from hypothesis import given
from hypothesis import strategies as st

from walletframe import charts
from walletframe.analysis.distribution import concentration
from walletframe.analysis.valuation import value
from walletframe.charts.hierarchies import parse_box_id
from walletframe.charts.palette import OTHER_COLOR
from walletframe.errors import (
    AmbiguousTokenError,
    AmountError,
    ColumnsError,
    PricesError,
    SettingsError,
    UnknownTokenError,
    UnknownWalletError,
)
from walletframe.history import compare
from walletframe.numerals import compact, money, percent
from walletframe.service import SHOWCASE

USDC, FAKE = ("ETH", "0xA0b8"), ("ETH", "0xbad0")
HOLDINGS = pd.DataFrame(
    {
        "blockchain": ["ETH", "ETH", "ETH", "ETH", "BSC", "BSC"],
        "address": [*map(whole, ("a1", "a1", "b2", "b2", "a1", "a1"))],
        "symbol": ["ETH", "USDC", "ETH", "USDC", "BNB", "USDC"],
        "token_address": [None, "0xA0b8", None, "0xbad0", None, "0xA0b8"],
        "amount": pd.array(["3", "1.000000000000000001", "1", "9", "2", "5"], dtype="amount"),
        "token_blockchain": ["ETH", "ETH", "ETH", "ETH", "BSC", "BSC"],
    },
    index=[7, 7, 8, 8, 9, 9],
)
VALUED = HOLDINGS.assign(value=[30.0, 1.0, 10.0, np.nan, 4.0, 5.0], currency="USD")
NAMED = VALUED.assign(value=[30.0, 3.0, 10.0, np.nan, 2.0, 5.0])  # a treemap has space for all


@pytest.fixture(scope="module")
def details(service):
    """Fetch the showcase: fourteen wallets, with two failures and a wallet without a list."""
    with service.client(cache="memory") as client:
        return client.fetch(list(SHOWCASE), on_failure="ignore", progress=False)


def notes_of(figure):
    """Return all notes of a chart as one line."""
    return " ".join(figure.layout.meta["about"])


def annotations_of(figure):
    """Return the annotations of a chart, except for the annotation with more notes."""
    return [note.text for note in figure.layout.annotations if note.name != "about"]


def hovers(figure):
    """Return all hover texts."""
    texts = [text for trace in figure.data for text in trace.hovertext]
    rows = [[text] if isinstance(text, str) else text for text in texts]
    return [text for row in rows for text in row if text]


def tree(figure):
    """Return the label, size and path of each leaf of a hierarchy."""
    [trace] = figure.data
    parents = dict(zip(trace.ids, trace.parents, strict=True))
    texts = zip(trace.ids, trace.labels, trace.text, strict=True)
    names = {key: label.removesuffix(f" · {size}") for key, label, size in texts}

    def path(key):
        return [*path(parents[key]), names[key]] if key else []

    sizes = zip(trace.ids, trace.values, strict=True)
    return {"/".join(path(key)): size for key, size in sizes if key not in trace.parents}


def shares(figure):
    """Return the sum of each column of a heatmap of shares."""
    cells = np.array(figure.data[0].z, dtype=float)
    return np.where(np.isnan(cells), 0, 10**cells).sum(axis=0)


class TestHierarchies:
    """Treemap and sunburst."""

    @pytest.mark.parametrize(
        "draw, usdc", [(charts.treemap, "USDC<br>(0x…"), (charts.sunburst, "USDC…")]
    )
    def test_values_are_sizes(self, draw, usdc):
        """Values are drawn, if any, and a note names tokens without a price."""
        figure = draw(NAMED)
        assert tree(figure) == {
            "ETH/0x0000…00a1/ETH": 30,
            f"ETH/0x0000…00a1/{usdc}": 3,
            "ETH/0x0000…00b2/ETH": 10,
            "BSC/0x0000…00a1/BNB": 2,
            "BSC/0x0000…00a1/USDC<br>(0xa0b8)": 5,
        }
        assert "value in USD" in notes_of(figure)
        assert "Not counted: the value of 1 balance without a price; " in notes_of(figure)

    def test_balances_are_counted_without_values(self):
        """Amounts of different tokens are not added, and a note states this."""
        figure = charts.treemap(HOLDINGS)
        assert set(tree(figure).values()) == {1}
        assert len(tree(figure)) == 6
        assert "different assets can't be added" in notes_of(figure)
        by_token = charts.treemap(HOLDINGS, by=["blockchain", "wallet", "token"])
        assert "different tokens can't be added" in notes_of(by_token)

    def test_one_token_is_drawn_by_its_amounts(self):
        """The leaves are the wallets of this contract."""
        figure = charts.treemap(VALUED, token=("ETH", None))
        assert tree(figure) == {"ETH/0x0000…00a1": 3, "ETH/0x0000…00b2": 1}
        assert "amount of ETH" in notes_of(figure)

    def test_amounts_are_exact_in_the_hover(self):
        """Hover texts have every digit, the whole contract and the whole wallet."""
        [text] = [text for text in hovers(charts.treemap(NAMED)) if "000000001" in text]
        assert "1.000000000000000001 USDC" in text
        assert "ETH 0xA0b8" in text
        assert f"ETH.{whole('a1')}" in text
        assert "3.00 USD (6.0% of all)" in text

    def test_untrusted_names_don_t_make_the_tree(self):
        """Equal names join no boxes, and a slash in a name breaks no path."""
        names = HOLDINGS.assign(symbol="a/b", address=["0xa/1"] * 6)
        figure = charts.treemap(names)
        assert sum(figure.data[0].values) == 6
        assert len(set(figure.data[0].ids)) == len(figure.data[0].ids)

    def test_sums_agree_with_the_frame(self, details):
        """The sizes add up, with any number of nodes in Other."""
        valued = value(details.holdings)
        for top in (1, 7, 150):
            figure = charts.treemap(valued, top=top, wallets=details)
            drawn = sum(figure.data[0]["values"])
            assert 0.9997 * valued.value.sum() < drawn <= valued.value.sum() * (1 + 1e-12)
            is_less = drawn < valued.value.sum() * (1 - 1e-12)
            assert "too small" in notes_of(figure) or not is_less

    def test_the_rest_of_a_wallet_is_drawn_as_other(self):
        """The largest balances are drawn, and a note counts drawn and combined balances."""
        rows = HOLDINGS.iloc[:1]
        tokens = [rows.assign(token_address=f"0x{n:03}", symbol=f"T{n}") for n in range(90)]
        frame = pd.concat(tokens)
        figure = charts.treemap(frame, top=50)
        assert sum(tree(figure).values()) == 90
        assert tree(figure)["ETH/0x0000…00a1/Other (43 assets)"] == 43
        assert "47 of 90 balances are drawn; the others are not drawn sep" in notes_of(figure)

    @pytest.mark.parametrize("kind, on_bsc", [("token", ""), ("asset", "<br>(0xa0b8)")])
    def test_small_wallets_are_combined(self, kind, on_bsc):
        """Amounts in many wallets are added up on each blockchain, exactly."""
        frame = pd.concat([HOLDINGS.assign(address=f"0x{n:04}") for n in range(2_000)])
        figure = charts.sunburst(frame, by=["blockchain", "wallet", kind])
        assert tree(figure) == {
            "ETH/2,000 wallets/ETH": 4_000,
            "ETH/2,000 wallets/USDC<br>(0xa0b8)": 2_000,
            "ETH/2,000 wallets/USDC<br>(0xbad0)": 2_000,
            "BSC/2,000 wallets/BNB": 2_000,
            f"BSC/2,000 wallets/USDC{on_bsc}": 2_000,
        }
        [text] = [text for text in hovers(figure) if "ETH 0xA0b8" in text]
        assert "2,000 wallets of ETH" in text
        assert "2,000.000000000000002 USDC" in text
        assert f"4,000 wallets are combined by blockchain and {kind}." in notes_of(figure)

    def test_small_holders_of_a_token_are_combined(self):
        """Each blockchain has the number of its wallets."""
        figure = charts.treemap(wallets_of([7] * 5_000), token="ETH")
        assert tree(figure) == {"ETH": 35_000}
        assert figure.data[0].text == ("5,000 wallets<br>35k ETH",)
        assert "5,000 wallets are combined by blockchain." in notes_of(figure)

    def test_large_wallets_are_drawn_beside_the_others(self):
        """Other wallets of a blockchain are added up, and a note states this."""
        small = [VALUED.iloc[:2].assign(address=f"0x{n:03}", value=[2.0, 1.0]) for n in range(200)]
        figure = charts.treemap(pd.concat([VALUED.iloc[:2].assign(value=[99.0, 40.0]), *small]))
        assert tree(figure) == {
            "ETH/0x0000…00a1/ETH": 99,
            "ETH/0x0000…00a1/USDC<br>(0xa0b8)": 40,
            "ETH/Other (200 wallets)/ETH": 400,
            "ETH/Other (200 wallets)/USDC<br>(0xa0b8)": 200,
        }
        assert (
            "1 of 201 wallets is drawn; the others are combined by blockchain and asset"
            in notes_of(figure)
        )

    @pytest.mark.parametrize("top", [30, 60, 250])
    @pytest.mark.parametrize("wallets,tokens", [(2, 400), (40, 8), (300, 5), (4_000, 30)])
    @pytest.mark.parametrize("columns", [[], ["value"]])
    def test_every_size_has_names(self, top, wallets, tokens, columns):
        """Tokens have names, no box contains only Other, and `top` limits the boxes."""
        details = made_up_details(wallets * tokens, wallets=wallets, tokens=3 * tokens)
        frame = details.holdings.assign(value=np.linspace(1, 2, wallets * tokens))
        frame = frame[[*details.holdings.columns, *columns]]
        figure = charts.treemap(frame, top=top)
        [trace] = figure.data
        assert len(trace.ids) <= top
        total = (
            frame["value"].sum()
            if columns
            else pd.factorize(frame["address"] + frame["token_address"])[0].max() + 1
        )
        named = sum(
            size for path, size in tree(figure).items() if "Other" not in path.split("/")[-1]
        )
        assert named > total / 3
        for key in {*trace.parents} - {""}:
            children = [
                each for each, of in zip(trace.labels, trace.parents, strict=True) if of == key
            ]
            assert not all(each.startswith("Other") for each in children)

    @pytest.mark.parametrize("top", range(1, 30))
    def test_top_limits_the_nodes(self, top):
        """A box Other counts as one box."""
        frame = made_up_details(800, wallets=9, tokens=90).holdings
        token = ("ETH", frame.token_address[0])
        for figure in (charts.treemap(frame, top=top), charts.treemap(frame, token=token, top=top)):
            assert 0 < len(figure.data[0].ids) <= top

    def test_invisible_arcs_are_not_drawn(self):
        """Arcs shorter than a pixel are blank, and a note states this."""
        frame = HOLDINGS.iloc[:2].assign(value=[1e9, 1.0])
        figure = charts.sunburst(frame)
        assert tree(figure) == {"ETH/0x0000…00a1/ETH": 1e9}
        assert "&lt;0.1% of the total is blank, too small for names" in notes_of(figure)
        frame = HOLDINGS.iloc[[0, 2]].assign(value=[1e9, 1.0])
        assert "1 of 2 wallets is drawn. &lt;0.1% of the total is blank, too small" in notes_of(
            charts.treemap(frame)
        )

    def test_one_symbol_on_two_blockchains_needs_no_contract(self):
        """The boxes around a token name its blockchain."""
        figure = charts.treemap(HOLDINGS.iloc[[1, 5]], by=["blockchain", "wallet", "token"])
        assert tree(figure) == {"ETH/0x0000…00a1/USDC": 1, "BSC/0x0000…00a1/USDC": 1}

    @pytest.mark.parametrize("kind, where", [("token", "BSC"), ("asset", "BSC 0xa0b8")])
    def test_a_token_of_another_blockchain_has_its_name(self, kind, where):
        """A label omits the blockchain's name only inside this blockchain's box."""
        frame = VALUED.iloc[[1]].assign(token_blockchain="BSC")
        figure = charts.treemap(frame, by=["blockchain", "wallet", kind])
        assert tree(figure) == {f"ETH/0x0000…00a1/USDC<br>({where})": 1}

    def test_an_asset_of_another_blockchain_has_only_its_name(self):
        """An asset is on no blockchain; a token that looks like the asset is on one."""
        frame = HOLDINGS.iloc[[0, 1]].assign(blockchain="BSC", symbol=["ETH", "ETH"])
        assert tree(charts.treemap(frame)) == {
            "BSC/0x0000…00a1/ETH": 1,
            "BSC/0x0000…00a1/ETH<br>(ETH 0xa0b8)": 1,
        }


class TestRings:
    """A sunburst's rings: each arc has space for its name."""

    def test_small_tokens_are_folded(self):
        """A token without space for its name is part of its wallet's Other."""
        values = [50.0, 30.0, *[0.5] * 20]
        frame = pd.concat(
            [HOLDINGS.iloc[:1].assign(token_address=f"0x{n}") for n in range(len(values))]
        )
        figure = charts.sunburst(frame.assign(value=values))
        assert tree(figure) == {
            "ETH/0x0000…00a1/ETH<br>(0x0)": 50,
            "ETH/0x0000…00a1/ETH<br>(0x1)": 30,
            "ETH/0x0000…00a1/Other": 10,
        }
        assert "<b>Other (20 assets)</b>" in hovers(figure)[-1]

    def test_a_ring_of_others_alone_is_left_out(self):
        """If most tokens have no space for a name, wallets are the outer ring."""
        frame = pd.concat(
            [
                HOLDINGS.iloc[:1].assign(address=f"0xa{owner}", token_address=f"0x{owner}{n:02}")
                for owner in range(4)
                for n in range(30)
            ]
        )
        assert tree(charts.sunburst(frame)) == {f"ETH/0xa{owner}": 30 for owner in range(4)}

    def test_small_wallets_are_folded(self):
        """A wallet without space for its name is combined with the other wallets."""
        amounts = [100, 100, 1, 1, 1]
        figure = charts.sunburst(wallets_of(amounts), token="ETH")
        assert tree(figure) == {"ETH/0x0000": 100, "ETH/0x0001": 100, "ETH/Other": 3}
        assert "Other (3 wallets)" in hovers(figure)[-1]

    def test_the_only_other_wallet_has_its_name(self):
        """A single remaining box is drawn itself, with the name at the end with most space."""
        frame = VALUED.assign(value=[95.0, np.nan, 3.0, np.nan, 2.0, np.nan])
        drawn = set(tree(charts.sunburst(frame)))
        assert drawn == {"ETH/0x0000…00a1/ETH", "ETH/0x0000…00b2/ETH", "//BSC"}

    def test_no_wedge_is_empty(self):
        """A leaf extends to the outermost ring, where a click also picks the leaf."""
        frame = VALUED.assign(value=[95.0, np.nan, 3.0, np.nan, 2.0, np.nan])
        [trace] = charts.sunburst(frame).data
        parents = dict(zip(trace.ids, trace.parents, strict=True))

        def depth(key):
            return 1 + depth(parents[key]) if key else 0

        leaves = {key: depth(key) for key in parents if key not in parents.values()}
        assert {*leaves.values()} == {3}
        [extended] = [key for key in leaves if key.endswith(" ")]
        assert parse_box_id(extended) == parse_box_id(extended.strip())
        sizes = dict(zip(trace.ids, trace["values"], strict=True))
        assert sizes[extended] == sum(frame.value[frame.blockchain == "BSC"].dropna())

    def test_a_small_rest_is_a_grey_box(self):
        """The sum stays the same, and only Other has too little space for its name."""
        sizes = [90.0, 0.4, 50.0, 0.4, 0.2, 0.2]
        figure = charts.treemap(VALUED.assign(value=sizes))
        assert tree(figure) == {
            "ETH/0x0000…00a1/ETH": 90,
            "ETH/0x0000…00a1/Other": 0.4,
            "ETH/0x0000…00b2/ETH": 50,
            "ETH/0x0000…00b2/Other": 0.4,
            "Other": 0.4,
        }
        small = "1 of 2 blockchains is too small to draw: BSC"
        assert f"{small} (0.3% of the total)." in notes_of(figure)
        assert "0.8% of the total is grey, too small for names." in notes_of(figure)
        assert sum(figure.data[0]["values"]) == pytest.approx(sum(sizes))
        sizes[4:] = [1.2, 1.2]  # a strip of 17 pixels, without space for a name
        figure = charts.treemap(VALUED.assign(value=sizes))
        assert f"{small} (1.7% of the total)." in notes_of(figure)
        sizes[4:] = [6.2, 6.2]
        figure = charts.treemap(VALUED.assign(value=sizes))
        assert tree(figure)["BSC/0x00…/BNB"] == 6.2

    def test_each_box_has_space_for_its_name(self):
        """Small groups have space where they are not narrow, and a phone has less space."""
        sizes, names = [60.0, 20.0, 4.0, 4.0, 4.0, 2.0], [f"T{n}" for n in range(6)]
        rows = [HOLDINGS.iloc[:1].assign(token_address=f"0x{n}", symbol=n) for n in names]
        frame = pd.concat(rows).assign(value=sizes, currency="USD")

        def drawn(sizes, **options):
            figure = charts.treemap(frame.assign(value=sizes), by="asset", **options)
            return [path.partition("<")[0] for path in tree(figure)]

        assert drawn(sizes) == names
        assert drawn(sizes, width=400) == [*names[:-1], "Other"]
        assert drawn([90.0, 4.0, 1.1, 1.1, 1.1, 1.1]) == names
        assert drawn([90.0, 4.0, 1.1, 1.1, 1.1, 1.1], width=400) == [*names[:2], "Other"]

    @pytest.mark.parametrize("width, chars", [(1000, 22), (400, 14)])
    def test_names_end_where_their_box_does(self, width, chars):
        """A cut name or contract ends with an ellipsis; the hover text has both in full."""
        rows = HOLDINGS.iloc[[1] * 6].assign(symbol="A pool of more liquidity", value=1.0)
        rows = rows.assign(token_address=[whole(f"{n}0") for n in range(6)])
        figure = charts.treemap(rows, by="token", width=width)
        for label in figure.data[0].labels:
            name, contract = label.split("<br>")
            assert len(name) == chars >= len(contract)
            assert name.endswith("…")
            assert "…" in contract
        assert all("A pool of more liquidity" in text for text in hovers(figure))

    def test_one_group_is_all(self):
        """A note states that this group has 100 %."""
        figure = charts.treemap(VALUED[VALUED.blockchain == "ETH"])
        assert "ETH has 100% of the total." in notes_of(figure)
        shown = figure.layout.title.subtitle.text.replace("<br>", " ")
        assert shown.startswith("Areas show the value in USD. ETH has 100% of the total.")
        assert "100%" not in notes_of(charts.treemap(VALUED))


class TestNodes:
    """The boxes of a treemap."""

    def test_nodes_are_nested(self):
        """Blockchains contain wallets, and wallets contain tokens; each box has its size."""
        figure = charts.treemap(NAMED)
        assert tree(figure) == {
            "ETH/0x0000…00a1/ETH": 30,
            "ETH/0x0000…00a1/USDC<br>(0x…": 3,
            "ETH/0x0000…00b2/ETH": 10,
            "BSC/0x0000…00a1/BNB": 2,
            "BSC/0x0000…00a1/USDC<br>(0xa0b8)": 5,
        }
        assert [text for text in hovers(figure) if "wallet" in text] == [
            "<b>ETH</b><br>2 wallets<br>43.00 USD (86.0% of all)",
            "<b>BSC</b><br>1 wallet<br>7.00 USD (14.0% of all)",
        ]

    def test_amounts_are_exact(self):
        """A leaf has the sum of its rows, to the last digit."""
        figure = charts.treemap(pd.concat([NAMED] * 2))
        assert sum("<br>2.000000000000000002 USDC<br>" in text for text in hovers(figure)) == 1
        assert len(tree(figure)) == 5

    def test_the_rest_is_folded(self):
        """Undrawn boxes are one last box, with their number."""
        rows = HOLDINGS.iloc[:1]
        tokens = [rows.assign(token_address=f"0x{n:03}", symbol=f"T{n}") for n in range(90)]
        frame = pd.concat(tokens)
        figure = charts.treemap(frame, top=50)
        *drawn, (rest, size) = tree(figure).items()
        assert (len(drawn), rest, size) == (47, "ETH/0x0000…00a1/Other (43 assets)", 43)
        assert "47 of 90 balances" in notes_of(figure)

    @pytest.mark.parametrize("small, large", [("0.00597", "19.89403"), ("0.01317", "43.88683")])
    def test_a_wallet_at_the_limit_is_drawn_or_not(self, small, large):
        """Wallets and their tokens have the same minimum size, to the last bit."""
        frame = HOLDINGS.iloc[[0, 0]].assign(
            address=["0x1", "0x2"], amount=pd.array([small, large], dtype="amount")
        )
        figure = charts.treemap(frame, token=("ETH", None))
        assert any(f"<br>{large} ETH<br>" in text for text in hovers(figure))


class TestBars:
    """Bars of wallets or blockchains."""

    def test_a_series_for_each_token(self):
        """The largest token and the longest bar come first."""
        figure = charts.bar(VALUED, by="blockchain")
        assert [trace.name for trace in figure.data] == [
            "ETH",
            "USDC (BSC 0xa0b8)",
            "BNB",
            "USDC (ETH 0xa0b8)",
        ]
        assert figure.layout.yaxis.ticktext == ("ETH", "BSC")
        assert figure.data[0].x == (40, None)
        assert figure.data[1].x == (None, 5)

    def test_wallets_of_one_address_are_two(self):
        """A wallet is an address on a blockchain."""
        figure = charts.bar(HOLDINGS)
        assert figure.layout.yaxis.ticktext == (
            "ETH.0x0000…00a1",
            "ETH.0x0000…00b2",
            "BSC.0x0000…00a1",
        )

    def test_other_bars_and_tokens(self):
        """The remaining bars and tokens are added up as Other; a single one is drawn itself."""
        small = [HOLDINGS.iloc[:1].assign(address=f"0x{n}") for n in range(3)]
        figure = charts.bar(pd.concat([HOLDINGS, *small]), top=3, top_tokens=2)
        assert figure.layout.yaxis.ticktext[-1] == "Other (3 wallets)"
        assert figure.data[-1].name == "Other (3 assets)"
        assert sum(size or 0 for trace in figure.data for size in trace.x) == 9
        assert "3 of 6 wallets and 2 of 5 assets are drawn; Other contains the rest" in notes_of(
            figure
        )

    def test_a_large_other_is_an_annotation(self):
        """Other does not shorten the bars, since it is a text and not a bar."""
        frame = pd.concat([HOLDINGS.assign(address=f"0x{n:03}") for n in range(600)])
        figure = charts.bar(frame, top=3, top_tokens=2)
        assert figure.layout.yaxis.ticktext[-1] == "Other (1,197<br>wallets)"
        assert annotations_of(figure) == ["3,588 balances, 99.7% of all"]
        assert {len(trace.x) for trace in figure.data} == {3}
        assert sum(size or 0 for trace in figure.data for size in trace.x) == 12
        assert "“Other” is written as text" in notes_of(figure)

    def test_a_large_other_of_one_token_is_exact(self):
        """The hover text of Other has every digit."""
        frame = pd.concat([HOLDINGS.assign(address=f"0x{n:03}") for n in range(9)])
        note, *_ = charts.bar(frame, token=USDC, top=2).layout.annotations
        assert note.text == "7 USDC, 77.8% of all"
        assert "7.000000000000000007 USDC" in note.hovertext

    def test_many_blockchains(self):
        """The bars of many blockchains are thick enough."""
        frame = pd.concat([HOLDINGS.assign(blockchain=f"C{n}") for n in range(300)])
        figure = charts.bar(frame, by="blockchain")
        assert figure.layout.annotations[0].text == "1,680 balances, 93.3% of all"
        assert max(size for trace in figure.data for size in trace.x if size) == 2

    def test_one_token(self):
        """Exact amounts are the lengths."""
        figure = charts.bar(HOLDINGS, token=USDC)
        assert figure.layout.title.text == "USDC (ETH 0xa0b8) by wallet"
        assert figure.data[0].x == (1.0,)
        assert "1.000000000000000001 USDC" in hovers(figure)[0]

    def test_addresses_that_look_alike_are_distinct(self):
        """If two wallets have the same short address, the whole addresses are shown."""
        twins = ["0x1234" + middle * 32 + "5678" for middle in "ab"]
        frame = pd.concat([HOLDINGS.iloc[:1].assign(address=twin) for twin in twins])
        names = [name.replace("<br>", "") for name in charts.bar(frame).layout.yaxis.ticktext]
        assert names == [f"ETH.{twin}" for twin in twins]

    def test_other_is_no_bars_largest_part(self):
        """Largest tokens of small wallets are coloured before second tokens of large wallets."""
        whale = HOLDINGS.iloc[[0] * 9].assign(
            token_address=[*"abcdefghi"], value=[9000, 3000, 3000, *range(1600, 1000, -100)]
        )
        small = [
            HOLDINGS.iloc[[1, 1]].assign(
                address=f"0x{n}", token_address=[f"0x{n}", "0xmany"], value=[30.0 - n, 1.0]
            )
            for n in range(3)
        ]
        figure = charts.bar(pd.concat([whale, *small]), top_tokens=6)
        lengths = np.array([[size or 0 for size in trace.x] for trace in figure.data])
        assert figure.data[-1].marker.color == OTHER_COLOR
        assert (lengths[-1] <= lengths[:-1].max(axis=0)).all()
        totals = lengths.sum(axis=1)[:-1]
        assert [*totals] == sorted(totals, reverse=True)

    def test_further_assets_are_named_until_other_is_small(self):
        """By default, up to 24 assets are named; a note counts bars that need even more."""
        rows = [
            HOLDINGS.iloc[[1] * count].assign(
                address=f"0x{bar}", token_address=[f"0x{bar}-{n}" for n in range(count)], value=size
            )
            for bar, (count, size) in enumerate([*[(1, 90.0)] * 15, (6, 9.0), (85, 0.1)])
        ]
        figure = charts.bar(pd.concat(rows))
        lengths = np.array([[size or 0 for size in trace.x] for trace in figure.data])
        is_largest = lengths[-1] > lengths[:-1].max(axis=0)
        assert (len(figure.data), [*np.flatnonzero(is_largest)]) == (21, [16])
        fills = {(trace.marker.color, trace.marker.pattern.shape) for trace in figure.data}
        assert len(fills) == 21
        note = "In 1 of 17 bars, Other is the largest part and combines 85 small assets."
        assert note in notes_of(figure)

    def test_the_largest_assets_have_colours(self):
        """The largest of all tokens have colours even if Other is then a part of small bars."""
        large, second = (
            HOLDINGS.iloc[[0]].assign(token_address=f"0x{name}", symbol=name, value=size)
            for name, size in (("LARGE", 9000.0), ("SECOND", 5000.0))
        )
        small = [
            HOLDINGS.iloc[[1, 1]].assign(
                address=f"0x{n}", token_address=[f"0x{n}", f"0xb{n}"], value=[30.0 - n, 1.0]
            )
            for n in range(7)
        ]
        figure = charts.bar(pd.concat([large, second, *small]), top_tokens=6)
        lengths = [sum(size or 0 for size in trace.x) for trace in figure.data]
        assert lengths == [9000, 5000, 30, 29, 28, 27, 26 + 25 + 24 + 7]

    def test_totals_are_at_the_ends(self):
        """Totals are beside the last part of each bar; the axis ends beyond the longest bar."""
        figure = charts.bar(VALUED)
        ends = [
            [*filter(None, texts)] for texts in zip(*(t.text for t in figure.data), strict=True)
        ]
        assert ends == [["31"], ["10"], ["9"]]
        assert 31 < figure.layout.xaxis.range[1] == pytest.approx(31)
        assert figure.layout.margin.r >= 24
        [single] = charts.bar(VALUED, by="asset").data
        assert single.text == ("40", "5", "4", "1")


class TestHeatmap:
    """Wallets by tokens."""

    def test_shares_of_each_token(self):
        """Without values, a cell is the wallet's exact share of the token's total."""
        figure = charts.heatmap(HOLDINGS)
        cells = dict(zip(figure.layout.yaxis.ticktext, figure.data[0].z, strict=True))
        eth = figure.data[0].x.index("ETH")
        drawn = 10 ** np.array([cells["ETH.0x0000…00a1"][eth], cells["ETH.0x0000…00b2"][eth]])
        assert drawn == pytest.approx([0.75, 0.25])
        assert cells["BSC.0x0000…00a1"][eth] is None
        assert shares(figure) == pytest.approx([1] * 5)

    def test_others_keep_the_sum(self):
        """Shares of the other wallets add up to the rest."""
        frame = pd.concat([HOLDINGS.assign(address=f"0x{n:03}") for n in range(9)])
        figure = charts.heatmap(frame, top=4, top_tokens=2)
        assert figure.layout.yaxis.ticktext[-1] == "Other (14 wallets)"
        assert "55.6% of the asset" in hovers(figure)[-1]
        drawn = "4 of 18 wallets and 3 of 5 assets are drawn; Other contains the other wallets; "
        start = f"{drawn}the assets with the most holders are chosen."
        assert figure.layout.title.subtitle.text.replace("<br>", " ").startswith(start)

    def test_the_scale_is_that_of_the_wallets(self):
        """A larger row Other is grey, and a note states this."""
        frame = pd.concat([HOLDINGS.iloc[:1].assign(address=f"0x{n:03}") for n in range(99)])
        wallets, others = charts.heatmap(frame, top=4).data
        assert 10**wallets.zmax == pytest.approx(1 / 99)
        assert (wallets.colorbar.ticktext, len(wallets.z)) == (("1.01%",), 4)
        assert (others.y, others.colorscale[0][1], others.text[0]) == ((4,), OTHER_COLOR, ["96.0%"])
        assert "“Other” is grey, since it is beyond the colour scale" in notes_of(
            charts.heatmap(frame, top=4)
        )
        assert len(charts.heatmap(frame.head(6), top=4).data) == 2
        assert len(charts.heatmap(frame.head(5), top=4).data) == 1

    @pytest.mark.parametrize("columns", [[], ["value"]])
    def test_rows_and_columns_are_not_empty(self, columns):
        """The drawn wallets hold each drawn token, and each drawn wallet holds a drawn token."""
        whales = [HOLDINGS.iloc[4:].assign(address=f"0x{n}", value=9.0) for n in range(3)]
        crowd = [VALUED.head(2).assign(address=f"0x{n:03}", value=1.0) for n in range(50)]
        whales = [pd.concat([each] * 2).assign(token_address=[*"wxyz"]) for each in whales]
        frame = pd.concat([*whales, *crowd])[[*HOLDINGS.columns, *columns]]
        wallets = charts.heatmap(frame, top=3, top_tokens=2).data[0]
        cells = pd.DataFrame(wallets.z).head(3)
        assert cells.notna().any(axis=0).all()
        assert cells.notna().any(axis=1).all()

    def test_values_are_on_a_scale_of_powers(self):
        """With values, a cell is the value's logarithm; other tokens share a column."""
        figure = charts.heatmap(VALUED, top_tokens=2)
        assert max(cell for row in figure.data[0].z for cell in row if cell is not None) == (
            pytest.approx(np.log10(30))
        )
        assert figure.data[0].x[-1] == "Other"

    def test_a_token_named_other_has_a_column_of_its_own(self):
        """Columns with equal names would merge."""
        rows = [
            VALUED.head(1).assign(symbol=name, token_address=whole(f"{n:02}"), value=9.0 - n)
            for n, name in enumerate(["Other", "B", "C", "D"])
        ]
        figure = charts.heatmap(pd.concat(rows), top_tokens=2)
        assert figure.data[0].x == ("Other", "B", "Other (2 assets)")

    def test_short_names_of_columns_are_horizontal(self):
        """Longer names are slanted; many long names are vertical."""
        rows = [
            VALUED.head(1).assign(symbol="A long name", token_address=whole(f"{n:02}"))
            for n in range(20)
        ]
        figures = [charts.heatmap(pd.concat(rows[:count])) for count in (1, 9, 20)]
        assert [figure.layout.xaxis.tickangle for figure in figures] == [None, -45, -90]


class TestPie:
    """One wallet."""

    def test_slices_of_values(self):
        """The largest slice comes first, clockwise, with its value."""
        figure = charts.pie(VALUED, f"ETH.{whole('A1')}")
        assert figure.data[0]["values"] == (30, 1)
        assert figure.data[0].labels[0] == "ETH 96.8%"
        assert "30.00 USD (96.8% of all)" in hovers(figure)[0]

    def test_a_sliver_is_not_drawn(self):
        """A slice thinner than a pixel is left out, and a note states this."""
        figure = charts.pie(HOLDINGS.iloc[:2].assign(value=[1e9, 1.0]), f"ETH.{whole('a1')}")
        assert figure.data[0].labels == ("ETH 100%",)
        assert figure.layout.showlegend  # otherwise, nothing would name the slice
        assert "Other (&lt;0.1%) is too small to draw" in notes_of(figure)

    def test_long_names_keep_their_end(self, details):
        """On a phone, the title has the name's number, and the legend the contract and share."""
        wallets = details.wallets.assign(name="Legal escrow grants of the foundation 17")
        wallet = details.holdings.loc[0, ["blockchain", "address"]]
        rows = details.holdings.assign(symbol="Receipt of the staking pool 1", value=1.0)
        figure = charts.pie(rows, tuple(wallet), wallets=wallets, by="token")
        assert figure.layout.title.text == "Holdings of Legal escrow g…e foundation 17"
        for label in figure.data[0].labels:
            assert len(label) <= 46
            assert re.fullmatch(r"Receipt.*… \(ETH .+\) \d+\.\d%", label)

    def test_equal_slices_without_values(self):
        """Amounts of different tokens are not compared."""
        figure = charts.pie(HOLDINGS, ("BSC", whole("a1")))
        assert figure.data[0]["values"] == (1, 1)
        assert "can't be added" in notes_of(figure)

    def test_a_wallet_without_rows_has_a_reason(self, details):
        """With `wallets`, an empty wallet and a failed wallet have different reasons."""
        reasons = {
            str(wallet): charts.pie(details.holdings, wallet, wallets=details)
            .layout.annotations[0]
            .text.replace("<br>", " ")
            for wallet in SHOWCASE
            if wallet.blockchain in {"AVAX_CCHAIN", "OPTIMISM", "BASE"}
        }
        assert [*reasons.values()] == [
            "The wallet holds nothing.",
            "The wallet's holdings are unknown, since its status is failed.",
            "The wallet's holdings are unknown, since its status is failed.",
        ]

    def test_notes_are_those_of_the_wallet(self, details):
        """Other wallets are not mentioned; a stale answer is out of date."""
        row = details.wallets[details.wallets.status == "ok"].iloc[0]
        wallet = (row.blockchain, row.address)
        text = notes_of(charts.pie(details.holdings, wallet, wallets=details))
        assert text.startswith("Simulated data. ")
        assert text.endswith(
            f" of 1 wallet are counted. As of {row.fetched_at:%Y-%m-%d %H:%M} UTC."
        )
        stale = details.wallets.assign(source="stale")
        assert "1 wallet shows an older answer." in notes_of(
            charts.pie(details.holdings, wallet, wallets=stale)
        )
        others = details.wallets[details.wallets.status == "failed"]
        assert "As of" not in notes_of(charts.pie(details.holdings, wallet, wallets=others))

    def test_dropped_balances_have_their_reason(self):
        """The note names the filter, as below a table."""
        wallet, rest = "ETH.0xA", [("ETH", "0x1", "AAA", 5, 0), ("ETH", "0x2", "BBB", 7, 0)]
        made = fetched({wallet: rest, "ETH.0xB": rest}).wf.without_spam(deny=[("ETH", "0x2")])
        assert "Not counted: 1 balance dropped as spam." in notes_of(made.wf.plot.pie(wallet))

    def test_an_unknown_wallet_is_refused(self, details):
        """A wallet that was not requested is an error."""
        with pytest.raises(UnknownWalletError):
            charts.pie(HOLDINGS, f"ETH.{whole('cc')}")
        with pytest.raises(UnknownWalletError):
            charts.pie(HOLDINGS, f"ETH.{whole('cc')}", wallets=details)


def wallets_of(amounts):
    """Return holdings of one token, a wallet for each amount."""
    frame = pd.concat([HOLDINGS.iloc[:1]] * len(amounts), ignore_index=True)
    addresses = [f"0x{number:04}" for number in range(len(amounts))]
    amounts = pd.array([str(amount) for amount in amounts], dtype="amount")
    return frame.assign(address=addresses, amount=amounts)


class TestLorenz:
    """The Lorenz curve."""

    @given(st.lists(st.integers(1, 10**30), min_size=1, max_size=30))
    def test_gini_is_the_mean_difference(self, amounts):
        """The coefficient is half the relative mean absolute difference, by plain fractions."""
        differences = sum(abs(one - other) for one in amounts for other in amounts)
        expected = Fraction(differences, 2 * len(amounts) * sum(amounts))
        text = notes_of(charts.lorenz(wallets_of([*amounts, *amounts]), ("ETH", None)))
        gini = text.partition("wallets is ")[2].split(" ")[0]
        assert float(gini.removesuffix(".")) == pytest.approx(float(expected), abs=0.0006)

    def test_gini_is_that_of_the_table(self, details):
        """The chart and `concentration` have one coefficient."""
        frame, token = details.holdings, ("ETH", None)
        gini = concentration(frame, token)["gini"].item()
        assert f"wallets is {gini:.3f}. " in notes_of(charts.lorenz(frame, token))

    def test_curve_of_running_sums(self):
        """The smallest holders come first; the hover has their exact amounts."""
        figure = charts.lorenz(wallets_of([7, 1, 2]), "ETH")
        assert figure.data[0].x == (0, 1 / 3, 2 / 3, 1)
        assert figure.data[0].y == (0, 0.1, 0.3, 1)
        assert "2 of 3 wallets" in figure.data[0].hovertext[2]
        assert "3 ETH" in figure.data[0].hovertext[2]
        assert "The largest wallet holds 70.0% of the amount." in notes_of(figure)

    def test_rows_of_one_wallet_are_one(self):
        """A wallet with two rows of the token is one holder."""
        frame = pd.concat([wallets_of([1, 2])] * 2)
        assert "of 2 wallets is" in notes_of(charts.lorenz(frame, "ETH"))

    def test_one_holder_has_no_coefficient(self):
        """With one holder there is no inequality."""
        text = notes_of(charts.lorenz(wallets_of([3]), "ETH"))
        assert "One wallet holds the whole amount" in text
        assert "Gini" not in text

    def test_points_are_few(self):
        """The curve has at most 200 points, however many wallets there are."""
        figure = charts.lorenz(wallets_of(range(1, 3000)), "ETH")
        assert 100 <= len(figure.data[0].x) <= 200
        assert figure.data[0].y[-1] == 1


def snapshots(*days, wallets=None):
    """Return holdings at days of January 2026, and their wallets, some of them failed."""
    moments = [pd.Timestamp(f"2026-01-{day:02}", tz="UTC") for day in days]
    frames = [HOLDINGS.assign(snapshot=moment) for moment in moments]
    requested = HOLDINGS[["blockchain", "address"]].drop_duplicates()
    requested = requested.assign(
        status="ok", tokens=2, fetched_at=moments[0], source="service", service="sandbox"
    )
    every = pd.concat([requested.assign(snapshot=moment) for moment in moments], ignore_index=True)
    every.loc[wallets or [], "status"] = "failed"
    answered = every.loc[every.status == "ok", ["blockchain", "address", "snapshot"]]
    return pd.concat(frames).merge(answered), every


class TestTimeline:
    """Snapshots along time."""

    def test_counts_by_day(self):
        """Each snapshot has its sum, sorted by time."""
        frame, _ = snapshots(3, 1, 2)
        figure = charts.timeline(frame)
        assert figure.data[0].x == (
            "2026-01-01 00:00:00",
            "2026-01-02 00:00:00",
            "2026-01-03 00:00:00",
        )
        assert figure.data[0].y == (2, 2, 2)
        assert figure.data[-1].text == ("6", "6", "6")  # the totals above the bars
        assert "3 snapshots are drawn, from 2026-01-01 00:00 to 2026-01-03 00:00 UTC" in notes_of(
            figure
        )

    def test_nothing_is_drawn_between_two_snapshots(self):
        """Holdings between two snapshots are unknown: each snapshot is a bar of its own."""
        moments = pd.to_datetime(["2026-01-01", "2026-01-02", "2026-02-01"], utc=True)
        frame = pd.concat([HOLDINGS.assign(snapshot=moment) for moment in moments])
        figure = charts.timeline(frame)
        assert {trace.type for trace in figure.data} == {"bar"}
        assert {trace.width for trace in figure.data} == {19.2 * 60 * 60 * 1000}
        assert figure.layout.xaxis.tickvals == tuple(figure.data[0].x)

    def test_ticks_are_at_bars(self):
        """Of many snapshots, every second or third has a tick, and so does the latest."""
        moments = pd.date_range("2026-01-03", periods=14, freq="7D", tz="UTC")
        frame = HOLDINGS.iloc[:1].merge(pd.DataFrame({"snapshot": moments}), how="cross")
        for by in ("asset", "wallet"):
            figure = charts.timeline(frame, by=by)
            assert figure.layout.xaxis.tickvals == tuple(figure.data[0].x)[1::2]

    def test_bars_of_snapshots_are_wide_enough(self):
        """Two snapshots that are a minute apart don't make all bars hairlines."""
        moments = pd.to_datetime(["2026-01-01 00:00", "2026-01-01 00:01", "2026-12-31 00:00"])
        moments = moments.tz_localize("UTC")
        frame = pd.concat([HOLDINGS.assign(snapshot=moment) for moment in moments])
        assert charts.timeline(frame).data[0].width > 0.002 * 364 * 24 * 60 * 60 * 1000

    def test_incomplete_snapshots_are_marked(self):
        """If a wallet that is known in another snapshot failed, a mark counts the known wallets."""
        frame, wallets = snapshots(1, 2, wallets=[4])
        figure = charts.timeline(frame, wallets=wallets)
        marks = figure.data[-1]
        assert marks.x == ("2026-01-02 00:00:00",)
        assert marks.hovertext == ("2 of 3 wallets are known",)
        assert "In 1 of 2 snapshots, 1 of 3 wallets is unknown." in notes_of(figure)
        about = figure.layout.meta["about"]
        assert "Not counted: 1 of 3 wallets unknown at some times." in about
        wallets.loc[3, "source"] = "stale"
        about = charts.timeline(frame, wallets=wallets).layout.meta["about"]
        assert "Not counted: 2 of 3 wallets unknown at some times." in about
        assert "older answer" not in about
        assert "Simulated data." in notes_of(figure)

    def test_an_unknown_snapshot_is_not_zero(self):
        """A snapshot without known wallets has a mark and no height."""
        frame, wallets = snapshots(1, 2, wallets=[3, 4, 5])
        figure = charts.timeline(frame[frame.snapshot.dt.day == 1], wallets=wallets)
        assert figure.data[0].x == ("2026-01-01 00:00:00",)
        assert figure.data[-1].hovertext == ("0 of 3 wallets are known",)

    def test_an_empty_snapshot_is_zero(self):
        """All wallets are known and hold nothing."""
        frame, wallets = snapshots(1, 2)
        figure = charts.timeline(frame[frame.snapshot.dt.day == 1], wallets=wallets)
        assert figure.data[0].y == (2, 0)

    def test_a_snapshot_without_wallets_is_refused(self):
        """Without an entry in wallets, the notes can't state what is unknown."""
        frame, wallets = snapshots(1, 2)
        with pytest.raises(UnknownWalletError) as caught:
            charts.timeline(frame, wallets=wallets[wallets.snapshot.dt.day == 1])
        assert "`holdings` has 3 wallets that `wallets` lacks" in caught.value.hint

    def test_rows_without_a_time_are_not_drawn(self):
        """A note counts the rows without a time."""
        figure = charts.timeline(HOLDINGS.assign(snapshot=pd.NaT))
        assert figure.layout.annotations[0].text == "No row has a snapshot."
        frame, wallets = snapshots(1, 2)
        frame.loc[:1, "snapshot"] = pd.NaT
        assert "2 balances without a snapshot are not drawn." in notes_of(charts.timeline(frame))
        complete = notes_of(charts.timeline(snapshots(1, 2)[0], wallets=wallets))
        assert "without a snapshot" not in complete
        assert "fewer" not in complete

    def test_one_snapshot_is_marked_by_its_time(self):
        """The axis shows the snapshot's day instead of a millisecond."""
        figure = charts.timeline(snapshots(1)[0])
        assert "The snapshot is from 2026-01-01 00:00 UTC." in notes_of(figure)
        axis = figure.layout.xaxis
        assert axis.tickvals == ("2026-01-01 00:00:00",)
        assert axis.range == ("2025-12-31T12:00:00", "2026-01-01T12:00:00")
        assert charts.timeline(snapshots(1, 2)[0]).layout.xaxis.range is None

    def test_one_token_is_exact(self):
        """The hover text of one token has every digit."""
        frame, _ = snapshots(1, 2)
        texts = hovers(charts.timeline(frame, token=USDC))
        assert texts == ["USDC (ETH 0xa0b8): 1.000000000000000001"] * 2

    def test_many_snapshots_are_thinned(self):
        """At most 200 snapshots are drawn, including the first and the last."""
        moments = pd.date_range("2026-01-01", periods=1000, freq="D", tz="UTC")
        frame = HOLDINGS.iloc[:1].merge(pd.DataFrame({"snapshot": moments}), how="cross")
        figure = charts.timeline(frame)
        assert len(figure.data[0].x) == 200
        assert (figure.data[0].x[0], figure.data[0].x[-1]) == (
            "2026-01-01 00:00:00",
            "2028-09-26 00:00:00",
        )
        assert "200 of 1,000 snapshots are drawn, from" in notes_of(figure)


class TestNotes:
    """Notes below the title."""

    def test_provenance_of_a_fetch(self, details):
        """Notes state the completeness, the age, and whether the data is simulated."""
        text = notes_of(charts.treemap(details.holdings, wallets=details))
        oldest = details.wallets.fetched_at[details.wallets.status == "ok"].min()
        assert "Not counted: 2 of 14 wallets unknown." in text
        assert f"As of {oldest:%Y-%m-%d %H:%M} UTC." in text
        assert "Simulated data." in text

    def test_provenance_of_no_wallets(self, details):
        """The notes of no wallets differ from the notes of empty wallets."""
        figure = charts.treemap(details.holdings.iloc[:0], wallets=details.wallets.iloc[:0])
        assert notes_of(figure) == "All 0 balances of 0 wallets are counted."

    def test_frame_or_details(self, details):
        """The DataFrame of wallets has the same effect as the whole fetch."""
        assert notes_of(charts.heatmap(details.holdings, wallets=details.wallets)) == notes_of(
            charts.heatmap(details.holdings, wallets=details)
        )

    def test_wallets_from_a_file(self, details, tmp_path):
        """Wallets that were read from CSV have the same notes."""
        details.wallets.to_csv(tmp_path / "wallets.csv", index=False)
        read = pd.read_csv(tmp_path / "wallets.csv")
        assert notes_of(charts.treemap(details.holdings, wallets=read)) == notes_of(
            charts.treemap(details.holdings, wallets=details)
        )

    def test_no_notes_without_wallets(self, details):
        """Without `wallets`, nothing is known about the fetch."""
        notes = notes_of(charts.treemap(details.holdings))
        assert notes.endswith("Not counted: failed wallets, if any (pass wallets=…).")


@pytest.mark.parametrize("place", [0, 1])
def test_title_and_notes_are_split_from_a_figure(place):
    """A page writes both itself, so the figure's height is reduced; the rest is unchanged."""
    frame = pd.concat([HOLDINGS.iloc[:1].assign(address=f"0x{n:03}") for n in range(99)])
    figure = [charts.heatmap(frame, top=20), charts.lorenz(wallets_of([7, 1]), "ETH")][place]
    bare = charts.Figure(figure)
    title, notes = charts.pop_title_and_notes(bare)
    assert (title, " ".join(notes)) == (figure.layout.title.text, notes_of(figure))
    assert (
        figure.layout.height - bare.layout.height == figure.layout.margin.t - bare.layout.margin.t
    )
    assert (
        annotations_of(bare)
        == annotations_of(figure)
        == [note.text for note in bare.layout.annotations]
    )
    assert bare.data == figure.data or figure.data[0].type == "heatmap"


def test_a_low_figure_without_notes_has_no_space_for_them():
    """Its plot still has half of the height, but of the height without the notes."""
    figure = charts.heatmap(VALUED)
    bare = charts.Figure(figure)
    charts.pop_title_and_notes(bare)
    layout, before = bare.layout, figure.layout
    assert before.height - layout.height > before.margin.t - layout.margin.t
    assert layout.height - layout.margin.t - layout.margin.b >= layout.height / 2


class TestRefusals:
    """Arguments that can't be drawn."""

    @pytest.mark.parametrize("top", [0, -1, 501, 1.5, "10", True, None])
    def test_top_out_of_range(self, top):
        """The error names the argument and the range."""
        with pytest.raises(
            SettingsError, match=r"top=.* is not valid\n\nHint: use an integer from 1 to 500"
        ):
            charts.treemap(HOLDINGS, top=top)

    def test_unknown_by(self):
        """The error names the possible columns."""
        with pytest.raises(
            SettingsError, match="a column of holdings, or an extra column of wallets"
        ):
            charts.bar(HOLDINGS, by="owner")

    def test_missing_columns(self):
        """The error names all missing columns."""
        with pytest.raises(ColumnsError) as caught:
            charts.heatmap(HOLDINGS[["symbol", "amount"]])
        assert len(caught.value.missing) == 4
        with pytest.raises(ColumnsError, match="snapshot"):
            charts.timeline(HOLDINGS)

    def test_floats_are_no_amounts(self):
        """A column of floats is refused, with a hint."""
        with pytest.raises(AmountError, match="dtype float64 does not contain amounts"):
            charts.treemap(HOLDINGS.assign(amount=1.0))

    def test_several_currencies_are_not_added(self):
        """Values in different currencies are refused."""
        with pytest.raises(PricesError, match="2 currencies"):
            charts.treemap(VALUED.assign(currency=["USD", "EUR"] * 3))

    def test_an_unknown_currency_is_not_added(self):
        """Values in an unknown currency are not drawn as dollars."""
        with pytest.raises(PricesError, match=r"2 currencies: \['USD', 'unknown'\]"):
            charts.treemap(VALUED.assign(currency=["USD"] * 5 + [None]))
        unpriced = VALUED.assign(currency=["USD"] * 3 + [None] + ["USD"] * 2)
        assert charts.treemap(unpriced) == charts.treemap(VALUED)
        assert "Areas show the value." in notes_of(charts.treemap(VALUED.assign(currency=None)))

    def test_tokens_by_name(self):
        """The error for a shared symbol names its contracts; an unknown symbol is refused."""
        with pytest.raises(AmbiguousTokenError, match="0xbad0"):
            charts.lorenz(HOLDINGS, token="USDC")
        with pytest.raises(UnknownTokenError):
            charts.treemap(HOLDINGS, token="XYZ")

    @pytest.mark.parametrize("name", [5, ("ETH",)])
    @pytest.mark.parametrize("rows", [0, 6])
    def test_other_tokens_are_refused(self, name, rows):
        """The error is the same with rows and without."""
        for kind in ("token", "asset"):
            with pytest.raises(UnknownTokenError):
                charts.lorenz(HOLDINGS.head(rows), **{kind: name})

    @pytest.mark.parametrize("rows", [0, 6])
    def test_a_curve_needs_an_asset_or_a_token(self, rows):
        """An asset and a token together are refused, too."""
        with pytest.raises(SettingsError, match="a Lorenz curve needs one asset or one token"):
            charts.lorenz(HOLDINGS.head(rows))
        with pytest.raises(SettingsError, match="can't be combined"):
            charts.lorenz(HOLDINGS.head(rows), "ETH", token="ETH")

    @pytest.mark.parametrize("by", ["owner", "wallet", ["asset"]])
    def test_other_slices_are_refused(self, by):
        """A pie has slices of assets or tokens."""
        with pytest.raises(SettingsError, match="is not supported in a pie chart"):
            charts.pie(HOLDINGS, f"ETH.{whole('a1')}", by=by)

    @pytest.mark.parametrize("rows", [0, 6])
    def test_a_missing_contract_is_a_native_coin(self, rows):
        """pd.NA, as in frames, and None have the same meaning."""
        frame = HOLDINGS.head(rows)
        assert charts.lorenz(frame, ("ETH", pd.NA)) == charts.lorenz(frame, ("ETH", None))


def test_accessor_draws_the_same():
    """Each chart is a method of ``df.wf.plot``."""
    frame, wallets = snapshots(1, 2)
    plot, colors = VALUED.wf.plot, charts.token_colors(VALUED)
    same = {"colors": colors}
    pairs = [
        (plot.treemap(top=3, **same), charts.treemap(VALUED, top=3, **same)),
        (plot.sunburst(token=USDC, **same), charts.sunburst(VALUED, token=USDC, **same)),
        (plot.bar(by="blockchain", **same), charts.bar(VALUED, by="blockchain", **same)),
        (plot.heatmap(top_tokens=2), charts.heatmap(VALUED, top_tokens=2)),
        (plot.pie(f"ETH.{whole('a1')}", **same), charts.pie(VALUED, f"ETH.{whole('a1')}", **same)),
        (plot.lorenz(FAKE), charts.lorenz(VALUED, FAKE)),
        (frame.wf.plot.timeline(wallets=wallets), charts.timeline(frame, wallets=wallets)),
    ]
    assert all(one == other for one, other in pairs)
    assert plot.token_colors() == colors


def test_numbers_are_short_or_whole():
    """Labels have three digits and a letter, sentences cents; no share becomes 0 or 100 %."""
    assert [compact(number) for number in (0, 950, 1234, 5.6e15)] == [
        "0",
        "950",
        "1.23k",
        "5.6e+15",
    ]
    assert [money(number) for number in (0, 1e18, 1234.567, 0.5, 0.0049, 0.000123456)] == [
        "0.00",
        "1.000e+18",
        "1,234.57",
        "0.50",
        "0.0049",
        "0.0001235",
    ]
    assert [percent(share) for share in (0, 1e-9, 0.5, 1 - 1e-9, 1)] == [
        "0%",
        "<0.1%",
        "50.0%",
        ">99.9%",
        "100%",
    ]


@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize(
    "chart", ["bar", "heatmap", "lorenz", "pie", "sunburst", "timeline", "treemap", "waterfall"]
)
def test_each_chart_takes_a_title(chart, size):
    """The caller's title is escaped, even in an empty chart."""
    moment = pd.Timestamp("2026-01-31", tz="UTC")
    frame = VALUED.assign(value=1.0 * size, amount=VALUED.amount * size, snapshot=moment)
    changes = compare(
        fetched({f"ETH.{UPPER_A}": []}),
        fetched({f"ETH.{UPPER_A}": [token()] if size else "failed"}),
    )
    data = changes if chart == "waterfall" else frame
    options = {"pie": {"wallet": f"ETH.{whole('a1')}"}, "lorenz": {"token": USDC}}.get(chart, {})
    figure = getattr(charts, chart)(data, title="<b>Ours</b>", **options)
    assert figure.layout.title.text == "&lt;b&gt;Ours&lt;/b&gt;"
    assert bool(figure.data) == bool(size)
