"""Totals of holdings that are read block by block: block to part, parts to one, one to a table.

Of each block stay its tally and a few of its rows: the first of each group, and of each way in
which a token is written on a blockchain. Grouped anew, these rows tell which groups are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.amounts.floats import FloatTotals, float_totals, joined_totals
from walletframe.analysis.sums import totals_table
from walletframe.analysis.tallies import chains_of, merged, tally_of
from walletframe.frames import (
    TOKEN,
    Block,
    amounts_of,
    completeness,
    first_rows,
    joined_ways,
    names_of,
    read_groups,
    some_positions,
    text_array,
    token_identities,
    worth_of,
)
from walletframe.frames import assets as listed_assets

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from walletframe.analysis.tallies import Tally
    from walletframe.frames import AssetsLike, By, Codes, Groups, Positions, Ways, Worth

T = TypeVar("T")
_FOLDED = 400_000  # rows that are kept before parts are merged


class InBlocks(Protocol):
    """Holdings that are never in memory as a whole."""

    @property
    def whole(self) -> Positions:
        """All wallets, without any rows, which have all columns."""

    def tokens(self) -> pd.DataFrame:
        """Give each way in which a token is written a row, in the order of the first ones."""

    def over(self, work: Callable[[Block], T], names: Collection[str] = ()) -> Iterator[T]:
        """Do something with each block of rows, in any order; these have some more columns."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """By what rows are grouped."""

    by: By
    assets: AssetsLike | None = None
    bridged: bool = False

    def cut(self, positions: Positions) -> tuple[Positions, Groups]:
        """Cut rows into groups."""
        return read_groups(positions, self.by, assets=self.assets, bridged=self.bridged)


@dataclass(frozen=True, slots=True)
class Part:
    """What the rows of some wallets add up to, and those of them that tell its groups."""

    tally: Tally
    ways: Ways  # of these rows
    more: dict[str, Any]  # the other columns by which they were grouped
    rows: Codes  # of each of them, its place among all
    owners: Codes  # and the place of its wallet among all
    groups: Codes  # of each group of the tally, which of these rows is its first; 0 without any
    tokens: Codes  # of each token, or asset, the same
    contracts: Codes  # of each contract, the same
    chains: Codes | None  # of each contract of assets, its blockchain as the tally has it


def totals_of_blocks(
    held: InBlocks,
    by: By = "token",
    *,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Add up as `totals` does, given the wallets, in the memory of one block."""
    names = names_of(by)
    known = written_ways(held)[0] if "symbol" in names else held.whole
    Grouping(names, assets, bridged).cut(known)  # which refuses what can't be grouped by
    names = ["token" if name == "symbol" else name for name in names]
    assets = listed_assets(assets) if isinstance(assets, str | Path) else assets  # once
    grouping = Grouping(names, assets, bridged)
    [parts] = _parts_of(held, [grouping])
    return table(held.whole, parts, grouping)


def sums_of_blocks(
    held: InBlocks, cuts: Sequence[Sequence[str]]
) -> list[tuple[pd.DataFrame, Positions | None]]:
    """Give for each list of names, in one pass, the table that `totals` gives.

    Behind it, where tokens are among the names, a row for each group, which has its sums.
    """
    groupings = [Grouping([*names]) for names in cuts]
    pairs = zip(_parts_of(held, groupings), groupings, strict=True)
    return [
        (table(held.whole, *each), _summed(held.whole, *each) if "token" in each[1].by else None)
        for each in pairs
    ]


def _parts_of(held: InBlocks, groupings: Sequence[Grouping]) -> list[list[Part]]:
    """Add up all rows for each grouping, in one pass."""
    found: list[list[Part]] = [[] for _ in groupings]
    names = {name for grouping in groupings for name in names_of(grouping.by)}
    each = partial(_part_of_each, groupings=groupings)
    for row in held.over(each, names & {*held.whole.holdings}):
        for parts, part, grouping in zip(found, row, groupings, strict=True):
            book = (parts or [part])[0].ways.book  # one for all: that of a worker is large
            parts.append(replace(part, ways=part.ways.moved(book)))
            if sum(len(part.rows) for part in parts) > _FOLDED and len(parts) > 1:
                parts[:] = [merge(held.whole, parts, grouping)]
    return found


def _part_of_each(block: Block, groupings: Sequence[Grouping]) -> list[Part]:
    return [part_of(block, grouping) for grouping in groupings]


def worth_of_blocks(held: InBlocks) -> Worth | None:
    """Add up all values, as `worth` does those of a frame."""
    if "value" not in held.whole.holdings:
        return None
    parts = [*held.over(_worth_part)]
    totals, currencies, unpriced, unread = (list(column) for column in zip(*parts, strict=True))
    whole = joined_totals(totals).regrouped(np.zeros(len(parts), dtype=np.intp), 1)
    currency = next(chain(*currencies), None)
    return worth_of(whole.sums(), currency, int(whole.sizes[0]), sum(unpriced), sum(unread))


def _worth_part(block: Block) -> tuple[FloatTotals, list[Any], int, int]:
    """Add up values: their total, their currency, and how many have no price, or no amount."""
    holdings, missing = block.positions.holdings, block.positions.amounts.isna()
    values = holdings["value"].to_numpy()
    total = float_totals(values, np.zeros(len(values), dtype=np.intp), 1)
    unpriced = int((np.isnan(values) & ~missing).sum())
    return total, holdings["currency"].iloc[:1].tolist(), unpriced, int(missing.sum())


