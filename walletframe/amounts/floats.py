"""Amounts with floats: products, quotients and comparisons, as if the floats were exact too.

A float64 is a significand of 53 bits times a power of two, so the result is one ratio of integers,
rounded once. NaN means missing, as in a pandas column of floats.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe.amounts.integers import POWERS, Exact, nearest_float, ratios

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from walletframe.amounts.integers import Floats, Integers, Mask, Places

_SMALLEST_NORMAL = np.finfo(np.float64).smallest_normal
_SIGNIFICAND_BITS = 53


def float_product(amounts: Exact, floats: Floats) -> Floats:
    """Multiply amounts by floats, to the nearest float64; NaN where either is missing."""
    significands, exponents = _parts(floats)
    numerators = amounts.integers * significands
    result = _ratios_times_two_to(numerators, POWERS[amounts.scale], exponents)
    with np.errstate(all="ignore"):
        limits = _signs(amounts.integers) * floats
    return _completed(result, ~np.isfinite(floats), limits, amounts.missing)


def float_quotient(amounts: Exact, floats: Floats) -> Floats:
    """Divide amounts by floats, to the nearest float64; NaN where either is missing."""
    significands, exponents = _parts(floats)
    special = ~np.isfinite(floats) | (floats == 0)
    denominators = np.where(special, 1, significands) * POWERS[amounts.scale]
    result = _ratios_times_two_to(amounts.integers, denominators, -exponents)
    with np.errstate(all="ignore"):
        limits = _signs(amounts.integers) / floats
    return _completed(result, special, limits, amounts.missing)


def float_over_amount(floats: Floats, amounts: Exact) -> Floats:
    """Divide floats by amounts, to the nearest float64; NaN where either is missing."""
    significands, exponents = _parts(floats)
    zero = np.asarray(amounts.integers == 0, dtype=bool)
    numerators = significands * POWERS[amounts.scale]
    result = _ratios_times_two_to(numerators, np.where(zero, 1, amounts.integers), exponents)
    with np.errstate(all="ignore"):
        limits = floats / _signs(amounts.integers)
    return _completed(result, zero | ~np.isfinite(floats), limits, amounts.missing)


def float_compared(
    amounts: Exact, floats: Floats, operation: Callable[[Any, Any], Any]
) -> tuple[Mask, Mask]:
    """Compare amounts with floats exactly; give the answers, and where they are missing."""
    significands, exponents = _parts(floats)
    ours = amounts.integers * _two_to(-exponents)
    theirs = significands * _two_to(exponents) * POWERS[amounts.scale]
    answers = np.asarray(operation(ours, theirs), dtype=bool)
    answers = np.where(np.isfinite(floats), answers, operation(0.0, floats))
    return answers, amounts.missing | np.isnan(floats)


def float_sums(floats: Floats, ids: Places, count: int) -> tuple[Floats, Places]:
    """Add up floats other than NaN by group, to the nearest float64 whatever their order.

    Gives the sums, 0 where there is nothing to add, and how many floats each group had.
    """
    rows = np.flatnonzero(~np.isnan(floats))
    floats, ids = floats[rows], ids[rows]
    integers, exponent = float_integers(floats)
    totals = np.full(count, 0, dtype=object)
    np.add.at(totals, ids, integers)
    sums = ratios(totals, 1 << -exponent)
    infinite = np.isinf(floats)
    with np.errstate(invalid="ignore"):
        np.add.at(sums, ids[infinite], floats[infinite])
    return sums, np.bincount(ids, minlength=count)


def float_integers(floats: Floats) -> tuple[Integers, int]:
    """Give floats as integers times 2**exponent, exactly; 0 for NaN and infinity."""
    significands, exponents = _parts(floats)
    lowest = int(exponents.min(initial=0, where=significands != 0))
    return significands * _two_to(np.where(significands == 0, 0, exponents - lowest)), lowest


def _parts(floats: Floats) -> tuple[Integers, npt.NDArray[np.intc]]:
    """Split floats into significands (Python integers; 0 for NaN and infinity) and exponents."""
    fractions, exponents = np.frexp(np.where(np.isfinite(floats), floats, 0.0))
    significands = (fractions * 2.0**_SIGNIFICAND_BITS).astype(np.int64).astype(object)
    return significands, exponents - _SIGNIFICAND_BITS


def _two_to(exponents: npt.NDArray[np.intc]) -> Integers:
    """Give 2**exponent as Python integers, 1 where the exponent is negative."""
    powers: Integers = np.left_shift(1, np.maximum(exponents, 0).astype(object))
    return powers


def _signs(integers: Integers) -> Floats:
    return (integers > 0).astype(np.float64) - (integers < 0).astype(np.float64)


def _ratios_times_two_to(
    numerators: Integers, denominators: Integers | int, exponents: npt.NDArray[np.intc]
) -> Floats:
    """Give the float64 nearest to each ratio times a power of two; no denominator is 0."""
    rounded = ratios(numerators, denominators)
    with np.errstate(all="ignore"):
        result = np.asarray(np.ldexp(rounded, exponents), dtype=np.float64)
    # A power of two only moves an exponent, unless the result leaves the range of normal floats:
    # those few are rounded from the exact value again.
    usual = np.isfinite(rounded) & np.isfinite(result) & (np.abs(result) >= _SMALLEST_NORMAL)
    above = np.broadcast_to(numerators, result.shape)
    below = np.broadcast_to(np.asarray(denominators, dtype=object), result.shape)
    powers = np.broadcast_to(exponents, result.shape)
    for place in np.flatnonzero(~usual & (above != 0)):
        exact = Fraction(above[place], below[place]) * Fraction(2) ** int(powers[place])
        result[place] = nearest_float(exact.numerator, exact.denominator)
    return result


def _completed(result: Floats, special: Mask, limits: Floats, missing: Mask) -> Floats:
    result = np.where(special, limits, result)
    return np.where(missing, np.nan, result)
