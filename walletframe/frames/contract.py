"""The column contract: names, order, dtypes and categories, whatever happened."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from walletframe.amounts import AmountDtype
from walletframe.errors import ColumnsError
from walletframe.wire import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SIMULATED: Final = "sandbox"


class Source(StrEnum):
    """Where an answer came from; the categories of the column ``source``."""

    SERVICE = "service"
    CACHE = "cache"
    STALE = "stale"


_TEXT = pd.StringDtype(na_value=float("nan"))


def category_of(members: type[StrEnum]) -> pd.CategoricalDtype:
    """Return the dtype of a column that holds one of a few words.

    Parameters
    ----------
    members : type of StrEnum
        The words; all of them are categories, whatever the column holds.

    Returns
    -------
    CategoricalDtype
        Of text, in the order of the members.
    """
    return pd.CategoricalDtype(pd.Index([member.value for member in members], dtype=_TEXT))


def typed_frame(
    columns: Mapping[str, Any], dtypes: Mapping[str, Any], index: pd.Index | None = None
) -> pd.DataFrame:
    """Build a DataFrame that keeps to a contract.

    Parameters
    ----------
    columns : mapping of str to sequence
        n values for each name of the contract; None for what is missing.
    dtypes : mapping of str to dtype
        The contract: names in their order.
    index : Index, optional
        The labels of the n rows; from 0 where not given.

    Returns
    -------
    DataFrame
        With n rows, none included.

    Examples
    --------
    >>> typed_frame({"n": [1, None]}, {"n": pd.Int64Dtype()})["n"].isna().tolist()
    [False, True]
    """
    arrays = {name: pd.array(columns[name], dtype=dtype) for name, dtype in dtypes.items()}
    return pd.DataFrame(arrays, index=index)


def require_columns(frame: pd.DataFrame, names: Iterable[str]) -> None:
    """Say which columns a frame lacks.

    Parameters
    ----------
    frame : DataFrame
        Any.
    names : iterable of str
        The columns that are needed.

    Raises
    ------
    ColumnsError
        Naming all that are missing.
    """
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise ColumnsError(missing, [str(name) for name in frame.columns])


WALLET_DTYPES: Final = {
    "blockchain": _TEXT,
    "address": _TEXT,
    "status": category_of(Status),
    "error": _TEXT,
    "tokens": pd.Int64Dtype(),
    "explorer_url": _TEXT,
    "fetched_at": pd.DatetimeTZDtype("us", "UTC"),
    "source": category_of(Source),
    "service": _TEXT,
}

HOLDING_DTYPES: Final[dict[str, Any]] = {
    "blockchain": _TEXT,
    "address": _TEXT,
    "symbol": _TEXT,
    "token_address": _TEXT,
    "amount": AmountDtype(),
    "decimals": pd.Int16Dtype(),
    "raw_amount": _TEXT,
    "token_blockchain": _TEXT,
    "price": "float64",
}
