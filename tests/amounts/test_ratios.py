"""Ratios, means and medians, compared with the nearest floats; other statistics with floats."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from amount_strategies import array_of, columns, floats, fractions_of, full_columns, nearest, pairs
from hypothesis import given
from hypothesis import strategies as st


def expected_floats(fractions):
    """Return the nearest floats, NaN for None."""
    return [math.nan if fraction is None else nearest(fraction) for fraction in fractions]


def assert_same(result, expected):
    """Check that floats are equal to the last bit; NaN equals NaN."""
    np.testing.assert_array_equal(
        np.asarray(result, dtype=float), np.asarray(expected, dtype=float)
    )


@given(columns)
def test_floats_are_the_nearest(column):
    """`astype(float)` rounds once."""
    assert_same(array_of(column).astype(float), expected_floats(fractions_of(column)))


@given(columns, pairs)
def test_quotients_are_the_nearest(column, divisor):
    """Quotients are rounded once. Division by zero is as for floats."""
    below = Fraction(divisor[0], 10 ** divisor[1])
    if below == 0:
        return
    expected = [None if f is None else f / below for f in fractions_of(column)]
    assert_same(array_of(column) / array_of([divisor])[0], expected_floats(expected))


@given(columns, floats)
def test_products_with_floats_are_the_nearest(column, factor):
    """An amount times a float is rounded once."""
    expected = [None if f is None else f * Fraction(factor) for f in fractions_of(column)]
    assert_same(array_of(column) * factor, expected_floats(expected))
    assert_same(
        pd.Series([factor] * len(column), dtype=float) * array_of(column), expected_floats(expected)
    )


@given(full_columns, floats)
def test_quotients_with_floats_are_the_nearest(column, number):
    """An amount over a float, and a float over an amount, are rounded once."""
    fractions = fractions_of(column)
    if number:
        expected = [f / Fraction(number) for f in fractions]
        assert_same(array_of(column) / number, expected_floats(expected))
    if all(fractions):
        expected = [Fraction(number) / f for f in fractions]
        assert_same(number / array_of(column), expected_floats(expected))


@given(columns)
def test_mean_and_median_are_the_nearest(column):
    """Mean and median are rounded once, and NaN without amounts."""
    array, present = array_of(column), sorted(f for f in fractions_of(column) if f is not None)
    if not present:
        assert math.isnan(array.mean())
        assert math.isnan(array.median())
        return
    count = len(present)
    assert array.mean() == nearest(sum(present) / count)
    assert array.median() == nearest((present[(count - 1) // 2] + present[count // 2]) / 2)


@given(columns, st.booleans(), st.integers(0, 1))
def test_spreads_are_those_of_the_floats(column, skipna, ddof):
    """Variance, deviation, error, skewness and kurtosis are pandas's, of the nearest floats."""
    amounts = pd.Series(array_of(column))
    near = amounts.astype(float)
    for name in ("var", "std", "sem"):
        wanted = getattr(near, name)(skipna=skipna, ddof=ddof)
        assert_same(getattr(amounts, name)(skipna=skipna, ddof=ddof), wanted)
        assert_same(getattr(amounts.array, name)(skipna=skipna, ddof=ddof), wanted)
    for name in ("skew", "kurt"):
        with np.errstate(over="ignore"):  # pandas 2.2 warns of it
            assert_same(getattr(amounts, name)(skipna=skipna), getattr(near, name)(skipna=skipna))


@given(columns, st.lists(st.sampled_from([0, 0.25, 0.5, 0.75, 1]), max_size=3))
def test_quantiles_are_those_of_the_floats(column, shares):
    """Quantiles equal those of the floats, with each of pandas's interpolations."""
    amounts = pd.Series(array_of(column))
    near = amounts.astype(float)
    for interpolation in ("linear", "lower", "higher", "midpoint", "nearest"):
        wanted = near.quantile(shares, interpolation)
        assert_same(amounts.quantile(shares, interpolation), wanted)


@pytest.mark.parametrize(
    "function", [np.sqrt, np.cbrt, np.exp, np.log, np.log2, np.log10, np.log1p]
)
def test_functions_are_those_of_the_floats(function):
    """NumPy's `where` and `out` work as for floats."""
    result, chosen = np.zeros(3), np.array([True, False, True])
    amounts = pd.array(["2", "3", "4"], dtype="amount")
    assert function(amounts, where=chosen, out=result) is result
    assert result.tolist() == [function(2.0), 0, function(4.0)]
    assert_same(function(pd.Series(["2", None], dtype="amount")), [function(2.0), np.nan])


@given(columns, st.lists(st.integers(0, 2), min_size=12, max_size=12))
def test_statistics_of_groups_are_those_of_their_members(column, keys):
    """Means and medians are right to the last bit; the rest is pandas's, of the nearest floats."""
    frame = pd.DataFrame({"key": keys[: len(column)], "amount": array_of(column)})
    grouped = frame.groupby("key")["amount"]
    for name in ("mean", "median"):
        expected = [getattr(group.array, name)() for _, group in grouped]
        assert_same(getattr(grouped, name)(), expected)
    near = frame.astype({"amount": float}).groupby("key")["amount"]
    for name in ("var", "std", "sem", "skew", "kurt", "quantile"):
        if hasattr(near, name):  # pandas 2 has no kurt
            assert_same(getattr(grouped, name)(), getattr(near, name)())


def test_products_below_all_normal_floats_are_rounded_once():
    """A third of the smallest float is rounded to 0, and two thirds are rounded up to it."""
    least = 5e-324
    amounts = pd.Series(["0.4", "0.6", "2.4"], dtype="amount")
    assert_same(amounts * least, [0, least, 2 * least])


def test_groups_of_few_members():
    """Spreads, ranks and cumulative maxima, in groups of no, one and two amounts."""
    keys = pd.Categorical(["a", "a", "a", "b"], ["a", "b", "c"])
    frame = pd.DataFrame({"key": keys, "amount": pd.array(["1", None, "2.5", "7"], "amount")})
    grouped = frame.groupby("key", observed=False)["amount"]
    assert_same(grouped.median(), [1.75, 7, np.nan])
    assert_same(grouped.std(), [1.5 / 2**0.5, np.nan, np.nan])
    assert_same(grouped.rank(), [1, np.nan, 2, 1])
    assert grouped.cummax().equals(frame["amount"])
    assert grouped.cummin().equals(pd.Series(["1", None, "1", "7"], dtype="amount"))
    assert_same(frame["amount"].head(0).median(), np.nan)


def test_division_by_zero_is_that_of_floats():
    """Division by zero is infinite with the amount's sign, and NaN for 0/0."""
    amounts = pd.array(["1", "-1", "0", None], dtype="amount")
    expected = [math.inf, -math.inf, math.nan, math.nan]
    assert_same(amounts / 0, expected)
    assert_same(amounts / 0.0, expected)
    assert_same(1 / (amounts * 0), [math.inf, math.inf, math.inf, math.nan])
    assert_same(1.0 / (amounts * 0), [math.inf, math.inf, math.inf, math.nan])
    assert_same(amounts * math.inf, expected)


def test_infinite_floats_over_amounts_stay_infinite():
    """Infinity divided by an amount has the amount's sign, even for zero. NaN stays NaN."""
    amounts = pd.Series(["2", "-0.5", "0", None], dtype="amount")
    assert_same(math.inf / amounts, [math.inf, -math.inf, math.inf, math.nan])
    assert_same(-math.inf / amounts, [-math.inf, math.inf, -math.inf, math.nan])
    assert_same(math.nan / amounts, [math.nan] * 4)
