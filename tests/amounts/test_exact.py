"""Exact operations, compared with Python integers and fractions."""

import operator
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pandas as pd
import pytest
from amount_strategies import (
    array_of,
    columns,
    exact_values,
    floats,
    fractions_of,
    full_columns,
    pairs,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st

settings.register_profile("amounts", max_examples=60, deadline=None)
settings.load_profile("amounts")

twins = columns.flatmap(
    lambda column: st.tuples(
        st.just(column),
        st.lists(st.one_of(st.none(), pairs), min_size=len(column), max_size=len(column)),
    )
)


def pointwise(operation, left, right):
    """Apply an operation to pairs of fractions without missing values."""
    return [
        None if a is None or b is None else operation(a, b)
        for a, b in zip(left, right, strict=True)
    ]


@given(twins, st.sampled_from([operator.add, operator.sub]))
def test_sums_and_differences_are_exact(twin, operation):
    """Arrays of any scales add and subtract as fractions do."""
    left, right = map(array_of, twin)
    expected = pointwise(operation, *map(fractions_of, twin))
    assert exact_values(operation(left, right)) == expected


@given(columns, st.integers(-(10**30), 10**30))
def test_products_with_integers_are_exact(column, factor):
    """The product of an amount and an integer is exact, on either side."""
    expected = [None if f is None else f * factor for f in fractions_of(column)]
    assert exact_values(array_of(column) * factor) == expected
    assert exact_values(factor * array_of(column)) == expected


@given(twins, st.sampled_from([operator.floordiv, operator.mod]))
def test_whole_quotients_and_remainders_are_exact(twin, operation):
    """Division with a remainder rounds down, as for integers."""
    left, right = map(fractions_of, twin)
    assume(0 not in right)
    result = operation(*map(array_of, twin))
    assert exact_values(result) == pointwise(operation, left, right)


@given(twins, st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge"]))
def test_comparisons_are_exact(twin, name):
    """Comparisons equal those of fractions. A missing operand makes the result NA."""
    compare = getattr(operator, name)
    result = compare(*map(array_of, twin)).to_numpy(object, na_value=None)
    assert list(result) == pointwise(compare, *map(fractions_of, twin))


@given(columns, floats, st.sampled_from(["eq", "lt", "ge"]))
def test_comparisons_with_floats_are_exact(column, number, name):
    """A float is compared as the exact number that it is."""
    compare = getattr(operator, name)
    result = compare(array_of(column), number).to_numpy(object, na_value=None)
    expected = [None if f is None else compare(f, Fraction(number)) for f in fractions_of(column)]
    assert list(result) == expected


@given(columns)
def test_reductions_are_exact(column):
    """Sum, minimum and maximum skip missing values and lose no digit."""
    array, present = array_of(column), [f for f in fractions_of(column) if f is not None]
    assert Fraction(array.sum()) == sum(present)
    if present:
        assert (Fraction(array.min()), Fraction(array.max())) == (min(present), max(present))
    else:
        assert array.min() is array.max() is pd.NA


@given(full_columns, st.sampled_from([("cumsum", operator.add), ("cummin", min), ("cummax", max)]))
def test_running_values_are_exact(column, named):
    """Running sums, minima and maxima lose no digit."""
    name, operation = named
    running = getattr(pd.Series(array_of(column)), name)().array
    assert exact_values(running) == list(accumulate(fractions_of(column), operation))


@given(columns, st.booleans())
def test_sorting_is_exact(column, ascending):
    """Sorting is exact and stable, with NA last."""
    fractions = fractions_of(column)
    places = array_of(column).argsort(ascending=ascending)
    sign = 1 if ascending else -1
    present = [place for place, f in enumerate(fractions) if f is not None]
    gaps = [place for place, f in enumerate(fractions) if f is None]
    assert list(places) == sorted(present, key=lambda place: sign * fractions[place]) + gaps


@given(st.lists(st.integers(10**40, 10**40 + 50), max_size=40))
def test_sorting_distinguishes_integers_of_one_float(raw):
    """Integers with the same float are sorted by their last digits."""
    array = array_of([(value, 3) for value in raw])
    assert [int(value) for value in array[array.argsort()].raw(3)] == sorted(raw)


@given(columns, st.lists(st.integers(0, 2), min_size=12, max_size=12))
def test_groups_are_exact(column, keys):
    """Grouped sums, minima and maxima equal those of fractions."""
    frame = pd.DataFrame({"key": keys[: len(column)], "amount": array_of(column)})
    members = {}
    for key, fraction in zip(keys, fractions_of(column), strict=False):
        members.setdefault(key, []).extend([] if fraction is None else [fraction])
    grouped = frame.groupby("key")["amount"]
    for name, reduce in (("sum", sum), ("min", min), ("max", max)):
        expected = [
            reduce(members[key]) if members[key] or name == "sum" else None
            for key in sorted(members)
        ]
        assert exact_values(getattr(grouped, name)().array) == expected


@given(full_columns, st.lists(st.integers(0, 2), min_size=12, max_size=12))
def test_running_values_of_groups_are_exact(column, keys):
    """Grouped running sums, minima and maxima restart in each group."""
    frame = pd.DataFrame({"key": keys[: len(column)], "amount": array_of(column)})
    for name, operation in (("cumsum", operator.add), ("cummin", min), ("cummax", max)):
        last, expected = {}, []
        for key, fraction in zip(keys, fractions_of(column), strict=False):
            last[key] = operation(last[key], fraction) if key in last else fraction
            expected.append(last[key])
        result = getattr(frame.groupby("key")["amount"], name)()
        assert exact_values(result.array) == expected


@given(columns, st.integers(-5, 80))
def test_rounding_is_exact_and_half_to_even(column, decimals):
    """Rounding equals that of fractions."""
    expected = [None if f is None else round(f, decimals) for f in fractions_of(column)]
    assert exact_values(array_of(column).round(decimals)) == expected


@given(columns, columns)
def test_joining_and_identity_ignore_the_scale(left, right):
    """Concatenated arrays contain the same amounts. Equal amounts have equal hashes."""
    joined = pd.concat([pd.Series(array_of(left)), pd.Series(array_of(right))], ignore_index=True)
    fractions = fractions_of(left) + fractions_of(right)
    assert joined.dtype == "amount"
    assert exact_values(joined.array) == fractions
    apart = np.concatenate([pd.util.hash_array(array_of(side)) for side in (left, right)])
    assert list(apart) == list(pd.util.hash_array(joined.array))
    assert len(set(apart)) == len(set(map(hash, fractions)))  # hash(2**61 - 1) is hash(0)
    assert exact_values(joined.array.unique()) == list(dict.fromkeys(fractions))
    assert list(joined.duplicated()) == [f in fractions[:i] for i, f in enumerate(fractions)]


@given(pairs, st.integers(0, 77))
@settings(max_examples=300)
def test_hashes_ignore_the_scale(pair, finer):
    """One amount has one hash at every scale, by Python's own rule."""
    integer, scale = pair[0] // 10**20, min(pair[1], finer)
    alone = array_of([(integer, scale)])
    beside = array_of([(integer, scale), (1, finer), (10**finer, finer)])
    assert pd.util.hash_array(alone)[0] == pd.util.hash_array(beside)[0]
    assert pd.util.hash_array(beside)[2] == pd.util.hash_array(array_of([(1, 0)]))[0]


@given(twins)
def test_membership_and_search_are_exact(twin):
    """`isin` and `searchsorted` find equal amounts of other scales."""
    left, right = map(fractions_of, twin)
    assert list(array_of(twin[0]).isin(array_of(twin[1]))) == [f in right for f in left]
    ordered = array_of([pair for pair in twin[0] if pair])
    ordered = ordered[ordered.argsort()]
    values = exact_values(ordered)
    for pair in filter(None, twin[1]):
        sought = Fraction(pair[0], 10 ** pair[1])
        place = ordered.searchsorted(array_of([pair])[0])
        assert place == sum(value < sought for value in values)


@given(full_columns)
def test_raw_returns_the_base_units_of_from_raw(column):
    """`raw` returns the integers that `from_raw` got."""
    raw = array_of(column).raw([decimals for _, decimals in column])
    assert list(raw) == [integer for integer, _ in column]


@given(pairs, pairs)
def test_scalars_are_exact(left, right):
    """Single amounts add, subtract and multiply exactly, whatever their digits."""
    a, b = array_of([left])[0], array_of([right])[0]
    assert Fraction(a + b) == Fraction(a) + Fraction(b)
    assert Fraction(a - b) == Fraction(a) - Fraction(b)
    assert Fraction(a * b) == Fraction(a) * Fraction(b)
    assert "E" not in f"{a}{b}{a * b}"


@pytest.mark.stress
@settings(max_examples=600)
@given(twins)
def test_sums_are_exact_for_many_more(twin):
    """The sums above, with many more examples."""
    expected = pointwise(operator.add, *map(fractions_of, twin))
    assert exact_values(array_of(twin[0]) + array_of(twin[1])) == expected
