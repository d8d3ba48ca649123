"""Treemap and sunburst: blockchains, their wallets, and the tokens of these; or any path."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import plotly.graph_objects as go

from walletframe.charts.balances import check_top
from walletframe.charts.boxes import BOTH, CHAIN_COLOR, WALLET_COLOR, Box, arrays
from walletframe.charts.canvas import LEAST_SIZE, Space, blank, figure, hover, markup
from walletframe.charts.levels import read_groupings
from walletframe.charts.nodes import READ, SEEN, grow
from walletframe.charts.notes import drawn_of, other
from walletframe.charts.palette import OTHER, chosen_colors, patterns
from walletframe.charts.paths import nest
from walletframe.frames import names_of, without_chain
from walletframe.numerals import many, percent, whole
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from walletframe.charts.balances import Balances
    from walletframe.charts.levels import Groupings
    from walletframe.charts.nodes import Least, Node, Tree
    from walletframe.frames import AssetsLike, By, FetchLike, PositionsLike, TokenKey, TokenLike

_TREEMAP, _SUNBURST = 500, 300
_TILES, _RINGS = Space(420), Space(520)
_ROUNDING = 1e-12
PATH = ("blockchain", "wallet", "token")


class _Form(NamedTuple):
    """How a tree is drawn."""

    trace: Callable[..., Any]
    size: str  # what is large where much is held
    space: Space
    least: Least
    between: str  # the lines of what is around others: a rectangle has one line for them


def treemap(  # noqa: PLR0913  each is one choice of whoever draws it
    holdings: PositionsLike,
    *,
    by: By = PATH,
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    top: int = 250,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    colors: Mapping[TokenKey, str] | None = None,
) -> go.Figure:
    """Draw holdings as nested rectangles, such as blockchains, wallets, tokens."""
    limit = check_top("top", top, _TREEMAP)
    path = _shorter(by, one=token is not None or asset is not None)
    found = read_groupings(
        holdings, path, token=token, asset=asset, wallets=wallets, assets=assets, bridged=bridged
    )
    trace = partial(
        go.Treemap,
        tiling={"pad": 1},
        marker_pad={"t": 20, "l": 2, "r": 2, "b": 2},
        marker_cornerradius=2,
    )
    return _drawn(_Form(trace, "Area", _TILES, SEEN, " · "), found, limit, wallets, colors)


def sunburst(  # noqa: PLR0913  each is one choice of whoever draws it
    holdings: PositionsLike,
    *,
    by: By = PATH,
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    top: int = 250,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    colors: Mapping[TokenKey, str] | None = None,
) -> go.Figure:
    """Draw holdings as rings, such as blockchains inside, then wallets, tokens outside."""
    limit = check_top("top", top, _SUNBURST)
    path = _shorter(by, one=token is not None or asset is not None)
    found = read_groupings(
        holdings, path, token=token, asset=asset, wallets=wallets, assets=assets, bridged=bridged
    )
    trace = partial(go.Sunburst, leaf_opacity=1)
    return _drawn(_Form(trace, "Angle", _RINGS, READ, "<br>"), found, limit, wallets, colors)


def _drawn(
    form: _Form,
    found: Groupings,
    top: int,
    wallets: FetchLike | None,
    colors: Mapping[TokenKey, str] | None,
) -> go.Figure:
    balances, one_token = found.balances, found.balances.measure.one_token
    if not len(balances.rows):
        return blank(found.title, balances.notes([], wallets), balances.why_none)
    if found.names == [*_shorter(PATH, one=one_token)]:
        tree = grow(balances, top, form.least)
        boxes = [*_boxes(_look(tree, balances, colors), tree.nodes, (), "")]
        extent = _extent(tree, one_token=one_token)
    else:
        boxes, extent = nest(found, top, form.least, colors)
    lost = 1 - sum(box.size for box in boxes) / float(balances.sizes.sum())
    said = [f"{form.size}: {balances.measure.phrase}.", *extent]
    small = [f"{percent(lost)} is too small to be drawn."] * (lost > _ROUNDING)
    notes = balances.notes(said, wallets)
    return figure(
        [form.trace(**arrays(_headed(boxes, form.between)))],
        title=found.title,
        notes=notes._replace(left_out=[*notes.left_out, *small]),
        space=form.space,
        uniformtext={"minsize": LEAST_SIZE, "mode": "hide"},
    )


def _headed(boxes: list[Box], between: str) -> list[Box]:
    """Join the lines of each box that is around others: plotly hides what has no room."""
    around = {box.parent for box in boxes}
    return [
        box._replace(label=box.label.replace("<br>", between)) if box.id in around else box
        for box in boxes
    ]


def _shorter(by: By, *, one: bool) -> By:
    """Leave out tokens of the usual path where one alone is drawn: wallets tell its parts apart."""
    return PATH[:-1] if one and (*names_of(by),) == PATH else by


def _extent(tree: Tree, *, one_token: bool) -> list[str]:
    """Say which blockchains, wallets and balances are drawn, as far as not all are."""
    nodes = [(node.kind, node.is_folded) for node in tree.walk()]
    alone, tokens = nodes.count(("wallet", False)), nodes.count(("token", False))
    chains, said = nodes.count(("blockchain", False)), []
    if ("blockchain", True) in nodes:
        said.append(drawn_of((chains, tree.held_chains - chains, "blockchain")))
    if one_token and alone:
        return [*said, drawn_of((alone, tree.wallets - alone, "wallet"))]
    if alone == tree.wallets:
        return [*said, drawn_of((tokens, tree.balances - tokens, "balance"))]
    which = many(tree.wallets, "wallet")
    if alone and ("wallet", True) not in nodes:
        return [*said, f"{alone:,} of {which}."]
    which = f"{alone:,} of {which} alone, the others" if alone else which
    level = "blockchain and token" if tokens else "blockchain"
    return [*said, f"{which} added up by {level}."]


@dataclass(frozen=True, slots=True)
class _Look:
    """How the nodes of a tree are called and painted: wallets and tokens by their places."""

    balances: Balances
    total: float
    chains: list[str]
    wallets: dict[int, list[str]]  # lines, as their blockchain is written around them
    tokens: dict[int, str]  # as everywhere
    inside: dict[int, str]  # tokens, where their blockchain is written around them
    colors: dict[int, str]
    patterns: dict[int, str]


def _look(tree: Tree, balances: Balances, colors: Mapping[TokenKey, str] | None) -> _Look:
    sizes = dict.fromkeys(balances.token_codes[:1].tolist() * balances.measure.one_token, 0.0)
    wallets = []
    for node in tree.walk():
        if node.kind == "token" and not node.is_folded:
            sizes[node.place] = sizes.get(node.place, 0.0) + node.size
        elif node.kind == "wallet" and not node.is_folded:
            wallets.append(node.place)
    places = sorted(sizes, key=lambda place: (-sizes[place], place))
    fills = chosen_colors(balances.positions, places, colors)
    labels = zip(wallets, balances.wallet_names(wallets), strict=True)
    called = [without_chain(label, balances.names[place]) for place, label in labels]
    return _Look(
        balances=balances,
        total=tree.size,
        chains=[*balances.positions.chain_places],
        wallets=dict(zip(wallets, called, strict=True)),
        tokens=dict(zip(places, balances.token_names(places), strict=True)),
        inside=dict(zip(places, balances.token_names(places, by_chain=True), strict=True)),
        colors=fills,
        patterns=dict(zip(fills, patterns([*fills.values()]), strict=True)),
    )


def _boxes(
    look: _Look, nodes: tuple[Node, ...], above: tuple[Node, ...], parent: str
) -> Iterator[Box]:
    """Give the boxes of nodes, parents before their children."""
    for node in nodes:
        own = ("o" if node.is_folded else f"{node.kind[0]}{node.place}") + parent
        size = 0.0 if node.children else node.size
        yield Box(own, parent, size, *_face(look, node, above))
        yield from _boxes(look, node.children, (*above, node), own)


def _face(look: _Look, node: Node, above: tuple[Node, ...]) -> tuple[str, ...]:
    """Say what is seen of a node: its label, text, hover and colour, and perhaps a pattern."""
    measure = look.balances.measure
    share = measure.share(node.size, look.total)
    if node.is_folded:
        beside = node.kind != "wallet" or not all(each.is_folded for each in above[0].children)
        label = other(node.count, node.kind) if beside else many(node.count, node.kind)
        color = WALLET_COLOR if node.children else OTHER
        return label, markup([measure.below(node.size)]), hover(label, share), color
    if node.kind == "token" or (measure.one_token and node.kind == "wallet"):
        return _leaf(look, node, above)
    if node.kind == "wallet":
        name = look.balances.whole_wallet(node.place)
        text = markup([measure.short(node.size)])
        return markup(look.wallets[node.place]), text, hover(name, share), WALLET_COLOR
    name, count = look.chains[node.place], many(node.count, "wallet")
    texts = [measure.short(node.size)] if node.children else [count, measure.below(node.size)]
    text = markup([text for text in texts if text])
    return markup([name]), text, hover(name, count, share), CHAIN_COLOR


def _leaf(look: _Look, node: Node, above: tuple[Node, ...]) -> tuple[str, ...]:
    """Say which token it is, whose, and how much."""
    balances, chain, owner = look.balances, look.chains[above[0].place], (*above, node)[1]
    [token] = [node.place] if node.kind == "token" else look.tokens
    if node.kind == "token":
        label = _within(look.inside[token], balances.positions.tokens.keys[token][0], chain)
    else:
        label = look.wallets[node.place]
    of = many(node.count, "wallet") if owner.is_folded else ""
    whose = f"{of} of {chain}" if of else balances.whole_wallet(owner.place)
    symbol, where = balances.whole_token(token)
    amount = f"{whole(node.amount)} {symbol}"
    share = balances.measure.leaf_share(node.size, look.total, of)
    small = node.size < BOTH * look.total
    text = "" if small else markup([balances.measure.leaf(node.size, node.amount, of)])
    told = hover(look.tokens[token], where, whose, amount, share)
    return markup(label), text, told, look.colors[token], look.patterns[token]


def _within(label: str, own: str, chain: str) -> list[str]:
    """Break a token's name into short lines, with its own blockchain where it is in another's."""
    name, _, where = label.removesuffix(")").rpartition(" (")
    if not name or not label.endswith(")"):
        name, where = label, ""
    where = where.removeprefix(own).lstrip()
    where = where if own == chain or not own else f"{shown(own)} {where}".rstrip()
    return [name, f"({where})"] if where else [name]
