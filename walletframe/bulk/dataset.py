"""The folder, opened for writing by one run, and the register of what it holds."""
# A part is written under other names, brought to the disk, and renamed: first what failed, then the
# holdings, then the wallets, which make it count. A run that ends in between leaves no more than
# holdings whose wallets are missing: the next run removes them, and makes the part anew.

from __future__ import annotations

import json
import os
import time
import warnings
from contextlib import ExitStack, suppress
from platform import node
from threading import Event
from typing import TYPE_CHECKING, Any, Self

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from walletframe.bulk.files import (
    FORMAT,
    Layout,
    apart,
    as_tables,
    dataset_errors,
    kept_of,
    keys_of,
    part_name,
    part_numbers,
    part_tables,
    read_kept,
    still_failed,
)
from walletframe.bulk.journal import left_in, segments
from walletframe.bulk.register import Register
from walletframe.disk import private_file, private_folder, publish, read_parquet
from walletframe.errors import DatasetError
from walletframe.frames import assemble, kept_table, text_array, with_kept
from walletframe.wire import Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from filelock import AcquireReturnProxy

    from walletframe.address import WalletAddress
    from walletframe.frames import WalletDetails

_UNFINISHED = ".tmp"
_AGAIN_S = 0.5


class Dataset:
    """A folder that this run alone may write; it is made where it is not there.

    Where another run writes, it is waited for, so long at most, or until `cancel`.
    """

    def __init__(
        self, root: Path, service: str, patience_s: float = 0.0, cancel: Event | None = None
    ) -> None:
        self.layout: Layout = Layout(root)
        self._service = service
        with ExitStack() as opened, dataset_errors(root):
            _refuse_foreign(self.layout)
            private_folder(self.layout.inner)
            opened.enter_context(_locked(self.layout, patience_s, cancel or Event()))
            with suppress(OSError):  # a courtesy to who finds the lock held
                self.layout.holder.unlink(missing_ok=True)  # of one that was killed
                with private_file(self.layout.holder) as file:
                    file.write(f"process {os.getpid()} on {node()}".encode())
            opened.callback(self.layout.holder.unlink, missing_ok=True)
            self._prepare()
            failed = part_numbers(self.layout.failed)
            self._had_failed = bool(failed or segments(self.layout.inner))
            self._last = max(part_numbers(self.layout.wallets) + failed, default=0)
            self._had_failed |= self._move_unlisted()
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._opened.close()

    def take_up(self, places: Mapping[str, int] | None = None) -> Register:
        """Make a part of what an earlier run left in its journal, and register what there is.

        Where a part can't be read or written, the journal stays. `places` has those of new wallets
        in a list of which this folder has a part, by key.
        """
        layout = self.layout
        with dataset_errors(layout.root):
            register = Register(part_tables(layout.wallets), part_tables(layout.failed), places)
            left = segments(layout.inner)
            unwritten = left_in(left, self._service).items()
            found = [placed for key, placed in unwritten if not register.holds(key)]
            if found:
                records, positions = zip(*found, strict=True)
                self.add(assemble(records), positions)
                register = Register(part_tables(layout.wallets), part_tables(layout.failed), places)
            for segment in left:
                segment.unlink()
        return register

    def add(self, details: WalletDetails, positions: Sequence[int]) -> None:
        """Write a part; where that fails, the parts before are as they were."""
        with dataset_errors(self.layout.root):
            wallets, holdings = as_tables(details, positions)
            is_ok = pc.equal(wallets["status"], Status.OK.value)
            ok, failed = wallets.filter(is_ok), wallets.filter(pc.invert(is_ok))
            parts = [(self.layout.failed, failed)] if failed.num_rows else []
            if ok.num_rows:
                parts += [(self.layout.holdings, holdings), (self.layout.wallets, ok)]
            self._write(parts)

    def keep(self, wallets: Sequence[WalletAddress], kept: pd.DataFrame) -> None:
        """Write what the user keeps of wallets; what was kept before and is not told now, stays."""
        named = {
            "blockchain": text_array([wallet.blockchain for wallet in wallets]),
            "address": text_array([wallet.address for wallet in wallets]),
        }
        told = kept.assign(**named)
        with dataset_errors(self.layout.root):
            before = read_kept(self.layout)
            both = told if before is None else pd.concat([told, before], ignore_index=True)
            keys = keys_of(pa.table({name: pa.Array.from_pandas(both[name]) for name in named}))
            rows = list({key: row for row, key in reversed([*enumerate(keys)])}.values())[::-1]
            whole = both[[*named]].iloc[rows].reset_index(drop=True)
            table = kept_table(with_kept(whole, kept_of(both, [keys[row] for row in rows])))
            if before is None or not table.equals(kept_table(before)):
                self._replace(self.layout.kept, table)

    def tidy(self) -> None:
        """Bring what failed up to date: one file, one row for each wallet that still is not ok."""
        numbers = part_numbers(self.layout.failed)
        if len(numbers) <= 1 and not self._had_failed:
            return
        with dataset_errors(self.layout.root):
            wallets = part_tables(self.layout.wallets) if self._had_failed else ()
            left = still_failed(part_tables(self.layout.failed), wallets)
            self._write([(self.layout.failed, left)] if left.num_rows else [])
            for number in numbers:
                (self.layout.failed / part_name(number)).unlink()

    def _prepare(self) -> None:
        """Remove what a run has left unfinished, and make what is not there yet."""
        layout, service = self.layout, self._service
        for unfinished in layout.inner.glob(f"*{_UNFINISHED}"):
            unfinished.unlink()
        made_with = layout.service()
        if made_with is None:
            marker = layout.inner / f"dataset{_UNFINISHED}"
            with private_file(marker) as file:
                file.write(json.dumps({"format": FORMAT, "service": service}).encode())
            publish(marker, layout.marker)
        elif made_with != service:
            raise DatasetError(
                f"{layout.root} holds wallets of the service {made_with!r}, not of {service!r}",
                hint="choose another folder for each service",
            )
        for folder in (layout.wallets, layout.holdings, layout.failed):
            private_folder(folder)
        for number in set(part_numbers(layout.holdings)) - set(part_numbers(layout.wallets)):
            (layout.holdings / part_name(number)).unlink()

    def _move_unlisted(self) -> bool:
        """Move wallets that an earlier release called ok, without a list of balances, to failed.

        What failed is written first: where this ends in between, the next run does it again.
        """
        moved = False
        for number in part_numbers(self.layout.wallets):
            path = self.layout.wallets / part_name(number)
            if not read_parquet(path, columns=["tokens"])["tokens"].null_count:
                continue
            wallets, failed = apart(read_parquet(path))
            self._write([(self.layout.failed, failed)])
            self._write([(self.layout.wallets, wallets)], number)
            moved = True
        return moved

    def _replace(self, target: Path, table: pa.Table) -> None:
        path = self.layout.inner / f"{target.stem}{_UNFINISHED}"
        with private_file(path) as file:
            pq.write_table(table, file, compression="zstd")
        publish(path, target)

    def _write(self, parts: list[tuple[Path, pa.Table]], number: int | None = None) -> None:
        """Write the files of a part whole, then bring them under their names, one by one."""
        if number is None:
            self._last += 1
            number = self._last
        unfinished = [self.layout.inner / f"{folder.name}{_UNFINISHED}" for folder, _ in parts]
        for path, (_, table) in zip(unfinished, parts, strict=True):
            with private_file(path) as file:
                pq.write_table(table, file, compression="zstd")
        for path, (folder, _) in zip(unfinished, parts, strict=True):
            publish(path, folder / part_name(number))


