"""Snapshots on disk are read back unchanged, and leave no other files."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from addresses import UPPER_A, A, B, base58
from fetches import FETCHED_AT, SERVICE, fetched, token
from moments import wait_past_midnight
from pandas.testing import assert_frame_equal
from small_disk import mounted

from walletframe import history
from walletframe.errors import (
    AddressError,
    AmountError,
    ColumnsError,
    HistoryError,
    InputWarning,
    SnapshotError,
    UnknownSnapshotError,
)
from walletframe.frames.schema import WALLET_DTYPES
from walletframe.pandas_versions import TEXT

TOP = 2**256 - 1
DAY = datetime(2026, 1, 31, 6, tzinfo=UTC)
SUPPORT = Path(__file__).parents[1] / "support"
DETAILS = fetched(
    {
        f"SOLANA.{base58('9xQe')}": [
            token("SOL", 5, 9, contract=None, blockchain="SOLANA"),
            token("=cmd\u202e<b>", TOP, 18, contract="mint", blockchain="SOLANA"),
        ],
        f"ETH.{B}": "failed",
        f"ETH.{UPPER_A}": [
            token(),
            token("FINE", 1, 77, contract="0xF"),
            token("ODD", "007", None),
        ],
        f"BSC.{UPPER_A}": None,
        "NEAR.alice.near": [],
    }
)


@pytest.fixture
def folder(tmp_path):
    """Return the path of a folder that does not exist yet."""
    return tmp_path / "deep" / "history"


def three_days(folder, *answers):
    """Save a snapshot a day, with one wallet or the given answers."""
    for day, answer in enumerate(
        answers or [{f"ETH.{UPPER_A}": [token(raw=raw)]} for raw in (1, 2, 3)]
    ):
        history.save(fetched(answer), folder=folder, at=DAY + timedelta(days=day))


def test_saved_frames_are_read_back_exactly(folder):
    """Both frames are read back with all digits, the same order, and the contract's dtypes."""
    moment = history.save(DETAILS, folder=folder, at=DAY)
    back = history.snapshot(folder=folder)
    for name in ("wallets", "holdings"):
        frame = getattr(back, name)
        assert frame.columns[0] == "snapshot"
        assert (frame["snapshot"] == moment).all()
        assert_frame_equal(frame.drop(columns="snapshot"), getattr(DETAILS, name))
    assert str(back.holdings["amount"][1]) == str(DETAILS.holdings["amount"][1])


def test_an_empty_fetch_is_kept(folder):
    """A fetch without wallets is also a snapshot with all columns."""
    history.save(fetched({}), folder=folder, at=DAY)
    back = history.load(folder=folder)
    assert_frame_equal(back.wallets.drop(columns="snapshot"), fetched({}).wallets)
    assert history.snapshots(folder=folder)["wallets"].tolist() == [0]


def test_the_default_folder_is_the_users(tmp_path):
    """Without a folder, snapshots are saved in and loaded from the user's data folder."""
    history.save(DETAILS)
    assert len(history.load().wallets) == 5
    assert (tmp_path / "data" / "walletframe" / "history").stat().st_mode & 0o777 == 0o700


