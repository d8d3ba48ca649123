"""Holdings in a Dask DataFrame. Workers aggregate partitions, and return only small results.

All rows of a wallet must be in one partition. Otherwise, a wallet would be counted twice. To check
this, a first pass over two columns finds the wallets of each partition.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, chain, count, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.base import compute, get_scheduler, is_dask_collection
from dask.delayed import delayed
from dask.system import CPU_COUNT
from distributed import Client, as_completed

from walletframe.bulk import StoredHoldings, open_holdings, read_wallets
from walletframe.bulk.files import Paths, as_dataset_errors
from walletframe.bulk.journal import segment_paths
from walletframe.errors import ArgumentError, DatasetError, SettingsError, UnknownWalletError
from walletframe.frames.coverage import with_filters
from walletframe.frames.extra_columns import extra_names
from walletframe.frames.groups import By, by_as_list
from walletframe.frames.identity import TOKEN, Codes, TokenKey, encode_tokens, encode_wallets
from walletframe.frames.lookups import PriceLookup, SpamFlags, encode_token_symbol_pairs
from walletframe.frames.positions import Chunk, Positions, encode_holdings, read_positions
from walletframe.frames.schema import SNAPSHOT, concat_frames, normalize_blockchains
from walletframe.numerals import counted_noun
from walletframe.pandas_versions import TEXT
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from walletframe.frames.details import FetchLike

T = TypeVar("T")
Lookup: TypeAlias = "PriceLookup | SpamFlags"
WalletsLike: TypeAlias = "dd.DataFrame | FetchLike | tuple[Any, ...]"
"""The wallets or the complete result of a fetch, in pandas or Dask DataFrames."""

_WALLET = ["blockchain", "address"]
_NEEDED = [*_WALLET, *TOKEN, "amount"]
_VALUED = ["value", "currency"]
_WALLET_COLUMNS = [*_WALLET, "status", "tokens", "fetched_at", "source"]
_BATCHES_PER_THREAD = 4  # so that threads don't wait long for the last batch
_MAX_BATCH_ROWS = 1_000_000  # limits a worker's memory: up to one aggregate per row
_ROW_STEP = 2**32  # larger than any number of rows in a partition


class SizedFolder(NamedTuple):
    """The folder of one bulk run, and the sizes of files when the folder was opened."""

    root: Path
    files: tuple[tuple[str, int], ...]  # names and sizes, without the files of holdings


def meta_of(frame: dd.DataFrame) -> pd.DataFrame:
    """Return the empty frame with the columns and dtypes of a Dask DataFrame."""
    return frame._meta  # noqa: SLF001 - Dask documents _meta for extensions


def non_holdings_files_and_sizes(root: Path) -> tuple[tuple[str, int], ...]:
    """Return names and sizes of all files except the files of holdings, which never change."""
    paths = Paths(root)
    parts = [path for folder in (paths.wallets, paths.failed) for path in folder.glob("*")]
    files = [*parts, *segment_paths(paths.hidden), *paths.root.glob(paths.extra_columns.name)]
    return tuple(sorted((path.as_posix(), path.stat().st_size) for path in files))


def _require_unchanged(folder: SizedFolder) -> None:
    if non_holdings_files_and_sizes(folder.root) != folder.files:
        hint = "open the folder again"
        raise DatasetError(f"{folder.root} has changed since it was opened", hint)


def open_if_unchanged(folder: SizedFolder, meta: pd.DataFrame) -> StoredHoldings:
    """Open a folder on a worker. Wallets get the columns and dtypes of `meta`."""
    with as_dataset_errors(folder.root):
        _require_unchanged(folder)
        holdings = open_holdings(folder.root)
        wallets = holdings.wallets.reindex(columns=meta.columns)
        wallets = wallets.astype(meta.dtypes[wallets.dtypes != meta.dtypes].to_dict())
        return replace(holdings, template=replace(holdings.template, wallet_frame=wallets))


def read_folder_wallets(folder: SizedFolder, meta: pd.DataFrame) -> pd.DataFrame:
    """Read the wallets of a folder, with the columns and dtypes of `meta`."""
    return open_if_unchanged(folder, meta).wallets


def read_folder_balances(folder: SizedFolder, columns: list[str] | None = None) -> pd.DataFrame:
    """Read the balances of a folder, by default with all columns."""
    with as_dataset_errors(folder.root):
        _require_unchanged(folder)
        return read_wallets(folder.root, columns=columns).holdings


def folders_of_frames(wallets: dd.DataFrame, holdings: dd.DataFrame) -> list[SizedFolder] | None:
    """Return the folders that `open_wallets` opened, or None if it did not create the frames."""
    graphs = wallets.expr, holdings.expr
    readers = tuple(getattr(graph, "func", None) for graph in graphs)
    if readers != (read_folder_wallets, read_folder_balances):
        return None
    folders, others = ([*graph.iterables[0]] for graph in graphs)
    return folders if folders == others else None


def split_by_row_count(items: Sequence[T], sizes: Sequence[int]) -> Iterator[list[T]]:
    """Split items into batches with similar numbers of rows."""
    cluster = _current_client()
    local_threads = dask.config.get("num_workers", None) or CPU_COUNT
    threads = sum(cluster.nthreads().values()) if cluster else local_threads
    max_rows = min(max(sum(sizes) / (_BATCHES_PER_THREAD * max(threads, 1)), 1), _MAX_BATCH_ROWS)
    starts = accumulate(sizes[:-1], initial=0)
    numbered = zip((start // max_rows for start in starts), items, strict=True)
    return ([item for _, item in batch] for _, batch in groupby(numbered, key=itemgetter(0)))


def compute_results(tasks: Sequence[Any]) -> Iterator[Any]:
    """Yield results. To save memory, the results of a cluster are yielded as they arrive."""
    if (cluster := _current_client()) is None:
        return iter(compute(*tasks))
    return (result for _, result in as_completed(cluster.compute(tasks), with_results=True))


def _current_client() -> Client | None:
    client = getattr(get_scheduler(), "__self__", None)
    return client if isinstance(client, Client) else None


@dataclass(frozen=True, slots=True)
class ClusterHoldings:
    """Holdings in a Dask DataFrame, with their wallets in memory."""

    frame: dd.DataFrame
    template: Positions  # all wallets, but an empty holdings frame
    wallet_indices: list[Codes]  # for each partition: sorted indices of wallets in `template`
    folders: list[SizedFolder] | None = None  # None unless each partition is an unchanged folder

    @property
    def spells_blockchains_as_template(self) -> bool:
        """Whether results spell blockchains as in `template`."""
        return self.folders is not None

    def map_chunks(self, func: Callable[[Chunk], T], columns: Collection[str] = ()) -> Iterator[T]:
        """Apply a function to each partition on the workers, and compute the graph once."""
        shared = delayed(func, traverse=False)
        if self.folders:
            apply, wallets = delayed(_map_chunks_of_folders, pure=False), self.template.wallet_frame
            tokens = wallets["tokens"].to_numpy(dtype=np.int64, na_value=0)
            rows = [int(tokens[indices].sum()) for indices in self.wallet_indices]
            batches = split_by_row_count([*zip(count(), self.folders, self.wallet_indices)], rows)
            tasks = [apply(shared, batch, wallets[:0], [*columns]) for batch in batches]
            return chain.from_iterable(compute_results(tasks))
        frames = self._select_needed_columns([*_VALUED, *columns]).to_delayed()
        apply = delayed(_apply_to_partition, pure=False)
        parts = enumerate(zip(frames, self._wallet_partitions(), self.wallet_indices, strict=True))
        return compute_results([apply(shared, number, *part) for number, part in parts])

    def read_rows(
        self, tokens: Collection[TokenKey], extra_columns: Collection[str]
    ) -> pd.DataFrame:
        """Read the rows of the given tokens, in the order of the holdings."""
        rows = self._select_needed_columns(extra_columns)
        subset = rows.map_partitions(_select_tokens, {*tokens}, meta=meta_of(rows))
        return subset.compute().reset_index(drop=True)

    def map_token_batches(
        self,
        func: Callable[[Positions], T],
        batches: Sequence[Collection[TokenKey]],
        columns: Collection[str],
    ) -> Iterator[T]:
        """Apply a function to the rows of each batch of tokens, and compute the graph once."""
        rows = self._select_needed_columns(columns).to_delayed()
        split = delayed(_split_by_tokens, pure=False, nout=len(batches))
        keys = delayed([*batches], traverse=False)
        parts = zip(rows, self._wallet_partitions(), strict=True)
        chunks = zip(*(split(*part, keys) for part in parts), strict=True)
        joined, shared = delayed(_apply_to_joined_chunks, pure=False), delayed(func, traverse=False)
        return iter(compute(*(joined(shared, list(each)) for each in chunks)))

    def with_prices(self, prices: PriceLookup) -> dd.DataFrame:
        """Return lazy holdings with columns of prices and values."""
        return self._map_with_number(_add_prices, prices)

    def with_spam_flags(self, flags: SpamFlags, _unknown: Codes) -> dd.DataFrame:
        """Return lazy holdings with columns of spam flags."""
        return self._map_with_number(_add_lookup_columns, flags)

    def without_spam(self, flags: SpamFlags, _unknown: Codes) -> dd.DataFrame:
        """Return lazy holdings without the balances that are flagged as spam."""
        return self._map_with_number(_drop_spam, flags)

    def _map_with_number(self, func: Callable[..., pd.DataFrame], lookup: Lookup) -> dd.DataFrame:
        """Call `func` with each partition, `lookup` and the partition's original number."""
        meta = func(meta_of(self.frame), lookup, pd.Series([0]))
        every = [[number] for number in range(self.frame.npartitions)]
        numbers = dd.from_map(pd.Series, every, meta=pd.Series([0]))
        shared = delayed(lookup, pure=True, traverse=False)  # sent only once to each worker
        return self.frame.map_partitions(func, shared, numbers, meta=meta, align_dataframes=False)

    def _select_needed_columns(self, names: Collection[str]) -> dd.DataFrame:
        wanted = {*_NEEDED, *names}
        return self.frame[[name for name in self.frame.columns if name in wanted]]

    def _wallet_partitions(self) -> list[pd.DataFrame | None]:
        if not self.template.has_wallets:
            return [None] * len(self.wallet_indices)
        wallets, partition = self.template.wallet_frame, np.full(len(self.template.wallets), -1)
        for number, indices in enumerate(self.wallet_indices):
            partition[indices] = number
        wanted = {*_WALLET_COLUMNS, *self.template.extra_column_names}
        rows = wallets[[name for name in wallets.columns if name in wanted]]
        groups: Any = rows.groupby(partition[encode_wallets(wallets).codes])
        by_partition = dict(iter(groups))
        return [by_partition.get(number, rows[:0]) for number in range(len(self.wallet_indices))]