def _refuse_foreign(layout: Layout) -> None:
    if layout.root.exists() and layout.service() is None:
        others = sorted({path.name for path in layout.root.iterdir()} - {layout.inner.name})
        if others:
            raise DatasetError(
                f"{layout.root} holds other files: {', '.join(map(repr, others[:3]))}",
                hint="give a new or an empty folder, or the folder of an earlier run",
            )


def _locked(layout: Layout, patience_s: float, cancel: Event) -> AcquireReturnProxy[Any]:
    lock = FileLock(layout.inner / "lock", mode=0o600, thread_local=False)
    until = time.monotonic() + patience_s
    try:
        with warnings.catch_warnings(action="ignore"):  # where it makes do without flock
            while True:
                with suppress(Timeout):
                    return lock.acquire(blocking=False)
                if time.monotonic() >= until or cancel.wait(_AGAIN_S):
                    raise _held(layout)
    except NotImplementedError:
        raise DatasetError(
            f"{layout.root} is on a disk without locks (flock)",
            hint="choose a folder on another disk, or update filelock, which then makes do",
        ) from None


def _held(layout: Layout) -> DatasetError:
    who = "another run"
    with suppress(OSError):
        who = f"another run, {layout.holder.read_text(encoding='utf-8')},"
    return DatasetError(
        f"{who} writes into {layout.root}",
        hint="wait until it ends, end it if nobody needs it, or choose another folder",
    )
