"""What became of a fetch, and of what was kept of it."""

from __future__ import annotations

from typing import Any

from walletframe.errors.root import WalletframeError


class CacheError(WalletframeError, OSError):
    """Answers that were kept on this machine can't be read."""


class FetchError(WalletframeError, RuntimeError):
    """Some wallets failed, and the caller asked for an error in that case.

    Parameters
    ----------
    message : str
        How many failed, and why.
    details : WalletDetails
        Everything that was fetched, with a row for every wallet asked for.

    Attributes
    ----------
    details : WalletDetails
        The same.
    """

    def __init__(self, message: str, details: Any) -> None:
        self.details = details
        super().__init__(message, hint="what was fetched is in the error's .details")


class FetchInterrupted(KeyboardInterrupt):
    """A fetch that was stopped; a KeyboardInterrupt, so that whatever runs on stops as well.

    Parameters
    ----------
    details : WalletDetails
        Everything that was finished; the other wallets have the status ``cancelled``.

    Attributes
    ----------
    details : WalletDetails
        The same. What was finished is in the cache, too: the next call asks for the rest.
    """

    def __init__(self, details: Any) -> None:
        self.details = details
        self.hint = (
            "what was finished is in the error's .details; the same call again asks only for "
            "the rest"
        )
        super().__init__(f"the fetch was interrupted\n\nHint: {self.hint}")

    def __reduce__(self) -> tuple[Any, ...]:
        return FetchInterrupted, (self.details,)
