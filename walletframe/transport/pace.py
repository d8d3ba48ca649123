"""Rate limiting for one key at a service: the rate, how it is discovered, and permits to send.

A `Pace` is an immutable value: functions take a pace and an event and return a new one. A `Pacer`
holds one, in this process or in a file that processes share, and gives each request its permit.
Only a digest of the key, with a random salt, is stored.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from secrets import token_bytes
from threading import Lock
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta

from walletframe.settings.values import default_cache, require_endpoint, require_service
from walletframe.transport.database import Database, DatabaseSpec, require_version

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from threading import Event

    from walletframe.settings.values import CacheChoice, Settings

    Change: TypeAlias = "Callable[[Pace, float], Pace]"

# The rate starts low and doubles in every second in which it was used, until the service answers
# 429 (a refusal). The number of requests served within that second is then taken as the limit:
# everyone pauses, continues a little below it, and the rate slowly rises again.
#
# If nothing is served between two refusals, the limit is unknown: the service is slow, or serves
# nobody. Each such refusal halves the rate, down to what a slow service serves. The rate before
# these refusals is stored, and a few answers restore it; if they last, the service is probed every
# two seconds, and one answer restores it. A rate that was unused for five minutes starts again. The
# shared test key has a fixed low limit: it starts slower, and stays slow.
START_RATE, TEST_START_RATE = 20.0, 1.0
MOST_RATE, TEST_MOST_RATE = 2000.0, 1.8
LEAST_RATE = 0.02
_FIRST_PAUSE_S, _LATER_PAUSE_S = 1.0, 0.3
_BURST_S = 1.0
_SLOW_RATE = 1.0
_BELOW, _CREEP = 0.9, 1.015
_USED = 0.5
_IDLE_S = 3.0
_OUTAGE_S, _PROBE_S = 10.0, 2.0
_UP = 4
_OLD_S = 300.0
AHEAD_S = 0.25
ASSUMED_PROCESSES = 16  # that share a limit, if their number is unknown
_SLACK_S = 60.0
_SALT = "SELECT CAST(salt AS BLOB) FROM salts"
_STORED = "SELECT CAST(pace AS BLOB) FROM paces WHERE service = ? AND key = ?"
_POLL_S = 0.1
LATE_S = 1.0
_Count = Annotated[int, Meta(ge=0)]
_Rate = Annotated[float, Meta(gt=0)]


@dataclass(frozen=True, slots=True)
class Pace:
    """The rate of requests to a service, per second, and the data from which it is derived."""

    rate: _Rate = START_RATE
    start_rate: _Rate = START_RATE
    most_rate: _Rate = MOST_RATE  # the maximum of a discovered rate
    fixed: bool = False  # the rate comes from the settings
    slow_start: bool = True  # the service has not refused yet
    next_at: float = 0.0
    paused_until: float = 0.0
    window_at: float = 0.0  # the start of the window in which answers are counted
    served: _Count = 0  # answers in this window
    served_before: _Count = 0  # answers in the window before
    rate_before: Annotated[float, Meta(ge=0)] = 0.0  # before the current series of refusals, or 0
    refused_at: float = 0.0  # the start of that series


_READ = msgspec.json.Decoder(Pace).decode
_WRITE = msgspec.json.Encoder().encode


def write_pace(pace: Pace) -> bytes:
    """Write a pace as JSON."""
    return _WRITE(pace)


def read_pace(stored: object, otherwise: Pace) -> Pace:
    """Read a pace from JSON; return `otherwise` if it is missing, unreadable or out of range."""
    try:
        pace = _READ(stored) if isinstance(stored, bytes) else otherwise
    except ValueError:
        return otherwise
    return pace if pace.fixed or LEAST_RATE <= pace.rate <= MOST_RATE else otherwise


def initial_pace(rate: float | None, *, is_test: bool) -> Pace:
    """Return the initial pace: fixed at `rate`, or with None one that discovers its rate."""
    start, most = (TEST_START_RATE, TEST_MOST_RATE) if is_test else (START_RATE, MOST_RATE)
    if rate is None:
        return Pace(start, start, most)
    return Pace(rate, start, most, fixed=True, slow_start=False)


def with_settings_of(pace: Pace, first: Pace) -> Pace:
    """Return a stored pace, adjusted to the settings of this process, whose own is `first`."""
    rate, slow_start = first.rate, first.slow_start
    if not pace.fixed and not first.fixed:
        rate, slow_start = min(pace.rate, first.most_rate), pace.slow_start
    return replace(
        pace,
        rate=rate,
        start_rate=first.start_rate,
        most_rate=first.most_rate,
        fixed=first.fixed,
        slow_start=slow_start,
    )


def share(pace: Pace, processes: int, now: float) -> Pace:
    """Return the share of one process, if `processes` of them can't coordinate any more."""
    least = 0.0 if pace.fixed else LEAST_RATE
    bounds = (pace.rate, pace.start_rate, pace.most_rate)
    rate, start, most = (max(each / processes, least) for each in bounds)
    alone = Pace(rate, start, most, pace.fixed, pace.slow_start, window_at=now)
    return replace(alone, next_at=now + 1 / rate, paused_until=pace.paused_until)


