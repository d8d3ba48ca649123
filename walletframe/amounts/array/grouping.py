"""pandas's groupby of a column of amounts, by the hooks that it offers to array authors.

Without them pandas groups an extension array in Python, group by group. The work itself is in
``segments``; this module turns pandas's names and options into its calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from walletframe.amounts import segments, sorting, statistics
from walletframe.amounts.array.storage import AmountStorage

if TYPE_CHECKING:
    import numpy.typing as npt

    from walletframe.amounts.integers import Floats
    from walletframe.amounts.segments import Segments

_EXACT = {"sum", "min", "max"}
_STATISTICS = {"mean", "median", "var", "std", "sem", "skew", "kurt"}
_SHAPES = {"skew": statistics.skewness, "kurt": statistics.kurtosis}
_RUNNING = {"cumsum", "cummin", "cummax"}


class AmountGrouping(AmountStorage):
    """Grouped reductions, running values, ranks and quantiles."""

    def _groupby_op(
        self,
        *,
        how: str,
        has_dropped_na: bool,  # noqa: ARG002  the group -1 says it as well
        min_count: int,
        ngroups: int,
        ids: npt.NDArray[np.intp],
        **kwargs: Any,
    ) -> Any:
        """Reduce or transform all groups at once (pandas's hook for array authors)."""
        grouped = segments.Segments(self.exact(), ids, ngroups)
        skipna = kwargs.get("skipna", True)
        if how in _EXACT:
            return self._reduced(grouped, how, min_count, skipna=skipna)
        if how in _STATISTICS:
            return _statistics(grouped, how, kwargs.get("ddof", 1), skipna=skipna)
        if how in _RUNNING:
            return type(self)(*segments.running(grouped, how, skipna=skipna))
        if how in {"first", "last"}:
            return self._edges(grouped, how, min_count, skipna=skipna)
        if how in {"any", "all"}:
            return segments.truths(grouped, how, skipna=skipna)
        if how in {"idxmin", "idxmax"}:
            return segments.extreme_rows(grouped, largest=how == "idxmax")
        if how == "rank":
            return _ranks(grouped, **kwargs)
        raise TypeError(f"dtype '{self.dtype}' does not support operation '{how}'")

    def _reduced(self, grouped: Segments, how: str, min_count: int, *, skipna: bool) -> Self:
        if how == "sum":
            integers, needed = segments.sums(grouped), min_count
        else:
            choose = np.minimum if how == "min" else np.maximum
            integers, needed = segments.extremes(grouped, choose), max(1, min_count)
        missing = grouped.sizes < needed
        if not skipna:
            missing |= grouped.holed
        integers[missing] = 0
        return type(self)(integers, missing, grouped.amounts.scale)

    def _edges(self, grouped: Segments, how: str, min_count: int, *, skipna: bool) -> Self:
        rows = segments.edges(grouped, last=how == "last", skipna=skipna)
        rows[grouped.sizes < min_count] = -1
        return self.take(rows, allow_fill=True)

    def _groupby_quantile(
        self, *, qs: Floats, interpolation: str, starts: Any, ends: Any, **_: Any
    ) -> Floats:
        """Give all groups' quantiles, group by group (pandas's hook, from 3.1 on).

        The rows come sorted by group, ``starts`` to ``ends``; the ids that come with them do not.
        """
        ids = np.repeat(np.arange(len(starts)), ends - starts)
        grouped = segments.Segments(self.exact(), ids, len(starts))
        return segments.quantiles(grouped, qs, interpolation).ravel()


def _statistics(grouped: Segments, how: str, ddof: int, *, skipna: bool) -> Floats:
    if how == "mean":
        result = segments.means(grouped)
    elif how == "median":
        result = segments.medians(grouped)
    elif how in _SHAPES:
        result = segments.shapes(grouped, _SHAPES[how])
    else:
        result = segments.spreads(grouped, how, ddof)
    if not skipna:
        result[grouped.holed] = np.nan
    return result


def _ranks(grouped: Segments, *, ties_method: str, **options: Any) -> Floats:
    """Let pandas rank the order that is known exactly."""
    ranks = np.full(len(grouped.ids), np.nan)
    ranks[grouped.rows] = sorting.dense_ranks(grouped.integers, sorting.ascending(grouped.integers))
    keys = np.where(grouped.ids >= 0, grouped.ids, np.nan)
    ranked = pd.Series(ranks).groupby(keys).rank(method=ties_method, **options)
    return ranked.to_numpy()
