"""Treemap and sunburst charts of blockchains, wallets and assets, or of any other groups."""
# The path is the list of column names to group by. A tree is a list of rings: the first ring has
# the groups by the first name of the path, the second ring has the groups by the first two names,
# and so on. Each group is a box (a rectangle or an arc) inside the box of its parent group.
#
# The number of boxes is limited, since each box takes the browser time. If all visible boxes are
# within the limit, all are drawn. Otherwise, on the default path, boxes are first assigned to
# blockchains, to large wallets, and to the combined other wallets of each blockchain. The remaining
# boxes are assigned to the largest tokens in these. On any other path, the largest groups of all
# rings are drawn.

from __future__ import annotations

import re
import sys
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from walletframe.charts.balances import (
    MIN_SHARE,
    check_top,
    largest_indices,
    position_map,
    read_grouped,
    sum_by_group,
)
from walletframe.charts.canvas import (
    MIN_FONT_SIZE,
    Dimensions,
    drawn_note,
    empty_figure,
    hover_text,
    make_figure,
    markup_lines,
    markup_to_text,
    other_label,
)
from walletframe.charts.palette import (
    BAND_COLORS,
    COLORS,
    OTHER_COLOR,
    area_style,
    choose_colors,
    choose_patterns,
    text_color,
)
from walletframe.frames.groups import KINDS, by_as_list
from walletframe.frames.identity import first_rows
from walletframe.frames.names import label_lines_without_chain, wallet_label_lines
from walletframe.numerals import amount_phrase, brief, count_with_verb, counted_noun, percent
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    import plotly.graph_objects as go

    from walletframe.amounts.integers import Floats, Indices
    from walletframe.amounts.scalar import Amount
    from walletframe.charts.balances import Balances, GroupedBalances, Level
    from walletframe.charts.palette import ColorsLike
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import FetchLike
    from walletframe.frames.groups import By
    from walletframe.frames.identity import Mask
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import PositionsLike

    # The lines of a box: its name, its other text, and its hover text.
    _Texts: TypeAlias = tuple[list[str], list[str], list[str]]
    # Returns the texts of the groups of a ring, from its depth and the exact amounts of its leaves.
    _WriteTexts: TypeAlias = Callable[[int, Mapping[int, Amount | None]], dict[int, _Texts]]

_MAX_ROUNDING_ERROR = 1e-12
_MIN_SHARE_WITH_LINES = 0.06  # a box with a smaller share of the total shows one line
_MIN_CHARS = 5  # of a name, such as "stETH"
_OPPOSITE_COLOR = {"#000000": "#FFFFFF", "#FFFFFF": "#000000"}
_NO_GROUP, _EMPTY = sys.maxsize, np.array([], dtype=np.intp)
_ID = re.compile(r"(\d+)\.(\d+)(\+?) *")  # spaces mark the extension of a box
DEFAULT_PATH = ("blockchain", "wallet", "asset")


class _Style(NamedTuple):
    """The style of a tree, and the smallest shares of the total that are drawn."""

    trace: Mapping[str, Any]  # the type of the trace, and options of this type
    top: int  # the maximum number of boxes
    size: str  # "Areas" or "Angles", which show the sizes
    dimensions: Dimensions
    line_break: str  # replaces line breaks in the name of a box that contains boxes
    min_leaf: float = 0.01
    # The minimum for a blockchain with boxes inside and for a wallet with a box of its own:
    min_parent: float = 0.04  # a smaller box has no space for its name and for boxes inside
    min_sum: float = 0  # the minimum for the sum of all leaves; below it, no leaf is drawn
    min_strip: float = 0  # the minimum for groups along a box's edge, by the root of its share
    line_chars: float = 90  # of a name on a box that is the whole chart
    fills_rings: bool = False  # whether leaves of inner rings extend to the outermost ring


