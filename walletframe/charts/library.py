"""plotly.js as the installed plotly has it, for a page that draws figures itself."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from plotly.offline import get_plotlyjs, get_plotlyjs_version


class Library(NamedTuple):
    """A script that defines what plotly.js is, and its version."""

    version: str
    script: bytes


@cache
def plotly_library() -> Library:
    """Read the script, once."""
    return Library(str(get_plotlyjs_version()), str(get_plotlyjs()).encode())
