"""The pace of a key at a service: how fast it is asked, how that is found out, and who waits.

A `Pace` is a value: it goes in with what happened, and a new one comes out. A `Pacer` keeps one, in
this process or in a file that processes share, and lets each request through at its slot.
Of the key nothing is kept but a digest with a random salt.
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
from walletframe.transport.database import Contents, Database, require_version

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from threading import Event

    from walletframe.settings.values import CacheChoice, Settings

    Change: TypeAlias = "Callable[[Pace, float], Pace]"

# A pace starts slowly and doubles every second that it was used, until the service refuses. What
# was served within a second then stands for the service's limit: everybody pauses, goes on a little
# below it, and creeps upwards again.
#
# Where nothing is served from one refusal to the next there is nothing to go by: the service is
# slow, or serves nobody. The rate is halved each time, so that a slow one is asked as slowly as it
# wants. The rate from before that row of refusals is remembered, and a few answers bring it back;
# where the row goes on the service is probed every two seconds, and one answer does. What a pace
# has learned counts no longer when it was not used for five minutes. The shared test key has a
# fixed low limit: it begins slower, and stays slow.
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
UNCOUNTED = 16  # processes that share a pace where nobody knows how many
_SLACK_S = 60.0
_SALT = "SELECT CAST(salt AS BLOB) FROM salts"
_STORED = "SELECT CAST(pace AS BLOB) FROM paces WHERE service = ? AND key = ?"
_POLL_S = 0.1
LATE_S = 1.0
_Count = Annotated[int, Meta(ge=0)]
_Rate = Annotated[float, Meta(gt=0)]


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a service is asked, in requests a second, and what that was found out from."""

    rate: _Rate = START_RATE
    start_rate: _Rate = START_RATE
    most_rate: _Rate = MOST_RATE  # of what is found out
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
_WRITE = msgspec.json.Encoder().encode


def write_pace(pace: Pace) -> bytes:
    """Write a pace as JSON."""
    return _WRITE(pace)


def read_pace(stored: object, otherwise: Pace) -> Pace:
    """Read a pace that is stored as JSON; another where nothing is, or a value can't be."""
    try:
        pace = _READ(stored) if isinstance(stored, bytes) else otherwise
    except ValueError:
        return otherwise
    return pace if pace.fixed or LEAST_RATE <= pace.rate <= MOST_RATE else otherwise


def first_pace(rate: float | None, *, is_test: bool) -> Pace:
    """Return the pace at the beginning, where the rate is known, or, with None, to be found out."""
    start, most = (TEST_START_RATE, TEST_MOST_RATE) if is_test else (START_RATE, MOST_RATE)
    if rate is None:
        return Pace(start, start, most)
    return Pace(rate, start, most, fixed=True, slow_start=False)


def begun(pace: Pace, first: Pace) -> Pace:
    """Return a pace that others have begun for somebody who would begin with another one."""
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
    """Return the pace of one of so many processes that no longer hear of each other."""
    least = 0.0 if pace.fixed else LEAST_RATE
    bounds = (pace.rate, pace.start_rate, pace.most_rate)
    rate, start, most = (max(each / processes, least) for each in bounds)
    alone = Pace(rate, start, most, pace.fixed, pace.slow_start, window_at=now)
    return replace(alone, next_at=now + 1 / rate, paused_until=pace.paused_until)


def take(pace: Pace, now: float) -> Pace:
    """Take the slot that is ready `now`; what was learned long ago counts no longer."""
    if not pace.fixed and now - max(pace.next_at, pace.paused_until) > _OLD_S:
        rate = max(pace.rate, pace.start_rate)
        pace = replace(pace, rate=rate, slow_start=True, rate_before=0.0)
    wait_s = 1 / pace.rate
    if pace.rate_before and now - pace.refused_at > _OUTAGE_S:
        wait_s = min(wait_s, _PROBE_S)
    return replace(pace, next_at=now + wait_s)


def answered(pace: Pace, count: int, now: float) -> Pace:
    """Count answers (any but refusals), and once a second raise the rate where half was used."""
    if pace.rate_before:  # a row of refusals ends
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
    """Return the pace after so many slots were given back unused, of those that were taken last."""
    return replace(pace, next_at=max(pace.next_at - count / pace.rate, min(pace.next_at, now)))


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


class Slot(NamedTuple):
    """How long to wait for a slot that is taken, or before asking for one again."""

    wait_s: float
    is_taken: bool


def _prepare(link: sqlite3.Connection) -> None:
    require_version(link, 0)
    link.execute("PRAGMA journal_mode = WAL").fetchall()
    link.execute("PRAGMA synchronous = OFF").fetchall()
    link.execute("CREATE TABLE IF NOT EXISTS salts (salt BLOB NOT NULL)")
    link.execute(
        "CREATE TABLE IF NOT EXISTS paces "
        "(service TEXT, key TEXT, pace TEXT NOT NULL, PRIMARY KEY (service, key))"
    )


