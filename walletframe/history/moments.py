"""What people call a time: a day, or a moment."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any, TypeAlias

import pandas as pd

from walletframe.errors import SnapshotError

Moment: TypeAlias = str | date | datetime

_DAYS_AGO = {"today": 0, "yesterday": 1}


def bounds(when: Moment) -> tuple[datetime, datetime]:
    """Give the first and the last microsecond of what is called a time.

    Parameters
    ----------
    when : str, date, datetime or Timestamp
        A day (``"2026-01-31"``, ``"today"``, ``"yesterday"``) of UTC, or a moment
        (``"2026-01-31T06:00Z"``), in UTC unless it names its zone.

    Returns
    -------
    tuple of (datetime, datetime)
        In UTC, both inclusive; twice the same for a moment.

    Raises
    ------
    SnapshotError
        For what is no time.

    Examples
    --------
    >>> [f"{each:%d %H:%M}" for each in bounds("2026-01-31")]
    ['31 00:00', '31 23:59']
    """
    read = _read(when)
    if isinstance(read, datetime):
        return (_in_utc(read),) * 2
    return datetime.combine(read, time.min, UTC), datetime.combine(read, time.max, UTC)


def moment(when: Moment) -> datetime:
    """Give a moment in UTC.

    Parameters
    ----------
    when : str, datetime or Timestamp
        In UTC unless it names its zone.

    Returns
    -------
    datetime
        With the zone UTC, to the microsecond.

    Raises
    ------
    SnapshotError
        For a day, and for what is no time.

    Examples
    --------
    >>> moment("2026-01-31T08:00+09:00").isoformat()
    '2026-01-30T23:00:00+00:00'
    """
    first, last = bounds(when)
    if first != last:
        raise SnapshotError(f"{when} is a whole day", hint='a moment: "2026-01-31T06:00Z"')
    return first


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
        f"{when!r} is no time",
        hint='a day, such as "2026-01-31" or "yesterday", or a moment, such as "2026-01-31T06:00Z"',
    )
