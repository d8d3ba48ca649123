"""Where a column's amounts are kept, and the hooks by which pandas moves them about.

The integers, the mask of what is missing and the scale live here, with indexing, taking, joining
and setting. What amounts mean to arithmetic, order, statistics and other types is built on top.
"""

from __future__ import annotations

from decimal import Decimal
from sys import getsizeof
from threading import RLock
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray
from pandas.api.extensions import take as take_values
from pandas.api.indexers import check_array_indexer

from walletframe.amounts.dtype import AmountDtype
from walletframe.amounts.integers import POWERS, Exact, Integers, Mask, as_objects, rescale
from walletframe.amounts.scalar import Amount, scalars_of
from walletframe.amounts.values import read
from walletframe.amounts.words import Words
from walletframe.errors import AmountError, AmountValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


_DTYPE = AmountDtype()
_WHOLE = slice(None)


class _Buffer:
    """What an array and its views share: integers, mask and scale, which change as one.

    What has been handed out doesn't change any more: the next write is made to a copy. Words become
    integers when these are asked for.
    """

    __slots__ = ("_handed_out", "_kept", "_lock", "count")

    def __init__(self, amounts: Exact | Words) -> None:
        self.count = len(amounts.missing)
        self._kept = amounts
        self._handed_out = False
        self._lock = RLock()  # garbage that is collected in between may read the array

    def exact(self) -> Exact:
        """Hand out the amounts."""
        with self._lock:
            self._handed_out = True
            return self._integers()

    def kept(self) -> Exact | Words:
        """Hand out the amounts as they are kept."""
        with self._lock:
            self._handed_out = True
            return self._kept

    def _integers(self) -> Exact:
        if isinstance(self._kept, Words):
            self._kept = self._kept.exact()
        return self._kept

    def chosen(self, window: slice, key: Any) -> tuple[Any, Any, int]:
        """Give one amount as an integer and a bool, or n as arrays of their own."""
        with self._lock:
            integers, missing, scale = self._integers()
            return integers[window][key], missing[window][key], scale

    def write(self, window: slice, key: Any, given: tuple[Any, Any, int]) -> None:
        """Set what a view selects."""
        given_integers, given_missing, given_scale = given
        with self._lock:
            integers, missing, scale = self._integers()
            finest = max(scale, given_scale)
            if finest > scale:
                integers, missing = rescale(integers, scale, finest), missing.copy()
            elif self._handed_out:
                integers, missing = integers.copy(), missing.copy()
            integers[window][key] = given_integers * POWERS[finest - given_scale]
            missing[window][key] = given_missing
            self._kept, self._handed_out = Exact(integers, missing, finest), False


