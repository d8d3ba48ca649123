"""Parsing of times: a day, or a moment."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, TypeAlias

import pandas as pd

from walletframe.errors import SnapshotError

Moment: TypeAlias = str | date | datetime

_CLOCK = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d(?P<minute>:\d\d)?(?P<second>:\d\d)?(?P<fraction>[.,]\d+)?"
)
_DAYS_AGO = {"today": 0, "yesterday": 1}


def bounds(when: Moment) -> tuple[datetime, datetime]:
    """Give the first and the last microsecond of what is called a time."""
    read = _read(when)
    if isinstance(read, datetime):
        first = _in_utc(read)
        return first, first + _length(when)
    return datetime.combine(read, time.min, UTC), datetime.combine(read, time.max, UTC)


def moment(when: Moment) -> datetime:
    """Give a moment in UTC."""
    read = _read(when)
    if not isinstance(read, datetime):
        raise SnapshotError(
            f"{when} is a whole day, but a moment is needed", hint='such as "2026-01-31T06:00Z"'
        )
    return _in_utc(read)


def _length(when: Moment) -> timedelta:
    """Give how long a moment is as written, less a microsecond."""
    written = _CLOCK.match(when) if isinstance(when, str) else None
    if written is None or written["fraction"]:
        return timedelta(0)
    unit = "seconds" if written["second"] else "minutes" if written["minute"] else "hours"
    return timedelta(**{unit: 1}) - timedelta(microseconds=1)


def _in_utc(read: datetime) -> datetime:
    if isinstance(read, pd.Timestamp):
        read = read.floor("us").to_pydatetime()
    return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)


def _read(when: Any) -> date | datetime:
    if isinstance(when, date) and not pd.isna(when):  # a datetime is a date, too
        return when
    if when in _DAYS_AGO:
        return datetime.now(UTC).date() - timedelta(days=_DAYS_AGO[when])
    for kind in (date, datetime):
        try:
            return kind.fromisoformat(when)
        except (TypeError, ValueError):
            continue
    raise SnapshotError(
        f"{when!r} is not a time",
        hint='a day, such as "2026-01-31" or "yesterday", or a moment, such as "2026-01-31T06:00Z"',
    )
