"""How many nodes of a hierarchy each blockchain and each wallet may have.

A node costs a browser its time, however small it is. Where all of them are too many, wallets that
are seen have half of them, each about as its size is, and the tokens of all other wallets the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from walletframe.charts.ranking import added, largest

if TYPE_CHECKING:
    from walletframe.charts.ranking import Places, Sizes

LEAST = 0.0003
"""The least share of all that is drawn: what is smaller can't be seen, and browsers draw circles
around the wrong centre where an arc is much shorter than a pixel."""

_OPEN = 0.01  # less has no room for a name and for what is in it
_OF_WALLET, _OF_OTHERS, _GROUP = 5, 6, 2  # a group has a node, and Other


@dataclass(frozen=True, slots=True)
class Demand:
    """What could be drawn.

    Attributes
    ----------
    wallets : ndarray of intp, shape (n,)
        Of each pair of a wallet and a token, as a place in `chain_of`.
    chain_of : ndarray of intp
        The blockchain of each wallet.
    sizes : ndarray of float64, shape (n,)
        Of each pair.
    chains : int
        How many blockchains there are.
    one_each : bool
        Whether a wallet is one node, its only token the same one.
    """

    wallets: Places
    chain_of: Places
    sizes: Sizes
    chains: int
    one_each: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What is drawn.

    Attributes
    ----------
    chains : ndarray of intp
        The blockchains, the largest first.
    open_chains : ndarray of intp
        Those of them in which there is more to see.
    wallets : ndarray of intp
        The wallets that are drawn for themselves, the largest first.
    room : ndarray of intp
        For each wallet the most tokens.
    rest : int
        The most tokens of all other wallets.
    """

    chains: Places
    open_chains: Places
    wallets: Places
    room: Places
    rest: int


def apportion(demand: Demand, top: int) -> Plan:
    """Choose blockchains and wallets, and how many tokens to draw of each.

    Parameters
    ----------
    demand : Demand
        What could be drawn.
    top : int
        The most nodes.

    Returns
    -------
    Plan
        Everything that can be seen, where that is few enough.
    """
    count = len(demand.chain_of)
    by_wallet = added(demand.wallets, demand.sizes, count)
    by_chain = added(demand.chain_of, by_wallet, demand.chains)
    least = LEAST * by_wallet.sum()
    chains = largest(np.where(by_chain < least, 0, by_chain), max(1, top // 2))
    pairs = np.bincount(demand.wallets, minlength=count)
    seen = np.bincount(demand.wallets[demand.sizes >= least], minlength=count)
    wallets = largest(np.where(by_wallet < least, 0, by_wallet), count)
    costs = _costs(demand, pairs, seen)[wallets].sum()
    others = len(np.unique(demand.chain_of[(by_wallet > 0) & (by_wallet < least)]))
    spare = top - len(chains) - 1 - int(costs) - _GROUP * others
    if spare >= 0 and len(chains) == (by_chain >= least).sum():
        return Plan(chains, chains, wallets, seen, 0 if demand.one_each else spare)
    open_chains = chains[by_chain[chains] >= _OPEN * by_chain.sum()][: max(1, top // 8)]
    return _shared(demand, top - len(chains) - 1, chains, open_chains, (by_wallet, pairs, seen))


def _costs(demand: Demand, pairs: Places, drawn: Places) -> Places:
    """Count the nodes of each wallet: itself, its tokens that are drawn, and Other."""
    return np.ones_like(pairs) if demand.one_each else 1 + drawn + (pairs > drawn)


def _shared(
    demand: Demand,
    top: int,
    chains: Places,
    open_chains: Places,
    of_wallets: tuple[Sizes, Places, Places],
) -> Plan:
    """Share nodes out between the largest wallets and the tokens of the others."""
    by_wallet, pairs, seen = of_wallets
    parts = by_wallet / by_wallet.sum()
    group = 1 if demand.one_each else _GROUP + _OF_OTHERS
    room = max(0, top - min(top // 2, group * len(open_chains)))
    drawn = np.minimum(seen, np.maximum(_OF_WALLET, (room * parts).astype(np.intp)))
    costs = _costs(demand, pairs, drawn)
    inside = np.isin(demand.chain_of, open_chains)
    large = inside & (parts >= (LEAST if demand.one_each else _OPEN))
    wallets = largest(np.where(large, parts, 0), len(parts))
    wallets = wallets[: np.searchsorted(np.cumsum(costs[wallets]), room, side="right")]
    rest = inside & (by_wallet > 0)
    rest[wallets] = False
    others = np.bincount(demand.chain_of[rest], minlength=demand.chains)
    spare = top - int(costs[wallets].sum()) - _GROUP * int((others > 0).sum())
    single = rest & (parts >= LEAST) & (others[demand.chain_of] == 1)
    alone = largest(np.where(single, parts, 0), len(parts))  # rather than as a group of one
    prices = np.cumsum(costs[alone] - _GROUP)
    count = int(np.searchsorted(prices, spare, side="right"))
    wallets = np.concatenate((wallets, alone[:count]))
    spare -= int(prices[count - 1]) if count else 0
    return Plan(chains, open_chains, wallets, drawn, 0 if demand.one_each else max(0, spare))
