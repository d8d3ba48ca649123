"""Statistics by group of exact amounts, 128-bit amounts and floats.

`Int128Amounts` need a third of the memory of Python integers. A sum of 128-bit integers is computed
from float sums of the 32-bit parts. Each float sum is below 2**53, and therefore exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from walletframe.amounts.integers import (
    POWERS_OF_TEN,
    ExactAmounts,
    powers_of_two_or_one,
    ratios,
    rescale,
    split_floats,
    stable_argsort,
    zero_missing,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pyarrow as pa

    from walletframe.amounts.integers import Floats, Indices, Integers, Mask

_BLOCK_ROWS = 2**20  # the sum of 32-bit quarters of this many rows is an exact float
_QUARTERS = (np.uint32, np.uint32, np.uint32, np.int32)


@dataclass(frozen=True, eq=False)
class AmountsWithGroups:
    """Amounts, and the group id of each row (-1: no group)."""

    amounts: ExactAmounts
    ids: Indices
    group_count: int

    @cached_property
    def known_rows(self) -> Indices:
        """The positions of rows with a group and a known amount."""
        return np.flatnonzero(~self.amounts.missing & (self.ids >= 0))

    @cached_property
    def ids_of_known_rows(self) -> Indices:
        """The group ids of `known_rows`."""
        return self.ids if len(self.known_rows) == len(self.ids) else self.ids[self.known_rows]

    @cached_property
    def known_integers(self) -> Integers:
        """The amounts of `known_rows`, as unscaled integers."""
        integers = self.amounts.integers
        return integers if len(self.known_rows) == len(integers) else integers[self.known_rows]

    @cached_property
    def known_counts(self) -> Indices:
        """The number of known amounts in each group."""
        return np.bincount(self.ids_of_known_rows, minlength=self.group_count)

    @cached_property
    def groups_with_missing(self) -> Mask:
        """A mask of the groups that contain a missing amount."""
        ids = self.ids[self.amounts.missing & (self.ids >= 0)]
        return np.bincount(ids, minlength=self.group_count) > 0

    @cached_property
    def sorted_known_positions(self) -> Indices:
        """Positions within `known_rows`, sorted by group and then by amount."""
        ascending = stable_argsort(self.known_integers)
        return ascending[np.argsort(self.ids_of_known_rows[ascending], kind="stable")]

    @cached_property
    def group_starts(self) -> Indices:
        """The position of each group's first row in `sorted_known_positions`."""
        return np.cumsum(self.known_counts) - self.known_counts


def group_totals(grouped: AmountsWithGroups) -> Integers:
    """Return the sum of each group, 0 for an empty group."""
    totals = np.full(grouped.group_count, 0, dtype=object)
    np.add.at(totals, grouped.ids_of_known_rows, grouped.known_integers)
    return totals


def reduce_groups(
    grouped: AmountsWithGroups, how: str, min_count: int, *, skipna: bool
) -> ExactAmounts:
    """Aggregate each group. A group with fewer than `min_count` known amounts becomes NA."""
    if how == "sum":
        integers = group_totals(grouped)
    else:
        integers = _group_extremes(grouped, np.minimum if how == "min" else np.maximum)
        min_count = max(1, min_count)
    missing = grouped.known_counts < min_count
    if not skipna:
        missing |= grouped.groups_with_missing
    return zero_missing(integers, missing, grouped.amounts.scale)


def _group_extremes(grouped: AmountsWithGroups, choose: np.ufunc) -> Integers:
    # Any amount replaces the initial infinite float, since it is smaller or larger.
    neutral = np.inf if choose is np.minimum else -np.inf
    result = np.full(grouped.group_count, neutral, dtype=object)
    choose.at(result, grouped.ids_of_known_rows, grouped.known_integers)
    result[grouped.known_counts == 0] = 0
    return result


def mean_floats(grouped: AmountsWithGroups) -> Floats:
    """Return the float64 nearest to the mean of each group, NaN for an empty group."""
    counts = grouped.known_counts
    divisors = np.maximum(counts, 1).astype(object) * POWERS_OF_TEN[grouped.amounts.scale]
    return np.where(counts > 0, ratios(group_totals(grouped), divisors), np.nan)


