"""Bar chart and heatmap of groups and assets, pie chart of a wallet, Lorenz curve of an asset."""

from __future__ import annotations

from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from walletframe.address.lists import parse_wallets
from walletframe.charts.balances import (
    MIN_SHARE,
    CommonArguments,
    bar_totals_by_trace,
    check_limit,
    join_names,
    largest_indices,
    pivot_sizes,
    rank_by_code,
    select_grouped_balances,
    sum_by_group,
)
from walletframe.charts.canvas import (
    MIN_FONT_SIZE,
    TOP_RIGHT,
    Dimensions,
    Notes,
    axis_title,
    drawn_count_note,
    empty_figure,
    has_dark_template,
    hover_text,
    label_axis_options,
    label_width,
    legend_options,
    make_figure,
    other_label,
    row_axis_options,
    row_dimensions,
    shorten_middle,
    simulated_notes,
    to_markup,
    undrawn_notes,
    wallets_frame,
)
from walletframe.charts.facets import choose_facets, split_into_facets
from walletframe.charts.palette import EDGE_COLOR, OTHER_COLOR, area_style, text_color
from walletframe.errors import SettingsError, UnknownWalletError
from walletframe.frames.groups import KINDS
from walletframe.frames.names import (
    full_wallet_name,
    mask_of_wallet,
    short_wallet_name,
    user_wallet_names,
)
from walletframe.frames.positions import sum_by_cell
from walletframe.numerals import compact, counted_noun, full_amount, percent
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.amounts import AmountArray
    from walletframe.amounts.integers import Floats, Indices
    from walletframe.charts.balances import GroupLevel, Measure, PivotedSizes, TraceStyle
    from walletframe.charts.palette import ColorsLike
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import FetchLike
    from walletframe.frames.groups import By
    from walletframe.frames.identity import Mask
    from walletframe.frames.names import TokenLike, WalletLike
    from walletframe.frames.positions import PositionsLike

_MAX_BARS, _MAX_COLORS, _MAX_SLICES, _MAX_ROWS_OR_COLUMNS = 200, 24, 20, 200
_USUAL_COLORS = 12
_ROUNDING = 1 + 1e-9  # plotly hides the text of a bar that rounding makes longer than the axis
_MAX_OTHER_RATIO, _RIGHT_PAD = 2, 24
_BAR_GAP, _MAX_BAR_HEIGHT = 0.25, 56  # the share of a row between bars, and pixels
_OTHER_AS_TEXT_NOTE = "“Other” is written as text, since its bar would make the rest too short."
_LABELS_WIDTH, _MAX_SLANTED_LABELS, _PAD_ABOVE, _PAD_BELOW = 540, 12, 52, 36
_MAX_LABELS_ON_PHONE = 14  # the labels of columns that fit beside long labels of rows
_COLOR_SCALE = ("#FFF7BC", "#C7E9B4", "#7FCDBB", "#41B6C4", "#2B93C1")
"""The colours of a heatmap, from small to large. Black text is readable on all of them."""
_DECADES, _MAX_TICKS = 6, 4
_FEW_ROWS, _FEW_TOKENS = 31, 7
_GREY_OTHER_NOTE = "“Other” is grey, since it is beyond the colour scale."
_UNKNOWN_CELLS_NOTE = "Cells with “?” are unknown, perhaps not empty."
_COLOR_BAR = {"orientation": "h", "thickness": 8, "ypad": 12, "outlinewidth": 0}
_COLOR_BAR |= {"ticks": "", "ticklen": 0}  # ticks of a template would move the bar below its title
_COLOR_BAR |= {"x": 0, "xanchor": "left", "y": 0.9999, "yanchor": "bottom", "xpad": 0}
_COLOR_BAR |= {"lenmode": "pixels", "len": 180, "tickfont": {"size": MIN_FONT_SIZE}}
# With y=1, plotly would move the titles of the chart and of the y axis by the height of the bar.
# The title of the colour scale is an annotation, since plotly would draw the title of a horizontal
# colour bar over the bar if a figure is high.
_SCALE_TITLE: dict[str, Any] = TOP_RIGHT | {"x": 0, "xanchor": "left", "yshift": _PAD_ABOVE}
_SCALE_TITLE["font"] = {"size": MIN_FONT_SIZE}
_MAX_POINTS_PER_AXIS, _MAX_MARKED_POINTS = 100, 30
_TITLE_NAME_CHARS, _LEGEND_CHARS = 30, 46  # limits for phones


