"""The cache: one answer for each service and wallet; statistics and clearing of a cache file.

It stores bytes and times and decides nothing: `client` decides whether an answer is fresh and may
be stored. The cache never holds the key.
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
from walletframe.forks import OwnLock
from walletframe.notice import notify
from walletframe.settings.values import default_cache
from walletframe.text import safe_line
from walletframe.transport.cachefile import (
    VERSION,
    AnswerFile,
    CachedAnswer,
    checksum,
    moment_of,
    sequence_of,
)
from walletframe.transport.database import (
    FAULTS,
    connect,
    is_broken,
    is_busy,
    require_version,
    version,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from walletframe.address.forms import WalletAddress
    from walletframe.settings.values import CacheChoice

_WAIT_MS = 5_000
_TURN, _CHECKSUM = "walletframe-turn", "walletframe-checksum"
_NAMEABLE = " "  # a key may become the name of a file
_UNSAFE = frozenset({"pickle", "_pickle", "cloudpickle", "dill", "joblib"})


class AnswerStore(AbstractContextManager["AnswerStore"]):
    """The cached answers of one service, in a shared file, a backend or memory.

    The oldest beyond `max_bytes` are deleted. A failure is one CacheWarning: a broken file is moved
    aside and replaced; else memory is used instead. Pickles are a SettingsError.
    """

    def __init__(self, choice: CacheChoice, service: str, *, max_bytes: int | None = None) -> None:
        self.service = service
        self._store: AnswerFile | BackendStore | None = None
        if choice == "memory" or isinstance(choice, BaseCache):
            self._store = BackendStore(BaseCache() if choice == "memory" else choice)
        elif choice is None or isinstance(choice, Path):
            self._store = AnswerFile(choice or default_cache(), max_bytes=max_bytes)
            self._store.read([])  # so that a file that fails causes its warning at once
        elif choice is not False:
            raise SettingsError(
                f"cache can't be of type {type(choice).__name__}",
                hint='use a path, "memory", False, or a requests-cache backend',
            )

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, if there is one."""
        if isinstance(self._store, AnswerFile):  # the caller closes a backend
            self._store.close()

    def read(self, wallets: Iterable[WalletAddress]) -> dict[WalletAddress, CachedAnswer]:
        """Return the cached answers of these wallets, in one read, in the given order."""
        if self._store is None:
            return {}
        keys = {wallet: self._key(wallet) for wallet in wallets}
        answers = self._store.read(list(dict.fromkeys(keys.values())))
        return {wallet: answers[key] for wallet, key in keys.items() if key in answers}

    def write(self, answers: Iterable[tuple[WalletAddress, CachedAnswer]]) -> None:
        """Store answers; one that was requested later is not replaced.

        In a file, an interrupt leaves all of them or none.
        """
        keyed = [(self._key(wallet), answer) for wallet, answer in answers]
        if self._store is not None and keyed:
            self._store.write(keyed)

    def next_sequence(self) -> int:
        """Return the next sequence number of requests, which processes that share a file share."""
        return 0 if self._store is None else self._store.next_sequence()

    def _key(self, wallet: WalletAddress) -> str:
        blockchain, address = canonical_key(wallet.blockchain, wallet.address)
        return f"{self.service} {blockchain}.{address}"


