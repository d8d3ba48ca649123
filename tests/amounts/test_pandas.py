"""Usual operations on a column in pandas, and their results with amounts."""

import decimal
import math
import operator
import threading
import warnings
from contextlib import nullcontext
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import walletframe as wf
from walletframe.amounts import AmountArray, AmountDtype
from walletframe.amounts.scalar import Amount
from walletframe.errors import AmountError, AmountPrecisionError, AmountTypeError, InputWarning
from walletframe.pandas_versions import PANDAS

LARGEST = 2**256 - 1
WEI = "0.000000000000000001"


@pytest.fixture
def amount():
    """Return a column with a wei, an uint256 and NA."""
    return pd.Series(["1.5", WEI, None, "-2", LARGEST, Decimal("0.1"), 7, "1.5"], dtype="amount")


@pytest.fixture
def frame(amount):
    """Return the column beside keys and prices."""
    price = [1.5, 0.1, np.nan, 3, 4, 5, 6, 7]
    return pd.DataFrame({"key": list("aabbccaa"), "amount": amount, "price": price})


def texts(series):
    """Return a column of amounts as text."""
    return series.array.to_arrow().to_pylist()


def test_dtype_is_registered_and_named():
    """The dtype is found by its name, and has no parameters."""
    assert pd.api.types.pandas_dtype("amount") == AmountDtype()
    assert repr(AmountDtype()) == "AmountDtype()"
    assert hash(AmountDtype()) == hash(AmountDtype())
    assert pd.api.types.is_numeric_dtype("amount")


def test_sum_of_more_digits_than_a_decimal_context_has(amount):
    """A sum of 97 digits is exact."""
    exact = 3 + 7 - 2 + LARGEST + Fraction(1, 10) + Fraction(1, 10**18)
    assert Fraction(amount.sum()) == exact
    assert amount.sum(min_count=8) is pd.NA
    assert amount.sum(skipna=False) is pd.NA
    assert np.isnan(amount.mean(skipna=False))
    assert amount.min(skipna=False) is pd.NA


def test_any_and_all_skip_missing_amounts(amount):
    """A missing amount is neither zero nor nonzero."""
    assert amount.any()
    assert amount.all()
    assert not (amount * 0).any()
    assert amount.array[2:3].all(skipna=False) is pd.NA


def test_prod_and_cumprod_are_refused(amount):
    """`prod` and `cumprod` raise, with a hint."""
    hint = r"\n\nHint: convert the amounts to floats first, with \.astype\(float\)"
    with pytest.raises(AmountTypeError, match=rf"'prod'{hint}"):
        amount.prod()
    with pytest.raises(AmountTypeError, match=rf"'cumprod'{hint}"):
        amount.cumprod()
    with pytest.raises(AmountTypeError, match=rf"'prod'{hint}"):
        amount.groupby(list("aabbccaa")).prod()
    with pytest.raises(AmountTypeError, match=r"'ohlc'\n\nHint: use \.agg\("):
        amount.groupby(list("aabbccaa")).ohlc()
    with pytest.raises(AmountTypeError, match=rf"'interpolate'{hint}"):
        amount.interpolate()


def test_describe_returns_float64(amount):
    """`describe` is a table of floats."""
    described = amount.describe()
    assert described.dtype == "Float64"
    assert described["min"] == -2.0
    assert described["max"] == float(LARGEST)


def test_concat_of_any_scales_and_of_integers_stays_amount(amount):
    """Joining keeps the dtype; floats make it object, so that nothing is rounded."""
    fine = pd.Series(AmountArray.from_raw([1], 77))
    assert pd.concat([amount, fine]).dtype == "amount"
    assert pd.concat([amount, pd.Series([1, 2])]).dtype == "amount"
    assert pd.concat([amount, pd.Series([0.5])]).dtype == object


def test_merge_matches_amounts_of_other_scales(frame):
    """Equal amounts are one key, whatever the scale of their arrays."""
    other = pd.DataFrame({"amount": pd.array(["1.5" + "0" * 70, LARGEST], dtype="amount")})
    merged = frame.merge(other.assign(found=True), on="amount")
    assert merged["key"].tolist() == ["a", "c", "a"]
    assert merged["amount"].dtype == "amount"


