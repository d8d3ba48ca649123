"""The nodes of a treemap or sunburst: which are drawn, and what is folded into Other.

A node costs a browser its time, however small it is. Where all of them are too many, wallets that
are seen have half of them, each about as its size is, and the tokens of all other wallets the rest.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import pandas as pd

from walletframe.charts.balances import added, largest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from walletframe.amounts.scalar import Amount
    from walletframe.charts.balances import Balances, Mask
    from walletframe.charts.measures import Places, Sizes

    Kind: TypeAlias = Literal["blockchain", "wallet", "token"]

LEAST = 0.0003
"""The least share of all that is drawn: what is smaller can't be seen, and browsers draw circles
around the wrong centre where an arc is much shorter than a pixel."""

_OPEN = 0.01  # less has no room for a name and for what is in it
_OF_WALLET, _OF_OTHERS, _GROUP = 5, 6, 2  # a group has a node, and Other


@dataclass(frozen=True, slots=True)
class Node:
    """A blockchain, a wallet or a token of it, or several of them folded into one node."""

    kind: Kind  # what it is, or what is folded into it
    place: int  # which one: of the tree's blockchains, the wallets or the tokens; -1 for several
    count: int  # of how many wallets it is; of several tokens or blockchains, how many these are
    size: float  # all of it: what is too small to be drawn is in none of the children
    amount: Amount | None = None  # of one token without children, exact; None where unknown
    children: tuple[Node, ...] = ()  # Other is last; where one token is drawn, wallets have none

    @property
    def is_folded(self) -> bool:
        """Whether it stands for several that are not drawn."""
        return self.place < 0


@dataclass(frozen=True, slots=True)
class Tree:
    """The blockchains that are drawn, the largest first, and how much there is in all."""

    nodes: tuple[Node, ...]
    size: float
    chains: list[str]  # the names of all blockchains
    held_chains: int  # how many hold something
    wallets: int
    balances: int  # pairs of a token and a wallet, or all of a blockchain's that are not drawn

    def walk(self) -> Iterator[Node]:
        """Give every node, parents before their children."""
        return _walk(self.nodes)


@dataclass(frozen=True, slots=True)
class _Supply:
    """What could be drawn: each wallet's blockchain, share of all, tokens, and those to be seen."""

    chain_of: Places
    chains: int
    total: float
    shares: Sizes
    tokens: Places
    seen: Places
    one_each: bool  # a wallet is one node, its only token the same one

    def costs(self, drawn: Places) -> Places:
        """Count the nodes of each wallet: itself, its tokens that are drawn, and Other."""
        own = np.ones_like(self.tokens)
        return own if self.one_each else own + drawn + (self.tokens > drawn)


@dataclass(frozen=True, slots=True)
class _Budget:
    """What is drawn: blockchains and wallets, the largest first, and how many of their tokens."""

    chains: Places
    open_chains: Places  # in which there is more to see
    wallets: Places
    room: Places  # for each wallet of the frame the most tokens
    rest: int  # the most tokens of all other wallets


@dataclass(frozen=True, slots=True)
class _Leaves:
    """What each owner holds of each token: a wallet drawn for itself, or a blockchain's others."""

    of_rows: Places
    owners: Places  # wallets, and behind them blockchains
    tokens: Places
    sizes: Sizes
    holders: Places  # how many wallets each is of
    drawn: Mask


