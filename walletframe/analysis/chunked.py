"""Tables of holdings that are never fully in memory: in a folder or on a cluster.

Each chunk is reduced to a `PartialAggregate`. Then the partial aggregates of all chunks are merged.
A partial aggregate keeps the first row of each group. It also keeps the first row of each pair of a
token and a wallet's blockchain. A merge groups these representative rows of all chunks again.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
import pandas as pd

from walletframe.amounts.sums import ExactFloatSums, concat_float_sums, sum_floats_by_group
from walletframe.analysis import distribution, valuation
from walletframe.analysis.distribution import MEASURES
from walletframe.analysis.sums import aggregate_groups, build_totals_table, merge_aggregates
from walletframe.errors import SettingsError
from walletframe.frames import asset_list
from walletframe.frames.coverage import count_filtered
from walletframe.frames.groups import (
    by_as_list,
    encode_by_holder,
    group_by_asset_or_token,
    make_groups,
    token_or_asset_and_by,
)
from walletframe.frames.identity import TOKEN, UNKNOWN, concat_encoded_tokens, first_rows
from walletframe.frames.known import value_summary
from walletframe.frames.lookups import PRICE_DTYPES, PriceLookup
from walletframe.frames.positions import Chunk
from walletframe.frames.results import coverage_from_attrs, with_coverage
from walletframe.frames.schema import na_amounts, normalize_blockchains, require_columns, text_array

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from walletframe.analysis.sums import GroupAggregates
    from walletframe.analysis.valuation import PricesLike
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.groups import By, Groups
    from walletframe.frames.identity import Codes, KeyCodes, TokenKey
    from walletframe.frames.known import ValueSummary
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import Positions
    from walletframe.frames.results import Coverage

T = TypeVar("T")
_MERGE_ROWS = 400_000  # number of representative rows before a merge
_MERGE_GROWTH = 4  # growth of the number of rows from one merge to the next
_BATCH_ROWS = 500_000  # number of rows to read at a time


class ChunkedHoldings(Protocol):
    """Holdings that are never fully in memory."""

    @property
    def template(self) -> Positions:
        """Holdings without rows, but with all columns and wallets."""

    @property
    def spells_blockchains_as_template(self) -> bool:
        """Whether results spell blockchains as in `template`, not as in the rows."""

    def map_chunks(
        self, function: Callable[[Chunk], T], extra_columns: Collection[str] = ()
    ) -> Iterator[T]:
        """Apply a function to each chunk. To read amounts, add "amount" to `extra_columns`."""

    def read_rows(
        self, tokens: Collection[TokenKey], extra_columns: Collection[str]
    ) -> pd.DataFrame:
        """Read the rows of the given tokens in row order."""

    def map_token_batches(
        self,
        function: Callable[[Positions], T],
        batches: Sequence[Collection[TokenKey]],
        extra_columns: Collection[str],
    ) -> Iterator[T]:
        """Read the rows of each batch of tokens, and apply a function to these rows."""


class PartialAggregate(NamedTuple):
    """The aggregates of the groups in one chunk, and the groups' representative rows."""

    aggregates: GroupAggregates
    representatives: pd.DataFrame  # the token and the other columns to group by
    contracts: KeyCodes  # the contract of each representative row
    row_positions: Codes  # the position of each representative row among all rows
    wallet_indices: Codes  # the index of each representative row's wallet among all wallets
    group_first: Codes  # each group's first representative row, or len(representatives) if empty


class AggregatedGroups(NamedTuple):
    """Groups of rows, and the aggregates of each group."""

    chunk: Chunk
    groups: Groups
    aggregates: GroupAggregates


