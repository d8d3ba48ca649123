"""The waterfall of changes: exact texts, only one token, and notes about unknown changes."""

from datetime import timedelta

import pandas as pd
import pytest
from addresses import A, B, C, D
from fetches import FETCHED_AT, fetched, token

from walletframe.charts import waterfall
from walletframe.charts.palette import OTHER_COLOR
from walletframe.errors import ColumnsError, InputWarning, SettingsError, UnknownTokenError
from walletframe.history import compare
from walletframe.pandas_versions import TEXT

USDC = "0xUsdc"
BEFORE = fetched({f"ETH.0x{each:0>40}": [token("US<b>", 5, contract=USDC)] for each in "abcd"})
AFTER = fetched(
    {
        f"ETH.{A}": [token("US<b>", 2**200, contract=USDC), token("OTHER", 1, contract="0xO")],
        f"ETH.{B}": [],
        f"ETH.{C}": [token("US<b>", 6, contract=USDC)],
        f"ETH.{D}": "failed",
    }
)


def test_each_change_is_a_bar_beside_their_sum():
    """The largest change comes first, with an exact hover text; a note counts unknown changes."""
    figure = compare(BEFORE, AFTER).wf.plot.waterfall(token=("ETH", USDC), top=1)
    [trace] = figure.data
    assert [*trace.measure] == ["relative", "relative", "total"]
    assert trace.x[1] == -0.000004
    assert str(2**200 - 5)[:40] in trace.hovertext[0]
    assert figure.layout.title.text == "Changes of US&lt;b&gt; (ETH 0xusdc)"
    subtitle = figure.layout.title.subtitle.text.replace("<br>", " ")
    assert "1 change is unknown and not drawn: ETH.0x0000…000d." in subtitle
    assert "The changes are from 2026-01-31 05:59 UTC to 2026-01-31 05:59 UTC." in subtitle
    assert "Other (2 changes)" in figure.layout.yaxis.ticktext


def test_bars_are_the_rows_of_the_table():
    """By owner, with a missing owner; a note and a label name incomplete changes."""
    sides = [
        side._replace(wallets=side.wallets.assign(owner=pd.array(["Ada", None, "Bo", "Bo"], TEXT)))
        for side in (BEFORE, AFTER)
    ]
    figure = waterfall(compare(*sides, by="owner", token=("ETH", USDC)))
    assert [*figure.layout.yaxis.ticktext] == ["Ada", "no owner", "Bo (1 of 2 known)", "Total"]
    assert (
        "Some wallets are unknown, so these changes may be incomplete: Bo."
        in figure.layout.title.subtitle.text.replace("<br>", " ")
    )
    chosen = waterfall(compare(*sides, by="owner"), token=("ETH", USDC))
    assert chosen.data == figure.data
    assert "not drawn" not in " ".join(chosen.layout.meta["about"])


def test_several_tokens_are_refused_and_no_change_is_noted():
    """Amounts of different tokens are never added; an empty figure has a text."""
    with pytest.raises(SettingsError, match="several tokens, whose amounts can't be added"):
        waterfall(compare(BEFORE, AFTER))
    empty = waterfall(compare(BEFORE, BEFORE))
    assert empty.layout.annotations[0].text == "No change is known."


def test_owners_times_and_simulation_are_noted():
    """Owners of unknown wallets are named, and both times."""
    day = FETCHED_AT + timedelta(days=1)
    requested = {f"ETH.0x{each:0>40}": [token(raw=1)] for each in "abcde"}
    before = fetched(requested, service="sandbox")
    after = fetched(
        dict.fromkeys(requested, "failed") | {f"ETH.{A}": [token(raw=3)]}, service="sandbox", at=day
    )
    sides = [
        each._replace(wallets=each.wallets.assign(owner=pd.array(["Ada", *"BCDE"], TEXT)))
        for each in (before, after)
    ]
    notes = compare(*sides, by="owner").wf.plot.waterfall().layout.meta["about"]
    assert "Simulated data." in notes
    assert "The changes are from 2026-01-31 05:59 UTC to 2026-02-01 05:59 UTC." in notes
    assert any("4 changes are unknown and not drawn: B, C, D and 1 more." in note for note in notes)


def test_an_asset_needs_changes_by_asset():
    """The error has a hint."""
    with pytest.raises(ColumnsError, match="asset") as caught:
        waterfall(compare(BEFORE, AFTER), asset="USDC")
    assert "compare(before, after, asset=…)" in str(caught.value.hint)
    with pytest.raises(ColumnsError) as caught:
        waterfall(BEFORE.holdings, asset="USDC")
    assert "compare(before, after).wf.plot.waterfall()" in str(caught.value.hint)


