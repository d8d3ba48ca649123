"""The root of all errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from walletframe.errors.spelling import Spelled

if TYPE_CHECKING:
    from walletframe.errors.spelling import Text


def _rebuild(kind: type[WalletframeError], text: str, state: dict[str, Any]) -> WalletframeError:
    error = kind.__new__(kind)
    error.args = (text,)
    error.__dict__.update({"message": text, "hint": "", "spelled": Spelled(text)} | state)
    return error


class WalletframeError(Exception):
    """The root of all errors that walletframe raises: what happened, and what to do about it.

    Parameters
    ----------
    message : str
        What happened.
    hint : str, optional
        What to do about it; shown behind the message.

    Attributes
    ----------
    message : str
        What happened, without the hint.
    hint : str
        What to do about it, empty where there is nothing to do.
    spelled : Spelled
        Both, for display in a shell, where arguments are options.
    """

    message: str
    hint: str
    spelled: Spelled

    def __init__(self, message: Text, hint: Text = "") -> None:
        self.message, self.hint = str(message), str(hint)
        self.spelled = Spelled(message, "\n\nHint: ", hint) if hint else Spelled(message)
        super().__init__(str(self.spelled))

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args[0], dict(self.__dict__))
