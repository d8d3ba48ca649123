"""Totals: what wallets hold together, exactly, and how complete that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.amounts.floats import float_sums
from walletframe.amounts.segments import Segments, sums
from walletframe.analysis.partition import completeness, cut, group_columns, read_kinds
from walletframe.errors import PricesError
from walletframe.frames import count_array, read_positions, text_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.analysis.partition import By, Partition
    from walletframe.frames import Codes, FetchLike, Mask, Positions, PositionsLike


def totals(
    holdings: PositionsLike,
    by: By | Sequence[By] = "token",
    *,
    wallets: FetchLike | None = None,
) -> pd.DataFrame:
    """Add up holdings by token, wallet or blockchain, and say how complete that is."""
    positions = read_positions(holdings, wallets)
    return totals_of(positions, read_kinds(by, positions))


def totals_of(positions: Positions, kinds: list[str]) -> pd.DataFrame:
    """Add up as `totals` does; by token alone, in the order of ``positions.tokens``."""
    groups = cut(positions, kinds)
    ok = completeness(positions, groups)
    idle = np.bincount(groups.codes, minlength=len(groups)) == 0
    unknown = idle & (np.asarray(ok["wallets_ok"] == 0) if ok else False)
    return pd.DataFrame(
        {
            **group_columns(positions, groups),
            **_amounts(positions, groups, unknown),
            **_values(positions, groups, unknown),
            **ok,
        }
    )


def _amounts(positions: Positions, groups: Partition, unknown: Mask) -> dict[str, Any]:
    exact, count = positions.amounts.exact(), len(groups)
    added = Segments(exact, groups.codes, count)
    balances = np.bincount(groups.codes, minlength=count)
    none_known = unknown | ((balances > 0) & (added.sizes == 0))
    held = np.flatnonzero(exact.integers > 0)
    columns: dict[str, Any] = {}
    if "token" in groups.kinds:
        columns["amount"] = AmountArray(sums(added), added.sizes == 0, exact.scale)
    else:
        tokens = _distinct(groups.codes[held], positions.tokens.codes[held], count)
        columns["tokens"] = count_array(tokens, none_known)
    if "wallet" not in groups.kinds:
        holders = _distinct(groups.codes[held], positions.wallet_codes[held], count)
        columns["holders"] = count_array(holders, none_known)
    columns["balances"] = count_array(balances, unknown)
    columns["amount_na"] = count_array(balances - added.sizes, unknown)
    return columns


def _values(positions: Positions, groups: Partition, unknown: Mask) -> dict[str, Any]:
    holdings, count = positions.holdings, len(groups)
    if "value" not in holdings.columns:
        return {}
    values = holdings["value"].to_numpy(dtype=np.float64, na_value=np.nan)
    summed, sizes = float_sums(values, groups.codes, count)
    balances = np.bincount(groups.codes, minlength=count)
    summed[unknown | ((balances > 0) & (sizes == 0))] = np.nan
    unpriced = np.isnan(values) & ~positions.amounts.isna()
    return {
        "value": summed,
        "currency": text_array([_currency(holdings)] * count),
        "unpriced": count_array(np.bincount(groups.codes[unpriced], minlength=count), unknown),
    }


def _currency(holdings: pd.DataFrame) -> str | None:
    if "currency" not in holdings.columns:
        return None
    currencies = holdings["currency"].unique().tolist()
    if len(currencies) > 1:
        raise PricesError(
            f"the values are in {len(currencies)} currencies: {currencies}",
            hint="value all holdings in one currency, or add up each currency's rows separately",
        )
    return next(iter(currencies), None)


def _distinct(groups: Codes, members: Codes, count: int) -> Codes:
    """Count the distinct members of each group."""
    wide = int(members.max(initial=0)) + 1
    return np.bincount(pd.unique(groups * wide + members) // wide, minlength=count)
