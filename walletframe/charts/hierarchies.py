"""Treemap and sunburst charts of blockchains, wallets and assets, or of any other groups."""
# The path is the list of column names to group by. A tree is a list of rings: the first ring groups
# by the first name of the path, the second ring by the first two names, and so on. Each group is a
# box (a rectangle or an arc) inside the box of its parent group.
#
# The number of boxes is limited, since each box takes the browser time. The largest groups of all
# rings are drawn. On the default path, the small wallets of each blockchain are one group.

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from walletframe.charts.balances import (
    MIN_SHARE,
    check_limit,
    largest_indices,
    select_grouped_balances,
    sum_by_group,
)
from walletframe.charts.canvas import (
    MIN_FONT_SIZE,
    Dimensions,
    drawn_count_note,
    empty_figure,
    hover_text,
    make_figure,
    markup_to_text,
    other_label,
    to_markup,
)
from walletframe.charts.palette import BAND_COLORS, OTHER_COLOR, area_style, text_color
from walletframe.frames.groups import KINDS, by_as_list
from walletframe.frames.identity import first_rows
from walletframe.frames.names import label_lines_without_chain, wallet_label_lines
from walletframe.numerals import compact_amount, count_with_verb, counted_noun, full_amount, percent
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    import plotly.graph_objects as go

    from walletframe.amounts.integers import Floats, Indices
    from walletframe.amounts.scalar import Amount
    from walletframe.charts.balances import DrawnBalances, GroupedBalances, GroupLevel
    from walletframe.charts.palette import ColorsLike
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import FetchLike
    from walletframe.frames.groups import By
    from walletframe.frames.identity import Mask
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import PositionsLike

    # The lines of a box: its name, its other text, and its hover text.
    _Texts: TypeAlias = tuple[list[str], list[str], list[str]]
    _Amounts: TypeAlias = Mapping[int, Amount | None]  # the exact amount of each leaf of a ring
    _WriteTexts: TypeAlias = Callable[[int, _Amounts], dict[int, _Texts]]  # by a ring's depth
    _Key: TypeAlias = tuple[int, int]  # the depth of a ring, and a group or, for Other, ~parent
    _Space: TypeAlias = tuple[int, int]  # the maximum number of characters of a line, and of lines
    _Sizes: TypeAlias = dict[_Key, tuple[_Key, float]]  # the parent and the size of each box
    _Area: TypeAlias = tuple[float, float, float, float]  # left, top, right and bottom, in pixels

_ROUNDING, _MAX_NAMED = 1e-12, 3  # the last one is the maximum number of names in a note
_MIN_SHARE_WITH_LINES = 0.055  # a box with a smaller share of the total shows one line
_REST = "the others are not drawn separately"
_MIN_CHARS, _ARC_CHARS = 5, 90  # of a name, such as "stETH", and of all names along a ring
_HEIGHT, _BAND, _PAD, _GAP = 404, 20, 2, 1  # of a treemap and its parts, in pixels
_LETTER, _LINE, _TEXT_PAD = 8, 15, 8  # of texts of 11 pixels
_WIDTH_SHARES = np.arange(0.74, 1.5, 0.01)  # of the page's width, that a treemap is made for
_OPPOSITE_COLOR = {"#000000": "#FFFFFF", "#FFFFFF": "#000000"}
_ROOT = (-1, 0)
_EMPTY = np.array([], dtype=np.intp)
_ID = re.compile(r"(\d+)\.(\d+)(\+?) *")  # spaces mark the extension of a box
DEFAULT_PATH = ("blockchain", "wallet", "asset")


class _Style(NamedTuple):
    """The style of a tree, and the smallest shares of the total that are drawn."""

    trace: Mapping[str, Any]  # the type of the trace, and options of this type
    top: int  # the maximum number of boxes
    size_noun: str  # the plural noun for what shows the sizes: "Areas" or "Angles"
    dimensions: Dimensions
    min_leaf: float = 0.01
    min_parent: float = 0.04  # of a box with space for its name and for boxes inside
    min_sum: float = 0  # of all leaves of a ring; otherwise, no leaf is drawn
    width: int = 0  # of the page of a treemap, in pixels; 0 for a sunburst