def treemap(  # noqa: PLR0913 - users pass each option by name
    holdings: PositionsLike,
    *,
    by: By = DEFAULT_PATH,
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    top: int = 250,
    narrow: bool = False,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    colors: ColorsLike | None = None,
    title: str | None = None,
) -> go.Figure:
    """Draw holdings as nested rectangles: blockchains, wallets and assets, or other groups.

    The areas show the same quantity as the lengths of `bar`.

    Parameters
    ----------
    by : str or list of str, default ("blockchain", "wallet", "asset")
        The columns to group by, from the outermost to the innermost rectangles, such as
        ``["owner", "token"]``. `bar` lists the supported names.
    token, asset : str or (str, str or None), optional
        Draw only the amounts of this token or asset, as in `bar`.
    top : int, default 250
        Maximum number of rectangles (at most 500, since browsers are slow with more). If the
        holdings need more, only the largest wallets are drawn separately. All other wallets of a
        blockchain are combined by asset, and the smallest assets are combined as Other. With
        another `by`, the largest groups are drawn, and all others are combined as Other inside
        the group that contains them. Rectangles without space for a name are combined, too.
    narrow : bool, default False
        Whether the chart is for a narrow page, such as on a phone, which has space for fewer names.
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
    pad = {"t": 20, "l": 2, "r": 2, "b": 2}
    own = {"type": "treemap", "tiling": {"pad": 1}, "marker_pad": pad, "marker_cornerradius": 2}
    least = 0.025 if narrow else 0.01
    shares = {"min_leaf": least, "min_parent": 4 * least, "min_strip": 0.65 * least**0.5}
    shares["line_chars"] = 3.5 * least**-0.5  # so that names fit on a page of 1,024 or 390 pixels
    style = _Style(own, check_top("top", top, 500), "Areas", Dimensions(420), " · ", **shares)
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

    The angles show the same quantity as the lengths of `bar`.

    Parameters
    ----------
    by : str or list of str, default ("blockchain", "wallet", "asset")
        The columns to group by, from the innermost to the outermost ring. `bar` lists the
        supported names.
    token, asset : str or (str, str or None), optional
        Draw only the amounts of this token or asset, as in `bar`.
    top : int, default 250
        Maximum number of arcs (at most 300, since browsers are slow with more). Only arcs with
        enough space for a name are drawn. All other wallets of a blockchain are combined by asset,
        and assets that still have no space are combined as Other. An outer ring that would mostly
        be Other is left out. With another `by`, the largest groups are drawn, and all others are
        combined as Other inside the group that contains them.
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
    own = {"type": "sunburst", "leaf_opacity": 1}
    # With these shares, the smallest arcs have space for a name on a ring of 250 pixels.
    top = check_top("top", top, 300)
    shares = {"min_leaf": 0.014, "min_parent": 0.025, "min_sum": 0.5}
    style = _Style(own, top, "Angles", Dimensions(520), "<br>", **shares, fills_rings=True)
    options = {"token": token, "asset": asset, "assets": assets, "bridged": bridged}
    return _draw_tree(style, holdings, by, options | {"wallets": wallets}, colors, title)


def _draw_tree(
    style: _Style,
    holdings: PositionsLike,
    by: By,
    options: Mapping[str, Any],  # of `read_grouped`
    colors: ColorsLike | None,
    title: str | None,
) -> go.Figure:
    path, is_one = by_as_list(by), options["token"] is not None or options["asset"] is not None
    parents = [*DEFAULT_PATH[:-1]]
    if is_one and path[:-1] == parents and path[-1] in KINDS:  # only one token or asset is drawn
        path = parents
    grouped, wallets = read_grouped(holdings, path, **options), options["wallets"]
    title = title or grouped.title
    balances = grouped.balances
    if not len(balances.rows):
        return empty_figure(title, balances.notes([], wallets), balances.empty_reason)
    if grouped.names in ([parents] if is_one else [[*parents, name] for name in KINDS]):
        rings, weights, write_texts, extent = _default_rings(balances, style)
    else:
        rings, weights, write_texts, extent = _path_rings(grouped, style)
    fills = _choose_fills(balances, rings, weights, colors)
    boxes = [*_make_boxes(balances, rings, fills, write_texts, style)]
    outermost = [box.label for box in boxes if not box.parent]
    if len(outermost) == 1:
        extent = [f"{markup_to_text(outermost[0])} has 100% of the total.", *extent]
    boxes = _fill_rings(boxes) if style.fills_rings else boxes
    on_color, around = [text_color(box.color) for box in boxes], {box.parent for box in boxes}
    marker = area_style([box.color for box in boxes], [box.pattern for box in boxes], "colors")
    # Patterns have the opposite colour of the text, so that the text is readable.
    opposite = [_OPPOSITE_COLOR[color] for color in on_color]
    marker["pattern"] |= {"fgcolor": opposite, "fgopacity": 0.4}
    trace = {
        **style.trace,
        "ids": [box.id for box in boxes],
        "parents": [box.parent for box in boxes],
        "labels": [
            box.label.replace("<br>", style.line_break) if box.id in around else box.label
            for box in boxes
        ],
        "text": [box.text for box in boxes],
        "values": [box.size for box in boxes],
        "hovertext": [box.hover_text for box in boxes],
        "marker": marker,
        "branchvalues": "remainder",
        "textinfo": "label+text",
        "textfont": {"color": on_color},
        "hoverinfo": "text",
    }
    lost = 1 - sum(box.size for box in boxes) / float(balances.sizes.sum())
    small = [f"{percent(lost)} of the total is too small to draw."] * (lost > _MAX_ROUNDING_ERROR)
    notes = balances.notes([f"{style.size} show the {balances.measure.phrase}.", *extent], wallets)
    return make_figure(
        [trace],
        title=title,
        notes=notes._replace(left_out=[*notes.left_out, *small]),
        dimensions=style.dimensions,
        uniformtext={"minsize": MIN_FONT_SIZE, "mode": "hide"},
    )


class BoxId(NamedTuple):
    """The id of a box: its depth in the path, and the index of one row of holdings in the box."""

    depth: int
    row: int
    in_several: bool  # whether the box is inside a box of several wallets

    def __str__(self) -> str:
        return f"{self.depth}.{self.row}{'+' * self.in_several}"


def read_box_id(text: str) -> BoxId | None:
    """Parse the id of a box; return None for a box that combines several groups."""
    match = _ID.fullmatch(text)
    return BoxId(int(match[1]), int(match[2]), bool(match[3])) if match else None


class _Box(NamedTuple):
    """Plotly's arguments for one box; all texts are markup."""

    id: str  # made of numbers, since names are untrusted text
    parent: str
    size: float  # 0 if the box contains boxes: plotly adds up their sizes, without rounding errors
    label: str
    text: str
    hover_text: str
    color: str
    pattern: str = ""


