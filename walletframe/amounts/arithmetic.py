"""Arithmetic and comparisons of a column of amounts with numbers.

Quotients, and products with floats, are computed exactly and rounded once to float64. All other
results are exact. A float NaN is a missing value.
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
    POWERS_OF_TEN,
    ExactAmounts,
    align_scales,
    at_same_scale,
    nearest_float,
    object_array,
    objects_with_none,
    powers_of_two_or_one,
    ratios,
    rescale,
    split_floats,
    zero_missing,
)
from walletframe.amounts.scalar import (
    integer_and_scale,
    integer_ratio,
    is_inexact,
    python_number,
    warn_about_float_comparison,
)
from walletframe.amounts.text import plain_text
from walletframe.amounts.values import read_amounts, read_integer_and_scale
from walletframe.errors import AmountError, AmountPrecisionError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from walletframe.amounts.integers import Floats, Indices, Integers, Mask

_SMALLEST_NORMAL = np.finfo(np.float64).smallest_normal
_FLOAT64_BYTES = 8
_LARGEST_EXACT = 2.0**53  # floats represent all smaller integers
_EXACT_KINDS = {"integer", "decimal", "empty"}  # results of pandas's infer_dtype


def apply_exactly(
    left: ExactAmounts | Floats, right: ExactAmounts | Floats, operation: Callable[[Any, Any], Any]
) -> ExactAmounts:
    """Apply an exact operation, such as addition or floor division."""
    left, right = map(_to_exact_amounts, (left, right))
    lefts, rights, scale = at_same_scale(left, right)
    missing = left.missing | right.missing
    if operation in {np.floor_divide, np.remainder}:
        rights = np.where(missing, 1, rights)
        scale = 0 if operation is np.floor_divide else scale
    return zero_missing(operation(lefts, rights), missing, scale)


def _to_exact_amounts(operand: ExactAmounts | Floats) -> ExactAmounts:
    if isinstance(operand, ExactAmounts):
        return operand
    missing = np.isnan(operand)
    if missing.all():
        return ExactAmounts(np.full(len(operand), 0, dtype=object), missing, 0)
    position = int(np.flatnonzero(~missing)[0])
    number = float(operand[position])
    if len(operand) == 1 and np.isfinite(number) and not is_inexact(number):
        return read_amounts([repr(number)])
    raise AmountPrecisionError(
        f"the float {number} (at position {position}) is not an exact amount",
        hint="use Decimals, integers, amounts or an exact float scalar such as 0.5; "
        "or first convert the amounts to floats, with .astype(float)",
    )


def product(left: Any, right: Any) -> ExactAmounts | Floats:
    """Return exact products. If an operand is float64, the products are rounded to float64."""
    if not (isinstance(left, ExactAmounts) and isinstance(right, ExactAmounts)):
        return _compute_with_floats(left, right, np.multiply)
    integers, missing = left.integers * right.integers, left.missing | right.missing
    return _reduce_to_max_decimals(zero_missing(integers, missing, left.scale + right.scale))


def power(amounts: ExactAmounts, exponent: int) -> ExactAmounts:
    """Return exact powers."""
    integers, missing, scale = amounts
    powers = zero_missing(integers**exponent, missing.copy(), scale * exponent)
    return _reduce_to_max_decimals(powers)


def _reduce_to_max_decimals(amounts: ExactAmounts) -> ExactAmounts:
    integers, missing, scale = amounts
    if scale <= MAX_DECIMALS:
        return amounts
    surplus = 10 ** (scale - MAX_DECIMALS)
    lost = np.flatnonzero(integers % surplus)
    if len(lost):
        raise AmountPrecisionError(
            f"the result {plain_text(integers[lost[0]], scale)} (at position {lost[0]}) "
            f"has more than {MAX_DECIMALS} decimals",
            hint="first call .round(decimals), or convert the amounts with .astype(float)",
        )
    return ExactAmounts(integers // surplus, missing, MAX_DECIMALS)


def quotient(left: Any, right: Any) -> Floats:
    """Return the float64 nearest to each quotient. NA and 0/0 become NaN."""
    if not (isinstance(left, ExactAmounts) and isinstance(right, ExactAmounts)):
        return _compute_with_floats(left, right, np.divide)
    numerators, denominators, _ = at_same_scale(left, right)
    zero = np.asarray(denominators == 0, dtype=bool)
    result = ratios(numerators, np.where(zero, 1, denominators))
    with np.errstate(invalid="ignore"):
        result = np.where(zero, result * np.inf, result)
    result[left.missing | right.missing] = np.nan
    return result


def _compute_with_floats(left: Any, right: Any, operation: np.ufunc) -> Floats:
    """Compute exactly, then round to float64. For infinity, NaN and x/0, return NumPy's results."""
    lefts, left_scale, left_exponents, left_special = _integers_exponents_special(left)
    rights, right_scale, right_exponents, special = _integers_exponents_special(right)
    if operation is np.multiply:
        exponents = left_exponents + right_exponents
        result = _ldexp_ratios(lefts * rights, POWERS_OF_TEN[left_scale + right_scale], exponents)
    else:
        special = special | np.asarray(rights == 0, dtype=bool)
        divisors = rescale(np.where(special, 1, rights), 0, left_scale)
        exponents = left_exponents - right_exponents
        result = _ldexp_ratios(rescale(lefts, 0, right_scale), divisors, exponents)
    rows = np.flatnonzero(np.broadcast_to(left_special | special, result.shape))
    operands = (_float_or_sign(each, rows, result.shape) for each in (left, right))
    with np.errstate(all="ignore"):
        result[rows] = operation(*operands)
    return result


