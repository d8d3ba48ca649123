"""One exact amount: a ``decimal.Decimal`` whose text is plain and whose arithmetic never rounds.

The sum of two plain ``Decimal`` objects is rounded to the 28 digits of their context, and one wei
is written as ``1E-18``. Amounts don't read or change a context.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from itertools import repeat, starmap
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeAlias

import numpy as np

from walletframe.amounts.integers import MAX_DECIMALS, MAX_DIGITS, nearest_float
from walletframe.amounts.text import NUMBER, formatted, short_repr
from walletframe.errors import AmountError, AmountPrecisionError, AmountTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from walletframe.amounts.integers import Integers

    Number: TypeAlias = int | Decimal | Fraction

_EXACT_CONTEXT = decimal.Context(
    prec=4 * MAX_DIGITS,
    rounding=decimal.ROUND_HALF_EVEN,
    Emin=decimal.MIN_EMIN,
    Emax=decimal.MAX_EMAX,
    traps=[decimal.Inexact, decimal.InvalidOperation],
)


def plain_number(value: Any) -> Any:
    """Convert a number of NumPy or Arrow exactly to Python's; return other values unchanged."""
    if isinstance(value, float):
        return float(value)
    if isinstance(value, (int, np.integer, np.bool_)):
        return int(value)
    if isinstance(value, np.floating):
        nearest = float(value)
        if nearest == value or not math.isfinite(nearest):
            return nearest
        return Fraction(*map(int, value.as_integer_ratio()))  # wider than 64 bits
    return plain_number(value.as_py()) if hasattr(value, "as_py") else value


def exact_pair(value: object) -> tuple[int, int] | None:
    """Return an integer, finite Decimal or Fraction as (integer, scale); None for other values."""
    if isinstance(value, (int, np.integer)):
        return None if isinstance(value, bool) else (int(value), 0)
    if isinstance(value, Fraction):
        integer, rest = divmod(value.numerator * 10**MAX_DECIMALS, value.denominator)
        if rest:
            raise AmountPrecisionError(
                f"{short_repr(value)} can't be written with {MAX_DECIMALS} decimals",
                hint="round it on purpose first, such as round(fraction, 18)",
            )
        value = Decimal(integer).scaleb(-MAX_DECIMALS, _EXACT_CONTEXT).normalize(_EXACT_CONTEXT)
    if not isinstance(value, Decimal) or not value.is_finite():
        return None
    scale = max(0, -int(value.as_tuple().exponent)) if value else 0
    if value and max(scale, value.adjusted()) > MAX_DIGITS:
        raise AmountError(
            f"{short_repr(value)} has more than {MAX_DIGITS} digits",
            hint="check where the value comes from: 2**256-1 has 78 digits",
        )
    numerator, denominator = value.as_integer_ratio()
    return numerator * 10**scale // denominator, scale


def ratio(value: Any) -> tuple[int, int] | None:
    """Return a finite float, Fraction, Decimal or integer as a ratio; None for other values."""
    if isinstance(value, (float, Decimal)):
        return value.as_integer_ratio() if math.isfinite(value) else None
    return value.as_integer_ratio() if isinstance(value, (int, Fraction)) else None


def reflectable(method: Callable[..., Any]) -> tuple[Any, Any]:
    """Return an operator and its reflected version, such as ``__add__`` and ``__radd__``."""

    def reflected(self: Any, other: Any) -> Any:
        return method(self, other, reflected=True)

    return method, reflected


def _exact_operators(compute: Callable[[Any, Any], Decimal]) -> tuple[Any, Any]:
    """Return operators that are exact with amounts, Decimals, integers and decimal fractions."""

    def method(self: Amount, other: Any, *, reflected: bool = False) -> Any:
        if type(other) not in _EXACT_TYPES:
            other = plain_number(other)
            if isinstance(other, float):
                raise AmountPrecisionError(
                    f"the float {other!r} is not an exact amount",
                    hint="use a Decimal, an integer or an amount; or float(amount) for floats",
                )
            pair = exact_pair(other)
            if pair is None:
                return NotImplemented
            other = Amount.of(*pair) if isinstance(other, Fraction) else other
        try:
            return self._of_decimal(compute(other, self) if reflected else compute(self, other))
        except decimal.Inexact:
            message = f"the result has more than {_EXACT_CONTEXT.prec} digits"
            raise AmountPrecisionError(message) from None

    return reflectable(method)


def _float_operators(compute: Callable[[Any, Any, Any, Any], float]) -> tuple[Any, Any]:
    """Return operators that take floats, too, and return the nearest float64."""

    def method(self: Amount, other: object, *, reflected: bool = False) -> Any:
        other = plain_number(other)
        own: Any = self.as_integer_ratio()
        operand: Any = ratio(other)
        if operand is None and not isinstance(other, float):
            return NotImplemented
        if operand is None:  # a float that is infinite or NaN
            own, operand = (float(self), 1), (other, 1)
        return compute(*operand, *own) if reflected else compute(*own, *operand)

    return reflectable(method)


def _quotient(dividend: Any, dividend_unit: int, divisor: Any, divisor_unit: int) -> float:
    """Divide two ratios like a column: 0/0 is NaN, and other numbers over 0 are infinite."""
    if not divisor:
        return dividend * math.inf if dividend else math.nan
    return nearest_float(dividend * divisor_unit, dividend_unit * divisor)


def _floor_division(left: Any, right: Any) -> tuple[Decimal, Decimal]:
    """Return the quotient, rounded down, and the remainder, with the divisor's sign."""
    if not right:
        raise ZeroDivisionError("division of an amount by zero")
    whole, rest = _EXACT_CONTEXT.divmod(left, right)
    if rest and (rest < 0) != (right < 0):
        return _EXACT_CONTEXT.subtract(whole, 1), _EXACT_CONTEXT.add(rest, right)
    return whole, rest


