"""The Lorenz curve: how unequally one token is distributed over its holders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from walletframe.charts.balances import read_balances
from walletframe.charts.canvas import Space, blank, figure, hover, titled
from walletframe.frames import cell_sums, token_key
from walletframe.numerals import many, percent, whole

if TYPE_CHECKING:
    from walletframe.amounts import AmountArray
    from walletframe.charts.balances import Balances
    from walletframe.charts.measures import Sizes
    from walletframe.frames import FetchLike, PositionsLike, TokenLike

_POINTS = 100
_FEW = 30
_SPACE = Space(380, below=40, left=56)
_EQUAL, _INEQUALITY = "#808080", "rgba(128, 128, 128, 0.2)"
_EQUALITY = {
    "x": 0.5,
    "y": 0.5,
    "xanchor": "right",
    "yanchor": "bottom",
    "xshift": -6,
    "text": "all hold the same",
    "showarrow": False,
}


def lorenz(
    holdings: PositionsLike, token: TokenLike, *, wallets: FetchLike | None = None
) -> go.Figure:
    """Draw the Lorenz curve of one token, with its Gini coefficient."""
    balances = read_balances(holdings, token=token if isinstance(token, str) else token_key(token))
    title = f"Lorenz curve of {balances.measure.unit}"
    if not len(balances.rows):
        return blank(title, balances.notes([], wallets), balances.why_none)
    running = _running(balances)
    shares = np.asarray(running / running[-1], dtype=np.float64)
    line = {"color": _EQUAL, "dash": "dash", "width": 1}
    equality = go.Scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line=line,
        fill="tonexty",
        fillcolor=_INEQUALITY,
        hoverinfo="skip",
    )
    said = _said(running, shares, balances.measure.phrase)
    return figure(
        [_curve(running, shares, balances.measure.unit), equality],
        title=title,
        notes=balances.notes(said, wallets),
        space=_SPACE,
        showlegend=False,
        hovermode="x",
        hoverdistance=-1,
        xaxis=_axis("share of the wallets that hold it, least first"),
        yaxis=_axis("share of the amount"),
        annotations=[_EQUALITY],
    )


def _running(balances: Balances) -> AmountArray:
    """Add up wallets exactly, those that hold least first."""
    owners, _ = pd.factorize(balances.wallet_codes)
    amounts = balances.positions.amounts[balances.rows]
    held = pd.Series(cell_sums(amounts, owners, int(owners.max()) + 1))
    running: AmountArray = held.sort_values().cumsum().array
    return running


def _said(running: AmountArray, shares: Sizes, phrase: str) -> list[str]:
    count = len(running)
    if count == 1:
        return ["One wallet holds it all: there is nobody to compare it with.", f"Curve: {phrase}."]
    gini = float((count + 1 - 2 * (running.sum() / running[-1])) / count)
    few = min(10, count // 2)
    who = "The largest wallet holds" if few == 1 else f"The {few} largest wallets hold"
    return [
        f"Gini coefficient {gini:.3f} over the {many(count, 'wallet')} that hold it.",
        f"{who} {percent(1 - float(shares[-few - 1]))}.",
        f"Curve: {phrase}.",
    ]


def _curve(running: AmountArray, shares: Sizes, unit: str) -> go.Scatter:
    """Draw the curve by points that are near each other on neither axis."""
    count, last = len(running), len(running) - 1
    along = np.linspace(0, last, _POINTS).round().astype(np.intp)
    up = np.searchsorted(shares, np.linspace(0, 1, _POINTS)).clip(0, last)
    points = np.unique(np.concatenate((along, up))).tolist()
    texts = [
        hover(
            f"{place + 1:,} of {many(count, 'wallet')} ({percent((place + 1) / count)})",
            f"hold {percent(float(shares[place]))}",
            f"{whole(running[place])} {unit}",
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


def _axis(title: str) -> dict[str, Any]:
    return titled(title) | {"tickformat": ".0%", "range": [0, 1.005], "automargin": True}
