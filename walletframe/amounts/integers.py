"""Scale and sort arrays of Python integers, and convert them to the nearest floats.

The amounts of a column are ``integers / 10**scale``. The integer of a missing amount is 0.
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
Indices: TypeAlias = "npt.NDArray[np.intp]"

MAX_DECIMALS = 77  # the integer 2**256-1 has 78 digits
MAX_DIGITS = 4300  # Python's default limit for integers as text
POWERS_OF_TEN = tuple(10**exponent for exponent in range(2 * MAX_DECIMALS + 1))
"""The powers of ten, up to the largest scale that a product of two amounts can have."""
_SIGNIFICAND_BITS = 53


class ExactAmounts(NamedTuple):
    """n amounts ``integers / 10**scale``, and a mask of missing amounts."""

    integers: Integers
    missing: Mask
    scale: int


def object_array(values: Sequence[Any] | npt.NDArray[Any]) -> Integers:
    """Return an object array of shape (n,), even if the n values are sequences."""
    if hasattr(values, "__array__"):
        return np.asarray(values, dtype=object)
    return np.fromiter(values, object, len(values))


def objects_with_none(values: Any, missing: Mask) -> Integers:
    """Return n values as an object array, with None for missing values."""
    objects = np.array(values, dtype=object)
    objects[missing] = None
    return objects


def rescale(integers: Integers, scale: int, new_scale: int) -> Integers:
    """Rescale integers to an equal or larger scale."""
    if scale == new_scale:
        return integers
    product: Integers = integers * POWERS_OF_TEN[new_scale - scale]
    return product


def zero_missing(integers: Integers, missing: Mask, scale: int) -> ExactAmounts:
    """Set the integers of missing amounts to 0 in place, and return the amounts."""
    if missing.any():
        integers[missing] = 0
    return ExactAmounts(integers, missing, scale)


def at_same_scale(left: ExactAmounts, right: ExactAmounts) -> tuple[Integers, Integers, int]:
    """Return the integers of both operands at the larger scale, and this scale."""
    max_scale = max(left.scale, right.scale)
    lefts = rescale(left.integers, left.scale, max_scale)
    return lefts, rescale(right.integers, right.scale, max_scale), max_scale


def align_scales(integers: Integers, missing: Mask, scales: npt.NDArray[np.intp]) -> ExactAmounts:
    """Rescale integers in place to the largest scale. Missing amounts must have the integer 0."""
    present = scales[~missing] if missing.any() else scales
    max_scale, min_scale = int(present.max(initial=0)), int(present.min(initial=MAX_DECIMALS))
    if min_scale < max_scale:
        factors = object_array(POWERS_OF_TEN[max_scale::-1] + POWERS_OF_TEN[:1] * MAX_DECIMALS)
        np.multiply(integers, factors[scales], out=integers)
    return ExactAmounts(integers, missing, max_scale)


def nearest_float(numerator: int, denominator: int) -> float:
    """Return the float64 nearest to a ratio, or infinity if the ratio is too large."""
    try:
        return numerator / denominator
    except OverflowError:
        return float("inf") if (numerator > 0) == (denominator > 0) else float("-inf")


def ratios(numerators: Integers, denominators: Integers | int) -> Floats:
    """Return the float64 nearest to each ratio. No denominator may be 0."""
    floats = np.empty(np.broadcast(numerators, denominators).shape)
    try:  # a division of integers rounds once, but float(a) / float(b) would round three times
        np.divide(numerators, denominators, out=floats, casting="unsafe")
    except OverflowError:
        floats[:] = np.frompyfunc(nearest_float, 2, 1)(numerators, denominators)
    return floats


def to_floats(amounts: ExactAmounts) -> Floats:
    """Return the float64 nearest to each amount, NaN for missing amounts."""
    floats = ratios(amounts.integers, POWERS_OF_TEN[amounts.scale])
    floats[amounts.missing] = np.nan
    return floats


def split_floats(floats: Floats) -> tuple[Integers, npt.NDArray[np.intc]]:
    """Split floats into ``significand * 2**exponent``. NaN and infinity have significand 0."""
    fractions, exponents = np.frexp(np.where(np.isfinite(floats), floats, 0.0))
    significands = (fractions * 2.0**_SIGNIFICAND_BITS).astype(np.int64).astype(object)
    return significands, exponents - _SIGNIFICAND_BITS


def powers_of_two_or_one(exponents: npt.NDArray[np.intc]) -> Integers:
    """Return ``2**exponent`` as Python integers, or 1 if the exponent is negative."""
    powers: Integers = np.left_shift(1, np.maximum(exponents, 0).astype(object))
    return powers


def float_sort_keys(integers: Integers) -> Floats:
    """Return floats for faster sorting. Different large integers can share a float."""
    try:
        return integers.astype(np.float64)
    except OverflowError:
        return ratios(integers, 1)


def stable_argsort(integers: Integers) -> Indices:
    """Return the positions of a stable ascending sort, as ``argsort`` does."""
    floats = float_sort_keys(integers)
    order = np.argsort(floats, kind="stable")
    ordered = floats[order]
    tied = np.flatnonzero(ordered[1:] == ordered[:-1])
    wrong = tied[np.asarray(integers[order[tied]] > integers[order[tied + 1]], dtype=bool)]
    if not len(wrong):  # most ties are equal integers, which need no sorting
        return order
    breaks = np.flatnonzero(np.diff(tied) > 1)
    starts = tied[np.concatenate(([0], breaks + 1))]
    stops = tied[np.concatenate((breaks, [-1]))] + 2
    for tie in np.unique(np.searchsorted(starts, wrong, side="right") - 1):
        tied_rows = order[starts[tie] : stops[tie]]
        order[starts[tie] : stops[tie]] = sorted(tied_rows, key=integers.__getitem__)
    return order


def factorize_codes(amounts: ExactAmounts) -> Indices:
    """Return the codes of `pandas.factorize`, -1 for missing amounts."""
    present = ~amounts.missing
    integers = amounts.integers[present]
    present_codes, uniques = pd.factorize(float_sort_keys(integers))
    samples = np.full(len(uniques), 0, dtype=object)
    samples[present_codes] = integers
    if not (samples[present_codes] == integers).all():  # different integers with equal floats
        present_codes, _ = pd.factorize(integers)
    result = np.full(len(present), -1, dtype=np.intp)
    result[present] = present_codes
    return result


def order_statistics(integers: Integers, positions: Sequence[int]) -> list[int]:
    """Return the integers at some positions of the sorted array, without a complete sort."""
    floats = float_sort_keys(integers)
    partitioned = np.partition(floats, sorted(set(positions)))
    result: list[Any] = []
    for position in positions:
        tied = sorted(integers[floats == partitioned[position]])
        result.append(tied[position - int((floats < partitioned[position]).sum())])
    return result
