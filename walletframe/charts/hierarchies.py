"""Treemap and sunburst: blockchains, their wallets, and the tokens of these; or any path."""
# A tree is a list of rings, from outside in: the groups by the first name of the path, by the first
# two, and so on. A box costs a browser its time, however small it is. All that can be seen is drawn
# where that is few enough. Else, of blockchains and wallets, the boxes come first: blockchains,
# large wallets, and all other wallets of a blockchain as one; what is left is for the largest
# tokens in these. Of any other path, the largest groups are drawn, wherever they are.

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from walletframe.charts.balances import LEAST, added, check_top, largest, ranks, read_groupings
from walletframe.charts.canvas import (
    LEAST_SIZE,
    Space,
    blank,
    drawn_of,
    figure,
    hover,
    markup,
    other,
)
from walletframe.charts.palette import (
    COLORS,
    OTHER,
    OUTLINE,
    PATTERN,
    chosen_colors,
    patterns,
    text_on,
)
from walletframe.frames.groups import ADDED, names_of
from walletframe.frames.identity import first_rows
from walletframe.frames.names import wallet_lines, without_chain
from walletframe.numerals import brief, many, percent, whole
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from walletframe.amounts.scalar import Amount
    from walletframe.charts.balances import Balances, Groupings, Level, Places, Sizes
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import FetchLike
    from walletframe.frames.groups import By
    from walletframe.frames.identity import Mask, TokenKey
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import PositionsLike

_ROUNDING = 1e-12
_CHAIN_COLOR, _WALLET_COLOR = "#4D4D4D", "#707070"  # of the outermost around others, and of others
_BOTH = 0.01  # the share of all below which there is room for a name, and perhaps not for a number
_OPPOSITE = {"#000000": "#FFFFFF", "#FFFFFF": "#000000"}
_NEVER, _NONE = sys.maxsize, np.array([], dtype=np.intp)
_ID = re.compile(r"(\d+)\.(\d+)(\+?)")
PATH = ("blockchain", "wallet", "token")


