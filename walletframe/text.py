"""Text that strangers wrote, made fit to be shown to a person on one line.

The only place that knows which characters are safe to show. Nothing here changes data: columns
keep what was sent.
"""

from __future__ import annotations

import html
import unicodedata

_CUT = "…"
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # noqa: RUF001 - spreadsheets take the wide forms too
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\u034f\u17b4\u17b5") | {
    chr(code) for code in (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
}


def is_unseen(char: str) -> bool:
    """Tell whether a character shows nothing of its own, or is none.

    Parameters
    ----------
    char : str
        One character.

    Returns
    -------
    bool
        True for control, format, surrogate, private and unassigned characters, white space,
        variation selectors and letters that are drawn as a blank.

    Examples
    --------
    >>> is_unseen("\u3164"), is_unseen("x")
    (True, False)
    """
    return unicodedata.category(char)[0] in "CZ" or char in _BLANK


def shown(text: str, limit: int = 80) -> str:
    r"""Return text as one harmless line.

    Parameters
    ----------
    text : str
        Anything, of any length.
    limit : int, default 80
        The most characters to return.

    Returns
    -------
    str
        Without unseen characters (control, bidi, zero-width and their like), with each
        run of white space as one space, cut to `limit` with an ellipsis.

    Examples
    --------
    >>> shown("a\x1b[31m\u202eb\n c")
    'a[31mb c'
    """
    if len(text) <= limit and text.isascii() and text.isprintable():
        return " ".join(text.split())
    head = text[: 4 * limit]
    visible = "".join(
        " " if char.isspace() else char for char in head if char.isspace() or not is_unseen(char)
    )
    line = " ".join(visible.split())
    if len(line) <= limit and len(head) == len(text):
        return line
    return line[: limit - 1] + _CUT


def as_cell(text: str) -> str:
    """Return text that no spreadsheet takes for a formula.

    Parameters
    ----------
    text : str
        Anything.

    Returns
    -------
    str
        The same; behind an apostrophe where it begins like a formula.

    Examples
    --------
    >>> as_cell("=HYPERLINK()"), as_cell("USDC")
    ("'=HYPERLINK()", 'USDC')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def from_cell(cell: str) -> str:
    """Return the text that `as_cell` was given.

    Parameters
    ----------
    cell : str
        What it returned.

    Returns
    -------
    str
        Without the apostrophe before what begins like a formula.

    Examples
    --------
    >>> from_cell("'=HYPERLINK()"), from_cell("'s")
    ('=HYPERLINK()', "'s")
    """
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def as_markup(text: str, limit: int = 80) -> str:
    """Return text that plotly draws as it is, wherever it takes markup.

    Parameters
    ----------
    text : str
        Anything, of any length.
    limit : int, default 80
        The most characters to draw.

    Returns
    -------
    str
        One harmless line, as by `shown`, in which no tag, link, entity or formula is left.

    Notes
    -----
    plotly draws a subset of HTML, links included, in labels, legends, ticks, titles and hovers,
    and hands what stands between dollar signs to MathJax where the page has it.

    Examples
    --------
    >>> as_markup("<b>$x$ & co")
    '&lt;b&gt;&#36;x&#36; &amp; co'
    """
    return html.escape(shown(text, limit), quote=False).replace("$", "&#36;")
