"""Conversion of object columns to amounts; exact changes, and sums and means of windows."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from walletframe.amounts.array import AmountArray, AmountDtype
from walletframe.amounts.arrow import AmountType
from walletframe.amounts.integers import POWERS, ratios
from walletframe.errors import AmountError, ArgumentError

if TYPE_CHECKING:
    from walletframe.amounts.integers import Floats, Integers

Data = TypeVar("Data", pd.DataFrame, pd.Series)


def as_amounts(data: Data) -> Data:
    """Convert columns of Decimal objects back to the dtype ``amount``.

    Some of pandas's functions return Decimal objects, such as ``apply(axis=1)``, ``agg`` with
    several functions, ``transform`` and ``stack``; their sums would be rounded to 28 digits.

    Parameters
    ----------
    data : DataFrame or Series
        Columns of objects with at least one amount or Decimal are converted, and columns of
        amounts that ``read_parquet(dtype_backend="pyarrow")`` returns; the others stay.

    Returns
    -------
    DataFrame or Series
        A copy; None, NaN and NA are missing.

    Raises
    ------
    AmountError
        If a column has amounts and other values, such as floats or text.
    ArgumentError
        If `data` is neither a DataFrame nor a Series.

    Examples
    --------
    >>> import walletframe as wf
    >>> series = pd.Series(["1.5", "2"], dtype="amount")
    >>> wf.as_amounts(series.agg(["sum", "max"])).dtype
    AmountDtype()
    """
    if isinstance(data, pd.Series):
        return _converted(data)
    if not isinstance(data, pd.DataFrame):
        raise ArgumentError(
            f"as_amounts takes a DataFrame or a Series, not a value of type {type(data).__name__}",
            hint='to convert a list, use pd.array(values, dtype="amount")',
        )
    result = data.copy()
    for position in range(data.shape[1]):
        result.isetitem(position, _converted(data.iloc[:, position]).array)
    return result


def _converted(column: pd.Series) -> pd.Series:
    if isinstance(column.dtype, pd.ArrowDtype):
        holds_amounts = isinstance(column.dtype.pyarrow_dtype, AmountType)
    else:
        holds_amounts = column.dtype == object and any(isinstance(v, Decimal) for v in column)
    if not holds_amounts:
        return column.copy()
    try:
        return column.astype(AmountDtype())
    except AmountError as fault:
        message = f"in column {column.name!r}: {fault.message}"
        raise type(fault)(message, hint=fault.hint) from None


def pct_change(amounts: pd.Series, periods: int = 1) -> pd.Series:
    """Return the change from an earlier row, as a share of its amount, rounded once.

    Parameters
    ----------
    periods : int, default 1
        The number of rows between; if negative, the change is from a later row.

    Returns
    -------
    Series
        float64, the nearest to the exact change; NaN if an amount is missing or both are 0,
        infinite if only the starting amount is 0.

    Raises
    ------
    AmountError
        If the values are not amounts.

    Examples
    --------
    >>> import walletframe
    >>> pd.Series(["3", "3.000000003"], dtype="amount").wf.pct_change().iloc[1].item()
    1e-09
    """
    amounts = amounts.astype(AmountDtype())
    before = amounts.shift(periods)
    return (amounts - before) / before


@dataclass(frozen=True, slots=True)
class Rolling:
    """Windows of n rows that end at each row: exact sums, and means rounded once.

    Parameters
    ----------
    amounts : Series
        A column of amounts.
    window : int
        The number of rows in a window.
    min_periods : int, optional
        The number of amounts that a window needs; `window` unless set.

    Raises
    ------
    AmountError
        From each method, if the values are not amounts.
    ValueError
        From each method, if the window is not an integer from 0, or smaller than `min_periods`.

    Examples
    --------
    >>> import walletframe
    >>> series = pd.Series(["0.1", "0.2", "0.3"], dtype="amount")
    >>> series.wf.rolling(2).sum().tolist()
    [<NA>, Amount('0.3'), Amount('0.5')]
    """

    amounts: pd.Series
    window: int
    min_periods: int | None = None

    def sum(self) -> pd.Series:
        """Return the exact sum of each window.

        Returns
        -------
        Series
            Amounts on the same index, NA if a window has too few amounts.

        Raises
        ------
        AmountError
            If the values are not amounts.

        Examples
        --------
        >>> Rolling(pd.Series([1, 2, 4], dtype="amount"), 2).sum().tolist()
        [<NA>, Amount('3'), Amount('6')]
        """
        totals, counts, scale = self._totals()
        missing = np.isnan(counts)
        totals[missing] = 0
        return self._series(AmountArray(totals, missing, scale))

    def mean(self) -> pd.Series:
        """Return the mean of each window, as the nearest float64.

        Returns
        -------
        Series
            float64 on the same index, NaN if a window has too few amounts.

        Raises
        ------
        AmountError
            If the values are not amounts.

        Examples
        --------
        >>> Rolling(pd.Series([1, 2, 4], dtype="amount"), 2).mean().tolist()
        [nan, 1.5, 3.0]
        """
        totals, counts, scale = self._totals()
        means = ratios(totals, np.fmax(counts, 1).astype(np.intp).astype(object) * POWERS[scale])
        return self._series(np.where(counts > 0, means, np.nan))

    def _totals(self) -> tuple[Integers, Floats, int]:
        """Return each window's sum and count, NaN if it has too few amounts, and the scale."""
        array: Any = self.amounts.astype(AmountDtype()).array
        integers, missing, scale = array.exact()
        present = pd.Series(np.where(missing, np.nan, 1.0))
        counts = present.rolling(self.window, self.min_periods).sum().to_numpy()
        running = np.append(np.array([0], dtype=object), np.add.accumulate(integers))
        starts = np.maximum(np.arange(len(integers)) + 1 - self.window, 0)
        return running[1:] - running[starts], counts, scale

    def _series(self, values: Any) -> pd.Series:
        return pd.Series(values, index=self.amounts.index, name=self.amounts.name)
