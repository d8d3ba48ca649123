"""Untrusted text, made safe for display and, reversibly, for cells; columns keep it as sent."""

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
"""The places by which JupyterLab, terminals, mail and PDF readers detect links in plain text."""
_SLASH = re.compile(r"/(?!(?<=[A-Za-z0-9<]/)[A-Za-z0-9][A-Za-z0-9_-]*(?![\w.-]))", re.ASCII)
"""Slashes, but for those in ``ETH/USDC`` and ``</b>``: JupyterLab links existing paths on stderr.

``/``, ``x/..`` and ``~/`` exist for every notebook, ``x/a.csv`` may exist.
"""
_DIVISION_SLASH = "\u2215"  # looks like a slash
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\u034f\u17b4\u17b5") | {
    chr(code) for code in (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
}


def is_invisible(char: str) -> bool:
    """Return whether a character is invisible (control, format or blank) or unassigned."""
    return unicodedata.category(char)[0] in "CZ" or char in _BLANK


def is_visible(text: str) -> bool:
    """Return whether all characters of a text are visible; a space is not."""
    if text.isascii():
        return text.isprintable() and " " not in text
    return not any(map(is_invisible, text))


def safe_line(text: str, limit: int = 80) -> str:
    """Return text as one harmless line of visible characters that no program turns into a link."""
    if not text or (len(text) <= limit and text.isascii() and text.isalnum()):
        return text  # the fast path, for most symbols and addresses
    line = unlinked(one_line(text, limit))
    return line if len(line) <= limit else unlinked(line[: limit - 1] + _CUT)


def unlinked(text: str, *, slash: str = _DIVISION_SLASH) -> str:
    """Return text that no program turns into a link; slashes of paths are replaced by `slash`."""
    return _SLASH.sub(lambda _: slash, _LINK.sub(r"[\g<0>]", text))


def token_text(token: object) -> str:
    """Return a token as a Python literal, to be pasted; no terminal turns it into a link."""
    return unlinked(ascii(token), slash=r"\x2f")


def one_line(text: str, limit: int = 80) -> str:
    """Return text on one line without invisible characters, for places that detect no links."""
    if len(text) <= limit and text.isprintable() and _BLANK.isdisjoint(text):
        return " ".join(text.split())
    head = text[: 4 * limit]
    visible = "".join(char for char in head if char.isspace() or not is_invisible(char))
    line = " ".join(visible.split())
    if len(line) <= limit and len(head) == len(text):
        return line
    return line[: limit - 1] + _CUT


def shortened(text: str) -> str:
    """Return the two ends of an address, which people recognize it by: at most 13 characters."""
    line = safe_line(text, _WHOLE)
    return line if len(line) <= _HEAD + _TAIL + 3 else f"{line[:_HEAD]}{_CUT}{line[-_TAIL:]}"


def escaped(line: str) -> str:
    """Return HTML for an element or an attribute; MathJax ignores ``&#36;`` for a dollar sign."""
    return html.escape(line).replace("$", "&#36;")


def as_html(text: str, limit: int = 80, *, whole: str | None = None) -> str:
    """Return text as one harmless line of HTML, also for an attribute.

    If it is cut, its ``title`` has more of `whole`.
    """
    line, more = safe_line(text, limit), safe_line(text if whole is None else whole, _WHOLE)
    text = escaped(line)
    return text if line == more else f'<span title="{escaped(more)}">{text}</span>'


def as_markdown(text: str, limit: int = 80) -> str:
    """Return text as harmless Markdown, also for a table cell."""
    line = safe_line(text, limit)
    return "".join(f"&#{ord(char)};" if char in _MARKUP else char for char in line)


def as_link(text: str) -> str | None:
    """Return a URL that may become a link, not yet escaped; None for other text."""
    fit = text.lower().startswith(("http://", "https://")) and len(text) <= _LONGEST_LINK
    return text if fit and is_visible(text) and _QUOTES.isdisjoint(text) else None


def as_lines(text: str) -> str:
    """Return text as harmless lines for a terminal, uncut, with spaces for other white space."""
    spaced = (" " if char.isspace() and char != "\n" else char for char in text)
    return "".join(char for char in spaced if char in " \n" or not is_invisible(char))


def as_markup(text: str, limit: int = 80) -> str:
    """Return text that plotly draws literally.

    In labels, legends, ticks, titles and hovers plotly interprets a subset of HTML, links included,
    and passes text between dollar signs to MathJax, if the page has it.
    """
    return html.escape(safe_line(text, limit), quote=False).replace("$", "&#36;")


# A changed cell begins with an apostrophe, and has \uXXXX for each character that a program could
# read as the end of a row or the start of a formula. A text that begins with an apostrophe itself
# is changed, too, if `from_cell` could mistake it for a changed cell.
_APOSTROPHE = "'"
_SIGNS = "=+\\-@＝＋－＠"  # noqa: RUF001 - spreadsheets take the wide forms too
_BEGINS = re.compile(rf"""[\s"']*[{_SIGNS}]|[\t\r\n]|\#[A-Z0-9/_]+[!?]?$""")
_INNER = re.compile(rf"""([,;|][\s"']*)([{_SIGNS}])""")
_ODD = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"  # row ends, and non-text
    '|\\\\(?="|$)'  # some readers take this for an escaped quote
)
_TO_ESCAPE = re.compile(_ODD.pattern + r"|\\")
_ESCAPED = re.compile(r"\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")


def as_cell(text: str) -> str:
    """Return text for a cell of a CSV file; harmless text stays the same."""
    if text.isascii() and text.isalnum():
        return text
    is_odd = _BEGINS.match(text) or _ODD.search(text) or _INNER.search(text)
    return f"{_APOSTROPHE}{_escape_cell(text)}" if is_odd or from_cell(text) != text else text


def as_excel_cell(text: str, limit: int) -> str:
    """Return text for a cell of an Excel file, as `as_cell`, with invisible characters escaped.

    An empty text becomes an apostrophe, since Excel has no empty text; longer text is cut.
    """
    cell = as_cell(text)
    if not is_visible(cell.replace(" ", "")):
        marked = cell if cell != text else f"{_APOSTROPHE}{_escape_cell(text)}"
        cell = "".join(_unicode_escape(c) if c != " " and is_invisible(c) else c for c in marked)
    cell = cell or _APOSTROPHE
    return cell if len(cell) <= limit else cell[: limit - 1] + _CUT


def from_cell(cell: str) -> str:
    """Return the text that `as_cell` or `as_excel_cell` changed (what was cut is lost).

    Any other cell, such as one that a person typed, stays as it is.
    """
    if not cell.startswith(_APOSTROPHE):
        return cell
    rest = cell[1:]
    if rest and not (rest.startswith(_APOSTROPHE) or _BEGINS.match(rest) or _ESCAPED.search(rest)):
        return cell
    return _ESCAPED.sub(lambda match: chr(int(match[1] or match[2], 16)), rest)


def _escape_cell(text: str) -> str:
    line = _TO_ESCAPE.sub(lambda match: _unicode_escape(match[0]), text)
    return _INNER.sub(lambda match: match[1] + _unicode_escape(match[2]), line)


def _unicode_escape(char: str) -> str:
    number = ord(char)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"  # noqa: PLR2004 - its 4 digits
