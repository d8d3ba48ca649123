"""Amounts with floats: products, quotients and comparisons, as if the floats were exact too.

A float64 is a significand of 53 bits times a power of two, so the result is one ratio of integers,
rounded once. NaN means missing, as in a pandas column of floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe.amounts.integers import POWERS, Exact, nearest_float, ratios

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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


@dataclass(frozen=True, slots=True)
class FloatTotals:
    """Exact sums of floats by group, and how many floats each group had."""

    integers: Integers  # times 2**exponent, which is 0 or less
    exponent: int
    infinite: Floats  # the sums of infinite ones
    sizes: Places

    def regrouped(self, ids: Places, count: int) -> FloatTotals:
        """Add up groups to larger ones."""
        integers, infinite = np.full(count, 0, dtype=object), np.zeros(count)
        np.add.at(integers, ids, self.integers)
        some = np.flatnonzero(self.infinite)
        with np.errstate(invalid="ignore"):
            np.add.at(infinite, ids[some], self.infinite[some])
        sizes = np.bincount(ids, weights=self.sizes, minlength=count).astype(np.intp)
        return FloatTotals(integers, self.exponent, infinite, sizes)

    def sums(self) -> Floats:
        """Give the float64 nearest to each sum, 0 where there was nothing to add."""
        with np.errstate(invalid="ignore"):
            return ratios(self.integers, 1 << -self.exponent) + self.infinite


def float_totals(floats: Floats, ids: Places, count: int) -> FloatTotals:
    """Add up floats other than NaN by group, exactly."""
    rows = np.flatnonzero(~np.isnan(floats))
    floats = floats[rows]
    integers, exponent = float_integers(floats)
    infinite = np.where(np.isinf(floats), floats, 0.0)
    each = FloatTotals(integers, exponent, infinite, np.ones(len(rows), dtype=np.intp))
    return each.regrouped(ids[rows], count)


def joined_totals(parts: Sequence[FloatTotals]) -> FloatTotals:
    """Put the groups of several one behind the other."""
    lowest = min((part.exponent for part in parts), default=0)
    integers = [part.integers * (1 << part.exponent - lowest) for part in parts]
    return FloatTotals(
        np.concatenate([np.empty(0, dtype=object), *integers]),
        lowest,
        np.concatenate([np.empty(0), *(part.infinite for part in parts)]),
        np.concatenate([np.empty(0, dtype=np.intp), *(part.sizes for part in parts)]),
    )


def float_sums(floats: Floats, ids: Places, count: int) -> tuple[Floats, Places]:
    """Add up floats other than NaN by group, to the nearest float64 whatever their order.

    Gives the sums, 0 where there is nothing to add, and how many floats each group had.
    """
    totals = float_totals(floats, ids, count)
    return totals.sums(), totals.sizes


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
