"""Saving, loading and thinning snapshots: what may be saved, and how times are read."""
# A day is one of UTC, as the folders of snapshots are. A moment without a zone is of the machine's
# own, wherever one is given, so that what is saved at it is found at it.
#
# A snapshot is thinned out only where others of its period know all wallets that it knows.
# Snapshots are judged without the lock, since reading many takes long. Under the lock they are
# removed if all that were judged are as they were, by name and digest. What was saved since was not
# judged, and stays.

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
from walletframe.frames.contract import HOLDING_DTYPES, SIMULATED, WALLET_DTYPES, Source, stacked
from walletframe.frames.details import WalletDetails, details_given
from walletframe.frames.identity import wallet_identities
from walletframe.frames.kept import kept_frame, kept_names, kept_table, with_kept
from walletframe.frames.known import known_when_asked
from walletframe.history.folder import (
    HOLDINGS,
    LISTED,
    SNAPSHOT,
    SnapshotFolder,
    add,
    clear,
    converted,
    digest,
    history_folder,
    opened,
    place_of,
    read,
    read_wallets,
    remove,
    required_folders,
    snapshot_folders,
    write,
)
from walletframe.notice import notify
from walletframe.numerals import many, part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from walletframe.address.lists import WalletsLike
    from walletframe.frames.details import DetailsLike


PathLike: TypeAlias = str | Path
Moment: TypeAlias = str | date | datetime
_CLOCK = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d(?P<minute>:\d\d)?(?P<second>:\d\d)?(?P<fraction>[.,]\d+)?"
)
_DAYS_AGO = {"today": 0, "yesterday": 1}
_UTC: Final = " UTC"
_EVER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_LATEST = "latest"
_PERIODS: Final[dict[str, Callable[[datetime], Any]]] = {
    "hourly": lambda moment: moment.replace(minute=0, second=0, microsecond=0),
    "daily": lambda moment: moment.date(),
    "weekly": lambda moment: moment.isocalendar()[:2],
    "monthly": lambda moment: (moment.year, moment.month),
}
_LENGTH = re.compile(r"(?P<count>[0-9]{1,5})(?P<unit>[hdw])")
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
        Created if missing. Default: ``history`` in the user's data folder, for real holdings alone:
        simulated ones need a folder of their own.
    at : str, datetime or Timestamp, optional
        The time of the snapshot; of this machine's own zone unless it names one. Default: the time
        of the newest answer, and now where there is none but of those that are out of date. That of
        each wallet's answer stays in ``wallets.fetched_at``.

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
        If the frames are not as they were fetched: a wallet is there twice, or has not as many
        holdings as its ``tokens`` says; if simulated and real holdings would be mixed; if the time
        can't be read, or there is a snapshot of exactly it. Without `at`, if some wallets answered
        from the cache as of an earlier day, in UTC, than the newest answer.
    DatasetError, OSError
        If the folder is a URL, or can't be written.

    Warns
    -----
    InputWarning
        If `at` names no zone; or, without `at`, if the same answers are kept already: then nothing
        is added, and the time is that of their snapshot.

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
    given = None if at is None else _moment(at, is_said=True)
    wallets, holdings = details_given(details)
    own = wallets[kept_names(wallets)]
    kept_table(own)  # refuses what no file holds
    asked = with_kept(converted(wallets, WALLET_DTYPES), own)
    kept = WalletDetails(asked, converted(holdings, HOLDING_DTYPES))
    _check_whole(kept)
    _check_kinds(asked["service"], path, may_be_simulated=folder is not None)
    taken_at = given or _answered_at(asked)
    while not add(path, taken_at, partial(write, kept, taken_at)):
        if given:
            raise _already_there(taken_at)
        if _is_kept(kept, path, taken_at):
            said = "nothing was added: the same answers are kept already, as the snapshot of "
            notify(f"{said}{taken_at:%Y-%m-%d %H:%M:%S} UTC", InputWarning)
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
        The first and the last day (``"2026-01-31"``, ``"yesterday"``), in UTC, or moment, of this
        machine's own zone unless it names one; inclusive.
    wallets : str, tuple, mapping, WalletAddress, Series, DataFrame, or iterable, optional
        Which wallets, as `fetch_wallets` takes them; those that are in no snapshot have no rows.
        Default: all.
    folder : str or Path, optional
        Where they were saved.

    Returns
    -------
    WalletDetails
        ``wallets`` and ``holdings`` with the columns and dtypes of a fetch, behind a first column
        ``snapshot``, datetime64[us, UTC]; ``wallets`` with your own columns, NA where a snapshot
        has none of them. By time, then as saved; without rows where no snapshot is of that time.

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
    keys = _keys(wallets)
    first = (_EVER if since is None else _bounds(since))[0]
    last = (_EVER if until is None else _bounds(until))[1]

    def asked() -> list[SnapshotFolder]:
        found = required_folders(history_folder(folder))
        return [each for each in found if first <= each.moment <= last]

    return _read(asked, partial(read, keys=keys))


