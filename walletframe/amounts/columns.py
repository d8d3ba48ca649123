"""What pandas computes of a column by floats, rounded once; and amounts made of objects again."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from walletframe.amounts import sorting, statistics
from walletframe.amounts.array import AmountArray
from walletframe.amounts.dtype import AmountDtype, AmountType
from walletframe.amounts.floats import float_integers
from walletframe.amounts.integers import POWERS, Exact, Integers, Mask, ratios
from walletframe.errors import AmountError

if TYPE_CHECKING:
    from typing import Literal

    Method = Literal["pearson", "spearman", "kendall"]

Data = TypeVar("Data", pd.DataFrame, pd.Series)


def as_amounts(data: Data) -> Data:
    """Give columns of objects that hold amounts the dtype ``amount`` again.

    Some of pandas's functions give Decimal objects, such as ``apply(axis=1)``, ``agg`` with several
    functions, ``transform`` and ``stack``; sums of them would be rounded to 28 digits.

    Parameters
    ----------
    data : DataFrame or Series
        Columns of objects with at least one amount or Decimal are converted, and those that
        ``read_parquet(dtype_backend="pyarrow")`` leaves to Arrow; the others stay.

    Returns
    -------
    DataFrame or Series
        A copy; None, NaN and NA are missing.

    Raises
    ------
    AmountError
        If amounts stand beside something else, such as floats or text, in one column.

    Examples
    --------
    >>> import walletframe as wf
    >>> series = pd.Series(["1.5", "2"], dtype="amount")
    >>> wf.as_amounts(series.agg(["sum", "max"])).dtype
    AmountDtype()
    """
    if isinstance(data, pd.Series):
        return _converted(data)
    result = data.copy()
    for place in range(data.shape[1]):
        result.isetitem(place, _converted(data.iloc[:, place]).array)
    return result


def _converted(column: pd.Series) -> pd.Series:
    if not _of_arrow(column.dtype) and not _of_objects(column):
        return column.copy()
    try:
        return column.astype(AmountDtype())
    except AmountError as fault:
        refused = type(fault)(f"in column {column.name!r}: {fault.message}", hint=fault.hint)
    raise refused


def _of_arrow(dtype: Any) -> bool:
    return isinstance(dtype, pd.ArrowDtype) and isinstance(dtype.pyarrow_dtype, AmountType)


def _of_objects(column: pd.Series) -> bool:
    return column.dtype == object and any(isinstance(value, Decimal) for value in column)


def pct_change(amounts: pd.Series, periods: int = 1) -> pd.Series:
    """Give each amount's change against an earlier one, as a share of that."""
    amounts = amounts.astype(AmountDtype())
    before = amounts.shift(periods)
    return (amounts - before) / before


def corr(amounts: pd.Series, other: pd.Series, method: Method = "pearson") -> float:
    """Give the correlation of the rows that both have."""
    if method not in {"pearson", "spearman", "kendall"}:
        raise AmountError(f"no correlation is called {method!r}", hint="pearson, spearman, kendall")
    ours, theirs, _ = _paired(amounts, other)
    if method == "pearson":
        return statistics.correlation(ours, theirs)
    ranks = pd.DataFrame({"ours": _ranks(ours), "theirs": _ranks(theirs)})
    if method == "kendall":
        return float(ranks.corr("kendall").to_numpy()[0, 1])
    doubled = (2 * ranks.rank()).astype(int).astype(object)
    return statistics.correlation(doubled["ours"].to_numpy(), doubled["theirs"].to_numpy())


def cov(amounts: pd.Series, other: pd.Series, ddof: int = 1) -> float:
    """Give the covariance of the rows that both have."""
    ours, theirs, unit = _paired(amounts, other)
    return statistics.covariance(ours, theirs, unit, ddof)


def _paired(amounts: pd.Series, other: pd.Series) -> tuple[Integers, Integers, Fraction]:
    """Give two columns of integers without gaps, and what a product of their units is worth."""
    left, right = amounts.astype(AmountDtype()).align(other, join="inner")
    ours, our_gaps, our_unit = _integers(left)
    theirs, their_gaps, their_unit = _integers(right)
    kept = ~(our_gaps | their_gaps)
    return ours[kept], theirs[kept], our_unit * their_unit


def _integers(numbers: pd.Series) -> tuple[Integers, Mask, Fraction]:
    """Give amounts, integers or floats, to the last bit, as integers of one unit."""
    if numbers.dtype != "amount" and numbers.dtype.kind == "f":
        floats = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isinf(floats).any():
            raise AmountError("an infinite number has no correlation", hint="leave it out")
        integers, exponent = float_integers(floats)
        return integers, np.isnan(floats), Fraction(2) ** exponent
    array: Any = numbers.astype(AmountDtype()).array
    exact = array.exact()
    return exact.integers, exact.missing, Fraction(1, POWERS[exact.scale])


