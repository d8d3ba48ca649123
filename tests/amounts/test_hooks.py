"""Calls of pandas that ask amounts something unusual, and get an exact answer."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from walletframe.amounts.scalar import Amount
from walletframe.errors import AmountPrecisionError

LARGE = "1000000000000000000000000000.000000000000000001"


@pytest.fixture
def frame():
    """Give amounts, one of them missing, beside integers and text."""
    amounts = pd.array(["1", "2.25", None, LARGE], dtype="amount")
    return pd.DataFrame({"a": amounts, "i": [1, 2, 3, 4], "g": list("xxyy")})


@pytest.mark.parametrize("kind", ["int64", "uint8", "Int64", "int64[pyarrow]"])
@pytest.mark.parametrize("how", ["inner", "left", "outer"])
@pytest.mark.parametrize("keys", [["k"], ["k", "j"]])
def test_merge_with_other_numbers(kind, how, keys):
    """Keys of another dtype are matched by value, with NAs and with two keys."""
    ours = pd.DataFrame({"k": pd.array(["3", "1", None, "1.0"], dtype="amount"), "j": 1, "x": 1})
    theirs = pd.DataFrame({"k": pd.array([7, 1, 1], dtype=kind), "j": 1, "y": [1, 2, 3]})
    merged = ours.merge(theirs, on=keys, how=how)
    assert sorted(merged.dropna()["y"]) == [2, 2, 3, 3]
    assert len(merged) == {"inner": 4, "left": 6, "outer": 7}[how]
    turned = theirs.merge(ours, on=keys, how="inner")
    assert sorted(turned["y"]) == [2, 2, 3, 3]
    alone = ours.merge(theirs.drop(index=2), on=keys, how=how, sort=how == "outer")
    assert alone.dropna()[["k", "y"]].to_numpy().tolist() == [[1, 2], [1, 2]]


def test_merge_of_fractions_with_nullable_integers():
    """Pandas casts to the integers for a warning; the refusal says what to write."""
    ours = pd.DataFrame({"k": pd.array(["1.5"], dtype="amount")})
    theirs = pd.DataFrame({"k": pd.array([1], dtype="Int64")})
    with pytest.raises(AmountPrecisionError, match=r"1\.5 .*int64"):
        ours.merge(theirs, on="k")
    assert ours.merge(theirs.astype({"k": "amount"}), on="k").empty


def test_memory_counts_the_integers(frame):
    """With deep=True; a reference and a byte of the mask without."""
    shallow, deep = (frame.memory_usage(deep=deep)["a"] for deep in (False, True))
    assert (shallow, deep > shallow + 4 * 24) == (4 * 9, True)


def test_rows_of_extremes(frame):
    """For a column and for each column of a frame."""
    assert frame[["a", "i"]].idxmax().to_dict() == {"a": 3, "i": 3}
    assert frame[["a"]].idxmin().to_dict() == {"a": 0}
    assert frame["a"].idxmax() == 3


def test_round_by_column(frame):
    """A column that is named is rounded, half to even."""
    wanted = [1, Amount("2.2"), pd.NA, 10**27]
    assert frame.round({"a": 1})["a"].tolist() == wanted
    assert frame.round(pd.Series({"a": 1}))["a"].tolist() == wanted


@pytest.mark.parametrize("kind", [int, np.int64, np.int8])
@pytest.mark.parametrize("decimals", [2, 0, -30])
def test_rounding_by_numpys_integers(kind, decimals):
    """Their powers of ten overflow in silence; Python's don't."""
    amount = Amount(f"{2**130}.{2**130}")
    wanted = Amount(round(Fraction(amount), decimals))
    assert pd.Series([amount], dtype="amount").round(kind(decimals)).tolist() == [wanted]
    assert round(amount, kind(decimals)) == wanted


def test_csv_with_a_comma_and_with_a_format(frame):
    """A decimal comma loses no digit; a format is one of floats."""
    comma = LARGE.replace(".", ",")
    assert frame[["a"]].to_csv(index=False, decimal=",") == f'a\n1\n"2,25"\n""\n"{comma}"\n'
    written = frame[["a"]].head(2).to_csv(index=False, float_format="%.3f")
    assert written == "a\n1.000\n2.250\n"
    written = frame[["a"]].to_csv(index=False, float_format="{:.3f}".format)
    assert written.splitlines()[-1] == LARGE[:-15]


def test_joins_decimals_and_integers_of_arrow():
    """They are exact, and so is the column of both."""
    amounts = pd.Series(["1.5"], dtype="amount")
    decimals = pd.Series(["2.5"], dtype="str").astype(pd.ArrowDtype(pa.decimal128(5, 2)))
    joined = pd.concat([amounts, decimals, pd.Series([7], dtype="int64[pyarrow]")])
    assert (joined.dtype, joined.tolist()) == ("amount", [1.5, 2.5, 7])


def test_numpy_tells_what_is_missing(frame):
    """As of floats."""
    assert np.isnan(frame["a"]).tolist() == [False, False, True, False]


def test_most_frequent(frame):
    """On the oldest pandas, too."""
    assert frame["a"].iloc[[0, 0, 1, 2]].mode().tolist() == [1]
