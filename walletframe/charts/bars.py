"""Bars of wallets or blockchains, stacked by token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import plotly.graph_objects as go

from walletframe.charts.balances import added, check_top, largest, lay_out, read_balances
from walletframe.charts.canvas import (
    Space,
    along,
    blank,
    figure,
    hover,
    markup,
    named_axis,
    with_legend,
)
from walletframe.charts.notes import drawn_of, other
from walletframe.charts.palette import EDGE, pattern
from walletframe.errors import SettingsError
from walletframe.numerals import percent
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.charts.balances import Grid, Series
    from walletframe.frames import FetchLike, PositionsLike, TokenKey, TokenLike

_BARS, _SERIES = 200, 20
_ROW, _LEAST, _AXIS = 22, 120, 18
_LONGER = 2
_NO_BAR = "Other is written, not drawn: the bars would be too short beside it."


def bar(  # noqa: PLR0913  each is one choice of whoever draws it
    holdings: PositionsLike,
    *,
    by: Literal["wallet", "blockchain"] = "wallet",
    token: TokenLike | None = None,
    top: int = 20,
    top_tokens: int = 8,
    wallets: FetchLike | None = None,
    colors: Mapping[TokenKey, str] | None = None,
) -> go.Figure:
    """Draw a bar for each wallet or blockchain, stacked by token."""
    if by not in {"wallet", "blockchain"}:
        raise SettingsError(f"by: {by!r}", hint="wallet or blockchain")
    bars, series = check_top("top", top, _BARS), check_top("top_tokens", top_tokens, _SERIES)
    balances = read_balances(holdings, token=token)
    title = balances.measure.title(f"by {by}")
    if not len(balances.rows):
        return blank(title, balances.notes([], wallets), balances.why_none)
    owners = balances.wallet_codes
    if by == "blockchain":
        owners = np.asarray(balances.positions.chain_codes[owners])
    by_owner = added(owners, balances.sizes)
    rows = largest(by_owner, bars)
    too_long = bool(by_owner.sum() - by_owner[rows].sum() > _LONGER * by_owner.max())
    of_bars = balances.sizes * np.isin(owners, rows) if too_long else balances.sizes
    tokens = largest(added(balances.token_codes, of_bars), series)
    grid = lay_out(balances, owners, rows, tokens)
    return _drawn(grid, title, by, wallets, colors, too_long=too_long)


def _drawn(
    grid: Grid,
    title: str,
    by: str,
    wallets: FetchLike | None,
    colors: Mapping[TokenKey, str] | None,
    *,
    too_long: bool,
) -> go.Figure:
    measure, count = grid.balances.measure, len(grid.rows) + bool(grid.other_rows)
    bars = len(grid.rows) if too_long else count
    short, full = grid.wallet_names() if by == "wallet" else [_chain_names(grid)] * 2
    extent = [(len(grid.rows), grid.other_rows, by)]
    if not measure.one_token:
        extent.append((len(grid.tokens), grid.other_tokens, "token"))
    said = [f"Length: {measure.phrase}.", drawn_of(*extent), *[_NO_BAR] * too_long]
    series = grid.series(colors)
    if not grid.sizes[:bars, -1].any():
        series = series[: len(grid.tokens)]
    space = Space(max(_ROW * count, _LEAST), above=_AXIS, left=along(short))
    longest = float(grid.sizes[:bars].sum(axis=1).max())
    return figure(
        _traces(grid, full[:bars], series),
        title=title,
        notes=grid.balances.notes(said, wallets),
        **with_legend(space, [each.name for each in series]),
        barmode="stack",
        bargap=0.25,
        annotations=[_in_words(grid, full[-1])] * too_long,
        xaxis=measure.axis(longest) | {"side": "top", "rangemode": "tozero"},
        yaxis=named_axis(short) | {"range": [count - 0.5, -0.5]},
    )


def _chain_names(grid: Grid) -> list[str]:
    chains = [*grid.balances.positions.chain_places]
    names = [shown(chains[place]) for place in grid.rows.tolist()]
    return names + [other(grid.other_rows, "blockchain")] * bool(grid.other_rows)


def _traces(grid: Grid, owners: list[str], series: list[Series]) -> list[go.Bar]:
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


def _in_words(grid: Grid, name: str) -> dict[str, Any]:
    """Write what the others hold where their bar would be."""
    measure, size, total = grid.balances.measure, grid.sizes[-1].sum(), float(grid.sizes.sum())
    below = hover(name, measure.share(size, total))
    return {
        "x": 0,
        "xanchor": "left",
        "y": len(grid.rows),
        "showarrow": False,
        "text": markup([f"{measure.words(size)}, {percent(size / total)} of all"]),
        "hovertext": grid.hover(len(grid.rows), 0, name, total) if measure.one_token else below,
    }
