"""Charts of holdings over time, and of the changes between two snapshots."""

from __future__ import annotations

from itertools import chain, repeat
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from walletframe.charts.balances import (
    CommonArguments,
    bar_totals_by_trace,
    check_limit,
    join_names,
    known_and_requested_counts,
    label_text,
    largest_indices,
    pivot_sizes,
    prefer_user_names,
    rank_by_code,
    select_grouped_balances,
    sum_by_group,
)
from walletframe.charts.canvas import (
    MIN_FONT_SIZE,
    Dimensions,
    Notes,
    axis_title,
    drawn_count_note,
    empty_figure,
    hover_text,
    label_width,
    legend_options,
    make_figure,
    other_label,
    row_axis_options,
    row_dimensions,
    simulated_notes,
    to_markup,
    undrawn_notes,
    wallets_frame,
)
from walletframe.charts.facets import choose_facets, split_into_facets
from walletframe.charts.palette import COLORS, EDGE_COLOR, OUTLINE_STYLE
from walletframe.errors import ColumnsError, SettingsError, UnknownTokenError
from walletframe.frames.details import extract_frame
from walletframe.frames.extra_columns import changed_labels_note
from walletframe.frames.groups import KINDS, by_as_list
from walletframe.frames.identity import encode_tokens, encode_wallets
from walletframe.frames.names import (
    full_wallet_name,
    mask_of_token,
    name_with_contract,
    unique_names,
    user_wallet_names,
    wallet_names,
)
from walletframe.frames.positions import snapshot_column
from walletframe.frames.results import COVERAGE, coverage_from_attrs
from walletframe.frames.schema import COMPARED, SIMULATED, SNAPSHOT
from walletframe.numerals import compact, count_with_verb, counted_noun, full_amount
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.amounts.integers import Floats, Indices
    from walletframe.charts.balances import DrawnBalances, GroupedBalances, GroupLevel, Measure
    from walletframe.charts.palette import ColorsLike
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import FetchLike
    from walletframe.frames.groups import By
    from walletframe.frames.identity import Mask
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import PositionsLike

_MAX_GROUPS, _MAX_SNAPSHOTS, _MAX_TICKS = 20, 200, 8
_USUAL_BAR_PARTS, _USUAL_LINES = 8, 6
_PLOT_HEIGHT, _FACET_HEIGHT, _ABOVE_FACETS = 320, 110, 20  # pixels
_TICKS_HEIGHT, _TICKS_BELOW_MARGIN = 44, 32
_LEADER_WIDTH, _LABEL_LINE_HEIGHT, _RIGHT_PAD = 14, 14, 30  # for the labels at the ends of lines
_LABEL_CHARS = 11  # characters in one line of such a label
_END_LABEL: dict[str, Any] = {"xref": "paper", "x": 1, "ax": _LEADER_WIDTH, "ayref": "y"}
_END_LABEL |= {"xanchor": "left", "align": "left", "font": {"size": MIN_FONT_SIZE}, "borderpad": 3}
_END_LABEL |= {"showarrow": True, "arrowhead": 0, "arrowwidth": 2, "standoff": 5}
# Plotly hides the total of a bar that is narrower than its text.
_BAR_TOTALS = {"textposition": "outside", "textangle": 0, "constraintext": "outside"}
_BAR_TOTALS |= {"cliponaxis": False, "textfont": {"size": MIN_FONT_SIZE}}
_TOTAL_HEIGHT = 12  # pixels, beyond plotly's padding
_TOP_RATIO, _START_RATIO = 1.06, 0.05  # extend the axes of lines beyond the points
_INCOMPLETE_LABEL = "incomplete"
_DASHES = {"/": "dot", "x": "dash", ".": "longdash", "-": "dashdot", "|": "longdashdot"}
_FEW_POINTS, _LARGE_POINT, _SMALL_POINT = 40, 8, 4
_HOLLOW_NOTE = "Hollow points mark times with fewer known wallets. Triangles also mark gaps."
_TOKEN_COLUMNS, _ASSET = ["symbol", "token_address", "token_blockchain"], "asset"
_KNOWN_COUNTS = {"wallets_known", "wallets"}
_CHANGE_COLUMNS = ["before", "difference", "change"]
_MAX_CHANGES, _SHORT, _LONG = 100, 24, 80
_MAX_NAMED = 3  # the maximum number of names in a note
_CHAR_SHARE = 0.055  # the fraction of an axis that a digit of a number beside a bar needs
_TOTAL_LABEL = "Total"
_BY_ASSET_HINT = (
    "use compare(before, after, asset=…).wf.plot.waterfall(); to choose from several assets, use "
    "compare(before, after, by=['wallet', 'asset']).wf.plot.waterfall(asset=…)"
)
_COMPARE_HINT = "use compare(before, after).wf.plot.waterfall()"


class _DrawnSnapshots(NamedTuple):
    codes: Indices  # the snapshot of each row of holdings; -1 if the row is not drawn
    drawn: pd.DatetimeIndex  # the times of the drawn snapshots, sorted
    times: list[str]  # these times as text, in UTC
    incomplete: list[tuple[str, str]]  # (time, text) of each snapshot with fewer known wallets
    notes: Notes


