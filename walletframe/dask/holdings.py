"""Holdings in partitions as blocks, worked on where they are: what comes back is small.

The rows of a wallet are in one partition: else those who hold something would be counted twice.
Which wallets each partition has is found in a pass of its own, over two columns. A folder of one
bulk run is read as it was when it was opened, or not at all, and several in one piece that is worth
a message of the cluster.
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

from walletframe.bulk import cases_of, open_holdings, read_wallets
from walletframe.bulk.files import Layout, dataset_errors
from walletframe.bulk.journal import segments
from walletframe.errors import ArgumentError, DatasetError, SettingsError, UnknownWalletError
from walletframe.frames.contract import respelled
from walletframe.frames.groups import SNAPSHOT, names_of
from walletframe.frames.identity import TOKEN, token_identities, wallet_identities
from walletframe.frames.kept import kept_names
from walletframe.frames.positions import Block, Positions, read_positions
from walletframe.numerals import many
from walletframe.pandas_versions import TEXT
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from walletframe.bulk import Flags, StoredHoldings, Units
    from walletframe.frames.details import FetchLike
    from walletframe.frames.groups import By
    from walletframe.frames.identity import Codes, TokenKey

T = TypeVar("T")
WalletsLike: TypeAlias = "dd.DataFrame | FetchLike | tuple[Any, ...]"
"""The wallets of a fetch, or the whole of it, in memory or in partitions."""

_WALLET = ["blockchain", "address"]
_NEEDED = [*_WALLET, *TOKEN, "amount"]
_VALUED = ["value", "currency"]
_TOLD = [*_WALLET, "status", "tokens", "source"]
_PIECES = 4  # for each thread: none waits long for the last one
_LARGEST = 1_000_000  # rows: a worker holds what they add up to, maybe each for itself
_APART = 2**32  # a partition has fewer rows


class Opened(NamedTuple):
    """A folder of one bulk run, and its files at one moment."""

    root: Path
    files: tuple[tuple[str, int], ...]  # names and sizes; parts never change


def files_of(root: Path) -> tuple[tuple[str, int], ...]:
    """List the files that change when a folder does."""
    layout = Layout(root)
    parts = [path for folder in (layout.wallets, layout.failed) for path in folder.glob("*")]
    kept = [layout.kept] if layout.kept.exists() else []
    files = parts + segments(layout.inner) + kept
    return tuple(sorted((path.as_posix(), path.stat().st_size) for path in files))


def _require_unchanged(folder: Opened) -> None:
    if files_of(folder.root) != folder.files:
        raise DatasetError(
            f"{folder.root} has changed since it was opened", hint="open the folder anew"
        )


def stored(folder: Opened, like: pd.DataFrame) -> StoredHoldings:
    """Open it on a worker; its wallets have the columns of a frame, those that others keep, too."""
    with dataset_errors(folder.root):
        _require_unchanged(folder)
        found = open_holdings(folder.root)
        wallets = found.wallets.reindex(columns=like.columns)
        wallets = wallets.astype(like.dtypes[wallets.dtypes != like.dtypes].to_dict())
        return replace(found, whole=replace(found.whole, given=wallets))


def wallets_of(folder: Opened, like: pd.DataFrame) -> pd.DataFrame:
    """Read the wallets, with the columns of a frame."""
    return stored(folder, like).wallets


def wallet_tables(
    folders: Sequence[Opened], like: pd.DataFrame, columns: list[str]
) -> list[pd.DataFrame]:
    """Read some columns of the wallets of each folder; several folders are one task."""
    on_folders = delayed(_wallet_tables, pure=False)
    tasks = [on_folders(some, like, columns) for some in pieces(folders, [1] * len(folders))]
    return [*chain.from_iterable(compute(*tasks))]


def _wallet_tables(
    folders: Sequence[Opened], like: pd.DataFrame, columns: list[str]
) -> list[pd.DataFrame]:
    return [wallets_of(folder, like)[columns] for folder in folders]


def balances_of(folder: Opened, columns: list[str] | None = None) -> pd.DataFrame:
    """Read the balances, or some columns of them."""
    with dataset_errors(folder.root):
        _require_unchanged(folder)
        return read_wallets(folder.root, columns=columns).holdings


def folders_of(wallets: dd.DataFrame, holdings: dd.DataFrame) -> list[Opened] | None:
    """Return the folders of two frames that were read as they are in the same ones; else None.

    A partition of such holdings need not be made a frame to be added up.
    """
    owners, balances = wallets.expr, holdings.expr
    found = getattr(owners, "func", None), getattr(balances, "func", None)
    if found != (wallets_of, balances_of):
        return None
    folders: list[Opened] = [*owners.iterables[0]]
    return folders if folders == [*balances.iterables[0]] else None


def pieces(items: Sequence[T], rows: Sequence[int]) -> Iterator[list[T]]:
    """Cut what is read into pieces that are worth their messages, given the rows of each item."""
    cluster = _cluster()
    here = dask.config.get("num_workers", None) or CPU_COUNT
    threads = sum(cluster.nthreads().values()) if cluster else here
    most = min(max(sum(rows) / (_PIECES * max(threads, 1)), 1), _LARGEST)
    starts = accumulate(rows[:-1], initial=0)
    numbered = zip((start // most for start in starts), items, strict=True)
    return ([item for _, item in some] for _, some in groupby(numbered, key=itemgetter(0)))


def results(tasks: Sequence[Any]) -> Iterator[Any]:
    """Yield results as they come, so that a cluster's need not be here all at once."""
    cluster = _cluster()
    if cluster is None:
        return iter(compute(*tasks))
    futures = as_completed(cluster.compute(tasks), with_results=True)
    return (result for _, result in futures)


