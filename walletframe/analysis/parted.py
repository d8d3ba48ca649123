"""Tables of holdings that are never in memory as a whole: in a folder, or on a cluster.

Totals: block to part, parts to one, one to a table. Of a block stay its tally and a few of its
rows: the first of each group, and of each token on each blockchain of wallets. Grouped anew, these
tell which groups are the same. Shares and pivot tables read the rows of some tokens at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
import pandas as pd

from walletframe.amounts.sums import FloatTotals, float_totals, joined_totals
from walletframe.analysis.distribution import (
    IN_COLUMNS,
    IN_ROWS,
    MEASURES,
    OF_ONE,
    concentration,
    pivot,
    ranked_tokens,
    share,
)
from walletframe.analysis.sums import merged, tally_of, totals_table
from walletframe.analysis.valuation import refuse_prices, unusable, value
from walletframe.errors import SettingsError
from walletframe.frames.asset_list import assets as listed_assets
from walletframe.frames.asset_list import held_names, held_place, with_assets
from walletframe.frames.contract import amounts_unread, require_columns, respelled, text_array
from walletframe.frames.groups import cut, named_token, names_of, read_groups, read_names
from walletframe.frames.identity import TOKEN, UNKNOWN, first_rows, joined_identities
from walletframe.frames.known import worth_of
from walletframe.frames.positions import Block

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from walletframe.analysis.sums import Tally
    from walletframe.analysis.valuation import PricesLike
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.groups import By, Groups
    from walletframe.frames.identity import Codes, Identities, Mask, TokenKey
    from walletframe.frames.known import Worth
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import Positions

T = TypeVar("T")
_FOLDED = 400_000  # rows that are kept before parts are merged
_GROWN = 4  # times what was left then, before they are merged again
_ROWS = 500_000  # of some tokens, that are read at a time


class InBlocks(Protocol):
    """Holdings that are never in memory as a whole."""

    @property
    def whole(self) -> Positions:
        """All wallets, without any rows, which have all columns."""

    @property
    def respells(self) -> bool:
        """Whether blockchains are to be written as they are in `whole`, else as they were first."""

    def over(self, work: Callable[[Block], T], names: Collection[str] = ()) -> Iterator[T]:
        """Apply a function to each block of rows, in any order; these have some more columns.

        Amounts that are not among them may be NA, and are without values.
        """

    def read(self, tokens: Collection[TokenKey], names: Collection[str]) -> pd.DataFrame:
        """Read the rows of some tokens, in their order, with some more columns."""

    def each(
        self,
        work: Callable[[Positions], T],
        tokens: Sequence[Collection[TokenKey]],
        names: Collection[str],
    ) -> Iterator[T]:
        """Apply a function to the rows of some tokens at a time, and at least their wallets."""


class Part(NamedTuple):
    """What the rows of some wallets add up to, and those of them that tell its groups."""

    tally: Tally
    held: pd.DataFrame  # of these rows: how tokens are written, and by what else they were grouped
    contracts: Identities  # the tokens of these rows
    rows: Codes  # of each of them, its place among all
    owners: Codes  # and the place of its wallet among all
    hiding: Codes  # the places of all wallets with a balance of an unknown token
    groups: Codes  # of each group of the tally, its first row among these; behind them without any


class Sums(NamedTuple):
    """What rows add up to in groups."""

    block: Block
    groups: Groups
    tally: Tally


@dataclass(frozen=True, slots=True)
class Grouping:
    """By what rows are grouped: names that were checked."""

    names: list[str]
    assets: AssetsLike | None = None
    bridged: bool = False
    # Gives other columns to group by, where nobody asks whose the rows are.
    seen: Callable[[Positions], pd.DataFrame] | None = None

    def part(self, block: Block) -> Part:
        """Add up a block."""
        positions = block.positions
        if self.seen:
            positions = replace(positions, holdings=self.seen(positions))
        positions, groups = self._cut(positions)
        tally = tally_of(positions, groups, owned=self.seen is None)
        return self.shrunk(Sums(replace(block, positions=positions), groups, tally))

    def finish(self, held: InBlocks, parts: Sequence[Part]) -> Sums:
        """Group the rows of all parts together, and add up their tallies."""
        rows = np.concatenate([part.rows for part in parts])
        order = np.argsort(rows)
        places = np.empty_like(order)  # of each row, behind the other, where it comes to stand
        places[order] = np.arange(len(order))
        written = pd.concat([part.held for part in parts]).take(order).reset_index(drop=True)
        if held.respells:
            _, written = respelled(held.whole.given, written)
        whole = held.whole.with_rows(
            written.assign(amount=amounts_unread(len(rows))),  # they were added up already
            joined_identities([part.contracts for part in parts], order),
            np.concatenate([part.owners for part in parts])[order],
        )
        whole.hides[np.concatenate([part.hiding for part in parts])] = True
        positions, groups = self._cut(whole)
        own = np.split(places, np.cumsum([len(part.rows) for part in parts])[:-1])
        pairs = [*zip(parts, own, strict=True)]
        tally = merged(
            [part.tally for part in parts],
            [np.append(groups.codes[some], 0)[part.groups] for part, some in pairs],
            [positions.contracts.codes[some[part.contracts.first]] for part, some in pairs],
            len(groups),
        )
        return Sums(Block(positions, np.arange(len(whole.wallets)), rows[order]), groups, tally)

    def _cut(self, positions: Positions) -> tuple[Positions, Groups]:
        if "asset" in self.names:
            positions = with_assets(positions, self.assets, bridged=self.bridged)
        return cut(positions, self.names)

    def shrunk(self, sums: Sums) -> Part:
        """Keep the rows that tell groups, and where tokens are held."""
        block, groups, tally = sums
        positions, contracts = block.positions, block.positions.contracts
        first_held = contracts.first
        if self.seen is None:
            on = positions.chain_codes[positions.wallet_codes]
            codes, pairs = pd.factorize(contracts.codes * max(len(positions.chains), 1) + on)
            first_held = first_rows(codes, len(pairs))
        busy = np.flatnonzero(tally.balances)
        first = first_rows(groups.codes, len(groups))[busy]
        marks = np.zeros(len(block.rows), dtype=bool)
        marks[first_held] = True
        marks[first] = True
        kept = np.flatnonzero(marks)
        firsts, held = np.searchsorted(kept, contracts.first), positions.holdings
        of_groups = np.full(len(groups), len(kept))
        of_groups[busy] = np.searchsorted(kept, first)
        more = [name for name in self.names if name in held and name not in TOKEN]
        columns = {name: text_array(held[name].array.take(kept)) for name in TOKEN}
        return Part(
            tally=tally,
            held=pd.DataFrame(columns | {name: held[name].array.take(kept) for name in more}),
            contracts=replace(contracts, codes=contracts.codes[kept], first=firsts),
            rows=block.rows[kept],
            owners=block.places[positions.wallet_codes[kept]],
            hiding=block.places[positions.hides],
            groups=of_groups,
        )


def fold(
    held: InBlocks, groupings: Sequence[Grouping], columns: Collection[str] = ()
) -> list[Sums]:
    """Add up all rows for each grouping, in one pass that reads some more columns."""
    if any(grouping is not _TOKENS for grouping in groupings):
        columns = {*columns, "amount"}
    found: list[list[Part]] = [[] for _ in groupings]
    most = [_FOLDED] * len(groupings)
    for row in held.over(partial(_parts_of, groupings=groupings), columns):
        for number, (parts, part, grouping) in enumerate(zip(found, row, groupings, strict=True)):
            if sum(len(each.rows) for each in parts) > most[number] and len(parts) > 1:
                parts[:] = [grouping.shrunk(grouping.finish(held, parts))]
                most[number] = max(_FOLDED, _GROWN * len(parts[0].rows))
            parts.append(part)
    pairs = zip(groupings, found, strict=True)
    return [grouping.finish(held, parts) for grouping, parts in pairs]


def _parts_of(block: Block, groupings: Sequence[Grouping]) -> list[Part]:
    return [grouping.part(block) for grouping in groupings]


def totals_of_blocks(
    held: InBlocks,
    by: By = "token",
    *,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Add up as `totals` does, given the wallets, in the memory of one block."""
    known = tokens_of_blocks(held) if "symbol" in names_of(by) else held.whole
    names = read_groups(known, by, assets=assets, bridged=bridged)[1].names
    listed = listed_assets(assets) if isinstance(assets, str | Path) else assets  # read once
    columns = {*names} & {*held.whole.holdings}
    [sums] = fold(held, [Grouping(names, listed, bridged)], columns)
    return totals_table(sums.block.positions, sums.groups, sums.tally)


