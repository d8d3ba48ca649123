"""A cache file: one row for each wallet's answer, of its latest request, and a size limit."""

from __future__ import annotations

import sqlite3
import time
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, TypeAlias

from walletframe.transport.database import (
    Database,
    DatabaseSpec,
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
# Sequence numbers (column `turn`) are nanoseconds since the machine's start, a clock that nobody
# sets and all processes share. A restart sets it back: so the `last` number is stored, and `ahead`
# is added to all later ones.
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
# A sequence number from the future is damaged.
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
class CachedAnswer:
    """The body of an answer, as it was sent, and its time (UTC, by the clock of its machine).

    `sequence` is the request's sequence number, independent of clocks; None is later than all.
    """

    body: bytes
    fetched_at: datetime
    sequence: int | None = field(default=None, compare=False)


def checksum(*values: object) -> int:
    """Return the CRC-32 of bytes and texts, with their lengths."""
    total = 0
    for value in values:
        part = value if isinstance(value, bytes) else str(value).encode()
        total = zlib.crc32(part, zlib.crc32(b"%d:" % len(part), total))
    return total


def moment_of(text: object) -> datetime | None:
    """Return a time, or None if the text is not one, as in a damaged row."""
    try:
        return datetime.fromisoformat(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def sequence_of(answer: CachedAnswer | None) -> int:
    """Return the sequence number of an answer, or 0 if it has none."""
    return 0 if answer is None else answer.sequence or 0


def _prepare(con: sqlite3.Connection) -> None:
    """Create the tables if they are missing, and configure the connection."""
    if version(con) == 0:
        con.execute("PRAGMA auto_vacuum = FULL").fetchall()
        con.execute("PRAGMA journal_mode = WAL").fetchall()
        transact(con, _make)
    require_version(con, VERSION)
    now = time.monotonic_ns()
    if con.execute(_IS_RESTARTED, (now,)).fetchone():
        try:
            con.execute(_RESTART, (now, now))
        except sqlite3.OperationalError as fault:
            if code_of(fault) != sqlite3.SQLITE_READONLY:  # a read-only file can still be read
                raise
    con.execute("PRAGMA synchronous = NORMAL").fetchall()
    con.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT_BYTES}").fetchall()


def _make(con: sqlite3.Connection) -> None:
    if version(con) == 0:  # else another process has created them
        for statement in _TABLES:
            con.execute(statement)


ANSWERS = DatabaseSpec("cache", _prepare, _WITHOUT, wait_s=5.0)


class AnswerFile:
    """Answers by key in one SQLite file; beyond `max_bytes` the oldest are deleted."""

    def __init__(self, path: Path, *, max_bytes: int | None = None) -> None:
        self._database = Database(path, ANSWERS)
        self._max_bytes = max_bytes
        self._ahead = 0

    def read(self, keys: Sequence[str]) -> dict[str, CachedAnswer]:
        """Return the undamaged answers; if a key has two, the one that was requested later."""

        def select(con: sqlite3.Connection) -> list[Row]:
            rows: list[Row] = []
            for start in range(0, len(keys), _CHUNK):
                part = keys[start : start + _CHUNK]
                marks = ", ".join("?" * len(part))
                rows += con.execute(f"{_SELECT} ({marks})", part).fetchall()
            return rows

        answers: dict[str, CachedAnswer] = {}
        for row in chain.from_iterable(self._database.read(select)):
            key, fetched_at, body, sequence, stored = row
            moment = moment_of(fetched_at)
            is_whole = isinstance(body, bytes) and stored == checksum(*row[:-1])
            if is_whole and moment is not None and sequence >= sequence_of(answers.get(key)):
                answers[key] = CachedAnswer(body, moment, sequence)
        return answers

    def write(self, answers: Sequence[tuple[str, CachedAnswer]]) -> None:
        """Store answers in one transaction; one that was requested later is not replaced."""

        def keep(con: sqlite3.Connection) -> None:
            now = self._now(con)
            con.execute("UPDATE clock SET ahead = ?, last = ?", (self._ahead, now))
            for key, answer in answers:
                # Text of fixed width, in UTC, so that it compares as times do.
                fetched_at = answer.fetched_at.astimezone(UTC).isoformat(timespec="microseconds")
                sequence = now if answer.sequence is None else min(answer.sequence, now)
                row = (key, fetched_at, answer.body, sequence)
                con.execute(_UPSERT, (*row, checksum(*row), now))
            if self._max_bytes is not None:
                _evict(con, self._max_bytes)

        self._database.write(keep)

    def next_sequence(self) -> int:
        """Return a number above all earlier ones, those of other processes included."""
        return max(self._database.read(self._now))

    def _now(self, con: sqlite3.Connection) -> int:
        [(ahead,)] = con.execute(_AHEAD)
        self._ahead = max(self._ahead, int(ahead))  # kept even if memory has replaced the file
        return time.monotonic_ns() + self._ahead

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._database.close()


def _evict(con: sqlite3.Connection, max_bytes: int) -> None:
    """Delete the oldest answers until the pages in use fit; the file shrinks with them."""
    while (excess := con.execute(_BYTES_IN_USE).fetchone()[0] - max_bytes) > 0:
        oldest = con.execute(_OLDEST).fetchall()
        if not oldest:
            break
        sizes = accumulate((size for _, size in oldest), initial=0)
        gone = [(key,) for (key, _), before in zip(oldest, sizes, strict=False) if before < excess]
        con.executemany("DELETE FROM answers WHERE key = ?", gone)