class _TimelineFacets(NamedTuple):
    codes: Indices  # the small chart of each drawn row; rows in no chart have `len(groups)`
    marks: list[tuple[str, str]]  # (time, text) of triangles; no triangle if the text is empty
    groups: list[int]  # the group of each small chart
    is_known: Mask | bool = True  # (small charts, snapshots): whether any size is known


class _TimelineParts(NamedTuple):
    traces: list[Any]
    legend_names: list[str]
    notes: Notes
    dimensions: Dimensions
    x_axis: dict[str, Any]
    y_axis: dict[str, Any]
    labels: Sequence[dict[str, Any]] = ()  # at the ends of lines


def timeline(  # noqa: PLR0913 - users pass each option by name
    holdings: PositionsLike,
    *,
    by: By = "asset",
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    top_tokens: int | None = None,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    facet: str | None = None,
    colors: ColorsLike | None = None,
    title: str | None = None,
) -> go.Figure:
    """Draw snapshots of holdings over time, as stacked bars or as lines.

    The frame must have a column ``snapshot`` (datetime64[us, UTC]). Heights show the same quantity
    as the lengths in `bar`.

    Parameters
    ----------
    by : str or list of str, default "asset"
        ``"asset"`` and ``"token"`` draw one stacked bar per snapshot. All remaining names
        that `bar` supports, such as ``"owner"``, draw one line per group.
    token, asset : str or (str, str or None), optional
        Draw only the amounts of this token or asset, as in `bar`.
    top_tokens : int, optional
        Maximum number of coloured tokens or assets (by default 8) or of lines (by default 6). It
        is at most 20. The rest is combined as Other.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetches, with a column ``snapshot``. If it is passed:

        - snapshots with failed wallets are marked;
        - a snapshot without any known wallet is not drawn as 0;
        - outdated answers are not drawn;
        - wallets that can't hold the drawn token are not counted;
        - a line has a gap where its amount is unknown;
        - a point of a line is hollow if fewer wallets of the group are known than at other times;
        - a note states how many wallets of a group are known, such as 3 to 5 if the number varies.
    assets, bridged : optional
        As in `bar`.
    facet : str, optional
        Draw a small chart of stacked bars for each label in this column, such as ``"owner"``. All
        small charts have the same axes and colours. At most 10 are drawn, the largest first. With
        `wallets`, a snapshot without any known size is a gap. Triangles mark gaps and snapshots
        with fewer known wallets.
    colors, title : optional
        As in `bar`.

    Returns
    -------
    plotly.graph_objects.Figure
        A figure with at most 200 snapshots, at regular intervals, in UTC. Bars have one trace per
        token or asset, the largest first. Each small chart has its own traces. Wide bars show their
        totals. A line has two or three traces, and ends with its name and its latest size. Hover
        texts show exact amounts. With `wallets`, a further trace marks incomplete snapshots. If no
        value, amount or count is above 0, the figure has only an annotation with the reason.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError
        As for `bar`, or if `facet` is passed and `by` draws lines.
    ColumnsError, AmountError, PricesError, TokenListError, OSError
        As for `bar`.
    UnknownTokenError, AmbiguousTokenError
        As for `bar`.
    """
    names = by_as_list(by)
    most = _USUAL_BAR_PARTS if facet or names in (["token"], ["asset"]) else _USUAL_LINES
    most = check_limit("top_tokens", most if top_tokens is None else top_tokens, _MAX_GROUPS)
    if facet is not None:
        if names not in (["token"], ["asset"]):
            hint = 'pass by="asset" or by="token" to draw bars, or remove facet= to draw lines'
            raise SettingsError(f"facet= needs bars, but by={by!r} draws lines", hint=hint)
        names = [facet, *names]
    if SNAPSHOT in names:
        hint = 'remove "snapshot" from by: the axis of a timeline already shows the snapshots'
        raise SettingsError(f"a timeline can't be grouped by {SNAPSHOT!r}", hint=hint)
    options = CommonArguments(token, asset, wallets, assets, bridged)
    grouped = select_grouped_balances(
        holdings, by, options, facet=facet, top=most, several_snapshots=True
    )
    balances, stacked = grouped.balances, facet or grouped.names in (["token"], ["asset"])
    title_names = grouped.names[:1] if facet else grouped.names * (not stacked)
    measure, grouping = balances.measure, f"by {join_names(title_names)} " if title_names else ""
    snapshots = _choose_snapshots(grouped, wallets, names, keep_unknown=facet is not None)
    title = title or f"{measure.title_start} {grouping}over time"
    notes = snapshots.notes._replace(
        left_out=[*balances.left_out, *snapshots.notes.left_out],
        data_quality=[*balances.coverage, *snapshots.notes.data_quality],
    )
    mask = snapshots.codes[balances.rows] >= 0
    if not mask.any():
        reason = "No row has a snapshot." if len(balances.rows) else balances.empty_reason
        return empty_figure(title, notes, reason)
    drawn = balances._replace(rows=balances.rows[mask], sizes=balances.sizes[mask])
    groups = grouped._replace(balances=drawn)
    facets = _all_rows_as_one_facet(drawn, snapshots)
    if facet is not None:
        level = groups.group_by(title_names)
        facets = _choose_timeline_facets(level, snapshots, groups.requests)
        others = len(np.setdiff1d(level.group_codes, facets.groups))
        notes = notes._replace(left_out=[*undrawn_notes(others, level.group_noun), *notes.left_out])
    if stacked:
        drawing = _draw_bars(drawn, snapshots, facets, most, colors)
    else:
        drawing = _draw_lines(groups, snapshots, most)
    if any(text for _, text in facets.marks):  # triangles mark these snapshots
        times, texts = zip(*facets.marks, strict=True)
        edge = drawing.y_axis.get("range", [0])[-1]  # at the top of lines, which may be at 0
        marker = {"symbol": f"triangle-{'down' if edge else 'up'}", "size": 11, "color": "#FFFFFF"}
        marks = go.Scatter(
            name=_INCOMPLETE_LABEL,
            x=times,
            y=[edge if text else None for text in texts],
            mode="markers",
            marker=marker | {"line": {"color": "#000000", "width": 1.5}},
            hovertext=[to_markup([text]) for text in texts],
            hoverinfo="text",
            cliponaxis=False,
        )
        drawing.traces.append(marks)
        drawing.legend_names.extend([_INCOMPLETE_LABEL] * bool(stacked))
    dimensions = drawing.dimensions._replace(above=_ABOVE_FACETS * (facet is not None))
    notes = notes._replace(
        drawn=[*drawing.notes.drawn, *notes.drawn, f"Heights show the {measure.phrase}."],
        data_quality=[*notes.data_quality, *drawing.notes.data_quality],
    )
    figure = make_figure(
        drawing.traces,
        title=title,
        notes=notes,
        **legend_options(dimensions, drawing.legend_names),
        annotations=drawing.labels,
        barmode="stack",
        hovermode="x unified",
        uniformtext={"minsize": MIN_FONT_SIZE, "mode": "hide"},
        xaxis=drawing.x_axis,
        yaxis=drawing.y_axis,
    )
    if facet is None:
        return figure
    edges = range(0, (len(facets.groups) + 1) * len(snapshots.times), len(snapshots.times))
    return split_into_facets(figure, edges, level, facets.groups)