def worth_of_blocks(held: InBlocks) -> Worth | None:
    """Add up all values, as `worth` does those of a frame."""
    if "value" not in held.whole.holdings:
        return None
    parts = [*held.over(_worth_part, ["amount"])]
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


_TOKENS = Grouping(["token", "symbol"], seen=attrgetter("holdings"))


def tokens_of_blocks(held: InBlocks) -> Positions:
    """Return each token under each of its symbols, as a row of no wallet."""
    return _tokens_of(held, fold(held, [_TOKENS])[0])


def _tokens_of(held: InBlocks, sums: Sums) -> Positions:
    positions = sums.block.positions
    first = first_rows(sums.groups.codes, len(sums.groups))
    written = positions.holdings.iloc[first].reset_index(drop=True)
    rows = held.whole.holdings.reindex(range(len(first))).assign(**written)
    owners = np.zeros(len(first), dtype=np.intp)
    return held.whole.with_rows(rows, positions.tokens.take(first), owners)


def _contracts(tokens: Positions, places: Codes) -> set[TokenKey]:
    """Return the contracts of some tokens, or of the assets in their place."""
    keys, rows = tokens.contracts.plain_keys, np.isin(tokens.tokens.codes, places)
    return {keys[code] for code in np.unique(tokens.contracts.codes[rows]).tolist()}


