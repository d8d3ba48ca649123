"""What is known of wallets is decided once: every table, chart, report and summary says the same.

The data is one fetch with a wallet of each kind, in two forms: as this release fetches it, and as
0.1.0 had it, whose wallets without a list were ok.
"""

import re
import shutil
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from canned_service import answer, balance, wallet
from click.testing import CliRunner
from fetches import fetched, token

import walletframe as wf
from walletframe import charts
from walletframe.analysis import pivot, share, totals
from walletframe.cli import main
from walletframe.cli.files import read_saved, write_details
from walletframe.frames import WalletDetails, as_failed, summary_lines
from walletframe.history import compare, load, save, snapshots, total_timeline
from walletframe.reports.composition import compose
from walletframe.wire import NO_LIST

RELEASE = Path(__file__).parent / "null-lists-0.1.0"
TOKEN = ("ETH", "0xToken")
DAY = datetime(2026, 1, 31, 6, tzinfo=UTC)
FRESH = {"ETH.0xA": [token(raw=1_000_000)], "ETH.0xD": [], "BSC.0xF": []}
LACKING = {"ETH.0xC": "failed", "ETH.0xE": None, "BSC.0xG": "timeout"}
STALE = {"ETH.0xB": [token(raw=2_000_000)]}


def both(*parts):
    """Return several fetches as one."""
    frames = zip(*parts, strict=True)
    return WalletDetails(*(pd.concat(each, ignore_index=True) for each in frames))


NOW = both(fetched(FRESH), fetched(STALE, source="stale"), fetched(LACKING))
NOW.wallets["error"] = NOW.wallets["error"].mask(NOW.wallets["source"] == "stale", "late")
EARLIER = NOW._replace(
    wallets=NOW.wallets.assign(
        status=NOW.wallets["status"].mask(NOW.wallets["error"] == NO_LIST, "ok"),
        error=NOW.wallets["error"].mask(NOW.wallets["error"] == NO_LIST),
    )
)


@pytest.fixture(params=[NOW, EARLIER], ids=["this release", "0.1.0"])
def details(request):
    """Give seven wallets: known, empty, empty elsewhere, stale, failed, without a list, late."""
    return request.param


def counted(table):
    """Add up the counts of a table: known, of these out of date, asked."""
    names = ["wallets_ok", "wallets_stale", "wallets_asked"]
    return tuple(int(table[name].sum()) for name in names)


def below(figure):
    """Read the lines below a chart's title."""
    return figure.layout.title.subtitle.text.replace("<br>", " ")


def noted(figure):
    """Read the same below a chart's title."""
    text = below(figure)
    known, asked, flaws = re.search(r"(\d+) of (\d+) wallets known \((.*?)\)", text).groups()
    stale = re.search(r"(\d+) out of date", flaws)
    return int(known), int(stale[1]), int(asked)


def summed_up(details):
    """Read the same in the first lines of a fetch."""
    text = "; ".join(summary_lines(*details))
    known, stale = re.search(r"(\d+) ok", text), re.search(r"(\d+) older answer stood in", text)
    return int(known[1]), int(stale[1]), int(re.match(r"\d+", text)[0])


def reported(details):
    """Read the same in a report, twice."""
    content = compose(details, before=None, title="x", made=DAY)
    facts, gaps = dict(content.facts), " ".join(content.gaps)
    unknown = re.search(r"balances of (\d+) of 7 wallets are unknown", gaps)
    older = re.search(r"For (\d+) of the wallets an older answer", gaps)
    asked = int(facts["wallets asked"])
    assert int(facts["wallets known"]) == asked - int(unknown[1])
    return int(facts["wallets known"]), int(older[1]), asked


def printed(details, folder):
    """Read the same in what the shell prints of a saved fetch."""
    path = folder / "fetch.csv"
    write_details(details, path)
    out = CliRunner().invoke(main, ["report", str(path), "--output", str(folder / "x.md")])
    assert out.exit_code == 1
    found = re.search(r"of (\d+) of (\d+) wallets are known, of (\d+) as of an older", out.output)
    known, asked, stale = map(int, found.groups())
    return known, stale, asked


