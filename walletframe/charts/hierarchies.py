"""Treemap and sunburst charts of blockchains, wallets and assets, or of any other groups."""
# The path is the list of column names to group by. A tree is a list of rings: the first ring groups
# by the first name of the path, the second ring by the first two names, and so on. Each group is a
# box (a rectangle or an arc) inside the box of its parent group.
#
# The number of boxes is limited, since each box takes the browser time. If there are too many boxes
# on the default path, blockchains, large wallets, and the combined other wallets of each blockchain
# are drawn first, followed by the largest tokens in these boxes. On any other path, the largest
# groups of all rings are drawn.

from __future__ import annotations

import re
import sys
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
    rank_by_code,
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
from walletframe.charts.palette import (
    BAND_COLORS,
    OTHER_COLOR,
    area_style,
    choose_group_fills,
    text_color,
)
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

_ROUNDING, _MAX_NAMED = 1e-12, 3  # the last one is the maximum number of names in a note
_MIN_SHARE_WITH_LINES = 0.055  # a box with a smaller share of the total shows one line
_REST = "the others are not drawn separately"
_MIN_CHARS = 5  # of a name, such as "stETH"
_OPPOSITE_COLOR = {"#000000": "#FFFFFF", "#FFFFFF": "#000000"}
_NO_GROUP, _EMPTY = sys.maxsize, np.array([], dtype=np.intp)
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
    min_strip: float = 0  # of groups along an edge, times the root of the parent's share
    line_chars: float = 90  # the number of characters of a name across the whole chart
    width_chars: float = 0  # across its width; a box has at least its share of them
    extends_leaves: bool = False  # whether leaves of inner rings extend to the outermost ring


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
        Maximum number of rectangles (at most 500, since browsers are slow with more). If the
        holdings need more, only the largest wallets are drawn separately. The other wallets of a
        blockchain are combined by asset, and the smallest assets are combined as Other. With
        another `by`, the largest groups are drawn, and the rest of each parent group is combined
        as Other. Rectangles without space for a name are combined, too.
    width : int, default 1000
        The width of the page in pixels, at most 4000. A narrower page has space for fewer names.
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
    trace = {"type": "treemap", "tiling": {"pad": 1}, "marker_pad": pad, "marker_cornerradius": 2}
    least = 10 / check_limit("width", width, 4000)
    shares = {"min_leaf": least, "min_parent": 4 * least, "min_strip": 0.8 * least**0.5}
    shares |= {"line_chars": 3.5 * least**-0.5, "width_chars": width / 8}  # so that names fit
    style = _Style(trace, check_limit("top", top, 500), "Areas", Dimensions(420), **shares)
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
        Maximum number of arcs (at most 300, since browsers are slow with more). Only arcs with
        enough space for a name are drawn. The other wallets of a blockchain are combined by asset,
        and assets that still have no space are combined as Other. An outer ring that would mostly
        be Other is left out. With another `by`, the largest groups are drawn, and the rest of each
        parent group is combined as Other.
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
    shares = {"min_leaf": 0.014, "min_parent": 0.025, "min_sum": 0.5}
    style = _Style(trace, top, "Angles", Dimensions(520), **shares, extends_leaves=True)
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
        rings, write_texts, extent = _default_path_rings(balances, style)
    else:
        rings, write_texts, extent = _custom_path_rings(grouped, style)
    fills = _choose_fills(grouped, rings, colors)
    boxes = [*_make_boxes(balances, rings, fills, write_texts, style)]
    outermost = [box.label for box in boxes if not box.parent]
    if len(outermost) == 1:
        extent = [f"{markup_to_text(outermost[0])} has 100% of the total.", *extent]
    boxes = _extend_leaves_outward(boxes) if style.extends_leaves else boxes
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
            if box.id in parents and not style.extends_leaves  # plotly omits texts in strips
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
    total, count = float(balances.sizes.sum()), int((rings[0].sizes > 0).sum())
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
    text: str
    hover_text: str
    color: str
    pattern: str = ""