def grow(balances: Balances, top: int) -> Tree:
    """Choose at most `top` nodes of balances, of which there are some.

    Drawn are the largest wallets with their largest tokens, and of the other wallets of each
    blockchain the largest tokens. Of equal ones the tokens that most wallets hold come first.
    """
    wide = max(len(balances.positions.tokens.keys), 1)
    of_rows, pairs = pd.factorize(balances.wallet_codes * wide + balances.token_codes)
    wallets, tokens = np.divmod(pairs, wide)
    sizes = added(of_rows, balances.sizes, len(pairs))
    chain_of, chains = balances.positions.chain_codes, balances.chains
    supply = _supply(wallets, sizes, chain_of, one_each=balances.measure.one_token)
    budget = _apportion(supply, top)
    owners = np.where(np.isin(wallets, budget.wallets), wallets, len(chain_of) + chain_of[wallets])
    of_pairs, merged = pd.factorize(owners * wide + tokens)
    owners, merged_tokens = np.divmod(merged, wide)
    sizes = added(of_pairs, sizes, len(merged))
    seen = sizes / supply.total >= LEAST  # as wallets are, to the last bit
    drawn = _chosen(budget, owners, sizes, seen, np.bincount(tokens)[merged_tokens])
    holders = np.bincount(of_pairs, minlength=len(merged))
    leaves = _Leaves(of_pairs[of_rows], owners, merged_tokens, sizes, holders, drawn)
    members = np.bincount(chain_of[np.unique(wallets)], minlength=len(chains))
    return Tree(
        nodes=(*_chains(balances, leaves, budget, supply, members),),
        size=float(sizes.sum()),
        chains=chains,
        held_chains=int((members > 0).sum()),
        wallets=int(members.sum()),
        balances=len(merged),
    )


