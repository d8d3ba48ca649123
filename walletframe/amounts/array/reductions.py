"""One value out of a column, or a running one: sums, extremes and statistics.

Sums and extremes are exact amounts, statistics are float64 (see ``statistics``). A missing amount
is left out, or makes the result missing with ``skipna=False``: NA where an amount would come out,
NaN where a float would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from walletframe.amounts import statistics
from walletframe.amounts.array.storage import AmountStorage
from walletframe.amounts.scalar import Amount

if TYPE_CHECKING:
    from collections.abc import Callable

    from walletframe.amounts.integers import Integers, Mask

_EXACT = {"sum", "min", "max"}
_FLOAT = {"mean", "median", "std", "var", "sem", "skew", "kurt"}
_OTHER = {"any", "all", "count"}


class AmountReductions(AmountStorage):
    """The reductions and accumulations that pandas and NumPy ask a column of amounts for."""

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

    def mean(self, *, skipna: bool = True, **_: Any) -> Any:
        """Give the mean as the nearest float64; NaN for no amounts."""
        return self._statistic(statistics.mean, skipna=skipna)

    def median(self, *, skipna: bool = True, **_: Any) -> Any:
        """Give the median as the nearest float64; NaN for no amounts."""
        return self._statistic(statistics.median, skipna=skipna)

    def var(self, *, skipna: bool = True, ddof: int = 1, **_: Any) -> Any:
        """Give the variance as the nearest float64; NaN for too few amounts."""
        return self._statistic(statistics.variance, ddof, skipna=skipna)

    def std(self, *, skipna: bool = True, ddof: int = 1, **_: Any) -> Any:
        """Give the standard deviation as the nearest float64; NaN for too few amounts."""
        return self._statistic(statistics.deviation, ddof, skipna=skipna)

    def sem(self, *, skipna: bool = True, ddof: int = 1, **_: Any) -> Any:
        """Give the standard error of the mean as the nearest float64; NaN for too few amounts."""
        return self._statistic(statistics.standard_error, ddof, skipna=skipna)

    def skew(self, *, skipna: bool = True, **_: Any) -> Any:
        """Give pandas's skewness as the nearest float64; NaN for fewer than 3 amounts."""
        return self._statistic(statistics.skewness, skipna=skipna)

    def kurt(self, *, skipna: bool = True, **_: Any) -> Any:
        """Give pandas's kurtosis as the nearest float64; NaN for fewer than 4 amounts."""
        return self._statistic(statistics.kurtosis, skipna=skipna)

    def _reduce(
        self, name: str, *, skipna: bool = True, keepdims: bool = False, **kwargs: Any
    ) -> Any:
        """Reduce by name (pandas's hook behind every method of Series and DataFrame)."""
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
        """Accumulate exactly by name (pandas's hook behind cumsum, cummin and cummax)."""
        integers, missing, scale = self.exact()
        absent = missing.copy() if skipna else np.logical_or.accumulate(missing)
        return type(self)(_running(name, integers, absent), absent, scale)

    def _quantile(self, qs: Any, interpolation: str) -> Any:
        """Give quantiles as float64, shape (m,) (pandas's hook behind quantile)."""
        integers, missing, scale = self.exact()
        return statistics.quantiles(integers[~missing], scale, qs, interpolation)

    def _extreme(self, choose: Callable[[Integers], Any], *, skipna: bool) -> Any:
        integers, missing, scale = self.exact()
        present = integers[~missing]
        if not _usable(missing, skipna=skipna) or not len(present):
            return pd.NA
        return Amount.of(int(choose(present)), scale)

    def _statistic(self, compute: Callable[..., float], *more: int, skipna: bool) -> Any:
        integers, missing, scale = self.exact()
        if not _usable(missing, skipna=skipna):
            return np.float64("nan")
        return np.float64(compute(integers[~missing], scale, *more))

    def _nonzero(self) -> pd.arrays.BooleanArray:
        integers, missing, _ = self.exact()
        return pd.arrays.BooleanArray(integers.astype(bool), missing.copy())


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
