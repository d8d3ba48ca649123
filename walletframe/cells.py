r"""Text in cells of CSV files and of spreadsheets: harmless there, and reversible.

A cell that is other than its text begins with an apostrophe, and has ``\uXXXX`` where the text has
a character that a program could take for the end of a row or for the beginning of a formula. What
begins with an apostrophe itself is written like that where it could be mistaken for it.
"""

from __future__ import annotations

import re

from walletframe.text import is_unseen

_MARK = "'"
_CUT = "…"
_SIGNS = "=+\\-@＝＋－＠"  # noqa: RUF001 - spreadsheets take the wide forms too
_BEGINS = re.compile(rf"""[\s"']*[{_SIGNS}]|[\t\r\n]|\#[A-Z0-9/_]+[!?]?$""")
_INNER = re.compile(rf"""([,;|][\s"']*)([{_SIGNS}])""")
_ODD = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"  # ends of rows, and no text
    '|\\\\(?="|$)'  # which some readers take for the escape of a quote
)
_TO_ESCAPE = re.compile(_ODD.pattern + r"|\\")
_ESCAPED = re.compile(r"\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")


def as_cell(text: str) -> str:
    """Return text for a cell of a CSV file: the same, where nothing in it does harm."""
    if text.isascii() and text.isalnum():
        return text
    is_odd = _BEGINS.match(text) or _ODD.search(text) or _INNER.search(text)
    return f"{_MARK}{_escaped(text)}" if is_odd or from_cell(text) != text else text


def as_excel_cell(text: str, limit: int) -> str:
    """Return text for a cell of an Excel file, as by `as_cell`, with unseen characters escaped.

    An empty text is an apostrophe, since Excel has none; what exceeds the limit is cut.
    """
    cell = as_cell(text)
    if any(is_unseen(char) for char in cell if char != " "):
        marked = cell if cell != text else f"{_MARK}{_escaped(text)}"
        cell = "".join(_code(char) if char != " " and is_unseen(char) else char for char in marked)
    cell = cell or _MARK
    return cell if len(cell) <= limit else cell[: limit - 1] + _CUT


def from_cell(cell: str) -> str:
    """Return the text that `as_cell` or `as_excel_cell` was given, not cut.

    Cells of 0.1.0 had no more than an apostrophe before a formula.
    """
    if not cell.startswith(_MARK):
        return cell
    rest = cell[1:]
    if (
        rest
        and not rest.startswith(_MARK)
        and not _BEGINS.match(rest)
        and not _ESCAPED.search(rest)
    ):
        return cell
    return _ESCAPED.sub(lambda found: chr(int(found[1] or found[2], 16)), rest)


def _escaped(text: str) -> str:
    line = _TO_ESCAPE.sub(lambda found: _code(found[0]), text)
    return _INNER.sub(lambda found: found[1] + _code(found[2]), line)


def _code(char: str) -> str:
    number = ord(char)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"  # noqa: PLR2004 - its 4 digits
