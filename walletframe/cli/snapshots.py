"""What commands on snapshots share: where they lie, and how to look at one symbol alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np
import pandas as pd

from walletframe.errors import UnknownTokenError
from walletframe.frames import token_identities

if TYPE_CHECKING:
    from walletframe.frames import WalletDetails

in_folder = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where snapshots are kept. Default: in the user's data folder.",
)
of_symbol = click.option(
    "--symbol", help="Only the tokens that bear this symbol, whatever their contracts."
)


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
