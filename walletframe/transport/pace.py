"""The pace of a service: how fast it is asked, and how that is found out.

All here is pure: a `Pace` goes in with what happened, and a new one comes out. Times are seconds
since the epoch, since processes share them. Where a pace is kept is the business of `slots`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import msgspec
from msgspec import Meta

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
_WRITE = msgspec.json.Encoder().encode


def write_pace(pace: Pace) -> bytes:
    """Write a pace as JSON."""
    return _WRITE(pace)


def read_pace(stored: object) -> Pace:
    """Read a pace, stored as JSON by any release; a new one where a value can't be."""
    try:
        pace = _READ(stored) if isinstance(stored, bytes) else Pace()
    except ValueError:
        return Pace()
    return pace if pace.fixed or LEAST_RATE <= pace.rate <= MOST_RATE else Pace()


def begun(pace: Pace, rate: float | None) -> Pace:
    """Return the pace for somebody who knows the rate, or, with None, has to find it out."""
    if rate is None and not pace.fixed:
        return pace
    start = START_RATE if rate is None else rate
    return replace(pace, rate=start, fixed=rate is not None, slow_start=rate is None)


def share(pace: Pace, processes: int, now: float) -> Pace:
    """Return the pace of one of so many processes that no longer hear of each other."""
    rate = pace.rate / processes if pace.fixed else max(pace.rate / processes, LEAST_RATE)
    anew = Pace(rate, pace.fixed, pace.slow_start, window_at=now)
    return replace(anew, next_at=now + 1 / rate, paused_until=pace.paused_until)


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