def holdings_of_fetch(frame: dd.DataFrame, wallets: dd.DataFrame, by: By) -> ClusterHoldings:
    """Return the holdings of a fetch. Partition i of both frames must have the same wallets."""
    empty, like = _empty_holdings(frame, by), meta_of(wallets)
    folders, wanted = folders_of_frames(wallets, frame), {*_WALLET_COLUMNS, *extra_names(like)}
    names = [name for name in like.columns if name in wanted]
    if folders:
        batches = split_by_row_count(folders, [1] * len(folders))
        read = delayed(
            lambda batch: [read_folder_wallets(each, like)[names] for each in batch], pure=False
        )
        tables = [*chain.from_iterable(compute(*map(read, batches)))]
        [requested] = normalize_blockchains(concat_frames(tables))
    else:  # the blockchain names of a frame are not changed
        tables = compute(*wallets[names].to_delayed())
        requested = concat_frames(tables)
    template = read_positions(empty, requested)
    if len(tables) != frame.npartitions or len(template.wallets) < len(requested):
        return holdings_with_partition_wallets(frame, requested, by)
    edges = np.cumsum([len(table) for table in tables])[:-1]
    return ClusterHoldings(frame, template, np.split(np.arange(len(requested)), edges), folders)


def holdings_with_partition_wallets(
    frame: dd.DataFrame, wallets: WalletsLike | None, by: By
) -> ClusterHoldings:
    """Return holdings with each partition's wallets. No wallet may be in several partitions."""
    empty = _empty_holdings(frame, by)
    requested: Any = wallets[0] if isinstance(wallets, tuple) else wallets
    distinct = delayed(lambda part: part.iloc[encode_wallets(part).first], pure=False)
    parts = map(distinct, frame[_WALLET].to_delayed())
    delayed_frames = requested.to_delayed() if is_dask_collection(requested) else []
    tables, frames = compute([*parts], delayed_frames)  # at once, so that all see the same data
    requested = concat_frames(frames) if frames else requested
    positions = _dummy_balances(empty, pd.concat(tables, ignore_index=True), requested)
    edges = np.cumsum([len(table) for table in tables])[:-1]
    _require_one_partition_per_wallet(positions, edges)
    template = positions.with_rows(empty, encode_tokens(empty), positions.wallet_codes[:0])
    by_partition = np.split(positions.wallet_codes, edges)
    return ClusterHoldings(frame, template, [np.sort(indices) for indices in by_partition])


