"""Bars of wallets or other groups, stacked by token; the pie, the tokens of one wallet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from walletframe.address import parse_wallets
from walletframe.charts.balances import added, check_top, largest, lay_out, read_balances
from walletframe.charts.canvas import (
    BESIDE,
    LEAST_SIZE,
    Space,
    along,
    blank,
    figure,
    hover,
    markup,
    named_axis,
    titled,
    with_legend,
)
from walletframe.charts.levels import listed, read_groupings
from walletframe.charts.nodes import LEAST
from walletframe.charts.notes import Notes, answered, drawn_of, simulated, wallets_frame
from walletframe.charts.palette import EDGE, pattern, text_on
from walletframe.errors import UnknownWalletError
from walletframe.frames import (
    ADDED,
    as_failed,
    find_wallet,
    given_names,
    short_wallet,
    whole_wallet,
)
from walletframe.numerals import percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from walletframe.charts.balances import Grid, Series
    from walletframe.charts.levels import Level
    from walletframe.frames import (
        AssetsLike,
        By,
        FetchLike,
        PositionsLike,
        TokenKey,
        TokenLike,
        WalletLike,
    )

_BARS, _SERIES, _SLICES = 200, 20, 20
_ROW, _LEAST, _AXIS = 22, 120, 36
_LONGER, _PIE = 2, Space(320)
_SLICE = {  # clockwise in their order, with text on those that have room for it
    "sort": False,
    "direction": "clockwise",
    "hole": 0.4,
    "hoverinfo": "text",
    "textinfo": "text",
    "textposition": "inside",
    "insidetextorientation": "horizontal",
}
_NO_BAR = "Other is written, not drawn: the bars would be too short beside it."


def bar(  # noqa: PLR0913  each is one choice of whoever draws it
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
    """Draw a bar for each wallet, or any group, stacked by token or by asset."""
    bars, series = check_top("top", top, _BARS), check_top("top_tokens", top_tokens, _SERIES)
    found = read_groupings(
        holdings, by, token=token, asset=asset, wallets=wallets, assets=assets, bridged=bridged
    )
    balances = found.balances
    if not len(balances.rows):
        return blank(found.title, balances.notes([], wallets), balances.why_none)
    # The last name is that of the colours, where it is of what a colour stands for.
    [*first, last] = found.names
    level = found.level(first if first and last in ADDED else found.names)
    owners = level.codes
    by_owner = added(owners, balances.sizes)
    rows = largest(by_owner, bars)
    too_long = bool(by_owner.sum() - by_owner[rows].sum() > _LONGER * by_owner.max())
    of_bars = balances.sizes * np.isin(owners, rows) if too_long else balances.sizes
    tokens = largest(added(balances.token_codes, of_bars), series)
    if level.names == [balances.positions.kind]:  # a bar is of the one that its colour stands for
        tokens = rows
    grid = lay_out(balances, owners, rows, tokens)
    return _drawn(grid, level, found.title, wallets, colors, too_long=too_long)


def _drawn(
    grid: Grid,
    level: Level,
    title: str,
    wallets: FetchLike | None,
    colors: Mapping[TokenKey, str] | None,
    *,
    too_long: bool,
) -> go.Figure:
    measure, count = grid.balances.measure, len(grid.rows) + bool(grid.other_rows)
    bars = len(grid.rows) if too_long else count
    short, full = level.rows(grid)
    extent = [(len(grid.rows), grid.other_rows, level.noun)]
    alike = level.names == [grid.kind]
    if not measure.one_token and not alike:
        extent.append((len(grid.tokens), grid.other_tokens, grid.kind))
    said = [drawn_of(*extent), *[_NO_BAR] * too_long, f"Length: {measure.phrase}."]
    series = grid.series(colors)
    if not grid.sizes[:bars, -1].any():
        series = series[: len(grid.tokens)]
    space = Space(max(_ROW * count, _LEAST), above=_AXIS, left=BESIDE + along(short))
    longest = float(grid.sizes[:bars].sum(axis=1).max())
    return figure(
        [_plain(grid, bars, series)] if alike else _traces(grid, full[:bars], series),
        title=title,
        notes=grid.balances.notes(said, wallets),
        **with_legend(space, [each.name for each in series][: 1 if alike else None]),
        barmode="stack",
        bargap=0.25,
        annotations=[_in_words(grid, full[-1])] * too_long,
        places=grid.places,
        xaxis=measure.axis(longest) | {"side": "top", "rangemode": "tozero"} | titled(measure.name),
        yaxis=named_axis(short, listed(level.names)) | {"range": [count - 0.5, -0.5]},
    )


def _traces(grid: Grid, owners: list[list[str]], series: list[Series]) -> list[go.Bar]:
    total = float(grid.sizes.sum())
    return [
        go.Bar(
            name=markup([each.name]),
            orientation="h",
            y=list(range(len(owners))),
            x=[size or None for size in grid.sizes[: len(owners), token].tolist()],
            hovertext=[grid.hover(row, token, owner, total) for row, owner in enumerate(owners)],
            hoverinfo="text",
            marker={
                "color": each.color,
                "line": {"color": EDGE, "width": 0.5},
                "pattern": pattern(each.pattern),
            },
        )
        for token, each in enumerate(series)
    ]


def _plain(grid: Grid, bars: int, series: list[Series]) -> go.Bar:
    """Draw bars each of which is of one token alone, in its colour."""
    total, colors = float(grid.sizes.sum()), [each.color for each in series]
    return go.Bar(
        orientation="h",
        y=list(range(bars)),
        x=[float(grid.sizes[place, place]) for place in range(bars)],
        hovertext=[grid.hover(place, place, [], total) for place in range(bars)],
        hoverinfo="text",
        marker={"color": colors[:bars], "line": {"color": EDGE, "width": 0.5}},
    )


def _in_words(grid: Grid, name: list[str]) -> dict[str, Any]:
    """Write what the others hold where their bar would be."""
    measure, size, total = grid.balances.measure, grid.sizes[-1].sum(), float(grid.sizes.sum())
    below = hover(*name, measure.share(size, total))
    return {
        "x": 0,
        "xanchor": "left",
        "y": len(grid.rows),
        "showarrow": False,
        "text": markup([f"{measure.words(size)}, {percent(size / total)} of all"]),
        "hovertext": grid.hover(len(grid.rows), 0, name, total) if measure.one_token else below,
    }


def pie(
    holdings: PositionsLike,
    wallet: WalletLike,
    *,
    top: int = 8,
    wallets: FetchLike | None = None,
    colors: Mapping[TokenKey, str] | None = None,
) -> go.Figure:
    """Draw one wallet's holdings as a pie."""
    limit = check_top("top", top, _SLICES)
    [named] = parse_wallets(wallet)
    answers = _answers(wallets, wallet)
    name = "" if answers is None else given_names(answers, answers)[0]
    title = f"Holdings of {short_wallet(named.blockchain, named.address, name)}"
    notes = Notes() if answers is None else Notes(simulated(answers), trust=answered(answers))
    try:
        balances = read_balances(holdings, wallet=wallet)
    except UnknownWalletError:
        if answers is None:
            raise
        status = answers["status"].iloc[0]
        nothing = f"What it holds is not known: {status}."
        return blank(title, notes, "It holds nothing." if status == "ok" else nothing)
    if not len(balances.rows):
        return blank(title, notes._replace(left_out=balances.left_out), balances.why_none)
    sizes = added(balances.token_codes, balances.sizes)
    sizes[sizes < LEAST * sizes.sum()] = 0
    grid = lay_out(balances, np.zeros_like(balances.rows), np.array([0]), largest(sizes, limit))
    owner = whole_wallet(named.blockchain, named.address, name)
    return _sliced(grid, title, owner, notes, colors)


