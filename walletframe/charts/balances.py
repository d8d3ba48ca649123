"""Which rows of holdings a chart draws, and which it leaves out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pandas as pd

from walletframe.amounts.scalar import Amount
from walletframe.analysis.positions import amounts_of
from walletframe.charts.measures import Measure, left_out, measured, why_none
from walletframe.frames import (
    Identified,
    Identities,
    find_token,
    find_wallet,
    identified,
    require_columns,
    token_key,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from walletframe.amounts import AmountArray
    from walletframe.charts.ranking import Places, Sizes
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
    left_out : tuple of str
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
    left_out: tuple[str, ...]
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

    def where(self, mask: Mask) -> Balances:
        """Return the rows of a mask over those that are drawn."""
        return replace(self, rows=self.rows[mask], sizes=self.sizes[mask])

    def exact(self, groups: Places, wanted: Iterable[int]) -> dict[int, Amount | None]:
        """Add up amounts exactly; each group has to be of one token.

        Parameters
        ----------
        groups : ndarray of intp, shape (n,)
            The group of each row.
        wanted : iterable of int
            The groups to add up.

        Returns
        -------
        dict of int to Amount or None
            None where an amount of the group is unknown.
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
    """Tell what there is to draw.

    Parameters
    ----------
    holdings : DataFrame or Identified
        The ``holdings`` of a fetch, or some rows of it, perhaps with a column ``value``.
    token : str or (str, str or None), optional
        The only token to draw.
    wallet : str, (str, str) or WalletAddress, optional
        The only wallet to draw.
    shares : bool, default False
        Where there are no values, let a row count with its share of all of its token.

    Returns
    -------
    Balances
        For any holdings, none included.

    Raises
    ------
    ColumnsError
        Where a column is missing.
    AmountError
        Where the column ``amount`` holds no amounts.
    PricesError
        Where values are in more than one currency.
    UnknownTokenError, AmbiguousTokenError
        Where the token is not in a frame with rows, or its symbol is another's too.
    AddressError, UnknownWalletError
        Where the wallet can't be read, or is not in a frame with rows.
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
