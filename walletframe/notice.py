"""Warnings that point at the caller's own code, however deep inside they are raised."""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

    from walletframe.errors import WalletframeWarning

_PACKAGE = __name__.partition(".")[0]
_said: set[str] = set()


def notify(text: str, category: type[WalletframeWarning]) -> None:
    """Warn where the caller outside this package stands; the key must not be in the text."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - as warnings itself does
    level = 2
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    warnings.warn(category(text), stacklevel=level)


def mention(text: str, category: type[WalletframeWarning]) -> None:
    """Warn of what the caller asked for: no filter of warnings makes an error of it."""
    with suppress(category):
        notify(text, category)


def mention_once(text: str, category: type[WalletframeWarning]) -> None:
    """Warn as `mention` does, the first time in this process alone."""
    if text not in _said:
        _said.add(text)
        mention(text, category)
