"""Each wallet's share of a token, and how concentrated the token is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.amounts.integers import Exact, ratios
from walletframe.amounts.segments import Segments, sums
from walletframe.analysis.partition import completeness_alike
from walletframe.analysis.sums import totals_of
from walletframe.errors import SettingsError
from walletframe.frames import count_array, read_positions, token_place

if TYPE_CHECKING:
    from walletframe.amounts.integers import Floats, Integers
    from walletframe.frames import Codes, FetchLike, Mask, Positions, PositionsLike, TokenLike


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
    found = everyone[(balances > 0) | _possible(positions, place)]
    order = found["amount"].array.argsort(ascending=False)
    ranked: pd.DataFrame = found.iloc[order].reset_index(drop=True)
    return ranked.assign(**completeness_alike(positions, len(ranked), place))


def _possible(positions: Positions, place: int) -> Mask:
    """Tell which of the wallets asked could hold a token."""
    tokens, chains = positions.could_hold()
    on_chain = np.isin(positions.chain_codes, chains[tokens == place])
    return on_chain & positions.asked


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
    found = totals_of(positions, ["token"]).assign(**_measures(_holders(positions), top))
    if token is None:
        return found
    place = token_place(positions.holdings, positions.tokens, token)
    return found.iloc[[place]].reset_index(drop=True)


def _holders(positions: Positions) -> Segments:
    """Give what each wallet has of each token, above 0, in groups by token."""
    wide, exact = max(len(positions.wallets), 1), positions.amounts.exact()
    codes, pairs = pd.factorize(positions.tokens.codes * wide + positions.wallet_codes)
    units = sums(Segments(exact, codes, len(pairs)))
    held = np.flatnonzero(units > 0)
    amounts = Exact(units[held], np.zeros(len(held), dtype=bool), exact.scale)
    return Segments(amounts, pairs[held] // wide, len(positions.tokens.keys))


def _measures(holders: Segments, top: int) -> dict[str, Floats]:
    ascending, sizes = holders.sorted_rows, holders.sizes
    units, ids = holders.integers[ascending], holders.row_ids[ascending]
    ranks = np.arange(1, len(ids) + 1) - holders.starts[ids]
    largest = np.where(ranks > sizes[ids] - top, units, 0)
    whole, weighted, squares, most = (
        _added(terms, ids, holders.count) for terms in (units, units * ranks, units**2, largest)
    )
    counts = sizes.astype(object)
    return {
        "gini": _ratios(2 * weighted - (counts + 1) * whole, counts * whole),
        "herfindahl": _ratios(squares, whole**2),
        "top_share": _ratios(most, whole),
    }


def _added(terms: Integers, ids: Codes, count: int) -> Integers:
    totals = np.full(count, 0, dtype=object)
    np.add.at(totals, ids, terms)
    return totals


def _ratios(numerators: Integers, denominators: Integers) -> Floats:
    nobody = np.asarray(denominators == 0, dtype=bool)
    found = ratios(numerators, np.where(nobody, 1, denominators))
    found[nobody] = np.nan
    return found
