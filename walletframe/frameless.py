"""Errors without the frames that they passed, since tracebacks can show the locals of each.

For functions that are given a secret, or hold one while they work. What they raise, an alarm's or
a debugger's exception included, leaves as if it had been raised at the boundary.
"""

from __future__ import annotations

import traceback
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from walletframe.errors import WalletframeError

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


def frameless(work: Callable[P, T]) -> Callable[P, T]:
    """Let nobody who sees what a function raises see its frames, nor what it was given.

    Parameters
    ----------
    work : callable
        What may hold a secret.

    Returns
    -------
    callable
        The same. What it raises has no frames below the caller's, and neither cause nor context
        of its own; an error that nobody foresaw has a note of the lines that it passed.

    Examples
    --------
    >>> @frameless
    ... def read(secret):
    ...     raise ValueError("too short")
    >>> try:
    ...     read("xyz")
    ... except ValueError as error:
    ...     frames = list(traceback.walk_tb(error.__traceback__))
    >>> [name for frame, _ in frames for name in frame.f_locals if name == "secret"]
    []
    """

    @wraps(work)
    def bounded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return work(*args, **kwargs)
        except BaseException as error:  # noqa: BLE001 - it is raised again
            escaped = error
        del args, kwargs
        _strip(escaped)
        try:
            raise escaped
        finally:
            del escaped  # else it would refer to itself

    return bounded


def _strip(error: BaseException) -> None:
    if isinstance(error, Exception) and not isinstance(error, WalletframeError):
        lines = "".join(traceback.format_tb(error.__traceback__))
        error.add_note(f"It passed these lines, whose variables are left out:\n{lines}")
    error.__traceback__ = error.__cause__ = error.__context__ = None
