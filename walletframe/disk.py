"""Paths of this machine's disks, atomic writing there, and what only its owner can read.

Exports and reports replace a file through `replaced`, bulk runs and histories use `publish`.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import time
import warnings
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO

from walletframe.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from filelock import AcquireReturnProxy

_PRIVATE_FOLDER, _PRIVATE_FILE, _PUBLIC_FILE = 0o700, 0o600, 0o666
_UNFINISHED = re.compile(r"\.walletframe-[0-9a-f]{16}")
FORGOTTEN_AFTER_S = 24 * 3600
_AGAIN_S = 0.01
_URL = re.compile(r"[a-z][a-z0-9+.-]+:[/\\]", re.IGNORECASE)  # a drive has one letter


def local_folder(given: str | os.PathLike[str]) -> Path:
    """Return the path of a folder, or refuse a URL, which a path would be made of silently."""
    if _URL.match(os.fspath(given)):
        raise DatasetError(
            f"{os.fspath(given)!r} is a URL, and no folder on a disk: an object store has no locks "
            "and no renaming, without which nothing that ends midway could be continued",
            hint="give a folder on a disk (of a cluster: a shared one), and copy it there when it "
            "is whole, as with `aws s3 sync` or `gcloud storage rsync`",
        )
    return Path(given)


@contextmanager
def replaced(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Write a file anew; until all of it is on the disk, the earlier one stays.

    A link stays one, an earlier file keeps its mode; a device or a pipe gets all of it at the end.
    A new file that is private is read by its owner alone.
    """
    if _is_passed_through(path):
        with TemporaryFile() as buffer:
            yield buffer
            buffer.seek(0)
            with path.open("wb") as device:
                shutil.copyfileobj(buffer, device)
        return
    target = path.resolve()
    mode = _mode_of(target)
    _clear_unfinished(target.parent)
    beside = target.with_name(f".walletframe-{secrets.token_hex(8)}")
    try:
        fresh = _PRIVATE_FILE if private else _PUBLIC_FILE
        opener = partial(os.open, mode=fresh if mode is None else mode)
        with open(beside, "xb", opener=opener) as file:
            if mode is not None:
                beside.chmod(mode)  # which the umask may have narrowed
            yield file
        publish(beside, target)
    except OSError as fault:
        if fault.filename != str(beside):
            raise
        raise OSError(fault.errno, fault.strerror, str(path)) from None
    finally:
        beside.unlink(missing_ok=True)


def publish(unfinished: Path, target: Path) -> None:
    """Bring a file that is written to its end to the disk, then under its name."""
    with unfinished.open("rb+") as file:
        os.fsync(file.fileno())
    unfinished.replace(target)
    settle(target.parent)


def settle(folder: Path) -> None:
    """Bring a folder's list of names to the disk, where the system and the disk offer it."""
    with suppress(OSError):  # Windows opens no folder, some network disks sync none
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _clear_unfinished(folder: Path) -> None:
    """Remove files that this user began to write a day ago or earlier, and nothing else."""
    before, user = time.time() - FORGOTTEN_AFTER_S, getattr(os, "geteuid", int)()
    with suppress(OSError), os.scandir(folder) as found:
        for entry in (each for each in found if _UNFINISHED.fullmatch(each.name)):
            with suppress(OSError):
                file = entry.stat(follow_symlinks=False)
                is_own = stat.S_ISREG(file.st_mode) and file.st_uid == user
                if is_own and file.st_mtime < before:
                    Path(entry.path).unlink()


def locked(path: Path, *, blocking: bool = True) -> AcquireReturnProxy[Any]:
    """Lock a file until the context that is returned ends: one holder in all processes.

    Raises filelock's `Timeout` if it is not to block, and somebody else holds it.
    """
    from filelock import FileLock  # noqa: PLC0415 - few calls lock anything

    lock = FileLock(path, mode=_PRIVATE_FILE, thread_local=False)
    try:
        with warnings.catch_warnings(action="ignore"):  # where it makes do without flock
            return lock.acquire(blocking=blocking, poll_interval=_AGAIN_S)
    except NotImplementedError:
        raise DatasetError(
            f"{path.parent} is on a disk without locks (flock)",
            hint="choose a folder on another disk, or update filelock, which then makes do",
        ) from None


def private_folder(folder: Path) -> None:
    """Make a folder, and those above it, that its owner alone reads; leave one that is there."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
    folder.mkdir(exist_ok=True)  # raises where it is a file


def read_parquet(path: Path, columns: list[str] | None = None) -> pa.Table:
    """Read a file, or some of its columns; what its folders are called adds none.

    Arrow's datasets, by which it and pandas read files, too, leave threads that may abort a process
    which ends soon after.
    """
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - pandas does not load it either

    with ParquetFile(path) as file:
        return file.read(columns)


def private_file(path: Path, *, buffering: int = -1) -> BinaryIO:
    """Open a new file that its owner alone reads, for writing; there must be none."""
    return open(path, "xb", buffering, opener=partial(os.open, mode=_PRIVATE_FILE))


def _is_passed_through(path: Path) -> bool:
    """Return whether a path is no regular file: a device, a pipe, a descriptor of this process."""
    with suppress(FileNotFoundError):
        if not path.is_dir() and not stat.S_ISREG(path.stat().st_mode):
            return True
    while True:
        folder = path.parent.resolve()
        if folder.match("/proc/*/fd") or folder.match("/dev/fd"):
            return True
        if not path.is_symlink():
            return False
        path = folder / path.readlink()


def _mode_of(target: Path) -> int | None:
    """Return the mode of an earlier file, which may be replaced as it may be written."""
    if not target.exists():
        return None
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    return stat.S_IMODE(target.stat().st_mode)
