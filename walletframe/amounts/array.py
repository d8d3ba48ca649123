"""The column type of exact amounts: what pandas asks of a dtype and of an array.

pandas documents its own hooks; what is said of them here is what is special to amounts. Sums,
differences, comparisons, order and extremes are exact. Means, medians, quotients and products with
floats are the nearest float64; all other statistics are pandas's own, of the nearest floats.
"""

from __future__ import annotations

import operator
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial
from sys import getsizeof
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas._libs.hashtable import ObjectFactorizer  # type: ignore[import-not-found]
from pandas.api.extensions import ExtensionArray, ExtensionDtype, no_default
from pandas.api.indexers import check_array_indexer
from pandas.core.reshape import merge

from walletframe.amounts import arithmetic, sums
from walletframe.amounts.arrow import AmountType, as_decimals, as_text, fitting, from_arrow
from walletframe.amounts.integers import (
    POWERS,
    Exact,
    Integers,
    aligned,
    as_objects,
    at_sorted_positions,
    codes,
    nearest_float,
    or_none,
    ratios,
    rescale,
    same_scale,
    stable_order,
    to_floats,
)
from walletframe.amounts.scalar import Amount, FormattedAmount, both_ways, plain_number, scalars_of
from walletframe.amounts.text import COMMON_DECIMALS, plain
from walletframe.amounts.values import base_units, each_scale, plain_integers, read
from walletframe.errors import AmountError, AmountTypeError, AmountValueError

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt
    from pandas.api.typing import NAType

    from walletframe.amounts.integers import Floats, Mask, Places
    from walletframe.amounts.sums import Words

    Whole: TypeAlias = int | np.integer[Any] | Decimal | Fraction | NAType | None
    Operand: TypeAlias = Whole | np.ndarray[Any, Any] | ExtensionArray | Sequence[Any]

_WHOLE = slice(None)
_PANDAS_OWN = (pd.Series, pd.Index, pd.DataFrame)  # they unpack themselves and ask again
_FLOAT_FUNCTIONS = {np.exp, np.cbrt, np.sqrt, np.log, np.log2, np.log10, np.log1p}
_EXACT = {"sum", "min", "max"}
_SPREADS = {"std", "var", "sem"}


@pd.api.extensions.register_extension_dtype
class AmountDtype(ExtensionDtype):
    """The pandas dtype of exact amounts: integers of any size and a scale of up to 77 decimals.

    Its name is ``"amount"``; importing walletframe makes pandas know it. A missing amount is
    `pandas.NA`, and a single amount is a `decimal.Decimal` with plain text.

    Examples
    --------
    >>> import pandas as pd
    >>> pd.Series(["1.5", "0.000000000000000001", None], dtype="amount")
    0                     1.5
    1    0.000000000000000001
    2                    <NA>
    dtype: amount
    """

    name = "amount"
    type = Decimal
    # Without it pandas leaves it out of round by column, decimal commas and float formats, and
    # plotly express takes amounts for categories.
    kind = "f"
    itemsize = 8  # of a reference, asked for by pandas 3.0
    na_value: Any = pd.NA
    _is_numeric = True  # else numeric_only, describe and plots leave it out

    def __repr__(self) -> str:
        return "AmountDtype()"

    @classmethod
    def construct_array_type(cls) -> builtins.type[AmountArray]:
        """Return the class of arrays of this dtype."""
        return AmountArray

    def _get_common_dtype(self, dtypes: list[Any]) -> AmountDtype | None:
        """Return this dtype if all others join it without loss: integers and Arrow's decimals."""
        for dtype in dtypes:
            is_arrow = isinstance(dtype, pd.ArrowDtype)
            is_decimal = is_arrow and pa.types.is_decimal(dtype.pyarrow_dtype)
            if dtype != self and not is_decimal and getattr(dtype, "kind", None) not in {"i", "u"}:
                return None
        return self

    def __from_arrow__(self, array: pa.Array | pa.ChunkedArray) -> AmountArray:
        """Make an array of what Parquet and Feather hold."""
        return AmountArray(*from_arrow(array))


class _Buffer:
    """Integers, mask and scale that an array shares with its views, and that change as one.

    What has been handed out doesn't change any more: the next write is made to a copy. Words become
    integers when these are asked for.
    """

    __slots__ = ("_handed_out", "_kept", "_lock", "count")

    def __init__(self, amounts: Exact | Words) -> None:
        self.count = len(amounts.missing)
        self._kept = amounts
        self._handed_out = False
        self._lock = RLock()  # garbage that is collected in between may read the array

    def kept(self) -> Exact | Words:
        """Hand out the amounts as they are kept."""
        with self._lock:
            self._handed_out = True
            return self._kept

    def exact(self) -> Exact:
        """Hand out the amounts."""
        with self._lock:
            self._handed_out = True
            return self._integers()

    def _integers(self) -> Exact:
        if not isinstance(self._kept, Exact):
            self._kept = self._kept.exact()
        return self._kept

    def chosen(self, window: slice, key: Any) -> tuple[Any, Any, int]:
        """Return one amount as an integer and a bool, or n as arrays of their own."""
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


