"""A cache file: its tables and rows, a requests-cache backend on them, and the size limit.

A file of 0.1.0 gets two columns and a table that 0.1.0 does not mind, so that both can share it.
What 0.1.0 then puts in place of a row keeps the checksum of the row before, and counts as damaged.
"""

from __future__ import annotations

import sqlite3
from abc import abstractmethod
from datetime import UTC
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

from requests_cache import BaseCache, BaseStorage, CachedResponse
from requests_cache.serializers import json_serializer

from walletframe.transport.database import Contents, Database
from walletframe.transport.kept import Kept, checksum, moment_of
from walletframe.transport.sqlitefile import code_of, require_version, transact, version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

V = TypeVar("V")
Row: TypeAlias = tuple[Any, ...]

VERSION = 1
_WAL_LIMIT_BYTES = 4 * 1024 * 1024
_CHUNK = 500
_COLUMNS = "key, fetched_at, body, head, turn, checksum"
_ANSWERS = "key TEXT PRIMARY KEY, fetched_at TEXT NOT NULL, body BLOB NOT NULL, head TEXT"
_TURNS = "CREATE {} TABLE turns (id INTEGER PRIMARY KEY, turn INTEGER NOT NULL)"
_OF_0_1_0 = (
    f"CREATE TABLE IF NOT EXISTS answers ({_ANSWERS})",
    "CREATE TABLE IF NOT EXISTS aliases (key TEXT PRIMARY KEY, target TEXT NOT NULL)",
    f"PRAGMA user_version = {VERSION}",
)
_ADDED = (
    "ALTER TABLE answers ADD COLUMN turn INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE answers ADD COLUMN checksum INTEGER",
    "DROP INDEX IF EXISTS answers_by_age",
    "CREATE INDEX answers_by_turn ON answers (turn)",
    _TURNS.format(""),
)
_AS_IF_ADDED = (
    "CREATE TEMP VIEW answers AS SELECT *, 0 AS turn, NULL AS checksum FROM main.answers",
    _TURNS.format("TEMP"),
    "PRAGMA query_only = ON",
)
_INSERT = f"INSERT INTO answers ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608 - our own
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
_OLDEST = "SELECT key, length(body) FROM answers ORDER BY turn, rowid LIMIT 256"
_BYTES_IN_USE = (
    "SELECT (page_count - freelist_count) * page_size "
    "FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
)


def _prepare(link: sqlite3.Connection) -> None:
    """Make the tables where there are none, and set what a connection needs."""
    if version(link) == 0:
        link.execute("PRAGMA auto_vacuum = FULL").fetchall()
        link.execute("PRAGMA journal_mode = WAL").fetchall()
        transact(link, _bring_up_to_date)
    require_version(link, VERSION)
    if _is_of_0_1_0(link):
        try:
            transact(link, _bring_up_to_date)
        except sqlite3.OperationalError as fault:
            if code_of(fault) != sqlite3.SQLITE_READONLY:
                raise
            for statement in _AS_IF_ADDED:  # where nothing can be written, it is read all the same
                link.execute(statement)
    link.execute("PRAGMA synchronous = NORMAL").fetchall()
    link.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT_BYTES}").fetchall()


def _bring_up_to_date(link: sqlite3.Connection) -> None:
    """Make or change the tables, unless another process was quicker."""
    if version(link) == 0:
        for statement in _OF_0_1_0:
            link.execute(statement)
    if _is_of_0_1_0(link):
        for statement in _ADDED:
            link.execute(statement)


def _is_of_0_1_0(link: sqlite3.Connection) -> bool:
    return "checksum" not in {name for _, name, *_ in link.execute("PRAGMA table_info(answers)")}


_WITHOUT = "answers can't be kept in {path} ({fault}); they are kept in memory instead"
ANSWERS = Contents("cache", _prepare, _WITHOUT, wait_s=5.0)


