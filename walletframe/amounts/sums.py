"""Sums of groups, all groups at once: of amounts, of words of 128 bits, and of floats.

The rows of all groups go through NumPy together; results have one entry a group, or one a row.
Words are amounts as Arrow's decimals hold them, a third of what integers take: groups add up their
quarters as floats that stay below 2**53, without a Python integer for each row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from walletframe.amounts.integers import (
    POWERS,
    Exact,
    float_parts,
    powers_of_two,
    ratios,
    rescale,
    stable_order,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pyarrow as pa

    from walletframe.amounts.integers import Floats, Integers, Mask, Places

_AT_ONCE = 2**20  # quarters of 32 bits that are added up as floats
_QUARTERS = (np.uint32, np.uint32, np.uint32, np.int32)


@dataclass(frozen=True)
class Segments:
    """n amounts, and the group of each row from 0, or -1 for a row of no group."""

    amounts: Exact
    ids: Places
    count: int

    @cached_property
    def rows(self) -> Places:
        """The positions of rows that are in a group and not missing."""
        return np.flatnonzero(~self.amounts.missing & (self.ids >= 0))

    @cached_property
    def row_ids(self) -> Places:
        """The group of each of these rows."""
        return self.ids if len(self.rows) == len(self.ids) else self.ids[self.rows]

    @cached_property
    def integers(self) -> Integers:
        """The integer of each of these rows."""
        integers = self.amounts.integers
        return integers if len(self.rows) == len(integers) else integers[self.rows]

    @cached_property
    def sizes(self) -> Places:
        """The number of these rows in each group."""
        return np.bincount(self.row_ids, minlength=self.count)

    @cached_property
    def holed(self) -> Mask:
        """Whether a group has a missing amount."""
        holes = self.ids[self.amounts.missing & (self.ids >= 0)]
        return np.bincount(holes, minlength=self.count) > 0

    @cached_property
    def sorted_rows(self) -> Places:
        """The positions in `rows`, by group and then by amount."""
        ascending = stable_order(self.integers)
        return ascending[np.argsort(self.row_ids[ascending], kind="stable")]

    @cached_property
    def starts(self) -> Places:
        """Where each group begins in `sorted_rows`."""
        return np.cumsum(self.sizes) - self.sizes


def sums(segments: Segments) -> Integers:
    """Add up each group; 0 for an empty one."""
    totals = np.full(segments.count, 0, dtype=object)
    np.add.at(totals, segments.row_ids, segments.integers)
    return totals


def reduced(segments: Segments, how: str, min_count: int, *, skipna: bool) -> Exact:
    """Return the sum, minimum or maximum ("sum", "min", "max") of each group, or that it is NA."""
    if how == "sum":
        integers = sums(segments)
    else:
        integers = extremes(segments, np.minimum if how == "min" else np.maximum)
        min_count = max(1, min_count)
    missing = segments.sizes < min_count
    if not skipna:
        missing |= segments.holed
    integers[missing] = 0
    return Exact(integers, missing, segments.amounts.scale)


def extremes(segments: Segments, choose: np.ufunc) -> Integers:
    """Return the minimum or maximum of each group; 0 for an empty one."""
    # An infinite float is smaller or larger than any integer; no group with rows keeps it.
    neutral = np.inf if choose is np.minimum else -np.inf
    found = np.full(segments.count, neutral, dtype=object)
    choose.at(found, segments.row_ids, segments.integers)
    found[segments.sizes == 0] = 0
    return found


def means(segments: Segments) -> Floats:
    """Return the mean of each group, NaN for an empty one."""
    below = np.maximum(segments.sizes, 1).astype(object) * POWERS[segments.amounts.scale]
    return np.where(segments.sizes > 0, ratios(sums(segments), below), np.nan)


def medians(segments: Segments) -> Floats:
    """Return the median of each group, NaN for an empty one."""
    filled = np.flatnonzero(segments.sizes)
    size, start = segments.sizes[filled], segments.starts[filled]
    low = segments.integers[segments.sorted_rows[start + (size - 1) // 2]]
    high = segments.integers[segments.sorted_rows[start + size // 2]]
    result = np.full(segments.count, np.nan)
    result[filled] = ratios(low + high, 2 * POWERS[segments.amounts.scale])
    return result


def by_pandas(segments: Segments, how: str, values: Floats, **options: Any) -> Any:
    """Compute from n floats by pandas: one result for each group, or for each row."""
    groups: Any = pd.Categorical.from_codes(segments.ids, pd.RangeIndex(segments.count))
    by_group = pd.Series(values).groupby(groups, observed=False)
    if how == "rank":
        options["method"] = options.pop("ties_method")
    return getattr(by_group, how)(**options).to_numpy()


def edges(segments: Segments, *, last: bool, skipna: bool) -> Places:
    """Return the row where each group begins or ends, -1 for an empty one."""
    rows = segments.rows if skipna else np.flatnonzero(segments.ids >= 0)
    found = np.full(segments.count, -1, dtype=np.intp)
    if not last:
        rows = rows[::-1]
    found[segments.ids[rows]] = rows  # of several rows the last one written stays
    return found


def extreme_rows(segments: Segments, *, largest: bool) -> Places:
    """Return the first row with each group's minimum or maximum, -1 for an empty one."""
    found = extremes(segments, np.maximum if largest else np.minimum)
    chosen = np.asarray(segments.integers == found[segments.row_ids], dtype=bool)
    places = segments.rows[chosen][::-1]
    rows = np.full(segments.count, -1, dtype=np.intp)
    rows[segments.ids[places]] = places
    return rows


