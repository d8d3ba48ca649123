"""Conversion of object columns to amounts, exact changes, and exact rolling sums and means."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from walletframe.amounts.array import AmountArray, AmountDtype
from walletframe.amounts.arrow import AmountType
from walletframe.amounts.integers import POWERS_OF_TEN, ratios, zero_missing
from walletframe.errors import AmountError, ArgumentError

if TYPE_CHECKING:
    from walletframe.amounts.integers import Floats, Integers

Data = TypeVar("Data", pd.DataFrame, pd.Series)


def as_amounts(data: Data) -> Data:
    """Convert columns of Decimal objects back to the dtype ``amount``.

    Some functions of pandas return columns of Decimal objects, for example ``apply(axis=1)``,
    ``transform`` and ``agg`` with several functions. Python rounds sums of Decimals to 28 digits.

    Parameters
    ----------
    data : DataFrame or Series
        The columns. Columns of objects are converted if they contain an amount or a Decimal.
        Columns of amounts from ``read_parquet(dtype_backend="pyarrow")`` are converted, too.

    Returns
    -------
    DataFrame or Series
        A copy with the converted columns. None, NaN and NA become missing amounts.

    Raises
    ------
    AmountError
        If a column of amounts also contains other values, such as floats or text.
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
        return _convert_if_amounts(data)
    if not isinstance(data, pd.DataFrame):
        raise ArgumentError(
            f"as_amounts needs a DataFrame or a Series, not a value of type {type(data).__name__}",
            hint='to convert a list, use pd.array(values, dtype="amount")',
        )
    result = data.copy()
    for position in range(data.shape[1]):
        result.isetitem(position, _convert_if_amounts(data.iloc[:, position]).array)
    return result


def _convert_if_amounts(column: pd.Series) -> pd.Series:
    if isinstance(column.dtype, pd.ArrowDtype):
        has_amounts = isinstance(column.dtype.pyarrow_dtype, AmountType)
    else:
        has_amounts = column.dtype == object and any(isinstance(v, Decimal) for v in column)
    if not has_amounts:
        return column.copy()
    try:
        return column.astype(AmountDtype())
    except AmountError as fault:
        message = f"in the column {column.name!r}: {fault.message}"
        raise type(fault)(message, hint=fault.hint) from None


def pct_change(amounts: pd.Series, periods: int = 1) -> pd.Series:
    """Return the change from an earlier row, divided by the earlier amount.

    Parameters
    ----------
    periods : int, default 1
        The distance to the earlier row, in rows. A negative distance means a later row.

    Returns
    -------
    Series
        The float64 nearest to each exact change. A change is NaN if an amount is missing, or both
        amounts are 0. If only the earlier amount is 0, the change is infinite.

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
    """Rolling windows over a column of amounts. Each row is the end of one window.

    Parameters
    ----------
    amounts : Series
        A column of amounts.
    window : int
        The number of rows in a window.
    min_periods : int, optional
        The minimum number of known amounts in a window. The default is `window`.

    Raises
    ------
    AmountError
        Raised by the methods if the values are not amounts.
    ValueError
        Raised by the methods if `window` is negative, less than `min_periods`, or not an integer.

    Examples
    --------
    >>> import walletframe
    >>> series = pd.Series(["0.1", "0.2", "0.3"], dtype="amount")
    >>> series.wf.rolling(2).sum().tolist()
    [<NA>, Amount('0.3'), Amount('0.5')]
    >>> series.wf.rolling(2).mean().tolist()
    [nan, 0.15, 0.25]
    """

    amounts: pd.Series
    window: int
    min_periods: int | None = None

    def sum(self) -> pd.Series:
        """Return the exact sum of each window.

        Returns
        -------
        Series
            Amounts with the same index. A sum of fewer than `min_periods` known amounts is NA.

        Raises
        ------
        AmountError
            If the values are not amounts.
        """
        totals, counts, scale = self._sums_counts_and_scale()
        exact = zero_missing(totals, np.isnan(counts), scale)
        return self._to_series(AmountArray(*exact))

    def mean(self) -> pd.Series:
        """Return the float64 nearest to the mean of each window.

        Returns
        -------
        Series
            float64 with the same index. The mean of no or too few known amounts is NaN.

        Raises
        ------
        AmountError
            If the values are not amounts.
        """
        totals, counts, scale = self._sums_counts_and_scale()
        divisors = np.fmax(counts, 1).astype(np.intp).astype(object) * POWERS_OF_TEN[scale]
        return self._to_series(np.where(counts > 0, ratios(totals, divisors), np.nan))

    def _sums_counts_and_scale(self) -> tuple[Integers, Floats, int]:
        """Return unscaled sums, counts and the scale. Counts below `min_periods` become NaN."""
        array: Any = self.amounts.astype(AmountDtype()).array
        integers, missing, scale = array.exact()
        present = pd.Series(np.where(missing, np.nan, 1.0))
        counts = present.rolling(self.window, self.min_periods).sum().to_numpy()
        running = np.append(np.array([0], dtype=object), np.add.accumulate(integers))
        starts = np.maximum(np.arange(len(integers)) + 1 - self.window, 0)
        return running[1:] - running[starts], counts, scale

    def _to_series(self, values: Any) -> pd.Series:
        return pd.Series(values, index=self.amounts.index, name=self.amounts.name)
