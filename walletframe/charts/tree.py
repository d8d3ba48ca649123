"""The nodes of a hierarchy: blockchains, wallets, tokens, and on each level what is Other.

Their identifiers are their own: names, which strangers choose, are only drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from walletframe.charts.apportionment import LEAST
from walletframe.charts.canvas import hover, markup
from walletframe.charts.labels import token_labels, wallet_labels, whole_token, whole_wallet
from walletframe.charts.palette import OTHER, chosen_colors, patterns
from walletframe.charts.ranking import added, largest
from walletframe.charts.series import other
from walletframe.numerals import brief, many, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from walletframe.amounts.scalar import Amount
    from walletframe.charts.balances import Balances
    from walletframe.charts.leaves import Leaves
    from walletframe.charts.ranking import Places
    from walletframe.frames import TokenKey

_CHAIN_COLOR, _WALLET_COLOR = "#4D4D4D", "#707070"
OTHER_CHAINS, OTHER_WALLETS = "o", "g"
"""The node of blockchains that are not drawn for themselves; how those of such wallets begin."""


@dataclass(frozen=True, slots=True)
class Node:
    """One node, as plotly takes it.

    Attributes
    ----------
    id, parent : str
        Who it is; the parent of the first level is empty.
    label, text, hover : str
        Markup.
    color, pattern : str
        As ``#RRGGBB``, and what tells it from another token of this colour; empty for none.
    size : float
        Of one without nodes in it. Others have 0: plotly adds up what is in them, and totals given
        to it would have to agree with its own sums to the last bit.
    """

    id: str
    parent: str
    label: str
    text: str
    hover: str
    color: str
    size: float
    pattern: str = ""


def grow(balances: Balances, leaves: Leaves, colors: Mapping[TokenKey, str] | None) -> list[Node]:
    """Make the nodes.

    Parameters
    ----------
    balances : Balances
        What is drawn.
    leaves : Leaves
        Which of it.
    colors : mapping of (str, str or None) to str, optional
        Colours of tokens.

    Returns
    -------
    list of Node
        Parents before their children. Where one token is drawn, wallets are the leaves.
    """
    nodes = [*_chains(balances, leaves)]
    if balances.measure.kind != "amount":
        nodes += _wallets(balances, leaves)
    nodes += _groups(balances, leaves)
    nodes += _leaves(balances, leaves, colors)
    nodes += _others(balances, leaves)
    parents = {node.parent for node in nodes}
    return [replace(node, size=0.0) if node.id in parents else node for node in nodes]


def _chains(balances: Balances, leaves: Leaves) -> Iterator[Node]:
    measure, sizes = balances.measure, added(leaves.chains, leaves.sizes)
    closed = {*leaves.drawn_chains.tolist()}.difference(_open_chains(leaves).tolist())
    for chain in leaves.drawn_chains.tolist():
        name, size = leaves.chain_names[chain], float(sizes[chain])
        wallets = many(int(leaves.members[chain]), "wallet")
        short = [wallets] * (chain in closed)
        short += [measure.short(size)] * (measure.kind != "count" or not short)
        text = hover(name, wallets, measure.share(size, leaves.total))
        yield Node(f"b{chain}", "", markup([name]), markup(short), text, _CHAIN_COLOR, size)


def _open_chains(leaves: Leaves) -> Places:
    """Return the blockchains in which there is more to see than they themselves."""
    inside = leaves.owners < leaves.others
    inside[leaves.drawn] = True
    return np.unique(leaves.chains[inside])


def _id(leaves: Leaves, owner: int) -> str:
    return f"{'w' if owner < leaves.others else OTHER_WALLETS}{owner}"


def _wallets(balances: Balances, leaves: Leaves) -> Iterator[Node]:
    frame, wallets, measure = balances.frame, balances.wallets, balances.measure
    sizes = added(leaves.owners, leaves.sizes)
    chains = dict(zip(leaves.owners.tolist(), leaves.chains.tolist(), strict=True))
    for wallet, name in wallet_labels(frame, wallets, leaves.drawn_wallets.tolist()).items():
        size = float(sizes[wallet])
        yield Node(
            f"w{wallet}",
            f"b{chains[wallet]}",
            markup([name.partition(".")[2]]),
            markup([measure.short(size)]),
            hover(whole_wallet(frame, wallets, wallet), measure.share(size, leaves.total)),
            _WALLET_COLOR,
            size,
        )


def _groups(balances: Balances, leaves: Leaves) -> Iterator[Node]:
    """Give the wallets of each blockchain that are not drawn for themselves."""
    sizes = added(leaves.owners, leaves.sizes, leaves.others + len(leaves.chain_names))
    open_groups = leaves.owners[leaves.drawn]
    first = np.unique(leaves.owners, return_index=True)[1]
    alone = first[leaves.owners[first] < leaves.others]
    named = np.bincount(leaves.chains[alone], minlength=len(leaves.chain_names))
    for chain in _open_chains(leaves).tolist():
        owner, count = leaves.others + chain, int(leaves.members[chain] - named[chain])
        if sizes[owner] < LEAST * leaves.total:
            continue
        label = other(count, "wallet") if named[chain] else many(count, "wallet")
        node = _node_of_others(balances, leaves, float(sizes[owner]), f"b{chain}", label)
        is_leaf = owner not in open_groups
        yield replace(node, id=_id(leaves, owner), color=OTHER if is_leaf else _WALLET_COLOR)


def _leaves(
    balances: Balances, leaves: Leaves, colors: Mapping[TokenKey, str] | None
) -> Iterator[Node]:
    frame, tokens = balances.frame, balances.tokens
    sizes = added(leaves.tokens[leaves.drawn], leaves.sizes[leaves.drawn])
    places = largest(sizes, len(sizes)).tolist()
    color = chosen_colors(frame, tokens, places, colors)
    shapes = dict(zip(color, patterns(list(color.values())), strict=True))
    names = token_labels(frame, tokens, places)
    owners = leaves.owners[leaves.drawn]
    wallets = wallet_labels(frame, balances.wallets, owners[owners < leaves.others].tolist())
    for leaf, amount in balances.exact(leaves.of_rows, leaves.drawn.tolist()).items():
        owner, token = int(leaves.owners[leaf]), int(leaves.tokens[leaf])
        chain, size = leaves.chains[leaf], float(leaves.sizes[leaf])
        parent, label = _id(leaves, owner), _within(names[token], leaves.chain_names[chain])
        if balances.measure.kind == "amount":
            parent, label = f"b{chain}", [wallets[owner].partition(".")[2]]
        text = hover(names[token], *_lines(balances, leaves, leaf, amount))
        short = markup([_short(balances, leaves, leaf, amount)])
        yield Node(
            f"t{leaf}", parent, markup(label), short, text, color[token], size, shapes[token]
        )


def _lines(balances: Balances, leaves: Leaves, leaf: int, amount: Amount | None) -> list[str]:
    """Say of a leaf which token it is, whose, and how much."""
    frame, owner, measure = balances.frame, int(leaves.owners[leaf]), balances.measure
    symbol, where = whole_token(frame, balances.tokens, int(leaves.tokens[leaf]))
    whose = (
        f"{many(int(leaves.holders[leaf]), 'wallet')} of {leaves.chain_names[leaves.chains[leaf]]}"
    )
    if owner < leaves.others:
        whose = whole_wallet(frame, balances.wallets, owner)
    lines = [where, whose, f"{whole(amount)} {symbol}"]
    if measure.kind == "count" and owner < leaves.others:
        return lines
    return [*lines, measure.share(float(leaves.sizes[leaf]), leaves.total)]


def _short(balances: Balances, leaves: Leaves, leaf: int, amount: Amount | None) -> str:
    if balances.measure.kind != "count":
        return balances.measure.short(float(leaves.sizes[leaf]))
    if leaves.owners[leaf] < leaves.others:
        return brief(amount)
    return many(int(leaves.holders[leaf]), "wallet")


def _within(label: str, chain: str) -> list[str]:
    """Break a token's name into short lines, without the blockchain that is written around it."""
    name, _, where = label.removesuffix(")").rpartition(" (")
    if not name or not label.endswith(")"):
        return [label]
    where = where.removeprefix(chain).lstrip()
    return [name, f"({where})"] if where else [name]


