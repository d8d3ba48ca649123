"""The array of exact amounts that pandas puts into a column: the rest of this package, joined.

pandas documents its own hooks; what is said of them here is what is special to amounts.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from pandas._libs.hashtable import ObjectFactorizer  # type: ignore[import-not-found]
from pandas.core.reshape import merge

from walletframe.amounts.array.conversions import AmountConversions
from walletframe.amounts.array.operators import AmountOperators
from walletframe.amounts.array.ordering import AmountOrder
from walletframe.amounts.array.reductions import AmountReductions
from walletframe.amounts.dtype import AmountDtype
from walletframe.amounts.values import from_base_units

if TYPE_CHECKING:
    from collections.abc import Sequence


class AmountArray(AmountOperators, AmountOrder, AmountReductions, AmountConversions):
    """Exact amounts: n integers of any size, a scale of up to 77 decimals, and a mask of NA.

    Make one with ``pd.array(values, dtype="amount")`` from text, Decimals and integers, or with
    `AmountArray.from_raw` from base units. Floats are refused: they have lost digits already.

    Notes
    -----
    Sums, differences, comparisons, order, groups, running values and extremes are exact, and so are
    products with integers and Decimals. Quotients, products with floats and statistics are the
    float64 nearest to the exact value. No decimal context is read or changed.

    Examples
    --------
    >>> import pandas as pd
    >>> amounts = pd.array(["0.1", "0.2", "1E-18", None], dtype="amount")
    >>> amounts.sum()
    Amount('0.300000000000000001')
    >>> amounts * 3
    <AmountArray>
    [0.3, 0.6, 0.000000000000000003, <NA>]
    Length: 4, dtype: amount
    """

    @classmethod
    def from_raw(cls, raw: Sequence[Any], decimals: Any) -> Self:
        """Make amounts of base units, as chains report them.

        Parameters
        ----------
        raw : sequence of int or str
            Integers, or strings of ASCII digits with an optional minus, n of them; None or NA is
            missing.
        decimals : int, None or sequence of n ints and None
            The decimals of all, or of each: 0 to 77. Where they are None or NA the amount is NA.

        Returns
        -------
        AmountArray, shape (n,)

        Raises
        ------
        AmountError
            If a value is no integer, or decimals are out of range, no integers, or not one or n;
            the message names the value and its position.

        Examples
        --------
        >>> AmountArray.from_raw(["1500000", "1", 7], [6, 18, None])
        <AmountArray>
        [1.5, 0.000000000000000001, <NA>]
        Length: 3, dtype: amount
        """
        return cls(*from_base_units(raw, decimals))


AmountDtype.array_type = AmountArray


class _Factorizer(ObjectFactorizer):  # type: ignore[misc]  # it has no types
    """What pandas's merge numbers keys with if amounts meet keys of another dtype."""

    def factorize(self, values: Any, mask: Any = None) -> Any:
        keys, _ = values._values_for_factorize()  # noqa: SLF001  as merge does for two of amounts
        labels = super().factorize(keys, mask=mask)
        if self.get_count() == len(labels):  # unique rows merge would look up in a NumPy array
            super().factorize(np.array([np.inf], dtype=object))
        return labels


# Merge looks it up by the dtype's scalar type, in a table that has only pandas's own: without an
# entry it raises KeyError, and there is no other hook.
getattr(merge, "_factorizers", {}).setdefault(Decimal, _Factorizer)