class AmountStorage(ExtensionArray):
    """Integers with one scale and a mask, as pandas indexes, joins, sets and copies them."""

    # pandas's mark for an array that a caller must not change; only its stubs lack it.
    _readonly: bool

    # NumPy then leaves `ndarray + array` to this class, and pandas's other arrays do as well.
    __array_priority__ = 1000
    __pandas_priority__ = 1500

    def __init__(self, integers: Integers, missing: Mask, scale: int) -> None:
        self._buffer = _Buffer(Exact(integers, missing, scale))
        self._window = _WHOLE

    def __getstate__(self) -> dict[str, Any]:
        """Give a pickle the amounts of this array alone, under the names it has always used."""
        integers, missing, scale = self.exact()
        return {"_integers": integers, "_missing": missing, "_scale": scale}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._buffer = _Buffer(Exact(state["_integers"], state["_missing"], state["_scale"]))
        self._window = _WHOLE

    def __copy__(self) -> Self:
        return self.copy()

    @classmethod
    def _from_sequence(
        cls,
        scalars: Any,
        *,
        dtype: Any = None,  # noqa: ARG003  there is but one
        copy: bool = False,
    ) -> Self:
        """Make an array of what people write (pandas's hook behind ``pd.array``)."""
        if isinstance(scalars, cls):
            return scalars.copy() if copy else scalars
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

    @classmethod
    def _of_words(cls, words: Words) -> Self:
        """Make an array of words, which become integers when these are asked for."""
        array = cls.__new__(cls)
        vars(array).update(_buffer=_Buffer(words), _window=_WHOLE)
        return array

    def _amounts(self) -> Exact | Words:
        """Give the amounts as they are kept, not to be changed."""
        return self._buffer.kept() if self._window is _WHOLE else self.exact()

    def exact(self) -> Exact:
        """Give the integers, the mask of missing ones and the scale, as they are at one moment.

        Returns
        -------
        Exact
            ``integers``, Python integers, 0 where missing, shape (n,); ``missing``, bool, shape
            (n,); ``scale``, from 0 to 77. They are not copied: don't change them.

        Examples
        --------
        >>> pd.array(["1.5", None], dtype="amount").exact().integers
        array([15, 0], dtype=object)
        """
        integers, missing, scale = whole = self._buffer.exact()
        if self._window is _WHOLE:
            return whole
        return Exact(integers[self._window], missing[self._window], scale)

    @property
    def dtype(self) -> AmountDtype:
        """The dtype, the same for all scales."""
        return _DTYPE

    @property
    def nbytes(self) -> int:
        """The size of the buffers in bytes, the integers themselves not counted."""
        integers, missing, _ = self.exact()
        return int(integers.nbytes + missing.nbytes)

    def memory_usage(self, *, deep: bool = False) -> int:
        """Give the size in bytes (pandas's hook), with ``deep`` the integers counted, too."""
        return self.nbytes + (sum(map(getsizeof, self.exact().integers)) if deep else 0)

    def __len__(self) -> int:
        return len(range(self._buffer.count)[self._window])

    def __iter__(self) -> Iterator[Any]:
        return iter(self._objects())

    def _objects(self) -> Integers:
        """Give amounts one by one, NA where missing."""
        integers, missing, scale = self.exact()
        objects = as_objects(scalars_of(integers, scale))
        objects[missing] = pd.NA
        return objects

    def tolist(self) -> list[Any]:
        """Give a list of amounts, NA where missing."""
        _, missing, _ = whole = self.exact()
        return self._objects().tolist() if missing.any() else scalars_of(whole[0], whole[2])

    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, slice) or item is Ellipsis:
            return self._view(_WHOLE if item is Ellipsis else item)
        item = check_array_indexer(self, item)
        chosen, missing, scale = self._buffer.chosen(self._window, item)
        if isinstance(chosen, np.ndarray):
            return type(self)(chosen, missing, scale)
        return pd.NA if missing else Amount.of(chosen, scale)

    def _view(self, part: slice) -> Self:
        """Give an array that shares the buffer: each sees what is written through the other."""
        places = range(self._buffer.count)[self._window][part]
        view = type(self).__new__(type(self))
        shared = {"_buffer": self._buffer, "_readonly": self._readonly}
        vars(view).update(shared, _window=_slice_of(places))
        return view

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._readonly:
            raise ValueError("Cannot modify read-only array")
        key = check_array_indexer(self, key)
        self._buffer.write(self._window, key, self._settable(value, key))

    def insert(self, loc: int, item: Any) -> Self:
        """Give an array with one more amount at a position."""
        places = np.insert(np.arange(len(self)), loc, -1)
        inserted = self.take(places, allow_fill=True)
        inserted[places == -1] = item
        return inserted

    def _settable(self, value: Any, key: Any) -> tuple[Any, Any, int]:
        """Read what is set: one value as an integer and a bool, n as arrays of their own."""
        several = pd.api.types.is_list_like(value)
        if several and pd.api.types.is_integer(key):
            raise ValueError("setting an array element with a sequence.")
        try:
            read_in = self._from_sequence(value if several else [value], copy=several)
        except AmountError as fault:
            refused = AmountValueError(fault.message, fault.hint)
        else:
            integers, missing, scale = read_in.exact()
            return (integers, missing, scale) if several else (integers[0], missing[0], scale)
        raise refused

    def __contains__(self, item: Any) -> bool:
        """Tell whether an amount is there; of all missing values only NA itself ever is."""
        if item is pd.NA:
            return bool(self.exact().missing.any())
        return not pd.isna(item) and bool((self == item).any())

    def isna(self) -> Mask:
        """Give a mask of what is missing, shape (n,)."""
        return self.exact().missing.copy()

    def copy(self) -> Self:
        """Give an array with buffers of its own."""
        integers, missing, scale = self.exact()
        return type(self)(integers.copy(), missing.copy(), scale)

    def take(self, indexer: Any, *, allow_fill: bool = False, fill_value: Any = None) -> Self:
        """Take amounts by position; with ``allow_fill``, -1 gives the fill value or NA."""
        integers, missing, scale = self.exact()
        filled = {"indices": indexer, "allow_fill": allow_fill}
        taken_integers: Any = take_values(integers, fill_value=0, **filled)
        taken_missing: Any = take_values(missing, fill_value=True, **filled)
        taken = type(self)(taken_integers, taken_missing, scale)
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


def _slice_of(places: range) -> slice:
    """Give the slice that selects a range of positions."""
    if not places:
        return slice(0, 0)
    return slice(places.start, places.stop if places.stop >= 0 else None, places.step)
