"""Amounts beside the numbers of Python, NumPy and Arrow, on either side."""

import json
import math
import operator
import sqlite3
from contextlib import closing
from decimal import ROUND_UP, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from walletframe.amounts.scalar import Amount
from walletframe.errors import AmountError, AmountPrecisionError, AmountTypeError

VALUES = ["1.5", None, "-3", "1000000000000000000000000000.000000000000000001"]
WHOLE = [2, 3, 5, 7]
HALVES = [0.1, 0.5, 1.5, -2.0]
ONE = {
    "int": 2,
    "fraction": Fraction(3, 2),
    "Decimal": Decimal("1.5"),
    "amount": Amount("1.5"),
    "bool": True,
    "float": 0.1,
    "np.bool": np.bool_(1),
    "np.int64": np.int64(2),
    "np.uint64": np.uint64(2**63 + 1),
    "np.float16": np.float16(1.5),
    "np.float32": np.float32(0.1),
    "array of one": np.array(2),
}
MANY = {
    "list": WHOLE,
    "bools": np.array([True, False, True, True]),
    "np.uint8": np.array(WHOLE, dtype="uint8"),
    "np.float32": np.array(HALVES, dtype="float32"),
    "fractions": np.array([Fraction(3, 2)] * 4, dtype=object),
    "Int64": pd.array([2, 3, None, 5], dtype="Int64"),
    "Float32": pd.array([0.1, None, 0.5, 2], dtype="Float32"),
    "boolean": pd.array([True, None, True, True], dtype="boolean"),
    "int64[pyarrow]": pd.array([2, 3, None, 5], dtype="int64[pyarrow]"),
    "double[pyarrow]": pd.array([0.1, None, 0.5, 2], dtype="double[pyarrow]"),
    "bool[pyarrow]": pd.array([True, None, True, True], dtype="bool[pyarrow]"),
    "decimal128": pd.array([Decimal("1.5")] * 4, dtype=pd.ArrowDtype(pa.decimal128(10, 2))),
}
OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.eq,
    operator.ne,
    operator.lt,
    operator.ge,
]
HOLDERS = {
    "array": lambda amounts: amounts,
    "Series": pd.Series,
    "Index": pd.Index,
    "scalar": lambda amounts: amounts[0],
}
each_operator = pytest.mark.parametrize("apply", OPERATORS)


def exact(value):
    """Return a number as a fraction. None means missing."""
    if pd.isna(value):
        return None
    if hasattr(value, "as_integer_ratio"):
        return Fraction(*(int(part) for part in value.as_integer_ratio()))
    return Fraction(int(value))


def agrees(result, apply, left, right):
    """Return whether a result is the exact one, or the float nearest to it."""
    if left is None or right is None:
        return exact(result) is None
    wanted = apply(left, right)
    if isinstance(wanted, bool):
        return result == wanted
    if isinstance(result, float):
        return result == wanted.numerator / wanted.denominator
    return Fraction(result) == wanted


