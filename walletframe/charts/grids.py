"""Bars and heatmap of groups by token, the pie of one wallet, the Lorenz curve of one token."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from walletframe.address.lists import parse_wallets
from walletframe.charts.balances import (
    MIN_SHARE,
    check_top,
    join_names,
    largest,
    pivot_sizes,
    read_balances,
    read_grouped,
    sum_by,
)
from walletframe.charts.canvas import (
    LEAST_SIZE,
    TOP_RIGHT,
    Notes,
    Space,
    age_note,
    axis_title,
    blank,
    category_axis,
    drawn_note,
    figure,
    hover,
    label_width,
    markup,
    row_space,
    simulated_note,
    wallets_frame,
    with_legend,
)
from walletframe.charts.palette import EDGE, OTHER, OUTLINE, PATTERN, text_on
from walletframe.errors import UnknownWalletError
from walletframe.frames.groups import ADDED
from walletframe.frames.identity import token_key
from walletframe.frames.names import find_wallet, short_wallet, user_wallet_names, whole_wallet
from walletframe.frames.positions import cell_sums
from walletframe.numerals import compact, count_of, counted_noun, full_amount, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.amounts import AmountArray
    from walletframe.charts.balances import Balances, Level, Measure, PivotedSizes, Places, Sizes
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import FetchLike
    from walletframe.frames.groups import By
    from walletframe.frames.identity import TokenKey
    from walletframe.frames.names import TokenLike, WalletLike
    from walletframe.frames.positions import PositionsLike

_BARS, _SERIES, _SLICES, _LIMIT = 200, 20, 20, 200
_LONGER, _PIE = 2, Space(320)
_NO_BAR = "Other is given as text: its bar would make the others too short."
_ASLANT, _ABOVE, _BELOW = 12, 52, 20
_LINE = 16
_COLORS = sample_colorscale("cividis", [place / 10 for place in range(2, 11)])
"""Without the darkest part, which can't be seen on black."""
_DECADES, _TICKS = 6, 4
_FEW_ROWS, _FEW_TOKENS = 16, 10
_GREY = "Other is grey: it is beyond this scale."
_BAR = {"orientation": "h", "thickness": 8, "ypad": 0, "outlinewidth": 0}
_AT_TOP = {"x": 0, "xanchor": "left", "yref": "container", "yanchor": "top"}
# The title of the scale is an annotation, since plotly draws the title of a horizontal colour bar
# over the bar if a figure is high. At the right there is room for it even on a narrow page.
_SCALE = TOP_RIGHT | {"font": {"size": LEAST_SIZE}, "yshift": _ABOVE}
_POINTS, _FEW = 100, 30
_EQUALITY = {"text": "equal shares", "xanchor": "right", "yanchor": "bottom", "xshift": -6}


