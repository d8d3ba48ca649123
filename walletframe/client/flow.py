"""Flow: wallets in portions, what becomes of each as soon as it is known; nothing else is held.

For more wallets than memory holds. Who takes the records sets the pace: while nobody does, no more
is asked for than is under way already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.client.oddities import STRANGERS_NAMED, Unread
from walletframe.client.plan import missed
from walletframe.client.records import resolve_kept, resolve_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from threading import Event

    from walletframe.address import WalletAddress
    from walletframe.client.plan import Step
    from walletframe.client.records import Resolved
    from walletframe.client.send import Arrival, Sending
    from walletframe.frames import WalletRecord


class Flow:
    """One long fetch.

    Parameters
    ----------
    service : str
        The service's name.
    planned : callable
        Decides for a portion of wallets.
    opened : callable
        Opens a sending; called when the first wallet has to be asked for, since the cache alone
        needs no key.
    batch_size : int
        How many wallets a request asks for.
    ahead : int
        How many wallets may be under way.
    cancel : Event
        Ends it.

    Attributes
    ----------
    key_refused : bool
        Whether it ended because the service refused the key.
    strangers : list of str
        The first wallets in the answers that nobody asked for.
    stranger_count : int
        How many there were.
    unread : Unread
        Counts of balances that could not be read.
    """

    def __init__(
        self,
        service: str,
        planned: Callable[[list[WalletAddress]], list[Step]],
        opened: Callable[[], Sending],
        *,
        batch_size: int,
        ahead: int,
        cancel: Event,
    ) -> None:
        self.key_refused = False
        self.strangers: list[str] = []
        self.stranger_count = 0
        self.unread = Unread()
        self._service, self._planned, self._opened = service, planned, opened
        self._batch_size, self._ahead, self._cancel = batch_size, ahead, cancel
        self._sending: Sending | None = None
        self._steps: dict[int, Step] = {}

    def close(self) -> None:
        """Let go of what is under way."""
        if self._sending is not None:
            self._sending.stop()
            self._note(self._sending.strangers)

    def records(self, portions: Iterable[list[WalletAddress]]) -> Iterator[WalletRecord]:
        """Hand out what becomes of the wallets, in no order.

        Parameters
        ----------
        portions : iterable of list of WalletAddress
            Distinct wallets; an empty list where there are none for the moment.

        Returns
        -------
        iterator of WalletRecord
            One for each wallet, until the key is refused or the fetch is cancelled; then for what
            was under way.
        """
        return self.unread.counted(self._records(portions))

    def _records(self, portions: Iterable[list[WalletAddress]]) -> Iterator[WalletRecord]:
        for portion in portions:
            yield from self._worked_off(portion) if portion else self._next_arrived()
            if self._is_over():
                break
        yield from self._arrived(0)

    def _is_over(self) -> bool:
        return self.key_refused or self._cancel.is_set()

    def _worked_off(self, portion: list[WalletAddress]) -> Iterator[WalletRecord]:
        asked = []
        for step in self._planned(portion):
            resolved = None if step.ask else resolve_kept(step, self._service)
            if resolved is not None:
                yield resolved.record
            else:
                asked.append(step if step.ask else missed(step))
        yield from self._asked(asked)

    def _asked(self, steps: list[Step]) -> Iterator[WalletRecord]:
        for start in range(0, len(steps), self._batch_size):
            batch = steps[start : start + self._batch_size]
            yield from self._arrived(self._ahead - len(batch))
            if self._is_over():
                return
            if self._sending is None:
                self._sending = self._opened()
            places = self._sending.add([step.wallet for step in batch])
            self._steps.update(zip(places, batch, strict=True))

    def _arrived(self, leave: int) -> Iterator[WalletRecord]:
        if self._sending is not None:
            for arrival in self._sending.arrivals(leave):
                if arrival is not None:
                    yield self._resolved(arrival).record

    def _next_arrived(self) -> Iterator[WalletRecord]:
        arrival = next(self._sending.arrivals(), None) if self._sending else None
        if arrival is not None:
            yield self._resolved(arrival).record

    def _resolved(self, arrival: Arrival) -> Resolved:
        self.key_refused |= arrival.reply.key_refused
        resolved = resolve_reply(self._steps.pop(arrival.place), arrival.reply, self._service)
        self._note(resolved.strangers)
        return resolved

    def _note(self, strangers: list[str]) -> None:
        self.stranger_count += len(strangers)
        self.strangers = (self.strangers + strangers)[:STRANGERS_NAMED]
