"""Sums, extremes, statistics and running values of groups, all groups at once.

The rows of all groups go through NumPy together; results have one entry a group, or one a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from walletframe.amounts import sorting, statistics
from walletframe.amounts.integers import POWERS, Exact, Floats, Integers, Mask, Places, ratios

if TYPE_CHECKING:
    from collections.abc import Callable


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
    def _all(self) -> bool:
        return len(self.rows) == len(self.ids)

    @cached_property
    def row_ids(self) -> Places:
        """The group of each of these rows."""
        return self.ids if self._all else self.ids[self.rows]

    @cached_property
    def integers(self) -> Integers:
        """The integer of each of these rows."""
        return self.amounts.integers if self._all else self.amounts.integers[self.rows]

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
        ascending = sorting.ascending(self.integers)
        return ascending[np.argsort(self.row_ids[ascending], kind="stable")]

    @cached_property
    def starts(self) -> Places:
        """Where each group begins in `sorted_rows`."""
        return np.cumsum(self.sizes) - self.sizes


def sums(segments: Segments) -> Integers:
    """Add up each group; 0 for an empty one."""
    return _added(segments, segments.integers)


def _added(segments: Segments, integers: Integers) -> Integers:
    totals = np.full(segments.count, 0, dtype=object)
    np.add.at(totals, segments.row_ids, integers)
    return totals


def extremes(segments: Segments, choose: np.ufunc) -> Integers:
    """Give the minimum or maximum of each group; 0 for an empty one."""
    # An infinite float is smaller or larger than any integer; no group with rows keeps it.
    neutral = np.inf if choose is np.minimum else -np.inf
    found = np.full(segments.count, neutral, dtype=object)
    choose.at(found, segments.row_ids, segments.integers)
    found[segments.sizes == 0] = 0
    return found


def means(segments: Segments) -> Floats:
    """Give the mean of each group, NaN for an empty one."""
    below = np.maximum(segments.sizes, 1).astype(object) * POWERS[segments.amounts.scale]
    return np.where(segments.sizes > 0, ratios(sums(segments), below), np.nan)


def medians(segments: Segments) -> Floats:
    """Give the median of each group, NaN for an empty one."""
    filled = np.flatnonzero(segments.sizes)
    size, start = segments.sizes[filled], segments.starts[filled]
    low = segments.integers[segments.sorted_rows[start + (size - 1) // 2]]
    high = segments.integers[segments.sorted_rows[start + size // 2]]
    result = np.full(segments.count, np.nan)
    result[filled] = ratios(low + high, 2 * POWERS[segments.amounts.scale])
    return result


def spreads(segments: Segments, name: str, ddof: int) -> Floats:
    """Give the variance ("var"), its root ("std") or the mean's error ("sem") of each group."""
    totals, squares = sums(segments), _added(segments, segments.integers**2)
    unit = POWERS[segments.amounts.scale] ** 2
    groups = zip(segments.sizes.tolist(), totals, squares, strict=True)
    found = (statistics.spread_of(name, *group, unit, ddof) for group in groups)
    return np.fromiter(found, np.float64, segments.count)


def quantiles(segments: Segments, shares: Floats, interpolation: str) -> Floats:
    """Give the quantiles of each group, shape (count, shares), NaN for an empty one."""
    result = np.full((segments.count, len(shares)), np.nan)
    ordered, scale = segments.integers[segments.sorted_rows], segments.amounts.scale
    for group in np.flatnonzero(segments.sizes):
        start = segments.starts[group]
        members = ordered[start : start + segments.sizes[group]]
        result[group] = statistics.quantiles(members, scale, shares, interpolation)
    return result


def shapes(segments: Segments, measure: Callable[[Integers, int], float]) -> Floats:
    """Give a measure of each group's distribution, such as its skewness."""
    ordered, scale = segments.integers[segments.sorted_rows], segments.amounts.scale
    bounds = zip(segments.starts, segments.starts + segments.sizes, strict=True)
    return np.array([measure(ordered[start:stop], scale) for start, stop in bounds], np.float64)


def edges(segments: Segments, *, last: bool, skipna: bool) -> Places:
    """Give the row where each group begins or ends, -1 for an empty one."""
    rows = segments.rows if skipna else np.flatnonzero(segments.ids >= 0)
    found = np.full(segments.count, -1, dtype=np.intp)
    if not last:
        rows = rows[::-1]
    found[segments.ids[rows]] = rows  # of several rows the last one written stays
    return found


def truths(segments: Segments, name: str, *, skipna: bool) -> Mask:
    """Tell of each group whether "any" or "all" of its amounts are other than 0.

    With ``skipna=False`` a missing amount is other than 0, as NaN is in pandas.
    """
    zero = np.asarray(segments.integers == 0, dtype=bool)
    if name == "all":
        return np.asarray(np.bincount(segments.row_ids[zero], minlength=segments.count) == 0)
    found = np.bincount(segments.row_ids[~zero], minlength=segments.count) > 0
    return np.asarray(found if skipna else found | segments.holed)


def extreme_rows(segments: Segments, *, largest: bool) -> Places:
    """Give the first row with each group's minimum or maximum, -1 for an empty one."""
    found = extremes(segments, np.maximum if largest else np.minimum)
    places = segments.rows[np.asarray(segments.integers == found[segments.row_ids], dtype=bool)][
        ::-1
    ]
    rows = np.full(segments.count, -1, dtype=np.intp)
    rows[segments.ids[places]] = places
    return rows


def running(segments: Segments, name: str, *, skipna: bool) -> Exact:
    """Give the running sum, minimum or maximum of each row within its group."""
    by_group = np.argsort(segments.row_ids, kind="stable")
    integers = np.full(len(segments.ids), 0, dtype=object)
    integers[segments.rows[by_group]] = (
        _running_sums(segments, by_group)
        if name == "cumsum"
        else _running_extremes(segments, by_group, smallest=name == "cummin")
    )
    missing = np.ones(len(segments.ids), dtype=bool)
    missing[segments.rows] = False
    if not skipna:
        first_hole = np.full(segments.count, len(segments.ids))
        holes = np.flatnonzero(segments.amounts.missing & (segments.ids >= 0))
        np.minimum.at(first_hole, segments.ids[holes], holes)
        missing |= np.arange(len(segments.ids)) >= first_hole[segments.ids]
    integers[missing] = 0
    return Exact(integers, missing, segments.amounts.scale)


def _running_sums(segments: Segments, by_group: Places) -> Integers:
    total = np.add.accumulate(segments.integers[by_group])
    before = np.concatenate((np.array([0], dtype=object), total))
    running_sums: Integers = total - np.repeat(before[segments.starts], segments.sizes)
    return running_sums


def _running_extremes(segments: Segments, by_group: Places, *, smallest: bool) -> Integers:
    """Let the group's number lead the rank, so that one running maximum starts anew in each."""
    ranks = sorting.dense_ranks(segments.integers, sorting.ascending(segments.integers))
    wide = len(ranks) + 1
    if smallest:
        ranks = len(ranks) - ranks
    by_rank = np.full(wide, 0, dtype=object)
    by_rank[ranks] = segments.integers
    keys = segments.row_ids[by_group] * wide + ranks[by_group]
    best: Integers = by_rank[np.maximum.accumulate(keys) % wide]
    return best
