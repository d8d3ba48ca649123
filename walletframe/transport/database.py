"""A database whose failures never stop a fetch: one file for all threads, processes and forks.

Knows patience, rollback, the fork, a file that is broken or was taken away, and memory as the
fallback. There is one connection at a time: SQLite has one writer anyway, a lock of Python's is
fairer than SQLite's polling, and before a fork there is one thing to close.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakSet

from walletframe.errors import CacheWarning
from walletframe.notice import notify
from walletframe.transport import sqlitefile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

T = TypeVar("T")

_PAUSE_S = 0.005
_HELD = () if os.name == "posix" else (PermissionError,)  # Windows renames no file that is open
_OTHERS_AT_IT = (BlockingIOError, FileNotFoundError, *_HELD)


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
        self._lock = RLock()
        self._link: sqlite3.Connection | None = None
        self._linked_to: sqlitefile.Identity | None = None
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
        with self._lock:
            if self._readable:
                try:
                    found.append(self._on_file(work))
                except sqlitefile.FAULTS as fault:
                    self._readable = False
                    self._fall_back(fault)
            if self._memory is not None:
                found.append(work(self._memory))
        self._warn()
        return found

    def change(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Write wholly or not at all; the work may be called again where others were in the way."""
        with self._lock:
            memory = self._memory
            if memory is None:
                try:
                    result = self._on_file(lambda link: sqlitefile.transact(link, work))
                except sqlitefile.FAULTS as fault:
                    memory = self._fall_back(fault)
            if memory is not None:
                result = sqlitefile.transact(memory, work)
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
        if not sqlitefile.is_broken(fault):
            return sqlitefile.is_busy(fault)
        for each in list(_databases):  # this one is among them
            each.let_go(self.path)
        with suppress(*_OTHERS_AT_IT):
            aside = sqlitefile.move_aside(self.path, self._linked_to)
            if aside is not None:
                self._warnings.append(
                    f"the {self._contents.name} {self.path} was broken; it is kept as {aside}, "
                    "and a new one begun"
                )
        return True

    def _require_place(self) -> None:
        if sqlitefile.identity(self.path) != self._linked_to:
            raise _ReplacedError("it is replaced all the time")

    def _open(self) -> sqlite3.Connection:
        if self._link is not None and self._link.in_transaction:
            self._link.execute("ROLLBACK")  # left by a second interrupt during a rollback
        if self._link is not None and sqlitefile.identity(self.path) == self._linked_to:
            return self._link
        self._disconnect()
        self._linked_to = sqlitefile.identity(self.path)
        link = sqlitefile.connect(self.path, "rwc")
        try:
            self._require_place()  # not where it was made just now: then once more
            self._contents.prepare(link)
        except BaseException:
            link.close()
            raise
        self._link = link
        return link

    def _disconnect(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.close()

    def _fall_back(self, fault: Exception) -> sqlite3.Connection:
        if self._memory is None:
            self.is_crowded = sqlitefile.is_busy(fault)
            self._warnings.append(self._contents.without.format(path=self.path, fault=fault))
            memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            self._contents.prepare(memory)
            self._memory = memory
        return self._memory

    def _warn(self) -> None:
        with self._lock:
            texts, self._warnings = self._warnings, []
        for text in texts:  # without the lock: what a warning sets off is not known here
            notify(text, CacheWarning)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            self._disconnect()

    def let_go(self, path: Path) -> None:
        """Close the file where it is this one, about to be renamed, and nobody is using it."""
        if path == self.path and self._lock.acquire(blocking=False):
            try:
                self._disconnect()
            finally:
                self._lock.release()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Close the file, and keep everyone from it meanwhile."""
        with self._lock:
            self._disconnect()
            yield


_databases: WeakSet[Database] = WeakSet()
_paused = ExitStack()
_forking = RLock()


def _before_fork() -> None:
    """Leave no connection open: SQLite's must not cross a fork."""
    _forking.acquire()
    for database in list(_databases):
        _paused.enter_context(database.paused())


def _after_fork() -> None:
    _paused.close()
    _forking.release()


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows has no fork
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )
