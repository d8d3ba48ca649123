"""Both frames as plain text, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.frames.display.tables import NUMBERS, holdings_table, wallets_table
from walletframe.frames.summary import failure_lines, summary_lines
from walletframe.text import shown

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.frames.display.tables import Table

_REASON = 160


def display_text(wallets: pd.DataFrame, holdings: pd.DataFrame) -> str:
    """Return the summary, what failed and why, and the first rows of both frames.

    Parameters
    ----------
    wallets, holdings : DataFrame
        The two of a `WalletDetails`.

    Returns
    -------
    str
        Lines of harmless text.

    Examples
    --------
    >>> from walletframe.frames import assemble
    >>> print(display_text(*assemble([])))
    0 wallets on 0 blockchains
    0 balances of 0 tokens; no answer to use
    """
    lines = summary_lines(wallets, holdings)
    lines += [shown(line, _REASON) for line in failure_lines(wallets)]
    tables = [table for table in (wallets_table(wallets), holdings_table(holdings)) if table.total]
    return "\n\n".join(["\n".join(lines), *map(table_text, tables)])


def table_text(table: Table) -> str:
    """Return a table, one row a line.

    Parameters
    ----------
    table : Table
        What to draw.

    Returns
    -------
    str
        A heading, a rule, the rows and, where there are more, how many.
    """
    columns = [
        _padded(name, [shown(cell.text, cell.limit) for cell in cells])
        for name, cells in table.columns.items()
    ]
    drawn = "\n".join("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))
    return f"{drawn}\n… and {table.left_out:,} more" if table.left_out else drawn


def _padded(name: str, texts: list[str]) -> list[str]:
    width = max(map(len, [name, *texts]))
    side = ">" if name in NUMBERS else "<"
    return [f"{text:{side}{width}}" for text in [name, "-" * width, *texts]]