def bar(  # noqa: PLR0913  the options of a chart
    holdings: PositionsLike,
    *,
    by: By = "wallet",
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    top: int = 20,
    top_tokens: int = 8,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    colors: Mapping[TokenKey, str] | None = None,
) -> go.Figure:
    """Draw a bar for each wallet, owner or other group, stacked by token or asset.

    Lengths show ``value`` if there is such a column (float64, with an optional ``currency``),
    else numbers of balances.

    Parameters
    ----------
    by : str or list of str, default "wallet"
        What to draw a bar for: ``"wallet"``, ``"blockchain"`` (that of the wallet), a column of
        yours that `wallets` kept, such as ``"owner"``, any column of these holdings, or several
        of them. ``"asset"`` after other names colours the bars by asset, as in `totals`;
        ``"asset"`` or ``"token"`` alone draws a bar for each. Rows without a label are a group
        of their own, such as "no owner".
    token : str or (str, str or None), optional
        Draw its amounts: an unambiguous symbol, or (blockchain, contract), None if native.
    asset : str or (str, str or None), optional
        Draw the amounts of this asset on all blockchains: one that `walletframe.assets` lists,
        or one of its contracts.
    top : int, default 20
        The most bars, up to 200. The rest are Other, which is given as text if its bar would be
        more than twice as long as the longest.
    top_tokens : int, default 8
        The most tokens or assets with a colour of their own, up to 20; the rest are drawn as
        Other.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch, to note how complete and how old the data is, also
        for each group. ``details.wf`` passes them.
    assets : DataFrame, str or Path, optional
        By asset: your own contracts, as in `walletframe.assets`.
    bridged : bool, default False
        By asset: whether bridged versions count, such as USDC.e and WETH.
    colors : mapping of (str, str or None) to str, optional
        Colours of tokens, hex or CSS names, as from `token_colors`. An asset has that of its
        largest token.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace for each token or asset, the largest first; the hover has exact amounts, and
        how many wallets of a group are known. If nothing is above 0, no trace, but a note why.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError
        If `by`, `wallets` or `colors` has another type, `top` or `top_tokens` is out of range,
        or `wallets` lacks the wallet of a row.
    ColumnsError, AmountError, PricesError, TokenListError, OSError
        If a column is missing, ``amount`` holds no amounts, values have several currencies, or
        `assets` can't be used.
    UnknownTokenError, AmbiguousTokenError
        If no row has the token or asset, or several tokens share the symbol.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xb"], "symbol": "ETH",
    ... "token_blockchain": "ETH", "token_address": None, "amount": pd.array([1, 3], "amount")})
    >>> list(frame.wf.plot.bar().data[0].x)
    [1.0, 1.0]
    """
    bars, colored = check_top("top", top, _BARS), check_top("top_tokens", top_tokens, _SERIES)
    grouped = read_grouped(
        holdings, by, token=token, asset=asset, wallets=wallets, assets=assets, bridged=bridged
    )
    balances = grouped.balances
    if not len(balances.rows):
        return blank(grouped.title, balances.notes([], wallets), balances.empty_reason)
    # If the last name is token or asset, it sets the colours, and the others make the bars.
    [*first, last] = grouped.names
    level = grouped.level(first if first and last in ADDED else grouped.names)
    owners = level.codes
    by_owner = sum_by(owners, balances.sizes)
    rows = largest(by_owner, bars)
    too_long = bool(by_owner.sum() - by_owner[rows].sum() > _LONGER * by_owner.max())
    of_bars = balances.sizes * np.isin(owners, rows) if too_long else balances.sizes
    tokens = largest(sum_by(balances.token_codes, of_bars), colored)
    if is_single := level.names == [balances.positions.kind]:
        tokens = rows  # each bar is one token, and has its colour
    grid = pivot_sizes(balances, owners, rows, tokens)
    measure, (short, full) = balances.measure, level.rows(grid)
    drawn = grid.sizes[: len(rows) if too_long else len(short)]
    count, total = len(drawn), float(grid.sizes.sum())
    extent = [(len(rows), grid.other_rows, level.noun)]
    series = grid.series(colors)[: None if drawn[:, -1].any() else len(tokens)]
    if is_single:
        one_each = go.Bar(
            orientation="h",
            y=list(range(count)),
            x=np.diagonal(grid.sizes)[:count].tolist(),
            hovertext=[grid.hover(place, place, [], total) for place in range(count)],
            hoverinfo="text",
            marker={"color": [each.color for each in series][:count], "line": OUTLINE},
        )
        traces = [one_each]
    else:
        if measure.kind != "amount":
            extent.append((len(tokens), grid.other_tokens, grid.kind))
        traces = [
            each.bar(
                orientation="h",
                y=list(range(count)),
                x=[size or None for size in drawn[:, token].tolist()],
                hovertext=[
                    grid.hover(row, token, owner, total) for row, owner in enumerate(full[:count])
                ],
            )
            for token, each in enumerate(series)
        ]
    notes = [drawn_note(*extent), *[_NO_BAR] * too_long, f"Length: {measure.phrase}."]
    return figure(
        traces,
        title=grouped.title,
        notes=balances.notes(notes, wallets),
        **with_legend(row_space(short), [each.name for each in series][: 1 if is_single else None]),
        barmode="stack",
        bargap=0.25,
        annotations=[_other_annotation(grid, full[-1])] * too_long,
        sample_rows=grid.sample_rows,
        xaxis=measure.axis(float(drawn.sum(axis=1).max())) | {"side": "top"},
        yaxis=category_axis(short, join_names(level.names)) | {"range": [len(short) - 0.5, -0.5]},
    )


