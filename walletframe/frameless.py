"""Decorators that strip stack frames from errors, since their locals may hold a secret."""

from __future__ import annotations

import traceback
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from walletframe.errors import AddressError, WalletframeError

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


def frameless(work: Callable[P, T]) -> Callable[P, T]:
    """Strip tracebacks of all exceptions, since their locals may hold the key.

    An exception that is not walletframe's own gets a note with the lines of its traceback.
    """
    return _raising_here(work, BaseException)


def at_the_boundary(function: Callable[P, T]) -> Callable[P, T]:
    """Strip tracebacks of an `AddressError`, which is about the user's list and not about code."""
    return _raising_here(function, AddressError)


def _raising_here(work: Callable[P, T], kind: type[BaseException]) -> Callable[P, T]:
    @wraps(work)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return work(*args, **kwargs)
        except kind as error:
            caught = error
        del args, kwargs
        if isinstance(caught, Exception) and not isinstance(caught, WalletframeError):
            lines = "".join(traceback.format_tb(caught.__traceback__))
            caught.add_note(f"It passed these lines, whose variables are left out:\n{lines}")
        caught.__traceback__ = caught.__cause__ = caught.__context__ = None
        try:  # The traceback begins with this frame, which only `sys.excepthook` could leave out;
            raise caught  # that hook belongs to the program.
        finally:
            del caught  # else the frame and the exception would be a reference cycle

    return wrapper
