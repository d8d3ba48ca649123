"""The column contract: names, order, dtypes and categories, whatever happened."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import pandas as pd

from walletframe.amounts import AmountDtype
from walletframe.wire import Status

SIMULATED: Final = "sandbox"


class Source(StrEnum):
    """Where an answer came from; the categories of the column ``source``."""

    SERVICE = "service"
    CACHE = "cache"
    STALE = "stale"


_TEXT = pd.StringDtype(na_value=float("nan"))


def _category(members: type[StrEnum]) -> pd.CategoricalDtype:
    return pd.CategoricalDtype(pd.Index([member.value for member in members], dtype=_TEXT))


WALLET_DTYPES: Final = {
    "blockchain": _TEXT,
    "address": _TEXT,
    "status": _category(Status),
    "error": _TEXT,
    "tokens": pd.Int64Dtype(),
    "explorer_url": _TEXT,
    "fetched_at": pd.DatetimeTZDtype("us", "UTC"),
    "source": _category(Source),
    "service": _TEXT,
}

HOLDING_DTYPES: Final = {
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