class _Form(NamedTuple):
    """How a tree is drawn, and the least shares of all that are: what is smaller is folded."""

    trace: Callable[..., Any]
    size: str  # what is large where much is held
    space: Space
    between: str  # the lines of what is around others: a rectangle has one line for them
    token: float
    box: float
    open: float  # of boxes, where not everything is drawn: less has no room for what is in it
    leaves: float  # all leaves together: where there is less, none is drawn


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
    """Draw holdings as nested rectangles: blockchains, wallets, tokens, or any other path.

    Areas show ``value`` if there is such a column (float64, with an optional ``currency``),
    else numbers of balances.

    Parameters
    ----------
    by : str or list of str, default ("blockchain", "wallet", "token")
        The path, from outside in: the names that `bar` takes, such as ``["owner", "asset"]``.
    token, asset : str or (str, str or None), optional
        Draw the amounts of one, as in `bar`.
    top : int, default 250
        The most rectangles, up to 500, since a browser is slow with more. Of too many, only the
        largest wallets are drawn separately; the others of each blockchain are drawn together,
        added up by token, and the rest as Other. Of other paths the largest groups are drawn,
        and what else is in each as its Other.
    wallets, assets, bridged, colors : optional
        As in `bar`.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace, exact amounts in its hover; if nothing is above 0, no trace, but a note why.

    Raises
    ------
    ArgumentError, SettingsError, ColumnsError, AmountError, PricesError, TokenListError, OSError
        As `bar`.
    UnknownWalletError, UnknownTokenError, AmbiguousTokenError
        As `bar`.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xb"], "symbol": "ETH",
    ... "token_blockchain": "ETH", "token_address": None, "amount": pd.array([1, 3], "amount")})
    >>> len(frame.wf.plot.treemap().data)
    1
    """
    pad = {"t": 20, "l": 2, "r": 2, "b": 2}
    trace = partial(go.Treemap, tiling={"pad": 1}, marker_pad=pad, marker_cornerradius=2)
    form = _Form(trace, "Area", Space(420), " · ", LEAST, LEAST, open=0.01, leaves=0)
    path = _shorter(by, token, asset)
    found = read_groupings(
        holdings, path, token=token, asset=asset, wallets=wallets, assets=assets, bridged=bridged
    )
    return _drawn(form, found, check_top("top", top, 500), wallets, colors)


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
    """Draw holdings as rings: blockchains, wallets, tokens from inside out, or any other path.

    Angles show ``value`` if there is such a column (float64, with an optional ``currency``),
    else numbers of balances.

    Parameters
    ----------
    by : str or list of str, default ("blockchain", "wallet", "token")
        The path, from inside out, as in `treemap`.
    token, asset : str or (str, str or None), optional
        Draw the amounts of one, as in `bar`.
    top : int, default 250
        The most pieces, up to 300, since a browser is slow with more. Only what has room for
        its name is drawn separately: the other wallets of each blockchain are drawn together,
        added up by token, and the rest as Other; without an outer ring where most would be.
        Of other paths the largest groups are drawn, and what else is in each as its Other.
    wallets, assets, bridged, colors : optional
        As in `bar`.

    Returns
    -------
    plotly.graph_objects.Figure
        As `treemap`.

    Raises
    ------
    ArgumentError, SettingsError, ColumnsError, AmountError, PricesError, TokenListError, OSError
        As `bar`.
    UnknownWalletError, UnknownTokenError, AmbiguousTokenError
        As `bar`.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xb"], "symbol": "ETH",
    ... "token_blockchain": "ETH", "token_address": None, "amount": pd.array([1, 3], "amount")})
    >>> len(frame.wf.plot.sunburst().data)
    1
    """
    trace = partial(go.Sunburst, leaf_opacity=1)
    # Drawn is what has room for a name on rings of 250 pixels.
    form = _Form(trace, "Angle", Space(520), "<br>", 0.014, 0.025, open=0.025, leaves=0.5)
    path = _shorter(by, token, asset)
    found = read_groupings(
        holdings, path, token=token, asset=asset, wallets=wallets, assets=assets, bridged=bridged
    )
    return _drawn(form, found, check_top("top", top, 300), wallets, colors)


def _shorter(by: By, token: TokenLike | None, asset: TokenLike | None) -> By:
    """Drop tokens from the usual path where one alone is drawn: wallets tell its parts apart."""
    is_one = token is not None or asset is not None
    return PATH[:-1] if is_one and (*names_of(by),) == PATH else by


def _drawn(
    form: _Form,
    found: Groupings,
    top: int,
    wallets: FetchLike | None,
    colors: Mapping[TokenKey, str] | None,
) -> go.Figure:
    balances = found.balances
    if not len(balances.rows):
        return blank(found.title, balances.notes([], wallets), balances.why_none)
    faces: _UsualFaces | _PathFaces
    if found.names == [*(PATH[:-1] if balances.measure.kind == "amount" else PATH)]:
        faces, extent = _usual(balances, top, form, colors)
    else:
        faces, extent = _any_path(found, top, form, colors)
    boxes = [*_boxes(faces)]
    on_color, around = [text_on(box.color) for box in boxes], {box.parent for box in boxes}
    trace = form.trace(
        ids=[box.id for box in boxes],
        parents=[box.parent for box in boxes],
        labels=[
            box.label.replace("<br>", form.between) if box.id in around else box.label
            for box in boxes
        ],
        text=[box.text for box in boxes],
        values=[box.size for box in boxes],
        hovertext=[box.hover for box in boxes],
        marker={
            "colors": [box.color for box in boxes],
            "line": OUTLINE,
            "pattern": {
                **PATTERN,
                "shape": [box.pattern for box in boxes],
                # On the other side of the colour than the text, which is read on it all the same.
                "fgcolor": [_OPPOSITE[color] for color in on_color],
                "fgopacity": 0.4,
            },
        },
        branchvalues="remainder",
        textinfo="label+text",
        textfont={"color": on_color},
        hoverinfo="text",
    )
    lost = 1 - sum(box.size for box in boxes) / float(balances.sizes.sum())
    said = [f"{form.size}: {balances.measure.phrase}.", *extent]
    small = [f"{percent(lost)} is too small to be drawn."] * (lost > _ROUNDING)
    notes = balances.notes(said, wallets)
    return figure(
        [trace],
        title=found.title,
        notes=notes._replace(left_out=[*notes.left_out, *small]),
        space=form.space,
        uniformtext={"minsize": LEAST_SIZE, "mode": "hide"},
    )


