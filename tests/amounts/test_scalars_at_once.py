"""Operations on all rows at once give each row's own result: text, scalars, keys."""

import gc
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from walletframe.amounts import AmountArray
from walletframe.amounts.scalar import Amount
from walletframe.amounts.text import plain_text, plain_texts

LARGE = 2**256 - 1
INTEGERS = [0, 1, -1, 10, -105, 10**18, -(10**18), 10**40, LARGE, -LARGE, 10**77, 3 * 10**60 + 7]


@pytest.mark.parametrize("scale", [0, 1, 17, 18, 19, 40, 77])
def test_text_of_many_is_that_of_each(scale):
    """Signs, zeros and lengths of all sorts are written right, and so is an empty column."""
    integers = np.array(INTEGERS, dtype=object)
    assert plain_texts(integers, scale).to_pylist() == [plain_text(n, scale) for n in INTEGERS]
    assert plain_texts(integers[:0], scale).to_pylist() == []


@pytest.mark.parametrize("scale", [0, 18, 36, 77])
def test_text_is_read_back(scale):
    """Long numbers among short ones, exponents, signs and gaps."""
    texts = [plain_text(n, scale) for n in INTEGERS] + [None, "+1.50", "1e3", ".5", "5.", "-0"]
    amounts = pd.array(texts, dtype="amount")
    wanted = [pd.NA if text is None else Amount(text) for text in texts]
    assert amounts.tolist() == wanted
    assert pd.array(pa.array(texts), dtype="amount").tolist() == wanted
    assert amounts.dtype.__from_arrow__(pa.chunked_array([texts, texts])).tolist() == wanted * 2


@pytest.mark.parametrize("nines", [18, 19, 20, 21, 22])
def test_text_is_read_up_to_the_width_of_arrows_decimals(nines):
    """The text has 38 digits, or a few more or less, with and without a sign."""
    texts = [f"{sign}{'9' * nines}.{'9' * 18}" for sign in ("", "-", "+")] * 7
    assert pd.array(texts, dtype="amount").tolist() == list(map(Amount, texts))


@pytest.mark.parametrize("kind", [pa.decimal128(38, 18), pa.decimal256(70, 0), pa.decimal128(9, 9)])
def test_arrow_decimals_are_read(kind):
    """A slice of an array, which starts within its buffers, is read correctly."""
    numbers = pa.array([Decimal("0.5"), None, Decimal("-0.25"), Decimal(0)], pa.decimal128(9, 9))
    if not kind.scale:
        numbers = pa.array([10**69, None, -7, 0], pa.decimal256(70, 0))
    read = pd.array([], dtype="amount").dtype.__from_arrow__(numbers.cast(kind)[1:])
    assert read.tolist() == [pd.NA if n is None else Amount(n) for n in numbers.to_pylist()[1:]]


@pytest.mark.parametrize("enabled", [True, False])
def test_scalars_leave_the_garbage_collector_as_it_was(enabled):
    """The garbage collector stays enabled or disabled, as the user set it."""
    was = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        made = pd.array(["1.50", "1E3", None], dtype="amount").tolist()
        assert (list(map(str, made)), gc.isenabled()) == (["1.5", "1000", "<NA>"], enabled)
    finally:
        (gc.enable if was else gc.disable)()


def test_threads_leave_the_garbage_collector_as_it_was():
    """The garbage collector's state survives threads that make scalars at the same time."""
    array = AmountArray.from_raw(list(range(20_000)), 3)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: array.tolist(), range(60)))
    assert gc.isenabled()


def test_amounts_of_one_float_have_their_own_codes():
    """Codes distinguish the integers, in order of first appearance."""
    amounts = pd.array([str(2**80 + 1), None, str(2**80), str(2**80 + 1)], dtype="amount")
    codes, uniques = amounts.factorize()
    assert (codes.tolist(), uniques.tolist()) == ([0, -1, 1, 0], [2**80 + 1, 2**80])
    codes, uniques = amounts.factorize(use_na_sentinel=False)
    assert (codes.tolist(), uniques.tolist()) == ([0, 1, 2, 0], [2**80 + 1, pd.NA, 2**80])
    assert amounts.unique().tolist() == [2**80 + 1, pd.NA, 2**80]


def test_keys_of_a_merge_are_exact_at_any_scale():
    """Amounts of more than 18 decimals are Fractions among integers."""
    fine = pd.DataFrame({"k": pd.array(["1.5", "1e-77", None, "2e-77"], dtype="amount"), "x": 1})
    coarse = pd.DataFrame({"k": pd.array(["1.5", "0", None], dtype="amount"), "y": 2})
    merged = fine.merge(coarse, on="k", how="outer")
    assert merged.dtypes["k"] == "amount"
    assert merged["k"].dropna().tolist() == [0, Fraction(1, 10**77), Fraction(2, 10**77), 1.5]
    assert merged["y"].count() == 3


@pytest.mark.parametrize(
    "texts, rising, falling",
    [
        (["1", "1.0", "2"], True, False),
        (["2", "1", "1"], False, True),
        (["1", "1"], True, True),
        (["1", None, "2"], False, False),
        ([], True, True),
    ],
)
def test_an_index_knows_whether_it_is_sorted(texts, rising, falling):
    """A missing amount has no order."""
    index = pd.Index(pd.array(texts, dtype="amount"))
    assert (index.is_monotonic_increasing, index.is_monotonic_decreasing) == (rising, falling)
