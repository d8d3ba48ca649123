"""Holdings in partitions: functions run on the workers, and only small results come back.

All rows of a wallet must be in one partition: else holders would be counted twice. A first pass
over two columns finds the wallets of each partition. A folder that has changed since it was opened
is refused. Small folders are read several in one task, since each task costs messages.
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

from walletframe.bulk import open_holdings, read_wallets
from walletframe.bulk.files import Layout, dataset_errors
from walletframe.bulk.journal import segments
from walletframe.bulk.stored import token_symbol_codes
from walletframe.errors import ArgumentError, DatasetError, SettingsError, UnknownWalletError
from walletframe.frames.contract import normalize_blockchains
from walletframe.frames.groups import SNAPSHOT, list_names
from walletframe.frames.identity import TOKEN, token_identities, wallet_identities
from walletframe.frames.kept import kept_names
from walletframe.frames.positions import Chunk, Positions, read_positions
from walletframe.numerals import counted_noun
from walletframe.pandas_versions import TEXT
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from walletframe.bulk import PriceLookup, SpamFlags, StoredHoldings
    from walletframe.frames.details import FetchLike
    from walletframe.frames.groups import By
    from walletframe.frames.identity import Codes, TokenKey

T = TypeVar("T")
Lookup: TypeAlias = "PriceLookup | SpamFlags"
WalletsLike: TypeAlias = "dd.DataFrame | FetchLike | tuple[Any, ...]"
"""The wallets of a fetch, or the whole of it, in memory or in partitions."""

_WALLET = ["blockchain", "address"]
_NEEDED = [*_WALLET, *TOKEN, "amount"]
_VALUED = ["value", "currency"]
_WALLET_COLUMNS = [*_WALLET, "status", "tokens", "source"]
_BATCHES_PER_THREAD = 4  # so that no thread waits long for the last batch
_MAX_BATCH_ROWS = 1_000_000  # a worker holds their aggregates, at worst one for each row
_ROW_STEP = 2**32  # between partitions, which have fewer rows


class Opened(NamedTuple):
    """A folder of one bulk run, with its files when it was opened."""

    root: Path
    files: tuple[tuple[str, int], ...]  # names and sizes; parts never change


def list_files(root: Path) -> tuple[tuple[str, int], ...]:
    """Return the names and sizes of a folder's files, which change when the folder does."""
    layout = Layout(root)
    parts = [path for folder in (layout.wallets, layout.failed) for path in folder.glob("*")]
    kept = [layout.kept] if layout.kept.exists() else []
    files = parts + segments(layout.inner) + kept
    return tuple(sorted((path.as_posix(), path.stat().st_size) for path in files))


def _require_unchanged(folder: Opened) -> None:
    if list_files(folder.root) != folder.files:
        raise DatasetError(
            f"{folder.root} has changed since it was opened", hint="open the folder again"
        )


def open_unchanged(folder: Opened, like: pd.DataFrame) -> StoredHoldings:
    """Open a folder on a worker; its wallets get the columns of `like`, also of other folders."""
    with dataset_errors(folder.root):
        _require_unchanged(folder)
        holdings = open_holdings(folder.root)
        wallets = holdings.wallets.reindex(columns=like.columns)
        wallets = wallets.astype(like.dtypes[wallets.dtypes != like.dtypes].to_dict())
        return replace(holdings, whole=replace(holdings.whole, wallet_frame=wallets))


def wallets_of(folder: Opened, like: pd.DataFrame) -> pd.DataFrame:
    """Read the wallets of a folder, with the columns of `like`."""
    return open_unchanged(folder, like).wallets


def wallet_tables(
    folders: Sequence[Opened], like: pd.DataFrame, columns: list[str]
) -> list[pd.DataFrame]:
    """Read some columns of the wallets of each folder, several folders in one task."""
    on_folders = delayed(_wallet_tables, pure=False)
    batches = balanced_batches(folders, [1] * len(folders))
    tasks = [on_folders(batch, like, columns) for batch in batches]
    return [*chain.from_iterable(compute(*tasks))]


