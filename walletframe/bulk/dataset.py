"""The writer of a bulk run's folder, and the register of the folder's wallets."""
# The files of a part are written under temporary names, synced to the disk, and then renamed: first
# the failed wallets, then the holdings, and last the ok wallets. If a run ends in between, the next
# run removes holdings without a file of wallets, and writes the part again.

from __future__ import annotations

import os
import time
from contextlib import AbstractContextManager, ExitStack, suppress
from itertools import count
from platform import node
from threading import Event
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from filelock import AcquireReturnProxy, Timeout

from walletframe.bulk import files
from walletframe.bulk.files import POSITION, TMP_SUFFIX, Paths, as_dataset_errors
from walletframe.bulk.journal import best_records_and_positions, segment_paths
from walletframe.disk import create_private_file, create_private_folder, file_lock, sync_and_rename
from walletframe.errors import DatasetError
from walletframe.frames.assembly import assemble
from walletframe.frames.extra_columns import DISTINCT_COLUMNS, append_columns, extra_to_arrow
from walletframe.frames.schema import text_array

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from walletframe.address.forms import WalletAddress
    from walletframe.frames.details import WalletDetails


class WalletRegister:
    """The wallets in the folder and in this run. Each wallet has a key and a position."""

    # A wallet in the folder keeps its position. A new wallet gets the position after the previous
    # wallet of the input: an earlier run may have ended there. If this position is taken, the new
    # wallet gets the position after all wallets. A shard gets the positions from its caller.

    def __init__(
        self,
        wallets: Iterable[pa.Table],
        failed: Iterable[pa.Table],
        positions: Mapping[str, int] | None = None,
    ) -> None:
        self.stored: dict[str, int] = _position_by_key(wallets)  # ok in the folder before this run
        self.pending: dict[str, int] = {}
        self.seen: set[str] = set()  # the wallets of this run
        self._failed, self._positions_of_new = _position_by_key(failed), positions
        self._previous_position = -1
        used_positions = {*self.stored.values(), *self._failed.values()}
        self._next_position = max(used_positions, default=-1) + 1
        self._free_positions = set(range(self._next_position)) - used_positions

    def count_including(self, keys: Iterable[str]) -> int:
        """Count the wallets in the folder, and those of the distinct `keys` that are not in it."""
        earlier = self.stored.keys() | self._failed.keys()
        return len(earlier) + sum(key not in earlier for key in keys)

    def classify_next(self, key: str) -> Literal["request", "stored", "duplicate"]:
        """Classify the next wallet. If the result is "request", add the wallet to `pending`."""
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


