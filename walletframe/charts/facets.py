"""Facets: small charts in one column of a figure, each below the name of its group."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe.charts.balances import sum_by_group
from walletframe.charts.canvas import hover_text, to_markup

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from walletframe.amounts.integers import Indices
    from walletframe.charts.balances import GroupLevel

_MAX_FACETS, _AXIS_BELOW = 10, 44  # the last one is in pixels
# Plotly measures the gap between charts as a share of the height.
_LEAST_HEIGHT, _HEADING_HEIGHT, _MAX_GAPS = 500, 17, 0.33  # pixels, and the share of all gaps
_PER_ITEM = ("x", "y", "hovertext", "text")  # properties of a trace with a value for each item
_HEADING: dict[str, Any] = {"xref": "paper", "x": 0, "xanchor": "left", "showarrow": False}
_HEADING |= {"yref": "paper", "yanchor": "bottom"}


def choose_facets(level: GroupLevel) -> Indices:
    """Return the groups to draw as small charts, the largest first."""
    sizes = sum_by_group(level.group_codes, level.balances.sizes, len(level.groups))
    return level.largest_then_unknown_groups(sizes, _MAX_FACETS)


def split_into_facets(
    figure: go.Figure, edges: Sequence[int], level: GroupLevel, facets: Sequence[int]
) -> go.Figure:
    """Split a figure at `edges` into small charts, each below the name of its facet.

    All small charts have the same axes. Each one shows only its own labelled rows.
    """
    drawn, count = figure.layout.to_plotly_json(), len(edges) - 1
    x_axis, y_axis, margin = drawn.pop("xaxis"), drawn.pop("yaxis"), drawn["margin"]
    height = drawn["height"] - margin["t"] - margin["b"]  # without the gaps
    least = max(_LEAST_HEIGHT - margin["t"] - margin["b"] - _AXIS_BELOW, 1)
    gap = min(_HEADING_HEIGHT / least, _MAX_GAPS / max(count - 1, 1))
    height = int(height / (1 - gap * (count - 1)))
    has_rows = "range" in y_axis
    stack = type(figure)().set_subplots(
        count,
        shared_xaxes="all",
        shared_yaxes=False if has_rows else "all",
        row_heights=np.diff(edges).tolist(),
        vertical_spacing=gap,
    )
    for row, (start, end) in enumerate(pairwise(edges), 1):
        for trace in figure.data:
            part = {name: trace[name][start:end] for name in _PER_ITEM if trace[name] is not None}
            part |= {"legendgroup": trace.name, "showlegend": row == 1}
            stack.add_trace(type(trace)(trace).update(part), row=row, col=1)
        rows = {"range": [end - 0.5, start - 0.5]} if has_rows else {}
        stack.update_yaxes(y_axis | {"title": None} | rows, row=row)
    stack.update_yaxes(title=y_axis.get("title"), row=(count + 1) // 2)
    stack.update_xaxes(x_axis | {"side": "bottom", "title": None})
    stack.update_xaxes(title=x_axis.get("title"), row=count)
    notes = [
        {"xref": f"x{count}", "yref": f"y{count}"} | note for note in drawn.get("annotations", ())
    ]
    named = zip(stack.select_yaxes(), facets, level.names_and_known_counts(facets), strict=False)
    for axis, facet, name in named:
        heading = {"text": f"<b>{to_markup([name])}</b>", "y": axis.domain[1]}
        known = level.known_wallets_text(facet)
        heading["hovertext"] = hover_text(level.name_and_columns(facet), known)
        notes.append(_HEADING | heading | {"xshift": drawn["title"]["pad"]["l"] - margin["l"]})
    margin["b"] += _AXIS_BELOW
    height += margin["t"] + margin["b"]
    return stack.update_layout(drawn | {"annotations": notes, "height": height})
