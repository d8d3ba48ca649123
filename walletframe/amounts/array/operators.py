"""The operators of a column of amounts, and what may stand on their other side.

Integers, Decimals, Fractions and amounts are exact, whether Python's, NumPy's or Arrow's; floats
stay floats; bools are 0 and 1; text counts in comparisons only. For all else Python raises its own
TypeError.
"""

from __future__ import annotations

import operator
from numbers import Number
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
import pandas as pd

from walletframe.amounts import arithmetic
from walletframe.amounts.array.storage import AmountStorage
from walletframe.amounts.floats import (
    float_compared,
    float_over_amount,
    float_product,
    float_quotient,
)
from walletframe.amounts.integers import (
    MAX_DECIMALS,
    POWERS,
    Exact,
    aligned,
    as_objects,
    integers_from,
    or_none,
)
from walletframe.amounts.rational import decimals_of, plain_number, ratio
from walletframe.amounts.values import read, read_one
from walletframe.errors import AmountError, AmountPrecisionError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from decimal import Decimal
    from fractions import Fraction

    from pandas.api.extensions import ExtensionArray
    from pandas.api.typing import NAType

    from walletframe.amounts.integers import Floats, Integers, Mask

    Result = Exact | Floats
    Whole: TypeAlias = int | np.integer[Any] | Decimal | Fraction | NAType | None
    Operand: TypeAlias = Whole | np.ndarray[Any, Any] | ExtensionArray | Sequence[Any]

_EXACT_KINDS = {"integer", "decimal", "empty"}  # as pandas's infer_dtype names them
_FLOAT64_BYTES = 8
_FLOAT_FUNCTIONS = {np.log, np.log2, np.log10, np.log1p, np.exp, np.sqrt, np.cbrt, np.isfinite}
_PANDAS_OWN = (pd.Series, pd.Index, pd.DataFrame)  # they unpack themselves and ask again


def _exactly(compute: Callable[..., Exact], *more: Any) -> Callable[[Any, Any], Result]:
    """Make an operation of two exact sides, which refuses floats."""
    return lambda left, right: compute(_exact_only(left), _exact_only(right), *more)


def _product(left: Any, right: Any) -> Result:
    if isinstance(right, Exact) and isinstance(left, Exact):
        return arithmetic.product(left, right)
    amounts, floats = (left, right) if isinstance(left, Exact) else (right, left)
    return float_product(amounts, floats)


def _quotient(left: Any, right: Any) -> Result:
    if not isinstance(left, Exact):
        return float_over_amount(left, right)
    if not isinstance(right, Exact):
        return float_quotient(left, right)
    return arithmetic.quotient(left, right)


def _arithmetic(compute: Callable[[Any, Any], Result], *, reflected: bool = False) -> Any:
    def method(self: AmountOperators, other: Any) -> Any:
        if isinstance(other, _PANDAS_OWN):
            return NotImplemented
        there = _operand(other, len(self))
        if there is None:
            return NotImplemented
        here = self.exact()
        result = compute(there, here) if reflected else compute(here, there)
        return type(self)(*result) if isinstance(result, Exact) else result

    return method


def _comparison(compare: Callable[[Any, Any], Any]) -> Any:
    def method(self: AmountOperators, other: Any) -> Any:
        if isinstance(other, _PANDAS_OWN):
            return NotImplemented
        there, incomparable = _comparable(other, len(self))
        if incomparable.any() and compare not in {operator.eq, operator.ne}:
            return NotImplemented
        if isinstance(there, Exact):
            answers, missing = arithmetic.compared(self.exact(), there, compare)
        else:
            answers, missing = float_compared(self.exact(), there, compare)
        answers[np.broadcast_to(incomparable, answers.shape)] = compare is operator.ne
        return pd.arrays.BooleanArray(answers, missing)

    return method


class AmountOperators(AmountStorage):  # noqa: PLW1641  an array can change, so it has no hash
    """The operators that Python, NumPy and pandas apply to a column of amounts."""

    if TYPE_CHECKING:  # what they take and give

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
        __add__ = _arithmetic(_exactly(arithmetic.combined, operator.add))
        __radd__ = _arithmetic(_exactly(arithmetic.combined, operator.add), reflected=True)
        __sub__ = _arithmetic(_exactly(arithmetic.combined, operator.sub))
        __rsub__ = _arithmetic(_exactly(arithmetic.combined, operator.sub), reflected=True)
        __mul__ = _arithmetic(_product)
        __rmul__ = _arithmetic(_product, reflected=True)
        __truediv__ = _arithmetic(_quotient)
        __rtruediv__ = _arithmetic(_quotient, reflected=True)
        __floordiv__ = _arithmetic(_exactly(arithmetic.whole_quotient))
        __rfloordiv__ = _arithmetic(_exactly(arithmetic.whole_quotient), reflected=True)
        __mod__ = _arithmetic(_exactly(arithmetic.remainder))
        __rmod__ = _arithmetic(_exactly(arithmetic.remainder), reflected=True)
        __eq__ = _comparison(operator.eq)
        __ne__ = _comparison(operator.ne)
        __lt__ = _comparison(operator.lt)
        __le__ = _comparison(operator.le)
        __gt__ = _comparison(operator.gt)
        __ge__ = _comparison(operator.ge)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Let NumPy's logarithms and their like work on float64, and its operators be these."""
        if ufunc is np.isnan and method == "__call__":
            return self.isna()
        if method != "__call__" or ufunc not in _FLOAT_FUNCTIONS:
            return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        return ufunc(*(np.asarray(given, dtype=np.float64) for given in inputs), **kwargs)

    def __pow__(self, other: Any) -> Any:
        """Refuse: NumPy would let each Decimal round by its context."""
        if isinstance(other, _PANDAS_OWN):
            return NotImplemented
        raise TypeError("a power of amounts is no amount; use .astype(float) for floats")

    __rpow__ = __pow__

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __neg__(self) -> Self:
        integers, missing, scale = self.exact()
        return type(self)(-integers, missing.copy(), scale)

    def __pos__(self) -> Self:
        return self.copy()

    def __abs__(self) -> Self:
        integers, missing, scale = self.exact()
        return type(self)(np.abs(integers), missing.copy(), scale)

    def round(self, decimals: int = 0) -> Self:
        """Round to a number of decimals, half to even, exactly."""
        exact = arithmetic.rounded(self.exact(), operator.index(decimals))
        return type(self)(*exact)


