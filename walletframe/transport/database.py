"""An SQLite file for all threads, processes and forks, whose failures never stop a fetch.

It handles lock timeouts, rollback, forks and broken or removed files, and falls back to memory. It
has one connection at a time: SQLite has one writer anyway, a Python lock is fairer than SQLite's
polling, and a fork then has one thing to close.
"""
# While the file is in use, nothing else may open it: closing such a handle drops SQLite's locks. So
# SQLite creates the file, too, and copies the mode of a private file (`modeof`).

from __future__ import annotations

import itertools
import os
import sqlite3
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import RLock
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar
from urllib.parse import quote
from weakref import WeakSet

from walletframe.errors import CacheWarning
from walletframe.notice import notify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

if os.name == "posix":  # pragma: no branch - Windows has no flock
    import fcntl

T = TypeVar("T")
Identity: TypeAlias = tuple[int, int]

_PAUSE_S = 0.005
_OPEN_FAULTS = () if os.name == "posix" else (PermissionError,)  # Windows renames no open file
_RACE_FAULTS = (BlockingIOError, FileNotFoundError, *_OPEN_FAULTS)
_WAIT_SLICE_S = 0.1
_UNWRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
FAULTS = (sqlite3.Error, OSError, UnicodeDecodeError)  # the last if a message is not UTF-8


class _ReplacedError(OSError):
    """The path no longer leads to the file that was opened."""


@dataclass(frozen=True, slots=True)
class DatabaseSpec:
    """The purpose of a file: its name, how its tables are prepared, and its lock timeout.

    `without` is the warning if the file can't be used, with the fields {path} and {fault}.
    """

    name: str
    prepare: Callable[[sqlite3.Connection], object]
    without: str
    wait_s: float


class Database:
    """One file, created at its first use; if it fails, one CacheWarning, and memory instead."""

    def __init__(self, path: Path, spec: DatabaseSpec) -> None:
        self.path = path
        self._spec = spec
        self.lock: RLock = RLock()
        self._con: sqlite3.Connection | None = None
        self._opened_file: Identity | None = None
        self.fell_back_because_locked: bool = False
        self._readable = True
        self._memory: sqlite3.Connection | None = None
        self._warnings: list[str] = []
        with _forking:
            _databases.add(self)

    def __del__(self) -> None:
        self.close()
        if self._memory is not None:
            self._memory.close()

    def read(self, work: Callable[[sqlite3.Connection], T]) -> list[T]:
        """Return the results of `work` (which may run twice) on the file and on memory, if used."""
        results = []
        with self.lock:
            if self._readable:
                try:
                    results.append(self._on_file(work))
                except FAULTS as fault:
                    self._readable = False
                    self._fall_back(fault)
            if self._memory is not None:
                results.append(work(self._memory))
        self._warn()
        return results

    def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in one transaction; it may run again if other processes were in the way."""
        with self.lock:
            memory = self._memory
            if memory is None:
                try:
                    result = self._on_file(lambda con: transact(con, work))
                except FAULTS as fault:
                    memory = self._fall_back(fault)
            if memory is not None:
                result = transact(memory, work)
        self._warn()
        return result

    def _on_file(self, work: Callable[[sqlite3.Connection], T]) -> T:
        deadline = time.monotonic() + self._spec.wait_s
        while True:
            try:
                result = work(self._open())
                self._require_same_file()  # else the result would be in a file without a name
            except (sqlite3.Error, UnicodeDecodeError, _ReplacedError) as fault:
                if not self._may_retry(fault) or time.monotonic() > deadline:
                    raise
                time.sleep(_PAUSE_S)  # SQLite does not wait while another process creates the file
            else:
                return result

    def _may_retry(self, fault: Exception) -> bool:
        if isinstance(fault, _ReplacedError):
            return True
        if not is_broken(fault):
            return is_busy(fault)
        for each in list(_databases):  # includes this one; a database in use stays open
            if each.path == self.path and each.lock.acquire(blocking=False):
                each.close()
                each.lock.release()
        with suppress(*_RACE_FAULTS):
            aside = move_aside(self.path, self._opened_file)
            if aside is not None:
                self._warnings.append(
                    f"the {self._spec.name} {self.path} was broken; it is kept as {aside}, "
                    "and a new one begun"
                )
        return True

    def _require_same_file(self) -> None:
        if identity(self.path) != self._opened_file:
            raise _ReplacedError("another process keeps replacing the file")

    def _open(self) -> sqlite3.Connection:
        if self._con is not None and self._con.in_transaction:
            self._con.execute("ROLLBACK")  # after a second interrupt during a rollback
        if self._con is not None and identity(self.path) == self._opened_file:
            return self._con
        self.close()
        self._opened_file = identity(self.path)
        con = connect(self.path, "rwc")
        try:
            self._require_same_file()  # fails if the file was just created: the caller retries
            self._spec.prepare(con)
        except BaseException:
            con.close()
            raise
        self._con = con
        return con

    def _fall_back(self, fault: Exception) -> sqlite3.Connection:
        if self._memory is None:
            self.fell_back_because_locked = is_busy(fault)
            self._warnings.append(self._spec.without.format(path=self.path, fault=fault))
            memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            self._spec.prepare(memory)
            self._memory = memory
        return self._memory

    def _warn(self) -> None:
        with self.lock:
            texts, self._warnings = self._warnings, []
        for text in texts:  # outside the lock, since a warning may run any code
            notify(text, CacheWarning)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self.lock:
            con, self._con = self._con, None
            if con is not None:
                con.close()


_databases: WeakSet[Database] = WeakSet()
_paused = ExitStack()
_forking = RLock()


def _before_fork() -> None:
    """Close the connections, since SQLite's must not cross a fork."""
    _forking.acquire()
    for database in list(_databases):
        _paused.enter_context(database.lock)
        database.close()


