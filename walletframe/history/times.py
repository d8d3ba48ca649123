"""How times are read, and which time the answers of a fetch are of."""
# A day is one of UTC, as the folders of snapshots are. A moment without a zone is of the machine's
# own, wherever one is given, so that what is saved at it is found at it.

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, TypeAlias

import pandas as pd

from walletframe.errors import Argument, InputWarning, SnapshotError, Spelled
from walletframe.frames import Source, known_when_asked
from walletframe.notice import notify
from walletframe.numerals import part

Moment: TypeAlias = str | date | datetime

_CLOCK = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d(?P<minute>:\d\d)?(?P<second>:\d\d)?(?P<fraction>[.,]\d+)?"
)
_DAYS_AGO = {"today": 0, "yesterday": 1}
_UTC: Final = " UTC"


def bounds(when: Moment) -> tuple[datetime, datetime]:
    """Give the first and the last microsecond of what is called a time, in UTC."""
    read = _read(when)
    if not isinstance(read, datetime):
        return datetime.combine(read, time.min, UTC), datetime.combine(read, time.max, UTC)
    written = _CLOCK.match(when) if isinstance(when, str) else None
    start = read.astimezone(UTC)
    if written is None or written["fraction"]:
        return start, start
    unit = "seconds" if written["second"] else "minutes" if written["minute"] else "hours"
    return start, start + timedelta(**{unit: 1}) - timedelta(microseconds=1)


def moment(when: Moment) -> datetime:
    """Give a moment in UTC."""
    return _moment(when).astimezone(UTC)


def said_moment(when: Moment) -> datetime:
    """Give a moment in UTC, and say which one it is where its zone had to be supposed."""
    read = _moment(when)
    found = read.astimezone(UTC)
    if read.tzinfo is None:
        meant = f"{found:%Y-%m-%d %H:%M:%S} UTC"
        notify(
            f"{read} names no zone: taken as this machine's own ({read.astimezone().tzname()}), "
            f"it is {meant}",
            InputWarning,
        )
    return found


def answered_at(wallets: pd.DataFrame) -> datetime:
    """Tell when a fetch was answered: at its newest answer, and now where there is none.

    Answers that are out of date count for nothing: they are kept as not known at that time.
    """
    asked = wallets["source"].isin([Source.SERVICE.value, Source.CACHE.value])
    newest = wallets["fetched_at"][asked].max()
    if pd.isna(newest):
        return datetime.now(UTC)
    cached = known_when_asked(wallets) & (wallets["source"] == Source.CACHE.value)
    old = wallets["fetched_at"][cached & (wallets["fetched_at"] < newest.floor("D"))]
    if len(old):
        raise SnapshotError(
            f"{part(len(old), len(wallets), 'wallet')} answered from the cache as of an earlier "
            f"day than the newest answer: the oldest as of {old.min():%Y-%m-%d %H:%M} UTC, the "
            f"newest as of {newest:%Y-%m-%d %H:%M} UTC",
            hint=Spelled(
                "ask for them anew with ",
                Argument("refresh"),
                ", or say which time the snapshot is of with ",
                Argument("at"),
            ),
        )
    answered: datetime = newest.to_pydatetime()
    return answered


def _moment(when: Moment) -> datetime:
    read = _read(when)
    if not isinstance(read, datetime):
        raise SnapshotError(
            f"{when} is a whole day, but a moment is needed", hint='such as "2026-01-31T06:00Z"'
        )
    return read


def _read(when: Any) -> date | datetime:
    """Give a day, or a moment, of the machine's own zone if it names none."""
    # A datetime is a date, too.
    read = when if isinstance(when, date) and not pd.isna(when) else _parsed(when)
    if isinstance(read, pd.Timestamp):
        return read.floor("us").to_pydatetime()
    return read


def _parsed(when: Any) -> date | datetime:
    if when in _DAYS_AGO:
        return datetime.now(UTC).date() - timedelta(days=_DAYS_AGO[when])
    written = when
    if isinstance(when, str) and when.endswith(_UTC):
        written = f"{when.removesuffix(_UTC)}Z"  # as lists of snapshots show it
    for kind in (date, datetime):
        try:
            return kind.fromisoformat(written)
        except (TypeError, ValueError):
            continue
    raise SnapshotError(
        f"{when!r} is not a time",
        hint='a day, such as "2026-01-31" or "yesterday", or a moment, such as "2026-01-31T06:00Z"',
    )
