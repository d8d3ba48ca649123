"""The cache: one answer for each service and wallet; statistics and clearing of a cache file.

Keeps bytes and times, and decides nothing: whether an answer is fresh is the plan's business, and
what may be kept is the client's. The key is in none of it.
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
from walletframe.text import shown
from walletframe.transport.cachefile import (
    VERSION,
    AnswerFile,
    Kept,
    checksum,
    moment_of,
    turn_of,
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
    """The answers of one service, in a file that processes share, a backend, or in memory.

    The oldest beyond `max_bytes` are deleted. Trouble is one CacheWarning: a broken file is moved
    aside and begun anew, otherwise memory takes over. Pickles are a SettingsError.
    """

    def __init__(self, choice: CacheChoice, service: str, *, max_bytes: int | None = None) -> None:
        self.service = service
        self._shelf: AnswerFile | BorrowedShelf | None = None
        if choice == "memory" or isinstance(choice, BaseCache):
            self._shelf = BorrowedShelf(BaseCache() if choice == "memory" else choice)
        elif choice is None or isinstance(choice, Path):
            self._shelf = AnswerFile(choice or default_cache(), max_bytes=max_bytes)
            self._shelf.read([])  # so that trouble with a file is warned of at once
        elif choice is not False:
            raise SettingsError(
                f"cache: {type(choice).__name__} is not a cache",
                hint='a path, "memory", False, or a requests-cache backend',
            )

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, if there is one."""
        if isinstance(self._shelf, AnswerFile):  # who opened a backend closes it
            self._shelf.close()

    def read(self, wallets: Iterable[WalletAddress]) -> dict[WalletAddress, Kept]:
        """Return what is kept of some wallets, in one look, in the order given."""
        if self._shelf is None:
            return {}
        keys = {wallet: self._key(wallet) for wallet in wallets}
        found = self._shelf.read(list(dict.fromkeys(keys.values())))
        return {wallet: found[key] for wallet, key in keys.items() if key in found}

    def write(self, answers: Iterable[tuple[WalletAddress, Kept]]) -> None:
        """Keep answers, each unless one that was asked for later is there.

        In a file, an interrupt leaves all of them or none.
        """
        keyed = [(self._key(wallet), kept) for wallet, kept in answers]
        if self._shelf is not None and keyed:
            self._shelf.write(keyed)

    def turn(self) -> int:
        """Return the next sequence number of requests, in a file of those of any process."""
        return 0 if self._shelf is None else self._shelf.turn()

    def _key(self, wallet: WalletAddress) -> str:
        blockchain, address = canonical_key(wallet.blockchain, wallet.address)
        return f"{self.service} {blockchain}.{address}"


class BorrowedShelf:
    """Keeps answers in a backend of the caller's, and in memory, after one warning, where it fails.

    A SettingsError refuses pickles: reading one runs what its writer wanted.
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
        self._spare: dict[str, Kept] = {}  # what the backend could not keep
        self._readable = self._writable = True
        self._lock = OwnLock()
        self._ahead = 0

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
            for key in keys:
                if (own := self._spare.get(key)) is not None:
                    found[key] = max(own, found.get(key, own), key=turn_of)
            latest = max(map(turn_of, found.values()), default=0)
            self._ahead = max(self._ahead, latest - time.monotonic_ns())
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
                for key, kept in answers:
                    self._spare[key] = max(kept, self._spare.get(key, kept), key=turn_of)
            if trouble is not None:  # only now: a warning can be an error
                self._fall_back(trouble)

    def turn(self) -> int:
        """Return a number above all that were given on this machine, and all that were found."""
        return time.monotonic_ns() + self._ahead

    def _borrowed(self, key: str) -> Kept | None:
        """Return what the backend keeps, unless it is damaged."""
        response = self._backend.responses.get(quote(key, safe=_NAMEABLE))
        if response is None or not response.content:
            return None
        turn = response.headers.get(_TURN, "")
        if not turn.isdecimal():
            return None
        kept = Kept(response.content, response.created_at, int(turn))
        return kept if response.headers.get(_CHECKSUM) == _checksum(key, kept) else None

    def _lend(self, key: str, kept: Kept) -> None:
        if turn_of(self._borrowed(key)) <= turn_of(kept):
            headers = {_TURN: str(kept.turn), _CHECKSUM: _checksum(key, kept)}
            self._backend.responses[quote(key, safe=_NAMEABLE)] = CachedResponse(
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


def _checksum(key: str, kept: Kept) -> str:
    fetched_at = kept.fetched_at.astimezone(UTC).isoformat()
    return str(checksum(key, fetched_at, kept.body, kept.turn))


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """What is kept in one file: its size with what SQLite keeps beside it, answers by service.

    Of the times, UTC, None means that there are no answers, or one whose time is damaged.
    """

    path: Path
    size_bytes: int
    answers: dict[str, int]
    oldest: datetime | None = None
    newest: datetime | None = None


def describe(path: Path) -> StoreFacts:
    """Describe what is kept in a file, which is not made; a CacheError where it can't be read."""
    keys, ends = [], (None, None)
    with _opened(path) as link:
        if link is not None:
            keys = link.execute("SELECT key FROM answers").fetchall()
            ends = link.execute("SELECT min(fetched_at), max(fetched_at) FROM answers").fetchone()
        files = (path, path.with_name(f"{path.name}-wal"))
        size_bytes = sum(file.stat().st_size for file in files if file.exists())
    services = Counter(key.rpartition(" ")[0] for (key,) in keys)
    return StoreFacts(path, size_bytes, dict(services), *map(moment_of, ends))


def clear(path: Path) -> int:
    """Forget all answers of a file and make it small; return how many, or raise a CacheError."""
    with _opened(path) as link:
        if link is None:
            return 0
        forgotten = link.execute("DELETE FROM answers").rowcount
        with suppress(sqlite3.OperationalError):  # somebody is reading: it shrinks at a later write
            link.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return forgotten


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Return a connection, or None where there is nothing to see; never make a file."""
    try:
        if not path.exists():
            yield None
            return
        with closing(connect(path, "rw")) as link:
            link.execute(f"PRAGMA busy_timeout = {_WAIT_MS}").fetchall()
            require_version(link, 0, VERSION)
            yield link if version(link) else None
    except FAULTS as fault:
        hint = "name another file with cache= or WALLETFRAME_CACHE"
        if is_broken(fault):
            hint = f"the next fetch moves it aside; or {hint}"
        elif is_busy(fault):
            hint = "another process is writing; try again when it is done"
        raise CacheError(f"the cache {path} can't be used: {fault}", hint=hint) from fault