def _comparison(compare: Callable[[Decimal, Any], Any]) -> Callable[[Amount, Any], bool]:
    def method(self: Amount, other: object) -> Any:
        return compare(self, other if type(other) in _EXACT_TYPES else plain_number(other))

    return method


def _unrounded(name: str) -> Any:
    """Return a method of Decimal that doesn't round, whatever the context."""
    method = getattr(Decimal, name)

    def exact(self: Amount, *others: Any) -> Amount:
        return self._of_decimal(method(self, *map(plain_number, others), context=_EXACT_CONTEXT))

    exact.__name__, exact.__doc__ = name, method.__doc__
    return exact


class Amount(Decimal):
    """An exact amount: an element of a column of amounts.

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
    whole numbers, ``abs``, ``round``, ``max``, ``min``, ``fma``, ``normalize`` and ``scaleb``
    return exact amounts; ``//`` rounds down, as for integers. ``/`` and a product with a float
    return the nearest float64, as in a column. Formatting rounds half to even. Roots and logarithms
    are `decimal.Decimal`'s, and rounded by its context.

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
        """Refuse values other than finite exact numbers."""
        if isinstance(value, str) and NUMBER.fullmatch(value):
            return cls._of_decimal(Decimal(value))
        pair = None if isinstance(value, str) else exact_pair(value)
        if pair is not None:
            return cls._of_decimal(value) if isinstance(value, Decimal) else cls.of(*pair)
        error = AmountPrecisionError if isinstance(plain_number(value), float) else AmountError
        raise error(
            f"{short_repr(value)} is not an exact amount",
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
        return cls._of_decimal(_EXACT_CONTEXT.scaleb(integer, -scale))

    @classmethod
    def _of_decimal(cls, number: Decimal) -> Self:
        """Return the amount equal to a Decimal, without trailing zeros or a sign before 0."""
        return super().__new__(cls, _EXACT_CONTEXT.normalize(number) if number else 0)

    if TYPE_CHECKING:  # the other operators have Decimal's types

        def __add__(self, other: Number, /) -> Self: ...
        def __radd__(self, other: Number, /) -> Self: ...
        def __sub__(self, other: Number, /) -> Self: ...
        def __rsub__(self, other: Number, /) -> Self: ...
        def __truediv__(self, other: Number | float, /) -> float: ...  # type: ignore[override]
        def __rtruediv__(self, other: Any, /) -> float: ...  # type: ignore[override]

    else:
        __add__, __radd__ = _exact_operators(_EXACT_CONTEXT.add)
        __sub__, __rsub__ = _exact_operators(_EXACT_CONTEXT.subtract)
        __floordiv__, __rfloordiv__ = _exact_operators(lambda a, b: _floor_division(a, b)[0])
        __mod__, __rmod__ = _exact_operators(lambda a, b: _floor_division(a, b)[1])
        __truediv__, __rtruediv__ = _float_operators(_quotient)
        __eq__, __ne__ = map(_comparison, (Decimal.__eq__, Decimal.__ne__))
        __lt__, __le__ = map(_comparison, (Decimal.__lt__, Decimal.__le__))
        __gt__, __ge__ = map(_comparison, (Decimal.__gt__, Decimal.__ge__))
        __hash__ = Decimal.__hash__
        max, min, max_mag, min_mag = map(_unrounded, ("max", "min", "max_mag", "min_mag"))
        fma, scaleb, normalize = map(_unrounded, ("fma", "scaleb", "normalize"))
        remainder_near = _unrounded("remainder_near")

    _exact_product = _exact_operators(_EXACT_CONTEXT.multiply)[0]
    _float_product = _float_operators(lambda a, m, b, n: nearest_float(a * b, m * n))[0]
    _power = _exact_operators(_EXACT_CONTEXT.power)[0]

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
        """Raise to an integer of 0 or more, exactly."""
        exponent = plain_number(exponent)
        if modulo is not None or not isinstance(exponent, int) or exponent < 0:
            raise AmountTypeError(
                "the exponent of an amount has to be an integer of 0 or more",
                hint="use float(amount)",
            )
        return self._power(exponent)

    def __rpow__(self, base: Any, modulo: Any = None) -> Any:
        """Refuse, since a Decimal would round by its context."""
        raise AmountTypeError("an amount can't be an exponent", hint="use float(amount)")

    def __conform__(self, protocol: Any) -> NoReturn:
        """Refuse to become an SQLite parameter (sqlite3's hook, which ignores a TypeError)."""
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


class TextAmount(Amount):
    """An amount for formatting as text, which refuses the conversion to float."""

    __slots__ = ()

    def __float__(self) -> float:
        """Refuse, since Python's ``%`` would write the digits of a float."""
        raise AmountPrecisionError(
            "a format with % would write the digits of a float, not those of the amount",
            hint='write float_format="{:.2f}".format, which is exact',
        )


def scalars_of(integers: Integers, scale: int, kind: type[Amount] = Amount) -> list[Amount]:
    """Return the amounts ``integers / 10**scale``."""
    # starmap and zip reuse one tuple of arguments, where map makes one for each call.
    factors = zip(integers.tolist(), repeat(Decimal((0, (1,), -scale))))
    numbers = map(_EXACT_CONTEXT.normalize, starmap(_EXACT_CONTEXT.multiply, factors))
    arguments = zip(repeat(kind), numbers)
    return list(starmap(Decimal.__new__, arguments))
