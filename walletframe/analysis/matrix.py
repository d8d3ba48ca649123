"""Wallets beside tokens in one table of exact amounts, and the names of its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.amounts.segments import Segments, sums
from walletframe.analysis.positions import read_positions, text_array
from walletframe.analysis.sums import totals_of
from walletframe.errors import SettingsError
from walletframe.frames import require_columns, token_identities, token_names

if TYPE_CHECKING:
    from walletframe.analysis.positions import Codes, Positions, WalletsLike


def token_labels(holdings: pd.DataFrame) -> pd.Series:
    """Name each row's token, as `walletframe.frames.token_names` does."""
    require_columns(holdings, ["symbol"])
    tokens = token_identities(holdings)
    names = token_names(holdings, tokens, np.arange(len(tokens.keys)))
    labels = np.array(names, dtype=object)[tokens.codes]
    return pd.Series(text_array(labels), index=holdings.index, name="token")


def pivot(
    holdings: pd.DataFrame, n: int | None = 50, *, wallets: WalletsLike | None = None
) -> pd.DataFrame:
    """Put wallets beside tokens.

    Parameters
    ----------
    holdings : DataFrame
        The ``holdings`` of a fetch, or some rows of it.
    n : int or None, default 50
        How many tokens: those of the greatest value where the holdings have a column ``value``,
        then those with the most holders, then the first ones. None for all.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch: then failed and empty wallets have their rows, too.

    Returns
    -------
    DataFrame
        One row for each wallet, in the order of `wallets`, else of its first row; index
        ``blockchain``, ``address``, str. One column for each of the tokens, in this order of
        theirs, named as `token_labels` does; amount, exact: 0 where a wallet holds none, since the
        service lists all that it holds; NA where its balances, or one of this token, are unknown.

    Raises
    ------
    ArgumentError
        Where `wallets` is something else.
    ColumnsError
        Where a column is missing.
    AmountError
        Where the column ``amount`` holds no amounts.
    PricesError
        Where values are in more than one currency.
    UnknownWalletError
        Where a row is of a wallet that is not in `wallets`.
    SettingsError
        Where `n` is below 1.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {
    ...         "blockchain": "ETH",
    ...         "address": ["0xa", "0xb", "0xb"],
    ...         "symbol": ["ETH", "ETH", "USDC"],
    ...         "token_blockchain": "ETH",
    ...         "token_address": [None, None, "0xc"],
    ...         "amount": pd.array(["1", "3", "0.5"], dtype="amount"),
    ...     }
    ... )
    >>> pivot(frame)
    token              ETH USDC
    blockchain address
    ETH        0xa       1    0
               0xb       3  0.5
    """
    if n is not None and n < 1:
        raise SettingsError(f"n: {n!r}", hint="a number of tokens, or None for all")
    positions = read_positions(holdings, wallets)
    chosen = _foremost(positions)[:n]
    labels = token_names(holdings, positions.tokens, chosen)
    cells = _cells(positions, chosen)
    names = pd.Index(labels, dtype="str", name="token")
    table = pd.DataFrame(dict(zip(names, cells, strict=True)), columns=names)
    return table.set_axis(pd.MultiIndex.from_frame(positions.wallets))


def _foremost(positions: Positions) -> Codes:
    """Give the places of tokens, by value, then by number of holders, then by first row."""
    found = totals_of(positions, ["token"])
    ranks = [name for name in ("value", "holders") if name in found.columns]
    return found.sort_values(
        ranks, ascending=False, kind="stable", na_position="last"
    ).index.to_numpy()


def _cells(positions: Positions, chosen: Codes) -> list[AmountArray]:
    """Add up each wallet's balances of each chosen token."""
    exact, count = positions.amounts.exact(), len(positions.wallets)
    columns = np.full(len(positions.tokens.keys), -1)
    columns[chosen] = np.arange(len(chosen))
    column = columns[positions.tokens.codes]
    cell = np.where(column < 0, -1, column * count + positions.wallet_codes)
    grouped = Segments(exact, cell, len(chosen) * count)
    missing = grouped.holed | np.tile(~positions.known, len(chosen))
    units = np.where(missing, 0, sums(grouped))
    return [
        AmountArray(units[start : start + count], missing[start : start + count], exact.scale)
        for start in range(0, len(units), count or 1)
    ]