class _Ring(NamedTuple):
    """The groups of one ring of the tree; each is inside a group of the previous ring."""

    name: str  # the last column of the path up to this ring
    noun: str  # the noun for a group
    codes: Indices  # the group of each drawn row
    rows: Indices  # the first row of holdings in each group; meaningless for a group without rows
    parents: Indices  # the parent of each group in the previous ring; 0 in the first ring
    sizes: Floats  # the size of each group
    has_one_token: bool  # whether each group has only one token or asset
    drawn: Indices = _EMPTY  # the groups to draw, in order
    wallet_counts: Indices = _EMPTY  # of the groups; empty if boxes don't show the counts
    combined_at: int = _NO_GROUP  # this group and all later groups combine several wallets each


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


def _other_and_blank_sizes(rings: Sequence[_Ring], style: _Style) -> Iterator[list[Floats]]:
    """Yield two sizes by parent for each ring: Other, and a rest without space for this name."""
    total = rings[0].sizes.sum(keepdims=True)
    for ring, outer in zip(rings, [total, *(each.sizes for each in rings)], strict=False):
        rest = ring.sizes.copy()
        rest[ring.drawn] = 0
        rest, indices = sum_by_group(ring.parents, rest, len(outer)), np.arange(len(outer))
        rest *= np.isin(indices, ring.parents[ring.drawn]) | (ring is rings[0])
        has_space = _mask_with_space(rest, indices, np.append(outer, total), style)
        yield [rest * has_space, rest * ~has_space]


def _make_boxes(
    balances: DrawnBalances,
    rings: Sequence[_Ring],
    fills: Mapping[tuple[int, int], tuple[str, str]],
    write_texts: _WriteTexts,
    style: _Style,
) -> Iterator[_Box]:
    measure, total = balances.measure, float(rings[0].sizes.sum())

    def other_box(key: str, parent: str, size: float, own: float, name: str, color: str) -> _Box:
        hover_lines = hover_text(name, measure.share_text(size, total))
        text = "" if measure.kind == "count" else measure.short_text(size)
        has_space = own == size or style.extends_leaves  # otherwise, the box has only a strip
        text = text if has_space and size >= _MIN_SHARE_WITH_LINES * total else ""
        if len(name) > style.line_chars * (size / total) ** 0.5:
            name = name.partition(" (")[0]
        return _Box(key, parent, own, name, text, hover_lines, color)

    outer_ids, rests = {0: ""}, [*_other_and_blank_sizes(rings, style)]  # ids of the previous ring
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
        for group, outer in zip(groups, parents, strict=True):
            parent, size, is_leaf = outer_ids[outer], float(ring.sizes[group]), group not in opened
            own_size = size if is_leaf else float(rests[depth + 1][1][group])
            if group >= ring.combined_at:
                ids[group], count = f"o{parent}", int(ring.wallet_counts[group])
                write_label = other_label if outer in single else counted_noun
                label = write_label(count, ring.noun)
                color = OTHER_COLOR if is_leaf else BAND_COLORS[1]
                yield other_box(ids[group], parent, size, own_size, label, color)
                continue
            ids[group] = str(BoxId(depth, int(ring.rows[group]), parent.startswith("o")))
            color, shape = BAND_COLORS[depth > 0], ""
            if is_leaf and (ring.has_one_token or not inner):
                color, shape = fills[depth, group]
            lines, text, hover_lines = texts[group]
            lines, text = _fitting_lines(ring, lines, text, size / total, style, is_leaf=is_leaf)
            markup = to_markup(lines), to_markup(text), hover_text(*hover_lines)
            yield _Box(ids[group], parent, own_size, *markup, color, shape)
        undrawn = ring.sizes > 0
        undrawn[ring.drawn] = False
        counts, others = np.bincount(ring.parents[undrawn]), rests[depth][0].tolist()
        for outer in np.flatnonzero(others).tolist():
            name, parent = other_label(int(counts[outer]), ring.noun), outer_ids[outer]
            yield other_box(f"{parent}o", parent, others[outer], others[outer], name, OTHER_COLOR)
        outer_ids = ids


