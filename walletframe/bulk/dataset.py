"""The folder of a bulk run, opened for writing, and a register of the wallets."""
# The files of a part are written under other names, synced to the disk, and then renamed: first the
# failed wallets, then the holdings, and last the ok wallets, which complete the part. If a run ends
# in between, it leaves at most a file of holdings without the file of their wallets. The next run
# removes that file, and writes the part again.

from __future__ import annotations

import os
import time
from contextlib import ExitStack, suppress
from itertools import count
from platform import node
from threading import Event
from typing import TYPE_CHECKING, Any, Literal, Self

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from filelock import Timeout

from walletframe.bulk import files
from walletframe.bulk.files import POSITION, UNFINISHED, Layout, dataset_errors
from walletframe.bulk.journal import segments, unwritten_records
from walletframe.disk import locked, private_file, private_folder, publish
from walletframe.errors import DatasetError
from walletframe.frames.assembly import assemble
from walletframe.frames.extra_columns import DISTINCT, add_extra_columns, extra_to_arrow
from walletframe.frames.schema import text_array

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from filelock import AcquireReturnProxy

    from walletframe.address.forms import WalletAddress
    from walletframe.frames.details import WalletDetails

_RETRY_S = 0.5


class Register:
    """Dicts from wallet keys to positions, for the wallets in the folder and in this run."""

    # A wallet that is in the folder keeps its position. A new wallet gets the position after the
    # previous wallet of the input, if this position is free, because an earlier run of the same
    # list did not reach it. If the position is not free, the new wallet gets the position after all
    # wallets. If each of several folders has some wallets of a list, `positions` contains the
    # positions of new wallets.

    def __init__(
        self,
        wallets: Iterable[pa.Table],
        failed: Iterable[pa.Table],
        positions: Mapping[str, int] | None = None,
    ) -> None:
        self.stored: dict[str, int] = _read_positions(wallets)  # ok in the folder before this run
        self.pending: dict[str, int] = {}
        self.seen: set[str] = set()  # the wallets of this run
        self._failed, self._positions_of_new = _read_positions(failed), positions
        self._previous_position = -1
        used_positions = {*self.stored.values(), *self._failed.values()}
        self._next_position = max(used_positions, default=-1) + 1
        self._free_positions = set(range(self._next_position)) - used_positions

    def classify(self, key: str) -> Literal["request", "stored", "duplicate"]:
        """Return what the next wallet of the input is. A wallet to request becomes pending."""
        if key in self.seen:
            return "duplicate"
        self.seen.add(key)
        if key in self.stored:
            self._previous_position = self.stored[key]
            return "stored"
        candidate = self._previous_position + 1
        if key in self._failed:
            position = self._failed[key]
        elif self._positions_of_new is not None:
            position = self._positions_of_new[key]
        elif candidate in self._free_positions:
            self._free_positions.remove(candidate)
            position = candidate
        else:
            position = self._next_position
            self._next_position += 1
        self._previous_position = self.pending[key] = position
        return "request"