def test_changes_of_an_asset_are_drawn_by_wallet():
    """The column asset of compare(asset=…) replaces the three columns of a token."""
    coins = [fetched({f"ETH.{A}": [token("ETH", each, contract=None)]}) for each in (1, 3)]
    figure = waterfall(compare(*coins, asset="ETH"))
    assert figure.layout.title.text == "Changes of ETH"
    assert [*figure.layout.yaxis.ticktext] == ["ETH.0x0000…000a", "Total"]


def test_numbers_are_beside_the_bars():
    """Numbers are signed, and at the outer end of each bar, where the axis has space."""
    more, less = fetched({f"ETH.{A}": [token(raw=9)]}), fetched({f"ETH.{A}": [token(raw=1)]})
    for sides, text, outer in (((less, more), "+8e-06", 1), ((more, less), "-8e-06", 0)):
        figure = waterfall(compare(*sides))
        assert [*figure.data[0].text] == [text, text]
        ends = figure.layout.xaxis.range
        assert abs(ends[outer]) > 8e-6 > abs(ends[1 - outer])
    sides = [getattr(figure.data[0], side) for side in ("increasing", "decreasing", "totals")]
    assert len({side.marker.color for side in sides} - {OTHER_COLOR}) == 3


def test_wallets_are_named_and_distinct():
    """Bars have the names of the fetch, or whole addresses if two short addresses are equal."""
    alike = [f"ETH.0x1111{middle * 32}2222" for middle in "ab"]
    before = fetched({wallet: [] for wallet in alike})
    after = fetched({wallet: [token()] for wallet in alike})
    labels = waterfall(compare(before, after)).layout.yaxis.ticktext
    assert set(alike) <= {label.replace("<br>", "") for label in labels}
    named = after._replace(wallets=after.wallets.assign(name=["Ada", "Bo"]))
    by_asset = compare(before, named, by=["wallet", "asset"])
    for figure in (
        waterfall(compare(before, after), wallets=named),
        waterfall(compare(before, named)),
        waterfall(by_asset, asset=by_asset["asset"][0]),
    ):
        assert figure.layout.yaxis.ticktext == ("Ada", "Bo", "Total")
        assert f"<b>Ada<br>{alike[0]}</b>" in figure.data[0].hovertext[0]


def test_a_token_in_all_wallets_is_one_bar():
    """Grouped only by token, all wallets are one bar."""
    figure = waterfall(compare(BEFORE, AFTER, by="token", token=("ETH", USDC)))
    assert [*figure.layout.yaxis.ticktext] == ["all wallets (3 of 4<br>known)", "Total"]


def test_changes_by_asset_need_one_asset():
    """The asset is required if there are several; its name is not case-sensitive."""
    coin, coins = token("ETH", 1, contract=None), token("ETH", 3, contract=None)
    before = fetched({f"ETH.{A}": [coin], f"BASE.{A}": [], f"ETH.{B}": "failed"})
    after = fetched({f"ETH.{A}": [coins, token("X")], f"BASE.{A}": [], f"ETH.{B}": [coin]})
    changes = compare(before, after, by=["wallet", "asset"])
    figure = changes.wf.plot.waterfall(asset="eth")
    assert figure.layout.title.text == "Changes of ETH"
    assert [*figure.layout.yaxis.ticktext] == ["ETH.0x0000…000a", "Total"]
    assert "1 change is unknown" in figure.layout.title.subtitle.text
    with pytest.raises(
        SettingsError, match="several assets, whose amounts can't be added"
    ) as caught:
        waterfall(changes)
    assert "asset=" in caught.value.hint
    with pytest.raises(UnknownTokenError, match="no row has the asset 'USDC'"):
        waterfall(changes, asset="USDC")
    whole = waterfall(compare(before, after, by="asset"), asset="ETH")
    assert whole.layout.yaxis.ticktext[0] == "all wallets (2 of 3<br>known)"


def test_left_out_bridged_versions_of_a_selected_asset_have_amounts():
    """If the holdings have one asset, its left-out amounts can be added."""
    bridged = token("WETH", 7, contract="0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")
    sides = [
        fetched({f"ETH.{A}": [token("ETH", raw, contract=None), bridged]}, at=day)
        for raw, day in ((5, FETCHED_AT), (6, FETCHED_AT + timedelta(days=1)))
    ]
    with pytest.warns(InputWarning, match="the result lacks 0.000007 in 1 bridged version;"):
        sides = [side.wf.where(asset="ETH") for side in sides]
    figure = compare(*sides, by=["wallet", "asset"]).wf.plot.waterfall(asset="ETH")
    about = " ".join(figure.layout.meta["about"])
    assert "before: 0.000007 in 1 bridged version" in about
    assert "after: 0.000007 in 1 bridged version" in about
