"""Flow: wallets in portions, each result handed on as soon as it is known; nothing else is held.

For more wallets than memory holds. Backpressure: while nobody takes the records, no more is asked
for than is under way already.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from walletframe.client.conclusion import Oddities
from walletframe.client.plan import missed
from walletframe.client.records import resolve_kept, resolve_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from threading import Event

    from walletframe.address import WalletAddress
    from walletframe.client.plan import Step
    from walletframe.client.send import Arrival, Sending
    from walletframe.frames import WalletRecord


class Flow:
    """One long fetch, with at most `ahead` wallets under way.

    It ends where it is cancelled, or where the service refuses the key.
    """

    def __init__(
        self,
        service: str,
        planned: Callable[[list[WalletAddress]], list[Step]],
        sending: Sending,
        *,
        ahead: int,
        cancel: Event,
    ) -> None:
        self.key_refused = False
        self.oddities = Oddities()
        self._service, self._planned, self._sending = service, planned, sending
        self._ahead, self._cancel = ahead, cancel
        self._numbers = count()
        self._steps: dict[int, Step] = {}

    def close(self) -> None:
        """Let go of what is under way."""
        self._sending.stop()
        self.oddities.note_strangers(self._sending.strangers)

    def records(self, portions: Iterable[list[WalletAddress]]) -> Iterator[WalletRecord]:
        """Hand out what becomes of distinct wallets, in no order, until the flow ends.

        An empty portion says that there are none for the moment.
        """
        return self.oddities.counted(self._records(portions))

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
        size = self._sending.batch_size
        for start in range(0, len(steps), size):
            batch = steps[start : start + size]
            yield from self._arrived(self._ahead - len(batch))
            if self._is_over():
                return
            numbered = dict(zip(self._numbers, batch, strict=False))
            self._steps.update(numbered)
            self._sending.add({number: step.wallet for number, step in numbered.items()})

    def _arrived(self, leave: int) -> Iterator[WalletRecord]:
        for arrival in self._sending.arrivals(leave):
            if arrival is not None:
                yield self._resolved(arrival)

    def _next_arrived(self) -> Iterator[WalletRecord]:
        arrival = next(self._sending.arrivals(), None)
        if arrival is not None:
            yield self._resolved(arrival)

    def _resolved(self, arrival: Arrival) -> WalletRecord:
        self.key_refused |= arrival.reply.key_refused
        resolved = resolve_reply(self._steps.pop(arrival.number), arrival.reply, self._service)
        self.oddities.note_strangers(resolved.strangers)
        return resolved.record
