"""Both frames for a person, in three forms: text, HTML and Markdown.

Pure functions of the frames, of bounded length: a summary first, then what failed and why, then
the first rows of both. All that strangers wrote goes through `walletframe.text`.
"""

from walletframe.frames.display.markdown import display_markdown
from walletframe.frames.display.page import (
    display_html,
    summary_html,
    table_html,
    without_mathematics,
)
from walletframe.frames.display.plain import display_text, table_text
from walletframe.frames.display.tables import Cell, Table, holdings_table, wallets_table, worth

__all__ = [
    "Cell",
    "Table",
    "display_html",
    "display_markdown",
    "display_text",
    "holdings_table",
    "summary_html",
    "table_html",
    "table_text",
    "wallets_table",
    "without_mathematics",
    "worth",
]
