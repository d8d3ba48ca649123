"""The timeline: amounts of tokens in each snapshot, and how complete they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from walletframe.charts.balances import added, check_top, largest, read_balances
from walletframe.charts.canvas import Space, blank, figure, markup, with_legend
from walletframe.charts.grid import lay_out
from walletframe.charts.moments import Moments, read_moments
from walletframe.charts.notes import drawn_of
from walletframe.charts.palette import EDGE, pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.charts.grid import Grid, Series
    from walletframe.frames import FetchLike, PositionsLike, TokenKey, TokenLike

_SERIES = 20
_SPACE = Space(360)
_INCOMPLETE = "fewer wallets known"


def timeline(
    holdings: PositionsLike,
    *,
    token: TokenLike | None = None,
    top_tokens: int = 8,
    wallets: FetchLike | None = None,
    colors: Mapping[TokenKey, str] | None = None,
) -> go.Figure:
    """Draw snapshots of holdings along time, stacked by token."""
    series = check_top("top_tokens", top_tokens, _SERIES)
    balances = read_balances(holdings, token=token)
    moments = read_moments(balances.positions, wallets, token)
    title = balances.measure.title("over time")
    drawn = balances.where(moments.codes[balances.rows] >= 0)
    if not len(drawn.rows):
        reason = "No row has a snapshot." if len(balances.rows) else balances.why_none
        return blank(title, [*balances.left_out, *moments.said], reason)
    sizes = added(drawn.token_codes, drawn.sizes)
    rows = np.arange(len(moments.times))
    grid = lay_out(drawn, moments.codes[drawn.rows], rows, largest(sizes, series))
    return _drawn(grid, moments, title, colors)


def _drawn(
    grid: Grid, moments: Moments, title: str, colors: Mapping[TokenKey, str] | None
) -> go.Figure:
    measure = grid.balances.measure
    series = grid.series(colors)
    traces = _areas(grid, moments, series)
    said = [f"Height: {measure.phrase}."]
    if not measure.one_token:
        said.append(drawn_of((len(grid.tokens), grid.other_tokens, "token")))
    names = [each.name for each in series]
    unknown = [time for time, _ in moments.incomplete]
    if unknown:
        traces.append(_marks(moments))
        names.append(_INCOMPLETE)
    return figure(
        traces,
        title=title,
        notes=[*said, *grid.balances.left_out, *moments.said],
        **with_legend(_SPACE, names),
        hovermode="x unified",
        xaxis={"type": "date", "automargin": True, **_around({*moments.times, *unknown})},
        yaxis=measure.axis(float(grid.sizes.sum(axis=1).max()))
        | {"rangemode": "tozero", "ticklabelstandoff": 4, "automargin": True},
    )


def _around(times: set[str]) -> dict[str, Any]:
    """Give an axis of one time a day: plotly would give it a millisecond."""
    if len(times) > 1:
        return {}
    [time] = times
    half = np.timedelta64(12, "h")
    ends = [str(np.datetime64(time) - half), str(np.datetime64(time) + half)]
    return {"range": ends, "tickvals": [time], "tickformat": "%Y-%m-%d %H:%M"}


def _areas(grid: Grid, moments: Moments, tokens: list[Series]) -> list[go.Scatter]:
    alone = len(moments.times) == 1
    return [
        go.Scatter(
            name=markup([series.name]),
            x=moments.times,
            y=grid.sizes[: len(moments.times), token].tolist(),
            stackgroup="tokens",
            mode="markers" if alone else "lines",
            line={"color": EDGE, "width": 0.5},
            marker={"color": series.color, "size": 10, "line": {"color": EDGE, "width": 1}},
            fillcolor=series.color,
            fillpattern=pattern(series.pattern),
            hovertext=_texts(grid, token, series.name),
            hoverinfo="text",
        )
        for token, series in enumerate(tokens)
    ]


def _texts(grid: Grid, token: int, name: str) -> list[str]:
    """Say each height on one line, beside those of the other tokens."""
    texts, head = [], markup([name])
    for row, size in enumerate(grid.sizes[: len(grid.rows), token].tolist()):
        exact = grid.exact(row, token) if token < len(grid.tokens) and size else ""
        texts.append(f"{head}: {markup([grid.balances.measure.height(size, exact)])}")
    return texts


def _marks(moments: Moments) -> go.Scatter:
    return go.Scatter(
        name=_INCOMPLETE,
        x=[time for time, _ in moments.incomplete],
        y=[0] * len(moments.incomplete),
        mode="markers",
        marker={
            "symbol": "triangle-up",
            "size": 11,
            "color": "#FFFFFF",
            "line": {"color": "#000000", "width": 1.5},
        },
        hovertext=[markup([text]) for _, text in moments.incomplete],
        hoverinfo="text",
        cliponaxis=False,
    )
