"""The display of a fetch as plain text, Markdown or HTML.

A display has a summary, the reasons of failures, and the first rows of both tables. Functions of
`walletframe.text` escape untrusted text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from walletframe.frames.known import SIMULATED_NOTE, failure_lines, summary_lines
from walletframe.frames.tables import (
    NUMBER_COLUMNS,
    Cell,
    Table,
    console_text,
    holdings_table,
    wallets_table,
)
from walletframe.numerals import counted_noun
from walletframe.text import as_html, as_markdown, escape_html, safe_line

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

_REASON_LIMIT = 160
_NUMBER = re.compile(r"-?[0-9,]+(\.[0-9]+)?")

_NO_MATHS = "mathjax_ignore tex2jax_ignore"  # the classes that MathJax 3 and 2 skip
_FAINT = "var(--jp-ui-font-color2, inherit)"
_PAGE_WIDTH = "width: 0; min-width: 100%"  # otherwise a wide table widens the widget
_TEXT_STYLE = "padding: 0.15em 0.6em; text-align: left"
_NUMBER_STYLE = "padding: 0.15em 0.6em; text-align: right; font-variant-numeric: tabular-nums"
_MARK = "border-left: 4px solid var(--jp-warn-color1, currentColor)"


def details_text(wallets: pd.DataFrame, holdings: pd.DataFrame, *, width: int | None = None) -> str:
    """Return a fetch as text. If `width` is passed, tables fit a terminal of this width."""
    lines = [*summary_lines(wallets, holdings)]
    lines += [safe_line(line, _REASON_LIMIT) for line in failure_lines(wallets)]
    tables = (wallets_table(wallets), holdings_table(holdings, wallets=wallets))
    drawn = (console_text(table, width) for table in tables if table.total)
    return "\n\n".join(["\n".join(lines), *drawn])


def details_markdown(wallets: pd.DataFrame, holdings: pd.DataFrame) -> str:
    """Return a fetch as Markdown."""
    lines = [*summary_lines(wallets, holdings), *failure_lines(wallets)]
    parts = ["\n".join(f"- {as_markdown(line, _REASON_LIMIT)}" for line in lines)]
    for table in (wallets_table(wallets), holdings_table(holdings, wallets=wallets)):
        if table.total:
            parts.append(table_markdown(table))
        if table.left_out:
            noun = f"more {table.name.removesuffix('s')}"
            parts.append(f"… and {counted_noun(table.left_out, noun)}")
    return "\n\n".join(parts)


def details_html(wallets: pd.DataFrame, holdings: pd.DataFrame) -> str:
    """Return a fetch as HTML, without scripts."""
    first, *others = summary_lines(wallets, holdings)
    parts = [f"<div><strong>{first}</strong></div>"]
    for line in others:
        highlight = f' style="{_MARK}; padding-left: 0.5em; margin: 0.3em 0"'
        parts.append(f"<div{highlight if line == SIMULATED_NOTE else ''}>{line}</div>")
    failed = "".join(f"<li>{as_html(line, _REASON_LIMIT)}</li>" for line in failure_lines(wallets))
    if failed:
        style = "margin: 0 0 0.3em; padding-left: 1.5em"
        parts.append(f'<div>Not ok:</div><ul style="{style}">{failed}</ul>')
    summary = f'<div class="{_NO_MATHS}" style="line-height: 1.5">{"".join(parts)}</div>'
    tables = (wallets_table(wallets), holdings_table(holdings, wallets=wallets))
    drawn = "".join(_table_html(table) for table in tables if table.total)
    return f'<div class="wf-details">{summary}{drawn}</div>'


def disable_mathjax(html: str) -> str:
    """Wrap HTML in an element that MathJax ignores."""
    return f'<div class="{_NO_MATHS}">{html}</div>'


def table_markdown(table: Table) -> str:
    """Return the shown rows of a table in Markdown."""
    alignments = ["--:" if name in NUMBER_COLUMNS else ":--" for name in table.columns]
    rows = [
        [*map(as_markdown, table.columns)],
        alignments,
        *([_cell_markdown(cell) for cell in row] for row in table.rows),
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell_markdown(cell: Cell) -> str:
    text = cell.text if shows_all_digits(cell) else as_markdown(cell.text, cell.limit)
    if cell.link is None:
        return text
    return f"[{text}](<{cell.link.replace('|', '%7C').replace('$', '%24')}>)"


def shows_all_digits(cell: Cell) -> bool:
    """Return whether a cell shows all digits of a number."""
    return len(cell.text) <= cell.limit and _NUMBER.fullmatch(cell.text) is not None


def _table_html(table: Table) -> str:
    count = table.total - table.left_out
    counted = f"{count:,} of {table.total:,}" if table.left_out else f"{count:,}"
    caption = f'<caption style="text-align: left; color: {_FAINT}">'
    caption += f"{table.name.capitalize()}: {counted}</caption>"
    style = f"{_PAGE_WIDTH}; overflow: auto; line-height: 1.5"
    return (
        f'<div class="{_NO_MATHS}" style="{style}" tabindex="0" '
        f'role="region" aria-label="{table.name}"><table style="margin: 0.5em 0">{caption}'
        f"{table_rows_html(table, _tag_style_attributes, cell_html)}</table></div>"
    )


def table_rows_html(
    table: Table, tag_attributes: Callable[[str, str], str], write_cell: Callable[[Cell], str]
) -> str:
    """Return a table's HTML rows. `tag_attributes` takes a tag and a column name."""
    header = "".join(
        f"<th{tag_attributes('th', name)}>{as_html(name)}</th>" for name in table.columns
    )
    cells = [f"<td{tag_attributes('td', name)}>" for name in table.columns]
    line = f"<tr{tag_attributes('tr', '')}>"
    rows = [
        "".join(f"{begin}{write_cell(cell)}</td>" for begin, cell in zip(cells, row, strict=True))
        for row in table.rows
    ]
    body = "".join(f"{line}{row}</tr>\n" for row in rows)
    return (
        f"<thead{tag_attributes('thead', '')}>{line}{header}</tr></thead>\n"
        f"<tbody{tag_attributes('tbody', '')}>{body}</tbody>"
    )


def cell_html(cell: Cell) -> str:
    """Return a cell as escaped HTML."""
    text = as_html(cell.text, cell.limit, tooltip=cell.full_text)
    if cell.link is None:
        return text
    return (
        f'<a href="{escape_html(cell.link)}" target="_blank" rel="noopener noreferrer">{text}</a>'
    )


def _tag_style_attributes(tag: str, column: str) -> str:
    if column == "amount":  # up to 79 digits
        style = f"{_NUMBER_STYLE}; min-width: 14em; max-width: 26em; overflow-wrap: anywhere"
    elif column in NUMBER_COLUMNS:
        style = f"{_NUMBER_STYLE}; white-space: nowrap"
    else:
        width = "min-width: 14em" if column == "reason" else "white-space: nowrap"
        style = f"{_TEXT_STYLE}; {width}"
    scope = ' scope="col"' if tag == "th" else ""
    return f'{scope} style="{style}"' if tag in {"th", "td"} else ""