def check(apply, left, right):
    """Apply an operator, and compare the results value by value."""
    listed = [list(side) if pd.api.types.is_list_like(side) else [side] for side in (left, right)]
    count = max(map(len, listed))
    ours, theirs = ([exact(value) for value in side] * (count // len(side)) for side in listed)
    try:
        result = apply(left, right)
    except AmountPrecisionError:  # a float, which only products and comparisons take
        assert apply not in {operator.mul, operator.truediv, operator.eq, operator.lt}
        return
    result = list(result) if pd.api.types.is_list_like(result) else [result]
    assert [agrees(one, apply, *pair) for one, *pair in zip(result, ours, theirs, strict=True)] == [
        True
    ] * count


@each_operator
@pytest.mark.parametrize("other", ONE.values(), ids=ONE)
@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
def test_one_number(holder, other, apply):
    """A number of any library is read exactly, as the left or right operand."""
    amounts = holder(pd.array(VALUES, dtype="amount"))
    check(apply, amounts, other)
    check(apply, other, amounts)


@each_operator
@pytest.mark.parametrize("other", MANY.values(), ids=MANY)
@pytest.mark.parametrize("holder", [HOLDERS["array"], HOLDERS["Series"]], ids=["array", "Series"])
def test_many_numbers(holder, other, apply):
    """A column of numbers is read exactly. NA in an operand makes the result NA."""
    amounts = holder(pd.array(VALUES, dtype="amount"))
    there = pd.Series(other) if holder is pd.Series else other
    check(apply, amounts, there)
    check(apply, there, amounts)


def test_arrow_scalars_and_arrays():
    """PyArrow's scalars and arrays are read as the numbers that they hold."""
    amounts = pd.array(VALUES, dtype="amount")
    assert (amounts == pa.scalar(Decimal("1.5"))).tolist() == [True, pd.NA, False, False]
    assert (amounts + pa.array(WHOLE))[0] == Amount("3.5")
    assert Amount("1.5") + pa.scalar(1) == Amount("2.5")


def test_objects_that_are_floats_are_floats():
    """A missing object among floats is missing in the product."""
    amounts = pd.array(["2", "3"], dtype="amount")
    product = amounts * np.array([0.5, None], dtype=object)
    assert (product[0], np.isnan(product[1])) == (1.0, True)


@pytest.mark.parametrize(
    "function, of_one",
    [
        (np.floor, math.floor),
        (np.ceil, math.ceil),
        (np.trunc, math.trunc),
        (np.rint, round),
        (np.sign, lambda value: (value > 0) - (value < 0)),
        (np.square, lambda value: value**2),
    ],
)
def test_numpy_rounds_exactly(function, of_one):
    """NumPy's rounding returns amounts, and keeps NA."""
    amounts = pd.Series([*VALUES, "-2.5", "0", "-1E-18"], dtype="amount")
    result = function(amounts)
    assert result.dtype == "amount"
    wanted = [None if value is None else of_one(value) for value in map(exact, amounts)]
    assert list(map(exact, result)) == wanted


@pytest.mark.parametrize("other", [0, Amount("1.6"), WHOLE, pd.array(VALUES[::-1], dtype="amount")])
@pytest.mark.parametrize("function, of_two", [(np.maximum, max), (np.minimum, min)])
def test_numpy_chooses_exactly(function, of_two, other):
    """The larger or smaller amount is exact. A missing operand makes the result NA."""
    amounts = pd.Series(VALUES, dtype="amount")
    listed = list(other) if pd.api.types.is_list_like(other) else [other] * len(VALUES)
    pairs = zip(map(exact, amounts), map(exact, listed), strict=True)
    wanted = [None if None in pair else of_two(pair) for pair in pairs]
    for result in (function(amounts, other), function(amounts.array, other)):
        assert (result.dtype, list(map(exact, result))) == ("amount", wanted)
    assert list(map(exact, function(other, amounts))) == wanted


def test_numpy_refuses_to_compare_amounts_with_floats():
    """The error has a hint."""
    with pytest.raises(AmountPrecisionError, match="Hint: "):
        np.maximum(pd.Series(VALUES, dtype="amount"), 0.1)


@pytest.mark.parametrize("function", [np.sin, np.spacing, np.isnat, np.hypot, np.fmod])
def test_other_numpy_functions_are_refused_with_a_hint(function):
    """NumPy's own error is about methods of objects."""
    amounts = pd.Series(VALUES, dtype="amount")
    with pytest.raises(AmountTypeError, match=rf"(?s)'{function.__name__}'.*astype\(float\)"):
        function(*[amounts] * function.nin)
    with pytest.raises(AmountTypeError, match="the exponent must be"):
        np.power(amounts.array, 0.5)


def test_no_amount_is_infinite():
    """Amounts are never infinite, even beyond the largest float."""
    amounts = pd.Series([10**400, None], dtype="amount")
    assert np.isfinite(amounts).tolist() == [True, False]
    assert np.isinf(amounts).tolist() == [False, False]


@pytest.mark.parametrize("exponent", [0, 1, 2, np.int8(4)])
def test_whole_powers_of_a_column(exponent):
    """Whole powers are exact, and NA where an amount is missing."""
    amounts = pd.Series(VALUES, dtype="amount")
    wanted = [None if value is None else value ** int(exponent) for value in map(exact, amounts)]
    assert list(map(exact, amounts**exponent)) == wanted


def test_powers_with_too_many_decimals():
    """Powers that need more than 77 decimals are refused."""
    with pytest.raises(AmountPrecisionError, match="77 decimals"):
        pd.Series(["1E-40"], dtype="amount") ** 2
    tens = pd.array([10**40, 0], dtype="amount").copy()
    tens[1] = "1E-20"
    assert (tens[:1] ** 4).tolist() == [10**160]


def test_sqlite_refuses_amounts():
    """The error has a hint, which pandas's to_sql passes on."""
    with closing(sqlite3.connect(":memory:")) as database:
        with pytest.raises(
            AmountError, match=r"Hint: write str\(amount\), or a DataFrame with df\.wf\.to_sql"
        ):
            database.execute("select ?", [Amount("1.5")])
        with pytest.raises(AmountError, match=r"df\.wf\.to_sql"):
            pd.DataFrame({"a": pd.array(VALUES, dtype="amount")}).to_sql("t", database)


@pytest.mark.parametrize("compare", [operator.eq, operator.ne, operator.lt, operator.ge])
@pytest.mark.parametrize(
    "other", [Fraction(1, 3), np.longdouble("0.1"), np.longdouble(0.5), 1e-300]
)
def test_numbers_between_two_amounts_compare_exactly(compare, other):
    """A number that needs more than 77 decimals lies between two amounts."""
    amounts = pd.array(["0.3", "0.1", "0.5", "0", "1e-77", "0." + "3" * 77], dtype="amount")
    wanted = [compare(exact(amount), exact(other)) for amount in amounts]
    assert compare(amounts, other).tolist() == wanted
    assert compare(amounts[1], other) == wanted[1]


def test_floats_among_other_numbers_compare_by_their_exact_value():
    """A list may mix floats with other numbers; 0.1 is not the amount 0.1."""
    amounts = pd.array(["0.1", "0.5", "2"], dtype="amount")
    assert (amounts == [0.1, 0.5, Decimal(2)]).tolist() == [False, True, True]
    assert (amounts < [0.1, 0.5, Fraction(7, 3)]).tolist() == [True, False, True]


@pytest.mark.parametrize("apply", [operator.add, operator.mul, operator.mod])
@pytest.mark.parametrize("other", [Fraction(1, 3), np.longdouble("0.1")])
def test_inexact_numbers_are_refused_with_the_reason(apply, other):
    """A third is never rounded silently; a float wider than 64 bits has its exact value."""
    amounts = pd.array(["1", "2"], dtype="amount")
    if isinstance(other, np.longdouble):
        check(apply, amounts, other)
        return
    for side in (amounts, amounts[0]):
        with pytest.raises(AmountPrecisionError, match=r"1, 3\) has more than 77 decimals"):
            apply(side, other)


class TestScalar:
    """An amount is exact and is printed in plain digits, in any decimal context."""

    large = Amount(10**40 + 1)

    def test_no_method_rounds_to_28_digits(self):
        """Powers, extremes, fused products and shifts keep every digit."""
        assert self.large**2 == (10**40 + 1) ** 2
        assert self.large.max(1) == self.large
        assert self.large.min(10**60) == self.large
        assert str(self.large.normalize()) == str(self.large)
        assert self.large.max(np.int64(1)) == self.large
        assert self.large.fma(10**40, 1) == (10**40 + 1) * 10**40 + 1
        assert str(self.large.scaleb(-41)) == "0." + "1" + "0" * 39 + "1"
        assert all(type(kept) is Amount for kept in (self.large**2, self.large.max(1)))

    @pytest.mark.parametrize("exponent", [0.5, -1, Amount(2), "2"])
    def test_other_powers_are_refused(self, exponent):
        """Other exponents are refused, and so are amounts as exponents."""
        column = pd.array([self.large], dtype="amount")
        for base in (self.large, column):
            with pytest.raises(AmountTypeError, match=r"must be a (single )?non-negative integer"):
                base**exponent
        with pytest.raises(AmountTypeError, match="exponent"):
            2**self.large
        with pytest.raises(AmountTypeError, match="exponent"):
            2**column

    @pytest.mark.parametrize(
        "specification, shown",
        [
            (">25", "     0.000000000000000001"),
            ("", "0.000000000000000001"),
            (".2f", "0.00"),
            (".1e", "1.0e-18"),
            ("g", "1e-18"),
            ("%", "0.0000000000000001%"),
        ],
    )
    def test_formats(self, specification, shown):
        """Digits are plain unless the format has an exponent."""
        assert format(Amount("1E-18"), specification) == shown

    @pytest.mark.parametrize("text", ["0.125", "2.5", "-0.5", "1234567.895", "99.995"])
    @pytest.mark.parametrize("specification", [".2f", ".0f", ",.1f", ".1%", ".3e", "+.4", ".3g"])
    def test_rounding_does_not_follow_the_context(self, text, specification):
        """Rounding is half to even, which is also Python's default."""
        wanted = format(Decimal(text), specification)
        with localcontext(rounding=ROUND_UP, prec=3):
            result = format(Amount(text), specification)
        assert Decimal(result.rstrip("%").replace(",", "")) == Decimal(
            wanted.rstrip("%").replace(",", "")
        )

    def test_equals_a_value_of_a_column(self):
        """An amount and a column agree on the sign of 0, NumPy integers and division by 0."""
        assert str(Amount("-0")) == "0"
        assert Amount(np.int64(5)) == Amount(5) == np.int64(5)
        assert (Amount(1) / 0, Amount(-1) / 0) == (math.inf, -math.inf)
        assert math.isnan(Amount(0) / 0)
        for left in (Amount(1), Amount(0)):
            with pytest.raises(ZeroDivisionError):
                left // 0
            with pytest.raises(ZeroDivisionError):
                left % 0

    def test_hash_is_that_of_equal_numbers(self):
        """An amount finds the dictionary entry of an equal number."""
        kept = {5: "a", Fraction(3, 2): "b"}
        assert (kept[Amount(5)], kept[Amount("1.5")]) == ("a", "b")

    def test_results_with_too_many_digits_are_refused(self):
        """A huge power raises instead of rounding."""
        with pytest.raises(AmountPrecisionError, match="digits"):
            self.large**1000

    def test_json_takes_text(self):
        """json.dumps writes every digit with default=str."""
        assert json.dumps({"held": self.large}, default=str) == f'{{"held": "{10**40 + 1}"}}'
