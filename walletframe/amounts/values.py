"""What people put into a column of amounts, read one value at a time or many at once.

Text, Decimals and integers are exact and welcome; floats and bools are refused with a hint; what
pandas calls missing becomes missing. Base units with decimals are ``raw``'s part.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from walletframe.amounts.integers import MAX_DECIMALS, Exact, aligned, as_objects, integers_from
from walletframe.amounts.rational import exact_pair
from walletframe.amounts.scalar import Amount
from walletframe.amounts.text import parse, shortened
from walletframe.errors import AmountError, AmountPrecisionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from walletframe.amounts.integers import Integers, Mask

Places: TypeAlias = "npt.NDArray[np.intp]"
_WRITTEN_PLAINLY = {str, int, Decimal, Amount}


def read(values: Sequence[Any] | npt.NDArray[Any]) -> Exact:
    """Read n values; what is no exact amount is refused with its position."""
    objects = as_objects(values)
    missing = _missing(objects)
    present = objects[~missing] if missing.any() else objects
    found = _read_plain(present)
    if found is None:
        found = _read_each(present, np.flatnonzero(~missing))
    if len(present) == len(objects):
        return aligned(found[0], missing, found[1])
    integers = np.full(len(objects), 0, dtype=object)
    scales = np.zeros(len(objects), dtype=np.intp)
    integers[~missing], scales[~missing] = found
    return aligned(integers, missing, scales)


def read_one(value: object) -> tuple[int, int]:
    """Read one value that isn't missing as (integer, scale)."""
    pair = parse(value) if isinstance(value, str) else exact_pair(value)
    if pair is None:
        raise _refusal(value)
    return pair if pair[1] <= MAX_DECIMALS else parse(str(value))


def _refusal(value: object) -> AmountError:
    message = f"{shortened(value)} is no exact amount"
    if isinstance(value, (float, np.floating)):
        return AmountPrecisionError(
            message,
            hint="a float has lost digits already; write the amount as text or as a Decimal, "
            f"such as '{value:.15g}' if that is what was meant",
        )
    return AmountError(
        message,
        hint="an amount is text such as '1.5', a decimal.Decimal or an integer; missing is pd.NA",
    )


def _missing(objects: Integers) -> Mask:
    missing = np.asarray(pd.isna(objects), dtype=bool)
    for place in np.flatnonzero(missing):
        if isinstance(objects[place], Decimal):
            _located(objects[place], int(place))  # a Decimal that is NaN is a mistake, not a gap
    return missing


def _located(value: object, place: int) -> tuple[int, int]:
    try:
        return read_one(value)
    except AmountError as fault:
        refused = type(fault)(f"{fault.message} (at position {place})", hint=fault.hint)
    raise refused


def _read_plain(objects: Integers) -> tuple[Integers, Places] | None:
    """Read values whose text is plain, all as one line; None where some need a closer look."""
    kinds = set(map(type, objects))
    if not kinds <= _WRITTEN_PLAINLY:
        return None
    try:
        joined = "\n".join(objects.tolist() if kinds == {str} else map(str, objects))
        if not joined.isascii():
            return None
        line = joined.encode()
        scales = _plain_scales(line, len(objects))
        if scales is None:
            return None
        whole = line.replace(b".", b"").decode().split("\n")
        return integers_from(map(int, whole), len(objects)), scales
    except ValueError:  # a misplaced sign, no digit at all, or too many
        return None


def _plain_scales(line: bytes, count: int) -> Places | None:
    """Count the digits behind the point in each of n lines; None where not all are plain."""
    if line.translate(None, b"0123456789.-\n") or b".-" in line:
        return None
    marks = np.frombuffer(line, dtype=np.uint8)
    ends = np.append(np.flatnonzero(marks == ord("\n")), len(marks))
    points = np.flatnonzero(marks == ord("."))
    places = np.searchsorted(ends, points)
    if len(ends) != count or not (np.diff(places) > 0).all():
        return None
    scales = np.zeros(count, dtype=np.intp)
    scales[places] = ends[places] - points - 1
    return scales if scales.max(initial=0) <= MAX_DECIMALS else None


def _read_each(objects: Integers, places: Places) -> tuple[Integers, Places]:
    pairs = [_located(value, int(place)) for value, place in zip(objects, places, strict=True)]
    integers = integers_from((integer for integer, _ in pairs), len(pairs))
    return integers, np.fromiter((scale for _, scale in pairs), np.intp, count=len(pairs))
