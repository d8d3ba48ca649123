"""Amounts as Arrow's decimals hold them, in words of 128 bits: a third of what integers take.

Groups add up their halves and quarters as floats that stay below 2**53, without a Python integer
for each row. What doesn't fit stands beside them as integers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from walletframe.amounts.integers import POWERS, Exact, integers_from, rescale
from walletframe.amounts.segments import Segments, sums

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from walletframe.amounts.integers import Integers, Mask, Places

_AT_ONCE = 2**20  # quarters of 32 bits that are added up as floats
_QUARTERS = (np.uint32, np.uint32, np.uint32, np.int32)


@dataclass(frozen=True, slots=True)
class Words:
    """n amounts ``integer / 10**scale``, but for the few in `others`."""

    words: npt.NDArray[np.int64]  # n times 2, the lower one first; 0 where missing, and of others
    missing: Mask
    scale: int
    places: Places  # of the others, ascending
    others: Exact

    def exact(self) -> Exact:
        """Make an integer of each."""
        integers, scale = integers_of(self.words), self.scale
        if len(self.places):
            scale = max(scale, self.others.scale)
            integers = rescale(integers, self.scale, scale)
            integers[self.places] = rescale(self.others.integers, self.others.scale, scale)
        return Exact(integers, self.missing, scale)

    def take(self, rows: Places) -> Words:
        """Return those of some rows."""
        marks = np.zeros(len(self.missing), dtype=bool)
        marks[self.places] = True
        places = np.flatnonzero(marks[rows])
        kept, (integers, missing, scale) = np.searchsorted(self.places, rows[places]), self.others
        return replace(
            self,
            words=np.take(self.words, rows, axis=0),
            missing=self.missing[rows],
            places=places,
            others=Exact(integers[kept], missing[kept], scale),
        )


class Added(NamedTuple):
    """The sums of groups, and of each how many of its amounts are known."""

    units: Integers
    scale: int
    sizes: Places


def added(amounts: Exact | Words, ids: Places, count: int) -> Added:
    """Add up groups; `ids` has the group of each row."""
    if isinstance(amounts, Exact):
        segments = Segments(amounts, ids, count)
        return Added(sums(segments), amounts.scale, segments.sizes)
    units, scale = _sums(amounts.words, ids, count), amounts.scale
    if len(amounts.places):
        some = added(amounts.others, ids[amounts.places], count)
        finest = max(scale, some.scale)
        units = rescale(units, scale, finest) + rescale(some.units, some.scale, finest)
        scale = finest
    known = ids[~amounts.missing] if amounts.missing.any() else ids
    return Added(units, scale, np.bincount(known, minlength=count))


def positive(amounts: Exact | Words) -> Mask:
    """Tell which are more than 0."""
    if isinstance(amounts, Exact):
        return np.asarray(amounts.integers > 0, dtype=bool)
    low, high = amounts.words[:, 0], amounts.words[:, 1]
    found: Mask = (high > 0) | ((high == 0) & (low != 0))
    found[amounts.places] = positive(amounts.others)
    return found


def reaching(amounts: Exact | Words, whole: int) -> Mask:
    """Tell which are at least a positive number of whole units."""
    least = whole * POWERS[amounts.scale]
    if isinstance(amounts, Exact):
        return np.asarray(amounts.integers >= least, dtype=bool)
    high, low = divmod(least, 2**64)
    words = amounts.words
    found: Mask = (words[:, 1] > high) | (
        (words[:, 1] == high) & (words.view(np.uint64)[:, 0] >= low)
    )
    found[amounts.places] = reaching(amounts.others, whole)
    return found


def words_from(decimals: pa.Array) -> npt.NDArray[np.int64]:
    """Give the words of Arrow's decimals, which are 128 or 256 bits wide; anything where null."""
    width = decimals.type.byte_width // 8
    words = np.frombuffer(decimals.buffers()[1], dtype=np.int64).reshape(-1, width)
    return words[decimals.offset : decimals.offset + len(decimals)]


def integers_of(words: npt.NDArray[np.int64]) -> Integers:
    """Make Python integers of n rows of words, the lowest first."""
    width = 8 * words.shape[1]
    chunks = np.ascontiguousarray(words[:, ::-1].byteswap()).view(f"V{width}").ravel().tolist()
    integers = integers_from(map(int.from_bytes, chunks), len(chunks))
    negative = words[:, -1] < 0
    if negative.any():
        integers[negative] -= 1 << 8 * width
    return integers


def _sums(words: npt.NDArray[np.int64], ids: Places, count: int) -> Integers:
    """Add up the quarters of words, and carry what is beyond 32 bits to the next one."""
    sums = np.zeros((len(_QUARTERS), count), dtype=np.int64)
    for start in range(0, len(words), _AT_ONCE):
        some = np.ascontiguousarray(words[start : start + _AT_ONCE])
        for place, kind in enumerate(_QUARTERS):
            weights = some.view(kind)[:, place]
            if weights.any():  # the higher ones are seldom needed
                found = np.bincount(ids[start : start + _AT_ONCE], weights, count)
                sums[place] += found.astype(np.int64)
    for place in range(1, len(_QUARTERS)):
        sums[place] += sums[place - 1] >> 32
    low = sums & 0xFFFFFFFF
    whole = low[0] | low[1] << 32, low[2] | low[3] << 32, sums[3] >> 32
    return integers_of(np.stack(whole, axis=1))
