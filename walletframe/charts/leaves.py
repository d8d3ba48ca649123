"""What each wallet holds of each token, and which of that a hierarchy draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.charts.ranking import added, largest

if TYPE_CHECKING:
    from walletframe.charts.balances import Balances
    from walletframe.charts.ranking import Places, Sizes

LEAST = 0.0003
"""The least share of all that is drawn: what is smaller can't be seen, and browsers draw circles
around the wrong centre where an arc is much shorter than a pixel."""

_CHAINS = 30
_LEAVES_A_WALLET = 5


@dataclass(frozen=True, slots=True)
class Leaves:
    """The balances of a hierarchy, each wallet's rows of one token as one.

    Attributes
    ----------
    of_rows : ndarray of intp
        The leaf of each row.
    wallets, tokens : ndarray of intp, shape (n,)
        Of each leaf, as places among those of the frame.
    chains : ndarray of intp, shape (n,)
        The blockchain of each leaf's wallet, as a place in `chain_names`.
    sizes : ndarray of float64, shape (n,)
        Of each leaf.
    chain_names : list of str
        The distinct blockchains.
    drawn_chains, drawn_wallets, drawn : ndarray of intp
        The blockchains, wallets and leaves that are drawn, the largest first.
    """

    of_rows: Places
    wallets: Places
    tokens: Places
    chains: Places
    sizes: Sizes
    chain_names: list[str]
    drawn_chains: Places
    drawn_wallets: Places
    drawn: Places

    @property
    def total(self) -> float:
        """The size of all."""
        return float(self.sizes.sum())


def pick_leaves(balances: Balances, top: int) -> Leaves:
    """Choose what is drawn.

    Parameters
    ----------
    balances : Balances
        What could be drawn.
    top : int
        The most leaves.

    Returns
    -------
    Leaves
        Drawn are, of the largest wallets, the largest balances; where these are of one size,
        some of each wallet, and of these the tokens that most wallets hold. What is less than
        `LEAST` of all is not drawn for itself.
    """
    wide = max(len(balances.tokens.keys), 1)
    of_rows, pairs = pd.factorize(balances.wallet_codes * wide + balances.token_codes)
    wallets, tokens = np.divmod(pairs, wide)
    sizes = added(of_rows, balances.sizes, len(pairs))
    names = np.array([chain for chain, _ in balances.wallets.keys], dtype=object)
    chain_codes, chain_names = pd.factorize(names)
    chains = chain_codes[wallets]
    least = LEAST * sizes.sum()
    by_chain = added(chains, sizes, len(chain_names))
    drawn_chains = largest(np.where(by_chain < least, 0, by_chain), _CHAINS)
    by_wallet = added(wallets, sizes, len(names))
    by_wallet[(by_wallet < least) | ~np.isin(chain_codes, drawn_chains)] = 0
    counts = np.bincount(wallets[sizes >= least], minlength=len(names))
    drawn_wallets = largest(by_wallet, _how_many(by_wallet, counts, top))
    candidates = np.flatnonzero(np.isin(wallets, drawn_wallets) & (sizes >= least))
    turns = _turns(wallets[candidates], tokens[candidates], sizes[candidates], tokens)
    ranked = candidates[np.lexsort((turns, -sizes[candidates]))]
    return Leaves(
        of_rows=of_rows,
        wallets=wallets,
        tokens=tokens,
        chains=chains,
        sizes=sizes,
        chain_names=chain_names.tolist(),
        drawn_chains=drawn_chains,
        drawn_wallets=drawn_wallets,
        drawn=ranked if len(ranked) == top + 1 else ranked[:top],
    )


def _how_many(sizes: Sizes, counts: Places, top: int) -> int:
    """Return how many wallets there is room for: as many as fit whole, or with a few leaves."""
    filled = np.cumsum(np.maximum(counts, 1)[np.argsort(-sizes, kind="stable")])
    return max(1, top // _LEAVES_A_WALLET, int(np.searchsorted(filled, top, side="right")))


def _turns(wallets: Places, tokens: Places, sizes: Sizes, all_tokens: Places) -> Places:
    """Rank leaves within their wallets: by size, then by how many wallets hold the token."""
    holders = np.bincount(all_tokens)
    order = np.lexsort((-holders[tokens], -sizes, wallets))
    starts = np.searchsorted(wallets[order], wallets)
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return np.asarray(places - starts)