def _dummy_balances(empty: pd.DataFrame, wallets: pd.DataFrame, requested: Any = None) -> Positions:
    """Return one balance per wallet, with a dummy token."""
    rows = empty[_NEEDED].reindex(range(len(wallets)))
    token = dict.fromkeys(TOKEN, wallets["blockchain"].array)
    rows = rows.assign(**{name: wallets[name] for name in _WALLET}, **token)
    return read_positions(rows, requested)


def _empty_holdings(frame: dd.DataFrame, by: By) -> pd.DataFrame:
    """Return holdings without rows. Raise an error for missing columns or the group "snapshot"."""
    if SNAPSHOT in by_as_list(by):
        raise SettingsError(
            "grouping by 'snapshot' needs the balances in memory, but they are in a Dask DataFrame",
            hint="select the rows of one snapshot; or select a few wallets or tokens, and call "
            "compute()",
        )
    empty = meta_of(frame)
    read_positions(empty)
    return empty


def holdings_with_dummy_wallet(frame: dd.DataFrame) -> ClusterHoldings:
    """Return holdings with one dummy wallet, for tables that have no counts of wallets."""
    empty = _empty_holdings(frame, ())
    dummy = _dummy_balances(empty, pd.DataFrame({name: [""] for name in _WALLET}, dtype=TEXT))
    template = dummy.with_rows(empty, encode_tokens(empty), dummy.wallet_codes[:0])
    return ClusterHoldings(frame, template, [np.empty(0, dtype=np.intp)] * frame.npartitions)


