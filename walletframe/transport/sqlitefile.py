"""One SQLite file: creating and opening it, what its errors mean, and moving a broken one aside.

Nobody may open the file in any other way while it is in use: closing such a handle drops SQLite's
locks on it. So SQLite makes it, too, with the mode of a private file that stands as a model.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

if os.name == "posix":  # pragma: no branch - Windows has no flock
    import fcntl

T = TypeVar("T")
Identity: TypeAlias = tuple[int, int]

_WAIT_SLICE_S = 0.1
_UNWRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
FAULTS = (sqlite3.Error, OSError, UnicodeDecodeError)  # the last where a message is no text


def connect(path: Path, mode: Literal["rwc", "rw"]) -> sqlite3.Connection:
    """Open a file for any thread, one at a time, only to be read where it can't be written.

    With ``rwc`` it is made where there is none, readable by its owner alone.
    """
    if mode == "rw" or _is_there(path):
        try:
            return _opened(path, "mode=rw")
        except sqlite3.OperationalError:
            if mode == "rw" or _is_there(path):
                raise  # else it was taken away just now
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile() as model:
        return _opened(path, f"mode=rwc&modeof={quote(model.name)}")


def _is_there(path: Path) -> bool:
    """Tell whether there is a file with anything in it; an empty one is made anew, and private."""
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False


def _opened(path: Path, query: str) -> sqlite3.Connection:
    try:
        return _link(path, query)
    except sqlite3.OperationalError as fault:
        wal = Path(f"{path}-wal")
        is_whole = not (wal.exists() and wal.stat().st_size)  # else content is beside the file
        if code_of(fault) not in _UNWRITABLE or not path.is_file() or not is_whole:
            raise
        return _link(path, "mode=ro&immutable=1")


def _link(path: Path, query: str) -> sqlite3.Connection:
    link = sqlite3.connect(
        f"{path.absolute().as_uri()}?{query}",
        uri=True,
        timeout=_WAIT_SLICE_S,
        isolation_level=None,
        check_same_thread=False,
    )
    try:  # a damaged row must not hide the others
        link.text_factory = lambda stored: stored.decode(errors="replace")
        link.execute("PRAGMA user_version").fetchall()
    except BaseException:
        link.close()
        raise
    return link


def version(link: sqlite3.Connection) -> int:
    """Return the version of the tables in a file, as whoever made them wrote it; 0 without."""
    return int(link.execute("PRAGMA user_version").fetchone()[0])


def require_version(link: sqlite3.Connection, *known: int) -> None:
    """Raise a NotSupportedError where the tables are of a version that is not known."""
    if version(link) not in known:
        raise sqlite3.NotSupportedError("a later release of walletframe wrote it")


def transact(link: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    """Do some work wholly or not at all, whatever interrupts it; return what it returned."""
    try:
        link.execute("BEGIN IMMEDIATE")
        result = work(link)
        link.execute("COMMIT")
    except BaseException:
        if link.in_transaction:
            link.execute("ROLLBACK")
        raise
    return result


def identity(path: Path) -> Identity | None:
    """Return what tells a file from another of the same name: device and inode, None without."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def is_busy(fault: Exception) -> bool:
    """Tell whether somebody else holds the file."""
    return isinstance(fault, sqlite3.Error) and code_of(fault) in _BUSY


def is_broken(fault: Exception) -> bool:
    """Tell whether the file's content is damaged, or no database at all."""
    if isinstance(fault, sqlite3.Error):
        return code_of(fault) in _BROKEN
    return isinstance(fault, UnicodeDecodeError)  # of a message that quotes what is no text


def code_of(fault: sqlite3.Error) -> int:
    """Return SQLite's primary code of an error; 0 where it has none."""
    return getattr(fault, "sqlite_errorcode", 0) & 0xFF


def move_aside(path: Path, broken: Identity | None) -> Path | None:
    """Rename a broken file, unless somebody else has done so; return its new name, or None.

    An OSError where it can't be renamed, or somebody is just doing it.
    """
    with _alone_in(path.parent):
        if identity(path) != broken:
            return None
        names = (path.with_name(f"{path.name}.broken-{number}") for number in itertools.count(1))
        aside = next(name for name in names if not name.exists())
        for side in ("-wal", "-shm"):  # first: a new file may get its own once the name is free
            with suppress(FileNotFoundError):
                Path(f"{path}{side}").rename(f"{aside}{side}")
        return path.rename(aside)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    if os.name != "posix":  # pragma: no cover - Windows renames no file that others have open
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)