def treemap(  # noqa: PLR0913 - users pass each option by name
    holdings: PositionsLike,
    *,
    by: By = DEFAULT_PATH,
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    top: int = 250,
    width: int = 1000,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    colors: ColorsLike | None = None,
    title: str | None = None,
) -> go.Figure:
    """Draw holdings as nested rectangles: blockchains, wallets and assets, or other groups.

    Areas show the same quantity as the bars of `bar`.

    Parameters
    ----------
    by : str or list of str, default ("blockchain", "wallet", "asset")
        The columns to group by, from the outermost to the innermost rectangles, such as
        ``["owner", "token"]``. `bar` lists the supported names.
    token, asset : str or (str, str or None), optional
        Draw only the amounts of this token or asset, as in `bar`.
    top : int, default 250
        Maximum number of rectangles (at most 500, since browsers are slow with more). The largest
        are drawn, and the rest of each parent group is combined as Other. Rectangles without space
        for a name are combined, too. With the default `by`, the small wallets of each blockchain
        are combined by asset.
    width : int, default 1000
        The width of the page in pixels, at most 4000. A narrower page has space for fewer names.
        On pages of 0.8 to 1.5 times this width, each rectangle has space for its name.
    wallets, assets, bridged, colors, title : optional
        As in `bar`.

    Returns
    -------
    plotly.graph_objects.Figure
        A figure with one trace and exact amounts in the hover texts. If no value, amount or
        count is above 0, the figure has no trace, only an annotation with the reason.

    Raises
    ------
    ArgumentError, SettingsError, ColumnsError, AmountError, PricesError, TokenListError, OSError
        As for `bar`.
    UnknownWalletError, UnknownTokenError, AmbiguousTokenError
        As for `bar`.
    """
    pad = {"t": _BAND, "l": _PAD, "r": _PAD, "b": _PAD}
    trace = {"type": "treemap", "tiling_pad": _GAP, "marker_pad": pad, "marker_cornerradius": 2}
    least, top = 10 / check_limit("width", width, 4000), check_limit("top", top, 500)
    style = _Style(trace, top, "Areas", Dimensions(420), least, 4 * least, width=width)
    options = {"token": token, "asset": asset, "assets": assets, "bridged": bridged}
    return _draw_tree(style, holdings, by, options | {"wallets": wallets}, colors, title)


def sunburst(  # noqa: PLR0913 - users pass each option by name
    holdings: PositionsLike,
    *,
    by: By = DEFAULT_PATH,
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    top: int = 250,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    colors: ColorsLike | None = None,
    title: str | None = None,
) -> go.Figure:
    """Draw holdings as nested rings: blockchains, wallets and assets, or other groups.

    Angles show the same quantity as the bars of `bar`.

    Parameters
    ----------
    by : str or list of str, default ("blockchain", "wallet", "asset")
        The columns to group by, from the innermost to the outermost ring, as in `treemap`.
    token, asset : str or (str, str or None), optional
        Draw only the amounts of this token or asset, as in `bar`.
    top : int, default 250
        Maximum number of arcs (at most 300, since browsers are slow with more). The largest arcs
        with space for a name are drawn, and the rest of each parent group is combined as Other. An
        outer ring that would mostly be Other is left out. With the default `by`, the small wallets
        of each blockchain are combined by asset.
    wallets, assets, bridged, colors, title : optional
        As in `bar`.

    Returns
    -------
    plotly.graph_objects.Figure
        As for `treemap`.

    Raises
    ------
    ArgumentError, SettingsError, ColumnsError, AmountError, PricesError, TokenListError, OSError
        As for `bar`.
    UnknownWalletError, UnknownTokenError, AmbiguousTokenError
        As for `bar`.
    """
    trace = {"type": "sunburst", "leaf_opacity": 1}
    # With these shares, the smallest arcs have space for a name on a ring of 250 pixels.
    top = check_limit("top", top, 300)
    style = _Style(trace, top, "Angles", Dimensions(520), 0.014, 0.025, min_sum=0.5)
    options = {"token": token, "asset": asset, "assets": assets, "bridged": bridged}
    return _draw_tree(style, holdings, by, options | {"wallets": wallets}, colors, title)


