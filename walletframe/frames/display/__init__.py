"""Display of both frames as text, HTML and Markdown.

Pure functions of bounded length: a summary first, then what failed and why, then the first rows of
both. `tables` says what stands in a table, `plain` and `page` draw any, for details, the shell and
reports alike. All that strangers wrote goes through `walletframe.text`.
"""

from walletframe.frames.display.page import (
    cell_html,
    display_html,
    summary_html,
    table_html,
    table_rows,
    without_mathematics,
)
from walletframe.frames.display.plain import (
    display_markdown,
    display_text,
    is_number,
    table_markdown,
    table_text,
)
from walletframe.frames.display.tables import (
    NUMBERS,
    UNKNOWN,
    Cell,
    Table,
    amount_cells,
    balance_columns,
    contract_cells,
    holdings_table,
    minute_cells,
    text_cells,
    value_cells,
    wallet_cells,
    wallets_table,
)

__all__ = [
    "NUMBERS",
    "UNKNOWN",
    "Cell",
    "Table",
    "amount_cells",
    "balance_columns",
    "cell_html",
    "contract_cells",
    "display_html",
    "display_markdown",
    "display_text",
    "holdings_table",
    "is_number",
    "minute_cells",
    "summary_html",
    "table_html",
    "table_markdown",
    "table_rows",
    "table_text",
    "text_cells",
    "value_cells",
    "wallet_cells",
    "wallets_table",
    "without_mathematics",
]
