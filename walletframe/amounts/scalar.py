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
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeAlias

import numpy as np

from walletframe.amounts.integers import MAX_DECIMALS, MAX_DIGITS, nearest_float
from walletframe.amounts.text import NUMBER, formatted, shortened
from walletframe.errors import AmountError, AmountPrecisionError, AmountTypeError

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


def plain_number(value: Any) -> Any:
    """Return a number of NumPy or Arrow as one of Python, not a bit changed; all else as it is."""
    if isinstance(value, float):
        return float(value)
    if isinstance(value, (int, np.integer, np.bool_)):
        return int(value)
    if isinstance(value, np.floating):
        near = float(value)
        if near == value or not math.isfinite(near):
            return near
        return Fraction(*map(int, value.as_integer_ratio()))  # wider than 64 bits
    return plain_number(value.as_py()) if hasattr(value, "as_py") else value


def exact_pair(value: object) -> tuple[int, int] | None:
    """Return an integer, a finite Decimal or a Fraction as (integer, scale), all else as None."""
    if isinstance(value, (int, np.integer)):
        return None if isinstance(value, bool) else (int(value), 0)
    if isinstance(value, Fraction):
        integer, rest = divmod(value.numerator * 10**MAX_DECIMALS, value.denominator)
        if rest:
            raise AmountPrecisionError(
                f"{shortened(value)} can't be written with {MAX_DECIMALS} decimals",
                hint="round it on purpose first, such as round(fraction, 18)",
            )
        value = Decimal(integer).scaleb(-MAX_DECIMALS, _WIDE).normalize(_WIDE)
    if not isinstance(value, Decimal) or not value.is_finite():
        return None
    scale = max(0, -int(value.as_tuple().exponent)) if value else 0
    if value and max(scale, value.adjusted()) > MAX_DIGITS:
        raise AmountError(
            f"{shortened(value)} has more than {MAX_DIGITS} digits",
            hint="check where the value comes from: 2**256-1 has 78 digits",
        )
    numerator, denominator = value.as_integer_ratio()
    return numerator * 10**scale // denominator, scale


def ratio(value: Any) -> tuple[int, int] | None:
    """Return a finite float, Fraction, Decimal or integer as a ratio, anything else as None."""
    if isinstance(value, (float, Decimal)):
        return value.as_integer_ratio() if math.isfinite(value) else None
    return value.as_integer_ratio() if isinstance(value, (int, Fraction)) else None


def both_ways(method: Callable[..., Any]) -> tuple[Any, Any]:
    """Return an operator as it is, and as the one of the operand on the right."""

    def reflected(self: Any, other: Any) -> Any:
        return method(self, other, reflected=True)

    return method, reflected


def _exact(compute: Callable[[Any, Any], Decimal]) -> tuple[Any, Any]:
    """Make operators that are exact with amounts, Decimals, integers and decimal fractions."""

    def method(self: Amount, other: Any, *, reflected: bool = False) -> Any:
        if type(other) not in _EXACT_TYPES:
            other = plain_number(other)
            if isinstance(other, float):
                raise AmountPrecisionError(
                    f"the float {other!r} is no exact amount",
                    hint="take a Decimal, an integer or an amount; or float(amount) for floats",
                )
            pair = exact_pair(other)
            if pair is None:
                return NotImplemented
            other = Amount.of(*pair) if isinstance(other, Fraction) else other
        try:
            return self._of_decimal(compute(other, self) if reflected else compute(self, other))
        except decimal.Inexact:
            message = f"the result has more than {_WIDE.prec} digits"
            raise AmountPrecisionError(message) from None

    return both_ways(method)


def _nearest(compute: Callable[[Any, Any, Any, Any], float]) -> tuple[Any, Any]:
    """Make operators that give the nearest float64, with floats among their operands."""

    def method(self: Amount, other: object, *, reflected: bool = False) -> Any:
        other = plain_number(other)
        here: Any = self.as_integer_ratio()
        there: Any = ratio(other)
        if there is None and not isinstance(other, float):
            return NotImplemented
        if there is None:  # a float that is infinite or NaN
            here, there = (float(self), 1), (other, 1)
        return compute(*there, *here) if reflected else compute(*here, *there)

    return both_ways(method)


def _quotient(above: Any, above_unit: int, below: Any, below_unit: int) -> float:
    """Divide as a column does: 0/0 is NaN, and all else over 0 is infinite."""
    if not below:
        return above * math.inf if above else math.nan
    return nearest_float(above * below_unit, above_unit * below)


