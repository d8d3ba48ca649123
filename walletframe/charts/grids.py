"""Bar chart and heatmap of groups by asset, pie chart of a wallet, and Lorenz curve of an asset."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from walletframe.address.lists import parse_wallets
from walletframe.charts.balances import (
    MIN_SHARE,
    check_top,
    join_names,
    largest_indices,
    pivot_sizes,
    position_map,
    read_grouped,
    sum_by_group,
)
from walletframe.charts.canvas import (
    MIN_FONT_SIZE,
    TOP_RIGHT,
    Dimensions,
    Notes,
    axis_title,
    drawn_note,
    empty_figure,
    hover_text,
    label_width,
    legend_options,
    make_figure,
    markup_lines,
    name_axis,
    other_label,
    row_axis,
    row_dimensions,
    simulated_notes,
    wallets_frame,
)
from walletframe.charts.facets import choose_facets, split_figure
from walletframe.charts.palette import EDGE_COLOR, OTHER_COLOR, area_style, text_color
from walletframe.errors import SettingsError, UnknownWalletError
from walletframe.frames.groups import ADDED, list_names
from walletframe.frames.names import (
    full_wallet_name,
    mask_of_wallet,
    short_wallet,
    user_wallet_names,
)
from walletframe.frames.positions import cell_sums
from walletframe.numerals import amount_phrase, compact, count_with_verb, counted_noun, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.amounts import AmountArray
    from walletframe.amounts.integers import Floats, Indices
    from walletframe.charts.balances import Level, Measure, PivotedSizes, TraceStyle
    from walletframe.charts.palette import ColorsLike
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import FetchLike
    from walletframe.frames.groups import By
    from walletframe.frames.names import TokenLike, WalletLike
    from walletframe.frames.positions import PositionsLike

_MAX_BARS, _MAX_COLORS, _MAX_SLICES, _MAX_ROWS_OR_COLUMNS = 200, 20, 20, 200
_MARGIN_OF_SUMS = 1 + 1e-9  # plotly hides the text at the end of a bar whose sum is out of range
_MAX_OTHER_RATIO = 2
_BAR_GAP, _MAX_BAR_HEIGHT = 0.25, 56  # the share of a row between bars, and pixels
_OTHER_AS_TEXT_NOTE = "Other is written as text, since its bar would make all other bars too short."
_LABELS_WIDTH, _MAX_SLANTED_LABELS, _PAD_ABOVE, _PAD_BELOW = 540, 12, 52, 32
_COLOR_BAR_OFFSET, _RIGHT_PAD = 16, 24
_COLOR_SCALE = ("#FFF7BC", "#C7E9B4", "#7FCDBB", "#41B6C4", "#2B93C1")
"""The colours of a heatmap, from small to large. Black text is readable on all of them."""
_DECADES, _MAX_TICKS = 6, 4
_FEW_ROWS, _FEW_TOKENS = 16, 7
_GREY_OTHER_NOTE = "Other is grey, since its sizes are beyond the colour scale."
_COLOR_BAR = {"orientation": "h", "thickness": 8, "ypad": 0, "outlinewidth": 0}
_COLOR_BAR |= {"x": 0, "xanchor": "left", "yref": "container", "yanchor": "top"}
# The title of the colour scale is an annotation, since plotly would draw the title of a horizontal
# colour bar over the bar if a figure is high. On the right, even a narrow page has space for it.
_SCALE_TITLE = TOP_RIGHT | {"font": {"size": MIN_FONT_SIZE}, "yshift": _PAD_ABOVE}
_MAX_POINTS_PER_AXIS, _MAX_MARKED_POINTS = 100, 30


def bar(  # noqa: PLR0913 - users pass each option by name
    holdings: PositionsLike,
    *,
    by: By = "wallet",
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    top: int = 20,
    top_tokens: int = 12,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    facet: str | None = None,
    colors: ColorsLike | None = None,
    title: str | None = None,
) -> go.Figure:
    """Draw a bar for each wallet, owner or other group, stacked by asset or token.

    The length of a bar is the sum of the column ``value`` (float64, with an optional column
    ``currency``) or, without this column, the number of balances. With `token` or `asset`, it is
    the amount.

    Parameters
    ----------
    by : str or list of str, default "wallet"
        The column, or the list of columns, to group the holdings by. Each group is one bar.
        A column is one of these:

        - ``"wallet"`` or ``"blockchain"`` (the blockchain of the wallet);
        - an extra column of `wallets`, such as ``"owner"``, or any column of these holdings;
        - ``"asset"`` or ``"token"``. As the last of several names, such as in
          ``["owner", "token"]``, it does not add bars. Instead, it sets whether the colours in each
          bar are assets or tokens. By default, the colours are assets.

        Rows without a label are a group of their own, such as "no owner".
    token : str or (str, str or None), optional
        Draw only the amounts of this token. Pass an unambiguous symbol, or (blockchain, contract),
        with None as the contract of a native coin.
    asset : str or (str, str or None), optional
        Draw only the amounts of this asset, added up over all blockchains. Pass the name of an
        asset that `walletframe.assets` lists, or one of its contracts.
    top : int, default 20
        Maximum number of bars (at most 200). All other groups are combined as Other. If the bar
        Other would be more than twice as long as the longest of the others, a text states its size
        instead.
    top_tokens : int, default 12
        Maximum number of tokens or assets with a colour of their own (at most 20). All others are
        combined as Other. The tokens are chosen so that Other is not the largest part of a bar, as
        far as their number allows, and then by size.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch. If given, the chart notes how complete and how old the
        data is, and how many wallets of each group are known (have the status ok). The methods of
        ``details.wf`` pass this argument.
    assets : DataFrame, str or Path, optional
        Your own table of assets and their contracts, as in `walletframe.assets`.
    bridged : bool, default False
        Whether an asset includes bridged versions, such as USDC.e and WETH.
    facet : str, optional
        Draw a small chart for each label in this column, which can be any name of `by`, such as
        ``"owner"``. All small charts have the same scale and colours. At most 10 are drawn, the
        largest first. The bars of all others are combined as Other.
    colors : mapping of (str, str or None) or str to str, optional
        Colours, as hex codes or CSS names. The keys are tokens, as in the result of
        `token_colors`, or names of assets, such as ``{"ETH": "#3366CC"}``. All others keep their
        default colours. If only tokens of an asset have colours, the asset has the colour of the
        first of these tokens.
    title : str, optional
        The title of the chart, cut to 48 characters.

    Returns
    -------
    plotly.graph_objects.Figure
        A figure with one trace for each token or asset (in each small chart), the largest first.
        The hover texts show exact amounts, and how many wallets of a group are known. If not all
        are known, the label of the bar says so, too. A group without a known wallet has an empty
        bar. If no value, amount or count is above 0, the figure has no trace, only an annotation
        with the reason.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError
        If `by`, `wallets` or `colors` has an unsupported type or value, if `top` or `top_tokens`
        is out of range, or if a wallet of the holdings is missing from `wallets`.
    ColumnsError, AmountError, PricesError, TokenListError, OSError
        If a column is missing, if the column ``amount`` does not contain amounts, if the values
        are in several currencies, or if `assets` can't be read.
    UnknownTokenError, AmbiguousTokenError
        If no row has the token or asset, or if several tokens share the symbol.
    """
    bars = check_top("top", top, _MAX_BARS)
    colored = check_top("top_tokens", top_tokens, _MAX_COLORS)
    grouped = read_grouped(
        holdings,
        by if facet is None else [facet, *list_names(by)],
        token=token,
        asset=asset,
        wallets=wallets,
        assets=assets,
        bridged=bridged,
        has_facets=facet is not None,
    )
    balances, names = grouped.balances, grouped.names[facet is not None :] or grouped.names
    title = title or grouped.title
    if not len(balances.rows):
        return empty_figure(title, balances.notes([], wallets), balances.empty_reason)
    # If the last of several names is token or asset, it sets the colours, not the bars.
    names = names[:-1] if names[1:] and names[-1] in ADDED else names
    level = grouped.level(names if facet is None else [*dict.fromkeys([grouped.names[0], *names])])
    owners = level.codes
    by_owner = sum_by_group(owners, balances.sizes, len(level.groups))
    rows = level.largest_groups(by_owner, bars)
    if facet is not None:
        heads = grouped.level(grouped.names[:1])
        facets, ranks = _rank_facets(heads, level)
        rows = level.largest_groups(np.where(ranks < len(facets), by_owner, -1), bars)
        rows = rows[np.argsort(ranks[rows], kind="stable")]
    too_long = bool(by_owner.sum() - by_owner[rows].sum() > _MAX_OTHER_RATIO * by_owner.max())
    of_bars = balances.sizes * np.isin(owners, rows) if too_long else balances.sizes
    tokens = _choose_named_tokens(owners, balances.token_codes, of_bars, colored)
    if is_single := facet is None and level.names == [balances.positions.kind]:
        tokens = rows  # each bar is one token, with the colour of this token
    grid = pivot_sizes(balances, owners, rows, tokens)
    measure, (short, full) = balances.measure, level.searchable_columns(grid)
    drawn = grid.sizes[: len(rows) if too_long else len(short)]
    longest = float(drawn.sum(axis=1).max()) * _MARGIN_OF_SUMS
    extent = [(len(rows), grid.other_row_count, level.noun)]
    series = grid.trace_styles(colors)[: None if drawn[:, -1].any() else len(tokens)]
    totals = [compact(size) for size in drawn.sum(axis=1).tolist()]
    traces = _bar_traces(grid, drawn, series, full, totals, is_single=is_single)
    dimensions = row_dimensions(short)._replace(right=label_width(totals) - _RIGHT_PAD)
    if not is_single and measure.kind != "amount":
        extent.append((len(tokens), grid.other_token_count, grid.kind))
    if facet is not None:  # in a facet, names are without its label
        shown, starts = np.unique(ranks[rows], return_index=True)
        inner = replace(level, names=names)
        parts = (inner.row_names(part.tolist()) for part in np.split(rows, starts[1:]))
        short = [*chain.from_iterable(parts), *short[len(rows) :]]
        facet_extent = len(shown), len(np.setdiff1d(heads.codes, facets[shown])), heads.noun
        extent = [facet_extent, (*extent[0][:2], "bar"), *extent[1:]]
    notes = [
        drawn_note(*extent),
        *[_OTHER_AS_TEXT_NOTE] * too_long,
        f"Lengths show the {measure.phrase}.",
    ]
    figure = make_figure(
        traces,
        title=title,
        notes=balances.notes(notes, wallets),
        **legend_options(dimensions, [each.name for each in series[: 1 if is_single else None]]),
        barmode="stack",
        annotations=[_other_annotation(grid, full[-1])] * too_long,
        representative_rows=grid.representative_rows,
        xaxis=measure.axis_options(longest) | {"side": "top", "range": [0, longest]},
        yaxis=row_axis(short, join_names(names)),
    )
    bars_height = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
    figure.layout.bargap = max(_BAR_GAP, 1 - _MAX_BAR_HEIGHT * len(short) / bars_height)
    if facet is None:
        return figure
    figure.layout.yaxis.title = None  # the chart's title names the groups
    edges = sorted({*starts.tolist(), len(rows), len(short)})
    return split_figure(figure, edges, heads, facets[shown].tolist())


def _rank_facets(heads: Level, level: Level) -> tuple[Indices, Indices]:
    """Return the groups that are facets, and the index of each inner group's facet.

    The index is the number of facets if the facet is not drawn.
    """
    facets = choose_facets(heads)
    places = position_map(facets, len(heads.groups))
    if heads.wallets_asked.any():  # facets are sets of wallets, even of wallets without balances
        wallets = level.first_wallets[level.groups.wallet_sets]
        return facets, places[heads.groups.wallet_set_codes[wallets]]
    ranks = np.full(len(level.groups), len(facets))
    ranks[level.codes] = places[heads.codes]
    return facets, ranks


def _bar_traces(
    grid: PivotedSizes,
    drawn: Floats,
    series: Sequence[TraceStyle],
    names: Sequence[list[str]],
    totals: Sequence[str],
    *,
    is_single: bool,
) -> list[go.Bar]:
    """Return one trace per token, or only one trace if each bar is one token."""
    count, total = len(drawn), float(grid.sizes.sum())
    ends = {"textposition": "outside", "textangle": 0, "constraintext": "none", "cliponaxis": False}
    common: dict[str, Any] = {"orientation": "h", "y": list(range(count)), **ends}
    if is_single:
        shapes = [each.pattern for each in series][:count]
        trace = go.Bar(
            x=np.diagonal(grid.sizes)[:count].tolist(),
            hovertext=[grid.hover_text(index, index, [], total) for index in range(count)],
            hoverinfo="text",
            text=totals,
            marker=area_style([each.color for each in series][:count], shapes),
            **common,
        )
        return [trace]
    last = drawn.shape[1] - 1 - (drawn[:, ::-1] > 0).argmax(axis=1)  # the part at a bar's end
    return [
        each.bar_trace(
            x=[size or None for size in drawn[:, token].tolist()],
            hovertext=[
                grid.hover_text(row, token, owner, total) for row, owner in enumerate(names[:count])
            ],
            text=[text if end == token else "" for text, end in zip(totals, last, strict=True)],
            **common,
        )
        for token, each in enumerate(series)
    ]


def _choose_named_tokens(owners: Indices, tokens: Indices, sizes: Floats, top: int) -> Indices:
    """Choose the tokens with a colour, so that Other is the largest part of few or no bars."""
    totals = sum_by_group(tokens, sizes)
    pairs, codes = np.unique(owners * len(totals) + tokens, return_inverse=True)
    parts, (bars, of_tokens) = sum_by_group(codes, sizes), np.divmod(pairs, len(totals))
    rest, is_chosen = sum_by_group(bars, parts), np.zeros(len(totals), dtype=bool)
    largest = np.zeros_like(rest)  # the largest named token of each bar; `rest` is Other
    for _ in range(top):
        unnamed = np.where(rest > largest, rest, 0)
        if not unnamed.any():
            break
        of_neediest = (bars == unnamed.argmax()) & ~is_chosen[of_tokens]
        token = of_tokens[np.where(of_neediest, parts, 0).argmax()]
        is_chosen[token] = True
        drawn = np.flatnonzero(of_tokens == token)
        rest[bars[drawn]] -= parts[drawn]
        largest[bars[drawn]] = np.maximum(largest[bars[drawn]], parts[drawn])
    named = largest_indices(np.where(is_chosen, totals + totals.sum(), totals), top)
    return named[np.argsort(-totals[named], kind="stable")]


def _other_annotation(grid: PivotedSizes, name: list[str]) -> dict[str, Any]:
    """Return the annotation that replaces the bar of Other."""
    measure, size, total = grid.balances.measure, grid.sizes[-1].sum(), float(grid.sizes.sum())
    of_token = grid.hover_text(len(grid.rows), 0, name, total)
    below = hover_text(*name, measure.share_text(size, total))
    return {
        "x": 0,
        "xanchor": "left",
        "y": len(grid.rows),
        "text": markup_lines([f"{measure.text_with_noun(size)}, {percent(size / total)} of all"]),
        "hovertext": of_token if measure.kind == "amount" else below,
    }


def pie(  # noqa: PLR0913 - users pass each option by name
    holdings: PositionsLike,
    wallet: WalletLike,
    *,
    by: Literal["asset", "token"] = "asset",
    top: int = 8,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    colors: ColorsLike | None = None,
    title: str | None = None,
) -> go.Figure:
    """Draw the holdings of one wallet as a pie chart.

    The slices show the column ``value`` (float64, with an optional column ``currency``), if the
    frame has it. Otherwise all slices are equal, since amounts of different assets can't be
    compared.

    Parameters
    ----------
    wallet : str, (str, str) or WalletAddress
        The wallet, as ``"ETH.0x…"`` or (blockchain, address).
    by : {"asset", "token"}, default "asset"
        Whether a slice is an asset or a token.
    top : int, default 8
        Maximum number of slices (at most 20). All others are combined as Other.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch. If given, the chart notes how old the answer for the
        wallet is, or why the wallet has no rows.
    assets, bridged, colors, title : optional
        As in `bar`.

    Returns
    -------
    plotly.graph_objects.Figure
        A figure with one trace, with the largest slice first and exact amounts in the hover
        texts. If no value or count is above 0, the figure has no trace, only an annotation with the
        reason.

    Raises
    ------
    ArgumentError, SettingsError, ColumnsError, AmountError, PricesError, TokenListError, OSError
        As for `bar`.
    AddressError, UnknownWalletError
        If `wallet` can't be read, or if it has no rows and is missing from `wallets`.
    """
    limit = check_top("top", top, _MAX_SLICES)
    if by not in ("asset", "token"):
        hint = 'pass by="asset" or by="token"'
        raise SettingsError(f"by={by!r} is not supported in a pie chart", hint=hint)
    [named] = parse_wallets(wallet)
    answers = None
    if wallets is not None:
        frame = wallets_frame(wallets)
        with suppress(UnknownWalletError):  # the wallet was not requested
            answers = frame[mask_of_wallet(frame, wallet)]
    name = "" if answers is None else user_wallet_names(answers, answers)[0]
    title = title or f"Holdings of {name or short_wallet(named.blockchain, named.address)}"
    notes = Notes(simulated_notes(answers))
    try:
        balances = read_grouped(
            holdings, by, wallet=wallet, wallets=answers, assets=assets, bridged=bridged
        ).balances
    except UnknownWalletError:
        if answers is None:
            raise
        reason, status = "The wallet holds nothing.", answers["status"].iloc[0]
        if status != "ok":
            reason = f"The wallet's holdings are unknown, since its status is {status}."
        return empty_figure(title, notes, reason)
    notes = notes._replace(left_out=balances.left_out, data_quality=balances.coverage)
    if not len(balances.rows):
        return empty_figure(title, notes, balances.empty_reason)
    sizes = sum_by_group(balances.token_codes, balances.sizes)
    sizes[sizes < MIN_SHARE * sizes.sum()] = 0
    tokens = largest_indices(sizes, limit)
    grid = pivot_sizes(balances, np.zeros_like(balances.rows), np.array([0]), tokens)
    owner = full_wallet_name(named.blockchain, named.address, name)
    rest = float(grid.sizes[0, -1] / grid.sizes.sum())
    slices = grid.trace_styles(colors)[: len(grid.tokens) + (rest >= MIN_SHARE)]
    sizes = grid.sizes[0, : len(slices)]
    total = float(sizes.sum())
    # The slices of counts are all equal, so percentages would be useless.
    is_count = balances.measure.kind == "count"
    parts = ["" if is_count else percent(size / total) for size in sizes.tolist()]
    texts = [(each.name, part) for each, part in zip(slices, parts, strict=True)]
    labels = [f"{name} {part}".rstrip() for name, part in texts]
    slice_colors = [each.color for each in slices]
    trace = go.Pie(
        labels=[markup_lines([label]) for label in labels],
        values=sizes.tolist(),
        text=[markup_lines([part or name]) for name, part in texts],
        hovertext=[grid.hover_text(0, token, [owner], total) for token in range(len(slices))],
        textfont={"color": [*map(text_color, slice_colors)]},
        marker=area_style(slice_colors, [each.pattern for each in slices], "colors"),
        sort=False,
        direction="clockwise",
        hole=0.4,
        hoverinfo="text",
        textinfo="text",
        textposition="inside",  # plotly hides a text that does not fit in its slice
        insidetextorientation="horizontal",
    )
    extent = len(grid.tokens), grid.other_token_count, grid.kind
    drawn = [f"Slices show the {balances.measure.phrase}.", drawn_note(extent)]
    small = [f"Other ({percent(rest)}) is too small to draw."] * (0 < rest < MIN_SHARE)
    return make_figure(
        [trace],
        title=title,
        notes=notes._replace(drawn=drawn, left_out=[*small, *balances.left_out]),
        uniformtext={"minsize": MIN_FONT_SIZE, "mode": "hide"},
        representative_rows=grid.representative_rows,
        **legend_options(Dimensions(320), labels),
    )


def heatmap(  # noqa: PLR0913 - users pass each option by name
    holdings: PositionsLike,
    *,
    by: By = "wallet",
    top: int = 30,
    top_tokens: int = 20,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    title: str | None = None,
) -> go.Figure:
    """Draw a heatmap with a row per wallet, owner or other group, and a column per asset or token.

    The colours show the column ``value`` (float64, with an optional column ``currency``), if the
    frame has it. Otherwise they show the row's share of each asset's total in the frame. The colour
    scale is logarithmic. The largest rows and columns are first.

    Parameters
    ----------
    by : str or list of str, default "wallet"
        The grouping of the rows; `bar` lists the supported names. If ``"token"`` is one of the
        names, the columns of the heatmap are tokens instead of assets.
    top : int, default 30
        Maximum number of rows (at most 200). All others are combined as Other.
    top_tokens : int, default 20
        Maximum number of tokens or assets (at most 200). Those with the largest value in the drawn
        rows are chosen, and all others are combined as Other. Without values, those with the most
        holders are chosen, and all others are left out.
    wallets, assets, bridged, title : optional
        As in `bar`.

    Returns
    -------
    plotly.graph_objects.Figure
        A figure with one trace, with exact amounts in the hover texts. A cell is empty if its row
        holds none of the token. If a cell of the row Other is larger than the cells of all other
        rows, this row is a second trace, in grey. If no value or amount is above 0, the figure has
        no trace, only an annotation with the reason.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError
        As for `bar`.
    ColumnsError, AmountError, PricesError, TokenListError, OSError
        As for `bar`.
    """
    rows = check_top("top", top, _MAX_ROWS_OR_COLUMNS)
    columns = check_top("top_tokens", top_tokens, _MAX_ROWS_OR_COLUMNS)
    grouped = read_grouped(
        holdings, by, wallets=wallets, assets=assets, bridged=bridged, shares=True
    )
    balances = grouped.balances
    held, measure = balances.positions, balances.measure
    names = [name for name in grouped.names if name not in ADDED] or ["wallet"]
    is_shares = measure.kind == "share"
    columns_too = names if is_shares else [*names, held.kind]
    title = title or f"{measure.title_start} by {join_names(columns_too)}"
    if not len(balances.rows):
        return empty_figure(title, balances.notes([], wallets), balances.empty_reason)
    level = grouped.level(names)
    # Choose the largest groups and tokens, so that no row or column is empty.
    weights = np.ones_like(balances.sizes) if is_shares else balances.sizes
    by_owner = sum_by_group(level.codes, weights)
    in_rows = np.isin(level.codes, largest_indices(by_owner, rows))
    by_token = sum_by_group(balances.token_codes[in_rows], weights[in_rows])
    tokens = largest_indices(by_token, columns)
    if is_shares:  # there is no column Other, so drop rows without a drawn token
        in_columns = level.codes[np.isin(balances.token_codes, tokens)]
        by_owner[np.bincount(in_columns, minlength=len(by_owner)) == 0] = 0
    owners = largest_indices(by_owner, rows)
    grid = pivot_sizes(balances, level.codes, owners, tokens)
    width = len(tokens) + bool(grid.other_token_count and not is_shares)
    short, full = level.searchable_columns(grid)
    sizes = grid.sizes[: len(short), :width]
    off_scale = bool(grid.other_row_count and sizes[-1].max() > sizes[:-1].max())
    on_scale = len(short) - off_scale
    total = float(grid.sizes.sum())
    texts = [
        [grid.hover_text(row, token, owner, total) for token in range(width)]
        for row, owner in enumerate(full)
    ]
    traces = [_heatmap_trace(sizes[:on_scale], texts[:on_scale], measure)]
    if off_scale:
        grey = {"colorscale": [[0, OTHER_COLOR], [1, OTHER_COLOR]], "showscale": False}
        other = _heatmap_trace(sizes[-1:], texts[-1:], measure)
        traces.append(other.update(y=[on_scale], **grey))
    labels = [series.name for series in grid.trace_styles()][: len(tokens)]
    below, column_axis = _column_axis(labels, width, grid.kind)
    count, others, kind = of_tokens = (len(tokens), grid.other_token_count, grid.kind)
    # A number would often make Other the longest label. Columns of equal names would be one.
    labels += [other_label(others, kind) if "Other" in labels else "Other"] * (width - count)
    of_rows, phrase = (len(owners), grid.other_row_count, level.noun), measure.phrase
    notes = (
        [drawn_note(of_rows), drawn_note(of_tokens)]
        if is_shares
        else [drawn_note(of_rows, of_tokens)]
    )
    if is_shares and others:
        subset = count_with_verb(count, count + others, kind)
        notes[1] = f"{subset} drawn, chosen by the number of holders."
    phrase = phrase if level.noun == "wallet" else phrase.removeprefix("wallet's ")
    notes.append(f"Colours show the {phrase}, on a logarithmic scale.")
    notes += [_GREY_OTHER_NOTE] * off_scale
    scale = f"{measure.name} (logarithmic scale)"
    drawn = make_figure(
        traces,
        title=title,
        notes=balances.notes(notes, wallets),
        dimensions=row_dimensions(short, _PAD_ABOVE, below),
        representative_rows=grid.representative_rows,
        annotations=[_SCALE_TITLE | {"text": markup_lines([scale])}],
        xaxis=column_axis,
        yaxis=row_axis(short, join_names(level.names)),
    )
    bar_y = 1 - (drawn.layout.margin.t - _PAD_ABOVE + _COLOR_BAR_OFFSET) / drawn.layout.height
    drawn.update_traces(x=[markup_lines([name]) for name in labels])
    return drawn.update_traces(colorbar_y=bar_y, selector=0)


def _column_axis(names: Sequence[str], width: int, title: str) -> tuple[int, dict[str, Any]]:
    """Return the space below columns with these names, and the options of their axis."""
    longest, angle, high = label_width(names), None, 0.0
    if longest * width > _LABELS_WIDTH:
        angle, high = (-45, 0.65) if width <= _MAX_SLANTED_LABELS else (-90, 0.9)
    # On a category axis, plotly omits labels that have no space.
    options = {"type": "category", "tickangle": angle}
    return _PAD_BELOW + max(MIN_FONT_SIZE, int(high * longest)), name_axis(title) | options


def _heatmap_trace(sizes: Floats, texts: list[list[str]], measure: Measure) -> go.Heatmap:
    """Return a heatmap trace with a logarithmic colour scale that ends at the largest size.

    If there are few cells, each shows its size.
    """
    held = sizes > 0
    z = np.log10(np.where(held, sizes, 1.0))
    cells = z.astype(object)
    cells[~held] = None
    highest = float(z[held].max())
    lowest = float(max(z[held].min(), highest - _DECADES))
    # Ticks are at a few powers of ten. A scale with fewer than two powers has ticks at its ends.
    marks = [float(power) for power in range(int(np.ceil(lowest)), int(highest // 1) + 1)]
    marks = marks[:: -(-len(marks) // _MAX_TICKS)] if len(marks) > 1 else sorted({lowest, highest})
    scale, unit = (100, "%") if measure.kind == "share" else (1, "")
    ticks = [f"{compact(scale * 10**mark)}{unit}" for mark in marks]
    written: dict[str, Any] = {}
    if len(sizes) <= _FEW_ROWS and sizes.shape[1] <= _FEW_TOKENS:
        write = percent if measure.kind == "share" else compact
        text = [[write(size) if size else "" for size in row] for row in sizes.tolist()]
        written = {"text": text, "texttemplate": "%{text}"}
    return go.Heatmap(
        z=cells.tolist(),
        zmin=lowest,
        zmax=highest,
        colorscale=_COLOR_SCALE,
        colorbar=_COLOR_BAR | {"tickvals": marks, "ticktext": ticks},
        hovertext=texts,
        hoverinfo="text",
        hoverongaps=False,
        xgap=1,
        ygap=1,
        textfont={"size": MIN_FONT_SIZE, "color": "#000000"},
        **written,
    )


def lorenz(  # noqa: PLR0913 - users pass each option by name
    holdings: PositionsLike,
    asset: TokenLike | None = None,
    *,
    token: TokenLike | None = None,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    title: str | None = None,
) -> go.Figure:
    """Draw the Lorenz curve of one asset or token, with its Gini coefficient.

    Parameters
    ----------
    asset, token : str or (str, str or None), optional
        The asset or the token, as in `bar`. Exactly one of them is required.
    wallets, assets, bridged, title : optional
        As in `bar`.

    Returns
    -------
    plotly.graph_objects.Figure
        A figure with two traces: the curve, with at most 200 points and exact amounts in the
        hover texts, and the diagonal line of equality. If no amount is above 0, the figure has no
        trace, only an annotation with the reason.

    Raises
    ------
    ArgumentError, SettingsError, ColumnsError, AmountError, TokenListError, OSError
        As for `bar`, or if neither or both of `asset` and `token` are given.
    UnknownTokenError, AmbiguousTokenError
        As for `bar`.

    Notes
    -----
    The curve includes only wallets that hold more than 0. Note that one person may own several
    wallets. The Gini coefficient is that of ``df.wf.concentration``, whose documentation has the
    formula and its source.
    """
    if token is None and asset is None:
        raise SettingsError(
            "a Lorenz curve needs one asset or one token", hint="pass asset=… or token=…"
        )
    balances = read_grouped(
        holdings,
        "wallet",
        token=token,
        asset=asset,
        wallets=wallets,
        assets=assets,
        bridged=bridged,
    ).balances
    title = title or f"Lorenz curve of {balances.measure.unit}"
    if not len(balances.rows):
        return empty_figure(title, balances.notes([], wallets), balances.empty_reason)
    owners, _ = pd.factorize(balances.wallet_codes)
    amounts = balances.positions.amounts[balances.rows]
    held = pd.Series(cell_sums(amounts, owners, int(owners.max()) + 1))
    running: AmountArray = held.sort_values().cumsum().array  # exact sums, the smallest first
    shares = np.asarray(running / running[-1], dtype=np.float64)
    count, last = len(running), len(running) - 1
    notes = ["One wallet holds the whole amount, so there is nothing to compare."]
    if count > 1:
        gini = float((count + 1 - 2 * (running.sum() / running[-1])) / count)
        few, holders = min(10, count // 2), counted_noun(count, "wallet")
        who = "The largest wallet holds" if few == 1 else f"The {few} largest wallets hold"
        notes = [
            f"The Gini coefficient is {gini:.3f}, over {holders} that hold it.",
            f"{who} {percent(1 - float(shares[-few - 1]))} of it.",
        ]
    notes.append(f"The curve shows cumulative shares of the {balances.measure.phrase}.")
    # The points are at regular distances along both axes.
    along = np.linspace(0, last, _MAX_POINTS_PER_AXIS).round().astype(np.intp)
    up = np.searchsorted(shares, np.linspace(0, 1, _MAX_POINTS_PER_AXIS)).clip(0, last)
    points = np.unique(np.concatenate((along, up))).tolist()
    texts = [
        hover_text(
            f"{index + 1:,} of {counted_noun(count, 'wallet')} ({percent((index + 1) / count)})",
            f"hold {percent(float(shares[index]))} of the amount",
            f"{amount_phrase(running[index])} {balances.measure.unit}",
        )
        for index in points
    ]
    curve = go.Scatter(
        x=[0.0, *((index + 1) / count for index in points)],
        y=[0.0, *shares[points].tolist()],
        mode="lines+markers" if count <= _MAX_MARKED_POINTS else "lines",
        hovertext=["", *texts],
        hoverinfo="text",
    )
    equality = go.Scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"color": EDGE_COLOR, "dash": "dash", "width": 1},
        fill="tonexty",
        fillcolor="rgba(128, 128, 128, 0.2)",
        hoverinfo="skip",
    )
    label = {"text": "line of equality", "x": 0.5, "y": 0.5, "xanchor": "right", "xshift": -6}
    label["yanchor"] = "bottom"
    axis = {"tickformat": ".0%", "range": [0, 1.005], "automargin": True, "ticklabelstandoff": 6}
    return make_figure(
        [curve, equality],
        title=title,
        notes=balances.notes(notes, wallets),
        dimensions=Dimensions(380, below=40, left=56),
        showlegend=False,
        hovermode="x",
        hoverdistance=-1,
        xaxis=axis_title("share of the wallets that hold it, the smallest first") | axis,
        yaxis=axis_title("share of the amount") | axis,
        annotations=[label],
    )
