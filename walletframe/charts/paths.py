"""Nested groups by any columns, from outside in: which are drawn, and how they are dressed.

The largest are drawn, wherever they are; what else is in an opened group is its Other.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.charts.balances import added
from walletframe.charts.boxes import BOTH, CHAIN_COLOR, WALLET_COLOR, Box
from walletframe.charts.canvas import hover, markup
from walletframe.charts.nodes import LEAST
from walletframe.charts.notes import drawn_of, other
from walletframe.charts.palette import COLORS, OTHER, chosen_colors, patterns
from walletframe.frames import ADDED, wallet_lines, without_chain
from walletframe.frames.identity import first_rows
from walletframe.numerals import whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from walletframe.amounts.scalar import Amount
    from walletframe.charts.balances import Balances
    from walletframe.charts.levels import Groupings, Level
    from walletframe.charts.measures import Places, Sizes
    from walletframe.charts.nodes import Least
    from walletframe.frames import Mask, TokenKey

_ROOT = -1  # what the outermost groups are in


@dataclass(frozen=True, slots=True)
class _Ring:
    """The groups by the first of the names up to one of them, each in one of the ring before."""

    level: Level  # by all of these names
    own: Level  # by the last of them alone, which is what a group is called
    codes: Places  # the group of each row that is drawn
    first: Places  # of each group, the first of these rows
    above: Places  # of each group, the one that it is in
    sizes: Sizes
    outer: Places  # of each group, the rank of the outermost that it is in
    of_token: bool  # whether a group is of one token or asset alone
    depth: int
    rows: Places  # of each group, a row of holdings that tells what it is
    around: Places  # of each group, that row of the one that it is in

    def id(self, group: int) -> str:
        """Name a group for plotly, and for who wants to know what it is."""
        return f"{self.depth}.{self.rows[group]}"

    def parent(self, group: int) -> str:
        """Name the group that it is in; empty for the outermost."""
        return f"{self.depth - 1}.{self.around[group]}" if self.depth else ""

    def place(self, group: int) -> int:
        """Give the place of a group among those by its own name alone."""
        return int(self.own.codes[self.first[group]])

    def token(self, balances: Balances, group: int) -> int:
        """Give the place of the one token that it is of."""
        return int(balances.token_codes[self.first[group]])

    def fill(self, balances: Balances, group: int) -> tuple[bool, int]:
        """Tell by what it is painted: its token, else the outermost group that it is in."""
        if self.of_token:
            return True, self.token(balances, group)
        return False, int(self.outer[group])


def nest(
    found: Groupings, top: int, least: Least, colors: Mapping[TokenKey, str] | None
) -> tuple[list[Box], list[str]]:
    """Make at most `top` boxes, and say how much is in them."""
    balances, rings = found.balances, _rings(found)
    marks = _drawn(rings, top, least)
    fills = _fills(balances, rings, marks, colors)
    boxes, told = list[Box](), dict[int, list[str]]()
    for depth, (ring, drawn) in enumerate(zip(rings, marks, strict=True)):
        inner = [each.above[shown] for each, shown in zip(rings, marks, strict=True)][depth + 1 :]
        opened = set(inner[0].tolist()) if inner else set[int]()
        groups = np.flatnonzero(drawn)
        told = {
            group: [ring.own.whole(ring.place(group)), *told.get(int(ring.above[group]), [])]
            for group in groups.tolist()
        }
        dress = _Dress(balances, ring, not inner, opened, told, fills)
        boxes += dress.boxes(groups)
        boxes += _others(ring, drawn, balances)
    counts = [(int(drawn.sum()), int((~drawn).sum())) for drawn in marks]
    parts = [(*counts[0], rings[0].own.noun)]
    parts += [(*counts[-1], "part")] * (len(rings) > 1 and counts[-1][0] > 0)
    return boxes, [drawn_of(*parts)]


def _rings(found: Groupings) -> list[_Ring]:
    """Cut the rows by the first name, by the first two, and so on."""
    balances, rings = found.balances, list[_Ring]()
    for count, name in enumerate(found.names, 1):
        level = found.level(found.names[:count])
        codes, groups = pd.factorize(level.codes)
        first, sizes = first_rows(codes, len(groups)), added(codes, balances.sizes)
        above = rings[-1].codes[first] if rings else np.full(len(groups), _ROOT)
        outer = rings[-1].outer[above] if rings else np.argsort(np.argsort(-sizes, kind="stable"))
        rings.append(
            _Ring(
                level=level,
                own=found.level([name]),
                codes=codes,
                first=first,
                above=above,
                sizes=sizes,
                outer=outer,
                of_token=balances.measure.one_token or not ADDED.isdisjoint(level.names),
                depth=len(rings),
                rows=balances.rows[first],
                around=rings[-1].rows[above] if rings else above,
            )
        )
    return rings


def _drawn(rings: Sequence[_Ring], top: int, least: Least) -> list[Mask]:
    """Mark the groups of each ring that are drawn: the largest, and what Other would be alone."""
    edges = np.cumsum([0, *(len(ring.sizes) for ring in rings)])
    sizes, total = np.concatenate([ring.sizes for ring in rings]), rings[0].sizes.sum()
    root = len(sizes)
    inner = [ring.above + start for ring, start in zip(rings[1:], edges, strict=False)]
    above = np.concatenate([np.full(edges[1], root), *inner])
    marks = np.zeros(root, dtype=bool)
    room = np.append(sizes, total)[above] >= least.open * total  # for anything in what is around
    room &= sizes >= least.token * total
    marks[_largest(sizes, above, np.repeat(np.arange(len(rings)), np.diff(edges)), room, top)] = (
        True
    )
    for start, end in pairwise(edges[1:]):
        if sizes[start:end][marks[start:end]].sum() < least.leaves * total:
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
class _Dress:
    """What names and paints the groups of a ring."""

    balances: Balances
    ring: _Ring
    is_last: bool  # whether none goes on from it
    opened: set[int]  # groups in which others are drawn
    told: Mapping[int, list[str]]  # what each is, and what it is in, at length
    fills: Mapping[tuple[bool, int], tuple[str, str]]

    def boxes(self, groups: Places) -> Iterator[Box]:
        """Give a box for each group."""
        ring, leaves = self.ring, np.setdiff1d(groups, [*self.opened])
        places = dict.fromkeys(map(ring.place, groups.tolist()))
        names = dict(zip(places, ring.own.short([*places]), strict=True))
        amounts: dict[int, Amount | None] = {}
        if ring.of_token:
            exact = self.balances.exact(ring.codes, leaves)
            amounts = dict(zip(leaves.tolist(), exact, strict=True))
        for group in groups.tolist():
            size, is_leaf = float(ring.sizes[group]), group not in self.opened
            yield Box(
                id=ring.id(group),
                parent=ring.parent(group),
                size=size if is_leaf else 0.0,
                label=markup(self._lines(group, names[ring.place(group)])),
                text=markup([self._text(size, amounts.get(group), is_leaf=is_leaf)]),
                hover=self._hover(group, amounts.get(group), is_leaf=is_leaf),
                **self._paint(group, is_leaf=is_leaf),
            )

    def _lines(self, group: int, name: str) -> list[str]:
        """Break the name of a wallet or a token where its blockchain begins."""
        own = self.ring.own.names
        if own == ["wallet"]:
            called = self.balances.names[self.ring.place(group)]
            lines = without_chain if "blockchain" in self.ring.level.names else wallet_lines
            return lines(name, called)
        head, _, rest = name.partition(" (") if {*own} <= ADDED else (name, "", "")
        return [head, f"({rest}"] if head and rest else [name]

    def _text(self, size: float, amount: Amount | None, *, is_leaf: bool) -> str:
        measure = self.balances.measure
        if not is_leaf:
            return measure.short(size)
        if size < BOTH * float(self.balances.sizes.sum()):
            return ""
        return measure.leaf(size, amount, "") if self.ring.of_token else measure.words(size)

    def _hover(self, group: int, amount: Amount | None, *, is_leaf: bool) -> str:
        """Say what it is, what it is in, how many of its wallets are known, and how much it is."""
        ring, balances, size = self.ring, self.balances, float(self.ring.sizes[group])
        head, *around = self.told[group]
        lines = [*around, ring.level.known(int(ring.level.codes[ring.first[group]]))]
        if ring.of_token:
            symbol, where = balances.whole_token(ring.token(balances, group))
            lines = [where, *lines] if {*ring.own.names} <= ADDED else lines
            lines += [f"{whole(amount)} {symbol}"] * is_leaf
        share = balances.measure.share(size, float(balances.sizes.sum()))
        return hover(head, *filter(None, lines), share)

    def _paint(self, group: int, *, is_leaf: bool) -> dict[str, str]:
        """Paint it like its token, or its outermost group; what is around others is grey."""
        if not is_leaf or not (self.ring.of_token or self.is_last):
            return {"color": WALLET_COLOR if self.ring.depth else CHAIN_COLOR}
        color, pattern = self.fills[self.ring.fill(self.balances, group)]
        return {"color": color, "pattern": pattern}


def _fills(
    balances: Balances,
    rings: Sequence[_Ring],
    marks: Sequence[Mask],
    colors: Mapping[TokenKey, str] | None,
) -> dict[tuple[bool, int], tuple[str, str]]:
    """Choose colours, and patterns where two have the same: of tokens, and of outermost groups."""
    found = {
        ring.fill(balances, group)
        for ring, drawn in zip(rings, marks, strict=True)
        for group in np.flatnonzero(drawn).tolist()
    }
    weights = added(balances.token_codes, balances.sizes)
    keys = sorted(found, key=lambda each: (-weights[each[1]] if each[0] else 0, each[1]))
    tokens = chosen_colors(balances.positions, [at for is_token, at in keys if is_token], colors)
    paints = [tokens[at] if is_token else COLORS[at % len(COLORS)] for is_token, at in keys]
    return dict(zip(keys, zip(paints, patterns(paints), strict=True), strict=True))


def _others(ring: _Ring, drawn: Mask, balances: Balances) -> Iterator[Box]:
    """Give a box for all that is not drawn of each group that is opened."""
    above, sizes = ring.above + 1, ring.sizes
    counts, rest = np.bincount(above[~drawn]), added(above[~drawn], sizes[~drawn])
    total, measure = float(balances.sizes.sum()), balances.measure
    opened = np.unique(above[drawn]) if ring.depth else np.array([0])
    for place in opened[opened < len(counts)].tolist():
        size = float(rest[place])
        if size >= LEAST * total:
            parent = ring.parent(int(np.argmax(~drawn & (above == place))))
            name = other(int(counts[place]), ring.own.noun)
            told = hover(name, measure.share(size, total))
            label, text = markup([name]), markup([measure.below(size)])
            yield Box(f"o{parent}", parent, size, label, text, told, OTHER)
