"""Warnings that point at the caller's own code, wherever in the package they are issued."""

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


def notify(text: str, category: type[WalletframeWarning], *details: object) -> None:
    """Warn at the line of the caller outside this package; the text must not hold the key.

    `details` are the category's further arguments.
    """
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - as warnings itself does
    level = 2
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    warnings.warn(category(text, *details), stacklevel=level)


def warn_never_raise(text: str, category: type[WalletframeWarning]) -> None:
    """Warn about an effect that the caller requested; no warning filter makes it an error."""
    with suppress(category):
        notify(text, category)


def warn_once(text: str, category: type[WalletframeWarning]) -> None:
    """Warn as `warn_never_raise` does, but each text only once in this process."""
    if text not in _warned:
        _warned.add(text)
        warn_never_raise(text, category)
