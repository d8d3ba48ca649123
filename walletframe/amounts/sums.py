"""Statistics of all groups at once, for exact amounts, for 128-bit amounts and for floats.

`Int128Amounts` store amounts as Arrow's decimals do, in a third of the memory of Python integers.
They are summed in quarters of 32 bits. The sum of each quarter is a float below 2**53, and
therefore exact. This avoids a Python integer for each row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from walletframe.amounts.integers import (
    POWERS_OF_TEN,
    Exact,
    powers_of_two,
    ratios,
    rescale,
    split_floats,
    stable_order,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pyarrow as pa

    from walletframe.amounts.integers import Floats, Indices, Integers, Mask

_BLOCK_ROWS = 2**20  # the sum of 32-bit quarters of this many rows is an exact float
_QUARTERS = (np.uint32, np.uint32, np.uint32, np.int32)


@dataclass(frozen=True)
class Segments:
    """Amounts and the group id of each row: 0 or more, or -1 for a row without a group."""

    amounts: Exact
    ids: Indices
    count: int

    @cached_property
    def rows(self) -> Indices:
        """The positions of the rows with a group and a known amount."""
        return np.flatnonzero(~self.amounts.missing & (self.ids >= 0))

    @cached_property
    def row_ids(self) -> Indices:
        """The group id of each of `rows`."""
        return self.ids if len(self.rows) == len(self.ids) else self.ids[self.rows]

    @cached_property
    def row_integers(self) -> Integers:
        """The amount of each of `rows`, as an unscaled integer."""
        integers = self.amounts.integers
        return integers if len(self.rows) == len(integers) else integers[self.rows]

    @cached_property
    def sizes(self) -> Indices:
        """The number of known amounts in each group."""
        return np.bincount(self.row_ids, minlength=self.count)

    @cached_property
    def has_missing(self) -> Mask:
        """A mask of the groups that contain a missing amount."""
        ids = self.ids[self.amounts.missing & (self.ids >= 0)]
        return np.bincount(ids, minlength=self.count) > 0

    @cached_property
    def sorted_rows(self) -> Indices:
        """The positions in `rows`, sorted by group and then by amount."""
        ascending = stable_order(self.row_integers)
        return ascending[np.argsort(self.row_ids[ascending], kind="stable")]

    @cached_property
    def starts(self) -> Indices:
        """The position in `sorted_rows` where each group begins."""
        return np.cumsum(self.sizes) - self.sizes


def sums(segments: Segments) -> Integers:
    """Return the sum of each group, 0 for an empty group."""
    totals = np.full(segments.count, 0, dtype=object)
    np.add.at(totals, segments.row_ids, segments.row_integers)
    return totals


def reductions(segments: Segments, how: str, min_count: int, *, skipna: bool) -> Exact:
    """Return the sum, minimum or maximum of each group, NA if it has too few amounts."""
    if how == "sum":
        integers = sums(segments)
    else:
        integers = extremes(segments, np.minimum if how == "min" else np.maximum)
        min_count = max(1, min_count)
    missing = segments.sizes < min_count
    if not skipna:
        missing |= segments.has_missing
    integers[missing] = 0
    return Exact(integers, missing, segments.amounts.scale)


def extremes(segments: Segments, choose: np.ufunc) -> Integers:
    """Return the minimum or maximum of each group, 0 for an empty group."""
    # An infinite float is larger or smaller than any integer, so any amount replaces it.
    neutral = np.inf if choose is np.minimum else -np.inf
    result = np.full(segments.count, neutral, dtype=object)
    choose.at(result, segments.row_ids, segments.row_integers)
    result[segments.sizes == 0] = 0
    return result


def means(segments: Segments) -> Floats:
    """Return the float64 nearest to the mean of each group, NaN for an empty group."""
    divisors = np.maximum(segments.sizes, 1).astype(object) * POWERS_OF_TEN[segments.amounts.scale]
    return np.where(segments.sizes > 0, ratios(sums(segments), divisors), np.nan)


def medians(segments: Segments) -> Floats:
    """Return the float64 nearest to the median of each group, NaN for an empty group."""
    nonempty = np.flatnonzero(segments.sizes)
    size, start = segments.sizes[nonempty], segments.starts[nonempty]
    low = segments.row_integers[segments.sorted_rows[start + (size - 1) // 2]]
    high = segments.row_integers[segments.sorted_rows[start + size // 2]]
    result = np.full(segments.count, np.nan)
    result[nonempty] = ratios(low + high, 2 * POWERS_OF_TEN[segments.amounts.scale])
    return result


def pandas_groupby(segments: Segments, how: str, values: Floats, **options: Any) -> Any:
    """Return the result of a groupby method of pandas for n floats, by group or by row."""
    groups: Any = pd.Categorical.from_codes(segments.ids, pd.RangeIndex(segments.count))
    grouped = pd.Series(values).groupby(groups, observed=False)
    if how == "rank":
        options["method"] = options.pop("ties_method")
    return getattr(grouped, how)(**options).to_numpy()


def first_or_last_rows(segments: Segments, *, last: bool, skipna: bool) -> Indices:
    """Return the position of the first or last row of each group, -1 for an empty group."""
    rows = segments.rows if skipna else np.flatnonzero(segments.ids >= 0)
    result = np.full(segments.count, -1, dtype=np.intp)
    if not last:
        rows = rows[::-1]
    result[segments.ids[rows]] = rows  # for equal ids, the last assignment wins
    return result


def extreme_rows(segments: Segments, *, largest: bool) -> Indices:
    """Return the position of the first minimum or maximum of each group, -1 for an empty group."""
    values = extremes(segments, np.maximum if largest else np.minimum)
    is_extreme = np.asarray(segments.row_integers == values[segments.row_ids], dtype=bool)
    rows = segments.rows[is_extreme][::-1]
    result = np.full(segments.count, -1, dtype=np.intp)
    result[segments.ids[rows]] = rows
    return result


def running_sums(segments: Segments, *, skipna: bool) -> Exact:
    """Return the cumulative sum at each row within its group."""
    by_group = np.argsort(segments.row_ids, kind="stable")
    running = np.add.accumulate(segments.row_integers[by_group])
    before = np.concatenate((np.array([0], dtype=object), running))
    integers = np.full(len(segments.ids), 0, dtype=object)
    starts = np.repeat(before[segments.starts], segments.sizes)
    integers[segments.rows[by_group]] = running - starts
    missing = np.ones(len(segments.ids), dtype=bool)
    missing[segments.rows] = False
    if not skipna:
        first_missing = np.full(segments.count, len(segments.ids))
        rows = np.flatnonzero(segments.amounts.missing & (segments.ids >= 0))
        np.minimum.at(first_missing, segments.ids[rows], rows)
        missing |= np.arange(len(segments.ids)) >= first_missing[segments.ids]
    integers[missing] = 0
    return Exact(integers, missing, segments.amounts.scale)


@dataclass(frozen=True, slots=True)
class Int128Amounts:
    """n amounts as 128-bit integers; the few that need more bits or decimals are `overrides`."""

    words: npt.NDArray[np.int64]  # shape (n, 2), lower word first; 0 if missing or overridden
    missing: Mask
    scale: int
    override_rows: Indices  # the sorted positions of the overrides
    overrides: Exact

    def exact(self) -> Exact:
        """Return the amounts as Python integers."""
        integers, scale = integers_from_words(self.words), self.scale
        if len(self.override_rows):
            overrides, _, override_scale = self.overrides
            scale = max(scale, override_scale)
            integers = rescale(integers, self.scale, scale)
            integers[self.override_rows] = rescale(overrides, override_scale, scale)
        return Exact(integers, self.missing, scale)

    def take(self, rows: Indices) -> Int128Amounts:
        """Return the amounts at the given positions."""
        is_overridden = np.zeros(len(self.missing), dtype=bool)
        is_overridden[self.override_rows] = True
        override_rows = np.flatnonzero(is_overridden[rows])
        override_positions = np.searchsorted(self.override_rows, rows[override_rows])
        integers, missing, scale = self.overrides
        return replace(
            self,
            words=np.take(self.words, rows, axis=0),
            missing=self.missing[rows],
            override_rows=override_rows,
            overrides=Exact(integers[override_positions], missing[override_positions], scale),
        )


class GroupSums(NamedTuple):
    """The sums of groups, as unscaled integers, and the number of known amounts in each group."""

    units: Integers
    scale: int
    sizes: Indices


def group_sums(amounts: Exact | Int128Amounts, ids: Indices, count: int) -> GroupSums:
    """Return the sum of each group; `ids` contains the group of each row."""
    if isinstance(amounts, Exact):
        segments = Segments(amounts, ids, count)
        return GroupSums(sums(segments), amounts.scale, segments.sizes)
    units, scale = _sum_words(amounts.words, ids, count), amounts.scale
    if len(amounts.override_rows):
        others, other_scale, _ = group_sums(amounts.overrides, ids[amounts.override_rows], count)
        finest = max(scale, other_scale)
        units = rescale(units, scale, finest) + rescale(others, other_scale, finest)
        scale = finest
    known = ids[~amounts.missing] if amounts.missing.any() else ids
    return GroupSums(units, scale, np.bincount(known, minlength=count))


def is_positive(amounts: Exact | Int128Amounts, minimum: int = 0) -> Mask:
    """Return a mask of the amounts that are above 0 and at least `minimum`."""
    smallest = max(1, minimum * POWERS_OF_TEN[amounts.scale])
    if isinstance(amounts, Exact):
        return np.asarray(amounts.integers >= smallest, dtype=bool)
    upper, lower = divmod(smallest, 2**64)
    low, high = amounts.words.view(np.uint64)[:, 0], amounts.words[:, 1]
    result: Mask = (high > upper) | ((high == upper) & (low >= lower))
    result[amounts.override_rows] = is_positive(amounts.overrides, minimum)
    return result


def words_of_decimals(decimals: pa.Array) -> npt.NDArray[np.int64]:
    """Return the 64-bit words of a decimal128 or decimal256 array; words of nulls are undefined."""
    width = decimals.type.byte_width // 8
    words = np.frombuffer(decimals.buffers()[1], dtype=np.int64).reshape(-1, width)
    return words[decimals.offset : decimals.offset + len(decimals)]


def integers_from_words(words: npt.NDArray[np.int64]) -> Integers:
    """Return n Python integers from an array of 64-bit words, in each row the lowest word first."""
    width = 8 * words.shape[1]
    chunks = np.ascontiguousarray(words[:, ::-1].byteswap()).view(f"V{width}").ravel().tolist()
    integers = np.fromiter(map(int.from_bytes, chunks), object, len(chunks))
    negative = words[:, -1] < 0
    if negative.any():
        integers[negative] -= 1 << 8 * width
    return integers


def _sum_words(words: npt.NDArray[np.int64], ids: Indices, count: int) -> Integers:
    """Return the sums of 128-bit integers by group, from the sums of their 32-bit quarters."""
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


@dataclass(frozen=True, slots=True)
class FloatTotals:
    """Exact sums of floats by group, and the number of floats in each group."""

    integers: Integers  # the sums of the finite floats are integers * 2**exponent
    exponent: int  # 0 or less
    infinite: Floats  # the sums of the infinite floats, 0 if there are none
    sizes: Indices

    def regrouped(self, ids: Indices, count: int) -> FloatTotals:
        """Return the totals of larger groups. `ids` contains the new group of each old group."""
        integers, infinite = np.full(count, 0, dtype=object), np.zeros(count)
        np.add.at(integers, ids, self.integers)
        is_infinite = np.flatnonzero(self.infinite)
        with np.errstate(invalid="ignore"):
            np.add.at(infinite, ids[is_infinite], self.infinite[is_infinite])
        sizes = np.bincount(ids, weights=self.sizes, minlength=count).astype(np.intp)
        return FloatTotals(integers, self.exponent, infinite, sizes)

    def sums(self) -> Floats:
        """Return the float64 nearest to each sum, 0 for an empty group."""
        with np.errstate(invalid="ignore"):
            return ratios(self.integers, 1 << -self.exponent) + self.infinite


def float_totals(floats: Floats, ids: Indices, count: int) -> FloatTotals:
    """Return the exact sums of floats by group; NaN is skipped."""
    rows = np.flatnonzero(~np.isnan(floats))
    floats = floats[rows]
    significands, exponents = split_floats(floats)
    lowest = int(exponents.min(initial=0, where=significands != 0))
    shifts = np.where(significands == 0, 0, exponents - lowest)
    infinite = np.where(np.isinf(floats), floats, 0.0)
    integers = significands * powers_of_two(shifts)
    by_row = FloatTotals(integers, lowest, infinite, np.ones(len(rows), dtype=np.intp))
    return by_row.regrouped(ids[rows], count)


def joined_totals(parts: Sequence[FloatTotals]) -> FloatTotals:
    """Concatenate several `FloatTotals` into one, rescaled to the smallest exponent."""
    lowest = min((part.exponent for part in parts), default=0)
    integers = [part.integers * (1 << part.exponent - lowest) for part in parts]
    return FloatTotals(
        np.concatenate([np.empty(0, dtype=object), *integers]),
        lowest,
        np.concatenate([np.empty(0), *(part.infinite for part in parts)]),
        np.concatenate([np.empty(0, dtype=np.intp), *(part.sizes for part in parts)]),
    )
