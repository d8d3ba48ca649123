"""One cached answer, and its form as a row of a file."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

COLUMNS = "key, fetched_at, body, head, turn, checksum"
Row: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """The body of an answer, as it was sent, and when it was fetched (UTC, by that clock).

    `turn` is the sequence number of its request among all requests, whatever the clocks say; None
    is later than all that is kept.
    """

    body: bytes
    fetched_at: datetime
    turn: int | None = field(default=None, compare=False)


class Shelf(Protocol):
    """Where answers are kept by key. Trouble there is a warning, never an exception."""

    def read(self, keys: Sequence[str]) -> dict[str, Kept]:
        """Return those that are there and undamaged; of two for one key, the one asked later."""

    def write(self, answers: Sequence[tuple[str, Kept]]) -> None:
        """Keep all of them, each unless one that was asked for later is there."""

    def turn(self) -> int:
        """Return a number above all that were given before, from 1 on."""

    def close(self) -> None:
        """Let go of what is held open."""


def checksum(*parts: bytes | None) -> int:
    """Return the CRC-32 of some bytes, and of where one part ends and the next begins."""
    value = 0
    for part in parts:
        value = zlib.crc32(b"-" if part is None else b"%d:" % len(part), value)
        value = zlib.crc32(part or b"", value)
    return value


def sealed(row: Row) -> Row:
    """Return a row, given without its checksum, with it."""
    return (*row, checksum(*map(_bytes, row)))


def is_sound(row: Row) -> bool:
    """Tell whether a row is as it was written; one of 0.1.0 has no checksum, and need only read."""
    *unsealed, stored = row
    _, fetched_at, body, _, turn = unsealed
    if not isinstance(body, bytes) or moment_of(fetched_at) is None:
        return False
    is_of_0_1_0 = stored is None and turn == 0
    return is_of_0_1_0 or sealed(tuple(unsealed)) == row


def kept_in(row: Row) -> Kept:
    """Return the answer in a row that is sound."""
    _, fetched_at, body, _, turn, _ = row
    return Kept(body, datetime.fromisoformat(fetched_at), turn)


def text_of(moment: datetime) -> str:
    """Return a time as text of fixed width, in UTC, so that texts compare as times do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def moment_of(text: object) -> datetime | None:
    """Return a time, or None for what is none, as in a damaged row."""
    try:
        return datetime.fromisoformat(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _bytes(value: object) -> bytes | None:
    return value if value is None or isinstance(value, bytes) else str(value).encode()
