"""Amounts as other types: floats, integers, text, Decimals, Arrow, NumPy and JSON.

Floats are the nearest ones. Every other conversion is exact, or an error that names the amount and
its position.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.extensions import no_default

from walletframe.amounts.array.storage import AmountStorage
from walletframe.amounts.arrow import as_decimals, as_text
from walletframe.amounts.dtype import AmountType
from walletframe.amounts.integers import POWERS, Exact, Integers, to_floats
from walletframe.amounts.text import plain
from walletframe.amounts.values import to_base_units
from walletframe.errors import AmountError, AmountPrecisionError


class AmountConversions(AmountStorage):
    """What a column of amounts becomes elsewhere."""

    def raw(self, decimals: Any) -> Integers:
        """Give the amounts in base units, the inverse of `from_raw`.

        Parameters
        ----------
        decimals : int or sequence of n ints
            The decimals of all amounts, or of each.

        Returns
        -------
        ndarray of Python integers, shape (n,)
            None where missing.

        Raises
        ------
        AmountError
            If an amount is no whole number of base units, or its decimals are unknown.

        Examples
        --------
        >>> from walletframe.amounts import AmountArray
        >>> AmountArray.from_raw(["1500000", "2"], 6).raw([6, 18])
        array([1500000, 2000000000000], dtype=object)
        """
        return to_base_units(self.exact(), decimals)

    def to_decimal(self) -> Integers:
        """Give plain `decimal.Decimal` objects, for libraries that want no others.

        Returns
        -------
        ndarray of decimal.Decimal, shape (n,)
            None where missing. Beware: what is computed with them is rounded by their context.

        Examples
        --------
        >>> from walletframe.amounts import AmountArray
        >>> AmountArray.from_raw(["1500000", None], 6).to_decimal()
        array([Decimal('1.5'), None], dtype=object)
        """
        return np.array([None if text is None else Decimal(text) for text in self._texts()], object)

    def to_arrow(self, type: pa.DataType | None = None) -> pa.Array:  # noqa: A002  Arrow's own name
        """Give an Arrow array, by default of plain text, which holds every amount.

        Parameters
        ----------
        type : pyarrow.DataType, optional
            Text, decimals, floats or integers; large_string unless set.

        Returns
        -------
        pyarrow.Array, length n
            null where missing.

        Raises
        ------
        AmountError
            If the type can't hold an amount exactly; floats are the nearest ones.

        Examples
        --------
        >>> import pyarrow
        >>> from walletframe.amounts import AmountArray
        >>> AmountArray.from_raw([15], 1).to_arrow(pyarrow.decimal128(38, 18))[0].as_py()
        Decimal('1.500000000000000000')
        """
        exact = self.exact()
        if type is None or pa.types.is_large_string(type):
            return as_text(exact)
        if pa.types.is_decimal(type):
            return as_decimals(exact, type)
        if pa.types.is_floating(type):
            return pa.array(to_floats(exact), mask=exact.missing).cast(type, safe=False)
        if pa.types.is_integer(type):
            whole = _whole(exact, np.dtype(type.to_pandas_dtype()))
            return pa.array(whole, type, mask=exact.missing)
        return as_text(exact).cast(type)

    def __arrow_array__(self, type: pa.DataType | None = None) -> pa.Array:  # noqa: A002  Arrow's
        """Make what Parquet and Feather store (Arrow looks this method up)."""
        if type is None or isinstance(type, AmountType):
            return pa.ExtensionArray.from_storage(AmountType(), self.to_arrow())
        return self.to_arrow(type)

    def astype(self, dtype: Any, copy: bool = True) -> Any:  # noqa: FBT001, FBT002  pandas's own
        """Convert, exactly or to the nearest float."""
        dtype = pd.api.types.pandas_dtype(dtype)
        if dtype == self.dtype:
            return self.copy() if copy else self
        if isinstance(dtype, np.dtype):
            return self._as_numpy(dtype)
        if isinstance(dtype, pd.ArrowDtype):
            return pd.arrays.ArrowExtensionArray(self.to_arrow(dtype.pyarrow_dtype))
        if isinstance(dtype, pd.StringDtype):
            return pd.array(as_text(self.exact()), dtype=dtype)
        if dtype.kind == "f":
            return pd.array(to_floats(self.exact()), dtype=dtype)
        if dtype.kind in "iu":
            exact = self.exact()
            whole = _whole(exact, np.dtype(dtype.type))
            return pd.arrays.IntegerArray(whole, exact.missing.copy())
        return super().astype(dtype, copy=copy)

    def __array__(
        self,
        dtype: Any = None,
        copy: bool | None = None,  # noqa: FBT001  NumPy's own
    ) -> np.ndarray[Any, Any]:
        """Give NumPy the amounts, as objects unless it asks for another type."""
        if copy is False:
            raise ValueError("amounts can't become a NumPy array without a copy")
        return self._as_numpy(np.dtype(object if dtype is None else dtype))

    def to_numpy(
        self,
        dtype: Any = None,
        copy: bool = False,  # noqa: ARG002, FBT001, FBT002  pandas's own; there always is one
        na_value: Any = no_default,
    ) -> np.ndarray[Any, Any]:
        """Give a NumPy array, shape (n,), of objects unless a dtype is given."""
        wanted = np.dtype(object if dtype is None else dtype)
        if na_value is no_default:
            return self._as_numpy(wanted)
        result = np.asarray(self.fillna(0), dtype=wanted)
        result[self.isna()] = na_value
        return result

    def _as_numpy(self, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        if dtype.kind in "fc":
            with np.errstate(over="ignore"):  # float32 has infinity beyond 3.4e38
                return to_floats(self.exact()).astype(dtype)
        if dtype.kind in "iu":
            exact = self.exact()
            if exact.missing.any():
                place = int(np.flatnonzero(exact.missing)[0])
                raise AmountError(
                    f"the amount at position {place} is NA, and {dtype} has no missing values",
                    hint="use the pandas dtype 'Int64', or fill it first",
                )
            return _whole(exact, dtype)
        if dtype.kind == "U":
            return np.array([text or "<NA>" for text in self._texts()], dtype=dtype)
        if dtype.kind == "O":
            return self._objects()
        raise AmountError(f"amounts can't become {dtype}", hint="compare them instead: a > 0")

    def _texts(self) -> Integers:
        """Give plain text as objects, None where missing."""
        texts: Integers = as_text(self.exact()).to_numpy(zero_copy_only=False)
        return texts

    def _values_for_json(self) -> Integers:
        """Give JSON text, since its numbers lose digits beyond 2**53 (pandas's hook)."""
        return self._texts()


def _whole(amounts: Exact, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Give integers of a NumPy type, 0 where missing."""
    unit, limits = POWERS[amounts.scale], np.iinfo(dtype)
    integers = amounts.integers // unit
    lost = (amounts.integers % unit != 0) | (integers < limits.min) | (integers > limits.max)
    if len(places := np.flatnonzero(lost)):
        value = plain(amounts.integers[places[0]], amounts.scale)
        raise AmountPrecisionError(
            f"{value} (at position {places[0]}) does not fit in {dtype}",
            hint="round on purpose first, with .round(0), or use astype(object)",
        )
    return np.asarray(integers, dtype=dtype)
