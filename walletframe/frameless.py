"""Errors without the stack frames they passed, whose locals may hold a secret."""

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
    """Strip tracebacks, an alarm's exception too: their locals may hold what was given.

    An error that nobody foresaw has a note of the lines that it passed.
    """
    return _raising_here(work, BaseException)


def at_the_boundary(function: Callable[P, T]) -> Callable[P, T]:
    """Raise an `AddressError` from the public function: it is about the list, not the code."""
    return _raising_here(function, AddressError)


def _raising_here(work: Callable[P, T], kind: type[BaseException]) -> Callable[P, T]:
    @wraps(work)
    def bounded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return work(*args, **kwargs)
        except kind as error:
            escaped = error
        del args, kwargs
        if isinstance(escaped, Exception) and not isinstance(escaped, WalletframeError):
            lines = "".join(traceback.format_tb(escaped.__traceback__))
            escaped.add_note(f"It passed these lines, whose variables are left out:\n{lines}")
        escaped.__traceback__ = escaped.__cause__ = escaped.__context__ = None
        try:  # what leaves a Python function has its frame: plain Python shows this one, since
            raise escaped  # only `sys.excepthook`, which is the program's own, could leave it out
        finally:
            del escaped  # else it would refer to itself

    return bounded
