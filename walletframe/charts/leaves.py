"""What each wallet, or all others of a blockchain, hold of each token, and which of it is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.charts.apportionment import LEAST, Demand, apportion
from walletframe.charts.ranking import added

if TYPE_CHECKING:
    from walletframe.charts.apportionment import Plan
    from walletframe.charts.balances import Balances
    from walletframe.charts.ranking import Places, Sizes


@dataclass(frozen=True, slots=True)
class Leaves:
    """The leaves of a hierarchy: what an owner holds of a token.

    An owner is a wallet that is drawn for itself, or all other wallets of a blockchain.

    Attributes
    ----------
    of_rows : ndarray of intp
        The leaf of each row.
    owners : ndarray of intp, shape (n,)
        Of each leaf, as a place among the frame's wallets; the other wallets of a blockchain have
        its place in `chain_names`, counted from `others`.
    others : int
        The first owner that is no wallet.
    tokens, chains : ndarray of intp, shape (n,)
        Of each leaf, as places among the frame's tokens and in `chain_names`.
    sizes : ndarray of float64, shape (n,)
        Of each leaf.
    holders : ndarray of intp, shape (n,)
        How many wallets each leaf is of.
    chain_names : list of str
        The distinct blockchains.
    members : ndarray of intp
        For each blockchain the number of its wallets.
    drawn_chains, drawn_wallets, drawn : ndarray of intp
        The blockchains, wallets and leaves that are drawn, the largest first.
    """

    of_rows: Places
    owners: Places
    others: int
    tokens: Places
    chains: Places
    sizes: Sizes
    holders: Places
    chain_names: list[str]
    members: Places
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
        The most nodes of the hierarchy.

    Returns
    -------
    Leaves
        Drawn are the largest wallets with their largest tokens, and of the other wallets of each
        blockchain the largest tokens. Of equal ones the tokens that most wallets hold come first.
    """
    wide = max(len(balances.tokens.keys), 1)
    of_rows, pairs = pd.factorize(balances.wallet_codes * wide + balances.token_codes)
    wallets, tokens = np.divmod(pairs, wide)
    sizes = added(of_rows, balances.sizes, len(pairs))
    names = np.array([chain for chain, _ in balances.wallets.keys], dtype=object)
    chain_of, chain_names = pd.factorize(names)
    alone = balances.measure.kind == "amount"
    plan = apportion(Demand(wallets, chain_of, sizes, len(chain_names), alone), top)
    others = len(names)
    owners = np.where(np.isin(wallets, plan.wallets), wallets, others + chain_of[wallets])
    of_pairs, merged = pd.factorize(owners * wide + tokens)
    owners, merged_tokens = np.divmod(merged, wide)
    leaf_sizes = added(of_pairs, sizes, len(merged))
    held = np.unique(wallets)
    return Leaves(
        of_rows=of_pairs[of_rows],
        owners=owners,
        others=others,
        tokens=merged_tokens,
        chains=np.concatenate((chain_of, np.arange(len(chain_names))))[owners],
        sizes=leaf_sizes,
        holders=np.bincount(of_pairs, minlength=len(merged)),
        chain_names=chain_names.tolist(),
        members=np.bincount(chain_of[held], minlength=len(chain_names)),
        drawn_chains=plan.chains,
        drawn_wallets=plan.wallets,
        drawn=_chosen(plan, owners, others, leaf_sizes, np.bincount(tokens)[merged_tokens]),
    )


def _chosen(plan: Plan, owners: Places, others: int, sizes: Sizes, holders: Places) -> Places:
    """Choose leaves of each wallet that is drawn, and with the room that is left of all others."""
    seen = sizes >= LEAST * sizes.sum()
    order = np.lexsort((-holders, -sizes))
    order = order[seen[order]]
    own = order[owners[order] < others]
    rank = pd.Series(own).groupby(owners[own]).cumcount().to_numpy()
    own = own[rank < plan.room[owners[own]]]
    of_others = order[np.isin(owners[order] - others, plan.open_chains)][: plan.rest]
    drawn = np.concatenate((own, of_others))
    return np.concatenate((drawn, _single(owners, drawn, seen)))


def _single(owners: Places, drawn: Places, seen: np.ndarray) -> Places:
    """Find leaves that would be all there is in an Other."""
    rest = np.bincount(owners)
    rest -= np.bincount(owners[drawn], minlength=len(rest))
    single = seen & (rest[owners] == 1) & np.isin(owners, owners[drawn])
    single[drawn] = False
    return np.flatnonzero(single)
