"""The waterfall of changes: exact in words, one token alone, and what is unknown is said."""

import pandas as pd
import pytest
from fetches import fetched, token

from walletframe.charts import waterfall
from walletframe.charts.palette import COLORS
from walletframe.errors import SettingsError, UnknownTokenError
from walletframe.history import compare

USDC = "0xUsdc"
BEFORE = fetched({f"ETH.0x{each}": [token("US<b>", 5, contract=USDC)] for each in "ABCD"})
AFTER = fetched(
    {
        "ETH.0xA": [token("US<b>", 2**200, contract=USDC), token("OTHER", 1, contract="0xO")],
        "ETH.0xB": [],
        "ETH.0xC": [token("US<b>", 6, contract=USDC)],
        "ETH.0xD": "failed",
    }
)


def test_each_change_is_a_bar_and_all_together():
    """The largest first, exact under the pointer; what is unknown is told."""
    figure = compare(BEFORE, AFTER).wf.plot.waterfall(token=("ETH", USDC), top=1)
    [trace] = figure.data
    assert [*trace.measure] == ["relative", "relative", "total"]
    assert trace.x[1] == -0.000004
    assert str(2**200 - 5)[:40] in trace.hovertext[0]
    assert "<b>" not in figure.layout.title.text
    assert "1 change not known" in figure.layout.title.subtitle.text
    assert "Other (2 changes)" in figure.layout.yaxis.ticktext


def test_bars_are_of_what_was_added_up():
    """By owner, of whom one is missing; incomplete ones are told."""
    sides = [
        side._replace(wallets=side.wallets.assign(owner=pd.array(["Ada", None, "Bo", "Bo"], "str")))
        for side in (BEFORE, AFTER)
    ]
    figure = waterfall(compare(*sides, by="owner", token=("ETH", USDC)))
    assert [*figure.layout.yaxis.ticktext] == ["Ada", "no owner", "Bo", "all together"]
    assert "In 1 bar not all wallets are known." in figure.layout.title.subtitle.text


def test_several_tokens_are_refused_and_nothing_is_told():
    """Amounts of different tokens are never added; no change is no figure without words."""
    with pytest.raises(SettingsError, match="never added"):
        waterfall(compare(BEFORE, AFTER))
    empty = waterfall(compare(BEFORE, BEFORE))
    assert empty.layout.annotations[0].text == "No change is known."


def test_numbers_stand_beside_the_bars():
    """Signed, with room on the side where they are; in colours of the house."""
    more, less = fetched({"ETH.0xA": [token(raw=9)]}), fetched({"ETH.0xA": [token(raw=1)]})
    for sides, text, outer in (((less, more), "+8e-06", 1), ((more, less), "-8e-06", 0)):
        figure = waterfall(compare(*sides))
        assert [*figure.data[0].text] == [text, text]
        ends = figure.layout.xaxis.range
        assert abs(ends[outer]) > 8e-6 > abs(ends[1 - outer])
    assert figure.data[0].decreasing.marker.color == COLORS[0]


def test_wallets_are_named_and_told_apart():
    """By their name, where one is kept; by the whole address where two look alike."""
    alike = [f"ETH.0x1111{middle * 32}2222" for middle in "ab"]
    before = fetched({wallet: [] for wallet in alike})
    after = fetched({wallet: [token()] for wallet in alike})
    assert set(alike) <= {*waterfall(compare(before, after)).layout.yaxis.ticktext}
    named = after._replace(wallets=after.wallets.assign(name=["Ada", "Bo"]))
    figure = waterfall(compare(before, after), wallets=named)
    assert figure.layout.yaxis.ticktext[0] == "Ada · ETH.0x1111…2222"
    assert f"Ada · {alike[0]}" in figure.data[0].hovertext[0]


def test_a_token_in_all_wallets_is_one_bar():
    """Where nothing else was asked for."""
    figure = waterfall(compare(BEFORE, AFTER, by="token", token=("ETH", USDC)))
    assert [*figure.layout.yaxis.ticktext] == ["all wallets", "all together"]


def test_changes_by_asset_are_of_one_asset():
    """Which is named where there are several, in any capitals."""
    coin, coins = token("ETH", 1, contract=None), token("ETH", 3, contract=None)
    before = fetched({"ETH.0xA": [coin], "BASE.0xA": [], "ETH.0xB": "failed"})
    after = fetched({"ETH.0xA": [coins, token("X")], "BASE.0xA": [], "ETH.0xB": [coin]})
    changes = compare(before, after, by=["wallet", "asset"])
    figure = changes.wf.plot.waterfall(asset="eth")
    assert figure.layout.title.text == "What changed of ETH"
    assert [*figure.layout.yaxis.ticktext] == ["ETH.0xA", "all together"]
    assert "1 change not known" in figure.layout.title.subtitle.text
    with pytest.raises(SettingsError, match="never added") as caught:
        waterfall(changes)
    assert "asset=" in caught.value.hint
    with pytest.raises(UnknownTokenError, match="no row has the asset 'USDC'"):
        waterfall(changes, asset="USDC")
    whole = waterfall(compare(before, after, by="asset"), asset="ETH")
    assert whole.layout.yaxis.ticktext[0] == "all wallets"
