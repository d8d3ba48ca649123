"""Fetches narrowed to one token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.frames import find_token

if TYPE_CHECKING:
    from walletframe.frames import TokenLike, WalletDetails


def only(token: TokenLike | None, *sides: WalletDetails) -> list[WalletDetails]:
    """Leave out all tokens but one."""
    if token is None:
        return list(sides)
    wanted = find_token(pd.concat([side.holdings for side in sides], ignore_index=True), token)
    parts = np.split(wanted, np.cumsum([len(side.holdings) for side in sides])[:-1])
    return [
        side._replace(holdings=side.holdings[part]) for side, part in zip(sides, parts, strict=True)
    ]
