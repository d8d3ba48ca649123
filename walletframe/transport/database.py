"""SQLite files that threads, processes and forked children share.

Database errors never stop a fetch. A damaged file is renamed, and a new file is created. If a file
can't be used, an in-memory database replaces the file.
"""
# All threads of a process share one connection to a file. SQLite allows only one writer, Python's
# locks are fairer than SQLite's polling, and a fork needs to close only one connection.
#
# Python must not open the file: closing any handle in this process releases SQLite's locks. So
# SQLite creates the file, with the permissions of a private file (`modeof`).

from __future__ import annotations

import itertools
import os
import sqlite3
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import RLock
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar
from urllib.parse import quote
from weakref import WeakSet

from walletframe.errors import CacheWarning
from walletframe.notice import notify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

if os.name == "posix":  # pragma: no branch - Windows has no flock
    import fcntl

T = TypeVar("T")
FileIdentity: TypeAlias = tuple[int, int]  # device and inode

_OPEN_FAULTS = () if os.name == "posix" else (PermissionError,)  # Windows can't rename an open file
_RACE_FAULTS = (BlockingIOError, FileNotFoundError, *_OPEN_FAULTS)
_NOT_WRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
FAULTS = (sqlite3.Error, OSError, UnicodeDecodeError)  # the last: SQLite's message is not UTF-8


class _ReplacedError(OSError):
    """Another process has replaced the opened file."""


class DatabaseSpec(NamedTuple):
    """The specification of one kind of database file."""

    name: str  # the name in warnings
    prepare: Callable[[sqlite3.Connection], object]  # creates tables, configures the connection
    fallback_warning: str  # a template with the fields {path} and {fault}
    lock_timeout_s: float  # maximum wait for a lock of another process


