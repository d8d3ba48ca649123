"""Amounts in Dask's frames, here and on workers.

Dask tries each call on artificial frames before it sees data, names tasks by a hash of their
arguments, and moves rows between workers as pickles or Arrow tables. A pickle of amounts that is
made after this import imports this module: only programs with Dask can read it.
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
_dask_from_table = from_pyarrow_table_dispatch.dispatch(pd.DataFrame)


def divisions(column: dd.Series, npartitions: int | None = None) -> list[Amount]:
    """Choose amounts that divide a column of amounts into parts of about equal size.

    Dask would choose floats, which are not exact; so an index of amounts needs these divisions.

    Parameters
    ----------
    column : dask.dataframe.Series
        Amounts; missing ones don't count. The column is computed once.
    npartitions : int, optional
        The number of parts. Default: the column's number of partitions.

    Returns
    -------
    list of Amount
        The smallest amount, the limits between parts, and the largest: at most `npartitions` + 1.

    Raises
    ------
    AmountError
        If the column has no amounts.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd
    >>> frame = pd.DataFrame({"amount": pd.array(["3", "1", "2"], dtype="amount")})
    >>> frame = dd.from_pandas(frame, npartitions=2)
    >>> frame.set_index("amount", divisions=divisions(frame["amount"])).index.compute().tolist()
    [Amount('1'), Amount('2'), Amount('3')]
    """
    sample = column.map_partitions(_sample).compute().sort_values()
    if sample.empty:
        raise AmountError("the column has no amounts that could divide it")
    limits = _evenly_spaced(sample, (npartitions or column.npartitions) + 1).drop_duplicates()
    return limits.tolist() if len(limits) > 1 else limits.tolist() * 2


def _sample(part: pd.Series) -> pd.Series:
    ordered = part.dropna().sort_values()
    return _evenly_spaced(ordered, min(len(ordered), _SAMPLES))


def _evenly_spaced(ordered: pd.Series, count: int) -> pd.Series:
    return ordered.iloc[np.linspace(0, len(ordered) - 1, count).round().astype(np.intp)]


@make_array_nonempty.register(AmountDtype)
def _two_amounts(_: AmountDtype) -> AmountArray:
    return AmountArray.from_raw([1, 15], [0, 1])


@make_scalar.register(Amount)
def _one_amount(_: Amount) -> Amount:
    return Amount(1)


@normalize_token.register(AmountArray)
def _normalize(array: AmountArray) -> tuple[Any, ...]:
    """Return a token of the array's content that is the same in all processes."""
    integers, missing, scale = array.exact()
    return "walletframe.amount", scale, missing.tobytes(), pickle.dumps(integers.tolist(), 5)


@from_pyarrow_table_dispatch.register(pd.DataFrame)
def _from_table(meta: pd.DataFrame, table: pa.Table, **options: Any) -> pd.DataFrame:
    """Make frames as Dask does, but keep amounts in an index, which Dask converts to text."""
    if AmountType() in table.schema.types:
        text = pd.StringDtype("pyarrow")
        texts = [pa.string(), pa.large_string()] if text in meta.dtypes.to_numpy() else []
        options["types_mapper"] = {AmountType(): AmountDtype(), **dict.fromkeys(texts, text)}.get
    return _dask_from_table(meta, table, **options)


def _restored(*exact: Any) -> AmountArray:
    return AmountArray(*exact)


def _reduced(array: AmountArray) -> tuple[Any, ...]:
    return _restored, tuple(array.exact())


copyreg.pickle(AmountArray, _reduced)  # a worker that is sent amounts imports this module
