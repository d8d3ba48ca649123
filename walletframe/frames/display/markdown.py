"""Both frames as Markdown, for whatever shows no HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.frames.display.tables import NUMBERS, Cell, Table, holdings_table, wallets_table
from walletframe.frames.summary import failure_lines, summary_lines
from walletframe.numerals import many
from walletframe.text import as_markdown

if TYPE_CHECKING:
    import pandas as pd

_REASON = 160


def display_markdown(wallets: pd.DataFrame, holdings: pd.DataFrame) -> str:
    """Return the summary, what failed and why, and the first rows of both frames.

    Parameters
    ----------
    wallets, holdings : DataFrame
        The two of a `WalletDetails`.

    Returns
    -------
    str
        Markdown with tables, of which nothing is markup that a stranger wrote.

    Examples
    --------
    >>> from walletframe.frames import assemble
    >>> print(display_markdown(*assemble([])))
    - 0 wallets on 0 blockchains
    - 0 balances of 0 tokens; no answer to use
    """
    lines = [*summary_lines(wallets, holdings), *failure_lines(wallets)]
    listed = "\n".join(f"- {as_markdown(line, _REASON)}" for line in lines)
    tables = [table for table in (wallets_table(wallets), holdings_table(holdings)) if table.total]
    return "\n\n".join([listed, *map(_table, tables)])


def _table(table: Table) -> str:
    rules = ["--:" if name in NUMBERS else ":--" for name in table.columns]
    cells = [[_cell(cell) for cell in column] for column in table.columns.values()]
    rows = [list(table.columns), rules, *zip(*cells, strict=True)]
    drawn = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    rest = many(table.left_out, f"more {table.name.removesuffix('s')}")
    return f"{drawn}\n\n… and {rest}" if table.left_out else drawn


def _cell(cell: Cell) -> str:
    text = as_markdown(cell.text, cell.limit)
    if cell.link is None:
        return text
    return f"[{text}](<{cell.link.replace('|', '%7C').replace('$', '%24')}>)"
