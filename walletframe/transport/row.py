"""One row of the table of answers: its columns, its checksum, and the answer in it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeAlias

from walletframe.transport.kept import Kept, checksum

COLUMNS = "key, fetched_at, body, head, turn, checksum"
Row: TypeAlias = tuple[Any, ...]


def sealed(row: Row) -> Row:
    """Return a row with its checksum.

    Parameters
    ----------
    row : tuple
        All columns but the last.

    Returns
    -------
    tuple
        All columns.
    """
    return (*row, checksum(*map(_bytes, row)))


def is_sound(row: Row) -> bool:
    """Tell whether a row is as it was written.

    Parameters
    ----------
    row : tuple
        All columns.

    Returns
    -------
    bool
        A row of 0.1.0 has no checksum, and is sound where its answer can be read.
    """
    *unsealed, stored = row
    _, fetched_at, body, _, turn = unsealed
    if not isinstance(body, bytes) or not _is_time(fetched_at):
        return False
    is_of_0_1_0 = stored is None and turn == 0
    return is_of_0_1_0 or sealed(tuple(unsealed)) == row


def kept_in(row: Row) -> Kept:
    """Return the answer in a row that is sound.

    Parameters
    ----------
    row : tuple
        All columns.

    Returns
    -------
    Kept
        With the turn in which it was asked for.
    """
    _, fetched_at, body, _, turn, _ = row
    return Kept(body, datetime.fromisoformat(fetched_at), turn)


def text_of(moment: datetime) -> str:
    """Return a time as text of fixed width, so that texts compare as times do.

    Parameters
    ----------
    moment : datetime
        Any time that knows its zone.

    Returns
    -------
    str
        In UTC, with microseconds.
    """
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _bytes(value: object) -> bytes | None:
    return value if value is None or isinstance(value, bytes) else str(value).encode()


def _is_time(text: object) -> bool:
    try:
        datetime.fromisoformat(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True