def test_pivot_table_with_margins_is_exact(frame):
    """The margins are the exact total; before 3.1 pandas takes them for floats.

    pandas 3.0 raises, and 2.2 warns and returns the column as objects.
    """
    table = {"index": "key", "values": "amount", "aggfunc": "sum", "margins": True}
    if PANDAS == (3, 0):
        with pytest.raises(TypeError, match="float64"):
            frame.pivot_table(**table)
        return
    with nullcontext() if PANDAS > (3, 0) else pytest.warns(FutureWarning, match="incompatible"):
        pivot = frame.pivot_table(**table)
    assert pivot["amount"].dtype == ("amount" if PANDAS > (3, 0) else object)
    assert pivot.loc["All", "amount"] == frame["amount"].sum()
    assert wf.as_amounts(pivot)["amount"].dtype == "amount"


def test_pivot_table_is_exact(frame):
    """A pivot table's sums are exact, and of the column's own dtype."""
    pivot = frame.pivot_table(index="key", values="amount", aggfunc="sum")
    assert texts(pivot["amount"])[0] == "10.000000000000000001"


def test_resampled_sums_are_exact(amount):
    """Sums over time are exact."""
    hourly = amount.set_axis(pd.date_range("2024-01-01", periods=8, freq="h"))
    assert texts(hourly.resample("4h").sum())[0] == "-0.499999999999999999"


def test_groupby_has_the_columns_methods(frame):
    """Groups have counts, edges, transformations and several functions at once."""
    grouped = frame.groupby("key")["amount"]
    assert grouped.count().tolist() == [4, 1, 2]
    assert texts(grouped.first()) == ["1.5", "-2", str(LARGEST)]
    assert texts(grouped.last()) == ["1.5", "-2", "0.1"]
    assert texts(grouped.transform("sum"))[0] == "10.000000000000000001"
    assert grouped.agg(["sum", "mean"]).dtypes.astype(str).tolist() == ["amount", "float64"]
    assert grouped.rank().tolist()[:2] == [2.5, 1.0]
    assert grouped.idxmax().tolist() == [6, 3, 4]
    assert grouped.idxmin().tolist() == [1, 3, 5]
    assert grouped.any().tolist() == grouped.all().tolist() == [True] * 3
    assert grouped.nunique().tolist() == [3, 1, 2]


@pytest.mark.skipif(PANDAS < (3, 0), reason="GroupBy.sum has no parameter skipna before pandas 3")
def test_sums_of_groups_without_skipping(frame):
    """With `skipna=False` a group with a gap has no sum and no mean."""
    grouped = frame.groupby("key")["amount"]
    assert grouped.sum(skipna=False).isna().tolist() == [False, True, False]
    assert np.isnan(grouped.mean(skipna=False)["b"])


def test_groupby_without_skipping(frame):
    """With `skipna=False` running sums end at the gap."""
    grouped = frame.groupby("key")["amount"]
    assert grouped.any(skipna=False).all()
    assert grouped.cumsum(skipna=False).isna().tolist() == [i in {2, 3} for i in range(8)]
    assert grouped.sum(min_count=3).isna().tolist() == [False, True, True]


def test_groupby_ignores_rows_without_a_key(frame):
    """Rows without a key count nowhere, and have no running sum."""
    keys = frame["key"].where(frame["key"] != "c")
    grouped = frame["amount"].groupby(keys)
    assert texts(grouped.sum()) == ["10.000000000000000001", "-2"]
    assert grouped.cumsum()[4:6].isna().all()
    assert grouped.rank()[4:6].isna().all()


def test_ranks_and_order(amount):
    """Ranks are exact; extremes are found by position."""
    assert amount.rank().tolist()[4] == 7.0
    assert np.isnan(amount.rank()[2])
    assert (amount.idxmax(), amount.idxmin()) == (4, 3)
    assert amount.sort_values(na_position="first").index[0] == 2
    assert amount.dropna().sort_values().is_monotonic_increasing
    assert amount.wf.top(3).index.tolist() == [4, 6, 0]


