"""Any other requests-cache backend, one answer at a time: a team's Redis, or a dict in memory.

Knows which of them are safe to read, and what to do when one fails. Does not close what the
caller opened. Such a backend can't count for several processes: where two ask for the same wallet
at the same time, the answer that comes last is kept.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from threading import RLock
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from requests.structures import CaseInsensitiveDict
from requests_cache import BaseCache, CachedResponse

from walletframe.errors import CacheWarning, SettingsError
from walletframe.forks import begins_anew
from walletframe.notice import notify
from walletframe.text import shown
from walletframe.transport.kept import Kept, checksum

if TYPE_CHECKING:
    from collections.abc import Sequence

_TURN, _CHECKSUM = "walletframe-turn", "walletframe-checksum"
_UNSAFE = frozenset({"pickle", "_pickle", "cloudpickle", "dill", "joblib"})


class BorrowedShelf:
    """Keeps answers in a backend of the caller's, and in memory, after one warning, where it fails.

    A SettingsError refuses pickles: reading one runs what its writer wanted.
    """

    def __init__(self, backend: BaseCache) -> None:
        _refuse_pickles(backend)
        self._backend = backend
        self._memory = BaseCache()
        self._readable = True
        self._writable = True
        self._lock = RLock()
        self._last_turn = 0
        begins_anew(self)

    def read(self, keys: Sequence[str]) -> dict[str, Kept]:
        """Return those that are there, as a shelf does."""
        found: dict[str, Kept] = {}
        if self._readable:
            try:
                found = _get(self._backend, keys)
            except Exception as fault:  # noqa: BLE001 - each backend has errors of its own
                self._readable = False
                self._fall_back(fault)
        if not self._writable:
            for key, kept in _get(self._memory, keys).items():
                if key not in found or _turn(kept) >= _turn(found[key]):
                    found[key] = kept
        with self._lock:
            self._last_turn = max(self._last_turn, *map(_turn, found.values()), 0)
        return found

    def write(self, answers: Sequence[tuple[str, Kept]]) -> None:
        """Keep answers, as a shelf does."""
        with self._lock:
            now = self.turn()
            answers = [
                (key, kept if kept.turn is not None else replace(kept, turn=now))
                for key, kept in answers
            ]
            if self._writable:
                try:
                    _put(self._backend, answers)
                except Exception as fault:  # noqa: BLE001 - each backend has errors of its own
                    _put(self._memory, answers)
                    self._fall_back(fault)
            else:
                _put(self._memory, answers)

    def turn(self) -> int:
        """Return a number above all that were given here, and all that were found."""
        with self._lock:
            self._last_turn += 1
            return self._last_turn

    def begin_anew(self) -> None:
        """Be free in a forked child, whichever thread of the parent was writing."""
        self._lock = RLock()

    def close(self) -> None:
        """Do nothing: who opened the backend closes it."""

    def _fall_back(self, fault: Exception) -> None:
        if self._writable:
            self._writable = False
            notify(
                f"answers can't be kept in the given {type(self._backend).__name__} "
                f"({type(fault).__name__}: {shown(str(fault))}); "
                "they are kept in memory instead",
                CacheWarning,
            )


def _get(backend: BaseCache, keys: Sequence[str]) -> dict[str, Kept]:
    found = ((key, backend.responses.get(_name(key))) for key in keys)
    read = ((key, _read(key, response)) for key, response in found if response is not None)
    return {key: kept for key, kept in read if kept is not None}


def _read(key: str, response: CachedResponse) -> Kept | None:
    """Return what was kept, unless it is damaged."""
    turn, stored = response.headers.get(_TURN, "0"), response.headers.get(_CHECKSUM)
    if not response.content or not turn.isdecimal():
        return None
    kept = Kept(response.content, response.created_at, int(turn))
    is_of_0_1_0 = stored is None and kept.turn == 0
    return kept if is_of_0_1_0 or stored == _checksum(key, kept) else None


def _put(backend: BaseCache, answers: Sequence[tuple[str, Kept]]) -> None:
    for key, kept in answers:
        older = _get(backend, [key]).get(key)
        if older is None or _turn(older) <= _turn(kept):
            backend.responses[_name(key)] = CachedResponse(
                content=kept.body,
                created_at=kept.fetched_at,
                status_code=200,
                headers=CaseInsensitiveDict(
                    {_TURN: str(kept.turn), _CHECKSUM: _checksum(key, kept)}
                ),
            )


def _turn(kept: Kept) -> int:
    return kept.turn or 0


def _checksum(key: str, kept: Kept) -> str:
    fetched_at = kept.fetched_at.astimezone(UTC).isoformat()
    return str(checksum(key.encode(), fetched_at.encode(), kept.body, str(kept.turn).encode()))


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
