"""The order and the identity of amounts in a column: sorting, ranks, keys, membership, hashes.

Equal amounts are equal whatever the scale of their arrays: keys that pandas compares between two
arrays are made at 77 decimals, and hashes do not depend on the scale.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from walletframe.amounts import sorting
from walletframe.amounts.array.operators import members
from walletframe.amounts.array.storage import AmountStorage
from walletframe.amounts.integers import POWERS, or_none, rescale
from walletframe.amounts.text import COMMON_DECIMALS

if TYPE_CHECKING:
    import numpy.typing as npt

    from walletframe.amounts.integers import Floats, Integers, Mask, Places


class AmountOrder(AmountStorage):
    """Sorting, searching, ranking, and telling equal amounts from others."""

    def argsort(
        self,
        *,
        ascending: bool = True,
        kind: str = "stable",  # noqa: ARG002  every kind of sort gives the stable order
        na_position: str = "last",
        **_: Any,
    ) -> Places:
        """Give the positions in order, shape (n,); always stable, missing amounts last or first."""
        amounts = self.exact()
        present = np.flatnonzero(~amounts.missing)
        integers = amounts.integers[present]
        if ascending:
            found = present[sorting.ascending(integers)]
        else:
            found = present[::-1][sorting.ascending(integers[::-1])][::-1]
        gaps = np.flatnonzero(amounts.missing)
        return np.concatenate((found, gaps) if na_position == "last" else (gaps, found))

    def _values_for_argsort(self) -> Places:
        """Give numbers in the order of the amounts (pandas's hook for argmin and the like)."""
        integers = self.exact().integers
        return sorting.dense_ranks(integers, sorting.ascending(integers))

    def _rank(self, *, axis: int = 0, **options: Any) -> Floats:  # noqa: ARG002  it has one axis
        """Let pandas rank numbers that are in the order of the amounts."""
        integers, missing, _ = self.exact()
        places = sorting.dense_ranks(integers, sorting.ascending(integers))
        ranks = np.where(missing, np.nan, places)
        return np.asarray(pd.Series(ranks).rank(axis=0, **options), dtype=np.float64)

    def searchsorted(self, value: Any, side: Any = "left", sorter: Any = None) -> Any:
        """Find where values would have to be inserted in sorted amounts, exactly."""
        several = pd.api.types.is_list_like(value)
        sought = self._from_sequence(value if several else [value]).exact()
        integers, missing, scale = self.exact()
        if missing.any() or sought.missing.any():
            raise ValueError("searchsorted needs sorted amounts, and a missing one has no order")
        finest = max(scale, sought.scale)
        ours = rescale(integers, scale, finest)
        theirs = rescale(sought.integers, sought.scale, finest)
        places = ours.searchsorted(theirs, side=side, sorter=sorter)
        return places if several else places[0]

    def _values_for_factorize(self) -> tuple[Integers, Any]:
        """Give keys that don't depend on the scale: merge compares those of two arrays.

        They are 10**18 times the amounts: integers, or Fractions where there are more decimals.
        """
        integers, missing, scale = self.exact()
        unit = POWERS[max(scale - COMMON_DECIMALS, 0)]
        keys = rescale(integers, min(scale, COMMON_DECIMALS), COMMON_DECIMALS)
        if unit > 1:
            fine = np.flatnonzero(integers % unit)
            keys = integers // unit
            keys[fine] = [Fraction(integer, unit) for integer in integers[fine]]
        return or_none(keys, missing), None

    @classmethod
    def _from_factorized(cls, values: Integers, original: Self) -> Self:
        """Make amounts of such keys, at the scale that they had (pandas's hook)."""
        missing = np.asarray(pd.isna(values), dtype=bool)
        scale = original.exact().scale
        integers = np.where(missing, 0, values) * POWERS[scale] // POWERS[COMMON_DECIMALS]
        return cls(integers, missing, scale)

    def factorize(self, use_na_sentinel: bool = True) -> tuple[Places, Self]:  # noqa: FBT001, FBT002  pandas's own
        """Give each row the number of its amount, from 0, and the amounts, each once."""
        if not use_na_sentinel and self.exact().missing.any():
            return super().factorize(use_na_sentinel=False)
        codes = self._codes()
        return codes, self.take(_firsts(codes)[1 if codes.min(initial=0) < 0 else 0 :])

    def _codes(self) -> Places:
        """Give equal numbers to equal amounts, in their order, and -1 to missing ones."""
        integers, missing, _ = self.exact()
        codes = np.full(len(missing), -1, dtype=np.intp)
        codes[~missing] = sorting.codes(integers[~missing])
        return codes

    def unique(self) -> Self:
        """Give every amount once, NA too, in the order of the first mention."""
        return self.take(np.sort(_firsts(self._codes())))

    def duplicated(self, keep: Any = "first") -> Mask:
        """Mark amounts that are there more than once, all but the first, the last or none."""
        return np.asarray(pd.Series(self._codes()).duplicated(keep=keep))

    @property
    def _is_monotonic_increasing(self) -> bool:
        """Tell whether nothing is missing, and no amount smaller than the one before."""
        integers, missing, _ = self.exact()
        return not missing.any() and bool((integers[:-1] <= integers[1:]).all())

    @property
    def _is_monotonic_decreasing(self) -> bool:
        integers, missing, _ = self.exact()
        return not missing.any() and bool((integers[:-1] >= integers[1:]).all())

    def value_counts(
        self,
        dropna: bool = True,  # noqa: FBT001, FBT002  pandas's own
    ) -> pd.Series[int]:
        """Count equal amounts, the most frequent first; index of amounts, dtype Int64."""
        codes = self._codes()
        counts = pd.Series(codes[codes >= 0] if dropna else codes).value_counts()
        first = pd.Series(np.arange(len(codes))).groupby(codes).first()
        index = pd.Index(self[first[counts.index].to_numpy()])
        return pd.Series(counts.to_numpy(), index=index, name="count", dtype="Int64")

    def isin(self, values: Any) -> Mask:
        """Tell which amounts are among some values, exactly; NA is where they have NA."""
        sought = members(values)
        integers, missing, scale = self.exact()
        finest = max(scale, sought.scale)
        ours = rescale(integers, scale, finest)
        theirs = rescale(sought.integers, sought.scale, finest)[~sought.missing]
        found = np.asarray(pd.Index(ours, dtype=object).isin(theirs))
        return np.where(missing, bool(sought.missing.any()), found)

    def _hash_pandas_object(
        self,
        *,
        encoding: str,  # noqa: ARG002  this and the other options are about text
        hash_key: str,  # noqa: ARG002  the same
        categorize: bool,  # noqa: ARG002  the same
    ) -> npt.NDArray[np.uint64]:
        """Hash amounts without regard to their scale (pandas's hook)."""
        return sorting.hashes(self.exact())


def _firsts(codes: Places) -> Places:
    """Give the first row of each code, -1's before the others'."""
    lowest = int(codes.min(initial=0))
    firsts = np.empty(int(codes.max(initial=-1)) - lowest + 1, dtype=np.intp)
    firsts[codes[::-1] - lowest] = np.arange(len(codes))[::-1]
    return firsts
