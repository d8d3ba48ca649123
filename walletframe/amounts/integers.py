"""Python integers in object arrays: their scale, their order, and the floats nearest to them.

A column of amounts is ``integers / 10**scale``; where one is missing, its integer is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

Integers: TypeAlias = "npt.NDArray[np.object_]"
Floats: TypeAlias = "npt.NDArray[np.float64]"
Mask: TypeAlias = "npt.NDArray[np.bool_]"
Places: TypeAlias = "npt.NDArray[np.intp]"

MAX_DECIMALS = 77  # the integer 2**256-1 has 78 digits
MAX_DIGITS = 4300  # Python reads and writes no longer integers, unless it is set to
POWERS = tuple(10**exponent for exponent in range(2 * MAX_DECIMALS + 1))
"""The powers of ten that two scales can differ by, or add up to."""
_SIGNIFICAND_BITS = 53


class Exact(NamedTuple):
    """n amounts ``integers / 10**scale``: the integer is 0 where the mask says missing."""

    integers: Integers
    missing: Mask
    scale: int


def as_objects(values: Sequence[Any] | npt.NDArray[Any]) -> Integers:
    """Return n values as an object array without looking into them."""
    if hasattr(values, "__array__"):
        return np.asarray(values, dtype=object)
    return np.fromiter(values, object, len(values))


def or_none(values: Any, missing: Mask) -> Integers:
    """Return n values as objects, None where missing."""
    objects = np.array(values, dtype=object)
    objects[missing] = None
    return objects


def rescale(integers: Integers, scale: int, finer: int) -> Integers:
    """Return the integers that mean the same amounts at a scale at least as fine."""
    if scale == finer:
        return integers
    product: Integers = integers * POWERS[finer - scale]
    return product


def same_scale(left: Exact, right: Exact) -> tuple[Integers, Integers, int]:
    """Bring the integers of both sides to the finer scale."""
    finest = max(left.scale, right.scale)
    ours = rescale(left.integers, left.scale, finest)
    return ours, rescale(right.integers, right.scale, finest), finest


def aligned(integers: Integers, missing: Mask, scales: npt.NDArray[np.intp]) -> Exact:
    """Bring integers of many scales, which are changed, to the finest; those missing must be 0."""
    present = scales[~missing] if missing.any() else scales
    finest, coarsest = int(present.max(initial=0)), int(present.min(initial=MAX_DECIMALS))
    if coarsest < finest:
        factors = np.array(POWERS[finest::-1] + POWERS[:1] * MAX_DECIMALS, dtype=object)
        np.multiply(integers, factors[scales], out=integers)
    return Exact(integers, missing, finest)


def nearest_float(numerator: int, denominator: int) -> float:
    """Return the float64 nearest to a ratio, infinite beyond the largest one."""
    try:
        return numerator / denominator
    except OverflowError:
        return float("inf") if (numerator > 0) == (denominator > 0) else float("-inf")


def ratios(numerators: Integers, denominators: Integers | int) -> Floats:
    """Return the float64 nearest to each ratio; no denominator is 0."""
    floats = np.empty(np.broadcast(numerators, denominators).shape)
    try:  # true division of integers is rounded once, which float(a) / float(b) is not
        np.divide(numerators, denominators, out=floats, casting="unsafe")  # from objects, at once
    except OverflowError:
        floats[:] = np.frompyfunc(nearest_float, 2, 1)(numerators, denominators)
    return floats


def to_floats(amounts: Exact) -> Floats:
    """Return the float64 nearest to each amount, NaN where missing."""
    floats = ratios(amounts.integers, POWERS[amounts.scale])
    floats[amounts.missing] = np.nan
    return floats


def float_parts(floats: Floats) -> tuple[Integers, npt.NDArray[np.intc]]:
    """Split floats into significands (Python integers; 0 for NaN and infinity) and exponents."""
    fractions, exponents = np.frexp(np.where(np.isfinite(floats), floats, 0.0))
    significands = (fractions * 2.0**_SIGNIFICAND_BITS).astype(np.int64).astype(object)
    return significands, exponents - _SIGNIFICAND_BITS


def powers_of_two(exponents: npt.NDArray[np.intc]) -> Integers:
    """Return 2**exponent as Python integers, 1 where the exponent is negative."""
    powers: Integers = np.left_shift(1, np.maximum(exponents, 0).astype(object))
    return powers


def _float_keys(integers: Integers) -> Floats:
    """Return floats in the order of the integers, equal for some that aren't.

    Sorting floats is many times faster than sorting Python integers; ties are settled by these.
    """
    try:
        return integers.astype(np.float64)
    except OverflowError:
        return ratios(integers, 1)


def stable_order(integers: Integers) -> Places:
    """Return the positions of the integers in ascending order, equal ones as they stand."""
    floats = _float_keys(integers)
    order = np.argsort(floats, kind="stable")
    ordered = floats[order]
    tied = np.flatnonzero(ordered[1:] == ordered[:-1])
    wrong = tied[np.asarray(integers[order[tied]] > integers[order[tied + 1]], dtype=bool)]
    if not len(wrong):  # most ties are equal integers, which stand already
        return order
    breaks = np.flatnonzero(np.diff(tied) > 1)
    starts = tied[np.concatenate(([0], breaks + 1))]
    stops = tied[np.concatenate((breaks, [-1]))] + 2
    for run in np.unique(np.searchsorted(starts, wrong, side="right") - 1):
        places = order[starts[run] : stops[run]]
        order[starts[run] : stops[run]] = sorted(places, key=integers.__getitem__)
    return order


def codes(amounts: Exact) -> Places:
    """Return equal numbers to equal amounts, from 0 by their first mention, and -1 to missing."""
    present = ~amounts.missing
    integers = amounts.integers[present]
    found, uniques = pd.factorize(_float_keys(integers))
    some = np.full(len(uniques), 0, dtype=object)
    some[found] = integers
    if not (some[found] == integers).all():  # two that differ have one float
        found, _ = pd.factorize(integers)
    numbers = np.full(len(present), -1, dtype=np.intp)
    numbers[present] = found
    return numbers


def at_sorted_positions(integers: Integers, positions: Sequence[int]) -> list[int]:
    """Return the integers that sorting would put at some positions, without sorting them all."""
    floats = _float_keys(integers)
    placed = np.partition(floats, sorted(set(positions)))
    found: list[Any] = []
    for position in positions:
        tied = sorted(integers[floats == placed[position]])
        found.append(tied[position - int((floats < placed[position]).sum())])
    return found
