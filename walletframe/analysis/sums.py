"""Totals of holdings: cut into groups, added up exactly, and how complete each group is.

A group is as complete as the wallets are known that could have held something of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.analysis.tallies import tally_of
from walletframe.frames import completeness, count_array, read_groups, text_array

if TYPE_CHECKING:
    from walletframe.analysis.tallies import Tally
    from walletframe.frames import (
        AssetsLike,
        By,
        FetchLike,
        Groups,
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
    return totals_table(groups, tally_of(positions, groups), completeness(positions, groups))


def totals_table(groups: Groups, tally: Tally, known: dict[str, Any]) -> pd.DataFrame:
    """Show what groups came to; NA where nothing is known of one."""
    balances, none = tally.balances, tally.balances == 0
    unknown = none & (np.asarray(known["wallets_ok"] == 0) if known else False)
    none_known = unknown | (~none & (tally.sizes == 0))
    counts = {name: count_array(found, none_known) for name, found in tally.distinct().items()}
    columns: dict[str, Any] = {**groups.columns}
    if tally.units is not None:
        columns["amount"] = AmountArray(tally.units, tally.sizes == 0, tally.scale)
    columns |= counts
    columns["balances"] = count_array(balances, unknown)
    columns["amount_na"] = count_array(balances - tally.sizes, unknown)
    if tally.worth is not None:
        summed = tally.worth.totals.sums()
        summed[unknown | (~none & (tally.worth.totals.sizes == 0))] = np.nan
        columns["value"] = summed
        columns["currency"] = text_array((tally.worth.currencies or [None]) * len(groups))
        columns["unpriced"] = count_array(tally.worth.unpriced, unknown)
    return pd.DataFrame({**columns, **known})
