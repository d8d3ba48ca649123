"""Tables in a terminal: within its width, and no distinct cells become equal."""

import re

import pandas as pd
import pytest

from walletframe.frames.tables import (
    CUT_NOTE,
    Cell,
    Table,
    amount_cells,
    console_text,
    contract_cells,
    terminal_width,
    wallet_cells,
)

LONG = "115792089237316195423570985008687907853269984665640564039457.584007913129639935"
HEX = "0x" + "1" * 40


def table(**columns):
    """Return a table of texts."""
    cells = {name: [Cell(text, 1_000) for text in texts] for name, texts in columns.items()}
    return Table("rows", cells, len(next(iter(cells.values()))))


def amounts(*texts, column="amount"):
    """Return some amounts as a terminal shows them."""
    return console_text(table(**{column: texts}), 500).splitlines()[2:]


@pytest.mark.parametrize(
    "text, shown",
    [
        (LONG, "1157920892…(60 digits)"),
        (f"-{LONG}", "-115792089…(60 digits)"),
        ("81350.482033188507991818714261", "81350.48203318850799181871…"),
        ("1234567890123456789012345.6", "1234567890123456789012345.…"),
    ],
)
def test_amounts_beyond_25_digits_are_shortened_with_a_note(text, shown):
    """The number of digits is there if the whole part is too long."""
    assert [line.strip() for line in amounts(text)] == [shown, CUT_NOTE]


@pytest.mark.parametrize(
    "text",
    [
        "1234567890123456789012345",
        "1.000000000000000000000001",
        f"0.{'0' * 40}1",
        "9" * 30 + " base units",
        "unknown",
    ],
    ids=["25 digits", "25 digits with a fraction", "nothing but zeros", "base units", "a word"],
)
def test_other_amounts_are_unchanged(text):
    """Short ones, ones that would look like zero, and other text."""
    assert amounts(text) == [text]


def test_amounts_that_would_look_equal_stay_whole():
    """Before and after differ by the last digit."""
    before, after = "1" * 29 + "0", "1" * 29 + "2"
    drawn = console_text(table(before=[before], after=[after]), 80)
    assert before in drawn
    assert after in drawn
    assert amounts(before, before)[:2] == ["1111111111…(30 digits)"] * 2


def test_exact_tables_shorten_no_amount():
    """An exact one can be copied; a pipe or a file has whole ones."""
    assert LONG in console_text(table(amount=[LONG]), 60, exact=True)
    assert LONG in console_text(table(amount=[LONG]), None)


def test_wallets_and_contracts_with_the_same_ends_are_whole():
    """A lookalike address is visible."""
    twin = "0x1111" + "2" * 34 + "1111"
    frame = pd.DataFrame(
        {
            "blockchain": "ETH",
            "address": [HEX, twin, "0x" + "3" * 40],
            "token_blockchain": "ETH",
            "token_address": [HEX, twin, None],
        }
    )
    both = {"wallet": wallet_cells(frame), "contract": contract_cells(frame)}
    drawn = console_text(Table("rows", both, 3), None).splitlines()[2:]
    assert [line.split()[:2] for line in drawn] == [
        [f"ETH.{HEX}", HEX],
        [f"ETH.{twin}", twin],
        ["ETH.0x3333…3333", "native"],
    ]
    same = frame.assign(
        token_blockchain=["ETH", "BSC", "ETH"], token_address=[HEX, "0X" + "1" * 40, None]
    )
    drawn = console_text(Table("rows", {"contract": contract_cells(same)}, 3), None)
    assert HEX not in drawn


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 200])
def test_lines_fit_the_width(width):
    """Cells without room are below their row, with their name; only symbols are shortened."""
    reason = "the service could not retrieve this wallet, and said so at some length"
    row = {
        "wallet": ["AVAX_CCHAIN.0x7777…7777", "ETH.0x1111…1111"],
        "token": ["MAX <i>claim at max.exa…", "代币代币"],
        "contract": ["0x1f27…f71e", "0xA0b8…eB48"],
        "reason": [reason, ""],
        "amount": ["1157920892…", "4.5"],
        "price": ["0.000018", "3100.0"],
    }
    drawn = console_text(table(**row), width)
    assert max(len(line) + len(re.findall("[代币]", line)) for line in drawn.splitlines()) <= width
    words = " ".join(drawn.split())
    for name in ("wallet", "contract", "amount", "price"):
        assert all(text in words for text in row[name])
    assert reason in words
    assert words.count("reason") == 1


def test_narrow_tables_have_one_line_for_each_row():
    """Aligned by the width in a terminal, not by characters."""
    drawn = console_text(table(token=["代币", "é", "ab"], status=["x", "y", "z"]), 80)
    assert drawn.splitlines()[2:] == ["代币   x", "é      y", "ab     z"]
    many = Table("rows", {"token": [Cell("a")]}, 1_234)
    assert console_text(many, 80) == console_text(many, None)
    assert console_text(many, None).endswith("… and 1,233 more")


def test_the_width_is_the_terminals(monkeypatch):
    """Or that of COLUMNS; a file or a pipe has none."""
    monkeypatch.delenv("COLUMNS", raising=False)
    assert terminal_width() is None
    monkeypatch.setenv("COLUMNS", "73")
    assert terminal_width() == 73


def test_missing_amounts_are_unknown():
    """And no number to cut."""
    cells = amount_cells(pd.Series(pd.array([None, LONG], dtype="amount")))
    assert "unknown" in console_text(Table("rows", {"amount": cells}, 2), 40)
