"""Both frames, and any table, as HTML, in the colours of the page around them, light or dark."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from walletframe.frames.display.plain import REASON
from walletframe.frames.display.tables import NUMBERS, Cell, Table, holdings_table, wallets_table
from walletframe.frames.summary import SIMULATED_NOTE, failure_lines, summary_lines
from walletframe.text import as_href, as_html

if TYPE_CHECKING:
    import pandas as pd

Dress: TypeAlias = Callable[[str, str], str]
"""Gives the attributes of an element of a table, of its column where it is in one."""

_NO_MATHS = "mathjax_ignore tex2jax_ignore"  # what tells MathJax 3 and 2 to leave a $ alone
_FAINT = "var(--jp-ui-font-color2, inherit)"
_AS_WIDE_AS_THE_PAGE = "width: 0; min-width: 100%"  # in a widget, too, which grows with a table
_TEXT = "padding: 0.15em 0.6em; text-align: left"
_NUMBER = "padding: 0.15em 0.6em; text-align: right; font-variant-numeric: tabular-nums"
_MARK = "border-left: 4px solid var(--jp-warn-color1, currentColor)"


def display_html(wallets: pd.DataFrame, holdings: pd.DataFrame) -> str:
    """Draw the summary, what failed and why, and the first rows of both frames, without scripts."""
    tables = (wallets_table(wallets), holdings_table(holdings))
    drawn = "".join(table_html(table) for table in tables if table.total)
    return f'<div class="wf-details">{summary_html(wallets, holdings)}{drawn}</div>'


def summary_html(wallets: pd.DataFrame, holdings: pd.DataFrame) -> str:
    """Draw the summary, and what failed and why, as one element."""
    first, *others = summary_lines(wallets, holdings)
    parts = [f"<div><strong>{first}</strong></div>"]
    for line in others:
        marked = f' style="{_MARK}; padding-left: 0.5em; margin: 0.3em 0"'
        parts.append(f"<div{marked if line == SIMULATED_NOTE else ''}>{line}</div>")
    failed = "".join(f"<li>{as_html(line, REASON)}</li>" for line in failure_lines(wallets))
    if failed:
        style = "margin: 0 0 0.3em; padding-left: 1.5em"
        parts.append(f'<div>Not ok:</div><ul style="{style}">{failed}</ul>')
    return f'<div class="{_NO_MATHS}" style="line-height: 1.5">{"".join(parts)}</div>'


def without_mathematics(html: str) -> str:
    """Wrap whole elements so that the page typesets nothing between dollars."""
    return f'<div class="{_NO_MATHS}">{html}</div>'


def table_html(table: Table, max_height: str = "none") -> str:
    """Draw a table that scrolls where it is too wide, or higher than ``max_height`` in CSS."""
    count = table.total - table.left_out
    said = f"{count:,} of {table.total:,}" if table.left_out else f"{count:,}"
    caption = f'<caption style="text-align: left; color: {_FAINT}">'
    caption += f"{table.name.capitalize()}: {said}</caption>"
    style = f"{_AS_WIDE_AS_THE_PAGE}; overflow: auto; max-height: {max_height}; line-height: 1.5"
    return (
        f'<div class="{_NO_MATHS}" style="{style}" tabindex="0" '
        f'role="region" aria-label="{table.name}"><table style="margin: 0.5em 0">{caption}'
        f"{table_rows(table, _dress, cell_html)}</table></div>"
    )


def table_rows(table: Table, dress: Dress, text: Callable[[Cell], str]) -> str:
    """Draw the head and the body of a ``table``, with the attributes that its page wants."""
    names = list(table.columns)
    heads = "".join(f"<th{dress('th', name)}>{name}</th>" for name in names)
    cells = [f"<td{dress('td', name)}>" for name in names]
    line = f"<tr{dress('tr', '')}>"
    rows = [
        "".join(f"{begin}{text(cell)}</td>" for begin, cell in zip(cells, row, strict=True))
        for row in table.rows
    ]
    body = "".join(f"{line}{row}</tr>\n" for row in rows)
    return (
        f"<thead{dress('thead', '')}>{line}{heads}</tr></thead>\n"
        f"<tbody{dress('tbody', '')}>{body}</tbody>"
    )


def cell_html(cell: Cell) -> str:
    """Write a cell as harmless HTML."""
    text = as_html(cell.text, cell.limit, whole=cell.whole)
    if cell.link is None:
        return text
    return f'<a href="{as_href(cell.link)}" target="_blank" rel="noopener noreferrer">{text}</a>'


def _dress(tag: str, name: str) -> str:
    scope = ' scope="col"' if tag == "th" else ""
    return f'{scope} style="{_side(name)}"' if name else ""


def _side(name: str) -> str:
    if name == "amount":  # up to 79 digits, all of which are shown
        return f"{_NUMBER}; min-width: 14em; max-width: 26em; overflow-wrap: anywhere"
    if name in NUMBERS:
        return f"{_NUMBER}; white-space: nowrap"
    return f"{_TEXT}; {'min-width: 14em' if name == 'reason' else 'white-space: nowrap'}"
