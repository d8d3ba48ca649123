"""Arithmetic and comparisons of n amounts with n other numbers, or one.

With exact numbers all results except quotients are exact. A float64 counts as the exact number that
it is, a significand of 53 bits times a power of two, so that the result is one ratio of integers,
rounded once. NaN means missing, as in a pandas column of floats.
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
    float_keys,
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


def exact_operation(
    left: Exact | Floats, right: Exact | Floats, operation: Callable[[Any, Any], Any]
) -> Exact:
    """Add, subtract, floor-divide or select exactly; floats are refused."""
    left, right = map(_require_exact, (left, right))
    lefts, rights, scale = same_scale(left, right)
    missing = left.missing | right.missing
    if operation in {np.floor_divide, np.remainder}:
        rights = np.where(missing, 1, rights)
        scale = 0 if operation is np.floor_divide else scale
    return _zero_missing(operation(lefts, rights), missing, scale)


def _require_exact(side: Exact | Floats) -> Exact:
    """Return exact amounts; floats are refused unless all are NaN, which means missing."""
    if isinstance(side, Exact):
        return side
    missing = np.isnan(side)
    if missing.all():
        return Exact(np.full(len(side), 0, dtype=object), missing, 0)
    position = int(np.flatnonzero(~missing)[0])
    raise AmountPrecisionError(
        f"the float {float(side[position])} (at position {position}) is not an exact amount",
        hint="add Decimals, integers or amounts; or make the amounts floats with .astype(float)",
    )


def _zero_missing(integers: Integers, missing: Mask, scale: int) -> Exact:
    if missing.any():
        integers[missing] = 0
    return Exact(integers, missing, scale)


def product(left: Any, right: Any) -> Exact | Floats:
    """Multiply, exactly or with floats to the nearest float64; raise above 77 decimals."""
    if not (isinstance(left, Exact) and isinstance(right, Exact)):
        return _with_floats(left, right, np.multiply)
    integers, missing = left.integers * right.integers, left.missing | right.missing
    return _limit_decimals(_zero_missing(integers, missing, left.scale + right.scale))


def power(amounts: Exact, exponent: int) -> Exact:
    """Raise to a whole number exactly; raise an error above 77 decimals."""
    integers, missing, scale = amounts
    return _limit_decimals(_zero_missing(integers**exponent, missing.copy(), scale * exponent))


def _limit_decimals(exact: Exact) -> Exact:
    """Drop zeros after the 77th decimal; refuse other digits there."""
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
    """Divide to the nearest float64: NaN for missing amounts and 0/0, infinite for x/0."""
    if not (isinstance(left, Exact) and isinstance(right, Exact)):
        return _with_floats(left, right, np.divide)
    numerators, denominators, _ = same_scale(left, right)
    zero = np.asarray(denominators == 0, dtype=bool)
    result = ratios(numerators, np.where(zero, 1, denominators))
    with np.errstate(invalid="ignore"):
        result = np.where(zero, result * np.inf, result)
    result[left.missing | right.missing] = np.nan
    return result


def _with_floats(left: Any, right: Any, operation: np.ufunc) -> Floats:
    """Multiply or divide amounts and floats; NumPy decides for special floats and division by 0."""
    lefts, left_scale, left_exponents, x = _parts(left)
    rights, right_scale, right_exponents, y = _parts(right)
    special = ~np.isfinite(y)
    if operation is np.multiply:
        exponents = left_exponents + right_exponents
        result = _times_two_to(lefts * rights, POWERS[left_scale + right_scale], exponents)
    else:
        special |= y == 0
        divisors = rescale(np.where(special, 1, rights), 0, left_scale)
        exponents = left_exponents - right_exponents
        result = _times_two_to(rescale(lefts, 0, right_scale), divisors, exponents)
    with np.errstate(all="ignore"):
        return np.where(special | ~np.isfinite(x), operation(x, y), result)


def _parts(side: Exact | Floats) -> tuple[Integers, int, Any, Floats]:
    """Return integers, scale, exponents of two, and floats; of amounts these are only the signs."""
    if isinstance(side, Exact):
        signs = np.sign(float_keys(side.integers))
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
    # Within the range of normal floats a power of two changes only the exponent. The few results
    # outside are rounded from the exact value again.
    unusual = ~np.isfinite(rounded) | (np.abs(result) < _SMALLEST_NORMAL)
    terms = np.broadcast_arrays(numerators, np.asarray(denominators, dtype=object), exponents)
    positions = np.flatnonzero(unusual)
    for position in positions[terms[0][positions] != 0]:
        numerator, denominator, exponent = (values[position] for values in terms)
        exact = Fraction(numerator, denominator) * Fraction(2) ** int(exponent)
        result[position] = nearest_float(exact.numerator, exact.denominator)
    return result


def compare(
    left: Exact, right: Exact | Floats, operation: Callable[[Any, Any], Any]
) -> tuple[Mask, Mask]:
    """Compare exactly; return the results, and a mask of missing ones."""
    if isinstance(right, Exact):
        lefts, rights, _ = same_scale(left, right)
        return np.asarray(operation(lefts, rights), dtype=bool), left.missing | right.missing
    significands, exponents = float_parts(right)
    lefts = left.integers * powers_of_two(-exponents)
    rights = significands * powers_of_two(exponents) * POWERS[left.scale]
    results = np.asarray(operation(lefts, rights), dtype=bool)
    results = np.where(np.isfinite(right), results, operation(0.0, right))
    return results, left.missing | np.isnan(right)


def rounded(amounts: Exact, decimals: int) -> Exact:
    """Round to a number of decimals, negative for tens and hundreds, half to even."""
    integers, missing, scale = amounts
    if decimals >= scale:
        return Exact(integers.copy(), missing.copy(), scale)
    step = 10 ** (scale - decimals)
    shifted = integers + step // 2
    quotients, ties = shifted // step, np.flatnonzero(shifted % step == 0)
    quotients[ties] -= quotients[ties] % 2  # turns half up into half to even
    if decimals < 0:
        quotients *= 10**-decimals
    return Exact(quotients, missing.copy(), max(decimals, 0))


def as_operand(other: Any, count: int) -> Exact | Floats | None:
    """Coerce an operand to n amounts or floats, or to one; return None for other types.

    Integers, Decimals and Fractions are exact, whether Python's, NumPy's or Arrow's; floats stay
    floats; bools are 0 and 1.
    """
    values: Exact | Floats = _coerce(other, count)
    if isinstance(values, Exact) or values.dtype.kind == "f":
        return values
    return read(values) if any(isinstance(value, Number) for value in values) else None


def as_comparable(other: Any, count: int) -> tuple[Exact | Floats, Mask]:
    """Coerce the operand of a comparison, which can be text; mask values that can't be compared."""
    values = _coerce(other, count)
    if isinstance(values, Exact) or values.dtype.kind == "f":
        return values, np.zeros(1, dtype=bool)
    return _coerce_comparable(values)


