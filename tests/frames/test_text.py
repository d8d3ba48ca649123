"""Hostile text: safe to be shown on one line, and never a formula."""

import html
import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from walletframe.text import as_markdown, escape_for_plotly, safe_line

HOSTILE = "\x00\x1b\x7f\x9b\u202e\u2066\u200b\u200d\ufeff\u00ad\ud800\udfff\ue000\U000e0041"
SPACES = " \t\n\r\x0b\x0c\x1c\x1f\x85\u00a0\u2028\u2029\u3000"
LINKS = (
    "https://",
    "www.",
    "data:",
    "DATA",
    ":",
    "//",
    "www",
    ".",
    "evil.example",
    "/",
    "~",
    "\\",
    "x",
)
AUTOLINKED = re.compile(
    r"""(?:[a-zA-Z][a-zA-Z0-9+.-]{2,40}://|data:|www\.)[^\s\x00-\x20\x7f-\x9f"]{2,}"""
    r"""[^\s\x00-\x20\x7f-\x9f"'(){}\[\],:;.!?]"""
)  # as in JupyterLab 4.6, packages/rendermime/src/renderers.ts
PATH = re.compile(r"[~.]?(?:/[A-Za-z0-9_.-]*)+")  # the same for stderr and tracebacks
PATH_ON_WINDOWS = re.compile(r"[a-zA-Z]:\\|[~.]\\")
NAMES = re.compile(r"(?:/[A-Za-z0-9_-]+)+")
TEXTS = st.text(
    st.characters() | st.characters(categories=["C", "Z"]) | st.sampled_from(HOSTILE + SPACES + "=")
)


class TestShown:
    """One harmless line."""

    @given(TEXTS, st.integers(1, 100))
    @example("\u200b" * 500, 1)
    @example("x" * 10_000, 7)
    @settings(deadline=None)
    def test_never_longer_than_the_limit(self, text, limit):
        """Any text becomes at most so many characters."""
        assert len(safe_line(text, limit)) <= limit

    @given(TEXTS)
    @settings(deadline=None)
    def test_one_line_of_visible_characters(self, text):
        """There is no control, format, surrogate or private character, and no space but " "."""
        line = safe_line(text)
        assert all(char == " " or unicodedata.category(char)[0] not in "CZ" for char in line)
        assert line == " ".join(line.split())
        assert len(line.splitlines()) <= 1

    @given(TEXTS)
    @settings(deadline=None)
    def test_is_idempotent(self, text):
        """Displayed text is unchanged when it is displayed again."""
        assert safe_line(safe_line(text)) == safe_line(text)

    @given(st.text("abcÄ地🙂<&$=é", max_size=80))
    @settings(deadline=None)
    def test_harmless_text_is_unchanged(self, text):
        """Visible text within the limit is not changed: escaping is left to the display."""
        assert safe_line(text) == text

    @given(TEXTS | st.lists(st.sampled_from(LINKS) | TEXTS).map("".join), st.integers(1, 100))
    @example("00000://DATA:DATA:00000000000000000000000000000000000000DATA: 0", 68)
    @settings(deadline=None)
    def test_nothing_looks_like_a_link(self, text, limit):
        """JupyterLab, which makes links of text, finds none in it, at any length.

        A path for it has plain names only: it leads to no folder by itself.
        """
        line = safe_line(text, limit)
        assert not AUTOLINKED.search(line)
        assert all(NAMES.fullmatch(path) for path in PATH.findall(line))
        assert not PATH_ON_WINDOWS.search(line)
        assert len(line) <= limit
        assert safe_line(line, limit) == line

    @pytest.mark.parametrize(
        "text,read",
        [
            ("claim at https://evil.example", "claim at https[:]\u2215\u2215evil.example"),
            ("WWW.evil.example", "WWW[.]evil.example"),
            ("data:text/html,x", "data[:]text/html,x"),
            ("javascript://x", "javascript[:]\u2215\u2215x"),
            ("no data: none", "no data: none"),
            ("ETH/USDC v1.2", "ETH/USDC v1.2"),
            ("USDC/ETH/..", "USDC/ETH\u2215.."),
            ("USDC / ETH", "USDC \u2215 ETH"),
            ("~/.ssh", "~\u2215.ssh"),
            ("x/a.csv", "x\u2215a.csv"),
            (r".\..", r".[\].."),
        ],
    )
    def test_a_disarmed_link_is_readable(self, text, read):
        """Brackets surround the one character that would make it one."""
        assert safe_line(text) == read

    @pytest.mark.parametrize("char", HOSTILE)
    def test_every_hostile_character_is_removed(self, char):
        """Escape, bidi, zero-width, surrogate, private and tag characters leave no trace."""
        assert safe_line(f"a{char}b") == "ab"

    @pytest.mark.parametrize("char", SPACES)
    def test_every_space_is_a_plain_one(self, char):
        """Line breaks and odd spaces become one space, and none at the ends."""
        assert safe_line(f"{char}a{char}{char}b{char}") == "a b"

    def test_shortened_with_an_ellipsis(self):
        """Shortened text ends in an ellipsis; text that fits exactly is unchanged."""
        assert safe_line("x" * 80) == "x" * 80
        assert safe_line("x" * 81) == "x" * 79 + "…"
        assert safe_line("abcdef", 4) == "abc…"

    def test_hidden_rest_is_marked(self):
        """Text after very many invisible characters is not silently dropped."""
        assert safe_line("USDC" + "\u200b" * 1000 + "!") == "USDC…"

    def test_nothing_visible(self):
        """Text without any visible character is empty."""
        assert safe_line("\u200b\u202e \n") == ""
        assert safe_line("") == ""

    def test_huge_text_is_quick_and_short(self):
        """Only the beginning of ten million characters is read."""
        assert safe_line("\u202e<b>$x$ " * 1_500_000).startswith("<b>$x$ <b>$x$")


class TestAsMarkup:
    """Text in plotly's markup."""

    @given(TEXTS | st.text("<>&$;#ab/='\""), st.integers(1, 100))
    @settings(deadline=None)
    def test_a_browser_reads_the_shown_text(self, text, limit):
        """Without its entities it is the same; no tag and no dollar is left in it."""
        drawn = escape_for_plotly(text, limit)
        assert html.unescape(drawn) == safe_line(text, limit)
        assert not set(drawn) & set("<>$")
        assert not re.search(r"&(?!lt;|gt;|amp;|#36;)", drawn)

    def test_quotes_are_unchanged(self):
        """They are in no attribute, and plotly would draw the entity."""
        assert escape_for_plotly("'a' & \"b\"") == "'a' &amp; \"b\""


def test_markdown_keeps_numbers_and_times_readable():
    """Only points and colons between digits are unchanged."""
    assert as_markdown("Down 69.3% at 05:59. x.y") == "Down 69.3% at 05:59&#46; x&#46;y"
