"""Where snapshots are on the disk, and how they are written and replaced atomically."""
# <folder>/date=2026-01-31/20260131T060000.000000Z/wallets.parquet
#                                                  holdings.parquet
#                          packed-0123456789abcdef/wallets.parquet
#                                                  holdings.parquet
#                                                  snapshots.txt
#
# A snapshot is a folder of its own, named by its time; or one of several of a day in a folder that
# lists their times. Either is written under another name and then renamed: nobody sees half of one,
# two writers never write to the same one, and a crash leaves nothing but a folder `.saving-…` of
# `.part` files, which no search for Parquet files finds and a later writer clears away. What is
# packed is removed only after the pack is on the disk: of what is in both, the pack counts.

from __future__ import annotations

import re
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, BinaryIO

from platformdirs import user_data_path

from walletframe.disk import clear, local_folder, private_file, private_folder, publish, settle
from walletframe.errors import Argument, Either, HistoryError, Spelled, UnknownSnapshotError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

WALLETS, HOLDINGS = "wallets.parquet", "holdings.parquet"
_STAMP = "%Y%m%dT%H%M%S.%fZ"
_NAME = re.compile(r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z")
_PACK, _LIST = "packed-", "snapshots.txt"
_UNFINISHED = ".saving-"
LISTED = Either("history.snapshots()", "walletframe history show")


@dataclass(frozen=True, slots=True, order=True)
class SnapshotFolder:
    """One snapshot on the disk: its time, in UTC, and the folder that has it."""

    moment: datetime
    path: Path

    @property
    def packed(self) -> bool:
        """Tell whether the folder has others, too."""
        return self.path.name.startswith(_PACK)


def history_folder(given: str | Path | None) -> Path:
    """Return the folder in which snapshots are kept: the user's own unless another is named."""
    return user_data_path("walletframe") / "history" if given is None else local_folder(given)


def snapshot_folders(folder: Path) -> list[SnapshotFolder]:
    """Find the snapshots of a folder."""
    found = {moment: path for path, moments in stored(folder) for moment in moments}
    return sorted(SnapshotFolder(moment, path) for moment, path in found.items())


def stored(folder: Path) -> Iterator[tuple[Path, list[datetime]]]:
    """Find the folders of snapshots and the times that each has, those with several last."""
    for path in sorted(folder.glob("date=*/*"), key=lambda path: path.name):
        if _NAME.fullmatch(path.name):
            yield path, [_time(path.name)]
        elif path.name.startswith(_PACK):
            yield path, _listed(path)


def _time(stamp: str) -> datetime:
    if not _NAME.fullmatch(stamp):
        raise ValueError(f"{stamp!r} is not the time of a snapshot")
    return datetime.fromisoformat(stamp)  # strptime takes ten times as long


def _listed(pack: Path) -> list[datetime]:
    try:
        return [_time(stamp) for stamp in (pack / _LIST).read_text("ascii").split()]
    except (OSError, ValueError) as fault:
        if not pack.exists():  # it was replaced just now
            return []
        reason = str(fault)
    raise HistoryError(
        f"{pack / _LIST} can't be read: {reason}",
        hint="to go on without these snapshots, move its folder out of the history",
    )


def is_there(folder: Path, taken_at: datetime) -> bool:
    """Tell whether there is a snapshot of exactly this time."""
    day = folder / f"date={taken_at:%Y-%m-%d}"
    if (day / taken_at.strftime(_STAMP)).exists():
        return True
    for pack in day.glob(f"{_PACK}*"):
        with suppress(HistoryError):  # a broken one keeps no other one from being saved
            if taken_at in _listed(pack):
                return True
    return False


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
    if is_there(folder, taken_at):
        return False
    final = folder / f"date={taken_at:%Y-%m-%d}" / taken_at.strftime(_STAMP)
    return _put(folder, final, write, (WALLETS, HOLDINGS))


def pack(folder: Path, moments: Sequence[datetime], write: Callable[[str, BinaryIO], None]) -> None:
    """Put several snapshots of a day into one folder; those that had them are removed after it."""

    def write_any(name: str, file: BinaryIO) -> None:
        if name == _LIST:
            file.write("\n".join(each.strftime(_STAMP) for each in moments).encode("ascii"))
        else:
            write(name, file)

    final = folder / f"date={moments[0]:%Y-%m-%d}" / f"{_PACK}{secrets.token_hex(8)}"
    _put(folder, final, write_any, (WALLETS, HOLDINGS, _LIST))


def remove(folder: Path, paths: Sequence[Path]) -> None:
    """Remove snapshots, each at once, and the folders of days that have none left."""
    for path in paths:
        gone = folder / f"{_UNFINISHED}{secrets.token_hex(8)}"
        with suppress(FileNotFoundError):  # another process removed it
            path.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)
        with suppress(OSError):  # others are left
            path.parent.rmdir()


def _put(
    folder: Path, final: Path, write: Callable[[str, BinaryIO], None], names: Sequence[str]
) -> bool:
    """Write files beside and rename their folder; say whether there was none of that name."""
    private_folder(folder)
    clear(folder, _UNFINISHED)
    unfinished = folder / f"{_UNFINISHED}{secrets.token_hex(8)}"
    private_folder(unfinished)
    try:
        for name in names:
            with private_file(unfinished / f"{name}.part") as file:
                write(name, file)
        for name in names:
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