def _draw_tree(
    style: _Style,
    holdings: PositionsLike,
    by: By,
    options: Mapping[str, Any],  # arguments of `select_grouped_balances`
    colors: ColorsLike | None,
    title: str | None,
) -> go.Figure:
    path, one_token = by_as_list(by), options["token"] is not None or options["asset"] is not None
    outer_path = [*DEFAULT_PATH[:-1]]
    if one_token and path[:-1] == outer_path and path[-1] in KINDS:
        path = outer_path
    grouped, wallets = select_grouped_balances(holdings, path, **options), options["wallets"]
    *outer, last = grouped.names
    if grouped.token is not None and outer == outer_path and last in KINDS:
        balances, one_token = replace(grouped.balances, positions=grouped.positions), True
        grouped = replace(grouped, names=outer_path, balances=balances)
    title = title or grouped.chart_title
    balances = grouped.balances
    if not len(balances.rows):
        return empty_figure(title, balances.chart_notes([], wallets), balances.empty_reason)
    if grouped.names in ([outer_path] if one_token else [[*outer_path, name] for name in KINDS]):
        rings, write_texts = _default_path_rings(balances, style)
    else:
        rings, write_texts = _custom_path_rings(grouped)
    _choose_groups(rings, style)
    places = _place_boxes(rings, write_texts, style)
    extent = _drawn_count_notes(rings)
    fills = _choose_fills(grouped, rings, colors)
    boxes = [*_make_boxes(balances, rings, places, fills, write_texts, style)]
    count, outermost = int((rings[0].sizes > 0).sum()), [box for box in boxes if not box.parent]
    if count == len(outermost) == 1:
        extent = [f"{markup_to_text(outermost[0].label)} has 100% of the total.", *extent]
    boxes = boxes if style.width else _extend_leaves_outward(boxes)
    text_colors, parents = [text_color(box.color) for box in boxes], {box.parent for box in boxes}
    marker = area_style([box.color for box in boxes], [box.pattern for box in boxes], "colors")
    # Patterns have the opposite colour of the text, so that the text is readable.
    opposite = [_OPPOSITE_COLOR[color] for color in text_colors]
    marker["pattern"] |= {"fgcolor": opposite, "fgopacity": 0.4}
    trace = {
        **style.trace,
        "ids": [box.id for box in boxes],
        "parents": [box.parent for box in boxes],
        "labels": [
            f"{box.label}<br>{box.text}".removesuffix("<br>").replace("<br>", " · ")
            if box.id in parents and style.width  # plotly omits texts in strips
            else box.label
            for box in boxes
        ],
        "text": [box.text for box in boxes],
        "values": [box.size for box in boxes],
        "hovertext": [box.hover_text for box in boxes],
        "marker": marker,
        "branchvalues": "remainder",
        "textinfo": "label+text",
        "textfont": {"color": text_colors},
        "hoverinfo": "text",
    }
    total = float(balances.sizes.sum())
    blank = sum(box.size for box in boxes if box.id in parents) / total
    lost = 1 - sum(box.size for box in boxes) / total
    undrawn = np.setdiff1d(np.flatnonzero(rings[0].sizes), rings[0].drawn)
    level = grouped.group_by(grouped.names[:1])
    lacking = level.groups.codes[rings[0].rows[undrawn]].tolist()
    names = f": {', '.join(level.short_group_names(lacking))}" * (len(lacking) <= _MAX_NAMED)
    counted = f"{count_with_verb(len(lacking), count, rings[0].noun)} too small to draw{names}"
    small = [f"{counted} ({percent(lost)} of the total)."] * (lost > _ROUNDING)
    small += [f"{percent(blank)} of the total is blank, too small for names."] * (blank > 0)
    sizes_note = f"{style.size_noun} show the {balances.measure.phrase}."
    notes = balances.chart_notes([sizes_note, *extent], wallets)
    return make_figure(
        [trace],
        title=title,
        notes=notes._replace(left_out=[*notes.left_out, *small]),
        dimensions=style.dimensions,
        uniformtext={"minsize": MIN_FONT_SIZE, "mode": "hide"},
    )


class BoxId(NamedTuple):
    """The id of a box: its depth in the path, and the index of one of its rows of holdings."""

    depth: int
    row: int
    in_several: bool  # whether the box is inside a box of several wallets

    def __str__(self) -> str:
        return f"{self.depth}.{self.row}{'+' * self.in_several}"


def parse_box_id(text: str) -> BoxId | None:
    """Parse the id of a box; return None for a box that combines several groups."""
    match = _ID.fullmatch(text)
    return BoxId(int(match[1]), int(match[2]), bool(match[3])) if match else None


class _Box(NamedTuple):
    """Plotly's arguments for one box; all texts are markup."""

    id: str  # made of numbers, since names are untrusted text
    parent: str
    size: float  # without the boxes inside, whose sizes plotly adds up; the rest is blank
    label: str
    text: str = ""
    hover_text: str = ""
    color: str = OTHER_COLOR
    pattern: str = ""


class _Ring(NamedTuple):
    """The groups of one ring of the tree. Each group is inside a group of the previous ring."""

    name: str  # the last column of the path up to this ring
    noun: str  # the noun for a group
    codes: Indices  # the group of each drawn row
    rows: Indices  # the first row of holdings in each group
    parents: Indices  # the parent of each group in the previous ring; 0 in the first ring
    sizes: Floats  # the size of each group
    has_one_token: bool  # whether each group has only one token or asset
    is_combined: Mask  # whether each group combines the small wallets of a blockchain
    wallet_counts: Indices = _EMPTY  # of the groups; empty if boxes don't show the counts
    drawn: Indices = _EMPTY  # the groups to draw


class _Place(NamedTuple):
    """The place of a box in the tree, and its space for text."""

    parent: _Key
    size: float
    blank: float  # the part of the size that no box inside shows
    space: _Space


def _extend_leaves_outward(boxes: Sequence[_Box]) -> list[_Box]:
    depths = {"": -1}
    for box in boxes:
        depths[box.id] = depths[box.parent] + 1
    parents, extended = {box.parent for box in boxes}, list[_Box]()
    total, blank = sum(box.size for box in boxes), dict[str, Any](label="", text="")
    for leaf in boxes:
        box = leaf
        is_small = leaf.size < _MIN_SHARE_WITH_LINES * total  # only its outer end fits a name
        for _ in range(depths[leaf.id], max(depths.values()) if leaf.id not in parents else 0):
            extended.append(box._replace(size=0, **blank if is_small else {}))
            box = box._replace(id=f"{box.id} ", parent=box.id, **{} if is_small else blank)
        extended.append(box)
    return extended