def _choose_fills(
    grouped: GroupedBalances, rings: Sequence[_Ring], colors: ColorsLike | None
) -> dict[tuple[int, int], tuple[str, str]]:
    codes, groups = grouped.balances.positions.tokens.codes, rings[-1].drawn
    leaves = [
        (depth, group)
        for depth, ring in enumerate(rings)
        for group in ring.drawn.tolist()
        if ring.has_one_token
    ]
    tokens = [int(codes[rings[depth].rows[group]]) for depth, group in leaves]
    fills = dict(zip(leaves, grouped.balances.token_fills(tokens, colors), strict=True))
    if rings[-1].has_one_token:
        return fills
    level, depth = grouped.group_by(grouped.names[:1]), len(rings) - 1
    names = map(level.full_group_name, level.groups.codes[rings[-1].rows[groups]].tolist())
    leaves = [(depth, group) for group in groups.tolist()]
    return dict(zip(leaves, choose_group_fills([*names]), strict=True))


def _fitting_lines(
    ring: _Ring, label: list[str], text: list[str], share: float, style: _Style, *, is_leaf: bool
) -> tuple[list[str], list[str]]:
    chars = int(max(_MIN_CHARS, style.line_chars * share**0.5, style.width_chars * share))
    is_small = share < _MIN_SHARE_WITH_LINES * (1 if is_leaf else 2)
    text = [line for line in text if len(line) <= 1.15 * chars and not is_small]
    if not is_leaf and not style.extends_leaves:  # a treemap shows both in one strip
        text = text if len(" · ".join([*label, *text])) <= chars / 2 else []
    is_cut = not is_leaf and len(" · ".join(label)) > chars
    if ring.name == "wallet" and (is_small or is_cut):
        label = label[:1]  # a token's name without its contract could mislead
    chars = chars // len(label) - 1 if is_cut and len(label) > 1 else chars
    cut = (line if len(line) <= chars else f"{line.partition('…')[0]}…" for line in label)
    return [safe_line(line, chars) for line in cut], text


