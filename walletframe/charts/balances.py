"""Which rows of holdings a chart draws, and which it leaves out; the largest of groups of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from walletframe.amounts.scalar import Amount
from walletframe.analysis.positions import amounts_of
from walletframe.charts.measures import Measure, left_out, measured, why_none
from walletframe.errors import SettingsError
from walletframe.frames import (
    Identified,
    Identities,
    find_token,
    find_wallet,
    identified,
    require_columns,
    token_key,
    token_names,
    wallet_names,
    whole_token,
    whole_wallet,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from walletframe.amounts import AmountArray
    from walletframe.charts.measures import Places, Sizes
    from walletframe.frames import HoldingsLike, TokenLike, WalletLike

    Mask: TypeAlias = npt.NDArray[np.bool_]

_COLUMNS = ("blockchain", "address", "symbol", "token_blockchain", "token_address", "amount")


@dataclass(frozen=True, slots=True)
class Balances:
    """The rows of holdings that are drawn.

    Attributes
    ----------
    frame : DataFrame
        As given.
    rows : ndarray of intp, shape (n,)
        The positions of the rows that are drawn.
    sizes : ndarray of float64, shape (n,)
        How much each counts, above 0.
    tokens, wallets : Identities
        Of all rows of the frame.
    measure : Measure
        What the sizes mean.
    left_out : list of str
        Sentences on the rows that are not drawn.
    why_none : str
        Why there are none, where there are none.
    """

    frame: pd.DataFrame
    rows: Places
    sizes: Sizes
    tokens: Identities
    wallets: Identities
    measure: Measure
    left_out: list[str]
    why_none: str

    @property
    def token_codes(self) -> Places:
        """The token of each row that is drawn, as a place among the frame's tokens."""
        return np.asarray(self.tokens.codes[self.rows])

    @property
    def wallet_codes(self) -> Places:
        """The wallet of each row that is drawn, as a place among the frame's wallets."""
        return np.asarray(self.wallets.codes[self.rows])

    @property
    def amounts(self) -> AmountArray:
        """The amount of each row that is drawn, NA where unknown."""
        amounts: AmountArray = amounts_of(self.frame["amount"])[self.rows]
        return amounts

    @property
    def chains(self) -> tuple[Places, list[str]]:
        """The blockchain of each of the frame's wallets, as a place; and their names."""
        names = np.array([chain for chain, _ in self.wallets.keys], dtype=object)
        codes, distinct = pd.factorize(names)
        return codes, distinct.tolist()

    def where(self, mask: Mask) -> Balances:
        """Return the rows of a mask over those that are drawn."""
        return replace(self, rows=self.rows[mask], sizes=self.sizes[mask])

    def token_names(self, places: Sequence[int]) -> list[str]:
        """Name tokens in short."""
        return token_names(self.frame, self.tokens, np.array(places, dtype=np.intp))

    def whole_token(self, place: int) -> tuple[str, str]:
        """Name a token at length: its symbol; its blockchain and contract."""
        return whole_token(self.frame, self.tokens, place)

    def wallet_names(self, places: Sequence[int]) -> list[str]:
        """Name wallets in short."""
        return wallet_names(self.frame, self.wallets, np.array(places, dtype=np.intp))

    def whole_wallet(self, place: int) -> str:
        """Name a wallet at length."""
        address = self.frame["address"].iloc[self.wallets.first[place]]
        return whole_wallet(self.wallets.keys[place][0], "" if pd.isna(address) else str(address))

    def exact(self, groups: Places, wanted: Iterable[int]) -> dict[int, Amount | None]:
        """Add up the amounts of some groups of rows, each of one token; None where one is unknown.

        `groups` has the group of each row that is drawn; the sums are in the groups' order.
        """
        of_wanted = np.isin(groups, np.fromiter(wanted, dtype=np.intp))
        series = pd.Series(self.amounts[of_wanted])
        summed = series.groupby(groups[of_wanted]).sum(skipna=False)
        amounts = [amount if isinstance(amount, Amount) else None for amount in summed]
        return dict(zip(summed.index.tolist(), amounts, strict=True))


def read_balances(
    holdings: HoldingsLike,
    *,
    token: TokenLike | None = None,
    wallet: WalletLike | None = None,
    shares: bool = False,
) -> Balances:
    """Tell what there is to draw, perhaps of one token or wallet alone.

    With `shares` a row counts with its share of all of its token where there are no values.
    """
    frame = holdings.frame if isinstance(holdings, Identified) else holdings
    require_columns(frame, _COLUMNS)
    amounts_of(frame["amount"])
    token = token if token is None or isinstance(token, str) else token_key(token)
    known = identified(holdings)
    of_interest = np.ones(len(frame), dtype=bool)
    if len(frame) and token is not None:
        of_interest &= find_token(frame, token, identities=known.tokens)
    if len(frame) and wallet is not None:
        of_interest &= find_wallet(frame, wallet, identities=known.wallets)
    rows = np.flatnonzero(of_interest)
    measure, sizes = measured(frame, known.tokens, rows, token=token, shares=shares)
    drawn = np.isfinite(sizes) & (sizes > 0)
    return Balances(
        frame=frame,
        rows=rows[drawn],
        sizes=sizes[drawn],
        tokens=known.tokens,
        wallets=known.wallets,
        measure=measure,
        left_out=left_out(measure, sizes, known.tokens.codes[rows]),
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

    Examples
    --------
    >>> largest(np.array([1.0, 3.0, 0.0, 2.0, 1.0]), 2)
    array([1, 3])
    """
    order = np.argsort(-sizes, kind="stable")[: int((sizes > 0).sum())]
    return order if len(order) == top + 1 else order[:top]
