"""One exact amount: a ``decimal.Decimal`` whose text is plain and whose arithmetic never rounds.

A plain ``Decimal`` rounds to the 28 digits of its context the moment two of them are added, and
writes one wei as ``1E-18``. Here no context is read or changed.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from itertools import repeat
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from walletframe.amounts.integers import MAX_DIGITS, nearest_float
from walletframe.amounts.rational import exact_pair, plain_number, ratio
from walletframe.amounts.text import formatted, is_number, shortened
from walletframe.errors import AmountError, AmountPrecisionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from walletframe.amounts.integers import Integers

    Number: TypeAlias = int | Decimal | Fraction

_WIDE = decimal.Context(
    prec=4 * MAX_DIGITS,
    rounding=decimal.ROUND_HALF_EVEN,
    Emin=decimal.MIN_EMIN,
    Emax=decimal.MAX_EMAX,
    traps=[decimal.Inexact, decimal.InvalidOperation],
)


def _exact_operand(other: object) -> Any:
    """Give what can be added exactly as a Decimal or an int; None for no number; refuse floats."""
    other = plain_number(other)
    if isinstance(other, float):
        raise AmountPrecisionError(
            f"the float {other!r} is no exact amount",
            hint="take a Decimal, an integer or an amount; or float(amount) for floats",
        )
    pair = exact_pair(other)
    if pair is None or not isinstance(other, Fraction):
        return None if pair is None else other
    return Amount.of(*pair)


def _exact(compute: Callable[[Any, Any], Decimal], *, reflected: bool = False) -> Any:
    """Make an operator that is exact with amounts, Decimals, integers and decimal fractions."""

    def method(self: Amount, other: object) -> Any:
        there = other if type(other) in _EXACT_TYPES else _exact_operand(other)
        if there is None:
            return NotImplemented
        try:
            return self._of_decimal(compute(there, self) if reflected else compute(self, there))
        except decimal.Inexact:
            pass
        raise AmountPrecisionError(f"the result has more than {_WIDE.prec} digits")

    return method


def _nearest(compute: Callable[[Any, Any, Any, Any], float], *, reflected: bool = False) -> Any:
    """Make an operator that gives the nearest float64, with floats among its operands."""

    def method(self: Amount, other: object) -> Any:
        other = plain_number(other)
        here: Any = self.as_integer_ratio()
        there: Any = ratio(other)
        if there is None and not isinstance(other, float):
            return NotImplemented
        if there is None:  # a float that is infinite or NaN
            here, there = (float(self), 1), (other, 1)
        return compute(*there, *here) if reflected else compute(*here, *there)

    return method


def _quotient(above: Any, above_unit: int, below: Any, below_unit: int) -> float:
    """Divide as a column does: 0/0 is NaN, and all else over 0 is infinite."""
    if not below:
        return above * math.inf if above else math.nan
    return nearest_float(above * below_unit, above_unit * below)


def _product(left: Any, left_unit: int, right: Any, right_unit: int) -> float:
    return nearest_float(left * right, left_unit * right_unit)


def _floor_division(left: Any, right: Any) -> tuple[Decimal, Decimal]:
    """Divide and round down, as integers do; the remainder has the divisor's sign."""
    if not right:
        raise ZeroDivisionError("division of an amount by zero")
    whole, rest = _WIDE.divmod(left, right)
    if rest and (rest < 0) != (right < 0):
        return _WIDE.subtract(whole, 1), _WIDE.add(rest, right)
    return whole, rest


def _comparison(compare: Callable[[Decimal, Any], Any]) -> Any:
    def method(self: Amount, other: object) -> Any:
        return compare(self, other if type(other) in _EXACT_TYPES else plain_number(other))

    return method


def _in_full(name: str) -> Any:
    """Make a method of Decimal's that doesn't round, whatever the context."""
    method = getattr(Decimal, name)

    def exact(self: Amount, *others: Any) -> Amount:
        return self._of_decimal(method(self, *map(plain_number, others), context=_WIDE))

    exact.__name__, exact.__doc__ = name, method.__doc__
    return exact


