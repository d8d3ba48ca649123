"""What differs between pandas 2 and 3: the dtype of text, and how values are numbered."""

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
"""The dtype of columns of text, NaN where it is missing: pandas 3's ``str``, or the same before."""


def factorized(column: Any, *, use_na_sentinel: bool = True) -> tuple[npt.NDArray[np.intp], Any]:
    """Return the number of each value, -1 where it is missing, and the values, in order."""
    array = getattr(column, "array", column)
    if PANDAS < (3, 0):
        if isinstance(array, pd.arrays.NumpyExtensionArray):  # of which pandas 2 warns
            array = array.to_numpy()
        if array.dtype == object:  # if all are text, pandas 2 ends each at a NUL
            codes, values = pd.factorize(
                np.append(array, np.array([None])), use_na_sentinel=use_na_sentinel
            )
            return codes[:-1], values
    return pd.factorize(array, use_na_sentinel=use_na_sentinel)
