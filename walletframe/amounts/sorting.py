"""The order of integers of any size, and hashes of amounts.

Sorting floats is many times faster than sorting Python integers. The nearest floats of two integers
are never in the wrong order; they can only tie, and ties are settled by the integers themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.amounts.integers import POWERS, Exact, Floats, Integers, Places

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Words = npt.NDArray[np.uint64]

_FLOAT_BITS = 1000
_BITS = 61
_PRIME = 2**_BITS - 1
_HALF = 32
_ERROR = -2  # what Python gives for -1, which means an error in C


def keys(integers: Integers) -> Floats:
    """Give floats in the order of the integers, equal for some that aren't."""
    try:
        return integers.astype(np.float64)
    except OverflowError:
        widest = max(int(integer).bit_length() for integer in integers)
        return np.right_shift(integers, widest - _FLOAT_BITS).astype(np.float64)


def ascending(integers: Integers) -> Places:
    """Give the positions of the integers in ascending order, equal ones as they stand."""
    floats = keys(integers)
    order = np.argsort(floats, kind="stable")
    ordered = floats[order]
    tied = np.flatnonzero(ordered[1:] == ordered[:-1])
    if len(tied):
        _settle(integers, order, tied)
    return order


def _settle(integers: Integers, order: Places, tied: Places) -> None:
    """Sort within runs of tied floats; most of them hold equal integers and stand already."""
    wrong = tied[np.asarray(integers[order[tied]] > integers[order[tied + 1]], dtype=bool)]
    breaks = np.flatnonzero(np.diff(tied) > 1)
    starts = tied[np.concatenate(([0], breaks + 1))]
    stops = tied[np.concatenate((breaks, [-1]))] + 2
    for run in np.unique(np.searchsorted(starts, wrong, side="right") - 1):
        places = order[starts[run] : stops[run]]
        order[starts[run] : stops[run]] = sorted(places, key=integers.__getitem__)


def dense_ranks(integers: Integers, order: Places) -> Places:
    """Give 0 for the smallest integer, 1 for the next larger one, and so on."""
    ordered = integers[order]
    steps = np.ones(len(order), dtype=np.intp)
    steps[:1] = 0
    steps[1:] = ordered[1:] != ordered[:-1]
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.cumsum(steps)
    return ranks


def codes(integers: Integers) -> Places:
    """Give equal numbers to equal integers, from 0 in the order of the first mention."""
    found, uniques = pd.factorize(keys(integers))
    some = np.full(len(uniques), 0, dtype=object)
    some[found] = integers
    if (some[found] == integers).all():  # no two that differ have one float
        return np.asarray(found)
    return np.asarray(pd.factorize(integers)[0])


def at_sorted_positions(integers: Integers, positions: Sequence[int]) -> list[int]:
    """Give the integers that sorting would put at some positions, without sorting them all."""
    floats = keys(integers)
    placed = np.partition(floats, sorted(set(positions)))
    found: list[Any] = []
    for position in positions:
        tied = sorted(integers[floats == placed[position]])
        found.append(tied[position - int((floats < placed[position]).sum())])
    return found


def hashes(amounts: Exact) -> Words:
    """Give one hash for each amount, equal for equal amounts whatever their scale.

    It is Python's own ("Hashing of numeric types"): the remainder modulo the prime 2**61-1, where
    dividing by a power of ten is multiplying by its inverse.
    """
    remainders = np.fromiter(
        map(hash, amounts.integers), dtype=np.int64, count=len(amounts.missing)
    )
    for place in np.flatnonzero(remainders == _ERROR):
        remainders[place] = amounts.integers[place] % _PRIME
    residues = np.where(remainders < 0, remainders + _PRIME, remainders).astype(np.uint64)
    values = _times(residues, pow(POWERS[amounts.scale], -1, _PRIME))
    values[amounts.missing] = _PRIME  # no remainder is as large as its divisor
    return pd.util.hash_array(values)


def _times(residues: Words, factor: int) -> Words:
    """Multiply remainders modulo 2**61-1, in halves of 32 bits so that no product overflows."""
    low_bits = np.uint64(2**_HALF - 1)
    high, low = residues >> np.uint64(_HALF), residues & low_bits
    factor_high, factor_low = np.uint64(factor >> _HALF), np.uint64(factor) & low_bits
    middle = high * factor_low + low * factor_high
    # 2**64 is 8 modulo the prime, and 2**61 is 1.
    top = high * factor_high * np.uint64(2 ** (2 * _HALF - _BITS))
    kept = np.uint64(_BITS - _HALF)
    middle = (middle >> kept) + ((middle & np.uint64(2 ** (_BITS - _HALF) - 1)) << np.uint64(_HALF))
    # One fold can leave a few more than the prime, two can't.
    folded = _fold(_fold(_fold(low * factor_low) + middle + top))
    return np.where(folded == _PRIME, np.uint64(0), folded)


def _fold(words: Words) -> Words:
    """Bring words below 2**61 or little above, the remainder unchanged."""
    return (words & np.uint64(_PRIME)) + (words >> np.uint64(_BITS))
