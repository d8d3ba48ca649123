"""Known wallets are counted once: every table, chart, report and summary has the same numbers.

The data is one fetch with a wallet of each kind.
"""

import re
from datetime import UTC, datetime
from fractions import Fraction
from itertools import combinations

import pandas as pd
import pytest
from addresses import A, B, C, D, E, whole
from click.testing import CliRunner
from fetches import fetched, token
from parted import write_parts

import walletframe as wf
from walletframe import charts
from walletframe.analysis.distribution import pivot, share
from walletframe.analysis.sums import totals
from walletframe.cli import main
from walletframe.cli.files import read_saved_frames, write_details
from walletframe.frames.details import WalletDetails
from walletframe.frames.known import summary_lines
from walletframe.history import compare, save, snapshots, timeline, total_timeline
from walletframe.reports.composition import Grouping, compose

TOKEN = ("ETH", "0xToken")
F, TEN, ELEVEN, TWELVE = map(whole, ("f", "10", "11", "12"))
DAY = datetime(2026, 1, 31, 6, tzinfo=UTC)
FRESH = {f"ETH.{A}": [token(raw=1_000_000)], f"ETH.{D}": [], f"BSC.{F}": []}
LACKING = {f"ETH.{C}": "failed", f"ETH.{E}": None, f"BSC.{TEN}": "timeout"}
STALE = {f"ETH.{B}": [token(raw=2_000_000)]}


def both(*parts):
    """Return several fetches as one."""
    frames = zip(*parts, strict=True)
    return WalletDetails(*(pd.concat(each, ignore_index=True) for each in frames))


NOW = both(fetched(FRESH), fetched(STALE, source="stale"), fetched(LACKING))
NOW.wallets["error"] = NOW.wallets["error"].mask(NOW.wallets["source"] == "stale", "late")


@pytest.fixture
def details():
    """Return seven wallets: known, empty, empty elsewhere, stale, failed, without a list, late."""
    return NOW


def counted(table):
    """Return the sums of a table's counts: known, of these stale, requested."""
    names = ["wallets_ok", "wallets_stale", "wallets_asked"]
    return tuple(int(table[name].sum()) for name in names)


def below(figure):
    """Read the lines below a chart's title."""
    return figure.layout.title.subtitle.text.replace("<br>", " ")


def noted(figure):
    """Read the counts below a chart's title."""
    return stated(" ".join(figure.layout.meta["about"]))


def stated(text):
    """Read the counts in a coverage."""
    unknown, requested = map(int, re.search(r"(\d+) of (\d+) wallets unknown", text).groups())
    return requested - unknown, int(re.search(r"(\d+) wallet shows", text)[1]), requested


def summed_up(details):
    """Read the counts in the first lines of a fetch."""
    text = "; ".join(summary_lines(*details))
    known, stale = (
        re.search(r"(\d+) ok", text),
        re.search(r"(\d+) wallets? shows? an older answer", text),
    )
    return int(known[1]), int(stale[1]), int(re.match(r"\d+", text)[0])


def reported(details):
    """Read the counts in a report."""
    content = compose(details, before=None, title="x", made_at=DAY, grouping=Grouping())
    return stated(content.notes[0])


def printed(details, folder):
    """Read the counts in the shell's output about a saved fetch."""
    path = folder / "fetch.csv"
    write_details(details, path)
    out = CliRunner().invoke(main, ["report", str(path), "--output", str(folder / "x.md")])
    assert out.exit_code == 1
    return stated(out.output)


def at_last(details, folder):
    """Read the counts of a history's only snapshot; stale wallets are not known."""
    save(details, folder=folder, at=DAY)
    listed = snapshots(folder=folder)
    return listed["wallets_ok"].item(), listed["wallets"].item()


def changed(details):
    """Count the wallets that are known in a comparison."""
    everything = fetched({str(name): [] for name in names(details)})
    unknown = compare(everything, details).query("change == 'unknown'")
    requested = len(details.wallets)
    return requested - unknown.groupby(["blockchain", "address"]).ngroups, requested


def names(details):
    """Return the requested wallets."""
    return details.wallets["blockchain"] + "." + details.wallets["address"]


