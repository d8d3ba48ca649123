"""Both frames as HTML, in the colours of the page that they stand in, light or dark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.frames.display.tables import NUMBERS, Cell, Table, holdings_table, wallets_table
from walletframe.frames.summary import SIMULATED_NOTE, failure_lines, summary_lines
from walletframe.text import as_href, as_html

if TYPE_CHECKING:
    import pandas as pd

_REASON = 160
_NO_MATHS = "mathjax_ignore tex2jax_ignore"  # what tells MathJax 3 and 2 to leave a $ alone
_LINE = "var(--jp-border-color1, rgba(128, 128, 128, 0.5))"
_FAINT = "var(--jp-ui-font-color2, inherit)"
_AS_WIDE_AS_THE_PAGE = "width: 0; min-width: 100%"  # in a widget, too, which grows with a table
_TEXT = "padding: 0.15em 0.6em; text-align: left"
_NUMBER = "padding: 0.15em 0.6em; text-align: right; font-variant-numeric: tabular-nums"
_MARK = "var(--jp-warn-color1, currentColor)"


def display_html(wallets: pd.DataFrame, holdings: pd.DataFrame) -> str:
    """Return the summary, what failed and why, and the first rows of both frames.

    Parameters
    ----------
    wallets, holdings : DataFrame
        The two of a `WalletDetails`.

    Returns
    -------
    str
        One element, without scripts, style sheets or colours of its own.

    Examples
    --------
    >>> from walletframe.frames import assemble
    >>> "0 wallets on 0 blockchains" in display_html(*assemble([]))
    True
    """
    tables = [table for table in (wallets_table(wallets), holdings_table(holdings)) if table.total]
    parts = [summary_html(wallets, holdings), *map(table_html, tables)]
    return f'<div class="wf-details">{"".join(parts)}</div>'


def summary_html(wallets: pd.DataFrame, holdings: pd.DataFrame) -> str:
    """Return the summary, and what failed and why.

    Parameters
    ----------
    wallets, holdings : DataFrame
        The two of a `WalletDetails`.

    Returns
    -------
    str
        One element.
    """
    parts = [*_summary(wallets, holdings), *_failures(wallets)]
    return f'<div class="{_NO_MATHS}" style="line-height: 1.5">{"".join(parts)}</div>'


def without_mathematics(html: str) -> str:
    """Return HTML of which the page around it typesets nothing, whatever stands between dollars.

    Parameters
    ----------
    html : str
        Whole elements.

    Returns
    -------
    str
        One element.

    Examples
    --------
    >>> without_mathematics("<p>$5</p>")
    '<div class="mathjax_ignore tex2jax_ignore"><p>$5</p></div>'
    """
    return f'<div class="{_NO_MATHS}">{html}</div>'


def table_html(table: Table, max_height: str = "none") -> str:
    """Return a table that scrolls where it finds no room.

    Parameters
    ----------
    table : Table
        What to draw.
    max_height : str, default "none"
        How high it may be, in CSS.

    Returns
    -------
    str
        A ``div`` with a ``table`` whose caption says how many rows are shown.
    """
    names = list(table.columns)
    head = "".join(f'<th scope="col" style="{_side(name)}">{name}</th>' for name in names)
    rows = "".join(
        "<tr>" + "".join(_cell(name, cell) for name, cell in zip(names, row, strict=True)) + "</tr>"
        for row in zip(*table.columns.values(), strict=True)
    )
    count = table.total - table.left_out
    said = f"{count:,} of {table.total:,}" if table.left_out else f"{count:,}"
    style = f"{_AS_WIDE_AS_THE_PAGE}; overflow: auto; max-height: {max_height}; line-height: 1.5"
    return (
        f'<div class="{_NO_MATHS}" style="{style}" tabindex="0" '
        f'role="region" aria-label="{table.name}"><table style="margin: 0.5em 0">'
        f'<caption style="text-align: left; color: {_FAINT}">{table.name.capitalize()}: {said}'
        f"</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _summary(wallets: pd.DataFrame, holdings: pd.DataFrame) -> list[str]:
    first, *others = summary_lines(wallets, holdings)
    parts = [f"<div><strong>{first}</strong></div>"]
    for line in others:
        style = f' style="border-left: 4px solid {_MARK}; padding-left: 0.5em; margin: 0.3em 0"'
        parts.append(f"<div{style if line == SIMULATED_NOTE else ''}>{line}</div>")
    return parts


def _failures(wallets: pd.DataFrame) -> list[str]:
    lines = "".join(f"<li>{as_html(line, _REASON)}</li>" for line in failure_lines(wallets))
    style = "margin: 0 0 0.3em; padding-left: 1.5em"
    return [f'<div>Not ok:</div><ul style="{style}">{lines}</ul>'] if lines else []


def _cell(name: str, cell: Cell) -> str:
    text = as_html(cell.text, cell.limit, whole=cell.whole)
    if cell.link:
        text = (
            f'<a href="{as_href(cell.link)}" target="_blank" rel="noopener noreferrer">{text}</a>'
        )
    return f'<td style="{_side(name)}">{text}</td>'


def _side(name: str) -> str:
    if name == "amount":  # up to 79 digits, all of which are shown
        return f"{_NUMBER}; min-width: 14em; max-width: 26em; overflow-wrap: anywhere"
    if name in NUMBERS:
        return f"{_NUMBER}; white-space: nowrap"
    return f"{_TEXT}; {'min-width: 14em' if name == 'reason' else 'white-space: nowrap'}"
