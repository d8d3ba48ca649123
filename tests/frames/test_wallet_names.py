"""Wallets' names from a kept column ``name``, in every display."""

import json
import re

import pandas as pd
import pytest
from click.testing import CliRunner
from fetches import fetched, token
from hostile_symbols import SYMBOLS
from widgets import Page

import walletframe as wf
from walletframe.cli import main
from walletframe.frames.names import name_and_address_lines, short_wallet_name, user_wallet_names
from walletframe.pickers import HoldingsExplorer, WalletPicker
from walletframe.reports.composition import Grouping, compose

ADA, BEN, CAI, DEE = (f"0x{digit * 40}" for digit in "1234")
COIN = token("ETH", 1, 0, contract=None)
FETCHED = fetched(
    {
        f"ETH.{ADA}": [COIN, token("B", contract="0xB")],
        f"BSC.{ADA}": [token("BNB", blockchain="BSC", contract=None)],
        f"ETH.{BEN}": "failed",
        f"ETH.{CAI}": [COIN],
        f"ETH.{DEE}": [COIN],
    }
)
NAMES = ["Ada", "Ada", "Ben", None, "St. Dee"]
DETAILS = FETCHED._replace(wallets=FETCHED.wallets.assign(name=NAMES))
SHORT = [
    "Ada · ETH.0x1111…1111",
    "Ada · BSC.0x1111…1111",
    "Ben · ETH.0x2222…2222",
    "ETH.0x3333…3333",
    "St. Dee · ETH.0x4444…4444",
]
KNOWN = [SHORT[0], SHORT[1], SHORT[3], SHORT[4]]
ROWS = {SHORT[0], SHORT[1], SHORT[3], "St. Dee"}  # a name alone if it is distinct
HOSTILE = [*SYMBOLS.values()]
NOW = pd.Timestamp("2026-02-01", tz="UTC")


def hovers(figure):
    """Return all texts under the pointer."""
    return "\n".join(str(text) for trace in figure.data for text in trace.hovertext)


def labels_of(figure):
    """Return the labels of the rows of a chart, each as one line."""
    return {label.replace("<br>", " ") for label in figure.layout.yaxis.ticktext}


def test_a_name_precedes_the_address():
    """If there is one; as one short harmless line."""
    assert short_wallet_name("ETH", ADA, "Ada") == SHORT[0]
    assert (
        short_wallet_name("ETH", ADA, "")
        == short_wallet_name("ETH", ADA, "\u200b")
        == "ETH.0x1111…1111"
    )
    assert short_wallet_name("ETH", ADA, "\u202eAda\n<b>") == "Ada <b> · ETH.0x1111…1111"
    long = short_wallet_name("ETH", ADA, "x" * 10_000_000)
    assert long == f"{'x' * 23}… · ETH.0x1111…1111"


def test_names_match_in_any_spelling():
    """In any order and case of hex, of some rows; without such a column there are none."""
    rows = pd.DataFrame({"blockchain": ["eth", "ETH", "NEAR"], "address": [BEN.upper(), CAI, "x"]})
    assert user_wallet_names(rows, DETAILS.wallets) == ["Ben", "", ""]
    assert user_wallet_names(rows, FETCHED.wallets) == user_wallet_names(rows, None) == ["", "", ""]
    numbers = FETCHED.wallets.assign(name=range(5))
    assert user_wallet_names(numbers, numbers) == ["0", "1", "2", "3", "4"]


def test_holdings_own_names_are_not_used():
    """Their column may be that of a token."""
    holdings = DETAILS.holdings.assign(name="Ether")
    assert "Ether" not in str(holdings.wf.plot.bar().layout.yaxis.ticktext)
    named = DETAILS._replace(holdings=holdings)
    assert labels_of(named.wf.plot.bar()) == ROWS


@pytest.mark.parametrize("form", ["__repr__", "_repr_html_", "_repr_markdown_"])
def test_a_fetch_shows_names_in_both_tables(form):
    """Text, HTML and Markdown have them; the whole address is in a title."""
    text = re.sub(r"&#(\d+);", lambda result: chr(int(result[1])), getattr(DETAILS, form)())
    assert [text.count(name) >= 2 for name in KNOWN] == [True] * 4
    assert SHORT[2] in text
    if form == "_repr_html_":
        assert f'title="Ada · ETH.{ADA}"' in text


def test_result_tables_show_names():
    """Their display has the names; the DataFrames have the same columns as without names."""
    for call in ("totals", "share", "pivot"):
        options = {"by": "wallet"} | ({"token": "ETH"} if call == "share" else {})
        table, plain = (getattr(each.wf, call)(**options) for each in (DETAILS, FETCHED))
        assert table.equals(plain)
        for shown in (repr(table), table._repr_html_()):
            assert "St. Dee" in shown
        assert "St. Dee" not in repr(plain)


def test_charts_name_wallets():
    """On axes, on tiles in their blockchain, in titles and under the pointer."""
    plot = DETAILS.wf.plot
    for figure in (plot.bar(), plot.heatmap()):
        assert labels_of(figure) == ROWS
        assert f"Ada<br>ETH.{ADA}" in hovers(figure)
    one_token = plot.treemap(token=("ETH", None))  # wallets are tiles, and have two lines
    treemap = plot.treemap()  # a band is one line, which ends where the band does
    assert {"Ada · 0x1111…1111 · 2", "St. Dee · 0x4444…4444", "0x3333…3333 · 1"} <= set(
        treemap.data[0].labels
    )
    named = {"Ada<br>0x1111…1111", "St. Dee<br>0x4444…4444", "0x3333…3333"}
    for figure in (plot.sunburst(), one_token):
        assert named <= set(figure.data[0].labels)
    for figure in (treemap, plot.sunburst(), one_token):
        assert f"Ada<br>ETH.{ADA}" in hovers(figure)
    pie = plot.pie(("ETH", ADA))
    assert pie.layout.title.text == "Holdings of Ada"
    assert f"Ada<br>ETH.{ADA}" in hovers(pie)


