"""What stands behind a thing to choose: how many balances, and what they are worth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from walletframe.amounts import AmountDtype
from walletframe.analysis import value
from walletframe.numerals import compact
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt
    import pandas as pd

    from walletframe.frames import Codes

    Floats = npt.NDArray[np.float64]

_PRICED = ("symbol", "token_blockchain", "token_address", "amount", "price")
_LEAST, _MOST, _CURRENCY = 0.01, 1e300, 12


class Fact(NamedTuple):
    """What stands behind one thing."""

    balances: int
    worth: float  # NaN where no balance has a value

    def order(self) -> tuple[float, int]:
        """Return what sorts facts: the most value first, then the most balances."""
        return (math.inf if math.isnan(self.worth) else -self.worth, -self.balances)


def facts(keys: Sequence[Any], codes: Codes, worths: Floats | None) -> dict[Any, Fact]:
    """Count the balances, and add up their values, of each thing; `codes` has each row's place."""
    counts = np.bincount(codes, minlength=len(keys)).tolist()
    sums = np.full(len(keys), np.nan)
    if worths is not None:
        known = ~np.isnan(worths)
        of = codes[known]
        sums = np.bincount(of, weights=worths[known], minlength=len(keys))
        sums[np.bincount(of, minlength=len(keys)) == 0] = np.nan
    return dict(zip(keys, map(Fact, counts, sums.tolist()), strict=True))


def row_worths(holdings: pd.DataFrame) -> tuple[Floats | None, str]:
    """Return the value of each balance, and in a few words whose; None where that can't be told.

    Values that holdings have come first, then the service's prices, whose currency is not named.
    """
    if "value" in holdings:
        named = [*holdings["currency"].dropna().unique()] if "currency" in holdings else []
        if len(named) > 1:
            return None, ""
        unit = f"value in {shown(str(named[0]), _CURRENCY)}" if named else "value"
        return holdings["value"].to_numpy(np.float64, na_value=np.nan), unit
    if not {*_PRICED} <= {*holdings} or not isinstance(holdings["amount"].dtype, AmountDtype):
        return None, ""
    priced = holdings.assign(price=holdings["price"].where(holdings["price"].between(0, _MOST)))
    if priced["price"].isna().all():
        return None, ""
    return value(priced)["value"].to_numpy(
        np.float64, na_value=np.nan
    ), "value at the service's prices"


def worth_text(worth: float) -> str:
    """Write a value in a few characters; empty where it is unknown."""
    if math.isnan(worth):
        return ""
    return "<0.01" if 0 < worth < _LEAST else compact(worth)


def columns(facts: Mapping[Any, Fact], keys: Sequence[Any]) -> dict[str, list[Any]]:
    """Write the facts of some things for a page: None for a thing of which nothing is known."""
    found = [facts.get(key) for key in keys]
    return {
        "balances": [fact and fact.balances for fact in found],
        "worths": [worth_text(fact.worth) if fact else "" for fact in found],
    }
