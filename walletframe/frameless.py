"""Decorators that strip stack frames from errors, since local variables may hold a secret."""

from __future__ import annotations

import traceback
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from walletframe.errors import AddressError, WalletframeError

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


def frameless(func: Callable[P, T]) -> Callable[P, T]:
    """Remove the stack frames from tracebacks, since local variables may hold the API key.

    Errors of other libraries get a note with the source lines of their tracebacks.
    """
    return _raise_without_frames(func, BaseException)


def frameless_address_errors(func: Callable[P, T]) -> Callable[P, T]:
    """Remove the stack frames from the traceback of an `AddressError`.

    The cause of this error is in the user's list of wallets, not in the code.
    """
    return _raise_without_frames(func, AddressError)


def _raise_without_frames(func: Callable[P, T], kind: type[BaseException]) -> Callable[P, T]:
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
        # The new traceback begins with this frame. Only `sys.excepthook` could remove it, and
        # that hook belongs to the program.
        try:
            raise caught
        finally:
            del caught  # a local variable would create a cycle of the frame and the exception

    return wrapper