def bar(  # noqa: PLR0913 - users pass each option by name
    holdings: PositionsLike,
    *,
    by: By = "wallet",
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    top: int = 20,
    top_tokens: int | None = None,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    facet: str | None = None,
    colors: ColorsLike | None = None,
    title: str | None = None,
) -> go.Figure:
    """Draw a bar for each wallet, owner or other group, stacked by asset or token.

    If you pass `token` or `asset`, lengths show its amounts. Otherwise, lengths show the column
    ``value`` (float64; a column ``currency`` is optional). Without ``value``, lengths show the
    amounts of a single asset. With several assets, lengths show the number of balances.

    Parameters
    ----------
    by : str or list of str, default "wallet"
        The column or columns to group the holdings by. Each group is one bar. A column is:

        - ``"wallet"`` or ``"blockchain"`` (the blockchain of the wallet);
        - an extra column of `wallets`, such as ``"owner"``, or any column of these holdings;
        - ``"asset"`` or ``"token"``. In ``["owner", "token"]``, each owner is a bar, and each token
          is a colour. By default, each asset is a colour.

        Rows without an owner form the group "no owner". Groups are sorted by size, and snapshots
        by time.
    token : str or (str, str or None), optional
        Draw only the amounts of this token. Pass its symbol or (blockchain, contract). The contract
        of a native coin is None.
    asset : str or (str, str or None), optional
        Draw only the amounts of this asset, added up over all blockchains. Pass the asset's name in
        `walletframe.assets` or one of its contracts.
    top : int, default 20
        Maximum number of bars (at most 200). The remaining groups are combined as Other. If
        Other would be more than twice as long as the longest bar, a text replaces its bar.
    top_tokens : int, optional
        Maximum number of coloured tokens or assets (at most 24). The rest is combined as Other.
        Half of the colours go to the largest tokens. The remaining colours are chosen so that Other
        is rarely the largest part of a bar, and a note counts such bars. By default, 12 tokens are
        coloured, or up to 24 to avoid such bars.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch. The chart then states how old the data is, and how many
        wallets of each group are known. A wallet is known if its status is ok. The methods of
        ``details.wf`` pass this argument.
    assets : DataFrame, str or Path, optional
        Your own table of assets and their contracts, as in `walletframe.assets`.
    bridged : bool, default False
        Whether an asset includes bridged versions, such as USDC.e and WETH.
    facet : str, optional
        Draw a small chart for each label in this column, such as ``"owner"``. `by` supports the
        same names. All small charts have the same scale and colours. At most 10 are drawn, the
        largest first. The bars of the remaining labels are combined as Other.
    colors : mapping of (str, str or None) or str to str, optional
        Colours as hex codes or CSS names, such as ``{"ETH": "#3366CC"}``. A key is the name of an
        asset, or a token (blockchain, contract), as in the result of `token_colors`. An asset
        without a key has the colour of its first token in `colors`. The rest has default colours.
    title : str, optional
        The title of the chart, cut to 48 characters.

    Returns
    -------
    plotly.graph_objects.Figure
        A figure with one trace per token or asset, the largest first. Each small chart has its own
        traces. Hover texts show exact amounts, and how many wallets of a group are known. The bar's
        label shows this number if some are unknown. A group without a known wallet has an empty
        bar. If no length is above 0, the figure has only an annotation with the reason.

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
    bars = check_limit("top", top, _MAX_BARS)
    most = _MAX_COLORS if top_tokens is None else check_limit("top_tokens", top_tokens, _MAX_COLORS)
    grouped = select_grouped_balances(
        holdings, by, CommonArguments(token, asset, wallets, assets, bridged), facet=facet, top=bars
    )
    balances, names = grouped.balances, grouped.names[facet is not None :] or grouped.names
    title = title or grouped.chart_title
    if not len(balances.rows):
        return empty_figure(title, balances.chart_notes([], wallets), balances.empty_reason)
    # In ["owner", "token"], the last name sets the colours, not the bars.
    names = names[:-1] if names[1:] and names[-1] in KINDS else names
    level = grouped.group_by(
        names if facet is None else [*dict.fromkeys([grouped.names[0], *names])]
    )
    codes, sizes = level.group_codes, balances.sizes
    group_sizes = sum_by_group(codes, sizes, len(level.groups))
    rows = level.largest_then_unknown_groups(group_sizes, bars)
    if facet is not None:
        facet_level = grouped.group_by(grouped.names[:1])
        facets, ranks = _facets_and_facet_ranks(facet_level, level)
        facet_sizes = np.where(ranks < len(facets), group_sizes, -1)
        rows = level.largest_then_unknown_groups(facet_sizes, bars)
        rows = rows[np.argsort(ranks[rows], kind="stable")]
    bar_codes = rank_by_code(rows, len(level.groups))[codes]
    other_size = group_sizes.sum() - group_sizes[rows].sum()
    too_long = bool(other_size > _MAX_OTHER_RATIO * group_sizes.max())
    sizes = sizes * (bar_codes < len(rows)) if too_long else sizes
    tokens = _choose_colored_tokens(
        bar_codes, balances.token_codes, sizes, top_tokens or _USUAL_COLORS, most
    )
    is_single = facet is None and level.names == [balances.positions.kind]
    # With a single token per bar, each bar has the colour of its token.
    grid = pivot_sizes(balances, codes, rows, rows if is_single else tokens)
    measure, (row_names, row_lines) = balances.measure, level.row_labels_and_hover_lines(grid)
    drawn = grid.sizes[: len(rows) if too_long else len(row_names)]
    longest = float(drawn.sum(axis=1).max()) * _ROUNDING
    extent = [(len(rows), grid.other_row_count, level.group_noun)]
    styles = grid.trace_styles(colors)[: None if drawn[:, -1].any() else len(grid.tokens)]
    totals = [compact(size) for size in drawn.sum(axis=1).tolist()]
    traces = _bar_traces(grid, drawn, styles, row_lines, totals, is_single=is_single)
    dimensions = row_dimensions(row_names)._replace(right=label_width(totals) - _RIGHT_PAD)
    if not is_single and measure.kind != "amount":
        extent.append((len(grid.tokens), grid.other_token_count, grid.token_noun))
    if facet is not None:  # in a facet, names omit the facet's label
        shown, starts = np.unique(ranks[rows], return_index=True)
        inner = level._replace(names=names)
        parts = (inner.names_and_known_counts(part.tolist()) for part in np.split(rows, starts[1:]))
        row_names = [*chain.from_iterable(parts), *row_names[len(rows) :]]
        others = len(np.setdiff1d(facet_level.group_codes, facets[shown]))
        extent[:1] = [(len(shown), others, facet_level.group_noun), (*extent[0][:2], "bar")]
    drawn_notes = [
        drawn_count_note(*extent),
        *[_OTHER_AS_TEXT_NOTE] * too_long,
        f"Lengths show the {measure.phrase}.",
    ]
    notes = balances.chart_notes(drawn_notes, wallets)
    figure = make_figure(
        traces,
        title=title,
        notes=notes if is_single else _add_large_other_note(notes, grid, bar_codes, drawn),
        **legend_options(dimensions, [each.name for each in styles[: 1 if is_single else None]]),
        barmode="stack",
        annotations=[_other_bar_annotation(grid, row_lines[-1][-1])] * too_long,
        explorer_meta={"levels": grouped.names, **grid.first_holding_indices},
        xaxis=measure.axis_options(longest) | {"side": "top", "range": [0, longest]},
        yaxis=row_axis_options(row_names, join_names(names)),
    )
    bars_height = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
    figure.layout.bargap = max(_BAR_GAP, 1 - _MAX_BAR_HEIGHT * len(row_names) / bars_height)
    if facet is None:
        return figure
    figure.layout.yaxis.title = None  # the chart's title names the groups
    edges = sorted({*starts.tolist(), len(rows), len(row_names)})
    return split_into_facets(figure, edges, facet_level, facets[shown].tolist())


def _facets_and_facet_ranks(facet_level: GroupLevel, level: GroupLevel) -> tuple[Indices, Indices]:
    facets = choose_facets(facet_level)
    facet_ranks = rank_by_code(facets, len(facet_level.groups))
    if facet_level.wallets_asked.any():  # a facet also has wallets without balances
        wallets = level.first_wallets[level.groups.wallet_sets]
        return facets, facet_ranks[facet_level.groups.wallet_set_codes[wallets]]
    ranks = np.full(len(level.groups), len(facets))
    ranks[level.group_codes] = facet_ranks[facet_level.group_codes]
    return facets, ranks


def _bar_traces(
    grid: PivotedSizes,
    drawn: Floats,
    styles: Sequence[TraceStyle],
    row_lines: Sequence[list[list[str]]],
    totals: Sequence[str],
    *,
    is_single: bool,
) -> list[go.Bar]:
    count, total = len(drawn), grid.total
    ends = {"textposition": "outside", "textangle": 0, "constraintext": "none", "cliponaxis": False}
    common: dict[str, Any] = {"orientation": "h", "y": list(range(count)), **ends}
    if is_single:
        shapes = [each.pattern for each in styles][:count]
        trace = go.Bar(
            x=np.diagonal(grid.sizes)[:count].tolist(),
            hovertext=[grid.hover_text(index, index, [], total) for index in range(count)],
            hoverinfo="text",
            text=totals,
            marker=area_style([each.color for each in styles][:count], shapes),
            **common,
        )
        return [trace]
    return [
        each.bar_trace(
            x=[size or None for size in drawn[:, token].tolist()],
            hovertext=[
                grid.hover_text(row, token, lines[token], total)
                for row, lines in enumerate(row_lines[:count])
            ],
            text=texts,
            **common,
        )
        for token, (each, texts) in enumerate(zip(styles, bar_totals_by_trace(drawn), strict=False))
    ]


def _choose_colored_tokens(
    bars: Indices, tokens: Indices, sizes: Floats, usual: int, most: int
) -> Indices:
    """Choose the largest tokens. Choose more for bars in which Other would be the largest part."""
    totals = sum_by_group(tokens, sizes)
    codes, pairs = pd.factorize(bars * len(totals) + tokens, sort=True)
    pair_sizes, (pair_bars, pair_tokens) = sum_by_group(codes, sizes), np.divmod(pairs, len(totals))
    order = np.lexsort((-pair_sizes, pair_bars))
    parts = np.split(order, np.flatnonzero(np.diff(pair_bars)) + 1)
    is_chosen = np.zeros(len(totals), dtype=bool)
    is_chosen[np.argsort(-totals, kind="stable")[: usual // 2]] = True
    while True:
        free = most - int(is_chosen.sum())
        needed = [_bar_tokens_to_color(pair_tokens[at], pair_sizes[at], is_chosen) for at in parts]
        fitting = [each for each in needed if 0 < len(each) <= free]
        if not fitting:
            break
        is_chosen[min(fitting, key=len)] = True
    is_chosen[np.lexsort((-totals, ~is_chosen))[:usual]] = True
    is_chosen |= np.count_nonzero(totals * ~is_chosen) == 1
    return largest_indices(totals * is_chosen, len(totals))


def _bar_tokens_to_color(tokens: Indices, descending_sizes: Floats, is_colored: Mask) -> Indices:
    """Return the tokens that still need a colour, so that Other is not the bar's largest part."""
    colored = is_colored[tokens]
    rest = descending_sizes[~colored]
    if rest.sum() <= descending_sizes[colored].max(initial=0) * _ROUNDING:
        return tokens[:0]
    others = rest.sum() - np.cumsum(rest)
    return tokens[~colored][: 1 + np.count_nonzero(others > descending_sizes[0] * _ROUNDING)]


