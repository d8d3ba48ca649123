"""Room for the parts of a figure, in pixels.

Told what stands outside its axes, plotly draws a chart once; left to find out, it draws it, makes
room and draws it again. It still makes more room where this was not enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_AROUND, _LETTER = 16, 6.5


class Space(NamedTuple):
    """Pixels of a figure's parts.

    Attributes
    ----------
    plot : int
        The height of the plot, its axes and its legend.
    above : int
        What stands between the notes and the plot.
    below, left : int
        What stands outside the axes, such as names and a legend.
    """

    plot: int
    above: int = 0
    below: int = 0
    left: int = 0


def along(names: Sequence[str]) -> int:
    """Measure names on an axis.

    Parameters
    ----------
    names : sequence of str
        Not empty.

    Returns
    -------
    int
        The pixels along the longest of them, in most of the fonts that plotly chooses.
    """
    return int(_AROUND + _LETTER * max(map(len, names)))
