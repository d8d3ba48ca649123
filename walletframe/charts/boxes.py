"""Boxes of a treemap or sunburst, as plotly takes them."""

from __future__ import annotations

from typing import Any, NamedTuple

from walletframe.charts.palette import EDGE, pattern, text_on

CHAIN_COLOR, WALLET_COLOR = "#4D4D4D", "#707070"
"""Of what is around others: the outermost, and what is in it."""
BOTH = 0.01
"""The share of all below which there is room for a name, and perhaps not for a number."""
_OPPOSITE = {"#000000": "#FFFFFF", "#FFFFFF": "#000000"}


class Box(NamedTuple):
    """A node as plotly takes it; texts are markup."""

    id: str  # our own: names, which strangers choose, are only drawn
    parent: str
    size: float  # 0 where others are in it: plotly adds them up, and compares to the last bit
    label: str
    text: str
    hover: str
    color: str
    pattern: str = ""


def arrays(boxes: list[Box]) -> dict[str, Any]:
    """Give what a trace of boxes takes."""
    on_color = [text_on(box.color) for box in boxes]
    return {
        "ids": [box.id for box in boxes],
        "parents": [box.parent for box in boxes],
        "labels": [box.label for box in boxes],
        "text": [box.text for box in boxes],
        "values": [box.size for box in boxes],
        "hovertext": [box.hover for box in boxes],
        "marker": {
            "colors": [box.color for box in boxes],
            "line": {"color": EDGE, "width": 0.5},
            "pattern": {
                **pattern([box.pattern for box in boxes]),
                # On the other side of the colour than the text, which is read on it all the same.
                "fgcolor": [_OPPOSITE[color] for color in on_color],
                "fgopacity": 0.4,
            },
        },
        "branchvalues": "remainder",
        "textinfo": "label+text",
        "textfont": {"color": on_color},
        "hoverinfo": "text",
    }
