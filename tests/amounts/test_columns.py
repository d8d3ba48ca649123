"""Exact results where pandas rounds to floats, and conversion of objects to amounts."""

from decimal import Decimal
from fractions import Fraction
from math import isnan

import numpy as np
import pandas as pd
import pytest

import walletframe as wf
from walletframe.amounts.scalar import Amount
from walletframe.errors import AmountError, AmountPrecisionError, ArgumentError

LARGE = 10**30
TEXTS = ["0.1", None, "1" + "0" * 30 + ".000000000000000001", "-3", "2.8", "0", "2.8"]


@pytest.fixture
def amounts():
    """Return a Series with a gap, a large amount and equal ones."""
    return pd.Series(TEXTS, dtype="amount", index=list("abcdefg"), name="a")


def fractions(series):
    """Return the amounts as fractions, None where missing."""
    return [None if value is pd.NA else Fraction(value) for value in series]


@pytest.mark.parametrize("window, needed", [(1, None), (2, None), (3, 1), (3, 2), (9, 1), (2, 0)])
def test_windows_are_exact(amounts, window, needed):
    """Values before a window do not change its results."""
    rolling, values = amounts.wf.rolling(window, needed), fractions(amounts)
    windows = [values[max(0, end - window) : end] for end in range(1, len(values) + 1)]
    present = [[value for value in each if value is not None] for each in windows]
    full = [len(each) >= (window if needed is None else needed) for each in present]
    sums = [sum(each) if enough else None for each, enough in zip(present, full, strict=True)]
    assert fractions(rolling.sum()) == sums
    means = [
        float(sum(each) / len(each)) if enough and each else None
        for each, enough in zip(present, full, strict=True)
    ]
    assert [None if isnan(mean) else mean for mean in rolling.mean()] == means
    assert rolling.sum().index.tolist() == list("abcdefg")
    assert (rolling.sum().name, rolling.sum().dtype) == ("a", "amount")


def test_wrong_windows_are_refused(amounts):
    """Invalid windows raise pandas's errors; columns of floats raise an AmountError."""
    for window in ("2 days", "2D", 2.0):
        with pytest.raises(ValueError, match="window must be an integer"):
            amounts.wf.rolling(window).sum()
    with pytest.raises(ValueError, match="min_periods"):
        amounts.wf.rolling(2, 3).mean()
    with pytest.raises(AmountPrecisionError, match="float"):
        pd.Series([0.5]).wf.rolling(1).sum()


def test_changes_are_rounded_once():
    """A change near 1e-9 is correct to the last bit; the result of pandas is not."""
    amounts = pd.Series(["3", "3.000000001", "0", "0", "5", None], dtype="amount")
    changes = amounts.wf.pct_change()
    assert changes[1] == 1 / (3 * 10**9)
    assert changes[2] == -1
    assert isnan(changes[3])
    assert changes[4] == float("inf")
    assert isnan(changes[5])
    assert amounts.wf.pct_change(-1)[1] == float("inf")


class TestAsAmounts:
    """Columns of Decimal objects become amounts. All other columns stay unchanged."""

    def test_frame(self, amounts):
        """Columns are converted even if two columns have the same name."""
        frame = pd.DataFrame([[Decimal("1E-18"), "x", 1.5], [None, "y", 2]], columns=["a", "a", 1])
        frame.insert(0, "b", amounts.array[:2])
        result = wf.as_amounts(frame)
        assert result.dtypes.tolist() == ["amount", "amount", frame.dtypes.iloc[2], "float64"]
        assert result.iloc[:, 1].tolist() == [Amount("1E-18"), pd.NA]
        assert frame.dtypes.iloc[1] == "object"
        assert wf.as_amounts(frame[[]]).shape == (2, 0)

    def test_series(self, amounts):
        """Objects that pandas returns become amounts, and NaN becomes missing."""
        frame = amounts.to_frame().assign(i=1)
        assert wf.as_amounts(frame.apply(lambda row: row["a"] + row["i"], axis=1)).equals(
            amounts.rename(None) + 1
        )
        joined = pd.concat([amounts.astype(object), pd.Series([np.nan, 7], dtype=object)])
        assert wf.as_amounts(joined).tolist()[-2:] == [pd.NA, 7]
        assert wf.as_amounts(pd.Series(["x", 1])).dtype == "object"

    def test_arrow_backend_columns_become_amounts(self, amounts, tmp_path):
        """Pandas's Arrow backend drops the dtype, and its columns can't even be summed."""
        amounts.to_frame("a").assign(t="x").to_parquet(tmp_path / "a")
        read = pd.read_parquet(tmp_path / "a", dtype_backend="pyarrow")
        with pytest.raises(TypeError, match="sum"):
            read["a"].sum()
        result = wf.as_amounts(read)
        assert result["a"].array.equals(amounts.array)
        assert result.index.equals(read.index)
        assert result["t"].dtype == read["t"].dtype

    @pytest.mark.parametrize("other", [0.5, "text"])
    def test_mixed_objects_are_refused(self, amounts, other):
        """The message names the column, the value and its position."""
        mixed = pd.Series([Amount(1), other], name="mixed")
        with pytest.raises(AmountError, match=rf"'mixed': {other!r} is .*\(at position 1\)"):
            wf.as_amounts(mixed.to_frame())

    @pytest.mark.parametrize("values", [["1"], np.array([1]), pd.Index([1]), "1", None])
    def test_values_without_columns_are_refused(self, values):
        """The error names the type, and says how a list becomes amounts."""
        with pytest.raises(ArgumentError, match=type(values).__name__) as caught:
            wf.as_amounts(values)
        assert 'pd.array(values, dtype="amount")' in caught.value.hint
