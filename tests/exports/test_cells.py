"""Text in cells of CSV files and spreadsheets: harmless, and readable to the last character."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from walletframe.text import escape_csv_cell, escape_excel_cell, safe_line, unescape_cell

HOSTILE = "".join(map(chr, range(32))) + "\x7f\x85\u2028\u2029\ufeff\u202e;,|\t\"' \\=+-@＝#u0d3x"  # noqa: RUF001 - the wide form
TEXTS = st.text(st.sampled_from(HOSTILE) | st.characters())
FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝")  # noqa: RUF001 - the same


@pytest.mark.parametrize("begin", ["=", "+", "-", "@"])
def test_formulas_get_an_apostrophe(begin):
    """The rest of the text is unchanged."""
    text = f'{begin}HYPERLINK("https://evil.example")'
    assert escape_csv_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["USDC", "", "a=b", "1-2", "é@x", "<b>", " x", "'s", r"C:\x", "❤️"])
def test_other_text_is_unchanged(text):
    """Everything else is as it was."""
    assert escape_csv_cell(text) == text


@pytest.mark.parametrize(
    "text, cell",
    [
        ("x\r=cmd|' /C calc'!A0", r"'x\u000d=cmd|' /C calc'!A0"),
        ("x;=1+1;y", r"'x;\u003d1+1;y"),
        ("a\x00b", r"'a\u0000b"),
        ("#REF!", "'#REF!"),
        ("'=1", "''=1"),
        ("\\", "'\\u005c"),
    ],
)
def test_line_breaks_and_later_formulas_are_escaped(text, cell):
    """Escaped line breaks are readable, and end neither a row nor a cell."""
    assert escape_csv_cell(text) == cell


@given(TEXTS)
@settings(deadline=None, max_examples=500)
@example("'\\u0041")
@example("'\\u0041\n")
@example("''")
def test_any_text_is_read_back(text):
    """CSV files and spreadsheets are read back."""
    assert unescape_cell(escape_csv_cell(text)) == text
    assert unescape_cell(escape_excel_cell(text, 10_000)) == text


@given(TEXTS)
@settings(deadline=None, max_examples=500)
def test_no_cell_is_a_formula_or_ends_a_row(text):
    """Programs may split it at commas, semicolons, bars or tabs."""
    for cell in (escape_csv_cell(text), escape_excel_cell(text, 100)):
        assert not re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]", cell)
        pieces = [piece.lstrip("\"' ") for piece in re.split("[,;|]", cell)[1:]]
        assert not [piece for piece in (cell, *pieces) if piece.startswith(FORMULA)]


@given(TEXTS)
@settings(deadline=None)
def test_displayed_text_is_no_formula_in_a_cell(text):
    """Text from `safe_line` never begins like a formula."""
    assert not escape_csv_cell(safe_line(text)).startswith(FORMULA)


def test_cells_of_the_first_release_are_read():
    """The first release only escaped formulas, with an apostrophe."""
    assert [unescape_cell(cell) for cell in ("'=1", "'\t=1", "'s", "a\\u0041", "x;=1")] == [
        "=1",
        "\t=1",
        "'s",
        "a\\u0041",
        "x;=1",
    ]


def test_a_cell_of_excel_has_a_limited_length():
    """Longer text ends with an ellipsis."""
    assert escape_excel_cell("x" * 40_000, 32_000) == "x" * 31_999 + "…"
