"""Numbers as text: exact amounts whole, everything else as long as a person reads it."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from walletframe.amounts.scalar import Amount

_STEPS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))
_TOO_LARGE = 1e15


def whole(amount: Amount | None) -> str:
    """Write an exact amount, every digit of it, its thousands apart, or that it is unknown.

    Examples
    --------
    >>> import pandas as pd
    >>> whole(pd.array(["1234567.000000000000000001"], dtype="amount")[0])
    '1,234,567.000000000000000001'
    """
    return "unknown amount of" if amount is None else format(amount, ",f")


def money(value: float) -> str:
    """Write a value to the cent, or to four digits where it is less than one.

    Examples
    --------
    >>> money(1234.5), money(0.000012345), money(1e18)
    ('1,234.50', '0.00001234', '1.000e+18')
    """
    if abs(value) >= _TOO_LARGE:
        return f"{value:.3e}"
    if abs(value) >= 1 or not value:
        return f"{value:,.2f}"
    return format(Decimal(f"{value:.4g}"), "f")


def compact(number: float) -> str:
    """Write a number in three digits and a letter.

    Examples
    --------
    >>> compact(1234567), compact(12), compact(0.00123), compact(999999)
    ('1.23M', '12', '0.00123', '1M')
    """
    for step, letter in _STEPS:
        if step * 0.9995 <= abs(number) < _TOO_LARGE:
            return f"{float(f'{number / step:.3g}'):g}{letter}"
    return f"{number:.3g}"


def brief(amount: Amount | None) -> str:
    """Write an amount in three digits and a letter, a question mark where it is unknown.

    Examples
    --------
    >>> brief(None)
    '?'
    """
    return "?" if amount is None else compact(float(amount))


def percent(share: float) -> str:
    """Write a share of 1 in percent.

    Examples
    --------
    >>> percent(0.1234), percent(0.00001), percent(1), percent(0.99999)
    ('12.3%', '<0.1%', '100%', '>99.9%')
    """
    if share in {0, 1}:
        return f"{share:.0%}"
    if share < 0.001:  # noqa: PLR2004  what rounds to less than is written
        return "<0.1%"
    return ">99.9%" if share > 0.999 else f"{share:.1%}"  # noqa: PLR2004  the same
