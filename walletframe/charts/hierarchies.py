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
from functools import cache, partial
from itertools import pairwise
from math import pi, tan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from walletframe.charts.balances import (
    MIN_SHARE,
    CommonArguments,
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
from walletframe.frames.names import name_and_address_lines, split_wallet_label
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

    _RingsAndTexts: TypeAlias = tuple[list["_Ring"], Callable[[int], dict[int, "_BoxTexts"]]]
    _Key: TypeAlias = tuple[int, int]  # the depth of a ring, and a group or, for Other, ~parent
    _Space: TypeAlias = tuple[int, int]  # the maximum numbers of characters per line, and of lines
    _ParentsAndSizes: TypeAlias = dict[_Key, tuple[_Key, float]]  # by the key of a box
    _Area: TypeAlias = tuple[float, float, float, float]  # left, top, right and bottom, in pixels

_ROUNDING, _MAX_NAMED = 1e-12, 3  # the last one is the maximum number of names in a note
_MIN_SHARE_WITH_LINES = 0.055  # a leaf with a smaller share of the total has its name outside
_REST = "the others are not drawn separately"
_MIN_CHARS = 5  # the part of a name that must fit, such as "stETH" or "Other"
_RADIUS, _PHONE_RADIUS = 250, 165  # pixels
_ARC_LETTER, _ARC_PAD = 7, 6
_LINES_CHARS = 9, 15  # the least and most characters of a line, if an arc has several lines
_HEIGHT, _BAND, _PAD, _GAP = 404, 20, 2, 1  # a treemap and its parts, in pixels
_LETTER, _LINE, _TEXT_PAD = 8, 15, 8  # for texts of 11 pixels
_WIDTH_SHARES = np.arange(0.74, 1.5, 0.01)  # relative widths of pages on which names must fit
_OPPOSITE_COLOR = {"#000000": "#FFFFFF", "#FFFFFF": "#000000"}
_ROOT = (-1, 0)
_EMPTY = np.array([], dtype=np.intp)
_ID = re.compile(r"(\d+)\.(\d+)(\+?) *")  # spaces mark the extension of a box
DEFAULT_PATH = ("blockchain", "wallet", "asset")


class _TreeStyle(NamedTuple):
    """The options that have different values in a treemap and a sunburst."""

    trace: Mapping[str, Any]  # the type of the trace, and options of this type
    top: int  # the maximum number of boxes
    size_noun: str  # the noun for the drawn sizes: "Areas" or "Angles"
    dimensions: Dimensions
    min_leaf: float = 0.01  # the smallest share of the total that a box can have
    min_parent: float = 0.04  # the smallest share that a box with boxes inside can have
    min_sum: float = 0  # the smallest share that a drawn ring can have in total
    width: int = 0  # the page width of a treemap in pixels; 0 for a sunburst


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

    Areas show the same quantity as the lengths in `bar`.

    Parameters
    ----------
    by : str or list of str, default ("blockchain", "wallet", "asset")
        The columns to group by, from the outermost to the innermost rectangles, such as
        ``["owner", "token"]``. The names are the same as in `bar`.
    token, asset : str or (str, str or None), optional
        Draw only the amounts of this token or asset, as in `bar`.
    top : int, default 250
        Maximum number of rectangles (at most 500, since browsers are slow with more). The largest
        are drawn, and the rest of each parent group is combined as Other. Rectangles without space
        for a name are also combined. A small Other is grey and has no name. With the default `by`,
        the small wallets of each blockchain are one group, split by asset.
    width : int, default 1000
        The width of the page in pixels, at most 4000. Each rectangle has space for its name if the
        page is 0.8 to 1.5 times this wide. On narrower pages, some names may not fit.
    wallets, assets, bridged, colors, title : optional
        As in `bar`.

    Returns
    -------
    plotly.graph_objects.Figure
        A figure with one trace and exact amounts in the hover texts. If no value, amount or
        count is above 0, the figure has only an annotation with the reason.

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
    style = _TreeStyle(trace, top, "Areas", Dimensions(420), least, 4 * least, width=width)
    options = CommonArguments(token, asset, wallets, assets, bridged)
    return _draw_tree(style, holdings, by, options, colors, title)


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

    Angles show the same quantity as the lengths in `bar`.

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
        of each blockchain are one group, split by asset.
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
    top = check_limit("top", top, 300)
    # With these shares, the smallest arcs have space for a name if the radius is 250 pixels.
    style = _TreeStyle(trace, top, "Angles", Dimensions(520), 0.014, 0.025, min_sum=0.5)
    options = CommonArguments(token, asset, wallets, assets, bridged)
    return _draw_tree(style, holdings, by, options, colors, title)


def _draw_tree(
    style: _TreeStyle,
    holdings: PositionsLike,
    by: By,
    options: CommonArguments,
    colors: ColorsLike | None,
    title: str | None,
) -> go.Figure:
    path, one_token = by_as_list(by), options.token is not None or options.asset is not None
    outer_path = [*DEFAULT_PATH[:-1]]
    if one_token and path[:-1] == outer_path and path[-1] in KINDS:
        path = outer_path
    grouped, wallets = select_grouped_balances(holdings, path, options), options.wallets
    *outer, last = grouped.names
    if grouped.token is not None and outer == outer_path and last in KINDS:
        balances, one_token = grouped.balances._replace(positions=grouped.positions), True
        grouped = grouped._replace(names=outer_path, balances=balances)
    title = title or grouped.chart_title
    balances = grouped.balances
    if not len(balances.rows):
        return empty_figure(title, balances.chart_notes([], wallets), balances.empty_reason)
    if grouped.names in ([outer_path] if one_token else [[*outer_path, name] for name in KINDS]):
        rings, make_texts = _default_path_rings_and_texts(balances, style)
    else:
        rings, make_texts = _custom_path_rings_and_texts(grouped)
    _choose_drawn_groups(rings, style)
    texts = [make_texts(depth) for depth in range(len(rings))]
    places = _place_or_combine_boxes(rings, texts, style)
    extent = _drawn_count_notes(rings)
    sizes_note = f"{style.size_noun} show the {balances.measure.phrase}."
    fills = _choose_fills(grouped, rings, colors)
    boxes = [*_make_boxes(balances, rings, places, fills, texts, style)]
    count, outermost = int((rings[0].sizes > 0).sum()), [box for box in boxes if not box.parent]
    if count == len(outermost) == 1:
        sizes_note += f" {markup_to_text(outermost[0].label)} has 100% of the total."
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
            if box.id in parents and style.width  # plotly omits the texts of outer boxes
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
    small = _small_parts_notes(grouped, rings, places)
    notes = balances.chart_notes([sizes_note, *extent], wallets)
    return make_figure(
        [trace],
        title=title,
        notes=notes._replace(left_out=[*notes.left_out, *small]),
        dimensions=style.dimensions,
        explorer_meta={"levels": grouped.names},
        uniformtext={"minsize": MIN_FONT_SIZE, "mode": "hide"},
    )


def _small_parts_notes(
    grouped: GroupedBalances, rings: Sequence[_Ring], places: Mapping[_Key, _SectorLayout]
) -> list[str]:
    outer, total = rings[0], float(rings[0].sizes.sum())
    opened, small = {place.parent for place in places.values()}, 0.0
    grey: set[_Key] = set()
    for key, (_, size, (chars, lines)) in places.items():
        small += size * (key[0] == 0)
        if key[1] < 0 and (chars < _MIN_CHARS or lines < 1):
            grey.add(key)
        elif key not in opened:
            small -= size
    undrawn = np.setdiff1d(np.flatnonzero(outer.sizes), outer.drawn)
    notes = []
    if len(undrawn) and ((0, ~0) in grey or (0, ~0) not in places):
        level = grouped.group_by(grouped.names[:1])
        lacking = level.groups.codes[outer.rows[undrawn]].tolist()
        names = f": {', '.join(level.short_group_names(lacking))}" * (len(lacking) <= _MAX_NAMED)
        counted = count_with_verb(len(lacking), int((outer.sizes > 0).sum()), outer.noun)
        share = percent(float(outer.sizes[undrawn].sum()) / total)
        notes.append(f"{counted} too small to draw{names} ({share} of the total).")
    if small > _ROUNDING * total:
        shown = "grey" if grey else "blank"
        notes.append(f"{percent(small / total)} of the total is {shown}, too small for names.")
    if not len(rings[-1].drawn):
        reason = "most are too small, or there are too many"
        notes.append(f"No {rings[-1].noun} is drawn: {reason}.")
    return notes


class BoxId(NamedTuple):
    """The id of a box: the depth of the box, and the index of a row of holdings in the box."""

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

    id: str  # contains no names, since names are untrusted text
    parent: str
    size: float  # 0 if the box contains other boxes, since plotly adds up the sizes of these
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
    wallet_counts: Indices = _EMPTY  # the wallets of each group; empty if they aren't shown
    drawn: Indices = _EMPTY  # the groups to draw


class _BoxTexts(NamedTuple):
    """The texts of one box."""

    label: list[str]
    leaf_text: list[str]  # the text below a leaf's label; if empty, its exact amount is shown
    hover: list[str]  # the heading and the first lines of the hover text
    share: str  # the last line of the hover text
    symbol: str = ""  # the token's symbol, if each box of the ring has one token


class _SectorLayout(NamedTuple):
    parent: _Key
    size: float
    space: _Space


def _extend_leaves_outward(boxes: Sequence[_Box]) -> list[_Box]:
    depths = {"": -1}
    for box in boxes:
        depths[box.id] = depths[box.parent] + 1
    parents, extended = {box.parent for box in boxes}, list[_Box]()
    total, blank = sum(box.size for box in boxes), dict[str, Any](label="", text="")
    for leaf in boxes:
        box = leaf
        is_small = leaf.size < _MIN_SHARE_WITH_LINES * total  # the name is at the outer end
        for _ in range(depths[leaf.id], max(depths.values()) if leaf.id not in parents else 0):
            extended.append(box._replace(size=0, **blank if is_small else {}))
            box = box._replace(id=f"{box.id} ", parent=box.id, **{} if is_small else blank)
        extended.append(box)
    return extended


def _place_or_combine_boxes(
    rings: list[_Ring], texts: Sequence[Mapping[int, _BoxTexts]], style: _TreeStyle
) -> dict[_Key, _SectorLayout]:
    """Place the boxes that have space for a name. Combine the rest of each parent as Other."""
    boxes, total = _boxes_with_others(rings), float(rings[0].sizes.sum())
    lengths = {  # the number of characters that a box needs, and the length of its longest line
        (depth, group): (min(_MIN_CHARS, len(label[0])), max(map(len, label)))
        for depth, ring_texts in enumerate(texts)
        for group, (label, *_) in ring_texts.items()
    }
    while True:
        if style.width:
            spaces, lacking = _rectangle_spaces_and_misfit_by_parent(boxes, lengths, style.width)
        else:
            spaces, lacking = _arc_spaces_and_misfit_by_parent(boxes, lengths, total)
        if not lacking:
            break
        for (depth, parent), key in lacking.items():
            inner = [each for each, (outer, _) in boxes.items() if outer == key]
            if inner and not style.width:  # a leaf has more space for its name
                for each in inner:
                    del boxes[each]
            else:
                other, (_, size) = (depth + 1, ~parent), boxes.pop(key)
                boxes[other] = (depth, parent), size + (boxes[other][1] if other in boxes else 0)
    for depth, ring in enumerate(rings):
        is_placed = [(depth, group) in spaces for group in ring.drawn.tolist()]
        rings[depth] = ring._replace(drawn=ring.drawn[np.array(is_placed, dtype=bool)])
    return {key: _SectorLayout(*boxes[key], space) for key, space in spaces.items()}


def _boxes_with_others(rings: Sequence[_Ring]) -> _ParentsAndSizes:
    boxes: _ParentsAndSizes = {}
    for depth, ring in enumerate(rings):
        rest = ring.sizes.copy()
        rest[ring.drawn] = 0
        rests = sum_by_group(ring.parents, rest)
        parents = ring.parents[ring.drawn].tolist()
        for group, parent in zip(ring.drawn.tolist(), parents, strict=True):
            boxes[depth, group] = (depth - 1, parent), float(ring.sizes[group])
        for parent in dict.fromkeys(parents) if depth else [0]:
            if rests[parent] >= MIN_SHARE * rings[0].sizes.sum():
                boxes[depth, ~parent] = (depth - 1, parent), float(rests[parent])
    return boxes


def _child_boxes_by_parent(boxes: _ParentsAndSizes) -> dict[_Key, list[_Key]]:
    """Return the boxes inside each box, the largest first. Omit a box Other without siblings."""
    inner: defaultdict[_Key, list[_Key]] = defaultdict(list)
    for key in sorted(boxes, key=lambda each: -boxes[each][1]):
        inner[boxes[key][0]].append(key)
    return {
        key: keys
        for key, keys in inner.items()
        if key == _ROOT or any(group >= 0 for _, group in keys)
    }


def _arc_spaces_and_misfit_by_parent(
    boxes: _ParentsAndSizes, lengths: Mapping[_Key, tuple[int, int]], total: float
) -> tuple[dict[_Key, _Space], dict[_Key, _Key]]:
    """Return each arc's space for text, and each parent's smallest arc with too little space."""
    inner, queue = _child_boxes_by_parent(boxes), [_ROOT]
    for key in queue:
        queue += inner.get(key, ())
    count = 1 + max(depth for depth, _ in queue)
    spaces: dict[_Key, _Space] = {}
    lacking: dict[_Key, _Key] = {}
    for key in queue[1:]:
        least, longest = lengths.get(key, (_MIN_CHARS, _LINES_CHARS[1]))
        share = boxes[key][1] / total
        is_outside = key not in inner and share < _MIN_SHARE_WITH_LINES
        ring = count if is_outside else key[0] + 1
        chars = _chars_per_line_in_arc(share, ring, _RADIUS * ring / count, 1)
        if key[1] >= 0 and chars < least:
            lacking[boxes[key][0]] = key
        *several, (on_phone, _) = (
            (_chars_per_line_in_arc(share, ring, _PHONE_RADIUS * ring / count, lines), lines)
            for lines in (4, 3, 2, 1)
        )
        needed = min(max(_LINES_CHARS[0], longest), _LINES_CHARS[1])
        one = (on_phone if on_phone >= _MIN_CHARS else chars), 1
        spaces[key] = next((each for each in several if each[0] >= needed), one)
    return spaces, lacking


def _chars_per_line_in_arc(share: float, ring: int, radius: float, lines: int) -> int:
    """Return the number of characters that fit in each of `lines` lines in an arc."""
    radius, height = max(radius - _ARC_PAD, 1), float(_LINE * lines)
    cotangent, high = 1 / tan(pi * min(share, 0.5)), height / 2 / radius
    across = min(1 / high - high / 2 - cotangent, 1 / ring / high - high / 2) * height / 2
    rest, deep = 1 - 2 * high, max(0, 1 / ring - 2 * high)
    along = min((cotangent**2 + 2 * rest) ** 0.5 - cotangent, (2 * deep) ** 0.5) if rest > 0 else 0
    return int(max(0, across, 2 * radius * along) / _ARC_LETTER)


def _rectangle_spaces_and_misfit_by_parent(
    boxes: _ParentsAndSizes, lengths: Mapping[_Key, tuple[int, int]], width: int
) -> tuple[dict[_Key, _Space], dict[_Key, _Key]]:
    """Return each box's space for text, and each parent's smallest box that lacks space."""
    spaces: dict[_Key, _Space] = {}
    lacking: dict[_Key, _Key] = {}
    inner = _child_boxes_by_parent(boxes)
    for each in (width * _WIDTH_SHARES).tolist():
        for key, (chars, lines) in _rectangle_spaces(boxes, inner, each).items():
            most_chars, most_lines = spaces.get(key, (chars, lines))
            spaces[key] = min(chars, most_chars), min(lines, most_lines)
            least, _ = lengths.get(key, (_MIN_CHARS, 0))
            if key[1] >= 0 and (chars < least or lines < 1):
                lacking[boxes[key][0]] = key
        if lacking:
            break
    return spaces, lacking


def _rectangle_spaces(
    boxes: _ParentsAndSizes, inner: Mapping[_Key, list[_Key]], width: float
) -> dict[_Key, _Space]:
    """Return the space for text in each box, if the treemap has this width."""
    single = len(inner[_ROOT]) == 1  # plotly draws it as the root
    queue = [inner[_ROOT][0] if single else _ROOT]
    # Areas include half of the gap on each side.
    areas = {queue[0]: (-_GAP / 2, -_GAP / 2, width + _GAP / 2, _HEIGHT + _GAP / 2)}
    for key in queue:
        keys = inner.get(key)
        if not keys:
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
    """Yield the rectangle of each size by plotly.js's algorithm. `sizes` must be descending."""
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
    places: Mapping[_Key, _SectorLayout],
    fills: Mapping[_Key, tuple[str, str]],
    texts: Sequence[Mapping[int, _BoxTexts]],
    style: _TreeStyle,
) -> Iterator[_Box]:
    measure, total = balances.measure, float(rings[0].sizes.sum())
    opened, ids = {place.parent for place in places.values()}, {_ROOT: ""}
    for depth, ring in enumerate(rings):
        groups = ring.drawn.tolist()
        leaves = [group for group in groups if (depth, group) not in opened]
        amounts: dict[int, Amount | None] = {}
        if ring.has_one_token:
            exact = balances.exact_sums(ring.codes, np.array(leaves, dtype=np.intp))
            amounts = dict(zip(leaves, exact, strict=True))
        ring_texts = {group: texts[depth][group] for group in groups if group in texts[depth]}
        named = Counter(each.label[0] for each in ring_texts.values())
        undrawn = ring.sizes > 0
        undrawn[ring.drawn] = False
        counts = np.bincount(ring.parents[undrawn])
        single = {places[depth, group].parent for group in ring_texts}
        others = [group for at, group in places if at == depth and group < 0]
        for group in [*groups, *others]:
            parent, size, (chars, lines) = place = places[depth, group]
            is_leaf, outer = (depth, group) not in opened, ids[parent]
            if group in ring_texts:
                key, each = (depth, group), ring_texts[group]
                ids[key] = str(BoxId(depth, int(ring.rows[group]), outer.startswith("o")))
                label, text = each.label, [measure.short_text(size)]
                if style.width and not is_leaf and named[label[0]] > 1:
                    label = [" · ".join(label)]  # distinguishes wallets with equal names
                if is_leaf:
                    text = each.leaf_text or [compact_amount(amounts[group])]
                hover_lines = [*each.hover, each.share]
                if group in amounts:
                    hover_lines[-1:-1] = [f"{full_amount(amounts[group])} {each.symbol}"]
                band = BAND_COLORS[depth > 0], ""
                color, shape = fills.get(key, band) if is_leaf else band
            else:
                count = int(counts[~group] if group < 0 else ring.wallet_counts[group])
                write_name = other_label if group < 0 or parent in single else counted_noun
                name = write_name(count, ring.noun)
                ids[depth, group] = f"{outer}o" if group < 0 else f"o{outer}"
                hover_lines = [name, measure.text_with_share(size, total)]
                label = [name if len(name) <= chars else name.partition(" (")[0]]
                has_text = measure.kind != "count" and (is_leaf or not style.width)
                text = [measure.short_text(size)] * has_text
                color, shape = OTHER_COLOR if is_leaf else BAND_COLORS[1], ""
            space = (max(chars, _MIN_CHARS), lines) if group < 0 else place.space
            label, text = _fit_texts(ring, space, label, text, style.width, is_leaf=is_leaf)
            markup = to_markup(label), to_markup(text), hover_text(*hover_lines)
            yield _Box(ids[depth, group], outer, size * is_leaf, *markup, color, shape)


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


