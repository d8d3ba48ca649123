"""The tables of a cache file: those of this release, and what is done where 0.1.0 made them.

A file of 0.1.0 gets two columns and a table that 0.1.0 does not mind, so that both can share it.
What 0.1.0 then puts in place of a row keeps the checksum of the row before, and counts as damaged.
"""

from __future__ import annotations

import sqlite3

from walletframe.transport.sqlitefile import code_of, transact

VERSION = 1
LATER_RELEASE = "a later release of walletframe wrote it"
_WAL_LIMIT_BYTES = 4 * 1024 * 1024
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


def prepare(link: sqlite3.Connection) -> None:
    """Make the tables where there are none, and set what a connection needs.

    Parameters
    ----------
    link : sqlite3.Connection
        A connection to a file, or to memory.

    Raises
    ------
    sqlite3.Error
        Where the file was written by a later release, or can't be written.
    """
    if version(link) == 0:
        link.execute("PRAGMA auto_vacuum = FULL").fetchall()
        link.execute("PRAGMA journal_mode = WAL").fetchall()
        transact(link, _make)
    if version(link) != VERSION:
        raise sqlite3.NotSupportedError(LATER_RELEASE)
    if _is_of_0_1_0(link):
        _bring_up_to_date(link)
    link.execute("PRAGMA synchronous = NORMAL").fetchall()
    link.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT_BYTES}").fetchall()


def version(link: sqlite3.Connection) -> int:
    """Return the version of the tables in a file; 0 where there are none.

    Parameters
    ----------
    link : sqlite3.Connection
        A connection to the file.

    Returns
    -------
    int
        As written by whoever made the tables.
    """
    return int(link.execute("PRAGMA user_version").fetchone()[0])


def _make(link: sqlite3.Connection) -> None:
    for statement in _OF_0_1_0:
        link.execute(statement)
    _add(link)


def _add(link: sqlite3.Connection) -> None:
    if _is_of_0_1_0(link):  # else another process was quicker
        for statement in _ADDED:
            link.execute(statement)


def _is_of_0_1_0(link: sqlite3.Connection) -> bool:
    return "checksum" not in {name for _, name, *_ in link.execute("PRAGMA table_info(answers)")}


def _bring_up_to_date(link: sqlite3.Connection) -> None:
    """Add what 0.1.0 did not have; where nothing can be written, read as if it were there."""
    try:
        transact(link, _add)
    except sqlite3.OperationalError as fault:
        if code_of(fault) != sqlite3.SQLITE_READONLY:
            raise
        for statement in _AS_IF_ADDED:
            link.execute(statement)
