"""The cache of answers by service and wallet, and statistics of a cache file.

The cache is an SQLite file of limited size, or a backend of requests-cache, with the latest answer
for each wallet. It stores bytes and times, never the API key.
"""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections import Counter
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from requests.structures import CaseInsensitiveDict
from requests_cache import BaseCache, CachedResponse

from walletframe.address.forms import WalletAddress, canonical_key
from walletframe.errors import CacheError, CacheWarning, SettingsError
from walletframe.forks import ForkSafeLock
from walletframe.notice import notify
from walletframe.settings.values import CacheChoice, default_cache_path
from walletframe.text import safe_line
from walletframe.transport import database

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


SCHEMA_VERSION = 1
# Sequence numbers (column `turn`) are nanoseconds since the machine started. All processes share
# this clock, and nobody can set it. After a restart, the clock begins at 0. So the table `clock`
# stores the `last` number, and an offset `ahead`, which is added to all later numbers.
_TABLES = (
    (
        "CREATE TABLE answers (key TEXT PRIMARY KEY, fetched_at TEXT NOT NULL, "
        "body BLOB NOT NULL, turn INTEGER NOT NULL, checksum INTEGER)"
    ),
    "CREATE INDEX answers_by_turn ON answers (turn)",
    "CREATE TABLE clock (ahead INTEGER NOT NULL, last INTEGER NOT NULL)",
    "INSERT INTO clock VALUES (0, 0)",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)
_SELECT_OFFSET = f"SELECT coalesce(max(ahead), 0) FROM clock WHERE ahead BETWEEN 0 AND {2**62}"  # noqa: S608 - only a constant is inserted
_SELECT = (
    "SELECT key, fetched_at, body, turn, checksum FROM answers "
    "WHERE key IN (SELECT value FROM json_each(?))"
)
# A row with a sequence number in the future is damaged, and is replaced.
_UPSERT = (
    "INSERT INTO answers (key, fetched_at, body, turn, checksum) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (key) DO UPDATE SET fetched_at = excluded.fetched_at, body = excluded.body, "
    "turn = excluded.turn, checksum = excluded.checksum "
    "WHERE answers.turn <= excluded.turn OR answers.turn > ?"
)
_OLDEST = "SELECT key, length(body) FROM answers ORDER BY turn, rowid LIMIT 256"
_USED_BYTES = (
    "SELECT (page_count - freelist_count) * page_size "
    "FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
)
_WRITE_WARNING = "answers can't be stored in {path} ({fault}); they are kept in memory instead"
_LOCK_TIMEOUT_MS = 5_000
_SEQUENCE_HEADER, _CHECKSUM_HEADER = "walletframe-turn", "walletframe-checksum"
_UNQUOTED = " "  # other characters are quoted, since a key may be used as a file name
_PICKLE_MODULES = frozenset({"pickle", "_pickle", "cloudpickle", "dill", "joblib"})


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """The answer for one wallet, and the time of its fetch."""

    body: bytes  # as the service sent it
    fetched_at: datetime  # in UTC, by the clock of the machine that sent the request
    # The sequence number of the request; None means later than all stored answers.
    sequence: int | None = field(default=None, compare=False)


