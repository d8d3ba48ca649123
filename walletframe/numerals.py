"""Numbers as text: counts with their nouns, money, exact amounts, and short forms of long numbers.

The one place where a person's numbers are written. It imports nothing.
"""

from __future__ import annotations

from decimal import Decimal

_STEPS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))
_CENT, _TOO_LARGE = 0.01, 1e15
_LEAST_SHARE = 0.001


def many(count: int, noun: str) -> str:
    """Write a count with its noun, which takes an s unless it is one."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def part(count: int, whole: int, noun: str) -> str:
    """Write a count of a whole, with the verb behind it."""
    return f"{count:,} of {many(whole, noun)} {'is' if count == 1 else 'are'}"


def whole(amount: Decimal | None) -> str:
    """Write an exact amount, every digit of it, its thousands apart, or that it is unknown."""
    return "unknown amount of" if amount is None else format(amount, ",f")


def money(value: float) -> str:
    """Write a value to the cent; in four digits below a cent, which is never nothing."""
    if abs(value) >= _TOO_LARGE:
        return f"{value:.3e}"
    if 0 < abs(value) < _CENT:
        return format(Decimal(f"{value:.4g}"), "f")
    return f"{value:,.2f}"


def cents(value: float) -> str:
    """Write money to the cent, its thousands together; less than one is never nothing."""
    if 0 < abs(value) < _CENT:
        return "<0.01" if value > 0 else ">-0.01"
    return f"{value:.2f}"


def plain(number: float) -> str:
    """Write a number with all its digits, and without an exponent."""
    return format(Decimal(repr(float(number))), "f")


def compact(number: float) -> str:
    """Write a number in three digits and a letter."""
    for step, letter in _STEPS:
        if step * 0.9995 <= abs(number) < _TOO_LARGE:
            return f"{float(f'{number / step:.3g}'):g}{letter}"
    return f"{number:.3g}"


def brief(amount: Decimal | None) -> str:
    """Write an amount in three digits and a letter, a question mark where it is unknown."""
    return "?" if amount is None else compact(float(amount))


def percent(share: float) -> str:
    """Write a share of 1 in percent; only nothing is 0%, and only all is 100%."""
    if share in {0, 1}:
        return f"{share:.0%}"
    if share < _LEAST_SHARE:
        return "<0.1%"
    return ">99.9%" if share > 1 - _LEAST_SHARE else f"{share:.1%}"