class _Ring(NamedTuple):
    """The groups of one ring of the tree; each is inside a group of the previous ring."""

    name: str  # the innermost column that the groups are grouped by
    noun: str  # the noun for a group
    codes: Indices  # the group of each drawn row
    rows: Indices  # the first row of holdings in each group; meaningless for a group without rows
    parents: Indices  # the parent of each group in the previous ring; 0 in the first ring
    sizes: Floats  # the size of each group
    has_one_token: bool  # whether each group has only one token or asset
    drawn: Indices = _EMPTY  # the groups to draw, in the order of drawing
    wallets: Indices = _EMPTY  # the number of wallets in each group; empty if boxes don't show it
    combined_at: int = _NO_GROUP  # this and all later groups combine several wallets each


def _fill_rings(boxes: Sequence[_Box]) -> list[_Box]:
    """Extend each leaf to the outermost ring, by boxes without a name."""
    depths = {"": -1}
    for box in boxes:
        depths[box.id] = depths[box.parent] + 1
    around, filled = {box.parent for box in boxes}, list[_Box]()
    for leaf in boxes:
        box = leaf
        for _ in range(depths[leaf.id], max(depths.values()) if leaf.id not in around else 0):
            filled.append(box._replace(size=0))
            box = box._replace(id=f"{box.id} ", parent=box.id, label="", text="")
        filled.append(box)
    return filled


def _other_sizes(rings: Sequence[_Ring], style: _Style) -> list[Floats]:
    """Return the size of Other in each parent, by ring. A size that is too small moves outwards.

    The box Other of the parent's own parent contains it, or no box, if the outermost one is small.
    """
    sizes: list[Floats] = []
    total = rings[0].sizes.sum()
    moved = np.zeros_like(rings[-1].sizes)
    for ring, outer in zip(rings[::-1], [*rings[-2::-1], None], strict=True):
        rest = ring.sizes.copy()
        rest[ring.drawn] = moved[ring.drawn]
        rest = sum_by_group(ring.parents, rest, len(outer.sizes) if outer else 1)
        if outer:
            leaves = np.setdiff1d(np.arange(len(rest)), ring.parents[ring.drawn])
            rest[leaves] = 0
        around = np.append(outer.sizes if outer else [], total)
        moved = np.where(_have_space(rest, np.arange(len(rest)), around, style), 0, rest)
        sizes.insert(0, rest - moved)
    return sizes


