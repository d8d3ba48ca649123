"""The operators of a column of amounts: which arithmetic each one asks for, and what comes out.

The other side comes from ``operands``, the arithmetic from ``arithmetic`` and ``floats``.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from walletframe.amounts import arithmetic
from walletframe.amounts.array.operands import comparable, exact_only, operand
from walletframe.amounts.array.storage import AmountStorage
from walletframe.amounts.floats import (
    float_compared,
    float_over_amount,
    float_product,
    float_quotient,
)
from walletframe.amounts.integers import Exact

if TYPE_CHECKING:
    from collections.abc import Callable

    from walletframe.amounts.integers import Floats

    Result = Exact | Floats

_FLOAT_FUNCTIONS = {np.log, np.log2, np.log10, np.log1p, np.exp, np.sqrt, np.cbrt, np.isfinite}
_PANDAS_OWN = (pd.Series, pd.Index, pd.DataFrame)  # they unpack themselves and ask again


def _sum(left: Any, right: Any) -> Result:
    return arithmetic.combined(exact_only(left), exact_only(right), operator.add)


def _difference(left: Any, right: Any) -> Result:
    return arithmetic.combined(exact_only(left), exact_only(right), operator.sub)


def _whole_quotient(left: Any, right: Any) -> Result:
    return arithmetic.whole_quotient(exact_only(left), exact_only(right))


def _remainder(left: Any, right: Any) -> Result:
    return arithmetic.remainder(exact_only(left), exact_only(right))


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
        there = operand(other, len(self))
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
        there, incomparable = comparable(other, len(self))
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

    __add__ = _arithmetic(_sum)
    __radd__ = _arithmetic(_sum, reflected=True)
    __sub__ = _arithmetic(_difference)
    __rsub__ = _arithmetic(_difference, reflected=True)
    __mul__ = _arithmetic(_product)
    __rmul__ = _arithmetic(_product, reflected=True)
    __truediv__ = _arithmetic(_quotient)
    __rtruediv__ = _arithmetic(_quotient, reflected=True)
    __floordiv__ = _arithmetic(_whole_quotient)
    __rfloordiv__ = _arithmetic(_whole_quotient, reflected=True)
    __mod__ = _arithmetic(_remainder)
    __rmod__ = _arithmetic(_remainder, reflected=True)
    __eq__ = _comparison(operator.eq)
    __ne__ = _comparison(operator.ne)
    __lt__ = _comparison(operator.lt)
    __le__ = _comparison(operator.le)
    __gt__ = _comparison(operator.gt)
    __ge__ = _comparison(operator.ge)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Let NumPy's logarithms and their like work on float64, and its operators be these."""
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
        """Round to a number of decimals, half to even, exactly.

        Parameters
        ----------
        decimals : int, default 0
            Negative numbers round to tens, hundreds and so on.

        Returns
        -------
        AmountArray, shape (n,)

        Examples
        --------
        >>> import pandas as pd
        >>> pd.array(["0.125", "2.5", "-1250"], dtype="amount").round(2)
        <AmountArray>
        [0.12, 2.5, -1250]
        Length: 3, dtype: amount
        """
        exact = arithmetic.rounded(self.exact(), decimals)
        return type(self)(*exact)
