"""What people put into a column of amounts, read one value at a time or many at once.

Text, Decimals and integers are exact and welcome; floats and bools are refused with a hint; what
pandas calls missing (None, NA, NaN, NaT) becomes missing. This module decides that and nothing
else: base units with decimals are ``raw``'s part.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.amounts.integers import MAX_DECIMALS, Exact, aligned, integers_from
from walletframe.amounts.scalar import Amount, exact_pair
from walletframe.amounts.text import parse, shortened
from walletframe.errors import AmountError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from walletframe.amounts.integers import Integers, Mask

_WRITTEN_PLAINLY = {str, int, Decimal, Amount}


def read(values: Sequence[Any] | npt.NDArray[Any]) -> Exact:
    """Read n values as exact amounts.

    Raises
    ------
    AmountError
        If a value is no exact amount; the message names it and its position.
    """
    objects = as_objects(values)
    missing = _missing(objects)
    present = objects[~missing] if missing.any() else objects
    found = _read_plain(present)
    if found is None:
        found = _read_each(present, np.flatnonzero(~missing))
    integers = np.full(len(objects), 0, dtype=object)
    scales = np.zeros(len(objects), dtype=np.intp)
    integers[~missing], scales[~missing] = found
    return aligned(integers, missing, scales)


def as_objects(values: Sequence[Any] | npt.NDArray[Any]) -> Integers:
    """Give n values as an object array without looking into them."""
    if hasattr(values, "__array__"):
        return np.asarray(values, dtype=object)
    return integers_from(values, len(values))


def read_one(value: object) -> tuple[int, int]:
    """Read one value that isn't missing as (integer, scale).

    Raises
    ------
    AmountError
        If the value is no exact amount.
    """
    pair = parse(value) if isinstance(value, str) else exact_pair(value)
    if pair is None:
        raise AmountError(f"{shortened(value)} is no exact amount", hint=_hint(value))
    return pair if pair[1] <= MAX_DECIMALS else parse(str(value))


def _hint(value: object) -> str:
    if isinstance(value, (float, np.floating)):
        return (
            "a float has lost digits already; write the amount as text or as a Decimal, "
            f"such as '{value:.15g}' if that is what was meant"
        )
    return "an amount is text such as '1.5', a decimal.Decimal or an integer; missing is pd.NA"


def _missing(objects: Integers) -> Mask:
    missing = np.asarray(pd.isna(objects), dtype=bool)
    for place in np.flatnonzero(missing):
        if isinstance(objects[place], Decimal):
            _located(objects[place], int(place))  # a Decimal that is NaN is a mistake, not a gap
    return missing


def _located(value: object, place: int) -> tuple[int, int]:
    try:
        return read_one(value)
    except AmountError as error:
        message = str(error).partition("\n\n")[0]
        raise AmountError(f"{message} (at position {place})", hint=error.hint) from None


def _read_plain(objects: Integers) -> tuple[Integers, npt.NDArray[np.intp]] | None:
    """Read values whose text is plain all at once; None where some need a closer look.

    The texts are checked, and rid of their points, as one long line each.
    """
    if not set(map(type, objects)) <= _WRITTEN_PLAINLY:
        return None
    try:
        texts = list(map(str, objects))
        joined = "\n".join(texts)
        if not _looks_plain(joined):
            return None
        whole = joined.replace(".", "").split("\n")
        integers = integers_from(map(int, whole), len(texts))
    except ValueError:  # a misplaced sign, no digit at all, too many, or a line that is two
        return None
    lengths = np.fromiter(map(len, texts), dtype=np.intp, count=len(texts))
    points = np.fromiter((text.find(".") for text in texts), dtype=np.intp, count=len(texts))
    scales = np.where(points < 0, 0, lengths - points - 1)
    one_point_each = joined.count(".") == np.count_nonzero(points >= 0)
    return (integers, scales) if one_point_each and scales.max(initial=0) <= MAX_DECIMALS else None


def _looks_plain(joined: str) -> bool:
    rest = joined.encode().translate(None, b"0123456789.-\n") if joined.isascii() else joined
    return not rest and ".-" not in joined


def _read_each(
    objects: Integers, places: npt.NDArray[np.intp]
) -> tuple[Integers, npt.NDArray[np.intp]]:
    pairs = [_located(value, int(place)) for value, place in zip(objects, places, strict=True)]
    integers = integers_from((integer for integer, _ in pairs), len(pairs))
    return integers, np.fromiter((scale for _, scale in pairs), np.intp, count=len(pairs))