class Amount(Decimal):
    """An exact amount, as it comes out of a column of amounts.

    Parameters
    ----------
    value : str, int, decimal.Decimal or fractions.Fraction, default "0"
        A finite number. Text is in ASCII, without spaces or underscores; a Fraction has finite
        decimals.

    Raises
    ------
    AmountError
        If the value is text that isn't a number, NaN, infinite or a bool.
    AmountPrecisionError
        If it is a float, or a Fraction without finite decimals.

    Notes
    -----
    ``+``, ``-``, ``*``, ``//``, ``%`` with amounts, Decimals, integers and Fractions, powers of
    whole numbers, ``abs``, ``round``, ``max``, ``min``, ``fma``, ``normalize`` and ``scaleb`` give
    exact amounts; ``//`` rounds down, as it does for integers. ``/`` and a product with a float
    give the nearest float64, as in a column. Formatting rounds half to even. Roots and logarithms
    are `decimal.Decimal`'s, with its context.

    ``json.dumps(data, default=str)`` writes amounts as text, which loses no digit.

    Examples
    --------
    >>> wei = Amount("1E-18")
    >>> print(wei)
    0.000000000000000001
    >>> wei + 10**18
    Amount('1000000000000000000.000000000000000001')
    """

    __slots__ = ()

    def __new__(cls, value: str | int | Decimal | Fraction = "0") -> Self:
        """Refuse what isn't a finite exact number."""
        if isinstance(value, str) and is_number(value):
            return cls._of_decimal(Decimal(value))
        pair = None if isinstance(value, str) else exact_pair(value)
        if pair is not None:
            return cls._of_decimal(value) if isinstance(value, Decimal) else cls.of(*pair)
        refusal = AmountPrecisionError if isinstance(plain_number(value), float) else AmountError
        raise refusal(
            f"{shortened(value)} is no exact amount",
            hint="write it as text or as a decimal.Decimal, such as Decimal('1.5')",
        )

    @classmethod
    def of(cls, integer: int, scale: int) -> Self:
        """Give the amount ``integer / 10**scale``.

        Parameters
        ----------
        integer : int
            Of any size.
        scale : int
            The decimals, from 0.

        Returns
        -------
        Amount
            Exact.

        Examples
        --------
        >>> Amount.of(1, 18)
        Amount('0.000000000000000001')
        """
        return cls._of_decimal(_WIDE.scaleb(integer, -scale))

    @classmethod
    def _of_decimal(cls, number: Decimal) -> Self:
        """Give the amount equal to a Decimal, without trailing zeros or a sign before 0."""
        return super().__new__(cls, _WIDE.normalize(number) if number else 0)

    if TYPE_CHECKING:  # what they take and give; the others as in Decimal

        def __add__(self, other: Number, /) -> Self: ...
        def __radd__(self, other: Number, /) -> Self: ...
        def __sub__(self, other: Number, /) -> Self: ...
        def __rsub__(self, other: Number, /) -> Self: ...
        def __truediv__(self, other: Number | float, /) -> float: ...  # type: ignore[override]
        def __rtruediv__(self, other: Any, /) -> float: ...  # type: ignore[override]

    else:
        __add__ = _exact(_WIDE.add)
        __radd__ = _exact(_WIDE.add, reflected=True)
        __sub__ = _exact(_WIDE.subtract)
        __rsub__ = _exact(_WIDE.subtract, reflected=True)
        __floordiv__ = _exact(lambda a, b: _floor_division(a, b)[0])
        __rfloordiv__ = _exact(lambda a, b: _floor_division(a, b)[0], reflected=True)
        __mod__ = _exact(lambda a, b: _floor_division(a, b)[1])
        __rmod__ = _exact(lambda a, b: _floor_division(a, b)[1], reflected=True)
        __truediv__ = _nearest(_quotient)
        __rtruediv__ = _nearest(_quotient, reflected=True)
        __eq__ = _comparison(Decimal.__eq__)
        __ne__ = _comparison(Decimal.__ne__)
        __lt__ = _comparison(Decimal.__lt__)
        __le__ = _comparison(Decimal.__le__)
        __gt__ = _comparison(Decimal.__gt__)
        __ge__ = _comparison(Decimal.__ge__)
        __hash__ = Decimal.__hash__
        compare = _in_full("compare")
        fma = _in_full("fma")
        max = _in_full("max")
        max_mag = _in_full("max_mag")
        min = _in_full("min")
        min_mag = _in_full("min_mag")
        normalize = _in_full("normalize")
        remainder_near = _in_full("remainder_near")
        scaleb = _in_full("scaleb")

    _exact_product = _exact(_WIDE.multiply)
    _float_product = _nearest(_product)

    def __mul__(self, other: object) -> Any:
        if isinstance(plain_number(other), float):
            return self._float_product(other)
        return self._exact_product(other)

    __rmul__: ClassVar[Callable[..., Any]] = __mul__

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __pow__(self, exponent: Any, modulo: Any = None) -> Any:
        """Raise to a whole number from 0 on, exactly."""
        exponent = plain_number(exponent)
        if modulo is not None or not isinstance(exponent, int) or exponent < 0:
            raise TypeError("a power of an amount is exact for whole exponents; use float(amount)")
        return self._power(exponent)

    _power = _exact(_WIDE.power)

    def __rpow__(self, base: Any, modulo: Any = None) -> Any:
        """Refuse: a Decimal would round by its context."""
        raise TypeError("an amount is no exponent; use float(amount)")

    def __neg__(self) -> Self:
        return self._of_decimal(self.copy_negate())

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Self:
        return self._of_decimal(self.copy_abs())

    def __round__(self, ndigits: int | None = None) -> Any:
        """Round half to even, exactly; to an int without ``ndigits``, as Python does."""
        if ndigits is None:
            return round(Fraction(*self.as_integer_ratio()))
        rounded = round(Fraction(*self.as_integer_ratio()), index(ndigits))
        return type(self)(rounded)

    def __str__(self) -> str:
        text = Decimal.__str__(self)
        return Decimal.__format__(self, "f") if "E" in text else text

    def __repr__(self) -> str:
        return f"Amount('{self}')"

    def __format__(self, specification: str, /) -> str:  # type: ignore[override]  # as in Python
        return formatted(self, specification) if specification else str(self)


_EXACT_TYPES = frozenset({int, Amount})


def scalars_of(integers: Integers, scale: int) -> list[Amount]:
    """Give the amounts ``integers / 10**scale``."""
    numbers = map(_WIDE.multiply, integers, repeat(Decimal((0, (1,), -scale))))
    return list(map(Decimal.__new__, repeat(Amount), map(_WIDE.normalize, numbers)))
