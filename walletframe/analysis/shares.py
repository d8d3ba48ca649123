"""The largest amounts, each wallet's share of a token, and how concentrated a token is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from walletframe.amounts import AmountArray, AmountDtype
from walletframe.amounts.integers import Exact, ratios
from walletframe.amounts.segments import Segments, sums
from walletframe.analysis.sums import totals_of
from walletframe.analysis.tallies import distinct_counts, spread
from walletframe.errors import Argument, SettingsError, Spelled
from walletframe.frames import (
    amounts_of,
    completeness_alike,
    completeness_among,
    count_array,
    group,
    held_place,
    named_token,
    read_names,
    require_columns,
)

if TYPE_CHECKING:
    from typing import Any

    from walletframe.amounts.integers import Floats, Integers
    from walletframe.frames import (
        AssetsLike,
        By,
        Codes,
        FetchLike,
        Groups,
        Mask,
        Positions,
        PositionsLike,
        TokenLike,
    )

OF_ONE: Final = "the shares are of one token or asset"  # why tokens make no groups
IN_ROWS: Final = "each has a row already"
MEASURES: Final = ("gini", "herfindahl", "top_share")
_AT_ONCE = 200_000  # rows


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


def share(  # noqa: PLR0913 - what a caller may wish
    holdings: PositionsLike,
    token: TokenLike | None = None,
    *,
    asset: TokenLike | None = None,
    by: By = "wallet",
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Return each group's amount of one token or asset, and its share of the total."""
    named, by = named_token(token, asset, by)
    if named is None:
        hint = Spelled("name one: ", Argument("token"), " or ", Argument("asset"))
        raise SettingsError("a share is of one token or of one asset", hint=hint)
    everything, names = read_names(
        holdings, by, wallets, apart=OF_ONE, assets=assets, bridged=bridged
    )
    positions = everything.where(everything.tokens.codes == held_place(everything, named))
    return _ranked(positions, group(positions, names))


def _ranked(positions: Positions, groups: Groups) -> pd.DataFrame:
    """Return the shares of groups in all that is held, the largest first."""
    possible = np.isin(positions.chain_codes, positions.could_hold()[1]) & positions.asked
    known = completeness_among(positions, groups, possible)
    exact, count = positions.amounts.exact(), len(groups)
    added = Segments(exact, groups.codes, count)
    balances = np.bincount(groups.codes, minlength=count)
    nobody = np.asarray(known["wallets_ok"] == 0, bool) if known else np.zeros(count, bool)
    units = sums(added)
    missing = np.where(balances > 0, added.sizes == 0, nobody)
    shares = ratios(units, units.sum() or 1)
    shares[missing | (units.sum() == 0)] = np.nan
    everyone = groups.labels.assign(
        amount=AmountArray(units, missing, exact.scale),
        amount_na=count_array(balances - added.sizes, (balances == 0) & missing),
        share=shares,
        **_spread(positions, groups, missing),
    )
    if groups.names == ["wallet"]:  # which alone says only its own status
        known = completeness_alike(positions, possible, count)
    able = np.bincount(groups.owner_codes[possible], minlength=groups.owned)[groups.owners] > 0
    found = everyone.assign(**known)[(balances > 0) | able]
    order = found["amount"].array.argsort(ascending=False)
    ranked: pd.DataFrame = found.iloc[order].reset_index(drop=True)
    return ranked


def _spread(positions: Positions, groups: Groups, missing: Mask) -> dict[str, Any]:
    """Count the contracts of an asset and their blockchains: of each group, of all by wallet."""
    if positions.assets is None:
        return {}
    held = positions.amounts.exact().integers > 0
    codes, count = groups.codes[held], len(groups)
    if groups.names == ["wallet"]:
        codes, missing = np.zeros_like(codes), np.zeros_like(missing)
    found = {
        name: distinct_counts(codes, members[held], count)
        for name, members in spread(positions).items()
    }
    if groups.names == ["wallet"]:
        found = {name: np.full(count, numbers[0]) for name, numbers in found.items()}
    return {name: count_array(numbers, missing) for name, numbers in found.items()}


def concentration(  # noqa: PLR0913 - what a caller may wish
    holdings: PositionsLike,
    token: TokenLike | None = None,
    *,
    asset: TokenLike | None = None,
    top: int = 10,
    by: By = "wallet",
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Measure how unequally tokens, or assets, are distributed over their holders."""
    if top < 1:
        raise SettingsError(f"top: {top!r}", hint="1 or more of the largest holders")
    named, by = named_token(token, asset, by)
    positions, names = read_names(
        holdings, by, wallets, apart=IN_ROWS, assets=assets, bridged=bridged
    )
    found = totals_of(positions, group(positions, [positions.kind]))
    measured = found.assign(**_inequality(positions, group(positions, names), top))
    if named is None:
        return measured
    return measured.iloc[[held_place(positions, named)]].reset_index(drop=True)


def _inequality(positions: Positions, members: Groups, top: int) -> dict[str, Floats]:
    """Measure, for each token, what the groups that hold more than 0 of it hold."""
    wide, exact, tokens = len(members), positions.amounts.exact(), positions.tokens
    by_token = np.argsort(tokens.codes, kind="stable")
    ends = np.cumsum(np.bincount(tokens.codes, minlength=len(tokens.keys)))
    edges = np.append(np.flatnonzero(np.diff(ends // _AT_ONCE)) + 1, len(ends))
    found, first, start = [], 0, 0
    for after in edges.tolist():  # some tokens at a time, whose amounts the processor can hold
        rows = by_token[start : ends[after - 1] if after else 0]
        some = Exact(exact.integers[rows], exact.missing[rows], exact.scale)
        pairs = (tokens.codes[rows] - first) * wide + members.codes[rows]
        found.append(_measured(some, pairs, after - first, wide, top))
        first, start = after, start + len(rows)
    return {name: np.concatenate([part[name] for part in found]) for name in MEASURES}


def _measured(amounts: Exact, pairs: Codes, count: int, wide: int, top: int) -> dict[str, Floats]:
    """Measure so many tokens; a pair is a token times `wide` and a group."""
    codes, pairs = pd.factorize(pairs)
    balances = sums(Segments(amounts, codes, len(pairs)))
    held = np.flatnonzero(balances > 0)
    positive = Exact(balances[held], np.zeros(len(held), dtype=bool), amounts.scale)
    holders = Segments(positive, pairs[held] // max(wide, 1), count)
    ascending, sizes = holders.sorted_rows, holders.sizes
    units, ids = holders.integers[ascending], holders.row_ids[ascending]
    ranks = np.arange(1, len(ids) + 1) - holders.starts[ids]
    filled = np.flatnonzero(sizes)

    def added(terms: Integers) -> Integers:
        found = np.full(count, 0, dtype=object)
        if len(filled):
            found[filled] = np.add.reduceat(terms, holders.starts[filled])
        return found

    largest, foremost = np.full(count, 0, dtype=object), ranks > sizes[ids] - top
    np.add.at(largest, ids[foremost], units[foremost])
    whole, weighted, counts = added(units), added(units * ranks), sizes.astype(object)
    gini = _ratios(2 * weighted - (counts + 1) * whole, counts * whole)
    squared = _ratios(added(units * units), whole**2)
    return dict(zip(MEASURES, (gini, squared, _ratios(largest, whole)), strict=True))


def _ratios(numerators: Integers, denominators: Integers) -> Floats:
    nobody = np.asarray(denominators == 0, dtype=bool)
    found = ratios(numerators, np.where(nobody, 1, denominators))
    found[nobody] = np.nan
    return found