def _after_fork() -> None:
    _paused.close()
    _forking.release()


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows has no fork
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )


def connect(path: Path, mode: Literal["rwc", "rw"]) -> sqlite3.Connection:
    """Open a file for any thread, one at a time, read-only if it can't be written.

    With ``rwc`` a missing file is created, readable by its owner alone.
    """
    with suppress(FileNotFoundError):
        if mode == "rw" or path.stat().st_size:  # an empty file is recreated, and private
            try:
                return _connect_or_read_only(path, "mode=rw")
            except sqlite3.OperationalError:
                if mode == "rw" or path.stat().st_size:
                    raise  # else it was emptied meanwhile
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile() as model:
        return _connect_or_read_only(path, f"mode=rwc&modeof={quote(model.name)}")


def _connect_or_read_only(path: Path, query: str) -> sqlite3.Connection:
    try:
        return _connect(path, query)
    except sqlite3.OperationalError as fault:
        wal = Path(f"{path}-wal")
        is_whole = not (wal.exists() and wal.stat().st_size)  # else the WAL holds some content
        if code_of(fault) not in _UNWRITABLE or not path.is_file() or not is_whole:
            raise
        return _connect(path, "mode=ro&immutable=1")


def _connect(path: Path, query: str) -> sqlite3.Connection:
    con = sqlite3.connect(
        f"{path.absolute().as_uri()}?{query}",
        uri=True,
        timeout=_WAIT_SLICE_S,
        isolation_level=None,
        check_same_thread=False,
    )
    try:  # a damaged row must not hide the others
        con.text_factory = lambda stored: stored.decode(errors="replace")
        con.execute("PRAGMA user_version").fetchall()
    except BaseException:
        con.close()
        raise
    return con


def version(con: sqlite3.Connection) -> int:
    """Return the version that a file's tables were created with; 0 if it has none."""
    return int(con.execute("PRAGMA user_version").fetchone()[0])


def require_version(con: sqlite3.Connection, *known: int) -> None:
    """Raise a NotSupportedError if the version of the tables is unknown."""
    if version(con) not in known:
        raise sqlite3.NotSupportedError("a later release of walletframe wrote it")


def transact(con: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    """Run `work` in a transaction, rolled back at any exception; return its result."""
    try:
        con.execute("BEGIN IMMEDIATE")
        result = work(con)
        con.execute("COMMIT")
    except BaseException:
        if con.in_transaction:
            con.execute("ROLLBACK")
        raise
    return result


def identity(path: Path) -> Identity | None:
    """Return a file's device and inode, which tell it from a successor; None if it is missing."""
    try:
        file = path.stat()
    except FileNotFoundError:
        return None
    return file.st_dev, file.st_ino


def is_busy(fault: Exception) -> bool:
    """Return whether another connection holds a lock on the file."""
    return code_of(fault) in _BUSY


def is_broken(fault: Exception) -> bool:
    """Return whether the file is damaged or is not a database."""
    return code_of(fault) in _BROKEN or isinstance(fault, UnicodeDecodeError)


def code_of(fault: Exception) -> int:
    """Return SQLite's primary error code; 0 if the error has none."""
    return getattr(fault, "sqlite_errorcode", 0) & 0xFF


def move_aside(path: Path, broken: Identity | None) -> Path | None:
    """Rename a broken file, unless another process has done so; return its new name, or None.

    Raises an OSError if it can't be renamed, or another process is renaming it.
    """
    with _locked_folder(path.parent):
        if identity(path) != broken:
            return None
        names = (path.with_name(f"{path.name}.broken-{number}") for number in itertools.count(1))
        aside = next(name for name in names if not name.exists())
        for side in ("-wal", "-shm"):  # first: a new file may get its own once the name is free
            with suppress(FileNotFoundError):
                Path(f"{path}{side}").rename(f"{aside}{side}")
        return path.rename(aside)


@contextmanager
def _locked_folder(folder: Path) -> Iterator[None]:
    if os.name != "posix":  # pragma: no cover - Windows renames no file that others have open
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)
