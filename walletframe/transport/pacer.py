"""Who waits for whom: one pace for each service, shared by threads and, in a file, by processes.

What a pace is, and how it changes, is `pace`'s business.
"""

from __future__ import annotations

import json
import sqlite3
import time
import weakref
from dataclasses import asdict, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from walletframe.errors import CacheWarning
from walletframe.notice import notify
from walletframe.transport.pace import (
    START_RATE,
    Pace,
    answered,
    read_pace,
    ready_at,
    refused,
    take,
)
from walletframe.transport.sqlitefile import connect, is_busy
from walletframe.transport.store import default_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event

    from walletframe.settings import CacheChoice

_TABLE = "CREATE TABLE IF NOT EXISTS paces (service TEXT PRIMARY KEY, pace TEXT NOT NULL)"
_STORED = "SELECT CAST(pace AS BLOB) FROM paces WHERE service = ?"
_POLL_S = 0.1
_WAIT_S = 2.0
_PAUSE_S = 0.005
_SLACK_S = 60.0


class Pacer:
    """Lets requests through at the pace that a service takes.

    Parameters
    ----------
    path : Path or None
        A file by which processes share the pace and remember it; None for this pacer alone.
    service : str
        The service's name.
    rate : float or None
        Requests a second, where somebody knows; None to find out.
    longest_s : float
        The longest pause that a service may ask for, in seconds.
    """

    def __init__(
        self, path: Path | None, service: str, *, rate: float | None, longest_s: float
    ) -> None:
        self._service = service
        self._longest_s = longest_s + _SLACK_S
        self._turn, self._lock = Lock(), Lock()
        self._answered = 0
        self._own = Pace()
        self._file = None if path is None else _open(path)
        if self._file is not None:
            weakref.finalize(self, self._file.close).atexit = False  # a child must not close it
        self._update(lambda pace: _given(pace, rate))

    def close(self) -> None:
        """Close the file, if there is one."""
        with self._lock:
            if self._file is not None:
                self._file.close()
            self._file = None

    def wait(self, cancel: Event, until: float) -> bool:
        """Wait for a slot.

        Parameters
        ----------
        cancel : Event
            Ends the wait.
        until : float
            When to give up, as of ``time.monotonic()``.

        Returns
        -------
        bool
            Whether a slot was taken, and a request is to be sent now.
        """
        while not self._turn.acquire(timeout=_POLL_S):
            if cancel.is_set() or time.monotonic() > until:
                return False
        try:
            while not cancel.is_set() and time.monotonic() <= until:
                wait_s = self._try_to_take()
                if wait_s <= 0:
                    return True
                cancel.wait(min(wait_s, max(0.0, until - time.monotonic()) + 0.001))
            return False
        finally:
            self._turn.release()

    def tell_answered(self) -> None:
        """Take note of a request that was answered, or failed for another reason than the pace."""
        with self._lock:
            self._answered += 1

    def tell_refused(self, retry_after_s: float | None) -> None:
        """Slow down.

        Parameters
        ----------
        retry_after_s : float or None
            How long the service asks to wait, in seconds.
        """
        now = time.time()
        self._update(lambda pace: refused(pace, retry_after_s, now))

    def _try_to_take(self) -> float:
        """Take a slot where one is ready; return how long to wait otherwise."""
        now = time.time()
        wait_s = 0.0

        def step(pace: Pace) -> Pace:
            nonlocal wait_s
            wait_s = ready_at(pace, now, self._longest_s) - now
            return pace if wait_s > 0 else take(pace, now)

        self._update(step)
        return wait_s

    def _update(self, change: Callable[[Pace], Pace]) -> None:
        with self._lock:
            count, self._answered = self._answered, 0
            now = time.time()

            def counted(pace: Pace) -> Pace:
                return change(answered(pace, count, now) if count else pace)

            if self._file is None:
                self._own = counted(self._own)
                return
            try:
                self._own = _exchange(self._file, self._service, counted)
            except sqlite3.Error as fault:
                self._file.close()
                self._file = None
                self._own = counted(self._own)
                _warn(fault)


def pace_path(choice: CacheChoice) -> Path | None:
    """Return the file for the paces, beside that of the answers.

    Parameters
    ----------
    choice : path, "memory", False or requests-cache backend, optional
        Where answers are kept.

    Returns
    -------
    Path or None
        None where answers are not kept in a file of ours.

    Examples
    --------
    >>> str(pace_path(Path("answers.sqlite")))
    'answers.sqlite.pace'
    """
    path = default_path() if choice is None else choice
    return path.with_name(f"{path.name}.pace") if isinstance(path, Path) else None


def _given(pace: Pace, rate: float | None) -> Pace:
    if rate is not None:
        return replace(pace, rate=rate, fixed=True, slow_start=False)
    return replace(pace, rate=START_RATE, fixed=False, slow_start=True) if pace.fixed else pace


def _open(path: Path) -> sqlite3.Connection | None:
    until = time.monotonic() + _WAIT_S
    while True:
        try:
            return _prepared(path)
        except (OSError, sqlite3.Error) as fault:
            others = isinstance(fault, sqlite3.Error) and is_busy(fault)
            if not others or time.monotonic() > until:
                _warn(fault)
                return None
        time.sleep(_PAUSE_S)  # SQLite waits for no one who begins a file at the same moment


def _prepared(path: Path) -> sqlite3.Connection:
    file = connect(path, "rwc")
    try:
        file.execute(f"PRAGMA busy_timeout = {_WAIT_S * 1000:.0f}").fetchall()
        file.execute("PRAGMA journal_mode=WAL")
        file.execute("PRAGMA synchronous=OFF")
        file.execute(_TABLE)
    except BaseException:
        file.close()
        raise
    return file


def _warn(fault: Exception) -> None:
    notify(f"the pace is not shared with other processes: {fault}", CacheWarning)


def _exchange(file: sqlite3.Connection, service: str, change: Callable[[Pace], Pace]) -> Pace:
    """Change the pace in one transaction, whatever other processes do."""
    try:
        file.execute("BEGIN IMMEDIATE")
        row = file.execute(_STORED, (service,)).fetchone()
        pace = change(read_pace(row[0]) if row else Pace())
        file.execute(
            "INSERT OR REPLACE INTO paces VALUES (?, ?)", (service, json.dumps(asdict(pace)))
        )
        file.execute("COMMIT")
    except BaseException:
        if file.in_transaction:
            file.execute("ROLLBACK")
        raise
    return pace