def _with_totals(
    held: InBlocks, by: By, apart: str, **given: Any
) -> tuple[Positions, list[str], pd.DataFrame]:
    """Return all tokens or assets, the names to cut by, and totals of each, in one pass."""
    positions, _ = read_names(held.whole, by, apart=apart, **given)
    written, sums = fold(held, [_TOKENS, Grouping([positions.kind], **given)])
    tokens, names = read_names(_tokens_of(held, written), by, apart=apart, **given)
    return tokens, names, totals_table(sums.block.positions, sums.groups, sums.tally)


def units_on_disk(
    held: InBlocks,
    prices: PricesLike | None = None,
    *,
    currency: str | None = None,
    by_symbol: bool = False,
    **given: Any,
) -> tuple[dict[Any, float] | None, str | None]:
    """Check prices as `value` does: those of tokens or symbols, None for those sent."""
    if prices is None:
        require_columns(held.whole.holdings, ["price"])
        problems = [problem for found in held.over(_unusable, ["price"]) for problem in found]
        if problems:
            places = np.sort(np.concatenate([*held.over(attrgetter("rows"))]))
            rows = np.searchsorted(places, [row for row, *_ in problems]).tolist()
            told = [(row, *rest) for row, (_, *rest) in zip(rows, problems, strict=True)]
            refuse_prices(sorted(told))
        return None, currency
    written = tokens_of_blocks(held)
    rows, tokens = written.holdings, written.tokens
    valued = value(rows, prices, currency=currency, by_symbol=by_symbol, **given)
    names = rows["symbol"] if by_symbol else [tokens.keys[code] for code in tokens.codes]
    units = zip(names, valued["unit_price"], strict=True)
    said = valued["currency"].dropna().tolist()
    return {name: unit for name, unit in units if not np.isnan(unit)}, (said or [currency])[0]