def _other_annotation(grid: PivotedSizes, name: list[str]) -> dict[str, Any]:
    """Return the text in the place of the bar of Other."""
    measure, size, total = grid.balances.measure, grid.sizes[-1].sum(), float(grid.sizes.sum())
    of_token = grid.hover(len(grid.rows), 0, name, total)
    below = hover(*name, measure.share(size, total))
    return {
        "x": 0,
        "xanchor": "left",
        "y": len(grid.rows),
        "text": markup([f"{measure.words(size)}, {percent(size / total)} of all"]),
        "hovertext": of_token if measure.kind == "amount" else below,
    }


def pie(
    holdings: PositionsLike,
    wallet: WalletLike,
    *,
    top: int = 8,
    wallets: FetchLike | None = None,
    colors: Mapping[TokenKey, str] | None = None,
) -> go.Figure:
    """Draw one wallet's holdings as a pie.

    Slices show ``value`` if there is such a column (float64, with an optional ``currency``).
    Otherwise all have one size, since amounts of different tokens can't be compared.

    Parameters
    ----------
    wallet : str, (str, str) or WalletAddress
        ``"ETH.0x…"`` or (blockchain, address).
    top : int, default 8
        The most tokens, up to 20; the rest are drawn as Other.
    wallets, colors : optional
        As in `bar`, to note how old the answer is, or why the wallet has no rows.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace, the largest slice first, with exact amounts in the hover; if nothing is above
        0, no trace, but a note why.

    Raises
    ------
    ArgumentError, SettingsError, ColumnsError, AmountError, PricesError
        As `bar`.
    AddressError, UnknownWalletError
        If the wallet can't be read, or has no rows and is not in `wallets`.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xb"], "symbol": "ETH",
    ... "token_blockchain": "ETH", "token_address": None, "amount": pd.array([1, 3], "amount")})
    >>> frame.wf.plot.pie("ETH.0xa").data[0].labels
    ('ETH',)
    """
    limit = check_top("top", top, _SLICES)
    [named] = parse_wallets(wallet)
    answers = None
    if wallets is not None:
        frame = wallets_frame(wallets)
        with suppress(UnknownWalletError):  # it was not requested
            answers = frame[find_wallet(frame, wallet)]
    name = "" if answers is None else user_wallet_names(answers, answers)[0]
    title = f"Holdings of {short_wallet(named.blockchain, named.address, name)}"
    notes = Notes() if answers is None else Notes(simulated_note(answers), trust=age_note(answers))
    try:
        balances = read_balances(holdings, wallet=wallet)
    except UnknownWalletError:
        if answers is None:
            raise
        status = answers["status"].iloc[0]
        nothing = f"Its holdings are unknown: {status}."
        return blank(title, notes, "It holds nothing." if status == "ok" else nothing)
    if not len(balances.rows):
        return blank(title, notes._replace(left_out=balances.left_out), balances.empty_reason)
    sizes = sum_by(balances.token_codes, balances.sizes)
    sizes[sizes < MIN_SHARE * sizes.sum()] = 0
    grid = pivot_sizes(balances, np.zeros_like(balances.rows), np.array([0]), largest(sizes, limit))
    owner = whole_wallet(named.blockchain, named.address, name)
    rest = float(grid.sizes[0, -1] / grid.sizes.sum())
    slices = grid.series(colors)[: len(grid.tokens) + (rest >= MIN_SHARE)]
    sizes = grid.sizes[0, : len(slices)]
    total = float(sizes.sum())
    # Counts make all slices equal, so percentages would say nothing.
    is_count = balances.measure.kind == "count"
    parts = ["" if is_count else percent(size / total) for size in sizes.tolist()]
    texts = [(each.name, part) for each, part in zip(slices, parts, strict=True)]
    labels = [f"{name} {part}".rstrip() for name, part in texts]
    trace = go.Pie(
        labels=[markup([label]) for label in labels],
        values=sizes.tolist(),
        text=[markup([part or name]) for name, part in texts],
        hovertext=[grid.hover(0, token, [owner], total) for token in range(len(slices))],
        textfont={"color": [text_on(each.color) for each in slices]},
        marker={
            "colors": [each.color for each in slices],
            "line": OUTLINE,
            "pattern": PATTERN | {"shape": [each.pattern for each in slices]},
        },
        sort=False,
        direction="clockwise",
        hole=0.4,
        hoverinfo="text",
        textinfo="text",
        textposition="inside",  # of slices with room for it
        insidetextorientation="horizontal",
    )
    extent = len(grid.tokens), grid.other_tokens, "token"
    drawn = [f"Slice: {balances.measure.phrase}.", drawn_note(extent)]
    small = [f"Other ({percent(rest)}) is too small to draw."] * (0 < rest < MIN_SHARE)
    return figure(
        [trace],
        title=title,
        notes=notes._replace(drawn=drawn, left_out=[*small, *balances.left_out]),
        uniformtext={"minsize": LEAST_SIZE, "mode": "hide"},
        sample_rows=grid.sample_rows,
        **with_legend(_PIE, labels),
    )


