"""The pandas extension dtype and array of exact amounts.

The docstrings of pandas's hooks contain only the differences from pandas's documentation.
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
from pandas._libs.hashtable import ObjectFactorizer  # type: ignore[import-not-found]  # pandas-stubs leaves out this module
from pandas.api.extensions import ExtensionArray, ExtensionDtype, no_default
from pandas.api.indexers import check_array_indexer
from pandas.core.reshape import merge

from walletframe.amounts import arithmetic, sums
from walletframe.amounts.arrow import (
    AmountType,
    from_arrow,
    integers_at_scale,
    to_arrow_decimals,
    to_arrow_text,
)
from walletframe.amounts.integers import (
    POWERS_OF_TEN,
    ExactAmounts,
    Integers,
    align_scales,
    at_same_scale,
    factorize_codes,
    nearest_float,
    object_array,
    objects_with_none,
    order_statistics,
    ratios,
    rescale,
    stable_argsort,
    to_floats,
    zero_missing,
)
from walletframe.amounts.scalar import Amount, CsvAmount, operator_pair, python_number, to_scalars
from walletframe.amounts.text import COMMON_DECIMALS, plain_text
from walletframe.amounts.values import read_amounts, read_digits_or_ints, read_raw_int, read_scales
from walletframe.errors import AmountError, AmountTypeError, AmountValueError

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt
    from pandas.api.typing import NAType

    from walletframe.amounts.integers import Floats, Indices, Mask
    from walletframe.amounts.sums import Int128Amounts

    ExactNumber: TypeAlias = int | np.integer[Any] | Decimal | Fraction | NAType | None
    Operand: TypeAlias = ExactNumber | np.ndarray[Any, Any] | ExtensionArray | Sequence[Any]

_FULL_WINDOW = slice(None)
_PANDAS_CONTAINERS = (pd.Series, pd.Index, pd.DataFrame)  # their operators use the array's
_FLOAT_FUNCTIONS = {np.exp, np.cbrt, np.sqrt, np.log, np.log2, np.log10, np.log1p}
_EXACT_REDUCTIONS = {"sum", "min", "max"}
_DDOF_STATISTICS = {"std", "var", "sem"}


@pd.api.extensions.register_extension_dtype
class AmountDtype(ExtensionDtype):
    """The pandas dtype of exact amounts of any size, with up to 77 decimals.

    Importing walletframe registers the name ``"amount"`` of this dtype in pandas. A missing amount
    is `pandas.NA`. A single amount is a `decimal.Decimal` whose text has no exponent.

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
    # With this kind, pandas rounds and formats amounts, and plotly express plots them as numbers.
    kind = "f"
    itemsize = 8  # the size of a reference, for pandas 3.0
    na_value: Any = pd.NA
    _is_numeric = True  # otherwise numeric_only, describe and plots ignore amounts

    def __repr__(self) -> str:
        return "AmountDtype()"

    @classmethod
    def construct_array_type(cls) -> builtins.type[AmountArray]:
        """Return the class of arrays of this dtype."""
        return AmountArray

    def _get_common_dtype(self, dtypes: list[Any]) -> AmountDtype | None:
        for dtype in dtypes:
            is_arrow = isinstance(dtype, pd.ArrowDtype)
            is_decimal = is_arrow and pa.types.is_decimal(dtype.pyarrow_dtype)
            if dtype != self and not is_decimal and getattr(dtype, "kind", None) not in {"i", "u"}:
                return None
        return self

    def __from_arrow__(self, array: pa.Array | pa.ChunkedArray) -> AmountArray:
        return AmountArray(*from_arrow(array))


class _CopyOnWriteBuffer:
    """The amounts of an array and its views. A reader may keep them, so a write copies them."""

    __slots__ = ("_amounts", "_is_shared", "_lock", "count")

    def __init__(self, amounts: ExactAmounts | Int128Amounts) -> None:
        self.count = len(amounts.missing)
        self._amounts = amounts
        self._is_shared = False
        self._lock = RLock()  # reentrant, since a garbage collection may read the array

    def shared_amounts(self) -> ExactAmounts | Int128Amounts:
        with self._lock:
            self._is_shared = True
            return self._amounts

    def exact(self) -> ExactAmounts:
        with self._lock:
            self._is_shared = True
            return self._convert_to_integers()

    def _convert_to_integers(self) -> ExactAmounts:
        if not isinstance(self._amounts, ExactAmounts):
            self._amounts = self._amounts.exact()
        return self._amounts

    def select(self, window: slice, key: Any) -> tuple[Any, Any, int]:
        with self._lock:
            integers, missing, scale = self._convert_to_integers()
            return integers[window][key], missing[window][key], scale

    def write(self, window: slice, key: Any, values: tuple[Any, Any, int]) -> None:
        new_integers, new_missing, new_scale = values
        with self._lock:
            integers, missing, scale = self._convert_to_integers()
            max_scale = max(scale, new_scale)
            if max_scale > scale:
                integers, missing = rescale(integers, scale, max_scale), missing.copy()
            elif self._is_shared:
                integers, missing = integers.copy(), missing.copy()
            integers[window][key] = new_integers * POWERS_OF_TEN[max_scale - new_scale]
            missing[window][key] = new_missing
            self._amounts, self._is_shared = ExactAmounts(integers, missing, max_scale), False


