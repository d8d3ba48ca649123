"""Warnings: the work goes on, but the caller should know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.errors.spelling import Spelled

if TYPE_CHECKING:
    from walletframe.errors.spelling import Text


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

    spelled: Spelled

    def __init__(self, message: Text = "") -> None:
        super().__init__(str(message))
        self.spelled = Spelled(message)


class AnswerWarning(WalletframeWarning):
    """The service answered more than it was asked, or balances that can't be read.

    The surplus was left out; what can't be read is NA, and everything else is complete.
    """


class CacheWarning(WalletframeWarning):
    """The cache can't be written or read; fetching goes on."""


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