def heatmap(  # noqa: PLR0913  the options of a chart
    holdings: PositionsLike,
    *,
    by: By = "wallet",
    top: int = 30,
    top_tokens: int = 20,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> go.Figure:
    """Draw a heatmap of wallets, owners or other groups, by tokens or assets.

    Colours show ``value`` if there is such a column (float64, with an optional ``currency``),
    else the row's share of the token's total in the frame, on a logarithmic scale. Wallets of one
    blockchain stand together, and so do tokens.

    Parameters
    ----------
    by : str or list of str, default "wallet"
        What to draw a row for: the names that `bar` takes. With ``"asset"`` among them, the
        columns are assets.
    top : int, default 30
        The most rows, up to 200; the rest are drawn as Other.
    top_tokens : int, default 20
        The most tokens or assets, up to 200: those with the largest value, or the most holders,
        among the rows drawn. With values, the rest are drawn as Other.
    wallets, assets, bridged : optional
        As in `bar`.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace, with exact amounts in the hover; a cell is empty if its row holds none of the
        token. Other is a second trace, in grey, if it holds more of a token than any other row.
        If nothing is above 0, no trace, but a note why.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError
        As `bar`.
    ColumnsError, AmountError, PricesError, TokenListError, OSError
        As `bar`.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xb"], "symbol": "ETH",
    ... "token_blockchain": "ETH", "token_address": None, "amount": pd.array([1, 3], "amount")})
    >>> len(frame.wf.plot.heatmap().data)
    1
    """
    rows, columns = check_top("top", top, _LIMIT), check_top("top_tokens", top_tokens, _LIMIT)
    grouped = read_grouped(
        holdings, by, wallets=wallets, assets=assets, bridged=bridged, shares=True
    )
    balances = grouped.balances
    held, measure = balances.positions, balances.measure
    names = [name for name in grouped.names if name not in ADDED] or ["wallet"]
    is_shares = measure.kind == "share"
    title = f"{measure.title_start} by {join_names(names if is_shares else [*names, held.kind])}"
    if not len(balances.rows):
        return blank(title, balances.notes([], wallets), balances.empty_reason)
    level = grouped.level(names)
    owners, tokens = _choose(balances, level.codes, rows, columns)
    if names == ["wallet"]:
        owners = _sort_by_chain(owners, held.wallet_keys)
    if held.assets is None:
        tokens = _sort_by_chain(tokens, held.tokens.keys)
    grid = pivot_sizes(balances, level.codes, owners, tokens)
    width = len(tokens) + bool(grid.other_tokens and not is_shares)
    short, full = level.rows(grid)
    sizes = grid.sizes[: len(short), :width]
    off_scale = bool(grid.other_rows and sizes[-1].max() > sizes[:-1].max())
    on_scale = len(short) - off_scale
    total = float(grid.sizes.sum())
    texts = [
        [grid.hover(row, token, owner, total) for token in range(width)]
        for row, owner in enumerate(full)
    ]
    traces = [_scaled_cells(sizes[:on_scale], texts[:on_scale], measure)]
    if off_scale:
        z = [[1 if size else None for size in sizes[-1].tolist()]]
        grey = {"z": z, "y": [on_scale], "colorscale": [[0, OTHER], [1, OTHER]]}
        traces.append(_cells(sizes[-1:], texts[-1:], measure, showscale=False, **grey))
    labels = [series.name for series in grid.series()][:width]
    angle, high = (-45, 0.65) if width <= _ASLANT else (-90, 0.9)
    below = _BELOW + int(high * label_width(labels))
    drawn = figure(
        traces,
        title=title,
        notes=balances.notes([*_heatmap_notes(grid, level), *[_GREY] * off_scale], wallets),
        space=row_space(short, _ABOVE, below),
        sample_rows=grid.sample_rows,
        annotations=[_SCALE | {"text": markup([f"{measure.name}, in powers of ten"])}],
        xaxis=category_axis(labels, grid.kind) | {"tickangle": angle, "tickfont_size": LEAST_SIZE},
        yaxis=category_axis(short, join_names(level.names)) | {"range": [len(short) - 0.5, -0.5]},
    )
    place = 1 - (drawn.layout.margin.t - _ABOVE + _LINE) / drawn.layout.height
    return drawn.update_traces(colorbar_y=place, selector=0)


def _choose(balances: Balances, wallets: Places, rows: int, columns: int) -> tuple[Places, Places]:
    """Choose the largest groups and tokens, without empty rows or columns."""
    is_shares, tokens = balances.measure.kind == "share", balances.token_codes
    weights = np.ones_like(balances.sizes) if is_shares else balances.sizes
    by_wallet = sum_by(wallets, weights)
    in_rows = np.isin(wallets, largest(by_wallet, rows))
    chosen = largest(sum_by(tokens[in_rows], weights[in_rows]), columns)
    if is_shares:  # there is no Other column, so drop rows outside the columns
        in_columns = np.bincount(wallets[np.isin(tokens, chosen)], minlength=len(by_wallet))
        by_wallet = np.where(in_columns > 0, by_wallet, 0)
    return largest(by_wallet, rows), chosen


def _sort_by_chain(places: Places, keys: list[TokenKey]) -> Places:
    """Sort places by blockchain, stably."""
    chains = [keys[place][0] for place in places]
    return places[sorted(range(len(places)), key=chains.__getitem__)]


def _heatmap_notes(grid: PivotedSizes, level: Level) -> list[str]:
    measure, noun = grid.balances.measure, level.noun
    owners = (len(grid.rows), grid.other_rows, noun)
    drawn, rest, kind = tokens = (len(grid.tokens), grid.other_tokens, grid.kind)
    phrase = measure.phrase if noun == "wallet" else measure.phrase.removeprefix("a wallet's ")
    colour = f"Colour: {phrase}, in powers of ten."
    if measure.kind != "share":
        return [drawn_note(owners, tokens), colour]
    subset = f"{count_of(drawn, drawn + rest, kind)} drawn: those held in most of these {noun}s."
    return [drawn_note(owners), subset if rest else drawn_note(tokens), colour]


def _scaled_cells(sizes: Sizes, texts: list[list[str]], measure: Measure) -> go.Heatmap:
    """Return cells on a logarithmic colour scale that ends at the largest size."""
    held = sizes > 0
    z = np.log10(np.where(held, sizes, 1.0))
    cells = z.astype(object)
    cells[~held] = None
    highest = float(z[held].max())
    lowest = float(max(z[held].min(), highest - _DECADES))
    # Ticks are at a few powers of ten, or at both ends if the scale has less than two of these.
    marks = [float(power) for power in range(int(np.ceil(lowest)), int(highest // 1) + 1)]
    marks = marks[:: -(-len(marks) // _TICKS)] if len(marks) > 1 else sorted({lowest, highest})
    scale, unit = (100, "%") if measure.kind == "share" else (1, "")
    ticks = [f"{compact(scale * 10**mark)}{unit}" for mark in marks]
    return _cells(
        sizes,
        texts,
        measure,
        z=cells.tolist(),
        zmin=lowest,
        zmax=highest,
        colorscale=_COLORS,
        colorbar=_BAR | _AT_TOP | {"tickvals": marks, "ticktext": ticks},
    )


def _cells(sizes: Sizes, texts: list[list[str]], measure: Measure, **colors: Any) -> go.Heatmap:
    """Return cells with hover texts, and with their sizes as text if there are few cells."""
    write = percent if measure.kind == "share" else compact
    if len(sizes) <= _FEW_ROWS and sizes.shape[1] <= _FEW_TOKENS:
        written = [[write(size) if size else "" for size in row] for row in sizes.tolist()]
        colors |= {"text": written, "texttemplate": "%{text}"}
    return go.Heatmap(
        hovertext=texts,
        hoverinfo="text",
        hoverongaps=False,
        xgap=1,
        ygap=1,
        textfont_size=LEAST_SIZE,
        **colors,
    )


def lorenz(
    holdings: PositionsLike, token: TokenLike, *, wallets: FetchLike | None = None
) -> go.Figure:
    """Draw the Lorenz curve of one token, with its Gini coefficient.

    Parameters
    ----------
    token : str or (str, str or None)
        An unambiguous symbol, or (blockchain, contract), None for a native coin.
    wallets : DataFrame or WalletDetails, optional
        As in `bar`.

    Returns
    -------
    plotly.graph_objects.Figure
        The curve, of at most 200 points, with exact amounts in the hover, and the diagonal of
        equal shares. If no amount is above 0, no trace, but a note why.

    Raises
    ------
    ArgumentError, ColumnsError, AmountError, UnknownTokenError, AmbiguousTokenError
        As `bar`.

    Notes
    -----
    The curve covers the wallets that hold more than 0; one wallet is not one person. For n
    wallets with amounts x in ascending order, the Gini coefficient is
    ``(n + 1 - 2 * sum(cumsum(x)) / sum(x)) / n``: 0 if all hold the same, ``1 - 1/n`` at most.
    ``df.wf.concentration`` computes the same, and names its source.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xb"], "symbol": "ETH",
    ... "token_blockchain": "ETH", "token_address": None, "amount": pd.array([1, 3], "amount")})
    >>> frame.wf.plot.lorenz("ETH").data[0].y
    (0.0, 0.25, 1.0)
    """
    balances = read_balances(holdings, token=token if isinstance(token, str) else token_key(token))
    title = f"Lorenz curve of {balances.measure.unit}"
    if not len(balances.rows):
        return blank(title, balances.notes([], wallets), balances.empty_reason)
    owners, _ = pd.factorize(balances.wallet_codes)
    amounts = balances.positions.amounts[balances.rows]
    held = pd.Series(cell_sums(amounts, owners, int(owners.max()) + 1))
    running: AmountArray = held.sort_values().cumsum().array  # exact, least first
    shares = np.asarray(running / running[-1], dtype=np.float64)
    equality = go.Scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"color": EDGE, "dash": "dash", "width": 1},
        fill="tonexty",
        fillcolor="rgba(128, 128, 128, 0.2)",
        hoverinfo="skip",
    )
    axis = {"tickformat": ".0%", "range": [0, 1.005], "automargin": True}
    return figure(
        [_curve(running, shares, balances.measure.unit), equality],
        title=title,
        notes=balances.notes(_lorenz_notes(running, shares, balances.measure.phrase), wallets),
        space=Space(380, below=40, left=56),
        showlegend=False,
        hovermode="x",
        hoverdistance=-1,
        xaxis=axis_title("share of the wallets that hold it, least first") | axis,
        yaxis=axis_title("share of the amount") | axis,
        annotations=[_EQUALITY | {"x": 0.5, "y": 0.5}],
    )


def _lorenz_notes(running: AmountArray, shares: Sizes, phrase: str) -> list[str]:
    count = len(running)
    if count == 1:
        return ["One wallet holds all of it, so there is nothing to compare.", f"Curve: {phrase}."]
    gini = float((count + 1 - 2 * (running.sum() / running[-1])) / count)
    few = min(10, count // 2)
    who = "The largest wallet holds" if few == 1 else f"The {few} largest wallets hold"
    return [
        f"Gini coefficient {gini:.3f} over the {counted_noun(count, 'wallet')} that hold it.",
        f"{who} {percent(1 - float(shares[-few - 1]))}.",
        f"Curve: {phrase}.",
    ]


def _curve(running: AmountArray, shares: Sizes, unit: str) -> go.Scatter:
    """Return the curve, by points that are spaced out on both axes."""
    count, last = len(running), len(running) - 1
    along = np.linspace(0, last, _POINTS).round().astype(np.intp)
    up = np.searchsorted(shares, np.linspace(0, 1, _POINTS)).clip(0, last)
    points = np.unique(np.concatenate((along, up))).tolist()
    texts = [
        hover(
            f"{place + 1:,} of {counted_noun(count, 'wallet')} ({percent((place + 1) / count)})",
            f"hold {percent(float(shares[place]))}",
            f"{full_amount(running[place])} {unit}",
        )
        for place in points
    ]
    return go.Scatter(
        x=[0.0, *((place + 1) / count for place in points)],
        y=[0.0, *shares[points].tolist()],
        mode="lines+markers" if count <= _FEW else "lines",
        hovertext=["", *texts],
        hoverinfo="text",
    )
