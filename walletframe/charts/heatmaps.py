"""The heatmap: wallets, or other groups, by tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from walletframe.charts.balances import added, check_top, largest, lay_out
from walletframe.charts.canvas import (
    BESIDE,
    LEAST_SIZE,
    Space,
    along,
    blank,
    figure,
    markup,
    named_axis,
)
from walletframe.charts.levels import listed, read_groupings
from walletframe.charts.notes import drawn_of
from walletframe.charts.palette import OTHER
from walletframe.frames import ADDED
from walletframe.numerals import many

if TYPE_CHECKING:
    from walletframe.charts.balances import Balances, Grid
    from walletframe.charts.levels import Level
    from walletframe.charts.measures import Measure, Places, Sizes
    from walletframe.frames import AssetsLike, By, FetchLike, PositionsLike, TokenKey

_LIMIT = 200
_ROW, _LEAST, _ASLANT, _ABOVE, _BELOW = 22, 120, 12, 52, 20
_LINE = 16
_COLORS = sample_colorscale("cividis", [place / 10 for place in range(2, 11)])
"""Without its darkest part, which would not be seen on black."""
_DECADES, _TICKS = 6, 4
_FEW_ROWS, _FEW_TOKENS = 16, 10
_GREY = "Other, in grey, is not on this scale."
_BAR = {
    "orientation": "h",
    "thickness": 8,
    "x": 0,
    "xanchor": "left",
    "yref": "container",
    "yanchor": "top",
    "ypad": 0,
    "outlinewidth": 0,
}
_SCALE = {  # plotly draws the name of a level bar on the bar where a figure is high
    "showarrow": False,
    "font": {"size": LEAST_SIZE},
    "xref": "paper",
    "x": 1,  # a narrow page has room for it beside the bar, above the names of the rows
    "xanchor": "right",
    "yref": "paper",
    "y": 1,
    "yanchor": "top",
    "yshift": _ABOVE,
}


def heatmap(  # noqa: PLR0913  each is one choice of whoever draws it
    holdings: PositionsLike,
    *,
    by: By = "wallet",
    top: int = 30,
    top_tokens: int = 20,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> go.Figure:
    """Draw a heatmap of wallets, or any groups, by tokens or assets."""
    rows, columns = check_top("top", top, _LIMIT), check_top("top_tokens", top_tokens, _LIMIT)
    found = read_groupings(
        holdings, by, wallets=wallets, assets=assets, bridged=bridged, shares=True
    )
    balances = found.balances
    held, measure = balances.positions, balances.measure
    names = [name for name in found.names if name not in ADDED] or ["wallet"]
    title = measure.title(f"by {listed([*names, held.kind] if measure.adds_up else names)}")
    if not len(balances.rows):
        return blank(title, balances.notes([], wallets), balances.why_none)
    level = found.level(names)
    owners, tokens = _chosen(balances, level.codes, rows, columns)
    if names == ["wallet"]:
        owners = _by_chain(owners, held.wallet_keys)
    if held.assets is None:
        tokens = _by_chain(tokens, held.tokens.keys)
    return _drawn(lay_out(balances, level.codes, owners, tokens), level, title, wallets)


def _chosen(balances: Balances, wallets: Places, rows: int, columns: int) -> tuple[Places, Places]:
    """Choose groups and tokens so that of neither there is one that has nothing of the others."""
    adds_up, tokens = balances.measure.adds_up, balances.token_codes
    weights = balances.sizes if adds_up else np.ones_like(balances.sizes)
    by_wallet = added(wallets, weights)
    in_rows = np.isin(wallets, largest(by_wallet, rows))
    chosen = largest(added(tokens[in_rows], weights[in_rows]), columns)
    if not adds_up:  # no column of other tokens
        in_columns = np.bincount(wallets[np.isin(tokens, chosen)], minlength=len(by_wallet))
        by_wallet = np.where(in_columns > 0, by_wallet, 0)
    return largest(by_wallet, rows), chosen


def _by_chain(places: Places, keys: list[TokenKey]) -> Places:
    """Put those of one blockchain together, each blockchain's in their order."""
    chains = [keys[place][0] for place in places]
    return places[sorted(range(len(places)), key=chains.__getitem__)]


