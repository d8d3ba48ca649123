"""One answer that was kept: bytes, a time and a turn, and nothing about where."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer that was kept.

    Attributes
    ----------
    body : bytes
        As the service sent it.
    fetched_at : datetime
        When, in UTC, by the clock of whoever fetched it.
    turn : int or None
        When it was asked for, as a place in the order of all requests; no clock has a say in it.
        None is later than all that is kept.
    """

    body: bytes
    fetched_at: datetime
    turn: int | None = field(default=None, compare=False)


class Shelf(Protocol):
    """Where answers are kept by key. Trouble there is a warning, never an exception."""

    def read(self, keys: Sequence[str]) -> dict[str, Kept]:
        """Return those that are there, and are as they were written."""

    def write(self, answers: Sequence[tuple[str, Kept]]) -> None:
        """Keep all of them, each unless one that was asked for later is there."""

    def turn(self) -> int:
        """Return a number above all that were given before."""

    def close(self) -> None:
        """Let go of what is held open."""


def checksum(*parts: bytes | None) -> int:
    """Return the CRC-32 of some bytes, and of where one part ends and the next begins.

    Parameters
    ----------
    *parts : bytes or None
        In order; None is not the same as no bytes.

    Returns
    -------
    int
        From 0 to 2**32 - 1.

    Examples
    --------
    >>> checksum(b"ab", b"c") == checksum(b"a", b"bc")
    False
    """
    value = 0
    for part in parts:
        value = zlib.crc32(b"-" if part is None else b"%d:" % len(part), value)
        value = zlib.crc32(part or b"", value)
    return value
