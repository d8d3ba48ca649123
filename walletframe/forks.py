"""Reset objects that a forked child process must not share with its parent process.

A fork copies only the calling thread. In the child, locks that other threads held are never
released, and open connections belong to the parent.
"""

from __future__ import annotations

import os
from threading import Lock
from typing import Protocol
from weakref import WeakSet


class _ResetsAfterFork(Protocol):
    def reset_after_fork(self) -> None:
        """Reset the object. Acquire no lock: in the child, it may never be released."""


_registered: WeakSet[_ResetsAfterFork] = WeakSet()


def register_fork_reset(instance: _ResetsAfterFork) -> None:
    """Register an object to reset in forked children. The registry keeps a weak reference."""
    _registered.add(instance)


class ForkSafeLock:
    """A lock that is free at the start of a forked child."""

    def __init__(self) -> None:
        self._lock = Lock()
        register_fork_reset(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *exc: object) -> None:
        self._lock.release()

    def reset_after_fork(self) -> None:
        """Replace the lock, since another thread of the parent may have held it."""
        self._lock = Lock()


def _reset_registered() -> None:
    for each in list(_registered):
        each.reset_after_fork()


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows has no fork
    os.register_at_fork(after_in_child=_reset_registered)
