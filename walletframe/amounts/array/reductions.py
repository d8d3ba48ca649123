"""Sums, extremes, statistics, running values and ranks, of a column and of groups of its rows.

Sums and extremes are exact amounts, statistics are float64. With ``skipna=False`` a missing amount
makes the result missing: NA where an amount would come out, NaN where a float would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
import pandas as pd

from walletframe.amounts import segments, sorting, statistics
from walletframe.amounts.array.storage import AmountStorage
from walletframe.amounts.scalar import Amount

if TYPE_CHECKING:
    from collections.abc import Callable

    from walletframe.amounts.integers import Floats, Integers, Mask, Places
    from walletframe.amounts.segments import Segments

    Statistic: TypeAlias = Callable[..., np.float64]

_EXACT = {"sum", "min", "max"}
_FLOAT = {"mean", "median", "std", "var", "sem", "skew", "kurt"}
_OTHER = {"any", "all", "count", "argmin", "argmax"}
_RUNNING = {"cumsum", "cummin", "cummax"}
_SHAPES = {"skew": statistics.skewness, "kurt": statistics.kurtosis}


def _statistic(compute: Callable[..., float]) -> Any:
    def method(self: AmountReductions, *, skipna: bool = True, **_: Any) -> Any:
        return self._float(compute, skipna=skipna)

    return method


def _spread(name: str) -> Any:
    def method(self: AmountReductions, *, skipna: bool = True, ddof: int = 1, **_: Any) -> Any:
        return self._float(statistics.spread, name, _freedom(ddof), skipna=skipna)

    return method


class AmountReductions(AmountStorage):
    """What pandas and NumPy reduce, accumulate and rank, of a column and of groups of its rows."""

    mean: ClassVar[Statistic] = _statistic(statistics.mean)
    median: ClassVar[Statistic] = _statistic(statistics.median)
    skew: ClassVar[Statistic] = _statistic(statistics.skewness)
    kurt: ClassVar[Statistic] = _statistic(statistics.kurtosis)
    var: ClassVar[Statistic] = _spread("var")
    std: ClassVar[Statistic] = _spread("std")
    sem: ClassVar[Statistic] = _spread("sem")

    def sum(self, *, skipna: bool = True, min_count: int = 0, **_: Any) -> Any:
        """Add up exactly; 0 for no amounts, NA for fewer than ``min_count``."""
        integers, missing, scale = self.exact()
        if not _usable(missing, skipna=skipna) or (~missing).sum() < min_count:
            return pd.NA
        return Amount.of(int(integers.sum()), scale)

    def min(self, *, skipna: bool = True, **_: Any) -> Any:
        """Give the smallest amount; NA for no amounts."""
        return self._extreme(np.min, skipna=skipna)

    def max(self, *, skipna: bool = True, **_: Any) -> Any:
        """Give the largest amount; NA for no amounts."""
        return self._extreme(np.max, skipna=skipna)

    def any(self, *, skipna: bool = True, **_: Any) -> Any:
        """Tell whether there is an amount other than 0; missing ones are neither (Kleene)."""
        return self._nonzero().any(skipna=skipna)

    def all(self, *, skipna: bool = True, **_: Any) -> Any:
        """Tell whether no amount is 0; missing ones are neither (Kleene)."""
        return self._nonzero().all(skipna=skipna)

    def _reduce(
        self, name: str, *, skipna: bool = True, keepdims: bool = False, **kwargs: Any
    ) -> Any:
        """Reduce by name, as every method of Series and DataFrame does."""
        if name not in _EXACT | _FLOAT | _OTHER:
            raise TypeError(f"amounts with dtype {self.dtype} does not support operation '{name}'")
        options = {} if name == "count" else {"skipna": skipna, **kwargs}
        result = getattr(self, name)(**options)
        if not keepdims:
            return result
        if name in _EXACT:
            return self._from_sequence([result])
        return pd.arrays.NumpyExtensionArray(np.array([result]))

    def _accumulate(self, name: str, *, skipna: bool = True, **_: Any) -> Self:
        """Accumulate exactly: cumsum, cummin, cummax."""
        integers, missing, scale = self.exact()
        absent = missing.copy() if skipna else np.logical_or.accumulate(missing)
        return type(self)(_running(name, integers, absent), absent, scale)

    def _quantile(self, qs: Any, interpolation: str) -> Any:
        """Give m quantiles as float64."""
        integers, missing, scale = self.exact()
        return statistics.quantiles(integers[~missing], scale, qs, interpolation)

    def _groupby_op(
        self,
        *,
        how: str,
        has_dropped_na: bool,  # noqa: ARG002  the group -1 says it as well
        min_count: int,
        ngroups: int,
        ids: Places,
        **kwargs: Any,
    ) -> Any:
        """Reduce or transform all groups at once, which pandas would do one by one."""
        grouped = segments.Segments(self.exact(), ids, ngroups)
        skipna = kwargs.get("skipna", True)
        if how in _EXACT:
            return self._reduced(grouped, how, min_count, skipna=skipna)
        if how in _FLOAT:
            return _group_statistics(grouped, how, kwargs.get("ddof", 1), skipna=skipna)
        if how in _RUNNING:
            return type(self)(*segments.running(grouped, how, skipna=skipna))
        if how in {"first", "last"}:
            return self._edges(grouped, how, min_count, skipna=skipna)
        if how in {"any", "all"}:
            return segments.truths(grouped, how, skipna=skipna)
        if how in {"idxmin", "idxmax"}:
            return segments.extreme_rows(grouped, largest=how == "idxmax")
        if how == "rank":
            return _group_ranks(grouped, **kwargs)
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
        """Give all groups' quantiles; the rows come sorted by group, ``starts`` to ``ends``."""
        ids = np.repeat(np.arange(len(starts)), ends - starts)
        grouped = segments.Segments(self.exact(), ids, len(starts))
        return segments.quantiles(grouped, qs, interpolation).ravel()

    def _extreme(self, choose: Callable[[Integers], Any], *, skipna: bool) -> Any:
        integers, missing, scale = self.exact()
        present = integers[~missing]
        if not _usable(missing, skipna=skipna) or not len(present):
            return pd.NA
        return Amount.of(int(choose(present)), scale)

    def _float(self, compute: Callable[..., float], *more: Any, skipna: bool) -> Any:
        integers, missing, scale = self.exact()
        if not _usable(missing, skipna=skipna):
            return np.float64("nan")
        return np.float64(compute(integers[~missing], scale, *more))

    def _nonzero(self) -> pd.arrays.BooleanArray:
        integers, missing, _ = self.exact()
        return pd.arrays.BooleanArray(integers.astype(bool), missing.copy())


