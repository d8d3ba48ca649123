"""Which wallets the folder has, with what status, and their places in the requested order.

A run keeps no more than this in memory of what it has done: a few hundred bytes for each wallet.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from walletframe.bulk.files import POSITION, dataset_errors, keys_of, part_tables
from walletframe.bulk.journal import left_in, segments
from walletframe.frames import assemble

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from walletframe.bulk.dataset import Dataset


class Turn(Enum):
    """What to do with a wallet of the input."""

    ASK = auto()
    HELD = auto()
    REPEATED = auto()


class Register:
    """The wallets of a folder (tables of what is ok, and of what is not) and of a run, by key."""

    # A wallet that the folder knows keeps its place. A new one comes right behind the wallet before
    # it where that place is free, as it is where an earlier run of the same list had to leave a
    # gap; else it comes last.

    def __init__(self, wallets: Iterable[pa.Table], failed: Iterable[pa.Table]) -> None:
        self._held, self._failed = _positions(wallets), _positions(failed)
        self._under_way: dict[str, int] = {}
        self._met: set[str] = set()
        self._before = -1
        taken = {*self._held.values(), *self._failed.values()}
        self._end = max(taken, default=-1) + 1
        self._free = set(range(self._end)) - taken

    @property
    def met(self) -> int:
        """How many distinct wallets were met so far."""
        return len(self._met)

    def holds(self, key: str) -> bool:
        """Return whether a wallet was ok in the folder before this run."""
        return key in self._held

    def meet(self, key: str) -> Turn:
        """Decide about the next wallet, and give it its place."""
        if key in self._met:
            return Turn.REPEATED
        self._met.add(key)
        if key in self._held:
            self._before = self._held[key]
            return Turn.HELD
        position = self._failed.get(key)
        self._before = self._free_place() if position is None else position
        self._under_way[key] = self._before
        return Turn.ASK

    def position(self, key: str) -> int:
        """Return the place of a wallet that is under way."""
        return self._under_way[key]

    def settle(self, key: str) -> int:
        """Return the same, for the last time: the wallet is done."""
        return self._under_way.pop(key)

    def _free_place(self) -> int:
        behind = self._before + 1
        if behind in self._free:
            self._free.remove(behind)
            return behind
        self._end += 1
        return self._end - 1


def _positions(tables: Iterable[pa.Table]) -> dict[str, int]:
    found: dict[str, int] = {}
    for table in tables:
        found.update(zip(keys_of(table), table[POSITION].to_pylist(), strict=True))
    return found


def take_up(dataset: Dataset, service: str) -> Register:
    """Make a part of what an earlier run left in its journal, and register what the folder holds.

    Where a part can't be read or written, the journal stays.
    """
    layout = dataset.layout
    with dataset_errors(layout.root):
        register = Register(part_tables(layout.wallets), part_tables(layout.failed))
        left = segments(layout.inner)
        unwritten = left_in(left, service).items()
        found = [placed for key, placed in unwritten if not register.holds(key)]
        if found:
            records, positions = zip(*found, strict=True)
            dataset.add(assemble(records), positions)
            register = Register(part_tables(layout.wallets), part_tables(layout.failed))
        for segment in left:
            segment.unlink()
    return register
