"""Saving and loading snapshots; see `folder` and `tables` for what is on the disk."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import pandas as pd

from walletframe.address import canonical_key, parse_wallets
from walletframe.errors import HistoryError, InputWarning, Spelled, UnknownSnapshotError
from walletframe.frameless import at_the_boundary
from walletframe.frames import SIMULATED, details_given, known_when_asked
from walletframe.history.admission import admitted, already_there, is_kept
from walletframe.history.folder import LISTED, add, history_folder, required_folders
from walletframe.history.tables import SNAPSHOT, read, read_wallets, write
from walletframe.history.times import answered_at, bounds, said_moment
from walletframe.notice import notify

if TYPE_CHECKING:
    from collections.abc import Callable

    from walletframe.address import WalletsLike
    from walletframe.frames import DetailsLike, WalletDetails
    from walletframe.history.folder import SnapshotFolder
    from walletframe.history.times import Moment

PathLike: TypeAlias = str | Path
_LATEST = "latest"
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
        If `details` is not a fetch, lacks a column, or has floats as amounts.
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
    Parquet files, ``date=…/…/holdings.parquet`` and ``wallets.parquet``, with exact amounts as
    text, which DuckDB, polars and pandas open. To delete one, delete its folder.

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
    given = None if at is None else said_moment(at)
    kept = admitted(details_given(details), path, may_be_simulated=folder is not None)
    taken_at = given or answered_at(kept.wallets)
    while not add(path, taken_at, partial(write, kept, taken_at)):
        if given:
            raise already_there(taken_at)
        if is_kept(kept, path, taken_at):
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
    first = None if since is None else bounds(since)[0]
    last = None if until is None else bounds(until)[1]

    def asked() -> list[SnapshotFolder]:
        return [
            each
            for each in required_folders(history_folder(folder))
            if (first is None or each.moment >= first) and (last is None or each.moment <= last)
        ]

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
    keys = _keys(wallets)
    last = None if when == _LATEST else bounds(when)[1]

    def asked() -> list[SnapshotFolder]:
        found = required_folders(history_folder(folder))
        early = [each for each in found if last is None or each.moment <= last]
        if not early:
            raise UnknownSnapshotError(
                f"there is no snapshot of {when} or earlier",
                hint=Spelled(
                    f"the oldest is of {found[0].moment:%Y-%m-%d %H:%M} UTC; see ", LISTED
                ),
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
    wallets, found = _read(
        partial(required_folders, history_folder(folder)),
        lambda found: (read_wallets(found), found),
    )
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


def _read(
    asked: Callable[[], list[SnapshotFolder]], reader: Callable[[list[SnapshotFolder]], _T]
) -> _T:
    """Read snapshots, and look for them anew where a compaction replaced them meanwhile."""
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
