"""Tables of holdings that are never fully in memory: in a folder or on a cluster.

For totals, each chunk is reduced to a `PartialAggregate`, and then these are merged. Each has
representative rows: the first row of each group, and the first row of each pair of a token and a
holder's blockchain. The representative rows of all chunks are grouped together to find equal
groups. For shares and pivot tables, the rows of some tokens are read at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
import pandas as pd

from walletframe.amounts.sums import FloatTotals, float_totals, joined_totals
from walletframe.analysis.distribution import (
    MEASURES,
    concentration,
    coverage_of_columns,
    pivot,
    ranked_tokens,
    share,
)
from walletframe.analysis.sums import aggregate_groups, merge_aggregates, totals_table
from walletframe.analysis.valuation import (
    choose_prices,
    is_service_prices,
    raise_for_unusable_prices,
    unusable_prices,
)
from walletframe.bulk import PriceLookup
from walletframe.errors import SettingsError
from walletframe.frames.asset_list import (
    read_user_assets,
    token_or_asset_index,
    token_or_asset_names,
    tokens_to_assets,
)
from walletframe.frames.groups import (
    by_as_list,
    group_positions,
    holder_grouping,
    read_groups,
    token_or_asset_and_by,
)
from walletframe.frames.identity import TOKEN, UNKNOWN, first_rows, merge_token_identities
from walletframe.frames.known import value_summary
from walletframe.frames.positions import Chunk
from walletframe.frames.results import coverage_from_attrs, with_coverage
from walletframe.frames.schema import na_amounts, normalize_blockchains, require_columns, text_array

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from walletframe.analysis.sums import GroupAggregates
    from walletframe.analysis.valuation import PricesLike
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.groups import By, Groups
    from walletframe.frames.identity import Codes, KeyCodes, Mask, TokenKey
    from walletframe.frames.known import ValueSummary
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import Positions
    from walletframe.frames.results import Coverage

T = TypeVar("T")
_MERGE_ROWS = 400_000  # representative rows that are collected before a merge
_MERGE_GROWTH = 4  # merge again when there are this many times the rows of the last merge
_BATCH_ROWS = 500_000  # rows of tokens that are read at a time


class ChunkedHoldings(Protocol):
    """Holdings that are never fully in memory."""

    @property
    def template(self) -> Positions:
        """All wallets, with an empty holdings frame that has all columns."""

    @property
    def normalizes_blockchains(self) -> bool:
        """Whether results spell blockchains as in `template`. If False, as in the first row."""

    def map_chunks(self, work: Callable[[Chunk], T], names: Collection[str] = ()) -> Iterator[T]:
        """Apply a function to each chunk, in any order. `extra_columns` are further columns.

        If `names` lacks ``"amount"``, amounts may be NA, and there is no column of values.
        """

    def read_rows(
        self, tokens: Collection[TokenKey], extra_columns: Collection[str]
    ) -> pd.DataFrame:
        """Read the rows of these tokens in row order. `extra_columns` are further columns."""

    def map_token_batches(
        self,
        work: Callable[[Positions], T],
        tokens: Sequence[Collection[TokenKey]],
        names: Collection[str],
    ) -> Iterator[T]:
        """Apply a function to the rows of each batch of tokens.

        The argument of the function has at least the wallets that hold these tokens.
        """


class PartialAggregate(NamedTuple):
    """Aggregates of the groups of some wallets, and representative rows to identify the groups."""

    aggregates: GroupAggregates
    representatives: pd.DataFrame  # rows with the token and the other columns to group by
    contracts: KeyCodes  # of the representative rows
    row_positions: Codes  # the position of each representative row among all rows
    wallet_indices: Codes  # the index of each representative row's wallet among all wallets
    unknown_holders: Codes  # the indices of all wallets with a balance of an unknown token
    # The first representative row of each group, or len(representatives) if the group has no rows.
    group_first: Codes


class Aggregation(NamedTuple):
    """The groups of a chunk, and the aggregates of the groups."""

    chunk: Chunk
    groups: Groups
    aggregates: GroupAggregates


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """The valid names to group by, and the options for assets."""

    names: list[str]
    assets: AssetsLike | None = None
    bridged: bool = False
    # A function that returns other columns to group by. If it is set, wallets are not counted.
    key_columns: Callable[[Positions], pd.DataFrame] | None = None

    def __post_init__(self) -> None:
        # A file is read only once, and here: the workers of a cluster may have other settings.
        if "asset" in self.names:
            object.__setattr__(self, "assets", read_user_assets(self.assets))

    def aggregate(self, chunk: Chunk) -> PartialAggregate:
        """Group the rows of one chunk, and aggregate the groups."""
        positions = chunk.positions
        if self.key_columns:
            positions = replace(positions, holdings=self.key_columns(positions))
        positions, groups = self._group(positions)
        aggregates = aggregate_groups(positions, groups, sums_only=self.key_columns is not None)
        return self.to_partial(Aggregation(replace(chunk, positions=positions), groups, aggregates))

    def merge(self, source: ChunkedHoldings, parts: Sequence[PartialAggregate]) -> Aggregation:
        """Group the representative rows of all parts, and merge the aggregates of the parts."""
        positions = np.concatenate([part.row_positions for part in parts])
        order = np.argsort(positions)
        ranks = np.empty_like(order)  # the sorted position of each row, in the order of parts
        ranks[order] = np.arange(len(order))
        rows = pd.concat([part.representatives for part in parts])
        rows = rows.take(order).reset_index(drop=True)
        if source.normalizes_blockchains:
            _, rows = normalize_blockchains(source.template.wallet_frame, rows)
        merged = source.template.replace_rows(
            rows.assign(amount=na_amounts(len(rows))),  # amounts are already in the aggregates
            merge_token_identities([part.contracts for part in parts], order),
            np.concatenate([part.wallet_indices for part in parts])[order],
        )
        merged.has_unknown_token[np.concatenate([part.unknown_holders for part in parts])] = True
        grouped, groups = self._group(merged)
        lengths = [len(part.row_positions) for part in parts]
        pairs = [*zip(parts, np.split(ranks, np.cumsum(lengths)[:-1]), strict=True)]
        aggregates = merge_aggregates(
            [part.aggregates for part in parts],
            [np.append(groups.codes[rank], 0)[part.group_first] for part, rank in pairs],
            [grouped.contracts.codes[rank[part.contracts.first]] for part, rank in pairs],
            len(groups),
        )
        chunk = Chunk(grouped, np.arange(len(merged.wallets)), positions[order])
        return Aggregation(chunk, groups, aggregates)

    def _group(self, positions: Positions) -> tuple[Positions, Groups]:
        if "asset" in self.names:
            positions = tokens_to_assets(positions, self.assets, bridged=self.bridged)
        return group_positions(positions, self.names)

    def to_partial(self, aggregation: Aggregation) -> PartialAggregate:
        """Convert to a partial aggregate, and choose the representative rows."""
        chunk, groups, aggregates = aggregation
        positions, contracts = chunk.positions, chunk.positions.contracts
        first_held = contracts.first
        if self.key_columns is None:
            chains = positions.chain_codes[positions.wallet_codes]
            codes, pairs = pd.factorize(contracts.codes * max(len(positions.chains), 1) + chains)
            first_held = first_rows(codes, len(pairs))
        replace_rows = np.flatnonzero(aggregates.balances)
        first = first_rows(groups.codes, len(groups))[replace_rows]
        marks = np.zeros(len(chunk.rows), dtype=bool)
        marks[first_held] = True
        marks[first] = True
        kept = np.flatnonzero(marks)
        firsts, rows = np.searchsorted(kept, contracts.first), positions.holdings
        of_groups = np.full(len(groups), len(kept))
        of_groups[replace_rows] = np.searchsorted(kept, first)
        more = [name for name in self.names if name in rows and name not in TOKEN]
        columns = {name: text_array(rows[name].array.take(kept)) for name in TOKEN}
        return PartialAggregate(
            aggregates=aggregates,
            representatives=pd.DataFrame(
                columns | {name: rows[name].array.take(kept) for name in more}
            ),
            contracts=replace(contracts, codes=contracts.codes[kept], first=firsts),
            row_positions=chunk.rows[kept],
            wallet_indices=chunk.wallet_indices[positions.wallet_codes[kept]],
            unknown_holders=chunk.wallet_indices[positions.has_unknown_token],
            group_first=of_groups,
        )


def aggregate_chunks(
    source: ChunkedHoldings, specs: Sequence[GroupSpec], columns: Collection[str] = ()
) -> list[Aggregation]:
    """Aggregate all rows for each spec in one pass. `columns` are further columns to read."""
    if any(spec is not _TOKENS for spec in specs):
        columns = {*columns, "amount"}
    collected: list[list[PartialAggregate]] = [[] for _ in specs]
    limits = [_MERGE_ROWS] * len(specs)
    for row in source.map_chunks(partial(_aggregate_chunk, specs=specs), columns):
        for number, (parts, part, spec) in enumerate(zip(collected, row, specs, strict=True)):
            if sum(len(each.row_positions) for each in parts) > limits[number] and len(parts) > 1:
                parts[:] = [spec.to_partial(spec.merge(source, parts))]
                limits[number] = max(_MERGE_ROWS, _MERGE_GROWTH * len(parts[0].row_positions))
            parts.append(part)
    return [spec.merge(source, parts) for spec, parts in zip(specs, collected, strict=True)]


def _aggregate_chunk(chunk: Chunk, specs: Sequence[GroupSpec]) -> list[PartialAggregate]:
    return [spec.aggregate(chunk) for spec in specs]


def chunked_totals(source: ChunkedHoldings, by: By = "asset", **options: Any) -> pd.DataFrame:
    """Return the same table as `totals` with the argument `wallets`, one chunk at a time."""
    tokens = chunked_tokens(source) if "symbol" in by_as_list(by) else source.template
    names = read_groups(tokens, by, **options)[1].names
    columns = {*names} & {*source.template.holdings}
    [(chunk, groups, sums)] = aggregate_chunks(source, [GroupSpec(names, **options)], columns)
    return totals_table(chunk.positions, groups, sums)


def chunked_coverage(source: ChunkedHoldings) -> Coverage:
    """Return the same result as `coverage` with the argument `wallets`, one chunk at a time."""
    return coverage_from_attrs(chunked_totals(source, "blockchain"))


def chunked_value_summary(source: ChunkedHoldings) -> ValueSummary | None:
    """Return the same result as `summarize_value`, one chunk at a time."""
    if "value" not in source.template.holdings:
        return None
    parts = [*source.map_chunks(_chunk_value, ["amount"])]
    totals, currencies, unpriced, unread = (list(column) for column in zip(*parts, strict=True))
    total = joined_totals(totals).regrouped(np.zeros(len(parts), dtype=np.intp), 1)
    currency = next(chain(*currencies), None)
    return value_summary(total.sums(), currency, int(total.sizes[0]), sum(unpriced), sum(unread))


def _chunk_value(chunk: Chunk) -> tuple[FloatTotals, list[Any], int, int]:
    """Return four results: sum, currencies, and counts of unpriced and of unreadable balances."""
    holdings, missing = chunk.positions.holdings, chunk.positions.amounts.isna()
    values = holdings["value"].to_numpy()
    total = float_totals(values, np.zeros(len(values), dtype=np.intp), 1)
    unpriced = int((np.isnan(values) & ~missing).sum())
    return total, holdings["currency"].iloc[:1].tolist(), unpriced, int(missing.sum())


_TOKENS = GroupSpec(["token", "symbol"], key_columns=attrgetter("holdings"))


def chunked_tokens(source: ChunkedHoldings) -> Positions:
    """Return the distinct pairs of a token and a symbol, as rows of holdings without amounts."""
    return _token_rows(source, aggregate_chunks(source, [_TOKENS])[0])


def _token_rows(source: ChunkedHoldings, aggregation: Aggregation) -> Positions:
    positions, groups = aggregation.chunk.positions, aggregation.groups
    first = first_rows(groups.codes, len(groups))
    tokens = positions.holdings.iloc[first].reset_index(drop=True)
    rows = source.template.holdings.reindex(range(len(first))).assign(**tokens)
    wallets = np.zeros(len(first), dtype=np.intp)  # the rows are of no wallet: any index will do
    return source.template.replace_rows(rows, positions.tokens.take(first), wallets)


def _contract_keys(tokens: Positions, places: Codes) -> set[TokenKey]:
    """Return the contract keys of the tokens or assets with these indices."""
    keys, rows = tokens.contracts.merged_keys, np.isin(tokens.tokens.codes, places)
    return {keys[code] for code in np.unique(tokens.contracts.codes[rows]).tolist()}


def _tokens_and_totals(
    source: ChunkedHoldings, by: By, **options: Any
) -> tuple[Positions, list[str], pd.DataFrame]:
    """Return three results of one pass: the tokens, the names to group by, and the totals."""
    positions, _ = holder_grouping(source.template, by, **options)
    specs = [_TOKENS, GroupSpec([positions.kind], **options)]
    by_token, (chunk, groups, sums) = aggregate_chunks(source, specs)
    rows = _token_rows(source, by_token)
    tokens, names = holder_grouping(rows, by, **options)
    return tokens, names, totals_table(chunk.positions, groups, sums)


def chunked_prices(
    source: ChunkedHoldings,
    prices: PricesLike | None,
    *,
    currency: str | None,
    by_symbol: bool,
    **options: Any,
) -> PriceLookup:
    """Return the prices that `value` uses, one chunk at a time."""
    chosen = choose_prices(prices, by_symbol=by_symbol, **options)
    only_service = all(map(is_service_prices, chosen.entries))
    positions = source.template if only_service else chunked_tokens(source)
    rows, tokens = positions.holdings, positions.tokens
    known, stated = chosen.read(rows, currency, partial(_require_usable_prices, source))
    keys = rows["symbol"] if by_symbol else [tokens.keys[code] for code in tokens.codes]
    units: list[dict[Any, float] | None] = [
        None
        if own is None
        else {key: unit for key, unit in zip(keys, own.tolist(), strict=True) if not np.isnan(unit)}
        for own in known
    ]
    return PriceLookup(units, by_symbol, stated, chosen.sources)


def _require_usable_prices(source: ChunkedHoldings) -> None:
    """Raise an error if prices of the service can't be used."""
    require_columns(source.template.holdings, ["price"])
    problems = [*chain.from_iterable(source.map_chunks(_unusable_in_chunk, ["price"]))]
    if problems:
        places = np.sort(np.concatenate([*source.map_chunks(attrgetter("rows"))]))
        rows = np.searchsorted(places, [row for row, *_ in problems]).tolist()
        numbered = [(row, *rest) for row, (_, *rest) in zip(rows, problems, strict=True)]
        raise_for_unusable_prices(sorted(numbered))