def _cluster() -> Client | None:
    found = getattr(get_scheduler(), "__self__", None)
    return found if isinstance(found, Client) else None


@dataclass(frozen=True, slots=True)
class ClusterHoldings:
    """Holdings in partitions, and their wallets in memory."""

    frame: dd.DataFrame
    whole: Positions  # all wallets, without any rows
    owned: list[Codes]  # of each partition, the places of its wallets among all; ascending
    folders: list[Opened] | None = None  # of partitions that are as they are on the disk

    @property
    def respells(self) -> bool:
        """Whether blockchains are written alike: rows of a frame are as they are."""
        return self.folders is not None

    def over(self, work: Callable[[Block], T], names: Collection[str] = ()) -> Iterator[T]:
        """Apply a function to each partition, where it is, in one pass over the graph."""
        shared = delayed(work, traverse=False)
        if self.folders:
            on_folders, like = delayed(_on_folders, pure=False), self.whole.given.iloc[:0]
            tokens = self.whole.given["tokens"].to_numpy(dtype=np.int64, na_value=0)
            rows = [int(tokens[places].sum()) for places in self.owned]
            cut = pieces([*zip(count(), self.folders, self.owned)], rows)
            tasks = [on_folders(shared, some, like, [*names]) for some in cut]
            return chain.from_iterable(results(tasks))
        blocks = self._rows([*_VALUED, *names]).to_delayed()
        on_block = delayed(_on_block, pure=False)
        parts = enumerate(zip(blocks, self._told(), self.owned, strict=True))
        return results([on_block(shared, number, *part) for number, part in parts])

    def read(self, tokens: Collection[TokenKey], names: Collection[str]) -> pd.DataFrame:
        """Read the rows of some tokens, in their order."""
        rows = self._rows(names)
        some = rows.map_partitions(_of_tokens, {*tokens}, meta=rows._meta)  # noqa: SLF001 - Dask's
        return some.compute().reset_index(drop=True)

    def each(
        self,
        work: Callable[[Positions], T],
        tokens: Sequence[Collection[TokenKey]],
        names: Collection[str],
    ) -> Iterator[T]:
        """Apply a function to the rows of some tokens at a time, all on workers, in one pass."""
        rows = self._rows(names).to_delayed()
        cut = delayed(_cut, pure=False, nout=len(tokens))
        parts, keys = zip(rows, self._told(), strict=True), delayed([*tokens], traverse=False)
        chunks = zip(*(cut(*part, keys) for part in parts), strict=True)
        joined, shared = delayed(_on_chunks, pure=False), delayed(work, traverse=False)
        return iter(compute(*(joined(shared, list(each)) for each in chunks)))

    def valued(self, units: Units) -> dd.DataFrame:
        """Add prices and values to rows, whenever a partition is computed."""
        return self._mapped(_added, units)

    def flagged(self, flags: Flags, _unknown: Codes) -> dd.DataFrame:
        """Add what was found about spam; each partition finds rows of unknown tokens itself."""
        return self._mapped(_added, flags)

    def without(self, flags: Flags, _unknown: Codes) -> dd.DataFrame:
        """Remove flagged balances."""
        return self._mapped(_clean, flags)

    def _mapped(self, work: Callable[..., pd.DataFrame], found: Units | Flags) -> dd.DataFrame:
        """Work on each partition, by a number that it keeps where some are chosen later."""
        meta = work(self.frame._meta, found, pd.Series([0]))  # noqa: SLF001 - Dask's
        every = [[number] for number in range(self.frame.npartitions)]
        numbers = dd.from_map(pd.Series, every, meta=pd.Series([0]))
        shared = delayed(found, pure=True, traverse=False)  # which is sent to a worker once
        return self.frame.map_partitions(work, shared, numbers, meta=meta, align_dataframes=False)

    def _rows(self, names: Collection[str]) -> dd.DataFrame:
        wanted = {*_NEEDED, *names}
        return self.frame[[name for name in self.frame.columns if name in wanted]]

    def _told(self) -> list[pd.DataFrame | None]:
        """Return for each partition the lines of its own wallets."""
        if not self.whole.asked:
            return [None] * len(self.owned)
        given, owner = self.whole.given, np.full(len(self.whole.wallets), -1)
        for number, places in enumerate(self.owned):
            owner[places] = number
        columns = [name for name in given.columns if name in {*_TOLD, *self.whole.kept}]
        groups = given[columns].groupby(owner[wallet_identities(given).codes])
        found: dict[Any, pd.DataFrame] = dict(iter(groups))
        return [found.get(number, given[columns].iloc[:0]) for number in range(len(self.owned))]