def _all_rows_as_one_facet(balances: DrawnBalances, snapshots: _DrawnSnapshots) -> _TimelineFacets:
    codes, known = np.zeros_like(snapshots.codes), np.ones((1, len(snapshots.times)), dtype=np.intp)
    is_known = _known_sums_mask(balances, snapshots, codes, known)
    gaps = np.array(snapshots.times)[~is_known[0]].tolist()
    marks = dict.fromkeys(gaps, f"no {balances.measure.kind} is known") | dict(snapshots.incomplete)
    return _TimelineFacets(codes[balances.rows], [*marks.items()], [0], is_known)


def _choose_timeline_facets(
    level: GroupLevel, snapshots: _DrawnSnapshots, requests: pd.DataFrame | None
) -> _TimelineFacets:
    groups = choose_facets(level)
    codes = rank_by_code(groups, len(level.groups))[level.group_codes]
    if requests is None:
        return _TimelineFacets(codes, [], groups.tolist(), is_known=False)
    counts = known_and_requested_counts(level.groups, requests, snapshots.drawn)
    known, most, asked = (each[groups] for each in counts)
    ranks = rank_by_code(groups, len(level.groups))[level.groups.codes]
    is_known = _known_sums_mask(level.balances, snapshots, ranks, known)
    unknown = f"no {level.balances.measure.kind} is known"
    each = zip(known.tolist(), is_known.tolist(), most.tolist(), asked.tolist(), strict=True)
    marks = [
        (
            time,
            f"{count_with_verb(count, of, 'wallet')} known"
            if count < max(highest, 1)
            else unknown * (not is_sum_known),
        )
        for counts, sums_known, highest, of in each
        for time, count, is_sum_known in zip(snapshots.times, counts, sums_known, strict=True)
    ]
    return _TimelineFacets(codes, marks, groups.tolist(), is_known)


def _known_sums_mask(
    balances: DrawnBalances, snapshots: _DrawnSnapshots, ranks: Indices, wallets_known: Indices
) -> Mask:
    """Return where a size is known, or where a wallet is known and no size is unknown."""
    width, counts = len(snapshots.times), []
    for rows in (balances.unknown_rows, balances.rows):
        times = snapshots.codes[rows]
        cells = (ranks[rows] * width + times)[times >= 0]
        count = np.bincount(cells, minlength=wallets_known.size + width)
        counts.append(count.reshape(-1, width)[: len(wallets_known)])
    return np.asarray((counts[1] > 0) | ((counts[0] == 0) & (wallets_known > 0)))