def _place_boxes(rings: list[_Ring], write_texts: _WriteTexts, style: _Style) -> dict[_Key, _Place]:
    """Place the chosen groups and Other, and drop boxes of a treemap without space for a name."""
    boxes, rests = _sizes_with_others(rings, style)
    least: dict[_Key, int] = {}  # the number of characters that a box needs
    spaces = {} if style.width else _spaces_of_arcs(boxes, float(rings[0].sizes.sum()))
    for depth, ring in enumerate(rings if style.width else []):
        texts = write_texts(depth, dict.fromkeys(ring.drawn.tolist()))
        least |= {(depth, at): min(_MIN_CHARS, len(label[0])) for at, (label, *_) in texts.items()}
    while style.width:
        spaces, lacking = _spaces_at_widths(boxes, least, style.width)
        if not lacking:
            break
        for (depth, parent), key in lacking.items():
            _add_to_other(boxes, rests, key, (depth + 1, ~parent))
    for depth, ring in enumerate(rings):
        is_placed = [(depth, group) in spaces for group in ring.drawn.tolist()]
        rings[depth] = ring._replace(drawn=ring.drawn[np.array(is_placed, dtype=bool)])
    opened, places = {parent for parent, _ in boxes.values()}, {}
    for key in spaces:
        other = key[0] + 1, ~key[1]
        blank = rests.get(other, 0.0) if key in opened and other not in boxes else 0.0
        places[key] = _Place(*boxes[key], blank, spaces[key])
    return places


def _sizes_with_others(rings: Sequence[_Ring], style: _Style) -> tuple[_Sizes, dict[_Key, float]]:
    """Return the boxes of the chosen groups and of Other, and the rest of each opened parent."""
    boxes: _Sizes = {}
    rests: dict[_Key, float] = {}
    least = style.min_leaf * rings[0].sizes.sum()
    for depth, ring in enumerate(rings):
        parents, sizes = ring.parents[ring.drawn].tolist(), ring.sizes[ring.drawn].tolist()
        for group, parent, size in zip(ring.drawn.tolist(), parents, sizes, strict=True):
            boxes[depth, group] = (depth - 1, parent), size
        rest = ring.sizes.copy()
        rest[ring.drawn] = 0
        rest_by_parent = sum_by_group(ring.parents, rest)
        for parent in dict.fromkeys(parents) if depth else [0]:
            if rest_by_parent[parent]:
                rests[depth, ~parent] = size = float(rest_by_parent[parent])
                if size >= least:
                    boxes[depth, ~parent] = (depth - 1, parent), size
    return boxes, rests


def _add_to_other(boxes: _Sizes, rests: dict[_Key, float], key: _Key, other: _Key) -> None:
    """Move a box to Other or, if it is Other itself, a smaller one of several boxes beside it."""
    parent, size = boxes.pop(key)
    if key == other:
        beside = [(size, each) for each, (outer, size) in boxes.items() if outer == parent]
        if len(beside) <= 1 or min(beside)[0] > size:
            return
        size, key = min(beside)
        del boxes[key]
    rests[other] = rests.get(other, 0) + size
    boxes[other] = parent, rests[other]


def _spaces_of_arcs(boxes: _Sizes, total: float) -> dict[_Key, _Space]:
    opened = {outer for outer, _ in boxes.values()}
    spaces: dict[_Key, _Space] = {}
    for key, (_, size) in boxes.items():
        is_small = size < _MIN_SHARE_WITH_LINES * (1 + (key in opened)) * total
        chars = max(_MIN_CHARS, _ARC_CHARS * (size / total) ** 0.5)
        spaces[key] = int(chars), 1 if is_small else 9
    return spaces


def _spaces_at_widths(
    boxes: _Sizes, least: Mapping[_Key, int], width: int
) -> tuple[dict[_Key, _Space], dict[_Key, _Key]]:
    """Return each box's least space, and each parent's smallest box without space, if any."""
    spaces: dict[_Key, _Space] = {}
    lacking: dict[_Key, _Key] = {}
    for each in (width * _WIDTH_SHARES).tolist():
        for key, (chars, lines) in _spaces_of_boxes(boxes, each).items():
            most_chars, most_lines = spaces.get(key, (chars, lines))
            spaces[key] = min(chars, most_chars), min(lines, most_lines)
            if chars < least.get(key, _MIN_CHARS) or lines < 1:
                lacking[boxes[key][0]] = key
        if lacking:
            break
    return spaces, lacking