def _floor_division(left: Any, right: Any) -> tuple[Decimal, Decimal]:
    """Divide and round down, as integers do; the remainder has the divisor's sign."""
    if not right:
        raise ZeroDivisionError("division of an amount by zero")
    whole, rest = _WIDE.divmod(left, right)
    if rest and (rest < 0) != (right < 0):
        return _WIDE.subtract(whole, 1), _WIDE.add(rest, right)
    return whole, rest


def _comparison(compare: Callable[[Decimal, Any], Any]) -> Callable[[Amount, Any], bool]:
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
        if isinstance(value, str) and NUMBER.fullmatch(value):
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
        """Return the amount ``integer / 10**scale``.

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
        """Return the amount equal to a Decimal, without trailing zeros or a sign before 0."""
        return super().__new__(cls, _WIDE.normalize(number) if number else 0)

    if TYPE_CHECKING:  # what they take and return; the others as in Decimal

        def __add__(self, other: Number, /) -> Self: ...
        def __radd__(self, other: Number, /) -> Self: ...
        def __sub__(self, other: Number, /) -> Self: ...
        def __rsub__(self, other: Number, /) -> Self: ...
        def __truediv__(self, other: Number | float, /) -> float: ...  # type: ignore[override]
        def __rtruediv__(self, other: Any, /) -> float: ...  # type: ignore[override]

    else:
        __add__, __radd__ = _exact(_WIDE.add)
        __sub__, __rsub__ = _exact(_WIDE.subtract)
        __floordiv__, __rfloordiv__ = _exact(lambda a, b: _floor_division(a, b)[0])
        __mod__, __rmod__ = _exact(lambda a, b: _floor_division(a, b)[1])
        __truediv__, __rtruediv__ = _nearest(_quotient)
        __eq__, __ne__ = map(_comparison, (Decimal.__eq__, Decimal.__ne__))
        __lt__, __le__ = map(_comparison, (Decimal.__lt__, Decimal.__le__))
        __gt__, __ge__ = map(_comparison, (Decimal.__gt__, Decimal.__ge__))
        __hash__ = Decimal.__hash__
        max, min, max_mag, min_mag = map(_in_full, ("max", "min", "max_mag", "min_mag"))
        fma, scaleb, normalize = map(_in_full, ("fma", "scaleb", "normalize"))
        remainder_near = _in_full("remainder_near")

    _exact_product = _exact(_WIDE.multiply)[0]
    _float_product = _nearest(lambda a, m, b, n: nearest_float(a * b, m * n))[0]
    _power = _exact(_WIDE.power)[0]

    def __mul__(self, other: Any) -> Any:
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
            raise AmountTypeError(
                "only whole exponents from 0 on give exact powers of an amount",
                hint="use float(amount)",
            )
        return self._power(exponent)

    def __rpow__(self, base: Any, modulo: Any = None) -> Any:
        """Refuse: a Decimal would round by its context."""
        raise AmountTypeError("an amount is no exponent", hint="use float(amount)")

    def __conform__(self, protocol: Any) -> NoReturn:
        """Refuse to become a parameter of SQLite (sqlite3's hook, which ignores a TypeError)."""
        raise AmountError(
            "SQLite has no exact decimals",
            hint="write str(amount), or a frame with df.wf.to_sql(name, connection)",
        )

    def __neg__(self) -> Self:
        return self._of_decimal(self.copy_negate())

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Self:
        return self._of_decimal(self.copy_abs())

    def __round__(self, ndigits: int | None = None) -> Any:
        """Round half to even, exactly; to an int without ``ndigits``, as Python does."""
        exact = Fraction(*self.as_integer_ratio())
        return round(exact) if ndigits is None else type(self)(round(exact, index(ndigits)))

    def __str__(self) -> str:
        text = Decimal.__str__(self)
        return Decimal.__format__(self, "f") if "E" in text else text

    def __repr__(self) -> str:
        return f"Amount('{self}')"

    def __format__(self, specification: str, /) -> str:  # type: ignore[override]  # as in Python
        return formatted(self, specification) if specification else str(self)


_EXACT_TYPES = frozenset({int, Amount})


class FormattedAmount(Amount):
    """An amount that is about to be written as text, and so does not become a float."""

    __slots__ = ()

    def __float__(self) -> float:
        """Refuse: Python's ``%`` asks for a float, and writes that one's digits."""
        raise AmountPrecisionError(
            "a format with % would write the digits of a float, not those of the amount",
            hint='write float_format="{:.2f}".format, which is exact',
        )


def scalars_of(integers: Integers, scale: int, kind: type[Amount] = Amount) -> list[Amount]:
    """Return the amounts ``integers / 10**scale``."""
    numbers = map(_WIDE.multiply, integers, repeat(Decimal((0, (1,), -scale))))
    return list(map(Decimal.__new__, repeat(kind), map(_WIDE.normalize, numbers)))
