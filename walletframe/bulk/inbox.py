"""From the caller's thread to that of the work: portions of wallets, a few ahead.

The caller's own thread reads the caller's stream: a cursor of a database works there alone, an
interrupt ends what blocks there, and an error of the stream has the caller's own traceback.
"""

from __future__ import annotations

from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from threading import Event

    from walletframe.address import WalletAddress

_AHEAD = 2
_TICK_S = 0.05


class Inbox:
    """Portions on their way.

    Parameters
    ----------
    cancel : Event
        Ends it.
    """

    def __init__(self, cancel: Event) -> None:
        self._cancel = cancel
        self._waiting: SimpleQueue[list[WalletAddress] | None] = SimpleQueue()

    def put(self, portion: list[WalletAddress] | None) -> None:
        """Hand over a portion.

        Parameters
        ----------
        portion : list of WalletAddress or None
            None where there is nothing left.
        """
        self._waiting.put(portion)

    def portions(self, ask_for_more: Callable[[], None]) -> Iterator[list[WalletAddress]]:
        """Hand out the portions.

        Parameters
        ----------
        ask_for_more : callable
            Called for each portion that may be put.

        Yields
        ------
        list of WalletAddress
            Empty where there is none for the moment.
        """
        for _ in range(_AHEAD):
            ask_for_more()
        while not self._cancel.is_set():
            try:
                portion = self._waiting.get(timeout=_TICK_S)
            except Empty:
                yield []
                continue
            if portion is None:
                return
            ask_for_more()
            yield portion
