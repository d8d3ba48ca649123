"""A database whose failures never stop a fetch: one file for all threads, processes and forks.

Knows patience, rollback, the fork, a file that is broken or was taken away, and memory as the
fallback. There is one connection at a time: SQLite has one writer anyway, a lock of Python's is
fairer than SQLite's polling, and before a fork there is one thing to close.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakSet

from walletframe.errors import CacheWarning
from walletframe.notice import notify
from walletframe.transport.sqlitefile import (
    FAULTS,
    Identity,
    connect,
    identity,
    is_broken,
    is_busy,
    move_aside,
    transact,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")

_PAUSE_S = 0.005
_OTHERS_AT_IT = (
    (BlockingIOError, FileNotFoundError)
    if os.name == "posix"
    else (BlockingIOError, FileNotFoundError, PermissionError)  # which have the file open
)


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
    """One file, made at the first use, or memory where the file fails.

    Warns once (a CacheWarning) where memory takes over, and where a broken file was moved aside.
    """

    def __init__(self, path: Path, contents: Contents) -> None:
        self.path = path
        self._contents = contents
        self._lock = RLock()
        self._link: sqlite3.Connection | None = None
        self._linked_to: Identity | None = None
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
        """Read: return what the work finds in the file, then in memory, of those in use.

        The work may be called again where others were in the way.
        """
        found = []
        with self._lock:
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
        """Write wholly or not at all; what the work wrote is kept when it returns.

        The work may be called again where others were in the way.
        """
        with self._lock:
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
        for each in list(_databases):  # this one is among them
            each.let_go(self.path)
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
        self._disconnect()
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

    def _disconnect(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.close()

    def _fall_back(self, fault: Exception) -> sqlite3.Connection:
        if self._memory is None:
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

    def pause(self) -> None:
        """Close the file and keep everyone from it, until `resume`."""
        self._lock.acquire()
        self._disconnect()

    def resume(self) -> None:
        """End a `pause`."""
        self._lock.release()


_databases: WeakSet[Database] = WeakSet()
_paused: list[Database] = []
_forking = RLock()


def _before_fork() -> None:
    """Leave no connection open: SQLite's must not cross a fork."""
    _forking.acquire()
    _paused.extend(_databases)
    for database in _paused:
        database.pause()


def _after_fork() -> None:
    while _paused:
        _paused.pop().resume()
    _forking.release()


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows has no fork
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )
