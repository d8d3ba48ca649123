"""The class of one amount: an exact ``decimal.Decimal``, written without an exponent.

A plain ``Decimal`` rounds sums to 28 digits, and writes one wei as ``1E-18``.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from itertools import repeat, starmap
from operator import index, mul
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeAlias

import numpy as np

from walletframe.amounts.integers import MAX_DECIMALS, MAX_DIGITS, nearest_float
from walletframe.amounts.text import NUMBER_PATTERN, format_decimal, short_repr
from walletframe.errors import AmountError, AmountPrecisionError, AmountTypeError, InputWarning
from walletframe.notice import warn_once

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


def python_number(value: Any) -> Any:
    """Convert a number of NumPy or Arrow exactly to Python. Return other values unchanged."""
    if isinstance(value, float):
        return float(value)
    if isinstance(value, (int, np.integer, np.bool_)):
        return int(value)
    if isinstance(value, np.floating):
        nearest = float(value)
        if nearest == value or not math.isfinite(nearest):
            return nearest
        return Fraction(*map(int, value.as_integer_ratio()))  # a float wider than 64 bits
    return python_number(value.as_py()) if hasattr(value, "as_py") else value


def is_inexact(value: float) -> bool:
    """Return whether a finite float differs from the decimal in its repr. 0.1 is inexact."""
    exact = Decimal.from_float(value)  # noqa: FURB164 - Decimal(value) depends on the context
    return math.isfinite(value) and exact != Decimal(repr(value))


def warn_about_float_comparison() -> None:
    """Warn, once per process, about a comparison of an amount with a float such as 0.1."""
    warn_once(
        "a float such as 0.1 is not exactly equal to the decimal 0.1, nor to the amount 0.1: "
        "compare with Decimal('0.1') or '0.1' (this warning is shown once)",
        InputWarning,
    )


def integer_and_scale(value: object) -> tuple[int, int] | None:
    """Convert an integer, Fraction or finite Decimal. Return None for other values."""
    if isinstance(value, (int, np.integer)):
        return None if isinstance(value, bool) else (int(value), 0)
    if isinstance(value, Fraction):
        integer, remainder = divmod(value.numerator * 10**MAX_DECIMALS, value.denominator)
        if remainder:
            raise AmountPrecisionError(
                f"{short_repr(value)} has more than {MAX_DECIMALS} decimals",
                hint="round the number first, for example with round(fraction, 18)",
            )
        value = Decimal(integer).scaleb(-MAX_DECIMALS, _EXACT_CONTEXT).normalize(_EXACT_CONTEXT)
    if not isinstance(value, Decimal) or not value.is_finite():
        return None
    scale = max(0, -int(value.as_tuple().exponent)) if value else 0
    if value and max(scale, value.adjusted()) > MAX_DIGITS:
        hint = "check the value: the largest amount on EVM blockchains, 2**256-1, has 78 digits"
        raise AmountError(f"{short_repr(value)} has more than {MAX_DIGITS} digits", hint)
    numerator, denominator = value.as_integer_ratio()
    return numerator * 10**scale // denominator, scale


def integer_ratio(value: Any) -> tuple[int, int] | None:
    """Return (numerator, denominator) of a finite number. Return None for other values."""
    if isinstance(value, (float, Decimal)):
        return value.as_integer_ratio() if math.isfinite(value) else None
    return value.as_integer_ratio() if isinstance(value, (int, Fraction)) else None


def operator_pair(method: Callable[..., Any]) -> tuple[Any, Any]:
    """Return an operator method and its reflected version, such as ``__add__`` and ``__radd__``."""

    def reflected(self: Any, other: Any) -> Any:
        return method(self, other, reflected=True)

    return method, reflected


def _make_exact_operators(compute: Callable[[Any, Any], Decimal]) -> tuple[Any, Any]:
    def apply_operator(self: Amount, other: Any, *, reflected: bool = False) -> Any:
        if type(other) not in _EXACT_TYPES:
            other = python_number(other)
            if isinstance(other, float):
                raise AmountPrecisionError(
                    f"the float {other!r} is not an exact amount",
                    hint="use a Decimal, an integer or an amount; or first call float(amount)",
                )
            if (pair := integer_and_scale(other)) is None:
                return NotImplemented
            other = Amount.of(*pair) if isinstance(other, Fraction) else other
        try:
            return self._from_decimal(compute(other, self) if reflected else compute(self, other))
        except decimal.Inexact:
            message = f"the result has more than {_EXACT_CONTEXT.prec} digits"
            raise AmountPrecisionError(message) from None

    return operator_pair(apply_operator)


def _make_float_operators(compute: Callable[[Any, Any, Any, Any], float]) -> tuple[Any, Any]:
    def apply_operator(self: Amount, other: object, *, reflected: bool = False) -> Any:
        other = python_number(other)
        own: Any = self.as_integer_ratio()
        operand: Any = integer_ratio(other)
        if operand is None and not isinstance(other, float):
            return NotImplemented
        if operand is None:  # the float is infinite or NaN
            own, operand = (float(self), 1), (other, 1)
        return compute(*operand, *own) if reflected else compute(*own, *operand)

    return operator_pair(apply_operator)


def _divide_ratios(numer: Any, denom: int, divisor_numer: Any, divisor_denom: int) -> float:
    if not divisor_numer:
        return numer * math.inf if numer else math.nan
    return nearest_float(numer * divisor_denom, denom * divisor_numer)


def _floor_divmod(left: Any, right: Any) -> tuple[Decimal, Decimal]:
    """Return the quotient rounded down, and the remainder with the sign of the divisor."""
    if not right:
        raise ZeroDivisionError("division of an amount by zero")
    quotient, remainder = _EXACT_CONTEXT.divmod(left, right)
    if remainder and (remainder < 0) != (right < 0):
        return _EXACT_CONTEXT.subtract(quotient, 1), _EXACT_CONTEXT.add(remainder, right)
    return quotient, remainder


def _make_comparison(compare: Callable[[Decimal, Any], Any]) -> Callable[[Amount, Any], bool]:
    def compare_with(self: Amount, other: object) -> Any:
        if type(other) not in _EXACT_TYPES:
            other = python_number(other)
            if isinstance(other, float) and is_inexact(other):
                warn_about_float_comparison()
        return compare(self, other)

    return compare_with


def _make_exact_method(name: str) -> Any:
    """Return a method of Decimal that neither rounds nor uses the thread's decimal context."""
    method = getattr(Decimal, name)

    def call_exactly(self: Amount, *others: Any) -> Amount:
        return self._from_decimal(method(self, *map(python_number, others), context=_EXACT_CONTEXT))

    call_exactly.__name__, call_exactly.__doc__ = name, method.__doc__
    return call_exactly


