"""Local paths, atomic writes, file locks, and files that only their owner can read.

Exports and reports write with `atomic_write`; bulk runs and histories use `publish`.
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
_POLL_S = 0.01
_URL = re.compile(r"[a-z][a-z0-9+.-]+:[/\\]", re.IGNORECASE)  # a drive has one letter


def local_folder(folder: str | os.PathLike[str]) -> Path:
    """Return the path of a folder; raise for a URL, which `Path` would accept silently."""
    if _URL.match(os.fspath(folder)):
        raise DatasetError(
            f"{os.fspath(folder)!r} is a URL, not a folder on a disk: an object store has no locks "
            "and no renaming, so a run that was interrupted there could not be continued",
            hint="give a folder on a disk (on a cluster: a shared one); copy it to the object "
            "store when it is complete, as with `aws s3 sync` or `gcloud storage rsync`",
        )
    return Path(folder)


@contextmanager
def atomic_write(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Replace a file once its new content is complete on the disk.

    A symlink stays a symlink and an earlier file keeps its mode. A device or a pipe gets the
    content at the end. A new `private` file is readable by its owner alone.
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
                beside.chmod(mode)  # since the umask may have narrowed it
            yield file
        publish(beside, target)
    except OSError as fault:
        if fault.filename != str(beside):
            raise
        raise OSError(fault.errno, fault.strerror, str(path)) from None
    finally:
        beside.unlink(missing_ok=True)


def publish(unfinished: Path, target: Path) -> None:
    """Sync a finished file to the disk, then rename it to its final name."""
    with unfinished.open("rb+") as file:
        os.fsync(file.fileno())
    unfinished.replace(target)
    fsync_directory(target.parent)


def fsync_directory(folder: Path) -> None:
    """Sync a folder's entries to the disk, if the system and the disk support it."""
    with suppress(OSError):  # Windows can't open folders, and some network disks can't sync them
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _clear_unfinished(folder: Path) -> None:
    """Remove this user's unfinished files that are more than a day old."""
    before, user = time.time() - FORGOTTEN_AFTER_S, getattr(os, "geteuid", int)()
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in (each for each in entries if _UNFINISHED.fullmatch(each.name)):
            with suppress(OSError):
                file = entry.stat(follow_symlinks=False)
                is_own = stat.S_ISREG(file.st_mode) and file.st_uid == user
                if is_own and file.st_mtime < before:
                    Path(entry.path).unlink()


def locked(path: Path, *, blocking: bool = True) -> AcquireReturnProxy[Any]:
    """Lock a file, across processes, until the returned context ends.

    Raises filelock's `Timeout` if another process holds it and `blocking` is False.
    """
    from filelock import FileLock  # noqa: PLC0415 - few calls need it

    lock = FileLock(path, mode=_PRIVATE_FILE, thread_local=False)
    try:
        with warnings.catch_warnings(action="ignore"):  # of newer versions, without flock
            return lock.acquire(blocking=blocking, poll_interval=_POLL_S)
    except NotImplementedError:
        raise DatasetError(
            f"{path.parent} is on a disk without locks (flock)",
            hint="choose a folder on another disk, or update filelock: newer versions also work "
            "without flock",
        ) from None


def private_folder(folder: Path) -> None:
    """Create a folder and its parents, readable by their owner alone; keep existing ones as is."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
    folder.mkdir(exist_ok=True)  # raises if it is a file


def read_parquet(path: Path, columns: list[str] | None = None) -> pa.Table:
    """Read a Parquet file, or some of its columns, without columns from the names of its folders.

    `pyarrow.dataset`, which pandas uses, leaves threads behind that can abort a process at its end.
    """
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - pandas does not load it either

    with ParquetFile(path) as file:
        return file.read(columns)


def private_file(path: Path, *, buffering: int = -1) -> BinaryIO:
    """Create a file for writing, readable by its owner alone; it must not exist yet."""
    return open(path, "xb", buffering, opener=partial(os.open, mode=_PRIVATE_FILE))


def _is_passed_through(path: Path) -> bool:
    """Return whether a path is a device, a pipe or a file descriptor of this process."""
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
    """Return the mode of an existing file, or None; raise if the file is not writable."""
    if not target.exists():
        return None
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    return stat.S_IMODE(target.stat().st_mode)