class GroupSpec:
    """Columns to group by. If a function `key_columns` returns them, wallets are not counted."""

    def __init__(
        self,
        names: list[str],
        *,
        assets: AssetsLike | None = None,
        bridged: bool = False,
        key_columns: Callable[[Positions], pd.DataFrame] | None = None,
    ) -> None:
        self.names: list[str] = names
        self.bridged: bool = bridged
        self.key_columns: Callable[[Positions], pd.DataFrame] | None = key_columns
        # Workers of a cluster may have other settings, so the file of assets is read here.
        is_read = "asset" in names
        self.assets: AssetsLike | None = asset_list.read_user_assets(assets) if is_read else assets

    def aggregate_chunk(self, chunk: Chunk) -> PartialAggregate:
        """Group the rows of a chunk, and aggregate each group."""
        positions = chunk.positions
        if self.key_columns:
            positions = replace(positions, holdings=self.key_columns(positions))
        positions, groups = self._group_rows(positions)
        aggregates = aggregate_groups(positions, groups, sums_only=self.key_columns is not None)
        chunk = chunk._replace(positions=positions)
        return self.to_partial(AggregatedGroups(chunk, groups, aggregates))

    def merge(self, source: ChunkedHoldings, parts: Sequence[PartialAggregate]) -> AggregatedGroups:
        """Merge the aggregates of all chunks."""
        positions = np.concatenate([part.row_positions for part in parts])
        order = np.argsort(positions)
        ranks = np.empty_like(order)  # the position of each row after sorting
        ranks[order] = np.arange(len(order))
        rows = pd.concat([part.representatives for part in parts])
        rows = rows.take(order).reset_index(drop=True)
        rows.attrs = source.template.holdings.attrs
        if source.spells_blockchains_as_template:
            _, rows = normalize_blockchains(source.template.wallet_frame, rows)
        merged = source.template.with_rows(
            rows.assign(amount=na_amounts(len(rows))),  # amounts are already in the aggregates
            concat_encoded_tokens([part.contracts for part in parts], order),
            np.concatenate([part.wallet_indices for part in parts])[order],
        )
        grouped, groups = self._group_rows(merged)
        lengths = [len(part.row_positions) for part in parts]
        pairs = [*zip(parts, np.split(ranks, np.cumsum(lengths)[:-1]), strict=True)]
        aggregates = merge_aggregates(
            [part.aggregates for part in parts],
            [np.append(groups.codes[rank], 0)[part.group_first] for part, rank in pairs],
            [grouped.contracts.codes[rank[part.contracts.first]] for part, rank in pairs],
            len(groups),
        )
        chunk = Chunk(grouped, np.arange(len(merged.wallets)), positions[order])
        return AggregatedGroups(chunk, groups, aggregates)

    def _group_rows(self, positions: Positions) -> tuple[Positions, Groups]:
        if "asset" in self.names:
            positions = asset_list.tokens_to_assets(positions, self.assets, bridged=self.bridged)
        return group_by_asset_or_token(positions, self.names)

    def to_partial(self, aggregation: AggregatedGroups) -> PartialAggregate:
        """Choose representative rows, and return a partial aggregate."""
        chunk, groups, aggregates = aggregation
        positions, contracts = chunk.positions, chunk.positions.contracts
        first_of_pairs = contracts.first
        if self.key_columns is None:
            chains = positions.wallet_chain_codes.take(positions.wallet_codes)
            # A contract is rarely held on several blockchains.
            others = np.flatnonzero(chains != chains[contracts.first].take(contracts.codes))
            numbers = contracts.codes[others] * len(positions.index_by_chain) + chains[others]
            codes, pairs = pd.factorize(numbers)
            first_of_pairs = np.append(first_of_pairs, others[first_rows(codes, len(pairs))])
        nonempty = np.flatnonzero(aggregates.balances)
        first_of_groups = first_rows(groups.codes, len(groups))[nonempty]
        kept, rows = np.union1d(first_of_pairs, first_of_groups), positions.holdings
        group_first = np.full(len(groups), len(kept))
        group_first[nonempty] = np.searchsorted(kept, first_of_groups)
        columns = {name: text_array(rows[name].array.take(kept)) for name in TOKEN}
        names = [name for name in (*self.names, "price_source") if name in rows]
        columns |= {name: rows[name].array.take(kept) for name in names if name not in TOKEN}
        return PartialAggregate(
            aggregates=aggregates,
            representatives=pd.DataFrame(columns),
            contracts=replace(contracts, codes=contracts.codes[kept]),
            row_positions=chunk.rows[kept],
            wallet_indices=chunk.wallet_indices[positions.wallet_codes[kept]],
            group_first=group_first,
        )


