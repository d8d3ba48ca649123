"""The nodes of a treemap or sunburst: which are drawn, and what is folded into Other.

A node costs a browser its time, however small it is. All that can be seen is drawn where that is
few enough. Else the boxes come first: blockchains, large wallets, and all other wallets of a
blockchain as one; the nodes that are left are the largest tokens in these boxes.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from walletframe.charts.balances import added, largest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from walletframe.amounts.scalar import Amount
    from walletframe.charts.balances import Balances
    from walletframe.charts.measures import Places, Sizes

    Kind: TypeAlias = Literal["blockchain", "wallet", "token"]

LEAST = 0.0003
"""The least share of all that is drawn: what is smaller can't be seen, and browsers draw circles
around the wrong centre where an arc is much shorter than a pixel."""


class Least(NamedTuple):
    """The least shares of all that are drawn for themselves; what is smaller is folded."""

    token: float
    box: float
    open: float  # of boxes, where not everything is drawn: less has no room for what is in it
    leaves: float  # all leaves together: where there is less, none is drawn


SEEN, READ = Least(LEAST, LEAST, 0.01, 0), Least(0.014, 0.025, 0.025, 0.5)
"""What can be seen; what has room for a name, too, on rings of 250 pixels."""


@dataclass(frozen=True, slots=True)
class Node:
    """A blockchain, a wallet or a token of it, or several of them folded into one node."""

    kind: Kind  # what it is, or what is folded into it
    place: int  # which one: of all blockchains, wallets or tokens; -1 for several
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
    held_chains: int  # how many hold something
    wallets: int
    balances: int  # pairs of a token and a wallet

    def walk(self) -> Iterator[Node]:
        """Give every node, parents before their children."""
        return _walk(self.nodes)


def _walk(nodes: Iterable[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        yield from _walk(node.children)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """What each wallet holds of each token, its rows added up."""

    of_rows: Places  # the pair of each row that is drawn
    wallets: Places
    tokens: Places
    sizes: Sizes


def grow(balances: Balances, top: int, least: Least = SEEN) -> Tree:
    """Choose at most `top` nodes of balances, of which there are some."""
    held, one_token = balances.positions, balances.measure.one_token
    chain_of, count, wide = held.chain_codes, len(held.wallets), len(held.tokens.keys)
    of_rows, codes = pd.factorize(balances.wallet_codes * wide + balances.token_codes)
    pairs = _Pairs(of_rows, *np.divmod(codes, wide), added(of_rows, balances.sizes))
    chains, opened, alone, spare = _boxes(pairs, chain_of, top, least, one_token=one_token)
    # The box of a wallet has its place; behind all of these are those of each blockchain's others.
    box_of = count + chain_of
    box_of[alone] = alone
    boxes = box_of[pairs.wallets]
    inside = _inside(balances, pairs, boxes, np.append(alone, count + opened), spare, least)
    by_box = added(boxes, pairs.sizes, count + len(held.chains))
    by_chain = added(chain_of[pairs.wallets], pairs.sizes, len(held.chains))
    members = np.bincount(chain_of[np.unique(pairs.wallets)], minlength=len(held.chains))
    seen, nodes = LEAST * by_chain.sum(), []
    for chain in chains.tolist():
        children, size = inside[count + chain], float(by_box[count + chain])
        if not one_token:
            places = alone[chain_of[alone] == chain].tolist()
            number, others = int(members[chain]) - len(places), tuple(children)
            is_seen = (places or others) and size >= seen
            children = [
                Node("wallet", place, 1, float(by_box[place]), children=tuple(inside[place]))
                for place in places
            ]
            children += [Node("wallet", -1, number, size, children=others)] if is_seen else []
        number, size = int(members[chain]), float(by_chain[chain])
        nodes.append(Node("blockchain", chain, number, size, children=tuple(children)))
    rest = np.delete(by_chain, chains)
    if rest.sum() >= seen:
        nodes.append(Node("blockchain", -1, int((rest > 0).sum()), float(rest.sum())))
    total, held_chains = float(pairs.sizes.sum()), int((members > 0).sum())
    return Tree(tuple(nodes), total, held_chains, int(members.sum()), len(codes))


def _boxes(
    pairs: _Pairs, chain_of: Places, top: int, wanted: Least, *, one_token: bool
) -> tuple[Places, Places, Places, int]:
    """Choose blockchains, those that are opened, and wallets; say how many leaves there may be.

    Where one token is drawn, wallets are leaves.
    """
    shares = pairs.sizes / pairs.sizes.sum()
    seen = shares >= wanted.token
    folds = np.bincount(pairs.wallets[~seen], minlength=len(chain_of)) > 0  # has small tokens
    by_wallet = added(pairs.wallets, shares, len(chain_of))
    by_chain = added(chain_of, by_wallet)
    chains = largest(np.where(by_chain >= LEAST, by_chain, 0), top // 2)
    everything = (wanted.box, top, len(chain_of))
    what_has_room = (wanted.open, max(1, top // 8), top // 12)
    for least, most_chains, most_wallets in (everything, what_has_room):
        opened = chains[by_chain[chains] >= least][:most_chains]
        others = (by_wallet > 0) & np.isin(chain_of, opened)
        large = others & (by_wallet >= least) & (not one_token)
        alone = largest(np.where(large, by_wallet, 0), most_wallets)
        others[alone] = False
        lonely = np.bincount(chain_of[others], minlength=len(by_chain)) == 1  # drawn for itself
        single = others & lonely[chain_of] & (by_wallet >= LEAST) & (not one_token)
        alone = np.append(alone, np.flatnonzero(single))
        others[alone] = False
        groups = len(np.unique(chain_of[others]))
        boxes = (len(alone) + groups) * (1 if one_token else 2)  # each has an Other
        spare = top - len(chains) - 1 - boxes
        at_best = spare if groups else spare + int((~folds[alone]).sum())
        if at_best >= seen.sum():
            return chains, opened, alone, at_best
    if spare < 0:
        return chains, opened[:0], alone[:0], 0
    if one_token:
        return chains, opened, alone, spare
    return chains, opened, alone, min(spare, 4 * top // 5)  # a fifth is for what is around them


def _inside(
    balances: Balances, pairs: _Pairs, boxes: Places, opened: Places, spare: int, least: Least
) -> dict[int, list[Node]]:
    """Make the nodes in each box that has any: its largest leaves, and one of the others."""
    kind: Kind = "wallet" if balances.measure.one_token else "token"
    things = pairs.wallets if kind == "wallet" else pairs.tokens
    wide = int(things.max()) + 1
    of_pairs, cells = pd.factorize(boxes * wide + things)
    boxes, places = np.divmod(cells, wide)
    sizes, holders = added(of_pairs, pairs.sizes), np.bincount(of_pairs)
    shares = sizes / sizes.sum()
    # Of equal ones those come first that most wallets hold, and each box has its turn.
    best = np.flatnonzero((shares >= least.token) & np.isin(boxes, opened))
    best = best[np.lexsort((-np.bincount(things)[places[best]], -sizes[best]))]
    turns = pd.Series(best).groupby(boxes[best]).cumcount()
    best = best[np.lexsort((turns, -sizes[best]))][:spare]
    best = best if shares[best].sum() >= least.leaves else best[:0]
    rest = np.isin(boxes, boxes[best])
    rest[best] = False
    counts = np.bincount(boxes[rest], minlength=int(boxes.max()) + 1)
    single = rest & (shares >= LEAST) & (counts[boxes] == 1)  # all that Other would be
    rest[single] = False
    best = np.append(best, np.flatnonzero(single))
    inside: dict[int, list[Node]] = defaultdict(list)
    for leaf, amount in zip(
        best.tolist(), balances.exact(of_pairs[pairs.of_rows], best), strict=True
    ):
        token = Node(kind, int(places[leaf]), int(holders[leaf]), float(sizes[leaf]), amount)
        inside[int(boxes[leaf])].append(token)
    folded = added(boxes[rest], sizes[rest])
    for box in np.flatnonzero(folded).tolist():
        if folded[box] >= LEAST * sizes.sum():
            inside[box].append(Node(kind, -1, int(counts[box]), float(folded[box])))
    return inside