class Amount(Decimal):
    """An exact amount, the type of the elements in a column of amounts.

    Parameters
    ----------
    value : str, int, decimal.Decimal or fractions.Fraction, default "0"
        A finite number. Text must be ASCII without spaces and underscores. A Fraction must have at
        most 77 decimals: 1/4 is valid, 1/3 is not.

    Raises
    ------
    AmountError
        If the value is NaN, infinite, a bool, text that is not a number, or of another type.
    AmountPrecisionError
        If the value is a float, or a Fraction with more than 77 decimals.

    Notes
    -----
    These operations return exact amounts:

    - ``+``, ``-``, ``*``, ``//`` (rounded down) and ``%`` with amounts, Decimals, integers and
      Fractions;
    - ``**`` with an integer of 0 or more as the exponent;
    - ``abs``, ``round``, ``max``, ``min``, ``fma``, ``normalize`` and ``scaleb``.

    ``/`` and products with a float return the nearest float64. Formatting rounds half to even. The
    inherited roots and logarithms round to the precision of the decimal context.

    ``json.dumps(data, default=str)`` writes amounts as text, without loss of digits.

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
        """Create an amount from a finite exact number."""
        if isinstance(value, str) and NUMBER_PATTERN.fullmatch(value):
            return cls._from_decimal(Decimal(value))
        pair = None if isinstance(value, str) else integer_and_scale(value)
        if pair is not None:
            return cls._from_decimal(value) if isinstance(value, Decimal) else cls.of(*pair)
        error = AmountPrecisionError if isinstance(python_number(value), float) else AmountError
        hint = "pass a number as text or as a decimal.Decimal, such as '1.5' or Decimal('1.5')"
        raise error(f"{short_repr(value)} is not an exact amount", hint)

    @classmethod
    def of(cls, integer: int, scale: int) -> Self:
        """Return the amount ``integer / 10**scale``.

        Parameters
        ----------
        integer : int
            The amount times ``10**scale``, an integer of any size.
        scale : int
            The number of decimals, 0 or more.

        Returns
        -------
        Amount
            The exact amount.

        Examples
        --------
        >>> Amount.of(1, 18)
        Amount('0.000000000000000001')
        """
        return cls._from_decimal(_EXACT_CONTEXT.scaleb(integer, -scale))

    @classmethod
    def _from_decimal(cls, number: Decimal) -> Self:
        return super().__new__(cls, _EXACT_CONTEXT.normalize(number) if number else 0)

    if TYPE_CHECKING:  # the types of all other operators are inherited from Decimal

        def __add__(self, other: Number, /) -> Self: ...
        def __radd__(self, other: Number, /) -> Self: ...
        def __sub__(self, other: Number, /) -> Self: ...
        def __rsub__(self, other: Number, /) -> Self: ...
        def __truediv__(self, other: Number | float, /) -> float: ...  # type: ignore[override]  # the quotient is a float
        def __rtruediv__(self, other: Any, /) -> float: ...  # type: ignore[override]  # the quotient is a float

    else:
        __add__, __radd__ = _make_exact_operators(_EXACT_CONTEXT.add)
        __sub__, __rsub__ = _make_exact_operators(_EXACT_CONTEXT.subtract)
        __floordiv__, __rfloordiv__ = _make_exact_operators(lambda a, b: _floor_divmod(a, b)[0])
        __mod__, __rmod__ = _make_exact_operators(lambda a, b: _floor_divmod(a, b)[1])
        __truediv__, __rtruediv__ = _make_float_operators(_divide_ratios)
        __eq__, __ne__ = map(_make_comparison, (Decimal.__eq__, Decimal.__ne__))
        __lt__, __le__ = map(_make_comparison, (Decimal.__lt__, Decimal.__le__))
        __gt__, __ge__ = map(_make_comparison, (Decimal.__gt__, Decimal.__ge__))
        __hash__ = Decimal.__hash__
        max, min, max_mag, min_mag = map(_make_exact_method, ("max", "min", "max_mag", "min_mag"))
        fma, scaleb, normalize = map(_make_exact_method, ("fma", "scaleb", "normalize"))
        remainder_near = _make_exact_method("remainder_near")

    _exact_product = _make_exact_operators(_EXACT_CONTEXT.multiply)[0]
    _float_product = _make_float_operators(lambda a, m, b, n: nearest_float(a * b, m * n))[0]
    _power = _make_exact_operators(_EXACT_CONTEXT.power)[0]

    def __mul__(self, other: Any) -> Any:
        if isinstance(python_number(other), float):
            return self._float_product(other)
        return self._exact_product(other)

    __rmul__: ClassVar[Callable[..., Any]] = __mul__

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __pow__(self, exponent: Any, modulo: Any = None) -> Any:
        exponent = python_number(exponent)
        if modulo is not None or not isinstance(exponent, int) or exponent < 0:
            hint = "for other exponents, convert the amount first: float(amount) ** exponent"
            raise AmountTypeError("the exponent of an amount must be a non-negative integer", hint)
        return self._power(exponent)

    def __rpow__(self, base: Any, modulo: Any = None) -> Any:
        """Raise an error, since Decimal would round to the precision of the context."""
        hint = "convert the amount first: base ** float(amount)"
        raise AmountTypeError("an amount can't be used as an exponent", hint)

    def __conform__(self, protocol: Any) -> NoReturn:
        """Raise an AmountError, since SQLite would ignore a TypeError."""
        hint = "write str(amount), or a DataFrame with df.wf.to_sql(name, connection)"
        raise AmountError("SQLite has no number type that can store an amount exactly", hint)

    def __neg__(self) -> Self:
        return self._from_decimal(self.copy_negate())

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Self:
        return self._from_decimal(self.copy_abs())

    def __round__(self, ndigits: int | None = None) -> Any:
        exact = Fraction(*self.as_integer_ratio())
        return round(exact) if ndigits is None else type(self)(round(exact, index(ndigits)))

    def __str__(self) -> str:
        text = Decimal.__str__(self)
        return Decimal.__format__(self, "f") if "E" in text else text

    def __repr__(self) -> str:
        return f"Amount('{self}')"

    def __format__(self, specification: str, /) -> str:  # type: ignore[override]  # Decimal's stub has other parameters
        return format_decimal(self, specification) if specification else str(self)


_EXACT_TYPES = frozenset({int, Amount})


class CsvAmount(Amount):
    """An amount for pandas' CSV writer. Conversion to float would round, so it raises an error."""

    __slots__ = ()

    def __float__(self) -> float:
        hint = 'use float_format="{:.2f}".format, which rounds the exact amount'
        raise AmountPrecisionError("a float_format with % would round the amount to a float", hint)


def to_scalars(integers: Integers, scale: int, scalar_class: type[Amount] = Amount) -> list[Amount]:
    """Return the amounts ``integers / 10**scale``."""
    # An operator is twice as fast as a method of the context. zip reuses its tuple of arguments.
    with decimal.localcontext(_EXACT_CONTEXT):
        products = map(mul, integers.tolist(), repeat(Decimal((0, (1,), -scale))))
        arguments = zip(repeat(scalar_class), map(_EXACT_CONTEXT.normalize, products))
        return list(starmap(Decimal.__new__, arguments))