class RowCache(BaseCache):
    """A requests-cache backend in one SQLite file that can't hurt, whose rows are plain.

    Beyond `max_bytes` the oldest answers give way.
    """

    responses: AnswerRows
    redirects: AliasRows

    def __init__(self, path: Path, *, max_bytes: int | None = None) -> None:
        super().__init__(cache_name=str(path))
        database = Database(path, ANSWERS)
        self.responses = AnswerRows(database, max_bytes=max_bytes)
        self.redirects = AliasRows(database)

    @property
    def db_path(self) -> Path:
        """The file, by requests-cache's name for it."""
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

    def _rows(self, keys: Sequence[str]) -> list[Row]:
        """Return the rows of some keys: those of the file, then those in memory."""

        def select(link: sqlite3.Connection) -> list[Row]:
            rows: list[Row] = []
            for start in range(0, len(keys), _CHUNK):
                part = keys[start : start + _CHUNK]
                marks = ", ".join("?" * len(part))
                rows += link.execute(f"{statement} ({marks})", part).fetchall()
            return rows

        statement = f"SELECT {self.columns} FROM {self.table} WHERE key IN"  # noqa: S608 - our own
        return [row for rows in self.database.look(select) for row in rows]

    def __getitem__(self, key: str) -> V:
        rows = self._rows([key])
        if not rows:
            raise KeyError(key)
        return self._value(rows[-1])

    def __iter__(self) -> Iterator[str]:
        statement = f"SELECT key FROM {self.table}"  # noqa: S608 - our own
        found = self.database.look(lambda link: link.execute(statement).fetchall())
        return iter(dict.fromkeys(key for rows in found for (key,) in rows))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __delitem__(self, key: str) -> None:
        if not self.bulk_delete([key]):
            raise KeyError(key)

    def bulk_delete(self, keys: Iterable[str]) -> int:
        statement = f"DELETE FROM {self.table} WHERE key = ?"  # noqa: S608 - our own
        given = [(key,) for key in keys]
        return self.database.change(lambda link: link.executemany(statement, given).rowcount)

    def clear(self) -> None:
        statement = f"DELETE FROM {self.table}"  # noqa: S608 - our own
        self.database.change(lambda link: link.execute(statement).rowcount)

    def close(self) -> None:
        self.database.close()


class AnswerRows(_Rows[CachedResponse]):
    """The answers: responses for requests-cache, and a shelf for walletframe."""

    table = "answers"
    columns = _COLUMNS

    def __init__(self, database: Database, *, max_bytes: int | None = None) -> None:
        super().__init__(database)
        self._max_bytes = max_bytes
        self._last_turn = 0

    def read(self, keys: Sequence[str]) -> dict[str, Kept]:
        """Return those that are there and undamaged; of two for one key, the one asked later."""
        rows = ((row[0], _kept_in(row)) for row in self._rows(keys))
        sound = [(key, kept) for key, kept in rows if kept is not None]
        return dict(sorted(sound, key=lambda each: each[1].turn or 0))

    def write(self, answers: Sequence[tuple[str, Kept]]) -> None:
        """Keep all, each unless one that was asked for later is there, in one transaction."""
        self._keep([(key, _text_of(it.fetched_at), it.body, None, it.turn) for key, it in answers])

    def turn(self) -> int:
        """Return a number above all that were given before, by any process, from 1 on."""
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
                _put(link, (*row, now if turn is None else turn))
            if self._max_bytes is not None:
                _evict(link, self._max_bytes)

        self.database.change(keep)

    def __setitem__(self, key: str, value: CachedResponse) -> None:
        head = self.serialize(CachedResponse.from_response(value, content=None))
        self._keep([(key, _text_of(value.created_at), value.content or b"", head, None)])

    def _value(self, row: Row) -> CachedResponse:
        key, _, _, head, *_ = row
        bare = CachedResponse(status_code=200) if head is None else self.deserialize(key, head)
        kept = _kept_in(row)
        if bare is None or kept is None:
            raise KeyError(key)
        whole = CachedResponse.from_response(bare, content=kept.body, created_at=kept.fetched_at)
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


def _text_of(moment: datetime) -> str:
    """Return a time as text of fixed width, in UTC, so that texts compare as times do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _kept_in(row: Row) -> Kept | None:
    """Return the answer in a row, None where it is damaged; 0.1.0 wrote no checksum."""
    _, fetched_at, body, _, turn, stored = row
    moment = moment_of(fetched_at)
    if moment is None or not isinstance(body, bytes):
        return None
    is_of_0_1_0 = stored is None and turn == 0
    return Kept(body, moment, turn) if is_of_0_1_0 or stored == checksum(*row[:-1]) else None


def _put(link: sqlite3.Connection, unsealed: Row) -> None:
    """Write a row in place of one that was asked for before, or is damaged."""
    row = (*unsealed, checksum(*unsealed))
    if link.execute(_UPSERT, row).rowcount:
        return
    [later] = link.execute(f"SELECT {_COLUMNS} FROM answers WHERE key = ?", row[:1])  # noqa: S608  names of our own
    if _kept_in(later) is None:
        link.execute("DELETE FROM answers WHERE key = ?", row[:1])
        link.execute(_INSERT, row)


def _evict(link: sqlite3.Connection, max_bytes: int) -> None:
    """Delete the oldest answers until the pages in use fit; the file shrinks with them."""
    while (excess := link.execute(_BYTES_IN_USE).fetchone()[0] - max_bytes) > 0:
        oldest = link.execute(_OLDEST).fetchall()
        if not oldest:
            break
        sizes = accumulate((size for _, size in oldest), initial=0)
        gone = [(key,) for (key, _), before in zip(oldest, sizes, strict=False) if before < excess]
        link.executemany("DELETE FROM answers WHERE key = ?", gone)
