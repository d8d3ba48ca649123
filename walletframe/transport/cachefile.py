"""A cache file: one row for each answer, where the later request wins, and the size limit."""

from __future__ import annotations

import sqlite3
import time
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, TypeAlias

from walletframe.transport.database import (
    Contents,
    Database,
    code_of,
    require_version,
    transact,
    version,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Row: TypeAlias = tuple[Any, ...]

VERSION = 1
_WAL_LIMIT_BYTES = 4 * 1024 * 1024
_CHUNK = 500
_ANSWERS = (
    "key TEXT PRIMARY KEY, fetched_at TEXT NOT NULL, body BLOB NOT NULL, turn INTEGER NOT NULL, "
    "checksum INTEGER"
)
# Turns are nanoseconds since this machine was started, which nobody sets, and all its processes
# see. After a restart they are less than those of before, the `last` of which is noted: from then
# on all are so much `ahead`.
_TABLES = (
    f"CREATE TABLE answers ({_ANSWERS})",
    "CREATE INDEX answers_by_turn ON answers (turn)",
    "CREATE TABLE clock (ahead INTEGER NOT NULL, last INTEGER NOT NULL)",
    "INSERT INTO clock VALUES (0, 0)",
    f"PRAGMA user_version = {VERSION}",
)
_IS_RESTARTED = "SELECT 1 FROM clock WHERE last > ahead + ?"
_RESTART = "UPDATE clock SET ahead = last - ? WHERE last > ahead + ?"
_AHEAD = f"SELECT coalesce(max(ahead), 0) FROM clock WHERE ahead BETWEEN 0 AND {2**62}"  # noqa: S608 - our own
_SELECT = "SELECT key, fetched_at, body, turn, checksum FROM answers WHERE key IN"
# A turn of the future is damaged.
_UPSERT = (
    "INSERT INTO answers (key, fetched_at, body, turn, checksum) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (key) DO UPDATE SET fetched_at = excluded.fetched_at, body = excluded.body, "
    "turn = excluded.turn, checksum = excluded.checksum "
    "WHERE answers.turn <= excluded.turn OR answers.turn > ?"
)
_OLDEST = "SELECT key, length(body) FROM answers ORDER BY turn, rowid LIMIT 256"
_BYTES_IN_USE = (
    "SELECT (page_count - freelist_count) * page_size "
    "FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
)
_WITHOUT = "answers can't be kept in {path} ({fault}); they are kept in memory instead"


@dataclass(frozen=True, slots=True)
class Kept:
    """The body of an answer, as it was sent, and when it was fetched (UTC, by that clock).

    `turn` is the sequence number of its request among all requests, whatever the clocks say; None
    is later than all that is kept.
    """

    body: bytes
    fetched_at: datetime
    turn: int | None = field(default=None, compare=False)


def checksum(*values: object) -> int:
    """Return the CRC-32 of bytes and texts, and of where one ends and the next begins."""
    total = 0
    for value in values:
        part = value if isinstance(value, bytes) else str(value).encode()
        total = zlib.crc32(part, zlib.crc32(b"%d:" % len(part), total))
    return total


def moment_of(text: object) -> datetime | None:
    """Return a time, or None for what is none, as in a damaged row."""
    try:
        return datetime.fromisoformat(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def turn_of(kept: Kept | None) -> int:
    """Return the turn of an answer, 0 where there is none."""
    return 0 if kept is None else kept.turn or 0


def _prepare(link: sqlite3.Connection) -> None:
    """Make the tables where there are none, and set what a connection needs."""
    if version(link) == 0:
        link.execute("PRAGMA auto_vacuum = FULL").fetchall()
        link.execute("PRAGMA journal_mode = WAL").fetchall()
        transact(link, _make)
    require_version(link, VERSION)
    now = time.monotonic_ns()
    if link.execute(_IS_RESTARTED, (now,)).fetchone():
        try:
            link.execute(_RESTART, (now, now))
        except sqlite3.OperationalError as fault:
            if code_of(fault) != sqlite3.SQLITE_READONLY:  # which is read all the same
                raise
    link.execute("PRAGMA synchronous = NORMAL").fetchall()
    link.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT_BYTES}").fetchall()


def _make(link: sqlite3.Connection) -> None:
    if version(link) == 0:  # else another process was quicker
        for statement in _TABLES:
            link.execute(statement)


ANSWERS = Contents("cache", _prepare, _WITHOUT, wait_s=5.0)


class AnswerFile:
    """Answers by key in one SQLite file that can't hurt; beyond `max_bytes` the oldest give way."""

    def __init__(self, path: Path, *, max_bytes: int | None = None) -> None:
        self._database = Database(path, ANSWERS)
        self._max_bytes = max_bytes
        self._ahead = 0

    def read(self, keys: Sequence[str]) -> dict[str, Kept]:
        """Return those that are there and undamaged; of two for one key, the one asked later."""

        def select(link: sqlite3.Connection) -> list[Row]:
            rows: list[Row] = []
            for start in range(0, len(keys), _CHUNK):
                part = keys[start : start + _CHUNK]
                marks = ", ".join("?" * len(part))
                rows += link.execute(f"{_SELECT} ({marks})", part).fetchall()
            return rows

        found: dict[str, Kept] = {}
        for row in chain.from_iterable(self._database.look(select)):
            key, fetched_at, body, turn, stored = row
            moment = moment_of(fetched_at)
            is_whole = isinstance(body, bytes) and stored == checksum(*row[:-1])
            if is_whole and moment is not None and turn >= turn_of(found.get(key)):
                found[key] = Kept(body, moment, turn)
        return found

    def write(self, answers: Sequence[tuple[str, Kept]]) -> None:
        """Keep all, each unless one that was asked for later is there, in one transaction."""

        def keep(link: sqlite3.Connection) -> None:
            now = self._now(link)
            link.execute("UPDATE clock SET ahead = ?, last = ?", (self._ahead, now))
            for key, kept in answers:
                # Text of fixed width, in UTC, so that it compares as times do.
                fetched_at = kept.fetched_at.astimezone(UTC).isoformat(timespec="microseconds")
                turn = now if kept.turn is None else min(kept.turn, now)
                row = (key, fetched_at, kept.body, turn)
                link.execute(_UPSERT, (*row, checksum(*row), now))
            if self._max_bytes is not None:
                _evict(link, self._max_bytes)

        self._database.change(keep)

    def turn(self) -> int:
        """Return a number above all that were given before, by any process."""
        return max(self._database.look(self._now))

    def _now(self, link: sqlite3.Connection) -> int:
        [(ahead,)] = link.execute(_AHEAD)
        self._ahead = max(self._ahead, int(ahead))  # also where memory has taken over
        return time.monotonic_ns() + self._ahead

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._database.close()


def _evict(link: sqlite3.Connection, max_bytes: int) -> None:
    """Delete the oldest answers until the pages in use fit; the file shrinks with them."""
    while (excess := link.execute(_BYTES_IN_USE).fetchone()[0] - max_bytes) > 0:
        oldest = link.execute(_OLDEST).fetchall()
        if not oldest:
            break
        sizes = accumulate((size for _, size in oldest), initial=0)
        gone = [(key,) for (key, _), before in zip(oldest, sizes, strict=False) if before < excess]
        link.executemany("DELETE FROM answers WHERE key = ?", gone)
