"""The rate limiter of an API key. It discovers the rate limit, and grants a permit per request.

`RateState` is an immutable value; functions apply an event to a state, and return a new state. A
`RateLimiter` stores the state in this process, or in a file that processes share. The file contains
a salted hash of each API key.
"""

from __future__ import annotations

import math
import time
from collections import deque
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from secrets import token_bytes
from threading import Event, Lock
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta

from walletframe.settings.values import default_cache_path, endpoint_and_key, require_service
from walletframe.transport.database import Database, DatabaseSpec, require_schema_version

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from walletframe.settings.values import CacheChoice, Settings

    StateChange: TypeAlias = "Callable[[RateState, float], RateState]"

# The rate starts low, and doubles after each second in which at least half of it was used, until
# the service answers 429 (a refusal). The number of answers in the last second is assumed to be the
# service's limit. After a pause, the rate continues a little below this limit, and rises slowly.
#
# If the service answers no request between two refusals, its limit is unknown: the service may be
# slow or down. Each of these refusals halves the rate. The rate before the first of them is stored,
# and a few answers restore it. After ten seconds of refusals, a request is sent every two seconds,
# and one answer restores the rate. A rate that was unused for five minutes is discovered anew. The
# shared test key has a fixed low limit, so its rate starts lower and remains low.
START_RATE, TEST_START_RATE = 20.0, 1.0
MAX_RATE, TEST_MAX_RATE = 2000.0, 1.8
MIN_RATE = 0.02
_FIRST_PAUSE_S, _LATER_PAUSE_S = 1.0, 0.3
_BURST_S = 1.0
_SLOW_RATE = 1.0
_LIMIT_FRACTION, _SLOW_GROWTH = 0.9, 1.015
_MIN_USE = 0.5  # the rate rises only if at least this fraction of it was used
_IDLE_S = 3.0
_OUTAGE_S, _PROBE_S = 10.0, 2.0
_RECOVERY = 4  # factor by which each answer raises the rate after a short series of refusals
_RATE_EXPIRY_S = 300.0
LEAD_S = 0.25  # a permit can be taken this long before its time
_BATCH_S = 0.02  # a process takes the permits for this time at once
ASSUMED_PROCESSES = 16  # if the number of processes that share a limit is unknown
_CLOCK_TOLERANCE_S = 60.0
_STATE = "SELECT CAST(pace AS BLOB) FROM paces WHERE service = ? AND key = ?"
_POLL_S = 0.1
PERMIT_EXPIRY_S = 1.0  # an unused permit expires this long after its time
_Count = Annotated[int, Meta(ge=0)]
_Rate = Annotated[float, Meta(gt=0)]


@dataclass(frozen=True, slots=True)
class RateState:
    """The request rate, and data to adapt it. Files store the field names: don't rename them."""

    rate: _Rate = START_RATE  # per second
    start_rate: _Rate = START_RATE
    max_rate: _Rate = MAX_RATE  # the maximum of a discovered rate
    fixed: bool = False  # whether the settings define the rate
    slow_start: bool = True  # whether the rate still doubles, since the limit is not known yet
    next_at: float = 0.0  # the time of the next permit
    paused_until: float = 0.0
    window_at: float = 0.0  # the start of the window in which answers are counted
    served: _Count = 0  # number of answers in this window
    served_before: _Count = 0  # number of answers in the previous window
    rate_before: Annotated[float, Meta(ge=0)] = 0.0  # before the current series of refusals, or 0
    refused_at: float = 0.0  # the start of the current series of refusals


_DECODE = msgspec.json.Decoder(RateState).decode
state_to_json: Callable[[RateState], bytes] = msgspec.json.Encoder().encode


def state_from_json(stored: object, default: RateState) -> RateState:
    """Parse a state from JSON. Return `default` if the JSON is missing, invalid or out of range."""
    try:
        state = _DECODE(stored) if isinstance(stored, bytes) else default
    except ValueError:
        return default
    return state if state.fixed or MIN_RATE <= state.rate <= MAX_RATE else default


def initial_state(fixed_rate: float | None, *, is_test: bool) -> RateState:
    """Return the initial state. If `fixed_rate` is None, the rate adapts to the answers."""
    start, maximum = (TEST_START_RATE, TEST_MAX_RATE) if is_test else (START_RATE, MAX_RATE)
    if fixed_rate is None:
        return RateState(start, start, maximum)
    return RateState(fixed_rate, start, maximum, fixed=True, slow_start=False)


def apply_current_limits(state: RateState, initial: RateState) -> RateState:
    """Return the state with the limits of `initial`, since settings may have changed."""
    rate, slow_start = initial.rate, initial.slow_start
    if not state.fixed and not initial.fixed:
        rate, slow_start = min(state.rate, initial.max_rate), state.slow_start
    limits: Any = {name: getattr(initial, name) for name in ("start_rate", "max_rate", "fixed")}
    return replace(state, rate=rate, slow_start=slow_start, **limits)


