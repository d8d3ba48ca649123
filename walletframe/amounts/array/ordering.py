"""The order and the identity of amounts in a column: sorting, ranks, keys, membership, hashes.

Equal amounts are equal whatever the scale of their arrays: keys that pandas compares between two
arrays are made at 77 decimals, and hashes do not depend on the scale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from walletframe.amounts import sorting
from walletframe.amounts.array.operators import members
from walletframe.amounts.array.storage import AmountStorage
from walletframe.amounts.integers import MAX_DECIMALS, POWERS, or_none, rescale

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
        """Give keys that don't depend on the scale: merge compares those of two arrays."""
        integers, missing, scale = self.exact()
        return or_none(rescale(integers, scale, MAX_DECIMALS), missing), None

    @classmethod
    def _from_factorized(cls, values: Integers, original: Self) -> Self:
        """Make amounts of such keys, at the scale that they had (pandas's hook)."""
        missing = np.asarray(pd.isna(values), dtype=bool)
        scale = original.exact().scale
        return cls(np.where(missing, 0, values) // POWERS[MAX_DECIMALS - scale], missing, scale)

    def _codes(self) -> Places:
        """Give equal numbers to equal amounts, and -1 to missing ones."""
        integers, missing, _ = self.exact()
        return np.asarray(pd.factorize(or_none(integers, missing))[0])

    def unique(self) -> Self:
        """Give every amount once, NA too, in the order of the first mention."""
        return self.take(np.flatnonzero(~self.duplicated()))

    def duplicated(self, keep: Any = "first") -> Mask:
        """Mark amounts that are there more than once, all but the first, the last or none."""
        return np.asarray(pd.Series(self._codes()).duplicated(keep=keep))

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
        hash_key: str,  # noqa: ARG002
        categorize: bool,  # noqa: ARG002
    ) -> npt.NDArray[np.uint64]:
        """Hash amounts without regard to their scale (pandas's hook)."""
        return sorting.hashes(self.exact())
