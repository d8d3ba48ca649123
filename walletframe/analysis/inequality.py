"""How much of a token is in few hands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.amounts.integers import Exact, ratios
from walletframe.amounts.segments import Segments, sums
from walletframe.analysis.positions import read_positions
from walletframe.analysis.sums import totals_of
from walletframe.errors import SettingsError
from walletframe.frames import token_place

if TYPE_CHECKING:
    from walletframe.amounts.integers import Floats, Integers
    from walletframe.analysis.positions import Codes, Positions, WalletsLike
    from walletframe.frames import TokenLike


def concentration(
    holdings: pd.DataFrame,
    token: TokenLike | None = None,
    *,
    top: int = 10,
    wallets: WalletsLike | None = None,
) -> pd.DataFrame:
    """Tell how unequally tokens are spread over the wallets that hold them.

    Only holders count, the wallets with a known amount above 0: wallets that hold none would make
    every token look concentrated.

    Parameters
    ----------
    holdings : DataFrame
        The ``holdings`` of a fetch, or some rows of it.
    token : str or (str, str or None), optional
        (blockchain, contract), None for a native coin; or a symbol that one token alone has.
        All tokens unless given.
    top : int, default 10
        How many of the largest holders ``top_share`` is of.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch.

    Returns
    -------
    DataFrame
        One row for each token, in the order of its first row: the columns of `totals` by token,
        and behind them, float64, the nearest to the exact value, NaN where nobody holds any:

        - ``gini``: 0 where all holders have the same amount, near 1 where one has nearly all;
        - ``herfindahl``: the sum of squared shares, 1 / holders where all have the same, 1 where
          one has all;
        - ``top_share``: the share of the `top` largest holders, from 0 to 1.

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
    SettingsError
        Where `top` is below 1.

    Notes
    -----
    With n amounts x in ascending order, and s their sum:

    - Gini is (2 Σ i xᵢ - (n + 1) s) / (n s), i from 1 to n, without the correction n / (n - 1)
      for samples: equation 1 of Damgaard and Weiner, "Describing inequality in plant size or
      fecundity", Ecology 81 (2000), 1139-1142;
    - Herfindahl is Σ xᵢ² / s², from 0 to 1 and not to 10,000: Rhoades, "The
      Herfindahl-Hirschman index", Federal Reserve Bulletin 79 (1993), 188-189.

    A wallet is not a person: one may have many, and the wallet of an exchange belongs to many.

    Examples
    --------
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
    >>> concentration(frame, "USDC", top=1)[["holders", "gini", "herfindahl", "top_share"]]
       holders  gini  herfindahl  top_share
    0        2  0.25       0.625       0.75
    """
    if top < 1:
        raise SettingsError(f"top: {top!r}", hint="1 or more of the largest holders")
    positions = read_positions(holdings, wallets)
    found = totals_of(positions, ["token"]).assign(**_measures(_holders(positions), top))
    if token is None:
        return found
    place = token_place(holdings, positions.tokens, token)
    return found.iloc[[place]].reset_index(drop=True)


def _holders(positions: Positions) -> Segments:
    """Give what each wallet has of each token, above 0, in groups by token."""
    wide, exact = max(len(positions.wallets), 1), positions.amounts.exact()
    codes, pairs = pd.factorize(positions.tokens.codes * wide + positions.wallet_codes)
    units = sums(Segments(exact, codes, len(pairs)))
    held = np.flatnonzero(units > 0)
    amounts = Exact(units[held], np.zeros(len(held), dtype=bool), exact.scale)
    return Segments(amounts, pairs[held] // wide, len(positions.tokens.keys))


def _measures(holders: Segments, top: int) -> dict[str, Floats]:
    ascending, sizes = holders.sorted_rows, holders.sizes
    units, ids = holders.integers[ascending], holders.row_ids[ascending]
    ranks = np.arange(1, len(ids) + 1) - holders.starts[ids]
    largest = np.where(ranks > sizes[ids] - top, units, 0)
    whole, weighted, squares, most = (
        _added(terms, ids, holders.count) for terms in (units, units * ranks, units**2, largest)
    )
    counts = sizes.astype(object)
    return {
        "gini": _ratios(2 * weighted - (counts + 1) * whole, counts * whole),
        "herfindahl": _ratios(squares, whole**2),
        "top_share": _ratios(most, whole),
    }


def _added(terms: Integers, ids: Codes, count: int) -> Integers:
    totals = np.full(count, 0, dtype=object)
    np.add.at(totals, ids, terms)
    return totals


def _ratios(numerators: Integers, denominators: Integers) -> Floats:
    nobody = np.asarray(denominators == 0, dtype=bool)
    found = ratios(numerators, np.where(nobody, 1, denominators))
    found[nobody] = np.nan
    return found
