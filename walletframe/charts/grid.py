"""Balances in a table: wallets, blockchains or snapshots by tokens, the last of either is Other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from walletframe.charts.canvas import hover
from walletframe.charts.labels import whole_token
from walletframe.charts.ranking import added, slots
from walletframe.numerals import many, whole

if TYPE_CHECKING:
    from walletframe.amounts.scalar import Amount
    from walletframe.charts.balances import Balances
    from walletframe.charts.ranking import Places, Sizes


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of sizes.

    Attributes
    ----------
    balances : Balances
        What it is made of.
    rows, tokens : ndarray of intp
        The places of what has a row or a column of its own.
    other_rows, other_tokens : int
        How many share the last row and the last column.
    sizes : ndarray of float64, shape (rows + 1, tokens + 1)
        The last row and column are those of the others.
    amounts : dict of int to Amount or None
        The exact sum of each cell of one token, by ``row * (tokens + 1) + token``.
    """

    balances: Balances
    rows: Places
    tokens: Places
    other_rows: int
    other_tokens: int
    sizes: Sizes
    amounts: dict[int, Amount | None]

    def cell(self, row: int, token: int, owner: str, total: float) -> str:
        """Return what is shown under the pointer on a cell.

        Parameters
        ----------
        row, token : int
            Which one.
        owner : str
            What the row is.
        total : float
            Of what the size is a share.

        Returns
        -------
        str
            Markup; empty where the cell is.
        """
        size = float(self.sizes[row, token])
        if not size:
            return ""
        share = self.balances.measure.share(size, total)
        if token == len(self.tokens):
            return hover(many(self.other_tokens, "other token"), owner, share)
        place = int(self.tokens[token])
        symbol, where = whole_token(self.balances.frame, self.balances.tokens, place)
        amount = whole(self.amounts[row * self.sizes.shape[1] + token])
        return hover(symbol, where, owner, f"{amount} {symbol}", share)


def lay_out(balances: Balances, codes: Places, rows: Places, tokens: Places) -> Grid:
    """Add up balances in a table.

    Parameters
    ----------
    balances : Balances
        What is drawn, n rows.
    codes : ndarray of intp, shape (n,), n > 0
        Whose each of them is.
    rows : ndarray of intp
        The codes that have a row of their own.
    tokens : ndarray of intp
        The tokens that have a column of their own.

    Returns
    -------
    Grid
        With exact amounts.
    """
    row_slots = slots(rows, int(max(codes.max(), rows.max())) + 1)[codes]
    token_slots = slots(tokens, len(balances.tokens.keys))[balances.token_codes]
    wide = len(tokens) + 1
    cells = row_slots * wide + token_slots
    count = (len(rows) + 1) * wide
    drawn = np.flatnonzero(np.arange(count) % wide < len(tokens))
    return Grid(
        balances=balances,
        rows=rows,
        tokens=tokens,
        other_rows=len(np.unique(codes[row_slots == len(rows)])),
        other_tokens=len(np.unique(balances.token_codes[token_slots == len(tokens)])),
        sizes=added(cells, balances.sizes, count).reshape(-1, wide),
        amounts=balances.exact(cells, drawn.tolist()),
    )
