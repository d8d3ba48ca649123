"""Totals of holdings: cut into groups, added up exactly, and how complete each group is.

A group is as complete as the wallets are known that could have held something of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.amounts.floats import float_sums
from walletframe.amounts.segments import Segments, sums
from walletframe.errors import PricesError
from walletframe.frames import ADDED, completeness, count_array, read_groups, text_array

if TYPE_CHECKING:
    from walletframe.frames import (
        AssetsLike,
        By,
        Codes,
        FetchLike,
        Groups,
        Mask,
        Positions,
        PositionsLike,
    )


def totals(
    holdings: PositionsLike,
    by: By = "token",
    *,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Add up holdings by whatever they are grouped by, and say how complete that is."""
    return totals_of(*read_groups(holdings, by, wallets, assets=assets, bridged=bridged))


def totals_of(positions: Positions, groups: Groups) -> pd.DataFrame:
    """Add up as `totals` does; by token alone, in the order of ``positions.tokens``."""
    known = completeness(positions, groups)
    balances = np.bincount(groups.codes, minlength=len(groups))
    unknown = (balances == 0) & (np.asarray(known["wallets_ok"] == 0) if known else False)
    return pd.DataFrame(
        {
            **groups.columns,
            **_amounts(positions, groups, balances, unknown),
            **_values(positions, groups, balances, unknown),
            **known,
        }
    )


def _amounts(
    positions: Positions, groups: Groups, balances: Codes, unknown: Mask
) -> dict[str, Any]:
    """Add up the amounts of tokens, and count; NA where nothing is known of a group."""
    exact = positions.amounts.exact()
    added = Segments(exact, groups.codes, len(groups))
    none_known = unknown | ((balances > 0) & (added.sizes == 0))
    held = np.flatnonzero(exact.integers > 0)

    def counted(members: Codes) -> Any:
        found = distinct_counts(groups.codes[held], members[held], len(groups))
        return count_array(found, none_known)

    columns: dict[str, Any] = {}
    if not ADDED.isdisjoint(groups.names):
        columns["amount"] = AmountArray(sums(added), added.sizes == 0, exact.scale)
        if "asset" in groups.names:
            columns |= {name: counted(codes) for name, codes in spread(positions).items()}
    else:
        columns["tokens"] = counted(positions.tokens.codes)
    if "wallet" not in groups.names:
        columns["holders"] = counted(positions.wallet_codes)
    columns["balances"] = count_array(balances, unknown)
    columns["amount_na"] = count_array(balances - added.sizes, unknown)
    return columns


def _values(positions: Positions, groups: Groups, balances: Codes, unknown: Mask) -> dict[str, Any]:
    """Add up the values of holdings that have any, in their one currency."""
    holdings, count = positions.holdings, len(groups)
    if "value" not in holdings.columns:
        return {}
    currencies = holdings["currency"].unique().tolist() if "currency" in holdings.columns else []
    if len(currencies) > 1:
        raise PricesError(
            f"the values are in {len(currencies)} currencies: {currencies}",
            hint="value all holdings in one currency, or add up each currency's rows separately",
        )
    values = holdings["value"].to_numpy(dtype=np.float64, na_value=np.nan)
    summed, sizes = float_sums(values, groups.codes, count)
    summed[unknown | ((balances > 0) & (sizes == 0))] = np.nan
    unpriced = np.isnan(values) & ~positions.amounts.isna()
    return {
        "value": summed,
        "currency": text_array((currencies or [None]) * count),
        "unpriced": count_array(np.bincount(groups.codes[unpriced], minlength=count), unknown),
    }


def spread(positions: Positions) -> dict[str, Codes]:
    """Give what an asset is spread over, as numbers for each row: contracts, their blockchains."""
    contracts = positions.contracts
    chains = pd.factorize(np.array([key[0] for key in contracts.keys], dtype=object))[0]
    return {"contracts": contracts.codes, "blockchains": chains[contracts.codes]}


def distinct_counts(codes: Codes, members: Codes, count: int) -> Codes:
    """Count the distinct members that have each code."""
    wide = int(members.max(initial=0)) + 1
    pairs = distinct(codes * wide + members)
    return np.bincount(pairs // wide, minlength=count)


def distinct(codes: Codes) -> Codes:
    """Return each number once, ascending: sorting takes a fourth of what hashing does."""
    ordered = np.sort(codes)
    return ordered[np.diff(ordered, prepend=-1) > 0]
