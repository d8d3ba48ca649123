"""The cache of answers by service and wallet, and statistics of a cache file.

The cache stores bytes and times, never the API key.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from requests.structures import CaseInsensitiveDict
from requests_cache import BaseCache, CachedResponse

from walletframe.address.forms import canonical_key
from walletframe.errors import CacheError, CacheWarning, SettingsError
from walletframe.forks import ForkSafeLock
from walletframe.notice import notify
from walletframe.settings.values import default_cache_path
from walletframe.text import safe_line
from walletframe.transport import cachefile, database
from walletframe.transport.cachefile import AnswerFile, CachedAnswer, sequence_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from walletframe.address.forms import WalletAddress
    from walletframe.settings.values import CacheChoice

_LOCK_TIMEOUT_MS = 5_000
_SEQUENCE_HEADER, _CHECKSUM_HEADER = "walletframe-turn", "walletframe-checksum"
_UNQUOTED = " "  # other characters are quoted, since a key may be used as a file name
_PICKLE_MODULES = frozenset({"pickle", "_pickle", "cloudpickle", "dill", "joblib"})


class AnswerStore(AbstractContextManager["AnswerStore"]):
    """The cached answers of one service, in a shared file, in a backend or in memory."""

    def __init__(self, cache: CacheChoice, service: str, *, max_bytes: int | None = None) -> None:
        self.service = service
        self._store: AnswerFile | _BackendStore | None = None
        if cache == "memory" or isinstance(cache, BaseCache):
            self._store = _BackendStore(BaseCache() if cache == "memory" else cache)
        elif cache is None or isinstance(cache, Path):
            self._store = AnswerFile(cache or default_cache_path(), max_bytes=max_bytes)
            self._store.read_answers([])  # opens the file now, which may warn
        elif cache is not False:
            hint = 'use a path, "memory", False, or a requests-cache backend'
            raise SettingsError(f"a cache of type {type(cache).__name__} is not supported", hint)

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the cache file, if there is one."""
        if isinstance(self._store, AnswerFile):  # the caller closes their own backend
            self._store.close()

    def read_answers(self, wallets: Iterable[WalletAddress]) -> dict[WalletAddress, CachedAnswer]:
        """Return a dict of the cached answers by wallet, in the given order."""
        if self._store is None:
            return {}
        keys = {wallet: self._cache_key(wallet) for wallet in wallets}
        answers = self._store.read_answers(list(dict.fromkeys(keys.values())))
        return {wallet: answers[key] for wallet, key in keys.items() if key in answers}

    def write_answers(self, answers: Iterable[tuple[WalletAddress, CachedAnswer]]) -> None:
        """Store answers. An answer to an earlier request never replaces one to a later request."""
        keyed = [(self._cache_key(wallet), answer) for wallet, answer in answers]
        if self._store is not None and keyed:
            self._store.write_answers(keyed)

    def next_sequence(self) -> int:
        """Return the next sequence number. Processes with the same file share the numbers."""
        return 0 if self._store is None else self._store.next_sequence()

    def _cache_key(self, wallet: WalletAddress) -> str:
        blockchain, address = canonical_key(wallet.blockchain, wallet.address)
        return f"{self.service} {blockchain}.{address}"


