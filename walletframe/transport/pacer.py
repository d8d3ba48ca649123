"""The rate limiter: one pace for each service, shared by threads and, in a file, by processes.

What a pace is, and how it changes, is `pace`'s business; what a file can suffer, `database`'s.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from walletframe.transport.database import Contents, Database
from walletframe.transport.pace import (
    START_RATE,
    Pace,
    answered,
    read_pace,
    ready_at,
    refused,
    take,
)
from walletframe.transport.sqlitefile import require_version
from walletframe.transport.store import default_path

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from threading import Event

    from walletframe.settings import CacheChoice

_TABLE = "CREATE TABLE IF NOT EXISTS paces (service TEXT PRIMARY KEY, pace TEXT NOT NULL)"
_STORED = "SELECT CAST(pace AS BLOB) FROM paces WHERE service = ?"
_POLL_S = 0.1
_SLACK_S = 60.0


def _prepare(link: sqlite3.Connection) -> None:
    require_version(link, 0)
    link.execute("PRAGMA journal_mode = WAL").fetchall()
    link.execute("PRAGMA synchronous = OFF").fetchall()
    link.execute(_TABLE)


PACES = Contents(
    "pace file",
    _prepare,
    "the pace is not shared with other processes: {path}: {fault}",
    wait_s=2.0,
)


class Pacer:
    """Lets requests through at the pace that a service takes.

    Processes share it by the file at `path`, if there is one. `rate` is known to somebody, or
    None; `longest_s` is the longest pause that the service may ask for.
    """

    def __init__(
        self, path: Path | None, service: str, *, rate: float | None, longest_s: float
    ) -> None:
        self._service = service
        self._longest_s = longest_s + _SLACK_S
        self._waiting, self._lock = Lock(), Lock()
        self._answered = 0
        self._own = Pace()
        self._file = None if path is None else Database(path, PACES)
        self._update(lambda pace, _: _given(pace, rate))

    def close(self) -> None:
        """Close the file, if there is one."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def wait(self, cancel: Event, until: float) -> bool:
        """Wait for a slot until it is cancelled, or until a time of ``time.monotonic()``.

        True where a slot was taken, and a request is to be sent now.
        """
        while not self._waiting.acquire(timeout=_POLL_S):  # one thread waits for the next slot
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
            self._waiting.release()

    def note_answer(self) -> None:
        """Take note of a request that was answered, or failed for another reason than the pace."""
        with self._lock:
            self._answered += 1

    def note_refusal(self, retry_after_s: float | None) -> None:
        """Slow down, and pause for as long as the service asks."""
        self._update(lambda pace, now: refused(pace, retry_after_s, now))

    def _try_to_take(self) -> float:
        """Take a slot where one is ready; return how long to wait otherwise."""
        wait_s = 0.0

        def step(pace: Pace, now: float) -> Pace:
            nonlocal wait_s
            wait_s = ready_at(pace, now, self._longest_s) - now
            return pace if wait_s > 0 else take(pace, now)

        self._update(step)
        return wait_s

    def _update(self, change: Callable[[Pace, float], Pace]) -> None:
        """Change the pace, whatever other threads and processes do: each at a later time."""
        with self._lock:
            count, self._answered = self._answered, 0

            def counted(pace: Pace) -> Pace:
                now = time.time()  # in the exchange, or who waits for the file brings an old time
                return change(answered(pace, count, now) if count else pace, now)

            file, own = self._file, self._own
            if file is None:
                self._own = counted(own)
                return
        self._own = file.change(partial(_exchange, service=self._service, own=own, change=counted))


def pace_path(choice: CacheChoice) -> Path | None:
    """Return the file for the paces: beside the answers, where they are in a file of ours.

    >>> str(pace_path(Path("answers.sqlite")))
    'answers.sqlite.pace'
    """
    path = default_path() if choice is None else choice
    return path.with_name(f"{path.name}.pace") if isinstance(path, Path) else None


def _given(pace: Pace, rate: float | None) -> Pace:
    if rate is not None:
        return replace(pace, rate=rate, fixed=True, slow_start=False)
    return replace(pace, rate=START_RATE, fixed=False, slow_start=True) if pace.fixed else pace


def _exchange(
    link: sqlite3.Connection, *, service: str, own: Pace, change: Callable[[Pace], Pace]
) -> Pace:
    """Change the pace that is stored, or this pacer's own where the file was begun anew."""
    row = link.execute(_STORED, (service,)).fetchone()
    pace = change(read_pace(row[0]) if row else own)
    link.execute("INSERT OR REPLACE INTO paces VALUES (?, ?)", (service, json.dumps(asdict(pace))))
    return pace
