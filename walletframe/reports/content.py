"""What is in a report, whatever it is written in.

Texts of `Cell` and of `Content.reasons` are as strangers may have written them; all others are the
report's own words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plotly.graph_objects import Figure

    from walletframe.frames.display import Cell


@dataclass(frozen=True, slots=True)
class Listing:
    """A table.

    Attributes
    ----------
    anchor : str
        Its name within the document.
    heading : str
        What its rows are.
    note : str
        How it is to be read; empty where that is plain.
    columns : mapping of str to list of Cell
        All of one length, by their headings.
    numbers : frozenset of str
        Headings of the columns that stand to the right.
    total : int
        How many rows there are in all.
    stacked : bool
        Whether a row is too wide for a line of any page.
    """

    anchor: str
    heading: str
    note: str
    columns: Mapping[str, list[Cell]]
    numbers: frozenset[str]
    total: int
    stacked: bool = False

    @property
    def rows(self) -> list[tuple[tuple[str, Cell], ...]]:
        """The rows, each cell behind its heading."""
        return [
            tuple(zip(self.columns, row, strict=True))
            for row in zip(*self.columns.values(), strict=True)
        ]

    @property
    def left_out(self) -> int:
        """How many rows are not shown."""
        return self.total - len(next(iter(self.columns.values())))


@dataclass(frozen=True, slots=True)
class View:
    """A chart as it is drawn on pages of some width.

    Attributes
    ----------
    name : {"wide", "narrow"}
        Which pages: paper and most screens; a phone's.
    notes : str
        What is drawn, as of when and how complete.
    figure : plotly.graph_objects.Figure
        Without its title and notes.
    """

    name: str
    notes: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, and what it says to those who do not see it.

    Attributes
    ----------
    title : str
        What it is.
    words : str
        What it shows, and which table has its numbers.
    views : tuple of View
        One for wide pages, and one for narrow ones.
    """

    title: str
    words: str
    views: tuple[View, ...]


@dataclass(frozen=True, slots=True)
class Content:
    """All of a report.

    Attributes
    ----------
    title : str
        As the caller wrote it.
    made : str
        When the report was made.
    simulated : bool
        Whether the sandbox made the data up.
    facts : tuple of (str, str)
        Names and values of what is to be known first.
    summary : tuple of str
        Sentences on where the answers came from.
    gaps : tuple of str
        Sentences on what is unknown; none where all is known.
    reasons : tuple of str
        Why wallets are not ok.
    charts : tuple of Chart
        Those that fit the data.
    listings : tuple of Listing
        The tables.
    methods : tuple of str
        How it was done.
    """

    title: str
    made: str
    simulated: bool
    facts: tuple[tuple[str, str], ...]
    summary: tuple[str, ...]
    gaps: tuple[str, ...]
    reasons: tuple[str, ...]
    charts: tuple[Chart, ...]
    listings: tuple[Listing, ...]
    methods: tuple[str, ...]