@at_the_boundary
def snapshot(
    when: Moment = _LATEST, *, wallets: WalletsLike | None = None, folder: PathLike | None = None
) -> WalletDetails:
    """Load one snapshot: the last one up to a time.

    Parameters
    ----------
    when : str, date, datetime or Timestamp, default "latest"
        A day, up to its end, or a moment, as in `load`; or ``"latest"``.
    wallets, folder : optional
        Which wallets, and where it was saved, as in `load`.

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
    keys, last = _keys(wallets), (_EVER if when == _LATEST else _bounds(when))[1]

    def asked() -> list[SnapshotFolder]:
        found = required_folders(history_folder(folder))
        early = [each for each in found if each.moment <= last]
        if not early:
            raise UnknownSnapshotError(
                f"there is no snapshot of {when} or earlier",
                hint=f"the oldest is of {found[0].moment:%Y-%m-%d %H:%M} UTC; see {LISTED}",
            )
        return early[-1:]

    return _read(asked, partial(read, keys=keys))


def snapshots(*, folder: PathLike | None = None) -> pd.DataFrame:
    """List the saved snapshots.

    Parameters
    ----------
    folder : str or Path, optional
        Where they were saved.

    Returns
    -------
    DataFrame
        One row for each, the oldest first, on an index from 0. With the columns ``snapshot``,
        datetime64[us, UTC]; ``wallets``, ``wallets_ok`` (known, and not as of an answer that was
        out of date) and ``balances``, int64; ``simulated``, bool.

    Raises
    ------
    UnknownSnapshotError
        If there are none.
    HistoryError
        If one can't be read.

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
    asked = partial(required_folders, history_folder(folder))
    wallets, found = _read(asked, lambda found: (read_wallets(found), found))
    facts: dict[str, Any] = {
        "wallets": 1,
        "wallets_ok": known_when_asked(wallets),
        "balances": wallets["tokens"].fillna(0),
        "simulated": wallets["service"] == SIMULATED,
    }
    counts = wallets[[SNAPSHOT]].assign(**facts).astype(dict.fromkeys(facts, "int64"))
    moments = pd.DatetimeIndex([each.moment for each in found], name=SNAPSHOT).as_unit("us")
    listed = counts.groupby(SNAPSHOT).sum().reindex(moments, fill_value=0)
    return listed.astype({"simulated": bool}).reset_index()