def _unusable_in_chunk(chunk: Chunk) -> list[tuple[int, str, str]]:
    """Return the row, the text and the reason for each unusable price of the service."""
    sent = chunk.positions.holdings
    known = sent["price"].where(sent["token_blockchain"].notna())
    return unusable_prices(known.to_numpy(dtype=np.float64, na_value=np.nan), chunk.rows)


def chunked_share(source: ChunkedHoldings, **options: Any) -> pd.DataFrame:
    """Return the same table as `share` with `wallets`; read only rows of the asset or token."""
    return _measure_one_token(source, share, **options)


def _measure_one_token(
    source: ChunkedHoldings,
    measure: Callable[..., pd.DataFrame],
    *,
    asset: TokenLike | None,
    token: TokenLike | None,
    by: By,
    **options: Any,
) -> pd.DataFrame:
    """Return the table of `share` or `concentration`; read only rows of the asset or token."""
    named, names = token_or_asset_and_by(token, asset, by)
    if named is None:
        return measure(source.template)  # raises the error
    [aggregation] = aggregate_chunks(source, [_TOKENS])
    tokens, names = holder_grouping(_token_rows(source, aggregation), names, **options)
    index = token_or_asset_index(tokens, named)
    keys = _contract_keys(tokens, np.array([index])) | {UNKNOWN}  # it may be the same token
    if tokens.assets:
        own = tokens.tokens.keys[index]
        keys |= {key for key, whole in tokens.assets.bridged.items() if whole == own}
    rows = source.template.replace_holdings(source.read_rows(keys, names))
    table = measure(rows, asset, token=token, by=by, **options)
    unread = int(aggregation.aggregates.balances.sum()) - len(rows.holdings)
    coverage = coverage_from_attrs(table)
    return with_coverage(table, replace(coverage, filtered=max(coverage.filtered - unread, 0)))