def aggregate_chunks(
    source: ChunkedHoldings, specs: Sequence[GroupSpec], extra_columns: Collection[str] = ()
) -> list[AggregatedGroups]:
    """Read each chunk once, and aggregate its rows by each spec."""
    if any(spec is not _BY_TOKEN for spec in specs):
        extra_columns = {*extra_columns, "amount"}
    collected: list[list[PartialAggregate]] = [[] for _ in specs]
    limits = [_MERGE_ROWS] * len(specs)
    for results in source.map_chunks(partial(_aggregate_chunk, specs=specs), extra_columns):
        for number, (parts, part, spec) in enumerate(zip(collected, results, specs, strict=True)):
            if sum(len(each.row_positions) for each in parts) > limits[number] and len(parts) > 1:
                parts[:] = [spec.to_partial(spec.merge(source, parts))]
                limits[number] = max(_MERGE_ROWS, _MERGE_GROWTH * len(parts[0].row_positions))
            parts.append(part)
    return [spec.merge(source, parts) for spec, parts in zip(specs, collected, strict=True)]


def _aggregate_chunk(chunk: Chunk, specs: Sequence[GroupSpec]) -> list[PartialAggregate]:
    return [spec.aggregate_chunk(chunk) for spec in specs]


def chunked_totals(source: ChunkedHoldings, by: By = "asset", **options: Any) -> pd.DataFrame:
    """Compute the table of `totals` in chunks."""
    tokens = read_token_symbol_pairs(source) if "symbol" in by_as_list(by) else source.template
    names = make_groups(tokens, by, **options)[1].names
    columns = {*names} & {*source.template.holdings}
    [(chunk, groups, sums)] = aggregate_chunks(source, [GroupSpec(names, **options)], columns)
    return build_totals_table(chunk.positions, groups, sums)


def chunked_coverage(source: ChunkedHoldings) -> Coverage:
    """Compute the result of `coverage` in chunks."""
    return coverage_from_attrs(chunked_totals(source, "blockchain"))


def chunked_value_summary(source: ChunkedHoldings) -> ValueSummary | None:
    """Compute the result of `summarize_value` in chunks."""
    if "value" not in source.template.holdings:
        return None
    parts = [*source.map_chunks(_value_sum_currency_and_counts, ["amount"])]
    totals, currencies, unpriced, unread = (list(column) for column in zip(*parts, strict=True))
    total = concat_float_sums(totals).regroup(np.zeros(len(parts), dtype=np.intp), 1)
    currency = next(chain(*currencies), None)
    return value_summary(total.sums(), currency, int(total.sizes[0]), sum(unpriced), sum(unread))


def _value_sum_currency_and_counts(chunk: Chunk) -> tuple[ExactFloatSums, list[Any], int, int]:
    holdings, missing = chunk.positions.holdings, chunk.positions.amounts.isna()
    values = holdings["value"].to_numpy()
    total = sum_floats_by_group(values, np.zeros(len(values), dtype=np.intp), 1)
    currencies, unpriced = holdings["currency"].iloc[:1].tolist(), np.isnan(values) & ~missing
    return total, currencies, int(unpriced.sum()), int(missing.sum())


def _token_key_columns(positions: Positions) -> pd.DataFrame:
    return positions.holdings[[*TOKEN]]


_BY_TOKEN = GroupSpec(["token", "symbol"], key_columns=_token_key_columns)


