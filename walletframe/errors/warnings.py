"""Warnings: the work goes on, but somebody should know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.errors.spelling import Spelled

if TYPE_CHECKING:
    from walletframe.errors.spelling import Text


class WalletframeWarning(UserWarning):
    """The root of all warnings of walletframe.

    Parameters
    ----------
    message : str
        What somebody should know.

    Attributes
    ----------
    spelled : Spelled
        The same, for who shows it in a shell.
    """

    spelled: Spelled

    def __init__(self, message: Text) -> None:
        super().__init__(str(message))
        self.spelled = Spelled(message)


class AnswerWarning(WalletframeWarning):
    """The service answered more than it was asked, or balances that can't be read.

    The surplus was left out; what can't be read is NA, and the rest is as it should be.
    """


class CacheWarning(WalletframeWarning):
    """Answers can't be kept or read on this machine; fetching goes on."""


class FetchWarning(WalletframeWarning):
    """Some wallets failed; their rows say why."""


class InputWarning(WalletframeWarning):
    """What was given is used, but may not be what was meant: repeats, odd names, rows left out."""


class PricesWarning(WalletframeWarning):
    """Prices were given, and none of them is of a token that is held."""


class RenamedWarning(WalletframeWarning, DeprecationWarning):
    """Something has another name now; the old one works for one release more."""


class SpamWarning(WalletframeWarning):
    """Rows were left out, as asked, since their tokens look like spam; it is never an error."""


class TestKeyWarning(WalletframeWarning):
    """The shared test key is in use, which is for testing only."""

    __test__ = False
