"""The root of all errors."""

from __future__ import annotations

from typing import Any


def _rebuild(kind: type[WalletframeError], text: str, state: dict[str, Any]) -> WalletframeError:
    error = kind.__new__(kind)
    error.args = (text,)
    error.__dict__.update(state)
    return error


class WalletframeError(Exception):
    """The root of all errors that walletframe raises.

    Parameters
    ----------
    message : str
        What happened.
    hint : str, optional
        What to do about it; shown behind the message.

    Attributes
    ----------
    hint : str
        The hint, empty where there is none.
    """

    hint: str

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message}\n\nHint: {hint}" if hint else message)
        self.hint = hint

    @property
    def message(self) -> str:
        """What happened, without the hint."""
        return str(self).removesuffix(f"\n\nHint: {self.hint}")

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args[0], dict(self.__dict__))
