"""Fetches narrowed to one token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.frames import find_token

if TYPE_CHECKING:
    from walletframe.frames import TokenLike, WalletDetails


def only(token: TokenLike | None, *sides: WalletDetails) -> list[WalletDetails]:
    """Leave out all tokens but one.

    Parameters
    ----------
    token : str or (str, str or None), optional
        (blockchain, contract), None for a native coin; or a symbol that one token alone bears in
        all of the frames. None leaves nothing out.
    *sides : WalletDetails
        Several fetches or snapshots.

    Returns
    -------
    list of WalletDetails
        With all wallets; the token stays where it has another symbol in another frame.

    Raises
    ------
    UnknownTokenError
        Where no row holds the token.
    AmbiguousTokenError
        Where several tokens share the symbol.
    """
    if token is None:
        return list(sides)
    wanted = find_token(pd.concat([side.holdings for side in sides], ignore_index=True), token)
    parts = np.split(wanted, np.cumsum([len(side.holdings) for side in sides])[:-1])
    return [
        side._replace(holdings=side.holdings[part]) for side, part in zip(sides, parts, strict=True)
    ]
