"""Text that strangers wrote, made fit to be shown to a person on one line.

The only place that knows which characters are safe to show. Nothing here changes data: columns
keep what was sent.
"""

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
    r"""Tell whether a character shows nothing of its own (control, format, blank), or is none.

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
        run of white space as one space, with brackets around what would make JupyterLab, a
        terminal or mail take it for a link, and cut to `limit` with an ellipsis.

    Examples
    --------
    >>> shown("a\x1b[31m\u202eb\n c")
    'a[31mb c'
    >>> shown("visit www.evil.example")
    'visit www[.]evil.example'
    """
    if len(text) <= limit and text.isascii() and text.isalnum():
        return text  # as most symbols and addresses are, of which there are many
    line = one_line(text, limit)
    apart = unlinked(line)
    return apart if len(apart) <= limit else unlinked(apart[: limit - 1] + _CUT)


def unlinked(text: str) -> str:
    """Return text of which no program makes a link, all else as it is."""
    return _SLASH.sub(_NO_PATH, _LINK.sub(r"[\g<0>]", text))


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
    """Return the two ends of an address, by which people tell it from others: 13 characters.

    Examples
    --------
    >>> shortened("0x52908400098527886E0F7030069857D2E4169EE7"), shortened("alice.near")
    ('0x5290…9EE7', 'alice.near')
    """
    line = shown(text, _WHOLE)
    return line if len(line) <= _HEAD + _TAIL + 3 else f"{line[:_HEAD]}{_CUT}{line[-_TAIL:]}"


def as_html(text: str, limit: int = 80, *, whole: str | None = None) -> str:
    """Return text as harmless HTML.

    Parameters
    ----------
    text : str
        Anything, of any length.
    limit : int, default 80
        The most characters to show.
    whole : str, optional
        What the text stands for, where it was shortened before.

    Returns
    -------
    str
        One line, escaped, fit for an attribute as well; where it is not all, in a ``span`` with
        more of it (up to 500 characters) as its ``title``. A ``$`` is written ``&#36;``, since
        plotly would take it for mathematics; in a page that looks for mathematics it needs an
        element of the classes ``mathjax_ignore`` and ``tex2jax_ignore`` around it.

    Examples
    --------
    >>> as_html("<b>$5</b>")
    '&lt;b&gt;&#36;5&lt;/b&gt;'
    >>> as_html("abcdef", 4)
    '<span title="abcdef">abc…</span>'
    """
    line, more = shown(text, limit), shown(text if whole is None else whole, _WHOLE)
    escaped = _escaped(line)
    return escaped if line == more else f'<span title="{_escaped(more)}">{escaped}</span>'


def as_markdown(text: str, limit: int = 80) -> str:
    """Return text as harmless Markdown, fit for a cell of a table.

    Parameters
    ----------
    text : str
        Anything, of any length.
    limit : int, default 80
        The most characters to show.

    Returns
    -------
    str
        One line, in which every character that could be markup is a numeric entity.

    Examples
    --------
    >>> as_markdown("*a*|$b$")
    '&#42;a&#42;&#124;&#36;b&#36;'
    """
    line = shown(text, limit)
    return "".join(f"&#{ord(char)};" if char in _MARKUP else char for char in line)


def as_link(text: str) -> str | None:
    """Return an address of the web that may be made a link.

    Parameters
    ----------
    text : str
        What was sent as one.

    Returns
    -------
    str or None
        The same, not yet escaped; None unless it begins with ``http://`` or ``https://`` and has
        neither blanks, unseen characters, quotes nor backslashes.

    Examples
    --------
    >>> as_link("https://etherscan.io/"), as_link("javascript:alert(1)")
    ('https://etherscan.io/', None)
    """
    fit = text.lower().startswith(("http://", "https://")) and len(text) <= _LONGEST_LINK
    return text if fit and not any(is_unseen(char) or char in _QUOTES for char in text) else None


def as_href(link: str) -> str:
    """Return what `as_link` returned for an attribute: whole, and escaped."""
    return _escaped(link)


def as_html_block(text: str) -> str:
    r"""Return lines of text as harmless HTML that keeps them, for an element ``pre``.

    Parameters
    ----------
    text : str
        Anything; it is not cut.

    Returns
    -------
    str
        Escaped as in `as_html`, without unseen characters but spaces and ends of lines.

    Examples
    --------
    >>> as_html_block("if a < b:\\n    pass")
    'if a &lt; b:\\n    pass'
    """
    return _escaped(as_lines(text))


def as_lines(text: str) -> str:
    r"""Return text as harmless lines, for a terminal.

    Parameters
    ----------
    text : str
        Anything; it is not cut.

    Returns
    -------
    str
        Without unseen characters but ends of lines; other white space as spaces.

    Examples
    --------
    >>> as_lines("\x1b[31mred\tand\u202eblue\n")
    '[31mred andblue\n'
    """
    seen = (" " if char.isspace() and char != "\n" else char for char in text)
    return "".join(char for char in seen if char in " \n" or not is_unseen(char))


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


def _escaped(line: str) -> str:
    return html.escape(line).replace("$", "&#36;")