def _ranks(integers: Integers) -> Any:
    return sorting.dense_ranks(integers, sorting.ascending(integers))


@dataclass(frozen=True, slots=True)
class Rolling:
    """Windows of n rows that end at each row of a column of amounts.

    Parameters
    ----------
    amounts : Series
        Of amounts.
    window : int
        How many rows a window has.
    min_periods : int, optional
        How many of them have to be there, not missing; `window` unless set.

    Raises
    ------
    AmountError
        From each method, if the values are no amounts.
    ValueError
        From each method, if the window is no whole number from 0, or smaller than `min_periods`.

    Examples
    --------
    >>> series = pd.Series(["0.1", "0.2", "0.3"], dtype="amount")
    >>> Rolling(series, 2).sum().tolist()
    [<NA>, Amount('0.3'), Amount('0.5')]
    """

    amounts: pd.Series
    window: int
    min_periods: int | None = None

    def sum(self) -> pd.Series:
        """Add up each window, exactly.

        Returns
        -------
        Series
            Amounts on the same index, NA where a window is not full.

        Raises
        ------
        AmountError
            If the values are no amounts.

        Examples
        --------
        >>> Rolling(pd.Series([1, 2, 4], dtype="amount"), 2).sum().tolist()
        [<NA>, Amount('3'), Amount('6')]
        """
        totals, counts, scale = self._totals()
        short = counts < self._needed()
        totals[short] = 0
        return self._series(AmountArray(totals, short, scale))

    def mean(self) -> pd.Series:
        """Give the mean of each window, the float64 nearest to it.

        Returns
        -------
        Series
            float64 on the same index, NaN where a window is not full.

        Raises
        ------
        AmountError
            If the values are no amounts.

        Examples
        --------
        >>> Rolling(pd.Series([1, 2, 4], dtype="amount"), 2).mean().tolist()
        [nan, 1.5, 3.0]
        """
        totals, counts, scale = self._totals()
        means = ratios(totals, np.maximum(counts, 1).astype(object) * POWERS[scale])
        return self._series(np.where(counts < max(self._needed(), 1), np.nan, means))

    def min(self) -> pd.Series:
        """Give the smallest amount of each window.

        Returns
        -------
        Series
            Amounts on the same index, NA where a window is not full.

        Raises
        ------
        AmountError
            If the values are no amounts.

        Examples
        --------
        >>> Rolling(pd.Series([1, 2, 4], dtype="amount"), 2).min().tolist()
        [<NA>, Amount('1'), Amount('2')]
        """
        return self._extremes("min")

    def max(self) -> pd.Series:
        """Give the largest amount of each window.

        Returns
        -------
        Series
            Amounts on the same index, NA where a window is not full.

        Raises
        ------
        AmountError
            If the values are no amounts.

        Examples
        --------
        >>> Rolling(pd.Series([1, 2, 4], dtype="amount"), 2).max().tolist()
        [<NA>, Amount('2'), Amount('4')]
        """
        return self._extremes("max")

    def _exact(self) -> Exact:
        array: Any = self.amounts.astype(AmountDtype()).array
        exact: Exact = array.exact()
        return exact

    def _needed(self) -> int:
        return self.window if self.min_periods is None else self.min_periods

    def _windows(self, values: Any) -> pd.api.typing.Rolling[pd.Series]:
        """Let pandas check the window, and look through numbers that it knows."""
        return pd.Series(values, dtype=np.float64).rolling(self.window, self.min_periods)

    def _totals(self) -> tuple[Integers, Any, int]:
        """Give each window's sum of integers and its number of amounts, and the scale."""
        integers, missing, scale = self._exact()
        self._windows([0.0])  # pandas checks no window of an empty Series
        starts = np.maximum(np.arange(len(integers)) + 1 - self.window, 0)
        sums = np.append(np.array([0], dtype=object), np.add.accumulate(integers))
        counts = np.append(0, np.cumsum(~missing))
        return sums[1:] - sums[starts], counts[1:] - counts[starts], scale

    def _extremes(self, name: str) -> pd.Series:
        """Let pandas find the rank of each window's extreme."""
        integers, missing, scale = self._exact()
        ranks = _ranks(integers)
        by_rank = np.full(len(integers), 0, dtype=object)
        by_rank[ranks] = integers
        found = getattr(self._windows(np.where(missing, np.nan, ranks)), name)().to_numpy()
        absent = np.isnan(found)
        chosen = by_rank[np.where(absent, 0, found).astype(np.intp)]
        chosen[absent] = 0
        return self._series(AmountArray(chosen, absent, scale))

    def _series(self, values: Any) -> pd.Series:
        return pd.Series(values, index=self.amounts.index, name=self.amounts.name)