def test_all_counts_of_a_fetch_agree(details, tmp_path):
    """Tables, charts, report, summary and shell, two by two; history without stale ones."""
    wallets, holdings = details
    valued = holdings.assign(value=1.0)  # without values, the only token's amounts would be drawn
    counts = {
        "totals by wallet": counted(totals(holdings, "wallet", wallets=wallets)),
        "totals by blockchain": counted(totals(holdings, "blockchain", wallets=wallets)),
        "treemap": noted(charts.treemap(valued, wallets=wallets)),
        "sunburst": noted(charts.sunburst(valued, wallets=wallets)),
        "bar": noted(charts.bar(valued, wallets=wallets)),
        "heatmap": noted(charts.heatmap(holdings, wallets=wallets)),
        "summary": summed_up(read_back(details, tmp_path)),
        "report": reported(read_back(details, tmp_path)),
        "shell": printed(details, tmp_path),
    }
    for (one, first), (other, second) in combinations(counts.items(), 2):
        assert first == second, (one, other)
    known, stale, requested = counts["shell"]
    assert (known, stale, requested) == (4, 1, 7)
    others = {
        "a fetch": (known - stale, requested),
        "snapshots": at_last(details, tmp_path / "history"),
        "compare": changed(details),
    }
    for (one, first), (other, second) in combinations(others.items(), 2):
        assert first == second, (one, other)


def read_back(details, folder):
    """Return a fetch as it is read from the files of the shell."""
    write_details(details, folder / "back.csv")
    holdings, wallets = read_saved_frames(str(folder / "back.csv"))
    return WalletDetails(wallets, holdings)


def followed(details):
    """Return the fetch as the last snapshot of a history."""
    day = pd.Timestamp(DAY).as_unit("us")
    return WalletDetails(*(frame.assign(snapshot=day) for frame in details))


def drawn(history):
    """Read a timeline of one token: the counts below it, and the amount of its line."""
    figure = charts.timeline(history.holdings, token=TOKEN, wallets=history)
    text = " ".join(figure.layout.meta["about"])
    unknown, requested = map(
        int, re.search(r"In 1 of 1 snapshot, (\d+) of (\d+) wallets are unknown", text).groups()
    )
    assert "1 balance from outdated answers is not drawn." in text
    return requested - unknown, requested, Fraction(figure.data[0].y[-1])


def test_all_counts_of_a_token_agree(details):
    """How many could hold it, how many of these are known, and the amount, two by two."""
    wallets, holdings = details
    [row] = totals(holdings, wallets=wallets).itertuples()
    shares = share(holdings, TOKEN, wallets=wallets)
    cells = pivot(holdings, wallets=wallets)["TKN"].loc["ETH"]
    fetch = {
        "totals": (row.wallets_ok, row.wallets_asked, Fraction(row.amount)),
        "share": (
            shares["wallets_ok"].sum(),
            shares["wallets_asked"].sum(),
            Fraction(shares["amount"].sum()),
        ),
        "pivot": (cells.notna().sum(), len(cells), Fraction(cells.sum())),
    }
    for (one, first), (other, second) in combinations(fetch.items(), 2):
        assert first == second, (one, other)
    assert fetch["share"] == (3, 5, 3)
    over_time = total_timeline(followed(details), token=TOKEN)
    assert "3 of 5 wallets unknown (1 with an older answer)." in repr(over_time)
    [last] = over_time.itertuples()
    history = {
        "a fetch, less what is stale": (3 - 1, 5, Fraction(1)),
        "total_timeline": (last.wallets_known, last.wallets, Fraction(last.amount)),
        "plot.timeline": drawn(followed(details)),
    }
    for (one, first), (other, second) in combinations(history.items(), 2):
        assert first == second, (one, other)


def test_tables_of_a_fetch_count_stale_wallets():
    """An expired answer counts, and is counted."""
    table = totals(NOW.holdings, wallets=NOW.wallets)
    assert table[["wallets_ok", "wallets_stale", "wallets_asked"]].to_numpy().tolist() == [
        [3, 1, 5]
    ]


STRANGE = token("?", raw=3, contract=None, blockchain=None)
UNSURE = both(
    fetched(
        {
            f"ETH.{A}": [token(raw=1_000_000)],
            f"ETH.{B}": [],
            f"ETH.{C}": [STRANGE],
            f"ETH.{D}": [token(raw=5_000_000), STRANGE],
            f"ETH.{E}": [token(decimals=None)],
            f"ETH.{F}": [token("DAI", decimals=None, contract="0xDai")],
            f"ETH.{TEN}": "failed",
        }
    ),
    fetched({f"ETH.{ELEVEN}": [STRANGE], f"ETH.{TWELVE}": []}, source="stale"),
)
OWNED = UNSURE._replace(wallets=UNSURE.wallets.assign(owner="Ada"))