def test_counting_and_factorizing_are_exact(amount):
    """Counts, unique values and factors are exact."""
    assert amount.value_counts().iloc[0] == 2
    assert amount.value_counts(dropna=False).sum() == 8
    assert amount.nunique() == 6
    assert amount.mode().tolist() == [Decimal("1.5")]
    codes, uniques = pd.factorize(amount)
    assert codes.tolist() == [0, 1, -1, 2, 3, 4, 5, 0]
    assert uniques.dtype == "amount"
    assert Decimal("1.5") in amount.array
    assert Decimal("nan") not in amount.array


def test_isin_reads_text_decimals_and_floats(amount):
    """A float is in a column where an amount equals it exactly; 0.1 is no amount."""
    assert amount.isin(["1.5", "x", 0.1]).tolist() == [True] + [False] * 6 + [True]
    assert amount.isin([1.5, np.inf]).sum() == 2
    assert amount.isin([None]).sum() == 1


def test_filling_and_choosing(amount):
    """Filling, clipping, choosing and shifting stay exact."""
    assert texts(amount.fillna("0.5"))[2] == "0.5"
    assert texts(amount.ffill())[2] == WEI
    assert texts(amount.where(amount > 0, 0))[3] == "0"
    assert texts(amount.mask(amount > 5))[4] is None
    assert texts(amount.clip(0, Decimal(2)))[3:5] == ["0", "2"]
    assert amount.between(0, "1.5").sum() == 4
    assert texts(amount.diff())[1] == "-1.499999999999999999"
    assert texts(amount.shift(1))[1] == "1.5"
    assert texts(abs(amount))[3] == "2"
    assert texts(-amount)[3] == "2"
    assert texts(+amount)[3] == "-2"
    assert amount.pct_change(fill_method=None).dtype == "float64"


def test_setting_a_finer_amount_makes_the_column_finer(amount):
    """Setting keeps every digit of the old and the new."""
    amount[0] = "1e-77"
    assert texts(amount)[0] == "0." + "0" * 76 + "1"
    assert texts(amount)[4] == str(LARGEST)
    with pytest.raises(AmountError, match=r"0\.5"):
        amount[0] = 0.5


def test_query_compares_with_numbers(frame):
    """`query` understands amounts beside other columns."""
    assert frame.query("amount > 1.2 and key == 'a'").index.tolist() == [0, 6, 7]


def test_comparisons_with_text(amount):
    """Text that is a number counts as one; other text equals nothing and has no order."""
    assert (amount == "1.50").sum() == 2
    assert (amount != "x").sum() == 7
    assert (amount == ["1.5", "x", *amount[2:]]).sum() == 6
    assert (amount == pd.NA).isna().all()
    with pytest.raises(TypeError):
        operator.lt(amount, "x")
    with pytest.raises(ValueError, match="Lengths"):
        operator.eq(amount.array, ["1.5"])


def test_arithmetic_with_other_columns(frame):
    """Shares and values are float64, sums with integer columns exact."""
    shares = frame["amount"] / frame["amount"].sum()
    assert shares.dtype == "float64"
    assert shares[4] == 1.0
    assert (frame["amount"] * frame["price"]).dtype == "float64"
    assert (frame["price"] * frame["amount"]).tolist()[3] == -6.0
    whole = pd.Series(range(8), dtype="Int64")
    assert texts(frame["amount"] + whole)[1] == "1.000000000000000001"
    assert texts(1 - frame["amount"])[0] == "-0.5"
    assert texts(frame["amount"] * Decimal("1.1"))[0] == "1.65"
    assert texts(frame["amount"] * ([Decimal(2)] * 8))[0] == "3"
    assert (frame["amount"] * pd.array([0.5] * 8, dtype="Float64"))[0] == 0.75
    whole, rest = divmod(frame["amount"], 2)
    assert (texts(whole)[3], texts(rest)[0]) == ("-1", "1.5")
    whole, rest = divmod(10, frame["amount"].iloc[6:])
    assert (texts(whole)[0], texts(rest)[0]) == ("1", "3")
    assert (frame["amount"] + np.array(1))[0] == Decimal("2.5")