class Dataset:
    """A folder with a write lock. If another run has the lock, wait up to `lock_timeout_s`."""

    def __init__(
        self, root: Path, service: str, lock_timeout_s: float = 0.0, cancel: Event | None = None
    ) -> None:
        self.layout: Layout = Layout(root)
        layout = self.layout
        self._service = service
        with ExitStack() as resources, dataset_errors(root):
            if root.exists() and not layout.marker.exists():
                layout.require_empty("the folder of an earlier run")
            private_folder(layout.inner)
            resources.enter_context(_lock_folder(layout, lock_timeout_s, cancel or Event()))
            with suppress(OSError):  # the file is only for the error message of other runs
                layout.holder.unlink(missing_ok=True)  # a killed process may have left the file
                with private_file(layout.holder) as file:
                    file.write(f"process {os.getpid()} on {node()}".encode())
            resources.callback(layout.holder.unlink, missing_ok=True)
            files.write_marker(layout.marker, service=service)
            for unfinished in layout.inner.glob(f"*{UNFINISHED}"):
                unfinished.unlink()
            for folder in (layout.wallets, layout.holdings, layout.failed):
                private_folder(folder)
            numbers, failed = files.part_numbers(layout.wallets), files.part_numbers(layout.failed)
            for number in {*files.part_numbers(layout.holdings)} - {*numbers}:
                (layout.holdings / files.part_name(number)).unlink()
            self._had_failed = bool(failed or segments(layout.inner))
            numbers += failed
            self._numbers = count(max(numbers, default=0) + 1)
            self._resources = resources.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._resources.close()

    def recover(self, new_positions: Mapping[str, int] | None = None) -> Register:
        """Write the journal of an earlier run as a part; return the register of all wallets."""
        layout = self.layout
        with dataset_errors(layout.root):
            journal = segments(layout.inner)
            stored = _read_positions(files.part_tables(layout.wallets) if journal else ())
            unwritten = unwritten_records(journal, self._service).items()
            if missing := [pair for key, pair in unwritten if key not in stored]:
                records, positions = zip(*missing, strict=True)
                self.write_part(assemble(records), positions)
            wallets, failed = map(files.part_tables, (layout.wallets, layout.failed))
            register = Register(wallets, failed, new_positions)
            for segment in journal:
                segment.unlink()
        return register

    def write_part(self, details: WalletDetails, positions: Sequence[int]) -> None:
        """Write a part. If writing fails, the earlier parts are unchanged."""
        with dataset_errors(self.layout.root):
            ok, holdings, failed = files.as_tables(details, positions)
            layout, name = self.layout, files.part_name(next(self._numbers))
            tables = {layout.failed / name: failed} if failed.num_rows else {}
            if ok.num_rows:
                tables |= {layout.holdings / name: holdings, layout.wallets / name: ok}
            self._write(tables)

    def write_extra_columns(
        self, wallets: Sequence[WalletAddress], extra_columns: pd.DataFrame
    ) -> None:
        """Write the extra columns of wallets. An earlier value remains if there is no new one."""
        new = extra_columns.assign(
            blockchain=text_array([wallet.blockchain for wallet in wallets]),
            address=text_array([wallet.address for wallet in wallets]),
        )
        with dataset_errors(self.layout.root):
            existing = files.read_extra_columns(self.layout)
            combined = new if existing is None else pd.concat([new, existing], ignore_index=True)
            is_first = ~pd.Index(files.keys_of(combined)).duplicated()
            distinct = combined.loc[is_first, ["blockchain", "address"]].reset_index(drop=True)
            values = files.first_extra_values(combined, files.keys_of(distinct))
            table = extra_to_arrow(add_extra_columns(distinct, values))
            if existing is None or not table.equals(extra_to_arrow(existing)):
                self._write({self.layout.kept: table})

    def compact_failed(self) -> None:
        """Merge the files of failed wallets into one. Wallets that are ok by now are dropped."""
        numbers = files.part_numbers(self.layout.failed)
        if len(numbers) <= 1 and not self._had_failed:
            return
        with dataset_errors(self.layout.root):
            wallets = files.part_tables(self.layout.wallets) if self._had_failed else ()
            failed = files.select_still_failed(files.part_tables(self.layout.failed), wallets)
            if failed.num_rows:
                self._write({self.layout.failed / files.part_name(next(self._numbers)): failed})
            for number in numbers:
                (self.layout.failed / files.part_name(number)).unlink()

    def _write(self, tables: Mapping[Path, pa.Table]) -> None:
        """Write complete files under other names, then rename them one after the other."""
        unfinished = {self.layout.inner / f"{n}{UNFINISHED}": path for n, path in enumerate(tables)}
        for path, table in zip(unfinished, tables.values(), strict=True):
            with private_file(path) as file:
                dictionary_columns = [name for name in table.column_names if name not in DISTINCT]
                pq.write_table(table, file, compression="zstd", use_dictionary=dictionary_columns)
        for path, target in unfinished.items():
            publish(path, target)


def _lock_folder(layout: Layout, timeout_s: float, cancel: Event) -> AcquireReturnProxy[Any]:
    deadline = time.monotonic() + timeout_s
    while True:
        with suppress(Timeout):
            return locked(layout.inner / "lock", blocking=False)
        if time.monotonic() >= deadline or cancel.wait(_RETRY_S):
            break
    writer = "another run"
    with suppress(OSError):
        writer = f"another run, {layout.holder.read_text(encoding='utf-8')},"
    hint = "wait until that run ends, stop it, or choose another folder"
    raise DatasetError(f"{writer} is writing to {layout.root}", hint)


def _read_positions(tables: Iterable[pa.Table]) -> dict[str, int]:
    """Return a dict from the key of each wallet in the tables to the wallet's position."""
    positions: dict[str, int] = {}
    for table in tables:
        positions.update(zip(files.keys_of(table), table[POSITION].to_pylist(), strict=True))
    return positions