_WITHOUT = "the pace is not shared with other processes: {path}: {fault}"
PACES = Contents("pace file", _prepare, _WITHOUT, wait_s=2.0)


class Pacer:
    """Lets requests through at the pace of a key, that of all processes that know its file.

    `own` is the pace as it was seen last. Where others don't let go of the file, a process keeps to
    a part of the rate.
    """

    def __init__(self, settings: Settings, *, in_file: bool = True) -> None:
        rate, is_test = settings.requests_per_second, settings.key_kind == "test"
        first = first_pace(rate, is_test=is_test)
        self.own: Pace = first
        self._longest_s = settings.retry_after_max_s + _SLACK_S
        self._waiting, self._lock = Lock(), Lock()
        self._answers = 0
        self._slot_at = -math.inf  # of the slot that is taken, by time.monotonic()
        self.file: Database | None = None
        if in_file and (path := pace_path(settings.cache)) is not None:
            self._service, (_, self._key) = require_service(settings), require_endpoint(settings)
            self.file = Database(path, PACES)
            self._update(lambda pace, _: begun(pace, first))

    def close(self) -> None:
        """Close the file; threads that are late go on with what was seen last."""
        file, self.file = self.file, None
        if file is not None:
            file.close()

    def wait(self, cancel: Event, until: float) -> bool:
        """Wait for a slot until `cancel`, or a time of ``time.monotonic()``; True: it is used."""
        while not self._waiting.acquire(timeout=_POLL_S):  # one thread waits for the next slot
            if cancel.is_set() or time.monotonic() > until:
                return False
        try:
            while not cancel.is_set() and time.monotonic() <= until:
                wait_s = self._wait_s()
                if wait_s <= 0:
                    self._slot_at = -math.inf
                    return True
                cancel.wait(min(wait_s, max(0.0, until - time.monotonic()) + 0.001))
            return False
        finally:
            self._waiting.release()

    def note_answer(self) -> None:
        """Take note of a request that was answered, or failed for another reason than the pace."""
        with self._lock:
            self._answers += 1

    def note_refusal(self, retry_after_s: float | None) -> None:
        """Slow down, and pause for as long as the service asks, whoever has taken a slot."""
        self._update(lambda pace, now: refused(pace, retry_after_s, now))
        self._slot_at = -math.inf

    def _wait_s(self) -> float:
        """Return how long to wait for the slot that is taken, or before asking for one."""
        if self._slot_at < time.monotonic() - LATE_S:
            slot = self._take()
            if not slot.is_taken:
                return slot.wait_s
            self._slot_at = time.monotonic() + slot.wait_s
        return self._slot_at - time.monotonic()

    def _take(self) -> Slot:
        """Take the next slot, unless it is too far ahead."""
        slot = Slot(0.0, is_taken=False)

        def take_next(pace: Pace, now: float) -> Pace:
            nonlocal slot
            ready = ready_at(pace, now, self._longest_s)
            if ready - now > AHEAD_S:
                slot = Slot(ready - now - AHEAD_S, is_taken=False)
                return pace
            slot = Slot(ready - now, is_taken=True)
            return take(pace, ready)

        self._update(take_next)
        return slot

    def _update(self, change: Change) -> None:
        """Change the pace after what was answered, whatever others do: each at a later time."""
        with self._lock:
            answers, self._answers = self._answers, 0
            if (file := self.file) is None:
                self.own = _changed(self.own, answers, change)
        if file is not None:
            self.own = file.change(partial(self._exchange, file, answers, change))

    def _exchange(
        self, file: Database, answers: int, change: Change, link: sqlite3.Connection
    ) -> Pace:
        """Change the pace that is stored, or the one seen last where the file was begun anew."""
        salt = link.execute(_SALT).fetchone()
        if salt is None:
            salt = (token_bytes(16),)
            link.execute("INSERT INTO salts VALUES (?)", salt)
        # It tells keys apart, and nobody the key, which stands in no local either.
        digest = blake2b(salt[0] + self._key.reveal().encode(), digest_size=16).hexdigest()
        whose = (self._service, digest)
        row = link.execute(_STORED, whose).fetchone()
        pace = _changed(read_pace(row and row[0], self.own), answers, change)
        if file.is_crowded and not row:
            pace = share(pace, UNCOUNTED, time.time())
        values = (*whose, write_pace(pace).decode())
        link.execute("INSERT OR REPLACE INTO paces VALUES (?, ?, ?)", values)
        return pace


def _changed(pace: Pace, answers: int, change: Change) -> Pace:
    now = time.time()  # read here: who waited for a lock or a file brings an old time
    return change(answered(pace, answers, now) if answers else pace, now)


def pace_path(cache: CacheChoice) -> Path | None:
    """Return the file of the paces, beside that of the answers, if these are in one.

    >>> str(pace_path(Path("answers.sqlite")))
    'answers.sqlite.pace'
    """
    path = default_cache() if cache is None else cache
    return path.with_name(f"{path.name}.pace") if isinstance(path, Path) else None
