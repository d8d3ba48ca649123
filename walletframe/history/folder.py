"""Where snapshots are on the disk, how one is written atomically, and how times are read."""
# <folder>/date=2026-01-31/20260131T060000.000000Z/wallets.parquet
#                                                  holdings.parquet
#
# A snapshot is a folder of its own, named by its time. It is written under another name and then
# renamed: nobody sees half of one, two writers never write to the same one, and a crash leaves
# nothing but a folder `.saving-…` of `.part` files, which no search for Parquet files finds and a
# later writer clears away.

from __future__ import annotations

import re
import secrets
import shutil
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

import pandas as pd
from platformdirs import user_data_path

from walletframe.disk import clear, private_file, private_folder, publish, settle
from walletframe.errors import Argument, Either, SnapshotError, Spelled, UnknownSnapshotError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Moment: TypeAlias = str | date | datetime

WALLETS, HOLDINGS = "wallets.parquet", "holdings.parquet"
_STAMP = "%Y%m%dT%H%M%S.%fZ"
_NAME = re.compile(r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z")
_UNFINISHED = ".saving-"
_CLOCK = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d(?P<minute>:\d\d)?(?P<second>:\d\d)?(?P<fraction>[.,]\d+)?"
)
_DAYS_AGO = {"today": 0, "yesterday": 1}
LISTED = Either("history.snapshots()", "walletframe history show")


@dataclass(frozen=True, slots=True, order=True)
class SnapshotFolder:
    """One snapshot on the disk: its time, in UTC, and its folder."""

    moment: datetime
    path: Path


def default_folder() -> Path:
    """Return the folder in which snapshots are kept unless another is named."""
    return user_data_path("walletframe") / "history"


def snapshot_folders(folder: Path) -> list[SnapshotFolder]:
    """Find the snapshots of a folder."""
    return sorted(
        SnapshotFolder(datetime.strptime(path.name, _STAMP).replace(tzinfo=UTC), path)
        for path in folder.glob("date=*/*")
        if _NAME.fullmatch(path.name)
    )


def required_folders(folder: Path) -> list[SnapshotFolder]:
    """Find the snapshots of a folder that should have some."""
    found = snapshot_folders(folder)
    if not found:
        save = Either("history.save(details)", "walletframe history save")
        raise UnknownSnapshotError(
            f"there are no snapshots in {folder}",
            hint=Spelled(save, " keeps one; ", Argument("folder"), " names another place"),
        )
    return found


def add(folder: Path, taken_at: datetime, write: Callable[[str, BinaryIO], None]) -> bool:
    """Put a snapshot into a folder, wholly or not at all: not where there is one of that time."""
    private_folder(folder)
    clear(folder, _UNFINISHED)
    unfinished = folder / f"{_UNFINISHED}{secrets.token_hex(8)}"
    final = folder / f"date={taken_at:%Y-%m-%d}" / taken_at.strftime(_STAMP)
    private_folder(unfinished)
    try:
        for name in (WALLETS, HOLDINGS):
            with private_file(unfinished / f"{name}.part") as file:
                write(name, file)
        for name in (WALLETS, HOLDINGS):
            publish(unfinished / f"{name}.part", unfinished / name)
        private_folder(final.parent)
        try:
            unfinished.rename(final)  # onto a folder with files in it, no system renames
        except OSError:
            if final.exists():
                return False
            raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    settle(final.parent)
    settle(folder)
    return True


def bounds(when: Moment) -> tuple[datetime, datetime]:
    """Give the first and the last microsecond of what is called a time, in UTC."""
    read = _read(when)
    if not isinstance(read, datetime):
        return datetime.combine(read, time.min, UTC), datetime.combine(read, time.max, UTC)
    written = _CLOCK.match(when) if isinstance(when, str) else None
    if written is None or written["fraction"]:
        return read, read
    unit = "seconds" if written["second"] else "minutes" if written["minute"] else "hours"
    return read, read + timedelta(**{unit: 1}) - timedelta(microseconds=1)


def moment(when: Moment) -> datetime:
    """Give a moment in UTC."""
    read = _read(when)
    if not isinstance(read, datetime):
        raise SnapshotError(
            f"{when} is a whole day, but a moment is needed", hint='such as "2026-01-31T06:00Z"'
        )
    return read


def _read(when: Any) -> date | datetime:
    """Give a day, or a moment in UTC."""
    # A datetime is a date, too.
    read = when if isinstance(when, date) and not pd.isna(when) else _parsed(when)
    if not isinstance(read, datetime):
        return read
    if isinstance(read, pd.Timestamp):
        read = read.floor("us").to_pydatetime()
    return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)


def _parsed(when: Any) -> date | datetime:
    if when in _DAYS_AGO:
        return datetime.now(UTC).date() - timedelta(days=_DAYS_AGO[when])
    for kind in (date, datetime):
        try:
            return kind.fromisoformat(when)
        except (TypeError, ValueError):
            continue
    raise SnapshotError(
        f"{when!r} is not a time",
        hint='a day, such as "2026-01-31" or "yesterday", or a moment, such as "2026-01-31T06:00Z"',
    )
