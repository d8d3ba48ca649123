"""pandas's own suite for extension arrays, on amounts.

An override below is for a feature that amounts do not have, with its reason.
"""

import pytest
from pandas.tests.extension import base

COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"}


@pytest.mark.filterwarnings("ignore:matching against an empty string")  # by pandas 2.2's suite
class TestAmounts(base.ExtensionTests):
    """Every test of pandas's suite; its docstrings are pandas's."""

    def _cast_pointwise_result(self, op_name, obj, other, pointwise_result):
        if op_name.strip("_") in COMPARISONS:  # they have NA, like pandas's own integers
            return pointwise_result.astype("boolean")
        return pointwise_result

    def _get_expected_exception(self, op_name, obj, other):
        return TypeError if "pow" in op_name else None

    def _get_expected_reduction_dtype(self, arr, op_name, skipna):
        return arr.dtype if op_name in {"sum", "min", "max"} else "float64"

    def _supports_reduction(self, ser, op_name):
        return op_name != "prod"

    def _supports_accumulation(self, ser, op_name):
        return op_name != "cumprod"