def _add_large_other_note(notes: Notes, grid: PivotedSizes, bars: Indices, drawn: Floats) -> Notes:
    large = np.flatnonzero(drawn[:, -1] > drawn[:, :-1].max(axis=1) * _ROUNDING)
    held = np.unique(grid.balances.token_codes[np.isin(bars, large)])
    others = counted_noun(len(np.setdiff1d(held, grid.tokens)), f"small {grid.token_noun}")
    counted = f"{len(large):,} of {counted_noun(len(drawn), 'bar')}"
    note = f"In {counted}, Other is the largest part and combines {others}."
    return notes._replace(left_out=[*notes.left_out, *[note] * bool(len(large))])


def _other_bar_annotation(grid: PivotedSizes, lines: list[str]) -> dict[str, Any]:
    measure, size, total = grid.balances.measure, grid.sizes[-1].sum(), grid.total
    hover = hover_text(*lines, measure.text_with_share(size, total))
    if measure.kind == "amount":
        hover = grid.hover_text(len(grid.rows), 0, lines, total)
    share = "" if np.isnan(total) else f", {percent(size / total)} of all"
    text = to_markup([f"{measure.text_with_noun(size)}{share}"])
    return {"x": 0, "xanchor": "left", "y": len(grid.rows), "hovertext": hover, "text": text}


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

    The slices show the column ``value`` (float64, with an optional column ``currency``). Without
    this column, all slices are equal, since amounts of different assets can't be compared.

    Parameters
    ----------
    wallet : str, (str, str) or WalletAddress
        The wallet, as ``"ETH.0x…"`` or (blockchain, address).
    by : {"asset", "token"}, default "asset"
        Whether a slice is an asset or a token.
    top : int, default 8
        Maximum number of slices (at most 20). The rest is combined as Other.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch. The chart then states the age of the wallet's balances,
        or why the wallet has no rows.
    assets, bridged, colors, title : optional
        As in `bar`.

    Returns
    -------
    plotly.graph_objects.Figure
        A figure with one trace. The largest slice comes first. Hover texts show exact amounts. If
        no value or count is above 0, the figure has only an annotation with the reason.

    Raises
    ------
    ArgumentError, SettingsError, ColumnsError, AmountError, PricesError, TokenListError, OSError
        As for `bar`.
    AddressError, UnknownWalletError
        If `wallet` is not an address, or if it has no rows and is missing from `wallets`.
    """
    limit = check_limit("top", top, _MAX_SLICES)
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
    shown = shorten_middle(safe_line(name), _TITLE_NAME_CHARS, _TITLE_NAME_CHARS // 2)
    title = title or f"Holdings of {shown or short_wallet_name(named.blockchain, named.address)}"
    notes = Notes(simulated_notes(answers))
    try:
        balances = select_grouped_balances(
            holdings, by, CommonArguments(None, None, answers, assets, bridged), wallet=wallet
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
    contracts = [min(len(name) - name.rfind(" ("), _TITLE_NAME_CHARS) for name, _ in texts]
    labels = [
        f"{shorten_middle(name, _LEGEND_CHARS - len(part) - 1, end)} {part}".rstrip()
        for (name, part), end in zip(texts, contracts, strict=True)
    ]
    slice_colors = [each.color for each in slices]
    trace = go.Pie(
        labels=[to_markup([label]) for label in labels],
        values=sizes.tolist(),
        text=[to_markup([part or name]) for name, part in texts],
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
    extent = len(grid.tokens), grid.other_token_count, grid.token_noun
    drawn = [f"Slices show the {balances.measure.phrase}.", drawn_count_note(extent)]
    small = [f"Other ({percent(rest)}) is too small to draw."] * (0 < rest < MIN_SHARE)
    return make_figure(
        [trace],
        title=title,
        notes=notes._replace(drawn=drawn, left_out=[*small, *balances.left_out]),
        uniformtext={"minsize": MIN_FONT_SIZE, "mode": "hide"},
        explorer_meta={"levels": [grid.token_noun], **grid.first_holding_indices},
        **legend_options(Dimensions(320), labels, least=1),
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

    The colours show the column ``value`` (float64; a column ``currency`` is optional). Without
    ``value``, the colours show the row's share of the asset's total in the frame. The colour scale
    is logarithmic. Small values are light, but dark in a dark template of plotly. The largest rows
    and columns come first. With several assets and no ``value``, the rows and columns with the
    most balances come first.

    Parameters
    ----------
    by : str or list of str, default "wallet"
        The column or columns to group by, as in `bar`. Each group is a row of the heatmap. With
        ``"token"``, a column of the heatmap is a token instead of an asset.
    top : int, default 30
        Maximum number of rows (at most 200). The rest is combined as Other.
    top_tokens : int, default 20
        Maximum number of tokens or assets (at most 200). The largest in the drawn rows are chosen,
        and the rest is combined as Other. Without ``value``, the tokens with the most holders are
        chosen, and the rest is left out.
    wallets, assets, bridged, title : optional
        As in `bar`.

    Returns
    -------
    plotly.graph_objects.Figure
        A figure with exact amounts in the hover texts. A cell is empty if the row does not hold the
        token. A cell has a question mark if its value or amount is unknown. The question marks are
        a separate trace. If the largest cell is in the row Other, this row is a grey trace.
        If no value or amount is above 0, the figure has only an annotation with the reason.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError
        As for `bar`.
    ColumnsError, AmountError, PricesError, TokenListError, OSError
        As for `bar`.
    """
    rows = check_limit("top", top, _MAX_ROWS_OR_COLUMNS)
    columns = check_limit("top_tokens", top_tokens, _MAX_ROWS_OR_COLUMNS)
    grouped = select_grouped_balances(
        holdings, by, CommonArguments(None, None, wallets, assets, bridged), shares=True
    )
    balances = grouped.balances
    measure, is_shares = balances.measure, balances.measure.kind == "share"
    names = [name for name in grouped.names if name not in KINDS] or ["wallet"]
    title_names = names if is_shares else [*names, balances.positions.kind]
    title = title or f"{measure.title_start} by {join_names(title_names)}"
    if not len(balances.rows):
        return empty_figure(title, balances.chart_notes([], wallets), balances.empty_reason)
    level = grouped.group_by(names)
    # Shares of several tokens can't be added up, so balances are counted.
    weights = np.where(is_shares & (np.ptp(balances.token_codes) > 0), 1.0, balances.sizes)
    group_sizes = sum_by_group(level.group_codes, weights, len(level.groups))
    in_rows = np.isin(level.group_codes, largest_indices(group_sizes, rows))
    token_sizes = sum_by_group(balances.token_codes[in_rows], weights[in_rows])
    tokens = largest_indices(token_sizes, columns)
    if is_shares:  # there is no column Other, so drop rows without a drawn token
        in_columns = level.group_codes[np.isin(balances.token_codes, tokens)]
        group_sizes[np.bincount(in_columns, minlength=len(group_sizes)) == 0] = 0
    groups = level.largest_then_unknown_groups(group_sizes, rows)
    grid = pivot_sizes(balances, level.group_codes, groups, tokens)
    width = len(tokens) + bool(grid.other_token_count and not is_shares)
    row_names, row_lines = level.row_labels_and_hover_lines(grid)
    sizes = grid.sizes[: len(row_names), :width]
    off_scale = bool(grid.other_row_count and sizes[-1].max() > sizes[:-1].max())
    on_scale = len(row_names) - off_scale
    total = grid.total
    texts = [
        [grid.hover_text(row, token, lines[token], total) for token in range(width)]
        for row, lines in enumerate(row_lines)
    ]
    traces = [_heatmap_trace(sizes[:on_scale], texts[:on_scale], measure)]
    if off_scale:
        grey = {"colorscale": [[0, OTHER_COLOR], [1, OTHER_COLOR]], "showscale": False}
        traces.append(_heatmap_trace(sizes[-1:], texts[-1:], measure).update(y=[on_scale], **grey))
    labels = balances.token_names(tokens.tolist())
    column_axis, below = _x_axis_and_label_space(labels, width, grid.token_noun)
    count, others, kind = of_tokens = (len(tokens), grid.other_token_count, grid.token_noun)
    # A count would make Other the longest label. It is needed only if a token has the name Other.
    labels += [other_label(others, kind) if "Other" in labels else "Other"] * (width - count)
    of_rows, phrase = (len(groups), grid.other_row_count, level.group_noun), measure.phrase
    rest = f"Other contains the other {level.group_noun}s; " * bool(grid.other_row_count)
    rest += f"the {kind}s with the most holders are chosen"
    rest = rest if is_shares and others else "Other contains the rest"
    notes = [drawn_count_note(of_rows, of_tokens, others_text=rest)]
    phrase = phrase if level.group_noun == "wallet" else phrase.removeprefix("wallet's ")
    notes.append(f"Colours show the {phrase}, on a logarithmic scale.")
    column_names = [to_markup([name]) for name in labels]
    for trace in traces:
        trace.x = column_names
    marks = _question_mark_trace(level, grid, column_names, row_lines)
    traces += [marks] * bool(marks.x)
    of_unknown = f" of unknown {'amount' if is_shares else 'value'}"
    notes += [
        *undrawn_notes(balances.undrawn_unsized_token_count, kind, of_unknown),
        *[_GREY_OTHER_NOTE] * off_scale,
        *[_UNKNOWN_CELLS_NOTE] * bool(marks.x),
        *[f"Narrow pages omit names of {kind}s."] * (width > _MAX_LABELS_ON_PHONE),
    ]
    scale = f"{measure.axis_title} (logarithmic scale)"
    return make_figure(
        traces,
        title=title,
        notes=balances.chart_notes(notes, wallets),
        dimensions=row_dimensions(row_names, _PAD_ABOVE, below),
        explorer_meta={"levels": title_names, **grid.first_holding_indices},
        annotations=[_SCALE_TITLE | {"text": to_markup([scale])}],
        xaxis=column_axis,
        yaxis=row_axis_options(row_names, join_names(level.names)),
    )


