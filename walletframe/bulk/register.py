"""The register: which wallets a folder holds, which of a run are to be asked, and their places."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from walletframe.bulk.files import POSITION, keys_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow as pa


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
        self._held, self._failed = _positions(wallets), _positions(failed)
        self._places = places
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
        self._before = self._new_place(key) if position is None else position
        self._under_way[key] = self._before
        return Turn.ASK

    def position(self, key: str) -> int:
        """Return the place of a wallet that is under way."""
        return self._under_way[key]

    def settle(self, key: str) -> int:
        """Return the same, for the last time: the wallet is done."""
        return self._under_way.pop(key)

    def _new_place(self, key: str) -> int:
        if self._places is not None:
            return self._places[key]
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
