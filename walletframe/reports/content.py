"""The content of a report, independent of HTML or Markdown.

Texts of cells and of `Content.reasons` are as strangers may have written them; all others are the
report's own words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from walletframe.frames.tables import Table


@dataclass(frozen=True, slots=True)
class Listing:
    """A table, what its rows are, and how it is to be read."""

    heading: str
    note: str
    table: Table
    stacked: bool = False  # where a row is too wide for a line of any page


@dataclass(frozen=True, slots=True)
class View:
    """A chart without its title and notes, as drawn for ``wide`` or for ``narrow`` pages."""

    name: str
    notes: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, and in words what it shows, and which table has its numbers."""

    title: str
    words: str
    views: tuple[View, ...]


@dataclass(frozen=True, slots=True)
class Content:
    """All of a report, in its order."""

    title: str
    made: str
    simulated: bool
    facts: tuple[tuple[str, str], ...]  # names and values of what is to be known first
    summary: tuple[str, ...]  # sentences on where the answers came from
    gaps: tuple[str, ...]  # sentences on what is unknown
    reasons: tuple[str, ...]  # why wallets are not ok
    charts: tuple[Chart, ...]
    listings: tuple[Listing, ...]
    methods: tuple[str, ...]  # sentences on how it was done