def _x_axis_and_label_space(names: list[str], width: int, title: str) -> tuple[dict[str, Any], int]:
    longest, angle, high = label_width(names), None, 0.0
    if longest * width > _LABELS_WIDTH:
        angle, high = (-45, 0.65) if width <= _MAX_SLANTED_LABELS else (-90, 0.9)
    # On a category axis, plotly omits labels that have no space.
    options = {"type": "category", "tickangle": angle}
    return label_axis_options(title) | options, _PAD_BELOW + max(MIN_FONT_SIZE, int(high * longest))


def _question_mark_trace(
    level: GroupLevel,
    grid: PivotedSizes,
    column_names: Sequence[str],
    row_lines: Sequence[list[list[str]]],
) -> go.Scatter:
    """Return a trace with "?" in each cell of unknown size."""
    cells, count = level.split_by_token(grid.tokens), len(level.groups)
    is_unknown = (cells.wallets_known[:, 0] == 0) & (cells.wallets_asked > 0)
    is_unknown[cells.groups.codes[grid.balances.unknown_rows]] = True
    is_unknown = is_unknown.reshape(-1, count)[:-1, grid.rows].T & (grid.sizes[:-1, :-1] == 0)
    places = np.argwhere(is_unknown).tolist()
    return go.Scatter(
        x=[column_names[token] for _, token in places],
        y=[row for row, _ in places],
        mode="text",
        text="?",
        hovertext=[
            hover_text(*grid.symbols_and_contracts[at], *row_lines[row][at]) for row, at in places
        ],
        hoverinfo="text",
        showlegend=False,
    )


