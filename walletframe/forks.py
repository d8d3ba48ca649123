"""Reset objects that a forked child process must not share with its parent process.

A fork copies only the calling thread. In the child, a lock that another thread held is never
released, work of other threads does not continue, and open connections belong to the parent.
"""

from __future__ import annotations

import os
from threading import Lock
from typing import Protocol
from weakref import WeakSet


class ResetsAfterFork(Protocol):
    """An object that must be reset in a forked child."""

    def reset_after_fork(self) -> None:
        """Reset the object without acquiring a lock that a thread of the parent may hold."""


_registered: WeakSet[ResetsAfterFork] = WeakSet()


def register_fork_reset(instance: ResetsAfterFork) -> None:
    """Reset an object in every child that is forked from now on, while the object exists."""
    _registered.add(instance)


class ForkSafeLock:
    """A lock that is always free when a forked child starts."""

    def __init__(self) -> None:
        self._lock = Lock()
        register_fork_reset(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *exc: object) -> None:
        self._lock.release()

    def reset_after_fork(self) -> None:
        """Replace the lock with a new one, since a thread of the parent may have held it."""
        self._lock = Lock()


def _reset_registered() -> None:
    for each in list(_registered):
        each.reset_after_fork()


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows has no fork
    os.register_at_fork(after_in_child=_reset_registered)
