"""Files that ``walletframe fetch --output`` wrote, read back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from walletframe.cli.kinds import require_holdings
from walletframe.errors import SettingsError
from walletframe.exports import SUFFIXES, saved_tables, typed
from walletframe.frames import as_failed, respelled

if TYPE_CHECKING:
    import pandas as pd


def is_saved(word: str) -> bool:
    """Tell a file of holdings on the command line from a wallet.

    Parameters
    ----------
    word : str
        An argument.

    Returns
    -------
    bool
        True where it ends like a file that walletframe writes.
    """
    return word.lower().endswith(SUFFIXES)


def read_saved(name: str) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Read what a fetch wrote.

    Parameters
    ----------
    name : str
        The file of holdings; its wallets are beside it (``NAME.wallets.csv``), or in the same
        JSON.

    Returns
    -------
    tuple of DataFrame and (DataFrame or None)
        Holdings and wallets, in the dtypes of the column contract; None where there are no
        wallets.

    Raises
    ------
    click.UsageError
        Where a file can't be read, or holds something else.
    """
    try:
        holdings, wallets = saved_tables(Path(name))
        require_holdings(name, [*holdings])
        named = [] if wallets is None else [as_failed(typed(wallets))]
        *asked, held = respelled(*named, typed(holdings))
        return held, asked[0] if asked else None
    except (OSError, SettingsError) as fault:
        reason = str(fault)
    raise click.UsageError(f"{name} can't be read as holdings of a fetch: {reason}")