def _spaces_of_boxes(boxes: _Sizes, width: float) -> dict[_Key, _Space]:
    """Return the space for text in each box, as plotly's treemap of this width has it."""
    inner: defaultdict[_Key, list[_Key]] = defaultdict(list)
    for key, (outer, _) in boxes.items():
        inner[outer].append(key)
    single = len(inner[_ROOT]) == 1  # plotly draws it as the root
    queue = [inner[_ROOT][0] if single else _ROOT]
    # Areas include half of the gap on each side.
    areas = {queue[0]: (-_GAP / 2, -_GAP / 2, width + _GAP / 2, _HEIGHT + _GAP / 2)}
    for key in queue:
        keys = sorted(inner[key], key=lambda each: -boxes[each][1])
        if key != _ROOT and all(group < 0 for _, group in keys):
            continue
        sizes = [boxes[each][1] for each in keys]
        left, top, right, bottom = areas[key]
        area = left + _PAD, top + _BAND, right - _PAD, bottom - _PAD
        total = sum(sizes) if key == _ROOT else boxes[key][1]
        areas |= zip(keys, _squarify(sizes, total, area), strict=True)
        queue += keys
    spaces: dict[_Key, _Space] = {}
    for key in queue[not single :]:
        left, top, right, bottom = areas[key]
        chars = (right - left - _GAP - _TEXT_PAD) / _LETTER
        spaces[key] = int(chars), int((bottom - top - _GAP - _TEXT_PAD) / _LINE)
    return spaces


def _squarify(sizes: Sequence[float], total: float, area: _Area) -> Iterator[_Area]:
    """Yield areas of descending sizes, computed like those of plotly.js (by d3-hierarchy)."""
    start, (left, top, right, bottom) = 0, area
    while start < len(sizes):
        width, height = max(right - left, _ROUNDING), max(bottom - top, _ROUNDING)
        row, end, worst = 0.0, start, float("inf")
        while end < len(sizes):  # add boxes to the row while the narrowest one gets wider
            longer = row + sizes[end]
            shape = longer / total * max(width / height, height / width)
            ratio = max(sizes[start] / longer / shape, longer / sizes[end] * shape)
            if ratio > worst:
                break
            row, end, worst = longer, end + 1, ratio
        x, y, is_flat = left, top, width < height
        left, top = left + width * row / total * (not is_flat), top + height * row / total * is_flat
        for size in sizes[start:end]:
            across, down = (width * size / row, 0.0) if is_flat else (0.0, height * size / row)
            yield x, y, x + across if is_flat else left, top if is_flat else y + down
            x, y = x + across, y + down
        total -= row
        start = end


def _make_boxes(
    balances: DrawnBalances,
    rings: Sequence[_Ring],
    places: Mapping[_Key, _Place],
    fills: Mapping[_Key, tuple[str, str]],
    write_texts: _WriteTexts,
    style: _Style,
) -> Iterator[_Box]:
    measure, total = balances.measure, float(rings[0].sizes.sum())
    opened, ids = {place.parent for place in places.values()}, {_ROOT: ""}
    for depth, ring in enumerate(rings):
        groups = ring.drawn.tolist()
        leaves = [group for group in groups if (depth, group) not in opened]
        amounts: dict[int, Amount | None] = dict.fromkeys(leaves)
        if ring.has_one_token:
            exact = balances.exact_sums(ring.codes, np.array(leaves, dtype=np.intp))
            amounts = dict(zip(leaves, exact, strict=True))
        texts = write_texts(depth, amounts)
        named = Counter(label[0] for label, *_ in texts.values())
        undrawn = ring.sizes > 0
        undrawn[ring.drawn] = False
        counts = np.bincount(ring.parents[undrawn])
        single = {places[depth, group].parent for group in texts}
        others = [group for at, group in places if at == depth and group < 0]
        for group in [*groups, *others]:
            parent, size, blank, (chars, _) = place = places[depth, group]
            is_leaf, outer = (depth, group) not in opened, ids[parent]
            own_size = size if is_leaf else blank
            if group in texts:
                key, (label, text, hover_lines) = (depth, group), texts[group]
                ids[key] = str(BoxId(depth, int(ring.rows[group]), outer.startswith("o")))
                if style.width and not is_leaf and named[label[0]] > 1:
                    label = [" · ".join(label)]  # of wallets with equal names
                band = BAND_COLORS[depth > 0], ""
                color, shape = fills.get(key, band) if is_leaf else band
            else:
                count = int(counts[~group] if group < 0 else ring.wallet_counts[group])
                write_name = other_label if group < 0 or parent in single else counted_noun
                name = write_name(count, ring.noun)
                ids[depth, group] = f"{outer}o" if group < 0 else f"o{outer}"
                hover_lines = [name, measure.share_text(size, total)]
                label = [name if len(name) <= chars else name.partition(" (")[0]]
                has_text = measure.kind != "count" and (is_leaf or not style.width)
                text = [measure.short_text(size)] * has_text
                color, shape = OTHER_COLOR if is_leaf else BAND_COLORS[1], ""
            label, text = _fitting_lines(ring, place.space, label, text, style, is_leaf=is_leaf)
            markup = to_markup(label), to_markup(text), hover_text(*hover_lines)
            yield _Box(ids[depth, group], outer, own_size, *markup, color, shape)


