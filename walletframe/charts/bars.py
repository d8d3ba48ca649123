"""Bars of wallets or blockchains, stacked by token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import plotly.graph_objects as go

from walletframe.charts.balances import added, check_top, largest, read_balances
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
from walletframe.charts.grid import lay_out
from walletframe.charts.notes import drawn_of, notes, other
from walletframe.charts.palette import EDGE, pattern
from walletframe.errors import SettingsError
from walletframe.numerals import percent
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.charts.balances import Balances
    from walletframe.charts.grid import Grid, Series
    from walletframe.charts.measures import Places
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
    if not len(balances.rows):
        title = balances.measure.title(f"by {by}")
        return blank(title, notes([], balances, wallets), balances.why_none)
    owners = _owners(balances, by)
    by_owner = added(owners, balances.sizes)
    rows = largest(by_owner, bars)
    too_long = bool(by_owner.sum() - by_owner[rows].sum() > _LONGER * by_owner.max())
    of_bars = balances.sizes * np.isin(owners, rows) if too_long else balances.sizes
    tokens = largest(added(balances.token_codes, of_bars), series)
    grid = lay_out(balances, owners, rows, tokens)
    return _drawn(grid, len(rows) + (bool(grid.other_rows) and not too_long), by, wallets, colors)


def _owners(balances: Balances, by: str) -> Places:
    if by == "wallet":
        return balances.wallet_codes
    return np.asarray(balances.positions.chain_codes[balances.wallet_codes])


def _drawn(
    grid: Grid,
    bars: int,
    by: str,
    wallets: FetchLike | None,
    colors: Mapping[TokenKey, str] | None,
) -> go.Figure:
    measure, count = grid.balances.measure, len(grid.rows) + bool(grid.other_rows)
    too_long = bars < count
    short, full = _names(grid, by)
    extent = [(len(grid.rows), grid.other_rows, by)]
    if not measure.one_token:
        extent.append((len(grid.tokens), grid.other_tokens, "token"))
    said = [f"Length: {measure.phrase}.", drawn_of(*extent)]
    series = grid.series(colors)
    if not grid.sizes[:bars, -1].any():
        series = series[: len(grid.tokens)]
    space = Space(max(_ROW * count, _LEAST), above=_AXIS, left=along(short))
    return figure(
        _traces(grid, full[:bars], series),
        title=measure.title(f"by {by}"),
        notes=notes([*said, *[_NO_BAR] * too_long], grid.balances, wallets),
        **with_legend(space, [each.name for each in series]),
        barmode="stack",
        bargap=0.25,
        annotations=[_in_words(grid, full[-1])] * too_long,
        xaxis=measure.axis(float(grid.sizes[:bars].sum(axis=1).max()))
        | {"side": "top", "rangemode": "tozero"},
        yaxis=named_axis(short) | {"range": [count - 0.5, -0.5]},
    )


def _in_words(grid: Grid, name: str) -> dict[str, Any]:
    """Write what the others hold where their bar would be."""
    measure, size = grid.balances.measure, float(grid.sizes[-1].sum())
    total = float(grid.sizes.sum())
    text = markup([f"{measure.words(size)}, {percent(size / total)} of all"])
    below = hover(name, measure.share(size, total))
    if measure.one_token:
        below = grid.hover(len(grid.rows), 0, name, total)
    place = {"x": 0, "xanchor": "left", "y": len(grid.rows), "showarrow": False}
    return {**place, "text": text, "hovertext": below}


def _names(grid: Grid, by: str) -> tuple[list[str], list[str]]:
    """Name the bars, short for the axis and at length."""
    if by == "wallet":
        return grid.wallet_names()
    chains = grid.balances.chains
    names = [shown(chains[place]) for place in grid.rows.tolist()]
    names += [other(grid.other_rows, by)] * bool(grid.other_rows)
    return names, names


def _traces(grid: Grid, owners: list[str], tokens: list[Series]) -> list[go.Bar]:
    total = float(grid.sizes.sum())
    rows = range(len(owners))
    return [
        go.Bar(
            name=markup([series.name]),
            orientation="h",
            y=list(rows),
            x=[grid.sizes[row, token] or None for row in rows],
            hovertext=[grid.hover(row, token, owners[row], total) for row in rows],
            hoverinfo="text",
            marker={
                "color": series.color,
                "line": {"color": EDGE, "width": 0.5},
                "pattern": pattern(series.pattern),
            },
        )
        for token, series in enumerate(tokens)
    ]