def thin(
    *, keep: str = "daily", older_than: str | timedelta = "30d", folder: PathLike | None = None
) -> pd.DataFrame:
    """Remove older snapshots until one of each period is left.

    Parameters
    ----------
    keep : {"daily", "hourly", "weekly", "monthly"}
        Of how long a period, in UTC, one snapshot stays: the last of those in which most wallets
        are known. Another of the same period stays only where it asked for, knows, or could read
        all balances of a wallet of which those that stay don't say the same.
    older_than : str or timedelta, default "30d"
        How old a snapshot is that may be removed, such as ``"12h"`` or ``"30d"``; younger ones,
        and those of a period that is in part younger, all stay.
    folder : str or Path, optional
        Where they were saved.

    Returns
    -------
    DataFrame
        The snapshots that this call removed, the oldest first, on an index from 0, with the one
        column ``snapshot``, datetime64[us, UTC]; perhaps without rows.

    Raises
    ------
    ArgumentError
        If `keep` is something else.
    UnknownSnapshotError
        If there are no snapshots.
    SnapshotError, HistoryError
        If `older_than` is no length of time, or a snapshot can't be read; then nothing of its
        period is removed.
    OSError
        If the folder can't be written.

    Notes
    -----
    What stays, stays exactly as it was saved. Others may read, save and thin meanwhile: a snapshot
    that is saved while this runs stays. Each is removed at once, so that whenever a process dies
    it is there as a whole, or not at all.

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
        raise ArgumentError(f"{keep!r} is no period", hint=hint)
    path, period = history_folder(folder), _PERIODS[keep]
    limit = datetime.now(UTC) - _length(older_than)
    found = required_folders(path)
    clear(path)
    old = [each for each in found if each.moment < limit and period(each.moment) != period(limit)]
    by_period = groupby(old, key=lambda each: period(each.moment))
    gone = [each.moment for _, alike in by_period for each in _thinned(path, [*alike])]
    return pd.DataFrame({SNAPSHOT: pd.DatetimeIndex(gone, tz=UTC).as_unit("us")})


def _read(
    asked: Callable[[], list[SnapshotFolder]], reader: Callable[[list[SnapshotFolder]], _T]
) -> _T:
    """Read snapshots, and look for them anew where some were removed meanwhile."""
    while True:
        found = asked()
        try:
            return reader(found)
        except HistoryError:
            if all(each.path.exists() for each in found):
                raise


def _keys(wallets: WalletsLike | None) -> set[tuple[str, str]] | None:
    if wallets is None:
        return None
    return {canonical_key(each.blockchain, each.address) for each in parse_wallets(wallets)}


def require_savable(service: str, *, folder: Path | None, at: Moment | None) -> None:
    """Refuse, before anything is fetched for it, a snapshot that could not be kept."""
    place = history_folder(folder)
    taken_at = None if at is None else _moment(at)
    _check_kinds([service], place, may_be_simulated=folder is not None)
    if taken_at is not None and place_of(place, taken_at).exists():
        raise _already_there(taken_at)


def _is_kept(details: WalletDetails, folder: Path, taken_at: datetime) -> bool:
    """Return whether the snapshot of a time has the same answers, wherever they came from."""
    own = details.wallets[kept_names(details.wallets)]
    as_read = with_kept(details.wallets, kept_frame(kept_table(own)))
    with suppress(HistoryError):
        kept = read([SnapshotFolder(taken_at, place_of(folder, taken_at))], None)
        return all(
            saved.drop(columns=[SNAPSHOT, "source"], errors="ignore").equals(
                given.drop(columns="source", errors="ignore")
            )
            for saved, given in zip(kept, (as_read, details.holdings), strict=True)
        )
    return False


def _already_there(taken_at: datetime) -> SnapshotError:
    hint = "give another at=…"
    return SnapshotError(f"there is a snapshot of {taken_at} already", hint)


def _check_whole(details: WalletDetails) -> None:
    """Refuse frames that were changed: a comparison would find changes that never were."""
    wallets, holdings = details
    names = ["blockchain", "address"]
    who = wallet_identities(stacked([wallets[names], holdings[names]]))
    asked, holders = np.split(who.codes, [len(wallets)])
    times = np.bincount(asked, minlength=len(who.keys))
    said = np.zeros(len(who.keys), dtype=np.int64)
    said[asked] = wallets["tokens"].fillna(0)
    there = np.bincount(holders, minlength=len(who.keys))
    wrong = np.flatnonzero((times != 1) | (said != there))
    if len(wrong):
        place = wrong[0]
        name = ".".join(str(part) for part in who.keys[place])
        raise SnapshotError(
            f"{part(len(wrong), len(who.keys), 'wallet')} not as fetched; the first is {name!a}: "
            f"{many(int(times[place]), 'row')} in wallets, {there[place]} in holdings where tokens "
            f"says {said[place]}",
            hint="save what was fetched, and leave rows out after loading it",
        )


def _check_kinds(services: Iterable[str], folder: Path, *, may_be_simulated: bool) -> None:
    """Refuse simulated holdings beside real ones, and in the folder that is not named."""
    kinds = {service == SIMULATED for service in services}
    refused = True in kinds and not may_be_simulated
    with suppress(HistoryError):  # a broken snapshot keeps no other one from being saved
        latest = read_wallets(snapshot_folders(folder)[-1:])
        kinds |= {service == SIMULATED for service in latest["service"]}
    if refused or len(kinds) > 1:
        raise SnapshotError(
            f"simulated holdings can't be stored beside real ones in {folder}",
            hint="give each kind a folder of its own: folder=…",
        )


def _bounds(when: Moment) -> tuple[datetime, datetime]:
    """Return the first and the last microsecond of what is called a time, in UTC."""
    named = _time(when)
    if not isinstance(named, datetime):
        return datetime.combine(named, time.min, UTC), datetime.combine(named, time.max, UTC)
    written = _CLOCK.match(when) if isinstance(when, str) else None
    start = named.astimezone(UTC)
    if written is None or written["fraction"]:
        return start, start
    unit = "seconds" if written["second"] else "minutes" if written["minute"] else "hours"
    return start, start + timedelta(**{unit: 1}) - timedelta(microseconds=1)


def _answered_at(wallets: pd.DataFrame) -> datetime:
    """Return when the newest answer came that is not out of date; now where there is none."""
    asked = wallets["source"].isin([Source.SERVICE.value, Source.CACHE.value])
    newest = wallets["fetched_at"][asked].max()
    if pd.isna(newest):
        return datetime.now(UTC)
    cached = known_when_asked(wallets) & (wallets["source"] == Source.CACHE.value)
    old = wallets["fetched_at"][cached & (wallets["fetched_at"] < newest.floor("D"))]
    if len(old):
        raise SnapshotError(
            f"{part(len(old), len(wallets), 'wallet')} answered from the cache as of an earlier "
            f"day than the newest answer: the oldest as of {old.min():%Y-%m-%d %H:%M} UTC, the "
            f"newest as of {newest:%Y-%m-%d %H:%M} UTC",
            hint="ask for them anew with refresh=…, or say which time the snapshot is of with at=…",
        )
    answered: datetime = newest.to_pydatetime()
    return answered


def _moment(when: Moment, *, is_said: bool = False) -> datetime:
    """Return a moment in UTC, and perhaps say which one it is where no zone was named."""
    named = _time(when)
    if not isinstance(named, datetime):
        hint = 'such as "2026-01-31T06:00Z"'
        raise SnapshotError(f"{when} is a whole day, but a moment is needed", hint)
    found = named.astimezone(UTC)
    if is_said and named.tzinfo is None:
        zone = f"this machine's own ({named.astimezone().tzname()})"
        meant = f"{found:%Y-%m-%d %H:%M:%S} UTC"
        notify(f"{named} names no zone: taken as {zone}, it is {meant}", InputWarning)
    return found


def _time(when: Any) -> date | datetime:
    """Read a day, or a moment, of the machine's own zone if it names none."""
    if isinstance(when, date) and not pd.isna(when):  # a datetime is a date, too
        return when.floor("us").to_pydatetime() if isinstance(when, pd.Timestamp) else when
    if when in _DAYS_AGO:
        return datetime.now(UTC).date() - timedelta(days=_DAYS_AGO[when])
    written = when
    if isinstance(when, str) and when.endswith(_UTC):
        written = f"{when.removesuffix(_UTC)}Z"  # as lists of snapshots show it
    for kind in (date, datetime):
        with suppress(TypeError, ValueError):
            return kind.fromisoformat(written)
    raise SnapshotError(
        f"{when!r} is not a time",
        hint='a day, such as "2026-01-31" or "yesterday", or a moment, such as "2026-01-31T06:00Z"',
    )


