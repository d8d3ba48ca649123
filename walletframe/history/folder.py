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

import re
import secrets
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, BinaryIO

from platformdirs import user_data_path

from walletframe.disk import clear, private_file, private_folder, publish, settle
from walletframe.errors import UnknownSnapshotError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

WALLETS, HOLDINGS = "wallets.parquet", "holdings.parquet"
_STAMP = "%Y%m%dT%H%M%S.%fZ"
_NAME = re.compile(r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z")
_UNFINISHED = ".saving-"


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
        Made where there is none; what is made is readable by its owner alone.
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