def _make_boxes(
    balances: Balances,
    rings: Sequence[_Ring],
    fills: Mapping[tuple[int, int], tuple[str, str]],
    write_texts: _WriteTexts,
    style: _Style,
) -> Iterator[_Box]:
    """Yield a box for each drawn group, and a box Other for the undrawn groups of each parent."""
    measure, total = balances.measure, float(rings[0].sizes.sum())

    def other_box(
        own_id: str, parent: str, size: float, name: str, color: str, *, is_leaf: bool = True
    ) -> _Box:
        hover_lines = hover_text(name, measure.share_text(size, total))
        text = "" if measure.kind == "count" else measure.short_text(size)
        text = text if size >= _MIN_SHARE_WITH_LINES * total else ""
        if len(name) > style.line_chars * (size / total) ** 0.5:
            name = name.partition(" (")[0]
        return _Box(own_id, parent, size * is_leaf, name, text, hover_lines, color)

    outer, rests = {0: ""}, _other_sizes(rings, style)  # ids of the previous ring
    for depth, ring in enumerate(rings):
        groups, parents = ring.drawn.tolist(), ring.parents[ring.drawn].tolist()
        inner = rings[depth + 1 :][:1]
        opened = {group for each in inner for group in each.parents[each.drawn].tolist()}
        leaves = [group for group in groups if group not in opened]
        amounts: dict[int, Amount | None] = dict.fromkeys(leaves)
        if ring.has_one_token:
            exact = balances.exact_sums(ring.codes, np.array(leaves, dtype=np.intp))
            amounts = dict(zip(leaves, exact, strict=True))
        single = {at for group, at in zip(groups, parents, strict=True) if group < ring.combined_at}
        texts, ids = write_texts(depth, amounts), dict[int, str]()
        for group, around in zip(groups, parents, strict=True):
            parent, size, is_leaf = outer[around], float(ring.sizes[group]), group not in opened
            if group >= ring.combined_at:
                ids[group], count = f"o{parent}", int(ring.wallets[group])
                write_label = other_label if around in single else counted_noun
                label = write_label(count, ring.noun)
                color = OTHER_COLOR if is_leaf else BAND_COLORS[1]
                yield other_box(ids[group], parent, size, label, color, is_leaf=is_leaf)
                continue
            ids[group] = str(BoxId(depth, int(ring.rows[group]), parent.startswith("o")))
            color, shape = BAND_COLORS[depth > 0], ""
            if is_leaf and (ring.has_one_token or not inner):
                color, shape = fills[depth, group]
            lines, text, hover_lines = texts[group]
            lines, text = _fitting_lines(ring, lines, text, size / total, style, is_leaf=is_leaf)
            markup = markup_lines(lines), markup_lines(text), hover_text(*hover_lines)
            yield _Box(ids[group], parent, size * is_leaf, *markup, color, shape)
        undrawn = ring.sizes > 0
        undrawn[ring.drawn] = False
        counts = np.bincount(ring.parents[undrawn], minlength=len(rests[depth]))
        for around in np.flatnonzero(rests[depth]).tolist():
            name = other_label(int(counts[around]), ring.noun) if counts[around] else "Other"
            parent, size = outer[around], float(rests[depth][around])
            yield other_box(f"{parent}o", parent, size, name, OTHER_COLOR)
        outer = ids


def _choose_fills(
    balances: Balances,
    rings: Sequence[_Ring],
    weights: Floats,  # of tokens; the largest token of a colour gets the first pattern
    colors: ColorsLike | None,
) -> dict[tuple[int, int], tuple[str, str]]:
    """Choose the colour and pattern of each group, by its token or by its outermost parent."""
    ranks = np.argsort(np.argsort(-rings[0].sizes, kind="stable"))
    fill_keys: dict[tuple[int, int], tuple[bool, int]] = {}
    for depth, ring in enumerate(rings):
        outermost = ring.drawn
        for each in rings[depth:0:-1]:
            outermost = each.parents[outermost]
        tokens = balances.positions.tokens.codes[ring.rows[ring.drawn]]
        indices = (tokens if ring.has_one_token else ranks[outermost]).tolist()
        fill_keys |= {
            (depth, group): (ring.has_one_token, index)
            for group, index in zip(ring.drawn.tolist(), indices, strict=True)
        }
    keys = [*{*fill_keys.values()}]
    keys.sort(key=lambda each: (-weights[each[1]] if each[0] else 0, each[1]))
    tokens_of = [balances.positions.tokens.keys[at] if is_token else None for is_token, at in keys]
    chosen = iter(choose_colors(filter(None, tokens_of), colors))
    fill_colors = [next(chosen) if is_token else COLORS[at % len(COLORS)] for is_token, at in keys]
    styles = zip(fill_colors, choose_patterns(fill_colors, tokens_of), strict=True)
    fills = dict(zip(keys, styles, strict=True))
    return {group: fills[key] for group, key in fill_keys.items()}


def _fitting_lines(
    ring: _Ring, label: list[str], text: list[str], share: float, style: _Style, *, is_leaf: bool
) -> tuple[list[str], list[str]]:
    """Return the lines of a label and of a text that fit on a box with this share of the total."""
    chars = max(_MIN_CHARS, int(style.line_chars * share**0.5))
    is_small = share < _MIN_SHARE_WITH_LINES * (1 if is_leaf else 2)
    text = [line for line in text if len(line) <= chars and not is_small]
    is_cut = not is_leaf and len(" · ".join(label)) > chars  # its lines are joined
    if ring.name == "wallet" and is_small:
        label = label[:1]  # a token's name without its contract could mislead
    chars = chars // len(label) - 1 if is_cut and len(label) > 1 else chars
    cut = (line if len(line) <= chars else f"{line.partition('…')[0]}…" for line in label)
    return [safe_line(line, chars) for line in cut], text