def _integers_exponents_special(operand: ExactAmounts | Floats) -> tuple[Integers, int, Any, Mask]:
    """Split values into ``integer * 2**exponent / 10**scale``. The mask marks NA, NaN and inf."""
    if isinstance(operand, ExactAmounts):
        return operand.integers, operand.scale, 0, operand.missing
    significands, exponents = split_floats(operand)
    return significands, 0, exponents, ~np.isfinite(operand)


def _float_or_sign(operand: ExactAmounts | Floats, rows: Indices, shape: tuple[int, ...]) -> Floats:
    """Return the floats at `rows`. Of amounts, only the signs matter; a missing amount is NaN."""
    if not isinstance(operand, ExactAmounts):
        return np.broadcast_to(operand, shape)[rows]
    integers, missing = (np.broadcast_to(each, shape)[rows] for each in operand[:2])
    return np.where(missing, np.nan, np.sign(integers).astype(np.float64))


def _ldexp_ratios(
    numerators: Integers, denominators: Integers | int, exponents: npt.NDArray[np.intc]
) -> Floats:
    rounded = ratios(numerators, denominators)
    with np.errstate(all="ignore"):
        result = np.asarray(np.ldexp(rounded, exponents), dtype=np.float64)
    # A power of two changes only the exponent of a normal float. All other results would be rounded
    # twice, so they are computed again from exact values.
    out_of_range = ~np.isfinite(rounded) | (np.abs(result) < _SMALLEST_NORMAL)
    terms = np.broadcast_arrays(numerators, np.asarray(denominators, dtype=object), exponents)
    positions = np.flatnonzero(out_of_range)
    for position in positions[terms[0][positions] != 0]:
        numerator, denominator, exponent = (values[position] for values in terms)
        exact = Fraction(numerator, denominator) * Fraction(2) ** int(exponent)
        result[position] = nearest_float(exact.numerator, exact.denominator)
    return result


def compare_with_missing_mask(
    left: ExactAmounts, right: ExactAmounts | Floats, operation: Callable[[Any, Any], Any]
) -> tuple[Mask, Mask]:
    """Compare exactly. The second mask marks missing results."""
    if isinstance(right, ExactAmounts):
        lefts, rights, _ = at_same_scale(left, right)
        return np.asarray(operation(lefts, rights), dtype=bool), left.missing | right.missing
    is_integer = (np.abs(right) < _LARGEST_EXACT) & (right == right.round())
    if any(map(is_inexact, right[~is_integer].tolist())):
        warn_about_float_comparison()
    significands, exponents = split_floats(right)
    lefts = left.integers * powers_of_two_or_one(-exponents)
    rights = significands * powers_of_two_or_one(exponents) * POWERS_OF_TEN[left.scale]
    results = np.asarray(operation(lefts, rights), dtype=bool)
    results = np.where(np.isfinite(right), results, operation(0.0, right))
    return results, left.missing | np.isnan(right)


