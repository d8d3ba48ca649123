"""Ratios and statistics, compared with the float nearest to the exact value."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from amount_strategies import array_of, columns, floats, fractions_of, full_columns, nearest, pairs
from hypothesis import given
from hypothesis import strategies as st


def expected_floats(fractions):
    """Give the nearest floats, NaN for None."""
    return [math.nan if fraction is None else nearest(fraction) for fraction in fractions]


def assert_same(found, expected):
    """Compare floats to the last bit; NaN equals NaN."""
    np.testing.assert_array_equal(np.asarray(found, dtype=float), np.asarray(expected, dtype=float))


def is_nearest_root(found, square):
    """Tell whether no float is nearer to the root of a fraction than the one found."""
    below, above = np.nextafter(found, -np.inf), np.nextafter(found, np.inf)
    low = (Fraction(found) + Fraction(float(below))) / 2
    high = (Fraction(found) + Fraction(float(above))) / 2
    return (low <= 0 or low * low <= square) and square <= high * high


@given(columns)
def test_floats_are_the_nearest(column):
    """`astype(float)` rounds once."""
    assert_same(array_of(column).astype(float), expected_floats(fractions_of(column)))


@given(columns, pairs)
def test_quotients_are_the_nearest(column, divisor):
    """Amounts over an amount are rounded once; over zero as for floats."""
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
    """Mean and median are rounded once, NaN of nothing."""
    array, present = array_of(column), sorted(f for f in fractions_of(column) if f is not None)
    if not present:
        assert math.isnan(array.mean())
        assert math.isnan(array.median())
        return
    count = len(present)
    assert array.mean() == nearest(sum(present) / count)
    assert array.median() == nearest((present[(count - 1) // 2] + present[count // 2]) / 2)


@given(full_columns, st.integers(0, 1))
def test_spread_is_the_nearest(column, ddof):
    """Variance, deviation and standard error are rounded once."""
    array, values = array_of(column), fractions_of(column)
    count = len(values)
    if count <= ddof:
        assert math.isnan(array.var(ddof=ddof))
        assert math.isnan(array.std(ddof=ddof))
        return
    mean = sum(values) / count
    variance = sum((value - mean) ** 2 for value in values) / (count - ddof)
    assert array.var(ddof=ddof) == nearest(variance)
    assert is_nearest_root(array.std(ddof=ddof), variance)
    assert is_nearest_root(array.sem(ddof=ddof), variance / count)


@pytest.mark.parametrize("kind", [np.int64, np.int8, np.float64, float])
@pytest.mark.parametrize("name", ["var", "std", "sem"])
def test_degrees_of_freedom_of_any_type(name, kind):
    """NumPy's integers would overflow beside the squares of a thousand amounts."""
    series = pd.Series([f"{2**80 + n}.5" for n in range(1000)], dtype="amount")
    wanted, key = getattr(series, name)(ddof=1), np.zeros(1000)
    assert getattr(series, name)(ddof=kind(1)) == wanted
    assert getattr(series.groupby(key), name)(ddof=kind(1)).tolist() == [wanted]


@given(full_columns, st.sampled_from([0, 0.25, 0.5, 0.75, 1]))
def test_quantiles_are_the_nearest(column, share):
    """A quantile is interpolated exactly and rounded once."""
    values, series = sorted(fractions_of(column)), pd.Series(array_of(column))
    position = Fraction(share) * (len(values) - 1)
    low = values[math.floor(position)]
    high = values[math.ceil(position)]
    middle = low + (high - low) * (position - math.floor(position))
    assert series.quantile(share) == nearest(middle)
    assert series.quantile(share, interpolation="lower") == nearest(low)
    assert series.quantile(share, interpolation="higher") == nearest(high)
    halfway = low if position.denominator == 1 else (low + high) / 2
    assert series.quantile(share, interpolation="midpoint") == nearest(halfway)
    closest = values[round(position)]
    assert series.quantile(share, interpolation="nearest") == nearest(closest)


@given(columns, st.lists(st.integers(0, 2), min_size=12, max_size=12))
def test_statistics_of_groups_are_those_of_their_members(column, keys):
    """Grouped statistics are to the last bit those of each group alone."""
    frame = pd.DataFrame({"key": keys[: len(column)], "amount": array_of(column)})
    grouped = frame.groupby("key")["amount"]
    for name in ("mean", "median", "var", "std", "sem"):
        expected = [getattr(group.array, name)() for _, group in grouped]
        assert_same(getattr(grouped, name)(), expected)
    if column and hasattr(pd.api.extensions.ExtensionArray, "_groupby_quantile"):
        expected = [group.quantile(0.3) for _, group in grouped]
        assert_same(grouped.quantile(0.3), expected)


def test_division_by_zero_is_that_of_floats():
    """Over zero: infinite with the amount's sign, and NaN for zero."""
    amounts = pd.array(["1", "-1", "0", None], dtype="amount")
    expected = [math.inf, -math.inf, math.nan, math.nan]
    assert_same(amounts / 0, expected)
    assert_same(amounts / 0.0, expected)
    assert_same(1 / (amounts * 0), [math.inf, math.inf, math.inf, math.nan])
    assert_same(1.0 / (amounts * 0), [math.inf, math.inf, math.inf, math.nan])
    assert_same(amounts * math.inf, expected)


def test_equal_amounts_have_no_skewness_and_no_kurtosis():
    """Both are 0, as pandas has it."""
    equal = pd.Series(["2"] * 5, dtype="amount")
    assert (equal.skew(), equal.kurt()) == (0, 0)


@given(columns)
def test_skewness_and_kurtosis_are_the_nearest(column):
    """The moments are exact, also of large amounts that hardly differ; groups have the same."""
    amounts = pd.Series(array_of(column))
    present = [fraction for fraction in fractions_of(column) if fraction is not None]
    n, mean = len(present), sum(present, Fraction()) / max(len(present), 1)
    second, third, fourth = (sum((f - mean) ** power for f in present) for power in (2, 3, 4))
    skew, kurt = amounts.skew(), amounts.kurt()
    if n < 3 or not second:
        assert math.isnan(skew) if n < 3 else skew == 0
    else:
        assert skew * third >= 0
        square = Fraction(n**2 * (n - 1), (n - 2) ** 2) * third**2 / second**3
        assert is_nearest_root(abs(skew), square)
    if n < 4 or not second:
        assert math.isnan(kurt) if n < 4 else kurt == 0
    else:
        above = n * (n + 1) * (n - 1) * fourth / second**2 - 3 * (n - 1) ** 2
        assert kurt == nearest(above / ((n - 2) * (n - 3)))
    grouped = amounts.groupby([0] * len(amounts))
    assert_same(grouped.skew(), [skew] if len(amounts) else [])
    assert_same(grouped.kurt(), [kurt] if len(amounts) else [])
