"""The largest amounts, each wallet's share of a token, and how concentrated a token is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from walletframe.amounts import AmountArray, AmountDtype
from walletframe.amounts.integers import Exact, ratios
from walletframe.amounts.segments import Segments, sums
from walletframe.analysis.sums import completeness_alike, totals_of
from walletframe.errors import SettingsError
from walletframe.frames import amounts_of, count_array, read_positions, require_columns, token_place

if TYPE_CHECKING:
    from walletframe.amounts.integers import Floats, Integers
    from walletframe.frames import FetchLike, Positions, PositionsLike, TokenLike


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
    holdings: PositionsLike, token: TokenLike, *, wallets: FetchLike | None = None
) -> pd.DataFrame:
    """Return each wallet's amount of one token and its share of the total."""
    positions = read_positions(holdings, wallets)
    place = token_place(positions.holdings, positions.tokens, token)
    rows = positions.tokens.codes == place
    exact, count = positions.amounts.exact(), len(positions.wallets)
    added = Segments(exact, np.where(rows, positions.wallet_codes, -1), count)
    balances = np.bincount(positions.wallet_codes[rows], minlength=count)
    units = sums(added)
    missing = np.where(balances > 0, added.sizes == 0, ~positions.known)
    shares = ratios(units, units.sum() or 1)
    shares[missing | (units.sum() == 0)] = np.nan
    everyone = positions.wallets.assign(
        amount=AmountArray(units, missing, exact.scale),
        amount_na=count_array(balances - added.sizes, (balances == 0) & missing),
        share=shares,
    )
    tokens, chains = positions.could_hold()
    possible = np.isin(positions.chain_codes, chains[tokens == place]) & positions.asked
    found = everyone[(balances > 0) | possible]
    order = found["amount"].array.argsort(ascending=False)
    ranked: pd.DataFrame = found.iloc[order].reset_index(drop=True)
    return ranked.assign(**completeness_alike(positions, possible, len(ranked)))


def concentration(
    holdings: PositionsLike,
    token: TokenLike | None = None,
    *,
    top: int = 10,
    wallets: FetchLike | None = None,
) -> pd.DataFrame:
    """Measure how unequally tokens are distributed over their holders."""
    if top < 1:
        raise SettingsError(f"top: {top!r}", hint="1 or more of the largest holders")
    positions = read_positions(holdings, wallets)
    found = totals_of(positions, ["token"]).assign(**_inequality(positions, top))
    if token is None:
        return found
    place = token_place(positions.holdings, positions.tokens, token)
    return found.iloc[[place]].reset_index(drop=True)


def _inequality(positions: Positions, top: int) -> dict[str, Floats]:
    """Measure, for each token, the balances of the wallets that hold more than 0 of it."""
    wide, exact = max(len(positions.wallets), 1), positions.amounts.exact()
    codes, pairs = pd.factorize(positions.tokens.codes * wide + positions.wallet_codes)
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
