"""The rate limiter: one pace for each service, shared by threads and, in a file, by processes.

A `Pace` and its functions are pure: it goes in with what happened, and a new one comes out. Times
are seconds since the epoch, since processes share them.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from walletframe.transport.database import Contents, Database
from walletframe.transport.sqlitefile import require_version
from walletframe.transport.store import default_path

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from threading import Event

    from walletframe.settings import CacheChoice

    _Change = Callable[["Pace", float], "Pace"]

# A pace starts slowly and doubles every second that it was used, until the service refuses. What
# was served within a second then stands for the service's limit: everybody pauses, goes on a little
# below it, and creeps upwards again.
#
# Where nothing is served from one refusal to the next there is nothing to go by: the service is
# slow, or serves nobody. The rate is halved each time, so that a slow one is asked as slowly as it
# wants. The rate from before that row of refusals is remembered, and a few answers bring it back;
# where the row goes on the service is probed every two seconds, and one answer does. What a pace
# has learned counts no longer when it was not used for five minutes.
START_RATE = 20.0
MOST_RATE = 2000.0
LEAST_RATE = 0.02
_FIRST_PAUSE_S = 1.0
_LATER_PAUSE_S = 0.3
_BURST_S = 1.0
_SLOW_RATE = 1.0
_BELOW = 0.9
_CREEP = 1.015
_USED = 0.5
_IDLE_S = 3.0
_OUTAGE_S = 10.0
_PROBE_S = 2.0
_UP = 4
_OLD_S = 300.0
_POLL_S = 0.1
_SLACK_S = 60.0
_STORED = "SELECT CAST(pace AS BLOB) FROM paces WHERE service = ?"
_Count = Annotated[int, Meta(ge=0)]
_Rate = Annotated[float, Meta(gt=0)]


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a service is asked, in requests a second, and what that was found out from."""

    rate: _Rate = START_RATE
    fixed: bool = False  # somebody who knows the rate gave it
    slow_start: bool = True  # the service has not refused yet
    next_at: float = 0.0
    paused_until: float = 0.0
    window_at: float = 0.0  # since when answers are counted
    served: _Count = 0  # answers since then
    served_before: _Count = 0  # answers in the second before
    rate_before: Annotated[float, Meta(ge=0)] = 0.0  # before a row of refusals that goes on; else 0
    refused_at: float = 0.0  # when these began


_READ = msgspec.json.Decoder(Pace).decode


def read_pace(stored: object) -> Pace:
    """Read a pace, stored as JSON by any release; a new one where a value can't be."""
    try:
        pace = _READ(stored) if isinstance(stored, bytes) else Pace()
    except ValueError:
        return Pace()
    return pace if pace.fixed or LEAST_RATE <= pace.rate <= MOST_RATE else Pace()


def take(pace: Pace, now: float) -> Pace:
    """Take the slot that is ready `now`; what was learned long ago counts no longer."""
    if not pace.fixed and now - max(pace.next_at, pace.paused_until) > _OLD_S:
        pace = replace(pace, rate=max(pace.rate, START_RATE), slow_start=True, rate_before=0.0)
    wait_s = 1 / pace.rate
    if pace.rate_before and now - pace.refused_at > _OUTAGE_S:
        wait_s = min(wait_s, _PROBE_S)
    return replace(pace, next_at=now + wait_s)


def answered(pace: Pace, count: int, now: float) -> Pace:
    """Count answers (any but refusals), and once a second raise the rate where half was used."""
    if pace.rate_before:
        pace = _recovered(pace, now)
    served = pace.served + count
    since = now - pace.window_at
    if 0 <= since < 1 or now < pace.window_at == pace.paused_until:
        return replace(pace, served=served)
    rate = pace.rate
    used = served >= _USED * rate * min(since, 1.0) and since < max(_IDLE_S, 2 / rate)
    if used and not pace.fixed:
        doubles = pace.slow_start or rate < _SLOW_RATE
        rate = min(rate * (2 if doubles else _CREEP), MOST_RATE)
    return replace(pace, rate=rate, window_at=now, served=0, served_before=served)


def _recovered(pace: Pace, now: float) -> Pace:
    """Return the pace after an answer that ends a row of refusals."""
    was_short = now - pace.refused_at < _OUTAGE_S  # as between two answers of a slow service
    rate = min(pace.rate * _UP, pace.rate_before) if was_short else pace.rate_before
    rate_before = pace.rate_before if rate < pace.rate_before else 0.0
    next_at = min(pace.next_at, now + 1 / rate)
    return replace(pace, rate=rate, rate_before=rate_before, next_at=next_at)


