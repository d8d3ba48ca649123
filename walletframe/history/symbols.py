"""Fetches narrowed to the tokens that bear a symbol."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.errors import UnknownTokenError
from walletframe.frames import token_identities

if TYPE_CHECKING:
    from walletframe.frames import WalletDetails


def only(symbol: str | None, *sides: WalletDetails) -> list[WalletDetails]:
    """Leave out all tokens but those that bear a symbol in any of several frames.

    Parameters
    ----------
    symbol : str or None
        As written; None leaves nothing out.
    *sides : WalletDetails
        Several fetches or snapshots.

    Returns
    -------
    list of WalletDetails
        With all wallets; a token that has another symbol in another frame stays.

    Raises
    ------
    UnknownTokenError
        Where no token bears the symbol.
    """
    if symbol is None:
        return list(sides)
    holdings = pd.concat([side.holdings for side in sides], ignore_index=True)
    codes = token_identities(holdings).codes
    wanted = np.isin(codes, codes[(holdings["symbol"] == symbol).to_numpy()])
    if not wanted.any():
        raise UnknownTokenError(symbol)
    parts = np.split(wanted, np.cumsum([len(side.holdings) for side in sides])[:-1])
    return [
        side._replace(holdings=side.holdings[part]) for side, part in zip(sides, parts, strict=True)
    ]
