"""A cache file from outside: what is in it, and how to forget it. Never makes a file."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from walletframe.errors import CacheError
from walletframe.transport.schema import LATER_RELEASE, VERSION, version
from walletframe.transport.sqlitefile import FAULTS, connect, is_broken, is_busy, transact

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_WAIT_MS = 5_000


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """What is kept in one file.

    Attributes
    ----------
    path : Path
        The file.
    size_bytes : int
        Its size, with what SQLite keeps beside it.
    answers : dict of str to int
        How many answers of each service, by the service's name.
    oldest, newest : datetime or None
        When the first and the last of them were fetched, in UTC; None where there are none.
    """

    path: Path
    size_bytes: int
    answers: dict[str, int]
    oldest: datetime | None = None
    newest: datetime | None = None


def describe(path: Path) -> StoreFacts:
    """Say what is kept in a file.

    Parameters
    ----------
    path : Path
        The file; one that does not exist keeps nothing.

    Returns
    -------
    StoreFacts
        What is in it.

    Raises
    ------
    CacheError
        Where it can't be read, or is no cache of walletframe.
    """
    with _opened(path) as link:
        if link is None:
            return StoreFacts(path, _size_bytes(path), {})
        keys = link.execute("SELECT key FROM answers").fetchall()
        ends = link.execute("SELECT min(fetched_at), max(fetched_at) FROM answers").fetchone()
        size_bytes = _size_bytes(path)
        oldest, newest = map(_moment, ends)
    services = Counter(key.rpartition(" ")[0] for (key,) in keys)
    return StoreFacts(path, size_bytes, dict(services), oldest, newest)


def clear(path: Path) -> int:
    """Forget everything that is kept in a file, and make it small.

    Parameters
    ----------
    path : Path
        The file; one that does not exist is left alone.

    Returns
    -------
    int
        How many answers were forgotten.

    Raises
    ------
    CacheError
        Where it can't be read or written, or is no cache of walletframe.
    """
    with _opened(path) as link:
        return 0 if link is None else _clear(link)


def _clear(link: sqlite3.Connection) -> int:
    def forget(link: sqlite3.Connection) -> int:
        link.execute("DELETE FROM aliases")
        return link.execute("DELETE FROM answers").rowcount

    forgotten = transact(link, forget)
    with suppress(sqlite3.OperationalError):  # somebody is reading: it shrinks at a later write
        link.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return forgotten


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Give a connection, or None where there is nothing to see."""
    try:
        if not path.exists():
            yield None
            return
        with closing(connect(path, "rw")) as link:
            link.execute(f"PRAGMA busy_timeout = {_WAIT_MS}").fetchall()
            if version(link) not in (0, VERSION):
                raise sqlite3.NotSupportedError(LATER_RELEASE)
            yield link if version(link) else None
    except FAULTS as fault:
        raise CacheError(f"the cache {path} can't be used: {fault}", _hint(fault)) from fault


def _hint(fault: Exception) -> str:
    if is_broken(fault):
        return "it is moved aside at the next fetch; or name another file with cache="
    if isinstance(fault, sqlite3.Error) and is_busy(fault):
        return "another process is writing; try again when it is done"
    return "name another file with cache= or WALLETFRAME_CACHE"


def _moment(text: object) -> datetime | None:
    """Return a time, or None for what is none, as in a damaged row."""
    with suppress(TypeError, ValueError):
        return datetime.fromisoformat(text)  # type: ignore[arg-type]
    return None


def _size_bytes(path: Path) -> int:
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
