"""One answer that was kept: bytes and a time, and nothing about where."""

from __future__ import annotations

from dataclasses import dataclass
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
        When, in UTC.
    """

    body: bytes
    fetched_at: datetime


class Shelf(Protocol):
    """Where answers are kept by key. Trouble there is a warning, never an exception."""

    def read(self, keys: Sequence[str]) -> dict[str, Kept]:
        """Return those that are there."""

    def write(self, answers: Sequence[tuple[str, Kept]]) -> None:
        """Keep all of them, each unless a newer one is there."""

    def close(self) -> None:
        """Let go of what is held open."""
