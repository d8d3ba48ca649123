"""Unusual calls of pandas's hooks have an exact result."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from walletframe.amounts.scalar import Amount
from walletframe.errors import AmountPrecisionError
from walletframe.pandas_versions import TEXT

LARGE = "1000000000000000000000000000.000000000000000001"


@pytest.fixture
def frame():
    """Return amounts, one of them missing, beside integers and text."""
    amounts = pd.array(["1", "2.25", None, LARGE], dtype="amount")
    return pd.DataFrame({"a": amounts, "i": [1, 2, 3, 4], "g": list("xxyy")})


@pytest.mark.parametrize("kind", ["int64", "uint8", "Int64", "int64[pyarrow]"])
@pytest.mark.parametrize("how", ["inner", "left", "outer"])
@pytest.mark.parametrize("keys", [["k"], ["k", "j"]])
def test_merge_with_other_numbers(kind, how, keys):
    """Keys of another dtype are matched by value, also with NA and with two keys."""
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
    """Pandas casts fractions to integers for a warning; the error has a hint."""
    ours = pd.DataFrame({"k": pd.array(["1.5"], dtype="amount")})
    theirs = pd.DataFrame({"k": pd.array([1], dtype="Int64")})
    with pytest.raises(AmountPrecisionError, match=r"1\.5 .*int64"):
        ours.merge(theirs, on="k")
    assert ours.merge(theirs.astype({"k": "amount"}), on="k").empty


def test_memory_counts_the_integers(frame):
    """With deep=True, the size includes the integers; otherwise, references and the mask."""
    shallow, deep = (frame.memory_usage(deep=deep)["a"] for deep in (False, True))
    assert (shallow, deep > shallow + 4 * 24) == (4 * 9, True)


def test_rows_of_extremes(frame):
    """The labels are right for a column and for each column of a frame."""
    assert frame[["a", "i"]].idxmax().to_dict() == {"a": 3, "i": 3}
    assert frame[["a"]].idxmin().to_dict() == {"a": 0}
    assert frame["a"].idxmax() == 3


def test_round_by_column(frame):
    """Only the named column is rounded, half to even."""
    wanted = [1, Amount("2.2"), pd.NA, 10**27]
    assert frame.round({"a": 1})["a"].tolist() == wanted
    assert frame.round(pd.Series({"a": 1}))["a"].tolist() == wanted


@pytest.mark.parametrize("kind", [int, np.int64, np.int8])
@pytest.mark.parametrize("decimals", [2, 0, -30])
def test_rounding_by_numpys_integers(kind, decimals):
    """NumPy's powers of ten overflow silently; Python's do not."""
    amount = Amount(f"{2**130}.{2**130}")
    wanted = Amount(round(Fraction(amount), decimals))
    assert pd.Series([amount], dtype="amount").round(kind(decimals)).tolist() == [wanted]
    assert round(amount, kind(decimals)) == wanted


def test_csv_with_a_comma_and_with_a_format(frame):
    """A decimal comma loses no digit, and str.format rounds half to even."""
    comma = LARGE.replace(".", ",")
    assert frame[["a"]].to_csv(index=False, decimal=",") == f'a\n1\n"2,25"\n""\n"{comma}"\n'
    written = frame[["a"]].to_csv(index=False, float_format="{:.3f}".format)
    assert written.splitlines()[-1] == LARGE[:-15]
    ties = pd.DataFrame({"a": pd.array([10**33, "1.015", "0.125"], dtype="amount"), "f": 0.5})
    written = ties.to_csv(index=False, header=False, float_format="{:.2f}".format)
    assert written.split() == [f"1{'0' * 33}.00,0.50", "1.02,0.50", "0.12,0.50"]


@pytest.mark.parametrize("float_format", ["%.2f", "%g", "%.2f".__mod__])
def test_csv_with_a_format_of_floats(frame, float_format):
    """Percent formats need floats, so they are refused with a hint, also for an index."""
    for table in (frame, frame.dropna().set_index("a")):
        with pytest.raises(AmountPrecisionError, match="round the amount to a float") as caught:
            table.to_csv(float_format=float_format)
        assert 'float_format="{:.2f}".format' in caught.value.hint
    whole = frame[["a"]].head(2).to_csv(index=False, header=False, float_format="%s")
    assert whole.split() == ["1", "2.25"]
    assert [float(amount) for amount in frame["a"].dropna()][:2] == [1, 2.25]


def test_markdown_keeps_all_digits(frame):
    """The documented option keeps all digits."""
    assert LARGE in frame.dropna().to_markdown(disable_numparse=True)


def test_quantile_bins_of_ranks():
    """Ranks are put into the bins of the amounts, even if floats can't distinguish them."""
    places = [5, 2, 7, 0, 4, 1, 3, 6]
    amounts = pd.Series([10**33 + place for place in places], dtype="amount")
    bins = pd.qcut(amounts.rank(method="min"), 4, labels=False)
    assert bins.tolist() == [place // 2 for place in places]


@pytest.mark.parametrize("name", ["mean", "median"])
def test_means_of_rows_with_floats_as_text(name):
    """The mean is the nearest float after the floats are converted to amounts."""
    amounts = pd.array(["1000000000000000.000000000000000003", None], dtype="amount")
    frame = pd.DataFrame({"a": amounts, "f": [-1e15, 1e-7]})
    result = getattr(frame.astype(TEXT).astype("amount"), name)(axis=1)
    assert result.tolist() == [1.5e-18, 1e-7]


def test_joins_decimals_and_integers_of_arrow():
    """Arrow's decimals and integers join exactly, and the joined column is exact too."""
    amounts = pd.Series(["1.5"], dtype="amount")
    decimals = pd.Series(["2.5"], dtype=TEXT).astype(pd.ArrowDtype(pa.decimal128(5, 2)))
    joined = pd.concat([amounts, decimals, pd.Series([7], dtype="int64[pyarrow]")])
    assert (joined.dtype, joined.tolist()) == ("amount", [1.5, 2.5, 7])


def test_numpy_isnan_finds_missing_amounts(frame):
    """np.isnan marks missing amounts, as it does missing floats."""
    assert np.isnan(frame["a"]).tolist() == [False, False, True, False]


def test_most_frequent(frame):
    """The most frequent amount is found on the oldest pandas, too."""
    assert frame["a"].iloc[[0, 0, 1, 2]].mode().tolist() == [1]
