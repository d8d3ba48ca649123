"""A pivot table of exact amounts, wallets by tokens, and the names of its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.analysis.sums import totals_of
from walletframe.errors import SettingsError
from walletframe.frames import (
    cell_sums,
    read_positions,
    require_columns,
    text_array,
    token_identities,
    token_names,
)

if TYPE_CHECKING:
    from walletframe.frames import Codes, FetchLike, Positions, PositionsLike


def token_labels(holdings: pd.DataFrame) -> pd.Series:
    """Name each row's token, as `walletframe.frames.token_names` does."""
    require_columns(holdings, ["symbol"])
    tokens = token_identities(holdings)
    names = token_names(holdings, tokens, np.arange(len(tokens.keys)))
    labels = np.array(names, dtype=object)[tokens.codes]
    return pd.Series(text_array(labels), index=holdings.index, name="token")


def pivot(
    holdings: PositionsLike, n: int | None = 50, *, wallets: FetchLike | None = None
) -> pd.DataFrame:
    """Return a table of wallets by tokens."""
    if n is not None and n < 1:
        raise SettingsError(f"n: {n!r}", hint="a number of tokens, or None for all")
    positions = read_positions(holdings, wallets)
    chosen = _foremost(positions)[:n]
    labels = token_names(positions.holdings, positions.tokens, chosen)
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
    count = len(positions.wallets)
    columns = np.full(len(positions.tokens.keys), -1)
    columns[chosen] = np.arange(len(chosen))
    column = columns[positions.tokens.codes]
    cell = np.where(column < 0, -1, column * count + positions.wallet_codes)
    units, missing, scale = cell_sums(positions.amounts, cell, len(chosen) * count).exact()
    missing = missing | np.tile(~positions.known, len(chosen))
    units = np.where(missing, 0, units)
    return [
        AmountArray(units[start : start + count], missing[start : start + count], scale)
        for start in range(0, len(units), count or 1)
    ]
