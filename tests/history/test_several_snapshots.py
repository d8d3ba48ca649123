"""Holdings of several snapshots are never added up."""

import pandas as pd
import pytest
from fetches import fetched, token

import walletframe as wf
from walletframe.errors import InputWarning, SnapshotError

WALLETS = pd.DataFrame(
    {"wallet": ["ETH.0x" + digit * 40 for digit in "1234"], "owner": ["Ada", "Ada", "Ben", "Ben"]}
)
DAYS = ["2026-01-30", "2026-01-31"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the snapshots of two days."""
    path = tmp_path_factory.mktemp("snapshots")
    for seed, day in enumerate(DAYS, 1):
        with wf.sandbox(seed=seed) as service, service.client(cache=False) as client:
            details = WALLETS.wf.fetch(keep=["owner"], client=client)
        wf.history.save(details, folder=path, at=f"{day}T06:00Z")
    return path


@pytest.fixture(scope="module")
def history(folder):
    """Return the rows of both snapshots."""
    return wf.history.load(folder=folder)


SUMS = {
    "totals": lambda history, _: history.wf.totals(by="owner"),
    "totals of holdings": lambda history, _: history.holdings.wf.totals(wallets=history.wallets),
    "totals of one day with all wallets": lambda history, _: history.holdings[
        history.holdings["snapshot"].dt.day == 30
    ].wf.totals(wallets=history.wallets),
    "coverage": lambda history, _: history.wf.coverage(),
    "share": lambda history, _: history.wf.share("ETH"),
    "share by snapshot": lambda history, _: history.wf.share("ETH", by=["snapshot", "owner"]),
    "concentration": lambda history, _: history.wf.concentration(),
    "concentration by snapshot": lambda history, _: history.wf.concentration(by="snapshot"),
    "pivot": lambda history, _: history.wf.pivot(3),  # noqa: PD010 - the accessor's method, not pandas's
    "overlap": lambda history, _: history.wf.overlap(),
    "top": lambda history, _: history.wf.top(3),
    "bar": lambda history, _: history.wf.plot.bar(by="owner"),
    "treemap": lambda history, _: history.wf.plot.treemap(),
    "explore": lambda history, _: history.wf.explore(),
    "report": lambda history, path: wf.report(history, path / "report.html"),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_of_several_snapshots_are_refused(name, history, tmp_path):
    """Tables, charts, the explorer and reports refuse sums: wallets would count once per day."""
    with pytest.raises(SnapshotError, match=r"rows of 2 snapshots can't be added up") as raised:
        SUMS[name](history, tmp_path)
    assert "wf.history.snapshot(" in raised.value.hint
    assert 'add "snapshot" to by=' in raised.value.hint
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("day", DAYS)
def test_rows_per_snapshot_equal_those_of_the_snapshot(day, folder, history):
    """By snapshot, each row is the sum of one day; a single snapshot is added up as usual."""
    alone = wf.history.snapshot(day, folder=folder).wf.totals(by=["owner", "asset"])
    table = history.wf.totals(by=["snapshot", "owner", "asset"])
    of_day = table[table["snapshot"].dt.strftime("%Y-%m-%d") == day]
    result = of_day.drop(columns="snapshot").reset_index(drop=True)
    pd.testing.assert_frame_equal(result, pd.DataFrame(alone))
    assert len(history.wf.pivot(3, by=["snapshot", "owner"])) == 4  # noqa: PD010 - the accessor's method, not pandas's


def test_methods_of_rows_accept_several_snapshots(history):
    """Values, spam flags and selections work, since they add up nothing."""
    valued = history.wf.value({("ETH", None): 2500}, currency="USD").wf.flag_spam()
    assert len(valued.holdings) == len(history.holdings)
    ada = history.wf.where(owner="Ada", asset="ETH", bridged=True).holdings
    assert ada["snapshot"].nunique() == 2
    assert history.wf.plot.timeline(by="owner").data
    assert ada.wf.plot.timeline().data


def test_report_on_two_snapshots(folder, tmp_path):
    """Each of the two results has one snapshot."""
    earlier, later = (wf.history.snapshot(day, folder=folder) for day in DAYS)
    valued = [each.wf.value({("ETH", None): 2500}, currency="USD") for each in (earlier, later)]
    path = wf.report(valued[1], tmp_path / "report.html", before=valued[0])
    assert "since 2026-01-30" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("by", [None, "owner"])
def test_changes_state_left_out_bridged_versions(by, folder):
    """The line below the table, the warning and the waterfall have the amounts at both times."""
    earlier, later = (wf.history.snapshot(day, folder=folder) for day in DAYS)
    bridged = "0.0588509 before and 0 after in 1 bridged version"
    with pytest.warns(InputWarning, match=f"the result lacks {bridged}; pass bridged=True"):
        table = wf.history.compare(earlier, later, by=by, asset="ETH")
    assert f"Not counted: {bridged} (bridged=True)." in repr(table)
    notes = table.wf.plot.waterfall().layout.meta["about"]
    assert f"Not counted: {bridged} (bridged=True)." in notes
    notes = table[:1].wf.plot.waterfall().layout.meta["about"]
    assert f"In the whole table: Not counted: {bridged} (bridged=True)." in notes
    whole = wf.history.compare(earlier, later, by=by, asset="ETH", bridged=True)
    assert "All 4 balances of 4 wallets are counted." in repr(whole)
    assets = wf.history.compare(earlier, later, by="asset")
    assert (
        "2 bridged versions are listed separately (bridged=True adds them to their assets)."
        in repr(assets)
    )
    kept = [side.wf.where(symbol="ETH") for side in (earlier, later)]
    line = "before: 30 balances not selected; after: 18 balances not selected."
    assert line in repr(wf.history.compare(*kept, by=by, token="ETH"))


def test_totals_over_time_state_their_coverage(history):
    """Wallets that are unknown in any snapshot are counted, and left-out bridged versions."""
    with pytest.warns(InputWarning, match="the result lacks .* 1 bridged version;"):
        table = wf.history.total_timeline(history, by="owner", asset="ETH")
    assert "Not counted: 0.0588509 in 1 bridged version (bridged=True)." in repr(table)
    wallets = history.wallets.iloc[1:]
    first = history.wallets[["address", "snapshot"]].iloc[0]
    is_first = (history.holdings[["address", "snapshot"]] == first).all(axis=1)
    partly = wf.WalletDetails(wallets, history.holdings[~is_first])
    table = wf.history.total_timeline(partly, asset="ETH", bridged=True)
    assert "Not counted: 1 of 4 wallets unknown at some times." in repr(table)
    assert table["wallets_known"].tolist() == [3, 4]


def test_timelines_have_the_coverage_of_tables(history):
    """The notes count spam, small balances and unselected balances of all snapshots."""
    clean = history.wf.without_spam().wf.value({("ETH", None): 2500}, currency="USD")
    for details in (clean, clean.wf.where(owner="Ben", small=1000)):
        coverage = details.wf.totals(by="snapshot").attrs["coverage"]
        assert coverage["filtered"] > 0
        for options in ({}, {"by": "owner"}, {"facet": "owner"}):
            notes = details.wf.plot.timeline(**options).layout.meta["about"]
            [counted] = [note for note in notes if note.startswith("Not counted: ")]
            assert coverage["filtered_reasons"] in counted
            assert f"Not counted: {counted[13:]}" in repr(details.wf.totals(by="snapshot"))


def test_wallets_are_counted_once(history):
    """Notes on two snapshots count wallets once, and balances at both times."""
    valued = history.wf.value({("ETH", None): 2500, "USDC": 1}, currency="USD").wf.without_spam()
    lines = {
        "All 56 balances of 4 wallets at 2 times are counted.": history,
        "Not counted: the value of 37 balances without a price; 9 spam balances at 2 times "
        "together.": valued,
        "Not counted: 56 spam balances at 2 times together.": history._replace(
            holdings=history.holdings.assign(is_spam=True, value=1.0)
        ).wf.without_spam(),
    }
    for line, details in lines.items():
        assert line in details.wf.plot.timeline().layout.meta["about"]
        assert line in repr(details.wf.totals(by="snapshot"))


def test_changes_of_groups_state_their_coverage(folder):
    """Wallets that are unknown at one time are left out of both sums, which the line counts."""
    earlier, later = (wf.history.snapshot(day, folder=folder) for day in DAYS)
    status = later.wallets["status"].mask(later.wallets.index == 0, "failed")
    partly = wf.WalletDetails(
        later.wallets.assign(status=status),
        later.holdings[later.holdings["address"] != later.wallets["address"][0]],
    )
    table = wf.history.compare(earlier, partly, by="owner", asset="ETH", bridged=True)
    unknown_once = "1 balance of 1 wallet (8.14001 before)"
    line = f"Not counted: 1 of 4 wallets unknown; {unknown_once} not known at both times."
    assert f"\n\n{line}\n" in repr(table)
    assert table.attrs["coverage"]["wallets_ok"] == 3
    assert table.attrs["coverage"]["unknown_once"] == unknown_once
    assert repr(wf.history.compare(earlier, partly)).count(" not known at both times.") == 1
    assert table.attrs["walletframe_compared"]["after"] == "2026-01-31 06:00 UTC"


def test_a_known_sum_of_zero_is_zero_in_each_table_of_sums():
    """Beside an unknown wallet, too: the counts of wallets say that the sum may be larger."""
    ether, dollars = token("ETH", contract=None), token("USDC", contract="0xA0")
    answers = {f"ETH.0x{owner:040x}": each for owner, each in enumerate([[ether], "failed"])}
    other = {f"ETH.0x{9:040x}": [dollars]}
    wallets, holdings = fetched(answers | other)
    day = pd.Timestamp("2026-01-31", tz="UTC").as_unit("us")
    frames = wallets.assign(owner=["Ada", "Ada", "Bo"], snapshot=day), holdings.assign(snapshot=day)
    details, one = wf.WalletDetails(*frames), {"token": ("ETH", "0xA0")}
    tables = [
        (wf.history.total_timeline(details, by="owner", **one), "wallets_known"),
        (details.wf.share(**one, by="owner"), "wallets_ok"),
        (details.wf.where(**one).wf.totals("owner"), "wallets_ok"),
    ]
    for table, known in tables:
        ada = table.set_index("owner").loc["Ada"]
        assert (ada["amount"], ada[known]) == (0, 1)
