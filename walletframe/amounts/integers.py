"""Python integers in object arrays, and the powers of ten that scale them.

A column of amounts is ``integers / 10**scale``; where one is missing, its integer is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

Integers: TypeAlias = "npt.NDArray[np.object_]"
Floats: TypeAlias = "npt.NDArray[np.float64]"
Mask: TypeAlias = "npt.NDArray[np.bool_]"
Places: TypeAlias = "npt.NDArray[np.intp]"

MAX_DECIMALS = 77  # the integer 2**256-1 has 78 digits
MAX_DIGITS = 4300  # Python reads and writes no longer integers, unless it is set to
POWERS = tuple(10**exponent for exponent in range(2 * MAX_DECIMALS + 1))
"""The powers of ten that two scales can differ by, or add up to."""


class Exact(NamedTuple):
    """n amounts ``integers / 10**scale``: the integer is 0 where the mask says missing."""

    integers: Integers
    missing: Mask
    scale: int


def integers_from(values: Iterable[int], count: int) -> Integers:
    """Give n Python integers as an object array."""
    return np.fromiter(values, dtype=object, count=count)


def as_objects(values: Sequence[Any] | npt.NDArray[Any]) -> Integers:
    """Give n values as an object array without looking into them."""
    if hasattr(values, "__array__"):
        return np.asarray(values, dtype=object)
    return integers_from(values, len(values))


def or_none(values: Any, missing: Mask) -> Integers:
    """Give n values as objects, None where missing."""
    objects = np.array(values, dtype=object)
    objects[missing] = None
    return objects


def rescale(integers: Integers, scale: int, finer: int) -> Integers:
    """Give the integers that mean the same amounts at a scale at least as fine."""
    if scale == finer:
        return integers
    product: Integers = integers * POWERS[finer - scale]
    return product


def aligned(integers: Integers, missing: Mask, scales: npt.NDArray[np.intp]) -> Exact:
    """Bring integers of many scales, which are changed, to the finest; those missing must be 0."""
    present = scales[~missing] if missing.any() else scales
    finest, coarsest = int(present.max(initial=0)), int(present.min(initial=MAX_DECIMALS))
    if coarsest < finest:
        factors = np.array(POWERS[finest::-1] + POWERS[:1] * MAX_DECIMALS, dtype=object)
        np.multiply(integers, factors[scales], out=integers)
    return Exact(integers, missing, finest)


def nearest_float(numerator: int, denominator: int) -> float:
    """Give the float64 nearest to a ratio, infinite beyond the largest one."""
    try:
        return numerator / denominator
    except OverflowError:
        return float("inf") if (numerator > 0) == (denominator > 0) else float("-inf")


def ratios(numerators: Integers, denominators: Integers | int) -> Floats:
    """Give the float64 nearest to each ratio; no denominator is 0."""
    try:  # true division of integers is rounded once, which float(a) / float(b) is not
        quotients: Any = numerators / denominators
    except OverflowError:
        quotients = np.frompyfunc(nearest_float, 2, 1)(numerators, denominators)
    return np.asarray(quotients, dtype=np.float64)


def to_floats(amounts: Exact) -> Floats:
    """Give the float64 nearest to each amount, NaN where missing."""
    floats = ratios(amounts.integers, POWERS[amounts.scale])
    floats[amounts.missing] = np.nan
    return floats