def _choose_fills(
    grouped: GroupedBalances, rings: Sequence[_Ring], colors: ColorsLike | None
) -> dict[_Key, tuple[str, str]]:
    keys = [
        (depth, group)
        for depth, ring in enumerate(rings)
        for group in ring.drawn.tolist()
        if ring.has_one_token or ring is rings[-1]
    ]
    rows = np.array([rings[depth].rows[group] for depth, group in keys], dtype=np.intp)
    if rings[-1].has_one_token:
        tokens = grouped.balances.positions.tokens.codes[rows].tolist()
        return dict(zip(keys, grouped.balances.token_fills(tokens, colors), strict=True))
    level = grouped.group_by(grouped.names[:1])
    return dict(zip(keys, level.fills(level.groups.codes[rows].tolist()), strict=True))


def _fitting_lines(
    ring: _Ring, space: _Space, label: list[str], text: list[str], style: _Style, *, is_leaf: bool
) -> tuple[list[str], list[str]]:
    chars, count = space
    text = [line for line in text if len(line) <= chars]
    is_cut = not is_leaf and len(" · ".join(label)) > chars
    if ring.name == "wallet" and (is_cut or len(label) > count):
        label = label[:1]  # a token's name without its contract could mislead
    if not is_leaf and style.width:  # a treemap shows both in one strip
        text = text if len(" · ".join([*label, *text])) <= chars else []
        chars = chars // len(label) - 1 if is_cut and len(label) > 1 else chars
    else:
        label = [" ".join(label)] if len(label) > count and style.width else label
        text = text if len(label) + len(text) <= count else []
    cut = (line if len(line) <= chars else f"{line.partition('…')[0]}…" for line in label)
    return [safe_line(line, chars) for line in cut], text


def _make_ring(
    balances: DrawnBalances,
    codes: Indices,  # of the drawn rows
    outer: Sequence[_Ring],
    name: str,
    noun: str,
    *,
    has_one_token: bool,
) -> _Ring:
    of_rows, groups = pd.factorize(codes)
    first = first_rows(of_rows, len(groups))
    return _Ring(
        name=name,
        noun=noun,
        codes=of_rows,
        rows=balances.rows[first],
        parents=outer[-1].codes[first] if outer else np.zeros_like(first),
        sizes=sum_by_group(of_rows, balances.sizes),
        has_one_token=has_one_token,
        is_combined=np.zeros(len(groups), dtype=bool),
    )


def _custom_path_rings(grouped: GroupedBalances) -> tuple[list[_Ring], _WriteTexts]:
    balances, rings, levels = grouped.balances, list[_Ring](), []
    for count, name in enumerate(grouped.names, 1):
        level, own = grouped.group_by(grouped.names[:count]), grouped.group_by([name])
        one = balances.measure.kind == "amount" or not KINDS.isdisjoint(level.names)
        names = name, own.group_noun
        rings.append(_make_ring(balances, level.group_codes, rings, *names, has_one_token=one))
        levels.append((level, own))
    return rings, partial(_custom_ring_texts, rings, levels)


def _custom_ring_texts(
    rings: Sequence[_Ring],
    levels: Sequence[tuple[GroupLevel, GroupLevel]],  # by the path up to a ring, and by its name
    depth: int,
    amounts: _Amounts,
) -> dict[int, _Texts]:
    ring, (level, own), balances = rings[depth], levels[depth], levels[depth][1].balances
    measure, total = balances.measure, float(rings[0].sizes.sum())
    rows = ring.rows[ring.drawn]
    indices, tokens = own.groups.codes[rows].tolist(), balances.positions.tokens.codes[rows]
    chosen = [*dict.fromkeys(indices)]
    names = dict(zip(chosen, own.short_group_names(chosen), strict=True))
    level_codes = level.groups.codes[rows].tolist()
    full_names = []
    for _, each in levels[depth::-1]:
        codes = each.groups.codes[rows].tolist()
        name_by_code = {code: each.full_group_name(code) for code in {*codes}}
        full_names.append([name_by_code[code] for code in codes])
    texts = {}
    paths = zip(*full_names, strict=True)
    for group, index, at, token, (head, *outer) in zip(
        ring.drawn.tolist(), indices, level_codes, tokens.tolist(), paths, strict=True
    ):
        label, is_leaf, size = [names[index]], group in amounts, float(ring.sizes[group])
        symbol, _, rest = names[index].partition(" (")
        if ring.name == "wallet":
            split = label_lines_without_chain if "blockchain" in level.names else wallet_label_lines
            label = split(names[index], balances.user_wallet_names[index])
        elif ring.name in KINDS and symbol and rest:
            label = [symbol, f"({rest}"]
        text = (measure.text_with_noun if is_leaf else measure.short_text)(size)
        lines = [*outer, level.known_wallets_text(at)]
        if ring.has_one_token:
            symbol, contract = balances.full_token_name(token)
            lines = [contract] * (ring.name in KINDS) + lines
            if is_leaf:
                lines.append(f"{full_amount(amounts[group])} {symbol}")
                text = compact_amount(amounts[group]) if measure.kind == "count" else text
        texts[group] = label, [text], [head, *lines, measure.share_text(size, total)]
    return texts


