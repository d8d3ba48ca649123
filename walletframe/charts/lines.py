"""Lines of a timeline: what each group has in each snapshot, and where that is not known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from walletframe.charts.balances import added, largest, ranks
from walletframe.charts.canvas import markup
from walletframe.charts.notes import drawn_of, other
from walletframe.charts.palette import COLORS, EDGE
from walletframe.frames import ADDED
from walletframe.numerals import many, whole

if TYPE_CHECKING:
    from walletframe.charts.levels import Groupings, Level
    from walletframe.charts.measures import Places, Sizes
    from walletframe.frames import Mask

_DASHES = ("solid", "dot", "dash")
_FEW, _LARGE, _SMALL = 40, 8, 4
_HOLLOW = "A hollow point: fewer wallets of its group are known than at other times."


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a timeline."""

    traces: list[go.Scatter]
    names: list[str]
    said: list[str]  # how much is drawn, and what its points mean
    highest: float


@dataclass(frozen=True, slots=True)
class _Points:
    """What g groups, and the others behind them, have at each of t times."""

    sizes: Sizes  # of shape (g + 1, t)
    held: Mask  # whether a point is drawn: else nothing is known, or the others have nothing
    known: Places  # of shape (g, t): how many wallets of a group are known
    most: Places  # of each group: how many ever are

    def hollow(self, line: int) -> Mask:
        """Tell at which points fewer wallets of a group are known than at other times."""
        if line == len(self.most):
            return np.zeros(self.held.shape[1], dtype=bool)
        return np.asarray(self.held[line] & (self.known[line] < self.most[line]))

    def trust(self, line: int, time: int) -> str:
        """Say how many wallets are known at a point, where that is told."""
        if line == len(self.most) or not self.most[line]:
            return ""
        return f" ({self.known[line, time]:,} of {many(int(self.most[line]), 'wallet')} known)"


def draw_lines(
    found: Groupings, moments: Places, times: pd.DatetimeIndex, asked: pd.DataFrame | None, top: int
) -> Lines:
    """Draw a line for each of the largest groups, and one for the others.

    `moments` has the place in `times` of each row, `asked` says which wallets were known when.
    """
    balances, level, wide = found.balances, found.level(found.names), len(times)
    chosen = largest(added(level.codes, balances.sizes), top)
    of_rows = ranks(chosen, len(level.groups))[level.codes]
    cells, count = of_rows * wide + moments, (len(chosen) + 1) * wide
    sizes = added(cells, balances.sizes, count).reshape(-1, wide)
    held = np.bincount(cells, minlength=count).reshape(-1, wide) > 0
    known, most = np.zeros((len(chosen), wide), dtype=np.intp), np.zeros(len(chosen), dtype=np.intp)
    if asked is not None:
        known, most = _known(level, chosen, times, asked)
        held[:-1] = known > 0
    points = _Points(sizes, held, known, most)
    heights = _heights(found, cells, sizes)
    others = len(np.unique(level.codes[of_rows == len(chosen)]))
    names = level.short(chosen.tolist()) + [other(others, level.noun)] * bool(others)
    traces = [
        each
        for line, name in enumerate(names)
        for each in _line(points, line, name, times, heights[line])
    ]
    is_hollow = any(points.hollow(line).any() for line in range(len(chosen)))
    said = [drawn_of((len(chosen), others, level.noun)), *[_HOLLOW] * is_hollow]
    return Lines(traces, names, said, float(sizes.max()))


def _known(
    level: Level, chosen: Places, times: pd.DatetimeIndex, asked: pd.DataFrame
) -> tuple[Places, Places]:
    """Count the known wallets of each chosen group at each time, and those that ever are."""
    rows = asked[asked["known"]]
    once = rows.drop_duplicates(["wallet", "time"])
    at = times.get_indexer(pd.DatetimeIndex(once["time"]))
    owners = level.groups.owner_codes[once["wallet"]]
    owned, wide = level.groups.owned, len(times)
    cells = (owners * wide + at)[at >= 0]
    known = np.bincount(cells, minlength=owned * wide).reshape(owned, wide)
    wallets = rows["wallet"].unique()
    most = np.bincount(level.groups.owner_codes[wallets], minlength=owned)
    sets = level.groups.owners[chosen]
    return known[sets], most[sets]


def _heights(found: Groupings, cells: Places, sizes: Sizes) -> list[list[str]]:
    """Write how much each point is: exactly, where it is of one token or asset."""
    balances, (lines, wide) = found.balances, sizes.shape
    exact = [""] * sizes.size
    if balances.measure.one_token or not ADDED.isdisjoint(found.names):
        amounts = balances.exact(cells, np.arange((lines - 1) * wide))
        exact[: len(amounts)] = ["" if amount is None else whole(amount) for amount in amounts]
    write = balances.measure.height
    texts = [write(*each) for each in zip(sizes.ravel().tolist(), exact, strict=True)]
    if balances.measure.one_token:  # the others, of whom no one's amount is told
        texts[-wide:] = [balances.measure.short(size) for size in sizes[-1].tolist()]
    return [texts[start : start + wide] for start in range(0, len(texts), wide)]


def _line(
    points: _Points, line: int, name: str, times: pd.DatetimeIndex, heights: list[str]
) -> list[go.Scatter]:
    """Draw one line, on a grey one by which it is seen on any paper.

    It has gaps where nothing is known, and where less is: a hollow point stands there alone.
    """
    color = EDGE if line == len(points.most) else COLORS[line % len(COLORS)]
    shared: dict[str, Any] = {
        "x": times.strftime("%Y-%m-%d %H:%M:%S").tolist(),
        "legendgroup": str(line),
        "hovertext": [
            markup([f"{name}: {height}{points.trust(line, time)}"])
            for time, height in enumerate(heights)
        ],
        "hoverinfo": "text",
    }
    sizes, held = points.sizes[line], points.held[line]
    hollow = points.hollow(line)
    drawn, alone = (
        [size if at else None for size, at in zip(sizes.tolist(), each.tolist(), strict=True)]
        for each in (held & ~hollow, hollow)
    )
    stroke = {"color": color, "width": 2, "dash": _DASHES[line // len(COLORS) % len(_DASHES)]}
    marker = {"size": _LARGE if len(times) <= _FEW else _SMALL}
    edge = {"color": EDGE, "width": 4}
    traces = [
        go.Scatter(
            **shared | {"hoverinfo": "skip"}, y=drawn, line=edge, mode="lines", showlegend=False
        ),
        go.Scatter(
            **shared,
            name=markup([name]),
            y=drawn,
            mode="lines+markers",
            line=stroke,
            marker=marker | {"color": color, "line": {"color": EDGE, "width": 1}},
        ),
    ]
    if hollow.any():
        ring = {"color": "#FFFFFF", "line": {"color": color, "width": 2}}
        traces.append(
            go.Scatter(**shared, y=alone, mode="markers", marker=marker | ring, showlegend=False)
        )
    return traces