@pytest.fixture
def in_tokyo(monkeypatch):
    """Set the machine's time zone to nine hours ahead of UTC."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_the_time_is_that_of_the_newest_answer(folder):
    """Cached answers keep their time; a fetch without answers has the current time."""
    assert history.save(DETAILS, folder=folder) == FETCHED_AT
    wallets = DETAILS.wallets.assign(
        fetched_at=[FETCHED_AT - timedelta(hours=hour) for hour in (3, 5, 2, 4, 6)]
    )
    earlier = DETAILS._replace(wallets=wallets)
    assert history.save(earlier, folder=folder) == FETCHED_AT - timedelta(hours=2)
    for unanswered in (fetched({f"ETH.{UPPER_A}": [token()]}, source="stale"), fetched({})):
        before = datetime.now(UTC)
        assert before <= history.save(unanswered, folder=folder) <= datetime.now(UTC)


def test_old_cached_answers_get_a_new_day_only_on_request(folder):
    """Old and new answers together are refused, unless `at` is passed."""
    wallets = DETAILS.wallets.assign(source="cache").astype({"source": WALLET_DTYPES["source"]})
    wallets.loc[0, "fetched_at"] -= timedelta(hours=6)
    mixed = DETAILS._replace(wallets=wallets)
    with pytest.raises(SnapshotError, match=r"1 of 5 wallets .* oldest .* 2026-01-30 23:59 UTC"):
        history.save(mixed, folder=folder)
    assert not folder.exists()
    assert history.save(mixed, folder=folder, at=DAY) == DAY
    requested = mixed._replace(wallets=wallets.assign(source="service"))
    assert history.save(requested, folder=folder) == FETCHED_AT  # a fetch that ended after midnight


@pytest.mark.usefixtures("in_tokyo")
def test_a_time_without_a_zone_is_local_and_reported(folder):
    """A time without a zone is local in each argument; other times keep their zone."""
    east = pd.Timestamp("2026-01-31 08:00", tz="Europe/Berlin")
    assert str(history.save(DETAILS, folder=folder, at=east)) == "2026-01-31 07:00:00+00:00"
    naive = datetime(2026, 1, 31, 8)  # noqa: DTZ001 - the test is about it
    for when in (naive, pd.Timestamp(naive) + timedelta(hours=1), "2026-01-31T10:00"):
        with pytest.warns(InputWarning, match=r"no time zone.*\(JST\), as 2026-01-3\d \d\d:00"):
            saved = history.save(DETAILS, folder=folder, at=when)
        result = history.snapshot(when, folder=folder).wallets["snapshot"]
        assert result.unique().tolist() == [saved]
    assert str(saved) == "2026-01-31 01:00:00+00:00"
    shown = history.snapshot("2026-01-31 01:00:00 UTC", folder=folder)
    assert shown.wallets["snapshot"].unique().tolist() == [saved]
    assert len(history.load(since="2026-01-31T09:00", folder=folder).wallets) == 15


@pytest.mark.parametrize("at", ["2026-01-31", date(2026, 1, 31), "yesterday", pd.NaT, 7])
def test_a_snapshot_is_of_a_moment(folder, at):
    """A day or other text is refused, and nothing is written."""
    with pytest.raises(SnapshotError, match=r"is a day|is not a time"):
        history.save(DETAILS, folder=folder, at=at)
    assert not folder.exists()


def test_the_same_answers_are_saved_once(folder):
    """The same answers from the cache are not saved again; a used time is refused."""
    moment = history.save(DETAILS, folder=folder)
    again = DETAILS.wallets.assign(source="cache").astype({"source": WALLET_DTYPES["source"]})
    with pytest.warns(InputWarning, match="already saved as the snapshot of 2026-01-31 05:59:00"):
        assert history.save(DETAILS._replace(wallets=again), folder=folder) == moment
    assert history.snapshots(folder=folder)["snapshot"].tolist() == [moment]
    with pytest.raises(SnapshotError, match="already"):
        history.save(DETAILS, folder=folder, at=moment)


@pytest.mark.parametrize("labels", [[1, 2], [True, False], ["Ada", "Bo"], [None, None]])
def test_the_same_answers_are_saved_once_with_own_columns(folder, labels):
    """Extra columns of any type are compared; other labels make another snapshot."""
    wallets, holdings = fetched({f"ETH.{UPPER_A}": [token()], f"ETH.{B}": []})
    labelled = wallets.assign(owner=labels)
    history.save((labelled, holdings), folder=folder)
    with pytest.warns(InputWarning, match="already saved as"):
        history.save((labelled, holdings), folder=folder)
    history.save((wallets.assign(owner=["x", "y"]), holdings), folder=folder)
    assert len(history.snapshots(folder=folder)) == 2


def test_two_snapshots_of_one_microsecond_are_both_kept(folder):
    """The later snapshot gets the next microsecond, even if the earlier one is unreadable."""
    answers = [fetched({f"ETH.0x{number:0>40}": []}) for number in range(3)]
    moments = [history.save(details, folder=folder) for details in answers]
    assert moments == [FETCHED_AT + timedelta(microseconds=extra) for extra in range(3)]
    assert len(history.load(folder=folder).wallets) == 3
    for path in folder.rglob("*.parquet"):
        path.write_text("")
    assert history.save(DETAILS, folder=folder) == FETCHED_AT + timedelta(microseconds=3)


def test_snapshots_are_listed(folder):
    """The oldest snapshot comes first, with its counts and whether it is simulated."""
    three_days(folder, {f"ETH.{UPPER_A}": [token()], f"ETH.{B}": "timeout"}, {}, {f"ETH.{B}": None})
    listed = history.snapshots(folder=folder)
    assert listed.dtypes.astype(str).tolist() == [
        "datetime64[us, UTC]",
        "int64",
        "int64",
        "int64",
        "bool",
    ]
    rows = listed.drop(columns="snapshot").to_numpy().tolist()
    assert rows == [[2, 1, 1, False], [0, 0, 0, False], [1, 0, 0, False]]


@pytest.mark.parametrize(
    "since,until,days",
    [
        (None, None, [0, 1, 2]),
        ("2026-02-01", None, [1, 2]),
        (None, "2026-02-01", [0, 1]),
        (date(2026, 2, 1), date(2026, 2, 1), [1]),
        (DAY + timedelta(seconds=1), "2026-02-02T05:59Z", [1]),
        (DAY, DAY, [0]),
        (pd.Timestamp("2026-02-02 07:00", tz="Europe/Berlin"), None, [2]),
        ("2026-03-01", None, []),
        ("yesterday", "today", []),
    ],
)
def test_times_are_inclusive(folder, since, until, days):
    """A day includes the whole day in UTC; a point in time includes itself."""
    three_days(folder)
    result = history.load(since=since, until=until, folder=folder)
    assert result.wallets["snapshot"].tolist() == [DAY + timedelta(days=day) for day in days]
    assert len(result.holdings) == len(days)
    assert str(result.holdings["amount"].dtype) == "amount"


@pytest.mark.parametrize("when", ["soon", "2026-13-01", 5, None, pd.NaT, ""])
def test_other_texts_are_no_times(folder, when):
    """Texts that are not times are refused, not guessed."""
    three_days(folder)
    with pytest.raises(SnapshotError, match="is not a time"):
        history.snapshot(when, folder=folder)


def test_one_snapshot_is_the_last_one_up_to_a_time(folder):
    """Returned is the latest snapshot at or before a time; the frames have its own time."""
    three_days(folder)
    result = {
        when: history.snapshot(when, folder=folder).holdings["snapshot"].item() - DAY
        for when in ("latest", "2026-02-01", "2026-02-02T05:00Z", "2026-07-01", "yesterday")
    }
    assert [age.days for age in result.values()] == [2, 1, 1, 2, 2]
    with pytest.raises(UnknownSnapshotError, match="2026-01-30 or earlier"):
        history.snapshot("2026-01-30", folder=folder)


def test_today_and_yesterday_are_days_of_utc(folder):
    """A new snapshot is today's; a snapshot from a day before is yesterday's."""
    wait_past_midnight(20)
    for age, wallet in enumerate([f"ETH.{UPPER_A}", f"ETH.{B}"]):
        at = datetime.now(UTC) - timedelta(days=age)
        history.save(fetched({wallet: []}), folder=folder, at=at)
    addresses = [
        history.snapshot(when, folder=folder).wallets["address"].item()
        for when in ("today", "yesterday")
    ]
    assert addresses == [UPPER_A, B]


def test_a_folder_without_snapshots_is_refused(folder):
    """A missing folder, or a folder with other files, is not an empty history."""
    for call in (history.load, history.snapshot, history.snapshots):
        with pytest.raises(UnknownSnapshotError, match="there are no snapshots in"):
            call(folder=folder)
    (folder / "date=2026-01-31" / "something").mkdir(parents=True)
    with pytest.raises(UnknownSnapshotError):
        history.load(folder=folder)


def test_wallets_are_chosen_in_any_form(folder):
    """Strings, pairs and frames choose wallets, in any case; an unknown wallet has no rows."""
    history.save(DETAILS, folder=folder, at=DAY)
    chosen = DETAILS.wallets.iloc[[0, 2]]
    forms = [
        [f"solana.{base58('9xQe')}", ("eth", A.upper())],
        chosen,
        [f"ETH.{A}", f"SOLANA.{base58('9xQe')}", "NEAR.bob.near"],
    ]
    for form in forms:
        result = history.load(wallets=form, folder=folder)
        assert result.wallets["address"].tolist() == [base58("9xQe"), UPPER_A]
        assert len(result.holdings) == 5
    assert len(history.snapshot(wallets=f"SOLANA.{base58('9xqE')}", folder=folder).wallets) == 0
    with pytest.raises(AddressError):
        history.load(wallets=UPPER_A, folder=folder)


def test_one_wallet_is_found_among_many_groups_of_rows(folder):
    """Each wallet of a file with many row groups is read completely, without other wallets."""
    answers = {
        f"ETH.0x{number:040x}": [token(contract=f"0x{each}") for each in range(20)]
        for number in range(500)
    }
    history.save(fetched(answers), folder=folder)
    [path] = folder.glob("date=*/*/holdings.parquet")
    assert pq.read_metadata(path).num_row_groups > 3
    for number in (0, 77, 499):
        result = history.load(wallets=f"ETH.0x{number:040x}", folder=folder)
        assert (len(result.wallets), len(result.holdings)) == (1, 20)
    assert len(history.load(wallets=list(answers)[::50], folder=folder).holdings) == 200


def without(details, rows):
    """Return details without some rows of holdings."""
    return details._replace(holdings=details.holdings.drop(index=rows))


@pytest.mark.parametrize(
    "changed",
    [
        without(DETAILS, [0]),
        DETAILS._replace(wallets=DETAILS.wallets.drop(index=0)),
        DETAILS._replace(wallets=pd.concat([DETAILS.wallets, DETAILS.wallets.head(1)])),
        DETAILS._replace(holdings=pd.concat([DETAILS.holdings, DETAILS.holdings.tail(1)])),
    ],
    ids=["a row dropped", "a wallet dropped", "a wallet twice", "a row twice"],
)
def test_changed_frames_are_refused(folder, changed):
    """Changed frames would cause false changes, so nothing is written."""
    with pytest.raises(SnapshotError, match=r"not as fetched.*SOLANA|NEAR|ETH"):
        history.save(changed, folder=folder)
    assert not folder.exists()


def test_columns_of_your_own_are_left_out(folder):
    """With any order, index and further columns, only the contract's columns are kept."""
    holdings = DETAILS.holdings.assign(value=1.5).set_index(pd.Index(list("vwxyz")))
    history.save(DETAILS._replace(holdings=holdings.iloc[:, ::-1]), folder=folder)
    back = history.snapshot(folder=folder).holdings.drop(columns="snapshot")
    assert_frame_equal(back, DETAILS.holdings)


