"""The cache, an SQLite file of limited size with the latest answer for each wallet."""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from walletframe.transport import database

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SCHEMA_VERSION = 1
_COLUMNS = (
    "key TEXT PRIMARY KEY, fetched_at TEXT NOT NULL, body BLOB NOT NULL, turn INTEGER NOT NULL, "
    "checksum INTEGER"
)
# Sequence numbers (column `turn`) are nanoseconds since the machine started. All processes share
# this clock, and nobody can set it. After a restart, the clock begins at 0. So the table `clock`
# stores the `last` number, and an offset `ahead`, which is added to all later numbers.
_TABLES = (
    f"CREATE TABLE answers ({_COLUMNS})",
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
WRITE_WARNING = "answers can't be stored in {path} ({fault}); they are kept in memory instead"


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """The answer for one wallet, and the time of its fetch."""

    body: bytes  # as the service sent it
    fetched_at: datetime  # in UTC, by the clock of the machine that sent the request
    # The sequence number of the request; None means later than all stored answers.
    sequence: int | None = field(default=None, compare=False)


def checksum(*values: object) -> int:
    """Return the CRC-32 of values and their lengths. Other types than bytes become text."""
    total = 0
    for value in values:
        data = value if isinstance(value, bytes) else str(value).encode()
        total = zlib.crc32(data, zlib.crc32(b"%d:" % len(data), total))
    return total


def parse_time(text: object) -> datetime | None:
    """Parse a stored time, or return None for a damaged time."""
    try:
        return datetime.fromisoformat(text)  # type: ignore[arg-type]  # a TypeError is caught below
    except (TypeError, ValueError):
        return None


def sequence_number(answer: CachedAnswer | None) -> int:
    """Return an answer's sequence number, or 0 if there is no number."""
    return 0 if answer is None else answer.sequence or 0


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


ANSWER_FILE_SPEC = database.DatabaseSpec("cache", _prepare_db, WRITE_WARNING, lock_timeout_s=5.0)


class AnswerFile:
    """Answers by key in one SQLite file. Above `max_bytes`, the oldest answers are deleted."""

    def __init__(self, path: Path, *, max_bytes: int | None = None) -> None:
        self._database = database.Database(path, ANSWER_FILE_SPEC)
        self._max_bytes = max_bytes
        self._offset = 0

    def read_answers(self, keys: Sequence[str]) -> dict[str, CachedAnswer]:
        """Return a dict with the latest undamaged answer of each key."""
        select = (_SELECT, (json.dumps(keys),))
        results = self._database.query_file_and_memory(lambda con: con.execute(*select).fetchall())
        answers: dict[str, CachedAnswer] = {}
        for row in chain.from_iterable(results):
            key, fetched_at, body, sequence, stored = row
            moment = parse_time(fetched_at)
            if not isinstance(body, bytes) or stored != checksum(*row[:-1]) or moment is None:
                continue
            if sequence >= sequence_number(answers.get(key)):
                answers[key] = CachedAnswer(body, moment, sequence)
        return answers

    def write_answers(self, answers: Sequence[tuple[str, CachedAnswer]]) -> None:
        """Store answers in one transaction. A newer request's answer is never replaced."""

        def insert_answers(con: sqlite3.Connection) -> None:
            now = self._next_sequence(con)
            con.execute("UPDATE clock SET ahead = ?, last = ?", (self._offset, now))
            for key, answer in answers:
                # Text of fixed width in UTC sorts by time.
                fetched_at = answer.fetched_at.astimezone(UTC).isoformat(timespec="microseconds")
                sequence = now if answer.sequence is None else min(answer.sequence, now)
                row = (key, fetched_at, answer.body, sequence)
                con.execute(_UPSERT, (*row, checksum(*row), now))
            if self._max_bytes is not None:
                _delete_oldest_answers(con, self._max_bytes)

        self._database.write_in_transaction(insert_answers)

    def next_sequence(self) -> int:
        """Return a new sequence number, the highest of all processes that use this file."""
        return max(self._database.query_file_and_memory(self._next_sequence))

    def _next_sequence(self, con: sqlite3.Connection) -> int:
        [(offset,)] = con.execute(_SELECT_OFFSET)
        self._offset = max(self._offset, int(offset))  # for the in-memory database, too
        return time.monotonic_ns() + self._offset

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._database.close()


def _delete_oldest_answers(con: sqlite3.Connection, max_bytes: int) -> None:
    while (excess := con.execute(_USED_BYTES).fetchone()[0] - max_bytes) > 0:
        oldest = con.execute(_OLDEST).fetchall()
        if not oldest:
            break
        sizes = accumulate((size for _, size in oldest), initial=0)
        keys = [(key,) for (key, _), before in zip(oldest, sizes, strict=False) if before < excess]
        con.executemany("DELETE FROM answers WHERE key = ?", keys)