def _drawn(grid: Grid, level: Level, title: str, wallets: FetchLike | None) -> go.Figure:
    measure = grid.balances.measure
    columns = len(grid.tokens) + bool(grid.other_tokens and measure.adds_up)
    short, full = level.rows(grid)
    sizes = grid.sizes[: len(short), :columns]
    off_scale = bool(grid.other_rows and sizes[-1].max() > sizes[:-1].max())
    on_scale = len(short) - off_scale
    total = float(grid.sizes.sum())
    texts = [
        [grid.hover(row, token, owner, total) for token in range(columns)]
        for row, owner in enumerate(full)
    ]
    traces = [_cells(sizes[:on_scale], texts[:on_scale], measure)]
    if off_scale:
        traces.append(_greys(sizes[-1:], texts[-1:], measure, y=on_scale))
    names = [series.name for series in grid.series()][:columns]
    angle, high = (-45, 0.65) if columns <= _ASLANT else (-90, 0.9)
    below = _BELOW + int(high * along(names))
    drawn = figure(
        traces,
        title=title,
        notes=grid.balances.notes([*_said(grid, level), *[_GREY] * off_scale], wallets),
        space=Space(max(_ROW * len(short), _LEAST) + below, _ABOVE, below, BESIDE + along(short)),
        places=grid.places,
        annotations=[_SCALE | {"text": markup([f"{measure.name}, in powers of ten"])}],
        xaxis=named_axis(names, grid.kind) | {"tickangle": angle, "tickfont_size": LEAST_SIZE},
        yaxis=named_axis(short, listed(level.names)) | {"range": [len(short) - 0.5, -0.5]},
    )
    layout = drawn.layout
    place = 1 - (layout.margin.t - _ABOVE + _LINE) / layout.height
    return drawn.update_traces(colorbar_y=place, selector=0)


def _said(grid: Grid, level: Level) -> list[str]:
    measure = grid.balances.measure
    owners = (len(grid.rows), grid.other_rows, level.noun)
    tokens = (len(grid.tokens), grid.other_tokens, grid.kind)
    phrase = (
        measure.phrase if level.noun == "wallet" else measure.phrase.removeprefix("a wallet's ")
    )
    colour = f"Colour: {phrase}, in powers of ten."
    if measure.adds_up:
        return [drawn_of(owners, tokens), colour]
    drawn, rest, _ = tokens
    of = f"{many(drawn + rest, grid.kind)}, those in most of these {level.noun}s"
    some = f"{drawn:,} of {of}."
    return [drawn_of(owners), some if rest else drawn_of(tokens), colour]


def _cells(sizes: Sizes, texts: list[list[str]], measure: Measure) -> go.Heatmap:
    """Draw cells on a scale of powers of ten that ends with the largest of them."""
    held = sizes > 0
    z = np.log10(np.where(held, sizes, 1.0))
    highest = float(z[held].max())
    lowest = float(max(z[held].min(), highest - _DECADES))
    # A few powers of ten are marked, or the ends of the scale where it has less than two of them.
    marks = [float(power) for power in range(int(np.ceil(lowest)), int(highest // 1) + 1)]
    marks = marks[:: -(-len(marks) // _TICKS)] if len(marks) > 1 else sorted({lowest, highest})
    return go.Heatmap(
        z=[
            [value if drawn else None for value, drawn in zip(*row, strict=True)]
            for row in zip(z.tolist(), held.tolist(), strict=True)
        ],
        zmin=lowest,
        zmax=highest,
        colorscale=_COLORS,
        colorbar={
            **_BAR,
            "tickvals": marks,
            "ticktext": [measure.tick(10**mark) for mark in marks],
        },
        **_look(sizes, texts, measure),
    )


def _greys(sizes: Sizes, texts: list[list[str]], measure: Measure, *, y: int) -> go.Heatmap:
    """Draw a row of cells that are not on the scale."""
    return go.Heatmap(
        z=[[1 if size else None for size in row] for row in sizes.tolist()],
        y=[y],
        colorscale=[[0, OTHER], [1, OTHER]],
        showscale=False,
        **_look(sizes, texts, measure),
    )


def _look(sizes: Sizes, texts: list[list[str]], measure: Measure) -> dict[str, Any]:
    """Return what is written on cells, where there are few, and shown under the pointer."""
    few = len(sizes) <= _FEW_ROWS and sizes.shape[1] <= _FEW_TOKENS
    written = [[measure.cell(size) if size else "" for size in row] for row in sizes.tolist()]
    return {
        "hovertext": texts,
        "hoverinfo": "text",
        "hoverongaps": False,
        "xgap": 1,
        "ygap": 1,
        "textfont_size": LEAST_SIZE,
        **({"text": written, "texttemplate": "%{text}"} if few else {}),
    }
