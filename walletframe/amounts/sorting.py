"""The order of integers of any size, found through floats and settled exactly.

Sorting floats is many times faster than sorting Python integers. The nearest floats of two integers
are never in the wrong order; they can only tie, and ties are settled by the integers themselves.
Missing amounts and pandas are not known here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from walletframe.amounts.integers import Floats, Integers

    Places = npt.NDArray[np.intp]

_FLOAT_BITS = 1000


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


def at_sorted_positions(integers: Integers, positions: Sequence[int]) -> list[int]:
    """Give the integers that sorting would put at some positions, without sorting them all."""
    floats = keys(integers)
    placed = np.partition(floats, sorted(set(positions)))
    found: list[Any] = []
    for position in positions:
        tied = sorted(integers[floats == placed[position]])
        found.append(tied[position - int((floats < placed[position]).sum())])
    return found