class _BackendStore:
    """Answers in a backend of requests-cache. If the backend fails, warn and use memory."""

    def __init__(self, backend: BaseCache) -> None:
        serializer: Any = backend.responses.serializer
        steps = (*getattr(serializer, "dump_stages", ()), *getattr(serializer, "load_stages", ()))
        modules = {str(getattr(step, "__module__", "")).partition(".")[0] for step in steps}
        if modules & _PICKLE_MODULES or "pickle" in str(getattr(serializer, "name", "")):
            hint = 'create the backend with a JSON serializer, such as serializer="json"'
            message = f"the backend {type(backend).__name__} stores pickles, which can run code"
            raise SettingsError(message, hint)
        self._backend = backend
        self._fallback: dict[str, CachedAnswer] = {}  # answers that the backend could not store
        self._readable = self._writable = True
        self._lock = ForkSafeLock()
        self._offset = 0

    def read_answers(self, keys: Sequence[str]) -> dict[str, CachedAnswer]:
        answers: dict[str, CachedAnswer] = {}
        if self._readable:
            try:
                results = ((key, self._read_answer(key)) for key in keys)
                answers = {key: answer for key, answer in results if answer is not None}
            except Exception as fault:  # noqa: BLE001 - backends raise exceptions of any type
                self._readable = False
                self._fall_back_to_memory(fault)
        with self._lock:
            for key in keys:
                if (fallback := self._fallback.get(key)) is not None:
                    answers[key] = max(fallback, answers.get(key, fallback), key=sequence_number)
            latest = max(map(sequence_number, answers.values()), default=0)
            self._offset = max(self._offset, latest - time.monotonic_ns())
        return answers

    def write_answers(self, answers: Sequence[tuple[str, CachedAnswer]]) -> None:
        with self._lock:
            now, failure = self.next_sequence(), None
            answers = [
                (key, replace(answer, sequence=now) if answer.sequence is None else answer)
                for key, answer in answers
            ]
            if self._writable:
                try:
                    for key, answer in answers:
                        self._write_answer(key, answer)
                except Exception as fault:  # noqa: BLE001 - backends raise exceptions of any type
                    failure = fault
            if failure is not None or not self._writable:
                for key, answer in answers:
                    other = self._fallback.get(key, answer)
                    self._fallback[key] = max(answer, other, key=sequence_number)
            if failure is not None:  # after all writes, since the warning may raise
                self._fall_back_to_memory(failure)

    def next_sequence(self) -> int:
        return time.monotonic_ns() + self._offset

    def _read_answer(self, key: str) -> CachedAnswer | None:
        response = self._backend.responses.get(quote(key, safe=_UNQUOTED))
        if response is None or not response.content:
            return None
        sequence = response.headers.get(_SEQUENCE_HEADER, "")
        if not sequence.isdecimal():
            return None
        answer = CachedAnswer(response.content, response.created_at, int(sequence))
        return answer if response.headers.get(_CHECKSUM_HEADER) == _checksum(key, answer) else None

    def _write_answer(self, key: str, answer: CachedAnswer) -> None:
        if sequence_number(self._read_answer(key)) <= sequence_number(answer):
            number, digest = str(answer.sequence), _checksum(key, answer)
            self._backend.responses[quote(key, safe=_UNQUOTED)] = CachedResponse(
                content=answer.body,
                created_at=answer.fetched_at,
                status_code=200,
                headers=CaseInsensitiveDict({_SEQUENCE_HEADER: number, _CHECKSUM_HEADER: digest}),
            )

    def _fall_back_to_memory(self, fault: Exception) -> None:
        if self._writable:
            self._writable = False
            backend = f"the given {type(self._backend).__name__}"
            reason = f"{type(fault).__name__}: {safe_line(str(fault))}"
            notify(cachefile.WRITE_WARNING.format(path=backend, fault=reason), CacheWarning)


def _checksum(key: str, answer: CachedAnswer) -> str:
    fetched_at = answer.fetched_at.astimezone(UTC).isoformat()
    return str(cachefile.checksum(key, fetched_at, answer.body, answer.sequence))


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """Statistics of one cache file."""

    path: Path
    size_bytes: int  # including the WAL
    answers: dict[str, int]  # the number of answers per service
    # Times of answers in UTC; None if there are no answers, or if the time is damaged.
    oldest: datetime | None = None
    newest: datetime | None = None


def cache_statistics(path: Path) -> CacheStatistics:
    """Return statistics of a cache file, or raise a CacheError. Never create the file."""
    keys, times = [], (None, None)
    with _open_existing_cache(path) as con:
        if con is not None:
            keys = con.execute("SELECT key FROM answers").fetchall()
            times = con.execute("SELECT min(fetched_at), max(fetched_at) FROM answers").fetchone()
        files = (path, path.with_name(f"{path.name}-wal"))
        size_bytes = sum(file.stat().st_size for file in files if file.exists())
    services = Counter(key.rpartition(" ")[0] for (key,) in keys)
    return CacheStatistics(path, size_bytes, dict(services), *map(cachefile.parse_time, times))


def clear_cache(path: Path) -> int:
    """Delete all answers in a cache file, shrink the file, and return the number of answers."""
    with _open_existing_cache(path) as con:
        if con is None:
            return 0
        deleted = con.execute("DELETE FROM answers").rowcount
        # While another process reads, this fails, and a later write shrinks the file.
        with suppress(sqlite3.OperationalError):
            con.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return deleted


@contextmanager
def _open_existing_cache(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Yield a connection, or None if the file or its tables don't exist."""
    try:
        if not path.exists():
            yield None
            return
        with closing(database.connect(path, "rw")) as con:
            con.execute(f"PRAGMA busy_timeout = {_LOCK_TIMEOUT_MS}").fetchall()
            database.require_schema_version(con, 0, cachefile.SCHEMA_VERSION)
            yield con if database.schema_version(con) else None
    except database.FAULTS as fault:
        hint = "use another file: set cache= or WALLETFRAME_CACHE"
        if database.is_damage_error(fault):
            hint = f"the next fetch renames the damaged file and creates a new one; or {hint}"
        elif database.is_busy_error(fault):
            hint = "another process is writing to the file; try again later"
        raise CacheError(f"the cache {path} can't be used: {fault}", hint=hint) from fault
