"""Records in, parts out: one part is written while the next is filled."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from walletframe.bulk.tables import key_of
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


class Writer:
    """Writes the parts of a run.

    Parameters
    ----------
    dataset : Dataset
        Where to.
    register : Register
        The place of each wallet.
    journal : Journal
        Lets go of what the parts hold.
    tally : Tally
        Counts.
    """

    def __init__(
        self, dataset: Dataset, register: Register, journal: Journal, tally: Tally
    ) -> None:
        self._dataset, self._register = dataset, register
        self._journal, self._tally = journal, tally

    def write(self, records: Iterator[WalletRecord], report: Callable[[Status], None]) -> None:
        """Write all records; wallets whose turn never came are counted only.

        Parameters
        ----------
        records : iterator of WalletRecord
            In any order.
        report : callable
            Is told the status of each once it would outlive a kill.

        Raises
        ------
        DatasetError
            Where a part or the journal can't be written.
        """
        with ThreadPoolExecutor(1, thread_name_prefix="walletframe-parts") as pool:
            written: Future[None] | None = None
            while True:
                places: dict[str, int] = {}
                untold: list[Status] = []
                details = assemble(self._taken(records, places, report, untold))
                if written is not None:
                    written.result()
                if not places:
                    break
                self._journal.turn()
                tell = partial(_tell_all, untold, report)
                written = pool.submit(self._add, details, places, tell)
        self._journal.check()
        self._dataset.tidy()

    def _taken(
        self,
        records: Iterator[WalletRecord],
        places: dict[str, int],
        report: Callable[[Status], None],
        untold: list[Status],
    ) -> Iterator[WalletRecord]:
        """Take records until there are enough for a part; fill in their places, and what waits."""
        balances = 0
        for record in records:
            status = record.outcome.status
            self._tally.add(record)
            if status is Status.CANCELLED:
                report(status)
                continue
            key = key_of(record.wallet)
            places[key] = self._register.settle(key)
            tell = report if self._journal.secured(record, places[key]) else untold.append
            tell(status)
            balances += len(record.outcome.balances or ())
            yield record
            if len(places) >= PART_WALLETS or balances >= PART_BALANCES:
                return

    def _add(
        self, details: WalletDetails, places: dict[str, int], tell: Callable[[], None]
    ) -> None:
        self._dataset.add(details, list(places.values()))
        self._journal.release(places)
        self._tally.parts += 1
        self._tally.balances += len(details.holdings)
        tell()


def _tell_all(untold: list[Status], report: Callable[[Status], None]) -> None:
    for status in untold:
        report(status)
