"""Where snapshots lie on the disk, and how one gets there whole.

::

    <folder>/date=2026-01-31/20260131T060000.000000Z/wallets.parquet
                                                     holdings.parquet

A snapshot is a folder of its own, named by its time. It is written under another name and then
renamed: nobody sees half of one, two writers never write to the same one, and a crash leaves
nothing but a folder ``.saving-…`` of ``.part`` files, which no search for Parquet files finds and a
later writer clears away. What the files hold is not known here.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, BinaryIO

from platformdirs import user_data_path

from walletframe.errors import UnknownSnapshotError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

WALLETS, HOLDINGS = "wallets.parquet", "holdings.parquet"
_STAMP = "%Y%m%dT%H%M%S.%fZ"
_NAME = re.compile(r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z")
_UNFINISHED = ".saving-"
_FORGOTTEN_AFTER_S = 24 * 3600


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """One snapshot on the disk.

    Attributes
    ----------
    moment : datetime
        Its time, in UTC; no two of a folder have the same.
    path : Path
        Its folder.
    """

    moment: datetime
    path: Path


def default_folder() -> Path:
    """Return the folder in which snapshots are kept unless another is named.

    Returns
    -------
    Path
        In the user's data folder.

    Examples
    --------
    >>> default_folder().name
    'history'
    """
    return user_data_path("walletframe") / "history"


def places(folder: Path) -> list[Place]:
    """Find the snapshots of a folder.

    Parameters
    ----------
    folder : Path
        Any folder; what is no snapshot in it is passed over.

    Returns
    -------
    list of Place
        The oldest first.
    """
    return sorted(
        Place(datetime.strptime(path.name, _STAMP).replace(tzinfo=UTC), path)
        for path in folder.glob("date=*/*")
        if _NAME.fullmatch(path.name)
    )


def known_places(folder: Path) -> list[Place]:
    """Find the snapshots of a folder that should have some.

    Parameters
    ----------
    folder : Path
        Any.

    Returns
    -------
    list of Place
        One or more, the oldest first.

    Raises
    ------
    UnknownSnapshotError
        Where there are none.
    """
    found = places(folder)
    if not found:
        raise UnknownSnapshotError(
            f"no snapshot was kept in {folder}",
            hint="history.save(details) keeps one; folder=… names another place",
        )
    return found


def add(folder: Path, moment: datetime, files: Mapping[str, Callable[[BinaryIO], None]]) -> bool:
    """Put a snapshot into a folder, wholly or not at all.

    Parameters
    ----------
    folder : Path
        Made where there is none, readable by its owner alone.
    moment : datetime
        Its time, in UTC.
    files : mapping of str to callable
        By name, what writes the content of each.

    Returns
    -------
    bool
        False where there is a snapshot of that very time already; it stays as it is.

    Raises
    ------
    OSError
        Where the folder can't be written.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _clear(folder)
    unfinished = folder / f"{_UNFINISHED}{secrets.token_hex(8)}"
    unfinished.mkdir()
    try:
        for name, write in files.items():
            with (unfinished / f"{name}.part").open("xb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
        for name in files:
            (unfinished / f"{name}.part").rename(unfinished / name)
        _settle(unfinished)
        return _rename(unfinished, folder / f"date={moment:%Y-%m-%d}" / moment.strftime(_STAMP))
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _rename(unfinished: Path, final: Path) -> bool:
    final.parent.mkdir(exist_ok=True)
    try:
        unfinished.rename(final)  # onto a folder with files in it, no system renames
    except OSError:
        if final.exists():
            return False
        raise
    _settle(final.parent)
    _settle(final.parent.parent)
    return True


def _settle(folder: Path) -> None:
    """Have a folder's list of names on the disk, where the system offers it."""
    with suppress(PermissionError):  # Windows opens no folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _clear(folder: Path) -> None:
    """Remove what writers left behind that did not come to their end."""
    for path in folder.glob(f"{_UNFINISHED}*"):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _FORGOTTEN_AFTER_S:
                shutil.rmtree(path, ignore_errors=True)