def _make_operators(compute: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    def apply_operator(self: AmountArray, other: Any, *, reflected: bool = False) -> Any:
        if isinstance(other, _PANDAS_CONTAINERS):
            return NotImplemented
        if (operand := arithmetic.coerce_for_arithmetic(other, len(self))) is None:
            return NotImplemented
        own = self.exact()
        result = compute(operand, own) if reflected else compute(own, operand)
        return type(self)(*result) if isinstance(result, ExactAmounts) else result

    return operator_pair(apply_operator)


def _make_exact_operators(operation: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    return _make_operators(partial(arithmetic.apply_exactly, operation=operation))


def _make_comparison(
    compare: Callable[[Any, Any], Any],
) -> Callable[[AmountArray, Any], pd.arrays.BooleanArray]:
    def compare_elements(self: AmountArray, other: Any) -> Any:
        if isinstance(other, _PANDAS_CONTAINERS):
            return NotImplemented
        operand, unsupported = arithmetic.coerce_for_comparison(other, len(self))
        if unsupported.any() and compare not in {operator.eq, operator.ne}:
            return NotImplemented
        results, missing = arithmetic.compare_with_missing_mask(self.exact(), operand, compare)
        results[np.broadcast_to(unsupported, results.shape)] = compare is operator.ne
        return pd.arrays.BooleanArray(results, missing)

    return compare_elements


def _make_float_statistic(name: str) -> Callable[..., np.float64]:
    def statistic(self: AmountArray, *, skipna: bool = True, ddof: int = 1, **_: Any) -> Any:
        options = {"ddof": ddof} if name in _DDOF_STATISTICS else {}
        return getattr(pd.Series(to_floats(self.exact())), name)(skipna=skipna, **options)

    return statistic


class AmountArray(ExtensionArray):  # noqa: PLW1641 - an array is mutable, so it has no hash
    """A pandas array of exact amounts: n integers of any size, one scale, and a mask of NA.

    To create an array from text, Decimals or integers, use ``pd.array(values, dtype="amount")``. To
    create an array from base units, use `AmountArray.from_raw`. Floats raise an error.

    Parameters
    ----------
    integers : ndarray of Python integers, shape (n,)
        The amounts times ``10**scale``, and 0 for missing amounts.
    missing : ndarray of bool, shape (n,)
        The mask of missing amounts.
    scale : int
        The number of decimals of all amounts, from 0 to 77.

    Notes
    -----
    These operations are exact: sums, differences, comparisons, sorting, grouping, cumulative sums,
    minima and maxima, products with integers and Decimals, and powers with an integer exponent of
    0 or more. You can add or subtract a single exact float, such as 0.5, but not an inexact float,
    such as 0.1, or a column of floats. A comparison with an inexact float warns once.

    Quotients, products with floats, means and medians are the float64 nearest to the exact value.
    Other statistics are computed with the float64 nearest to each amount.

    The decimal context is neither used nor changed.

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
    _readonly = False  # pandas 3 sets this flag on arrays that must not be changed
    _scalar_class: type[Amount] = Amount  # the type of the elements when iterating

    # With these priorities, this class computes `other + array`, not NumPy or pandas.
    __array_priority__ = 1000
    __pandas_priority__ = 1500

    def __init__(self, integers: Integers, missing: Mask, scale: int) -> None:
        self._buffer = _CopyOnWriteBuffer(ExactAmounts(integers, missing, scale))
        self._window = _FULL_WINDOW

    @classmethod
    def from_raw(cls, raw: Sequence[Any], decimals: Any) -> Self:
        """Create amounts from base units, as blockchains report them.

        Parameters
        ----------
        raw : sequence of int or str
            Integers, or strings of ASCII digits with an optional minus. None and NA mean missing.
        decimals : int, None or sequence of n ints and None
            The decimals of all amounts or of each amount, from 0 to 77. None makes an amount NA.

        Returns
        -------
        AmountArray, shape (n,)

        Raises
        ------
        AmountError
            If `raw` or `decimals` contains an invalid item, or their lengths differ. The message
            contains the first invalid item and its position.

        Examples
        --------
        >>> AmountArray.from_raw(["1500000", "1", 7], [6, 18, None])
        <AmountArray>
        [1.5, 0.000000000000000001, <NA>]
        Length: 3, dtype: amount
        """
        if isinstance(raw, str):
            raise AmountError("raw is a single string, not a sequence", "put the string in a list")
        values = raw if isinstance(raw, list) else object_array(raw)
        scales, missing = read_scales(decimals, len(values))
        integers = None
        with suppress(ValueError):  # an empty string, or too many digits
            integers = read_digits_or_ints(values)
        if integers is None:
            is_na = np.asarray(pd.isna(object_array(values)), dtype=bool)
            missing |= is_na
            rows = enumerate(zip(values, is_na, strict=True))
            units = (0 if na else read_raw_int(value, n) for n, (value, na) in rows)
            integers = np.fromiter(units, object, len(values))
        if missing.any():
            integers[missing] = 0
        return cls(*align_scales(integers, missing, scales))

    @classmethod
    def _from_int128(cls, amounts: Int128Amounts) -> Self:
        array = cls.__new__(cls)
        vars(array).update(_buffer=_CopyOnWriteBuffer(amounts), _window=_FULL_WINDOW)
        return array

    @classmethod
    def _from_sequence(cls, scalars: Any, *, dtype: Any = None, copy: bool = False) -> Self:  # noqa: ARG003 - there is only one dtype
        if isinstance(scalars, cls):
            return scalars.copy() if copy else scalars
        return cls(*read_amounts(scalars))

    _from_sequence_of_strings = _from_sequence  # pandas's hook for ``read_csv``

    @classmethod
    def _from_scalars(cls, scalars: Sequence[Any], *, dtype: Any) -> Self:
        if all(isinstance(value, Decimal) or value is pd.NA for value in scalars):
            return cls._from_sequence(scalars, dtype=dtype)
        raise TypeError("not all results of the function are amounts")

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence[Self]) -> Self:
        parts = [array.exact() for array in to_concat]
        max_scale = max(part.scale for part in parts)
        integers = [rescale(part.integers, part.scale, max_scale) for part in parts]
        missing = [part.missing for part in parts]
        return cls(np.concatenate(integers), np.concatenate(missing), max_scale)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(self.exact())

    def exact(self) -> ExactAmounts:
        """Return the integers, the mask of missing amounts and the scale.

        The three results are consistent even if another thread changes the array.

        Returns
        -------
        ExactAmounts
            The tuple ``(integers, missing, scale)``, which `AmountArray` accepts as arguments. The
            arrays are not copies, so don't change the arrays.

        Examples
        --------
        >>> pd.array(["1.5", None], dtype="amount").exact().integers
        array([15, 0], dtype=object)
        """
        integers, missing, scale = amounts = self._buffer.exact()
        if self._window is _FULL_WINDOW:
            return amounts
        return ExactAmounts(integers[self._window], missing[self._window], scale)

    def _amounts(self) -> ExactAmounts | Int128Amounts:
        """Return the stored amounts, which the caller must not change."""
        return self._buffer.shared_amounts() if self._window is _FULL_WINDOW else self.exact()

    @property
    def nbytes(self) -> int:
        """The size of the arrays in bytes, without the Python integers."""
        integers, missing, _ = self.exact()
        return int(integers.nbytes + missing.nbytes)

    def memory_usage(self, *, deep: bool = False) -> int:
        """Return the size in bytes. ``deep`` includes the Python integers."""
        return self.nbytes + (sum(map(getsizeof, self.exact().integers)) if deep else 0)

    def __len__(self) -> int:
        return len(range(self._buffer.count)[self._window])

    def __iter__(self) -> Iterator[Any]:
        return iter(self._to_scalars(self._scalar_class))

    def tolist(self) -> list[Any]:
        """Return a list of amounts, with NA for missing amounts."""
        return self._to_scalars(Amount)

    def _to_scalars(self, scalar_class: type[Amount]) -> list[Any]:
        integers, missing, scale = self.exact()
        scalars: list[Any] = to_scalars(integers, scale, scalar_class)
        for position in np.flatnonzero(missing):
            scalars[position] = pd.NA
        return scalars

    def __getitem__(self, item: Any) -> Any:
        """Return one amount, a view for a slice, or a copy for a mask or an array of positions."""
        if isinstance(item, slice) or item is Ellipsis:
            part = _FULL_WINDOW if item is Ellipsis else item
            positions = range(self._buffer.count)[self._window][part]
            stop = positions.stop if positions.stop >= 0 else None
            window = slice(positions.start, stop, positions.step) if positions else slice(0, 0)
            view = type(self).__new__(type(self))
            vars(view).update(_buffer=self._buffer, _readonly=self._readonly, _window=window)
            return view
        item = check_array_indexer(self, item)
        integers, missing, scale = self._buffer.select(self._window, item)
        if isinstance(integers, np.ndarray):
            return type(self)(integers, missing, scale)
        return pd.NA if missing else Amount.of(integers, scale)

    def ravel(self, order: Any = "C") -> Self:  # noqa: ARG002 - a parameter of pandas; there is one axis
        """Return a view that pandas's CSV writer formats exactly."""
        view: Self = self[:]
        vars(view)["_scalar_class"] = CsvAmount
        return view

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._readonly:
            raise ValueError("Cannot modify read-only array")
        key = check_array_indexer(self, key)
        is_list = pd.api.types.is_list_like(value)
        if is_list and pd.api.types.is_integer(key):
            raise ValueError("setting an array element with a sequence.")
        try:
            amounts = self._from_sequence(value if is_list else [value], copy=is_list)
        except AmountError as fault:
            raise AmountValueError(fault.message, fault.hint) from None
        integers, missing, scale = amounts.exact()
        values = (integers, missing, scale) if is_list else (integers[0], missing[0], scale)
        self._buffer.write(self._window, key, values)

    def insert(self, loc: int, item: Any) -> Self:
        """Return a copy with an amount inserted at a position."""
        positions = np.insert(np.arange(len(self)), loc, -1)
        inserted = self.take(positions, allow_fill=True)
        inserted[positions == -1] = item
        return inserted

    def __contains__(self, item: Any) -> bool:
        if item is pd.NA:
            return bool(self.exact().missing.any())
        return not pd.isna(item) and bool((self == item).any())

    def isna(self) -> Mask:
        """Return a mask of missing amounts, shape (n,)."""
        return self._amounts().missing.copy()

    def copy(self) -> Self:
        """Return a copy that shares no memory with the array."""
        integers, missing, scale = self.exact()
        return type(self)(integers.copy(), missing.copy(), scale)

    __copy__ = copy

    def take(self, indexer: Any, *, allow_fill: bool = False, fill_value: Any = None) -> Self:
        """Return the amounts at positions. With ``allow_fill``, -1 selects the fill value or NA."""
        integers, missing, scale = self.exact()
        take: Any = partial(pd.api.extensions.take, indices=indexer, allow_fill=allow_fill)
        taken = type(self)(take(integers, fill_value=0), take(missing, fill_value=True), scale)
        if allow_fill and fill_value is not None and not pd.isna(fill_value):
            taken[np.asarray(indexer) == -1] = fill_value
        return taken

    def _formatter(self, boxed: bool = False) -> Callable[[Any], str]:  # noqa: ARG002, FBT001, FBT002 - a parameter of pandas; both forms are equal
        return str

    # Operators

    if TYPE_CHECKING:

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
        def __eq__(self, other: object, /) -> pd.arrays.BooleanArray: ...  # type: ignore[override]  # pandas compares by element
        def __ne__(self, other: object, /) -> pd.arrays.BooleanArray: ...  # type: ignore[override]  # pandas compares by element
        def __lt__(self, other: Any, /) -> pd.arrays.BooleanArray: ...
        def __le__(self, other: Any, /) -> pd.arrays.BooleanArray: ...
        def __gt__(self, other: Any, /) -> pd.arrays.BooleanArray: ...
        def __ge__(self, other: Any, /) -> pd.arrays.BooleanArray: ...

    else:
        __add__, __radd__ = _make_exact_operators(operator.add)
        __sub__, __rsub__ = _make_exact_operators(operator.sub)
        __floordiv__, __rfloordiv__ = _make_exact_operators(np.floor_divide)
        __mod__, __rmod__ = _make_exact_operators(np.remainder)
        __mul__, __rmul__ = _make_operators(arithmetic.product)
        __truediv__, __rtruediv__ = _make_operators(arithmetic.quotient)
        __eq__, __ne__ = map(_make_comparison, (operator.eq, operator.ne))
        __lt__, __le__ = map(_make_comparison, (operator.lt, operator.le))
        __gt__, __ge__ = map(_make_comparison, (operator.gt, operator.ge))

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __pow__(self, other: Any) -> Any:
        exponent = python_number(other)
        if not isinstance(exponent, int) or exponent < 0:
            return self.__rpow__(other)
        return type(self)(*arithmetic.power(self.exact(), exponent))

    def __rpow__(self, other: Any) -> Any:
        """Raise an error, since NumPy would round to the precision of the decimal context."""
        if isinstance(other, _PANDAS_CONTAINERS):
            return NotImplemented
        raise AmountTypeError(
            "in a power with amounts, the exponent must be a single non-negative integer",
            hint="for other exponents, convert the amounts to floats first, with .astype(float)",
        )

    def __neg__(self) -> Self:
        integers, missing, scale = self.exact()
        return type(self)(-integers, missing.copy(), scale)

    __pos__ = copy

    def __abs__(self) -> Self:
        integers, missing, scale = self.exact()
        return type(self)(np.abs(integers), missing.copy(), scale)

    def round(self, decimals: int = 0) -> Self:
        """Round to a number of decimals. Ties are rounded to even."""
        return type(self)(*arithmetic.round_half_even(self.exact(), operator.index(decimals)))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Compute a NumPy function exactly if possible, and otherwise with float64."""
        if method == "__call__" and ufunc in _EXACT_FUNCTIONS and not kwargs:
            others = inputs[1:] if inputs[0] is self else inputs[:-1]
            return _EXACT_FUNCTIONS[ufunc](self, *others)
        if method == "__call__" and ufunc in _FLOAT_FUNCTIONS:
            return ufunc(*(np.asarray(each, dtype=np.float64) for each in inputs), **kwargs)
        try:
            return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        except AmountTypeError:
            raise
        except (TypeError, AttributeError):  # NumPy looks for the function in the class Amount
            raise _unsupported_error(ufunc.__name__) from None

    # Order and equality, independent of the scale of an array

    def argsort(self, *, ascending: bool = True, na_position: str = "last", **_: Any) -> Indices:
        """Return the positions of a stable sort, with missing amounts at ``na_position``."""
        amounts = self.exact()
        present = np.flatnonzero(~amounts.missing)
        integers = amounts.integers[present]
        step = 1 if ascending else -1
        order = present[::step][stable_argsort(integers[::step])][::step]
        missing = np.flatnonzero(amounts.missing)
        return np.concatenate((order, missing) if na_position == "last" else (missing, order))

    def _values_for_argsort(self) -> Indices:
        """Return the dense rank of each amount."""
        integers, _, _ = self.exact()
        order = stable_argsort(integers)
        ordered = integers[order]
        ranks = np.zeros(len(order), dtype=np.intp)
        ranks[order[1:]] = np.cumsum(ordered[1:] != ordered[:-1])
        return ranks

    def _monotonic_check(self) -> tuple[bool, bool]:
        integers, missing, _ = self.exact()
        if missing.any():
            return False, False
        before, after = integers[:-1], integers[1:]
        return bool((before <= after).all()), bool((before >= after).all())

    def _rank(self, *, axis: int = 0, **options: Any) -> Floats:  # noqa: ARG002 - there is one axis
        """Return the rank of each amount, NaN if missing. pandas before 3.0 would rank NA."""
        return np.asarray(pd.Series(self._sort_keys()).rank(axis=0, **options), dtype=np.float64)

    def _sort_keys(self) -> Floats:
        """Return floats that sort like the amounts, NaN for missing amounts."""
        return np.where(self.exact().missing, np.nan, self._values_for_argsort())

    def searchsorted(self, value: Any, side: Any = "left", sorter: Any = None) -> Any:
        """Return the positions where inserted values keep the amounts sorted."""
        is_list = pd.api.types.is_list_like(value)
        own, targets = self.exact(), self._from_sequence(value if is_list else [value]).exact()
        if own.missing.any() or targets.missing.any():
            raise ValueError("searchsorted does not support missing amounts, which have no order")
        integers, target_integers, _ = at_same_scale(own, targets)
        positions = integers.searchsorted(target_integers, side=side, sorter=sorter)
        return positions if is_list else positions[0]

    def isin(self, values: Any) -> Mask:
        """Return a mask of the amounts that occur in the values. NA matches any missing value."""
        own, targets = self.exact(), arithmetic.drop_incomparable_values(values)
        integers, target_integers, _ = at_same_scale(own, targets)
        is_in = pd.Index(integers, dtype=object).isin(target_integers[~targets.missing])
        return np.where(own.missing, bool(targets.missing.any()), np.asarray(is_in))

    def _values_for_factorize(self) -> tuple[Integers, Any]:
        """Return hashable keys for merge: the amounts times 10**18, as integers or Fractions."""
        integers, missing, scale = self.exact()
        unit = POWERS_OF_TEN[max(scale - COMMON_DECIMALS, 0)]
        keys = rescale(integers, min(scale, COMMON_DECIMALS), COMMON_DECIMALS)
        if unit > 1:
            fine = np.flatnonzero(integers % unit)
            keys = integers // unit
            keys[fine] = [Fraction(integer, unit) for integer in integers[fine]]
        return objects_with_none(keys, missing), None

    def _hash_pandas_object(self, **_: Any) -> npt.NDArray[np.uint64]:
        keys, _ = self._values_for_factorize()
        hashes = np.fromiter(map(hash, keys), dtype=np.int64, count=len(keys))
        hashes[self.exact().missing] = -1  # Python's hash is never -1
        return pd.util.hash_array(hashes)

    def factorize(self, use_na_sentinel: bool = True) -> tuple[Indices, Self]:  # noqa: FBT001, FBT002 - a parameter of pandas
        """Return the code of each row and the unique amounts, like `pandas.factorize`."""
        result, missing = factorize_codes(self.exact()), self.exact().missing
        if missing.any() and not use_na_sentinel:  # NA gets a code in order of appearance
            na_code = result[: missing.argmax()].max(initial=-1) + 1
            result += result >= na_code
            result[missing] = na_code
        # The last element is for code -1.
        first_rows = np.empty(result.max(initial=-1) + 2, dtype=np.intp)
        first_rows[result[::-1]] = np.arange(len(result))[::-1]
        return result, self.take(first_rows[:-1])

    def unique(self) -> Self:
        """Return the unique amounts, including NA, in order of first appearance."""
        return self.factorize(use_na_sentinel=False)[1]

    def duplicated(self, keep: Any = "first") -> Mask:
        """Return a mask of repeated amounts."""
        return np.asarray(pd.Series(factorize_codes(self.exact())).duplicated(keep=keep))

    def value_counts(self, dropna: bool = True) -> pd.Series[int]:  # noqa: FBT001, FBT002 - a parameter of pandas
        """Return the count of each distinct amount, in descending order."""
        row_codes, uniques = self.factorize(use_na_sentinel=dropna)
        counts = np.bincount(row_codes[row_codes >= 0], minlength=len(uniques))
        order = np.argsort(-counts, kind="stable")
        return pd.Series(counts[order], pd.Index(uniques[order]), name="count", dtype="Int64")

    # Reductions, cumulative values and groups. With skipna=False, a missing amount makes the result
    # missing: NA among amounts, NaN among floats.

    var: ClassVar[Callable[..., np.float64]] = _make_float_statistic("var")
    std: ClassVar[Callable[..., np.float64]] = _make_float_statistic("std")
    sem: ClassVar[Callable[..., np.float64]] = _make_float_statistic("sem")
    skew: ClassVar[Callable[..., np.float64]] = _make_float_statistic("skew")
    kurt: ClassVar[Callable[..., np.float64]] = _make_float_statistic("kurt")

    def mean(self, *, skipna: bool = True, **_: Any) -> np.float64:
        """Return the float64 nearest to the mean, or NaN if there are no amounts."""
        integers, scale = self._known_integers_and_scale(skipna=skipna)
        count = len(integers)
        mean = nearest_float(integers.sum(), count * POWERS_OF_TEN[scale]) if count else np.nan
        return np.float64(mean)

    def median(self, *, skipna: bool = True, **_: Any) -> np.float64:
        """Return the float64 nearest to the median, or NaN if there are no amounts."""
        integers, scale = self._known_integers_and_scale(skipna=skipna)
        if not (count := len(integers)):
            return np.float64("nan")
        low, high = order_statistics(integers, [(count - 1) // 2, count // 2])
        return np.float64(nearest_float(low + high, 2 * POWERS_OF_TEN[scale]))

    def sum(self, *, skipna: bool = True, min_count: int = 0, **_: Any) -> Any:
        """Return the exact sum, or NA if there are fewer than ``min_count`` known amounts."""
        integers, missing, scale = self.exact()
        if (not skipna and missing.any()) or (~missing).sum() < min_count:
            return pd.NA
        return Amount.of(int(integers.sum()), scale)

    def min(self, *, skipna: bool = True, **_: Any) -> Any:
        """Return the smallest amount, or NA if there are no amounts."""
        integers, scale = self._known_integers_and_scale(skipna=skipna)
        return Amount.of(integers.min(), scale) if len(integers) else pd.NA

    def max(self, *, skipna: bool = True, **_: Any) -> Any:
        """Return the largest amount, or NA if there are no amounts."""
        integers, scale = self._known_integers_and_scale(skipna=skipna)
        return Amount.of(integers.max(), scale) if len(integers) else pd.NA

    def _known_integers_and_scale(self, *, skipna: bool) -> tuple[Integers, int]:
        """Return the known integers (none if ``skipna=False`` and one is NA) and the scale."""
        integers, missing, scale = self.exact()
        if missing.any():
            integers = integers[~missing] if skipna else integers[:0]
        return integers, scale

    def any(self, *, skipna: bool = True, **_: Any) -> Any:
        """Return whether any amount is not 0, with Kleene logic for missing amounts."""
        return (self != 0).any(skipna=skipna)

    def all(self, *, skipna: bool = True, **_: Any) -> Any:
        """Return whether no amount is 0, with Kleene logic for missing amounts."""
        return (self != 0).all(skipna=skipna)

    def _reduce(
        self, name: str, *, skipna: bool = True, keepdims: bool = False, **kwargs: Any
    ) -> Any:
        if not hasattr(self, name):
            raise _unsupported_error(name)
        options = {} if name == "count" else {"skipna": skipna, **kwargs}
        result = getattr(self, name)(**options)
        if not keepdims:
            return result
        if name in _EXACT_REDUCTIONS:
            return self._from_sequence([result])
        return pd.arrays.NumpyExtensionArray(np.array([result]))

    def _accumulate(self, name: str, *, skipna: bool = True, **_: Any) -> Self:
        integers, missing, scale = self.exact()
        absent = missing.copy() if skipna else np.logical_or.accumulate(missing)
        if name == "cumsum":
            running = np.add.accumulate(integers)
        elif name in {"cummin", "cummax"}:
            # The infinite floats are neutral, since every integer is between them.
            choose, neutral = (np.minimum, np.inf) if name == "cummin" else (np.maximum, -np.inf)
            running = choose.accumulate(np.where(absent, neutral, integers))
        else:
            raise _unsupported_error(name)
        return type(self)(*zero_missing(running, absent, scale))

    def _quantile(self, qs: Any, interpolation: Any) -> Any:
        integers, scale = self._known_integers_and_scale(skipna=True)
        if not (len(integers) and len(qs)):
            return np.full(len(qs), np.nan)
        ranks = pd.Series(np.arange(len(integers)))
        needed = np.unique([ranks.quantile(qs, side) for side in ("lower", "higher")]).astype(int)
        neighbours = order_statistics(integers, needed.tolist())
        counts = np.diff([0, *needed[1:], len(integers)])
        floats = np.repeat(ratios(object_array(neighbours), POWERS_OF_TEN[scale]), counts)
        return pd.Series(floats).quantile(qs, interpolation).to_numpy()

    def interpolate(self, **_: Any) -> NoReturn:
        """Raise an error, since an interpolated amount can have infinitely many decimals."""
        raise _unsupported_error("interpolate")

    def _groupby_op(
        self,
        *,
        how: str,
        has_dropped_na: bool,  # noqa: ARG002 - the group of dropped rows is -1
        min_count: int,
        ngroups: int,
        ids: Indices,
        **kwargs: Any,
    ) -> Any:
        """Aggregate or transform all groups at once, not one by one like pandas."""
        exact = self.exact()
        grouped = sums.AmountsWithGroups(exact, ids, ngroups)
        skipna = kwargs.get("skipna", True)
        if how in _EXACT_REDUCTIONS:
            return type(self)(*sums.reduce_groups(grouped, how, min_count, skipna=skipna))
        if how == "cumsum":
            return type(self)(*sums.cumulative_sums(grouped, skipna=skipna))
        if how in {"mean", "median"}:
            result = sums.mean_floats(grouped) if how == "mean" else sums.median_floats(grouped)
            return result if skipna else np.where(grouped.groups_with_missing, np.nan, result)
        if how in {"first", "last"}:
            rows = sums.first_or_last_rows(grouped, last=how == "last", skipna=skipna)
            rows[grouped.known_counts < min_count] = -1
            return self.take(rows, allow_fill=True)
        if how in {"idxmin", "idxmax"}:
            return sums.extreme_rows(grouped, largest=how == "idxmax")
        if how in {"any", "all"}:
            is_decisive = np.asarray(exact.integers != 0, dtype=bool) == (how == "any")
            is_decisive[exact.missing] = how == "any" and not skipna
            is_decided = np.bincount(ids[is_decisive & (ids >= 0)], minlength=ngroups) > 0
            return is_decided == (how == "any")
        if how in {"cummin", "cummax", "rank"}:
            values = self._sort_keys()
        elif how in _DDOF_STATISTICS | {"skew", "kurt"}:
            values = to_floats(exact)
        else:
            raise _unsupported_error(how)
        result = sums.apply_pandas_groupby(grouped, how, values, **kwargs)
        if how not in {"cummin", "cummax"}:
            return result
        # The row of each sort key. The last element is the row of NaN.
        rows = np.empty(len(values) + 1, dtype=np.intp)
        rows[np.nan_to_num(values, nan=-1).astype(np.intp)] = np.arange(len(values))
        rows[-1] = -1
        return self.take(rows[np.nan_to_num(result, nan=-1).astype(np.intp)], allow_fill=True)

    # Conversions to floats return the nearest float. Other conversions are exact or raise an error.

    def raw(self, decimals: Any) -> Integers:
        """Return the amounts in base units. This is the inverse of `from_raw`.

        Parameters
        ----------
        decimals : int or sequence of n ints
            The number of decimals, for all amounts or for each amount.

        Returns
        -------
        ndarray of Python integers, shape (n,)
            The amounts times ``10**decimals``, None for missing amounts.

        Raises
        ------
        AmountError
            If an amount is not a whole number of base units, or `decimals` is NA or not valid.

        Examples
        --------
        >>> AmountArray.from_raw(["1500000", "2"], 6).raw([6, 18])
        array([1500000, 2000000000000], dtype=object)
        """
        integers, missing, scale = self.exact()
        scales, unknown = read_scales(decimals, len(integers))
        result = np.full(len(integers), None, dtype=object)
        for new_scale in np.unique(scales):
            rows = np.flatnonzero((scales == new_scale) & ~missing)
            factor = POWERS_OF_TEN[max(new_scale - scale, 0)]
            divisor = POWERS_OF_TEN[max(scale - new_scale, 0)]
            wrong = rows[(integers[rows] % divisor != 0) | unknown[rows]]
            if len(wrong):
                decimals_text = "unknown" if unknown[wrong[0]] else new_scale
                raise AmountError(
                    f"{plain_text(integers[wrong[0]], scale)} (at position {wrong[0]}) is not a "
                    f"whole number of base units (decimals of the token: {decimals_text})",
                    hint="pass the correct decimals of each token, or first call .round(decimals)",
                )
            result[rows] = integers[rows] * factor // divisor
        return result

    def to_decimal(self) -> Integers:
        """Return `decimal.Decimal` objects, for libraries that don't accept amounts.

        Arithmetic with these objects rounds to the precision of the decimal context.

        Returns
        -------
        ndarray of decimal.Decimal, shape (n,)
            The exact values, None for missing amounts.

        Examples
        --------
        >>> AmountArray.from_raw(["1500000", None], 6).to_decimal()
        array([Decimal('1.5'), None], dtype=object)
        """
        texts = self._values_for_json()
        return np.array([None if text is None else Decimal(text) for text in texts], object)

    def to_arrow(self, type: pa.DataType | None = None) -> pa.Array:  # noqa: A002 - Arrow's own name
        """Return an Arrow array. The default is plain text, which can store every amount.

        Parameters
        ----------
        type : pyarrow.DataType, optional
            A type of text, decimals, floats or integers. The default is large_string.

        Returns
        -------
        pyarrow.Array, length n
            The amounts, null for missing amounts. A float type rounds to the nearest float.

        Raises
        ------
        AmountError
            If a decimal or integer type can't store an amount exactly.

        Examples
        --------
        >>> import pyarrow
        >>> AmountArray.from_raw([15], 1).to_arrow(pyarrow.decimal128(38, 18))[0].as_py()
        Decimal('1.500000000000000000')
        """
        exact = self.exact()
        if type is None:
            return to_arrow_text(exact)
        if pa.types.is_decimal(type):
            return to_arrow_decimals(exact, type)
        if pa.types.is_floating(type):
            return pa.array(to_floats(exact), mask=exact.missing).cast(type, safe=False)
        if pa.types.is_integer(type):
            integers = _integers_of_dtype(exact, np.dtype(type.to_pandas_dtype()))
            return pa.array(integers, type, mask=exact.missing)
        return to_arrow_text(exact).cast(type)

    def __arrow_array__(self, type: pa.DataType | None = None) -> pa.Array:  # noqa: A002 - a parameter of Arrow
        if type is None or isinstance(type, AmountType):
            return pa.ExtensionArray.from_storage(AmountType(), self.to_arrow())
        return self.to_arrow(type)

    def astype(self, dtype: Any, copy: bool = True) -> Any:  # noqa: FBT001, FBT002 - a parameter of pandas
        """Convert exactly. Only a float dtype rounds, to the nearest float."""
        dtype = pd.api.types.pandas_dtype(dtype)
        if dtype == self.dtype:
            return self.copy() if copy else self
        if isinstance(dtype, np.dtype):
            return np.asarray(self, dtype=dtype)
        if isinstance(dtype, pd.ArrowDtype):
            return pd.arrays.ArrowExtensionArray(self.to_arrow(dtype.pyarrow_dtype))
        if isinstance(dtype, pd.StringDtype):
            return pd.array(to_arrow_text(self.exact()), dtype=dtype)
        if dtype.kind == "f":
            return pd.array(to_floats(self.exact()), dtype=dtype)
        if dtype.kind in "iu":
            exact = self.exact()
            integers = _integers_of_dtype(exact, np.dtype(dtype.type))
            return pd.arrays.IntegerArray(integers, exact.missing.copy())
        return super().astype(dtype, copy=copy)

    def to_numpy(
        self,
        dtype: Any = None,
        copy: bool = False,  # noqa: ARG002, FBT001, FBT002 - a parameter of pandas; always a copy
        na_value: Any = no_default,
    ) -> np.ndarray[Any, Any]:
        """Return a NumPy array, shape (n,). The default dtype is object."""
        if na_value is no_default:
            return np.asarray(self, dtype=dtype)
        result = np.asarray(self.fillna(0), dtype=dtype)
        result[self.isna()] = na_value
        return result

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:  # noqa: FBT001 - a parameter of NumPy
        if copy is False:
            raise ValueError("amounts can't be converted to a NumPy array without a copy")
        exact, dtype = self.exact(), np.dtype(object if dtype is None else dtype)
        if dtype.kind in "fc":
            with np.errstate(over="ignore"):  # float32 is infinite above 3.4e38
                return to_floats(exact).astype(dtype)
        if dtype.kind in "iu":
            if exact.missing.any():
                raise AmountError(
                    f"the amount at position {int(exact.missing.argmax())} is NA, "
                    f"but the NumPy dtype {dtype} can't store missing values",
                    hint="use the pandas dtype 'Int64', or first call .fillna(0)",
                )
            return _integers_of_dtype(exact, dtype)
        if dtype.kind == "U":
            return np.array([text or "<NA>" for text in self._values_for_json()], dtype=dtype)
        if dtype.kind == "O":
            return object_array(self.tolist())
        raise AmountError(
            f"amounts can't be converted to the NumPy dtype {dtype}",
            hint="for bool, write a comparison such as amounts != 0; "
            "for other dtypes, convert the amounts to text first, with .astype('str')",
        )

    def _values_for_json(self) -> Integers:
        """Return exact text, since numbers in JSON can lose digits."""
        return np.asarray(to_arrow_text(self.exact()))


def _unsupported_error(name: str) -> AmountTypeError:
    hint = "convert the amounts to floats first, with .astype(float)"
    if name == "ohlc":
        hint = 'use .agg(["first", "max", "min", "last"])'
    return AmountTypeError(f"dtype 'amount' does not support operation '{name}'", hint=hint)


def _integers_of_dtype(amounts: ExactAmounts, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    limits = np.iinfo(dtype)
    hint = "to round to whole numbers, call .round() first; to keep all digits, use .astype(object)"
    integers = integers_at_scale(amounts, 0, limits.min, limits.max, dtype, hint)
    return np.asarray(integers, dtype=dtype)


_EXACT_FUNCTIONS: dict[np.ufunc, Callable[..., Any]] = {
    np.isnan: lambda amounts: amounts.isna(),
    np.isfinite: lambda amounts: ~amounts.isna(),
    np.isinf: lambda amounts: np.zeros(len(amounts), dtype=bool),
    np.sign: lambda amounts: AmountArray(np.sign(amounts.exact().integers), amounts.isna(), 0),
    np.floor: lambda amounts: amounts // 1,
    np.ceil: lambda amounts: -(-amounts // 1),
    np.trunc: lambda amounts: np.sign(amounts) * (abs(amounts) // 1),
    np.rint: AmountArray.round,
    np.square: lambda amounts: amounts**2,
    np.maximum: _make_exact_operators(np.maximum)[0],
    np.minimum: _make_exact_operators(np.minimum)[0],
}
"""NumPy functions and their exact versions. NumPy itself would compute with floats or objects."""


class _MergeFactorizer(ObjectFactorizer):  # type: ignore[misc]  # the base class has no types
    """The factorizer for a merge of amounts with a column of another dtype."""

    def factorize(self, values: Any, mask: Any = None) -> Any:
        keys, _ = values._values_for_factorize()  # noqa: SLF001 - as merge does for two keys of amounts
        labels = super().factorize(keys, mask=mask)
        if self.get_count() == len(labels):  # merge expects NumPy arrays if keys are unique
            super().factorize(np.array([np.inf], dtype=object))
        return labels


# Merge looks up the dtype's scalar type in a private dict of pandas. There is no other hook.
getattr(merge, "_factorizers", {}).setdefault(Decimal, _MergeFactorizer)
