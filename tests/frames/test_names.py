"""Names of tokens and wallets: one for each in every display, and one way to look them up."""

import ast
from datetime import UTC, datetime

import pytest
from addresses import ONE, THREE, TWO
from fetches import fetched, token
from widgets import Page

from walletframe import charts
from walletframe.analysis.distribution import pivot, token_labels
from walletframe.analysis.sums import totals
from walletframe.errors import AmbiguousTokenError, UnknownTokenError
from walletframe.frames.details import WalletDetails
from walletframe.frames.identity import encode_tokens
from walletframe.frames.names import mask_of_token, short_contract, wallet_names
from walletframe.frames.positions import read_positions
from walletframe.pickers import TokenPicker
from walletframe.reports.composition import Grouping, compose

DAY = datetime(2026, 2, 1, tzinfo=UTC)
TWIN = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE36"
HELD = [
    token("ETH", contract=None),
    token("USDC", contract=f"{TWIN}06eB48"),
    token("USDC", contract=TWIN, blockchain="BSC"),
    token("USD\u0421", contract="0xbad00000000000000000bad"),
    token("USD", contract="0x01"),
    token("USD Coin", contract="0x02"),
]
WALLETS, HOLDINGS = fetched({f"ETH.{ONE}": HELD, f"BSC.{TWO}": HELD[2:], f"ETH.{THREE}": HELD[:3]})
NAMES = {
    "ETH",
    "USDC (ETH 0xa0b8…eb48)",
    "USDC (BSC 0xa0b8…ce36)",
    "USD\u0421 (ETH 0xbad0…0bad)",
    "USD",
    "USD Coin",
}


def leaves(figure):
    """Return the first line under the pointer on the innermost pieces of a hierarchy."""
    [trace] = figure.data
    pairs = zip(trace.ids, trace.hovertext, strict=True)
    return {
        text.split("<br>")[0].removeprefix("<b>").removesuffix("</b>")
        for key, text in pairs
        if key not in trace.parents
    }


def legend(figure):
    """Return the names of a figure's traces."""
    return {trace.name for trace in figure.data}


def test_a_token_has_one_name_everywhere():
    """In tables, legends, on axes, under the pointer, in reports' charts, on pickers' buttons."""
    assert set(token_labels(HOLDINGS)) == NAMES
    path = ["blockchain", "wallet", "token"]
    assert set(pivot(HOLDINGS, by="token").columns) == NAMES
    assert legend(charts.bar(HOLDINGS, by=path[1:])) == NAMES
    assert leaves(charts.treemap(HOLDINGS, by=path)) == NAMES
    assert set(charts.heatmap(HOLDINGS, by="token").data[0].x) == NAMES
    picker = Page(TokenPicker(HOLDINGS, value=encode_tokens(HOLDINGS).keys))
    assert set(picker.chosen("Tokens")) == NAMES


def test_an_asset_has_one_name_everywhere():
    """In tables, legends, on axes, under the pointer, in reports."""
    names = NAMES - {"USDC (ETH 0xa0b8…eb48)"} | {"USDC"}
    assert set(totals(HOLDINGS)["asset"]) == names
    assert set(pivot(HOLDINGS).columns) == names
    assert legend(charts.bar(HOLDINGS)) == names
    assert leaves(charts.treemap(HOLDINGS)) == names
    assert set(charts.heatmap(HOLDINGS).data[0].x) == names
    details = WalletDetails(WALLETS, HOLDINGS)
    content = compose(details, before=None, title="", made_at=DAY, grouping=Grouping())
    assert {"ETH", "USDC"} < legend(content.charts[0].figure) < names  # without spam


@pytest.mark.parametrize(
    "symbol,error", [("USDC", AmbiguousTokenError), ("usd", UnknownTokenError)]
)
def test_a_symbol_has_one_meaning_in_tables_and_pickers(symbol, error):
    """In its own case, whole, and of one token alone."""
    picker = TokenPicker(HOLDINGS, value=["USD"])
    assert picker.value == (("ETH", "0x01"),)
    assert encode_tokens(HOLDINGS[mask_of_token(HOLDINGS, "USD")]).keys == [("ETH", "0x01")]
    with pytest.raises(error):
        mask_of_token(HOLDINGS, symbol)
    with pytest.raises(error):
        picker.value = [symbol]


def test_wallets_are_named_by_their_ends_if_unique():
    """Lookalikes are shown whole; the same ends on two blockchains are no lookalikes."""
    ends = ["0xabcd" + middle * 20 + "1234" for middle in "ef"]
    twins = [f"ETH.{ends[0]}", f"ETH.{ends[1]}", f"BSC.{ends[0]}", "NEAR.alice.near"]
    positions = read_positions(fetched(dict.fromkeys(twins, HELD[:1])).holdings)
    places = positions.wallet_codes
    assert wallet_names(positions.wallets, places, [""] * 4) == [
        f"ETH.{ends[0]}",
        f"ETH.{ends[1]}",
        "BSC.0xabcd…1234",
        "NEAR.alice.near",
    ]


def test_contracts_are_written_by_two_ends():
    """A token without one is a native coin, or unknown."""
    assert short_contract("ETH", f"{TWIN}06eB48") == "0xA0b8…eB48"
    assert short_contract("ETH", None) == "native coin"
    assert short_contract(None, None) == "unknown token"
    assert short_contract(None, "0x1") == "0x1 (unknown token)"


def test_long_contracts_show_their_difference():
    """In any order of the rows: types of Move differ in their middle."""
    kinds = [f"0x190d{'0' * 60}::pool::Pool<0x1::a::A, 0x{c * 64}::coin::Coin>" for c in "ab"]
    rows = [token("LP", contract=kind, blockchain="SUI") for kind in kinds]
    there, back = (token_labels(fetched({"SUI.0x1": held}).holdings) for held in (rows, rows[::-1]))
    assert there.tolist() == back.tolist()[::-1] == [f"LP (SUI {kind})" for kind in kinds]


def test_a_contract_with_slashes_can_be_pasted():
    """The error's proposal names the token, though it contains no link."""
    contracts = ["factory/neutron1abc/astro.cw20", "factory/neutron1abc/other.cw20"]
    rows = [token("ASTRO", contract=each, blockchain="NEUTRON") for each in contracts]
    holdings = fetched({"NEUTRON.n1": rows}).holdings
    with pytest.raises(AmbiguousTokenError) as caught:
        mask_of_token(holdings, "ASTRO")
    pasted = caught.value.hint.partition("token=")[2]
    assert mask_of_token(holdings, ast.literal_eval(pasted)).tolist() == [True, False]
    assert "/astro.cw20" not in str(caught.value)
