"""A requests-cache backend whose rows are plain: a key, a time, a JSON text and the body's bytes.

Knows what a row means, which of two answers is the newer, and the size limit. Locks, files and
their trouble are the database's business.
"""

from __future__ import annotations

from abc import abstractmethod
from datetime import UTC, datetime
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

from requests_cache import BaseCache, BaseStorage, CachedResponse
from requests_cache.serializers import json_serializer

from walletframe.transport.database import WAIT_S, Database
from walletframe.transport.kept import Kept

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

V = TypeVar("V")
Row: TypeAlias = tuple[Any, ...]

_CHUNK = 500
_EVICTED_AT_ONCE = 256
_UPSERT = (
    "INSERT INTO answers (key, fetched_at, body, head) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (key) DO UPDATE SET "
    "fetched_at = excluded.fetched_at, body = excluded.body, head = excluded.head "
    "WHERE excluded.fetched_at >= answers.fetched_at"
)


class RowCache(BaseCache):
    """A requests-cache backend in one SQLite file that can't hurt.

    Parameters
    ----------
    path : Path
        The file; it is made at the first use, readable by its owner alone.
    max_bytes : int, optional
        How large its content may grow, in bytes; the oldest answers give way.
    wait_s : float, default 5
        How long to wait for other processes, in seconds.

    Warns
    -----
    CacheWarning
        Once, where the file can't be used and memory takes over; and where a broken file was
        moved aside.

    Examples
    --------
    >>> from pathlib import Path
    >>> from requests_cache import CachedSession
    >>> session = CachedSession(backend=RowCache(Path("answers.sqlite")))
    >>> session.close()
    """

    responses: AnswerRows
    redirects: AliasRows

    def __init__(self, path: Path, *, max_bytes: int | None = None, wait_s: float = WAIT_S) -> None:
        super().__init__(cache_name=str(path))
        database = Database(path, wait_s=wait_s)
        self.responses = AnswerRows(database, max_bytes=max_bytes)
        self.redirects = AliasRows(database)

    @property
    def db_path(self) -> Path:
        """The file.

        Returns
        -------
        Path
            As given.
        """
        return self.responses.database.path


class _Rows(BaseStorage[str, V]):
    table: ClassVar[str]
    columns: ClassVar[str]

    def __init__(self, database: Database) -> None:
        super().__init__(serializer=json_serializer)
        self.database = database

    @abstractmethod
    def _value(self, row: Row) -> V:
        """Make a value of the columns."""

    def _select(self, columns: str, keys: Sequence[object]) -> list[Row]:
        """Return the rows of some keys: those of the file, then those in memory."""

        def select(link: sqlite3.Connection) -> list[Row]:
            rows: list[Row] = []
            for start in range(0, len(keys), _CHUNK):
                part = keys[start : start + _CHUNK]
                marks = ", ".join("?" * len(part))
                rows += link.execute(f"{statement} ({marks})", part).fetchall()
            return rows

        statement = f"SELECT {columns} FROM {self.table} WHERE key IN"  # noqa: S608 - our own
        return [row for rows in self.database.look(select) for row in rows]

    def __getitem__(self, key: str) -> V:
        rows = self._select(self.columns, [key])
        if not rows:
            raise KeyError(key)
        return self._value(rows[-1])

    def __contains__(self, key: object) -> bool:
        return bool(self._select("key", [key]))

    def __iter__(self) -> Iterator[str]:
        statement = f"SELECT key FROM {self.table}"  # noqa: S608 - our own
        found = self.database.look(lambda link: link.execute(statement).fetchall())
        return iter(dict.fromkeys(key for rows in found for (key,) in rows))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __delitem__(self, key: str) -> None:
        if not self._delete([key]):
            raise KeyError(key)

    def bulk_delete(self, keys: Iterable[str]) -> None:
        self._delete(list(keys))

    def _delete(self, keys: list[str]) -> int:
        statement = f"DELETE FROM {self.table} WHERE key = ?"  # noqa: S608 - our own
        given = [(key,) for key in keys]
        return self.database.change(lambda link: link.executemany(statement, given).rowcount)

    def clear(self) -> None:
        statement = f"DELETE FROM {self.table}"  # noqa: S608 - our own
        self.database.change(lambda link: link.execute(statement).rowcount)

    def close(self) -> None:
        self.database.close()


