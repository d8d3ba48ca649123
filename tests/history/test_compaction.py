"""Compaction: what stays, stays exactly; nothing that is known of a period is lost."""

import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pytest
from fetches import fetched, token
from hypothesis import given, settings
from hypothesis import strategies as st
from moments import let_midnight_pass
from pandas.testing import assert_frame_equal
from plain_holdings import answers

from walletframe import history
from walletframe.errors import ArgumentError, HistoryError, SnapshotError, UnknownSnapshotError
from walletframe.frames import known_when_asked
from walletframe.history import compaction, dataset
from walletframe.history.folder import snapshot_folders, stored
from walletframe.history.tables import read

TOP = 2**256 - 1
START = datetime(2026, 1, 30, 0, 30, tzinfo=UTC)
FIXTURE = Path(__file__).parent / "history-format-1"


@pytest.fixture(scope="module")
def three_days(tmp_path_factory):
    """Keep three days of six snapshots each; of the last wallet in one alone is anything known."""
    return filled(tmp_path_factory.mktemp("days"), 18)


@pytest.fixture
def folder(three_days, tmp_path):
    """Give a copy of the three days."""
    return Path(shutil.copytree(three_days, tmp_path, dirs_exist_ok=True))


def filled(folder, count):
    """Keep some snapshots, six a day."""
    for number in range(count):
        answer = {
            "ETH.0xA": [token(raw=TOP - number), token("ODD", "007", None, contract="0xO")],
            "NEAR.alice.near": [token(raw=number)] * (number % 2) if number != 7 else "failed",
            "ETH.0xB": "failed" if number != 7 else [token("\u202e<b>", number, 77)],
        }
        at = START + timedelta(days=number // 6, hours=4 * (number % 6))
        history.save(fetched(answer), folder=folder, at=at)
    return folder


def assert_same(found, wanted):
    """Compare both frames of two histories, or of parts of them."""
    for one, other in zip(found, wanted, strict=True):
        assert_frame_equal(one.reset_index(drop=True), other.reset_index(drop=True))


def of_times(details, times):
    """Return the rows of some snapshots."""
    return tuple(frame[frame["snapshot"].isin(times)] for frame in details)


def test_the_last_of_a_day_stays_and_what_alone_knows_a_wallet(folder):
    """What the calls give of it is what they gave; what is left out is told."""
    before = history.load(folder=folder)
    gone = history.compact(older_than="1d", folder=folder)["snapshot"]
    assert str(gone.dtype) == "datetime64[us, UTC]"
    listed = history.snapshots(folder=folder)["snapshot"]
    days = [(each - START) / timedelta(hours=4) for each in listed]
    assert days == [5, 7, 6 + 5, 12 + 5]  # of the second day also what knew 0xB
    assert sorted([*gone, *listed]) == sorted(before.wallets["snapshot"].unique())
    assert_same(history.load(folder=folder), of_times(before, listed))
    assert_same(history.snapshot("2026-01-31", folder=folder), of_times(before, [listed[2]]))
    assert len(history.compact(older_than="1d", folder=folder)) == 0


def test_all_can_stay_and_are_read_from_a_file_for_each_day(folder):
    """Nothing is left out; every call gives the same as before."""
    before, listed = history.load(folder=folder), history.snapshots(folder=folder)
    lines = history.timeline(before)
    one = history.load(wallets="NEAR.alice.near", since="2026-01-31", folder=folder)
    assert history.compact(keep="all", folder=folder).empty
    assert len([*folder.glob("date=*/*")]) == 3
    assert_same(history.load(folder=folder), before)
    assert_same([history.snapshots(folder=folder)], [listed])
    assert_same([history.timeline(history.load(folder=folder))], [lines])
    found = history.load(wallets="NEAR.alice.near", since="2026-01-31", folder=folder)
    assert_same(found, one)
    middle = listed["snapshot"][8]
    assert_same(history.snapshot(middle, folder=folder), of_times(before, [middle]))


@pytest.mark.parametrize("keep,kept", [("hourly", 18), ("daily", 4), ("weekly", 2), ("monthly", 2)])
def test_a_period_is_an_hour_a_day_a_week_or_a_month(folder, keep, kept):
    """From Friday to Sunday is one week, and two months, of which 0xB was known in one."""
    history.compact(keep=keep, older_than="0d", folder=folder)
    listed = history.snapshots(folder=folder)["snapshot"]
    assert len(listed) == kept + (keep == "monthly")
    assert len([*folder.glob("date=*")]) == len({each.date() for each in listed})


def test_younger_snapshots_stay_and_today_is_not_packed(tmp_path):
    """Of the day that is half past nothing is left out, nor of those after it."""
    let_midnight_pass(20)
    now = datetime.now(UTC)
    times = [now - timedelta(days=days, minutes=minutes) for days in (40, 2) for minutes in (0, 1)]
    times += [now, now - timedelta(microseconds=1)]
    for at in times:
        history.save(fetched({"ETH.0xA": []}), folder=tmp_path, at=at)
    gone = history.compact(folder=tmp_path)["snapshot"].tolist()
    assert gone == ([times[1]] if times[0].date() == times[1].date() else [])
    assert len({each.path for each in snapshot_folders(tmp_path) if each.moment >= times[-1]}) == 2
    assert history.compact(keep="hourly", older_than=timedelta(), folder=tmp_path).shape[1] == 1


def test_today_can_lose_the_hours_that_are_over(tmp_path):
    """They go one by one; the hour that goes on stays whole."""
    now = datetime.now(UTC)
    hour = now.replace(minute=0, second=0, microsecond=0)
    times = [now, *(hour - timedelta(minutes=minutes) for minutes in (1, 2))]
    for at in times:
        history.save(fetched({"ETH.0xA": []}), folder=tmp_path, at=at)
    gone = history.compact(keep="hourly", older_than="0h", folder=tmp_path)["snapshot"].tolist()
    assert gone == [times[2]]
    assert history.snapshots(folder=tmp_path)["snapshot"].tolist() == [times[1], times[0]]


@settings(max_examples=12, deadline=None)
@given(st.lists(answers(), min_size=1, max_size=5))
def test_nothing_known_of_a_day_is_lost(told):
    """Whatever was answered: each wallet that was asked or known stays so, exactly."""
    with TemporaryDirectory() as folder:
        for hour, answer in enumerate(told):
            history.save(fetched(answer), folder=folder, at=START + timedelta(hours=hour))
        before = history.load(folder=folder)
        history.compact(folder=folder)
        after = history.load(folder=folder)
        assert_same(after, of_times(before, history.snapshots(folder=folder)["snapshot"]))
    for rows in (lambda wallets: wallets, lambda wallets: wallets[known_when_asked(wallets)]):
        names = [
            {(row.blockchain, row.address.lower()) for row in rows(each.wallets).itertuples()}
            for each in (before, after)
        ]
        assert names[0] == names[1]


def test_packs_are_written_in_ranges_of_wallets(tmp_path, monkeypatch):
    """However many rows there are, few are sorted at once; one wallet is found among them."""
    monkeypatch.setattr(compaction, "_ROWS", 3000)
    for hour in range(3):
        told = [token(contract=f"0x{each}", raw=hour) for each in range(20)]
        answer = {f"ETH.0x{number:04x}": told for number in range(300)}
        history.save(fetched(answer), folder=tmp_path, at=START + timedelta(hours=hour))
    before = history.load(folder=tmp_path)
    history.compact(keep="all", folder=tmp_path)
    assert_same(history.load(folder=tmp_path), before)
    for number in (0, 150, 299):
        found = history.load(wallets=f"ETH.0x{number:04x}", folder=tmp_path)
        assert (len(found.wallets), len(found.holdings)) == (3, 60)


def test_packs_are_thinned_and_packed_again(folder):
    """A pack that loses snapshots, or gets some more, becomes another one."""
    before = history.load(folder=folder)
    history.compact(keep="all", folder=folder)
    with pytest.raises(SnapshotError, match="already"):
        history.save(fetched({}), folder=folder, at=START)
    later = START + timedelta(hours=23)
    history.save(fetched({"ETH.0xA": []}), folder=folder, at=later)
    history.compact(keep="all", folder=folder)
    assert len([*folder.glob("date=*/*")]) == 3
    assert len(history.snapshots(folder=folder)) == 19
    history.compact(folder=folder)
    listed = history.snapshots(folder=folder)["snapshot"]
    assert later not in listed.tolist()  # of the same day, others know more
    assert_same(history.load(folder=folder), of_times(before, listed))


def test_own_columns_stay_as_they_were_saved(tmp_path):
    """Of each snapshot its own, of their types: what differs is not put into one file."""
    labels = [{"owner": "Ada"}, {"owner": "Bo"}, {"owner": 7, "cold": True}, {}]
    for number, own in enumerate(labels):
        wallets, holdings = fetched({"ETH.0xA": [token(raw=number)], "ETH.0xB": "failed"})
        at = START + timedelta(hours=number)
        history.save((wallets.assign(**own), holdings), folder=tmp_path, at=at)
    times = history.snapshots(folder=tmp_path)["snapshot"]
    before = [history.snapshot(time, folder=tmp_path) for time in times]
    assert history.compact(keep="all", folder=tmp_path).empty
    assert len([*tmp_path.glob("date=*/packed-*")]) == 1
    assert len([*tmp_path.glob("date=*/*")]) == 3
    for time, saved in zip(times, before, strict=True):
        assert_same(history.snapshot(time, folder=tmp_path), saved)
    assert history.load(folder=tmp_path).wallets["owner"].dropna().tolist() == [
        *["Ada"] * 2,
        *["Bo"] * 2,
        *["7"] * 2,
    ]
    there = {*tmp_path.glob("date=*/*")}
    history.compact(keep="all", folder=tmp_path)
    assert {*tmp_path.glob("date=*/*")} == there


def test_an_earlier_format_is_packed_and_read(tmp_path):
    """A history as it was first written, beside a newer snapshot of the same day."""
    shutil.copytree(FIXTURE, tmp_path / "kept")
    before = history.load(folder=tmp_path / "kept")
    at = before.wallets["snapshot"][0] + timedelta(hours=1)
    history.save(before._replace(), folder=tmp_path / "kept", at=at)
    history.compact(keep="all", folder=tmp_path / "kept")
    assert len([*tmp_path.glob("kept/date=*/*")]) == 1
    found = history.load(until=before.wallets["snapshot"][0], folder=tmp_path / "kept")
    assert_same(found, before)


def test_other_programs_read_packs(folder):
    """DuckDB finds each row once, with its day."""
    wanted = history.load(folder=folder).holdings
    history.compact(keep="all", folder=folder)
    rows = duckdb.sql(
        f"SELECT date::VARCHAR, count(*) FROM '{folder}/**/holdings.parquet' GROUP BY 1 ORDER BY 1"
    ).fetchall()
    days = wanted["snapshot"].dt.strftime("%Y-%m-%d").value_counts().sort_index()
    assert rows == list(days.items())


def test_who_reads_meanwhile_reads_what_is_there(folder):
    """Snapshots that were replaced after they were found are looked for anew."""
    before, first = history.load(folder=folder), []

    def asked():
        found = snapshot_folders(folder)
        if not first:
            first.append(history.compact(keep="all", folder=folder))
        return found

    assert_same(dataset._read(asked, lambda found: read(found, None)), before)


DYING = """
import os, shutil, sys
from pathlib import Path
from walletframe import history

def dies(folder, step):
    left = step
    real = os.fsync

    def count(event, arguments=None):
        nonlocal left
        if event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "fsync"):
            left -= 1
            if not left:
                os._exit(9)

    def fsync(handle):
        count("fsync")
        real(handle)

    os.fsync = fsync
    sys.addaudithook(count)
    history.compact(folder=folder)
    os._exit(0)

source, copies = map(Path, sys.argv[1:])
step, code = 0, 9
while code == 9:
    step += 1
    shutil.copytree(source, copies / str(step))
    child = os.fork()
    if not child:
        dies(copies / str(step), step)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(code)
"""


@pytest.mark.system
def test_a_crash_loses_nothing_that_stays(tmp_path, tmp_path_factory):
    """Wherever a process dies: what stays is read exactly, and the next compaction goes on."""
    folder, copies = filled(tmp_path, 9), tmp_path_factory.mktemp("copies")
    before = history.load(folder=folder)
    subprocess.run([sys.executable, "-c", DYING, str(folder), str(copies)], check=True, timeout=300)
    history.compact(folder=folder)
    wanted = history.load(folder=folder)
    stays = wanted.wallets["snapshot"].unique()
    steps = sorted(copies.iterdir(), key=lambda path: int(path.name))
    assert len(steps) > 30
    for copy in steps:
        found = history.load(folder=copy)
        assert_same(of_times(found, stays), wanted)
        assert_same(found, of_times(before, found.wallets["snapshot"].unique()))
        history.compact(folder=copy)
        assert_same(history.load(folder=copy), wanted)
        assert len([*copy.glob("date=*/*")]) == 2


@pytest.mark.parametrize(
    "given,error,text",
    [
        ({"keep": "yearly"}, ArgumentError, "no period"),
        ({"older_than": "soon"}, SnapshotError, "no length of time"),
        ({"older_than": "-1d"}, SnapshotError, "no length of time"),
        ({"older_than": "NaT"}, SnapshotError, "no length of time"),
        ({"older_than": 7}, SnapshotError, "no length of time"),
    ],
)
def test_what_can_not_be_meant_is_told(folder, given, error, text):
    """And nothing is touched."""
    with pytest.raises(error, match=text):
        history.compact(**given, folder=folder)
    assert len([*folder.glob("date=*/*")]) == 18


def test_without_snapshots_there_is_nothing_to_compact(tmp_path):
    """That is told, as everywhere."""
    with pytest.raises(UnknownSnapshotError):
        history.compact(folder=tmp_path)


def test_a_broken_snapshot_is_named_and_its_day_stays(folder):
    """Nothing of the day is removed, nor of any where it can't be told what is known."""
    next(folder.glob("date=2026-02-01/*/holdings.parquet")).write_text("")
    with pytest.raises(HistoryError, match=r"date=2026-02-01.*holdings\.parquet"):
        history.compact(keep="all", folder=folder)
    assert len([*folder.glob("date=2026-02-01/*")]) == 6
    assert not [*folder.glob(".saving-*")]


def test_a_pack_that_goes_meanwhile_has_nothing(folder):
    """Another compaction replaced it after it was found."""
    history.compact(keep="all", folder=folder)
    found = stored(folder)
    first, moments = next(found)
    assert len(moments) == 6
    for pack in folder.glob("date=*/*"):
        if pack != first:
            shutil.rmtree(pack)
    assert [moments for _, moments in found] == [[], []]


def test_a_broken_list_is_named_and_keeps_none_from_being_saved(folder):
    """It would hide its snapshots otherwise."""
    history.compact(keep="all", folder=folder)
    [broken] = folder.glob("date=2026-02-01/*/snapshots.txt")
    broken.write_text("soon")
    with pytest.raises(HistoryError, match=r"snapshots\.txt can't be read"):
        history.load(folder=folder)
    later = START + timedelta(days=2, hours=1)
    assert history.save(fetched({}), folder=folder, at=later) == later