def _length(older_than: str | timedelta) -> timedelta:
    if isinstance(older_than, timedelta) and older_than >= timedelta():
        return older_than
    written = _LENGTH.fullmatch(older_than) if isinstance(older_than, str) else None
    if written:
        return timedelta(**{_UNITS[written["unit"]]: int(written["count"])})
    hint = 'give older_than=… as "30d", "12h" or "2w"'
    raise SnapshotError(f"{older_than!r} is no length of time", hint)


def _thinned(folder: Path, alike: list[SnapshotFolder]) -> list[SnapshotFolder]:
    """Remove and return the snapshots of a period that others of it stand in for."""
    while len(alike) > 1:
        judged = {each: digest(each) for each in alike}
        try:
            gone = _superfluous(alike)
        except HistoryError:
            if all(each.path.exists() and digest(each) == judged[each] for each in alike):
                raise
        else:
            if not gone or remove(folder, gone, judged):
                return gone
        alike = [each for each in alike if each.path.exists()]  # others changed some: judge anew
    return []


def _superfluous(alike: list[SnapshotFolder]) -> list[SnapshotFolder]:
    """Choose the snapshots of a period in which no more is asked, known or read than in others."""
    for each in alike:
        with opened(each.path / HOLDINGS):  # what can't be read stands in for nothing
            pass
    wallets = read_wallets(alike)
    who, known = wallet_identities(wallets), known_when_asked(wallets)
    facts = np.stack([np.ones_like(known), known, known & wallets["error"].isna().to_numpy()])
    rows, none = wallets.groupby(SNAPSHOT).indices, np.array([], dtype=np.intp)
    said = {each.moment: rows.get(pd.Timestamp(each.moment), none) for each in alike}
    ranked = sorted(said, key=lambda moment: (*facts[1:, said[moment]].sum(axis=1), moment))
    needed, covered = {ranked[-1]}, np.zeros((len(facts), len(who.keys)), dtype=bool)
    for moment in reversed(ranked):
        codes, told = who.codes[said[moment]], facts[:, said[moment]]
        if (told & ~covered[:, codes]).any():
            needed.add(moment)
            covered[:, codes] |= told
    return [each for each in alike if each.moment not in needed]