def test_other_dtypes_are_converted_or_refused(folder):
    """Text is converted; floats are no amounts, and an unknown status is refused."""
    text = DETAILS.wallets.astype({"status": TEXT, "fetched_at": "str", "tokens": "Float64"})
    history.save(DETAILS._replace(wallets=text), folder=folder, at=DAY)
    back = history.snapshot(folder=folder).wallets.drop(columns="snapshot")
    assert_frame_equal(back, DETAILS.wallets)
    with pytest.raises(SnapshotError, match="'fine' is not a known value"):
        history.save(DETAILS._replace(wallets=text.assign(status="fine")), folder=folder)
    with pytest.raises(SnapshotError, match="'fetched_at'"):
        history.save(DETAILS._replace(wallets=text.assign(fetched_at="soon")), folder=folder)
    floats = DETAILS.holdings.assign(amount=1.5)
    with pytest.raises(AmountError):
        history.save(DETAILS._replace(holdings=floats), folder=folder)
    with pytest.raises(ColumnsError, match="'amount'"):
        history.save(DETAILS._replace(holdings=floats.drop(columns="amount")), folder=folder)


def test_simulated_holdings_never_mix_with_real_ones(folder):
    """They are refused in the user's data folder and beside real holdings."""
    simulated = fetched({f"ETH.{UPPER_A}": []}, service="sandbox")
    with pytest.raises(SnapshotError, match="can't be stored beside real ones"):
        history.save(simulated)
    history.save(simulated, folder=folder)
    assert history.snapshots(folder=folder)["simulated"].tolist() == [True]
    with pytest.raises(SnapshotError, match="can't be stored beside real ones"):
        history.save(DETAILS, folder=folder)