def refused(pace: Pace, retry_after_s: float | None, now: float) -> Pace:
    """Pause, for as long as the service asks, and slow down unless the rate is fixed."""
    if retry_after_s is None:
        retry_after_s = _FIRST_PAUSE_S if pace.slow_start else _LATER_PAUSE_S
    until = max(pace.paused_until, now + max(retry_after_s, _LATER_PAUSE_S))
    slower = replace(pace, paused_until=until, served=0, served_before=0, window_at=until)
    if pace.fixed or now < pace.paused_until:  # what is refused in a pause may be from before
        return slower
    if not pace.served_before and now < pace.window_at + _BURST_S:
        return replace(pace, paused_until=until)
    limit = max(pace.served, pace.served_before)
    if not limit and not pace.rate_before:
        slower = replace(slower, rate_before=pace.rate, refused_at=now)
    rate = min(pace.rate, limit) if limit else pace.rate / 2
    slow_start = pace.slow_start and not limit
    return replace(slower, rate=max(_BELOW * rate, LEAST_RATE), slow_start=slow_start)


def ready_at(pace: Pace, now: float, longest_s: float) -> float:
    """Return when the next request may be sent, not before `now`."""
    ready = max(now, pace.next_at, pace.paused_until)
    return ready if ready - now <= longest_s else now  # longer: from a clock that was set back


def _prepare(link: sqlite3.Connection) -> None:
    require_version(link, 0)
    link.execute("PRAGMA journal_mode = WAL").fetchall()
    link.execute("PRAGMA synchronous = OFF").fetchall()
    link.execute("CREATE TABLE IF NOT EXISTS paces (service TEXT PRIMARY KEY, pace TEXT NOT NULL)")


_WITHOUT = "the pace is not shared with other processes: {path}: {fault}"
PACES = Contents("pace file", _prepare, _WITHOUT, wait_s=2.0)


class Pacer:
    """Lets requests through at the pace that a service takes, which is in the file at `path`.

    `rate` is known to somebody, or None; `longest_s` is the longest pause that the service may
    ask for.
    """

    def __init__(
        self, path: Path | None, service: str, *, rate: float | None, longest_s: float
    ) -> None:
        self._service, self._longest_s = service, longest_s + _SLACK_S
        self._waiting, self._lock = Lock(), Lock()
        self._answered = 0
        self._own = Pace()
        self._file = None if path is None else Database(path, PACES)

        def begun(pace: Pace, _: float) -> Pace:
            if rate is None and not pace.fixed:
                return pace
            start = START_RATE if rate is None else rate
            return replace(pace, rate=start, fixed=rate is not None, slow_start=rate is None)

        self._update(begun)

    def close(self) -> None:
        """Close the file, if there is one."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def wait(self, cancel: Event, until: float) -> bool:
        """Wait for a slot until `cancel`, or a time of ``time.monotonic()``; True: one is taken."""
        wait_s = 0.0

        def take_if_ready(pace: Pace, now: float) -> Pace:
            nonlocal wait_s
            wait_s = ready_at(pace, now, self._longest_s) - now
            return pace if wait_s > 0 else take(pace, now)

        while not self._waiting.acquire(timeout=_POLL_S):  # one thread waits for the next slot
            if cancel.is_set() or time.monotonic() > until:
                return False
        try:
            while not cancel.is_set() and time.monotonic() <= until:
                self._update(take_if_ready)
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

    def _update(self, change: _Change) -> None:
        """Change the pace, whatever other threads and processes do: each at a later time."""
        with self._lock:
            count, self._answered = self._answered, 0
            file, own = self._file, self._own
            if file is None:
                self._own = _changed(own, count, change)
                return
        self._own = file.change(partial(self._exchange, own, count, change))

    def _exchange(self, own: Pace, count: int, change: _Change, link: sqlite3.Connection) -> Pace:
        """Change the pace that is stored, or this pacer's own where the file was begun anew."""
        row = link.execute(_STORED, (self._service,)).fetchone()
        pace = _changed(read_pace(row[0]) if row else own, count, change)
        values = (self._service, json.dumps(asdict(pace)))
        link.execute("INSERT OR REPLACE INTO paces VALUES (?, ?)", values)
        return pace


def _changed(pace: Pace, count: int, change: _Change) -> Pace:
    now = time.time()  # in the exchange, or who waits for the file brings an old time
    return change(answered(pace, count, now) if count else pace, now)


def pace_path(choice: CacheChoice) -> Path | None:
    """Return the file for the paces: beside the answers, where they are in a file of ours.

    >>> str(pace_path(Path("answers.sqlite")))
    'answers.sqlite.pace'
    """
    path = default_path() if choice is None else choice
    return path.with_name(f"{path.name}.pace") if isinstance(path, Path) else None
