"""Where the slots of a pace are taken: in this process alone, or in a file that processes share.

A slot is taken a little ahead of its time, so that who has to wait asks once and not all the time.
"""

from __future__ import annotations

import time
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from walletframe.transport.database import Contents, Database
from walletframe.transport.pace import (
    Pace,
    answered,
    begun,
    read_pace,
    ready_at,
    refused,
    share,
    take,
    write_pace,
)
from walletframe.transport.sqlitefile import require_version

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

    Change: TypeAlias = "Callable[[Pace, float], Pace]"

AHEAD_S = 0.25
UNCOUNTED = 16  # processes that share a pace where nobody knows how many
_SLACK_S = 60.0
_STORED = "SELECT CAST(pace AS BLOB) FROM paces WHERE service = ?"


class Slot(NamedTuple):
    """How long to wait for a slot that is taken, or before asking for one again."""

    wait_s: float
    is_taken: bool


class Slots:
    """The slots of this process alone; `own` is its pace.

    `rate` is known to somebody, or None, and of it this is one part of `processes`; `longest_s` is
    the longest pause that the service may ask for.
    """

    def __init__(
        self, *, rate: float | None, longest_s: float, processes: int | None = None
    ) -> None:
        pace = begun(Pace(), rate)
        self.own: Pace = share(pace, processes, time.time()) if processes else pace
        self._rate, self._longest_s = rate, longest_s + _SLACK_S
        self._lock = Lock()

    def take(self, answers: int) -> Slot:
        """Take the next slot, unless it is too far ahead, after so many answers."""
        slot = Slot(0.0, is_taken=False)

        def take_next(pace: Pace, now: float) -> Pace:
            nonlocal slot
            ready = ready_at(pace, now, self._longest_s)
            if ready - now > AHEAD_S:
                slot = Slot(ready - now - AHEAD_S, is_taken=False)
                return pace
            slot = Slot(ready - now, is_taken=True)
            return take(pace, ready)

        self.update(answers, take_next)
        return slot

    def refuse(self, answers: int, retry_after_s: float | None) -> None:
        """Slow down after a refusal, and pause for as long as the service asks."""
        self.update(answers, lambda pace, now: refused(pace, retry_after_s, now))

    def update(self, answers: int, change: Change) -> None:
        """Change the pace after so many answers, whatever other threads do: each later."""
        with self._lock:
            self.own = changed(self.own, answers, change, time.time())

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def changed(pace: Pace, answers: int, change: Change, now: float) -> Pace:
    """Return the pace after so many answers, and then a change."""
    return change(answered(pace, answers, now) if answers else pace, now)


def _prepare(link: sqlite3.Connection) -> None:
    require_version(link, 0)
    link.execute("PRAGMA journal_mode = WAL").fetchall()
    link.execute("PRAGMA synchronous = OFF").fetchall()
    link.execute("CREATE TABLE IF NOT EXISTS paces (service TEXT PRIMARY KEY, pace TEXT NOT NULL)")


_WITHOUT = "the pace is not shared with other processes: {path}: {fault}"
PACES = Contents("pace file", _prepare, _WITHOUT, wait_s=2.0)


class FileSlots(Slots):
    """The slots of all processes that know a file; `own` is the pace as it was seen last.

    Where others don't let go of the file it keeps to its part of the rate, of `processes`.
    """

    def __init__(
        self,
        path: Path,
        service: str,
        *,
        rate: float | None,
        longest_s: float,
        processes: int | None = None,
    ) -> None:
        super().__init__(rate=rate, longest_s=longest_s)
        self.file: Database = Database(path, PACES)
        self._service, self._processes = service, processes or UNCOUNTED
        self._is_closed = False
        self.update(0, lambda pace, _: begun(pace, rate))

    def update(self, answers: int, change: Change) -> None:
        """Change the pace, whatever other threads and processes do: each at a later time."""
        if self._is_closed:
            super().update(answers, change)
            return
        self.own: Pace = self.file.change(partial(self._exchange, answers, change))

    def close(self) -> None:
        """Close the file; threads that are late go on with what was seen last."""
        self._is_closed = True
        self.file.close()

    def _exchange(self, answers: int, change: Change, link: sqlite3.Connection) -> Pace:
        """Change the pace that is stored, or the one seen last where the file was begun anew."""
        row = link.execute(_STORED, (self._service,)).fetchone()
        now = time.time()  # in the exchange, or who waits for the file brings an old time
        pace = changed(read_pace(row[0]) if row else self.own, answers, change, now)
        if self.file.is_crowded and not row:
            pace = share(pace, self._processes, now)
        values = (self._service, write_pace(pace).decode())
        link.execute("INSERT OR REPLACE INTO paces VALUES (?, ?)", values)
        return pace