def test_two_threads_never_take_the_same_time(folder):
    """Of many writers with one time, one keeps its complete snapshot."""

    def attempt(number):
        try:
            history.save(fetched({f"ETH.0x{number:0>40}": [token()]}), folder=folder, at=DAY)
        except SnapshotError:
            return 0
        return 1

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(attempt, range(16))) == 1
    kept = history.load(folder=folder)
    assert kept.wallets["address"].tolist() == kept.holdings["address"].tolist()
    assert not list(folder.glob(".saving-*"))


SAVE = """
import sys; sys.path.insert(0, {support!r})
from fetches import fetched, token
from walletframe import history
for number in range({count}):
    wallets = {{f"ETH.0x{{each}}": [token(raw=number)] for each in range(50)}}
    history.save(fetched(wallets, service={name!r}), folder={folder!r})
"""


def saving(folder, name, count, before=""):
    """Start a process that saves snapshots with its name."""
    code = before + SAVE.format(support=str(SUPPORT), count=count, name=name, folder=str(folder))
    return subprocess.Popen([sys.executable, "-c", code])


@pytest.mark.system
def test_two_processes_save_at_once(folder):
    """No snapshot is lost, and none mixes the holdings of the two processes."""
    names = ["https://one.example", "https://two.example"]
    for process in [saving(folder, name, 8) for name in names]:
        assert process.wait(60) == 0
    kept = history.load(folder=folder)
    assert len(kept.holdings) == len(kept.wallets) == 2 * 8 * 50
    services = kept.wallets.groupby("snapshot")["service"].agg(set)
    assert sorted(map(tuple, services)) == [(name,) for name in names for _ in range(8)]


