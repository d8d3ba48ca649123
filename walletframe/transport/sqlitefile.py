"""One SQLite file: how it is made and opened, what its errors mean, and how it is moved aside.

Does not know what its rows are for, nor what is done where it fails. Nobody may open the file in
any other way while it is in use: closing such a handle drops SQLite's locks on it.
"""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows renames no file that others have open
    fcntl = None  # type: ignore[assignment]

VERSION = 1
LATER_RELEASE = "a later release of walletframe wrote it"
WAIT_SLICE_S = 0.1
_SIDES = ("-wal", "-shm")
_UNWRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_WAL_LIMIT_BYTES = 4 * 1024 * 1024
_ANSWERS = "key TEXT PRIMARY KEY, fetched_at TEXT NOT NULL, body BLOB NOT NULL, head TEXT"
_SCHEMA = (
    f"CREATE TABLE IF NOT EXISTS answers ({_ANSWERS})",
    "CREATE INDEX IF NOT EXISTS answers_by_age ON answers (fetched_at)",
    "CREATE TABLE IF NOT EXISTS aliases (key TEXT PRIMARY KEY, target TEXT NOT NULL)",
    f"PRAGMA user_version = {VERSION}",
)

T = TypeVar("T")
Identity: TypeAlias = tuple[int, int]


def connect(path: Path, mode: Literal["rwc", "rw"]) -> sqlite3.Connection:
    """Open a file, and read its first page.

    Parameters
    ----------
    path : Path
        The file.
    mode : {"rwc", "rw"}
        Whether it is made, readable by its owner alone, where there is none.

    Returns
    -------
    sqlite3.Connection
        It may be used by any thread, one at a time. Where the file's folder can't be written, it
        only reads.

    Raises
    ------
    sqlite3.Error, OSError
        Where there is no such file, or it is none of SQLite's.
    """
    if mode == "rwc":
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        return _link(path, f"mode={mode}")
    except sqlite3.OperationalError as fault:
        if _code(fault) not in _UNWRITABLE or not _is_whole(path):
            raise
        return _link(path, "mode=ro&immutable=1")


def _is_whole(path: Path) -> bool:
    """Tell whether all of a file's content is in the file itself, with nothing still beside it."""
    wal = Path(f"{path}-wal")
    return path.is_file() and not (wal.exists() and wal.stat().st_size)


def _link(path: Path, query: str) -> sqlite3.Connection:
    link = sqlite3.connect(
        f"{path.absolute().as_uri()}?{query}",
        uri=True,
        timeout=WAIT_SLICE_S,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        if path.stat().st_size == 0:
            path.chmod(0o600)
        link.execute("PRAGMA user_version").fetchall()
    except BaseException:
        link.close()
        raise
    return link


def prepare(link: sqlite3.Connection) -> None:
    """Make the tables where there are none, and set what a connection needs.

    Parameters
    ----------
    link : sqlite3.Connection
        A connection to a file, or to memory.

    Raises
    ------
    sqlite3.Error
        Where the file was written by a later release, or can't be written.
    """
    if version(link) == 0:
        link.execute("PRAGMA auto_vacuum = FULL").fetchall()
        link.execute("PRAGMA journal_mode = WAL").fetchall()
        transact(link, _make_tables)
    if version(link) != VERSION:
        raise sqlite3.NotSupportedError(LATER_RELEASE)
    link.execute("PRAGMA synchronous = NORMAL").fetchall()
    link.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT_BYTES}").fetchall()


def transact(link: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    """Do some work wholly or not at all, whatever interrupts it.

    Parameters
    ----------
    link : sqlite3.Connection
        A connection that is in no transaction.
    work : callable
        Given the connection, it does the work.

    Returns
    -------
    object
        What the work returned; it is kept by then.
    """
    try:
        link.execute("BEGIN IMMEDIATE")
        result = work(link)
        link.execute("COMMIT")
    except BaseException:
        if link.in_transaction:
            link.execute("ROLLBACK")
        raise
    return result


def _make_tables(link: sqlite3.Connection) -> None:
    for statement in _SCHEMA:
        link.execute(statement)


def version(link: sqlite3.Connection) -> int:
    """Return the version of the tables in a file; 0 where there are none.

    Parameters
    ----------
    link : sqlite3.Connection
        A connection to the file.

    Returns
    -------
    int
        As written by whoever made the tables.
    """
    return int(link.execute("PRAGMA user_version").fetchone()[0])


def identity(path: Path) -> Identity | None:
    """Return what tells a file from another one of the same name.

    Parameters
    ----------
    path : Path
        Where to look.

    Returns
    -------
    tuple of (int, int) or None
        Device and inode; None where there is no file.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def is_busy(fault: sqlite3.Error) -> bool:
    """Tell whether somebody else holds the file, so that trying again makes sense.

    Parameters
    ----------
    fault : sqlite3.Error
        What SQLite raised.

    Returns
    -------
    bool
        True for the codes BUSY, LOCKED and PROTOCOL.
    """
    return _code(fault) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)


def is_broken(fault: sqlite3.Error) -> bool:
    """Tell whether the file's content is damaged, or no database at all.

    Parameters
    ----------
    fault : sqlite3.Error
        What SQLite raised.

    Returns
    -------
    bool
        True for the codes CORRUPT and NOTADB.
    """
    return _code(fault) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _code(fault: sqlite3.Error) -> int:
    return getattr(fault, "sqlite_errorcode", 0) & 0xFF


def move_aside(path: Path, broken: Identity | None) -> Path | None:
    """Give a broken file another name, unless somebody else has done so.

    Parameters
    ----------
    path : Path
        Where it was found.
    broken : tuple of (int, int) or None
        Which file is meant.

    Returns
    -------
    Path or None
        Its new name; None where that file is no longer there.

    Raises
    ------
    OSError
        Where it can't be renamed, or somebody is just doing it.
    """
    with path.open("rb") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if identity(path) != broken:
            return None
        names = (path.with_name(f"{path.name}.broken-{number}") for number in itertools.count(1))
        aside = next(name for name in names if not name.exists())
        for side in _SIDES:  # first, since a new file may get its own as soon as the name is free
            with suppress(FileNotFoundError):
                Path(f"{path}{side}").rename(f"{aside}{side}")
        return path.rename(aside)
