"""The largest amounts, each wallet's share of a token, and how concentrated a token is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from walletframe.amounts import AmountArray, AmountDtype
from walletframe.amounts.integers import Exact, ratios
from walletframe.amounts.segments import Segments, sums
from walletframe.analysis.sums import completeness_alike, completeness_among, totals_of
from walletframe.errors import SettingsError
from walletframe.frames import (
    amounts_of,
    count_array,
    group,
    read_groups,
    require_columns,
    token_place,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.amounts.integers import Floats, Integers
    from walletframe.frames import By, FetchLike, Groups, Positions, PositionsLike, TokenLike


def top(amounts: pd.Series, n: int = 10) -> pd.Series:
    """Return the largest amounts, exactly, where pandas's ``nlargest`` can't."""
    array = amounts_of(amounts)
    present = len(array) - int(array.isna().sum())
    return amounts.iloc[array.argsort(ascending=False)[: min(max(n, 0), present)]]


def top_rows(frame: pd.DataFrame, n: int = 10, *, by: str = "amount") -> pd.DataFrame:
    """Return the rows with the largest amounts, or with the largest numbers of another column."""
    require_columns(frame, [by])
    column = frame[by].reset_index(drop=True)
    if by == "amount" or isinstance(column.dtype, AmountDtype) or not is_numeric_dtype(column):
        return frame.iloc[top(column, n).index]
    ranked = column.dropna().sort_values(ascending=False, kind="stable")
    return frame.iloc[ranked.index[: max(n, 0)]]


def share(
    holdings: PositionsLike,
    token: TokenLike,
    *,
    by: By | Sequence[By] = "wallet",
    wallets: FetchLike | None = None,
) -> pd.DataFrame:
    """Return each group's amount of one token and its share of the total."""
    positions, groups = read_groups(
        holdings, by, wallets, apart="the shares are those of one token"
    )
    place = token_place(positions.holdings, positions.tokens, token)
    rows = positions.tokens.codes == place
    exact, count = positions.amounts.exact(), len(groups)
    added = Segments(exact, np.where(rows, groups.codes, -1), count)
    balances = np.bincount(groups.codes[rows], minlength=count)
    tokens, chains = positions.could_hold()
    possible = np.isin(positions.chain_codes, chains[tokens == place]) & positions.asked
    known = completeness_among(positions, groups, possible)
    nobody = np.asarray(known["wallets_ok"] == 0, bool) if known else np.zeros(count, bool)
    units = sums(added)
    missing = np.where(balances > 0, added.sizes == 0, nobody)
    shares = ratios(units, units.sum() or 1)
    shares[missing | (units.sum() == 0)] = np.nan
    everyone = groups.labels.assign(
        amount=AmountArray(units, missing, exact.scale),
        amount_na=count_array(balances - added.sizes, (balances == 0) & missing),
        share=shares,
    )
    if groups.names == ["wallet"]:  # which alone says only its own status
        known = completeness_alike(positions, possible, count)
    able = np.bincount(groups.owner_codes[possible], minlength=groups.owned)[groups.owners] > 0
    found = everyone.assign(**known)[(balances > 0) | able]
    order = found["amount"].array.argsort(ascending=False)
    ranked: pd.DataFrame = found.iloc[order].reset_index(drop=True)
    return ranked


def concentration(
    holdings: PositionsLike,
    token: TokenLike | None = None,
    *,
    top: int = 10,
    by: By | Sequence[By] = "wallet",
    wallets: FetchLike | None = None,
) -> pd.DataFrame:
    """Measure how unequally tokens are distributed over their holders."""
    if top < 1:
        raise SettingsError(f"top: {top!r}", hint="1 or more of the largest holders")
    positions, holders = read_groups(holdings, by, wallets, apart="each token has a row already")
    found = totals_of(positions, group(positions, ["token"]))
    measured = found.assign(**_inequality(positions, holders, top))
    if token is None:
        return measured
    place = token_place(positions.holdings, positions.tokens, token)
    return measured.iloc[[place]].reset_index(drop=True)


def _inequality(positions: Positions, members: Groups, top: int) -> dict[str, Floats]:
    """Measure, for each token, what the groups that hold more than 0 of it hold."""
    wide, exact = max(len(members), 1), positions.amounts.exact()
    codes, pairs = pd.factorize(positions.tokens.codes * wide + members.codes)
    balances = sums(Segments(exact, codes, len(pairs)))
    held = np.flatnonzero(balances > 0)
    amounts = Exact(balances[held], np.zeros(len(held), dtype=bool), exact.scale)
    holders = Segments(amounts, pairs[held] // wide, len(positions.tokens.keys))
    ascending, sizes = holders.sorted_rows, holders.sizes
    units, ids = holders.integers[ascending], holders.row_ids[ascending]
    ranks = np.arange(1, len(ids) + 1) - holders.starts[ids]
    largest = np.where(ranks > sizes[ids] - top, units, 0)

    def added(terms: Integers) -> Integers:
        found = np.full(holders.count, 0, dtype=object)
        np.add.at(found, ids, terms)
        return found

    whole, weighted, counts = added(units), added(units * ranks), sizes.astype(object)
    return {
        "gini": _ratios(2 * weighted - (counts + 1) * whole, counts * whole),
        "herfindahl": _ratios(added(units**2), whole**2),
        "top_share": _ratios(added(largest), whole),
    }


def _ratios(numerators: Integers, denominators: Integers) -> Floats:
    nobody = np.asarray(denominators == 0, dtype=bool)
    found = ratios(numerators, np.where(nobody, 1, denominators))
    found[nobody] = np.nan
    return found
