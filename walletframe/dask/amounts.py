"""Amounts in Dask's frames, here and on workers.

Dask tries each call on made-up frames before it sees data, names tasks by what they are given, and
moves rows between workers as pickles or Arrow tables. What is pickled after this import brings the
import along: such a pickle is read only where Dask is installed.
"""

from __future__ import annotations

import copyreg
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from walletframe.amounts import AmountArray, AmountDtype
from walletframe.amounts.arrow import AmountType
from walletframe.amounts.scalar import Amount
from walletframe.errors import AmountError, MissingExtraError

try:
    from dask.base import normalize_token
    from dask.dataframe.dispatch import from_pyarrow_table_dispatch
    from dask.dataframe.extensions import make_array_nonempty, make_scalar
except ImportError as _fault:
    raise MissingExtraError("dask", "an amount in Dask") from _fault

if TYPE_CHECKING:
    import dask.dataframe as dd

__all__ = ["divisions"]

_SAMPLES = 200  # of each partition
_dasks_own = from_pyarrow_table_dispatch.dispatch(pd.DataFrame)


def divisions(column: dd.Series, npartitions: int | None = None) -> list[Amount]:
    """Choose amounts that cut a column of amounts into parts of about as many rows.

    Dask would choose floats, which are no exact amounts; so an index of amounts needs these.

    Parameters
    ----------
    column : dask.dataframe.Series
        Amounts; missing ones don't count. Its data are read once.
    npartitions : int, optional
        How many parts there should be; as many as the column has unless set.

    Returns
    -------
    list of Amount
        The smallest amount, those between the parts, and the largest: at most `npartitions` + 1.

    Raises
    ------
    AmountError
        If there is no amount.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd
    >>> frame = pd.DataFrame({"amount": pd.array(["3", "1", "2"], dtype="amount")})
    >>> frame = dd.from_pandas(frame, npartitions=2)
    >>> frame.set_index("amount", divisions=divisions(frame["amount"])).index.compute().tolist()
    [Amount('1'), Amount('2'), Amount('3')]
    """
    found = column.map_partitions(_sample).compute().sort_values()
    if found.empty:
        raise AmountError("there is no amount by which rows could be divided")
    chosen = _evenly(found, (npartitions or column.npartitions) + 1).drop_duplicates().tolist()
    return chosen if len(chosen) > 1 else chosen * 2


def _sample(part: pd.Series) -> pd.Series:
    ordered = part.dropna().sort_values()
    return _evenly(ordered, min(len(ordered), _SAMPLES))


def _evenly(ordered: pd.Series, count: int) -> pd.Series:
    places = np.linspace(0, len(ordered) - 1, count).round().astype(np.intp)
    return ordered.iloc[places]


@make_array_nonempty.register(AmountDtype)
def _two_amounts(_: AmountDtype) -> AmountArray:
    return AmountArray.from_raw([1, 15], [0, 1])


@make_scalar.register(Amount)
def _one_amount(_: Amount) -> Amount:
    return Amount(1)


@normalize_token.register(AmountArray)
def _content(array: AmountArray) -> tuple[Any, ...]:
    """Name an array by its content, the same in each process and on each day."""
    integers, missing, scale = array.exact()
    return "walletframe.amount", scale, missing.tobytes(), pickle.dumps(integers.tolist(), 5)


@from_pyarrow_table_dispatch.register(pd.DataFrame)
def _from_table(meta: pd.DataFrame, table: pa.Table, **options: Any) -> pd.DataFrame:
    """Make frames as Dask does, but keep an index of amounts, which its own mapper makes text."""
    if AmountType() in table.schema.types:
        text = pd.StringDtype("pyarrow")
        texts = [pa.string(), pa.large_string()] if text in meta.dtypes.to_numpy() else []
        options["types_mapper"] = {AmountType(): AmountDtype(), **dict.fromkeys(texts, text)}.get
    return _dasks_own(meta, table, **options)


def _restored(*exact: Any) -> AmountArray:
    return AmountArray(*exact)


def _reduced(array: AmountArray) -> tuple[Any, ...]:
    return _restored, tuple(array.exact())


copyreg.pickle(AmountArray, _reduced)  # a worker that is sent amounts imports this module
