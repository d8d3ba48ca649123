"""What is told of a fetch beside its holdings: how complete it is, what failed, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from walletframe.frames import failure_lines, summary_lines, wallets_table
from walletframe.text import shown

if TYPE_CHECKING:
    from walletframe.frames import WalletDetails
    from walletframe.frames.tables import Cell

_FAILURES, _WORDS, _REASON = 50, 500, 300


def told(details: WalletDetails) -> dict[str, Any]:
    """Return lines, and a table of the wallets with a remark, for a page; all texts are lines."""
    wallets, holdings = details
    lines = [*summary_lines(wallets, holdings), *failure_lines(wallets)]
    table = wallets_table(wallets[wallets["error"].notna()], _FAILURES)
    return {
        "lines": [shown(line, _REASON) for line in lines],
        "heads": [*table.columns] if table.total else [],
        "rows": [[_cell(cell) for cell in row] for row in table.rows] if table.total else [],
        "more": table.left_out,
    }


def _cell(cell: Cell) -> list[str]:
    """Return the text, and where it was shortened what it stands for."""
    return [shown(cell.text, max(cell.limit, _REASON)), shown(cell.whole or "", _WORDS)]
