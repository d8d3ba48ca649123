"""The folder of a bulk run, opened for writing, and the register of its wallets."""
# The files of a part are written under other names, synced to the disk, and renamed: first failed,
# then holdings, then wallets, which complete the part. A run that ends in between leaves at most
# holdings without their wallets: the next run removes them, and writes the part again.

from __future__ import annotations

import os
import time
from contextlib import ExitStack, suppress
from enum import Enum, auto
from itertools import count
from platform import node
from threading import Event
from typing import TYPE_CHECKING, Any, Self

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
from walletframe.frames.contract import text_array
from walletframe.frames.kept import DISTINCT, kept_table, with_kept

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from filelock import AcquireReturnProxy

    from walletframe.address.forms import WalletAddress
    from walletframe.frames.details import WalletDetails

_RETRY_S = 0.5


class InputAction(Enum):
    """The treatment of a wallet of the input."""

    REQUEST = auto()
    STORED = auto()
    REPEATED = auto()


class Register:
    """The position of each wallet, by key: those already in the folder, and those of this run."""

    # A wallet that the folder knows keeps its position. A new one gets the position behind the
    # wallet before it if that is free: an earlier run of the same list left a gap. Else it comes
    # last. If several folders have parts of one list, `positions` has its position.

    def __init__(
        self,
        wallets: Iterable[pa.Table],
        failed: Iterable[pa.Table],
        positions: Mapping[str, int] | None = None,
    ) -> None:
        self.stored: dict[str, int] = _positions(wallets)  # ok in the folder before this run
        self.pending: dict[str, int] = {}
        self.seen: set[str] = set()  # in this run
        self._failed, self._new_positions = _positions(failed), positions
        self._before = -1
        taken = {*self.stored.values(), *self._failed.values()}
        self._end = max(taken, default=-1) + 1
        self._free = set(range(self._end)) - taken

    def classify(self, key: str) -> InputAction:
        """Return what to do with the next wallet; to be requested, it is pending from now on."""
        if key in self.seen:
            return InputAction.REPEATED
        self.seen.add(key)
        if key in self.stored:
            self._before = self.stored[key]
            return InputAction.STORED
        behind = self._before + 1
        if key in self._failed:
            position = self._failed[key]
        elif self._new_positions is not None:
            position = self._new_positions[key]
        elif behind in self._free:
            self._free.remove(behind)
            position = behind
        else:
            position = self._end
            self._end += 1
        self._before = self.pending[key] = position
        return InputAction.REQUEST


class Dataset:
    """A folder, created if missing, that only this run writes; it waits until others end."""

    def __init__(
        self, root: Path, service: str, patience_s: float = 0.0, cancel: Event | None = None
    ) -> None:
        self.layout: Layout = Layout(root)
        layout = self.layout
        self._service = service
        with ExitStack() as opened, dataset_errors(root):
            if root.exists() and not layout.marker.exists():
                layout.require_empty("the folder of an earlier run")
            private_folder(layout.inner)
            opened.enter_context(_locked(layout, patience_s, cancel or Event()))
            with suppress(OSError):  # only for the error of other runs
                layout.holder.unlink(missing_ok=True)  # left by a killed process
                with private_file(layout.holder) as file:
                    file.write(f"process {os.getpid()} on {node()}".encode())
            opened.callback(layout.holder.unlink, missing_ok=True)
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
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._opened.close()

    def recover(self, new_positions: Mapping[str, int] | None = None) -> Register:
        """Write the journal of an earlier run as a part, and return the register of all wallets.

        If a part can't be read or written, the journal stays. `new_positions` has the positions of
        new wallets, by key, if this folder has only a part of the list.
        """
        layout = self.layout
        with dataset_errors(layout.root):
            journal = segments(layout.inner)
            stored = _positions(files.part_tables(layout.wallets) if journal else ())
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
        """Write a part; a failure leaves the earlier parts unchanged."""
        with dataset_errors(self.layout.root):
            ok, holdings, failed = files.as_tables(details, positions)
            layout, name = self.layout, files.part_name(next(self._numbers))
            tables = {layout.failed / name: failed} if failed.num_rows else {}
            if ok.num_rows:
                tables |= {layout.holdings / name: holdings, layout.wallets / name: ok}
            self._write(tables)

    def write_kept(self, wallets: Sequence[WalletAddress], kept: pd.DataFrame) -> None:
        """Write the user's columns of wallets; earlier values stay unless there are new ones."""
        new = kept.assign(
            blockchain=text_array([wallet.blockchain for wallet in wallets]),
            address=text_array([wallet.address for wallet in wallets]),
        )
        with dataset_errors(self.layout.root):
            before = files.read_kept(self.layout)
            both = new if before is None else pd.concat([new, before], ignore_index=True)
            first = both[["blockchain", "address"]][~pd.Index(files.keys_of(both)).duplicated()]
            distinct = first.reset_index(drop=True)
            values = files.kept_values(both, files.keys_of(distinct))
            table = kept_table(with_kept(distinct, values))
            if before is None or not table.equals(kept_table(before)):
                self._write({self.layout.kept: table})

    def compact_failed(self) -> None:
        """Merge the files of failed wallets into one, with the wallets that are still not ok."""
        numbers = files.part_numbers(self.layout.failed)
        if len(numbers) <= 1 and not self._had_failed:
            return
        with dataset_errors(self.layout.root):
            wallets = files.part_tables(self.layout.wallets) if self._had_failed else ()
            failed = files.still_failed(files.part_tables(self.layout.failed), wallets)
            if failed.num_rows:
                self._write({self.layout.failed / files.part_name(next(self._numbers)): failed})
            for number in numbers:
                (self.layout.failed / files.part_name(number)).unlink()

    def _write(self, tables: Mapping[Path, pa.Table]) -> None:
        """Write complete files under other names, then rename them one by one."""
        unfinished = {self.layout.inner / f"{n}{UNFINISHED}": path for n, path in enumerate(tables)}
        for path, table in zip(unfinished, tables.values(), strict=True):
            with private_file(path) as file:
                repeated = [name for name in table.column_names if name not in DISTINCT]
                pq.write_table(table, file, compression="zstd", use_dictionary=repeated)
        for path, target in unfinished.items():
            publish(path, target)


def _locked(layout: Layout, patience_s: float, cancel: Event) -> AcquireReturnProxy[Any]:
    until = time.monotonic() + patience_s
    while True:
        with suppress(Timeout):
            return locked(layout.inner / "lock", blocking=False)
        if time.monotonic() >= until or cancel.wait(_RETRY_S):
            break
    writer = "another run"
    with suppress(OSError):
        writer = f"another run, {layout.holder.read_text(encoding='utf-8')},"
    raise DatasetError(
        f"{writer} writes into {layout.root}",
        hint="wait until it ends, end it if it is not needed, or choose another folder",
    )


def _positions(tables: Iterable[pa.Table]) -> dict[str, int]:
    positions: dict[str, int] = {}
    for table in tables:
        positions.update(zip(files.keys_of(table), table[POSITION].to_pylist(), strict=True))
    return positions