class AnswerRows(_Rows[CachedResponse]):
    """The answers: responses for requests-cache, bytes and times for walletframe.

    Parameters
    ----------
    database : Database
        Where they are.
    max_bytes : int, optional
        How large their pages may grow, in bytes; the oldest answers give way.
    """

    table = "answers"
    columns = "key, fetched_at, body, head"

    def __init__(self, database: Database, *, max_bytes: int | None = None) -> None:
        super().__init__(database)
        self._max_bytes = max_bytes

    def __setitem__(self, key: str, value: CachedResponse) -> None:
        head = self.serialize(CachedResponse.from_response(value, content=None))
        self._keep([(key, _text(value.created_at), value.content or b"", head)])

    def read(self, keys: Sequence[str]) -> dict[str, Kept]:
        """Return those that are there, in one look.

        Parameters
        ----------
        keys : sequence of str
            The keys to look for.

        Returns
        -------
        dict of str to Kept
            Of two answers to one key, the newer; what can't be read is left out.
        """
        rows = self._select("key, fetched_at, body", keys)
        found = ((key, _kept(at, body)) for key, at, body in sorted(rows, key=itemgetter(1)))
        return {key: kept for key, kept in found if kept is not None}

    def write(self, answers: Sequence[tuple[str, Kept]]) -> None:
        """Keep answers in one transaction, each unless a newer one is there.

        Parameters
        ----------
        answers : sequence of (str, Kept)
            The answers, by key.
        """
        self._keep([(key, _text(kept.fetched_at), kept.body, None) for key, kept in answers])

    def _keep(self, rows: list[Row]) -> None:
        def upsert(link: sqlite3.Connection) -> None:
            link.executemany(_UPSERT, rows)
            if self._max_bytes is not None:
                _evict(link, self._max_bytes)

        self.database.change(upsert)

    def _value(self, row: Row) -> CachedResponse:
        key, fetched_at, body, head = row
        kept = _kept(fetched_at, body)
        response = CachedResponse(status_code=200) if head is None else self.deserialize(key, head)
        if kept is None or response is None:
            raise KeyError(key)
        whole = CachedResponse.from_response(
            response, content=kept.body, created_at=kept.fetched_at
        )
        whole.cache_key = key
        return whole


class AliasRows(_Rows[str]):
    """The keys of redirects, each with the key of the answer that it led to."""

    table = "aliases"
    columns = "key, target"

    def __setitem__(self, key: str, value: str) -> None:
        statement = "INSERT OR REPLACE INTO aliases (key, target) VALUES (?, ?)"
        self.database.change(lambda link: link.execute(statement, (key, value)).rowcount)

    def _value(self, row: Row) -> str:
        return str(row[1])


def _text(moment: datetime) -> str:
    """Return a time as text of fixed width, so that texts compare as times do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _kept(fetched_at: object, body: object) -> Kept | None:
    if not isinstance(fetched_at, str) or not isinstance(body, bytes):
        return None
    try:
        return Kept(body, datetime.fromisoformat(fetched_at))
    except ValueError:
        return None


def _evict(link: sqlite3.Connection, max_bytes: int) -> None:
    """Delete the oldest answers until the pages in use fit; the file shrinks with them."""
    while (excess := _bytes_of(link, "page_count") - _bytes_of(link, "freelist_count")) > max_bytes:
        excess -= max_bytes
        oldest = link.execute(
            "SELECT key, length(body) FROM answers ORDER BY fetched_at LIMIT ?", (_EVICTED_AT_ONCE,)
        ).fetchall()
        if not oldest:
            break
        sizes = accumulate((size for _, size in oldest), initial=0)
        gone = [(key,) for (key, _), before in zip(oldest, sizes, strict=False) if before < excess]
        link.executemany("DELETE FROM answers WHERE key = ?", gone)


def _bytes_of(link: sqlite3.Connection, pages: str) -> int:
    count: int = link.execute(f"PRAGMA {pages}").fetchone()[0]
    return count * int(link.execute("PRAGMA page_size").fetchone()[0])
