"""Numbers of Python, NumPy and Arrow as exact ones: an integer and a scale, or a fraction.

Floats are what they are to the last bit, and no exact amounts: whoever takes them says so.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from walletframe.amounts.integers import MAX_DECIMALS, MAX_DIGITS
from walletframe.amounts.text import shortened
from walletframe.errors import AmountError, AmountPrecisionError


def plain_number(value: Any) -> Any:
    """Give a number of NumPy or Arrow as one of Python, not a bit changed; all else as it is."""
    if isinstance(value, float):
        return float(value)
    if isinstance(value, (int, np.integer, np.bool_)):
        return int(value)
    if isinstance(value, np.floating):
        near = float(value)
        return near if near == value or not math.isfinite(near) else _of_wide_float(value)
    return plain_number(value.as_py()) if hasattr(value, "as_py") else value


def _of_wide_float(value: np.floating[Any]) -> Fraction:
    above, below = value.as_integer_ratio()
    return Fraction(int(above), int(below))


def exact_pair(value: object) -> tuple[int, int] | None:
    """Give an integer, a finite Decimal or a Fraction as (integer, scale), all else as None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, np.integer)):
        return int(value), 0
    if isinstance(value, Fraction):
        return _fraction_pair(value)
    if not isinstance(value, Decimal) or not value.is_finite():
        return None
    return _decimal_pair(value)


def _decimal_pair(value: Decimal) -> tuple[int, int]:
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


def _fraction_pair(value: Fraction) -> tuple[int, int]:
    scale = decimals_of(value.denominator)
    if scale is None:
        raise AmountPrecisionError(
            f"{shortened(value)} can't be written with {MAX_DECIMALS} decimals",
            hint="round it on purpose first, such as round(fraction, 18)",
        )
    return value.numerator * 10**scale // value.denominator, scale


def decimals_of(denominator: int) -> int | None:
    """Give how many decimals a reduced ratio needs, None where 77 are too few."""
    twos = (denominator & -denominator).bit_length() - 1
    fives, rest = 0, denominator >> twos
    while rest % 5 == 0:
        fives, rest = fives + 1, rest // 5
    scale = max(twos, fives)
    return scale if rest == 1 and scale <= MAX_DECIMALS else None


def ratio(value: Any) -> tuple[int, int] | None:
    """Give a finite float, Fraction, Decimal or integer as a ratio, anything else as None."""
    if isinstance(value, (float, Decimal)):
        return value.as_integer_ratio() if math.isfinite(value) else None
    return value.as_integer_ratio() if isinstance(value, (int, Fraction)) else None
