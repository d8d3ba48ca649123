"""A folder of a bulk run as one fetch that stays on the disk, read block by block."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa

from walletframe.amounts import AmountArray
from walletframe.bulk.added import FLAGGED, PRICED, cases_of_frame, cases_of_ways
from walletframe.bulk.files import POSITION, Layout, as_frame, dataset_errors
from walletframe.bulk.parts import read_contents, rows_of
from walletframe.bulk.reading import column_of, read_holdings, service_of, with_told
from walletframe.disk import local_folder
from walletframe.errors import DatasetError
from walletframe.frames import (
    HOLDING_DTYPES,
    TOKEN,
    WALLET_DTYPES,
    Block,
    Positions,
    TokenBook,
    among,
    read_positions,
    respelled,
    some_positions,
    typed_frame,
    ways_found,
    ways_together,
)

T = TypeVar("T")
_NEEDED = ("blockchain", "address", *TOKEN, "amount")

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from walletframe.bulk.added import Cases, Flags, Units
    from walletframe.bulk.parts import Contents, Part
    from walletframe.frames import Codes, Mask, TokenKey


@dataclass(frozen=True, slots=True)
class StoredHoldings:
    """The wallets of a folder as they were when it was opened, and their balances on the disk."""

    root: Path
    contents: Contents
    order: Codes  # of each wallet, its place in `contents`
    whole: Positions  # all wallets, without any rows
    counts: Codes  # of each wallet, how many rows it has
    units: Units | None = None  # where they were valued
    flags: Flags | None = None  # where spam was flagged
    left_out: tuple[Flags, ...] = ()  # and where it was left out, the last time last
    unknown: Codes | None = None  # with flags, the places of all rows of unknown tokens

    @property
    def wallets(self) -> pd.DataFrame:
        """All wallets, those that are not ok among them."""
        return self.whole.given

    def valued(self, units: Units) -> StoredHoldings:
        """Return the same with prices and values, in place of earlier ones."""
        return replace(self, units=units, whole=self._with(PRICED))

    def flagged(self, flags: Flags, unknown: Codes) -> StoredHoldings:
        """Return the same with flags; `unknown` has the places of rows of unknown tokens."""
        unknown = unknown if self.unknown is None else self.unknown
        return replace(self, flags=flags, unknown=unknown, whole=self._with(FLAGGED))

    def without(self, flags: Flags, unknown: Codes) -> StoredHoldings:
        """Return the same without the rows that are flagged as spam."""
        unknown = unknown if self.unknown is None else self.unknown
        return replace(self, left_out=(*self.left_out, flags), unknown=unknown)

    def some(self, places: Codes) -> StoredHoldings:
        """Return the same with some of the wallets alone, by their places, which ascend."""
        marks = np.zeros(len(self.order), dtype=bool)
        marks[self.order[places]] = True
        none = self.whole.holdings, self.whole.tokens, self.whole.wallet_codes
        whole = replace(
            some_positions(self.whole, places, *none),
            given=self.wallets.iloc[places].reset_index(drop=True),
            first=np.arange(len(places)),
        )

        def moved(flags: Flags) -> Flags:
            old = np.array([*flags.of_rows], dtype=np.intp)
            pairs = zip(*self._moved(old, places), strict=True)
            return replace(flags, of_rows={new: flags.of_rows[row] for row, new in pairs})

        return replace(
            self,
            contents=self.contents.some(marks),
            order=(np.cumsum(marks) - 1)[self.order[places]],
            whole=whole,
            counts=self.counts[places],
            flags=self.flags and moved(self.flags),
            left_out=tuple(map(moved, self.left_out)),
            unknown=None
            if self.unknown is None
            else np.array(self._moved(self.unknown, places)[1], dtype=np.intp),
        )

    def _moved(self, rows: Codes, places: Codes) -> tuple[list[int], list[int]]:
        """Give those of some rows that wallets at these places have, and their new places."""
        ends, left = np.cumsum(self.counts), np.cumsum(self.counts[places])
        owners = np.searchsorted(ends, rows, side="right")
        stays = np.isin(owners, places)
        new = left[np.searchsorted(places, owners[stays])] - ends[owners[stays]] + rows[stays]
        return rows[stays].tolist(), new.tolist()

    def _with(self, dtypes: Mapping[str, str]) -> Positions:
        """Return the wallets without rows, which have some more columns."""
        none = typed_frame(dict.fromkeys(dtypes, ()), dtypes)
        return replace(self.whole, holdings=self.whole.holdings.assign(**none))

    def over(
        self,
        work: Callable[[Block], T],
        names: Collection[str] = (),
        book: TokenBook | None = None,
    ) -> Iterator[T]:
        """Read what tables need of all balances, and some more columns, part by part.

        Their tokens have the numbers of a new book, if none is given.
        """
        book = TokenBook() if book is None else book
        with dataset_errors(self.root):
            for part, places in self._parts():
                yield work(self._block(part, places, names, book))

    def tokens(self) -> pd.DataFrame:
        """Give each way in which a token is written a row, in the order of the first ones.

        ``balances`` says how many rows have it; each row of an unknown token has one of its own.
        """
        found, book = [], TokenBook()
        with dataset_errors(self.root):
            for part, places in self._parts():
                order = np.argsort(places)
                ways = book.ways(part.read(TOKEN), rows_of(part.counts, order))
                written = ways_found(ways, self._rows(places[order]))
                cases = cases_of_ways(
                    ways.take(written.index.to_numpy()), written["first"].to_numpy()
                )
                found.append(written[self._left(cases)])
        return ways_together(found, self.wallets)

    def read(self, tokens: Collection[TokenKey] | None, names: Collection[str]) -> pd.DataFrame:
        """Read the rows of some tokens, or all of them for None, in their order."""
        wanted = {*_NEEDED, *names, *self._sent}
        with dataset_errors(self.root):
            columns = [name for name in HOLDING_DTYPES if name in wanted]
            chosen = None if tokens is None else {*tokens}
            held = read_holdings(self.contents, self.wallets, self.order, columns, chosen)
        [_, held] = respelled(self.wallets, held)
        if not self.left_out and {*PRICED, *FLAGGED}.isdisjoint(names):
            return held
        cases = cases_of_frame(held, self.unknown)
        added = held.assign(**self._added(held, cases, names))[self._left(cases)]
        return added[[name for name in added.columns if name in wanted]].reset_index(drop=True)

    def each(
        self,
        work: Callable[[Positions], T],
        tokens: Sequence[Collection[TokenKey]],
        names: Collection[str],
    ) -> Iterator[T]:
        """Do something with the rows of some tokens at a time."""
        return (work(among(self.whole, self.read(keys, names))) for keys in tokens)

    def stamp(self) -> bytes:
        """Return a digest of what is read and was done to it: another one where that is other."""
        told: list[object] = [self.order.tolist(), self.units, self.flags, self.left_out]
        frames = [self.wallets]
        with dataset_errors(self.root):
            for part in self.contents.parts:
                if isinstance(part.source, pa.Table):  # of the journal
                    frames.append(part.source.to_pandas())
                else:
                    found = part.source.stat()
                    told.append((part.source.name, found.st_size, found.st_mtime_ns))
        for frame in frames:
            told += [[*frame], pd.util.hash_pandas_object(frame, index=False).tolist()]
        return sha256(ascii(told).encode()).digest()

    @property
    def _sent(self) -> set[str]:
        return {"price"} if self.units and self.units.of is None else set()

    def _left(self, cases: Cases) -> Mask:
        """Tell which rows were not left out."""
        left = np.ones(len(cases.codes), dtype=bool)
        for flags in self.left_out:
            left &= ~flags.columns(cases)["is_spam"]
        return left

    def _added(
        self, holdings: pd.DataFrame, cases: Cases, names: Collection[str]
    ) -> dict[str, Any]:
        """Give rows their prices and values, and flags where these are named."""
        found = self.units.columns(cases, holdings) if self.units else {}
        if self.flags and not FLAGGED.keys().isdisjoint(names):
            found |= self.flags.columns(cases)
        return found

    def _parts(self) -> Iterator[tuple[Part, Codes]]:
        """Give each part, and of its wallets their places among all."""
        places = np.empty(len(self.order), dtype=np.intp)
        places[self.order] = np.arange(len(self.order))
        start = 0
        for part in self.contents.parts:
            yield part, places[start : start + len(part.wallets)]
            start += len(part.wallets)

    def _rows(self, places: Codes) -> Codes:
        """Give the places of wallets' rows among all, wallet by wallet."""
        rows = rows_of(self.counts, places)
        return np.arange(self.counts.sum()) if rows is None else rows

    def _block(self, part: Part, places: Codes, names: Collection[str], book: TokenBook) -> Block:
        order = np.argsort(places)
        places = places[order]
        wanted = HOLDING_DTYPES.keys() & {*names, *self._sent}
        more = [name for name in wanted if name not in _NEEDED]
        read, taken = part.read([*TOKEN, "amount", *more]), rows_of(part.counts, order)
        owners = np.repeat(np.arange(len(places)), part.counts[order])
        chains, kinds = pd.factorize(self.whole.chain_codes[places])
        ways = book.ways(read, taken, (chains[owners], max(len(kinds), 1)))
        columns = ways.columns()
        amounts = read["amount"] if taken is None else read["amount"].take(taken)
        columns["amount"] = AmountArray._of_words(amounts)  # noqa: SLF001 - of ours
        columns |= {name: column_of(name, [read[name]], taken) for name in more}
        for name in {"blockchain", "address"}.intersection(names):
            columns[name] = self.whole.wallets[name].array.take(places[owners])
        holdings, rows = pd.DataFrame(columns, copy=False), self._rows(places)
        if self.left_out:
            left = np.flatnonzero(self._left(cases_of_ways(ways, rows)))
            holdings = holdings.take(left).reset_index(drop=True)
            owners, rows, ways = owners[left], rows[left], ways.take(left)
        if self.units or self.flags:
            added = self._added(holdings, cases_of_ways(ways, rows), names)
            holdings = holdings.assign(**added)
        positions = some_positions(self.whole, places, holdings, ways.identities(), owners)
        return Block(positions, places, rows, ways)


def open_holdings(folder: str | Path) -> StoredHoldings:
    """Open the folder of a bulk run; what a run writes later is seen where it is opened anew."""
    layout = Layout(local_folder(folder))
    with dataset_errors(layout.root):
        contents = read_contents(layout, service_of(layout))
        return stored_holdings(contents, layout)


def stored_holdings(contents: Contents, layout: Layout) -> StoredHoldings:
    """Put the wallets of a folder in their order."""
    found = contents.wallets
    order = np.argsort(found[POSITION].to_numpy(), kind="stable")
    [wallets] = respelled(as_frame(found, WALLET_DTYPES).take(order).reset_index(drop=True))
    whole = read_positions(_no_balances(), with_told(wallets, layout))
    if len(whole.wallets) < len(wallets):
        raise DatasetError(f"{layout.root} has a wallet twice", hint="fetch into a new folder")
    counts = np.concatenate(
        [*(part.counts for part in contents.parts), np.zeros(len(contents.left))]
    )
    return StoredHoldings(layout.root, contents, order, whole, counts[order].astype(np.intp))


@cache
def _no_balances() -> Positions:
    return read_positions(typed_frame(dict.fromkeys(HOLDING_DTYPES, ()), HOLDING_DTYPES))