class BoxId(NamedTuple):
    """What the id of a box says: at which name of the path it is, and a row of holdings in it."""

    depth: int
    row: int
    in_several: bool  # whether what is around it is several wallets

    def __str__(self) -> str:
        return f"{self.depth}.{self.row}{'+' * self.in_several}"


def read_box_id(text: str) -> BoxId | None:
    """Read the id of a box; None for that of several things."""
    found = _ID.fullmatch(text)
    return BoxId(int(found[1]), int(found[2]), bool(found[3])) if found else None


class _Box(NamedTuple):
    """One box as plotly takes it; texts are markup."""

    id: str  # our own: names, which strangers choose, are only drawn
    parent: str
    size: float  # 0 where others are in it: plotly adds them up, and compares to the last bit
    label: str  # lines
    text: str
    hover: str
    color: str
    pattern: str = ""


class _Ring(NamedTuple):
    """The groups by the first of the names up to one of them, each in one of the ring before."""

    name: str  # the last of the names
    noun: str  # what a group is called
    codes: Places  # the group of each row that is drawn
    rows: Places  # of each group that has any, the first of its rows of holdings
    above: Places  # of each group, the one that it is in; 0 for the outermost
    sizes: Sizes
    of_token: bool  # whether a group is of one token or asset alone
    drawn: Places = _NONE  # the groups that are drawn, in this order
    wallets: Places = _NONE  # of how many wallets each is, where boxes say so
    several: int = _NEVER  # from which group on each is several wallets added up


def _boxes(faces: _UsualFaces | _PathFaces) -> Iterator[_Box]:
    """Make a box for each group that is drawn, and an Other for the rest of what it is in."""
    balances, measure, total = faces.balances, faces.balances.measure, faces.total

    def several(parent: str, size: float, label: str, color: str, *, is_leaf: bool = True) -> _Box:
        told = hover(label, measure.share(size, total))
        text = "" if measure.kind == "count" else measure.short(size)
        return _Box(f"o{parent}", parent, size * is_leaf, label, text, told, color)

    outer = {0: ""}  # the ids of the ring before
    for depth, ring in enumerate(faces.rings):
        groups, above = ring.drawn.tolist(), ring.above[ring.drawn].tolist()
        inner = faces.rings[depth + 1 :][:1]
        opened = {group for each in inner for group in each.above[each.drawn].tolist()}
        leaves = [group for group in groups if group not in opened]
        amounts: dict[int, Amount | None] = {}
        if ring.of_token:
            exact = balances.exact(ring.codes, np.array(leaves, dtype=np.intp))
            amounts = dict(zip(leaves, exact, strict=True))
        single = {at for group, at in zip(groups, above, strict=True) if group < ring.several}
        labels, ids = faces.labels(depth), dict[int, str]()
        for group, around in zip(groups, above, strict=True):
            parent, size, is_leaf = outer[around], float(ring.sizes[group]), group not in opened
            if group >= ring.several:
                ids[group], count = f"o{parent}", int(ring.wallets[group])
                label = other(count, ring.noun) if around in single else many(count, ring.noun)
                color = OTHER if is_leaf else _WALLET_COLOR
                yield several(parent, size, label, color, is_leaf=is_leaf)
                continue
            ids[group] = str(BoxId(depth, int(ring.rows[group]), parent.startswith("o")))
            color, shape = _WALLET_COLOR if depth else _CHAIN_COLOR, ""
            if is_leaf and (ring.of_token or not inner):
                color, shape = faces.paints[depth, group]
            lines, told = faces.texts(depth, group, amounts.get(group), is_leaf=is_leaf)
            parts = (markup(labels[group]), markup(lines), hover(*told), color, shape)
            yield _Box(ids[group], parent, size * is_leaf, *parts)
        left = ring.sizes > 0
        left[ring.drawn] = False
        counts, rest = np.bincount(ring.above[left]), added(ring.above[left], ring.sizes[left])
        for around in {*above} if depth else {0}:
            if around < len(counts) and rest[around] >= LEAST * total:
                name = other(int(counts[around]), ring.noun)
                yield several(outer[around], float(rest[around]), name, OTHER)
        outer = ids


def _paints(
    balances: Balances,
    rings: Sequence[_Ring],
    weights: Sizes,
    colors: Mapping[TokenKey, str] | None,
) -> dict[tuple[int, int], tuple[str, str]]:
    """Choose the colours and patterns of groups: those of a token, or of the outermost group.

    Where two have one colour, they differ by pattern; tokens have theirs in the order of `weights`.
    """
    ranks = np.argsort(np.argsort(-rings[0].sizes, kind="stable"))
    found: dict[tuple[int, int], tuple[bool, int]] = {}
    for depth, ring in enumerate(rings):
        outermost = ring.drawn
        for each in rings[depth:0:-1]:
            outermost = each.above[outermost]
        tokens = balances.positions.tokens.codes[ring.rows[ring.drawn]]
        places = (tokens if ring.of_token else ranks[outermost]).tolist()
        found |= {
            (depth, group): (ring.of_token, place)
            for group, place in zip(ring.drawn.tolist(), places, strict=True)
        }
    keys = sorted(
        {*found.values()}, key=lambda each: (-weights[each[1]] if each[0] else 0, each[1])
    )
    chosen = chosen_colors(balances.positions, [at for is_token, at in keys if is_token], colors)
    fills = [chosen[at] if is_token else COLORS[at % len(COLORS)] for is_token, at in keys]
    dressed = dict(zip(keys, zip(fills, patterns(fills), strict=True), strict=True))
    return {group: dressed[key] for group, key in found.items()}


@dataclass(frozen=True, slots=True)
class _PathFaces:
    """What is written on the boxes of any path, and how they are painted."""

    balances: Balances
    rings: Sequence[_Ring]
    total: float
    paints: Mapping[tuple[int, int], tuple[str, str]]
    levels: Sequence[tuple[Level, Level]]  # of each ring: by all names up to it, by its own alone
    whole: Sequence[Mapping[int, list[str]]]  # of each ring's groups: its name, and those around it

    def labels(self, depth: int) -> dict[int, list[str]]:
        """Name the groups of a ring; names of wallets and tokens break before their blockchain."""
        ring, (level, own) = self.rings[depth], self.levels[depth]
        places = own.groups.codes[ring.rows[ring.drawn]].tolist()
        chosen = [*dict.fromkeys(places)]
        names = dict(zip(chosen, own.short(chosen), strict=True))
        found = {}
        for group, place in zip(ring.drawn.tolist(), places, strict=True):
            found[group] = [names[place]]
            head, _, rest = names[place].partition(" (")
            if ring.name == "wallet":
                lines = without_chain if "blockchain" in level.names else wallet_lines
                found[group] = lines(names[place], self.balances.names[place])
            elif ring.name in ADDED and head and rest:
                found[group] = [head, f"({rest}"]
        return found

    def texts(
        self, depth: int, group: int, amount: Amount | None, *, is_leaf: bool
    ) -> tuple[list[str], list[str]]:
        """Write how much it is; and what, in what, how many of its wallets are known, how much."""
        balances, ring, level = self.balances, self.rings[depth], self.levels[depth][0]
        measure, row, size = balances.measure, int(ring.rows[group]), float(ring.sizes[group])
        if ring.of_token and measure.kind == "count" and is_leaf:
            text = brief(amount)
        else:
            text = (measure.words if is_leaf else measure.short)(size)
        head, *lines = self.whole[depth][group]
        lines.append(level.known(int(level.groups.codes[row])))
        if ring.of_token:
            symbol, where = balances.whole_token(int(balances.positions.tokens.codes[row]))
            lines = [where] * (ring.name in ADDED) + lines
            lines += [f"{whole(amount)} {symbol}"] * is_leaf
        told = [head, *filter(None, lines), measure.share(size, self.total)]
        has_room = not is_leaf or size >= _BOTH * self.total
        return [text] * has_room, told


def _any_path(
    found: Groupings, top: int, form: _Form, colors: Mapping[TokenKey, str] | None
) -> tuple[_PathFaces, list[str]]:
    """Choose at most `top` boxes of any path, and say how much is in them."""
    balances, rings, levels = found.balances, list[_Ring](), []
    for count, name in enumerate(found.names, 1):
        level, own = found.level(found.names[:count]), found.level([name])
        codes, groups = pd.factorize(level.codes)
        first = first_rows(codes, len(groups))
        ring = _Ring(
            name=name,
            noun=own.noun,
            codes=codes,
            rows=balances.rows[first],
            above=rings[-1].codes[first] if rings else np.zeros(len(groups), dtype=np.intp),
            sizes=added(codes, balances.sizes),
            of_token=balances.measure.kind == "amount" or not ADDED.isdisjoint(level.names),
        )
        rings.append(ring)
        levels.append((level, own))
    marks = _marked(rings, top, form)
    drawn = map(np.flatnonzero, marks)
    rings = [ring._replace(drawn=each) for ring, each in zip(rings, drawn, strict=True)]
    called = [{0: list[str]()}]
    for ring, (_, own) in zip(rings, levels, strict=True):
        parts = [each[ring.drawn].tolist() for each in (own.groups.codes[ring.rows], ring.above)]
        each = zip(ring.drawn.tolist(), *parts, strict=True)
        around = called[-1]
        called.append({group: [own.whole(at), *around[above]] for group, at, above in each})
    paints = _paints(balances, rings, added(balances.token_codes, balances.sizes), colors)
    counts = [(int(drawn.sum()), int((~drawn).sum())) for drawn in marks]
    extent = [(*counts[0], rings[0].noun)]
    extent += [(*counts[-1], "part")] * (len(rings) > 1 and counts[-1][0] > 0)
    faces = _PathFaces(balances, rings, float(balances.sizes.sum()), paints, levels, called[1:])
    return faces, [drawn_of(*extent)]


def _marked(rings: Sequence[_Ring], top: int, form: _Form) -> list[Mask]:
    """Mark the groups of each ring that are drawn: the largest, and what Other would be alone."""
    edges = np.cumsum([0, *(len(ring.sizes) for ring in rings)])
    sizes, total = np.concatenate([ring.sizes for ring in rings]), rings[0].sizes.sum()
    root = len(sizes)
    inner = [ring.above + start for ring, start in zip(rings[1:], edges, strict=False)]
    above = np.concatenate([np.full(edges[1], root), *inner])
    marks = np.zeros(root, dtype=bool)
    room = np.append(sizes, total)[above] >= form.open * total  # for anything in what is around
    room &= sizes >= form.token * total
    depths = np.repeat(np.arange(len(rings)), np.diff(edges))
    marks[_largest(sizes, above, depths, room, top)] = True
    for start, end in pairwise(edges[1:]):
        if sizes[start:end][marks[start:end]].sum() < form.leaves * total:
            marks[start:] = False  # a ring that would be Others for the most part
    left = np.bincount(above[~marks], minlength=root + 1)
    is_open = np.bincount(above[marks], minlength=root + 1) > 0
    is_open[root] = True
    marks |= is_open[above] & (left[above] == 1) & (sizes >= LEAST * total)
    return np.split(marks, edges[1:-1])


def _largest(sizes: Sizes, above: Places, depths: Places, room: Mask, top: int) -> Places:
    """Choose the largest groups that have room, each with its Other, in at most `top` boxes.

    No group is larger than the one that it is in, which comes before it: none hangs in the air.
    """
    root = len(sizes)
    siblings = np.bincount(above, minlength=root + 1)
    by_size = np.argsort(-sizes, kind="stable")
    turns = np.empty(root, dtype=np.intp)  # of equal ones, each group has its turn
    turns[by_size] = pd.Series(by_size).groupby(above[by_size]).cumcount()
    order = np.lexsort((turns, depths, -sizes))
    order = order[room[order]]
    family = above[order]
    several = siblings[family] > 1  # else there is no Other
    opened = several & (turns[order] == 0) & (family != root)
    closed = several & (turns[order] + 1 == siblings[family])
    costs = np.cumsum(1 + opened.astype(np.intp) - closed) + (siblings[root] > 1)
    return order[: np.searchsorted(costs, top, side="right")]


@dataclass(frozen=True, slots=True)
class _UsualFaces:
    """What is written on the boxes of blockchains, their wallets, and the tokens of these."""

    balances: Balances
    rings: Sequence[_Ring]
    total: float
    paints: Mapping[tuple[int, int], tuple[str, str]]
    tokens: Mapping[int, str]  # the names of those that are drawn, as everywhere
    inside: Mapping[int, str]  # and where their blockchain is written around them

    def labels(self, depth: int) -> dict[int, list[str]]:
        """Name the groups of a ring that are one thing, in lines."""
        balances, ring, held = self.balances, self.rings[depth], self.balances.positions
        groups = [group for group in ring.drawn.tolist() if group < ring.several]
        rows = ring.rows[groups]
        owners, tokens = held.wallet_codes[rows].tolist(), held.tokens.codes[rows].tolist()
        chains = [held.chains[place] for place in held.chain_codes[owners].tolist()]
        if ring.name == "blockchain":
            lines = [[chain] for chain in chains]
        elif ring.name == "wallet":
            called = zip(owners, balances.wallet_names(owners), strict=True)
            lines = [without_chain(name, balances.names[owner]) for owner, name in called]
        else:
            keys = held.tokens.keys
            parts = zip(tokens, chains, strict=True)
            lines = [_within(self.inside[place], keys[place][0], chain) for place, chain in parts]
        return dict(zip(groups, lines, strict=True))

    def texts(
        self, depth: int, group: int, amount: Amount | None, *, is_leaf: bool
    ) -> tuple[list[str], list[str]]:
        """Write how much it is; and what it is, whose it is, and how much under the pointer."""
        balances, held, ring = self.balances, self.balances.positions, self.rings[depth]
        measure, is_count = balances.measure, balances.measure.kind == "count"
        row, whole_size = int(ring.rows[group]), float(ring.sizes[group])
        size, share = measure.short(whole_size), measure.share(whole_size, self.total)
        owner, count = int(held.wallet_codes[row]), int(ring.wallets[group])
        chain, wallets = held.chains[held.chain_codes[owner]], many(count, "wallet")
        if depth == 0:
            text = [wallets] * is_leaf + [size] * (not (is_leaf and is_count))
            return text, [chain, wallets, share]
        if not ring.of_token:
            return [size], [balances.whole_wallet(owner), share]
        token = int(held.tokens.codes[row])
        symbol, where = balances.whole_token(token)
        if ring.above[group] >= self.rings[depth - 1].several:
            whose, size = f"{wallets} of {chain}", wallets if is_count else size
        else:
            whose = balances.whole_wallet(owner)
            size, share = (brief(amount), "") if is_count else (size, share)
        told = [self.tokens[token], where, whose, f"{whole(amount)} {symbol}", share]
        return [size] * (whole_size >= _BOTH * self.total), told


