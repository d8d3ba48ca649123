"""What stands on the other side of an operator, sorted into exact amounts and floats.

Integers, Decimals and amounts are exact; floats stay floats; text counts in comparisons only.
What is neither gives None, and Python then raises its own TypeError.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.amounts.array.storage import AmountStorage
from walletframe.amounts.integers import Exact, as_objects, or_none
from walletframe.amounts.values import read, read_one
from walletframe.errors import AmountError, AmountPrecisionError

if TYPE_CHECKING:
    from walletframe.amounts.integers import Floats, Integers, Mask

_EXACT_KINDS = {"integer", "decimal", "empty"}  # as pandas's infer_dtype names them
_MIXED_KINDS = {"mixed-integer", "mixed"}
_FLOATS = (float, np.floating)


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
        return _as_floats(values)
    kind = pd.api.types.infer_dtype(values, skipna=True)
    if kind == "floating":
        return _as_floats(values)
    several = pd.api.types.is_list_like(other)
    return read(values) if kind in _EXACT_KINDS or (several and kind in _MIXED_KINDS) else None


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
    AmountError
        If there is a float between values of other types.
    """
    if isinstance(other, AmountStorage):
        _check_length(other, count)
        return other.exact(), np.zeros(count, dtype=bool)
    values: Any = _array(other, count)
    incomparable = np.zeros(len(values), dtype=bool)
    if values.dtype.kind == "O" and pd.api.types.infer_dtype(values, skipna=True) != "floating":
        incomparable = np.fromiter((not _readable(value) for value in values), bool, len(values))
        return read(np.where(incomparable, 0, values)), incomparable
    return _as_floats(values), incomparable


def members(values: Any) -> Exact:
    """Read those of some values that are amounts, floats that are exactly equal to one included."""
    exact = [
        Decimal(float(value)) if isinstance(value, _FLOATS) and not np.isnan(value) else value
        for value in values
    ]
    return read([value for value in exact if _readable(value)])


def _readable(value: Any) -> bool:
    """Tell whether a value can be compared with amounts; a float is left for `read` to refuse."""
    if isinstance(value, _FLOATS) or pd.isna(value) is True:
        return True
    try:
        read_one(value)
    except AmountError:
        return False
    return True


def _array(other: Any, count: int) -> Integers | Floats:
    """Give floats as float64 and everything else as objects, n of them or one."""
    if isinstance(other, np.ndarray) and other.ndim == 0:
        other = other.item()
    if not pd.api.types.is_list_like(other):
        if isinstance(other, _FLOATS):
            return np.array([other], dtype=np.float64)
        return as_objects([other])
    values = other if hasattr(other, "dtype") else as_objects(list(other))
    _check_length(values, count)
    if values.dtype.kind != "f":
        return np.asarray(values, dtype=object)
    if isinstance(values, np.ndarray):
        return values.astype(np.float64)
    return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))


def _as_floats(values: Any) -> Floats:
    """Give floats, and objects that are floats or missing, as float64; NaN where missing."""
    floats = values if values.dtype.kind == "f" else or_none(values, np.asarray(pd.isna(values)))
    return np.asarray(floats, dtype=np.float64)


def _check_length(values: Any, count: int) -> None:
    if len(values) != count:
        raise ValueError(f"Lengths must match: {count} and {len(values)}")