def take(pace: Pace, now: float) -> Pace:
    """Take the permit that is due `now`; a rate that is too old starts again."""
    if not pace.fixed and now - max(pace.next_at, pace.paused_until) > _OLD_S:
        rate = max(pace.rate, pace.start_rate)
        pace = replace(pace, rate=rate, slow_start=True, rate_before=0.0)
    wait_s = 1 / pace.rate
    if pace.rate_before and now - pace.refused_at > _OUTAGE_S:
        wait_s = min(wait_s, _PROBE_S)
    return replace(pace, next_at=now + wait_s)


def answered(pace: Pace, count: int, now: float) -> Pace:
    """Count answers (all but refusals); once a second, raise the rate if half of it was used."""
    if pace.rate_before:  # a series of refusals ends
        was_short = now - pace.refused_at < _OUTAGE_S  # as between two answers of a slow service
        rate = min(pace.rate * _UP, pace.rate_before) if was_short else pace.rate_before
        rate_before = pace.rate_before if rate < pace.rate_before else 0.0
        next_at = min(pace.next_at, now + 1 / rate)
        pace = replace(pace, rate=rate, rate_before=rate_before, next_at=next_at)
    served = pace.served + count
    since = now - pace.window_at
    if 0 <= since < 1 or now < pace.window_at == pace.paused_until:
        return replace(pace, served=served)
    rate = pace.rate
    used = served >= _USED * rate * min(since, 1.0) and since < max(_IDLE_S, 2 / rate)
    if used and not pace.fixed:
        doubles = pace.slow_start or rate < _SLOW_RATE
        rate = min(rate * (2 if doubles else _CREEP), pace.most_rate)
    return replace(pace, rate=rate, window_at=now, served=0, served_before=served)


def returned(pace: Pace, count: int, now: float) -> Pace:
    """Return the pace after the last `count` permits were returned unused."""
    return replace(pace, next_at=max(pace.next_at - count / pace.rate, min(pace.next_at, now)))


def refused(pace: Pace, retry_after_s: float | None, now: float) -> Pace:
    """Pause for as long as the service asks, and lower the rate unless it is fixed."""
    if retry_after_s is None:
        retry_after_s = _FIRST_PAUSE_S if pace.slow_start else _LATER_PAUSE_S
    until = max(pace.paused_until, now + max(retry_after_s, _LATER_PAUSE_S))
    slower = replace(pace, paused_until=until, served=0, served_before=0, window_at=until)
    if pace.fixed or now < pace.paused_until:  # a request refused in a pause was sent before it
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
    return ready if ready - now <= longest_s else now  # longer if the clock was set back


class Permit(NamedTuple):
    """The wait until a granted permit is due, or until the next try if none was granted."""

    wait_s: float
    is_granted: bool


def _prepare(con: sqlite3.Connection) -> None:
    require_version(con, 0)
    con.execute("PRAGMA journal_mode = WAL").fetchall()
    con.execute("PRAGMA synchronous = OFF").fetchall()
    con.execute("CREATE TABLE IF NOT EXISTS salts (salt BLOB NOT NULL)")
    con.execute(
        "CREATE TABLE IF NOT EXISTS paces "
        "(service TEXT, key TEXT, pace TEXT NOT NULL, PRIMARY KEY (service, key))"
    )


_WITHOUT = "the rate limit is not shared with other processes: {path}: {fault}"
PACES = DatabaseSpec("pace file", _prepare, _WITHOUT, wait_s=2.0)


