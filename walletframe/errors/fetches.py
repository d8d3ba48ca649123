"""Errors of a fetch, and of the files that store its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from walletframe.errors.root import WalletframeError

if TYPE_CHECKING:
    from walletframe.bulk.summary import FetchSummary
    from walletframe.frames.details import WalletDetails

    Details: TypeAlias = WalletDetails | FetchSummary


class CacheError(WalletframeError, OSError):
    """Cached answers can't be read: the message says which and why."""


class ClusterError(WalletframeError, RuntimeError):
    """Workers that can't fetch, named before anything is asked; or a cluster that is gone."""


class DatasetError(WalletframeError, OSError):
    """A file or a folder of holdings can't be read or written as one; nothing in it is lost."""


class HistoryError(WalletframeError, OSError):
    """A snapshot on this machine can't be read; the others still can."""


class SnapshotError(WalletframeError, ValueError):
    """Holdings that can't be saved or compared as they are, or a time that can't be read."""


class FramesNeededError(WalletframeError, AttributeError):
    """A folder on the disk was asked for what only frames in memory can answer."""


class UnknownSnapshotError(WalletframeError, LookupError):
    """There is no snapshot, or none so early; ``history.snapshots()`` lists them."""


class FetchError(WalletframeError, RuntimeError):
    """Some wallets failed, and ``on_failure="raise"`` asked for an error in that case.

    Parameters
    ----------
    message : str
        How many failed, and why.
    details : WalletDetails or FetchSummary
        Everything that was fetched, with a row for every wallet asked for; of a fetch into a
        folder the summary. It is an attribute as well.
    hint : str, optional
        What to do about it.
    """

    def __init__(
        self,
        message: str,
        details: Details,
        hint: str = "what was fetched is in the error's .details",
    ) -> None:
        super().__init__(message, hint)
        self.details: Details = details


class FetchInterrupted(KeyboardInterrupt):
    """A fetch that was stopped; a KeyboardInterrupt, so that whatever runs on stops as well.

    Parameters
    ----------
    details : WalletDetails or FetchSummary
        Everything that was finished; the other wallets have the status ``cancelled``. Of a fetch
        into a folder the summary. It is an attribute as well, and in the cache or in the folder:
        the next call asks for the rest.
    hint : str, optional
        What to do about it; an attribute as well.
    """

    def __init__(
        self,
        details: Details,
        hint: str = "what was finished is in the error's .details; the same call again asks only "
        "for the rest",
    ) -> None:
        self.details: Details = details
        self.hint: str = hint
        super().__init__(f"the fetch was interrupted\n\nHint: {hint}")

    def __reduce__(self) -> tuple[Any, ...]:
        return FetchInterrupted, (self.details, self.hint)
