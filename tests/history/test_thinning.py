"""Thinning keeps snapshots unchanged, and loses no knowledge of a period."""

import os
import shutil
import subprocess
import sys
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from addresses import UPPER_A, A, B
from canned_service import answer, balance, wallet
from fetches import fetched, token
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st
from moments import wait_past_midnight
from pandas.testing import assert_frame_equal
from plain_holdings import answers

from walletframe import history
from walletframe.errors import (
    AnswerWarning,
    ArgumentError,
    HistoryError,
    SnapshotError,
    UnknownSnapshotError,
)
from walletframe.frames.known import known_and_fresh_mask
from walletframe.history import dataset
from walletframe.history.folder import read_snapshots

TOP = 2**256 - 1
START = datetime(2026, 1, 30, 0, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def three_days(tmp_path_factory):
    """Save three days of six snapshots each; the last wallet is known in only one."""
    return filled(tmp_path_factory.mktemp("days"), 18)


@pytest.fixture
def folder(three_days, tmp_path):
    """Return a copy of the three days."""
    return Path(shutil.copytree(three_days, tmp_path, dirs_exist_ok=True))


def filled(folder, count):
    """Save some snapshots, six a day."""
    for number in range(count):
        answer = {
            f"ETH.{UPPER_A}": [token(raw=TOP - number), token("ODD", "007", None, contract="0xO")],
            "NEAR.alice.near": [token(raw=number)] * (number % 2) if number != 7 else "failed",
            f"ETH.{B}": "failed" if number != 7 else [token("\u202e<b>", number, 77)],
        }
        at = START + timedelta(days=number // 6, hours=4 * (number % 6))
        history.save(fetched(answer), folder=folder, at=at)
    return folder


def assert_same(result, wanted):
    """Check that both frames of two histories, or of parts of them, are equal."""
    for one, other in zip(result, wanted, strict=True):
        assert_frame_equal(one.reset_index(drop=True), other.reset_index(drop=True))


def of_times(details, times):
    """Return the rows of some snapshots."""
    return tuple(frame[frame["snapshot"].isin(times)] for frame in details)


def test_the_last_of_a_day_stays_and_the_only_knowledge_of_a_wallet(folder):
    """Kept snapshots are read unchanged; removed snapshots are returned."""
    before = history.load(folder=folder)
    gone = history.thin(older_than="1d", folder=folder)["snapshot"]
    assert str(gone.dtype) == "datetime64[us, UTC]"
    listed = history.snapshots(folder=folder)["snapshot"]
    days = [(each - START) / timedelta(hours=4) for each in listed]
    assert days == [5, 7, 6 + 5, 12 + 5]  # of the second day also the snapshot with 0xB
    assert sorted([*gone, *listed]) == sorted(before.wallets["snapshot"].unique())
    assert_same(history.load(folder=folder), of_times(before, listed))
    assert_same(history.snapshot("2026-01-31", folder=folder), of_times(before, [listed[2]]))
    assert len(history.thin(older_than="1d", folder=folder)) == 0


@pytest.mark.parametrize("keep,kept", [("hourly", 18), ("daily", 4), ("weekly", 2), ("monthly", 2)])
def test_a_period_is_an_hour_a_day_a_week_or_a_month(folder, keep, kept):
    """Friday to Sunday is one week and two months; one snapshot knows 0xB."""
    history.thin(keep=keep, older_than="0d", folder=folder)
    listed = history.snapshots(folder=folder)["snapshot"]
    assert len(listed) == kept + (keep == "monthly")
    assert len([*folder.glob("date=*")]) == len({each.date() for each in listed})


def test_younger_snapshots_stay(tmp_path):
    """A day that is only partly old enough keeps all snapshots, and so do later days."""
    wait_past_midnight(20)
    now = datetime.now(UTC)
    times = [now - timedelta(days=days, minutes=minutes) for days in (40, 2) for minutes in (0, 1)]
    times += [now, now - timedelta(microseconds=1)]
    for at in times:
        history.save(fetched({f"ETH.{UPPER_A}": []}), folder=tmp_path, at=at)
    gone = history.thin(folder=tmp_path)["snapshot"].tolist()
    assert gone == ([times[1]] if times[0].date() == times[1].date() else [])
    assert history.thin(keep="hourly", older_than=timedelta(), folder=tmp_path).shape[1] == 1


@pytest.mark.parametrize(
    "keep,middle",
    [
        ("hourly", datetime(2026, 2, 11, 12, 30, tzinfo=UTC)),
        ("daily", datetime(2026, 2, 11, 12, tzinfo=UTC)),
        ("weekly", datetime(2026, 2, 12, tzinfo=UTC)),  # a Thursday
        ("monthly", datetime(2026, 2, 15, tzinfo=UTC)),
    ],
)
def test_a_period_that_is_partly_young_stays_whole(tmp_path, keep, middle):
    """A period stays complete until all of it is old; then one snapshot is left."""
    part = {"hourly": 1, "daily": 30, "weekly": 120, "monthly": 600}[keep] * timedelta(minutes=10)
    times = [middle - 2 * part, middle - part, middle + part]
    for at in times:
        history.save(fetched({f"ETH.{UPPER_A}": [token()]}), folder=tmp_path, at=at)
    age = datetime.now(UTC) - middle
    assert history.thin(keep=keep, older_than=age, folder=tmp_path).empty
    assert history.snapshots(folder=tmp_path)["snapshot"].tolist() == times
    gone = history.thin(keep=keep, older_than=age - 10 * part, folder=tmp_path)
    assert gone["snapshot"].tolist() == times[:2]


def test_today_loses_only_past_hours(tmp_path):
    """Snapshots of past hours are removed; the current hour stays complete."""
    now = datetime.now(UTC)
    hour = now.replace(minute=0, second=0, microsecond=0)
    times = [now, *(hour - timedelta(minutes=minutes) for minutes in (1, 2))]
    for at in times:
        history.save(fetched({f"ETH.{UPPER_A}": []}), folder=tmp_path, at=at)
    gone = history.thin(keep="hourly", older_than="0h", folder=tmp_path)["snapshot"].tolist()
    assert gone == [times[2]]
    assert history.snapshots(folder=tmp_path)["snapshot"].tolist() == [times[1], times[0]]


@settings(max_examples=12, deadline=None)
@given(st.lists(answers(), min_size=1, max_size=5))
def test_no_knowledge_of_a_day_is_lost(answers):
    """Each requested or known wallet stays requested or known, with any answers."""
    with TemporaryDirectory() as folder:
        for hour, answer in enumerate(answers):
            history.save(fetched(answer), folder=folder, at=START + timedelta(hours=hour))
        before = history.load(folder=folder)
        history.thin(folder=folder)
        after = history.load(folder=folder)
        assert_same(after, of_times(before, history.snapshots(folder=folder)["snapshot"]))
    for rows in (lambda wallets: wallets, lambda wallets: wallets[known_and_fresh_mask(wallets)]):
        names = [
            {(row.blockchain, row.address.lower()) for row in rows(each.wallets).itertuples()}
            for each in (before, after)
        ]
        assert names[0] == names[1]


def test_readable_answers_of_a_day_are_not_lost(canned, tmp_path):
    """A later answer with an unreadable balance does not replace a complete one."""
    whole, odd = ([balance(each)] for each in ("5", "oops"))
    canned.replies.extend((200, {}, answer(wallet(balances=each))) for each in (whole, whole, odd))
    with canned.client(cache=False) as client:
        for hour in (7, 8, 9):
            with pytest.warns(AnswerWarning) if hour == 9 else nullcontext():
                details = client.fetch(f"ETH.{A}")
            history.save(details, folder=tmp_path, at=START.replace(hour=hour))
    history.thin(folder=tmp_path)
    assert [each.hour for each in history.snapshots(folder=tmp_path)["snapshot"]] == [8]


def test_concurrent_readers_read_existing_snapshots(folder):
    """If listed snapshots were removed, readers list the snapshots again."""
    before, first = history.load(folder=folder), []

    def asked(listed):
        if not first:
            first.append(history.thin(folder=folder))
        return listed

    result = dataset._select_and_read(folder, asked, lambda result: read_snapshots(result, None))
    assert_same(result, of_times(before, history.snapshots(folder=folder)["snapshot"]))


@pytest.fixture
def before_locking(monkeypatch):
    """Return a function that sets an action between finding and removing snapshots."""
    real = FileLock.acquire

    def do(act):
        def acquire(lock, *args, **options):
            monkeypatch.setattr(FileLock, "acquire", real)
            act()
            return real(lock, *args, **options)

        monkeypatch.setattr(FileLock, "acquire", acquire)

    return do


def test_a_replaced_snapshot_stays(folder, before_locking):
    """The new snapshot of the same time has other content: only it knows a wallet."""

    def replaced():
        shutil.rmtree(next(folder.glob("date=2026-01-30/20260130T0030*")))
        history.save(fetched({"ETH.0xNew": [token()]}), folder=folder, at=START)

    before_locking(replaced)
    assert START not in history.thin(folder=folder)["snapshot"].tolist()
    kept = history.load(until=START, folder=folder)
    assert kept.wallets["address"].tolist() == ["0xNew"]
    assert len(kept.holdings) == 1


def test_a_snapshot_whose_replacement_is_gone_stays(folder, before_locking):
    """If the day's last snapshot is gone by now, another snapshot is kept."""
    before_locking(lambda: shutil.rmtree(next(folder.glob("date=2026-01-30/20260130T2030*"))))
    gone = history.thin(folder=folder)["snapshot"]
    assert len(gone) == 13
    assert START + timedelta(hours=16) not in gone.tolist()


def test_an_unreadable_snapshot_replaces_none(folder, before_locking):
    """All snapshots of the day stay, and the error names the unreadable one."""
    last = next(folder.glob("date=2026-01-30/20260130T2030*"))
    before_locking((last / "holdings.parquet").unlink)
    with pytest.raises(HistoryError, match=r"20260130T203000.*holdings\.parquet"):
        history.thin(folder=folder)
    assert len([*folder.glob("date=2026-01-30/*")]) == 6


def test_a_concurrently_saved_snapshot_stays(folder, before_locking):
    """A snapshot that was saved in the meantime stays, even if it is redundant."""
    at = START + timedelta(minutes=1)
    before_locking(lambda: history.save(fetched({f"ETH.{UPPER_A}": []}), folder=folder, at=at))
    assert len(history.thin(folder=folder))
    assert at in history.snapshots(folder=folder)["snapshot"].tolist()


def test_a_thinner_beside_another_does_nothing(folder, before_locking):
    """Snapshots that another thinner removed are not in the result, and cause no error."""
    others = []
    before_locking(lambda: others.extend(history.thin(folder=folder)["snapshot"]))
    assert history.thin(folder=folder).empty
    assert len(others) == 14


def test_remains_are_removed_and_nothing_else(folder, tmp_path_factory, monkeypatch):
    """Leftovers of a call that was killed a day ago are removed, if the user owns them."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "wallets.parquet").write_text("mine")
    own, notes, odd = (folder / f".saving-{name}" for name in ("0" * 16, "a" * 16, "notes"))
    removed, young = (folder / f".{kind}-{'d' * 16}" for kind in ("removed", "saving"))
    for path in (own, notes, odd, removed, young):
        path.mkdir()
        for name in ("wallets.parquet.part", "holdings.parquet"):
            (path / name).write_text("half")
    (notes / "mine.txt").write_text("mine")
    (notes / "wallets.parquet").symlink_to(elsewhere / "wallets.parquet")
    link, file = folder / f".saving-{'b' * 16}", folder / f".saving-{'c' * 16}"
    link.symlink_to(elsewhere)
    file.write_text("mine")
    for path in (own, notes, odd, file):
        os.utime(path, (0, 0))
    os.utime(link, (0, 0), follow_symlinks=False)
    with monkeypatch.context() as patched:
        patched.setattr(os, "getuid", lambda: os.geteuid() + 1)
        history.save(fetched({}), folder=folder)
        assert len([*own.iterdir()]) == 2
    history.save(fetched({}), folder=folder)
    assert not own.exists()
    assert not removed.exists()
    assert len([*young.iterdir()]) == 2
    assert {path.name for path in notes.iterdir()} == {"mine.txt", "wallets.parquet"}
    assert len([*odd.iterdir()]) == 2
    assert [path.name for path in elsewhere.iterdir()] == ["wallets.parquet"]
    assert file.read_text() == "mine"


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
    history.thin(folder=folder)
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
def test_a_crash_loses_no_kept_snapshot(tmp_path, tmp_path_factory):
    """After a crash at any step, kept snapshots are readable; the next call resumes."""
    folder, copies = filled(tmp_path, 9), tmp_path_factory.mktemp("copies")
    before = history.load(folder=folder)
    subprocess.run([sys.executable, "-c", DYING, str(folder), str(copies)], check=True, timeout=300)
    history.thin(folder=folder)
    wanted = history.load(folder=folder)
    stays = wanted.wallets["snapshot"].unique()
    steps = sorted(copies.iterdir(), key=lambda path: int(path.name))
    assert len(steps) > 25
    for copy in steps:
        result = history.load(folder=copy)
        assert_same(of_times(result, stays), wanted)
        assert_same(result, of_times(before, result.wallets["snapshot"].unique()))
        history.thin(folder=copy)
        assert_same(history.load(folder=copy), wanted)
        assert [*copy.glob(".removed-*")] == []


@pytest.mark.parametrize(
    "argument,error,text",
    [
        ({"keep": "yearly"}, ArgumentError, "'yearly' is not supported"),
        ({"older_than": "soon"}, SnapshotError, "is not a duration"),
        ({"older_than": "-1d"}, SnapshotError, "is not a duration"),
        ({"older_than": "NaT"}, SnapshotError, "is not a duration"),
        ({"older_than": 7}, SnapshotError, "is not a duration"),
    ],
)
def test_other_arguments_are_refused(folder, argument, error, text):
    """Unsupported arguments leave the history unchanged."""
    with pytest.raises(error, match=text):
        history.thin(**argument, folder=folder)
    assert len([*folder.glob("date=*/*")]) == 18


def test_without_snapshots_thinning_is_refused(tmp_path):
    """The error is the same as of other functions."""
    with pytest.raises(UnknownSnapshotError):
        history.thin(folder=tmp_path)


def test_a_broken_snapshot_is_named_and_its_day_stays(folder):
    """No snapshot of the day is removed."""
    next(folder.glob("date=2026-02-01/*/holdings.parquet")).write_text("")
    with pytest.raises(HistoryError, match=r"date=2026-02-01.*holdings\.parquet"):
        history.thin(folder=folder)
    assert len([*folder.glob("date=2026-02-01/*")]) == 6
    assert not [*folder.glob(".saving-*")]
