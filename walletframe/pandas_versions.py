"""Compatibility with pandas 2 and 3: the dtype of text columns, and `factorize`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    import numpy.typing as npt

PANDAS: Final = tuple(map(int, pd.__version__.split(".")[:2]))
TEXT: Final[Any] = pd.StringDtype(
    **({"na_value": float("nan")} if PANDAS > (2, 2) else {"storage": "pyarrow_numpy"})
)
"""The dtype of text columns: ``str`` of pandas 3, or its equivalent on pandas 2.

Missing text is NaN.
"""


def factorize(column: Any, *, use_na_sentinel: bool = True) -> tuple[npt.NDArray[np.intp], Any]:
    """Return integer codes (-1 if missing) and the unique values, like `pandas.factorize`."""
    array = getattr(column, "array", column)
    if PANDAS < (3, 0):
        if isinstance(array, pd.arrays.NumpyExtensionArray):  # pandas 2 would warn
            array = array.to_numpy()
        if array.dtype == object:  # pandas 2 truncates text at a NUL if all values are text
            codes, values = pd.factorize(
                np.append(array, np.array([None])), use_na_sentinel=use_na_sentinel
            )
            return codes[:-1], values
    return pd.factorize(array, use_na_sentinel=use_na_sentinel)
