"""Local paths, atomic writes, file locks, and files that only their owner can read."""

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

_PRIVATE_FOLDER, _PRIVATE_FILE = 0o700, 0o600
_UNFINISHED_NAME = re.compile(r"\.walletframe-[0-9a-f]{16}")
ABANDONED_AFTER_S = 24 * 3600
_POLL_S = 0.01


def local_path(folder: str | os.PathLike[str]) -> Path:
    """Return the path of a folder. Raise an error for a URL."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:[/\\]", os.fspath(folder)):  # C:/ is a Windows drive
        raise DatasetError(
            f"{os.fspath(folder)!r} is a URL, not a folder on a disk. An object store supports "
            "neither locks nor renaming, so an interrupted run could not continue",
            hint="use a folder on a disk; a cluster needs a shared disk. When the run is complete, "
            "copy the folder to the object store, for example with `aws s3 sync`",
        )
    return Path(folder)


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Write new content to a temporary file, then replace the file.

    Symlinks are followed, and an existing file keeps its permissions. A device or pipe gets all
    content at the end of the ``with`` block.
    """
    if _is_special_file(path):
        with TemporaryFile() as buffer:
            yield buffer
            buffer.seek(0)
            with path.open("wb") as device:
                shutil.copyfileobj(buffer, device)
        return
    target = path.resolve()
    mode = _permissions_of_writable_file(target)
    _remove_abandoned_files(target.parent)
    temporary = target.with_name(f".walletframe-{secrets.token_hex(8)}")
    try:
        opener = partial(os.open, mode=0o666 if mode is None else mode)
        with open(temporary, "xb", opener=opener) as file:
            if mode is not None:
                temporary.chmod(mode)  # the umask may have removed some permissions
            yield file
        sync_and_rename(temporary, target)
    except OSError as fault:
        if fault.filename != str(temporary):
            raise
        raise OSError(fault.errno, fault.strerror, str(path)) from None
    finally:
        temporary.unlink(missing_ok=True)


def sync_and_rename(unfinished: Path, target: Path) -> None:
    """Sync a finished file to the disk, then rename it."""
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


def _remove_abandoned_files(folder: Path) -> None:
    before, user = time.time() - ABANDONED_AFTER_S, getattr(os, "geteuid", int)()
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in (each for each in entries if _UNFINISHED_NAME.fullmatch(each.name)):
            with suppress(OSError):
                file = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(file.st_mode) and file.st_uid == user and file.st_mtime < before:
                    Path(entry.path).unlink()


def file_lock(path: Path, *, blocking: bool = True) -> AcquireReturnProxy[Any]:
    """Acquire an inter-process lock. Return a context manager that releases the lock.

    If another process holds the lock and `blocking` is False, raise filelock's `Timeout`.
    """
    from filelock import FileLock  # noqa: PLC0415 - slow to load, and few calls need it

    lock = FileLock(path, mode=_PRIVATE_FILE, thread_local=False)
    try:
        # Newer versions of filelock warn if the disk does not support flock.
        with warnings.catch_warnings(action="ignore"):
            return lock.acquire(blocking=blocking, poll_interval=_POLL_S)
    except NotImplementedError:
        raise DatasetError(
            f"{path.parent} is on a disk that does not support file locks (flock)",
            hint="choose a folder on another disk, or update filelock: new versions need no flock",
        ) from None


def create_private_folder(folder: Path) -> None:
    """Create a folder and its missing parents, readable only by their owner."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
    folder.mkdir(exist_ok=True)  # raises an error if `folder` is a file


def read_parquet(path: Path, columns: list[str] | None = None) -> pa.Table:
    """Read a Parquet file, or some of its columns. Folder names such as ``x=1`` add no column."""
    # pandas uses `pyarrow.dataset`, whose threads can abort the process at exit.
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - importing pandas does not load it

    with ParquetFile(path) as file:
        return file.read(columns)


def create_private_file(path: Path, *, buffering: int = -1) -> BinaryIO:
    """Create and open a file that only its owner can read. Raise if the file already exists."""
    return open(path, "xb", buffering, opener=partial(os.open, mode=_PRIVATE_FILE))


def _is_special_file(path: Path) -> bool:
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


def _permissions_of_writable_file(target: Path) -> int | None:
    if not target.exists():
        return None
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    return stat.S_IMODE(target.stat().st_mode)