def chunked_concentration(
    source: ChunkedHoldings, *, asset: TokenLike | None, token: TokenLike | None, **options: Any
) -> pd.DataFrame:
    """Return the same table as `concentration` with `wallets`, one batch of tokens at a time."""
    measure = partial(concentration, top=options.pop("top"))
    if asset is not None or token is not None:
        return _measure_one_token(source, measure, asset=asset, token=token, **options)
    tokens, names, table = _tokens_and_totals(source, **options)
    measured = table.assign(**dict.fromkeys(MEASURES, np.nan))
    batches = [*_batches(table["balances"].to_numpy(np.intp), tokens.tokens.unknown)]
    keys = [_contract_keys(tokens, batch) for batch in batches]
    work = partial(measure, **options)
    for batch, result in zip(batches, source.map_token_batches(work, keys, names), strict=True):
        for name in MEASURES:
            measured.loc[batch, name] = result[name].to_numpy()
    return with_coverage(measured, coverage_from_attrs(table))


def _batches(balances: Codes, unknown: Mask) -> Iterator[Codes]:
    """Split tokens into batches whose rows fit in memory. All unknown tokens are one batch."""
    known = np.flatnonzero(~unknown)
    before = np.cumsum(balances[known]) - balances[known]
    edges = np.flatnonzero(np.diff(before // _BATCH_ROWS))
    batches = [*np.split(known, edges + 1), np.flatnonzero(unknown)]
    yield from (batch for batch in batches if len(batch))


def chunked_pivot(
    source: ChunkedHoldings, n: int | None = 50, *, by: By = "wallet", **options: Any
) -> pd.DataFrame:
    """Return the same table as `pivot` with `wallets`. `by` accepts only columns of wallets."""
    if n is not None and n < 1:
        return pivot(source.template, n)  # raises the error
    tokens, names, totals = _tokens_and_totals(source, by, **options)
    row_columns = source.template.holdings.columns.drop("blockchain")
    if of_rows := [name for name in names if name in row_columns]:
        raise SettingsError(
            f"grouping by {of_rows[0]!r} needs the balances in memory, since {of_rows[0]!r} is not "
            "a column of wallets",
            hint="first read the balances into memory with read_wallets(folder), or with "
            "holdings.compute() for a Dask DataFrame",
        )
    chosen = ranked_tokens(totals)[:n]
    keys = _contract_keys(tokens, chosen) | {UNKNOWN}  # an unknown token may be one of these
    read = np.isin(np.arange(len(totals)), chosen) | tokens.tokens.unknown
    rows = source.template.replace_holdings(source.read_rows(keys, ()))
    table = pivot(rows, None, by=by, **options)
    ranked = ranked_tokens(totals.drop(columns="value", errors="ignore"))  # values were not read
    columns = pd.Index(ranked[read[ranked]]).get_indexer(pd.Index(chosen))
    named = pd.Index(token_or_asset_names(tokens, chosen), dtype="str", name=tokens.kind)
    return with_coverage(
        table.iloc[:, columns].set_axis(named, axis=1), coverage_of_columns(totals, chosen)
    )