def comparable_values(values: Any) -> Exact:
    """Return the values that an amount can equal."""
    exact, incomparable = _coerce_comparable(as_objects([plain_number(value) for value in values]))
    kept = ~incomparable
    return Exact(exact.integers[kept], exact.missing[kept], exact.scale)


def _coerce_comparable(values: Integers) -> tuple[Exact, Mask]:
    missing = np.asarray(pd.isna(values), dtype=bool)
    pairs = [(0, 0) if na else _comparable(each) for each, na in zip(values, missing, strict=True)]
    incomparable = np.fromiter((pair is None for pair in pairs), bool, len(pairs))
    integers, scales = np.array([pair or (0, 0) for pair in pairs], object).reshape(-1, 2).T
    return aligned(integers, missing, scales.astype(np.intp)), incomparable


def _comparable(value: Any) -> tuple[int, int] | None:
    """Read one value of a comparison as (integer, scale), or None if it can't be compared.

    A number that needs more than 77 decimals, such as 1/3, becomes one between two amounts.
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


def _coerce(other: Any, count: int) -> Any:
    """Return n amounts or one, as exact amounts, float64 or objects."""
    if isinstance(other, np.ndarray) and other.ndim == 0:
        other = other.item()
    if not pd.api.types.is_list_like(other):
        number = plain_number(other)
        return np.array([number]) if isinstance(number, float) else _coerce_objects([number])
    values = other if hasattr(other, "dtype") else as_objects(list(other))
    if len(values) != count:
        raise ValueError(f"Lengths must match: {count} and {len(values)}")
    if hasattr(values, "exact"):
        return values.exact()
    if values.dtype.kind != "f" or values.dtype.itemsize > _FLOAT64_BYTES:
        return _coerce_objects(values)
    if isinstance(values, np.ndarray):
        return np.asarray(values, dtype=np.float64)
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def _coerce_objects(values: Any) -> Any:
    """Return exact amounts if all values are exact, floats if all are floats, else objects."""
    objects = as_objects(values)
    if pd.api.types.infer_dtype(objects, skipna=True) in _EXACT_KINDS:
        return read(objects)
    objects = as_objects([plain_number(value) for value in objects])
    missing = np.asarray(pd.isna(objects))
    if pd.api.types.infer_dtype(objects[~missing], skipna=True) != "floating":
        return objects
    return or_none(objects, missing).astype(np.float64)