def at_last(details, folder):
    """Read in a history what is known of its only snapshot; what was stale is not."""
    save(details, folder=folder, at=DAY)
    listed = snapshots(folder=folder)
    return listed["wallets_ok"].item(), listed["wallets"].item()


def changed(details):
    """Count the wallets of which a comparison can't say anything."""
    everything = fetched({str(name): [] for name in names(details)})
    unknown = compare(everything, details).query("change == 'unknown'")
    asked = len(details.wallets)
    return asked - unknown.groupby(["blockchain", "address"]).ngroups, asked


def names(details):
    """Return the wallets that were asked for."""
    return details.wallets["blockchain"] + "." + details.wallets["address"]


def test_all_say_the_same_of_a_fetch(details, tmp_path):
    """Tables, charts, report, summary and shell, two by two; history without what was stale."""
    wallets, holdings = details
    said = {
        "totals by wallet": counted(totals(holdings, "wallet", wallets=wallets)),
        "totals by blockchain": counted(totals(holdings, "blockchain", wallets=wallets)),
        "treemap": noted(charts.treemap(holdings, wallets=wallets)),
        "sunburst": noted(charts.sunburst(holdings, wallets=wallets)),
        "bar": noted(charts.bar(holdings, wallets=wallets)),
        "heatmap": noted(charts.heatmap(holdings, wallets=wallets)),
        "lorenz": noted(charts.lorenz(holdings, TOKEN, wallets=wallets)),
        "summary": summed_up(read_back(details, tmp_path)),
        "report": reported(read_back(details, tmp_path)),
        "shell": printed(details, tmp_path),
    }
    for (one, first), (other, second) in combinations(said.items(), 2):
        assert first == second, (one, other)
    known, stale, asked = said["shell"]
    assert (known, stale, asked) == (4, 1, 7)
    told = {
        "a fetch": (known - stale, asked),
        "snapshots": at_last(details, tmp_path / "history"),
        "compare": changed(details),
    }
    for (one, first), (other, second) in combinations(told.items(), 2):
        assert first == second, (one, other)


def read_back(details, folder):
    """Return a fetch as it is read from the files of the shell."""
    write_details(details, folder / "back.csv")
    holdings, wallets = read_saved(str(folder / "back.csv"))
    return WalletDetails(wallets, holdings)


def followed(details):
    """Give the fetch as the last snapshot of a history."""
    day = pd.Timestamp(DAY).as_unit("us")
    return WalletDetails(*(frame.assign(snapshot=day) for frame in details))


def drawn(history):
    """Read below a timeline of one token what is known, and in its line how much there was."""
    figure = charts.timeline(history.holdings, token=TOKEN, wallets=history)
    text = below(figure)
    known, asked = re.search(r"(\d+) of (\d+) wallets ever known", text).groups()
    assert "1 balance of answers out of date not drawn." in text
    return int(known), int(asked), Fraction(figure.data[0].y[-1])


def test_all_say_the_same_of_a_token(details):
    """How many could hold it, of how many that is known, and how much there is, two by two."""
    wallets, holdings = details
    [row] = totals(holdings, wallets=wallets).itertuples()
    shares = share(holdings, TOKEN, wallets=wallets)
    cells = pivot(holdings, wallets=wallets)["TKN"].loc["ETH"]
    fetch = {
        "totals": (row.wallets_ok, row.wallets_asked, Fraction(row.amount)),
        "share": (
            shares["wallets_ok"][0],
            shares["wallets_asked"][0],
            Fraction(shares["amount"].sum()),
        ),
        "pivot": (cells.notna().sum(), len(cells), Fraction(cells.sum())),
    }
    for (one, first), (other, second) in combinations(fetch.items(), 2):
        assert first == second, (one, other)
    assert fetch["share"] == (3, 5, 3)
    [last] = total_timeline(followed(details), token=TOKEN).itertuples()
    history = {
        "a fetch, less what is stale": (3 - 1, 5, Fraction(1)),
        "total_timeline": (last.wallets_known, last.wallets, Fraction(last.amount)),
        "plot.timeline": drawn(followed(details)),
    }
    for (one, first), (other, second) in combinations(history.items(), 2):
        assert first == second, (one, other)


