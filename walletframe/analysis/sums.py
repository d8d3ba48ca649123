"""Totals: what wallets hold together, exactly, and how complete that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.amounts.floats import float_sums
from walletframe.amounts.segments import Segments, sums
from walletframe.analysis.partition import completeness, cut, distinct, group_columns, read_kinds
from walletframe.errors import PricesError
from walletframe.frames import count_array, read_positions, text_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.analysis.partition import By, Partition
    from walletframe.frames import Codes, FetchLike, Mask, Positions, PositionsLike


def totals(
    holdings: PositionsLike, by: By | Sequence[By] = "token", *, wallets: FetchLike | None = None
) -> pd.DataFrame:
    """Add up holdings by token, wallet or blockchain, and say how complete that is."""
    positions = read_positions(holdings, wallets)
    return totals_of(positions, read_kinds(by, positions))


def totals_of(positions: Positions, kinds: list[str]) -> pd.DataFrame:
    """Add up as `totals` does; by token alone, in the order of ``positions.tokens``."""
    groups = cut(positions, kinds)
    known = completeness(positions, groups)
    balances = np.bincount(groups.codes, minlength=len(groups))
    unknown = (balances == 0) & (np.asarray(known["wallets_ok"] == 0) if known else False)
    return pd.DataFrame(
        {
            **group_columns(positions, groups),
            **_amounts(positions, groups, balances, unknown),
            **_values(positions, groups, balances, unknown),
            **known,
        }
    )


def _amounts(
    positions: Positions, groups: Partition, balances: Codes, unknown: Mask
) -> dict[str, Any]:
    """Add up the amounts of tokens, and count; NA where nothing is known of a group."""
    exact = positions.amounts.exact()
    added = Segments(exact, groups.codes, len(groups))
    none_known = unknown | ((balances > 0) & (added.sizes == 0))
    held = np.flatnonzero(exact.integers > 0)

    def counted(members: Codes) -> Any:
        wide = int(members.max(initial=0)) + 1
        pairs = distinct(groups.codes[held] * wide + members[held])
        return count_array(np.bincount(pairs // wide, minlength=len(groups)), none_known)

    columns: dict[str, Any] = {}
    if "token" in groups.kinds:
        columns["amount"] = AmountArray(sums(added), added.sizes == 0, exact.scale)
    else:
        columns["tokens"] = counted(positions.tokens.codes)
    if "wallet" not in groups.kinds:
        columns["holders"] = counted(positions.wallet_codes)
    columns["balances"] = count_array(balances, unknown)
    columns["amount_na"] = count_array(balances - added.sizes, unknown)
    return columns


def _values(
    positions: Positions, groups: Partition, balances: Codes, unknown: Mask
) -> dict[str, Any]:
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