def _custom_path_rings(
    grouped: GroupedBalances, style: _Style
) -> tuple[list[_Ring], _WriteTexts, list[str]]:
    balances, rings, levels = grouped.balances, list[_Ring](), []
    for count, name in enumerate(grouped.names, 1):
        level, own = grouped.group_by(grouped.names[:count]), grouped.group_by([name])
        codes, groups = pd.factorize(level.group_codes)
        first = first_rows(codes, len(groups))
        ring = _Ring(
            name=name,
            noun=own.group_noun,
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
    notes = [drawn_count_note(*extent, others_text=_REST)]
    return rings, partial(_custom_ring_texts, rings, levels), notes


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


def _mask_with_space(sizes: Floats, parents: Indices, parent_sizes: Floats, style: _Style) -> Mask:
    """Return a mask of the groups with space for a name. `parent_sizes` ends with the total."""
    shares = np.where(sizes < style.min_leaf * parent_sizes[-1], 0, sizes / parent_sizes[-1])
    # Groups of about the same size are in one strip along an edge of their parent.
    by_size = pd.Series(shares).groupby([parents, np.frexp(shares)[1]])
    strips: Floats = by_size.transform("sum").to_numpy()
    least: Floats = np.minimum(
        style.min_strip * (parent_sizes[parents] / parent_sizes[-1]) ** 0.5, style.min_parent
    )
    return (shares > 0) & (strips >= least)


def _choose_groups(rings: Sequence[_Ring], style: _Style) -> list[Indices]:
    """Choose the largest groups of each ring, and each group that would be alone in Other."""
    edges = np.cumsum([0, *(len(ring.sizes) for ring in rings)])
    sizes, total = np.concatenate([ring.sizes for ring in rings]), rings[0].sizes.sum()
    root = len(sizes)
    inner = [ring.parents + start for ring, start in zip(rings[1:], edges, strict=False)]
    parents = np.concatenate([np.full(edges[1], root), *inner])
    is_chosen = np.zeros(root, dtype=bool)
    parent_sizes = np.append(sizes, total)
    fits = _mask_with_space(sizes, parents, parent_sizes, style)
    can_be_drawn = fits & (parent_sizes[parents] >= style.min_parent * total)
    depths = np.repeat(np.arange(len(rings)), np.diff(edges))
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
    return [np.flatnonzero(part) for part in np.split(is_chosen, edges[1:-1])]


def _default_ring_texts(
    balances: DrawnBalances, rings: Sequence[_Ring], depth: int, amounts: _Amounts
) -> dict[int, _Texts]:
    positions, ring, measure = balances.positions, rings[depth], balances.measure
    is_count, total = measure.kind == "count", float(rings[0].sizes.sum())
    groups = [group for group in ring.drawn.tolist() if group < ring.combined_at]
    rows = ring.rows[groups]
    owners, tokens = positions.wallet_codes[rows].tolist(), positions.tokens.codes[rows].tolist()
    chains = [positions.chains[index] for index in positions.chain_codes[owners].tolist()]
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
            if ring.parents[group] >= rings[depth - 1].combined_at:
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


def _default_path_rings(
    balances: DrawnBalances, style: _Style
) -> tuple[list[_Ring], _WriteTexts, list[str]]:
    positions = balances.positions
    one_token = balances.measure.kind == "amount"  # then wallets are the leaves
    chain_of, chain_count = positions.chain_codes, len(positions.chains)
    count = len(positions.wallets)
    stride = max(len(positions.tokens.keys), count)
    owners = balances.wallet_codes
    # A pair is a combination of wallet and token; its size is the sum of the sizes of its rows.
    of_rows, codes = pd.factorize(owners * stride + balances.token_codes)
    pair_wallets, pair_tokens = np.divmod(codes, stride)
    pair_sizes = sum_by_group(of_rows, balances.sizes)
    chains, opened, alone, max_leaves = _choose_chains_and_wallets(
        pair_wallets, pair_sizes, chain_of, style, one_token=one_token
    )
    # Boxes 0 to count - 1 are wallets. The following boxes are the blockchains' combined wallets.
    box_of = count + chain_of
    box_of[alone] = alone
    boxes = box_of[pair_wallets]
    members = np.bincount(chain_of[np.unique(pair_wallets)], minlength=chain_count)
    others = members - np.bincount(chain_of[alone], minlength=chain_count)
    leaf_codes = pair_wallets if one_token else pair_tokens
    of_pairs, cells = pd.factorize(boxes * stride + leaf_codes)
    leaf_boxes, indices = np.divmod(cells, stride)
    sizes, box_counts = sum_by_group(of_pairs, pair_sizes), np.bincount(leaf_codes)[indices]
    chain_sizes = sum_by_group(chain_of[pair_wallets], pair_sizes, chain_count)
    box_sizes = sum_by_group(boxes, pair_sizes, count + chain_count)
    box_chains = np.append(chain_of, np.arange(chain_count))
    parent_sizes = np.append(chain_sizes, chain_sizes.sum())
    fits = _mask_with_space(box_sizes, box_chains, parent_sizes, style)
    open_boxes = np.append(alone, count + (opened if one_token else opened[fits[count + opened]]))
    leaves = _choose_leaves(leaf_boxes, sizes, box_counts, open_boxes, max_leaves, style)

    kind = "wallet" if one_token else positions.kind

    def add_ring(
        name: str, codes: Indices, parents: Indices, sizes: Floats, drawn: Indices, wallets: Indices
    ) -> None:
        rows = np.zeros(len(sizes), dtype=np.intp)
        rows[codes[::-1]] = balances.rows[::-1]  # in reverse, so that each group's first row stays
        if rings:  # sort the groups in the order of their parents
            turns = rank_by_code(rings[-1].drawn, len(rings[-1].sizes))[parents[drawn]]
            drawn = drawn[np.argsort(turns, kind="stable")]
        combined = count if name != kind and rings else _NO_GROUP
        fields = (name, name, codes, rows, parents, sizes, name == kind, drawn, wallets, combined)
        rings.append(_Ring(*fields))

    rings: list[_Ring] = []
    no_parents = np.zeros(chain_count, dtype=np.intp)
    add_ring("blockchain", chain_of[owners], no_parents, chain_sizes, chains, members)
    if not one_token:
        is_drawn = np.isin(np.arange(chain_count), chain_of[alone]) & fits[count:]
        is_drawn[leaf_boxes[leaves][leaf_boxes[leaves] >= count] - count] = True
        drawn = np.append(alone, count + np.flatnonzero(is_drawn))
        members = np.append(np.ones_like(chain_of), others)
        add_ring("wallet", box_of[owners], box_chains, box_sizes, drawn, members)
    parents = leaf_boxes - count if one_token else leaf_boxes
    add_ring(kind, of_pairs[of_rows], parents, sizes, leaves, np.bincount(of_pairs))
    write_texts = partial(_default_ring_texts, balances, rings)
    return rings, write_texts, _drawn_count_notes(rings, len(codes))


def _drawn_count_notes(rings: Sequence[_Ring], balance_count: int) -> list[str]:
    (outer, *boxes, _), leaves = rings, len(rings[-1].drawn)
    [single] = [int((ring.drawn < ring.combined_at).sum()) for ring in boxes] or [leaves]
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


def _choose_chains_and_wallets(
    wallets: Indices, sizes: Floats, chain_of: Indices, style: _Style, *, one_token: bool
) -> tuple[Indices, Indices, Indices, int]:
    """Return the blockchains to draw, those to open, the wallets to draw, and the most leaves."""
    shares, top = sizes / sizes.sum(), style.top
    visible = shares >= style.min_leaf
    has_small_tokens = np.bincount(wallets[~visible], minlength=len(chain_of)) > 0
    by_wallet = sum_by_group(wallets, shares, len(chain_of))
    by_chain = sum_by_group(chain_of, by_wallet)
    root = np.zeros(len(by_chain), dtype=np.intp)
    fits = _mask_with_space(by_chain, root, np.ones(2), style)
    chains = largest_indices(np.where(fits, by_chain, 0), top // 2)
    for most_chains, most_wallets in ((top, len(chain_of)), (max(1, top // 8), top // 12)):
        opened = chains[by_chain[chains] >= style.min_parent][:most_chains]
        others = (by_wallet > 0) & np.isin(chain_of, opened)
        large = others & (by_wallet >= style.min_parent) & (not one_token)
        alone = largest_indices(np.where(large, by_wallet, 0), most_wallets)
        others[alone] = False
        has_one_other = np.bincount(chain_of[others], minlength=len(by_chain)) == 1
        single = others & has_one_other[chain_of] & (by_wallet >= style.min_leaf) & (not one_token)
        alone = np.append(alone, np.flatnonzero(single))
        others[alone] = False
        groups = len(np.unique(chain_of[others]))
        boxes = (len(alone) + groups) * (1 if one_token else 2)  # each has a box Other inside
        spare = top - len(chains) - 1 - boxes
        most_leaves = spare if groups else spare + int((~has_small_tokens[alone]).sum())
        if most_leaves >= visible.sum():
            return chains, opened, alone, most_leaves
    if spare < 0:
        return chains, opened[:0], alone[:0], 0
    # One fifth of the boxes is reserved for blockchains and wallets.
    return chains, opened, alone, spare if one_token else min(spare, 4 * top // 5)


def _choose_leaves(
    boxes: Indices, sizes: Floats, box_counts: Indices, opened: Indices, top: int, style: _Style
) -> Indices:
    """Choose the largest leaves of opened boxes, and each leaf that would be alone in Other."""
    shares, parent_sizes = sizes / sizes.sum(), np.append(sum_by_group(boxes, sizes), sizes.sum())
    fits = _mask_with_space(sizes, boxes, parent_sizes, style)
    # Equal leaves are sorted by the number of boxes with the token or wallet; then boxes alternate.
    best = np.flatnonzero(fits & np.isin(boxes, opened))
    best = best[np.lexsort((-box_counts[best], -sizes[best]))]
    turns = pd.Series(best).groupby(boxes[best]).cumcount()
    best = best[np.lexsort((turns, -sizes[best]))][:top]
    best = best if shares[best].sum() >= style.min_sum else best[:0]
    rest = np.isin(boxes, boxes[best])
    rest[best] = False
    counts = np.bincount(boxes[rest], minlength=int(boxes.max()) + 1)
    return np.append(best, np.flatnonzero(rest & fits & (counts[boxes] == 1)))
