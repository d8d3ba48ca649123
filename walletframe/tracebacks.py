"""Decorators that remove stack frames from errors, since local variables may hold a secret."""

from __future__ import annotations

import traceback
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from walletframe.errors import AddressError, WalletframeError

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


def strip_tracebacks(func: Callable[P, T]) -> Callable[P, T]:
    """Remove the stack frames from tracebacks, since local variables may hold the API key.

    An error of another library gets a note with the source lines of its traceback.
    """
    return _drop_tracebacks(func, BaseException)


def strip_address_tracebacks(func: Callable[P, T]) -> Callable[P, T]:
    """Remove the stack frames from an `AddressError`, since its cause is in the user's list."""
    return _drop_tracebacks(func, AddressError)


def _drop_tracebacks(func: Callable[P, T], kind: type[BaseException]) -> Callable[P, T]:
    @wraps(func)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return func(*args, **kwargs)
        except kind as error:
            caught = error
        del args, kwargs
        if isinstance(caught, Exception) and not isinstance(caught, WalletframeError):
            lines = "".join(traceback.format_tb(caught.__traceback__))
            caught.add_note(f"Traceback without local variables:\n{lines}")
        caught.__traceback__ = caught.__cause__ = caught.__context__ = None
        # The new traceback begins with this frame, which only `sys.excepthook` could remove.
        try:
            raise caught
        finally:
            del caught  # otherwise the frame and the exception form a reference cycle

    return wrapper