def _arithmetic(compute: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """Make an operator, and the one for an array on its right."""

    def method(self: AmountArray, other: Any, *, reflected: bool = False) -> Any:
        if isinstance(other, _PANDAS_OWN):
            return NotImplemented
        there = arithmetic.operand(other, len(self))
        if there is None:
            return NotImplemented
        here = self.exact()
        result = compute(there, here) if reflected else compute(here, there)
        return type(self)(*result) if isinstance(result, Exact) else result

    return both_ways(method)


def _exactly(operation: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    return _arithmetic(partial(arithmetic.exactly, operation=operation))


def _comparison(
    compare: Callable[[Any, Any], Any],
) -> Callable[[AmountArray, Any], pd.arrays.BooleanArray]:
    def method(self: AmountArray, other: Any) -> Any:
        if isinstance(other, _PANDAS_OWN):
            return NotImplemented
        there, incomparable = arithmetic.comparable(other, len(self))
        if incomparable.any() and compare not in {operator.eq, operator.ne}:
            return NotImplemented
        answers, missing = arithmetic.compared(self.exact(), there, compare)
        answers[np.broadcast_to(incomparable, answers.shape)] = compare is operator.ne
        return pd.arrays.BooleanArray(answers, missing)

    return method


def _by_floats(name: str) -> Callable[..., np.float64]:
    def method(self: AmountArray, *, skipna: bool = True, ddof: int = 1, **_: Any) -> Any:
        options = {"ddof": ddof} if name in _SPREADS else {}
        return getattr(pd.Series(to_floats(self.exact())), name)(skipna=skipna, **options)

    return method


class AmountArray(ExtensionArray):  # noqa: PLW1641  an array can change, so it has no hash
    """Exact amounts: n integers of any size, a scale of up to 77 decimals, and a mask of NA.

    Make one with ``pd.array(values, dtype="amount")`` from text, Decimals and integers, or with
    `AmountArray.from_raw` from base units. Floats are refused: they have lost digits already.

    Parameters
    ----------
    integers : ndarray of Python integers, shape (n,)
        The amounts times ``10**scale``, 0 where missing.
    missing : ndarray of bool, shape (n,)
        Which are NA.
    scale : int
        The decimals of all, from 0 to 77.

    Notes
    -----
    Sums, differences, comparisons, order, groups, running values and extremes are exact, and so are
    whole powers and products with integers and Decimals. Quotients, products with floats, means and
    medians are the float64 nearest to the exact value; other statistics are those of the nearest
    floats. No decimal context is read or changed.

    Examples
    --------
    >>> import pandas as pd
    >>> amounts = pd.array(["0.1", "0.2", "1E-18", None], dtype="amount")
    >>> amounts.sum()
    Amount('0.300000000000000001')
    >>> amounts * 3
    <AmountArray>
    [0.3, 0.6, 0.000000000000000003, <NA>]
    Length: 4, dtype: amount
    """

    dtype: ClassVar[AmountDtype] = AmountDtype()
    _readonly = False  # pandas 3's mark for an array that a caller must not change
    _iterated: type[Amount] = Amount  # what iterating gives

    # NumPy then leaves `ndarray + array` to this class, and pandas's other arrays do as well.
    __array_priority__ = 1000
    __pandas_priority__ = 1500

    def __init__(self, integers: Integers, missing: Mask, scale: int) -> None:
        self._buffer = _Buffer(Exact(integers, missing, scale))
        self._window = _WHOLE

    @classmethod
    def from_raw(cls, raw: Sequence[Any], decimals: Any) -> Self:
        """Make amounts of base units, as chains report them.

        Parameters
        ----------
        raw : sequence of int or str
            Integers, or strings of ASCII digits with an optional minus, n of them; None or NA is
            missing.
        decimals : int, None or sequence of n ints and None
            The decimals of all, or of each: 0 to 77. Where they are None or NA the amount is NA.

        Returns
        -------
        AmountArray, shape (n,)

        Raises
        ------
        AmountError
            If a value is no integer, or decimals are out of range, no integers, or not one or n;
            the message names the value and its position.

        Examples
        --------
        >>> AmountArray.from_raw(["1500000", "1", 7], [6, 18, None])
        <AmountArray>
        [1.5, 0.000000000000000001, <NA>]
        Length: 3, dtype: amount
        """
        if isinstance(raw, str):
            raise AmountError("one string is no sequence of base units", hint="put it in a list")
        values = raw if isinstance(raw, list) else as_objects(raw)
        scales, missing = each_scale(decimals, len(values))
        integers = None
        with suppress(ValueError):  # an empty string, or more digits than Python reads
            integers = plain_integers(values)
        if integers is None:
            gaps = np.asarray(pd.isna(as_objects(values)), dtype=bool)
            missing |= gaps
            rows = enumerate(zip(values, gaps, strict=True))
            read_in = (0 if gap else base_units(value, n) for n, (value, gap) in rows)
            integers = np.fromiter(read_in, object, len(values))
        if missing.any():
            integers[missing] = 0
        return cls(*aligned(integers, missing, scales))

    @classmethod
    def _of_words(cls, words: Words) -> Self:
        """Make an array of words, which become integers when these are asked for."""
        array = cls.__new__(cls)
        vars(array).update(_buffer=_Buffer(words), _window=_WHOLE)
        return array

    @classmethod
    def _from_sequence(cls, scalars: Any, *, dtype: Any = None, copy: bool = False) -> Self:  # noqa: ARG003  there is but one dtype
        """Make an array of what people write (pandas's hook behind ``pd.array``)."""
        if isinstance(scalars, cls):
            return scalars.copy() if copy else scalars
        return cls(*read(scalars))

    _from_sequence_of_strings = _from_sequence  # of a text file's column, for ``read_csv``

    @classmethod
    def _from_scalars(cls, scalars: Sequence[Any], *, dtype: Any) -> Self:
        """Make an array of results of a function, if they are amounts (pandas's hook behind map).

        Numbers and text that a function returns stay what they are.
        """
        if all(isinstance(value, Decimal) or value is pd.NA for value in scalars):
            return cls._from_sequence(scalars, dtype=dtype)
        raise TypeError("these results are no amounts")

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence[Self]) -> Self:
        """Join arrays of any scales at the finest of them (pandas's hook behind concat)."""
        parts = [array.exact() for array in to_concat]
        finest = max(part.scale for part in parts)
        integers = [rescale(part.integers, part.scale, finest) for part in parts]
        missing = [part.missing for part in parts]
        return cls(np.concatenate(integers), np.concatenate(missing), finest)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the amounts of this array alone."""
        return type(self), tuple(self.exact())

    def exact(self) -> Exact:
        """Return the integers, the mask of missing ones and the scale, as they are at one moment.

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

    def _amounts(self) -> Exact | Words:
        """Return the amounts as they are kept, not to be changed."""
        return self._buffer.kept() if self._window is _WHOLE else self.exact()

    @property
    def nbytes(self) -> int:
        """The size of the buffers in bytes, the integers themselves not counted."""
        integers, missing, _ = self.exact()
        return int(integers.nbytes + missing.nbytes)

    def memory_usage(self, *, deep: bool = False) -> int:
        """Return the size in bytes (pandas's hook), with ``deep`` the integers counted, too."""
        return self.nbytes + (sum(map(getsizeof, self.exact().integers)) if deep else 0)

    def __len__(self) -> int:
        return len(range(self._buffer.count)[self._window])

    def __iter__(self) -> Iterator[Any]:
        return iter(self._scalars(self._iterated))

    def tolist(self) -> list[Any]:
        """Return a list of amounts, NA where missing."""
        return self._scalars(Amount)

    def _scalars(self, kind: type[Amount]) -> list[Any]:
        integers, missing, scale = self.exact()
        scalars: list[Any] = scalars_of(integers, scale, kind)
        for place in np.flatnonzero(missing):
            scalars[place] = pd.NA
        return scalars

    def __getitem__(self, item: Any) -> Any:
        """Return an amount, amounts, or of a slice a view, which shares the buffer."""
        if isinstance(item, slice) or item is Ellipsis:
            part = _WHOLE if item is Ellipsis else item
            places = range(self._buffer.count)[self._window][part]
            stop = places.stop if places.stop >= 0 else None
            window = slice(places.start, stop, places.step) if places else slice(0, 0)
            view = type(self).__new__(type(self))
            vars(view).update(_buffer=self._buffer, _readonly=self._readonly, _window=window)
            return view
        item = check_array_indexer(self, item)
        chosen, missing, scale = self._buffer.chosen(self._window, item)
        if isinstance(chosen, np.ndarray):
            return type(self)(chosen, missing, scale)
        return pd.NA if missing else Amount.of(chosen, scale)

    def ravel(self, order: Any = "C") -> Self:  # noqa: ARG002  pandas's own; there is one axis
        """Return a view whose amounts are formatted one by one, as pandas's CSV writer asks."""
        view: Self = self[:]
        vars(view)["_iterated"] = FormattedAmount
        return view

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._readonly:
            raise ValueError("Cannot modify read-only array")
        key = check_array_indexer(self, key)
        several = pd.api.types.is_list_like(value)
        if several and pd.api.types.is_integer(key):
            raise ValueError("setting an array element with a sequence.")
        try:
            read_in = self._from_sequence(value if several else [value], copy=several)
        except AmountError as fault:
            raise AmountValueError(fault.message, fault.hint) from None
        integers, missing, scale = read_in.exact()
        given = (integers, missing, scale) if several else (integers[0], missing[0], scale)
        self._buffer.write(self._window, key, given)

    def insert(self, loc: int, item: Any) -> Self:
        """Return an array with one more amount at a position."""
        places = np.insert(np.arange(len(self)), loc, -1)
        inserted = self.take(places, allow_fill=True)
        inserted[places == -1] = item
        return inserted

    def __contains__(self, item: Any) -> bool:
        """Return whether an amount is there; of all missing values only NA itself ever is."""
        if item is pd.NA:
            return bool(self.exact().missing.any())
        return not pd.isna(item) and bool((self == item).any())

    def isna(self) -> Mask:
        """Return a mask of what is missing, shape (n,)."""
        return self._amounts().missing.copy()

    def copy(self) -> Self:
        """Return an array with buffers of its own."""
        integers, missing, scale = self.exact()
        return type(self)(integers.copy(), missing.copy(), scale)

    __copy__ = copy

    def take(self, indexer: Any, *, allow_fill: bool = False, fill_value: Any = None) -> Self:
        """Take amounts by position; with ``allow_fill``, -1 gives the fill value or NA."""
        integers, missing, scale = self.exact()
        take: Any = partial(pd.api.extensions.take, indices=indexer, allow_fill=allow_fill)
        taken = type(self)(take(integers, fill_value=0), take(missing, fill_value=True), scale)
        if allow_fill and fill_value is not None and not pd.isna(fill_value):
            taken[np.asarray(indexer) == -1] = fill_value
        return taken

    def _formatter(self, boxed: bool = False) -> Callable[[Any], str]:  # noqa: ARG002, FBT001, FBT002  pandas's own; there is but one form
        """Show plain text inside a Series and outside (pandas's hook behind every repr)."""
        return str

    # Operators

    if TYPE_CHECKING:  # what they take and return

        def __add__(self, other: Operand, /) -> Self: ...
        def __radd__(self, other: Operand, /) -> Self: ...
        def __sub__(self, other: Operand, /) -> Self: ...
        def __rsub__(self, other: Operand, /) -> Self: ...
        def __mul__(self, other: Any, /) -> Any: ...
        def __rmul__(self, other: Any, /) -> Any: ...
        def __truediv__(self, other: Any, /) -> Any: ...
        def __rtruediv__(self, other: Any, /) -> Any: ...
        def __floordiv__(self, other: Operand, /) -> Self: ...
        def __rfloordiv__(self, other: Operand, /) -> Self: ...
        def __mod__(self, other: Operand, /) -> Self: ...
        def __rmod__(self, other: Operand, /) -> Self: ...
        def __eq__(self, other: object, /) -> pd.arrays.BooleanArray: ...  # type: ignore[override]
        def __ne__(self, other: object, /) -> pd.arrays.BooleanArray: ...  # type: ignore[override]
        def __lt__(self, other: Any, /) -> pd.arrays.BooleanArray: ...
        def __le__(self, other: Any, /) -> pd.arrays.BooleanArray: ...
        def __gt__(self, other: Any, /) -> pd.arrays.BooleanArray: ...
        def __ge__(self, other: Any, /) -> pd.arrays.BooleanArray: ...

    else:
        __add__, __radd__ = _exactly(operator.add)
        __sub__, __rsub__ = _exactly(operator.sub)
        __floordiv__, __rfloordiv__ = _exactly(np.floor_divide)
        __mod__, __rmod__ = _exactly(np.remainder)
        __mul__, __rmul__ = _arithmetic(arithmetic.product)
        __truediv__, __rtruediv__ = _arithmetic(arithmetic.quotient)
        __eq__, __ne__ = map(_comparison, (operator.eq, operator.ne))
        __lt__, __le__ = map(_comparison, (operator.lt, operator.le))
        __gt__, __ge__ = map(_comparison, (operator.gt, operator.ge))

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __pow__(self, other: Any) -> Any:
        """Raise to a whole number from 0 on, exactly."""
        exponent = plain_number(other)
        if not isinstance(exponent, int) or exponent < 0:
            return self.__rpow__(other)
        return type(self)(*arithmetic.power(self.exact(), exponent))

    def __rpow__(self, other: Any) -> Any:
        """Refuse: NumPy would let each Decimal round by its context."""
        if isinstance(other, _PANDAS_OWN):
            return NotImplemented
        raise AmountTypeError(
            "only one whole exponent from 0 on gives exact powers of amounts",
            hint="use .astype(float) for floats",
        )

    def __neg__(self) -> Self:
        integers, missing, scale = self.exact()
        return type(self)(-integers, missing.copy(), scale)

    __pos__ = copy

    def __abs__(self) -> Self:
        integers, missing, scale = self.exact()
        return type(self)(np.abs(integers), missing.copy(), scale)

    def round(self, decimals: int = 0) -> Self:
        """Round to a number of decimals, half to even, exactly."""
        return type(self)(*arithmetic.rounded(self.exact(), operator.index(decimals)))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Compute NumPy's functions exactly where possible, else on float64."""
        if method == "__call__" and ufunc in _FUNCTIONS and not kwargs:
            others = inputs[1:] if inputs[0] is self else inputs[:-1]
            return _FUNCTIONS[ufunc](self, *others)
        if method == "__call__" and ufunc in _FLOAT_FUNCTIONS:
            return ufunc(*(np.asarray(given, dtype=np.float64) for given in inputs), **kwargs)
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)

    # Order and identity: equal amounts are equal whatever the scale of their arrays

    def argsort(self, *, ascending: bool = True, na_position: str = "last", **_: Any) -> Places:
        """Return the positions in order, shape (n,); always stable, missing ones last or first."""
        amounts = self.exact()
        present = np.flatnonzero(~amounts.missing)
        integers = amounts.integers[present]
        if ascending:
            found = present[stable_order(integers)]
        else:
            found = present[::-1][stable_order(integers[::-1])][::-1]
        gaps = np.flatnonzero(amounts.missing)
        return np.concatenate((found, gaps) if na_position == "last" else (gaps, found))

    def _values_for_argsort(self) -> Places:
        """Return numbers in the order of the amounts (pandas's hook for ranks and the like)."""
        integers, _, _ = self.exact()
        order = stable_order(integers)
        ordered = integers[order]
        ranks = np.zeros(len(order), dtype=np.intp)
        ranks[order[1:]] = np.cumsum(ordered[1:] != ordered[:-1])
        return ranks

    def _monotonic_check(self) -> tuple[bool, bool]:
        """Return whether the amounts never fall, and whether they never rise; merge asks for it."""
        integers, missing, _ = self.exact()
        if missing.any():
            return False, False
        before, after = integers[:-1], integers[1:]
        return bool((before <= after).all()), bool((before >= after).all())

    def _rank(self, *, axis: int = 0, **options: Any) -> Floats:  # noqa: ARG002  it has one axis
        """Rank in the order of the amounts; before 3.0 pandas itself overlooks missing ones."""
        return np.asarray(pd.Series(self._ranks()).rank(axis=0, **options), dtype=np.float64)

    def _ranks(self) -> Floats:
        """Return numbers in the order of the amounts, NaN where missing."""
        return np.where(self.exact().missing, np.nan, self._values_for_argsort())

    def searchsorted(self, value: Any, side: Any = "left", sorter: Any = None) -> Any:
        """Find where values would have to be inserted in sorted amounts, exactly."""
        several = pd.api.types.is_list_like(value)
        here, sought = self.exact(), self._from_sequence(value if several else [value]).exact()
        if here.missing.any() or sought.missing.any():
            raise ValueError("searchsorted needs sorted amounts, and a missing one has no order")
        ours, theirs, _ = same_scale(here, sought)
        places = ours.searchsorted(theirs, side=side, sorter=sorter)
        return places if several else places[0]

    def isin(self, values: Any) -> Mask:
        """Return which amounts are among some values, exactly; NA is where they have NA."""
        here, sought = self.exact(), arithmetic.members(values)
        ours, theirs, _ = same_scale(here, sought)
        found = np.asarray(pd.Index(ours, dtype=object).isin(theirs[~sought.missing]))
        return np.where(here.missing, bool(sought.missing.any()), found)

    def _values_for_factorize(self) -> tuple[Integers, Any]:
        """Return keys that don't depend on the scale: merge compares those of two arrays.

        They are 10**18 times the amounts: integers, or Fractions where there are more decimals.
        """
        integers, missing, scale = self.exact()
        unit = POWERS[max(scale - COMMON_DECIMALS, 0)]
        keys = rescale(integers, min(scale, COMMON_DECIMALS), COMMON_DECIMALS)
        if unit > 1:
            fine = np.flatnonzero(integers % unit)
            keys = integers // unit
            keys[fine] = [Fraction(integer, unit) for integer in integers[fine]]
        return or_none(keys, missing), None

    def _hash_pandas_object(self, **_: Any) -> npt.NDArray[np.uint64]:
        """Hash amounts without regard to their scale (pandas's hook)."""
        keys, _ = self._values_for_factorize()
        hashes = np.fromiter(map(hash, keys), dtype=np.int64, count=len(keys))
        hashes[self.exact().missing] = -1  # which is no hash of Python's
        return pd.util.hash_array(hashes)

    def factorize(self, use_na_sentinel: bool = True) -> tuple[Places, Self]:  # noqa: FBT001, FBT002  pandas's own
        """Return the number of each row's amount, from 0, and the amounts, each once."""
        numbers, missing = codes(self.exact()), self.exact().missing
        if missing.any() and not use_na_sentinel:  # NA has its turn where it is first
            turn = numbers[: missing.argmax()].max(initial=-1) + 1
            numbers += numbers >= turn
            numbers[missing] = turn
        firsts = np.empty(numbers.max(initial=-1) + 2, dtype=np.intp)  # the last one is of -1
        firsts[numbers[::-1]] = np.arange(len(numbers))[::-1]
        return numbers, self.take(firsts[:-1])

    def unique(self) -> Self:
        """Return every amount once, NA too, in the order of the first mention."""
        return self.factorize(use_na_sentinel=False)[1]

    def duplicated(self, keep: Any = "first") -> Mask:
        """Mark amounts that are there more than once, all but the first, the last or none."""
        return np.asarray(pd.Series(codes(self.exact())).duplicated(keep=keep))

    def value_counts(self, dropna: bool = True) -> pd.Series[int]:  # noqa: FBT001, FBT002  pandas's own
        """Count equal amounts, the most frequent first; index of amounts, dtype Int64."""
        numbers, uniques = self.factorize(use_na_sentinel=dropna)
        counts = np.bincount(numbers[numbers >= 0], minlength=len(uniques))
        order = np.argsort(-counts, kind="stable")
        return pd.Series(counts[order], pd.Index(uniques[order]), name="count", dtype="Int64")

    # Reductions, running values and groups. With skipna=False a missing amount makes the result
    # missing: NA where an amount would come out, NaN where a float would.

    var: ClassVar[Callable[..., np.float64]] = _by_floats("var")
    std: ClassVar[Callable[..., np.float64]] = _by_floats("std")
    sem: ClassVar[Callable[..., np.float64]] = _by_floats("sem")
    skew: ClassVar[Callable[..., np.float64]] = _by_floats("skew")
    kurt: ClassVar[Callable[..., np.float64]] = _by_floats("kurt")

    def mean(self, *, skipna: bool = True, **_: Any) -> np.float64:
        """Return the float64 nearest to the mean, NaN of no amounts."""
        integers, scale = self._present(skipna=skipna)
        count = len(integers)
        mean = nearest_float(integers.sum(), count * POWERS[scale]) if count else np.nan
        return np.float64(mean)

    def median(self, *, skipna: bool = True, **_: Any) -> np.float64:
        """Return the float64 nearest to the median, NaN of no amounts."""
        integers, scale = self._present(skipna=skipna)
        count = len(integers)
        if not count:
            return np.float64("nan")
        low, high = at_sorted_positions(integers, [(count - 1) // 2, count // 2])
        return np.float64(nearest_float(low + high, 2 * POWERS[scale]))

    def sum(self, *, skipna: bool = True, min_count: int = 0, **_: Any) -> Any:
        """Add up exactly; 0 for no amounts, NA for fewer than ``min_count``."""
        integers, missing, scale = self.exact()
        if (not skipna and missing.any()) or (~missing).sum() < min_count:
            return pd.NA
        return Amount.of(int(integers.sum()), scale)

    def min(self, *, skipna: bool = True, **_: Any) -> Any:
        """Return the smallest amount; NA for no amounts."""
        integers, scale = self._present(skipna=skipna)
        return Amount.of(integers.min(), scale) if len(integers) else pd.NA

    def max(self, *, skipna: bool = True, **_: Any) -> Any:
        """Return the largest amount; NA for no amounts."""
        integers, scale = self._present(skipna=skipna)
        return Amount.of(integers.max(), scale) if len(integers) else pd.NA

    def _present(self, *, skipna: bool) -> tuple[Integers, int]:
        """Return the integers that are there, none if one may not be missing, and the scale."""
        integers, missing, scale = self.exact()
        if missing.any():
            integers = integers[~missing] if skipna else integers[:0]
        return integers, scale

    def any(self, *, skipna: bool = True, **_: Any) -> Any:
        """Return whether there is an amount other than 0; missing ones are neither (Kleene)."""
        return (self != 0).any(skipna=skipna)

    def all(self, *, skipna: bool = True, **_: Any) -> Any:
        """Return whether no amount is 0; missing ones are neither (Kleene)."""
        return (self != 0).all(skipna=skipna)

    def _reduce(
        self, name: str, *, skipna: bool = True, keepdims: bool = False, **kwargs: Any
    ) -> Any:
        """Reduce by name, as every method of Series and DataFrame does."""
        if not hasattr(self, name):
            raise _unsupported(name)
        options = {} if name == "count" else {"skipna": skipna, **kwargs}
        result = getattr(self, name)(**options)
        if not keepdims:
            return result
        if name in _EXACT:
            return self._from_sequence([result])
        return pd.arrays.NumpyExtensionArray(np.array([result]))

    def _accumulate(self, name: str, *, skipna: bool = True, **_: Any) -> Self:
        """Accumulate exactly: cumsum, cummin, cummax."""
        integers, missing, scale = self.exact()
        absent = missing.copy() if skipna else np.logical_or.accumulate(missing)
        if name == "cumsum":
            running = np.add.accumulate(integers)
        elif name in {"cummin", "cummax"}:
            # An infinite float is smaller or larger than any integer, and never comes out.
            choose, neutral = (np.minimum, np.inf) if name == "cummin" else (np.maximum, -np.inf)
            running = choose.accumulate(np.where(absent, neutral, integers))
        else:
            raise _unsupported(name)
        running[absent] = 0
        return type(self)(running, absent, scale)

    def _quantile(self, qs: Any, interpolation: Any) -> Any:
        """Return m quantiles of the nearest floats, of which only their neighbours are made."""
        integers, scale = self._present(skipna=True)
        if not (len(integers) and len(qs)):
            return np.full(len(qs), np.nan)
        ranks = pd.Series(np.arange(len(integers)))
        places = np.unique([ranks.quantile(qs, side) for side in ("lower", "higher")]).astype(int)
        found = at_sorted_positions(integers, places.tolist())
        counts = np.diff([0, *places[1:], len(integers)])
        floats = np.repeat(ratios(as_objects(found), POWERS[scale]), counts)
        return pd.Series(floats).quantile(qs, interpolation).to_numpy()

    def interpolate(self, **_: Any) -> NoReturn:
        """Refuse: what lies between two amounts may have no end of decimals (pandas's hook)."""
        raise _unsupported("interpolate")

    def _groupby_op(
        self,
        *,
        how: str,
        has_dropped_na: bool,  # noqa: ARG002  the group -1 says it as well
        min_count: int,
        ngroups: int,
        ids: Places,
        **kwargs: Any,
    ) -> Any:
        """Reduce or transform all groups at once, which pandas would do one by one."""
        exact = self.exact()
        grouped = sums.Segments(exact, ids, ngroups)
        skipna = kwargs.get("skipna", True)
        if how in _EXACT:
            return type(self)(*sums.reduced(grouped, how, min_count, skipna=skipna))
        if how == "cumsum":
            return type(self)(*sums.running_sums(grouped, skipna=skipna))
        if how in {"mean", "median"}:
            result = sums.means(grouped) if how == "mean" else sums.medians(grouped)
            return result if skipna else np.where(grouped.holed, np.nan, result)
        if how in {"first", "last"}:
            rows = sums.edges(grouped, last=how == "last", skipna=skipna)
            rows[grouped.sizes < min_count] = -1
            return self.take(rows, allow_fill=True)
        if how in {"idxmin", "idxmax"}:
            return sums.extreme_rows(grouped, largest=how == "idxmax")
        if how in {"any", "all"}:
            marks = np.asarray(exact.integers != 0, dtype=bool) == (how == "any")
            marks[exact.missing] = how == "any" and not skipna
            marked = np.bincount(ids[marks & (ids >= 0)], minlength=ngroups) > 0
            return marked == (how == "any")
        if how in {"cummin", "cummax", "rank"}:
            values = self._ranks()
        elif how in _SPREADS | {"skew", "kurt"}:
            values = to_floats(exact)
        else:
            raise _unsupported(how)
        found = sums.by_pandas(grouped, how, values, **kwargs)
        if how not in {"cummin", "cummax"}:
            return found
        rows = np.empty(len(values) + 1, dtype=np.intp)  # of each rank, and at last of NaN
        rows[np.nan_to_num(values, nan=-1).astype(np.intp)] = np.arange(len(values))
        rows[-1] = -1
        return self.take(rows[np.nan_to_num(found, nan=-1).astype(np.intp)], allow_fill=True)

    # Other types: floats are the nearest ones, all else is exact or an error

    def raw(self, decimals: Any) -> Integers:
        """Return the amounts in base units, the inverse of `from_raw`.

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
        integers, missing, scale = self.exact()
        scales, unknown = each_scale(decimals, len(integers))
        result = np.full(len(integers), None, dtype=object)
        for wanted in np.unique(scales):
            chosen = np.flatnonzero((scales == wanted) & ~missing)
            finer, coarser = POWERS[max(wanted - scale, 0)], POWERS[max(scale - wanted, 0)]
            wrong = chosen[(integers[chosen] % coarser != 0) | unknown[chosen]]
            if len(wrong):
                at = "unknown" if unknown[wrong[0]] else wanted
                raise AmountError(
                    f"{plain(integers[wrong[0]], scale)} (at position {wrong[0]}) is no whole "
                    f"number of base units at {at} decimals",
                    hint="give the decimals of each token; round on purpose with .round(decimals)",
                )
            result[chosen] = integers[chosen] * finer // coarser
        return result

    def to_decimal(self) -> Integers:
        """Return plain `decimal.Decimal` objects, for libraries that want no others.

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
        texts = self._values_for_json()
        return np.array([None if text is None else Decimal(text) for text in texts], object)

    def to_arrow(self, type: pa.DataType | None = None) -> pa.Array:  # noqa: A002  Arrow's own name
        """Return an Arrow array, by default of plain text, which holds every amount.

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
        if type is None:
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
            return np.asarray(self, dtype=dtype)
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

    def to_numpy(
        self,
        dtype: Any = None,
        copy: bool = False,  # noqa: ARG002, FBT001, FBT002  pandas's own; there always is one
        na_value: Any = no_default,
    ) -> np.ndarray[Any, Any]:
        """Return a NumPy array, shape (n,), of objects unless a dtype is given."""
        wanted = np.dtype(object if dtype is None else dtype)
        if na_value is no_default:
            return np.asarray(self, dtype=wanted)
        result = np.asarray(self.fillna(0), dtype=wanted)
        result[self.isna()] = na_value
        return result

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:  # noqa: FBT001  NumPy's own
        """Return a NumPy array, of objects unless NumPy asks for another type."""
        if copy is False:
            raise ValueError("amounts can't become a NumPy array without a copy")
        exact, dtype = self.exact(), np.dtype(object if dtype is None else dtype)
        if dtype.kind in "fc":
            with np.errstate(over="ignore"):  # float32 has infinity beyond 3.4e38
                return to_floats(exact).astype(dtype)
        if dtype.kind in "iu":
            if exact.missing.any():
                raise AmountError(
                    f"the amount at position {int(exact.missing.argmax())} is NA, "
                    f"and {dtype} has no missing values",
                    hint="use the pandas dtype 'Int64', or fill it first",
                )
            return _whole(exact, dtype)
        if dtype.kind == "U":
            return np.array([text or "<NA>" for text in self._values_for_json()], dtype=dtype)
        if dtype.kind == "O":
            return as_objects(self.tolist())
        raise AmountError(f"amounts can't become {dtype}", hint="compare them instead: a > 0")

    def _values_for_json(self) -> Integers:
        """Return text, None where missing: JSON's numbers lose digits beyond 2**53."""
        texts: Integers = as_text(self.exact()).to_numpy(zero_copy_only=False)
        return texts


def _unsupported(name: str) -> AmountTypeError:
    ohlc = name == "ohlc"
    hint = '.agg(["first", "max", "min", "last"])' if ohlc else "use .astype(float) for floats"
    return AmountTypeError(f"dtype amount does not support operation '{name}'", hint=hint)


def _whole(amounts: Exact, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return integers of a NumPy type, 0 where missing."""
    limits, hint = np.iinfo(dtype), "round on purpose first, with .round(0), or use astype(object)"
    return np.asarray(fitting(amounts, 0, limits.min, limits.max, dtype, hint), dtype=dtype)


def _sign(amounts: AmountArray) -> AmountArray:
    integers, missing, _ = amounts.exact()
    return AmountArray(np.sign(integers), missing.copy(), 0)


_FUNCTIONS: dict[np.ufunc, Callable[..., Any]] = {
    np.isnan: lambda amounts: amounts.isna(),
    np.isfinite: lambda amounts: ~amounts.isna(),
    np.isinf: lambda amounts: np.zeros(len(amounts), dtype=bool),
    np.sign: _sign,
    np.floor: lambda amounts: amounts // 1,
    np.ceil: lambda amounts: -(-amounts // 1),
    np.trunc: lambda amounts: np.sign(amounts) * (abs(amounts) // 1),
    np.rint: AmountArray.round,
    np.square: lambda amounts: amounts**2,
    np.maximum: _exactly(np.maximum)[0],
    np.minimum: _exactly(np.minimum)[0],
}
"""What NumPy's functions are for amounts, where it would compute with floats or objects."""


class _Factorizer(ObjectFactorizer):  # type: ignore[misc]  # it has no types
    """What pandas's merge numbers keys with if amounts meet keys of another dtype."""

    def factorize(self, values: Any, mask: Any = None) -> Any:
        keys, _ = values._values_for_factorize()  # noqa: SLF001  as merge does for two of amounts
        labels = super().factorize(keys, mask=mask)
        if self.get_count() == len(labels):  # unique rows merge would look up in a NumPy array
            super().factorize(np.array([np.inf], dtype=object))
        return labels


# Merge looks it up by the dtype's scalar type, in a table that has only pandas's own: without an
# entry it raises KeyError, and there is no other hook.
getattr(merge, "_factorizers", {}).setdefault(Decimal, _Factorizer)
