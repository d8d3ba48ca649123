"""Writes records into parts: one part is written while the next is filled."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from walletframe.bulk.files import key_of
from walletframe.frames import assemble
from walletframe.wire import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from walletframe.bulk.dataset import Dataset
    from walletframe.bulk.journal import Journal
    from walletframe.bulk.register import Register
    from walletframe.bulk.summary import Tally
    from walletframe.frames import WalletDetails, WalletRecord

PART_WALLETS = 2_000
PART_BALANCES = 200_000


@dataclass(slots=True)
class _Filling:
    """The part that is being filled: the place of each wallet, and statuses to report later."""

    places: dict[str, int] = field(default_factory=dict)
    unreported: list[Status] = field(default_factory=list)


class Writer:
    """Writes the parts of a run; `report` gets each status once it would outlive a kill."""

    def __init__(
        self,
        dataset: Dataset,
        register: Register,
        journal: Journal,
        tally: Tally,
    ) -> None:
        self._dataset, self._register = dataset, register
        self._journal, self._tally = journal, tally

    def write(self, records: Iterator[WalletRecord], report: Callable[[Status], None]) -> None:
        """Write all records, in any order; those that were never asked for are counted only."""
        with ThreadPoolExecutor(1, thread_name_prefix="walletframe-parts") as pool:
            written: Future[None] | None = None
            while True:
                part = _Filling()
                details = assemble(self._taken(records, part, report))
                if written is not None:
                    written.result()
                if not part.places:
                    break
                self._journal.begin_segment()
                written = pool.submit(self._add, details, part, report)
        self._journal.check()
        self._dataset.tidy()

    def _taken(
        self, records: Iterator[WalletRecord], part: _Filling, report: Callable[[Status], None]
    ) -> Iterator[WalletRecord]:
        """Take records until there are enough for a part."""
        balances = 0
        for record in records:
            status = record.outcome.status
            self._tally.add(record)
            if status is Status.CANCELLED:
                report(status)
                continue
            key = key_of(record.wallet)
            part.places[key] = self._register.settle(key)
            is_safe = self._journal.secure(record, part.places[key])
            (report if is_safe else part.unreported.append)(status)
            balances += len(record.outcome.balances or ())
            yield record
            if len(part.places) >= PART_WALLETS or balances >= PART_BALANCES:
                return

    def _add(
        self, details: WalletDetails, part: _Filling, report: Callable[[Status], None]
    ) -> None:
        self._dataset.add(details, list(part.places.values()))
        self._journal.release(part.places)
        self._tally.parts += 1
        self._tally.balances += len(details.holdings)
        for status in part.unreported:
            report(status)
