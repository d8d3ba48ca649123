"""The cache: one answer for each service and wallet; statistics and clearing of a cache file.

Keeps bytes and times, and decides nothing: whether an answer is fresh is the plan's business, and
what may be kept is the client's. The key is in none of it.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from platformdirs import user_cache_path
from requests_cache import BaseCache

from walletframe.address import canonical_key
from walletframe.errors import CacheError, Either, SettingsError, Spelled
from walletframe.settings import ServerUrl
from walletframe.transport import sqlitefile
from walletframe.transport.cachefile import VERSION, RowCache
from walletframe.transport.kept import BorrowedShelf, moment_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from walletframe.address import WalletAddress
    from walletframe.errors import Text
    from walletframe.settings import CacheChoice
    from walletframe.transport.kept import Kept, Shelf

_WAIT_MS = 5_000


class AnswerStore:
    """The answers of one service, in a file that processes share, a server, or in memory.

    The oldest beyond `max_bytes` are deleted. Trouble is one CacheWarning: a broken file is moved
    aside and begun anew, otherwise memory takes over. Pickles are a SettingsError.
    """

    def __init__(
        self,
        choice: CacheChoice,
        service: str,
        *,
        max_bytes: int | None = None,
        fresh_s: float = 0.0,
    ) -> None:
        self.service = service
        self._shelf = _shelf(choice, max_bytes, fresh_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, if there is one."""
        if self._shelf is not None:
            self._shelf.close()

    def read(self, wallets: Iterable[WalletAddress]) -> dict[WalletAddress, Kept]:
        """Return what is kept of some wallets, in one look, in the order given."""
        if self._shelf is None:
            return {}
        keys = {wallet: self._key(wallet) for wallet in wallets}
        found = self._shelf.read(list(dict.fromkeys(keys.values())))
        return {wallet: found[key] for wallet, key in keys.items() if key in found}

    def write(self, wallet: WalletAddress, kept: Kept) -> None:
        """Keep an answer, unless one that was asked for later is kept."""
        self.write_many([(wallet, kept)])

    def write_many(self, answers: Iterable[tuple[WalletAddress, Kept]]) -> None:
        """Keep several answers; in a file, an interrupt leaves all of them or none."""
        keyed = [(self._key(wallet), kept) for wallet, kept in answers]
        if self._shelf is not None and keyed:
            self._shelf.write(keyed)

    def turn(self) -> int:
        """Return the next sequence number of requests, in a file of those of any process."""
        return 0 if self._shelf is None else self._shelf.turn()

    def _key(self, wallet: WalletAddress) -> str:
        blockchain, address = canonical_key(wallet.blockchain, wallet.address)
        return f"{self.service} {blockchain}.{address}"


def default_path() -> Path:
    """Return the file in which answers are kept unless the settings name another."""
    return user_cache_path("walletframe") / "answers.sqlite"


def _shelf(choice: CacheChoice, max_bytes: int | None, fresh_s: float) -> Shelf | None:
    """Return where answers are kept by key; trouble there is a warning, never an exception."""
    if choice is False:
        return None
    if choice == "memory":
        return BorrowedShelf(BaseCache())
    if isinstance(choice, ServerUrl):
        from walletframe.transport.redis import RedisShelf  # noqa: PLC0415 - an extra

        on_server = RedisShelf(choice, max_bytes=max_bytes, fresh_s=fresh_s)
        on_server.read([""])  # so that trouble is warned of at once
        return on_server
    if isinstance(choice, RowCache):
        return choice.responses
    if isinstance(choice, BaseCache):
        return BorrowedShelf(choice)
    if choice is None or isinstance(choice, Path):
        shelf = RowCache(choice or default_path(), max_bytes=max_bytes).responses
        shelf.read([])  # so that trouble with a file is warned of at once
        return shelf
    raise SettingsError(
        f"cache: {type(choice).__name__} is not a cache",
        hint='a path, "memory", False, a URL (redis://…), or a requests-cache backend',
    )


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
    """Say what is kept in a file, which is not made; a CacheError where it can't be read."""
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

    def forget(link: sqlite3.Connection) -> int:
        link.execute("DELETE FROM aliases")
        return link.execute("DELETE FROM answers").rowcount

    with _opened(path) as link:
        if link is None:
            return 0
        forgotten = sqlitefile.transact(link, forget)
        with suppress(sqlite3.OperationalError):  # somebody is reading: it shrinks at a later write
            link.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return forgotten


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Give a connection, or None where there is nothing to see; never make a file."""
    try:
        if not path.exists():
            yield None
            return
        with closing(sqlitefile.connect(path, "rw")) as link:
            link.execute(f"PRAGMA busy_timeout = {_WAIT_MS}").fetchall()
            sqlitefile.require_version(link, 0, VERSION)
            yield link if sqlitefile.version(link) else None
    except sqlitefile.FAULTS as fault:
        another = Either("cache= or WALLETFRAME_CACHE", "WALLETFRAME_CACHE")
        hint: Text = Spelled("name another file with ", another)
        if sqlitefile.is_broken(fault):
            hint = Spelled("the next fetch moves it aside; or name another file with ", another)
        elif sqlitefile.is_busy(fault):
            hint = "another process is writing; try again when it is done"
        raise CacheError(f"the cache {path} can't be used: {fault}", hint=hint) from fault