def running_sums(segments: Segments, *, skipna: bool) -> Exact:
    """Return the running sum of each row within its group."""
    by_group = np.argsort(segments.row_ids, kind="stable")
    total = np.add.accumulate(segments.integers[by_group])
    before = np.concatenate((np.array([0], dtype=object), total))
    integers = np.full(len(segments.ids), 0, dtype=object)
    starts = np.repeat(before[segments.starts], segments.sizes)
    integers[segments.rows[by_group]] = total - starts
    missing = np.ones(len(segments.ids), dtype=bool)
    missing[segments.rows] = False
    if not skipna:
        first_hole = np.full(segments.count, len(segments.ids))
        holes = np.flatnonzero(segments.amounts.missing & (segments.ids >= 0))
        np.minimum.at(first_hole, segments.ids[holes], holes)
        missing |= np.arange(len(segments.ids)) >= first_hole[segments.ids]
    integers[missing] = 0
    return Exact(integers, missing, segments.amounts.scale)


@dataclass(frozen=True, slots=True)
class Words:
    """n amounts ``integer / 10**scale``, but for the few in `others`."""

    words: npt.NDArray[np.int64]  # n times 2, the lower one first; 0 where missing, and of others
    missing: Mask
    scale: int
    places: Places  # of the others, ascending
    others: Exact

    def exact(self) -> Exact:
        """Make an integer of each."""
        integers, scale = integers_of(self.words), self.scale
        if len(self.places):
            scale = max(scale, self.others.scale)
            integers = rescale(integers, self.scale, scale)
            integers[self.places] = rescale(self.others.integers, self.others.scale, scale)
        return Exact(integers, self.missing, scale)

    def take(self, rows: Places) -> Words:
        """Return those of some rows."""
        marks = np.zeros(len(self.missing), dtype=bool)
        marks[self.places] = True
        places = np.flatnonzero(marks[rows])
        kept, (integers, missing, scale) = np.searchsorted(self.places, rows[places]), self.others
        return replace(
            self,
            words=np.take(self.words, rows, axis=0),
            missing=self.missing[rows],
            places=places,
            others=Exact(integers[kept], missing[kept], scale),
        )


class Added(NamedTuple):
    """The sums of groups, and of each how many of its amounts are known."""

    units: Integers
    scale: int
    sizes: Places


def added(amounts: Exact | Words, ids: Places, count: int) -> Added:
    """Add up groups; `ids` has the group of each row."""
    if isinstance(amounts, Exact):
        segments = Segments(amounts, ids, count)
        return Added(sums(segments), amounts.scale, segments.sizes)
    units, scale = _sums(amounts.words, ids, count), amounts.scale
    if len(amounts.places):
        some = added(amounts.others, ids[amounts.places], count)
        finest = max(scale, some.scale)
        units = rescale(units, scale, finest) + rescale(some.units, some.scale, finest)
        scale = finest
    known = ids[~amounts.missing] if amounts.missing.any() else ids
    return Added(units, scale, np.bincount(known, minlength=count))