def read_token_symbol_pairs(source: ChunkedHoldings) -> Positions:
    """Return holdings with one row for each pair of a token and a symbol, without amounts."""
    return _token_symbol_pairs(source, aggregate_chunks(source, [_BY_TOKEN])[0])


def _token_symbol_pairs(source: ChunkedHoldings, aggregation: AggregatedGroups) -> Positions:
    positions, groups = aggregation.chunk.positions, aggregation.groups
    first = first_rows(groups.codes, len(groups))
    tokens = positions.holdings.iloc[first].reset_index(drop=True)
    rows = source.template.holdings.reindex(range(len(first))).assign(**tokens)
    wallet_codes = np.zeros(len(first), dtype=np.intp)  # not used
    return source.template.with_rows(rows, positions.tokens.take(first), wallet_codes)


def _contract_keys(tokens: Positions, indices: Codes) -> set[TokenKey]:
    keys, rows = tokens.contracts.keys_or_unknown, np.isin(tokens.tokens.codes, indices)
    return {keys[code] for code in np.unique(tokens.contracts.codes[rows]).tolist()}


def _tokens_group_names_and_totals(
    source: ChunkedHoldings, by: By, **options: Any
) -> tuple[Positions, list[str], pd.DataFrame]:
    positions, _ = encode_by_holder(source.template, by, **options)
    specs = [_BY_TOKEN, GroupSpec([positions.kind], **options)]
    by_token, (chunk, groups, sums) = aggregate_chunks(source, specs)
    tokens, names = encode_by_holder(_token_symbol_pairs(source, by_token), by, **options)
    return tokens, names, build_totals_table(chunk.positions, groups, sums)


def chunked_prices(
    source: ChunkedHoldings,
    prices: PricesLike | None,
    *,
    currency: str | None,
    by_symbol: bool,
    **options: Any,
) -> PriceLookup:
    """Return the prices that `value` uses, by token or by symbol."""
    chosen = valuation.prices_or_default(prices, by_symbol=by_symbol, **options)
    only_service = all(map(valuation.is_service_prices, chosen.entries))
    positions = source.template if only_service else read_token_symbol_pairs(source)
    rows, tokens = positions.holdings, positions.tokens
    check_service_prices = partial(_require_usable_service_prices, source)
    prices_by_entry, stated = chosen.row_prices_by_entry(rows, currency, check_service_prices)
    keys = rows["symbol"] if by_symbol else [tokens.keys[code] for code in tokens.codes]

    def price_by_key(prices: list[float]) -> dict[Any, float]:
        return {key: price for key, price in zip(keys, prices, strict=True) if not np.isnan(price)}

    lookups = [None if each is None else price_by_key(each.tolist()) for each in prices_by_entry]
    return PriceLookup(lookups, by_symbol, stated, chosen.sources)


def _require_usable_service_prices(source: ChunkedHoldings) -> None:
    require_columns(source.template.holdings, ["price"])
    problems = [*chain.from_iterable(source.map_chunks(_price_problems_in_chunk, ["price"]))]
    if problems:
        positions = np.sort(np.concatenate([*source.map_chunks(attrgetter("rows"))]))
        rows = np.searchsorted(positions, [row for row, *_ in problems]).tolist()
        numbered = [(row, *rest) for row, (_, *rest) in zip(rows, problems, strict=True)]
        valuation.raise_for_unusable_service_prices(sorted(numbered))


def _price_problems_in_chunk(chunk: Chunk) -> list[tuple[int, str, str]]:
    holdings = chunk.positions.holdings
    prices = holdings["price"].where(holdings["token_blockchain"].notna())
    return valuation.unusable_prices(prices.to_numpy(dtype=np.float64, na_value=np.nan), chunk.rows)


def chunked_share(source: ChunkedHoldings, **options: Any) -> pd.DataFrame:
    """Compute the table of `share` in chunks."""
    return _measure_one_token(source, distribution.share, **options)