DYING = """
import os
real, left = os.fsync, {steps}
def fsync(handle):
    global left
    left -= 1
    real(handle) if left else os._exit(9)
os.fsync = fsync
"""


@pytest.mark.parametrize("steps,kept", [(2, 1), (4, 1), (5, 2)])
def test_a_crash_leaves_a_whole_snapshot_or_none(folder, steps, kept):
    """After a crash at any step, files are readable; leftovers are removed after a day."""
    history.save(DETAILS, folder=folder, at=DAY)
    assert saving(folder, SERVICE, 1, DYING.format(steps=steps)).wait(60) == 9
    assert len(history.snapshots(folder=folder)) == kept
    leavings = list(folder.glob(".saving-*"))
    assert len(leavings) == 2 - kept
    history.save(DETAILS, folder=folder, at=DAY + timedelta(hours=1))
    assert list(folder.glob(".saving-*")) == leavings  # it may be a living writer's
    for path in leavings:
        os.utime(path, (0, 0))
    history.save(DETAILS, folder=folder, at=DAY + timedelta(hours=2))
    assert not list(folder.glob(".saving-*"))


def test_a_full_disk_raises_and_leaves_nothing(folder, monkeypatch):
    """The error is the system's, and no trace of the snapshot stays."""
    history.save(DETAILS, folder=folder, at=DAY)

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        history.save(DETAILS, folder=folder)
    assert len(history.snapshots(folder=folder)) == 1
    assert not list(folder.glob(".saving-*"))


def test_a_day_on_another_disk_raises_and_leaves_nothing(folder, tmp_path):
    """A snapshot is renamed into its day as a whole; the error is the system's."""
    history.save(DETAILS, folder=folder, at=DAY)
    with mounted(tmp_path / "other", "size=1m") as other:
        later = DAY + timedelta(days=1)
        (folder / f"date={later:%Y-%m-%d}").symlink_to(other)
        with pytest.raises(OSError, match="cross-device"):
            history.save(DETAILS, folder=folder, at=later)
        assert [*other.iterdir()] == []
    assert not list(folder.glob(".saving-*"))