def divide_rate(state: RateState, count: int, now: float) -> RateState:
    """Return the state of one of `count` processes or threads that share a rate equally."""
    minimum = 0.0 if state.fixed else MIN_RATE
    rates = (state.rate, state.start_rate, state.max_rate)
    rate, start, maximum = (max(each / count, minimum) for each in rates)
    divided = RateState(rate, start, maximum, state.fixed, state.slow_start, window_at=now)
    return replace(divided, next_at=now + 1 / rate, paused_until=state.paused_until)


def take_permit(state: RateState, now: float) -> RateState:
    """Take the permit that is due `now`. After long inactivity, rediscover the rate."""
    if not state.fixed and now - max(state.next_at, state.paused_until) > _RATE_EXPIRY_S:
        rate = max(state.rate, state.start_rate)
        state = replace(state, rate=rate, slow_start=True, rate_before=0.0)
    wait_s = 1 / state.rate
    if state.rate_before and now - state.refused_at > _OUTAGE_S:
        wait_s = min(wait_s, _PROBE_S)
    return replace(state, next_at=now + wait_s)


def take_permits(
    state: RateState, count: int, now: float, max_wait_s: float = math.inf
) -> tuple[RateState, list[float]]:
    """Take the next `count` permits. Return the new state and the time of each permit."""
    times = []
    for _ in range(count):
        times.append(next_permit_at(state, now, max_wait_s))
        state = take_permit(state, times[-1])
    return state, times


def count_answers(state: RateState, count: int, now: float) -> RateState:
    """Count answers except 429. Once a second, raise the rate if at least half of it was used."""
    if state.rate_before:  # these answers end a series of refusals
        was_short = now - state.refused_at < _OUTAGE_S  # as between two answers of a slow service
        rate = min(state.rate * _RECOVERY, state.rate_before) if was_short else state.rate_before
        rate_before = state.rate_before if rate < state.rate_before else 0.0
        next_at = min(state.next_at, now + 1 / rate)
        state = replace(state, rate=rate, rate_before=rate_before, next_at=next_at)
    served = state.served + count
    window_s = now - state.window_at
    if 0 <= window_s < 1 or now < state.window_at == state.paused_until:
        return replace(state, served=served)
    rate = state.rate
    used = served >= _MIN_USE * rate * min(window_s, 1.0) and window_s < max(_IDLE_S, 2 / rate)
    if used and not state.fixed:
        doubles = state.slow_start or rate < _SLOW_RATE
        rate = min(rate * (2 if doubles else _SLOW_GROWTH), state.max_rate)
    return replace(state, rate=rate, window_at=now, served=0, served_before=served)


def restore_permits(state: RateState, count: int, now: float) -> RateState:
    """Restore `count` permits that were not used."""
    return replace(state, next_at=max(state.next_at - count / state.rate, min(state.next_at, now)))


def slow_down(state: RateState, retry_after_s: float | None, now: float) -> RateState:
    """Pause for the time that the service requests, and lower the rate unless it is fixed."""
    if retry_after_s is None:
        retry_after_s = _FIRST_PAUSE_S if state.slow_start else _LATER_PAUSE_S
    until = max(state.paused_until, now + max(retry_after_s, _LATER_PAUSE_S))
    slower = replace(state, paused_until=until, served=0, served_before=0, window_at=until)
    if state.fixed or now < state.paused_until:  # this request was sent before the pause began
        return slower
    if not state.served_before and now < state.window_at + _BURST_S:
        return replace(state, paused_until=until)
    limit = max(state.served, state.served_before)
    if not limit and not state.rate_before:
        slower = replace(slower, rate_before=state.rate, refused_at=now)
    rate = min(state.rate, limit) if limit else state.rate / 2
    slow_start = state.slow_start and not limit
    return replace(slower, rate=max(_LIMIT_FRACTION * rate, MIN_RATE), slow_start=slow_start)


def next_permit_at(state: RateState, now: float, max_wait_s: float) -> float:
    """Return the time of the next permit, or `now` if that time is over `max_wait_s` away."""
    due = max(now, state.next_at, state.paused_until)
    return due if due - now <= max_wait_s else now  # else, a clock was set back


def _prepare_db(con: sqlite3.Connection) -> None:
    require_schema_version(con, 0)
    con.execute("PRAGMA journal_mode = WAL").fetchall()
    con.execute("PRAGMA synchronous = OFF").fetchall()
    con.execute("CREATE TABLE IF NOT EXISTS salts (salt BLOB NOT NULL)")
    con.execute(
        "CREATE TABLE IF NOT EXISTS paces "
        "(service TEXT, key TEXT, pace TEXT NOT NULL, PRIMARY KEY (service, key))"
    )


_WARNING = "the rate limit is not shared with other processes: {path} can't be used ({fault})"
RATE_FILE_SPEC = DatabaseSpec("rate limit file", _prepare_db, _WARNING, lock_timeout_s=2.0)