def test_tables_of_a_fetch_say_how_many_are_out_of_date():
    """An answer that is past its time counts, and is counted."""
    table = totals(NOW.holdings, wallets=NOW.wallets)
    assert table[["wallets_ok", "wallets_stale", "wallets_asked"]].to_numpy().tolist() == [
        [3, 1, 5]
    ]


class TestEarlierRelease:
    """What 0.1.0 kept of an answer without a list: its wallet 0xb."""

    STATUSES = ("ok", "failed", "ok", "failed")

    def test_snapshots_read_it_as_failed(self):
        """A history has the status and the reason of today."""
        wallets = load(folder=RELEASE / "history").wallets
        assert tuple(wallets["status"]) == self.STATUSES
        assert wallets["error"][1] == NO_LIST

    def test_pickled_frames_are_corrected_where_they_are_read(self):
        """A pickle has them as they were; no table takes such a wallet for an empty one."""
        wallets = pd.read_pickle(RELEASE / "wallets.pickle")
        assert tuple(as_failed(wallets)["status"]) == self.STATUSES
        holdings = fetched({"ETH.0xA": [token()]}).holdings
        assert counted(totals(holdings, "blockchain", wallets=wallets)) == (2, 0, 4)

    def test_folders_read_it_as_failed(self, tmp_path):
        """A folder of Parquet files that no run has touched since."""
        wallets, holdings = wf.read_wallets(RELEASE / "bulk")
        assert tuple(wallets["status"]) == self.STATUSES
        assert wallets["error"][1] == NO_LIST
        assert len(holdings) == 1

    def test_folders_are_completed(self, canned, tmp_path):
        """A run asks again for what had no list; the files name each wallet once."""
        folder = tmp_path / "bulk"
        shutil.copytree(RELEASE / "bulk", folder)
        canned.say(answer(wallet("0xb", balances=[balance()] * 2)))
        canned.say(answer(wallet("0xd", balances=None)))
        asked = [f"ETH.0x{letter}" for letter in "abcd"]
        with canned.client(service="recorded", cache=False, workers=1) as client:
            summary = wf.fetch_to_parquet(asked, folder, client=client, on_failure="ignore")
        assert (summary.resumed, summary.ok) == (2, 3)
        assert [parse_qs(urlsplit(path).query)["address"] for path in canned.paths] == [
            ["ETH.0xb"],
            ["ETH.0xd"],
        ]
        wallets, holdings = wf.read_wallets(folder)
        assert wallets["status"].tolist() == ["ok", "ok", "ok", "failed"]
        assert len(holdings) == 3
        files = pd.concat(map(pd.read_parquet, sorted(folder.glob("wallets/*.parquet"))))
        assert sorted(files["address"]) == ["0xa", "0xb", "0xc"]

    @pytest.mark.parametrize("kept", ["fresh", "past its time"])
    def test_a_cache_does_not_count_it(self, canned, tmp_path, kept):
        """It is asked for again, and stands in for nothing; what is ok is not asked for."""
        shutil.copy(RELEASE / "answers.sqlite", tmp_path)
        canned.default = (200, {}, answer(wallet("0xb", balances=None)))
        age = timedelta(days=36_500 if kept == "fresh" else 0).total_seconds()
        settings = {"service": "recorded", "cache": tmp_path / "answers.sqlite"}
        with canned.client(**settings, expire_after_s=age) as client:
            wallets, _ = client.fetch("ETH.0xb", on_failure="ignore")
            offline, _ = client.fetch(["ETH.0xa", "ETH.0xb"], offline=True, on_failure="ignore")
        assert (wallets["status"].item(), wallets["error"].item()) == ("failed", NO_LIST)
        assert len(canned.paths) == 1
        assert offline["status"].tolist() == ["ok", "not_cached"]