def _answers(wallets: FetchLike | None, wallet: WalletLike) -> pd.DataFrame | None:
    """Return the rows of a wallet, None where it was not asked."""
    if wallets is None:
        return None
    frame = as_failed(wallets_frame(wallets))
    try:
        return frame[find_wallet(frame, wallet)]
    except UnknownWalletError:
        return None


def _sliced(
    grid: Grid,
    title: str,
    owner: str,
    notes: Notes,
    colors: Mapping[TokenKey, str] | None,
) -> go.Figure:
    measure, rest = grid.balances.measure, float(grid.sizes[0, -1] / grid.sizes.sum())
    slices = grid.series(colors)[: len(grid.tokens) + (rest >= LEAST)]
    sizes = grid.sizes[0, : len(slices)]
    total = float(sizes.sum())
    parts = [measure.slice(size, total) for size in sizes.tolist()]
    named = [*zip([each.name for each in slices], parts, strict=True)]
    labels = [f"{name} {part}".rstrip() for name, part in named]
    trace = go.Pie(
        labels=[markup([label]) for label in labels],
        values=sizes.tolist(),
        text=[markup([part or name]) for name, part in named],
        hovertext=[grid.hover(0, token, [owner], total) for token in range(len(slices))],
        textfont={"color": [text_on(each.color) for each in slices]},
        marker={
            "colors": [each.color for each in slices],
            "line": {"color": EDGE, "width": 0.5},
            "pattern": pattern([each.pattern for each in slices]),
        },
        **_SLICE,
    )
    said = [f"Slice: {measure.phrase}."]
    said.append(drawn_of((len(grid.tokens), grid.other_tokens, "token")))
    small = [f"Other is too small to be drawn ({percent(rest)})."] * (0 < rest < LEAST)
    return figure(
        [trace],
        title=title,
        notes=notes._replace(drawn=said, left_out=[*small, *grid.balances.left_out]),
        uniformtext={"minsize": LEAST_SIZE, "mode": "hide"},
        places=grid.places,
        **with_legend(_PIE, labels),
    )