def _freedom(ddof: Any) -> Any:
    """Give NumPy's integers and whole floats as Python's integers, which never overflow."""
    return int(ddof) if ddof == int(ddof) else ddof


def _usable(missing: Mask, *, skipna: bool) -> bool:
    return skipna or not missing.any()


def _running(name: str, integers: Integers, missing: Mask) -> Integers:
    if name == "cumsum":
        sums: Integers = np.add.accumulate(integers)
        return np.where(missing, 0, sums) if missing.any() else sums
    if name not in {"cummin", "cummax"}:
        raise TypeError(f"amounts do not support operation '{name}'")
    # An infinite float is smaller or larger than any integer, and never comes out.
    neutral, choose = (np.inf, np.minimum) if name == "cummin" else (-np.inf, np.maximum)
    running = choose.accumulate(np.where(missing, neutral, integers))
    return np.where(missing, 0, running)


def _group_statistics(grouped: Segments, how: str, ddof: int, *, skipna: bool) -> Floats:
    if how == "mean":
        result = segments.means(grouped)
    elif how == "median":
        result = segments.medians(grouped)
    elif how in _SHAPES:
        result = segments.shapes(grouped, _SHAPES[how])
    else:
        result = segments.spreads(grouped, how, _freedom(ddof))
    if not skipna:
        result[grouped.holed] = np.nan
    return result


def _group_ranks(grouped: Segments, *, ties_method: str, **options: Any) -> Floats:
    """Let pandas rank the order that is known exactly."""
    ranks = np.full(len(grouped.ids), np.nan)
    ranks[grouped.rows] = sorting.dense_ranks(grouped.integers, sorting.ascending(grouped.integers))
    keys = np.where(grouped.ids >= 0, grouped.ids, np.nan)
    ranked = pd.Series(ranks).groupby(keys).rank(method=ties_method, **options)
    return ranked.to_numpy()
