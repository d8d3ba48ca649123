"""Tables for readers that don't know amounts: other pandas, DuckDB, polars, spreadsheets of Arrow.

Each column of amounts becomes plain text, which holds every amount, and beside it a decimal of 38
digits, which those readers can sum. pandas's own metadata is left out: it would name a dtype that a
pandas without walletframe doesn't have. Writing the file is the caller's part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from walletframe.amounts.arrow import decimals_from
from walletframe.amounts.dtype import AmountDtype
from walletframe.amounts.integers import POWERS

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.amounts.array import AmountArray

SUFFIX = "_decimal"
"""What the name of a column of decimals ends with, beside the column of text it belongs to."""

_DIGITS = 38
_ETHER_DECIMALS = 18


def to_portable_table(frame: pd.DataFrame, *, decimals: int = _ETHER_DECIMALS) -> pa.Table:
    """Make an Arrow table that opens everywhere, its amounts lossless.

    Parameters
    ----------
    frame : DataFrame, n rows
        Any columns; the index is left out.
    decimals : int, default 18
        The decimals of the columns of decimals, 0 to 38. One number for all files of a set keeps
        their schemas equal.

    Returns
    -------
    pyarrow.Table, n rows
        The frame's columns in their order. A column ``c`` of amounts is large_string, null where
        NA, and is followed by ``c_decimal``, decimal128(38, decimals): null where NA *and where 38
        digits with so many decimals don't hold the amount*, so check its nulls before summing it.
        It is left out where the frame has a column of that name.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"amount": pd.array(["1.5", 2**256 - 1], dtype="amount")})
    >>> to_portable_table(frame)["amount_decimal"].to_pylist()
    [Decimal('1.500000000000000000'), None]
    """
    columns: dict[str, Any] = {}
    for name, series in frame.items():
        if not isinstance(series.dtype, AmountDtype):
            columns[str(name)] = pa.Array.from_pandas(series)
            continue
        amounts = series.array
        columns[str(name)] = amounts.to_arrow()
        if f"{name}{SUFFIX}" not in frame.columns:
            columns[f"{name}{SUFFIX}"] = fitting_decimals(amounts, decimals=decimals)
    return pa.table(columns)


def fitting_decimals(amounts: AmountArray, *, decimals: int = _ETHER_DECIMALS) -> pa.Array:
    """Make decimals of 38 digits of the amounts that they hold exactly, null for the others.

    Parameters
    ----------
    amounts : AmountArray, length n
    decimals : int, default 18
        0 to 38.

    Returns
    -------
    pyarrow.Array, length n, decimal128(38, decimals)
    """
    integers, missing, scale = amounts.exact()
    finer, coarser = POWERS[max(decimals - scale, 0)], POWERS[max(scale - decimals, 0)]
    fits = (integers % coarser == 0) & (np.abs(integers) * finer < POWERS[_DIGITS] * coarser)
    held = np.asarray(fits, dtype=bool) & ~missing
    converted = np.where(held, integers, 0) * finer // coarser
    return decimals_from(converted, ~held, pa.decimal128(_DIGITS, decimals))


def top_positions(amounts: AmountArray, n: int) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Give the positions of the n largest amounts, largest first, equal ones as they stand.

    pandas's ``nlargest`` has no hook for extension arrays and raises on amounts.

    Parameters
    ----------
    amounts : AmountArray, length m
    n : int
        How many; fewer come back where fewer are not missing.

    Returns
    -------
    ndarray of int, shape (min(n, m),)

    Examples
    --------
    >>> import pandas as pd
    >>> top_positions(pd.array(["2", None, "7", "5"], dtype="amount"), 2)
    array([2, 3])
    """
    present = len(amounts) - int(amounts.isna().sum())
    return amounts.argsort(ascending=False)[: min(max(n, 0), present)]
