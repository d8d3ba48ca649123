"""Fixtures that pandas's own suite for array authors needs, filled with amounts.

Their names and shapes are those of ``pandas/tests/extension/conftest.py`` and
``pandas/conftest.py``.
"""

import operator

import pandas as pd
import pytest

from walletframe.amounts import AmountArray, AmountDtype
from walletframe.pandas_versions import PANDAS

ARITHMETIC = ("add", "sub", "mul", "floordiv", "truediv", "pow", "mod")
NUMERIC_REDUCTIONS = ("count", "sum", "max", "min", "mean", "prod", "std", "var", "median")
HIGHER_MOMENTS = ("kurt", "skew", "sem")
BOOLEAN_REDUCTIONS = ("any", "all")
YES_OR_NO = (True, False)
TENTHS = 1 if PANDAS >= (3, 0) else 10  # the suite's arrays have 10 rows, and 100 before pandas 3


@pytest.fixture
def dtype():
    """Return the dtype under test."""
    return AmountDtype()


@pytest.fixture
def data():
    """Return amounts of several scales, none missing, the first two unequal.

    Floats hold them and their sums exactly: the suite compares with floats.
    """
    raw = [15, 25, 3, -75, 2**40, 125, 10**9, 2, 5, 875]
    return AmountArray.from_raw(raw * TENTHS, [1, 2, 0, 1, 0, 3, 6, 0, 1, 3] * TENTHS)


@pytest.fixture
def data_for_twos():
    """Return 100 times 2."""
    return AmountArray.from_raw([200] * 10 * TENTHS, 2)


@pytest.fixture
def data_missing():
    """Return NA and an amount."""
    return AmountArray.from_raw([None, 15], 1)


@pytest.fixture(params=["data", "data_missing"])
def all_data(request, data, data_missing):
    """Return amounts without NA, and with it."""
    return data if request.param == "data" else data_missing


@pytest.fixture
def data_repeated(data):
    """Return a function that yields the amounts `count` times."""
    return lambda count: (data for _ in range(count))


@pytest.fixture
def data_for_sorting():
    """Return amounts in the order B, C, A, where A < B < C."""
    return AmountArray.from_raw([2, 30, 1], [1, 2, 1])


@pytest.fixture
def data_missing_for_sorting():
    """Return B, NA, A, where A < B."""
    return AmountArray.from_raw([2, None, 1], 1)


@pytest.fixture
def data_for_grouping():
    """Return B, B, NA, NA, A, A, B, C, where A < B < C."""
    return AmountArray.from_raw([2, 2, None, None, 1, 1, 2, 3], 1)


@pytest.fixture
def na_cmp():
    """Return the comparison of two missing values."""
    return operator.is_


@pytest.fixture
def na_value(dtype):
    """Return the missing amount."""
    return dtype.na_value


@pytest.fixture
def invalid_scalar():
    """Return a value that is not an amount."""
    return object()


@pytest.fixture
def using_nan_is_na():
    """Return whether NaN means missing, which is pandas's default."""
    return True


@pytest.fixture(params=YES_OR_NO)
def box_in_series(request):
    """Return whether arrays are put in a Series."""
    return request.param


@pytest.fixture(params=YES_OR_NO)
def as_frame(request):
    """Use a DataFrame or not."""
    return request.param


@pytest.fixture(params=YES_OR_NO)
def as_series(request):
    """Use a Series or not."""
    return request.param


@pytest.fixture(params=YES_OR_NO)
def as_array(request):
    """Use an array or not."""
    return request.param


@pytest.fixture(params=YES_OR_NO)
def use_numpy(request):
    """Use NumPy's version or not."""
    return request.param


@pytest.fixture(params=[None, lambda values: values], ids=["as it is", "by key"])
def sort_by_key(request):
    """Return a key to sort by (pandas 3.0 needs it)."""
    return request.param


@pytest.fixture(params=["ffill", "bfill"])
def fillna_method(request):
    """Fill forwards or backwards."""
    return request.param


@pytest.fixture(
    params=[
        lambda _: 1,
        lambda group: [1] * len(group),
        lambda group: pd.Series([1] * len(group)),
        lambda group: group,
    ],
    ids=["scalar", "list", "series", "object"],
)
def groupby_apply_op(request):
    """Return the function that is applied to groups."""
    return request.param


@pytest.fixture(params=[f"__{side}{name}__" for name in ARITHMETIC for side in ("", "r")])
def all_arithmetic_operators(request):
    """Return the name of an arithmetic operator."""
    return request.param


@pytest.fixture(params=["eq", "ne", "gt", "ge", "lt", "le"])
def comparison_op(request):
    """Return a comparison."""
    return getattr(operator, request.param)


@pytest.fixture(params=NUMERIC_REDUCTIONS + HIGHER_MOMENTS)
def all_numeric_reductions(request):
    """Return the name of a reduction of numbers."""
    return request.param


@pytest.fixture(params=BOOLEAN_REDUCTIONS)
def all_boolean_reductions(request):
    """Return the name of a reduction to True or False."""
    return request.param


@pytest.fixture(params=NUMERIC_REDUCTIONS + HIGHER_MOMENTS + BOOLEAN_REDUCTIONS)
def all_reductions(request):
    """Return the name of a reduction."""
    return request.param


@pytest.fixture(params=["cumsum", "cumprod", "cummin", "cummax"])
def all_numeric_accumulations(request):
    """Return the name of an accumulation."""
    return request.param


@pytest.fixture(params=["string[python]", "string[pyarrow]"])
def nullable_string_dtype(request):
    """Return the name of a dtype of text with NA."""
    return request.param
