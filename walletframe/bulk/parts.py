"""What a folder holds at one moment: parts, which never change, and what is in no part yet."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from walletframe.amounts.arrow import SUFFIX, from_portable
from walletframe.bulk.files import (
    Layout,
    apart,
    as_tables,
    keys_of,
    no_tables,
    part_name,
    part_numbers,
    part_tables,
    still_failed,
)
from walletframe.bulk.journal import left_in, segments
from walletframe.disk import read_parquet
from walletframe.errors import DatasetError
from walletframe.frames import TOKEN, assemble
from walletframe.wire import Status

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence
    from pathlib import Path

    from walletframe.frames import Codes, Mask, WalletRecord

_REPEATED = ["blockchain", "address", *TOKEN]  # text that is worth a dictionary
_TEXT = pa.large_string()
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Part:
    """Wallets that are ok, all or some of those of a file, and where their balances are."""

    wallets: pa.Table
    chosen: Mask  # which wallets of the file these are
    sizes: Codes  # of each wallet of the file, how many balances it has
    source: Path | pa.Table

    @property
    def counts(self) -> Codes:
        """How many balances each of the wallets has."""
        return self.sizes[self.chosen]

    def read(self, names: Sequence[str], taken: Codes | None = None) -> dict[str, Any]:
        """Read columns of the balances, wallet by wallet: Arrow arrays, and Words of amounts.

        Text that repeats comes as dictionaries. `taken` has the rows to take, in their order.
        """
        wanted = [f"{name}{SUFFIX}" if name == "amount" else name for name in names]
        table = self._checked(self._columns([*dict.fromkeys([*wanted, "address"])]))
        rows = None
        if not self.chosen.all():
            rows = np.flatnonzero(np.repeat(self.chosen, self.sizes))
        if taken is not None:
            rows = taken if rows is None else rows[taken]

        def column(table: pa.Table, name: str, rows: Codes | None) -> pa.Array:
            whole = _whole(table[name])
            return whole if rows is None else whole.take(pa.array(rows))

        def texts(places: Codes) -> pa.Array:
            some = places if rows is None else rows[places]
            return column(self._columns(["amount"]), "amount", some)

        found = {name: column(table, own, rows) for name, own in zip(names, wanted, strict=True)}
        if "amount" in found:
            found["amount"] = from_portable(found["amount"], texts)
        return found

    def _columns(self, names: list[str]) -> pa.Table:
        if isinstance(self.source, pa.Table):
            coded = [
                column.dictionary_encode() if name in _REPEATED else column
                for name, column in zip(names, self.source.select(names).columns, strict=True)
            ]
            return pa.table(coded, names=names)
        repeated = [name for name in names if name in _REPEATED]
        with pq.ParquetFile(self.source, read_dictionary=repeated) as file:
            return file.read(names).unify_dictionaries()

    def _checked(self, table: pa.Table) -> pa.Table:
        """Refuse balances of other wallets than those of the part."""
        if self.sizes.sum() == len(table):
            addresses = _whole(table["address"])
            codes = addresses.indices.fill_null(-1).to_numpy()
            held = self.chosen & (self.sizes > 0)
            owners = codes[(np.cumsum(self.sizes) - self.sizes)[held]]
            alike = codes[np.repeat(held, self.sizes)] == np.repeat(owners, self.sizes[held])
            named = self.wallets["address"].filter(pa.array(self.counts > 0)).cast(_TEXT)
            found = addresses.dictionary.cast(_TEXT).take(pa.array(owners))
            if alike.all() and named.combine_chunks().equals(found):
                return table
        path: Any = self.source
        raise DatasetError(
            f"{path.parents[1]}: the two files {path.name} don't belong together",
            hint=f"remove both; the same fetch_to_parquet again asks for what was in {path.name}",
        )


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """Join the chunks; Arrow before 23 can't where there is none of a dictionary's."""
    if column.num_chunks or not pa.types.is_dictionary(column.type):
        return column.combine_chunks()
    return pa.array([], column.type.value_type).dictionary_encode()


@dataclass(frozen=True, slots=True)
class Contents:
    """The wallets of a folder: those that are ok, in parts, and the others; each is there once."""

    parts: list[Part]
    left: pa.Table

    @property
    def wallets(self) -> pa.Table:
        """All of them, part by part, then those that are not ok."""
        return pa.concat_tables([*(part.wallets for part in self.parts), self.left])

    def some(self, marks: Mask) -> Contents:
        """Return those of `wallets` that are marked; there is at least one part."""
        parts, start = [], 0
        for part in self.parts:
            own = marks[start : start + len(part.wallets)]
            start += len(own)
            if own.any() or part is self.parts[-1]:
                chosen = part.chosen.copy()
                chosen[chosen] = own
                parts.append(
                    replace(part, wallets=part.wallets.filter(pa.array(own)), chosen=chosen)
                )
        return Contents(parts, self.left.filter(pa.array(marks[start:])))


def read_contents(layout: Layout, service: str, keys: Container[str] | None = None) -> Contents:
    """Read the wallets of a folder, all or some; there is at least one part, maybe without any."""
    unwritten = left_in(segments(layout.inner), service)  # what leaves it meanwhile is in a part
    failed = _failed(layout)  # before the others: what comes right meanwhile is found there
    parts, unlisted = [], []
    for number in part_numbers(layout.wallets):
        path = layout.holdings / part_name(number)
        whole = read_parquet(layout.wallets / path.name)
        wanted = _wanted(whole, keys)
        wallets, rest = apart(whole.filter(wanted))
        if len(wallets):
            chosen = np.asarray(wanted) & np.asarray(whole["tokens"].is_valid())
            parts.append(Part(wallets, chosen, _sizes(whole), path))
        unlisted.append(rest)
    for part in parts if unwritten else ():
        for key in keys_of(part.wallets):
            unwritten.pop(key, None)
    wallets, holdings = _as_part(unwritten.values(), is_ok=True)
    wanted = _wanted(wallets, keys)
    parts.append(Part(wallets.filter(wanted), np.asarray(wanted), _sizes(wallets), holdings))
    not_ok, _ = _as_part(unwritten.values(), is_ok=False)
    left = still_failed([*unlisted, *failed, not_ok], (part.wallets for part in parts))
    return Contents(parts, left.filter(_wanted(left, keys)))


def _wanted(wallets: pa.Table, keys: Container[str] | None) -> pa.Array:
    if keys is None:
        return pa.array(np.ones(len(wallets), dtype=bool))
    return pa.array([key in keys for key in keys_of(wallets)], pa.bool_())


def _sizes(wallets: pa.Table) -> Codes:
    sizes: Codes = wallets["tokens"].fill_null(0).to_numpy()
    return sizes


def _failed(layout: Layout) -> list[pa.Table]:
    """Read what failed, once more where a run has just brought it up to date."""
    for _ in range(_TRIES):
        with suppress(FileNotFoundError):
            return list(part_tables(layout.failed))
    raise DatasetError(f"{layout.failed} keeps changing", hint="read it again")


def _as_part(
    found: Iterable[tuple[WalletRecord, int]], *, is_ok: bool
) -> tuple[pa.Table, pa.Table]:
    """Return what is in the journal alone as the tables of a part."""
    of_kind = [each for each in found if (each[0].outcome.status is Status.OK) == is_ok]
    if not of_kind:
        return no_tables()
    return as_tables(assemble(record for record, _ in of_kind), [place for _, place in of_kind])


def rows_of(counts: Codes, order: Codes) -> Codes | None:
    """Give the rows of wallets one after the other; None where these are all, as they stand."""
    taken = counts[order]
    if np.array_equal(order, np.arange(len(order))) and taken.sum() == counts.sum():
        return None
    first = np.cumsum(counts)[order] - np.cumsum(taken)
    rows: Codes = np.repeat(first, taken)
    rows += np.arange(len(rows))
    return rows
