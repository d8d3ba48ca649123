"""Numbers as text: counts with their nouns, money, exact amounts, and short forms of long numbers.

The one place that formats numbers for people. It imports nothing else of the package.
"""

from __future__ import annotations

from decimal import Decimal

_STEPS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))
_CENT, _TOO_LARGE = 0.01, 1e15
_LEAST_SHARE = 0.001


def counted_noun(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless the count is 1."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def count_of(count: int, whole: int, noun: str) -> str:
    """Return a text such as ``2 of 3 wallets are``."""
    return f"{count:,} of {counted_noun(whole, noun)} {'is' if count == 1 else 'are'}"


def whole(amount: Decimal | None) -> str:
    """Return all digits of an exact amount, with thousands separators, or that it is unknown."""
    return "unknown amount of" if amount is None else format(amount, ",f")


def money(value: float) -> str:
    """Return a value to the cent, or to four digits below a cent, so that it never looks like 0."""
    if abs(value) >= _TOO_LARGE:
        return f"{value:.3e}"
    if 0 < abs(value) < _CENT:
        return format(Decimal(f"{value:.4g}"), "f")
    return f"{value:,.2f}"


def cents(value: float) -> str:
    """Return money to the cent, without thousands separators; below a cent, ``<0.01``."""
    if 0 < abs(value) < _CENT:
        return "<0.01" if value > 0 else ">-0.01"
    return f"{value:.2f}"


def plain(number: float) -> str:
    """Return a number with all its digits, without an exponent."""
    return format(Decimal(repr(float(number))), "f")


def compact(number: float) -> str:
    """Return a number with three digits and a letter, such as ``1.23M``."""
    for step, letter in _STEPS:
        if step * 0.9995 <= abs(number) < _TOO_LARGE:
            return f"{float(f'{number / step:.3g}'):g}{letter}"
    return f"{number:.3g}"


def brief(amount: Decimal | None) -> str:
    """Return an amount with three digits and a letter, or a question mark if it is unknown."""
    return "?" if amount is None else compact(float(amount))


def percent(share: float) -> str:
    """Return a share of 1 in percent; only exactly 0 is 0%, and only exactly 1 is 100%."""
    if share in {0, 1}:
        return f"{share:.0%}"
    if share < _LEAST_SHARE:
        return "<0.1%"
    return ">99.9%" if share > 1 - _LEAST_SHARE else f"{share:.1%}"
