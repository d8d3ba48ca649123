"""The nodes of a hierarchy: blockchains, wallets, tokens, and on each level what is Other.

Their identifiers are their own: names, which strangers choose, are only drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from walletframe.charts.canvas import hover, markup
from walletframe.charts.labels import token_labels, wallet_labels, whole_token, whole_wallet
from walletframe.charts.leaves import LEAST
from walletframe.charts.numerals import brief, whole
from walletframe.charts.palette import OTHER, chosen_colors
from walletframe.charts.ranking import added
from walletframe.frames.summary import many

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from walletframe.charts.balances import Balances
    from walletframe.charts.leaves import Leaves
    from walletframe.frames import TokenKey

_CHAIN_COLOR, _WALLET_COLOR = "#4D4D4D", "#707070"


@dataclass(frozen=True, slots=True)
class Node:
    """One node, as plotly takes it.

    Attributes
    ----------
    id, parent : str
        Who it is; the parent of the first level is empty.
    label, text, hover : str
        Markup.
    color : str
        As ``#RRGGBB``.
    size : float
        Of a leaf. Others have 0: plotly adds up their leaves, and totals given to it would have
        to agree with its own sums to the last bit.
    """

    id: str
    parent: str
    label: str
    text: str
    hover: str
    color: str
    size: float = 0.0


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
    return [*nodes, *_leaves(balances, leaves, colors), *_others(balances, leaves)]


def _chains(balances: Balances, leaves: Leaves) -> Iterator[Node]:
    sizes = added(leaves.chains, leaves.sizes)
    wallets = np.bincount(leaves.chains[np.unique(leaves.wallets, return_index=True)[1]])
    for chain in leaves.drawn_chains:
        name, size = leaves.chain_names[chain], float(sizes[chain])
        lines = many(int(wallets[chain]), "wallet"), balances.measure.share(size, leaves.total)
        short = balances.measure.short(size)
        yield Node(
            f"b{chain}", "", markup([name]), markup([short]), hover(name, *lines), _CHAIN_COLOR
        )


def _wallets(balances: Balances, leaves: Leaves) -> Iterator[Node]:
    names = wallet_labels(balances.frame, balances.wallets, leaves.drawn_wallets.tolist())
    sizes = added(leaves.wallets, leaves.sizes)
    chains = dict(zip(leaves.wallets.tolist(), leaves.chains.tolist(), strict=True))
    for wallet, name in names.items():
        size = float(sizes[wallet])
        label, short = name.partition(".")[2], balances.measure.short(size)
        whole_name = whole_wallet(balances.frame, balances.wallets, wallet)
        text = hover(whole_name, balances.measure.share(size, leaves.total))
        yield Node(
            f"w{wallet}",
            f"b{chains[wallet]}",
            markup([label]),
            markup([short]),
            text,
            _WALLET_COLOR,
        )


def _leaves(
    balances: Balances, leaves: Leaves, colors: Mapping[TokenKey, str] | None
) -> Iterator[Node]:
    frame, tokens, measure = balances.frame, balances.tokens, balances.measure
    places = np.unique(leaves.tokens[leaves.drawn]).tolist()
    color = chosen_colors(frame, tokens, places, colors)
    token_names = token_labels(frame, tokens, places)
    wallet_names = wallet_labels(frame, balances.wallets, leaves.wallets[leaves.drawn].tolist())
    amounts = balances.exact(leaves.of_rows, leaves.drawn.tolist())
    for leaf, amount in amounts.items():
        wallet, token, size = leaves.wallets[leaf], leaves.tokens[leaf], float(leaves.sizes[leaf])
        symbol, where = whole_token(frame, tokens, token)
        owner = whole_wallet(frame, balances.wallets, wallet)
        lines = [where, owner, f"{whole(amount)} {symbol}"]
        parent, short = f"w{wallet}", measure.short(size)
        label = _within(token_names[token], leaves.chain_names[leaves.chains[leaf]])
        if measure.kind == "amount":
            parent, label = f"b{leaves.chains[leaf]}", [wallet_names[wallet].partition(".")[2]]
        if measure.kind == "count":
            short = brief(amount)
        else:
            lines.append(measure.share(size, leaves.total))
        yield Node(
            f"t{leaf}",
            parent,
            markup(label),
            markup([short]),
            hover(token_names[token], *lines),
            color[token],
            size,
        )


def _within(label: str, chain: str) -> list[str]:
    """Break a token's name into short lines, without the blockchain that is written around it."""
    name, _, where = label.removesuffix(")").rpartition(" (")
    if not name or not label.endswith(")"):
        return [label]
    where = where.removeprefix(chain).lstrip()
    return [name, f"({where})"] if where else [name]


def _others(balances: Balances, leaves: Leaves) -> Iterator[Node]:
    """Give what is not drawn: balances of drawn wallets, other wallets, other blockchains."""
    rest = np.ones(len(leaves.sizes), dtype=bool)
    rest[leaves.drawn] = False
    in_wallet = rest & np.isin(leaves.wallets, leaves.drawn_wallets)
    in_chain = rest & ~in_wallet & np.isin(leaves.chains, leaves.drawn_chains)
    beyond = rest & ~in_wallet & ~in_chain
    levels = [
        (in_wallet, leaves.wallets, "w", leaves.tokens, "token"),
        (in_chain, leaves.chains, "b", leaves.wallets, "wallet"),
        (beyond, np.zeros_like(leaves.chains), "", leaves.chains, "blockchain"),
    ]
    for mask, parents, prefix, members, noun in levels:
        for parent in np.unique(parents[mask]):
            own = np.flatnonzero(mask & (parents == parent))
            what = many(len(np.unique(members[own])), noun)
            size = float(leaves.sizes[own].sum())
            if size >= LEAST * leaves.total:
                yield _other(balances, leaves, size, f"{prefix}{parent}" if prefix else "", what)


def _other(balances: Balances, leaves: Leaves, size: float, parent: str, what: str) -> Node:
    label, measure = f"Other ({what})", balances.measure
    short = "" if measure.kind == "count" else markup([measure.short(size)])
    text = hover(label, measure.share(size, leaves.total))
    return Node(f"o{parent}", parent, label, short, text, OTHER, size)
