"""Hashes of exact amounts: equal for equal amounts, whatever their scale.

An amount's hash is its remainder modulo the prime 2**61-1, where dividing by a power of ten is
multiplying by its inverse: Python's own rule ("Hashing of numeric types" in its reference), for all
amounts at once, which is many times faster than hashing each one's text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.amounts.integers import POWERS

if TYPE_CHECKING:
    import numpy.typing as npt

    from walletframe.amounts.integers import Exact

    Words = npt.NDArray[np.uint64]

_BITS = 61
_PRIME = 2**_BITS - 1
_HALF = 32
_ERROR = -2  # what Python gives for -1, which means an error in C


def hashes(amounts: Exact) -> Words:
    """Give one hash for each amount, the same for all missing ones; shape (n,)."""
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
