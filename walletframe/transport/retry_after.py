"""The header Retry-After: a number, a fraction, a date, or nonsense."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def seconds_to_wait(header: str | None, most_s: float) -> float | None:
    """Return how long a service asks to wait.

    Parameters
    ----------
    header : str or None
        The header's value, if it came.
    most_s : float
        The longest wait that is honoured, in seconds.

    Returns
    -------
    float or None
        Seconds from 0 to `most_s`; None where the header is missing or says nothing.

    Examples
    --------
    >>> seconds_to_wait("1.5", 60), seconds_to_wait("86400", 60), seconds_to_wait("soon", 60)
    (1.5, 60, None)
    """
    if header is None:
        return None
    try:
        wait = float(header)
    except ValueError:
        wait = _until(header)
    return None if math.isnan(wait) else min(max(wait, 0.0), most_s)


def _until(date: str) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return math.nan
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - datetime.now(UTC)).total_seconds()