def holdings_of_fetch(frame: dd.DataFrame, wallets: dd.DataFrame, by: By) -> ClusterHoldings:
    """Take the wallets of a partition for those of the same partition of holdings.

    It is seen where rows are read whether this is so.
    """
    none = _checked(frame, by)
    like: pd.DataFrame = wallets._meta  # noqa: SLF001 - Dask's
    folders, told = folders_of(wallets, frame), [*_TOLD, *kept_names(like)]
    tables = wallet_tables(folders, like, told) if folders else compute(*wallets[told].to_delayed())
    asked = pd.concat(tables, ignore_index=True)
    if folders:  # else rows are written as they are, too
        [asked] = respelled(asked)
    whole = read_positions(none, asked)
    if len(tables) != frame.npartitions or len(whole.wallets) < len(asked):
        return holdings_of(frame, asked, by)
    edges = np.cumsum([len(table) for table in tables])[:-1]
    return ClusterHoldings(frame, whole, np.split(np.arange(len(asked)), edges), folders)


def holdings_of(frame: dd.DataFrame, wallets: WalletsLike | None, by: By) -> ClusterHoldings:
    """Find out which wallets are in which partition, and refuse a wallet that is in two."""
    none = _checked(frame, by)
    asked: Any = wallets[0] if isinstance(wallets, tuple) else wallets
    parts = map(delayed(_wallets_of, pure=False), frame[_WALLET].to_delayed())
    told = asked.to_delayed() if is_dask_collection(asked) else []
    tables, frames = compute([*parts], told)  # of one moment
    asked = pd.concat(frames) if frames else asked
    met = pd.concat(tables, ignore_index=True)
    found = _owned_by(none, met, asked)
    edges = np.cumsum([len(table) for table in tables])[:-1]
    _require_apart(found, edges)
    whole = found.with_rows(none, token_identities(none), found.wallet_codes[:0])
    owned = np.split(found.wallet_codes, edges)
    return ClusterHoldings(frame, whole, [np.sort(places) for places in owned])


def _owned_by(none: pd.DataFrame, wallets: pd.DataFrame, asked: Any = None) -> Positions:
    """Make a row for each of some wallets, of a token that nobody reads."""
    rows = none[_NEEDED].reindex(range(len(wallets)))
    of_one = dict.fromkeys(TOKEN, wallets["blockchain"].array)
    return read_positions(rows.assign(**{name: wallets[name] for name in _WALLET}, **of_one), asked)


def _checked(frame: dd.DataFrame, by: By) -> pd.DataFrame:
    """Return the columns without rows, or refuse them."""
    if SNAPSHOT in names_of(by):
        raise SettingsError(
            "by: 'snapshot' takes balances that are in memory, and these are in partitions",
            hint="choose the rows of one snapshot, or compute() those of a few wallets or tokens",
        )
    none: pd.DataFrame = frame._meta  # noqa: SLF001 - as documented for those who extend Dask
    read_positions(none)
    return none


def rows_alone(frame: dd.DataFrame) -> ClusterHoldings:
    """Take holdings of which nobody asks whose they are."""
    none = _checked(frame, ())
    nobody = _owned_by(none, pd.DataFrame({name: [""] for name in _WALLET}, dtype=TEXT))
    whole = nobody.with_rows(none, token_identities(none), nobody.wallet_codes[:0])
    return ClusterHoldings(frame, whole, [np.empty(0, dtype=np.intp)] * frame.npartitions)