def _wallet_tables(
    folders: Sequence[Opened], like: pd.DataFrame, columns: list[str]
) -> list[pd.DataFrame]:
    return [wallets_of(folder, like)[columns] for folder in folders]


def balances_of(folder: Opened, columns: list[str] | None = None) -> pd.DataFrame:
    """Read the balances of a folder, or some columns of them."""
    with dataset_errors(folder.root):
        _require_unchanged(folder)
        return read_wallets(folder.root, columns=columns).holdings


def folders_of(wallets: dd.DataFrame, holdings: dd.DataFrame) -> list[Opened] | None:
    """Return the folders that two unchanged frames of `open_wallets` read; else None."""
    owners, balances = wallets.expr, holdings.expr
    readers = getattr(owners, "func", None), getattr(balances, "func", None)
    if readers != (wallets_of, balances_of):
        return None
    folders: list[Opened] = [*owners.iterables[0]]
    return folders if folders == [*balances.iterables[0]] else None


def balanced_batches(items: Sequence[T], rows: Sequence[int]) -> Iterator[list[T]]:
    """Split items into batches of about equal size, by the number of rows of each item."""
    cluster = _cluster()
    here = dask.config.get("num_workers", None) or CPU_COUNT
    threads = sum(cluster.nthreads().values()) if cluster else here
    most = min(max(sum(rows) / (_BATCHES_PER_THREAD * max(threads, 1)), 1), _MAX_BATCH_ROWS)
    starts = accumulate(rows[:-1], initial=0)
    numbered = zip((start // most for start in starts), items, strict=True)
    return ([item for _, item in batch] for _, batch in groupby(numbered, key=itemgetter(0)))


def results(tasks: Sequence[Any]) -> Iterator[Any]:
    """Yield results as they arrive, so that a cluster's are never in memory all at once."""
    cluster = _cluster()
    if cluster is None:
        return iter(compute(*tasks))
    futures = as_completed(cluster.compute(tasks), with_results=True)
    return (result for _, result in futures)


def _cluster() -> Client | None:
    client = getattr(get_scheduler(), "__self__", None)
    return client if isinstance(client, Client) else None


@dataclass(frozen=True, slots=True)
class ClusterHoldings:
    """Holdings in partitions, and their wallets in memory."""

    frame: dd.DataFrame
    whole: Positions  # all wallets, without any rows
    wallet_places: list[Codes]  # the ascending indices of each partition's wallets in `whole`
    folders: list[Opened] | None = None  # if the partitions are unchanged folders

    @property
    def normalizes_blockchains(self) -> bool:
        """Whether blockchain names are normalized: those of a frame are not changed."""
        return self.folders is not None

    def map_chunks(self, work: Callable[[Chunk], T], names: Collection[str] = ()) -> Iterator[T]:
        """Apply a function to each partition, on its worker, in one pass over the graph."""
        shared = delayed(work, traverse=False)
        if self.folders:
            apply, wallets = delayed(_apply_to_folders, pure=False), self.whole.wallet_frame
            tokens = wallets["tokens"].to_numpy(dtype=np.int64, na_value=0)
            rows = [int(tokens[places].sum()) for places in self.wallet_places]
            batches = balanced_batches([*zip(count(), self.folders, self.wallet_places)], rows)
            tasks = [apply(shared, batch, wallets[:0], [*names]) for batch in batches]
            return chain.from_iterable(results(tasks))
        frames = self._rows([*_VALUED, *names]).to_delayed()
        apply = delayed(_apply_to_partition, pure=False)
        parts = enumerate(zip(frames, self._wallet_rows(), self.wallet_places, strict=True))
        return results([apply(shared, number, *part) for number, part in parts])

    def read(self, tokens: Collection[TokenKey], names: Collection[str]) -> pd.DataFrame:
        """Read the rows of some tokens, in their order."""
        rows = self._rows(names)
        subset = rows.map_partitions(_with_tokens, {*tokens}, meta=rows._meta)  # noqa: SLF001
        return subset.compute().reset_index(drop=True)

    def map_token_batches(
        self,
        work: Callable[[Positions], T],
        tokens: Sequence[Collection[TokenKey]],
        names: Collection[str],
    ) -> Iterator[T]:
        """Apply a function to the rows of each set of tokens, on workers, in one pass."""
        rows = self._rows(names).to_delayed()
        split = delayed(_split_by_tokens, pure=False, nout=len(tokens))
        keys = delayed([*tokens], traverse=False)
        parts = zip(rows, self._wallet_rows(), strict=True)
        chunks = zip(*(split(*part, keys) for part in parts), strict=True)
        joined, shared = delayed(_apply_to_rows, pure=False), delayed(work, traverse=False)
        return iter(compute(*(joined(shared, list(each)) for each in chunks)))

    def valued(self, prices: PriceLookup) -> dd.DataFrame:
        """Return holdings with prices and values, added when a partition is computed."""
        return self._map_partitions(_with_columns, prices)

    def flagged(self, flags: SpamFlags, _unknown: Codes) -> dd.DataFrame:
        """Return holdings with spam flags; each partition finds its rows of unknown tokens."""
        return self._map_partitions(_with_columns, flags)

    def without(self, flags: SpamFlags, _unknown: Codes) -> dd.DataFrame:
        """Return holdings without flagged balances."""
        return self._map_partitions(_without_spam, flags)

    def _map_partitions(self, work: Callable[..., pd.DataFrame], lookup: Lookup) -> dd.DataFrame:
        """Apply a function to each partition and its number, which later selections preserve."""
        meta = work(self.frame._meta, lookup, pd.Series([0]))  # noqa: SLF001 - Dask's
        every = [[number] for number in range(self.frame.npartitions)]
        numbers = dd.from_map(pd.Series, every, meta=pd.Series([0]))
        shared = delayed(lookup, pure=True, traverse=False)  # sent to each worker once
        return self.frame.map_partitions(work, shared, numbers, meta=meta, align_dataframes=False)

    def _rows(self, names: Collection[str]) -> dd.DataFrame:
        wanted = {*_NEEDED, *names}
        return self.frame[[name for name in self.frame.columns if name in wanted]]

    def _wallet_rows(self) -> list[pd.DataFrame | None]:
        """Return for each partition the rows of its own wallets."""
        if not self.whole.has_wallets:
            return [None] * len(self.wallet_places)
        wallets, partition = self.whole.wallet_frame, np.full(len(self.whole.wallets), -1)
        for number, places in enumerate(self.wallet_places):
            partition[places] = number
        wanted = {*_WALLET_COLUMNS, *self.whole.kept}
        rows = wallets[[name for name in wallets.columns if name in wanted]]
        groups: Any = rows.groupby(partition[wallet_identities(wallets).codes])
        by_partition = dict(iter(groups))
        return [by_partition.get(number, rows[:0]) for number in range(len(self.wallet_places))]


def holdings_of_fetch(frame: dd.DataFrame, wallets: dd.DataFrame, by: By) -> ClusterHoldings:
    """Assume that wallets and holdings have equal partitions; reading the rows checks it."""
    none = _require_holdings(frame, by)
    like: pd.DataFrame = wallets._meta  # noqa: SLF001 - Dask's
    folders, names = folders_of(wallets, frame), [*_WALLET_COLUMNS, *kept_names(like)]
    if folders:
        tables = wallet_tables(folders, like, names)
        [requested] = normalize_blockchains(pd.concat(tables, ignore_index=True))
    else:  # blockchain names of frames are never changed
        tables = compute(*wallets[names].to_delayed())
        requested = pd.concat(tables, ignore_index=True)
    whole = read_positions(none, requested)
    if len(tables) != frame.npartitions or len(whole.wallets) < len(requested):
        return holdings_of(frame, requested, by)
    edges = np.cumsum([len(table) for table in tables])[:-1]
    return ClusterHoldings(frame, whole, np.split(np.arange(len(requested)), edges), folders)


def holdings_of(frame: dd.DataFrame, wallets: WalletsLike | None, by: By) -> ClusterHoldings:
    """Find the wallets of each partition; raise if a wallet is in two."""
    none = _require_holdings(frame, by)
    requested: Any = wallets[0] if isinstance(wallets, tuple) else wallets
    parts = map(delayed(_distinct_wallets, pure=False), frame[_WALLET].to_delayed())
    delayed_frames = requested.to_delayed() if is_dask_collection(requested) else []
    tables, frames = compute([*parts], delayed_frames)  # together, so that both are of one moment
    requested = pd.concat(frames) if frames else requested
    held = pd.concat(tables, ignore_index=True)
    positions = _wallets_as_rows(none, held, requested)
    edges = np.cumsum([len(table) for table in tables])[:-1]
    _require_one_partition(positions, edges)
    whole = positions.with_rows(none, token_identities(none), positions.wallet_codes[:0])
    by_partition = np.split(positions.wallet_codes, edges)
    return ClusterHoldings(frame, whole, [np.sort(places) for places in by_partition])


def _wallets_as_rows(none: pd.DataFrame, wallets: pd.DataFrame, requested: Any = None) -> Positions:
    """Return positions with one row for each wallet, of a placeholder token."""
    rows = none[_NEEDED].reindex(range(len(wallets)))
    token = dict.fromkeys(TOKEN, wallets["blockchain"].array)
    rows = rows.assign(**{name: wallets[name] for name in _WALLET}, **token)
    return read_positions(rows, requested)


def _require_holdings(frame: dd.DataFrame, by: By) -> pd.DataFrame:
    """Return an empty frame with the columns, or raise if these are not holdings."""
    if SNAPSHOT in list_names(by):
        raise SettingsError(
            "by='snapshot' needs balances in memory, and these are in partitions",
            hint="choose the rows of one snapshot, or compute() those of a few wallets or tokens",
        )
    none: pd.DataFrame = frame._meta  # noqa: SLF001 - as documented for those who extend Dask
    read_positions(none)
    return none


def holdings_without_wallets(frame: dd.DataFrame) -> ClusterHoldings:
    """Return holdings for calls that don't need to know their wallets."""
    none = _require_holdings(frame, ())
    dummy = _wallets_as_rows(none, pd.DataFrame({name: [""] for name in _WALLET}, dtype=TEXT))
    whole = dummy.with_rows(none, token_identities(none), dummy.wallet_codes[:0])
    return ClusterHoldings(frame, whole, [np.empty(0, dtype=np.intp)] * frame.npartitions)


def _distinct_wallets(part: pd.DataFrame) -> pd.DataFrame:
    return part.iloc[wallet_identities(part).first].reset_index(drop=True)


def _require_one_partition(positions: Positions, edges: Codes) -> None:
    """Raise if a wallet has rows in several partitions."""
    codes = positions.wallet_codes
    times = np.bincount(codes, minlength=len(positions.wallets))
    if (times > 1).any():
        first = int(np.argmax(times > 1))
        numbers = np.searchsorted(edges, np.flatnonzero(codes == first), side="right")
        name = ".".join(positions.wallets.iloc[first])
        raise ArgumentError(
            f"{counted_noun(int((times > 1).sum()), 'wallet')} with rows in several partitions, "
            f"such as {safe_line(name)!r} in {numbers[0]} and {numbers[1]}: "
            "it would be counted twice",
            hint="bring the rows of each wallet together, whatever its spelling: "
            'holdings.assign(key=holdings["address"].str.strip().str.lower()).shuffle("key")',
        )


def _apply_to_partition(
    work: Callable[[Chunk], T],
    number: int,
    rows: pd.DataFrame,
    wallets: pd.DataFrame | None,
    places: Codes,
) -> T:
    """Apply a function to a partition as a chunk."""
    try:
        positions = read_positions(rows.reset_index(drop=True), wallets)
    except UnknownWalletError as fault:
        raise ArgumentError(
            f"partition {number} of wallets lacks {safe_line(str(fault.wallet))}, "
            f"which has rows in partition {number} of holdings",
            hint="pass the wallets, to search all partitions for them: wallets=opened.wallets",
        ) from None
    if not len(places):  # the wallets don't matter
        places = np.zeros(len(positions.wallets), dtype=np.intp)
    return work(Chunk(positions, places, number * _ROW_STEP + np.arange(len(rows))))


def _apply_to_folders(
    work: Callable[[Chunk], T],
    folders: Sequence[tuple[int, Opened, Codes]],
    like: pd.DataFrame,
    names: list[str],
) -> list[T]:
    """Apply a function to each chunk of some folders."""
    outputs: list[T] = []
    for number, folder, places in folders:

        def apply(chunk: Chunk, first: int = number * _ROW_STEP, places: Codes = places) -> T:
            return work(replace(chunk, places=places[chunk.places], rows=first + chunk.rows))

        outputs += open_unchanged(folder, like).map_chunks(apply, names)
    return outputs


def _token_set_codes(rows: pd.DataFrame, tokens: Sequence[Collection[TokenKey]]) -> Codes:
    """Return each row's token-set index, or -1."""
    by_key = {key: number for number, keys in enumerate(tokens) for key in keys}
    token_ids = token_identities(rows)
    numbers = [by_key.get(key, -1) for key in token_ids.plain_keys]
    return np.array(numbers, dtype=np.intp)[token_ids.codes]


def _with_columns(rows: pd.DataFrame, lookup: Lookup, number: pd.Series) -> pd.DataFrame:
    row_numbers = number.iloc[0] * _ROW_STEP + np.arange(len(rows))
    return rows.assign(**lookup.columns(token_symbol_codes(rows, row_numbers=row_numbers)))


def _without_spam(rows: pd.DataFrame, flags: SpamFlags, number: pd.Series) -> pd.DataFrame:
    return rows[~_with_columns(rows, flags, number)["is_spam"]]


def _with_tokens(rows: pd.DataFrame, tokens: set[TokenKey]) -> pd.DataFrame:
    return rows[_token_set_codes(rows, [tokens]) == 0]


def _split_by_tokens(
    rows: pd.DataFrame, wallets: pd.DataFrame | None, tokens: list[set[TokenKey]]
) -> list[tuple[pd.DataFrame, pd.DataFrame | None]]:
    """Split rows by their token sets, each with the rows of its wallets."""
    codes = _token_set_codes(rows, tokens)
    subsets = [rows[codes == number] for number in range(len(tokens))]
    if wallets is None:
        return [(subset, None) for subset in subsets]
    ids = wallet_identities(wallets)
    keys = [{*wallet_identities(subset).keys} for subset in subsets]
    marks = [np.array([key in own for key in ids.keys], dtype=bool) for own in keys]
    return [(subset, wallets[mark[ids.codes]]) for subset, mark in zip(subsets, marks, strict=True)]


def _apply_to_rows(
    work: Callable[[Positions], T], chunks: list[tuple[pd.DataFrame, pd.DataFrame | None]]
) -> T:
    """Apply a function to the concatenated rows of one set of tokens."""
    rows, wallets = zip(*chunks, strict=True)
    joined = None if wallets[0] is None else pd.concat(wallets)
    return work(read_positions(pd.concat(rows, ignore_index=True), joined))
