"""Statistics of exact amounts: one float64 each, the nearest to the exact value.

Every function takes integers none of which is missing, and their scale; the one rounding is the
last step. NaN stands for what has no value, such as the mean of nothing.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor, isqrt, nan
from typing import TYPE_CHECKING

import numpy as np

from walletframe.amounts.integers import POWERS, Floats, Integers, nearest_float
from walletframe.amounts.sorting import at_sorted_positions

if TYPE_CHECKING:
    from collections.abc import Sequence


_ROOT_BITS = 64


def mean(integers: Integers, scale: int) -> float:
    """Give the arithmetic mean."""
    count = len(integers)
    return nearest_float(integers.sum(), count * POWERS[scale]) if count else nan


def median(integers: Integers, scale: int) -> float:
    """Give the middle amount, or the mean of the two in the middle."""
    count = len(integers)
    if not count:
        return nan
    low, high = at_sorted_positions(integers, [(count - 1) // 2, count // 2])
    return nearest_float(low + high, 2 * POWERS[scale])


def spread(integers: Integers, scale: int, name: str, ddof: int) -> float:
    """Give the variance ("var"), its root ("std") or the mean's error ("sem")."""
    total, squares = integers.sum(), (integers**2).sum()
    return spread_of(name, len(integers), total, squares, POWERS[scale] ** 2, ddof)


def spread_of(name: str, count: int, total: int, squares: int, unit: int, ddof: int) -> float:
    """Give what `spread` does from the sum of n integers and the sum of their squares."""
    if count <= max(ddof, 0):
        return nan
    above, below = count * squares - total * total, count * (count - ddof) * unit
    if name == "var":
        return nearest_float(above, below)
    return nearest_root(above, below * count if name == "sem" else below)


def skewness(integers: Integers, _scale: int) -> float:
    """Give pandas's unbiased skewness, 0 where all are equal."""
    count = len(integers)
    if count < 3:  # noqa: PLR2004  as many as it is defined for
        return nan
    away = integers * count - integers.sum()
    second, third = (away**2).sum(), (away**3).sum()
    if not second:
        return 0.0
    above = third**2 * count**2 * (count - 1)
    root = nearest_root(above, second**3 * (count - 2) ** 2)
    return root if third > 0 else -root


def kurtosis(integers: Integers, _scale: int) -> float:
    """Give pandas's unbiased excess kurtosis, 0 where all are equal."""
    count = len(integers)
    if count < 4:  # noqa: PLR2004  as many as it is defined for
        return nan
    away = integers * count - integers.sum()
    second, fourth = (away**2).sum(), (away**4).sum()
    if not second:
        return 0.0
    above = count * (count + 1) * fourth - 3 * (count - 1) * second**2
    return nearest_float(above * (count - 1), (count - 2) * (count - 3) * second**2)


def correlation(ours: Integers, theirs: Integers) -> float:
    """Give Pearson's correlation of two columns, NaN where one is constant."""
    count, total, other = len(ours), ours.sum(), theirs.sum()
    above = count * (ours * theirs).sum() - total * other
    below = (count * (ours**2).sum() - total**2) * (count * (theirs**2).sum() - other**2)
    if not below:
        return nan
    root = nearest_root(above**2, below)
    return root if above > 0 else -root


def covariance(ours: Integers, theirs: Integers, unit: Fraction, ddof: int) -> float:
    """Give the covariance of two columns, in the unit of their products."""
    count = len(ours)
    if count <= max(ddof, 0):
        return nan
    above = count * (ours * theirs).sum() - ours.sum() * theirs.sum()
    share = unit * above / (count * (count - ddof))
    return nearest_float(share.numerator, share.denominator)


def nearest_root(numerator: int, denominator: int) -> float:
    """Give the float64 nearest to the square root of a ratio."""
    missing_bits = 2 * _ROOT_BITS - (numerator.bit_length() - denominator.bit_length())
    shift = max(0, missing_bits // 2 + 1)
    shifted = numerator << (2 * shift)
    root = isqrt(shifted // denominator)
    # A last bit says whether anything was cut off, so that rounding to 53 bits sees which side of
    # the middle it is on.
    cut_off = root * root * denominator != shifted
    return nearest_float(2 * root + cut_off, 2 << shift)


def quantiles(
    integers: Integers, scale: int, shares: Sequence[float] | Floats, interpolation: str
) -> Floats:
    """Give the amounts below which the shares lie, by one of pandas's five interpolations."""
    count = len(integers)
    if not count:
        return np.full(len(shares), nan)
    # A position is a float, as in NumPy; from there on all is exact.
    positions = [Fraction(float(share) * (count - 1)) for share in shares]
    lower = [floor(position) for position in positions]
    upper = [min(place + 1, count - 1) for place in lower]
    neighbours = at_sorted_positions(integers, lower + upper)
    pairs = zip(neighbours[: len(lower)], neighbours[len(lower) :], positions, strict=True)
    found = [between(low, high, position, interpolation) for low, high, position in pairs]
    return np.array([nearest_float(f.numerator, f.denominator * POWERS[scale]) for f in found])


def between(low: int, high: int, position: Fraction, interpolation: str) -> Fraction:
    """Interpolate between the neighbours of a position, which may be on the lower one."""
    share = position - floor(position)
    if interpolation == "linear":
        return low + (high - low) * share
    if interpolation == "midpoint":
        return Fraction(low + high, 2) if share else Fraction(low)
    if interpolation == "lower":
        return Fraction(low)
    if interpolation == "higher":
        return Fraction(high if share else low)
    if interpolation == "nearest":
        return Fraction(low if round(position) == floor(position) else high)
    raise ValueError(f"no interpolation is called {interpolation!r}")