def _wallets_of(part: pd.DataFrame) -> pd.DataFrame:
    return part.iloc[wallet_identities(part).first].reset_index(drop=True)


def _require_apart(found: Positions, edges: Codes) -> None:
    """Refuse wallets whose rows are in several partitions."""
    times = np.bincount(found.wallet_codes, minlength=len(found.wallets))
    if (times > 1).any():
        first = int(np.argmax(times > 1))
        numbers = np.searchsorted(edges, np.flatnonzero(found.wallet_codes == first), side="right")
        name = ".".join(found.wallets.iloc[first])
        raise ArgumentError(
            f"{many(int((times > 1).sum()), 'wallet')} with rows in several partitions, such as "
            f"{shown(name)!r} in {numbers[0]} and {numbers[1]}: it would be counted twice",
            hint="bring them together, however each is written: "
            'holdings.assign(key=holdings["address"].str.strip().str.lower()).shuffle("key")',
        )


def _on_block(
    work: Callable[[Block], T],
    number: int,
    rows: pd.DataFrame,
    wallets: pd.DataFrame | None,
    places: Codes,
) -> T:
    """Make a block of a partition, and work on it."""
    try:
        positions = read_positions(rows.reset_index(drop=True), wallets)
    except UnknownWalletError as stranger:
        raise ArgumentError(
            f"partition {number} of wallets lacks {shown(str(stranger.wallet))}, "
            "which has rows in that of holdings",
            hint="name the wallets, which are then looked for in all: wallets=opened.wallets",
        ) from None
    if not len(places):  # nobody asks whose the rows are
        places = np.zeros(len(positions.wallets), dtype=np.intp)
    return work(Block(positions, places, number * _APART + np.arange(len(rows))))


def _on_folders(
    work: Callable[[Block], T],
    folders: Sequence[tuple[int, Opened, Codes]],
    like: pd.DataFrame,
    names: list[str],
) -> list[T]:
    """Read folders block by block, and work on each."""
    found: list[T] = []
    for number, folder, places in folders:

        def on_block(block: Block, first: int = number * _APART, places: Codes = places) -> T:
            return work(replace(block, places=places[block.places], rows=first + block.rows))

        found += stored(folder, like).over(on_block, names)
    return found


def _numbers(rows: pd.DataFrame, tokens: Sequence[Collection[TokenKey]]) -> Codes:
    """Return each row's token-set index, or -1."""
    places = {key: number for number, some in enumerate(tokens) for key in some}
    found = token_identities(rows)
    numbers = [places.get(key, -1) for key in found.plain_keys]
    return np.array(numbers, dtype=np.intp)[found.codes]


def _added(rows: pd.DataFrame, found: Units | Flags, number: pd.Series) -> pd.DataFrame:
    places = number.iloc[0] * _APART + np.arange(len(rows))
    return rows.assign(**found.columns(cases_of(rows, places=places)))


def _clean(rows: pd.DataFrame, flags: Flags, number: pd.Series) -> pd.DataFrame:
    return rows[~_added(rows, flags, number)["is_spam"]]


def _of_tokens(rows: pd.DataFrame, tokens: set[TokenKey]) -> pd.DataFrame:
    return rows[_numbers(rows, [tokens]) == 0]


def _cut(
    rows: pd.DataFrame, wallets: pd.DataFrame | None, tokens: list[set[TokenKey]]
) -> list[tuple[pd.DataFrame, pd.DataFrame | None]]:
    """Cut rows by their tokens, each with what is said of its wallets."""
    numbers = _numbers(rows, tokens)
    cut = [rows[numbers == number] for number in range(len(tokens))]
    if wallets is None:
        return [(some, None) for some in cut]
    told = wallet_identities(wallets)
    keys = [{*wallet_identities(some).keys} for some in cut]
    marks = [np.array([key in some for key in told.keys], dtype=bool) for some in keys]
    return [(some, wallets[mark[told.codes]]) for some, mark in zip(cut, marks, strict=True)]


def _on_chunks(
    work: Callable[[Positions], T], chunks: list[tuple[pd.DataFrame, pd.DataFrame | None]]
) -> T:
    """Concatenate rows, and work on them."""
    rows, wallets = zip(*chunks, strict=True)
    told = None if wallets[0] is None else pd.concat(wallets)
    return work(read_positions(pd.concat(rows, ignore_index=True), told))
