"""Arithmetic and comparisons of n amounts with n other numbers, or one.

With exact numbers all of it is exact, but for quotients. With floats it is as if they were exact
too: a float64 is a significand of 53 bits times a power of two, so the result is one ratio of
integers, rounded once. NaN means missing, as in a pandas column of floats.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.amounts.integers import (
    MAX_DECIMALS,
    POWERS,
    Exact,
    aligned,
    as_objects,
    float_parts,
    nearest_float,
    or_none,
    powers_of_two,
    ratios,
    rescale,
    same_scale,
)
from walletframe.amounts.scalar import exact_pair, plain_number, ratio
from walletframe.amounts.text import plain
from walletframe.amounts.values import read, read_one
from walletframe.errors import AmountError, AmountPrecisionError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from walletframe.amounts.integers import Floats, Integers, Mask

_SMALLEST_NORMAL = np.finfo(np.float64).smallest_normal
_FLOAT64_BYTES = 8
_EXACT_KINDS = {"integer", "decimal", "empty"}  # as pandas's infer_dtype names them


def exactly(
    left: Exact | Floats, right: Exact | Floats, operation: Callable[[Any, Any], Any]
) -> Exact:
    """Add, subtract or choose exactly, or divide with a remainder; floats are refused."""
    left, right = map(_exact_only, (left, right))
    ours, theirs, scale = same_scale(left, right)
    missing = left.missing | right.missing
    if operation in {np.floor_divide, np.remainder}:
        theirs = np.where(missing, 1, theirs)
        scale = 0 if operation is np.floor_divide else scale
    return _exact(operation(ours, theirs), missing, scale)


def _exact_only(side: Exact | Floats) -> Exact:
    """Refuse floats, unless all of them are NaN and so mean missing."""
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


def _exact(integers: Integers, missing: Mask, scale: int) -> Exact:
    """Set the integer of each missing amount to 0."""
    if missing.any():
        integers[missing] = 0
    return Exact(integers, missing, scale)


def product(left: Any, right: Any) -> Exact | Floats:
    """Multiply exactly, or refuse what needs more than 77 decimals; with floats to the nearest."""
    if not (isinstance(left, Exact) and isinstance(right, Exact)):
        return _with_floats(left, right, np.multiply)
    integers, missing = left.integers * right.integers, left.missing | right.missing
    return _shortened(_exact(integers, missing, left.scale + right.scale))


def power(amounts: Exact, exponent: int) -> Exact:
    """Raise to a whole number exactly, or refuse what needs more than 77 decimals."""
    integers, missing, scale = amounts
    return _shortened(_exact(integers**exponent, missing.copy(), scale * exponent))


def _shortened(exact: Exact) -> Exact:
    """Drop zeros behind the 77th decimal."""
    integers, missing, scale = exact
    if scale <= MAX_DECIMALS:
        return exact
    surplus = 10 ** (scale - MAX_DECIMALS)
    lost = np.flatnonzero(integers % surplus)
    if len(lost):
        raise AmountPrecisionError(
            f"the product {plain(integers[lost[0]], scale)} at position {lost[0]} "
            f"has more than {MAX_DECIMALS} decimals",
            hint="round a factor first, or multiply by a float for a float64",
        )
    return Exact(integers // surplus, missing, MAX_DECIMALS)


def quotient(left: Any, right: Any) -> Floats:
    """Divide to the nearest float64: NaN where missing and for 0/0, infinite for x/0."""
    if not (isinstance(left, Exact) and isinstance(right, Exact)):
        return _with_floats(left, right, np.divide)
    ours, theirs, _ = same_scale(left, right)
    zero = np.asarray(theirs == 0, dtype=bool)
    result = ratios(ours, np.where(zero, 1, theirs))
    with np.errstate(invalid="ignore"):
        result = np.where(zero, result * np.inf, result)
    result[left.missing | right.missing] = np.nan
    return result


def _with_floats(left: Any, right: Any, operation: np.ufunc) -> Floats:
    """Multiply or divide amounts and floats; special floats and divisors of 0 by their signs."""
    ours, scale, exponents, here = _parts(left)
    theirs, finer, shifts, there = _parts(right)
    special = ~np.isfinite(there)
    if operation is np.multiply:
        result = _times_two_to(ours * theirs, POWERS[scale + finer], exponents + shifts)
    else:
        special |= there == 0
        divisors = rescale(np.where(special, 1, theirs), 0, scale)
        result = _times_two_to(rescale(ours, 0, finer), divisors, exponents - shifts)
    with np.errstate(all="ignore"):
        return np.where(special | ~np.isfinite(here), operation(here, there), result)


def _parts(side: Exact | Floats) -> tuple[Integers, int, Any, Floats]:
    """Return integers, their scale and power of two, and floats: signs, of amounts, or all."""
    if isinstance(side, Exact):
        signs = np.sign(side.integers).astype(np.float64)
        return side.integers, side.scale, 0, np.where(side.missing, np.nan, signs)
    significands, exponents = float_parts(side)
    return significands, 0, exponents, side


def _times_two_to(
    numerators: Integers, denominators: Integers | int, exponents: npt.NDArray[np.intc]
) -> Floats:
    """Return the float64 nearest to each ratio times a power of two; no denominator is 0."""
    rounded = ratios(numerators, denominators)
    with np.errstate(all="ignore"):
        result = np.asarray(np.ldexp(rounded, exponents), dtype=np.float64)
    # A power of two only moves an exponent, unless the result leaves the range of normal floats:
    # those few are rounded from the exact value again.
    unusual = ~np.isfinite(rounded) | (np.abs(result) < _SMALLEST_NORMAL)
    each = np.broadcast_arrays(numerators, np.asarray(denominators, dtype=object), exponents)
    for place in np.flatnonzero(unusual & (each[0] != 0)):
        above, below, exponent = (values[place] for values in each)
        exact = Fraction(above, below) * Fraction(2) ** int(exponent)
        result[place] = nearest_float(exact.numerator, exact.denominator)
    return result


def compared(
    left: Exact, right: Exact | Floats, operation: Callable[[Any, Any], Any]
) -> tuple[Mask, Mask]:
    """Compare exactly; give the answers, and where they are missing."""
    if isinstance(right, Exact):
        ours, theirs, _ = same_scale(left, right)
        return np.asarray(operation(ours, theirs), dtype=bool), left.missing | right.missing
    significands, exponents = float_parts(right)
    ours = left.integers * powers_of_two(-exponents)
    theirs = significands * powers_of_two(exponents) * POWERS[left.scale]
    answers = np.asarray(operation(ours, theirs), dtype=bool)
    answers = np.where(np.isfinite(right), answers, operation(0.0, right))
    return answers, left.missing | np.isnan(right)


def rounded(amounts: Exact, decimals: int) -> Exact:
    """Round to a number of decimals, negative for tens and hundreds, half to even."""
    integers, missing, scale = amounts
    if decimals >= scale:
        return Exact(integers.copy(), missing.copy(), scale)
    step = 10 ** (scale - decimals)
    above = integers + step // 2
    quotients, ties = above // step, np.flatnonzero(above % step == 0)
    quotients[ties] -= quotients[ties] % 2  # half up before, half to even now
    if decimals < 0:
        quotients *= 10**-decimals
    return Exact(quotients, missing.copy(), max(decimals, 0))


def operand(other: Any, count: int) -> Exact | Floats | None:
    """Return n or one exact amounts or floats; None for what is no operand of amounts.

    Integers, Decimals and Fractions are exact, whether Python's, NumPy's or Arrow's; floats stay
    floats; bools are 0 and 1.
    """
    found: Exact | Floats | None
    found = values = _read(other, count)
    if not isinstance(values, Exact) and values.dtype.kind != "f":
        found = read(values) if any(isinstance(value, Number) for value in values) else None
    return found


def comparable(other: Any, count: int) -> tuple[Exact | Floats, Mask]:
    """Return the other side of a comparison, text included, and a mask of what has no order."""
    values = _read(other, count)
    if isinstance(values, Exact) or values.dtype.kind == "f":
        return values, np.zeros(1, dtype=bool)
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
    integers, scales = np.array([pair or (0, 0) for pair in pairs], object).reshape(-1, 2).T
    return aligned(integers, missing, scales.astype(np.intp)), incomparable


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
    below, rest = divmod(exact[0] * POWERS[MAX_DECIMALS], exact[1])
    return (below * 10 + 5, MAX_DECIMALS + 1) if rest else exact_pair(Decimal(value))


def _read(other: Any, count: int) -> Any:
    """Return n exact amounts or one, floats as float64, or else objects."""
    if isinstance(other, np.ndarray) and other.ndim == 0:
        other = other.item()
    if not pd.api.types.is_list_like(other):
        number = plain_number(other)
        return np.array([number]) if isinstance(number, float) else _objects([number])
    values = other if hasattr(other, "dtype") else as_objects(list(other))
    if len(values) != count:
        raise ValueError(f"Lengths must match: {count} and {len(values)}")
    if hasattr(values, "exact"):
        return values.exact()
    if values.dtype.kind != "f" or values.dtype.itemsize > _FLOAT64_BYTES:
        return _objects(values)
    if isinstance(values, np.ndarray):
        return np.asarray(values, dtype=np.float64)
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def _objects(values: Any) -> Any:
    """Read what is exact, and floats where all are floats or missing; else return objects."""
    objects = as_objects(values)
    if pd.api.types.infer_dtype(objects, skipna=True) in _EXACT_KINDS:
        return read(objects)
    objects = as_objects([plain_number(value) for value in objects])
    missing = np.asarray(pd.isna(objects))
    if pd.api.types.infer_dtype(objects[~missing], skipna=True) != "floating":
        return objects
    return or_none(objects, missing).astype(np.float64)
