"""Which rows of holdings a chart draws, which groups are largest, and a table of their sums."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from walletframe.charts.canvas import hover
from walletframe.charts.measures import Measure, left_out, measured, why_none
from walletframe.charts.notes import Notes, other, provenance, simulated, wallets_frame
from walletframe.charts.palette import OTHER, chosen_colors, patterns
from walletframe.errors import SettingsError
from walletframe.frames import (
    Positions,
    cell_sums,
    find_wallet,
    given_names,
    held_names,
    held_place,
    read_positions,
    token_key,
    token_names,
    wallet_names,
    wallets_given,
    whole_token,
    whole_wallet,
)
from walletframe.frames.identity import first_rows
from walletframe.numerals import many, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from walletframe.amounts.scalar import Amount
    from walletframe.charts.measures import Places, Sizes
    from walletframe.frames import FetchLike, PositionsLike, TokenKey, TokenLike, WalletLike

    Mask: TypeAlias = npt.NDArray[np.bool_]

_HOVER = 100


@dataclass(frozen=True, slots=True)
class Balances:
    """The n rows of holdings that are drawn."""

    positions: Positions  # all of the holdings
    rows: Places  # which of their rows are drawn
    sizes: Sizes  # how much each counts, above 0
    measure: Measure  # what the sizes mean
    left_out: list[str]  # sentences on the rows that are not drawn
    why_none: str  # why there are none, where there are none
    names: list[str]  # of each wallet, what the user calls it

    @property
    def token_codes(self) -> Places:
        """The token of each row that is drawn, as a place among the tokens."""
        return np.asarray(self.positions.tokens.codes[self.rows])

    @property
    def wallet_codes(self) -> Places:
        """The wallet of each row that is drawn, as a place among the wallets."""
        return np.asarray(self.positions.wallet_codes[self.rows])

    def where(self, mask: Mask) -> Balances:
        """Return the rows of a mask over those that are drawn."""
        return replace(self, rows=self.rows[mask], sizes=self.sizes[mask])

    def notes(self, drawn: Sequence[str], wallets: FetchLike | None) -> Notes:
        """Say what is drawn and how far it can be trusted."""
        if wallets is None:
            return Notes(drawn=drawn, left_out=self.left_out)
        real = simulated(wallets_frame(wallets))
        return Notes(real, drawn, self.left_out, provenance(wallets))

    def token_names(self, places: Sequence[int], *, by_chain: bool = False) -> list[str]:
        """Name tokens in short, perhaps where their blockchain is written beside them."""
        held, chosen = self.positions, np.array(places, dtype=np.intp)
        if held.assets:
            return held_names(held, chosen)
        return token_names(held.holdings, held.tokens, chosen, by_chain=by_chain)

    def whole_token(self, place: int) -> tuple[str, str]:
        """Name a token at length: its symbol; its blockchain and contract, or how many it has."""
        held = self.positions
        if held.assets and held.tokens.keys[place] in held.assets.homes:
            contracts = np.flatnonzero(held.tokens.codes[held.contracts.first] == place)
            chains = {held.contracts.keys[contract][0] for contract in contracts.tolist()}
            spread = f"{many(len(contracts), 'contract')} on {many(len(chains), 'blockchain')}"
            return self.token_names([place])[0], spread
        return whole_token(held.holdings, held.tokens, place, limit=_HOVER)

    def wallet_names(self, places: Sequence[int]) -> list[str]:
        """Name wallets in short."""
        chosen = np.array(places, dtype=np.intp)
        return wallet_names(self.positions.wallets, chosen, self.names)

    def whole_wallet(self, place: int) -> str:
        """Name a wallet at length."""
        blockchain, address = self.positions.wallets.iloc[place].fillna("")
        return whole_wallet(blockchain, address, self.names[place], limit=_HOVER)

    def exact(self, groups: Places, wanted: Places) -> list[Amount | None]:
        """Add up the amounts of the wanted groups of rows, each of one token; None if unknown.

        `groups` has the group of each row that is drawn.
        """
        cells = ranks(wanted, int(max(groups.max(initial=0), wanted.max(initial=0))) + 1)[groups]
        rows = np.flatnonzero(cells < len(wanted))
        found = cell_sums(self.positions.amounts[self.rows[rows]], cells[rows], len(wanted))
        return [None if gap else amount for gap, amount in zip(found.isna(), found, strict=True)]


def read_balances(
    holdings: PositionsLike,
    *,
    token: TokenLike | None = None,
    wallet: WalletLike | None = None,
    wallets: FetchLike | None = None,
    shares: bool = False,
) -> Balances:
    """Tell what there is to draw, perhaps of one token or wallet alone; `wallets` may name them.

    With `shares` a row counts with its share of all of its token where there are no values.
    """
    positions = read_positions(holdings)
    frame, tokens = positions.holdings, positions.tokens
    token = token if token is None or isinstance(token, str) else token_key(token)
    of_interest = np.ones(len(frame), dtype=bool)
    if len(frame) and token is not None:
        of_interest &= tokens.codes == held_place(positions, token)
    if len(frame) and wallet is not None:
        of_interest &= find_wallet(positions.wallets, wallet)[positions.wallet_codes]
    rows = np.flatnonzero(of_interest)
    measure, sizes = measured(positions, rows, token=token, shares=shares)
    drawn = np.isfinite(sizes) & (sizes > 0)
    return Balances(
        positions=positions,
        rows=rows[drawn],
        sizes=sizes[drawn],
        measure=measure,
        left_out=left_out(measure, sizes, positions.contracts.codes[rows]),
        why_none=why_none(measure, sizes),
        names=given_names(positions.wallets, None if wallets is None else wallets_given(wallets)),
    )


def check_top(name: str, number: Any, limit: int) -> int:
    """Check how many things to draw: more than `limit` freeze a browser, or look all the same."""
    whole_number = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not whole_number or not 1 <= number <= limit:
        raise SettingsError(
            f"{name}: {number!r}", hint=f"an integer from 1 to {limit}; the rest is drawn as Other"
        )
    return int(number)


def added(groups: Places, sizes: Sizes, count: int = 0) -> Sizes:
    """Add up the sizes of each group, 0 for those without; there are at least `count` groups."""
    return np.bincount(groups, sizes, minlength=count).astype(np.float64, copy=False)


def largest(sizes: Sizes, top: int) -> Places:
    """Find the places of the largest above 0, one more than `top` where it would be alone in Other.

    The largest come first, equal ones in their order.
    """
    order = np.argsort(-sizes, kind="stable")[: int((sizes > 0).sum())]
    return order if len(order) == top + 1 else order[:top]


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
    """Sizes of wallets, other groups or snapshots by tokens, with the exact sums of the cells."""

    balances: Balances  # what it is made of
    rows: Places  # what has a row of its own
    tokens: Places  # the tokens that have a column of their own
    other_rows: int  # how many share the last row
    other_tokens: int
    sizes: Sizes  # of shape (rows + 1, tokens + 1), the others last
    amounts: list[Amount | None]  # of each cell of one token, row by row; None where unknown
    codes: Places  # whose each row of the balances is

    @property
    def kind(self) -> str:
        """What has a column: "token" or "asset"."""
        return self.balances.positions.kind

    @property
    def places(self) -> dict[str, list[int]]:
        """Of each row and each column but the others, a row of holdings that is in it."""
        codes = {"rows": self.codes, "tokens": self.balances.token_codes}
        chosen = {"rows": self.rows, "tokens": self.tokens}
        first = {name: first_rows(codes[name], int(codes[name].max()) + 1) for name in codes}
        return {name: self.balances.rows[first[name][chosen[name]]].tolist() for name in chosen}

    def exact(self, row: int, token: int) -> str:
        """Write the whole sum of a cell of one token."""
        return whole(self.amounts[row * len(self.tokens) + token])

    def hover(self, row: int, token: int, owner: Sequence[str], total: float) -> str:
        """Write in markup what a cell is, which may be empty; `owner` has lines on its row."""
        size = float(self.sizes[row, token])
        if not size:
            return ""
        share = self.balances.measure.share(size, total)
        if token == len(self.tokens):
            return hover(many(self.other_tokens, f"other {self.kind}"), *owner, share)
        symbol, where = self.balances.whole_token(int(self.tokens[token]))
        return hover(symbol, where, *owner, f"{self.exact(row, token)} {symbol}", share)

    def series(self, colors: Mapping[TokenKey, str] | None = None) -> list[Series]:
        """Name and paint the columns; the last is Other where there are others."""
        balances, places = self.balances, self.tokens.tolist()
        names = balances.token_names(places)
        fills = [*chosen_colors(balances.positions, places, colors).values()]
        if self.other_tokens:
            names.append(other(self.other_tokens, self.kind))
            fills.append(OTHER)
        return [Series(*each) for each in zip(names, fills, patterns(fills), strict=True)]


def lay_out(balances: Balances, codes: Places, rows: Places, tokens: Places) -> Grid:
    """Add up balances, of which there are some: `codes` says whose each is.

    `rows` and `tokens` are those that have a row or a column of their own.
    """
    row_ranks = ranks(rows, int(max(codes.max(), rows.max())) + 1)[codes]
    token_ranks = ranks(tokens, len(balances.positions.tokens.keys))[balances.token_codes]
    wide = len(tokens) + 1
    cells, count = row_ranks * wide + token_ranks, (len(rows) + 1) * wide
    return Grid(
        balances=balances,
        rows=rows,
        tokens=tokens,
        other_rows=len(np.unique(codes[row_ranks == len(rows)])),
        other_tokens=len(np.unique(balances.token_codes[token_ranks == len(tokens)])),
        sizes=added(cells, balances.sizes, count).reshape(-1, wide),
        amounts=balances.exact(cells, np.flatnonzero(np.arange(count) % wide < len(tokens))),
        codes=codes,
    )


def ranks(chosen: Places, count: int) -> Places:
    """Give each of many things its rank among the chosen ones, or the place behind them."""
    ranks = np.full(count, len(chosen), dtype=np.intp)
    ranks[chosen] = np.arange(len(chosen))
    return ranks
