"""Values that become amounts, and values that are refused with their position."""

import io
import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from amount_strategies import exact_values, notations
from hypothesis import example, given
from hypothesis import strategies as st

from walletframe.amounts import AmountArray, AmountDtype
from walletframe.amounts.scalar import Amount
from walletframe.errors import AmountError

LARGEST = 2**256 - 1


def texts(array):
    """Return amounts as text."""
    return array.to_arrow().to_pylist()


def test_text_decimals_and_integers_are_read():
    """Plain and scientific text, Decimals, integers and pandas's missing values are read."""
    values = ["1.50", "-.5", "+7.", "1E-18", Decimal("1E+3"), 7, np.int64(8), None, np.nan, pd.NA]
    expected = ["1.5", "-0.5", "7", "0.000000000000000001", "1000", "7", "8", None, None, None]
    assert texts(pd.array(values, dtype="amount")) == expected


def test_long_lists_are_read_as_short_ones():
    """If Arrow refuses a text in a long list, the result is the same as for a short list."""
    assert texts(pd.array(["1E-2", "7.", *["0.5"] * 100], dtype="amount"))[:3] == [
        "0.01",
        "7",
        "0.5",
    ]
    with pytest.raises(AmountError, match="at position 50"):
        pd.array([*["1.5"] * 50, "1_000", *["1.5"] * 50], dtype="amount")


