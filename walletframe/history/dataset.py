"""Save, load, list and thin snapshots; check what is saved, and parse times."""
# A day is a day in UTC, as the folders of snapshots are. A time without a zone is in the machine's
# own zone in all calls, so that a snapshot is found at the time that it was saved at.
#
# A snapshot is thinned out only if others of its period know all wallets that it knows.
# Snapshots are judged without the lock, since reading many takes long. Under the lock they are
# removed if all that were judged are unchanged, by name and digest. Snapshots saved meanwhile were
# not judged, and stay.

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
from walletframe.frameless import at_the_boundary
from walletframe.frames.contract import (
    HOLDING_DTYPES,
    SIMULATED,
    WALLET_DTYPES,
    Source,
    concat_frames,
)
from walletframe.frames.details import WalletDetails, as_details
from walletframe.frames.identity import wallet_identities
from walletframe.frames.kept import kept_frame, kept_names, kept_table, with_kept
from walletframe.frames.known import known_and_fresh
from walletframe.history.folder import (
    HOLDINGS,
    LISTED,
    SNAPSHOT,
    SnapshotFolder,
    add,
    digest,
    history_folder,
    opened,
    read,
    read_wallets,
    remove,
    remove_leftovers,
    required_folders,
    snapshot_folders,
    snapshot_path,
    with_dtypes,
    write,
)
from walletframe.notice import notify
from walletframe.numerals import count_of, many

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
_UTC: Final = " UTC"
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
    """Save a fetch as a snapshot: wallets, statuses and holdings, exactly.

    Parameters
    ----------
    details : WalletDetails or tuple of (DataFrame, DataFrame)
        The fetch, unchanged, failed wallets included. Columns of your own are saved of wallets,
        not of holdings.
    folder : str or Path, optional
        Created if missing. Default: ``history`` in the user's data folder, for real holdings only:
        simulated ones need a folder of their own.
    at : str, datetime or Timestamp, optional
        The time of the snapshot; in this machine's own zone unless it names one. Default: the time
        of the newest answer, or now if all answers are out of date. The time of each wallet's
        answer stays in ``wallets.fetched_at``.

    Returns
    -------
    Timestamp
        The snapshot's time, in UTC.

    Raises
    ------
    ArgumentError, ColumnsError, AmountError
        If `details` is not a fetch, lacks a column, or has floats as amounts; an ArgumentError
        also if a column of your own has values of several types.
    SettingsError
        If a column of your own has the name of the exact text of another, ``<name>_text``.
    SnapshotError
        If the frames were changed: a wallet has two rows, or not as many holdings as its ``tokens``
        says; if simulated and real holdings would be mixed; if the time can't be read, or there
        already is a snapshot of exactly this time. Without `at`, if the answers of some wallets are
        cached and from an earlier day, in UTC, than the newest answer.
    DatasetError, OSError
        If the folder is a URL, or can't be written.

    Warns
    -----
    InputWarning
        If `at` names no zone; or, without `at`, if a snapshot has the same answers already: then
        nothing is added, and its time is returned.

    Notes
    -----
    Writing is atomic, and any number of processes may save at once. A snapshot is a folder of two
    Parquet files, ``date=…/…/holdings.parquet`` and ``wallets.parquet``, which DuckDB, polars and
    pandas open: ``amount`` is a decimal, ``amount_text`` exact. To delete one, delete its folder.

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
    requested = None if at is None else _moment(at, warns=True)
    wallets, holdings = as_details(details)
    own = wallets[kept_names(wallets)]
    kept_table(own)  # raises if a column can't be stored
    wallets = with_kept(with_dtypes(wallets, WALLET_DTYPES), own)
    to_save = WalletDetails(wallets, with_dtypes(holdings, HOLDING_DTYPES))
    _require_unchanged(to_save)
    _require_same_kind(wallets["service"], path, may_be_simulated=folder is not None)
    taken_at = requested or _answered_at(wallets)
    while not add(path, taken_at, partial(write, to_save, taken_at)):
        if requested:
            raise _time_taken(taken_at)
        if _is_saved(to_save, path, taken_at):
            message = "nothing was added: these answers are saved already, as the snapshot of "
            notify(f"{message}{taken_at:%Y-%m-%d %H:%M:%S} UTC", InputWarning)
            break
        taken_at += timedelta(microseconds=1)
    return pd.Timestamp(taken_at)


@at_the_boundary
def load(
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    wallets: WalletsLike | None = None,
    folder: PathLike | None = None,
) -> WalletDetails:
    """Load snapshots.

    Parameters
    ----------
    since, until : str, date, datetime or Timestamp, optional
        The first and the last day (``"2026-01-31"``, ``"yesterday"``), in UTC, or point in time, in
        this machine's own zone unless it names one; inclusive.
    wallets : str, tuple, mapping, WalletAddress, Series, DataFrame, or iterable, optional
        Load these wallets only, in the forms of `fetch_wallets`; a wallet that is in no snapshot
        has no rows. Default: all.
    folder : str or Path, optional
        The folder of the snapshots.

    Returns
    -------
    WalletDetails
        ``wallets`` and ``holdings`` with a first column ``snapshot``, datetime64[us, UTC], and the
        columns and dtypes of a fetch; ``wallets`` with your own columns, too, NA if a snapshot
        lacks them. By time, then as saved; without rows if no snapshot is of that time.

    Raises
    ------
    UnknownSnapshotError
        If the folder has no snapshot at all.
    AddressError, SnapshotError, HistoryError
        If a wallet, a time or a snapshot can't be read.

    Examples
    --------
    >>> import tempfile, walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = walletframe.fetch_wallets(["NEAR.alice.near", "NEAR.bob"], client=client)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for day in (30, 31):
    ...         _ = save(details, folder=folder, at=f"2026-01-{day}T00:00Z")
    ...     history = load(wallets="near.bob", folder=folder)
    >>> history.wallets[["snapshot", "address", "status"]]
                       snapshot address status
    0 2026-01-30 00:00:00+00:00     bob     ok
    1 2026-01-31 00:00:00+00:00     bob     ok
    """
    keys = _wallet_keys(wallets)
    first = (_ALL_TIME if since is None else _bounds(since))[0]
    last = (_ALL_TIME if until is None else _bounds(until))[1]

    def select() -> list[SnapshotFolder]:
        folders = required_folders(history_folder(folder))
        return [each for each in folders if first <= each.moment <= last]

    return _read(select, partial(read, keys=keys))


@at_the_boundary
def snapshot(
    when: Moment = _LATEST, *, wallets: WalletsLike | None = None, folder: PathLike | None = None
) -> WalletDetails:
    """Load the last snapshot up to a time.

    Parameters
    ----------
    when : str, date, datetime or Timestamp, default "latest"
        A day, up to its end, or a point in time, as in `load`; or ``"latest"``.
    wallets, folder : optional
        The wallets to load, and the folder, as in `load`.

    Returns
    -------
    WalletDetails
        The frames as saved, with a first column ``snapshot``, the actual time of the snapshot.

    Raises
    ------
    UnknownSnapshotError
        If there is no snapshot as early as that.
    AddressError, SnapshotError, HistoryError
        If a wallet, the time or the snapshot can't be read.

    Examples
    --------
    >>> import tempfile, walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = walletframe.fetch_wallets("NEAR.bob", client=client)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save(details, folder=folder, at="2026-01-31T00:00Z")
    ...     snapshot("2026-02-03", folder=folder).wallets["snapshot"].item()
    Timestamp('2026-01-31 00:00:00+0000', tz='UTC')
    """
    keys, last = _wallet_keys(wallets), (_ALL_TIME if when == _LATEST else _bounds(when))[1]

    def select() -> list[SnapshotFolder]:
        folders = required_folders(history_folder(folder))
        early = [each for each in folders if each.moment <= last]
        if not early:
            raise UnknownSnapshotError(
                f"there is no snapshot of {when} or earlier",
                hint=f"the oldest is of {folders[0].moment:%Y-%m-%d %H:%M} UTC; see {LISTED}",
            )
        return early[-1:]

    return _read(select, partial(read, keys=keys))


def snapshots(*, folder: PathLike | None = None) -> pd.DataFrame:
    """List the saved snapshots.

    Parameters
    ----------
    folder : str or Path, optional
        The folder of the snapshots.

    Returns
    -------
    DataFrame
        One row for each, the oldest first, on an index from 0. With the columns ``snapshot``,
        datetime64[us, UTC]; ``wallets``, ``wallets_ok`` (known from answers that were not out of
        date) and ``balances``, int64; ``simulated``, bool.

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
    ...     details = walletframe.fetch_wallets("NEAR.bob", client=client)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save(details, folder=folder, at="2026-01-31T00:00Z")
    ...     snapshots(folder=folder)[["snapshot", "wallets", "wallets_ok", "simulated"]]
                       snapshot  wallets  wallets_ok  simulated
    0 2026-01-31 00:00:00+00:00        1           1       True
    """
    select = partial(required_folders, history_folder(folder))
    wallets, folders = _read(select, lambda folders: (read_wallets(folders), folders))
    facts: dict[str, Any] = {
        "wallets": 1,
        "wallets_ok": known_and_fresh(wallets),
        "balances": wallets["tokens"].fillna(0),
        "simulated": wallets["service"] == SIMULATED,
    }
    counts = wallets[[SNAPSHOT]].assign(**facts).astype(dict.fromkeys(facts, "int64"))
    moments = pd.DatetimeIndex([each.moment for each in folders], name=SNAPSHOT).as_unit("us")
    listed = counts.groupby(SNAPSHOT).sum().reindex(moments, fill_value=0)
    return listed.astype({"simulated": bool}).reset_index()


def thin(
    *, keep: str = "daily", older_than: str | timedelta = "30d", folder: PathLike | None = None
) -> pd.DataFrame:
    """Remove older snapshots, and keep one of each period.

    Parameters
    ----------
    keep : {"daily", "hourly", "weekly", "monthly"}
        The periods, in UTC. Of each one the snapshot with the most known wallets is kept, or the
        latest of several. Another one is kept, too, only if it requested, knows, or could read all
        balances of a wallet, and the kept ones did not.
    older_than : str or timedelta, default "30d"
        The age, such as ``"12h"`` or ``"30d"``, beyond which snapshots may be removed; all others
        are kept, and all of a period that has not reached this age as a whole.
    folder : str or Path, optional
        The folder of the snapshots.

    Returns
    -------
    DataFrame
        The snapshots that this call removed, the oldest first, on an index from 0, with the only
        column ``snapshot``, datetime64[us, UTC]; perhaps without rows.

    Raises
    ------
    ArgumentError
        If `keep` is not one of the periods.
    UnknownSnapshotError
        If there are no snapshots.
    SnapshotError, HistoryError
        If `older_than` is not a length of time, or a snapshot can't be read; then nothing of its
        period is removed.
    OSError
        If the folder can't be written.

    Notes
    -----
    Kept snapshots are not changed. Other processes may read, save and thin at the same time: a
    snapshot that is saved meanwhile is kept. Removal is atomic: if a process dies, each snapshot is
    either complete or gone.

    Examples
    --------
    >>> import tempfile, walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = walletframe.fetch_wallets("NEAR.bob", client=client)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for hour in (6, 7):
    ...         _ = walletframe.history.save(details, folder=folder, at=f"2026-01-31T0{hour}:00Z")
    ...     thin(folder=folder)
                       snapshot
    0 2026-01-31 06:00:00+00:00
    """
    if keep not in _PERIODS:
        hint = f"give keep=… as one of {', '.join(_PERIODS)}"
        raise ArgumentError(f"{keep!r} is not a period", hint=hint)
    path, period = history_folder(folder), _PERIODS[keep]
    limit = datetime.now(UTC) - _duration(older_than)
    folders = required_folders(path)
    remove_leftovers(path)
    old = [each for each in folders if each.moment < limit and period(each.moment) != period(limit)]
    by_period = groupby(old, key=lambda each: period(each.moment))
    removed = [each.moment for _, group in by_period for each in _remove_redundant(path, [*group])]
    return pd.DataFrame({SNAPSHOT: pd.DatetimeIndex(removed, tz=UTC).as_unit("us")})


def _read(
    select: Callable[[], list[SnapshotFolder]], reader: Callable[[list[SnapshotFolder]], _T]
) -> _T:
    """Select and read snapshots; start again if some were removed meanwhile."""
    while True:
        folders = select()
        try:
            return reader(folders)
        except HistoryError:
            if all(each.path.exists() for each in folders):
                raise


def _wallet_keys(wallets: WalletsLike | None) -> set[tuple[str, str]] | None:
    if wallets is None:
        return None
    return {canonical_key(each.blockchain, each.address) for each in parse_wallets(wallets)}


def require_savable(service: str, *, folder: Path | None, at: Moment | None) -> None:
    """Raise before a fetch if its snapshot could not be saved."""
    path = history_folder(folder)
    taken_at = None if at is None else _moment(at)
    _require_same_kind([service], path, may_be_simulated=folder is not None)
    if taken_at is not None and snapshot_path(path, taken_at).exists():
        raise _time_taken(taken_at)


def _is_saved(details: WalletDetails, folder: Path, taken_at: datetime) -> bool:
    """Return whether the snapshot of a time has the same answers, from the cache or not."""
    own = details.wallets[kept_names(details.wallets)]
    as_read = with_kept(details.wallets, kept_frame(kept_table(own)))
    with suppress(HistoryError):
        saved = read([SnapshotFolder(taken_at, snapshot_path(folder, taken_at))], None)
        return all(
            old.drop(columns=[SNAPSHOT, "source"], errors="ignore").equals(
                new.drop(columns="source", errors="ignore")
            )
            for old, new in zip(saved, (as_read, details.holdings), strict=True)
        )
    return False


def _time_taken(taken_at: datetime) -> SnapshotError:
    hint = "give another at=…"
    return SnapshotError(f"there already is a snapshot of {taken_at}", hint)


def _require_unchanged(details: WalletDetails) -> None:
    """Raise if frames were changed since the fetch: comparisons would show false changes."""
    wallets, holdings = details
    names = ["blockchain", "address"]
    ids = wallet_identities(concat_frames([wallets[names], holdings[names]]))
    requested, holders = np.split(ids.codes, [len(wallets)])
    times = np.bincount(requested, minlength=len(ids.keys))
    expected = np.zeros(len(ids.keys), dtype=np.int64)
    expected[requested] = wallets["tokens"].fillna(0)
    counts = np.bincount(holders, minlength=len(ids.keys))
    wrong = np.flatnonzero((times != 1) | (expected != counts))
    if len(wrong):
        first = wrong[0]
        name = ".".join(str(part) for part in ids.keys[first])
        raise SnapshotError(
            f"{count_of(len(wrong), len(ids.keys), 'wallet')} not as fetched; the first is {name!a}"
            f": it has {many(int(times[first]), 'row')} in wallets, and {counts[first]} in holdings"
            f" instead of {expected[first]}, the value in its column tokens",
            hint="save the frames as fetched, and remove rows after loading them",
        )


def _require_same_kind(services: Iterable[str], folder: Path, *, may_be_simulated: bool) -> None:
    """Raise if simulated holdings would be saved beside real ones, or in the default folder."""
    kinds = {service == SIMULATED for service in services}
    refused = True in kinds and not may_be_simulated
    with suppress(HistoryError):  # a broken snapshot must not prevent saving another one
        latest = read_wallets(snapshot_folders(folder)[-1:])
        kinds |= {service == SIMULATED for service in latest["service"]}
    if refused or len(kinds) > 1:
        raise SnapshotError(
            f"simulated holdings can't be stored beside real ones in {folder}",
            hint="give each kind a folder of its own: folder=…",
        )


def _bounds(when: Moment) -> tuple[datetime, datetime]:
    """Return the first and the last microsecond of a day, hour, minute or second, in UTC."""
    value = _time(when)
    if not isinstance(value, datetime):
        return datetime.combine(value, time.min, UTC), datetime.combine(value, time.max, UTC)
    match = _TIME_TEXT.match(when) if isinstance(when, str) else None
    start = value.astimezone(UTC)
    if match is None or match["fraction"]:
        return start, start
    unit = "seconds" if match["second"] else "minutes" if match["minute"] else "hours"
    return start, start + timedelta(**{unit: 1}) - timedelta(microseconds=1)


def _answered_at(wallets: pd.DataFrame) -> datetime:
    """Return the time of the newest answer that is not out of date, or now."""
    fresh = wallets["source"].isin([Source.SERVICE.value, Source.CACHE.value])
    newest = wallets["fetched_at"][fresh].max()
    if pd.isna(newest):
        return datetime.now(UTC)
    cached = known_and_fresh(wallets) & (wallets["source"] == Source.CACHE.value)
    old = wallets["fetched_at"][cached & (wallets["fetched_at"] < newest.floor("D"))]
    if len(old):
        raise SnapshotError(
            f"{count_of(len(old), len(wallets), 'wallet')} answered from the cache as of an earlier"
            f" day than the newest answer: the oldest as of {old.min():%Y-%m-%d %H:%M} UTC, the "
            f"newest as of {newest:%Y-%m-%d %H:%M} UTC",
            hint="fetch again with refresh=…, or give the time of the snapshot with at=…",
        )
    answered: datetime = newest.to_pydatetime()
    return answered


def _moment(when: Moment, *, warns: bool = False) -> datetime:
    """Return a point in time in UTC, and perhaps warn if it names no zone."""
    value = _time(when)
    if not isinstance(value, datetime):
        hint = 'add a time of day, such as "2026-01-31T06:00Z"'
        raise SnapshotError(f"{when} is a whole day, but a point in time is needed", hint)
    in_utc = value.astimezone(UTC)
    if warns and value.tzinfo is None:
        zone = f"this machine's own ({value.astimezone().tzname()})"
        text = f"{in_utc:%Y-%m-%d %H:%M:%S} UTC"
        notify(f"{value} names no zone: in {zone}, it is {text}", InputWarning)
    return in_utc


def _time(when: Any) -> date | datetime:
    """Read a day, or a point in time, which is in the machine's own zone if it names none."""
    if isinstance(when, date) and not pd.isna(when):  # a datetime is a date, too
        return when.floor("us").to_pydatetime() if isinstance(when, pd.Timestamp) else when
    if when in _DAYS_AGO:
        return datetime.now(UTC).date() - timedelta(days=_DAYS_AGO[when])
    text = when
    if isinstance(when, str) and when.endswith(_UTC):
        text = f"{when.removesuffix(_UTC)}Z"  # lists of snapshots show this form
    for kind in (date, datetime):
        with suppress(TypeError, ValueError):
            return kind.fromisoformat(text)
    raise SnapshotError(
        f"{when!r} is not a time",
        hint='give a day ("2026-01-31", "yesterday") or a point in time ("2026-01-31T06:00Z")',
    )


