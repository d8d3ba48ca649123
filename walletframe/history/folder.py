"""Where snapshots are on the disk, and how one is written atomically."""
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
from datetime import UTC, datetime
from typing import TYPE_CHECKING, BinaryIO

from platformdirs import user_data_path

from walletframe.disk import clear, private_file, private_folder, publish, settle
from walletframe.errors import Argument, Either, Spelled, UnknownSnapshotError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

WALLETS, HOLDINGS = "wallets.parquet", "holdings.parquet"
_STAMP = "%Y%m%dT%H%M%S.%fZ"
_NAME = re.compile(r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z")
_UNFINISHED = ".saving-"
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
        raise UnknownSnapshotError(
            f"there are no snapshots in {folder}",
            hint=Spelled(
                Either("history.save(details)", "walletframe history save"),
                " keeps one; ",
                Argument("folder"),
                " names another place",
            ),
        )
    return found


def add(folder: Path, moment: datetime, files: Mapping[str, Callable[[BinaryIO], None]]) -> bool:
    """Put a snapshot into a folder, wholly or not at all."""
    private_folder(folder)
    clear(folder, _UNFINISHED)
    unfinished = folder / f"{_UNFINISHED}{secrets.token_hex(8)}"
    private_folder(unfinished)
    try:
        for name, write in files.items():
            with private_file(unfinished / f"{name}.part") as file:
                write(file)
        for name in files:
            publish(unfinished / f"{name}.part", unfinished / name)
        return _rename(unfinished, folder / f"date={moment:%Y-%m-%d}" / moment.strftime(_STAMP))
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _rename(unfinished: Path, final: Path) -> bool:
    private_folder(final.parent)
    try:
        unfinished.rename(final)  # onto a folder with files in it, no system renames
    except OSError:
        if final.exists():
            return False
        raise
    settle(final.parent)
    settle(final.parent.parent)
    return True