def _unusable(block: Block) -> list[tuple[int, str, str]]:
    """Return the prices sent that can't be used, as `unusable` does."""
    sent = block.positions.holdings
    known = sent["price"].where(sent["token_blockchain"].notna())
    return unusable(known.to_numpy(dtype=np.float64, na_value=np.nan), block.rows)


def share_on_disk(
    held: InBlocks,
    token: TokenLike | None = None,
    *,
    asset: TokenLike | None = None,
    by: By = "wallet",
    **given: Any,
) -> pd.DataFrame:
    """Return what `share` does, given the wallets."""
    named, names = named_token(token, asset, by)
    rows = held.whole
    if named is not None:
        tokens, names = read_names(tokens_of_blocks(held), names, apart=OF_ONE, **given)
        place = np.array([held_place(tokens, named)])
        keys = _contracts(tokens, place) | {UNKNOWN}  # which may be the same
        rows = held.whole.with_holdings(held.read(keys, names))
    return share(rows, token, asset=asset, by=by, **given)


def concentration_on_disk(
    held: InBlocks,
    token: TokenLike | None = None,
    *,
    asset: TokenLike | None = None,
    top: int = 10,
    by: By = "wallet",
    **given: Any,
) -> pd.DataFrame:
    """Return what `concentration` does, given the wallets."""
    named, by = named_token(token, asset, by)
    tokens, names, found = _with_totals(held, by, IN_ROWS, **given)
    places = np.arange(len(found)) if named is None else np.array([held_place(tokens, named)])
    measured = found.assign(**dict.fromkeys(MEASURES, np.nan))
    slices = [*_slices(found["balances"].to_numpy(np.intp), tokens.tokens.unknown, places)]
    work = partial(concentration, top=top, by=by, **given)
    parts = held.each(work, [_contracts(tokens, some) for some in slices], names)
    for some, part in zip(slices, parts, strict=True):
        for name in MEASURES:
            measured.loc[some, name] = part[name].to_numpy()
    return measured if named is None else measured.iloc[places].reset_index(drop=True)


def _slices(balances: Codes, unknown: Mask, places: Codes) -> Iterator[Codes]:
    """Cut tokens so that the rows of some fit into memory; unknown ones stay together."""
    for some in (places[~unknown[places]], places[unknown[places]]):
        before = np.cumsum(balances[some]) - balances[some]
        edges = np.flatnonzero(np.diff(before // _ROWS))
        if unknown[some].any():
            edges = edges[:0]
        yield from (each for each in np.split(some, edges + 1) if len(each))


def pivot_on_disk(
    held: InBlocks, n: int | None = 50, *, by: By = "wallet", **given: Any
) -> pd.DataFrame:
    """Return what `pivot` does, given the wallets; by what is known of these."""
    if n is not None and n < 1:
        return pivot(held.whole, n)  # which refuses it
    tokens, names, totals = _with_totals(held, by, IN_COLUMNS, **given)
    told = held.whole.holdings.columns.drop("blockchain")
    if of_rows := [name for name in names if name in told]:
        raise SettingsError(
            f"by: {of_rows[0]!r} is a column of balances, which are not in memory",
            hint="read them for that: read_wallets(folder), or .compute()",
        )
    chosen = ranked_tokens(totals)[:n]
    keys = _contracts(tokens, chosen) | {UNKNOWN}  # which may be any of them
    read = np.isin(np.arange(len(totals)), chosen) | tokens.tokens.unknown
    rows = held.whole.with_holdings(held.read(keys, ()))
    found = pivot(rows, None, by=by, **given)
    ranked = ranked_tokens(totals.drop(columns="value", errors="ignore"))  # no values are read
    columns = pd.Index(ranked[read[ranked]]).get_indexer(pd.Index(chosen))
    named = pd.Index(held_names(tokens, chosen), dtype="str", name=tokens.kind)
    return found.iloc[:, columns].set_axis(named, axis=1)
