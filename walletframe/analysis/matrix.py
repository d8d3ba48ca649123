"""Wallets by tokens: a pivot table of exact amounts, and which wallets hold the same tokens."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.analysis.sums import totals_of
from walletframe.analysis.tallies import distinct
from walletframe.errors import Argument, SettingsError, Spelled
from walletframe.frames import (
    cell_sums,
    completeness_alike,
    count_array,
    group,
    held_names,
    read_names,
    require_columns,
    text_array,
    token_identities,
    token_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from walletframe.amounts import AmountArray
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

IN_COLUMNS = "each token is a column"  # why tokens make no rows
_BLOCK = 4_000_000  # pairs of wallets counted at once: some 100 MB
_STEPS, _STEPS_OF_ALL = 10**10, 5 * 10**7  # a minute; where all pairs are listed, some 5 GB


def token_labels(holdings: pd.DataFrame) -> pd.Series:
    """Name each row's token, as `walletframe.frames.token_names` does."""
    require_columns(holdings, ["symbol"])
    tokens = token_identities(holdings)
    names = token_names(holdings, tokens, np.arange(len(tokens.keys)))
    labels = np.array(names, dtype=object)[tokens.codes]
    return pd.Series(text_array(labels), index=holdings.index, name="token")


def pivot(
    holdings: PositionsLike,
    n: int | None = 50,
    *,
    by: By = "wallet",
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Return a table of groups by tokens or assets: by value, by holders, by first row."""
    if n is not None and n < 1:
        raise SettingsError(f"n: {n!r}", hint="a number of tokens, or None for all")
    positions, asked = read_names(
        holdings, by, wallets, apart=IN_COLUMNS, assets=assets, bridged=bridged
    )
    groups = group(positions, asked)
    found = totals_of(positions, group(positions, [positions.kind]))
    chosen = ranked_tokens(found)[:n]
    names = pd.Index(held_names(positions, chosen), dtype="str", name=positions.kind)
    cells = dict(zip(names, _cells(positions, groups, chosen), strict=True))
    table = pd.DataFrame(cells, columns=names)
    rows = groups.labels
    if len(rows.columns) > 1:
        return table.set_axis(pd.MultiIndex.from_frame(rows))
    return table.set_axis(pd.Index(rows.iloc[:, 0]))


def ranked_tokens(found: pd.DataFrame) -> Codes:
    """Rank tokens by their totals, the foremost first: by value, by holders, by first row."""
    ranks = [name for name in ("value", "holders") if name in found.columns]
    ranked = found.sort_values(ranks, ascending=False, kind="stable", na_position="last")
    places: Codes = ranked.index.to_numpy()
    return places


def _cells(positions: Positions, groups: Groups, chosen: Codes) -> list[AmountArray]:
    """Add up each group's balances of each chosen token."""
    count = len(groups)
    columns = np.full(len(positions.tokens.keys), -1)
    columns[chosen] = np.arange(len(chosen))
    column = columns[positions.tokens.codes]
    cell = np.where(column < 0, -1, column * count + groups.codes)
    added = cell_sums(positions.amounts, cell, len(chosen) * count)
    added[_unknown(positions, groups, chosen).ravel()] = pd.NA
    return [added[start : start + count] for start in range(0, len(added), count or 1)]


def _unknown(positions: Positions, groups: Groups, chosen: Codes) -> Mask:
    """Tell, token by token, of which groups a wallet that could hold some is not known, or all."""
    lost = ~positions.known
    whole = np.bincount(groups.owner_codes, minlength=groups.owned)
    left = np.bincount(groups.owner_codes[lost], minlength=groups.owned)
    found = np.tile(left == whole, (len(chosen), 1))
    if ((left > 0) & (left < whole)).any():
        gaps = np.zeros((len(positions.chains), groups.owned), dtype=np.float32)
        gaps[positions.chain_codes[lost], groups.owner_codes[lost]] = 1
        able = np.zeros((len(positions.tokens.keys), len(positions.chains)), dtype=np.float32)
        able[positions.could_hold()] = 1
        found |= able[chosen] @ gaps > 0
    return found[:, groups.owners]


def overlap(
    holdings: PositionsLike,
    n: int | None = 100,
    *,
    by: By = "wallet",
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Find the pairs of groups that hold the most of the same tokens, or assets."""
    if n is not None and n < 1:
        raise SettingsError(f"n: {n!r}", hint="a number of pairs, or None for all")
    positions, names = read_names(
        holdings, by, wallets, apart="tokens are what is compared", assets=assets, bridged=bridged
    )
    groups = group(positions, names)
    rows = np.flatnonzero(positions.amounts.exact().integers > 0)
    wide = len(positions.tokens.keys) + 1
    held = distinct(groups.codes[rows] * wide + positions.tokens.codes[rows])
    members, tokens = np.divmod(held, wide)
    sizes = np.bincount(members, minlength=len(groups))
    _refuse_too_many(len(sizes), np.bincount(tokens), n)
    blocks = [_most_alike(block, sizes, n) for block in _common(members, tokens, len(sizes))]
    whole = np.concatenate([np.empty((3, 0), dtype=np.intp), *blocks], axis=1)
    left, right, both = _most_alike(whole, sizes, n)
    either = sizes[left] + sizes[right] - both
    one, other = (groups.labels.iloc[side].reset_index(drop=True) for side in (left, right))
    everyone = np.ones(len(positions.wallets), dtype=bool)
    pairs: pd.DataFrame = one.join(other.add_prefix("other_"))
    counts = {
        f"{positions.kind}s_both": count_array(both),
        f"{positions.kind}s_either": count_array(either),
    }
    alike = completeness_alike(positions, everyone, len(both))
    return pairs.assign(**counts, jaccard=both / either, **alike)


def _most_alike(pairs: Codes, sizes: Codes, n: int | None) -> Codes:
    """Give the n most alike pairs, then those with the most in common, equal ones as they stand."""
    left, right, both = pairs
    alike = both / (sizes[left] + sizes[right] - both)
    if n is not None and n < len(alike):
        foremost = np.flatnonzero(alike >= np.partition(alike, -n)[-n])
        pairs, alike = pairs[:, foremost], alike[foremost]
    return pairs[:, np.lexsort((-pairs[2], -alike))[:n]]


def _refuse_too_many(count: int, holders: Codes, n: int | None) -> None:
    """Refuse what would take far too long, or all of more pairs than there is room for."""
    most = _STEPS if n else _STEPS_OF_ALL
    steps = count**2 + int((holders * (holders - 1) // 2).sum())
    if steps > most:
        some = Spelled(Argument("n", "100"), " lists the foremost pairs alone; or ")
        raise SettingsError(
            f"{count:,} by {count:,} to compare: {steps:,} steps, and {most:,} are the most",
            hint=Spelled(
                *([] if n else [some]),
                "compare fewer: leave out the rows of other wallets, or of tokens that all have; "
                "or put wallets together by what you keep of them, as in ",
                Argument("by", '"owner"'),
            ),
        )


def _common(members: Codes, tokens: Codes, count: int) -> Iterator[Codes]:
    """Give blocks of pairs of wallets with a token in common: one, a later one, how many tokens."""
    by_token = np.argsort(tokens, kind="stable")
    holders = members[by_token]
    places = np.empty_like(by_token)
    places[by_token] = np.arange(len(by_token))
    later = np.cumsum(np.bincount(tokens))[tokens] - places - 1  # holders behind, of the same token
    work = np.cumsum(np.bincount(members, weights=later, minlength=count) + count)
    edges = np.flatnonzero(np.diff(work // _BLOCK, prepend=-1, append=-1))
    for start, stop in pairwise(edges):
        rows = slice(*np.searchsorted(members, [start, stop]))
        reach = later[rows]
        behind = np.repeat(places[rows] + 1 - np.cumsum(reach) + reach, reach)
        others = holders[behind + np.arange(len(behind))]
        mine = np.repeat(members[rows] - start, reach)
        both = np.bincount(mine * count + others, minlength=(stop - start) * count)
        found = np.flatnonzero(both)
        yield np.stack((found // count + start, found % count, both[found]))