def _path_rings(
    grouped: GroupedBalances, style: _Style
) -> tuple[list[_Ring], Floats, _WriteTexts, list[str]]:
    """Return rings of at most `style.top` boxes on any path, the sizes of tokens, and notes."""
    balances, rings, levels = grouped.balances, list[_Ring](), []
    for count, name in enumerate(grouped.names, 1):
        level, own = grouped.level(grouped.names[:count]), grouped.level([name])
        codes, groups = pd.factorize(level.codes)
        first = first_rows(codes, len(groups))
        ring = _Ring(
            name=name,
            noun=own.noun,
            codes=codes,
            rows=balances.rows[first],
            parents=rings[-1].codes[first] if rings else np.zeros(len(groups), dtype=np.intp),
            sizes=sum_by_group(codes, balances.sizes),
            has_one_token=balances.measure.kind == "amount" or not KINDS.isdisjoint(level.names),
        )
        rings.append(ring)
        levels.append((level, own))
    drawn = _choose_groups(rings, style)
    rings = [ring._replace(drawn=each) for ring, each in zip(rings, drawn, strict=True)]
    counts = [(len(ring.drawn), len(ring.sizes) - len(ring.drawn)) for ring in rings]
    extent = [(*counts[0], rings[0].noun)]
    extent += [(*counts[-1], "inner group")] * (len(rings) > 1 and counts[-1][0] > 0)
    weights = sum_by_group(balances.token_codes, balances.sizes)
    return rings, weights, partial(_path_texts, rings, levels), [drawn_note(*extent)]


def _path_texts(
    rings: Sequence[_Ring],
    levels: Sequence[tuple[Level, Level]],  # by all names of the path so far, and by the last name
    depth: int,
    amounts: Mapping[int, Amount | None],
) -> dict[int, _Texts]:
    """Return the texts of one ring on any path but the default one."""
    ring, (level, own), balances = rings[depth], levels[depth], levels[depth][1].balances
    measure, total = balances.measure, float(rings[0].sizes.sum())
    rows = ring.rows[ring.drawn]
    indices, tokens = own.groups.codes[rows].tolist(), balances.positions.tokens.codes[rows]
    chosen = [*dict.fromkeys(indices)]
    names = dict(zip(chosen, own.short_names(chosen), strict=True))
    known = level.groups.codes[rows].tolist()
    full_names = []
    for _, each in levels[depth::-1]:
        codes = each.groups.codes[rows].tolist()
        called = {code: each.full_name(code) for code in {*codes}}
        full_names.append([called[code] for code in codes])
    texts = {}
    paths = zip(*full_names, strict=True)
    for group, index, at, token, (head, *outer) in zip(
        ring.drawn.tolist(), indices, known, tokens.tolist(), paths, strict=True
    ):
        label, is_leaf, size = [names[index]], group in amounts, float(ring.sizes[group])
        symbol, _, rest = names[index].partition(" (")
        if ring.name == "wallet":
            split = label_lines_without_chain if "blockchain" in level.names else wallet_label_lines
            label = split(names[index], balances.user_wallet_names[index])
        elif ring.name in KINDS and symbol and rest:
            label = [symbol, f"({rest}"]
        text = (measure.text_with_noun if is_leaf else measure.short_text)(size)
        lines = [*outer, level.known_text(at)]
        if ring.has_one_token:
            symbol, where = balances.full_token(token)
            lines = [where] * (ring.name in KINDS) + lines
            if is_leaf:
                lines.append(f"{amount_phrase(amounts[group])} {symbol}")
                text = brief(amounts[group]) if measure.kind == "count" else text
        texts[group] = label, [text], [head, *lines, measure.share_text(size, total)]
    return texts


def _have_space(sizes: Floats, parents: Indices, around: Floats, style: _Style) -> Mask:
    """Return whether each group is large enough for its name; `around` ends with the total.

    Groups of about the same size are in one strip along an edge of their parent.
    """
    shares = np.where(sizes < style.min_leaf * around[-1], 0, sizes / around[-1])
    by_size = pd.Series(shares).groupby([parents, np.frexp(shares)[1]])
    strips: Floats = by_size.transform("sum").to_numpy()
    least: Floats = np.minimum(
        style.min_strip * (around[parents] / around[-1]) ** 0.5, style.min_parent
    )
    return (shares > 0) & (strips >= least)