def _choose_groups(rings: list[_Ring], style: _Style) -> None:
    """Choose the largest groups of each ring, and each group that would be alone in Other."""
    edges = np.cumsum([0, *(len(ring.sizes) for ring in rings)])
    sizes, total = np.concatenate([ring.sizes for ring in rings]), rings[0].sizes.sum()
    root = len(sizes)
    inner = [ring.parents + start for ring, start in zip(rings[1:], edges, strict=False)]
    parents = np.concatenate([np.full(edges[1], root), *inner])
    is_chosen = np.zeros(root, dtype=bool)
    fits = sizes >= style.min_leaf * total
    depths = np.repeat(np.arange(len(rings)), np.diff(edges))
    outermost_sizes = [rings[0].sizes]
    for ring in rings[1:]:
        outermost_sizes.append(outermost_sizes[-1][ring.parents])
    can_be_opened = np.concatenate(outermost_sizes) >= style.min_parent * total
    can_be_drawn = fits & (can_be_opened | (depths == 0))
    # A group is never larger than its parent, so the parent comes first and is also chosen.
    siblings = np.bincount(parents, minlength=root + 1)
    by_size = np.argsort(-sizes, kind="stable")
    turns = np.empty(root, dtype=np.intp)  # for equal sizes, alternate between the parents
    turns[by_size] = pd.Series(by_size).groupby(parents[by_size]).cumcount()
    order = np.lexsort((turns, depths, -sizes))
    order = order[can_be_drawn[order]]
    order_parents = parents[order]
    has_other = siblings[order_parents] > 1  # an only child has no box Other beside it
    opened = has_other & (turns[order] == 0) & (order_parents != root)
    closed = has_other & (turns[order] + 1 == siblings[order_parents])
    costs = np.cumsum(1 + opened.astype(np.intp) - closed) + (siblings[root] > 1)
    is_chosen[order[: np.searchsorted(costs, style.top, side="right")]] = True
    for start, end in pairwise(edges[1:]):
        if sizes[start:end][is_chosen[start:end]].sum() < style.min_sum * total:
            is_chosen[start:] = False  # most of the ring would be Other
    undrawn = np.bincount(parents[~is_chosen], minlength=root + 1)
    is_open = np.bincount(parents[is_chosen], minlength=root + 1) > 0
    is_open[root] = True
    is_chosen |= is_open[parents] & (undrawn[parents] == 1) & fits
    # An only child of small wallets shows nothing but the tokens inside.
    is_open = np.bincount(parents[is_chosen], minlength=root + 1) > 0
    is_combined = np.concatenate([ring.is_combined for ring in rings])
    is_chosen &= ~is_combined | is_open[:root] | (siblings[parents] > 1)
    for depth, part in enumerate(np.split(is_chosen, edges[1:-1])):
        rings[depth] = rings[depth]._replace(drawn=np.flatnonzero(part))


def _default_ring_texts(
    balances: DrawnBalances, rings: Sequence[_Ring], depth: int, amounts: _Amounts
) -> dict[int, _Texts]:
    positions, ring, measure = balances.positions, rings[depth], balances.measure
    is_count, total = measure.kind == "count", float(rings[0].sizes.sum())
    groups = ring.drawn[~ring.is_combined[ring.drawn]].tolist()
    rows = ring.rows[groups]
    owners, tokens = positions.wallet_codes[rows].tolist(), positions.tokens.codes[rows].tolist()
    chains = [positions.chains[index] for index in positions.wallet_chain_codes[owners].tolist()]
    labels, texts = [[chain] for chain in chains], {}
    if ring.has_one_token:
        weights = sum_by_group(positions.tokens.codes[rows], ring.sizes[groups])
        named = largest_indices(weights, len(weights)).tolist()
        names = dict(zip(named, balances.token_names(named), strict=True))
        on_chain, assets = names, positions.assets.blockchains if positions.assets else ()
        if not positions.assets:
            on_chain = dict(zip(named, balances.token_names(named, by_chain=True), strict=True))
        keys = [positions.tokens.keys[token] for token in tokens]
        own = ["" if key in assets else key[0] for key in keys]
        labels = [*map(_token_label_lines, (on_chain[token] for token in tokens), own, chains)]
    if ring.name == "wallet":
        own = [balances.user_wallet_names[owner] for owner in owners]
        labels = [*map(label_lines_without_chain, balances.wallet_names(owners), own)]
    columns = zip(groups, owners, tokens, chains, labels, strict=True)
    for group, owner, token, chain, label in columns:
        wallets = counted_noun(int(ring.wallet_counts[group]), "wallet")
        size = float(ring.sizes[group])
        text, share = measure.short_text(size), measure.share_text(size, total)
        if depth == 0:
            lines = [wallets] * (group in amounts) + [text] * (not (group in amounts and is_count))
            texts[group] = label, lines, [chain, wallets, share]
            continue
        hover = [balances.full_wallet_name(owner), share]
        if ring.has_one_token:
            symbol, contract = balances.full_token_name(token)
            if rings[depth - 1].is_combined[ring.parents[group]]:
                holder, text = f"{wallets} of {chain}", wallets if is_count else text
            else:
                holder = balances.full_wallet_name(owner)
                text, share = (compact_amount(amounts[group]), "") if is_count else (text, share)
            amount = f"{full_amount(amounts[group])} {symbol}"
            hover = [names[token], contract, holder, amount, share]
        texts[group] = label, [text], hover
    return texts