def test_equal_names_show_addresses():
    """Two wallets of one name with the same ends have the whole address, or its beginning."""
    twins = [f"0xabcd{middle * 32}1234" for middle in "ef"]
    result = fetched({f"ETH.{each}": [COIN, token("B", contract="0xB")] for each in twins})
    named = result._replace(wallets=result.wallets.assign(name="Ada"))
    whole = {f"Ada · ETH.{each}" for each in twins}
    labels = named.wf.plot.bar().layout.yaxis.ticktext
    assert {label.replace("<br>", "").replace("·ETH", "· ETH") for label in labels} == whole
    treemap = named.wf.plot.treemap()
    bands = sorted({label for label in treemap.data[0].labels if label.startswith("Ada · 0x")})
    assert len(bands) == 2
    for band, each in zip(bands, twins, strict=True):
        assert f"Ada · {each}".startswith(band.removesuffix("…"))
    assert all(f"Ada<br>ETH.{each}<br>" in hovers(treemap) for each in twins)
    assert name_and_address_lines(f"Ada · ETH.{ADA} #2", "Ada") == ["Ada", f"{ADA} #2"]


@pytest.mark.parametrize("argument", [DETAILS, DETAILS.wallets])
def test_wallets_are_picked_by_name(argument):
    """The list, the search and the buttons have it; the value is the wallet."""
    picker = WalletPicker(argument, value=[("ETH", ADA)])
    page = Page(picker)
    listed = page.listed("Wallets")
    assert {f"Ada · ETH · {ADA}", f"Ada · BSC · {ADA}"} < set(listed)
    assert page.chosen("Wallets") == [SHORT[0]]
    page.pick("Wallets", listed.index(f"St. Dee · ETH · {DEE}"))
    assert picker.value == (f"ETH.{DEE}",)
    picker.close()


def test_the_explorer_names_wallets():
    """In its table, its picker and its charts."""
    explorer = HoldingsExplorer(DETAILS)
    page = Page(explorer)
    cells = json.loads(page.rows())["wallet"]
    parts = zip(cells["text"], cells["aside"], strict=True)
    assert {" · ".join([name, *address]) for name, address in parts} == {*KNOWN}
    assert f"St. Dee · ETH · {DEE}" in page.listed("Wallets")
    explorer.close()


@pytest.mark.filterwarnings("ignore:The earlier fetch leaves out")
def test_a_report_names_wallets():
    """In a column of its own beside whole addresses, and in the tables of balances and changes."""
    before = DETAILS._replace(holdings=DETAILS.holdings.iloc[1:])
    content = compose(DETAILS, before=before, title="Holdings", made_at=NOW, grouping=Grouping())
    tables = {each.table.name: each.table.columns for each in content.listings}
    assert [cell.text for cell in tables["wallets"]["name"]] == ["Ben", "Ada", "Ada", "", "St. Dee"]
    assert {cell.text for cell in tables["holdings"]["wallet"]} == set(KNOWN)
    assert SHORT[0] in {cell.text for cell in tables["changes"]["wallet"]}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_the_shell_names_wallets_of_files(tmp_path, suffix):
    """From the file of wallets beside the holdings."""
    write = {".csv": "to_csv", ".parquet": "to_parquet"}[suffix]
    getattr(DETAILS.holdings.wf, write)(tmp_path / f"h{suffix}")
    getattr(DETAILS.wallets.wf, write)(tmp_path / f"h.wallets{suffix}")
    shown = CliRunner().invoke(main, ["totals", str(tmp_path / f"h{suffix}"), "--by", "wallet"])
    assert all(name in shown.output for name in SHORT)


@pytest.fixture(scope="module")
def hostile():
    """Return wallets whose names do harm where they are shown without care."""
    result = fetched({f"ETH.0x{number:040x}": [COIN] for number in range(len(HOSTILE))})
    return result._replace(wallets=result.wallets.assign(name=HOSTILE))


def test_hostile_names_are_shown_as_text_by_charts(hostile):
    """No tag but our own, no dollar, no link, and each wallet has its own name."""
    plot = hostile.wf.plot
    names = plot.bar(top=200).layout.yaxis.ticktext
    assert len(set(names)) == len(HOSTILE)
    texts = [*names, *plot.treemap().data[0].labels, hovers(plot.sunburst()), hovers(plot.bar())]
    texts.append(plot.pie(("ETH", f"0x{5:040x}")).layout.title.text)
    for text in texts:
        assert "<" not in re.sub(r"</?b>|<br>", "", text)
        assert "$" not in text
        assert "://" not in text


def test_hostile_names_are_shown_as_text_by_tables(hostile, tmp_path):
    """In a notebook, in a report and on pickers."""
    picker = WalletPicker(hostile)
    html = hostile._repr_html_() + hostile.wf.totals(by="wallet")._repr_html_()
    html += wf.report(hostile, tmp_path / "r.md").read_text(encoding="utf-8")
    for bad in ("<script", "<img", "<a href='", "<iframe", "<svg", "://evil"):
        assert bad not in html
    assert all(
        label.isprintable() and "://" not in label for label in Page(picker).listed("Wallets")
    )
    picker.close()