def _within(label: str, own: str, chain: str) -> list[str]:
    """Break a token's name into short lines, with its own blockchain where it is in another's."""
    name, _, where = label.removesuffix(")").rpartition(" (")
    if not name or not label.endswith(")"):
        name, where = label, ""
    where = where.removeprefix(own).lstrip()
    where = where if own == chain or not own else f"{shown(own)} {where}".rstrip()
    return [name, f"({where})"] if where else [name]


def _usual(
    balances: Balances, top: int, form: _Form, colors: Mapping[TokenKey, str] | None
) -> tuple[_UsualFaces, list[str]]:
    """Choose at most `top` boxes of blockchains, wallets and tokens; and say how many that is."""
    held, one_token = balances.positions, balances.measure.kind == "amount"  # wallets are leaves
    chain_of, count, chain_count = held.chain_codes, len(held.wallets), len(held.chains)
    wide = max(len(held.tokens.keys), count)
    owners = balances.wallet_codes
    # What each wallet holds of each token is a pair, its rows added up.
    of_rows, codes = pd.factorize(owners * wide + balances.token_codes)
    pair_wallets, pair_tokens = np.divmod(codes, wide)
    pair_sizes = added(of_rows, balances.sizes)
    chains, opened, alone, spare = _around(
        pair_wallets, pair_sizes, chain_of, top, form, one_token=one_token
    )
    # The box of a wallet has its place; behind all of these are those of each blockchain's others.
    box_of = count + chain_of
    box_of[alone] = alone
    boxes = box_of[pair_wallets]
    members = np.bincount(chain_of[np.unique(pair_wallets)], minlength=chain_count)
    others = members - np.bincount(chain_of[alone], minlength=chain_count)
    things = pair_wallets if one_token else pair_tokens
    of_pairs, cells = pd.factorize(boxes * wide + things)
    around, places = np.divmod(cells, wide)
    sizes, common = added(of_pairs, pair_sizes), np.bincount(things)[places]
    leaves = _leaves(around, sizes, common, np.append(alone, count + opened), spare, form)

    kind = "wallet" if one_token else "token"

    def add(
        name: str, codes: Places, above: Places, sizes: Sizes, drawn: Places, wallets: Places
    ) -> None:
        rows = np.zeros(len(sizes), dtype=np.intp)
        rows[codes[::-1]] = balances.rows[::-1]  # of several writes the last one stays
        if rings:  # each in the order of those that they are in
            turns = ranks(rings[-1].drawn, len(rings[-1].sizes))[above[drawn]]
            drawn = drawn[np.argsort(turns, kind="stable")]
        several = count if name != kind and rings else _NEVER
        ring = _Ring(name, name, codes, rows, above, sizes, name == kind, drawn, wallets, several)
        rings.append(ring)

    rings: list[_Ring] = []
    chain_sizes = added(chain_of[pair_wallets], pair_sizes, chain_count)
    least_seen = LEAST * chain_sizes.sum()
    nowhere = np.zeros(chain_count, dtype=np.intp)
    add("blockchain", chain_of[owners], nowhere, chain_sizes, chains, members)
    if not one_token:
        box_sizes = added(boxes, pair_sizes, count + chain_count)
        is_seen = np.isin(np.arange(chain_count), chain_of[alone])
        is_seen &= box_sizes[count:] >= least_seen
        is_seen[around[leaves][around[leaves] >= count] - count] = True
        drawn = np.append(alone, count + np.flatnonzero(is_seen))
        above, of = np.append(chain_of, np.arange(chain_count)), np.append(chain_of * 0 + 1, others)
        add("wallet", box_of[owners], above, box_sizes, drawn, of)
    above, of = around - count if one_token else around, np.bincount(of_pairs)
    add(kind, of_pairs[of_rows], above, sizes, leaves, of)
    tokens = held.tokens.codes[rings[-1].rows[leaves]]
    weights = added(tokens, sizes[leaves], len(held.tokens.keys))
    named = largest(weights, len(weights)).tolist()
    faces = _UsualFaces(
        balances,
        rings,
        float(pair_sizes.sum()),
        _paints(balances, rings, weights, colors),
        tokens=dict(zip(named, balances.token_names(named), strict=True)),
        inside=dict(zip(named, balances.token_names(named, by_chain=True), strict=True)),
    )
    return faces, _usual_extent(rings, len(codes))


