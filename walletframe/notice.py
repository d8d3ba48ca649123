"""Warnings that point to the user's code, not to a line in this package."""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

    from walletframe.errors import WalletframeWarning

_PACKAGE = __name__.partition(".")[0]
_warned: set[str] = set()


def notify(text: str, category: type[WalletframeWarning], *category_args: object) -> None:
    """Issue a warning that points to the innermost line outside this package.

    The text must not contain the API key. The category is called with the text and `category_args`.
    """
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - only frames show the caller's line
    level = 2
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    warnings.warn(category(text, *category_args), stacklevel=level)


def warn_never_raise(text: str, category: type[WalletframeWarning]) -> None:
    """Issue a warning. Warning filters can't turn this warning into an error."""
    with suppress(category):
        notify(text, category)


def warn_once(text: str, category: type[WalletframeWarning]) -> None:
    """Issue a warning with `warn_never_raise`, once per text and process."""
    if text not in _warned:
        _warned.add(text)
        warn_never_raise(text, category)