class AnswerStore(AbstractContextManager["AnswerStore"]):
    """The cached answers of one service, in a shared file, in a backend or in memory."""

    def __init__(self, cache: CacheChoice, service: str, *, max_bytes: int | None = None) -> None:
        self.service = service
        self._store: _AnswerFile | _BackendStore | None = None
        if cache == "memory" or isinstance(cache, BaseCache):
            self._store = _BackendStore(BaseCache() if cache == "memory" else cache)
        elif cache is None or isinstance(cache, Path):
            self._store = _AnswerFile(cache or default_cache_path(), max_bytes=max_bytes)
            self._store.read_answers([])  # opens the file now, which may warn
        elif cache is not False:
            hint = 'use a path, "memory", False, or a requests-cache backend'
            raise SettingsError(f"a cache of type {type(cache).__name__} is not supported", hint)

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the cache file, if there is one."""
        if isinstance(self._store, _AnswerFile):  # the caller closes their own backend
            self._store.close()

    def read_answers(self, wallets: Iterable[WalletAddress]) -> dict[WalletAddress, CachedAnswer]:
        """Return a dict of the cached answers by wallet, in the given order."""
        if self._store is None:
            return {}
        keys = {wallet: self._cache_key(wallet) for wallet in wallets}
        answers = self._store.read_answers(list(dict.fromkeys(keys.values())))
        return {wallet: answers[key] for wallet, key in keys.items() if key in answers}

    def write_answers(self, answers: Iterable[tuple[WalletAddress, CachedAnswer]]) -> None:
        """Store answers. Answers to earlier requests never replace answers to later ones."""
        keyed = [(self._cache_key(wallet), answer) for wallet, answer in answers]
        if self._store is not None and keyed:
            self._store.write_answers(keyed)

    def sequence_now(self) -> int:
        """Return a sequence number. Numbers increase, in all processes with the same file."""
        return 0 if self._store is None else self._store.sequence_now()

    def _cache_key(self, wallet: WalletAddress) -> str:
        blockchain, address = canonical_key(wallet.blockchain, wallet.address)
        return f"{self.service} {blockchain}.{address}"


def _prepare_db(con: sqlite3.Connection) -> None:
    if database.schema_version(con) == 0:
        con.execute("PRAGMA auto_vacuum = FULL").fetchall()
        con.execute("PRAGMA journal_mode = WAL").fetchall()
        database.run_in_transaction(con, _create_tables)
    database.require_schema_version(con, SCHEMA_VERSION)
    now = time.monotonic_ns()
    if con.execute("SELECT 1 FROM clock WHERE last > ahead + ?", (now,)).fetchone():
        try:
            con.execute("UPDATE clock SET ahead = last - ? WHERE last > ahead + ?", (now, now))
        except sqlite3.OperationalError as fault:
            # A read-only file can still be read.
            if database.sqlite_error_code(fault) != sqlite3.SQLITE_READONLY:
                raise
    con.execute("PRAGMA synchronous = NORMAL").fetchall()
    con.execute(f"PRAGMA journal_size_limit = {4 * 1024 * 1024}").fetchall()


def _create_tables(con: sqlite3.Connection) -> None:
    if database.schema_version(con) == 0:  # otherwise another process has created them
        for statement in _TABLES:
            con.execute(statement)


ANSWER_FILE_SPEC = database.DatabaseSpec("cache", _prepare_db, _WRITE_WARNING, lock_timeout_s=5.0)


class _AnswerFile:
    """Answers by key in one SQLite file. Above `max_bytes`, the oldest answers are deleted."""

    def __init__(self, path: Path, *, max_bytes: int | None = None) -> None:
        self._database = database.Database(path, ANSWER_FILE_SPEC)
        self._max_bytes = max_bytes
        self._offset = 0

    def read_answers(self, keys: Sequence[str]) -> dict[str, CachedAnswer]:
        def select_answers(con: sqlite3.Connection) -> list[Any]:
            self._update_clock_offset(con)
            return con.execute(_SELECT, (json.dumps(keys),)).fetchall()

        answers: dict[str, CachedAnswer] = {}
        for row in chain.from_iterable(self._database.query_file_and_memory(select_answers)):
            key, fetched_at, body, sequence, stored = row
            moment = _parse_time(fetched_at)
            if not isinstance(body, bytes) or stored != _checksum(*row[:-1]) or moment is None:
                continue
            if sequence >= _sequence_or_zero(answers.get(key)):
                answers[key] = CachedAnswer(body, moment, sequence)
        return answers

    def write_answers(self, answers: Sequence[tuple[str, CachedAnswer]]) -> None:
        def insert_answers(con: sqlite3.Connection) -> None:
            self._update_clock_offset(con)
            now = self.sequence_now()
            con.execute("UPDATE clock SET ahead = ?, last = ?", (self._offset, now))
            for key, answer in answers:
                # Text of fixed width in UTC sorts by time.
                fetched_at = answer.fetched_at.astimezone(UTC).isoformat(timespec="microseconds")
                sequence = now if answer.sequence is None else min(answer.sequence, now)
                row = (key, fetched_at, answer.body, sequence)
                con.execute(_UPSERT, (*row, _checksum(*row), now))
            if self._max_bytes is not None:
                _delete_oldest_answers(con, self._max_bytes)

        self._database.write_in_transaction(insert_answers)

    def sequence_now(self) -> int:
        return time.monotonic_ns() + self._offset

    def _update_clock_offset(self, con: sqlite3.Connection) -> None:
        [(offset,)] = con.execute(_SELECT_OFFSET)
        self._offset = max(self._offset, int(offset))  # also for the in-memory database

    def close(self) -> None:
        self._database.close()


def _delete_oldest_answers(con: sqlite3.Connection, max_bytes: int) -> None:
    while (excess := con.execute(_USED_BYTES).fetchone()[0] - max_bytes) > 0:
        oldest = con.execute(_OLDEST).fetchall()
        if not oldest:
            break
        sizes = accumulate((size for _, size in oldest), initial=0)
        keys = [(key,) for (key, _), before in zip(oldest, sizes, strict=False) if before < excess]
        con.executemany("DELETE FROM answers WHERE key = ?", keys)


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
                    answers[key] = max(fallback, answers.get(key, fallback), key=_sequence_or_zero)
            latest = max(map(_sequence_or_zero, answers.values()), default=0)
            self._offset = max(self._offset, latest - time.monotonic_ns())
        return answers

    def write_answers(self, answers: Sequence[tuple[str, CachedAnswer]]) -> None:
        with self._lock:
            now, failure = self.sequence_now(), None
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
                    self._fallback[key] = max(answer, other, key=_sequence_or_zero)
            if failure is not None:  # after all writes, since the warning may raise
                self._fall_back_to_memory(failure)

    def sequence_now(self) -> int:
        return time.monotonic_ns() + self._offset

    def _read_answer(self, key: str) -> CachedAnswer | None:
        response = self._backend.responses.get(quote(key, safe=_UNQUOTED))
        if response is None or not response.content:
            return None
        sequence = response.headers.get(_SEQUENCE_HEADER, "")
        if not sequence.isdecimal():
            return None
        answer = CachedAnswer(response.content, response.created_at, int(sequence))
        return answer if response.headers.get(_CHECKSUM_HEADER) == _digest(key, answer) else None

    def _write_answer(self, key: str, answer: CachedAnswer) -> None:
        if _sequence_or_zero(self._read_answer(key)) <= _sequence_or_zero(answer):
            number, digest = str(answer.sequence), _digest(key, answer)
            self._backend.responses[quote(key, safe=_UNQUOTED)] = CachedResponse(
                content=answer.body,
                created_at=answer.fetched_at,
                status_code=200,
                headers=CaseInsensitiveDict({_SEQUENCE_HEADER: number, _CHECKSUM_HEADER: digest}),
            )

    def _fall_back_to_memory(self, fault: Exception) -> None:
        if self._writable:
            self._writable = False
            backend = f"the backend {type(self._backend).__name__}"
            reason = f"{type(fault).__name__}: {safe_line(str(fault))}"
            notify(_WRITE_WARNING.format(path=backend, fault=reason), CacheWarning)


def _digest(key: str, answer: CachedAnswer) -> str:
    fetched_at = answer.fetched_at.astimezone(UTC).isoformat()
    return str(_checksum(key, fetched_at, answer.body, answer.sequence))


def _checksum(*values: object) -> int:
    """Return the CRC-32 of values and their lengths. Values other than bytes become text."""
    total = 0
    for value in values:
        data = value if isinstance(value, bytes) else str(value).encode()
        total = zlib.crc32(data, zlib.crc32(b"%d:" % len(data), total))
    return total


def _parse_time(text: object) -> datetime | None:
    with suppress(TypeError, ValueError):
        return datetime.fromisoformat(text)  # type: ignore[arg-type]  # a TypeError is suppressed
    return None


def _sequence_or_zero(answer: CachedAnswer | None) -> int:
    return 0 if answer is None else answer.sequence or 0


class CacheStatistics(NamedTuple):
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
    return CacheStatistics(path, size_bytes, dict(services), *map(_parse_time, times))


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
            database.require_schema_version(con, 0, SCHEMA_VERSION)
            yield con if database.schema_version(con) else None
    except database.FAULTS as fault:
        hint = "use another file: set cache= or WALLETFRAME_CACHE"
        if database.is_damage_error(fault):
            hint = f"the next fetch renames the damaged file and creates a new one; or {hint}"
        elif database.is_busy_error(fault):
            hint = "another process is writing to the file; try again later"
        raise CacheError(f"the cache {path} can't be used: {fault}", hint=hint) from fault
