"""Untrusted text, made safe to display and, reversibly, for cells; columns keep it as sent."""

from __future__ import annotations

import html
import re
import unicodedata

_CUT = "…"
_WHOLE = 500
_LONGEST_LINK = 2_000
_HEAD, _TAIL = 6, 4
_QUOTES = frozenset("\"'<>`\\")
_MARKUP = frozenset('\\`*_{}[]<>()#+.!|~$&:@^="/')
_LINK = re.compile(r":(?=//)|(?<=data):(?=\S)|(?<=www)\.(?=\S)|(?<=[~.:])\\", re.IGNORECASE)
"""What makes a link of text where none was made: in JupyterLab, terminals, mail and PDF readers."""
_SLASH = re.compile(r"/(?!(?<=[A-Za-z0-9<]/)[A-Za-z0-9][A-Za-z0-9_-]*(?![\w.-]))", re.ASCII)
"""Each but those of ``ETH/USDC`` and ``</b>``: JupyterLab links a path on stderr that is there.

``/``, ``x/..`` and ``~/`` are there wherever the notebook is, ``x/a.csv`` may be.
"""
_NO_PATH = "\u2215"  # the sign of division, which looks the same
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\u034f\u17b4\u17b5") | {
    chr(code) for code in (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
}


def is_unseen(char: str) -> bool:
    """Return whether a character is invisible (control, format, blank), or is none."""
    return unicodedata.category(char)[0] in "CZ" or char in _BLANK


def shown(text: str, limit: int = 80) -> str:
    """Return text as one harmless line of visible characters, which no program makes a link of."""
    if len(text) <= limit and text.isascii() and text.isalnum():
        return text  # as most symbols and addresses are, of which there are many
    line = one_line(text, limit)
    apart = unlinked(line)
    return apart if len(apart) <= limit else unlinked(apart[: limit - 1] + _CUT)


def unlinked(text: str, *, slash: str = _NO_PATH) -> str:
    """Return text of which no program makes a link, all else as it is but slashes of paths."""
    return _SLASH.sub(lambda _: slash, _LINK.sub(r"[\g<0>]", text))


def token_text(token: object) -> str:
    """Return a token as it is given, to be pasted; no terminal makes a link of it."""
    return unlinked(ascii(token), slash=r"\x2f")


def one_line(text: str, limit: int = 80) -> str:
    """Return text without unseen characters and ends of lines, where nothing makes links of it."""
    if len(text) <= limit and text.isascii() and text.isprintable():
        return " ".join(text.split())
    head = text[: 4 * limit]
    visible = "".join(char for char in head if char.isspace() or not is_unseen(char))
    line = " ".join(visible.split())
    if len(line) <= limit and len(head) == len(text):
        return line
    return line[: limit - 1] + _CUT


def shortened(text: str) -> str:
    """Return the two ends of an address, by which people tell it from others: 13 characters."""
    line = shown(text, _WHOLE)
    return line if len(line) <= _HEAD + _TAIL + 3 else f"{line[:_HEAD]}{_CUT}{line[-_TAIL:]}"


def escaped(line: str) -> str:
    """Return text for an element or an attribute; ``&#36;`` is no mathematics to MathJax."""
    return html.escape(line).replace("$", "&#36;")


def as_html(text: str, limit: int = 80, *, whole: str | None = None) -> str:
    """Return text as one harmless line of HTML, fit for an attribute as well.

    What is cut has more of `whole` as its ``title``.
    """
    line, more = shown(text, limit), shown(text if whole is None else whole, _WHOLE)
    text = escaped(line)
    return text if line == more else f'<span title="{escaped(more)}">{text}</span>'


def as_markdown(text: str, limit: int = 80) -> str:
    """Return text as harmless Markdown, fit for a cell of a table."""
    line = shown(text, limit)
    return "".join(f"&#{ord(char)};" if char in _MARKUP else char for char in line)


def as_link(text: str) -> str | None:
    """Return an address of the web that may be made a link, not yet escaped; None for any other."""
    fit = text.lower().startswith(("http://", "https://")) and len(text) <= _LONGEST_LINK
    return text if fit and not any(is_unseen(char) or char in _QUOTES for char in text) else None


def as_lines(text: str) -> str:
    """Return text as harmless lines, for a terminal; not cut, other white space as spaces."""
    seen = (" " if char.isspace() and char != "\n" else char for char in text)
    return "".join(char for char in seen if char in " \n" or not is_unseen(char))


def as_markup(text: str, limit: int = 80) -> str:
    """Return text that plotly draws as it is, wherever it takes markup.

    plotly draws a subset of HTML, links included, in labels, legends, ticks, titles and hovers,
    and hands what stands between dollars to MathJax where the page has it.
    """
    return html.escape(shown(text, limit), quote=False).replace("$", "&#36;")


# A cell that is other than its text begins with an apostrophe, and has \uXXXX where the text has a
# character that a program could take for the end of a row or for the beginning of a formula. What
# begins with an apostrophe itself is written like that where it could be mistaken for it.
_APOSTROPHE = "'"
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
    return f"{_APOSTROPHE}{_in_cell(text)}" if is_odd or from_cell(text) != text else text


def as_excel_cell(text: str, limit: int) -> str:
    """Return text for a cell of an Excel file, as by `as_cell`, with unseen characters escaped.

    An empty text is an apostrophe, since Excel has none; what exceeds the limit is cut.
    """
    cell = as_cell(text)
    if any(is_unseen(char) for char in cell if char != " "):
        marked = cell if cell != text else f"{_APOSTROPHE}{_in_cell(text)}"
        cell = "".join(_code(char) if char != " " and is_unseen(char) else char for char in marked)
    cell = cell or _APOSTROPHE
    return cell if len(cell) <= limit else cell[: limit - 1] + _CUT


def from_cell(cell: str) -> str:
    """Return the text that `as_cell` or `as_excel_cell` was given, not cut.

    A cell that neither wrote, such as one that a person typed, stays as it is.
    """
    if not cell.startswith(_APOSTROPHE):
        return cell
    rest = cell[1:]
    if rest and not (rest.startswith(_APOSTROPHE) or _BEGINS.match(rest) or _ESCAPED.search(rest)):
        return cell
    return _ESCAPED.sub(lambda found: chr(int(found[1] or found[2], 16)), rest)


def _in_cell(text: str) -> str:
    line = _TO_ESCAPE.sub(lambda found: _code(found[0]), text)
    return _INNER.sub(lambda found: found[1] + _code(found[2]), line)


def _code(char: str) -> str:
    number = ord(char)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"  # noqa: PLR2004 - its 4 digits