def positive(amounts: Exact | Words, least: int = 0) -> Mask:
    """Return which are more than 0, and at least a number of whole units."""
    smallest = max(1, least * POWERS[amounts.scale])
    if isinstance(amounts, Exact):
        return np.asarray(amounts.integers >= smallest, dtype=bool)
    upper, lower = divmod(smallest, 2**64)
    low, high = amounts.words.view(np.uint64)[:, 0], amounts.words[:, 1]
    found: Mask = (high > upper) | ((high == upper) & (low >= lower))
    found[amounts.places] = positive(amounts.others, least)
    return found


def words_from(decimals: pa.Array) -> npt.NDArray[np.int64]:
    """Return the words of Arrow's decimals, which are 128 or 256 bits wide; anything where null."""
    width = decimals.type.byte_width // 8
    words = np.frombuffer(decimals.buffers()[1], dtype=np.int64).reshape(-1, width)
    return words[decimals.offset : decimals.offset + len(decimals)]


def integers_of(words: npt.NDArray[np.int64]) -> Integers:
    """Make Python integers of n rows of words, the lowest first."""
    width = 8 * words.shape[1]
    chunks = np.ascontiguousarray(words[:, ::-1].byteswap()).view(f"V{width}").ravel().tolist()
    integers = np.fromiter(map(int.from_bytes, chunks), object, len(chunks))
    negative = words[:, -1] < 0
    if negative.any():
        integers[negative] -= 1 << 8 * width
    return integers


def _sums(words: npt.NDArray[np.int64], ids: Places, count: int) -> Integers:
    """Add up the quarters of words, and carry what is beyond 32 bits to the next one."""
    sums = np.zeros((len(_QUARTERS), count), dtype=np.int64)
    for start in range(0, len(words), _AT_ONCE):
        some = np.ascontiguousarray(words[start : start + _AT_ONCE])
        for place, kind in enumerate(_QUARTERS):
            weights = some.view(kind)[:, place]
            if weights.any():  # the higher ones are seldom needed
                found = np.bincount(ids[start : start + _AT_ONCE], weights, count)
                sums[place] += found.astype(np.int64)
    for place in range(1, len(_QUARTERS)):
        sums[place] += sums[place - 1] >> 32
    low = sums & 0xFFFFFFFF
    whole = low[0] | low[1] << 32, low[2] | low[3] << 32, sums[3] >> 32
    return integers_of(np.stack(whole, axis=1))


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
        """Return the float64 nearest to each sum, 0 where there was nothing to add."""
        with np.errstate(invalid="ignore"):
            return ratios(self.integers, 1 << -self.exponent) + self.infinite


def float_totals(floats: Floats, ids: Places, count: int) -> FloatTotals:
    """Add up floats other than NaN by group, exactly."""
    rows = np.flatnonzero(~np.isnan(floats))
    floats = floats[rows]
    significands, exponents = float_parts(floats)
    lowest = int(exponents.min(initial=0, where=significands != 0))
    shifts = np.where(significands == 0, 0, exponents - lowest)
    infinite = np.where(np.isinf(floats), floats, 0.0)
    integers = significands * powers_of_two(shifts)
    each = FloatTotals(integers, lowest, infinite, np.ones(len(rows), dtype=np.intp))
    return each.regrouped(ids[rows], count)


def joined_totals(parts: Sequence[FloatTotals]) -> FloatTotals:
    """Concatenate the groups of several."""
    lowest = min((part.exponent for part in parts), default=0)
    integers = [part.integers * (1 << part.exponent - lowest) for part in parts]
    return FloatTotals(
        np.concatenate([np.empty(0, dtype=object), *integers]),
        lowest,
        np.concatenate([np.empty(0), *(part.infinite for part in parts)]),
        np.concatenate([np.empty(0, dtype=np.intp), *(part.sizes for part in parts)]),
    )
