"""Numbers as text: counts with their nouns, money, exact amounts, and short forms of long numbers.

The one place where a person's numbers are written. It imports nothing.
"""

from __future__ import annotations

from decimal import Decimal

_STEPS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))
_CENT, _TOO_LARGE = 0.01, 1e15
_LEAST_SHARE = 0.001


def many(count: int, noun: str) -> str:
    """Write a count with its noun, which takes an s unless it is one.

    Examples
    --------
    >>> many(1, "balance"), many(2000, "balance")
    ('1 balance', '2,000 balances')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def part(count: int, whole: int, noun: str) -> str:
    """Write a count of a whole, with the verb behind it.

    Examples
    --------
    >>> part(1, 3, "wallet"), part(0, 1, "wallet")
    ('1 of 3 wallets is', '0 of 1 wallet are')
    """
    return f"{count:,} of {many(whole, noun)} {'is' if count == 1 else 'are'}"


def whole(amount: Decimal | None) -> str:
    """Write an exact amount, every digit of it, its thousands apart, or that it is unknown.

    Examples
    --------
    >>> whole(Decimal("1234567.000000000000000001"))
    '1,234,567.000000000000000001'
    """
    return "unknown amount of" if amount is None else format(amount, ",f")


def money(value: float) -> str:
    """Write a value to the cent; to four digits below a cent, so that it never looks like nothing.

    Examples
    --------
    >>> money(1234.5), money(0.0049), money(0.000012345), money(0), money(1e18)
    ('1,234.50', '0.0049', '0.00001234', '0.00', '1.000e+18')
    """
    if abs(value) >= _TOO_LARGE:
        return f"{value:.3e}"
    if 0 < abs(value) < _CENT:
        return format(Decimal(f"{value:.4g}"), "f")
    return f"{value:,.2f}"


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


def brief(amount: Decimal | None) -> str:
    """Write an amount in three digits and a letter, a question mark where it is unknown."""
    return "?" if amount is None else compact(float(amount))


def percent(share: float) -> str:
    """Write a share of 1 in percent; what rounds to nothing or to all is written so only if it is.

    Examples
    --------
    >>> percent(0.1234), percent(0.00001), percent(1), percent(0.99999)
    ('12.3%', '<0.1%', '100%', '>99.9%')
    """
    if share in {0, 1}:
        return f"{share:.0%}"
    if share < _LEAST_SHARE:
        return "<0.1%"
    return ">99.9%" if share > 1 - _LEAST_SHARE else f"{share:.1%}"
