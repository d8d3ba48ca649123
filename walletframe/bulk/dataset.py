"""The folder, opened for writing by one run, and the register of what it holds."""
# A part is written under other names, brought to the disk, and renamed: first what failed, then the
# holdings, then the wallets, which make it count. A run that ends in between leaves no more than
# holdings whose wallets are missing: the next run removes them, and makes the part anew.

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
from walletframe.bulk.journal import left_in, segments
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

_AGAIN_S = 0.5


class Turn(Enum):
    """What to do with a wallet of the input."""

    ASK = auto()
    HELD = auto()
    REPEATED = auto()


class Register:
    """The wallets of a folder (tables of what is ok, and of what is not) and of a run, by key."""

    # A wallet that the folder knows keeps its place. A new one comes right behind the wallet before
    # it where that place is free, as it is where an earlier run of the same list had to leave a
    # gap; else it comes last. Where several folders have parts of one list, it is told its place.

    def __init__(
        self,
        wallets: Iterable[pa.Table],
        failed: Iterable[pa.Table],
        places: Mapping[str, int] | None = None,
    ) -> None:
        self.held: dict[str, int] = _positions(wallets)  # ok in the folder before this run
        self.under_way: dict[str, int] = {}
        self.met: set[str] = set()  # in this run
        self._failed, self._places = _positions(failed), places
        self._before = -1
        taken = {*self.held.values(), *self._failed.values()}
        self._end = max(taken, default=-1) + 1
        self._free = set(range(self._end)) - taken

    def meet(self, key: str) -> Turn:
        """Decide about the next wallet; one that is to be asked for is under way from now on."""
        if key in self.met:
            return Turn.REPEATED
        self.met.add(key)
        if key in self.held:
            self._before = self.held[key]
            return Turn.HELD
        behind = self._before + 1
        if key in self._failed:
            place = self._failed[key]
        elif self._places is not None:
            place = self._places[key]
        elif behind in self._free:
            self._free.remove(behind)
            place = behind
        else:
            place = self._end
            self._end += 1
        self._before = self.under_way[key] = place
        return Turn.ASK


class Dataset:
    """A folder that this run alone may write; it is made where it is not there.

    Where another run writes, it is waited for, so long at most, or until `cancel`.
    """

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
            with suppress(OSError):  # a courtesy to who finds the lock held
                layout.holder.unlink(missing_ok=True)  # of one that was killed
                with private_file(layout.holder) as file:
                    file.write(f"process {os.getpid()} on {node()}".encode())
            opened.callback(layout.holder.unlink, missing_ok=True)
            files.mark(layout.marker, service=service)
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

    def take_up(self, places: Mapping[str, int] | None = None) -> Register:
        """Make a part of what an earlier run left in its journal, and register what there is.

        Where a part can't be read or written, the journal stays. `places` has those of new wallets
        in a list of which this folder has a part, by key.
        """
        layout = self.layout
        with dataset_errors(layout.root):
            left = segments(layout.inner)
            held = _positions(files.part_tables(layout.wallets) if left else ())
            unwritten = left_in(left, self._service).items()
            if found := [placed for key, placed in unwritten if key not in held]:
                records, positions = zip(*found, strict=True)
                self.add(assemble(records), positions)
            wallets, failed = map(files.part_tables, (layout.wallets, layout.failed))
            register = Register(wallets, failed, places)
            for segment in left:
                segment.unlink()
        return register

    def add(self, details: WalletDetails, positions: Sequence[int]) -> None:
        """Write a part; where that fails, the parts before are as they were."""
        with dataset_errors(self.layout.root):
            ok, holdings, failed = files.as_tables(details, positions)
            layout, name = self.layout, files.part_name(next(self._numbers))
            tables = {layout.failed / name: failed} if failed.num_rows else {}
            if ok.num_rows:
                tables |= {layout.holdings / name: holdings, layout.wallets / name: ok}
            self._write(tables)

    def keep(self, wallets: Sequence[WalletAddress], kept: pd.DataFrame) -> None:
        """Write what the user keeps of wallets; what was kept before and is not told now, stays."""
        told = kept.assign(
            blockchain=text_array([wallet.blockchain for wallet in wallets]),
            address=text_array([wallet.address for wallet in wallets]),
        )
        with dataset_errors(self.layout.root):
            before = files.read_kept(self.layout)
            both = told if before is None else pd.concat([told, before], ignore_index=True)
            first = both[["blockchain", "address"]][~pd.Index(files.keys_of(both)).duplicated()]
            whole = first.reset_index(drop=True)
            table = kept_table(with_kept(whole, files.kept_of(both, files.keys_of(whole))))
            if before is None or not table.equals(kept_table(before)):
                self._write({self.layout.kept: table})

    def tidy(self) -> None:
        """Bring what failed up to date: one file, one row for each wallet that still is not ok."""
        numbers = files.part_numbers(self.layout.failed)
        if len(numbers) <= 1 and not self._had_failed:
            return
        with dataset_errors(self.layout.root):
            wallets = files.part_tables(self.layout.wallets) if self._had_failed else ()
            left = files.still_failed(files.part_tables(self.layout.failed), wallets)
            if left.num_rows:
                self._write({self.layout.failed / files.part_name(next(self._numbers)): left})
            for number in numbers:
                (self.layout.failed / files.part_name(number)).unlink()

    def _write(self, tables: Mapping[Path, pa.Table]) -> None:
        """Write files whole, then bring them under their names, one by one."""
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
        if time.monotonic() >= until or cancel.wait(_AGAIN_S):
            break
    who = "another run"
    with suppress(OSError):
        who = f"another run, {layout.holder.read_text(encoding='utf-8')},"
    raise DatasetError(
        f"{who} writes into {layout.root}",
        hint="wait until it ends, end it if nobody needs it, or choose another folder",
    )


def _positions(tables: Iterable[pa.Table]) -> dict[str, int]:
    found: dict[str, int] = {}
    for table in tables:
        found.update(zip(files.keys_of(table), table[POSITION].to_pylist(), strict=True))
    return found
