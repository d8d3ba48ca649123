"""The roots of all errors and of all warnings, and the warnings: the work goes on after these."""

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
    message, hint : str
        The same; the hint is empty where there is nothing to do.
    spelled : Spelled
        Both, for display in a shell, where arguments are options.
    """

    def __init__(self, message: Text, hint: Text = "") -> None:
        self.message: str = str(message)
        self.hint: str = str(hint)
        self.spelled: Spelled = Spelled(message, "\n\nHint: ", hint) if hint else Spelled(message)
        super().__init__(str(self.spelled))

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args[0], dict(self.__dict__))


class WalletframeWarning(UserWarning):
    """The root of all warnings of walletframe.

    Parameters
    ----------
    message : str, optional
        The text of the warning.

    Attributes
    ----------
    spelled : Spelled
        The same, for display in a shell.
    """

    def __init__(self, message: Text = "") -> None:
        super().__init__(str(message))
        self.spelled: Spelled = Spelled(message)


class AnswerWarning(WalletframeWarning):
    """The service answered more than it was asked, or balances that can't be read.

    The surplus was left out; what can't be read is NA, and everything else is complete.
    """


class CacheWarning(WalletframeWarning):
    """The cache can't be written or read; what was asked goes on without."""


class FetchWarning(WalletframeWarning):
    """Some wallets failed; their rows say why."""


class InputWarning(WalletframeWarning):
    """The input is used, but may not be what you meant: repeats, odd names, rows left out."""


class PricesWarning(WalletframeWarning):
    """None of the given prices is for a token in the holdings."""


class RenamedWarning(WalletframeWarning, DeprecationWarning):
    """Something was renamed; the old name works for one more release."""


class SpamWarning(WalletframeWarning):
    """Rows were left out, as asked, since their tokens look like spam; it is never an error."""


class TestKeyWarning(WalletframeWarning):
    """The shared test key is in use, which is for testing only."""

    __test__ = False
