"""Text that strangers wrote, made fit to be shown to a person on one line.

The only place that knows which characters are safe to show. Nothing here changes data: columns
keep what was sent.
"""

from __future__ import annotations

import unicodedata

_CUT = "…"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


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
        Without control, format (bidi, zero-width), surrogate and private characters, with each
        run of white space as one space, cut to `limit` with an ellipsis.

    Examples
    --------
    >>> shown("a\x1b[31m\u202eb\n c")
    'a[31mb c'
    """
    head = text[: 4 * limit]
    visible = "".join(
        " " if char.isspace() else char
        for char in head
        if char.isspace() or unicodedata.category(char)[0] != "C"
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