def _heatmap_trace(sizes: Floats, texts: list[list[str]], measure: Measure) -> go.Heatmap:
    held = sizes > 0
    z = np.log10(np.where(held, sizes, 1.0))
    cells = np.where(held, z, np.array(None))
    highest = float(z[held].max())
    lowest = float(max(z[held].min(), highest - _DECADES))
    # Ticks are at a few powers of ten. A scale with fewer than two powers has ticks at its ends.
    marks = [float(power) for power in range(int(np.ceil(lowest)), int(highest // 1) + 1)]
    marks = marks[:: -(-len(marks) // _MAX_TICKS)] if len(marks) > 1 else sorted({lowest, highest})
    scale, unit = (100, "%") if measure.kind == "share" else (1, "")
    ticks = [f"{compact(scale * 10**mark)}{unit}" for mark in marks]
    cell_texts: dict[str, Any] = {}
    if len(sizes) <= _FEW_ROWS and sizes.shape[1] <= _FEW_TOKENS:
        write = percent if measure.kind == "share" else compact
        text = [[write(size) if size else "" for size in row] for row in sizes.tolist()]
        cell_texts = {"text": text, "texttemplate": "%{text}"}
    return go.Heatmap(
        z=cells.tolist(),
        zmin=lowest,
        zmax=highest,
        colorscale=_COLOR_SCALE,
        reversescale=has_dark_template(),
        colorbar=_COLOR_BAR | {"tickvals": marks, "ticktext": ticks},
        hovertext=texts,
        hoverinfo="text",
        hoverongaps=False,
        xgap=2,
        ygap=2,
        textfont={"size": MIN_FONT_SIZE, "color": "#000000"},
        **cell_texts,
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
        The asset or the token, as in `bar`. Pass exactly one of the two.
    wallets, assets, bridged, title : optional
        As in `bar`.

    Returns
    -------
    plotly.graph_objects.Figure
        A figure with two traces: the curve and the diagonal line of equality. The curve has at most
        200 points, with exact amounts in the hover texts. If no amount is above 0, the figure has
        only an annotation with the reason.

    Raises
    ------
    ArgumentError, SettingsError, ColumnsError, AmountError, TokenListError, OSError
        As for `bar`, or if `asset` and `token` are both passed or both missing.
    UnknownTokenError, AmbiguousTokenError
        As for `bar`.

    Notes
    -----
    The curve includes only wallets with a balance above 0. See ``df.wf.concentration`` for the
    formula of the Gini coefficient and its source.
    """
    if token is None and asset is None:
        raise SettingsError(
            "a Lorenz curve needs one asset or one token", hint="pass asset=… or token=…"
        )
    options = CommonArguments(token, asset, wallets, assets, bridged)
    balances = select_grouped_balances(holdings, "wallet", options).balances
    title = title or f"Lorenz curve of {balances.measure.title_start}"
    if not len(balances.rows):
        return empty_figure(title, balances.chart_notes([], wallets), balances.empty_reason)
    owners, _ = pd.factorize(balances.wallet_codes)
    amounts = balances.positions.amounts[balances.rows]
    held = pd.Series(sum_by_cell(amounts, owners, int(owners.max()) + 1))
    running: AmountArray = held.sort_values().cumsum().array  # exact sums, the smallest first
    shares = np.asarray(running / running[-1], dtype=np.float64)
    count, last = len(running), len(running) - 1
    notes = ["One wallet holds the whole amount, so there is nothing to compare."]
    if count > 1:
        gini = float((count + 1 - 2 * (running.sum() / running[-1])) / count)
        few = min(10, count // 2)
        who = "The largest wallet holds" if few == 1 else f"The {few} largest wallets hold"
        notes = [
            f"The Gini coefficient of {counted_noun(count, 'wallet')} is {gini:.3f}.",
            f"{who} {percent(1 - float(shares[-few - 1]))} of the amount.",
        ]
    phrase = f"{balances.measure.phrase}, from the smallest wallet with a balance"
    notes.append(f"The curve shows cumulative shares of the {phrase}.")
    # The points are at regular distances along both axes.
    along = np.linspace(0, last, _MAX_POINTS_PER_AXIS).round().astype(np.intp)
    up = np.searchsorted(shares, np.linspace(0, 1, _MAX_POINTS_PER_AXIS)).clip(0, last)
    points = np.unique(np.concatenate((along, up))).tolist()
    texts = [
        hover_text(
            f"{index + 1:,} of {counted_noun(count, 'wallet')} ({percent((index + 1) / count)})",
            f"hold {percent(float(shares[index]))} of the amount",
            f"{full_amount(running[index])} {balances.measure.unit}",
        )
        for index in points
    ]
    curve = go.Scatter(
        x=[0.0, *((index + 1) / count for index in points)],
        y=[0.0, *shares[points].tolist()],
        mode="lines+markers" if count <= _MAX_MARKED_POINTS else "lines",
        hovertext=["", *texts],
        hoverinfo="text",
        cliponaxis=False,
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
    axis = {"tickformat": ".0%", "range": [0, 1.005], "automargin": True, "ticklabelstandoff": 6}
    return make_figure(
        [curve, equality],
        title=title,
        notes=balances.chart_notes(notes, wallets),
        dimensions=Dimensions(380, below=40, left=56),
        showlegend=False,
        hovermode="x",
        hoverdistance=-1,
        xaxis=axis_title("share of the wallets") | axis,
        yaxis=axis_title("share of the amount") | axis,
        annotations=[label | {"yanchor": "bottom"}],
    )
