"""Whose a token is: each wallet's share of what is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from walletframe.amounts import AmountArray
from walletframe.amounts.integers import ratios
from walletframe.amounts.segments import Segments, sums
from walletframe.analysis.completeness import completeness_of, could_hold, integers
from walletframe.analysis.positions import read_positions
from walletframe.frames import token_place

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from walletframe.analysis.positions import Positions, WalletsLike
    from walletframe.frames import TokenLike


def share(
    holdings: pd.DataFrame, token: TokenLike, *, wallets: WalletsLike | None = None
) -> pd.DataFrame:
    """Tell how much of one token each wallet holds, of all that these wallets hold of it.

    Parameters
    ----------
    holdings : DataFrame
        The ``holdings`` of a fetch, or some rows of it.
    token : str or (str, str or None)
        (blockchain, contract), None for a native coin; or a symbol that one token alone has.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch.

    Returns
    -------
    DataFrame
        One row for each wallet with a balance of the token and, with `wallets`, for every other
        one asked on a blockchain where one of them could hold it, the largest amount first, equal
        ones in their order, unknown ones last: ``blockchain``, ``address``, str; ``amount``,
        amount, the exact sum of what is known, 0 where the wallet holds none, NA where it is
        unknown; ``amount_na``, Int64, balances of unknown amount; ``share``, float64 from 0 to
        1, the float64 nearest to the amount over the sum of all amounts, NaN where either is
        unknown, or the sum is 0; and with `wallets` ``wallets_ok``, ``wallets_stale`` and
        ``wallets_asked``, Int64, the same in each row: of how many of these wallets the balances
        are known, and of how many of those as of an answer that is out of date.

    Raises
    ------
    ArgumentError
        Where `wallets` is something else.
    UnknownTokenError
        Where no row holds the token.
    AmbiguousTokenError
        Where several tokens share the symbol.
    ColumnsError
        Where a column is missing.
    AmountError
        Where the column ``amount`` holds no amounts.
    UnknownWalletError
        Where a row is of a wallet that is not in `wallets`.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {
    ...         "blockchain": "ETH",
    ...         "address": ["0xa", "0xb"],
    ...         "symbol": "USDC",
    ...         "token_blockchain": "ETH",
    ...         "token_address": "0xc",
    ...         "amount": pd.array(["1", "3"], dtype="amount"),
    ...     }
    ... )
    >>> share(frame, "USDC")[["address", "amount", "share"]]
      address amount  share
    0     0xb      3   0.75
    1     0xa      1   0.25
    """
    positions = read_positions(holdings, wallets)
    place = token_place(holdings, positions.tokens, token)
    rows = positions.tokens.codes == place
    exact, count = positions.amounts.exact(), len(positions.wallets)
    added = Segments(exact, np.where(rows, positions.wallet_codes, -1), count)
    balances = np.bincount(positions.wallet_codes[rows], minlength=count)
    units = sums(added)
    missing = np.where(balances > 0, added.sizes == 0, ~positions.known)
    shares = ratios(units, units.sum() or 1)
    shares[missing | (units.sum() == 0)] = np.nan
    everyone = positions.wallets.assign(
        amount=AmountArray(units, missing, exact.scale),
        amount_na=integers(balances - added.sizes, (balances == 0) & missing),
        share=shares,
    )
    found = everyone[(balances > 0) | _possible(positions, place)]
    order = found["amount"].array.argsort(ascending=False)
    ranked: pd.DataFrame = found.iloc[order].reset_index(drop=True)
    return ranked.assign(**completeness_of(positions, place, len(ranked)))


def _possible(positions: Positions, place: int) -> npt.NDArray[np.bool_]:
    """Tell which of the wallets asked could hold a token."""
    tokens, chains = could_hold(positions)
    on_chain = np.isin(positions.chain_codes, chains[tokens == place])
    return on_chain & positions.asked