@pytest.mark.parametrize("symbol,unread", [("TKN", E), ("DAI", F)])
def test_unknown_tokens_are_separate(tmp_path, symbol, unread):
    """Other amounts of their wallets are known, and tables of a token count the balances."""
    named = ("ETH", "0xToken" if symbol == "TKN" else "0xDai")

    def said(table):
        label = table["asset" if "asset" in table else "symbol"]
        return counted(table[label.str.startswith(symbol)])

    for tables in (UNSURE.wf, wf.open_wallets(write_parts(tmp_path, UNSURE)).wf):
        for by in ("token", "asset", ["blockchain", "asset"]):
            assert said(tables.totals(by=by)) == (7, 2, 9)
        for shares in (tables.share(named), tables.share(token=named)):
            assert counted(shares) == (7, 2, 9)
            assert shares.attrs["coverage"]["unknown_tokens"] == 3
        table = tables.totals(by=["wallet", "token"])
        rows = table[table["wallets_ok"] == 1]
        assert rows["address"].tolist() == [A, B, C, D, D, ELEVEN, TWELVE]
        assert rows["symbol"].dropna().tolist() == ["TKN", "?", "TKN", "?", "?"]
        pivot_table = tables.pivot  # which knows amounts, unlike that of pandas
        cells = pivot_table(None, by="token")[symbol].loc["ETH"]
        assert cells[cells.isna()].index.tolist() == sorted([TEN, unread])
        assert tables.totals(by="wallet")["wallets_ok"].sum() == 8  # whose answers have a list
    assert said(OWNED.wf.totals(by=["owner", "token"])) == (7, 2, 9)
    assert counted(OWNED.wf.share(named, by="owner")) == (7, 2, 9)
    by_owner = pivot(OWNED.holdings, by=["owner", "token"], wallets=OWNED.wallets)
    assert by_owner[["TKN", "DAI"]].fillna(-1).iloc[0].tolist() == [6, -1]
    assert by_owner.attrs["coverage"]["partial_cells"] == len(by_owner.columns) - 1


def test_histories_leave_out_unknown_tokens():
    """The line below the table counts them. Other tokens of their wallets are known."""
    before = fetched({name: [token(raw=1)] for name in names(UNSURE)})
    changes = compare(before, UNSURE, token=TOKEN).set_index("address")
    assert changes["change"].to_dict() == {
        A: "increased",
        B: "gone",
        C: "gone",
        D: "increased",
        E: "unknown",
        F: "gone",
        **dict.fromkeys([TEN, ELEVEN, TWELVE], "unknown"),
    }
    assert changes["status_after"].loc[[C, D, E, TEN, ELEVEN]].tolist() == [
        *["ok", "ok", "no_amount", "failed", "stale"]
    ]
    assert changes["after"].isna().sum() == 4
    added = compare(before, UNSURE, by="token").query("symbol == 'TKN'")
    assert added[["wallets_known", "wallets"]].to_numpy().tolist() == [[5, 9]]
    [last] = total_timeline(followed(UNSURE), token=TOKEN).itertuples()
    assert (last.wallets_known, last.wallets, Fraction(last.amount)) == (5, 9, 6)
    tables = [total_timeline(followed(UNSURE), token=name) for name in (None, TOKEN)]
    for table in (compare(before, UNSURE, token=TOKEN), *tables):
        assert "; 3 balances whose token is unknown" in repr(table)
    strange = timeline(followed(UNSURE)).query("symbol == '?'")
    assert strange["status"].tolist() == ["ok", "ok"]


def test_timelines_draw_partly_known_sums():
    """A point has the readable amounts of its group, even if no wallet is known, as in totals."""
    held = {f"ETH.{A}": [token(raw=1_000_000), token(decimals=None)], f"ETH.{B}": "failed"}
    wallets, holdings = followed(fetched(held))
    history = WalletDetails(wallets.assign(owner="Ada"), holdings)
    figure = charts.timeline(history.holdings, by="owner", token=TOKEN, wallets=history)
    assert total_timeline(history, by="owner", token=TOKEN)["amount"].tolist() == [1]
    assert next(trace.y for trace in figure.data if trace.name == "Ada") == (1,)


def test_charts_of_a_token_count_unknown_tokens():
    """As its tables do, and the known wallets of a group or a time."""
    wallets, holdings = OWNED
    drawn = charts.bar(holdings, token=TOKEN)
    assert "Not counted: 3 balances whose token is unknown;" in below(drawn)
    assert "whose token" not in below(charts.bar(holdings))
    drawn = below(charts.bar(holdings, token=TOKEN, wallets=wallets))
    assert "2 of 9 wallets unknown; 3 balances whose token is unknown" in drawn
    whose = charts.bar(holdings, by="owner", token=TOKEN, wallets=wallets)
    assert "7 of 9 wallets of owner Ada are known." in whose.layout.meta["about"]
    history = followed(OWNED)
    for by in ("token", "owner"):
        over_time = charts.timeline(history.holdings, by=by, token=TOKEN, wallets=history)
        assert "In 1 of 1 snapshot, 4 of 9 wallets are unknown." in below(over_time)
    everything = charts.timeline(history.holdings, wallets=history)
    assert "In 1 of 1 snapshot, 3 of 9 wallets are unknown." in below(everything)