def round_half_even(amounts: ExactAmounts, decimals: int) -> ExactAmounts:
    """Round amounts. The number of decimals may be negative."""
    integers, missing, scale = amounts
    if decimals >= scale:
        return ExactAmounts(integers.copy(), missing.copy(), scale)
    step = 10 ** (scale - decimals)
    shifted = integers + step // 2
    quotients, ties = shifted // step, np.flatnonzero(shifted % step == 0)
    quotients[ties] -= quotients[ties] % 2  # ties were rounded up: round them to even
    if decimals < 0:
        quotients *= 10**-decimals
    return ExactAmounts(quotients, missing.copy(), max(decimals, 0))


def coerce_for_arithmetic(other: Any, count: int) -> ExactAmounts | Floats | None:
    """Convert an operand to exact amounts or floats, or return None for other types."""
    values: ExactAmounts | Floats = _coerce_operand(other, count)
    if isinstance(values, ExactAmounts) or values.dtype.kind == "f":
        return values
    return read_amounts(values) if any(isinstance(value, Number) for value in values) else None


def coerce_for_comparison(other: Any, count: int) -> tuple[ExactAmounts | Floats, Mask]:
    """Convert an operand to exact amounts or floats. The mask marks incomparable values."""
    values = _coerce_operand(other, count)
    if isinstance(values, ExactAmounts) or values.dtype.kind == "f":
        return values, np.zeros(1, dtype=bool)
    return _comparable_amounts_and_unsupported_mask(values)


def drop_incomparable_values(values: Any) -> ExactAmounts:
    """Convert values to amounts. Drop values that can't be compared with an amount."""
    numbers = object_array([python_number(value) for value in values])
    exact, unsupported = _comparable_amounts_and_unsupported_mask(numbers)
    return ExactAmounts(exact.integers[~unsupported], exact.missing[~unsupported], exact.scale)


def _comparable_amounts_and_unsupported_mask(values: Integers) -> tuple[ExactAmounts, Mask]:
    missing = np.asarray(pd.isna(values), dtype=bool)
    pairs = list(map(_comparable_integer_and_scale, np.where(missing, 0, values)))
    unsupported = np.fromiter((pair is None for pair in pairs), bool, len(pairs))
    integers, scales = np.array([pair or (0, 0) for pair in pairs], object).reshape(-1, 2).T
    return align_scales(integers, missing, scales.astype(np.intp)), unsupported


def _comparable_integer_and_scale(value: Any) -> tuple[int, int] | None:
    """Return (integer, scale), or None for values that are not comparable with amounts."""
    try:
        return read_integer_and_scale(value)
    except AmountPrecisionError:
        exact = integer_ratio(value)
    except AmountError:
        return None
    if exact is None:
        return None
    if isinstance(value, float) and is_inexact(value):
        warn_about_float_comparison()
    # All numbers between two neighbouring amounts compare alike, so the midpoint stands for them.
    floor, remainder = divmod(exact[0] * POWERS_OF_TEN[MAX_DECIMALS], exact[1])
    return (floor * 10 + 5, MAX_DECIMALS + 1) if remainder else integer_and_scale(Decimal(value))


def _coerce_operand(other: Any, count: int) -> Any:
    """Convert an operand to `ExactAmounts` or float64, or to objects if neither is possible."""
    if isinstance(other, np.ndarray) and other.ndim == 0:
        other = other.item()
    if not pd.api.types.is_list_like(other):
        number = python_number(other)
        return np.array([number]) if isinstance(number, float) else _to_exact_or_float([number])
    values = other if hasattr(other, "dtype") else object_array(list(other))
    if len(values) != count:
        raise ValueError(f"Lengths must match: {count} and {len(values)}")
    if hasattr(values, "exact"):
        return values.exact()
    if values.dtype.kind != "f" or values.dtype.itemsize > _FLOAT64_BYTES:
        return _to_exact_or_float(values)
    if isinstance(values, np.ndarray):
        return np.asarray(values, dtype=np.float64)
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def _to_exact_or_float(values: Any) -> Any:
    objects = object_array(values)
    if pd.api.types.infer_dtype(objects, skipna=True) in _EXACT_KINDS:
        return read_amounts(objects)
    objects = object_array([python_number(value) for value in objects])
    missing = np.asarray(pd.isna(objects))
    if pd.api.types.infer_dtype(objects[~missing], skipna=True) != "floating":
        return objects
    return objects_with_none(objects, missing).astype(np.float64)
