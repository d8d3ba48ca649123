"""What a forked child must not share with its parent, and recreates first of all.

A fork copies one thread alone: a lock that another one held stays held, what another one watched
over is watched no more, and the connections are the parent's.
"""

from __future__ import annotations

import os
from threading import Lock
from typing import Protocol
from weakref import WeakSet


class Forked(Protocol):
    """Something that has to begin anew in a forked child."""

    def begin_anew(self) -> None:
        """Reset in a forked child, without waiting for any lock of the parent's."""


_all: WeakSet[Forked] = WeakSet()


def begins_anew(thing: Forked) -> None:
    """Reset an object in each forked child, for as long as it lives."""
    _all.add(thing)


class OwnLock:
    """A lock that nobody holds at the beginning of a forked child."""

    def __init__(self) -> None:
        self._lock = Lock()
        begins_anew(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *exc: object) -> None:
        self._lock.release()

    def begin_anew(self) -> None:
        """Release it, whoever held it in the parent."""
        self._lock = Lock()


def _in_child() -> None:
    for thing in list(_all):
        thing.begin_anew()


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows has no fork
    os.register_at_fork(after_in_child=_in_child)
