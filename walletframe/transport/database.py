"""A database whose failures never stop a fetch: one file for all threads, processes and forks.

Knows patience, rollback, the fork, a file that is broken or was taken away, and memory as the
fallback. There is one connection at a time: SQLite has one writer anyway, a lock of Python's is
fairer than SQLite's polling, and before a fork there is one thing to close.
"""
# Nobody may open the file in any other way while it is in use: closing such a handle drops SQLite's
# locks on it. So SQLite makes it, too, with the mode of a private file that stands as a model.

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
_HELD = () if os.name == "posix" else (PermissionError,)  # Windows renames no file that is open
_OTHERS_AT_IT = (BlockingIOError, FileNotFoundError, *_HELD)
_WAIT_SLICE_S = 0.1
_UNWRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
FAULTS = (sqlite3.Error, OSError, UnicodeDecodeError)  # the last where a message is no text


class _ReplacedError(OSError):
    """Another file has taken the place of the one that was opened."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file is for: its name, how a connection gets its tables, how long to wait for others.

    `without` says what is lost where the file can't be used, of its {path} and the {fault}.
    """

    name: str
    prepare: Callable[[sqlite3.Connection], object]
    without: str
    wait_s: float


class Database:
    """One file, made at the first use, or memory, after one CacheWarning, where the file fails."""

    def __init__(self, path: Path, contents: Contents) -> None:
        self.path = path
        self._contents = contents
        self.lock: RLock = RLock()
        self._link: sqlite3.Connection | None = None
        self._linked_to: Identity | None = None
        self.is_crowded: bool = False  # memory took over since others did not let go of the file
        self._readable = True
        self._memory: sqlite3.Connection | None = None
        self._warnings: list[str] = []
        with _forking:
            _databases.add(self)

    def __del__(self) -> None:
        self.close()
        if self._memory is not None:
            self._memory.close()

    def look(self, work: Callable[[sqlite3.Connection], T]) -> list[T]:
        """Return what the work, which may be called again, finds in the file, then in memory."""
        found = []
        with self.lock:
            if self._readable:
                try:
                    found.append(self._on_file(work))
                except FAULTS as fault:
                    self._readable = False
                    self._fall_back(fault)
            if self._memory is not None:
                found.append(work(self._memory))
        self._warn()
        return found

    def change(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Write wholly or not at all; the work may be called again where others were in the way."""
        with self.lock:
            memory = self._memory
            if memory is None:
                try:
                    result = self._on_file(lambda link: transact(link, work))
                except FAULTS as fault:
                    memory = self._fall_back(fault)
            if memory is not None:
                result = transact(memory, work)
        self._warn()
        return result

    def _on_file(self, work: Callable[[sqlite3.Connection], T]) -> T:
        deadline = time.monotonic() + self._contents.wait_s
        while True:
            try:
                result = work(self._open())
                self._require_place()  # else nobody would find what was written
            except (sqlite3.Error, UnicodeDecodeError, _ReplacedError) as fault:
                if not self._may_retry(fault) or time.monotonic() > deadline:
                    raise
                time.sleep(_PAUSE_S)  # SQLite waits for no one who begins a file at that moment
            else:
                return result

    def _may_retry(self, fault: Exception) -> bool:
        if isinstance(fault, _ReplacedError):
            return True
        if not is_broken(fault):
            return is_busy(fault)
        for each in list(_databases):  # this one is among them; who uses the file keeps it open
            if each.path == self.path and each.lock.acquire(blocking=False):
                each.close()
                each.lock.release()
        with suppress(*_OTHERS_AT_IT):
            aside = move_aside(self.path, self._linked_to)
            if aside is not None:
                self._warnings.append(
                    f"the {self._contents.name} {self.path} was broken; it is kept as {aside}, "
                    "and a new one begun"
                )
        return True

    def _require_place(self) -> None:
        if identity(self.path) != self._linked_to:
            raise _ReplacedError("it is replaced all the time")

    def _open(self) -> sqlite3.Connection:
        if self._link is not None and self._link.in_transaction:
            self._link.execute("ROLLBACK")  # left by a second interrupt during a rollback
        if self._link is not None and identity(self.path) == self._linked_to:
            return self._link
        self.close()
        self._linked_to = identity(self.path)
        link = connect(self.path, "rwc")
        try:
            self._require_place()  # not where it was made just now: then once more
            self._contents.prepare(link)
        except BaseException:
            link.close()
            raise
        self._link = link
        return link

    def _fall_back(self, fault: Exception) -> sqlite3.Connection:
        if self._memory is None:
            self.is_crowded = is_busy(fault)
            self._warnings.append(self._contents.without.format(path=self.path, fault=fault))
            memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            self._contents.prepare(memory)
            self._memory = memory
        return self._memory

    def _warn(self) -> None:
        with self.lock:
            texts, self._warnings = self._warnings, []
        for text in texts:  # without the lock: what a warning sets off is not known here
            notify(text, CacheWarning)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self.lock:
            link, self._link = self._link, None
            if link is not None:
                link.close()


_databases: WeakSet[Database] = WeakSet()
_paused = ExitStack()
_forking = RLock()


def _before_fork() -> None:
    """Close the connection: SQLite's must not cross a fork."""
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
    """Open a file for any thread, one at a time, only to be read where it can't be written.

    With ``rwc`` it is made where there is none, readable by its owner alone.
    """
    with suppress(FileNotFoundError):
        if mode == "rw" or path.stat().st_size:  # an empty one is made anew, and private
            try:
                return _opened(path, "mode=rw")
            except sqlite3.OperationalError:
                if mode == "rw" or path.stat().st_size:
                    raise  # else it was taken away just now
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile() as model:
        return _opened(path, f"mode=rwc&modeof={quote(model.name)}")


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
    """Run some work wholly or not at all, whatever interrupts it; return what it returned."""
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
    """Return whether somebody else holds the file."""
    return code_of(fault) in _BUSY


def is_broken(fault: Exception) -> bool:
    """Return whether the file's content is damaged, or no database at all."""
    return code_of(fault) in _BROKEN or isinstance(fault, UnicodeDecodeError)  # of its message


def code_of(fault: Exception) -> int:
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
