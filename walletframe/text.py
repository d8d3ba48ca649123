"""Escape untrusted text for display, and escape and unescape the cells of files.

DataFrames contain the text as the service sent it.
"""

from __future__ import annotations

import re
import unicodedata

_CUT = "…"
_FULL = 500
_LONGEST_LINK = 2_000
_HEAD, _TAIL = 6, 4
_QUOTES = frozenset("\"'<>`\\")
_MARKUP = re.compile(r'(?<=[0-9])[.:](?=[0-9])|([\\`*_{}\[\]<>()#+.!|~$&:@^="/])')
"""Group 1 matches Markdown's markup characters, except ``.`` and ``:`` between digits."""
_LINK = re.compile(r":(?=//)|(?<=data):(?=\S)|(?<=www)\.(?=\S)|(?<=[~.:])\\", re.IGNORECASE)
"""The characters by which JupyterLab, terminals, mail and PDF readers detect links in text."""
_SLASH = re.compile(r"/(?!(?<=[A-Za-z0-9<]/)[A-Za-z0-9][A-Za-z0-9_-]*(?![\w.-]))", re.ASCII)
"""Slashes of paths, which JupyterLab links on stderr. ``ETH/USDC`` does not match."""
_DIVISION_SLASH = "\u2215"  # looks like a slash
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\u034f\u17b4\u17b5") | {
    chr(code) for code in (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
}


def is_invisible(char: str) -> bool:
    """Return whether a character is a control, format, blank or unassigned character."""
    return unicodedata.category(char)[0] in "CZ" or char in _BLANK


def is_visible_word(text: str) -> bool:
    """Return whether a text has only visible characters and no space."""
    if text.isascii():
        return text.isprintable() and " " not in text
    return not any(map(is_invisible, text))


def safe_line(text: str, limit: int = 80) -> str:
    """Return one line of visible characters that no terminal or notebook turns into a link."""
    if not text or (len(text) <= limit and text.isascii() and text.isalnum()):
        return text  # fast for most symbols and addresses
    line = defang_links(one_line(text, limit))
    while len(line) > limit:  # truncation can create a link, and brackets make the line longer
        line = defang_links(line[: limit - 1] + _CUT)
    return line


def defang_links(text: str, *, slash: str = _DIVISION_SLASH) -> str:
    """Change text so that terminals and notebooks detect no link. `slash` replaces slashes."""
    return _SLASH.sub(lambda _: slash, _LINK.sub(r"[\g<0>]", text))


def token_repr(token: object) -> str:
    """Return a token as a Python literal that no terminal or notebook turns into a link."""
    return defang_links(ascii(token), slash=r"\x2f")


def one_line(text: str, limit: int = 80) -> str:
    """Return text as one line without invisible characters. URLs stay as they are."""
    if len(text) <= limit and text.isprintable() and _BLANK.isdisjoint(text):
        return " ".join(text.split())
    head = text[: 4 * limit]
    visible = "".join(char for char in head if char.isspace() or not is_invisible(char))
    line = " ".join(visible.split())
    if len(line) <= limit and len(head) == len(text):
        return line
    return line[: limit - 1] + _CUT


def abbreviate(address: str) -> str:
    """Return the start and the end of an address, at most 13 characters in total."""
    line = safe_line(address, _FULL)
    return line if len(line) <= _HEAD + _TAIL + 3 else f"{line[:_HEAD]}{_CUT}{line[-_TAIL:]}"


def escape_html(line: str) -> str:
    """Escape text for HTML and its attributes, and dollar signs for MathJax."""
    return _escape_tags(line).replace('"', "&quot;").replace("'", "&#x27;")


def as_html(text: str, limit: int = 80, *, tooltip: str | None = None) -> str:
    """Return text as one escaped line of HTML. The tooltip defaults to the whole text."""
    line, title = safe_line(text, limit), safe_line(text if tooltip is None else tooltip, _FULL)
    text = escape_html(line)
    return text if line == title else f'<span title="{escape_html(title)}">{text}</span>'