class DatasetWriter(AbstractContextManager["DatasetWriter"]):
    """A writer that locks a folder, and waits up to `lock_timeout_s` for the lock."""

    def __init__(
        self, root: Path, service: str, lock_timeout_s: float = 0.0, cancel: Event | None = None
    ) -> None:
        self.paths: Paths = Paths(root)
        paths = self.paths
        self._service = service
        with ExitStack() as resources, as_dataset_errors(root):
            if root.exists() and not paths.marker.exists():
                paths.require_empty("the folder of an earlier run")
            create_private_folder(paths.hidden)
            resources.enter_context(_lock_folder(paths, lock_timeout_s, cancel or Event()))
            with suppress(OSError):  # the file is only for the error message of other runs
                paths.lock_holder.unlink(missing_ok=True)  # a killed process may leave it
                with create_private_file(paths.lock_holder) as file:
                    file.write(f"process {os.getpid()} on {node()}".encode())
            resources.callback(paths.lock_holder.unlink, missing_ok=True)
            files.read_or_write_marker(paths.marker, service=service)
            for temporary in paths.hidden.glob(f"*{TMP_SUFFIX}"):
                temporary.unlink()
            for folder in (paths.wallets, paths.holdings, paths.failed):
                create_private_folder(folder)
            numbers, failed = files.part_numbers(paths.wallets), files.part_numbers(paths.failed)
            for number in {*files.part_numbers(paths.holdings)} - {*numbers}:
                (paths.holdings / files.part_file_name(number)).unlink()
            self._had_failed = bool(failed or segment_paths(paths.hidden))
            self._numbers = count(max(numbers + failed, default=0) + 1)
            self._resources = resources.pop_all()

    def __exit__(self, *exc: object) -> None:
        self._resources.close()

    def recover_journal(self, new_positions: Mapping[str, int] | None = None) -> WalletRegister:
        """Write the journal of an earlier run as a part. Return the register of all wallets."""
        paths = self.paths
        with as_dataset_errors(paths.root):
            journal = segment_paths(paths.hidden)
            stored = _position_by_key(files.read_parts(paths.wallets) if journal else ())
            unwritten = best_records_and_positions(journal, self._service).items()
            if missing := [pair for key, pair in unwritten if key not in stored]:
                records, positions = zip(*missing, strict=True)
                self.write_part(assemble(records), positions)
            wallets, failed = map(files.read_parts, (paths.wallets, paths.failed))
            register = WalletRegister(wallets, failed, new_positions)
            for segment in journal:
                segment.unlink()
        return register

    def write_part(self, details: WalletDetails, positions: Sequence[int]) -> None:
        """Write a part. If writing fails, the earlier parts are unchanged."""
        with as_dataset_errors(self.paths.root):
            ok, holdings, failed = files.to_part_tables(details, positions)
            paths, name = self.paths, files.part_file_name(next(self._numbers))
            tables = {paths.failed / name: failed} if failed.num_rows else {}
            if ok.num_rows:
                tables |= {paths.holdings / name: holdings, paths.wallets / name: ok}
            self._write_files(tables)

    def mark_unfinished(self, wallet_count: int) -> None:
        """Mark the folder as unfinished. The mark states the final number of wallets."""
        path = self.paths.unfinished
        with as_dataset_errors(self.paths.root):
            earlier = int(path.read_text(encoding="utf-8") or 0) if path.exists() else 0
            path.unlink(missing_ok=True)
            with create_private_file(path) as file:
                file.write(str(max(wallet_count, earlier)).encode())

    def mark_if_finished(self, wallet_count: int) -> None:
        """Mark the folder as finished if `wallet_count` is at least the final number of wallets."""
        path = self.paths.unfinished
        if wallet_count >= int(path.read_text(encoding="utf-8")):
            path.unlink()

    def merge_extra_columns(self, wallets: Sequence[WalletAddress], columns: pd.DataFrame) -> None:
        """Write the extra columns of wallets. Missing values don't replace earlier values."""
        new = columns.assign(
            blockchain=text_array([wallet.blockchain for wallet in wallets]),
            address=text_array([wallet.address for wallet in wallets]),
        )
        with as_dataset_errors(self.paths.root):
            existing = files.read_extra_columns(self.paths)
            combined = new if existing is None else pd.concat([new, existing], ignore_index=True)
            is_first = ~pd.Index(files.wallet_keys(combined)).duplicated()
            distinct = combined.loc[is_first, ["blockchain", "address"]].reset_index(drop=True)
            values = files.first_extra_values(combined, files.wallet_keys(distinct))
            table = extra_to_arrow(append_columns(distinct, values))
            if existing is None or not table.equals(extra_to_arrow(existing)):
                self._write_files({self.paths.extra_columns: table})

    def merge_failed_files(self) -> None:
        """Merge the files of failed wallets into one file. Drop wallets that are ok by now."""
        numbers = files.part_numbers(self.paths.failed)
        if len(numbers) <= 1 and not self._had_failed:
            return
        with as_dataset_errors(self.paths.root):
            wallets = files.read_parts(self.paths.wallets) if self._had_failed else ()
            failed = files.select_still_failed(files.read_parts(self.paths.failed), wallets)
            if failed.num_rows:
                name = files.part_file_name(next(self._numbers))
                self._write_files({self.paths.failed / name: failed})
            for number in numbers:
                (self.paths.failed / files.part_file_name(number)).unlink()

    def _write_files(self, tables: Mapping[Path, pa.Table]) -> None:
        temporary = {self.paths.hidden / f"{n}{TMP_SUFFIX}": path for n, path in enumerate(tables)}
        for path, table in zip(temporary, tables.values(), strict=True):
            with create_private_file(path) as file:
                encoded = [name for name in table.column_names if name not in DISTINCT_COLUMNS]
                pq.write_table(table, file, compression="zstd", use_dictionary=encoded)
        for path, target in temporary.items():
            sync_and_rename(path, target)


def _lock_folder(paths: Paths, timeout_s: float, cancel: Event) -> AcquireReturnProxy[Any]:
    deadline = time.monotonic() + timeout_s
    while True:
        with suppress(Timeout):
            return file_lock(paths.hidden / "lock", blocking=False)
        if time.monotonic() >= deadline or cancel.wait(0.5):
            break
    writer = "another run"
    with suppress(OSError):
        writer = f"another run, {paths.lock_holder.read_text(encoding='utf-8')},"
    hint = "wait until that run ends, stop it, or choose another folder"
    raise DatasetError(f"{writer} is writing to {paths.root}", hint)


def _position_by_key(tables: Iterable[pa.Table]) -> dict[str, int]:
    positions: dict[str, int] = {}
    for table in tables:
        positions.update(zip(files.wallet_keys(table), table[POSITION].to_pylist(), strict=True))
    return positions