def median_floats(grouped: AmountsWithGroups) -> Floats:
    """Return the float64 nearest to the median of each group, NaN for an empty group."""
    nonempty = np.flatnonzero(grouped.known_counts)
    size, start = grouped.known_counts[nonempty], grouped.group_starts[nonempty]
    low = grouped.known_integers[grouped.sorted_known_positions[start + (size - 1) // 2]]
    high = grouped.known_integers[grouped.sorted_known_positions[start + size // 2]]
    result = np.full(grouped.group_count, np.nan)
    result[nonempty] = ratios(low + high, 2 * POWERS_OF_TEN[grouped.amounts.scale])
    return result


def apply_pandas_groupby(grouped: AmountsWithGroups, how: str, data: Floats, **kwargs: Any) -> Any:
    """Apply a groupby method of pandas to one float per row."""
    groups: Any = pd.Categorical.from_codes(grouped.ids, pd.RangeIndex(grouped.group_count))
    groupby = pd.Series(data).groupby(groups, observed=False)
    if how == "rank":
        kwargs["method"] = kwargs.pop("ties_method")
    return getattr(groupby, how)(**kwargs).to_numpy()


def first_or_last_rows(grouped: AmountsWithGroups, *, last: bool, skipna: bool) -> Indices:
    """Return the position of the first or last row of each group, -1 for an empty group."""
    rows = grouped.known_rows if skipna else np.flatnonzero(grouped.ids >= 0)
    result = np.full(grouped.group_count, -1, dtype=np.intp)
    if not last:
        rows = rows[::-1]
    result[grouped.ids[rows]] = rows  # for equal ids, the last assignment wins
    return result


def extreme_rows(grouped: AmountsWithGroups, *, largest: bool) -> Indices:
    """Return the position of each group's first minimum or maximum, -1 for an empty group."""
    values = _group_extremes(grouped, np.maximum if largest else np.minimum)
    is_extreme = np.asarray(grouped.known_integers == values[grouped.ids_of_known_rows], dtype=bool)
    rows = grouped.known_rows[is_extreme][::-1]
    result = np.full(grouped.group_count, -1, dtype=np.intp)
    result[grouped.ids[rows]] = rows
    return result


def cumulative_sums(grouped: AmountsWithGroups, *, skipna: bool) -> ExactAmounts:
    """Return for each row the cumulative sum within its group."""
    by_group = np.argsort(grouped.ids_of_known_rows, kind="stable")
    running = np.add.accumulate(grouped.known_integers[by_group])
    before = np.concatenate((np.array([0], dtype=object), running))
    integers = np.full(len(grouped.ids), 0, dtype=object)
    starts = np.repeat(before[grouped.group_starts], grouped.known_counts)
    integers[grouped.known_rows[by_group]] = running - starts
    missing = np.ones(len(grouped.ids), dtype=bool)
    missing[grouped.known_rows] = False
    if not skipna:
        first_missing = np.full(grouped.group_count, len(grouped.ids))
        rows = np.flatnonzero(grouped.amounts.missing & (grouped.ids >= 0))
        np.minimum.at(first_missing, grouped.ids[rows], rows)
        missing |= np.arange(len(grouped.ids)) >= first_missing[grouped.ids]
    return zero_missing(integers, missing, grouped.amounts.scale)


class Int128Amounts(NamedTuple):
    """n amounts as 128-bit integers. Amounts that don't fit are in `overrides`."""

    words: npt.NDArray[np.int64]  # shape (n, 2), lower word first; 0 if missing or overridden
    missing: Mask
    scale: int
    override_rows: Indices  # the sorted positions of the overrides
    overrides: ExactAmounts

    def exact(self) -> ExactAmounts:
        """Return the amounts as Python integers."""
        integers, scale = integers_from_words(self.words), self.scale
        if len(self.override_rows):
            overrides, _, override_scale = self.overrides
            scale = max(scale, override_scale)
            integers = rescale(integers, self.scale, scale)
            integers[self.override_rows] = rescale(overrides, override_scale, scale)
        return ExactAmounts(integers, self.missing, scale)

    def take(self, rows: Indices) -> Int128Amounts:
        """Return the amounts at the given positions."""
        is_overridden = np.zeros(len(self.missing), dtype=bool)
        is_overridden[self.override_rows] = True
        override_rows = np.flatnonzero(is_overridden[rows])
        positions = np.searchsorted(self.override_rows, rows[override_rows])
        integers, missing, scale = self.overrides
        return self._replace(
            words=np.take(self.words, rows, axis=0),
            missing=self.missing[rows],
            override_rows=override_rows,
            overrides=ExactAmounts(integers[positions], missing[positions], scale),
        )


def group_sums_scale_and_counts(
    amounts: ExactAmounts | Int128Amounts, ids: Indices, count: int
) -> tuple[Integers, int, Indices]:
    """Return each group's unscaled sum, the scale, and each group's number of known amounts."""
    if isinstance(amounts, ExactAmounts):
        grouped = AmountsWithGroups(amounts, ids, count)
        return group_totals(grouped), amounts.scale, grouped.known_counts
    units, scale = _sum_words_by_group(amounts.words, ids, count), amounts.scale
    if len(rows := amounts.override_rows):
        others, other_scale, _ = group_sums_scale_and_counts(amounts.overrides, ids[rows], count)
        max_scale = max(scale, other_scale)
        units = rescale(units, scale, max_scale) + rescale(others, other_scale, max_scale)
        scale = max_scale
    known = ids[~amounts.missing] if amounts.missing.any() else ids
    return units, scale, np.bincount(known, minlength=count)


def positive_mask(amounts: ExactAmounts | Int128Amounts, minimum: int = 0) -> Mask:
    """Return a mask of the positive amounts that are at least `minimum`."""
    smallest = max(1, minimum * POWERS_OF_TEN[amounts.scale])
    if isinstance(amounts, ExactAmounts):
        return np.asarray(amounts.integers >= smallest, dtype=bool)
    upper, lower = divmod(smallest, 2**64)
    low, high = amounts.words.view(np.uint64)[:, 0], amounts.words[:, 1]
    result: Mask = (high > upper) | ((high == upper) & (low >= lower))
    result[amounts.override_rows] = positive_mask(amounts.overrides, minimum)
    return result


def words_of_decimal_array(decimals: pa.Array) -> npt.NDArray[np.int64]:
    """Return the 64-bit words of a decimal128 or decimal256 array. Words of nulls are undefined."""
    width = decimals.type.byte_width // 8
    words = np.frombuffer(decimals.buffers()[1], dtype=np.int64).reshape(-1, width)
    return words[decimals.offset : decimals.offset + len(decimals)]


def integers_from_words(words: npt.NDArray[np.int64]) -> Integers:
    """Convert rows of 64-bit words, lowest word first, to Python integers."""
    width = 8 * words.shape[1]
    chunks = np.ascontiguousarray(words[:, ::-1].byteswap()).view(f"V{width}").ravel().tolist()
    integers = np.fromiter(map(int.from_bytes, chunks), object, len(chunks))
    negative = words[:, -1] < 0
    if negative.any():
        integers[negative] -= 1 << 8 * width
    return integers


def _sum_words_by_group(words: npt.NDArray[np.int64], ids: Indices, count: int) -> Integers:
    quarters = np.zeros((len(_QUARTERS), count), dtype=np.int64)
    for start in range(0, len(words), _BLOCK_ROWS):
        block = np.ascontiguousarray(words[start : start + _BLOCK_ROWS])
        for n, kind in enumerate(_QUARTERS):
            weights = block.view(kind)[:, n]
            if weights.any():  # the higher quarters are usually 0
                totals = np.bincount(ids[start : start + _BLOCK_ROWS], weights, count)
                quarters[n] += totals.astype(np.int64)
    for n in range(1, len(_QUARTERS)):
        quarters[n] += quarters[n - 1] >> 32
    low = quarters & 0xFFFFFFFF
    result = low[0] | low[1] << 32, low[2] | low[3] << 32, quarters[3] >> 32
    return integers_from_words(np.stack(result, axis=1))


class ExactFloatSums(NamedTuple):
    """The exact sum and the number of floats in each group."""

    integers: Integers  # the sums of the finite floats are integers * 2**exponent
    exponent: int  # 0 or less
    infinite: Floats  # the sums of the infinite floats, 0 if there are none
    sizes: Indices

    def regroup(self, new_ids: Indices, count: int) -> ExactFloatSums:
        """Combine groups. `new_ids` contains the new group of each old group."""
        integers, infinite = np.full(count, 0, dtype=object), np.zeros(count)
        np.add.at(integers, new_ids, self.integers)
        is_infinite = np.flatnonzero(self.infinite)
        with np.errstate(invalid="ignore"):
            np.add.at(infinite, new_ids[is_infinite], self.infinite[is_infinite])
        sizes = np.bincount(new_ids, weights=self.sizes, minlength=count).astype(np.intp)
        return ExactFloatSums(integers, self.exponent, infinite, sizes)

    def sums(self) -> Floats:
        """Return the float64 nearest to each sum, 0 for an empty group."""
        with np.errstate(invalid="ignore"):
            return ratios(self.integers, 1 << -self.exponent) + self.infinite


def sum_floats_by_group(floats: Floats, ids: Indices, count: int) -> ExactFloatSums:
    """Sum floats exactly by group. NaN is skipped."""
    rows = np.flatnonzero(~np.isnan(floats))
    floats = floats[rows]
    significands, exponents = split_floats(floats)
    lowest = int(exponents.min(initial=0, where=significands != 0))
    shifts = np.where(significands == 0, 0, exponents - lowest)
    infinite = np.where(np.isinf(floats), floats, 0.0)
    integers = significands * powers_of_two_or_one(shifts)
    by_row = ExactFloatSums(integers, lowest, infinite, np.ones(len(rows), dtype=np.intp))
    return by_row.regroup(ids[rows], count)


def concat_float_sums(parts: Sequence[ExactFloatSums]) -> ExactFloatSums:
    """Concatenate the groups of all parts. All sums get the smallest exponent of the parts."""
    lowest = min((part.exponent for part in parts), default=0)
    integers = [part.integers * (1 << part.exponent - lowest) for part in parts]
    return ExactFloatSums(
        np.concatenate([np.empty(0, dtype=object), *integers]),
        lowest,
        np.concatenate([np.empty(0), *(part.infinite for part in parts)]),
        np.concatenate([np.empty(0, dtype=np.intp), *(part.sizes for part in parts)]),
    )
