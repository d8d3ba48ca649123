"""Both frames, and any table, as plain text for a terminal and as Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from walletframe.frames.display.tables import NUMBERS, holdings_table, wallets_table
from walletframe.frames.summary import failure_lines, summary_lines
from walletframe.numerals import many
from walletframe.text import as_markdown, shown

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.frames.display.tables import Cell, Table

REASON = 160
_NUMBER = re.compile(r"-?[0-9,]+(\.[0-9]+)?")


def display_text(wallets: pd.DataFrame, holdings: pd.DataFrame) -> str:
    """Write the summary, what failed and why, and the first rows of both frames."""
    lines = [*summary_lines(wallets, holdings)]
    lines += [shown(line, REASON) for line in failure_lines(wallets)]
    tables = (wallets_table(wallets), holdings_table(holdings))
    return "\n\n".join(["\n".join(lines), *(table_text(table) for table in tables if table.total)])


def display_markdown(wallets: pd.DataFrame, holdings: pd.DataFrame) -> str:
    """Write the same as Markdown, of which nothing is markup that a stranger wrote."""
    lines = [*summary_lines(wallets, holdings), *failure_lines(wallets)]
    parts = ["\n".join(f"- {as_markdown(line, REASON)}" for line in lines)]
    for table in (wallets_table(wallets), holdings_table(holdings)):
        if table.total:
            parts.append(table_markdown(table))
        if table.left_out:
            noun = f"more {table.name.removesuffix('s')}"
            parts.append(f"… and {many(table.left_out, noun)}")
    return "\n\n".join(parts)


def table_text(table: Table) -> str:
    """Draw a table in lines; the last says how many rows are left out."""
    columns = [
        _padded(name, [shown(cell.text, cell.limit) for cell in cells])
        for name, cells in table.columns.items()
    ]
    drawn = "\n".join("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))
    return f"{drawn}\n… and {table.left_out:,} more" if table.left_out else drawn


def table_markdown(table: Table) -> str:
    """Draw a table in Markdown; who calls it says how many rows are left out."""
    rules = ["--:" if name in NUMBERS else ":--" for name in table.columns]
    rows = [list(table.columns), rules, *([_markdown(cell) for cell in row] for row in table.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def is_number(cell: Cell) -> bool:
    """Tell whether a cell is a number, all of whose digits are shown."""
    return len(cell.text) <= cell.limit and _NUMBER.fullmatch(cell.text) is not None


def _padded(name: str, texts: list[str]) -> list[str]:
    width = max(map(len, [name, *texts]))
    side = ">" if name in NUMBERS else "<"
    return [f"{text:{side}{width}}" for text in [name, "-" * width, *texts]]


def _markdown(cell: Cell) -> str:
    text = cell.text if is_number(cell) else as_markdown(cell.text, cell.limit)
    if cell.link is None:
        return text
    return f"[{text}](<{cell.link.replace('|', '%7C').replace('$', '%24')}>)"