def _require_one_partition_per_wallet(positions: Positions, edges: Codes) -> None:
    codes = positions.wallet_codes
    repeated = np.flatnonzero(np.bincount(codes) > 1)
    if len(repeated):
        numbers = np.searchsorted(edges, np.flatnonzero(codes == repeated[0]), side="right")
        name = ".".join(positions.wallets.iloc[repeated[0]])
        raise ArgumentError(
            f"rows of {counted_noun(len(repeated), 'wallet')} are in several "
            "partitions, so these wallets would be counted more than once: for example, "
            f"{safe_line(name)!r} is in partitions {numbers[0]} and {numbers[1]}",
            hint="move all rows of a wallet into one partition: "
            'holdings.assign(key=holdings["address"].str.strip().str.lower()).shuffle("key")',
        )


def _apply_to_partition(
    func: Callable[[Chunk], T],
    partition: int,
    rows: pd.DataFrame,
    wallets: pd.DataFrame | None,
    wallet_indices: Codes,
) -> T:
    try:
        positions = read_positions(encode_holdings(rows.reset_index(drop=True)), wallets)
    except UnknownWalletError as fault:
        raise ArgumentError(
            f"partition {partition} of wallets does not contain {safe_line(str(fault.wallet))}, "
            f"which has rows in partition {partition} of holdings",
            hint="pass all wallets, such as wallets=details.wallets; then they are looked up in "
            "every partition",
        ) from None
    if not len(wallet_indices):  # the wallets are not needed
        wallet_indices = np.zeros(len(positions.wallets), dtype=np.intp)
    return func(Chunk(positions, wallet_indices, partition * _ROW_STEP + np.arange(len(rows))))


