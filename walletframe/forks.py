"""Objects that a forked child must not share with its parent, and resets first of all.

A fork copies only one thread: a lock that another thread held stays held, the work of other threads
stops, and the connections belong to the parent.
"""

from __future__ import annotations

import os
from threading import Lock
from typing import Protocol
from weakref import WeakSet


class ResetsAfterFork(Protocol):
    """An object that must be reset in a forked child."""

    def reset_after_fork(self) -> None:
        """Reset the object, without waiting for any lock of the parent."""


_registered: WeakSet[ResetsAfterFork] = WeakSet()


def register_fork_reset(thing: ResetsAfterFork) -> None:
    """Reset an object in every forked child, as long as the object exists."""
    _registered.add(thing)


class OwnLock:
    """A lock that is free at the start of a forked child."""

    def __init__(self) -> None:
        self._lock = Lock()
        register_fork_reset(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *exc: object) -> None:
        self._lock.release()

    def reset_after_fork(self) -> None:
        """Replace the lock by a free one, since a thread of the parent may have held it."""
        self._lock = Lock()


def _reset_all() -> None:
    for each in list(_registered):
        each.reset_after_fork()


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows has no fork
    os.register_at_fork(after_in_child=_reset_all)
