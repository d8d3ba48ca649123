"""One cached answer, what a shelf of answers does, and a requests-cache backend as such a shelf.

Knows which backends are safe to read, and what to do when one fails. Such a backend can't count
for several processes: where two ask for one wallet at once, the answer that comes last is kept.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from requests.structures import CaseInsensitiveDict
from requests_cache import BaseCache, CachedResponse

from walletframe.errors import CacheWarning, SettingsError
from walletframe.forks import begins_anew
from walletframe.notice import notify
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

_TURN, _CHECKSUM = "walletframe-turn", "walletframe-checksum"
_UNSAFE = frozenset({"pickle", "_pickle", "cloudpickle", "dill", "joblib"})


@dataclass(frozen=True, slots=True)
class Kept:
    """The body of an answer, as it was sent, and when it was fetched (UTC, by that clock).

    `turn` is the sequence number of its request among all requests, whatever the clocks say; None
    is later than all that is kept.
    """

    body: bytes
    fetched_at: datetime
    turn: int | None = field(default=None, compare=False)


def checksum(*values: object) -> int:
    """Return the CRC-32 of bytes and texts, and of where one ends and the next begins."""
    total = 0
    for value in values:
        part = value if value is None or isinstance(value, bytes) else str(value).encode()
        total = zlib.crc32(b"-" if part is None else b"%d:" % len(part), total)
        total = zlib.crc32(part or b"", total)
    return total


def moment_of(text: object) -> datetime | None:
    """Return a time, or None for what is none, as in a damaged row."""
    try:
        return datetime.fromisoformat(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


class Shelf(Protocol):
    """Where answers are kept by key; trouble there is a warning, never an exception."""

    def read(self, keys: Sequence[str]) -> dict[str, Kept]:
        """Return those that are there and undamaged; of two for one key, the one asked later."""

    def write(self, answers: Sequence[tuple[str, Kept]]) -> None:
        """Keep all of them, each unless one that was asked for later is there."""

    def turn(self) -> int:
        """Return a number above all that were given before, from 1 on."""

    def close(self) -> None:
        """Close what the shelf has opened."""


class SpareShelf:
    """Answers in the memory of this process, which another shelf could not keep."""

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}

    def over(self, found: dict[str, Kept], keys: Sequence[str]) -> dict[str, Kept]:
        """Return what was found elsewhere, and what is here and was asked for later."""
        for key in keys:
            if (own := self._kept.get(key)) is not None:
                found[key] = max(own, found.get(key, own), key=turn_of)
        return found

    def write(self, answers: Sequence[tuple[str, Kept]]) -> None:
        """Keep all of them, each unless one that was asked for later is here."""
        for key, kept in answers:
            self._kept[key] = max(kept, self._kept.get(key, kept), key=turn_of)


class BorrowedShelf:
    """Keeps answers in a backend of the caller's, and in memory, after one warning, where it fails.

    A SettingsError refuses pickles: reading one runs what its writer wanted.
    """

    def __init__(self, backend: BaseCache) -> None:
        _refuse_pickles(backend)
        self._backend = backend
        self._spare = SpareShelf()
        self._readable = self._writable = True
        self._lock = RLock()
        self._last_turn = 0
        begins_anew(self)

    def read(self, keys: Sequence[str]) -> dict[str, Kept]:
        """Return those that are there and undamaged; of two for one key, the one asked later."""
        found: dict[str, Kept] = {}
        if self._readable:
            try:
                read = ((key, self._borrowed(key)) for key in keys)
                found = {key: kept for key, kept in read if kept is not None}
            except Exception as fault:  # noqa: BLE001 - each backend has errors of its own
                self._readable = False
                self._fall_back(fault)
        with self._lock:
            found = self._spare.over(found, keys)
            self._last_turn = max(self._last_turn, *map(turn_of, found.values()), 0)
        return found

    def write(self, answers: Sequence[tuple[str, Kept]]) -> None:
        """Keep all of them, each unless one that was asked for later is there."""
        with self._lock:
            now, trouble = self.turn(), None
            answers = [
                (key, replace(kept, turn=now) if kept.turn is None else kept)
                for key, kept in answers
            ]
            if self._writable:
                try:
                    for key, kept in answers:
                        self._lend(key, kept)
                except Exception as fault:  # noqa: BLE001 - each backend has errors of its own
                    trouble = fault
            if trouble is not None or not self._writable:
                self._spare.write(answers)
            if trouble is not None:  # only now: a warning can be an error
                self._fall_back(trouble)

    def turn(self) -> int:
        """Return a number above all that were given here, and all that were found, from 1 on."""
        with self._lock:
            self._last_turn += 1
            return self._last_turn

    def begin_anew(self) -> None:
        """Be free in a forked child, whichever thread of the parent was writing."""
        self._lock = RLock()

    def close(self) -> None:
        """Do nothing: who opened the backend closes it."""

    def _borrowed(self, key: str) -> Kept | None:
        """Return what the backend keeps, unless it is damaged; 0.1.0 wrote no checksum."""
        response = self._backend.responses.get(_name(key))
        if response is None or not response.content:
            return None
        turn, stored = response.headers.get(_TURN, "0"), response.headers.get(_CHECKSUM)
        if not turn.isdecimal():
            return None
        kept = Kept(response.content, response.created_at, int(turn))
        is_of_0_1_0 = stored is None and kept.turn == 0
        return kept if is_of_0_1_0 or stored == _checksum(key, kept) else None

    def _lend(self, key: str, kept: Kept) -> None:
        if turn_of(self._borrowed(key)) <= turn_of(kept):
            headers = {_TURN: str(kept.turn), _CHECKSUM: _checksum(key, kept)}
            self._backend.responses[_name(key)] = CachedResponse(
                content=kept.body,
                created_at=kept.fetched_at,
                status_code=200,
                headers=CaseInsensitiveDict(headers),
            )

    def _fall_back(self, fault: Exception) -> None:
        if self._writable:
            self._writable = False
            notify(
                f"answers can't be kept in the given {type(self._backend).__name__} "
                f"({type(fault).__name__}: {shown(str(fault))}); they are kept in memory instead",
                CacheWarning,
            )


def turn_of(kept: Kept | None) -> int:
    """Return the turn of an answer, 0 where there is none."""
    return 0 if kept is None else kept.turn or 0


def _checksum(key: str, kept: Kept) -> str:
    fetched_at = kept.fetched_at.astimezone(UTC).isoformat()
    return str(checksum(key, fetched_at, kept.body, kept.turn))


def _name(key: str) -> str:
    """Return a key that may also be a file's name."""
    return quote(key, safe=" ")


def _refuse_pickles(backend: BaseCache) -> None:
    serializer: Any = backend.responses.serializer
    steps = (*getattr(serializer, "dump_stages", ()), *getattr(serializer, "load_stages", ()))
    modules = {str(getattr(step, "__module__", "")).partition(".")[0] for step in steps}
    if modules & _UNSAFE or "pickle" in str(getattr(serializer, "name", "")):
        raise SettingsError(
            f"cache: {type(backend).__name__} stores pickles, which run code when they are read",
            hint='give the backend a JSON serializer, such as serializer="json"',
        )