READERS = {
    "pd.array": lambda texts: pd.array(texts, dtype="amount"),
    "astype": lambda texts: pd.Series(texts, dtype="str").astype("amount").array,
    "Decimals": lambda texts: pd.array([Decimal(text) for text in texts], dtype="amount"),
    "read_csv": lambda texts: (
        pd.read_csv(io.StringIO("\n".join(["a", *texts])), dtype={"a": "amount"})["a"].array
    ),
    "read_json": lambda texts: (
        pd.read_json(io.StringIO(json.dumps({"a": texts})), dtype={"a": "amount"})["a"].array
    ),
    "Arrow": lambda texts: AmountDtype().__from_arrow__(pa.array(["1e5", *texts], pa.string())[1:]),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@given(st.lists(notations, min_size=1, max_size=5))
@example(["1.157920892373162e+59"])
def test_every_notation_means_the_same_number(read, drawn):
    """Plain and scientific text is read as by Fraction, alone and among 1,000 texts."""
    expected = [Fraction(text) for text in drawn]
    assert exact_values(read(drawn[:1])) == expected[:1]
    many = read([*drawn, *["0.5"] * (1000 - len(drawn))])
    assert exact_values(many[: len(drawn)]) == expected
    assert (many[len(drawn) :] == Decimal("0.5")).all()


def test_slices_of_texts_are_read_to_their_ends():
    """The last text of a slice is complete: ``pc.if_else`` of Arrow before 24 read beyond it."""
    for size in [63, 127, 191, 1023] * 20:
        texts = pa.array(["1e5", "1e5", *["0.5", "50."] * (size // 2), "0.5"])[1:]
        amounts = AmountDtype().__from_arrow__(texts)
        assert (amounts[1::2] == Decimal("0.5")).all()
        assert (amounts[2::2] == 50).all()


@given(st.lists(notations, min_size=1, max_size=5))
@example(["9.000000000000000700000000000E+58"])
def test_decimals_beside_amounts_keep_their_digits(drawn):
    """Setting, comparing and computing with many Decimals in any notation is exact."""
    decimals = np.array([Decimal(text) for text in drawn] * 21, dtype=object)
    amounts = pd.array(["0"] * len(decimals), dtype="amount")
    amounts[:] = decimals
    assert exact_values(amounts) == [Fraction(text) for text in drawn] * 21
    assert (amounts == decimals).all()
    assert not (amounts - decimals).any()


@pytest.mark.parametrize("text", ["0", "-0", "0.000", "0e5", "00.10"])
def test_zeros_are_trimmed(text):
    """Trailing zeros are dropped."""
    assert texts(pd.array([text], dtype="amount")) == ["0.1" if "1" in text else "0"]


@pytest.mark.parametrize(
    "value",
    ["", ".", "-", "1_000", " 5", "٣", "1.2.3", "1.-5", ".-5", "--5", "1e", "NaN", "inf", "0x10"],
)
@pytest.mark.parametrize("count", [1, 1000])
def test_text_without_a_number_is_refused(value, count):
    """The error names the text and its position, and has a hint."""
    with pytest.raises(AmountError) as caught:
        pd.array([*["1.5"] * count, value], dtype="amount")
    assert repr(value) in str(caught.value)
    assert f"at position {count}" in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    "value",
    [0.5, np.float32(0.5), np.inf, True, np.bool_(1), Decimal("NaN"), Decimal("Infinity"), b"1"],
)
def test_values_that_are_not_exact_are_refused(value):
    """Floats, bools, NaN and infinity are refused, alone or in a column."""
    with pytest.raises(AmountError, match="at position 1"):
        pd.array([1, value], dtype="amount")
    with pytest.raises(AmountError, match="is not an exact amount"):
        Amount(value)


def test_floats_get_a_hint_with_their_text():
    """The hint shows how to write the amount that was probably meant."""
    with pytest.raises(AmountError, match=r"'0\.1' if this is the correct amount"):
        pd.array(np.array([0.1]), dtype="amount")


@pytest.mark.parametrize(
    "value",
    ["1e-78", "0." + "0" * 77 + "1", Decimal("1e-78"), "1e5000", "1" * 5000, "1" * 61 + "x"],
)
def test_absurd_sizes_are_refused(value):
    """More than 77 decimals or 4300 digits are refused, in a message of readable length."""
    with pytest.raises(AmountError, match="at position 0") as caught:
        pd.array([value], dtype="amount")
    assert len(str(caught.value)) < 300
    with pytest.raises(AmountError):
        pd.array([Decimal("1E+5000")], dtype="amount")


def test_trailing_zeros_do_not_count_as_decimals():
    """Text with 90 decimals, the last 89 of them zeros, is an amount."""
    assert texts(pd.array(["1.5" + "0" * 89], dtype="amount")) == ["1.5"]


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, pa.array])
def test_base_units_come_in_many_containers(kind):
    """Strings of digits are read from any container."""
    array = AmountArray.from_raw(kind(["1500000", "-1"]), [6, 18])
    assert texts(array) == ["1.5", "-0.000000000000000001"]


def test_base_units_at_unknown_decimals_are_missing():
    """An amount with unknown decimals is NA; 18 is never guessed."""
    array = AmountArray.from_raw(["1", 2, None, pd.NA, str(LARGEST)], [0, None, 6, 6, pd.NA])
    assert texts(array) == ["1", None, None, None, None]
    assert AmountArray.from_raw(["1"], None).isna().all()
    assert texts(AmountArray.from_raw([1, 2], pd.array([1, None], dtype="Int16"))) == ["0.1", None]
    assert len(AmountArray.from_raw([], [])) == len(AmountArray.from_raw([], 18)) == 0
    with pytest.raises(AmountError, match=r"'x' \(at position 0\) is not an integer"):
        AmountArray.from_raw(["x"], None)


@pytest.mark.parametrize(
    "value",
    ["1_000", " 5", "5 ", "+5", "٣", "", "-", "1.5", "1e5", 1.5, True, Decimal(1), "9" * 4301],
)
def test_base_units_are_ascii_digits(value):
    """Digits that `int` accepts beyond ASCII are refused."""
    for column in (["1", value], [1, value], [None, value]):
        with pytest.raises(AmountError, match="at position 1"):
            AmountArray.from_raw(column, 0)
    with pytest.raises(AmountError, match="raw is a single string"):
        AmountArray.from_raw("15", 0)


@pytest.mark.parametrize(
    "decimals", [-1, 78, 10**9, 10**30, "18", True, 18.0, [1, 2], [78], [True]]
)
def test_decimals_are_integers_from_0_to_77(decimals):
    """Absurd decimals are refused, alone or in a sequence, and so is a wrong number of them."""
    with pytest.raises(AmountError, match="decimals"):
        AmountArray.from_raw(["1"], decimals)


def test_huge_decimals_are_refused():
    """The message contains the number's length, not its digits."""
    with pytest.raises(AmountError, match="an integer with more than 4300 digits"):
        AmountArray.from_raw(["1"], [10**5000])


def test_fractional_base_units_are_refused():
    """`raw` never rounds, and needs the decimals of every known amount."""
    array = pd.array(["1.5", None], dtype="amount")
    assert list(array.raw([1, 6])) == [15, None]
    with pytest.raises(AmountError, match=r"1\.5 \(at position 0\) is not a whole number"):
        array.raw(0)
    with pytest.raises(AmountError, match="decimals of the token: unknown"):
        array.raw([None, 6])


@pytest.mark.parametrize("dtype", ["int64", "Int64", pd.ArrowDtype(pa.int64()), "uint8", "bool"])
def test_casts_that_lose_digits_are_refused(dtype):
    """A cast to integers needs whole numbers within the type's limits."""
    for value in ("1.5", str(2**70), "-1e30"):
        with pytest.raises(AmountError):
            pd.array([value], dtype="amount").astype(dtype)


def test_missing_amounts_are_no_numpy_integers():
    """NumPy's integers have no missing value."""
    with pytest.raises(AmountError, match="position 1 is NA"):
        pd.array(["1", None], dtype="amount").astype("int64")


@pytest.mark.parametrize(
    "value, kind",
    [
        ("1e-19", pa.decimal128(38, 18)),
        (10**20, pa.decimal128(38, 18)),
        (LARGEST, pa.decimal256(76, 0)),
        ("15", pa.decimal128(5, -1)),
    ],
)
def test_arrow_decimals_that_are_too_narrow_are_refused(value, kind):
    """Arrow's decimals never round: the error names the amount and the type."""
    with pytest.raises(AmountError, match=r"\(at position 1\) does not fit in decimal"):
        pd.array([0, value], dtype="amount").to_arrow(kind)


def test_arrow_decimals_of_more_than_77_decimals_are_refused():
    """Arrow makes such types of any width, and an amount has at most 77 decimals."""
    one = pa.py_buffer((1).to_bytes(16, "little"))
    finest, finer = (
        pa.Array.from_buffers(pa.decimal128(38, scale), 1, [None, one]) for scale in (77, 78)
    )
    assert exact_values(AmountDtype().__from_arrow__(finest)) == [Fraction(1, 10**77)]
    with pytest.raises(AmountError, match=r"decimal128\(38, 78\)"):
        AmountDtype().__from_arrow__(finer)


def test_search_needs_order():
    """A missing amount has no order."""
    with pytest.raises(ValueError, match="missing"):
        pd.array(["1", None], dtype="amount").searchsorted("1")


def test_read_only_arrays_are_not_changed():
    """Pandas marks arrays that must not change. Their views are also read-only."""
    array = pd.array(["1", "2"], dtype="amount")
    array._readonly = True
    for locked in (array, array[:1]):
        with pytest.raises(ValueError, match="read-only"):
            locked[0] = 5
    array[[0]][0] = 5
