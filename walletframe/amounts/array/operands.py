"""What stands on the other side of an operator, sorted into exact amounts and floats.

Integers, Decimals, Fractions and amounts are exact, whether Python's, NumPy's or Arrow's; floats
stay floats; bools are 0 and 1; text counts in comparisons only. What is neither gives None, and
Python then raises its own TypeError.
"""

from __future__ import annotations

from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.amounts.array.storage import AmountStorage
from walletframe.amounts.integers import (
    MAX_DECIMALS,
    POWERS,
    Exact,
    aligned,
    as_objects,
    integers_from,
    or_none,
)
from walletframe.amounts.rational import decimals_of, plain_number, ratio
from walletframe.amounts.values import read, read_one
from walletframe.errors import AmountError, AmountPrecisionError

if TYPE_CHECKING:
    from walletframe.amounts.integers import Floats, Integers, Mask

_EXACT_KINDS = {"integer", "decimal", "empty"}  # as pandas's infer_dtype names them
_FLOAT64_BYTES = 8


def operand(other: Any, count: int) -> Exact | Floats | None:
    """Give n or one exact amounts or floats; None for what is no operand of amounts.

    Raises
    ------
    ValueError
        If there are neither n nor one.
    AmountError
        If one of several values is no exact amount, such as a float between Decimals.
    """
    if isinstance(other, AmountStorage):
        _check_length(other, count)
        return other.exact()
    values = _array(other, count)
    if values.dtype.kind == "f":
        return np.asarray(values, dtype=np.float64)
    exact = _kind(values) in _EXACT_KINDS
    return read(values) if exact or any(isinstance(value, Number) for value in values) else None


def exact_only(side: Exact | Floats) -> Exact:
    """Refuse floats, unless all of them are NaN and so mean missing.

    Raises
    ------
    AmountError
        If there is a float; the message names the first one and its position.
    """
    if isinstance(side, Exact):
        return side
    missing = np.isnan(side)
    if missing.all():
        return Exact(np.full(len(side), 0, dtype=object), missing, 0)
    place = int(np.flatnonzero(~missing)[0])
    raise AmountPrecisionError(
        f"the float {float(side[place])} (at position {place}) is no exact amount",
        hint="add Decimals, integers or amounts; or make the amounts floats with .astype(float)",
    )


def comparable(other: Any, count: int) -> tuple[Exact | Floats, Mask]:
    """Give what amounts are compared with, text included, and a mask of what they can't be.

    Raises
    ------
    ValueError
        If there are neither n nor one.
    """
    if isinstance(other, AmountStorage):
        _check_length(other, count)
        return other.exact(), np.zeros(count, dtype=bool)
    values = _array(other, count)
    if values.dtype.kind == "f":
        return np.asarray(values, dtype=np.float64), np.zeros(len(values), dtype=bool)
    if _kind(values) in _EXACT_KINDS:
        return read(values), np.zeros(len(values), dtype=bool)
    return _compared(values)


def members(values: Any) -> Exact:
    """Read those of some values that an amount can equal."""
    exact, incomparable = _compared(as_objects([plain_number(value) for value in values]))
    kept = ~incomparable
    return Exact(exact.integers[kept], exact.missing[kept], exact.scale)


def _compared(values: Integers) -> tuple[Exact, Mask]:
    missing = np.asarray(pd.isna(values), dtype=bool)
    pairs = [(0, 0) if gap else _pair(value) for value, gap in zip(values, missing, strict=True)]
    incomparable = np.fromiter((pair is None for pair in pairs), bool, len(pairs))
    found = [pair or (0, 0) for pair in pairs]
    scales = np.fromiter((scale for _, scale in found), np.intp, len(found))
    integers = integers_from((integer for integer, _ in found), len(found))
    return aligned(integers, missing, scales), incomparable


def _pair(value: Any) -> tuple[int, int] | None:
    """Read one value to compare with as (integer, scale); None for what has no order.

    What 77 decimals don't hold, such as 1/3, equals no amount: it is put between two of them.
    """
    try:
        return read_one(value)
    except AmountPrecisionError:
        exact = ratio(value)
    except AmountError:
        return None
    if exact is None:
        return None
    scale = decimals_of(exact[1])
    if scale is None:
        return exact[0] * POWERS[MAX_DECIMALS] // exact[1] * 10 + 5, MAX_DECIMALS + 1
    return exact[0] * POWERS[scale] // exact[1], scale


def _array(other: Any, count: int) -> Any:
    """Give floats as an array of them and everything else as objects, n of them or one."""
    if isinstance(other, np.ndarray) and other.ndim == 0:
        other = other.item()
    if not pd.api.types.is_list_like(other):
        number = plain_number(other)
        return np.array([number]) if isinstance(number, float) else as_objects([number])
    values = other if hasattr(other, "dtype") else as_objects(list(other))
    _check_length(values, count)
    if values.dtype.kind != "f":
        return _objects(values)
    if not isinstance(values, np.ndarray):
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    return values if values.dtype.itemsize <= _FLOAT64_BYTES else _objects(values)


def _objects(values: Any) -> Any:
    """Give objects of Python's own types, or floats where all of them are floats or missing."""
    objects = np.asarray(values, dtype=object)
    if _kind(objects) not in _EXACT_KINDS:
        objects = as_objects([plain_number(value) for value in objects])
    if _kind(objects) != "floating":
        return objects
    return or_none(objects, np.asarray(pd.isna(objects))).astype(np.float64)


def _kind(values: Any) -> str:
    return pd.api.types.infer_dtype(values, skipna=True)


def _check_length(values: Any, count: int) -> None:
    if len(values) != count:
        raise ValueError(f"Lengths must match: {count} and {len(values)}")
