"""Frames brought to the column contract, whatever file or notebook they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from walletframe.errors import AmountError, SnapshotError
from walletframe.frames import HOLDING_DTYPES, WALLET_DTYPES, WalletDetails, require_columns

if TYPE_CHECKING:
    from collections.abc import Mapping


def conformed(details: WalletDetails) -> WalletDetails:
    """Give both frames the columns and dtypes of the contract, and no others."""
    wallets, holdings = details
    return WalletDetails(converted(wallets, WALLET_DTYPES), converted(holdings, HOLDING_DTYPES))


def converted(frame: pd.DataFrame, dtypes: Mapping[str, object]) -> pd.DataFrame:
    """Give a frame some columns of some dtypes, and no others."""
    require_columns(frame, dtypes)
    columns = {name: _as(frame[name], dtype) for name, dtype in dtypes.items()}
    return pd.DataFrame(columns).reset_index(drop=True)


def _as(column: pd.Series, dtype: object) -> pd.Series:
    try:
        if not isinstance(dtype, pd.CategoricalDtype):
            return column.astype(dtype)  # type: ignore[call-overload,no-any-return]  # any dtype
        strange = column[column.notna() & ~column.isin(dtype.categories)]
        if strange.empty:
            return column.astype(dtype)
        reason = f"{strange.iloc[0]!r} is not known"
    except AmountError:
        raise
    except (TypeError, ValueError) as fault:
        reason = str(fault)
    raise SnapshotError(
        f"the column {column.name!r} is none of a fetch: {reason}",
        hint="keep the frames as they were fetched",
    )