def test_arithmetic_with_floats_and_text_is_refused(amount):
    """A column of floats can't be added, with a hint; text is no operand."""
    with pytest.raises(AmountError, match=r"(?s)0\.5 \(at position 1\).*Hint"):
        amount + np.array([np.nan, 0.5, 1, 1, 1, 1, 1, 1])
    for other in ("x", ["x"] * 8, object()):
        with pytest.raises(TypeError):
            amount + other
    assert (amount + np.nan).isna().all()
    assert (amount * pd.Series([np.nan] * 8, dtype=object)).isna().all()
    with pytest.raises(ZeroDivisionError):
        amount // 0


@pytest.mark.parametrize("number", [0.5, -2.0, 1e22, np.float32(0.25), 0.0])
def test_a_single_exact_float_is_added_exactly(amount, number):
    """It is the number that it is written as."""
    wanted = amount + Decimal(repr(float(number)))
    assert (amount + number).equals(wanted)
    assert (number - amount).equals(-(amount - Decimal(repr(float(number)))))
    assert np.maximum(amount, number)[3] == number


@pytest.mark.parametrize("number", [0.1, 1e23, 2.0**-70, math.inf, np.float32(0.1)])
def test_an_inexact_float_is_refused(amount, number):
    """The hint names what can be added."""
    with pytest.raises(AmountPrecisionError, match=r"(?s)is not an exact amount.*such as 0\.5"):
        amount + number


@pytest.mark.parametrize(
    "compare",
    [
        lambda amount: amount == 0.1,
        lambda amount: amount > [2.0, 0.1, *[math.nan] * 6],
        lambda amount: amount == np.array([0.1, "x", *[1] * 6], dtype=object),
        lambda amount: amount[0] < 0.1,
    ],
)
def test_comparing_with_an_inexact_float_warns_once(amount, compare, monkeypatch):
    """The warning names the exact forms; exact, missing and infinite floats are quiet."""
    monkeypatch.setattr("walletframe.notice._warned", set())
    with warnings.catch_warnings(action="error"):
        for number in (0.5, 2.0**52, math.inf, math.nan):
            assert not (amount == number).any()
            assert amount[0] != number
    with pytest.warns(InputWarning, match="Decimal") as caught:
        _ = [compare(amount) for _ in range(2)]
    assert len(caught) == 1


def test_products_beyond_77_decimals_raise():
    """A product that needs a 78th decimal raises; one with trailing zeros is exact."""
    finest = pd.array(["1e-77", "10"], dtype="amount")
    assert (finest * Decimal("1.0"))[0] == Decimal("1e-77")
    with pytest.raises(AmountError, match=r"\(at position 0\) has more than 77 decimals"):
        finest * Decimal("0.5")
    assert (finest[1:] * Decimal("0.5"))[0] == 5


def test_numpy_functions(amount):
    """Logarithms are float64; operators by NumPy's names are exact."""
    assert np.log(abs(amount)).dtype == "float64"
    assert np.log(amount.clip(1).astype(float))[0] == np.log(1.5)
    assert np.add(amount.array, 1)[1] == Decimal("1.000000000000000001")
    assert np.asarray(amount.array).dtype == object
    with pytest.raises(TypeError):
        np.array([2]) ** amount.array[:1]
    with pytest.raises(ValueError, match="copy"):
        np.array(amount.array, copy=False)


def test_mapped_functions_keep_their_results(amount):
    """A function's amounts are amounts; its numbers and texts are unchanged."""
    doubled = amount.map(lambda value: value * 2, na_action="ignore")
    assert doubled.astype("amount").equals(amount * 2)  # object in pandas 3.0, amount from 3.1 on
    assert amount.dropna().map(lambda _: 1).dtype == "int64"
    assert amount.dropna().map(str).tolist()[1] == WEI


def test_text_is_plain_and_aligned(frame):
    """No exponent in text or HTML; amounts are aligned to the right like numbers."""
    with pd.option_context("display.max_colwidth", None):
        lines = frame[["amount"]].iloc[:4].to_string().splitlines()
        page = frame.to_html()
    assert "E-" not in page
    assert f"<td>{WEI}</td>" in page
    assert len({len(line) for line in lines}) == 1
    assert repr(frame["amount"].array[:2]).splitlines()[1].startswith("[")


