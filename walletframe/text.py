"""Untrusted text, made safe to display; columns keep the text as sent."""

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
    """Tell whether a character shows nothing of its own (control, format, blank), or is none."""
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


def one_line(text: str, limit: int = 80) -> str:
    """Return text without unseen characters and ends of lines, where nothing makes links of it."""
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


def shortened(text: str) -> str:
    """Return the two ends of an address, by which people tell it from others: 13 characters."""
    line = shown(text, _WHOLE)
    return line if len(line) <= _HEAD + _TAIL + 3 else f"{line[:_HEAD]}{_CUT}{line[-_TAIL:]}"


def as_html(text: str, limit: int = 80, *, whole: str | None = None) -> str:
    """Return text as one harmless line of HTML, fit for an attribute as well.

    What is cut has more of `whole` as its ``title``. ``&#36;`` is no mathematics to plotly alone.
    """
    line, more = shown(text, limit), shown(text if whole is None else whole, _WHOLE)
    escaped = _escaped(line)
    return escaped if line == more else f'<span title="{_escaped(more)}">{escaped}</span>'


def as_markdown(text: str, limit: int = 80) -> str:
    """Return text as harmless Markdown, fit for a cell of a table."""
    line = shown(text, limit)
    return "".join(f"&#{ord(char)};" if char in _MARKUP else char for char in line)


def as_link(text: str) -> str | None:
    """Return an address of the web that may be made a link, not yet escaped; None for any other."""
    fit = text.lower().startswith(("http://", "https://")) and len(text) <= _LONGEST_LINK
    return text if fit and not any(is_unseen(char) or char in _QUOTES for char in text) else None


def as_href(link: str) -> str:
    """Return what `as_link` returned for an attribute: whole, and escaped."""
    return _escaped(link)


def as_html_block(text: str) -> str:
    """Return lines of text as harmless HTML that keeps them, for an element ``pre``; not cut."""
    return _escaped(as_lines(text))


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


def _escaped(line: str) -> str:
    return html.escape(line).replace("$", "&#36;")