class Pacer:
    """The rate limiter of a key, shared by all processes with the same file.

    `last_pace` is the latest known pace. If the file stays locked, a process uses part of the rate.
    """

    def __init__(self, settings: Settings, *, in_file: bool = True) -> None:
        rate, is_test = settings.requests_per_second, settings.key_kind == "test"
        first = initial_pace(rate, is_test=is_test)
        self.last_pace: Pace = first
        self._longest_s = settings.retry_after_max_s + _SLACK_S
        self._waiting, self._lock = Lock(), Lock()
        self._answers = 0
        self._permit_at = -math.inf  # when the granted permit is due, by time.monotonic()
        self.file: Database | None = None
        if in_file and (path := pace_path(settings.cache)) is not None:
            self._service, (_, self._key) = require_service(settings), require_endpoint(settings)
            self.file = Database(path, PACES)
            self._update(lambda pace, _: with_settings_of(pace, first))

    def close(self) -> None:
        """Close the file; threads that still run use the latest known pace."""
        file, self.file = self.file, None
        if file is not None:
            file.close()

    def wait(self, cancel: Event, until: float) -> bool:
        """Wait for a permit until `cancel` or ``time.monotonic()`` is `until`; True if granted."""
        while not self._waiting.acquire(timeout=_POLL_S):  # one thread waits for the next permit
            if cancel.is_set() or time.monotonic() > until:
                return False
        try:
            while not cancel.is_set() and time.monotonic() <= until:
                wait_s = self._wait_s()
                if wait_s <= 0:
                    self._permit_at = -math.inf
                    return True
                cancel.wait(min(wait_s, max(0.0, until - time.monotonic()) + 0.001))
            return False
        finally:
            self._waiting.release()

    def note_answer(self) -> None:
        """Count a request that was answered, or that failed for another reason than the rate."""
        with self._lock:
            self._answers += 1

    def note_refusal(self, retry_after_s: float | None) -> None:
        """Slow down and pause for as long as the service asks; a granted permit expires."""
        self._update(lambda pace, now: refused(pace, retry_after_s, now))
        self._permit_at = -math.inf

    def _wait_s(self) -> float:
        """Return how long to wait for the granted permit, or before the next try."""
        if self._permit_at < time.monotonic() - LATE_S:
            permit = self._take_permit()
            if not permit.is_granted:
                return permit.wait_s
            self._permit_at = time.monotonic() + permit.wait_s
        return self._permit_at - time.monotonic()

    def _take_permit(self) -> Permit:
        """Take the next permit, unless it is due too far ahead."""
        permit = Permit(0.0, is_granted=False)

        def take_next(pace: Pace, now: float) -> Pace:
            nonlocal permit
            ready = ready_at(pace, now, self._longest_s)
            if ready - now > AHEAD_S:
                permit = Permit(ready - now - AHEAD_S, is_granted=False)
                return pace
            permit = Permit(ready - now, is_granted=True)
            return take(pace, ready)

        self._update(take_next)
        return permit

    def _update(self, change: Change) -> None:
        """Apply the counted answers, then `change`, in one transaction if the pace is stored."""
        with self._lock:
            answers, self._answers = self._answers, 0
            if (file := self.file) is None:
                self.last_pace = _changed(self.last_pace, answers, change)
        if file is not None:
            self.last_pace = file.write(partial(self._update_stored, file, answers, change))

    def _update_stored(
        self, file: Database, answers: int, change: Change, con: sqlite3.Connection
    ) -> Pace:
        """Change the stored pace, or the latest known one if the file was created anew."""
        salt = con.execute(_SALT).fetchone()
        if salt is None:
            salt = (token_bytes(16),)
            con.execute("INSERT INTO salts VALUES (?)", salt)
        # The digest tells keys apart without revealing them, and no local holds the key.
        digest = blake2b(salt[0] + self._key.reveal().encode(), digest_size=16).hexdigest()
        row_key = (self._service, digest)
        row = con.execute(_STORED, row_key).fetchone()
        pace = _changed(read_pace(row and row[0], self.last_pace), answers, change)
        if file.fell_back_because_locked and not row:
            pace = share(pace, ASSUMED_PROCESSES, time.time())
        values = (*row_key, write_pace(pace).decode())
        con.execute("INSERT OR REPLACE INTO paces VALUES (?, ?, ?)", values)
        return pace


def _changed(pace: Pace, answers: int, change: Change) -> Pace:
    now = time.time()  # read here, since a thread may have waited for a lock or a file
    return change(answered(pace, answers, now) if answers else pace, now)


def pace_path(cache: CacheChoice) -> Path | None:
    """Return the path of the pace file, beside the cache file; None if the cache is no file.

    >>> str(pace_path(Path("answers.sqlite")))
    'answers.sqlite.pace'
    """
    path = default_cache() if cache is None else cache
    return path.with_name(f"{path.name}.pace") if isinstance(path, Path) else None
