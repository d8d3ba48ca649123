"""Holdings in partitions as blocks, worked on where they are: what comes back is small.

The rows of a wallet are in one partition: else those who hold something would be counted twice.
Which wallets each partition has is found in a pass of its own, over two columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from dask.base import compute, is_dask_collection
from dask.delayed import delayed

from walletframe.dask.passes import pieces, results
from walletframe.dask.reading import folders_of, stored, wallet_tables
from walletframe.errors import ArgumentError, SettingsError, UnknownWalletError
from walletframe.frames import (
    SNAPSHOT,
    TOKEN,
    UNKNOWN,
    Block,
    Positions,
    TokenBook,
    amounts_of,
    is_unknown,
    kept_names,
    names_of,
    read_positions,
    respelled,
    text_dictionaries,
    token_identities,
    wallet_identities,
    ways_found,
    ways_together,
)
from walletframe.numerals import many
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    import dask.dataframe as dd

    from walletframe.dask.reading import Opened
    from walletframe.frames import By, Codes, FetchLike, TokenKey

T = TypeVar("T")
WalletsLike: TypeAlias = "dd.DataFrame | FetchLike | tuple[Any, ...]"
"""The wallets of a fetch, or the whole of it, in memory or in partitions."""

_WALLET = ["blockchain", "address"]
_NEEDED = [*_WALLET, *TOKEN, "amount"]
_VALUED = ["value", "currency"]
_TOLD = [*_WALLET, "status", "tokens", "source"]
APART = 2**32  # a partition has fewer rows


class _Done(NamedTuple, Generic[T]):
    """What came of several blocks, in one message: a list's items would each bring their book."""

    found: list[T]


@dataclass(frozen=True, slots=True)
class ClusterHoldings:
    """Holdings in partitions, and their wallets in memory."""

    frame: dd.DataFrame
    whole: Positions  # all wallets, without any rows
    owned: list[Codes]  # of each partition, the places of its wallets among all; ascending
    folders: list[Opened] | None = None  # of partitions that are as they are on the disk

    def tokens(self) -> pd.DataFrame:
        """Give each way in which a token is written a row, in the order of the first ones."""
        return ways_together([*self.over(_ways_of)], self.whole.given if self.folders else None)

    def over(self, work: Callable[[Block], T], names: Collection[str] = ()) -> Iterator[T]:
        """Do something with each partition, where it is, in one pass over the graph."""
        shared = delayed(work, traverse=False)
        if self.folders:
            on_folders, like = delayed(_on_folders, pure=False), self.whole.given.iloc[:0]
            tokens = self.whole.given["tokens"].to_numpy(dtype=np.int64, na_value=0)
            rows = [int(tokens[places].sum()) for places in self.owned]
            cut = pieces([*zip(count(), self.folders, self.owned)], rows)
            tasks = [on_folders(shared, some, like, [*names]) for some in cut]
            return chain.from_iterable(done.found for done in results(tasks))
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
        """Do something with the rows of some tokens at a time, all on workers, in one pass."""
        rows = self._rows(names).to_delayed()
        cut = delayed(_cut, pure=False, nout=len(tokens))
        parts, keys = zip(rows, self._told(), strict=True), delayed([*tokens], traverse=False)
        chunks = zip(*(cut(*part, keys) for part in parts), strict=True)
        joined, shared = delayed(_on_chunks, pure=False), delayed(work, traverse=False)
        return iter(compute(*(joined(shared, list(each)) for each in chunks)))

    def _rows(self, names: Collection[str]) -> dd.DataFrame:
        wanted = {*_NEEDED, *names}
        return self.frame[[name for name in self.frame.columns if name in wanted]]

    def _told(self) -> list[pd.DataFrame | None]:
        """Give each partition what is said of its own wallets."""
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
    rows = none[_NEEDED].reindex(range(len(met)))
    of_one = dict.fromkeys(TOKEN, met["blockchain"].array)  # which nobody reads
    found = read_positions(rows.assign(**{name: met[name] for name in _WALLET}, **of_one), asked)
    edges = np.cumsum([len(table) for table in tables])[:-1]
    _require_apart(found, edges)
    whole = replace(
        found,
        holdings=none,
        amounts=amounts_of(none["amount"]),
        tokens=token_identities(none),
        wallet_codes=found.wallet_codes[:0],
    )
    owned = np.split(found.wallet_codes, edges)
    return ClusterHoldings(frame, whole, [np.sort(places) for places in owned])


def _checked(frame: dd.DataFrame, by: By) -> pd.DataFrame:
    """Give the columns without rows, or refuse them."""
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
    nobody = read_positions(frame._meta)  # noqa: SLF001 - Dask's
    return ClusterHoldings(frame, nobody, [np.empty(0, dtype=np.intp)] * frame.npartitions)


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
    chains = positions.chain_codes[positions.wallet_codes], max(len(positions.chains), 1)
    ways = TokenBook(respells=False).ways(text_dictionaries(rows), None, chains)
    return work(Block(positions, places, number * APART + np.arange(len(rows)), ways))


def _on_folders(
    work: Callable[[Block], T],
    folders: Sequence[tuple[int, Opened, Codes]],
    like: pd.DataFrame,
    names: list[str],
) -> _Done[T]:
    """Read folders block by block, and work on each; tokens that several have are met once."""
    book = TokenBook()
    found: list[T] = []
    for number, folder, places in folders:

        def on_block(block: Block, first: int = number * APART, places: Codes = places) -> T:
            return work(replace(block, places=places[block.places], rows=first + block.rows))

        found += stored(folder, like).over(on_block, names, book)
    return _Done(found)


def _numbers(rows: pd.DataFrame, tokens: Sequence[Collection[TokenKey]]) -> Codes:
    """Give of each row which of some sets has its token, -1 for none."""
    places = {key: number for number, some in enumerate(tokens) for key in some}
    found = token_identities(rows)
    keys = (UNKNOWN if is_unknown(key) else key for key in found.keys)
    return np.array([places.get(key, -1) for key in keys], dtype=np.intp)[found.codes]


def _of_tokens(rows: pd.DataFrame, tokens: set[TokenKey]) -> pd.DataFrame:
    chosen: pd.DataFrame = rows[_numbers(rows, [tokens]) == 0]
    return chosen


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
    """Put rows together, and work on them."""
    rows, wallets = zip(*chunks, strict=True)
    told = None if wallets[0] is None else pd.concat(wallets)
    return work(read_positions(pd.concat(rows, ignore_index=True), told))


def _ways_of(block: Block) -> pd.DataFrame:
    return ways_found(block.ways, block.rows)
