"""Balances as a table: wallets, blockchains or snapshots by tokens, each with a last Other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from walletframe.charts.balances import added
from walletframe.charts.canvas import hover
from walletframe.charts.notes import other
from walletframe.charts.palette import OTHER, chosen_colors, patterns
from walletframe.numerals import many, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.amounts.scalar import Amount
    from walletframe.charts.balances import Balances
    from walletframe.charts.measures import Places, Sizes
    from walletframe.frames import TokenKey


@dataclass(frozen=True, slots=True)
class Series:
    """One token of a chart, or all the others: its name in plain text, and how it is painted.

    The pattern tells it from another of its colour; empty for none.
    """

    name: str
    color: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of sizes, with the exact sums of its cells."""

    balances: Balances  # what it is made of
    rows: Places  # what has a row of its own
    tokens: Places  # the tokens that have a column of their own
    other_rows: int  # how many share the last row
    other_tokens: int
    sizes: Sizes  # of shape (rows + 1, tokens + 1), the others last
    amounts: list[Amount | None]  # of each cell of one token, row by row; None where unknown

    def exact(self, row: int, token: int) -> str:
        """Write the whole sum of a cell of one token."""
        return whole(self.amounts[row * len(self.tokens) + token])

    def hover(self, row: int, token: int, owner: str, total: float) -> str:
        """Write in markup what a cell is, which may be empty; `owner` says what its row is."""
        size = float(self.sizes[row, token])
        if not size:
            return ""
        share = self.balances.measure.share(size, total)
        if token == len(self.tokens):
            return hover(many(self.other_tokens, "other token"), owner, share)
        symbol, where = self.balances.whole_token(int(self.tokens[token]))
        return hover(symbol, where, owner, f"{self.exact(row, token)} {symbol}", share)

    def series(self, colors: Mapping[TokenKey, str] | None = None) -> list[Series]:
        """Name and paint the columns; the last is Other where there are others."""
        balances, places = self.balances, self.tokens.tolist()
        names = balances.token_names(places)
        fills = [*chosen_colors(balances.positions, places, colors).values()]
        if self.other_tokens:
            names.append(other(self.other_tokens, "token"))
            fills.append(OTHER)
        return [Series(*each) for each in zip(names, fills, patterns(fills), strict=True)]

    def wallet_names(self) -> tuple[list[str], list[str]]:
        """Name rows that are wallets, in short and at length; the last is Other as above."""
        places = self.rows.tolist()
        short = self.balances.wallet_names(places)
        full = [self.balances.whole_wallet(place) for place in places]
        rest = [other(self.other_rows, "wallet")] * bool(self.other_rows)
        return short + rest, full + rest


def lay_out(balances: Balances, codes: Places, rows: Places, tokens: Places) -> Grid:
    """Add up balances, of which there are some: `codes` says whose each is.

    `rows` and `tokens` are those that have a row or a column of their own.
    """
    row_slots = _slots(rows, int(max(codes.max(), rows.max())) + 1)[codes]
    token_slots = _slots(tokens, len(balances.positions.tokens.keys))[balances.token_codes]
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
        amounts=balances.exact(cells, drawn),
    )


def _slots(chosen: Places, count: int) -> Places:
    """Give each of many things its rank among the chosen ones, or the place behind them."""
    places = np.full(count, len(chosen), dtype=np.intp)
    places[chosen] = np.arange(len(chosen))
    return places
