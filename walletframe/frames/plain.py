"""Tables in lines of text, which fit a terminal and keep what is to be told apart or copied."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import defaultdict
from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

from walletframe.address import canonical_address
from walletframe.frames.tables import NUMBERS, Cell, Table
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    Columns = Mapping[str, list[Cell]]

DIGITS = 25
CUT_NOTE = f"An amount of more than {DIGITS} digits is cut at …: files have them all."
_HEAD, _SYMBOL = 10, 6
_AMOUNTS = ("amount", "before", "after", "difference")
_NAMES = ("wallet", "contract")
_SENTENCES = ("reason", "error", "why")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_INDENT = "    "


def terminal_width() -> int | None:
    """Tell how wide the terminal is, None where output goes elsewhere and ``COLUMNS`` is unset."""
    if not os.environ.get("COLUMNS") and not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def table_text(table: Table) -> str:
    """Draw a table in lines; the last says how many rows are left out."""
    drawn = "\n".join(_lines(table.columns))
    return f"{drawn}\n… and {table.left_out:,} more" if table.left_out else drawn


def console_text(table: Table, width: int | None, *, exact: bool = False) -> str:
    """Draw a table for a terminal, whose columns that have no room stand below their row.

    Unless ``exact``, or for no terminal, long amounts are cut, with a note; those that would look
    alike stay whole. Wallets and contracts that would look alike are whole.
    """
    whole = _told_apart(table.columns)
    columns = whole if exact or width is None else _cut_amounts(whole)
    first, below = _fitting(columns, width)
    head, rule, *rows = _lines(first)
    lines = [head, rule]
    for place, row in enumerate(rows):
        more = [f"{name}: {_text(cells[place])}" for name, cells in below.items()]
        told = [text for text in more if not text.endswith(": ")]
        lines += [row, *_wrapped(told, width or 0)]
    if table.left_out:
        lines.append(f"… and {table.left_out:,} more")
    note = [] if columns == whole else wrap(CUT_NOTE, width or len(CUT_NOTE))
    return "\n".join([*lines, *note])


def _lines(columns: Columns) -> list[str]:
    """Draw heads, a rule and rows, aligned."""
    drawn = []
    for name, cells in columns.items():
        texts, width = [name, *map(_text, cells)], _width(name, cells)
        gaps = [" " * (width - _wide(text)) for text in texts]
        pairs = list(zip(gaps, texts, strict=True))
        sides = [gap + text if name in NUMBERS else text + gap for gap, text in pairs]
        drawn.append([sides[0], "-" * width, *sides[1:]])
    return ["  ".join(row).rstrip() for row in zip(*drawn, strict=True)]


def _text(cell: Cell) -> str:
    return shown(cell.text, cell.limit)


def _wide(text: str) -> int:
    """Count the columns that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def _width(name: str, cells: list[Cell]) -> int:
    return max(_wide(text) for text in [name, *map(_text, cells)])


def _fitting(columns: Columns, width: int | None) -> tuple[Columns, Columns]:
    """Choose the columns of a line, and those below it: sentences first, then from the right."""
    line, below = dict(columns), dict[str, list[Cell]]()
    widths = {name: _width(name, cells) for name, cells in columns.items()}

    def excess() -> int:
        return sum(widths[name] + 2 for name in line) - 2 - (width or sys.maxsize)

    for name in [*_SENTENCES, "token", *reversed([*columns][1:])]:
        if excess() <= 0:
            break
        if name not in line or len(line) == 1:
            continue
        if name == "token" and widths[name] > _SYMBOL:
            widths[name] = max(_SYMBOL, widths[name] - excess())
            line[name] = [replace(cell, limit=min(cell.limit, widths[name])) for cell in line[name]]
        else:
            below = {name: line.pop(name)} | below
    return line, below


def _wrapped(told: list[str], width: int) -> list[str]:
    room = max(width - len(_INDENT), 1)
    lines = wrap("  ".join(told), room, break_long_words=False, break_on_hyphens=False)
    return [f"{_INDENT}{line}" for line in lines]


def _told_apart(columns: Columns) -> Columns:
    """Write wallets and contracts whole where two of them have the same two ends."""
    apart = dict(columns)
    for name in _NAMES:
        ends: defaultdict[str, set[str]] = defaultdict(set)
        for cell in columns.get(name, ()):
            if cell.whole is not None:
                ends[cell.text].add(canonical_address(_address(cell.whole)))
        doubles = {text for text, wholes in ends.items() if len(wholes) > 1}
        if doubles:
            apart[name] = [
                _whole(cell, name) if cell.text in doubles else cell for cell in columns[name]
            ]
    return apart


def _whole(cell: Cell, name: str) -> Cell:
    text = cell.whole or cell.text
    return replace(cell, text=_address(text) if name == "contract" else text, limit=len(text))


def _address(whole: str) -> str:
    return whole.partition(".")[2]


def _cut_amounts(columns: Columns) -> Columns:
    """Cut long amounts, but for those that would look alike then, or like nothing."""
    texts = {cell.text for name in _AMOUNTS for cell in columns.get(name, ())}
    short: defaultdict[str, list[str]] = defaultdict(list)
    for text in texts:
        short[_short(text)].append(text)
    cut = {alike[0]: text for text, alike in short.items() if len(alike) == 1}
    return {
        name: [replace(cell, text=cut.get(cell.text, cell.text)) for cell in cells]
        if name in _AMOUNTS
        else cells
        for name, cells in columns.items()
    }


def _short(text: str) -> str:
    whole, _, rest = text.partition(".")
    digits = len(whole.removeprefix("-"))
    if _NUMBER.fullmatch(text) is None or digits + len(rest) <= DIGITS:
        return text
    if digits > DIGITS:
        return f"{whole[:_HEAD]}…({digits} digits)"
    kept = f"{whole}.{rest[: DIGITS - digits]}"
    return f"{kept}…" if kept.strip("-0.") else text
