"""Functions that save, load, list and thin out snapshots."""
# Days are in UTC, like the names of snapshot folders. A point in time without a time zone is in the
# machine's time zone in all functions, so that `load` finds the time that `save` received.
#
# `thin` removes redundant snapshots. A snapshot is redundant if the kept snapshots of the period
# know at least as much about each wallet. Reading many snapshots takes long, so `thin` finds
# redundant snapshots without the lock. `thin` then takes the lock, and removes these snapshots only
# if the digests of all read snapshots are unchanged.

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from walletframe.address.forms import canonical_key
from walletframe.address.lists import parse_wallets
from walletframe.errors import (
    ArgumentError,
    HistoryError,
    InputWarning,
    SnapshotError,
    UnknownSnapshotError,
)
from walletframe.frames.details import WalletDetails, as_details
from walletframe.frames.extra_columns import (
    append_columns,
    extra_from_arrow,
    extra_names,
    extra_to_arrow,
)
from walletframe.frames.identity import encode_wallets
from walletframe.frames.known import known_and_fresh_mask
from walletframe.frames.schema import (
    HOLDING_DTYPES,
    SIMULATED,
    SNAPSHOT,
    WALLET_DTYPES,
    AnswerSource,
    concat_frames,
)
from walletframe.history.folder import (
    HOLDINGS,
    LIST_CALL,
    SnapshotFolder,
    add_snapshot,
    digest_files,
    history_folder,
    open_snapshot_file,
    read_snapshot_wallets,
    read_snapshots,
    remove_leftovers,
    remove_snapshots,
    require_snapshot_folders,
    select_and_cast,
    snapshot_folders,
    snapshot_path,
    write_frame,
)
from walletframe.notice import notify
from walletframe.numerals import count_with_verb, counted_noun
from walletframe.tracebacks import strip_address_tracebacks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from walletframe.address.lists import WalletsLike
    from walletframe.frames.details import DetailsLike


