"""What a table of holdings shows, whatever its size: Python sorts, finds and groups its rows."""

from __future__ import annotations

from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from walletframe.analysis import totals
from walletframe.frames import read_positions
from walletframe.numerals import many
from walletframe.pickers.grids import (
    NAMES,
    Grid,
    balances_grid,
    groups_grid,
    names_to_group_by,
    with_bars,
)
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    from walletframe.frames import Codes, FetchLike, Mask, Positions, PositionsLike, TokenKey

_EDITIONS = count(1)
_MOST_ROWS, _MOST_WORDS, _KEPT, _LABEL = 400, 8, 12, 40


class _View(NamedTuple):
    """Which rows, and in which order."""

    by: str
    sort: str
    down: bool
    words: tuple[str, ...]


class HoldingsTable:
    """Answers what pages ask of holdings, or of their sums by group, a window of rows at a time."""

    def __init__(
        self,
        holdings: PositionsLike,
        wallets: FetchLike | None = None,
        *,
        names: Mapping[TokenKey, str] | None = None,
        part_of: tuple[HoldingsTable, Mask] | None = None,
    ) -> None:
        self._held = read_positions(holdings)  # wallets that were asked would all stay in a part
        self.positions: Positions = read_positions(self._held, wallets)
        self._part_of, self._edition = part_of, next(_EDITIONS)
        self._names = names or {}  # of tokens; others are named among those here
        self._groups = ["", *names_to_group_by(self.positions)]
        self.grid: Callable[[str], Grid] = lru_cache(_KEPT)(self._make_grid)
        self.order: Callable[[str, str, bool], Codes] = lru_cache(_KEPT)(self._make_order)
        self._rows = lru_cache(_KEPT)(self._make_rows)

    def where(self, marks: Mask, wallets: FetchLike | None = None) -> HoldingsTable:
        """Return a table of some rows and wallets, with the names, columns and order of all."""
        whole = self if self._part_of is None else self._part_of[0]
        held = whole._held.where(marks)  # noqa: SLF001 - of this class
        return HoldingsTable(held, wallets, part_of=(whole, marks))

    def answer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Give the rows that a page asks for, and once what it has to know of their columns.

        Asked are ``by`` (the group), ``sort`` and ``down``, ``find``, ``start`` and ``count``, and
        ``table``: what the page knows of columns already. What is not there is replaced.
        """
        view = self._view(asked)
        grid, rows, table = self.grid(view.by), self._rows(*view), f"{self._edition} {view.by}"
        order = self.order(view.by, view.sort, view.down)
        start = min(max(int(asked.get("start", 0)), 0), len(rows))
        window = rows[start : start + min(max(int(asked.get("count", 100)), 0), _MOST_ROWS)]
        given = {"by": view.by, "sort": view.sort, "down": view.down, "table": table}
        given |= {"start": start, "count": len(window), "total": len(rows)}
        given["counted"] = _counted(view, len(rows), len(order))
        cells = {name: column.cells.written(window) for name, column in grid.columns.items()}
        if asked.get("table") != table:
            given["columns"] = [column.described() for column in grid.columns.values()]
            given["groups"] = [{"name": by, "label": shown(by, _LABEL)} for by in self._groups]
        return given | {"cells": cells}

    def meant(self, asked: Mapping[str, Any]) -> tuple[str, Any] | None:
        """Tell what a cell is of, as selections have it: ``("wallets", "ETH.0x…")``, or None.

        Asked are the query that gave the row, and ``place`` and ``column`` of the cell.
        """
        view, place = self._view(asked), int(asked.get("place", -1))
        rows = self._rows(*view)
        if not 0 <= place < len(rows):
            return None
        return self.grid(view.by).meant(str(asked.get("column")), int(rows[place]))

    def _view(self, asked: Mapping[str, Any]) -> _View:
        by = next((name for name in self._groups if name == asked.get("by")), self._groups[0])
        grid, sort, down = self.grid(by), asked.get("sort"), bool(asked.get("down"))
        if sort not in grid.columns:
            sort, down = grid.opens_by
        words = dict.fromkeys(str(asked.get("find", "")).casefold().split())
        return _View(by, str(sort), down, tuple(words)[:_MOST_WORDS])

    def _make_grid(self, by: str) -> Grid:
        if by:
            return groups_grid(self.positions, by, totals(self.positions, by))
        if self._part_of is None:
            return balances_grid(self.positions, self._names)
        whole, marks = self._part_of
        is_one = len(self.positions.tokens.keys) == 1
        return with_bars(whole.grid(""), whole.positions, marks) if is_one else whole.grid("")

    def _make_order(self, by: str, sort: str, down: bool) -> Codes:  # noqa: FBT001 - a key of a cache
        if self._part_of is not None and not by:
            whole, marks = self._part_of
            order = whole.order(by, sort, down)
            return order[marks[order]]
        grid = self.grid(by)
        if not sort:
            return np.arange(grid.count)
        return grid.columns[sort].cells.order(down=down)

    def _make_rows(self, by: str, sort: str, down: bool, words: tuple[str, ...]) -> Codes:  # noqa: FBT001
        """Keep of the rows, in order, those that hold all words in any of their texts."""
        order = self.order(by, sort, down)
        if not words:
            return order
        grid = self.grid(by)
        marks = np.ones(grid.count, dtype=bool)
        for word in words:
            found = [each.cells.found(word) for each in grid.columns.values()]
            marks &= np.any([np.broadcast_to(each, grid.count) for each in found], axis=0)
        return order[marks[order]]


class SumsTable(HoldingsTable):
    """The same of sums alone, since balances are too many."""

    def __init__(self, whole: Positions, sums: Callable[[str], pd.DataFrame]) -> None:
        """Take the wallets, and what gives the table that `totals` gives by a name."""
        super().__init__(whole)
        self._sums, own = sums, self._groups[1:]
        self._groups = sorted(own, key=lambda name: name != "token")  # by which it opens

    def _make_grid(self, by: str) -> Grid:
        return groups_grid(self.positions, by, self._sums(by))


def _counted(view: _View, found: int, count: int) -> str:
    """Say how many rows there are, of how many."""
    noun = view.by if view.by in NAMES else "group"
    of = many(count, noun if view.by else "balance")
    if not view.words:
        return of
    return f"{found:,} of {of} {'matches' if found == 1 else 'match'}"