def _time_and_size_axes(
    snapshots: _DrawnSnapshots, measure: Measure, highest: float
) -> tuple[dict[str, Any], dict[str, Any]]:
    ticks = sorted({*snapshots.times, *(time for time, _ in snapshots.incomplete)})
    # The latest time always has a tick. Ticks omit a time of day that is always the same.
    shown = ticks[:: -len(ticks) // _MAX_TICKS][::-1]
    pattern = "%d %b" + "<br>%H:%M" * (len({time[11:] for time in ticks}) > 1)
    first, last = ticks[0][:4], ticks[-1][:4]
    name = f"{first} (UTC)"
    if first != last:
        name, pattern = f"{first} to {last} (UTC)", f"{pattern}<br>%Y"
    x_axis = axis_title(name) | {"type": "date", "automargin": True, "showgrid": False}
    x_axis |= {"tickvals": shown, "tickformat": pattern, "ticklabelstandoff": 4}
    x_axis["hoverformat"] = "%Y-%m-%d %H:%M UTC"
    if len(ticks) == 1:  # show 24 hours
        half = np.timedelta64(12, "h")
        x_axis["range"] = [str(np.datetime64(ticks[0]) + sign * half) for sign in (-1, 1)]
    y_axis = measure.axis_options(highest)
    return x_axis, y_axis | {"ticklabelstandoff": 4, "automargin": True, "nticks": 6}


def _choose_snapshots(
    grouped: GroupedBalances, wallets: FetchLike | None, names: Sequence[str], *, keep_unknown: bool
) -> _DrawnSnapshots:
    """Choose snapshots with rows or with a known wallet. With `keep_unknown`, choose all."""
    positions, requests = grouped.balances.covered, grouped.requests
    column = snapshot_column(positions.holdings)
    times, known = column.dropna().unique(), pd.Series(dtype=np.int64)
    most = requested = 0  # numbers of wallets; `most` counts wallets that are ever known
    data_quality = list[str]()
    fresh = np.ones(len(column), dtype=bool)
    if wallets is not None and requests is not None:
        frame, fresh = wallets_frame(wallets), ~positions.stale[positions.wallet_codes]
        note = changed_labels_note(frame, encode_wallets(frame).codes, names)
        data_quality += [note] * bool(note)
        known = requests.groupby("time")["known"].sum()
        most = requests["wallet"][requests["known"]].nunique()
        times = column[fresh].dropna().unique()
        times = times.union(pd.DatetimeIndex(known.index[(known > 0) | keep_unknown]))
        requested = requests["wallet"].nunique()
        if fewer := int((known < requested).sum()):
            count = count_with_verb(requested - int(known.min()), requested, "wallet")
            moments = f"{fewer:,} of {counted_noun(len(known), 'snapshot')}"
            data_quality.append(f"In {moments}, {'up to ' * (fewer > 1)}{count} unknown.")
    times = times.sort_values()
    indices = np.linspace(0, len(times) - 1, min(len(times), _MAX_SNAPSHOTS))
    chosen = times[indices.round().astype(np.intp)]
    lacking = known[(known < most) & (known.index.isin(chosen) | (known == 0))].head(_MAX_SNAPSHOTS)
    drawn_times, lacking_times = (
        pd.DatetimeIndex(each).strftime("%Y-%m-%d %H:%M:%S").tolist()
        for each in (chosen, lacking.index)
    )
    left_out = undrawn_notes(int(np.sum(column.isna())), "balance", " without a snapshot")
    outdated = int((~fresh[grouped.balances.rows]).sum())
    left_out += undrawn_notes(outdated, "balance", " from outdated answers")
    drawn = "There is no snapshot."
    if len(times) == 1:
        drawn = f"The snapshot is from {times[0]:%Y-%m-%d %H:%M} UTC."
    elif len(times):
        count = f"{len(chosen):,} of " * (len(chosen) < len(times))
        period = f"from {times[0]:%Y-%m-%d %H:%M} to {times[-1]:%Y-%m-%d %H:%M} UTC"
        drawn = f"{count}{counted_noun(len(times), 'snapshot')} are drawn, {period}."
    return _DrawnSnapshots(
        codes=np.where(fresh, chosen.get_indexer(column), -1),
        drawn=chosen,
        times=drawn_times,
        incomplete=[
            (time, f"{count_with_verb(count, requested, 'wallet')} known")
            for time, count in zip(lacking_times, lacking, strict=True)
        ],
        notes=Notes(simulated_notes(wallets), [drawn], left_out, data_quality),
    )


def _draw_bars(
    balances: DrawnBalances,
    snapshots: _DrawnSnapshots,
    facets: _TimelineFacets,
    top: int,
    colors: ColorsLike | None,
) -> _TimelineParts:
    measure, count = balances.measure, len(snapshots.times)
    is_drawn = facets.codes < len(facets.groups)
    balances = balances._replace(rows=balances.rows[is_drawn], sizes=balances.sizes[is_drawn])
    cells = facets.codes[is_drawn] * count + snapshots.codes[balances.rows]
    tokens = largest_indices(sum_by_group(balances.token_codes, balances.sizes), top)
    grid = pivot_sizes(balances, cells, np.arange(len(facets.groups) * count), tokens)
    # The width is in milliseconds. Bars touch only if snapshots are very close to each other.
    times = np.array(snapshots.times, dtype="datetime64[ms]").astype(np.int64)
    width = 6 * 60 * 60 * 1000.0
    if count > 1:
        width = float(max(0.8 * np.diff(times).min(), np.ptp(times) / _MAX_SNAPSHOTS / 2))
    x, traces, styles = snapshots.times * len(facets.groups), [], grid.trace_styles(colors)
    # The name Other has no count, so that the legend on a phone has more columns.
    styles[len(tokens) :] = [each._replace(name="Other") for each in styles[len(tokens) :]]
    sums, totals = grid.sizes[:-1].sum(axis=1), bar_totals_by_trace(grid.sizes[:-1])
    held = facets.is_known | (sums > 0).reshape(-1, count)
    for token, each in enumerate(styles):
        sizes, texts = grid.sizes[:-1, token], []
        for row, size in enumerate(sizes.tolist()):
            exact = grid.exact_text(row, token) if token < len(tokens) and size else ""
            text = _size_text(measure, size, exact)
            texts.append(f"{to_markup([each.name])}: {to_markup([text])}")
        heights = np.where(held.ravel(), sizes, np.array(None)).tolist()
        bars = {"x": x, "y": heights, "width": width, "hovertext": texts, "text": totals[token]}
        traces.append(each.bar_trace(**bars, **_BAR_TOTALS))
    extent = len(tokens), grid.other_token_count, grid.token_noun
    notes = [] if measure.kind == "amount" else [drawn_count_note(extent)]
    names = [each.name for each in styles]
    height = max(_PLOT_HEIGHT, _FACET_HEIGHT * len(facets.groups))
    dimensions = Dimensions(height + _TICKS_HEIGHT, right=-8, below_on_phone=_TICKS_BELOW_MARGIN)
    highest = float(sums.max())
    x_axis, y_axis = _time_and_size_axes(snapshots, measure, highest)
    space = _TOTAL_HEIGHT * len(facets.groups) / height
    y_axis["autorangeoptions"] = {"include": highest * (1 + space)}
    return _TimelineParts(traces, names, Notes(drawn=notes), dimensions, x_axis, y_axis)


def _size_text(measure: Measure, size: float, exact_text: str) -> str:
    if measure.kind == "amount":
        return exact_text or "0"
    short = measure.short_text(size)
    return f"{exact_text} ({short})" if exact_text and measure.kind == "value" else short


def _draw_lines(grouped: GroupedBalances, snapshots: _DrawnSnapshots, top: int) -> _TimelineParts:
    balances, level = grouped.balances, grouped.group_by(grouped.names)
    chosen = largest_indices(sum_by_group(level.group_codes, balances.sizes), top)
    ranks = rank_by_code(chosen, len(level.groups))[level.groups.codes]
    of_rows, width = ranks[balances.rows], len(snapshots.times)
    cells, count = of_rows * width + snapshots.codes[balances.rows], (len(chosen) + 1) * width
    sizes = sum_by_group(cells, balances.sizes, count).reshape(-1, width)
    # A group has no point if none of its wallets is known at that time. A point is hollow if fewer
    # wallets are known than at other times. Without requests, each group with holdings has a point.
    held = np.bincount(cells, minlength=count).reshape(-1, width) > 0
    hollow, heights = np.zeros_like(held), _point_texts(grouped, cells, sizes)
    rest = np.unique(level.group_codes[of_rows == len(chosen)])
    latest = [""] * (len(chosen) + 1)  # the number of each line's known wallets at its end
    if grouped.requests is not None:
        known, most, asked = (
            np.append(each[chosen], each[sets].sum(axis=0, keepdims=True), axis=0)
            for sets in [level.drop_groups_with_same_wallets(rest)]
            for each in known_and_requested_counts(level.groups, grouped.requests, snapshots.drawn)
        )
        is_set = level.groups.tokens[np.append(chosen, rest[:1])] < 0
        ends = zip(known[:, -1], asked, is_set, strict=False)
        latest = [f"{n:,}/{of:,} known" * bool(each and n < of) for n, of, each in ends]
        held = _known_sums_mask(balances, snapshots, ranks, known)
        hollow = held & (known < most[:, np.newaxis])
        for line in np.flatnonzero(most).tolist():
            of = counted_noun(int(asked[line]), "wallet")
            each = zip(heights[line], known[line].tolist(), strict=True)
            heights[line] = [f"{height} ({count:,} of {of} known)" for height, count in each]
    of_other = [other_label(len(rest), level.group_noun)] * bool(len(rest))
    names = level.short_group_names(chosen.tolist()) + of_other
    styles = [*level.fills(chosen.tolist()), (EDGE_COLOR, "")]
    traces, preferred = [], level.user_or_short_names(chosen.tolist()) + of_other
    drawn, alone = (np.where(at, sizes, np.array(None)).tolist() for at in (held & ~hollow, hollow))
    for line, (name, (color, pattern)) in enumerate(zip(names, styles, strict=False)):
        # The label of a single point is beside the point, not at the end of the axis.
        is_lone = bool(held[line].sum() == 1 and not held[line, -1])
        points = {
            "x": snapshots.times,
            "text": to_markup([safe_line(preferred[line], 2 * _LABEL_CHARS)]) if is_lone else None,
            "textposition": "top right" if held[line].argmax() < width / 2 else "top left",
            "legendgroup": str(line),
            "hovertext": [to_markup([f"{name}: {height}"]) for height in heights[line]],
            "hoverinfo": "text",
            "cliponaxis": False,
        }
        marker = {"size": _LARGE_POINT if width <= _FEW_POINTS else _SMALL_POINT}
        # A wider grey line below makes the line visible on any background.
        outline = points | {"hoverinfo": "skip", "line": {"color": EDGE_COLOR, "width": 4}}
        ring = marker | {"color": "#FFFFFF", "line": {"color": color, "width": 2}}
        traces += [
            go.Scatter(**outline, y=drawn[line], mode="lines"),
            go.Scatter(
                **points,
                name=to_markup([name]),
                y=drawn[line],
                mode="lines+markers" + "+text" * is_lone,
                line={"color": color, "width": 3, "dash": _DASHES.get(pattern, "solid")},
                marker=marker | {"color": color, "line": {"color": EDGE_COLOR, "width": 1}},
            ),
            *[go.Scatter(**points, y=alone[line], mode="markers" + "+text" * is_lone, marker=ring)]
            * bool(hollow[line].any()),
        ]
    drawn_note = drawn_count_note((len(chosen), len(rest), level.group_noun))
    notes = Notes(drawn=[drawn_note], data_quality=[_HOLLOW_NOTE] * bool(hollow.any()))

    last = width - 1 - held[: len(names), ::-1].argmax(axis=1)  # the last point of each line
    ends = sizes[np.arange(len(names)), last]
    is_stated = (held & ~hollow)[: len(names), -1]  # otherwise, the latest size is unknown
    texts = [
        _end_label_lines(name, compact(end) if stated else "", count)
        for name, end, stated, count in zip(
            preferred, ends.tolist(), is_stated, latest, strict=False
        )
    ]
    height = max(_PLOT_HEIGHT, _LABEL_LINE_HEIGHT * sum(map(len, texts)))
    # The characters of an address are wide, so a label has space for two more.
    lines = [line + "  " * ("…" in line) for line in chain(*texts)]
    right = _LEADER_WIDTH + label_width(lines) - _RIGHT_PAD
    dimensions = Dimensions(height + _TICKS_HEIGHT, right=right, below_on_phone=_TICKS_BELOW_MARGIN)
    x_axis, y_axis = _time_and_size_axes(snapshots, balances.measure, float(sizes.max()))
    if width > 1:  # the last points are at the edge, beside their labels
        starts = [snapshots.times[0], *(time for time, _ in snapshots.incomplete)]
        start, end = pd.Timestamp(min(starts)), pd.Timestamp(x_axis["tickvals"][-1])
        x_axis["range"] = [str(start - _START_RATIO * (end - start)), str(end)]
    y_axis["range"] = [0, _TOP_RATIO * float(sizes.max())]
    labels = _line_end_labels(texts, ends, y_axis["range"][1], height)
    for label, name, (color, _) in zip(labels, names, styles, strict=False):
        label |= {"arrowcolor": color, "hovertext": to_markup([name])}
    return _TimelineParts(traces, [], notes, dimensions, x_axis, y_axis, labels)


def _line_end_labels(
    texts: Sequence[list[str]], ends: Floats, top: float, height: int
) -> list[dict[str, Any]]:
    order = np.argsort(ends, kind="stable")
    spaces = np.array([len(texts[line]) for line in order]) * _LABEL_LINE_HEIGHT * top / height
    offsets = np.cumsum(spaces) - spaces / 2
    raised = np.maximum.accumulate(ends[order] - offsets)
    lowered = np.minimum.accumulate((ends[order] - offsets)[::-1])[::-1]
    places = np.empty_like(ends)
    places[order] = offsets + ((raised + lowered) / 2).clip(0, top - spaces.sum())
    return [
        _END_LABEL | {"y": end, "ay": place, "text": to_markup(lines)}
        for end, place, lines in zip(ends.tolist(), places.tolist(), texts, strict=True)
    ]


def _end_label_lines(name: str, size_text: str, known_text: str) -> list[str]:
    name = name.replace(".", " ", "…" in name)  # an address is on the line below its blockchain
    lines = wrap(name, _LABEL_CHARS, break_on_hyphens=False)
    if len(lines) > 2:  # noqa: PLR2004 - the end may distinguish the name from others
        lines = [lines[0], f"…{name[1 - _LABEL_CHARS :]}"]
    if len(f"{lines[-1]} {size_text}") <= _LABEL_CHARS:
        size_text = f"{lines.pop()} {size_text}".rstrip()
    return [*lines, *[size_text] * bool(size_text), *wrap(known_text, _LABEL_CHARS)]


def _point_texts(grouped: GroupedBalances, cells: Indices, sizes: Floats) -> list[list[str]]:
    balances, (lines, width) = grouped.balances, sizes.shape
    exact = [""] * sizes.size
    if balances.measure.kind == "amount" or not KINDS.isdisjoint(grouped.names):
        amounts = balances.exact_sums(cells, np.arange((lines - 1) * width))
        exact[: len(amounts)] = ["" if each is None else full_amount(each) for each in amounts]
    each = zip(sizes.ravel().tolist(), exact, strict=True)
    texts = [_size_text(balances.measure, *parts) for parts in each]
    if balances.measure.kind == "amount":  # the amounts of Other are not exact
        texts[-width:] = [balances.measure.short_text(size) for size in sizes[-1].tolist()]
    return [texts[start : start + width] for start in range(0, len(texts), width)]


def waterfall(
    changes: pd.DataFrame,
    *,
    token: TokenLike | None = None,
    asset: str | None = None,
    top: int = 20,
    wallets: FetchLike | None = None,
    title: str | None = None,
) -> go.Figure:
    """Draw the changes of one token or asset, from the result of `history.compare`.

    Parameters
    ----------
    token : str or (str, str or None), optional
        The token, as in `bar`. It is required if the table has changes of several tokens.
    asset : str, optional
        The asset. It is required if the table has changes of several assets.
    top : int, default 20
        Maximum number of bars (at most 100). The smallest changes are combined as Other.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of one of the two compared fetches. Its column ``name`` labels the bars.
    title : str, optional
        As in `bar`.

    Returns
    -------
    plotly.graph_objects.Figure
        A figure with one trace. Each wallet or group in the table is a bar. The last bar is the
        total. If some wallets of a group are unknown, the bar's label counts the known ones. Hover
        texts show exact amounts. If no change is known, the figure has only an annotation with the
        reason.

    Raises
    ------
    SettingsError
        If `token` or `asset` is required but missing, or if `top` is out of range.
    ColumnsError
        If a column of changes is missing, for example because the frame contains holdings.
    UnknownTokenError, AmbiguousTokenError
        If no row has the token or asset, or if several tokens share the symbol.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> changes = pd.DataFrame({"owner": ["Ada", "Bo"], "symbol": "ETH", "change": "increased",
    ...     "token_address": None, "token_blockchain": "ETH", "before": 0,
    ...     "difference": pd.array(["1.5", "2"], dtype="amount")})
    >>> changes.wf.plot.waterfall().data[0].x
    (2.0, 1.5, 0)
    """
    most = check_limit("top", top, _MAX_CHANGES)
    by_asset = _ASSET in changes or asset is not None
    needed = [*_CHANGE_COLUMNS, *([_ASSET] if by_asset else _TOKEN_COLUMNS)]
    if missing := [name for name in needed if name not in changes.columns]:
        present = [str(name) for name in changes.columns]
        of_tokens = missing == [_ASSET] and {*_TOKEN_COLUMNS} <= {*present}
        raise ColumnsError(missing, present, hint=_BY_ASSET_HINT if of_tokens else _COMPARE_HINT)
    # A row without a token belongs to an unknown wallet. Other wallets of its group may be known.
    has_token = changes["token_blockchain" if "symbol" in changes else _ASSET].notna()
    selected = _select_token_changes(changes[has_token], token, asset)
    is_known = selected["change"] != "unknown"
    known, without_token = selected[is_known], changes[~has_token]
    if len(without_token):
        drawn_names = {*_short_and_full_names(known, wallets)[1]}
        names = _short_and_full_names(without_token, wallets)[1]
        without_token = without_token[[name not in drawn_names for name in names]]
    unknown = pd.concat([selected[~is_known], without_token])
    left_out = []
    if len(unknown):
        count = f"{counted_noun(len(unknown), 'change')} {'is' if len(unknown) == 1 else 'are'}"
        left_out.append(f"{count} unknown and not drawn: {_join_row_names(unknown, wallets)}.")
    info = changes.attrs.get(COMPARED, {})
    drawn = ["Lengths show the change of the amounts that are known at both times."]
    if {"before", "after"} <= {*info}:
        drawn.insert(0, f"The changes are from {info['before']} to {info['after']}.")
    simulated = simulated_notes(wallets) or ["Simulated data."] * (info.get("service") == SIMULATED)
    data_quality = _incompleteness_notes(changes, known, unknown, wallets)
    notes = Notes(simulated, drawn, left_out, data_quality)
    if known.empty:
        return empty_figure(title or "Changes", notes, "No change is known.")
    known = known.sort_values("difference", key=lambda each: -each.abs(), kind="stable")
    rows, rest = known[:most], known[most:]
    symbol = safe_line(str(rows["symbol" if "symbol" in rows else _ASSET].iloc[0]), _SHORT)
    name = symbol if _ASSET in rows else name_with_contract(symbol, encode_tokens(rows[:1]).keys[0])
    short, full = _short_and_full_names(rows, wallets)
    if {*rows.columns} >= _KNOWN_COUNTS:
        each = zip(short, rows["wallets_known"], rows["wallets"], strict=True)
        short = [name + f" ({n:,} of {of:,} known)" * (n < of) for name, n, of in each]
    exact = [*rows["difference"]]
    if len(rest):
        short, full = ([*each, other_label(len(rest), "change")] for each in (short, full))
        exact.append(rest["difference"].sum())
    lengths = [float(each) for each in exact]
    sums, names = [*exact, known["difference"].sum()], [*short, _TOTAL_LABEL]
    texts = [f"{'+' * (each > 0)}{compact(float(each))}" for each in sums]
    colors = {"increasing": COLORS[3], "decreasing": COLORS[8], "totals": COLORS[2]}
    trace = go.Waterfall(
        orientation="h",
        y=list(range(len(sums))),
        x=[*lengths, 0],
        measure=["relative"] * len(exact) + ["total"],
        text=texts,
        textposition="outside",
        cliponaxis=False,
        constraintext="none",
        hovertext=[*map(hover_text, [*full, _TOTAL_LABEL], (f"{each} {symbol}" for each in sums))],
        hoverinfo="text",
        connector={"line": OUTLINE_STYLE},
        **{kind: {"marker": {"color": colors[kind], "line": OUTLINE_STYLE}} for kind in colors},
    )
    grouped_by = ["wallet"] if "address" in rows else [*map(safe_line, _grouping_columns(rows))]
    return make_figure(
        [trace],
        title=title or f"Changes of {safe_line(name, _SHORT)}",
        notes=notes,
        dimensions=row_dimensions(names),
        showlegend=False,
        bargap=0.25,
        yaxis=row_axis_options(names, ", ".join(grouped_by) or "wallets"),
        xaxis=axis_title(f"change of {symbol}") | {"side": "top"},
        xaxis_range=_amount_axis_range(lengths, texts),
        xaxis_title_standoff=4,
    )


def _incompleteness_notes(
    changes: pd.DataFrame, known: pd.DataFrame, unknown: pd.DataFrame, wallets: FetchLike | None
) -> list[str]:
    notes = []
    if stated := changes.attrs.get(COVERAGE):
        is_whole = stated["rows"] == len(known) + len(unknown)
        notes.append(f"{'' if is_whole else 'In the whole table: '}{coverage_from_attrs(changes)}")
    has_counts = {*known.columns} >= _KNOWN_COUNTS
    if has_counts and len(partly := known[known["wallets_known"] < known["wallets"]]):
        note = "Some wallets are unknown, so these changes may be incomplete"
        notes.append(f"{note}: {_join_row_names(partly, wallets)}.")
    return notes


def _select_token_changes(
    rows: pd.DataFrame, token: TokenLike | None, asset: str | None
) -> pd.DataFrame:
    if asset is not None:
        matches = [name for name in rows[_ASSET].unique() if name.casefold() == asset.casefold()]
        if not matches:
            raise UnknownTokenError(asset, _ASSET, "use an asset from the column 'asset'")
        rows = rows[rows[_ASSET].isin(matches)]
    if token is not None:
        rows = rows[mask_of_token(rows, token)]
    by_token = "symbol" in rows
    if len(encode_tokens(rows).keys if by_token else rows[_ASSET].unique()) > 1:
        kind = "token" if by_token else _ASSET
        reason = f"the changes contain several {kind}s, whose amounts can't be added"
        raise SettingsError(reason, hint=f"pass {kind}=… to choose one of them")
    return rows


def _join_row_names(rows: pd.DataFrame, wallets: FetchLike | None) -> str:
    names = [*dict.fromkeys(_short_and_full_names(rows, wallets)[0])]
    more = f" and {len(names) - _MAX_NAMED:,} more" * (len(names) > _MAX_NAMED)
    return f"{', '.join(names[:_MAX_NAMED])}{more}"


def _amount_axis_range(sizes: list[float], texts: list[str]) -> list[float]:
    ends: list[float] = np.cumsum(sizes).tolist()
    bars = [*zip([*sizes, ends[-1]], [*ends, ends[-1]], strict=True)]
    low, high = min(0, *ends), max(0, *ends)
    pad = _CHAR_SHARE * max(map(len, texts)) * (high - low)
    left = min([low, *(end - pad for size, end in bars if size < 0)])
    return [left, max([high, *(end + pad for size, end in bars if size > 0)])]


def _grouping_columns(rows: pd.DataFrame) -> list[str]:
    columns = [str(name) for name in rows.columns]
    others = {*_TOKEN_COLUMNS, _ASSET}
    return [name for name in columns[: columns.index("before")] if name not in others]


def _short_and_full_names(
    rows: pd.DataFrame, wallets: FetchLike | None
) -> tuple[list[str], list[str]]:
    if "address" in rows:
        frame = rows if wallets is None else extract_frame(wallets, "wallets")
        user_names = user_wallet_names(rows, frame)
        full = [*map(full_wallet_name, rows["blockchain"], rows["address"], user_names)]
        short = wallet_names(rows, np.arange(len(rows)), user_names)
        return prefer_user_names(user_names, short), full
    labels = rows[_grouping_columns(rows)]
    if not len(labels.columns):
        return ["all wallets"], ["all wallets"]
    short, full = (
        [
            " · ".join(map(label_text, row, repeat(limit), map(str, labels)))
            for row in labels.to_numpy(dtype=object)
        ]
        for limit in (_SHORT, _LONG)
    )
    return unique_names(short, full.__getitem__), full
