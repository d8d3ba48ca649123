"""A table of wallets and tokens in colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from walletframe.charts.balances import read_balances
from walletframe.charts.canvas import blank, figure, markup
from walletframe.charts.grid import lay_out
from walletframe.charts.notes import drawn_of, notes
from walletframe.charts.numerals import compact, percent
from walletframe.charts.ranking import added, check_top, largest
from walletframe.charts.series import token_series, wallet_names
from walletframe.charts.space import Space, along
from walletframe.frames.summary import many

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.analysis.positions import WalletsLike
    from walletframe.charts.grid import Grid
    from walletframe.charts.measures import Measure
    from walletframe.charts.ranking import Places, Sizes
    from walletframe.frames import Identities

_LIMIT = 200
_ROW, _LEAST, _ASLANT, _ABOVE = 22, 120, 12, 36
_COLORS = sample_colorscale("cividis", [place / 10 for place in range(2, 11)])
"""Without its darkest part, which would not be seen on black."""
_DECADES = 6
_FEW_ROWS, _FEW_TOKENS = 16, 10


def heatmap(
    holdings: pd.DataFrame,
    *,
    top: int = 30,
    top_tokens: int = 20,
    wallets: WalletsLike | None = None,
) -> go.Figure:
    """Draw a table of wallets and tokens in colours.

    Parameters
    ----------
    holdings : DataFrame
        The ``holdings`` of a fetch, or some rows of it. Colours are values where there is a
        column ``value`` (float64, with ``currency`` if wanted), on a scale of powers of ten; else
        each token's share: of all of it in the frame, how much the wallet holds.
    top : int, default 30
        The most wallets, up to 200; the rest are drawn as Other.
    top_tokens : int, default 20
        The most tokens, up to 200; of values, the rest are drawn as Other. The largest are
        drawn, or those in most wallets.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch, for a line on how complete and how old it is.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace, empty where a wallet holds nothing of a token, with exact amounts in the hover;
        none, and the reason, where nothing is above 0. Wallets and tokens of one blockchain
        stand together.

    Raises
    ------
    ColumnsError
        Where a column is missing.
    AmountError
        Where the column ``amount`` holds no amounts.
    PricesError
        Where values are in more than one currency.
    SettingsError
        Where `top` or `top_tokens` is out of range.

    Examples
    --------
    >>> from walletframe.frames import assemble
    >>> len(heatmap(assemble([]).holdings).data)
    0
    """
    rows, columns = check_top("top", top, _LIMIT), check_top("top_tokens", top_tokens, _LIMIT)
    balances = read_balances(holdings, shares=True)
    shares = balances.measure.kind == "share"
    title = "Share of each token by wallet" if shares else "Holdings by wallet and token"
    if not len(balances.rows):
        return blank(title, notes([], balances, wallets), balances.why_none)
    weights = np.ones_like(balances.sizes) if shares else balances.sizes
    grid = lay_out(
        balances,
        balances.wallet_codes,
        _by_chain(largest(added(balances.wallet_codes, weights), rows), balances.wallets),
        _by_chain(largest(added(balances.token_codes, weights), columns), balances.tokens),
    )
    return _drawn(grid, title, wallets)


def _by_chain(places: Places, identities: Identities) -> Places:
    """Put those of one blockchain together, each blockchain's in their order."""
    chains = [identities.keys[place][0] for place in places]
    return places[sorted(range(len(places)), key=chains.__getitem__)]


def _drawn(grid: Grid, title: str, wallets: WalletsLike | None) -> go.Figure:
    shares = grid.balances.measure.kind == "share"
    rows = len(grid.rows) + bool(grid.other_rows)
    columns = len(grid.tokens) + bool(grid.other_tokens and not shares)
    short, full = wallet_names(grid)
    sizes = grid.sizes[:rows, :columns]
    total = float(grid.sizes.sum())
    trace = go.Heatmap(
        **_colors(sizes, grid.balances.measure),
        hovertext=[
            [grid.cell(row, token, full[row], total) for token in range(columns)]
            for row in range(rows)
        ],
        hoverinfo="text",
        hoverongaps=False,
        xgap=1,
        ygap=1,
    )
    names = [series.name for series in token_series(grid, None)][:columns]
    angle, high = (-45, 0.65) if columns <= _ASLANT else (-90, 0.9)
    below = int(high * along(names))
    drawn = figure(
        [trace],
        title=title,
        notes=notes(_said(grid), grid.balances, wallets),
        space=Space(max(_ROW * rows, _LEAST) + below, _ABOVE, below, left=along(short)),
        xaxis=_axis(names) | {"tickangle": angle, "tickfont": {"size": 11}},
        yaxis=_axis(short) | {"range": [rows - 0.5, -0.5]},
    )
    layout = drawn.layout
    return drawn.update_traces(colorbar_y=1 - (layout.margin.t - _ABOVE) / layout.height)


def _said(grid: Grid) -> list[str]:
    measure = grid.balances.measure
    owners = (len(grid.rows), grid.other_rows, "wallet")
    tokens = (len(grid.tokens), grid.other_tokens, "token")
    if measure.kind == "value":
        return [f"Colour: {measure.phrase}, in powers of ten.", drawn_of(owners, tokens)]
    drawn, rest, _ = tokens
    some = f"{drawn:,} of {many(drawn + rest, 'token')}, those in most wallets."
    return [f"Colour: {measure.phrase}.", drawn_of(owners), some if rest else drawn_of(tokens)]


def _axis(names: list[str]) -> dict[str, Any]:
    return {
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [markup([name]) for name in names],
        "ticklabelstandoff": 4,
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }


def _colors(sizes: Sizes, measure: Measure) -> dict[str, Any]:
    """Return a heatmap's cells, their text where there are few, and its scale."""
    held = sizes > 0
    write = percent if measure.kind == "share" else compact
    ticks: dict[str, Any] = {"tickformat": ".0%"}
    if measure.kind == "share":
        z, lowest = sizes, 0.0
    else:
        z = np.log10(np.where(held, sizes, 1.0))
        lowest = max(z[held].min(), z[held].max() - _DECADES)
        powers = list(range(int(np.ceil(lowest)), int(z[held].max()) + 1))
        ticks = {"tickvals": powers, "ticktext": [compact(10.0**power) for power in powers]}
    few = sizes.shape[0] <= _FEW_ROWS and sizes.shape[1] <= _FEW_TOKENS
    cells = [[write(size) if size else "" for size in row] for row in sizes.tolist()]
    return {
        "z": [
            [value if drawn else None for value, drawn in zip(*row, strict=True)]
            for row in zip(z.tolist(), held.tolist(), strict=True)
        ],
        "zmin": lowest,
        "zmax": float(z[held].max()),
        "colorscale": _COLORS,
        "colorbar": {
            "orientation": "h",
            "thickness": 8,
            "x": 0,
            "xanchor": "left",
            "yref": "container",
            "yanchor": "top",
            "ypad": 0,
            "outlinewidth": 0,
            **ticks,
        },
        **({"text": cells, "texttemplate": "%{text}"} if few else {}),
    }