def _choose_groups(rings: Sequence[_Ring], style: _Style) -> list[Indices]:
    """Choose the groups of each ring: the largest, and any that would be alone in Other."""
    edges = np.cumsum([0, *(len(ring.sizes) for ring in rings)])
    sizes, total = np.concatenate([ring.sizes for ring in rings]), rings[0].sizes.sum()
    root = len(sizes)
    inner = [ring.parents + start for ring, start in zip(rings[1:], edges, strict=False)]
    parents = np.concatenate([np.full(edges[1], root), *inner])
    marks = np.zeros(root, dtype=bool)
    # Whether the parent has space for boxes.
    around = np.append(sizes, total)
    fits = _have_space(sizes, parents, around, style)
    room = fits & (around[parents] >= style.min_parent * total)
    depths = np.repeat(np.arange(len(rings)), np.diff(edges))
    # A group is never larger than its parent, so the parent comes first and is also chosen.
    siblings = np.bincount(parents, minlength=root + 1)
    by_size = np.argsort(-sizes, kind="stable")
    turns = np.empty(root, dtype=np.intp)  # for equal sizes, alternate between the parents
    turns[by_size] = pd.Series(by_size).groupby(parents[by_size]).cumcount()
    order = np.lexsort((turns, depths, -sizes))
    order = order[room[order]]
    order_parents = parents[order]
    has_other = siblings[order_parents] > 1  # an only child has no box Other beside it
    opened = has_other & (turns[order] == 0) & (order_parents != root)
    closed = has_other & (turns[order] + 1 == siblings[order_parents])
    costs = np.cumsum(1 + opened.astype(np.intp) - closed) + (siblings[root] > 1)
    marks[order[: np.searchsorted(costs, style.top, side="right")]] = True
    for start, end in pairwise(edges[1:]):
        if sizes[start:end][marks[start:end]].sum() < style.min_sum * total:
            marks[start:] = False  # most of the ring would be Other
    undrawn = np.bincount(parents[~marks], minlength=root + 1)
    is_open = np.bincount(parents[marks], minlength=root + 1) > 0
    is_open[root] = True
    marks |= is_open[parents] & (undrawn[parents] == 1) & fits
    return [np.flatnonzero(part) for part in np.split(marks, edges[1:-1])]


def _default_texts(
    balances: Balances, rings: Sequence[_Ring], depth: int, amounts: Mapping[int, Amount | None]
) -> dict[int, _Texts]:
    """Return the texts of one ring on the default path, without groups that combine wallets."""
    held, ring, measure = balances.positions, rings[depth], balances.measure
    is_count, total = measure.kind == "count", float(rings[0].sizes.sum())
    groups = [group for group in ring.drawn.tolist() if group < ring.combined_at]
    rows = ring.rows[groups]
    owners, tokens = held.wallet_codes[rows].tolist(), held.tokens.codes[rows].tolist()
    chains = [held.chains[index] for index in held.chain_codes[owners].tolist()]
    labels, texts = [[chain] for chain in chains], {}
    if ring.has_one_token:
        weights = sum_by_group(held.tokens.codes[rows], ring.sizes[groups])
        named = largest_indices(weights, len(weights)).tolist()
        names = dict(zip(named, balances.token_names(named), strict=True))
        on_chain = dict(zip(named, balances.token_names(named, by_chain=True), strict=True))
        keys, assets = held.tokens.keys, held.assets.blockchains if held.assets else ()
        own = ["" if keys[token] in assets else keys[token][0] for token in tokens]
        labels = [*map(_split_token_name, (on_chain[token] for token in tokens), own, chains)]
    if ring.name == "wallet":
        own = [balances.user_wallet_names[owner] for owner in owners]
        labels = [*map(label_lines_without_chain, balances.wallet_names(owners), own)]
    for group, owner, token, chain, label in zip(
        groups, owners, tokens, chains, labels, strict=True
    ):
        wallets, size = counted_noun(int(ring.wallets[group]), "wallet"), float(ring.sizes[group])
        text, share = measure.short_text(size), measure.share_text(size, total)
        if depth == 0:
            lines = [wallets] * (group in amounts) + [text] * (not (group in amounts and is_count))
            texts[group] = label, lines, [chain, wallets, share]
            continue
        hover = [balances.full_wallet(owner), share]
        if ring.has_one_token:
            symbol, where = balances.full_token(token)
            if ring.parents[group] >= rings[depth - 1].combined_at:
                whose, text = f"{wallets} of {chain}", wallets if is_count else text
            else:
                whose = balances.full_wallet(owner)
                text, share = (brief(amounts[group]), "") if is_count else (text, share)
            hover = [names[token], where, whose, f"{amount_phrase(amounts[group])} {symbol}", share]
        texts[group] = label, [text], hover
    return texts