def _measure_one_token(
    source: ChunkedHoldings,
    measure: Callable[..., pd.DataFrame],
    *,
    asset: TokenLike | None,
    token: TokenLike | None,
    by: By,
    **options: Any,
) -> pd.DataFrame:
    named, names = token_or_asset_and_by(token, asset, by)
    if named is None:
        return measure(source.template)  # raises the error
    [aggregation] = aggregate_chunks(source, [_BY_TOKEN])
    tokens, names = encode_by_holder(_token_symbol_pairs(source, aggregation), names, **options)
    index = asset_list.find_token_or_asset(tokens, named)
    keys = _contract_keys(tokens, np.array([index])) | {UNKNOWN}  # also count unknown tokens
    if tokens.assets:
        asset_key = tokens.tokens.keys[index]
        keys |= {bridged for bridged, key in tokens.assets.bridged.items() if key == asset_key}
    columns = {*names, *PRICE_DTYPES.keys() & {*source.template.holdings}}
    rows = source.template.with_holdings(source.read_rows(keys, columns))
    table = measure(rows, asset, token=token, by=by, **options)
    filtered, reasons = count_filtered(source.template, int(aggregation.aggregates.balances.sum()))
    coverage = replace(coverage_from_attrs(table), filtered=filtered, filtered_reasons=reasons)
    return with_coverage(table, coverage, source.template)


def chunked_concentration(
    source: ChunkedHoldings, *, asset: TokenLike | None, token: TokenLike | None, **options: Any
) -> pd.DataFrame:
    """Compute the table of `concentration` in batches of tokens."""
    measure = partial(distribution.concentration, top=options.pop("top"))
    if asset is not None or token is not None:
        return _measure_one_token(source, measure, asset=asset, token=token, **options)
    tokens, names, table = _tokens_group_names_and_totals(source, **options)
    measured = table.assign(**dict.fromkeys(MEASURES, np.nan))
    unknown, balances = tokens.tokens.unknown, table["balances"].to_numpy(np.intp)
    known = np.flatnonzero(~unknown)
    before = np.cumsum(balances[known]) - balances[known]
    edges = np.flatnonzero(np.diff(before // _BATCH_ROWS)) + 1
    batches = [*filter(len, [*np.split(known, edges), np.flatnonzero(unknown)])]
    keys = [_contract_keys(tokens, batch) for batch in batches]
    results = source.map_token_batches(partial(measure, **options), keys, names)
    for batch, result in zip(batches, results, strict=True):
        measured.loc[batch, [*MEASURES]] = result[[*MEASURES]].to_numpy()
    return with_coverage(measured, coverage_from_attrs(table))


def chunked_pivot(
    source: ChunkedHoldings, n: int | None = 50, *, by: By = "wallet", **options: Any
) -> pd.DataFrame:
    """Compute the table of `pivot` in chunks."""
    if n is not None and n < 1:
        return distribution.pivot(source.template, n)  # raises the error
    tokens, group_names, totals = _tokens_group_names_and_totals(source, by, **options)
    row_columns = source.template.holdings.columns.drop("blockchain")
    if unsupported := [name for name in group_names if name in row_columns]:
        raise SettingsError(
            f"grouping by {unsupported[0]!r} needs the balances in memory, since "
            f"{unsupported[0]!r} is not a column of wallets",
            hint="first read the balances into memory with read_wallets(folder), or with "
            "holdings.compute() for a Dask DataFrame",
        )
    chosen = distribution.argsort_totals(totals)[:n]
    keys = _contract_keys(tokens, chosen)
    rows = source.template.with_holdings(source.read_rows(keys, ()))
    positions, _ = encode_by_holder(rows, by, **options)
    codes = {key: code for code, key in enumerate(positions.tokens.keys)}
    columns = np.array([codes[tokens.tokens.keys[index]] for index in chosen], dtype=np.intp)
    names = asset_list.token_or_asset_names(tokens, chosen)
    coverage = distribution.coverage_of_chosen_totals(totals, chosen)
    return distribution.build_pivot_table(positions, group_names, columns, names, coverage)
