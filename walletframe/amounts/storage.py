"""Where a column's amounts are kept, and the hooks by which pandas moves them about.

The integers, the mask of what is missing and the scale live here, with indexing, taking, joining
and setting. What amounts mean to arithmetic, order, statistics and other types is built on top.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray
from pandas.api.extensions import take as take_values
from pandas.api.indexers import check_array_indexer

from walletframe.amounts.dtype import AmountDtype
from walletframe.amounts.integers import POWERS, Exact, rescale
from walletframe.amounts.scalar import Amount
from walletframe.amounts.values import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from walletframe.amounts.integers import Integers, Mask

_DTYPE = AmountDtype()


class AmountStorage(ExtensionArray):
    """Integers with one scale and a mask, as pandas indexes, joins, sets and copies them."""

    # pandas's mark for an array that a caller must not change; only its stubs lack it.
    _readonly: bool

    # NumPy then leaves `ndarray + array` to this class.
    __array_priority__ = 1000

    def __init__(self, integers: Integers, missing: Mask, scale: int) -> None:
        self._integers = integers
        self._missing = missing
        self._scale = scale

    @classmethod
    def _from_sequence(
        cls,
        scalars: Sequence[Any],
        *,
        dtype: Any = None,  # noqa: ARG003  there is but one
        copy: bool = False,
    ) -> Self:
        """Make an array of what people write (pandas's hook behind ``pd.array``)."""
        if isinstance(scalars, AmountStorage):
            return cls(*(scalars.copy() if copy else scalars).exact())
        return cls(*read(scalars))

    @classmethod
    def _from_sequence_of_strings(
        cls, strings: Sequence[Any], *, dtype: Any = None, copy: bool = False
    ) -> Self:
        """Make an array of a text file's column (pandas's hook behind ``read_csv``)."""
        return cls._from_sequence(strings, dtype=dtype, copy=copy)

    @classmethod
    def _from_scalars(cls, scalars: Sequence[Any], *, dtype: Any) -> Self:
        """Make an array of results of a function, if they are amounts (pandas's hook behind map).

        Numbers and text that a function returns stay what they are.
        """
        if all(isinstance(value, Decimal) or value is pd.NA for value in scalars):
            return cls._from_sequence(scalars, dtype=dtype)
        raise TypeError("these results are no amounts")

    def exact(self) -> Exact:
        """Give the integers, the mask and the scale, not copied."""
        return Exact(self._integers, self._missing, self._scale)

    @property
    def dtype(self) -> AmountDtype:
        """The dtype, the same for all scales."""
        return _DTYPE

    @property
    def nbytes(self) -> int:
        """The size of the buffers in bytes, the integers themselves not counted."""
        return int(self._integers.nbytes + self._missing.nbytes)

    def __len__(self) -> int:
        return len(self._integers)

    def __iter__(self) -> Iterator[Any]:
        for integer, missing in zip(self._integers, self._missing, strict=True):
            yield pd.NA if missing else Amount.of(integer, self._scale)

    def __getitem__(self, item: Any) -> Any:
        item = check_array_indexer(self, item)
        integers = self._integers[item]
        if not isinstance(integers, np.ndarray):
            return pd.NA if self._missing[item] else Amount.of(integers, self._scale)
        taken = type(self)(integers, self._missing[item], self._scale)
        shared = np.may_share_memory(integers, self._integers)
        taken._readonly = self._readonly and shared  # noqa: SLF001  a new array's own
        return taken

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._readonly:
            raise ValueError("Cannot modify read-only array")
        key = check_array_indexer(self, key)
        integers, missing, scale = self._settable(value, key)
        finest = max(scale, self._scale)
        # A finer value needs integers of its own scale: the buffer is then a new one.
        self._integers = rescale(self._integers, self._scale, finest)
        self._scale = finest
        self._integers[key] = integers * POWERS[finest - scale]
        self._missing[key] = missing

    def _settable(self, value: Any, key: Any) -> tuple[Any, Any, int]:
        """Read what is set: one value as an integer and a bool, n as arrays of them."""
        if not pd.api.types.is_list_like(value):
            integers, missing, scale = read([value])
            return integers[0], missing[0], scale
        if pd.api.types.is_integer(key):
            raise ValueError("setting an array element with a sequence.")
        return self._from_sequence(value).exact()

    def __contains__(self, item: Any) -> bool:
        """Tell whether an amount is there; of all missing values only NA itself ever is."""
        if item is pd.NA:
            return bool(self._missing.any())
        return not pd.isna(item) and bool((self == item).any())

    def isna(self) -> Mask:
        """Give a mask of what is missing, shape (n,)."""
        return self._missing.copy()

    def copy(self) -> Self:
        """Give an array with buffers of its own."""
        return type(self)(self._integers.copy(), self._missing.copy(), self._scale)

    def take(self, indexer: Any, *, allow_fill: bool = False, fill_value: Any = None) -> Self:
        """Take amounts by position; with ``allow_fill``, -1 gives the fill value or NA."""
        filled = {"indices": indexer, "allow_fill": allow_fill}
        integers: Any = take_values(self._integers, fill_value=0, **filled)
        missing: Any = take_values(self._missing, fill_value=True, **filled)
        taken = type(self)(integers, missing, self._scale)
        if allow_fill and fill_value is not None and not pd.isna(fill_value):
            taken[np.asarray(indexer) == -1] = fill_value
        return taken

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence[Self]) -> Self:
        """Join arrays of any scales at the finest of them (pandas's hook behind concat)."""
        parts = [array.exact() for array in to_concat]
        finest = max(part.scale for part in parts)
        integers = [rescale(part.integers, part.scale, finest) for part in parts]
        missing = [part.missing for part in parts]
        return cls(np.concatenate(integers), np.concatenate(missing), finest)

    def _formatter(
        self,
        boxed: bool = False,  # noqa: ARG002, FBT001, FBT002  pandas's own; there is but one form
    ) -> Callable[[Any], str]:
        """Show plain text inside a Series and outside (pandas's hook behind every repr)."""
        return str