def _walk(nodes: Iterable[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        yield from _walk(node.children)


def _supply(wallets: Places, sizes: Sizes, chain_of: Places, *, one_each: bool) -> _Supply:
    """Count what pairs of a wallet and a token come to."""
    count = len(chain_of)
    by_wallet = added(wallets, sizes, count)
    total = float(by_wallet.sum())
    return _Supply(
        chain_of=chain_of,
        chains=int(chain_of.max()) + 1,
        total=total,
        shares=by_wallet / total,
        tokens=np.bincount(wallets, minlength=count),
        seen=np.bincount(wallets[sizes / total >= LEAST], minlength=count),
        one_each=one_each,
    )


def _apportion(supply: _Supply, top: int) -> _Budget:
    """Choose blockchains and wallets: all that can be seen, where that is few enough."""
    by_chain = added(supply.chain_of, supply.shares, supply.chains)
    chains = _visible(by_chain, max(1, top // 2))
    wallets = _visible(supply.shares, len(supply.shares))
    unseen = (supply.shares > 0) & (supply.shares < LEAST)
    groups = len(np.unique(supply.chain_of[unseen]))
    costs = int(supply.costs(supply.seen)[wallets].sum())
    spare = top - len(chains) - 1 - costs - _GROUP * groups
    if spare >= 0 and len(chains) == (by_chain >= LEAST).sum():
        rest = 0 if supply.one_each else spare
        return _Budget(chains, chains, wallets, supply.seen, rest)
    open_chains = chains[by_chain[chains] >= _OPEN][: max(1, top // 8)]
    return _shared_out(supply, top - len(chains) - 1, chains, open_chains)


def _visible(shares: Sizes, top: int) -> Places:
    return largest(np.where(shares < LEAST, 0, shares), top)


def _shared_out(supply: _Supply, top: int, chains: Places, open_chains: Places) -> _Budget:
    """Share nodes out between the largest wallets and the tokens of the others."""
    group = 1 if supply.one_each else _GROUP + _OF_OTHERS
    room = max(0, top - min(top // 2, group * len(open_chains)))
    of_each = np.maximum(_OF_WALLET, (room * supply.shares).astype(np.intp))
    drawn = np.minimum(supply.seen, of_each)
    costs = supply.costs(drawn)
    inside = np.isin(supply.chain_of, open_chains)
    large = inside & (supply.shares >= (LEAST if supply.one_each else _OPEN))
    wallets = largest(np.where(large, supply.shares, 0), len(large))
    wallets = wallets[: np.searchsorted(np.cumsum(costs[wallets]), room, side="right")]
    rest = inside & (supply.shares > 0)
    rest[wallets] = False
    others = np.bincount(supply.chain_of[rest], minlength=supply.chains)
    spare = top - int(costs[wallets].sum()) - _GROUP * int((others > 0).sum())
    single = rest & (others[supply.chain_of] == 1)  # drawn rather than as a group of one
    alone = _visible(np.where(single, supply.shares, 0), len(single))
    prices = np.cumsum(costs[alone] - _GROUP)
    count = int(np.searchsorted(prices, spare, side="right"))
    spare -= int(prices[count - 1]) if count else 0
    wallets = np.concatenate((wallets, alone[:count]))
    return _Budget(chains, open_chains, wallets, drawn, 0 if supply.one_each else max(0, spare))


def _chosen(budget: _Budget, owners: Places, sizes: Sizes, seen: Mask, holders: Places) -> Mask:
    """Choose leaves of each wallet that is drawn, and with the room that is left of all others."""
    count = len(budget.room)
    order = np.lexsort((-holders, -sizes))
    order = order[seen[order]]
    own = order[owners[order] < count]
    rank = pd.Series(own).groupby(owners[own]).cumcount().to_numpy()
    drawn = np.zeros(len(owners), dtype=bool)
    drawn[own[rank < budget.room[owners[own]]]] = True
    drawn[order[np.isin(owners[order] - count, budget.open_chains)][: budget.rest]] = True
    left = np.bincount(owners[~drawn], minlength=owners.max() + 1)
    single = seen & (left[owners] == 1) & np.isin(owners, owners[drawn])  # all that Other would be
    return np.asarray(drawn | single)


def _chains(
    balances: Balances, leaves: _Leaves, budget: _Budget, supply: _Supply, members: Places
) -> Iterator[Node]:
    """Make the nodes of blockchains, and one of those that are not drawn for themselves."""
    groups, one_each = len(supply.chain_of), supply.one_each
    sizes = added(leaves.owners, leaves.sizes, groups + supply.chains)
    chain_of = np.append(supply.chain_of, np.arange(supply.chains))
    by_chain = added(chain_of[leaves.owners], leaves.sizes, supply.chains)
    inside = _tokens(balances, leaves)
    alone: dict[int, list[Node]] = defaultdict(list)
    for wallet in budget.wallets.tolist():
        alone[int(chain_of[wallet])].append(_wallet(wallet, sizes, inside, one_each=one_each))
    for chain in budget.chains.tolist():
        wallets, others = alone[chain], inside[groups + chain]
        size = float(sizes[groups + chain])
        if (wallets or others) and size >= LEAST * leaves.sizes.sum():
            count = int(members[chain]) - len(wallets)
            wallets = [*wallets, Node("wallet", -1, count, size, children=tuple(others))]
        count, size = int(members[chain]), float(by_chain[chain])
        yield Node("blockchain", chain, count, size, children=tuple(wallets))
    by_chain[budget.chains] = 0
    if by_chain.sum() >= LEAST * leaves.sizes.sum():
        yield Node("blockchain", -1, int((by_chain > 0).sum()), float(by_chain.sum()))


def _wallet(place: int, sizes: Sizes, inside: dict[int, list[Node]], *, one_each: bool) -> Node:
    if one_each:
        [token] = inside[place]
        return replace(token, kind="wallet", place=place)
    return Node("wallet", place, 1, float(sizes[place]), children=tuple(inside[place]))


def _tokens(balances: Balances, leaves: _Leaves) -> dict[int, list[Node]]:
    """Make the nodes of tokens of each owner who has any, and one of the other tokens."""
    inside: dict[int, list[Node]] = defaultdict(list)
    owners, sizes = leaves.owners, leaves.sizes
    drawn = np.flatnonzero(leaves.drawn)
    amounts = balances.exact(leaves.of_rows, drawn)
    for leaf, amount in zip(drawn.tolist(), amounts, strict=True):
        token, holders = int(leaves.tokens[leaf]), int(leaves.holders[leaf])
        inside[int(owners[leaf])].append(Node("token", token, holders, float(sizes[leaf]), amount))
    rest = ~leaves.drawn & np.isin(owners, owners[leaves.drawn])
    rest_sizes, counts = added(owners[rest], sizes[rest]), np.bincount(owners[rest])
    for owner in np.flatnonzero(rest_sizes >= max(LEAST * sizes.sum(), 1e-300)).tolist():
        other = Node("token", -1, int(counts[owner]), float(rest_sizes[owner]))
        inside[owner].append(other)
    return inside
