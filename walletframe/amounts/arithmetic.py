"""Arithmetic and comparisons of n amounts with n other exact ones, or one.

All of it is exact, but for quotients, which are the nearest float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe.amounts.integers import MAX_DECIMALS, POWERS, Exact, ratios, rescale
from walletframe.amounts.text import plain
from walletframe.errors import AmountPrecisionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from walletframe.amounts.integers import Floats, Integers, Mask


def same_scale(left: Exact, right: Exact) -> tuple[Integers, Integers, Mask, int]:
    """Bring both sides to the finer scale; missing on one side is missing in the result."""
    finest = max(left.scale, right.scale)
    missing: Mask = left.missing | right.missing
    return (
        rescale(left.integers, left.scale, finest),
        rescale(right.integers, right.scale, finest),
        missing,
        finest,
    )


def combined(left: Exact, right: Exact, operation: Callable[[Any, Any], Any]) -> Exact:
    """Add or subtract exactly."""
    ours, theirs, missing, scale = same_scale(left, right)
    return _exact(operation(ours, theirs), missing, scale)


def remainder(left: Exact, right: Exact) -> Exact:
    """Give what whole quotients leave over, exactly; its sign is the divisor's."""
    ours, theirs, missing, scale = same_scale(left, right)
    return _exact(ours % np.where(missing, 1, theirs), missing, scale)


def whole_quotient(left: Exact, right: Exact) -> Exact:
    """Divide and round down to whole numbers, exactly."""
    ours, theirs, missing, _ = same_scale(left, right)
    return _exact(ours // np.where(missing, 1, theirs), missing, 0)


def _exact(integers: Integers, missing: Mask, scale: int) -> Exact:
    """Keep the promise that an integer is 0 where its amount is missing."""
    if missing.any():
        integers[missing] = 0
    return Exact(integers, missing, scale)


def product(left: Exact, right: Exact) -> Exact:
    """Multiply exactly, or refuse what needs more than 77 decimals."""
    integers, missing, scale = exact = _exact(
        left.integers * right.integers, left.missing | right.missing, left.scale + right.scale
    )
    if scale <= MAX_DECIMALS:
        return exact
    surplus = POWERS[scale - MAX_DECIMALS]
    lost = np.flatnonzero(integers % surplus)
    if len(lost):
        raise AmountPrecisionError(
            f"the product {plain(integers[lost[0]], scale)} at position {lost[0]} "
            f"has more than {MAX_DECIMALS} decimals",
            hint="round a factor first, or multiply by a float for a float64",
        )
    return Exact(integers // surplus, missing, MAX_DECIMALS)


def quotient(left: Exact, right: Exact) -> Floats:
    """Divide to the nearest float64: NaN where missing and for 0/0, infinite for x/0."""
    ours, theirs, missing, _ = same_scale(left, right)
    zero = np.asarray(theirs == 0, dtype=bool)
    result = ratios(ours, np.where(zero, 1, theirs))
    with np.errstate(invalid="ignore"):
        result = np.where(zero, result * np.inf, result)
    result[missing] = np.nan
    return result


def compared(left: Exact, right: Exact, operation: Callable[[Any, Any], Any]) -> tuple[Mask, Mask]:
    """Compare exactly; give the answers, and where they are missing."""
    ours, theirs, missing, _ = same_scale(left, right)
    return np.asarray(operation(ours, theirs), dtype=bool), missing


def rounded(amounts: Exact, decimals: int) -> Exact:
    """Round to a number of decimals, negative for tens and hundreds, half to even."""
    integers, missing, scale = amounts
    if decimals >= scale:
        return Exact(integers.copy(), missing.copy(), scale)
    step = 10 ** (scale - decimals)
    quotients, remainders = integers // step, integers % step * 2
    up = (remainders > step) | ((remainders == step) & (quotients % 2 == 1))
    kept = max(decimals, 0)
    return Exact((quotients + up) * 10 ** (kept - decimals), missing.copy(), kept)