def written_ways(held: InBlocks) -> tuple[Positions, Codes]:
    """Give each way in which a token is written a row, of no wallet, and say how many have it."""
    written = held.tokens()
    rows = held.whole.holdings.reindex(range(len(written))).assign(**written.iloc[:, :3])
    nobody = np.zeros(len(rows), dtype=np.intp)
    everyone = np.arange(len(held.whole.wallets))
    ways = some_positions(held.whole, everyone, rows, token_identities(rows), nobody)
    return ways, written["balances"].to_numpy()


def part_of(block: Block, grouping: Grouping) -> Part:
    """Tally a block."""
    positions, groups = grouping.cut(block.positions)
    tally = tally_of(positions, groups)
    return _kept(positions, groups, tally, replace(block, positions=positions))


def merge(whole: Positions, parts: Sequence[Part], grouping: Grouping) -> Part:
    """Make one part of several; `whole` has all wallets."""
    block = _rows_of(whole, parts)
    positions, groups = grouping.cut(block.positions)
    tally = _added(positions, groups, parts, block.rows)
    return _kept(positions, groups, tally, replace(block, positions=positions))


def table(whole: Positions, parts: Sequence[Part], grouping: Grouping) -> pd.DataFrame:
    """Show what parts with all wallets came to."""
    block = _rows_of(whole, parts)
    positions, groups = grouping.cut(block.positions)
    tally = _added(positions, groups, parts, block.rows)
    return totals_table(groups, tally, completeness(positions, groups))


def _summed(whole: Positions, parts: Sequence[Part], grouping: Grouping) -> Positions:
    """Give each group with balances one row, which has their sum."""
    block = _rows_of(whole, parts)
    positions, groups = grouping.cut(block.positions)
    tally = _added(positions, groups, parts, block.rows)
    marks = np.zeros(len(block.rows), dtype=bool)
    marks[first_rows(groups.codes, len(groups))[tally.balances > 0]] = True
    kept, own = positions.where(marks), groups.codes[marks]
    sums = totals_table(groups, tally, {}).take(own).reset_index(drop=True)
    sums = sums[[name for name in ("amount", "value", "currency") if name in sums]]
    wallets = whole.wallets.iloc[kept.wallet_codes].reset_index(drop=True)
    rest = kept.holdings[[*TOKEN]].reset_index(drop=True)
    holdings = pd.concat([wallets, rest, sums], axis=1)
    return replace(kept, holdings=holdings, amounts=amounts_of(holdings["amount"]))


def _kept(positions: Positions, groups: Groups, tally: Tally, block: Block) -> Part:
    """Keep the rows that tell groups, tokens, and where these are held."""
    busy, held = tally.balances > 0, positions.holdings
    first = np.zeros(len(groups), dtype=np.intp)
    first[busy] = first_rows(groups.codes, len(groups))[busy]
    tokens, contracts = positions.tokens.first, positions.contracts.first
    marks = np.zeros(len(held), dtype=bool)
    for rows in (first[busy], tokens, contracts, block.ways.first):
        marks[rows] = True
    kept = np.flatnonzero(marks)
    more = {*held.columns}.difference(TOKEN)
    return Part(
        tally=tally,
        ways=block.ways.take(kept),
        more={name: held[name].array.take(kept) for name in groups.names if name in more},
        rows=block.rows[kept],
        owners=block.places[positions.wallet_codes[kept]],
        groups=np.searchsorted(kept, first),
        tokens=np.searchsorted(kept, tokens),
        contracts=np.searchsorted(kept, contracts),
        chains=chains_of(positions) if "blockchains" in tally.members else None,
    )


def _rows_of(whole: Positions, parts: Sequence[Part]) -> Block:
    """Put the rows of parts in their order, as holdings of all wallets."""
    rows = np.concatenate([part.rows for part in parts])
    order = np.argsort(rows)
    owners = np.concatenate([part.owners for part in parts])[order]
    on = whole.chain_codes[owners], len(whole.chains)
    ways = joined_ways([part.ways for part in parts], order, on)
    columns = {
        name: pd.concat([pd.Series(part.more[name]) for part in parts]).array.take(order)
        for name in parts[0].more
    }
    nothing = np.full(len(rows), 0, dtype=object), np.ones(len(rows), dtype=bool)
    amounts = AmountArray(*nothing, 0)  # they were added up already
    texts = {name: text_array(column) for name, column in ways.columns(whole.given).items()}
    holdings = pd.DataFrame({**texts, "amount": amounts, **columns}, index=range(len(rows)))
    everyone = np.arange(len(whole.wallets))
    positions = some_positions(whole, everyone, holdings, ways.identities(), owners)
    return Block(positions, everyone, rows[order], ways)


def _added(positions: Positions, groups: Groups, parts: Sequence[Part], rows: Codes) -> Tally:
    """Add up the tallies of parts, whose rows are now grouped together."""
    ids: list[Codes] = []
    of_rows, last = np.append(groups.codes, 0), [len(rows)]
    members: dict[str, list[Codes]] = {name: [] for name in parts[0].tally.members}
    for part in parts:
        own = np.searchsorted(rows, part.rows)  # of each of its rows, the place among all
        ids.append(of_rows[np.append(own, last)[part.groups]])
        contracts = positions.contracts.codes[own[part.contracts]]
        numbers = {"tokens": positions.tokens.codes[own[part.tokens]], "contracts": contracts}
        if part.chains is not None:
            of_chains = numbers["blockchains"] = np.zeros(len(part.contracts), dtype=np.intp)
            of_chains[part.chains] = chains_of(positions)[contracts]
        for name, found in members.items():
            found.append(numbers[name])
    return merged([part.tally for part in parts], np.concatenate(ids), len(groups), members)
