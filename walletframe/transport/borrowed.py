"""Any other requests-cache backend, one answer at a time: a team's Redis, or a dict in memory.

Knows which of them are safe to read, and what to do when one fails. Does not close what the
caller opened.
"""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from requests_cache import BaseCache, CachedResponse

from walletframe.errors import CacheWarning, SettingsError
from walletframe.notice import notify
from walletframe.text import shown
from walletframe.transport.kept import Kept

if TYPE_CHECKING:
    from collections.abc import Sequence

_UNSAFE = frozenset({"pickle", "_pickle", "cloudpickle", "dill", "joblib"})


class BorrowedShelf:
    """Keeps answers in a backend of the caller's, and in memory where that fails.

    Parameters
    ----------
    backend : requests_cache.BaseCache
        Any backend whose serializer is not pickle.

    Raises
    ------
    SettingsError
        For pickles: reading one runs what its writer wanted.

    Warns
    -----
    CacheWarning
        Once, where the backend fails and memory takes over.
    """

    def __init__(self, backend: BaseCache) -> None:
        _refuse_pickles(backend)
        self._backend = backend
        self._memory = BaseCache()
        self._readable = True
        self._writable = True
        self._lock = RLock()

    def read(self, keys: Sequence[str]) -> dict[str, Kept]:
        """Return those that are there.

        Parameters
        ----------
        keys : sequence of str
            The keys to look for.

        Returns
        -------
        dict of str to Kept
            Of two answers to one key, the newer.
        """
        found: dict[str, Kept] = {}
        if self._readable:
            try:
                found = _get(self._backend, keys)
            except Exception as fault:  # noqa: BLE001 - each backend has errors of its own
                self._readable = False
                self._fall_back(fault)
        if not self._writable:
            for key, kept in _get(self._memory, keys).items():
                if key not in found or kept.fetched_at >= found[key].fetched_at:
                    found[key] = kept
        return found

    def write(self, answers: Sequence[tuple[str, Kept]]) -> None:
        """Keep answers, each unless a newer one is there.

        Parameters
        ----------
        answers : sequence of (str, Kept)
            The answers, by key.
        """
        with self._lock:
            if self._writable:
                try:
                    _put(self._backend, answers)
                except Exception as fault:  # noqa: BLE001 - each backend has errors of its own
                    _put(self._memory, answers)
                    self._fall_back(fault)
            else:
                _put(self._memory, answers)

    def close(self) -> None:
        """Do nothing: who opened the backend closes it."""

    def _fall_back(self, fault: Exception) -> None:
        if self._writable:
            self._writable = False
            notify(
                f"answers can't be kept in the given {type(self._backend).__name__} "
                f"({type(fault).__name__}: {shown(str(fault))}); they are kept in memory instead",
                CacheWarning,
            )


def _get(backend: BaseCache, keys: Sequence[str]) -> dict[str, Kept]:
    found = ((key, backend.responses.get(_name(key))) for key in keys)
    return {
        key: Kept(response.content, response.created_at)
        for key, response in found
        if response is not None and response.content
    }


def _put(backend: BaseCache, answers: Sequence[tuple[str, Kept]]) -> None:
    for key, kept in answers:
        older = _get(backend, [key]).get(key)
        if older is None or older.fetched_at <= kept.fetched_at:
            backend.responses[_name(key)] = CachedResponse(
                content=kept.body, created_at=kept.fetched_at, status_code=200
            )


def _name(key: str) -> str:
    """Return a key that may also be a file's name."""
    return quote(key, safe=" ")


def _refuse_pickles(backend: BaseCache) -> None:
    serializer: Any = backend.responses.serializer
    steps = (*getattr(serializer, "dump_stages", ()), *getattr(serializer, "load_stages", ()))
    modules = {str(getattr(step, "__module__", "")).partition(".")[0] for step in steps}
    if modules & _UNSAFE or "pickle" in str(getattr(serializer, "name", "")):
        raise SettingsError(
            f"cache: {type(backend).__name__} keeps pickles, which run code when they are read",
            hint='give the backend a JSON serializer, such as serializer="json"',
        )