def _usual_extent(rings: Sequence[_Ring], balances: int) -> list[str]:
    """Write which blockchains, wallets and balances are drawn, as far as not all are."""
    (outer, *boxes, _), leaves = rings, len(rings[-1].drawn)
    [single] = [int((ring.drawn < ring.several).sum()) for ring in boxes] or [leaves]
    wallets, pieces, rest = int(outer.wallets.sum()), leaves * bool(boxes), outer.sizes.copy()
    which, level = many(wallets, "wallet"), "blockchain and token" if pieces else "blockchain"
    if single and not boxes:
        said = drawn_of((single, wallets - single, "wallet"))
    elif single == wallets:
        said = drawn_of((pieces, balances - pieces, "balance"))
    elif not single:
        said = f"{which} added up by {level}."
    elif len(rings[1].drawn) == single:
        said = f"{single:,} of {which}."
    else:
        said = f"{single:,} of {which} alone, the others added up by {level}."
    rest[outer.drawn] = 0
    left = int((outer.wallets > 0).sum()) - len(outer.drawn)
    is_folded = bool(rest.sum() >= LEAST * outer.sizes.sum())
    return [drawn_of((len(outer.drawn), left, "blockchain"))] * is_folded + [said]


def _around(
    wallets: Places, sizes: Sizes, chain_of: Places, top: int, form: _Form, *, one_token: bool
) -> tuple[Places, Places, Places, int]:
    """Choose blockchains, those that are opened, and wallets; and how many leaves there may be."""
    shares = sizes / sizes.sum()
    seen = shares >= form.token
    folds = np.bincount(wallets[~seen], minlength=len(chain_of)) > 0  # has small tokens
    by_wallet = added(wallets, shares, len(chain_of))
    by_chain = added(chain_of, by_wallet)
    chains = largest(np.where(by_chain >= LEAST, by_chain, 0), top // 2)
    everything = (form.box, top, len(chain_of))
    what_has_room = (form.open, max(1, top // 8), top // 12)
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
    # Of the boxes of wallets and tokens a fifth is for what is around tokens.
    return chains, opened, alone, spare if one_token else min(spare, 4 * top // 5)


def _leaves(
    boxes: Places, sizes: Sizes, common: Places, opened: Places, spare: int, form: _Form
) -> Places:
    """Choose the largest leaves of the opened boxes, and what an Other would be alone."""
    shares = sizes / sizes.sum()
    # Of equal ones those come first that most wallets hold (`common`), and each box has its turn.
    best = np.flatnonzero((shares >= form.token) & np.isin(boxes, opened))
    best = best[np.lexsort((-common[best], -sizes[best]))]
    turns = pd.Series(best).groupby(boxes[best]).cumcount()
    best = best[np.lexsort((turns, -sizes[best]))][:spare]
    best = best if shares[best].sum() >= form.leaves else best[:0]
    rest = np.isin(boxes, boxes[best])
    rest[best] = False
    counts = np.bincount(boxes[rest], minlength=int(boxes.max()) + 1)
    return np.append(best, np.flatnonzero(rest & (shares >= LEAST) & (counts[boxes] == 1)))
