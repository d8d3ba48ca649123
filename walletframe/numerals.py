"""Format counts, money, exact amounts and short numbers for people."""

from __future__ import annotations

from decimal import Decimal

_STEPS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))
_CENT, _MIN_WHOLE, _TOO_LARGE = 0.01, 100, 1e15
_LEAST_SHARE = 0.001


def counted_noun(count: int, noun: str) -> str:
    """Return a text such as ``1 row`` or ``2,000 rows``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def count_with_verb(count: int, total: int, noun: str) -> str:
    """Return a text such as ``2 of 3 wallets are``."""
    return f"{count:,} of {counted_noun(total, noun)} {'is' if 1 in {count, total} else 'are'}"


def known_count_suffix(count: float, whole: float) -> str:
    """Return a text such as `` (4 of 5 known)``, or "" if all are known."""
    return f" ({count:,.0f} of {whole:,.0f} known)" if count < whole else ""


def full_amount(amount: Decimal | None) -> str:
    """Return all digits of an amount, or ``unknown amount of``. Callers append the symbol."""
    return "unknown amount of" if amount is None else format(amount, ",f")


def six_digit_text(amount: Decimal) -> str:
    """Round an amount to six digits, but keep all digits of its integer part."""
    text = format(amount, f",.{max(5 - amount.adjusted(), 0) if amount else 0}f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def money(value: float) -> str:
    """Round a value to the cent, or to four digits if it is below one cent."""
    if abs(value) >= _TOO_LARGE:
        return f"{value:.3e}"
    if 0 < abs(value) < _CENT:
        return format(Decimal(f"{value:.4g}"), "f")
    return f"{value:z,.2f}"


def rounded_money(value: float, sign: str = "") -> str:
    """Round a value to a whole number. Below 100, round as `money`. `sign` may be ``+``."""
    if abs(value) >= _MIN_WHOLE:
        return f"{value:{sign},.0f}"
    return f"{sign if value > 0 else ''}{money(value)}"


def signed_money(value: float) -> str:
    """Return a text such as ``+1.50`` or ``-1.50``, rounded by `money`."""
    return f"{'+' if value > 0 else ''}{money(value)}"


def money_without_commas(value: float) -> str:
    """Round a value to the cent. A value below a cent becomes ``<0.01``."""
    if 0 < abs(value) < _CENT:
        return "<0.01" if value > 0 else ">-0.01"
    return f"{value:.2f}"


def plain_number(number: float) -> str:
    """Return all digits of a number, without exponent."""
    return format(Decimal(repr(float(number))), "f")


def compact(number: float) -> str:
    """Return a text such as ``1.23M``, with three digits."""
    for step, letter in _STEPS:
        if step * 0.9995 <= abs(number) < _TOO_LARGE:
            return f"{float(f'{number / step:.3g}'):g}{letter}"
    return f"{number:.3g}"


def compact_amount(amount: Decimal | None) -> str:
    """Return a text such as ``1.23M``, or ``?`` for None."""
    return "?" if amount is None else compact(float(amount))


def percent(share: float) -> str:
    """Return a text such as ``12.3%``. Only 0 becomes ``0%``, and only 1 becomes ``100%``."""
    if share in {0, 1}:
        return f"{share:.0%}"
    if share < _LEAST_SHARE:
        return "<0.1%"
    return ">99.9%" if share > 1 - _LEAST_SHARE else f"{share:.1%}"


def stale_message(count: int) -> str:
    """Return a text such as ``2 wallets show an older answer``."""
    return f"{counted_noun(count, 'wallet')} {'shows' if count == 1 else 'show'} an older answer"
