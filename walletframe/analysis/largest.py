"""The largest amounts, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pandas.api.types import is_numeric_dtype

from walletframe.amounts import AmountDtype
from walletframe.frames import amounts_of, require_columns

if TYPE_CHECKING:
    import pandas as pd


def top(amounts: pd.Series, n: int = 10) -> pd.Series:
    """Return the largest amounts, exactly, where pandas's ``nlargest`` can't."""
    array = amounts_of(amounts)
    present = len(array) - int(array.isna().sum())
    return amounts.iloc[array.argsort(ascending=False)[: min(max(n, 0), present)]]


def top_rows(frame: pd.DataFrame, n: int = 10, *, by: str = "amount") -> pd.DataFrame:
    """Return the rows with the largest amounts, or with the largest numbers of another column."""
    require_columns(frame, [by])
    column = frame[by].reset_index(drop=True)
    if by == "amount" or isinstance(column.dtype, AmountDtype) or not is_numeric_dtype(column):
        return frame.iloc[top(column, n).index]
    ranked = column.dropna().sort_values(ascending=False, kind="stable")
    return frame.iloc[ranked.index[: max(n, 0)]]
