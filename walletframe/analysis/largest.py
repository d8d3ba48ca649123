"""The largest amounts, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pandas.api.types import is_numeric_dtype

from walletframe.amounts import AmountDtype
from walletframe.analysis.positions import amounts_of
from walletframe.frames import require_columns

if TYPE_CHECKING:
    import pandas as pd


def top(amounts: pd.Series, n: int = 10) -> pd.Series:
    """Return the largest amounts, exactly, where pandas's ``nlargest`` can't.

    Parameters
    ----------
    amounts : Series
        Of dtype amount.
    n : int, default 10
        How many.

    Returns
    -------
    Series
        At most `n` amounts, the largest first, equal ones in their order; no NA.

    Raises
    ------
    AmountError
        Where the values are no amounts.

    Examples
    --------
    >>> import pandas as pd
    >>> top(pd.Series(["2", "7", None], dtype="amount"), 1).tolist()
    [Amount('7')]
    """
    array = amounts_of(amounts)
    present = len(array) - int(array.isna().sum())
    return amounts.iloc[array.argsort(ascending=False)[: min(max(n, 0), present)]]


def top_rows(frame: pd.DataFrame, n: int = 10, *, by: str = "amount") -> pd.DataFrame:
    """Return the rows with the largest amounts, or with the largest numbers of another column.

    Parameters
    ----------
    frame : DataFrame
        Rows with a column of amounts or numbers.
    n : int, default 10
        How many.
    by : str, default "amount"
        The column, such as ``"value"``. Floats in the column ``amount`` are refused: they have
        lost digits already.

    Returns
    -------
    DataFrame
        At most `n` rows, the largest first, equal ones in their order; no NA.

    Raises
    ------
    ColumnsError
        Where the column is missing.
    AmountError
        Where its values are neither amounts nor numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"amount": pd.array(["2", "7"], dtype="amount")})
    >>> top_rows(frame, 1).index.tolist()
    [1]
    """
    require_columns(frame, [by])
    column = frame[by].reset_index(drop=True)
    if by == "amount" or isinstance(column.dtype, AmountDtype) or not is_numeric_dtype(column):
        return frame.iloc[top(column, n).index]
    ranked = column.dropna().sort_values(ascending=False, kind="stable")
    return frame.iloc[ranked.index[: max(n, 0)]]
