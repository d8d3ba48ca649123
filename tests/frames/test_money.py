"""Values as pandas shows them: as money, without its options."""

import numpy as np
import pandas as pd
import pytest

from walletframe.frames.results import frame_html, frame_text

FRAME = pd.DataFrame(
    {
        "symbol": ["<b>", "B", "C"],
        "amount": pd.array(["1", "2", None], dtype="amount"),
        "unit_price": [1e-7, 3100, np.nan],
        "value": [124474.53, 1e12, np.nan],
    }
)


def test_values_are_money():
    """With thousands and cents, prices without exponents, in text and in HTML."""
    for drawn in (frame_text(FRAME), frame_html(FRAME)):
        for text in ("124,474.53", "1,000,000,000,000.00", "0.0000001", "3100.0", "NaN"):
            assert text in drawn
        assert "e+" not in drawn
    assert "<td>&lt;b&gt;</td>" in frame_html(FRAME)


def test_other_columns_are_pandas_own():
    """Rows, columns and words are the same; other frames to the letter."""
    long = pd.concat([FRAME] * 50, ignore_index=True)
    for ours, theirs in ((frame_text(long), repr(long)), (frame_html(long), long._repr_html_())):
        assert ours.count("\n") == theirs.count("\n")
        assert "150 rows" in ours


@pytest.mark.parametrize(
    "frame",
    [
        FRAME[["symbol", "amount"]],
        FRAME[["amount"]].rename(columns={"amount": "value"}),
        FRAME[["value", "value"]],
        pd.concat({"value": FRAME}, axis=1),
        pd.DataFrame({"value": ["dear"]}),
        pd.DataFrame(),
    ],
    ids=["no values", "amounts", "two of a name", "levels", "text", "nothing"],
)
def test_other_frames_are_pandas_own(frame):
    """To the letter."""
    assert frame_text(frame) == repr(frame)
    assert frame_html(frame) == frame._repr_html_()


@pytest.mark.parametrize(
    "name, chosen",
    [
        ("display.float_format", "{:.1f}".format),
        ("display.large_repr", "info"),
        ("display.notebook_repr_html", False),
        ("display.max_rows", None),
        ("display.min_rows", None),
    ],
)
def test_the_users_options_stay_in_force(name, chosen):
    """A user's format for numbers is used."""
    before = pd.get_option(name)
    with pd.option_context(name, chosen):
        html = frame_html(FRAME)
        if name in {"display.float_format", "display.notebook_repr_html"}:
            assert html == FRAME._repr_html_()
        else:
            assert "value" in html
        assert ("124,474.53" in frame_text(FRAME)) is (
            name not in {"display.float_format", "display.large_repr"}
        )
        assert pd.get_option(name) == chosen
    assert pd.get_option(name) == before


def test_a_style_is_unchanged():
    """It has formats of its own."""
    assert "124474.53" in frame_html(FRAME.drop(columns="amount").style)
