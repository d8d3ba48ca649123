"""One exact amount: a ``decimal.Decimal`` whose text is plain and whose arithmetic never rounds.

A plain ``Decimal`` rounds to the context's 28 digits the moment two of them are added, and writes
one wei as ``1E-18``. An `Amount` does neither, and neither reads nor changes a decimal context. It
knows nothing of arrays or of pandas.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from walletframe.amounts.integers import MAX_DIGITS, nearest_float
from walletframe.amounts.text import is_number, plain, shortened
from walletframe.errors import AmountError

if TYPE_CHECKING:
    from collections.abc import Callable


def exact_pair(value: object) -> tuple[int, int] | None:
    """Give a finite Decimal or an integer as (integer, scale), anything else as None.

    Raises
    ------
    AmountError
        If the Decimal's exponent is beyond what any text could have been written for.

    Examples
    --------
    >>> exact_pair(Decimal("1.5")), exact_pair(7), exact_pair(0.5)
    ((15, 1), (7, 0), None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, np.integer)):
        return int(value), 0
    if not isinstance(value, Decimal) or not value.is_finite():
        return None
    if not value:
        return 0, 0
    scale = max(0, -int(value.as_tuple().exponent))
    if max(scale, value.adjusted()) > MAX_DIGITS:
        raise AmountError(
            f"{shortened(value)} has more than {MAX_DIGITS} digits",
            hint="check where the value comes from: 2**256-1 has 78 digits",
        )
    numerator, denominator = value.as_integer_ratio()
    return numerator * 10**scale // denominator, scale


def exact_fraction(value: object) -> Fraction | None:
    """Give a finite float, Decimal or integer as a Fraction, anything else as None."""
    if isinstance(value, float):
        return Fraction(value) if math.isfinite(value) else None
    pair = exact_pair(value)
    return None if pair is None else Fraction(pair[0], 10 ** pair[1])


def _exact(compute: Callable[[Fraction, Fraction], Fraction], *, reflected: bool = False) -> Any:
    """Make an operator that is exact with amounts, Decimals and integers."""

    def method(self: Amount, other: object) -> Any:
        there = None if isinstance(other, float) else exact_fraction(other)
        if there is None:
            return NotImplemented
        here = Fraction(*self.as_integer_ratio())
        return Amount.of_fraction(compute(there, here) if reflected else compute(here, there))

    return method


def _nearest(compute: Callable[[Fraction, Fraction], Fraction], *, reflected: bool = False) -> Any:
    """Make an operator that gives the nearest float64, with floats among its operands."""

    def method(self: Amount, other: object) -> Any:
        there = exact_fraction(other)
        if there is None:
            return NotImplemented
        here = Fraction(*self.as_integer_ratio())
        exact = compute(there, here) if reflected else compute(here, there)
        return nearest_float(exact.numerator, exact.denominator)

    return method


class Amount(Decimal):
    """An exact amount, as it comes out of a column of amounts.

    Parameters
    ----------
    value : str, int or decimal.Decimal, default "0"
        A finite number. Text is in ASCII, without spaces or underscores.

    Raises
    ------
    AmountError
        If the value is text that isn't a number, NaN, infinite, a float or a bool.

    Notes
    -----
    ``+``, ``-``, ``*``, ``//``, ``%`` with amounts, Decimals and integers, ``abs`` and ``round``
    give exact amounts; ``//`` rounds down, as it does for integers. ``/`` and a product with a
    float give the nearest float64. Everything else is `decimal.Decimal`'s, with its context.

    Examples
    --------
    >>> wei = Amount("1E-18")
    >>> print(wei)
    0.000000000000000001
    >>> wei + 10**18
    Amount('1000000000000000000.000000000000000001')
    """

    __slots__ = ()

    def __new__(cls, value: str | int | Decimal = "0") -> Self:
        """Refuse what isn't a finite exact number."""
        number = is_number(value) if isinstance(value, str) else exact_pair(value) is not None
        if not number:
            raise AmountError(
                f"{shortened(value)} is no exact amount",
                hint="write it as text or as a decimal.Decimal, such as Decimal('1.5')",
            )
        return super().__new__(cls, value)

    @classmethod
    def of(cls, integer: int, scale: int) -> Self:
        """Give the amount ``integer / 10**scale``."""
        return super().__new__(cls, plain(integer, scale))

    @classmethod
    def of_fraction(cls, fraction: Fraction) -> Self:
        """Give the amount equal to a fraction whose denominator divides a power of ten."""
        twos = (fraction.denominator & -fraction.denominator).bit_length() - 1
        fives, rest = 0, fraction.denominator >> twos
        while rest > 1:
            fives, rest = fives + 1, rest // 5
        scale = max(twos, fives)
        return cls.of(fraction.numerator * 10**scale // fraction.denominator, scale)

    __add__ = _exact(lambda a, b: a + b)
    __radd__ = _exact(lambda a, b: a + b, reflected=True)
    __sub__ = _exact(lambda a, b: a - b)
    __rsub__ = _exact(lambda a, b: a - b, reflected=True)
    __floordiv__ = _exact(lambda a, b: Fraction(a // b))
    __rfloordiv__ = _exact(lambda a, b: Fraction(a // b), reflected=True)
    __mod__ = _exact(lambda a, b: a % b)
    __rmod__ = _exact(lambda a, b: a % b, reflected=True)
    __truediv__ = _nearest(lambda a, b: a / b)
    __rtruediv__ = _nearest(lambda a, b: a / b, reflected=True)
    _product = _exact(lambda a, b: a * b)
    _float_product = _nearest(lambda a, b: a * b)

    def __mul__(self, other: object) -> Any:
        return self._float_product(other) if isinstance(other, float) else self._product(other)

    __rmul__ = __mul__

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __neg__(self) -> Self:
        return super().__new__(type(self), self.copy_negate()) if self else self

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Self:
        return super().__new__(type(self), self.copy_abs())

    def __round__(self, ndigits: int | None = None) -> Any:
        """Round half to even, exactly; to an int without ``ndigits``, as Python does."""
        if ndigits is None:
            return round(Fraction(*self.as_integer_ratio()))
        return self.of_fraction(round(Fraction(*self.as_integer_ratio()), ndigits))

    def __str__(self) -> str:
        text = super().__format__("f")
        return text.rstrip("0").rstrip(".") if "." in text else text

    def __repr__(self) -> str:
        return f"Amount('{self}')"

    def __format__(self, specification: str, /) -> str:  # type: ignore[override]  # as in Python
        return super().__format__(specification) if specification else str(self)
