"""Columns of amounts in Dask DataFrames, on this machine and on workers.

This module registers functions with which Dask creates sample amounts, hashes amounts to name
tasks, and moves amounts between workers as pickles or Arrow tables. After the import of this
module, new pickles of amounts can be read only where Dask is installed.
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
    raise MissingExtraError("dask", "the use of amounts in Dask") from _fault

if TYPE_CHECKING:
    import dask.dataframe as dd

_SAMPLES = 200  # number of amounts per partition
_dask_from_table = from_pyarrow_table_dispatch.dispatch(pd.DataFrame)


def divisions(column: dd.Series, npartitions: int | None = None) -> list[Amount]:
    """Return divisions that split a column of amounts into partitions of about equal size.

    Pass the result to ``set_index`` as ``divisions=``. Without this argument, Dask computes
    divisions from inexact floats.

    Parameters
    ----------
    column : dask.dataframe.Series
        A column of amounts, which is computed once. Missing amounts are ignored.
    npartitions : int, optional
        The number of partitions. Default: the number of partitions of the column.

    Returns
    -------
    list of Amount
        At most `npartitions` + 1 amounts. The first is the minimum, and the last is the maximum.

    Raises
    ------
    AmountError
        If the column has no known amounts.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd
    >>> frame = pd.DataFrame({"amount": pd.array(["3", "1", "2"], dtype="amount")})
    >>> frame = dd.from_pandas(frame, npartitions=2)
    >>> frame.set_index("amount", divisions=divisions(frame["amount"])).index.compute().tolist()
    [Amount('1'), Amount('2'), Amount('3')]
    """
    sample = column.map_partitions(_sorted_sample).compute().sort_values()
    if sample.empty:
        raise AmountError("the column has no known amounts, so it has no divisions")
    limits = _take_evenly(sample, (npartitions or column.npartitions) + 1).drop_duplicates()
    return limits.tolist() if len(limits) > 1 else limits.tolist() * 2


def _sorted_sample(column: pd.Series) -> pd.Series:
    ordered = column.dropna().sort_values()
    return _take_evenly(ordered, min(len(ordered), _SAMPLES))


def _take_evenly(ordered: pd.Series, count: int) -> pd.Series:
    return ordered.iloc[np.linspace(0, len(ordered) - 1, count).round().astype(np.intp)]


make_array_nonempty.register(AmountDtype, lambda _: AmountArray.from_raw([1, 15], [0, 1]))
make_scalar.register(Amount, lambda _: Amount(1))


@normalize_token.register(AmountArray)
def _deterministic_content(array: AmountArray) -> tuple[Any, ...]:
    """Return a tuple that has the same hash in all processes."""
    integers, missing, scale = array.exact()
    return "walletframe.amount", scale, missing.tobytes(), pickle.dumps(integers.tolist(), 5)


@from_pyarrow_table_dispatch.register(pd.DataFrame)
def _frame_from_arrow(meta: pd.DataFrame, table: pa.Table, **options: Any) -> pd.DataFrame:
    """Convert a table with Dask's own function, and restore the dtype of amounts in the index."""
    if AmountType() in table.schema.types:
        text = pd.StringDtype("pyarrow")
        texts = [pa.string(), pa.large_string()] if text in meta.dtypes.to_numpy() else []
        options["types_mapper"] = {AmountType(): AmountDtype(), **dict.fromkeys(texts, text)}.get
    return _dask_from_table(meta, table, **options)


def _restore_array(*exact: Any) -> AmountArray:
    return AmountArray(*exact)


# Unpickling on a worker imports this module.
copyreg.pickle(AmountArray, lambda array: (_restore_array, tuple(array.exact())))