def _split_token_name(label: str, token_chain: str, chain: str) -> list[str]:
    """Split a token's label into lines, which omit the blockchain `chain` of the outer box.

    `token_chain` is the blockchain of the token, or empty for an asset.
    """
    name, _, where = label.removesuffix(")").rpartition(" (")
    if not name or not label.endswith(")"):
        name, where = label, ""
    where = where.removeprefix(token_chain).lstrip()
    where = where if token_chain == chain else f"{safe_line(token_chain)} {where}".strip()
    return [name, f"({where})"] if where else [name]


def _default_rings(
    balances: Balances, style: _Style
) -> tuple[list[_Ring], Floats, _WriteTexts, list[str]]:
    """Return what `_path_rings` does for the default path, where wallets can be the leaves."""
    held = balances.positions
    one_token = balances.measure.kind == "amount"  # then wallets are the leaves
    chain_of, count, chain_count = held.chain_codes, len(held.wallets), len(held.chains)
    stride = max(len(held.tokens.keys), count)
    owners = balances.wallet_codes
    # A pair is a combination of wallet and token; its size is the sum of the sizes of its rows.
    of_rows, codes = pd.factorize(owners * stride + balances.token_codes)
    pair_wallets, pair_tokens = np.divmod(codes, stride)
    pair_sizes = sum_by_group(of_rows, balances.sizes)
    chains, opened, alone, spare = _choose_parents(
        pair_wallets, pair_sizes, chain_of, style, one_token=one_token
    )
    # Boxes 0 to count - 1 are wallets. The following boxes are the blockchains' combined wallets.
    box_of = count + chain_of
    box_of[alone] = alone
    boxes = box_of[pair_wallets]
    members = np.bincount(chain_of[np.unique(pair_wallets)], minlength=chain_count)
    others = members - np.bincount(chain_of[alone], minlength=chain_count)
    things = pair_wallets if one_token else pair_tokens
    of_pairs, cells = pd.factorize(boxes * stride + things)
    around, indices = np.divmod(cells, stride)
    sizes, common = sum_by_group(of_pairs, pair_sizes), np.bincount(things)[indices]
    leaves = _choose_leaves(around, sizes, common, np.append(alone, count + opened), spare, style)

    kind = "wallet" if one_token else held.kind

    def add_ring(
        name: str, codes: Indices, parents: Indices, sizes: Floats, drawn: Indices, wallets: Indices
    ) -> None:
        rows = np.zeros(len(sizes), dtype=np.intp)
        rows[codes[::-1]] = balances.rows[::-1]  # the last write of a group, its first row, stays
        if rings:  # sort the groups in the order of their parents
            turns = position_map(rings[-1].drawn, len(rings[-1].sizes))[parents[drawn]]
            drawn = drawn[np.argsort(turns, kind="stable")]
        combined = count if name != kind and rings else _NO_GROUP
        fields = (name, name, codes, rows, parents, sizes, name == kind, drawn, wallets, combined)
        rings.append(_Ring(*fields))

    rings: list[_Ring] = []
    chain_sizes = sum_by_group(chain_of[pair_wallets], pair_sizes, chain_count)
    least_seen = style.min_leaf * chain_sizes.sum()
    nowhere = np.zeros(chain_count, dtype=np.intp)
    add_ring("blockchain", chain_of[owners], nowhere, chain_sizes, chains, members)
    if not one_token:
        box_sizes = sum_by_group(boxes, pair_sizes, count + chain_count)
        is_seen = np.isin(np.arange(chain_count), chain_of[alone])
        is_seen &= box_sizes[count:] >= least_seen
        is_seen[around[leaves][around[leaves] >= count] - count] = True
        drawn = np.append(alone, count + np.flatnonzero(is_seen))
        parents = np.append(chain_of, np.arange(chain_count))
        members = np.append(np.ones_like(chain_of), others)
        add_ring("wallet", box_of[owners], parents, box_sizes, drawn, members)
    parents = around - count if one_token else around
    add_ring(kind, of_pairs[of_rows], parents, sizes, leaves, np.bincount(of_pairs))
    tokens = held.tokens.codes[rings[-1].rows[leaves]]
    weights = sum_by_group(tokens, sizes[leaves], len(held.tokens.keys))
    write_texts = partial(_default_texts, balances, rings)
    return rings, weights, write_texts, _extent_notes(rings, len(codes))