def _duration(older_than: str | timedelta) -> timedelta:
    if isinstance(older_than, timedelta) and older_than >= timedelta():
        return older_than
    match = _DURATION.fullmatch(older_than) if isinstance(older_than, str) else None
    if match:
        return timedelta(**{_UNITS[match["unit"]]: int(match["count"])})
    hint = 'give older_than=… as "30d", "12h" or "2w"'
    raise SnapshotError(f"{older_than!r} is not a length of time", hint)


def _remove_redundant(folder: Path, period: list[SnapshotFolder]) -> list[SnapshotFolder]:
    """Remove and return the redundant snapshots of a period."""
    while len(period) > 1:
        judged = {each: digest(each) for each in period}
        try:
            redundant = _redundant(period)
        except HistoryError:
            if all(each.path.exists() and digest(each) == judged[each] for each in period):
                raise
        else:
            if not redundant or remove(folder, redundant, judged):
                return redundant
        period = [each for each in period if each.path.exists()]  # others changed some: try again
    return []


def _redundant(period: list[SnapshotFolder]) -> list[SnapshotFolder]:
    """Return the snapshots whose wallets are requested, known and readable in better ones, too."""
    for each in period:
        with opened(each.path / HOLDINGS):  # raises: a broken snapshot can't replace another one
            pass
    wallets = read_wallets(period)
    ids, known = wallet_identities(wallets), known_and_fresh(wallets)
    facts = np.stack([np.ones_like(known), known, known & wallets["error"].isna().to_numpy()])
    groups, none = wallets.groupby(SNAPSHOT).indices, np.array([], dtype=np.intp)
    rows = {each.moment: groups.get(pd.Timestamp(each.moment), none) for each in period}
    ranked = sorted(rows, key=lambda moment: (*facts[1:, rows[moment]].sum(axis=1), moment))
    needed, covered = {ranked[-1]}, np.zeros((len(facts), len(ids.keys)), dtype=bool)
    for moment in reversed(ranked):
        codes, own = ids.codes[rows[moment]], facts[:, rows[moment]]
        if (own & ~covered[:, codes]).any():
            needed.add(moment)
            covered[:, codes] |= own
    return [each for each in period if each.moment not in needed]
