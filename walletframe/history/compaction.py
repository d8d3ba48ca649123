"""Compaction: fewer snapshots of times long past, and the files of each day packed into one."""
# A snapshot is left out only where others of its period know all wallets that it knows. Days that
# are over are packed: what has to be opened for a wallet's year is then a file for each day.

from __future__ import annotations

import re
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from walletframe.errors import Argument, ArgumentError, SnapshotError, Spelled
from walletframe.frames import known_when_asked, wallet_identities
from walletframe.history.folder import (
    WALLETS,
    history_folder,
    pack,
    remove,
    required_folders,
    stored,
)
from walletframe.history.tables import (
    GROUP_ROWS,
    KEY,
    POSITION,
    SNAPSHOT,
    key_ends,
    of_moments,
    opened,
    read_wallets,
    writer,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pyarrow.parquet as pq

    from walletframe.history.folder import SnapshotFolder

_PERIODS: Final[dict[str, Callable[[datetime], Any]]] = {
    "all": lambda moment: moment,
    "hourly": lambda moment: moment.replace(minute=0, second=0, microsecond=0),
    "daily": lambda moment: moment.date(),
    "weekly": lambda moment: moment.isocalendar()[:2],
    "monthly": lambda moment: (moment.year, moment.month),
}
_LENGTH = re.compile(r"(?P<count>[0-9]{1,5})(?P<unit>[hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
_ROWS = 500_000  # that are sorted at once; more take memory, fewer time
_WIDEST = 4  # times as many rows in a group as of a single snapshot: 16 take twice as long


def compact(
    *,
    keep: str = "daily",
    older_than: str | timedelta = "30d",
    folder: str | Path | None = None,
) -> pd.DataFrame:
    """Keep fewer of the older snapshots, and pack all so that they are read faster.

    Parameters
    ----------
    keep : {"daily", "hourly", "weekly", "monthly", "all"}
        Of how long a period, in UTC, one snapshot stays: the last of those in which most wallets
        are known. Another of the same period stays only where it knows, or asked for, a wallet that
        those that stay don't.
    older_than : str or timedelta, default "30d"
        How old a snapshot is that may be left out, such as ``"12h"`` or ``"30d"``; younger ones,
        and those of a period that is in part younger, all stay.
    folder : str or Path, optional
        Where they were saved.

    Returns
    -------
    DataFrame
        The snapshots that are gone, the oldest first, on an index from 0, with the one column
        ``snapshot``, datetime64[us, UTC]; perhaps without rows.

    Raises
    ------
    ArgumentError
        If `keep` is something else.
    UnknownSnapshotError
        If there are no snapshots.
    SnapshotError, HistoryError
        If `older_than` is no length of time, or a snapshot can't be read; then nothing of its day
        is removed.
    OSError
        If the folder can't be written.

    Notes
    -----
    What stays, stays exactly as it was saved, and is read by the same calls. The snapshots of a day
    that is over become one folder ``date=…/packed-…`` of the same files. A day's new folder is on
    the disk before its old ones are removed: whenever a process dies, each snapshot that stays is
    there, and the next compaction goes on. Others may read and save meanwhile. Until the old ones
    are removed, or the next compaction removes them, a program that opens the Parquet files
    themselves may see rows twice.

    Examples
    --------
    >>> import tempfile, walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = walletframe.fetch_wallets("NEAR.bob", client=client)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for hour in (6, 7):
    ...         _ = walletframe.history.save(details, folder=folder, at=f"2026-01-31T0{hour}:00Z")
    ...     compact(folder=folder)
                       snapshot
    0 2026-01-31 06:00:00+00:00
    """
    path = history_folder(folder)
    now = datetime.now(UTC)
    found = required_folders(path)
    gone = _left_out(found, keep, now - _length(older_than))
    stays = {each.moment for each in found} - gone
    by_day = groupby(sorted(stored(path), key=_day), key=_day)
    for day, group in by_day:
        entries = [*group]
        held = [each for each in found if each.moment in stays and each.path.parent.name == day]
        if day < f"date={now:%Y-%m-%d}":
            _settle(path, entries, held)
        else:
            remove(path, [each for each, moments in entries if not stays.intersection(moments)])
    return pd.DataFrame({SNAPSHOT: pd.DatetimeIndex(sorted(gone), tz=UTC).as_unit("us")})


def _day(entry: tuple[Path, list[datetime]]) -> str:
    return entry[0].parent.name


def _length(older_than: str | timedelta) -> timedelta:
    if isinstance(older_than, timedelta) and older_than >= timedelta():
        return older_than
    written = _LENGTH.fullmatch(older_than) if isinstance(older_than, str) else None
    if written:
        return timedelta(**{_UNITS[written["unit"]]: int(written["count"])})
    raise SnapshotError(
        f"{older_than!r} is no length of time",
        hint=Spelled("give ", Argument("older_than"), ' as "30d", "12h" or "2w"'),
    )


def _left_out(found: list[SnapshotFolder], keep: str, limit: datetime) -> set[datetime]:
    """Choose the snapshots that others of their period stand in for."""
    if keep not in _PERIODS:
        hint = Spelled("give ", Argument("keep"), f" as one of {', '.join(_PERIODS)}")
        raise ArgumentError(f"{keep!r} is no period", hint=hint)
    period = _PERIODS[keep]
    old = [each for each in found if each.moment < limit and period(each.moment) != period(limit)]
    gone: set[datetime] = set()
    for _, group in groupby(old, key=lambda each: period(each.moment)):
        alike = [*group]
        if len(alike) > 1:
            gone |= {each.moment for each in alike} - _needed(alike)
    return gone


def _needed(alike: list[SnapshotFolder]) -> set[datetime]:
    """Choose a snapshot of a period, and those that know or asked what it didn't."""
    wallets = read_wallets(alike)
    who, known = wallet_identities(wallets), known_when_asked(wallets)
    rows, none = wallets.groupby(SNAPSHOT).indices, np.array([], dtype=np.intp)
    said = {each.moment: rows.get(pd.Timestamp(each.moment), none) for each in alike}
    ranked = sorted(said, key=lambda moment: (known[said[moment]].sum(), moment), reverse=True)
    asked_of, known_of = np.zeros((2, len(who.keys)), dtype=bool)
    needed = set(ranked[:1])
    for moment in ranked:
        codes, sure = who.codes[said[moment]], known[said[moment]]
        if not (asked_of[codes].all() and known_of[codes[sure]].all()):
            needed.add(moment)
            asked_of[codes] = True
            known_of[codes[sure]] = True
    return needed


def _settle(
    folder: Path, entries: list[tuple[Path, list[datetime]]], held: list[SnapshotFolder]
) -> None:
    """Bring a day to folders that have what stays, and nothing else: one for all that are alike.

    Snapshots with other columns of a user's own, or of another type, stay apart.
    """
    alike: dict[str, list[SnapshotFolder]] = {}
    kinds: dict[Path, str] = {}
    for each in held:
        if each.path not in kinds:
            with opened(each.path / WALLETS) as file:
                kinds[each.path] = file.schema_arrow.remove_metadata().to_string()
        alike.setdefault(kinds[each.path], []).append(each)
    there = {tuple(sorted(moments)): path for path, moments in entries}
    whole = set()
    for group in alike.values():
        moments = [each.moment for each in group]
        if tuple(moments) in there:
            whole.add(there[tuple(moments)])
        else:
            pack(folder, moments, partial(_packed, group))
    remove(folder, [path for path, _ in entries if path not in whole])


def _packed(held: list[SnapshotFolder], name: str, file: BinaryIO) -> None:
    """Write rows of several snapshots, by wallet, then time, as they are."""
    with ExitStack() as stack:
        files = {
            path: stack.enter_context(opened(path / name))
            for path in dict.fromkeys(each.path for each in held)
        }
        schema = next(iter(files.values())).schema_arrow
        parquet = stack.enter_context(writer(file, schema))
        rows = GROUP_ROWS * min(len(held), _WIDEST)
        for first, last in _ranges(list(files.values())):
            parts = []
            for path, each in files.items():
                own = [one.moment for one in held if one.path == path]
                parts.append(of_moments(_between(each, first, last), own))
            table = pa.concat_tables(parts)
            order = [(each, "ascending") for each in (KEY, SNAPSHOT, POSITION)]
            if len(table):
                parquet.write_table(table.cast(schema).sort_by(order), row_group_size=rows)


def _ranges(files: list[pq.ParquetFile]) -> Iterator[tuple[str, str | None]]:
    """Cut the wallets of all files into ranges of which the rows are not too many to sort."""
    groups = sorted(
        (ends[0], each.metadata.row_group(number).num_rows)
        for each in files
        for number, ends in enumerate(key_ends(each.metadata))
        if ends
    )
    cuts, count = [""], 0
    for key, rows in groups:
        if count + rows > _ROWS and key > cuts[-1]:
            cuts.append(key)
            count = 0
        count += rows
    yield from pairwise([*cuts, None])


def _between(file: pq.ParquetFile, first: str, last: str | None) -> pa.Table:
    """Read the rows of some wallets, in the order of their keys."""
    found = [
        number
        for number, ends in enumerate(key_ends(file.metadata))
        if ends is None or (ends[1] >= first and (last is None or ends[0] < last))
    ]
    table = file.read_row_groups(found, use_threads=False)
    inside = pc.greater_equal(table[KEY], first)
    if last is not None:
        inside = pc.and_(inside, pc.less(table[KEY], last))
    return table.filter(inside)