def _extent_notes(rings: Sequence[_Ring], balances: int) -> list[str]:
    """Return notes that count the drawn blockchains, and the drawn wallets or balances."""
    (outer, *boxes, _), leaves = rings, len(rings[-1].drawn)
    [single] = [int((ring.drawn < ring.combined_at).sum()) for ring in boxes] or [leaves]
    wallets, pieces, rest = int(outer.wallets.sum()), leaves * bool(boxes), outer.sizes.copy()
    level = f"blockchain and {rings[-1].name}" if pieces else "blockchain"
    if single and not boxes:
        sentence = drawn_note((single, wallets - single, "wallet"))
    elif single == wallets:
        sentence = drawn_note((pieces, balances - pieces, "balance"))
    elif not single:
        which = counted_noun(wallets, "wallet")
        sentence = f"{which} {'is' if wallets == 1 else 'are'} combined by {level}."
    else:
        others = f"; the others are combined by {level}" * (len(rings[1].drawn) > single)
        sentence = f"{count_with_verb(single, wallets, 'wallet')} drawn{others}."
    rest[outer.drawn] = 0
    undrawn = int((outer.wallets > 0).sum()) - len(outer.drawn)
    has_other = bool(rest.sum() >= MIN_SHARE * outer.sizes.sum())
    return [drawn_note((len(outer.drawn), undrawn, "blockchain"))] * has_other + [sentence]


def _choose_parents(
    wallets: Indices, sizes: Floats, chain_of: Indices, style: _Style, *, one_token: bool
) -> tuple[Indices, Indices, Indices, int]:
    """Choose the boxes that are not leaves.

    Return the blockchains to draw, the blockchains with boxes inside, the wallets with a box of
    their own, and the remaining number of boxes for leaves.
    """
    shares, top = sizes / sizes.sum(), style.top
    seen = shares >= style.min_leaf
    # Whether a wallet has small tokens.
    folds = np.bincount(wallets[~seen], minlength=len(chain_of)) > 0
    by_wallet = sum_by_group(wallets, shares, len(chain_of))
    by_chain = sum_by_group(chain_of, by_wallet)
    chains = largest_indices(np.where(by_chain >= style.min_leaf, by_chain, 0), top // 2)
    everything = (style.min_parent, top, len(chain_of))
    what_has_room = (style.min_parent, max(1, top // 8), top // 12)
    for least, most_chains, most_wallets in (everything, what_has_room):
        opened = chains[by_chain[chains] >= least][:most_chains]
        others = (by_wallet > 0) & np.isin(chain_of, opened)
        large = others & (by_wallet >= least) & (not one_token)
        alone = largest_indices(np.where(large, by_wallet, 0), most_wallets)
        others[alone] = False
        # Whether a blockchain has only one other wallet.
        lonely = np.bincount(chain_of[others], minlength=len(by_chain)) == 1
        single = others & lonely[chain_of] & (by_wallet >= style.min_leaf) & (not one_token)
        alone = np.append(alone, np.flatnonzero(single))
        others[alone] = False
        groups = len(np.unique(chain_of[others]))
        boxes = (len(alone) + groups) * (1 if one_token else 2)  # each has a box Other inside
        spare = top - len(chains) - 1 - boxes
        at_best = spare if groups else spare + int((~folds[alone]).sum())
        if at_best >= seen.sum():
            return chains, opened, alone, at_best
    if spare < 0:
        return chains, opened[:0], alone[:0], 0
    # One fifth of the boxes is reserved for blockchains and wallets.
    return chains, opened, alone, spare if one_token else min(spare, 4 * top // 5)


def _choose_leaves(
    boxes: Indices, sizes: Floats, common: Indices, opened: Indices, spare: int, style: _Style
) -> Indices:
    """Choose the largest leaves of open boxes, and each leaf that would be alone in Other."""
    shares, around = sizes / sizes.sum(), np.append(sum_by_group(boxes, sizes), sizes.sum())
    fits = _have_space(sizes, boxes, around, style)
    # Leaves of the same size are sorted by the number of boxes with this token or wallet
    # (`common`), and then the boxes take turns.
    best = np.flatnonzero(fits & np.isin(boxes, opened))
    best = best[np.lexsort((-common[best], -sizes[best]))]
    turns = pd.Series(best).groupby(boxes[best]).cumcount()
    best = best[np.lexsort((turns, -sizes[best]))][:spare]
    best = best if shares[best].sum() >= style.min_sum else best[:0]
    rest = np.isin(boxes, boxes[best])
    rest[best] = False
    counts = np.bincount(boxes[rest], minlength=int(boxes.max()) + 1)
    return np.append(best, np.flatnonzero(rest & fits & (counts[boxes] == 1)))