def test_nlargest_has_no_hook_and_raises(amount):
    """Pandas calls no hook of extension arrays for `nlargest`: it raises rather than rounds."""
    with pytest.raises(TypeError):
        amount.nlargest(2)


def test_rolling_returns_float64(amount):
    """Pandas requests float64 in `rolling`, `expanding` and `corr`."""
    assert amount.rolling(2).sum().dtype == "float64"
    assert amount.expanding().sum().dtype == "float64"


def test_amounts_beyond_the_largest_float_are_sorted_and_divided():
    """Amounts beyond the largest float are sorted exactly, and are infinite as floats."""
    huge = pd.Series(["1e400", "1e399", "-1e400", "1"], dtype="amount")
    assert huge.sort_values().index.tolist() == [2, 3, 1, 0]
    assert huge.astype(float).tolist() == [np.inf, np.inf, -np.inf, 1.0]
    assert (huge / huge.max()).tolist() == [1.0, 0.1, -1.0, 0.0]


def test_plots_take_amounts(frame):
    """Matplotlib and plotly draw amounts as floats."""
    matplotlib = pytest.importorskip("matplotlib")
    express = pytest.importorskip("plotly.express")
    matplotlib.use("agg")
    frame.dropna().plot(x="key", y="amount")
    matplotlib.pyplot.close("all")
    figure = express.bar(frame, x="key", y="amount")
    assert len(figure.data[0].y) == 8


def test_nothing_depends_on_the_decimal_context(amount):
    """A context of three digits and one in other threads change nothing, and aren't changed."""
    expected = amount.sum(), texts(amount * 3), str(amount[4] + amount[1]), str(-amount[4])
    result = []

    def work():
        result.append(
            (amount.sum(), texts(amount * 3), str(amount[4] + amount[1]), str(-amount[4]))
        )

    with decimal.localcontext() as context:
        context.prec, context.traps[decimal.Inexact] = 3, True
        before = repr(context)
        work()
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert repr(context) == before
    assert result == [expected] * 5


def test_scalars_are_decimals_that_do_not_round():
    """A single amount adds, multiplies, negates and rounds exactly, with plain text."""
    one = pd.array([LARGEST], dtype="amount")[0]
    wei = Amount("1E-18")
    assert isinstance(one, Decimal)
    assert str(one + wei) == f"{LARGEST}.000000000000000001"
    assert (one + wei) - one == wei
    assert f"{1 - wei}|{wei - 1}" == "0.999999999999999999|-0.999999999999999999"
    assert (repr(-wei), repr(+wei), repr(abs(-wei))) == (
        f"Amount('-{WEI}')",
        f"Amount('{WEI}')",
        f"Amount('{WEI}')",
    )
    assert f"{Amount('1234.50'):,.2f}" == "1,234.50"
    assert (round(Amount("2.5")), str(round(Amount("0.125"), 2))) == (2, "0.12")
    assert divmod(Amount(-7), 2) == (-4, 1)
    assert divmod(7, Amount(-2)) == (-4, -1)
    assert sum([wei, wei]) == Decimal("2E-18")
    assert hash(wei) == hash(Decimal("1E-18"))
    assert not Amount()
    assert str(-Amount(0)) == "0"


def test_ratios_of_scalars_are_floats():
    """The quotient and a product with a float are the nearest float, as for a column."""
    third = Amount(1) / 3
    assert (third, type(third)) == (1 / 3, float)
    assert 1 / Amount(4) == 0.25
    assert Amount("0.1") * 0.5 == 0.05
    assert 0.5 * Amount("0.1") == 0.05
    assert (Amount(2) / math.inf, math.inf / Amount(2)) == (0, math.inf)
    with pytest.raises(AmountPrecisionError, match=r"the float 0\.5"):
        Amount(1) + 0.5
    with pytest.raises(TypeError):
        Amount(1) / "x"
    with pytest.raises(TypeError, match="can't be used as an exponent"):
        2 ** Amount(2)
    assert (Amount(1) + Decimal("nan")).is_nan()
