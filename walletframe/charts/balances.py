"""Which rows of holdings a chart draws, which it leaves out, and which groups are largest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from walletframe.charts.measures import Measure, left_out, measured, why_none
from walletframe.errors import SettingsError
from walletframe.frames import (
    Positions,
    cell_sums,
    find_wallet,
    read_positions,
    token_key,
    token_names,
    token_place,
    wallet_names,
    whole_token,
    whole_wallet,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from walletframe.amounts import AmountArray
    from walletframe.amounts.scalar import Amount
    from walletframe.charts.measures import Places, Sizes
    from walletframe.frames import PositionsLike, TokenLike, WalletLike

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

    @property
    def token_codes(self) -> Places:
        """The token of each row that is drawn, as a place among the tokens."""
        return np.asarray(self.positions.tokens.codes[self.rows])

    @property
    def wallet_codes(self) -> Places:
        """The wallet of each row that is drawn, as a place among the wallets."""
        return np.asarray(self.positions.wallet_codes[self.rows])

    @property
    def chains(self) -> list[str]:
        """The names of all blockchains of wallets."""
        return [*self.positions.chain_places]

    def where(self, mask: Mask) -> Balances:
        """Return the rows of a mask over those that are drawn."""
        return replace(self, rows=self.rows[mask], sizes=self.sizes[mask])

    def token_names(self, places: Sequence[int], *, by_chain: bool = False) -> list[str]:
        """Name tokens in short, perhaps where their blockchain is written beside them."""
        held, chosen = self.positions, np.array(places, dtype=np.intp)
        return token_names(held.holdings, held.tokens, chosen, by_chain=by_chain)

    def whole_token(self, place: int) -> tuple[str, str]:
        """Name a token at length: its symbol; its blockchain and contract."""
        held = self.positions
        return whole_token(held.holdings, held.tokens, place, limit=_HOVER)

    def wallet_names(self, places: Sequence[int]) -> list[str]:
        """Name wallets in short."""
        return wallet_names(self.positions.wallets, np.array(places, dtype=np.intp))

    def whole_wallet(self, place: int) -> str:
        """Name a wallet at length."""
        blockchain, address = self.positions.wallets.iloc[place].fillna("")
        return whole_wallet(blockchain, address, limit=_HOVER)

    def exact(self, groups: Places, wanted: Places) -> list[Amount | None]:
        """Add up the amounts of the wanted groups of rows, each of one token; None if unknown.

        `groups` has the group of each row that is drawn.
        """
        places = np.full(int(max(groups.max(initial=0), wanted.max(initial=0))) + 1, -1)
        places[wanted] = np.arange(len(wanted))
        cells = places[groups]
        rows = np.flatnonzero(cells >= 0)
        amounts: AmountArray = self.positions.amounts[self.rows[rows]]
        found = cell_sums(amounts, cells[rows], len(wanted))
        return [None if gap else amount for gap, amount in zip(found.isna(), found, strict=True)]


def read_balances(
    holdings: PositionsLike,
    *,
    token: TokenLike | None = None,
    wallet: WalletLike | None = None,
    shares: bool = False,
) -> Balances:
    """Tell what there is to draw, perhaps of one token or wallet alone.

    With `shares` a row counts with its share of all of its token where there are no values.
    """
    positions = read_positions(holdings)
    frame, tokens = positions.holdings, positions.tokens
    token = token if token is None or isinstance(token, str) else token_key(token)
    of_interest = np.ones(len(frame), dtype=bool)
    if len(frame) and token is not None:
        of_interest &= tokens.codes == token_place(frame, tokens, token)
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
        left_out=left_out(measure, sizes, tokens.codes[rows]),
        why_none=why_none(measure, sizes),
    )


def check_top(name: str, number: Any, limit: int) -> int:
    """Check how many things to draw: more than `limit` freeze a browser, or look all the same."""
    whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not whole or not 1 <= number <= limit:
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
