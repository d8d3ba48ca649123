"""A requests-cache backend whose rows are plain: a key, a time, a JSON text and the body's bytes.

Knows what a row means, whether it is as it was written, which of two answers was asked for later,
and the size limit. Locks, files and their trouble are the database's business.
"""

from __future__ import annotations

from abc import abstractmethod
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, ClassVar, TypeVar

from requests_cache import BaseCache, BaseStorage, CachedResponse
from requests_cache.serializers import json_serializer

from walletframe.transport.database import WAIT_S, Database
from walletframe.transport.row import COLUMNS, Row, is_sound, kept_in, sealed, text_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from walletframe.transport.kept import Kept

V = TypeVar("V")

_CHUNK = 500
_EVICTED_AT_ONCE = 256
_INSERT = f"INSERT INTO answers ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608 - our own
_UPSERT = (
    f"{_INSERT} ON CONFLICT (key) DO UPDATE SET fetched_at = excluded.fetched_at, "
    "body = excluded.body, head = excluded.head, turn = excluded.turn, "
    "checksum = excluded.checksum WHERE excluded.turn >= answers.turn"
)
_NEXT_TURN = (
    "INSERT OR REPLACE INTO turns (id, turn) VALUES (1, 1 + max(?, "
    "coalesce((SELECT turn FROM turns WHERE id = 1), 0), "
    "coalesce((SELECT max(turn) FROM answers), 0)))"
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
    columns = COLUMNS

    def __init__(self, database: Database, *, max_bytes: int | None = None) -> None:
        super().__init__(database)
        self._max_bytes = max_bytes
        self._last_turn = 0

    def __setitem__(self, key: str, value: CachedResponse) -> None:
        head = self.serialize(CachedResponse.from_response(value, content=None))
        self._keep([(key, text_of(value.created_at), value.content or b"", head, None)])

    def read(self, keys: Sequence[str]) -> dict[str, Kept]:
        """Return those that are there, in one look.

        Parameters
        ----------
        keys : sequence of str
            The keys to look for.

        Returns
        -------
        dict of str to Kept
            Of two answers to one key, the one asked for later; what is damaged is left out.
        """
        rows = [row for row in self._select(COLUMNS, keys) if is_sound(row)]
        return {row[0]: kept_in(row) for row in sorted(rows, key=itemgetter(4))}

    def write(self, answers: Sequence[tuple[str, Kept]]) -> None:
        """Keep answers in one transaction, each unless one that was asked for later is there.

        Parameters
        ----------
        answers : sequence of (str, Kept)
            The answers, by key.
        """
        self._keep(
            [(key, text_of(kept.fetched_at), kept.body, None, kept.turn) for key, kept in answers]
        )

    def turn(self) -> int:
        """Return a number above all that were given before, by any process.

        Returns
        -------
        int
            From 1 on.
        """
        return self.database.change(self._next_turn)

    def _next_turn(self, link: sqlite3.Connection) -> int:
        """Count on, also where the file was replaced, or memory has taken over."""
        link.execute(_NEXT_TURN, (self._last_turn,))
        self._last_turn = int(link.execute("SELECT turn FROM turns").fetchone()[0])
        return self._last_turn

    def _keep(self, rows: list[Row]) -> None:
        def keep(link: sqlite3.Connection) -> None:
            now = self._next_turn(link)
            for *row, turn in rows:
                _put(link, sealed((*row, now if turn is None else turn)))
            if self._max_bytes is not None:
                _evict(link, self._max_bytes)

        self.database.change(keep)

    def _value(self, row: Row) -> CachedResponse:
        key, _, _, head, *_ = row
        response = CachedResponse(status_code=200) if head is None else self.deserialize(key, head)
        if response is None or not is_sound(row):
            raise KeyError(key)
        kept = kept_in(row)
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


def _put(link: sqlite3.Connection, row: Row) -> None:
    """Write a row in place of one that was asked for before, or is damaged."""
    if link.execute(_UPSERT, row).rowcount:
        return
    [later] = link.execute(f"SELECT {COLUMNS} FROM answers WHERE key = ?", row[:1])  # noqa: S608
    if not is_sound(later):
        link.execute("DELETE FROM answers WHERE key = ?", row[:1])
        link.execute(_INSERT, row)


def _evict(link: sqlite3.Connection, max_bytes: int) -> None:
    """Delete the oldest answers until the pages in use fit; the file shrinks with them."""
    while (excess := _bytes_of(link, "page_count") - _bytes_of(link, "freelist_count")) > max_bytes:
        excess -= max_bytes
        oldest = link.execute(
            "SELECT key, length(body) FROM answers ORDER BY turn, rowid LIMIT ?",
            (_EVICTED_AT_ONCE,),
        ).fetchall()
        if not oldest:
            break
        sizes = accumulate((size for _, size in oldest), initial=0)
        gone = [(key,) for (key, _), before in zip(oldest, sizes, strict=False) if before < excess]
        link.executemany("DELETE FROM answers WHERE key = ?", gone)


def _bytes_of(link: sqlite3.Connection, pages: str) -> int:
    count: int = link.execute(f"PRAGMA {pages}").fetchone()[0]
    return count * int(link.execute("PRAGMA page_size").fetchone()[0])