class Database:
    """An SQLite file, created at the first use. After errors, data are stored in memory."""

    def __init__(self, path: Path, spec: DatabaseSpec) -> None:
        self.path = path
        self._spec = spec
        self.lock: RLock = RLock()
        self._con: sqlite3.Connection | None = None
        self._opened_file: FileIdentity | None = None
        self.fell_back_because_locked: bool = False
        self._readable = True
        self._memory: sqlite3.Connection | None = None
        self._warnings: list[str] = []
        with _registry_lock:
            _databases.add(self)

    def __del__(self) -> None:
        self.close()
        if self._memory is not None:
            self._memory.close()

    def query_file_and_memory(self, func: Callable[[sqlite3.Connection], T]) -> list[T]:
        """Run a function on the file and on the in-memory database, and return the results."""
        results = []
        with self.lock:
            if self._readable:
                try:
                    results.append(self._run_on_file(func))
                except FAULTS as fault:
                    self._readable = False
                    self._fall_back_to_memory(fault)
            if self._memory is not None:
                results.append(func(self._memory))
        self._show_warnings()
        return results

    def write_in_transaction(self, func: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function in one transaction, and return the result. Retry after a conflict."""
        with self.lock:
            if self._memory is None:
                try:
                    result = self._run_on_file(lambda con: run_in_transaction(con, func))
                except FAULTS as fault:
                    self._fall_back_to_memory(fault)
            if self._memory is not None:
                result = run_in_transaction(self._memory, func)
        self._show_warnings()
        return result

    def _run_on_file(self, func: Callable[[sqlite3.Connection], T]) -> T:
        deadline = time.monotonic() + self._spec.lock_timeout_s
        while True:
            try:
                result = func(self._open_file())
                self._require_same_file()  # otherwise the function used a deleted file
            except (sqlite3.Error, UnicodeDecodeError, _ReplacedError) as fault:
                if not self._prepare_retry(fault) or time.monotonic() > deadline:
                    raise
                # SQLite itself does not wait while another process creates the file.
                time.sleep(0.005)
            else:
                return result

    def _prepare_retry(self, fault: Exception) -> bool:
        """Rename the file if it is damaged. Return whether a retry may succeed."""
        if isinstance(fault, _ReplacedError):
            return True
        if not is_damage_error(fault):
            return is_busy_error(fault)
        for each in list(_databases):  # also this database, but no database in use
            if each.path == self.path and each.lock.acquire(blocking=False):
                each.close()
                each.lock.release()
        with suppress(*_RACE_FAULTS):
            if (new_path := rename_damaged_file(self.path, self._opened_file)) is not None:
                self._warnings.append(
                    f"the {self._spec.name} {self.path} was damaged: it was renamed to "
                    f"{new_path}, and a new file was created"
                )
        return True

    def _require_same_file(self) -> None:
        if _file_identity(self.path) != self._opened_file:
            raise _ReplacedError("another process repeatedly replaces the file")

    def _open_file(self) -> sqlite3.Connection:
        if self._con is not None and self._con.in_transaction:
            self._con.execute("ROLLBACK")  # after an interrupt during a rollback
        if self._con is not None and _file_identity(self.path) == self._opened_file:
            return self._con
        self.close()
        self._opened_file = _file_identity(self.path)
        con = connect(self.path, "rwc")
        try:
            self._require_same_file()  # raises for a new file, and the caller retries
            self._spec.prepare(con)
        except BaseException:
            con.close()
            raise
        self._con = con
        return con

    def _fall_back_to_memory(self, fault: Exception) -> None:
        if self._memory is None:
            self.fell_back_because_locked = is_busy_error(fault)
            self._warnings.append(self._spec.fallback_warning.format(path=self.path, fault=fault))
            memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            self._spec.prepare(memory)
            self._memory = memory

    def _show_warnings(self) -> None:
        with self.lock:
            texts, self._warnings = self._warnings, []
        for text in texts:  # without the lock, since a warning can run any code
            notify(text, CacheWarning)

    def close(self) -> None:
        """Close the file. The next use opens the file again."""
        with self.lock:
            con, self._con = self._con, None
            if con is not None:
                con.close()


_databases: WeakSet[Database] = WeakSet()
_held_locks = ExitStack()
_registry_lock = RLock()


def _lock_and_close_all() -> None:
    _registry_lock.acquire()
    for database in list(_databases):
        _held_locks.enter_context(database.lock)
        database.close()


def _unlock_all() -> None:
    _held_locks.close()
    _registry_lock.release()


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows has no fork
    os.register_at_fork(
        before=_lock_and_close_all, after_in_parent=_unlock_all, after_in_child=_unlock_all
    )


def connect(path: Path, mode: Literal["rwc", "rw"]) -> sqlite3.Connection:
    """Connect to a file. The mode ``rwc`` creates a missing file."""
    with suppress(FileNotFoundError):
        if mode == "rw" or path.stat().st_size:  # SQLite makes an empty file private
            try:
                return _connect_or_read_only(path, "mode=rw")
            except sqlite3.OperationalError:
                if mode == "rw" or path.stat().st_size:
                    raise  # unless the file has become empty
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile() as private_file:
        return _connect_or_read_only(path, f"mode=rwc&modeof={quote(private_file.name)}")


def _connect_or_read_only(path: Path, query: str) -> sqlite3.Connection:
    try:
        return _connect(path, query)
    except sqlite3.OperationalError as fault:
        wal = Path(f"{path}-wal")
        is_complete = not (wal.exists() and wal.stat().st_size)  # otherwise the WAL contains rows
        if sqlite_error_code(fault) not in _NOT_WRITABLE or not path.is_file() or not is_complete:
            raise
        return _connect(path, "mode=ro&immutable=1")


def _connect(path: Path, query: str) -> sqlite3.Connection:
    con = sqlite3.connect(
        f"{path.absolute().as_uri()}?{query}",
        uri=True,
        timeout=0.1,
        isolation_level=None,
        check_same_thread=False,
    )
    try:  # text that is not UTF-8 must not hide other rows
        con.text_factory = lambda stored: stored.decode(errors="replace")
        con.execute("PRAGMA user_version").fetchall()
    except BaseException:
        con.close()
        raise
    return con


def schema_version(con: sqlite3.Connection) -> int:
    """Return the version of the tables in a file. A new file has version 0."""
    return int(con.execute("PRAGMA user_version").fetchone()[0])


def require_schema_version(con: sqlite3.Connection, *supported: int) -> None:
    """Raise a NotSupportedError if the version of the tables is not supported."""
    if schema_version(con) not in supported:
        raise sqlite3.NotSupportedError("the file was written by a later version of walletframe")


def run_in_transaction(con: sqlite3.Connection, func: Callable[[sqlite3.Connection], T]) -> T:
    """Run a function in a transaction, which an exception rolls back. Return the result."""
    with con:  # commits, or rolls back
        con.execute("BEGIN IMMEDIATE")
        return func(con)


def _file_identity(path: Path) -> FileIdentity | None:
    with suppress(FileNotFoundError):
        file = path.stat()
        return file.st_dev, file.st_ino
    return None


def is_busy_error(fault: Exception) -> bool:
    """Return whether SQLite failed because another connection holds a lock on the file."""
    return sqlite_error_code(fault) in _BUSY


def is_damage_error(fault: Exception) -> bool:
    """Return whether SQLite failed because the file is damaged or is not a database."""
    return sqlite_error_code(fault) in _DAMAGED or isinstance(fault, UnicodeDecodeError)


def sqlite_error_code(fault: Exception) -> int:
    """Return SQLite's primary error code, or 0 if the exception has no code."""
    return getattr(fault, "sqlite_errorcode", 0) & 0xFF


def rename_damaged_file(path: Path, damaged: FileIdentity | None) -> Path | None:
    """Rename a damaged file. Return None if another process has renamed the file."""
    with _locked_folder(path.parent):
        if _file_identity(path) != damaged:
            return None
        names = (f"{path.name}.broken-{number}" for number in itertools.count(1))
        new_path = next(each for each in map(path.with_name, names) if not each.exists())
        # These files are renamed first, since a new file at `path` needs their names.
        for suffix in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(f"{path}{suffix}").rename(f"{new_path}{suffix}")
        return path.rename(new_path)


@contextmanager
def _locked_folder(folder: Path) -> Iterator[None]:
    if os.name != "posix":  # pragma: no cover - Windows can't rename an open file
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)