class RateLimiter:
    """The rate limiter of an API key. Processes that use the same file share the state."""

    def __init__(self, settings: Settings, *, in_file: bool = True) -> None:
        initial = initial_state(settings.requests_per_second, is_test=settings.key_kind == "test")
        self.last_state: RateState = initial
        self._max_wait_s = settings.retry_after_max_s + _CLOCK_TOLERANCE_S
        self._waiter_lock, self._lock = Lock(), Lock()
        self._answers = 0
        self._permits: deque[float] = deque()  # times of the permits, of time.monotonic()
        self.database: Database | None = None
        if in_file and (path := rate_file_path(settings.cache)) is not None:
            self._service, (_, self._key) = require_service(settings), endpoint_and_key(settings)
            self.database = Database(path, RATE_FILE_SPEC)
            self._update_state(lambda state, _: apply_current_limits(state, initial))

    def close(self) -> None:
        """Close the file. Running threads use the state in memory from now on."""
        database, self.database = self.database, None
        if database is not None:
            database.close()

    def wait_for_permit(self, cancel: Event, deadline: float) -> bool:
        """Wait for a permit. Return False after `cancel` is set or the `deadline` is reached."""
        while not self._waiter_lock.acquire(timeout=_POLL_S):  # only one thread takes a permit
            if cancel.is_set() or time.monotonic() > deadline:
                return False
        try:
            while not cancel.is_set() and time.monotonic() <= deadline:
                wait_s = self._use_permit_if_due()
                if wait_s <= 0:
                    return True
                if wait_s == math.inf:
                    wait_s = max(0.0, self._request_permits())
                cancel.wait(min(wait_s, max(0.0, deadline - time.monotonic()) + 0.001))
            return False
        finally:
            self._waiter_lock.release()

    def note_answer(self) -> None:
        """Count a request that was not refused with the status 429."""
        with self._lock:
            self._answers += 1

    def note_refusal(self, retry_after_s: float | None) -> None:
        """Pause for the requested time, lower the rate, and drop the unused permits."""

        def drop_permits(state: RateState, now: float) -> RateState:
            self._permits = deque()
            return slow_down(state, retry_after_s, now)

        self._update_state(drop_permits)

    def _use_permit_if_due(self) -> float:
        """Use the next permit if it is due. Return the seconds until it is due, or inf if none."""
        with self._lock:
            now, permits = time.monotonic(), self._permits  # a transaction can replace them
            while permits and permits[0] < now - PERMIT_EXPIRY_S:
                permits.popleft()
            wait_s = permits[0] - now if permits else math.inf
            if wait_s <= 0:
                permits.popleft()
        return wait_s

    def _request_permits(self) -> float:
        """Take permits if the next one is due soon. Return the seconds to wait, if any."""
        wait_s = 0.0

        def take_if_due(state: RateState, now: float) -> RateState:
            nonlocal wait_s
            wait_s = next_permit_at(state, now, self._max_wait_s) - now - LEAD_S
            count = max(1, int(state.rate * _BATCH_S)) if wait_s <= 0 else 0
            state, times = take_permits(state, count, now, self._max_wait_s)
            # Assigned in the transaction, so that a later refusal drops these permits.
            self._permits = deque(each - now + time.monotonic() for each in times)
            return state

        self._update_state(take_if_due)
        return wait_s

    def _update_state(self, change: StateChange) -> None:
        with self._lock:
            answer_count, self._answers = self._answers, 0
            if (database := self.database) is None:
                self.last_state = _apply_change(self.last_state, answer_count, change)
        if database is not None:
            update = partial(self._update_stored_state, database, answer_count, change)
            self.last_state = database.write_in_transaction(update)

    def _update_stored_state(
        self, database: Database, answer_count: int, change: StateChange, con: sqlite3.Connection
    ) -> RateState:
        """Apply a change to the stored state, or to `last_state` if no valid state is stored."""
        if (salt := con.execute("SELECT CAST(salt AS BLOB) FROM salts").fetchone()) is None:
            salt = (token_bytes(16),)
            con.execute("INSERT INTO salts VALUES (?)", salt)
        # The digest does not reveal the key, and no local variable contains the key.
        digest = blake2b(salt[0] + self._key.reveal().encode(), digest_size=16).hexdigest()
        row_key = (self._service, digest)
        row = con.execute(_STATE, row_key).fetchone()
        state = state_from_json(row and row[0], self.last_state)
        if database.fell_back_because_locked and not row:
            state = divide_rate(state, ASSUMED_PROCESSES, time.time())
        state = _apply_change(state, answer_count, change)
        values = (*row_key, state_to_json(state).decode())
        con.execute("INSERT OR REPLACE INTO paces VALUES (?, ?, ?)", values)
        return state


def _apply_change(state: RateState, answer_count: int, change: StateChange) -> RateState:
    now = time.time()  # only now, since the thread may have waited for a lock or for the file
    return change(count_answers(state, answer_count, now) if answer_count else state, now)


def rate_file_path(cache: CacheChoice) -> Path | None:
    """Return the path of the rate limit file, or None if there is no cache file."""
    path = default_cache_path() if cache is None else cache
    return path.with_name(f"{path.name}.pace") if isinstance(path, Path) else None