def _others(balances: Balances, leaves: Leaves) -> Iterator[Node]:
    """Give what is not drawn: other tokens of those with tokens, and other blockchains."""
    rest = np.isin(leaves.owners, leaves.owners[leaves.drawn])
    rest[leaves.drawn] = False
    sizes = added(leaves.owners[rest], leaves.sizes[rest])
    for owner, count in enumerate(np.bincount(leaves.owners[rest]).tolist()):
        if count and sizes[owner] >= LEAST * leaves.total:
            label = other(count, "token")
            parent = _id(leaves, owner)
            yield _node_of_others(balances, leaves, float(sizes[owner]), parent, label)
    beyond = ~np.isin(leaves.chains, leaves.drawn_chains)
    size = float(leaves.sizes[beyond].sum())
    if size >= LEAST * leaves.total and size:
        label = other(len(np.unique(leaves.chains[beyond])), "blockchain")
        yield _node_of_others(balances, leaves, size, "", label)  # which is `OTHER_CHAINS`


def _node_of_others(
    balances: Balances, leaves: Leaves, size: float, parent: str, label: str
) -> Node:
    measure = balances.measure
    short = "" if measure.kind == "count" else markup([measure.short(size)])
    text = hover(label, measure.share(size, leaves.total))
    return Node(f"o{parent}", parent, label, short, text, OTHER, size)