PathLike: TypeAlias = str | Path
Moment: TypeAlias = str | date | datetime
_TIME_TEXT = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d(?P<minute>:\d\d)?(?P<second>:\d\d)?(?P<fraction>[.,]\d+)?"
)
_DAYS_AGO = {"today": 0, "yesterday": 1}
_ALL_TIME = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_LATEST = "latest"
_PERIODS: Final[dict[str, Callable[[datetime], Any]]] = {
    "hourly": lambda moment: moment.replace(minute=0, second=0, microsecond=0),
    "daily": lambda moment: moment.date(),
    "weekly": lambda moment: moment.isocalendar()[:2],
    "monthly": lambda moment: (moment.year, moment.month),
}
_DURATION = re.compile(r"(?P<count>[0-9]{1,5})(?P<unit>[hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
_T = TypeVar("_T")


def save(
    details: DetailsLike, *, folder: PathLike | None = None, at: Moment | None = None
) -> pd.Timestamp:
    """Save the result of a fetch as a snapshot: wallets, statuses and exact holdings.

    Parameters
    ----------
    details : WalletDetails or tuple of (DataFrame, DataFrame)
        The unchanged result of a fetch, including the failed wallets. Extra columns are saved from
        ``wallets``, but not from ``holdings``.
    folder : str or Path, optional
        The folder of the snapshots, created if missing. Default: ``history`` in the user's data
        folder. Simulated holdings can only be saved in a separate `folder`.
    at : str, datetime or Timestamp, optional
        The time of the snapshot. Without a time zone, the machine's time zone is used. Default: the
        time of the newest answer, or the current time if all answers are out of date.

    Returns
    -------
    Timestamp
        The time of the snapshot, in UTC.

    Raises
    ------
    ArgumentError, ColumnsError, AmountError
        If `details` is not the result of a fetch, lacks a column, or has floats as amounts. Also if
        an extra column has values of several types.
    SettingsError
        If an extra column of amounts ``<name>`` can't be saved because a column ``<name>_text``
        exists. The files need this name for the exact text of the amounts.
    SnapshotError
        - If the frames were changed. For example, a wallet has two rows, or lacks holdings.
        - If simulated and real holdings would be mixed.
        - If `at` can't be read, or if a snapshot of exactly this time exists.
        - Without `at`: if a cached answer is from an earlier day (in UTC) than the newest answer.
    DatasetError, OSError
        If the folder is a URL or can't be written to.

    Warns
    -----
    InputWarning
        - If `at` has no time zone.
        - Without `at`: if the answers are already saved. No snapshot is added, and the time of the
          existing snapshot is returned.

    Notes
    -----
    Several processes may save at the same time. A snapshot is a folder with two Parquet files,
    ``date=…/…/holdings.parquet`` and ``date=…/…/wallets.parquet``. In these files, ``amount`` is a
    decimal number, and ``amount_text`` is the exact text. To delete a snapshot, delete its folder.

    Examples
    --------
    >>> import tempfile, walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = walletframe.fetch_wallets("NEAR.alice.near", client=client)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(details, folder=folder, at="2026-01-31T06:00Z")
    ...     snapshot("2026-01-31", folder=folder).holdings.amount.equals(details.holdings.amount)
    Timestamp('2026-01-31 06:00:00+0000', tz='UTC')
    True
    """
    path = history_folder(folder)
    requested_time = None if at is None else _parse_point_in_time(at, warn_if_naive=True)
    wallets, holdings = as_details(details)
    extra = wallets[extra_names(wallets)]
    extra_to_arrow(extra)  # raises an error if a column can't be stored
    wallets = append_columns(select_and_cast(wallets, WALLET_DTYPES), extra)
    typed_details = WalletDetails(wallets, select_and_cast(holdings, HOLDING_DTYPES))
    _require_unedited(typed_details)
    _reject_mixed_simulation(wallets["service"], folder)
    taken_at = requested_time or _newest_answer_time(wallets)
    while not add_snapshot(path, taken_at, partial(write_frame, typed_details, taken_at)):
        if requested_time:
            raise _duplicate_time_error(taken_at)
        if _has_same_answers(typed_details, path, taken_at):
            message = "no snapshot was added: these answers are already saved as the snapshot of "
            notify(f"{message}{taken_at:%Y-%m-%d %H:%M:%S} UTC", InputWarning)
            break
        taken_at += timedelta(microseconds=1)
    return pd.Timestamp(taken_at)


@strip_address_tracebacks
def load(
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    wallets: WalletsLike | None = None,
    folder: PathLike | None = None,
) -> WalletDetails:
    """Load all snapshots, or the snapshots of a period.

    Parameters
    ----------
    since, until : str, date, datetime or Timestamp, optional
        The first and the last time, both inclusive. A time is a day in UTC (``"2026-01-31"``,
        ``"yesterday"``) or a point in time, by default in the machine's time zone.
    wallets : str, tuple, mapping, WalletAddress, Series, DataFrame, or iterable, optional
        Load only these wallets, in any form that `fetch_wallets` accepts. A wallet without a
        snapshot has no rows. Default: all wallets.
    folder : str or Path, optional
        The folder of the snapshots.

    Returns
    -------
    WalletDetails
        ``wallets`` and ``holdings``, with the columns and dtypes of a fetch. The additional first
        column is ``snapshot``, datetime64[us, UTC]. ``wallets`` also has your extra columns.
        Extra columns are NA for snapshots that lack the column. Rows are sorted by time, and then
        as saved. If the period has no snapshot, the frames have no rows.

    Raises
    ------
    UnknownSnapshotError
        If the folder has no snapshots.
    AddressError, SnapshotError, HistoryError
        If a wallet, a time or a snapshot can't be read.

    Examples
    --------
    >>> import tempfile, walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = walletframe.fetch_wallets(["NEAR.alice.near", "NEAR.bob.near"], client=client)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for day in (30, 31):
    ...         _ = save(details, folder=folder, at=f"2026-01-{day}T00:00Z")
    ...     history = load(wallets="near.bob.near", folder=folder)
    >>> history.wallets[["snapshot", "address", "status"]]
                       snapshot   address status
    0 2026-01-30 00:00:00+00:00  bob.near     ok
    1 2026-01-31 00:00:00+00:00  bob.near     ok
    """
    keys = _parse_wallet_keys(wallets)
    first = (_ALL_TIME if since is None else _parse_first_and_last_time(since))[0]
    last = (_ALL_TIME if until is None else _parse_first_and_last_time(until))[1]

    def select_between(folders: list[SnapshotFolder]) -> list[SnapshotFolder]:
        return [each for each in folders if first <= each.moment <= last]

    return _select_and_read(folder, select_between, partial(read_snapshots, keys=keys))


@strip_address_tracebacks
def snapshot(
    when: Moment = _LATEST, *, wallets: WalletsLike | None = None, folder: PathLike | None = None
) -> WalletDetails:
    """Load the latest snapshot at or before a time.

    Parameters
    ----------
    when : str, date, datetime or Timestamp, default "latest"
        A point in time or a day, as in `load`, or ``"latest"``. For a day, the latest snapshot
        before the end of the day is loaded.
    wallets, folder : optional
        The wallets to load, and the folder, as in `load`.

    Returns
    -------
    WalletDetails
        The frames as saved, with the time of the snapshot in a first column ``snapshot``.

    Raises
    ------
    UnknownSnapshotError
        If there is no snapshot at or before this time.
    AddressError, SnapshotError, HistoryError
        If a wallet, the time or the snapshot can't be read.

    Examples
    --------
    >>> import tempfile, walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = walletframe.fetch_wallets("NEAR.bob.near", client=client)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save(details, folder=folder, at="2026-01-31T00:00Z")
    ...     snapshot("2026-02-03", folder=folder).wallets["snapshot"].item()
    Timestamp('2026-01-31 00:00:00+0000', tz='UTC')
    """
    keys = _parse_wallet_keys(wallets)
    last = (_ALL_TIME if when == _LATEST else _parse_first_and_last_time(when))[1]

    def require_latest(folders: list[SnapshotFolder]) -> list[SnapshotFolder]:
        early = [each for each in folders if each.moment <= last]
        if not early:
            raise UnknownSnapshotError(
                f"there is no snapshot of {when} or earlier",
                hint=f"the oldest snapshot is from {folders[0].moment:%Y-%m-%d %H:%M} UTC; "
                f"see {LIST_CALL}",
            )
        return early[-1:]

    return _select_and_read(folder, require_latest, partial(read_snapshots, keys=keys))


def snapshots(*, folder: PathLike | None = None) -> pd.DataFrame:
    """List the saved snapshots.

    Parameters
    ----------
    folder : str or Path, optional
        The folder of the snapshots.

    Returns
    -------
    DataFrame
        One row for each snapshot, sorted by time, with a RangeIndex. The columns are

        - ``snapshot``, datetime64[us, UTC]: the time of the snapshot;
        - ``wallets``, int64: the number of wallets;
        - ``wallets_ok``, int64: the number of known wallets with an up-to-date answer;
        - ``balances``, int64: the number of balances;
        - ``simulated``, bool: whether the holdings are from the sandbox.

    Raises
    ------
    UnknownSnapshotError
        If there are no snapshots.
    HistoryError
        If a snapshot can't be read.

    Examples
    --------
    >>> import tempfile, walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = walletframe.fetch_wallets("NEAR.bob.near", client=client)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save(details, folder=folder, at="2026-01-31T00:00Z")
    ...     snapshots(folder=folder)[["snapshot", "wallets", "wallets_ok", "simulated"]]
                       snapshot  wallets  wallets_ok  simulated
    0 2026-01-31 00:00:00+00:00        1           1       True
    """
    wallets, folders = _select_and_read(
        folder, list, lambda folders: (read_snapshot_wallets(folders), folders)
    )
    columns: dict[str, Any] = {
        "wallets": 1,
        "wallets_ok": known_and_fresh_mask(wallets),
        "balances": wallets["tokens"].fillna(0),
        "simulated": wallets["service"] == SIMULATED,
    }
    counts = wallets[[SNAPSHOT]].assign(**columns).astype(dict.fromkeys(columns, "int64"))
    moments = pd.DatetimeIndex([each.moment for each in folders], name=SNAPSHOT).as_unit("us")
    listed = counts.groupby(SNAPSHOT).sum().reindex(moments, fill_value=0)
    return listed.astype({"simulated": bool}).reset_index()


def thin(
    *, keep: str = "daily", older_than: str | timedelta = "30d", folder: PathLike | None = None
) -> pd.DataFrame:
    """Remove old snapshots, except for one in each period.

    Parameters
    ----------
    keep : {"daily", "hourly", "weekly", "monthly"}
        The length of the periods, in UTC. In each period, the snapshot with the most known wallets
        is kept. Ties are broken by the number of fully readable wallets, then by the latest time.
        A further snapshot is kept if it has data about a wallet that the kept snapshots lack.
    older_than : str or timedelta, default "30d"
        The minimum age of the snapshots to remove, such as ``"12h"`` or ``"30d"``. A period is
        thinned only if the whole period is older.
    folder : str or Path, optional
        The folder of the snapshots.

    Returns
    -------
    DataFrame
        The removed snapshots, sorted by time: the column ``snapshot``, datetime64[us, UTC].

    Raises
    ------
    ArgumentError
        If `keep` is not one of the periods.
    UnknownSnapshotError
        If there are no snapshots.
    SnapshotError
        If `older_than` is not a duration.
    HistoryError
        If a snapshot can't be read. No snapshot of the same period is removed.
    OSError
        If the folder can't be written to.

    Notes
    -----
    Other processes may read, save and thin at the same time. Snapshots that are saved while `thin`
    runs are kept. If a process dies, each snapshot is either complete or removed.

    Examples
    --------
    >>> import tempfile, walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = walletframe.fetch_wallets("NEAR.bob.near", client=client)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for hour in (6, 7):
    ...         _ = walletframe.history.save(details, folder=folder, at=f"2026-01-31T0{hour}:00Z")
    ...     thin(folder=folder)
                       snapshot
    0 2026-01-31 06:00:00+00:00
    """
    if keep not in _PERIODS:
        raise ArgumentError(f"keep={keep!r} is not supported", f"use one of {', '.join(_PERIODS)}")
    path, period = history_folder(folder), _PERIODS[keep]
    limit = datetime.now(UTC) - _parse_duration(older_than)
    folders = require_snapshot_folders(path)
    remove_leftovers(path)
    old = [each for each in folders if each.moment < limit and period(each.moment) != period(limit)]
    removed = [
        each.moment
        for _, group in groupby(old, key=lambda each: period(each.moment))
        for each in _remove_redundant_snapshots(path, [*group])
    ]
    return pd.DataFrame({SNAPSHOT: pd.DatetimeIndex(removed, tz=UTC).as_unit("us")})


def _select_and_read(
    folder: PathLike | None,
    select: Callable[[list[SnapshotFolder]], list[SnapshotFolder]],
    reader: Callable[[list[SnapshotFolder]], _T],
) -> _T:
    """Select and read snapshots. Repeat both if another process removes a selected snapshot."""
    while True:
        folders = select(require_snapshot_folders(history_folder(folder)))
        try:
            return reader(folders)
        except HistoryError:
            if all(each.path.exists() for each in folders):
                raise


def _parse_wallet_keys(wallets: WalletsLike | None) -> set[tuple[str, str]] | None:
    if wallets is None:
        return None
    return {canonical_key(each.blockchain, each.address) for each in parse_wallets(wallets)}


def require_savable(service: str, *, folder: Path | None, at: Moment | None) -> None:
    """Raise an error if the result of a coming fetch can't be saved."""
    taken_at = None if at is None else _parse_point_in_time(at)
    _reject_mixed_simulation([service], folder)
    if taken_at is not None and snapshot_path(history_folder(folder), taken_at).exists():
        raise _duplicate_time_error(taken_at)


def _has_same_answers(details: WalletDetails, folder: Path, taken_at: datetime) -> bool:
    extra = details.wallets[extra_names(details.wallets)]
    as_read = append_columns(details.wallets, extra_from_arrow(extra_to_arrow(extra)))
    with suppress(HistoryError):
        saved = read_snapshots([SnapshotFolder(taken_at, snapshot_path(folder, taken_at))], None)
        wallets, holdings = (frame.drop(columns=SNAPSHOT) for frame in saved)
        is_same = wallets.drop(columns="source").equals(as_read.drop(columns="source"))
        return is_same and holdings.equals(details.holdings)
    return False


def _duplicate_time_error(taken_at: datetime) -> SnapshotError:
    return SnapshotError(f"there already is a snapshot of {taken_at}", "pass another time as at=…")


def _require_unedited(details: WalletDetails) -> None:
    ids = encode_wallets(concat_frames(each[["blockchain", "address"]] for each in details))
    requested, holders = np.split(ids.codes, [len(details.wallets)])
    row_counts = np.bincount(requested, minlength=len(ids.keys))
    expected = np.zeros(len(ids.keys), dtype=np.int64)
    expected[requested] = details.wallets["tokens"].fillna(0)
    holding_counts = np.bincount(holders, minlength=len(ids.keys))
    wrong = np.flatnonzero((row_counts != 1) | (expected != holding_counts))
    if len(wrong):
        first = wrong[0]
        name = ".".join(str(part) for part in ids.keys[first])
        raise SnapshotError(
            f"{count_with_verb(len(wrong), len(ids.keys), 'wallet')} not as fetched. The first is "
            f"{name!a}, with {counted_noun(int(row_counts[first]), 'row')} in wallets (expected: "
            f"1) and {holding_counts[first]} in holdings (expected: {expected[first]}, as in the "
            "column 'tokens' of wallets)",
            hint="save the unchanged result of the fetch; drop rows after loading the snapshot",
        )


def _reject_mixed_simulation(services: Iterable[str], folder: PathLike | None) -> None:
    path, kinds = history_folder(folder), {service == SIMULATED for service in services}
    is_refused = True in kinds and folder is None
    with suppress(HistoryError):  # a broken snapshot must not prevent a new one
        latest = read_snapshot_wallets(snapshot_folders(path)[-1:])
        kinds |= {service == SIMULATED for service in latest["service"]}
    if is_refused or len(kinds) > 1:
        raise SnapshotError(
            f"simulated holdings can't be stored beside real ones in {path}",
            hint="use a separate folder for simulated holdings: folder=…",
        )


def _parse_first_and_last_time(when: Moment) -> tuple[datetime, datetime]:
    """Return the first and the last microsecond of a day, hour, minute or second, in UTC."""
    value = _parse_day_or_time(when)
    if not isinstance(value, datetime):
        return datetime.combine(value, time.min, UTC), datetime.combine(value, time.max, UTC)
    match = _TIME_TEXT.match(when) if isinstance(when, str) else None
    start = value.astimezone(UTC)
    if match is None or match["fraction"]:
        return start, start
    unit = "seconds" if match["second"] else "minutes" if match["minute"] else "hours"
    return start, start + timedelta(**{unit: 1}) - timedelta(microseconds=1)


def _newest_answer_time(wallets: pd.DataFrame) -> datetime:
    fresh = wallets["source"].isin([AnswerSource.SERVICE.value, AnswerSource.CACHE.value])
    newest = wallets["fetched_at"][fresh].max()
    if pd.isna(newest):
        return datetime.now(UTC)
    cached = known_and_fresh_mask(wallets) & (wallets["source"] == AnswerSource.CACHE.value)
    old = wallets["fetched_at"][cached & (wallets["fetched_at"] < newest.floor("D"))]
    if len(old):
        raise SnapshotError(
            f"{len(old):,} of {counted_noun(len(wallets), 'wallet')} have cached answers from an "
            f"earlier day: the oldest answer is from {old.min():%Y-%m-%d %H:%M} UTC, the newest "
            f"from {newest:%Y-%m-%d %H:%M} UTC",
            hint="fetch again with refresh=…, or pass the time of the snapshot as at=…",
        )
    answered: datetime = newest.to_pydatetime()
    return answered


def _parse_point_in_time(when: Moment, *, warn_if_naive: bool = False) -> datetime:
    value = _parse_day_or_time(when)
    if not isinstance(value, datetime):
        hint = 'add a time of day, such as "2026-01-31T06:00Z"'
        raise SnapshotError(f"{when} is a day, but a point in time is needed", hint)
    in_utc = value.astimezone(UTC)
    if warn_if_naive and value.tzinfo is None:
        zone = f"the time zone of this machine ({value.astimezone().tzname()})"
        text = f"{in_utc:%Y-%m-%d %H:%M:%S} UTC"
        notify(f"{value} has no time zone; it is read in {zone}, as {text}", InputWarning)
    return in_utc


def _parse_day_or_time(when: Any) -> date | datetime:
    if isinstance(when, date) and not pd.isna(when):  # a datetime is a date as well
        return when.floor("us").to_pydatetime() if isinstance(when, pd.Timestamp) else when
    if when in _DAYS_AGO:
        return datetime.now(UTC).date() - timedelta(days=_DAYS_AGO[when])
    text = re.sub(r" UTC\Z", "Z", when) if isinstance(when, str) else when  # as displayed
    for kind in (date, datetime):
        with suppress(TypeError, ValueError):
            return kind.fromisoformat(text)
    raise SnapshotError(
        f"{when!r} is not a time",
        hint='use a day ("2026-01-31", "yesterday") or a point in time ("2026-01-31T06:00Z")',
    )


def _parse_duration(older_than: str | timedelta) -> timedelta:
    if isinstance(older_than, timedelta) and older_than >= timedelta():
        return older_than
    if isinstance(older_than, str) and (match := _DURATION.fullmatch(older_than)):
        return timedelta(**{_UNITS[match["unit"]]: int(match["count"])})
    hint = 'use older_than="30d", "12h" or "2w", or a timedelta'
    raise SnapshotError(f"older_than={older_than!r} is not a duration", hint)


def _remove_redundant_snapshots(folder: Path, period: list[SnapshotFolder]) -> list[SnapshotFolder]:
    while len(period) > 1:
        expected_digests = {each: digest_files(each) for each in period}
        try:
            redundant = _find_redundant_snapshots(period)
        except HistoryError:
            if all(
                each.path.exists() and digest_files(each) == expected_digests[each]
                for each in period
            ):
                raise
        else:
            if not redundant or remove_snapshots(folder, redundant, expected_digests):
                return redundant
        # Another process changed some of the snapshots.
        period = [each for each in period if each.path.exists()]
    return []


def _find_redundant_snapshots(period: list[SnapshotFolder]) -> list[SnapshotFolder]:
    for each in period:  # a broken snapshot raises an error, and must not replace another
        with open_snapshot_file(each.path / HOLDINGS):
            pass
    wallets = read_snapshot_wallets(period)
    ids, known = encode_wallets(wallets), known_and_fresh_mask(wallets)
    features = np.stack([np.ones_like(known), known, known & wallets["error"].isna().to_numpy()])
    groups, no_rows = wallets.groupby(SNAPSHOT).indices, np.array([], dtype=np.intp)
    rows = {each.moment: groups.get(pd.Timestamp(each.moment), no_rows) for each in period}
    ranked = sorted(rows, key=lambda moment: (*features[1:, rows[moment]].sum(axis=1), moment))
    needed, covered = {ranked[-1]}, np.zeros((len(features), len(ids.keys)), dtype=bool)
    for moment in reversed(ranked):
        codes, moment_features = ids.codes[rows[moment]], features[:, rows[moment]]
        if (moment_features & ~covered[:, codes]).any():
            needed.add(moment)
            covered[:, codes] |= moment_features
    return [each for each in period if each.moment not in needed]