def _operand(other: Any, count: int) -> Exact | Floats | None:
    """Give n or one exact amounts or floats; None for what is no operand of amounts."""
    if isinstance(other, AmountStorage):
        _check_length(other, count)
        return other.exact()
    values = _array(other, count)
    if values.dtype.kind == "f":
        return np.asarray(values, dtype=np.float64)
    exact = _kind(values) in _EXACT_KINDS
    return read(values) if exact or any(isinstance(value, Number) for value in values) else None


def _exact_only(side: Exact | Floats) -> Exact:
    """Refuse floats, unless all of them are NaN and so mean missing."""
    if isinstance(side, Exact):
        return side
    missing = np.isnan(side)
    if missing.all():
        return Exact(np.full(len(side), 0, dtype=object), missing, 0)
    place = int(np.flatnonzero(~missing)[0])
    raise AmountPrecisionError(
        f"the float {float(side[place])} (at position {place}) is no exact amount",
        hint="add Decimals, integers or amounts; or make the amounts floats with .astype(float)",
    )


def _comparable(other: Any, count: int) -> tuple[Exact | Floats, Mask]:
    """Give what amounts are compared with, text included, and a mask of what they can't be."""
    if isinstance(other, AmountStorage):
        _check_length(other, count)
        return other.exact(), np.zeros(count, dtype=bool)
    values = _array(other, count)
    if values.dtype.kind == "f":
        return np.asarray(values, dtype=np.float64), np.zeros(len(values), dtype=bool)
    if _kind(values) in _EXACT_KINDS:
        return read(values), np.zeros(len(values), dtype=bool)
    return _compared(values)


def members(values: Any) -> Exact:
    """Read those of some values that an amount can equal."""
    exact, incomparable = _compared(as_objects([plain_number(value) for value in values]))
    kept = ~incomparable
    return Exact(exact.integers[kept], exact.missing[kept], exact.scale)


def _compared(values: Integers) -> tuple[Exact, Mask]:
    missing = np.asarray(pd.isna(values), dtype=bool)
    pairs = [(0, 0) if gap else _pair(value) for value, gap in zip(values, missing, strict=True)]
    incomparable = np.fromiter((pair is None for pair in pairs), bool, len(pairs))
    found = [pair or (0, 0) for pair in pairs]
    scales = np.fromiter((scale for _, scale in found), np.intp, len(found))
    integers = integers_from((integer for integer, _ in found), len(found))
    return aligned(integers, missing, scales), incomparable


def _pair(value: Any) -> tuple[int, int] | None:
    """Read one value to compare with as (integer, scale); None for what has no order.

    What 77 decimals don't hold, such as 1/3, equals no amount: it is put between two of them.
    """
    try:
        return read_one(value)
    except AmountPrecisionError:
        exact = ratio(value)
    except AmountError:
        return None
    if exact is None:
        return None
    scale = decimals_of(exact[1])
    if scale is None:
        return exact[0] * POWERS[MAX_DECIMALS] // exact[1] * 10 + 5, MAX_DECIMALS + 1
    return exact[0] * POWERS[scale] // exact[1], scale


def _array(other: Any, count: int) -> Any:
    """Give floats as an array of them and everything else as objects, n of them or one."""
    if isinstance(other, np.ndarray) and other.ndim == 0:
        other = other.item()
    if not pd.api.types.is_list_like(other):
        number = plain_number(other)
        return np.array([number]) if isinstance(number, float) else as_objects([number])
    values = other if hasattr(other, "dtype") else as_objects(list(other))
    _check_length(values, count)
    if values.dtype.kind != "f":
        return _objects(values)
    if not isinstance(values, np.ndarray):
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    return values if values.dtype.itemsize <= _FLOAT64_BYTES else _objects(values)


def _objects(values: Any) -> Any:
    """Give objects of Python's own types, or floats where all of them are floats or missing."""
    objects = np.asarray(values, dtype=object)
    if _kind(objects) not in _EXACT_KINDS:
        objects = as_objects([plain_number(value) for value in objects])
    if _kind(objects) != "floating":
        return objects
    return or_none(objects, np.asarray(pd.isna(objects))).astype(np.float64)


def _kind(values: Any) -> str:
    return pd.api.types.infer_dtype(values, skipna=True)


def _check_length(values: Any, count: int) -> None:
    if len(values) != count:
        raise ValueError(f"Lengths must match: {count} and {len(values)}")