def _fit_texts(
    ring: _Ring, space: _Space, label: list[str], text: list[str], width: int, *, is_leaf: bool
) -> tuple[list[str], list[str]]:
    chars, count = space
    text = [line for line in text if len(line) <= chars]
    is_cut = bool(width) and not is_leaf and len(" · ".join(label)) > chars
    if ring.name == "wallet" and (is_cut or len(label) > count):
        label = label[:1]  # a token's name without its contract could mislead
    if not is_leaf and width:  # a treemap shows label and text in one strip
        text = text if len(" · ".join([*label, *text])) <= chars else []
        chars = chars // len(label) - 1 if is_cut and len(label) > 1 else chars
    else:
        joined = " ".join(label)
        if len(label) > count:
            label = [joined if width or len(joined) <= chars else f"{label[0]}…"]
        text = text if len(label) + len(text) <= count else []
    cut = (line if len(line) <= chars else f"{line.partition('…')[0]}…" for line in label)
    return [safe_line(line, chars) for line in cut], text


def _make_ring(
    balances: DrawnBalances,
    codes: Indices,  # the group of each drawn row
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


def _custom_path_rings_and_texts(grouped: GroupedBalances) -> _RingsAndTexts:
    balances, rings, levels = grouped.balances, list[_Ring](), []
    for count, name in enumerate(grouped.names, 1):
        level, own = grouped.group_by(grouped.names[:count]), grouped.group_by([name])
        one = balances.measure.kind == "amount" or not KINDS.isdisjoint(level.names)
        names = name, own.group_noun
        rings.append(_make_ring(balances, level.group_codes, rings, *names, has_one_token=one))
        levels.append((level, own))
    return rings, partial(_custom_path_texts, rings, levels)


def _custom_path_texts(
    rings: Sequence[_Ring],
    levels: Sequence[tuple[GroupLevel, GroupLevel]],  # grouped by the ring's path, and by its name
    depth: int,
) -> dict[int, _BoxTexts]:
    ring, (level, own), balances = rings[depth], levels[depth], levels[depth][1].balances
    measure, total = balances.measure, float(rings[0].sizes.sum())
    rows, own_levels = ring.rows[ring.drawn], [each for _, each in levels[depth::-1]]
    paths = [each.groups.codes[rows].tolist() for each in own_levels]
    full_names = [cache(each.name_and_columns) for each in own_levels]
    chosen = [*dict.fromkeys(paths[0])]
    short_names = dict(zip(chosen, own.short_group_names(chosen), strict=True))
    token_texts, tokens = cache(balances.symbol_and_contract), balances.positions.tokens.codes[rows]
    columns = tokens.tolist(), level.groups.codes[rows].tolist(), zip(*paths, strict=True)
    texts = {}
    for group, token, at, path in zip(ring.drawn.tolist(), *columns, strict=True):
        label, size = [short_names[path[0]]], float(ring.sizes[group])
        head, *outer = (full_name(code) for full_name, code in zip(full_names, path, strict=True))
        symbol, contract = token_texts(token) if ring.has_one_token else ("", "")
        name, _, rest = label[0].partition(" (")
        if ring.name == "wallet":
            split = name_and_address_lines if "blockchain" in level.names else split_wallet_label
            label = split(label[0], balances.user_wallet_names[path[0]])
        elif ring.name in KINDS and name and rest:
            label = [name, f"({rest}"]
        is_amount = ring.has_one_token and measure.kind == "count"
        text = [] if is_amount else [measure.text_with_noun(size)]
        hover = [head, *[contract] * (ring.name in KINDS), *outer, level.known_wallets_text(at)]
        texts[group] = _BoxTexts(label, text, hover, measure.text_with_share(size, total), symbol)
    return texts


def _choose_drawn_groups(rings: list[_Ring], style: _TreeStyle) -> None:
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
    # A parent is at least as large as its groups, so it is chosen before them.
    siblings = np.bincount(parents, minlength=root + 1)
    by_size = np.argsort(-sizes, kind="stable")
    sibling_ranks = np.empty(root, dtype=np.intp)  # for equal sizes, alternate between the parents
    sibling_ranks[by_size] = pd.Series(by_size).groupby(parents[by_size]).cumcount()
    order = np.lexsort((sibling_ranks, depths, -sizes))
    order = order[can_be_drawn[order]]
    order_parents = parents[order]
    has_other = siblings[order_parents] > 1  # an only child has no box Other beside it
    opened = has_other & (sibling_ranks[order] == 0) & (order_parents != root)
    closed = has_other & (sibling_ranks[order] + 1 == siblings[order_parents])
    costs = np.cumsum(1 + opened.astype(np.intp) - closed) + (siblings[root] > 1)
    is_chosen[order[: np.searchsorted(costs, style.top, side="right")]] = True
    for start, end in pairwise(edges[1:]):
        if sizes[start:end][is_chosen[start:end]].sum() < style.min_sum * total:
            is_chosen[start:] = False  # most of the ring would be Other
    undrawn = np.bincount(parents[~is_chosen], minlength=root + 1)
    is_open = np.bincount(parents[is_chosen], minlength=root + 1) > 0
    is_open[root] = True
    is_chosen |= is_open[parents] & (undrawn[parents] == 1) & fits
    # A box that combines small wallets would repeat its parent if it is an only child and a leaf.
    is_open = np.bincount(parents[is_chosen], minlength=root + 1) > 0
    is_combined = np.concatenate([ring.is_combined for ring in rings])
    is_chosen &= ~is_combined | is_open[:root] | (siblings[parents] > 1)
    for depth, part in enumerate(np.split(is_chosen, edges[1:-1])):
        rings[depth] = rings[depth]._replace(drawn=np.flatnonzero(part))


def _default_path_texts(
    balances: DrawnBalances, rings: Sequence[_Ring], depth: int
) -> dict[int, _BoxTexts]:
    positions, ring, measure = balances.positions, rings[depth], balances.measure
    is_count, total = measure.kind == "count", float(rings[0].sizes.sum())
    groups = ring.drawn[~ring.is_combined[ring.drawn]].tolist()
    rows = ring.rows[groups]
    owners, tokens = positions.wallet_codes[rows].tolist(), positions.tokens.codes[rows].tolist()
    chains = [positions.distinct_chains[code] for code in positions.wallet_chain_codes[owners]]
    labels, texts = [[chain] for chain in chains], {}
    if ring.has_one_token:
        weights = sum_by_group(positions.tokens.codes[rows], ring.sizes[groups])
        drawn = largest_indices(weights, len(weights)).tolist()
        short_names = dict(zip(drawn, balances.token_names(drawn), strict=True))
        full_names = {token: balances.symbol_and_contract(token) for token in drawn}
        on_chain, assets = short_names, positions.assets.blockchains if positions.assets else ()
        if not positions.assets:
            on_chain = dict(zip(drawn, balances.token_names(drawn, by_chain=True), strict=True))
        keys = [positions.tokens.keys[token] for token in tokens]
        own = ["" if key in assets else key[0] for key in keys]
        labels = [*map(_token_label_lines, (on_chain[token] for token in tokens), own, chains)]
    if ring.name == "wallet":
        own = [balances.user_wallet_names[owner] for owner in owners]
        labels = [*map(name_and_address_lines, balances.wallet_names(owners), own)]
    columns = zip(groups, owners, tokens, chains, labels, strict=True)
    for group, owner, token, chain, label in columns:
        wallets = counted_noun(int(ring.wallet_counts[group]), "wallet")
        size = float(ring.sizes[group])
        text, share = measure.short_text(size), measure.text_with_share(size, total)
        if depth == 0:
            parts = [wallets, *[text] * (not is_count)]
            texts[group] = _BoxTexts(label, parts, [chain, wallets], share)
        elif not ring.has_one_token:
            texts[group] = _BoxTexts(label, [text], [balances.full_wallet_name(owner)], share)
        else:
            holder, (symbol, contract) = balances.full_wallet_name(owner), full_names[token]
            if rings[depth - 1].is_combined[ring.parents[group]]:
                holder, text = f"{wallets} of {chain}", wallets if is_count else text
            elif is_count:
                text = share = ""
            hover = [short_names[token], contract, holder]
            texts[group] = _BoxTexts(label, [text] * bool(text), hover, share, symbol)
    return texts


def _token_label_lines(label: str, token_chain: str, chain: str) -> list[str]:
    name, _, contract = label.removesuffix(")").rpartition(" (")
    if not name or not label.endswith(")"):
        name, contract = label, ""
    contract = contract.removeprefix(token_chain).lstrip()
    if token_chain != chain:
        contract = f"{safe_line(token_chain)} {contract}".strip()
    return [name, f"({contract})"] if contract else [name]


def _default_path_rings_and_texts(balances: DrawnBalances, style: _TreeStyle) -> _RingsAndTexts:
    positions, owners = balances.positions, balances.wallet_codes
    chain_of, kind = positions.wallet_chain_codes, positions.kind
    count, rings = len(chain_of), list[_Ring]()
    codes_by_name = {"blockchain": chain_of[owners], "wallet": owners}
    if balances.measure.kind != "amount":  # otherwise, wallets are the leaves
        # A large wallet has its own box, and so has a blockchain's only small wallet.
        shares = sum_by_group(owners, balances.sizes / balances.sizes.sum(), count)
        large = largest_indices(np.where(shares >= style.min_parent, shares, 0), style.top // 8)
        is_single = np.isin(np.arange(count), large)
        others = np.bincount(chain_of[(shares > 0) & ~is_single], minlength=count)
        is_single |= (shares >= style.min_leaf) & (others[chain_of] == 1)
        boxes = np.where(is_single, np.arange(count), count + chain_of)[owners]
        tokens = boxes * len(positions.tokens.keys) + balances.token_codes
        codes_by_name |= {"wallet": boxes, kind: tokens}
    for name, codes in codes_by_name.items():
        is_last = name == [*codes_by_name][-1]
        ring = _make_ring(balances, codes, rings, name, name, has_one_token=is_last)
        wallets = pd.unique(ring.codes * count + owners) // count
        is_combined = ring.is_combined if name != "wallet" else pd.unique(codes) >= count
        rings.append(ring._replace(is_combined=is_combined, wallet_counts=np.bincount(wallets)))
    return rings, partial(_default_path_texts, balances, rings)


def _drawn_count_notes(rings: Sequence[_Ring]) -> list[str]:
    if not len(rings[0].wallet_counts):
        counts = [(len(ring.drawn), len(ring.sizes) - len(ring.drawn)) for ring in rings]
        extent = [(*counts[0], rings[0].noun)]
        extent += [(*counts[-1], "inner group")] * (len(rings) > 1 and counts[-1][0] > 0)
        return [drawn_count_note(*extent, others_text=_REST)]
    (outer, *boxes, last), leaves = rings, len(rings[-1].drawn)
    [single] = [int((~ring.is_combined[ring.drawn]).sum()) for ring in boxes] or [leaves]
    balance_count = int(last.wallet_counts.sum())
    wallets, pieces = int(outer.wallet_counts.sum()), leaves * bool(boxes)
    level = f"blockchain and {rings[-1].name}" if pieces else "blockchain"
    if single and not boxes:
        sentence = drawn_count_note((single, wallets - single, "wallet"), others_text=_REST)
    elif single == wallets:
        part = (pieces, balance_count - pieces, "balance") if pieces else (single, 0, "wallet")
        sentence = drawn_count_note(part, others_text=_REST)
    elif not single:
        counted = counted_noun(wallets, "wallet")
        sentence = f"{counted} {'is' if wallets == 1 else 'are'} combined by {level}."
    else:
        others = f"; the others are combined by {level}" * (len(rings[1].drawn) > single)
        sentence = f"{count_with_verb(single, wallets, 'wallet')} drawn{others}."
    undrawn = int((outer.wallet_counts > 0).sum()) - len(outer.drawn)
    has_other = bool(np.delete(outer.sizes, outer.drawn).sum() >= MIN_SHARE * outer.sizes.sum())
    outer_part = len(outer.drawn), undrawn, "blockchain"
    return [drawn_count_note(outer_part, others_text=_REST)] * has_other + [sentence]