class BackendStore:
    """Answers in the caller's requests-cache backend; if it fails, one warning, and in memory.

    A backend with pickles is a SettingsError, since reading a pickle runs its writer's code.
    """

    def __init__(self, backend: BaseCache) -> None:
        serializer: Any = backend.responses.serializer
        steps = (*getattr(serializer, "dump_stages", ()), *getattr(serializer, "load_stages", ()))
        modules = {str(getattr(step, "__module__", "")).partition(".")[0] for step in steps}
        if modules & _UNSAFE or "pickle" in str(getattr(serializer, "name", "")):
            raise SettingsError(
                f"cache: {type(backend).__name__} stores pickles, which run code when they are "
                "read",
                hint='give the backend a JSON serializer, such as serializer="json"',
            )
        self._backend = backend
        self._fallback: dict[str, CachedAnswer] = {}  # answers that the backend could not store
        self._readable = self._writable = True
        self._lock = OwnLock()
        self._ahead = 0

    def read(self, keys: Sequence[str]) -> dict[str, CachedAnswer]:
        """Return the undamaged answers; if a key has two, the one that was requested later."""
        answers: dict[str, CachedAnswer] = {}
        if self._readable:
            try:
                read = ((key, self._read_one(key)) for key in keys)
                answers = {key: answer for key, answer in read if answer is not None}
            except Exception as fault:  # noqa: BLE001 - each backend has errors of its own
                self._readable = False
                self._fall_back(fault)
        with self._lock:
            for key in keys:
                if (own := self._fallback.get(key)) is not None:
                    answers[key] = max(own, answers.get(key, own), key=sequence_of)
            latest = max(map(sequence_of, answers.values()), default=0)
            self._ahead = max(self._ahead, latest - time.monotonic_ns())
        return answers

    def write(self, answers: Sequence[tuple[str, CachedAnswer]]) -> None:
        """Store answers; one that was requested later is not replaced."""
        with self._lock:
            now, failure = self.next_sequence(), None
            answers = [
                (key, replace(answer, sequence=now) if answer.sequence is None else answer)
                for key, answer in answers
            ]
            if self._writable:
                try:
                    for key, answer in answers:
                        self._write_one(key, answer)
                except Exception as fault:  # noqa: BLE001 - each backend has errors of its own
                    failure = fault
            if failure is not None or not self._writable:
                for key, answer in answers:
                    self._fallback[key] = max(
                        answer, self._fallback.get(key, answer), key=sequence_of
                    )
            if failure is not None:  # last, since a warning can be raised as an error
                self._fall_back(failure)

    def next_sequence(self) -> int:
        """Return a number above all earlier ones of this machine, and above all that were read."""
        return time.monotonic_ns() + self._ahead

    def _read_one(self, key: str) -> CachedAnswer | None:
        """Return an answer from the backend, or None if it is missing or damaged."""
        response = self._backend.responses.get(quote(key, safe=_NAMEABLE))
        if response is None or not response.content:
            return None
        sequence = response.headers.get(_TURN, "")
        if not sequence.isdecimal():
            return None
        answer = CachedAnswer(response.content, response.created_at, int(sequence))
        return answer if response.headers.get(_CHECKSUM) == _checksum(key, answer) else None

    def _write_one(self, key: str, answer: CachedAnswer) -> None:
        if sequence_of(self._read_one(key)) <= sequence_of(answer):
            headers = {_TURN: str(answer.sequence), _CHECKSUM: _checksum(key, answer)}
            self._backend.responses[quote(key, safe=_NAMEABLE)] = CachedResponse(
                content=answer.body,
                created_at=answer.fetched_at,
                status_code=200,
                headers=CaseInsensitiveDict(headers),
            )

    def _fall_back(self, fault: Exception) -> None:
        if self._writable:
            self._writable = False
            notify(
                f"answers can't be kept in the given {type(self._backend).__name__} "
                f"({type(fault).__name__}: {safe_line(str(fault))}); they are kept in memory "
                "instead",
                CacheWarning,
            )


def _checksum(key: str, answer: CachedAnswer) -> str:
    fetched_at = answer.fetched_at.astimezone(UTC).isoformat()
    return str(checksum(key, fetched_at, answer.body, answer.sequence))


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """Statistics of one cache file: its size including the WAL, and answers by service.

    A time (UTC) is None if there are no answers, or if the answer's time is damaged.
    """

    path: Path
    size_bytes: int
    answers: dict[str, int]
    oldest: datetime | None = None
    newest: datetime | None = None


def describe(path: Path) -> StoreFacts:
    """Return statistics of a cache file, never creating it; a CacheError if it can't be read."""
    keys, ends = [], (None, None)
    with _connection(path) as con:
        if con is not None:
            keys = con.execute("SELECT key FROM answers").fetchall()
            ends = con.execute("SELECT min(fetched_at), max(fetched_at) FROM answers").fetchone()
        files = (path, path.with_name(f"{path.name}-wal"))
        size_bytes = sum(file.stat().st_size for file in files if file.exists())
    services = Counter(key.rpartition(" ")[0] for (key,) in keys)
    return StoreFacts(path, size_bytes, dict(services), *map(moment_of, ends))


def clear(path: Path) -> int:
    """Delete all answers in a file and shrink it; return their number, or raise a CacheError."""
    with _connection(path) as con:
        if con is None:
            return 0
        deleted = con.execute("DELETE FROM answers").rowcount
        with suppress(sqlite3.OperationalError):  # with a reader, the file shrinks at a later write
            con.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return deleted


@contextmanager
def _connection(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Return a connection, or None if there is no file or no table; never create a file."""
    try:
        if not path.exists():
            yield None
            return
        with closing(connect(path, "rw")) as con:
            con.execute(f"PRAGMA busy_timeout = {_WAIT_MS}").fetchall()
            require_version(con, 0, VERSION)
            yield con if version(con) else None
    except FAULTS as fault:
        hint = "name another file with cache= or WALLETFRAME_CACHE"
        if is_broken(fault):
            hint = f"the next fetch moves it aside; or {hint}"
        elif is_busy(fault):
            hint = "another process is writing; try again when it is done"
        raise CacheError(f"the cache {path} can't be used: {fault}", hint=hint) from fault
