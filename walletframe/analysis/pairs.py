"""Which wallets hold the same tokens."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe.analysis.completeness import completeness_of_all, integers
from walletframe.analysis.positions import read_positions
from walletframe.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from walletframe.analysis.positions import Codes, Positions, WalletsLike

_BLOCK = 4_000_000  # pairs counted at once: some 100 MB


def overlap(
    holdings: pd.DataFrame, n: int | None = 100, *, wallets: WalletsLike | None = None
) -> pd.DataFrame:
    """Find the pairs of wallets that hold the most of the same tokens.

    Parameters
    ----------
    holdings : DataFrame
        The ``holdings`` of a fetch, or some rows of it: without native coins and spam, which
        nearly everybody holds, it tells more.
    n : int or None, default 100
        How many pairs. None for all that have a token in common, up to half the square of the
        number of wallets.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch.

    Returns
    -------
    DataFrame
        At most `n` rows, one for each pair of wallets that have a token in common, the most alike
        first, then those with the most tokens in common, then in the order of the wallets:
        ``blockchain``, ``address``, ``other_blockchain``, ``other_address``, str;
        ``tokens_both`` and ``tokens_either``, Int64: tokens of which both, or at least one of
        them, are known to hold more than 0; ``jaccard``, float64, the one over the other, from
        above 0 to 1; and with `wallets` ``wallets_ok``, ``wallets_stale`` and ``wallets_asked``,
        Int64, the same in each row: of how many wallets the balances are known, so that they could
        be in a pair, and of how many of those as of an answer that is out of date.

    Raises
    ------
    ArgumentError
        Where `wallets` is something else.
    ColumnsError
        Where a column is missing.
    AmountError
        Where the column ``amount`` holds no amounts.
    UnknownWalletError
        Where a row is of a wallet that is not in `wallets`.
    SettingsError
        Where `n` is below 1.

    Notes
    -----
    Jaccard, "The distribution of the flora in the alpine zone", New Phytologist 11 (1912), 37-50.
    The time grows with the sum, over all tokens, of the square of their holders: 10,000 wallets
    take seconds unless most of them hold the same tokens.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {
    ...         "blockchain": "ETH",
    ...         "address": ["0xa", "0xa", "0xb"],
    ...         "symbol": ["A", "B", "A"],
    ...         "token_blockchain": "ETH",
    ...         "token_address": ["0x1", "0x2", "0x1"],
    ...         "amount": pd.array(["1", "1", "1"], dtype="amount"),
    ...     }
    ... )
    >>> overlap(frame)[["address", "other_address", "tokens_both", "tokens_either", "jaccard"]]
      address other_address  tokens_both  tokens_either  jaccard
    0     0xa           0xb            1              2      0.5
    """
    if n is not None and n < 1:
        raise SettingsError(f"n: {n!r}", hint="a number of pairs, or None for all")
    positions = read_positions(holdings, wallets)
    members, tokens = _held(positions)
    sizes = np.bincount(members, minlength=len(positions.wallets))
    blocks = [_most_alike(block, sizes, n) for block in _common(members, tokens, len(sizes))]
    whole = np.concatenate([np.empty((3, 0), dtype=np.intp), *blocks], axis=1)
    left, right, both = _most_alike(whole, sizes, n)
    either = sizes[left] + sizes[right] - both
    one, other = (positions.wallets.iloc[side].reset_index(drop=True) for side in (left, right))
    columns: dict[str, Any] = {
        "tokens_both": integers(both),
        "tokens_either": integers(either),
        "jaccard": both / either,
    }
    pairs: pd.DataFrame = one.join(other.add_prefix("other_"))
    return pairs.assign(**columns, **completeness_of_all(positions, len(both)))


def _held(positions: Positions) -> tuple[Codes, Codes]:
    """Give each wallet with each of its tokens once, by wallet."""
    rows = np.flatnonzero(positions.amounts.exact().integers > 0)
    wide = len(positions.tokens.keys) + 1
    pairs = np.unique(positions.wallet_codes[rows] * wide + positions.tokens.codes[rows])
    members, tokens = np.divmod(pairs, wide)
    return members, tokens


def _most_alike(pairs: Codes, sizes: Codes, n: int | None) -> Codes:
    """Give the n most alike pairs, then those with the most in common, equal ones as they stand."""
    left, right, both = pairs
    alike = both / (sizes[left] + sizes[right] - both)
    if n is not None and n < len(alike):
        foremost = np.flatnonzero(alike >= np.partition(alike, -n)[-n])
        pairs, alike = pairs[:, foremost], alike[foremost]
    return pairs[:, np.lexsort((-pairs[2], -alike))[:n]]


def _common(members: Codes, tokens: Codes, count: int) -> Iterator[Codes]:
    """Count what pairs of wallets have in common, some wallets with all later ones at a time.

    Gives blocks of three rows: the two wallets of each pair, and the number of tokens.
    """
    by_token = np.argsort(tokens, kind="stable")
    holders = members[by_token]
    places = np.empty_like(by_token)
    places[by_token] = np.arange(len(by_token))
    later = np.cumsum(np.bincount(tokens))[tokens] - places - 1  # holders behind, of the same token
    work = np.cumsum(np.bincount(members, weights=later, minlength=count) + count)
    edges = np.flatnonzero(np.diff(work // _BLOCK, prepend=-1, append=-1))
    for start, stop in pairwise(edges):
        rows = slice(*np.searchsorted(members, [start, stop]))
        reach = later[rows]
        behind = np.repeat(places[rows] + 1 - np.cumsum(reach) + reach, reach)
        others = holders[behind + np.arange(len(behind))]
        mine = np.repeat(members[rows] - start, reach)
        both = np.bincount(mine * count + others, minlength=(stop - start) * count)
        found = np.flatnonzero(both)
        yield np.stack((found // count + start, found % count, both[found]))
