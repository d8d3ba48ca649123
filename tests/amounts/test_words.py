"""128-bit amounts equal the same amounts as Python integers."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from walletframe.amounts import AmountArray, sums
from walletframe.amounts.arrow import decimals_from_integers, read_decimals_or_texts
from walletframe.amounts.sums import group_sums_scale_and_counts, positive_mask

EDGES = [0, 1, -1, 2**32 - 1, 2**32, 2**63, 2**64 - 1, 2**64, -(2**64), 10**38 - 1, 1 - 10**38]
integers = st.sampled_from(EDGES) | st.integers(1 - 10**38, 10**38 - 1)
FINE = "0.00000000000000000000001"
few = st.sampled_from([None, "", FINE, str(2**256 - 1)])
rows = st.lists(st.tuples(integers | few, st.integers(0, 2)), max_size=12)


def read(values):
    """Read numbers in units of 10**-18, as text where no decimal holds an amount, "" for NA.

    The finest has a decimal, which was rounded to 0.
    """
    rounded = np.array([n == FINE for n in values], dtype=bool)
    has_decimal = np.array([isinstance(n, int) for n in values], dtype=bool) | rounded
    units = np.array([n if isinstance(n, int) else 0 for n in values], dtype=object)
    texts = pa.array([n or None if isinstance(n, str) else "1" for n in values], pa.string())
    decimals = decimals_from_integers(units, ~has_decimal, pa.decimal128(38, 18))
    return read_decimals_or_texts(decimals, rounded, lambda places: texts.take(pa.array(places)))


@given(rows)
def test_sums(rows):
    """Sums by group are exact, also with amounts that do not fit in a decimal."""
    values = ["" if value is None else value for value, _ in rows]
    ids, result = np.array([number for _, number in rows], dtype=np.intp), read(values)
    ours, exact = (group_sums_scale_and_counts(each, ids, 3) for each in (result, result.exact()))
    for mine, other in zip(ours, exact, strict=True):  # sums, their scale, and counts
        assert np.array_equal(mine, other)
    assert positive_mask(result).tolist() == positive_mask(result.exact()).tolist()


@given(rows, st.randoms())
def test_take(rows, random):
    """Rows are taken in any order, and more than once."""
    result = read(["" if value is None else value for value, _ in rows])
    places = [random.randrange(len(rows)) for _ in rows]
    taken, whole = result.take(np.array(places, dtype=np.intp)).exact(), result.exact()
    expected = AmountArray(*whole).take(places)
    pd.testing.assert_extension_array_equal(AmountArray(*taken), expected)


def test_many(monkeypatch):
    """Long columns are summed in blocks, since a float holds no more than 2**53."""
    monkeypatch.setattr(sums, "_BLOCK_ROWS", 2)
    units, _, _ = group_sums_scale_and_counts(read(EDGES), np.zeros(len(EDGES), dtype=np.intp), 2)
    assert units.tolist() == [sum(EDGES), 0]


def test_of_words():
    """128-bit amounts are converted to integers when needed."""
    array = AmountArray._from_int128(read([10**18, "", 5 * 10**17]))
    assert array.take([1, 0]).tolist() == [pd.NA, 1]
    array[1] = 2
    assert array.sum() == Decimal("3.5")
    assert array[1:]._amounts().integers.tolist() == [20 * 10**17, 5 * 10**17]