def as_markdown(text: str, limit: int = 80) -> str:
    """Return text as one line of Markdown with all markup escaped."""
    line = safe_line(text, limit)
    return _MARKUP.sub(lambda found: f"&#{ord(found[1])};" if found[1] else found[0], line)


def url_if_safe(text: str) -> str | None:
    """Return the URL unchanged if it is safe to link, else None."""
    is_url = text.lower().startswith(("http://", "https://")) and len(text) <= _LONGEST_LINK
    is_safe = is_url and is_visible_word(text) and _QUOTES.isdisjoint(text)
    return text if is_safe else None


def remove_invisible(text: str) -> str:
    """Remove invisible characters. Replace white space by spaces, but keep line breaks."""
    spaced = (" " if char.isspace() and char != "\n" else char for char in text)
    return "".join(char for char in spaced if char in " \n" or not is_invisible(char))


def escape_for_plotly(text: str, limit: int = 80) -> str:
    """Escape text for plotly, which interprets some HTML and MathJax."""
    return _escape_tags(safe_line(text, limit))


def _escape_tags(line: str) -> str:
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return line.replace("$", "&#36;")


# An escaped cell begins with an apostrophe. Characters that end a row or start a formula become
# \uXXXX. A text with an apostrophe is also escaped if it looks like an escaped cell.
ESCAPE_SIGN = "'"
_FORMULA_STARTS = "=+\\-@＝＋－＠"  # noqa: RUF001 - spreadsheets accept the full-width forms
_RISKY_START = re.compile(rf"""[\s"']*[{_FORMULA_STARTS}]|[\t\r\n]|\#[A-Z0-9/_]+[!?]?$""")
_RISKY_SEPARATOR = re.compile(rf"""([,;|][\s"']*)([{_FORMULA_STARTS}])""")
_RISKY_CHARACTERS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"  # row ends, non-characters
    '|\\\\(?="|$)'  # some readers read this as an escaped quote
)
_TO_ESCAPE = re.compile(_RISKY_CHARACTERS.pattern + r"|\\")
_ESCAPED = re.compile(r"\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")


def escape_csv_cell(text: str) -> str:
    """Escape text that a program could misread in a CSV file."""
    if text.isascii() and text.isalnum():
        return text
    is_risky = (
        _RISKY_START.match(text) or _RISKY_CHARACTERS.search(text) or _RISKY_SEPARATOR.search(text)
    )
    return f"{ESCAPE_SIGN}{_escape_cell(text)}" if is_risky or unescape_cell(text) != text else text


def escape_excel_cell(text: str, limit: int) -> str:
    """Escape a text for an Excel cell, including invisible characters, and truncate it."""
    cell = escape_csv_cell(text)
    if not is_visible_word(cell.replace(" ", "")):
        marked = cell if cell != text else f"{ESCAPE_SIGN}{_escape_cell(text)}"
        cell = "".join(_unicode_escape(c) if c != " " and is_invisible(c) else c for c in marked)
    cell = cell or ESCAPE_SIGN  # an Excel cell can't contain empty text
    return cell if len(cell) <= limit else cell[: limit - 1] + _CUT


def unescape_cell(cell: str) -> str:
    """Return the text of an escaped cell. A cell that is not escaped is returned unchanged."""
    if not cell.startswith(ESCAPE_SIGN):
        return cell
    rest = cell[1:]
    if not (rest[:1] in ("", ESCAPE_SIGN) or _RISKY_START.match(rest) or _ESCAPED.search(rest)):
        return cell
    return _ESCAPED.sub(lambda match: chr(int(match[1] or match[2], 16)), rest)


def _escape_cell(text: str) -> str:
    line = _TO_ESCAPE.sub(lambda match: _unicode_escape(match[0]), text)
    return _RISKY_SEPARATOR.sub(lambda match: match[1] + _unicode_escape(match[2]), line)


def _unicode_escape(char: str) -> str:
    number = ord(char)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"  # noqa: PLR2004 - the largest number with four hex digits