def _token_label_lines(label: str, token_chain: str, chain: str) -> list[str]:
    """Split a token's label into lines without `chain`. For an asset, `token_chain` is empty."""
    name, _, contract = label.removesuffix(")").rpartition(" (")
    if not name or not label.endswith(")"):
        name, contract = label, ""
    contract = contract.removeprefix(token_chain).lstrip()
    if token_chain != chain:
        contract = f"{safe_line(token_chain)} {contract}".strip()
    return [name, f"({contract})"] if contract else [name]


def _default_path_rings(balances: DrawnBalances, style: _Style) -> tuple[list[_Ring], _WriteTexts]:
    positions, owners = balances.positions, balances.wallet_codes
    chain_of, kind = positions.wallet_chain_codes, positions.kind
    count, rings = len(chain_of), list[_Ring]()
    codes_by_name = {"blockchain": chain_of[owners], "wallet": owners}
    if balances.measure.kind != "amount":  # otherwise, wallets are the leaves
        is_single = _choose_single_wallets(owners, balances.sizes, chain_of, style)
        boxes = np.where(is_single, np.arange(count), count + chain_of)[owners]
        tokens = boxes * len(positions.tokens.keys) + balances.token_codes
        codes_by_name |= {"wallet": boxes, kind: tokens}
    for name, codes in codes_by_name.items():
        is_last = name == [*codes_by_name][-1]
        ring = _make_ring(balances, codes, rings, name, name, has_one_token=is_last)
        wallets = pd.unique(ring.codes * count + owners) // count
        is_combined = ring.is_combined if name != "wallet" else pd.unique(codes) >= count
        rings.append(ring._replace(is_combined=is_combined, wallet_counts=np.bincount(wallets)))
    return rings, partial(_default_ring_texts, balances, rings)


def _drawn_count_notes(rings: Sequence[_Ring]) -> list[str]:
    if not len(rings[0].wallet_counts):
        counts = [(len(ring.drawn), len(ring.sizes) - len(ring.drawn)) for ring in rings]
        extent = [(*counts[0], rings[0].noun)]
        extent += [(*counts[-1], "inner group")] * (len(rings) > 1 and counts[-1][0] > 0)
        return [drawn_count_note(*extent, others_text=_REST)]
    (outer, *boxes, last), leaves = rings, len(rings[-1].drawn)
    [single] = [int((~ring.is_combined[ring.drawn]).sum()) for ring in boxes] or [leaves]
    balance_count = int(last.wallet_counts.sum())
    wallets, pieces, rest = int(outer.wallet_counts.sum()), leaves * bool(boxes), outer.sizes.copy()
    level = f"blockchain and {rings[-1].name}" if pieces else "blockchain"
    if single and not boxes:
        sentence = drawn_count_note((single, wallets - single, "wallet"), others_text=_REST)
    elif single == wallets:
        sentence = drawn_count_note((pieces, balance_count - pieces, "balance"), others_text=_REST)
    elif not single:
        counted = counted_noun(wallets, "wallet")
        sentence = f"{counted} {'is' if wallets == 1 else 'are'} combined by {level}."
    else:
        others = f"; the others are combined by {level}" * (len(rings[1].drawn) > single)
        sentence = f"{count_with_verb(single, wallets, 'wallet')} drawn{others}."
    rest[outer.drawn] = 0
    undrawn = int((outer.wallet_counts > 0).sum()) - len(outer.drawn)
    has_other = bool(rest.sum() >= MIN_SHARE * outer.sizes.sum())
    outer_part = len(outer.drawn), undrawn, "blockchain"
    return [drawn_count_note(outer_part, others_text=_REST)] * has_other + [sentence]


def _choose_single_wallets(
    wallets: Indices, sizes: Floats, chain_of: Indices, style: _Style
) -> Mask:
    """Choose large wallets, and each wallet that would be alone in its blockchain's others."""
    shares = sum_by_group(wallets, sizes / sizes.sum(), len(chain_of))
    large = largest_indices(np.where(shares >= style.min_parent, shares, 0), style.top // 8)
    is_chosen, fits = np.isin(np.arange(len(chain_of)), large), shares >= style.min_leaf
    others = np.bincount(chain_of[(shares > 0) & ~is_chosen], minlength=len(chain_of))
    return np.asarray(is_chosen | (fits & (others[chain_of] == 1)))
