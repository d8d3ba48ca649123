"""What points at the caller's own code, however deep it arises: warnings, and refused wallets."""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from walletframe.errors import AddressError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from walletframe.errors import WalletframeWarning

P = ParamSpec("P")
T = TypeVar("T")

_PACKAGE = __name__.partition(".")[0]


def notify(text: str, category: type[WalletframeWarning]) -> None:
    """Warn, with the nearest caller outside this package as the place.

    Parameters
    ----------
    text : str
        One line; it must not hold the key.
    category : type of WalletframeWarning
        What kind of warning.
    """
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - as warnings itself does
    level = 2
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def mention(text: str, category: type[WalletframeWarning]) -> None:
    """Warn of what the caller asked for: no filter of warnings makes an error of it.

    Parameters
    ----------
    text : str
        One line; it must not hold the key.
    category : type of WalletframeWarning
        What kind of warning.
    """
    with suppress(category):
        notify(text, category)


def at_the_boundary(function: Callable[P, T]) -> Callable[P, T]:
    """Let a public function raise an `AddressError` itself: it is about the list, not the code.

    IPython shows none of the package's frames then, and plain Python this one.

    Parameters
    ----------
    function : callable
        What a caller calls.

    Returns
    -------
    callable
        The same, with a short traceback.
    """

    @wraps(function)
    def public(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except AddressError as error:
            refused = error
        raise refused.with_traceback(None)

    return public