def test_duckdb_opens_the_history(folder):
    """DuckDB reads exact texts, sorts and sums decimals, joins statuses, and knows the days."""
    three_days(folder)
    wallets, holdings = (f"'{folder}/**/{name}.parquet'" for name in ("wallets", "holdings"))
    rows = duckdb.sql(
        f"SELECT date::VARCHAR, amount, amount_text, status FROM {holdings} "
        f"JOIN {wallets} USING (snapshot, wallet_key, date) ORDER BY amount"
    ).fetchall()
    assert [(day, text, status) for day, _, text, status in rows] == [
        ("2026-01-31", "0.000001", "ok"),
        ("2026-02-01", "0.000002", "ok"),
        ("2026-02-02", "0.000003", "ok"),
    ]
    assert sum(decimal for _, decimal, _, _ in rows) * 10**6 == 6


def test_polars_and_pandas_open_the_history(folder):
    """The largest amount has all digits; recursive readers find no unfinished snapshot."""
    history.save(DETAILS, folder=folder, at=DAY)
    (folder / ".saving-1").mkdir()
    (folder / ".saving-1" / "holdings.parquet.part").write_text("half")
    frame = pl.scan_parquet(f"{folder}/**/holdings.parquet").collect()
    exact = DETAILS.holdings["amount"]
    assert {*frame["amount_text"]} == {str(each) for each in exact.dropna()} | {None}
    held = exact[(exact < 10**20).fillna(value=False)]
    assert frame["amount"].sum() == held.round(18).sum()
    assert frame["snapshot"].unique().to_list() == [DAY]
    [path] = folder.glob("date=*/*/holdings.parquet")
    raw = pd.read_parquet(path).sort_values("position")["raw_amount"]
    assert raw.tolist() == DETAILS.holdings["raw_amount"].tolist()


def rewritten(path, **metadata):
    """Rewrite a file with other metadata."""
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata(metadata), path)


def test_a_later_format_is_refused(folder):
    """The error names the later format, with a hint."""
    history.save(DETAILS, folder=folder)
    [path] = folder.glob("date=*/*/wallets.parquet")
    rewritten(path, walletframe_history="2")
    with pytest.raises(HistoryError, match=r"(?s)format is 2, .* reads formats up to 1.*update"):
        history.load(folder=folder)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(path.read_bytes()[:99]),
        lambda path: path.unlink(),
        lambda path: path.write_text(""),
        rewritten,
    ],
    ids=["cut", "gone", "empty", "another program's"],
)
def test_a_broken_snapshot_is_named(folder, spoil):
    """The error names the broken file; a new snapshot can still be saved."""
    history.save(DETAILS, folder=folder, at=DAY)
    [path] = folder.glob("date=*/*/holdings.parquet")
    spoil(path)
    with pytest.raises(HistoryError, match=r"holdings\.parquet"):
        history.load(folder=folder)
    spoil(path.with_name("wallets.parquet"))
    later = history.save(DETAILS, folder=folder, at=DAY + timedelta(hours=1))
    assert len(history.load(since=later, folder=folder).holdings) == 5


@pytest.mark.parametrize(
    "written", ["2026-01-31 06:00:07 UTC", "2026-01-31T06:00Z", "2026-01-31T06Z"]
)
def test_a_moment_is_as_long_as_its_text(tmp_path, written):
    """A printed time without its fraction finds its snapshot."""
    details = fetched({f"ETH.{A}": [token()]})
    history.save(details, folder=tmp_path, at="2026-01-31T06:00:07.5Z")
    result = history.snapshot(written, folder=tmp_path)
    assert result.wallets["snapshot"].item().isoformat() == "2026-01-31T06:00:07.500000+00:00"
    with pytest.raises(UnknownSnapshotError):
        history.snapshot("2026-01-31T06:00:07.4Z", folder=tmp_path)