def _map_chunks_of_folders(
    func: Callable[[Chunk], T],
    folders: Sequence[tuple[int, SizedFolder, Codes]],
    meta: pd.DataFrame,
    names: list[str],
) -> list[T]:
    outputs: list[T] = []
    for number, folder, indices in folders:

        def apply(chunk: Chunk, first_row: int = number * _ROW_STEP, indices: Codes = indices) -> T:
            selected = indices[chunk.wallet_indices]
            return func(chunk._replace(wallet_indices=selected, rows=first_row + chunk.rows))

        outputs += open_if_unchanged(folder, meta).map_chunks(apply, names)
    return outputs


def _token_set_indices(rows: pd.DataFrame, token_sets: Sequence[Collection[TokenKey]]) -> Codes:
    """Return, for each row, the index of the set that has the row's token, or -1."""
    by_key = {key: number for number, keys in enumerate(token_sets) for key in keys}
    token_ids = encode_tokens(rows)
    numbers = [by_key.get(key, -1) for key in token_ids.keys_or_unknown]
    return np.array(numbers, dtype=np.intp)[token_ids.codes]


def _add_lookup_columns(rows: pd.DataFrame, lookup: Lookup, partition: pd.Series) -> pd.DataFrame:
    row_numbers = partition.iloc[0] * _ROW_STEP + np.arange(len(rows))
    codes = encode_token_symbol_pairs(rows, encode_tokens(rows), row_numbers)
    return rows.assign(**lookup.computed_columns(codes))


def _add_prices(rows: pd.DataFrame, prices: PriceLookup, partition: pd.Series) -> pd.DataFrame:
    unpriced = rows.drop(columns="price_source", errors="ignore")  # of an earlier valuation
    return _add_lookup_columns(unpriced, prices, partition)


def _drop_spam(rows: pd.DataFrame, flags: SpamFlags, partition: pd.Series) -> pd.DataFrame:
    flagged = rows if flags.by_column else _add_lookup_columns(rows, flags, partition)
    is_spam = flagged["is_spam"].astype("boolean").to_numpy(dtype=bool, na_value=False)
    return with_filters(rows[~is_spam], **flags.dropped)


def _select_tokens(rows: pd.DataFrame, tokens: set[TokenKey]) -> pd.DataFrame:
    return rows[_token_set_indices(rows, [tokens]) == 0]


def _split_by_tokens(
    rows: pd.DataFrame, wallets: pd.DataFrame | None, token_sets: list[set[TokenKey]]
) -> list[tuple[pd.DataFrame, pd.DataFrame | None]]:
    codes = _token_set_indices(rows, token_sets)
    subsets = [rows[codes == number] for number in range(len(token_sets))]
    if wallets is None:
        return [(subset, None) for subset in subsets]
    ids = encode_wallets(wallets)
    keys = [{*encode_wallets(subset).keys} for subset in subsets]
    masks = [np.array([key in needed for key in ids.keys], dtype=bool) for needed in keys]
    return [(subset, wallets[mask[ids.codes]]) for subset, mask in zip(subsets, masks, strict=True)]


def _apply_to_joined_chunks(
    func: Callable[[Positions], T], chunks: list[tuple[pd.DataFrame, pd.DataFrame | None]]
) -> T:
    rows, wallets = zip(*chunks, strict=True)
    joined = None if wallets[0] is None else pd.concat(wallets)
    return func(read_positions(pd.concat(rows, ignore_index=True), joined))
