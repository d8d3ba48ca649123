"""One run: wallets in, parts of a dataset out.

The order of operations: open the folder, make a part of what an earlier run has left in its
journal, see what the folder holds, and ask for the rest; a part is written whenever there is enough
for one, while the asking goes on.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, suppress
from itertools import chain
from queue import Empty, SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, TypeAlias

from walletframe.bulk.dataset import Dataset
from walletframe.bulk.files import key_of
from walletframe.bulk.journal import Journal
from walletframe.bulk.register import Turn, take_up
from walletframe.bulk.summary import GOES_ON, Tally
from walletframe.bulk.writer import Writer
from walletframe.client import Job, counted
from walletframe.errors import FetchInterrupted
from walletframe.settings import require_service
from walletframe.wire import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from walletframe.address import WalletAddress
    from walletframe.bulk.listing import Listing
    from walletframe.bulk.register import Register
    from walletframe.bulk.summary import FetchSummary
    from walletframe.client import Client, Flow, OpenProgress

_PORTION = 250
_PORTION_S = 0.2
_TICK_S, _TAKEN_S = 0.05, 0.01
_Report: TypeAlias = "Callable[[Status], None]"


class Run:
    """A fetch into a folder."""

    # The caller's thread reads the caller's wallets and draws the bar: a cursor of a database works
    # there alone, an interrupt ends what blocks there, and an error of a stream has the caller's
    # own traceback. A thread of its own does all else, so that an interrupt finds nothing half
    # done. Wallets go to it in portions, statuses come back as the news of its job.

    def __init__(self, client: Client, listing: Listing, folder: Path) -> None:
        self._client, self._listing, self._folder = client, listing, folder
        self._tally = Tally(time.monotonic())
        self._cancel = Event()
        self._portions: SimpleQueue[list[WalletAddress] | None] = SimpleQueue()  # None: no more

    def go(self, progress: OpenProgress) -> FetchSummary:
        """Do all of it; raises FetchInterrupted after Ctrl-C, when all is written."""
        whole = self._listing.whole
        total = None if whole is None else len(whole)
        with ExitStack() as opened:
            register, journal, writer = self._open(opened)
            held = sum(register.holds(key_of(wallet)) for wallet in whole or ())
            self._tally.resumed = held
            with (
                self._client.flow(keep=journal.append, cancel=self._cancel) as flow,
                counted(progress, total, done=held) as count,
            ):
                all_opened = opened.pop_all()
                job: Job[Status, None] = Job(
                    lambda report: self._work(flow, writer, report, all_opened)
                )
                is_interrupted = self._attend(job, self._cut(register, count), count)
        asked = register.met if total is None else total
        service = require_service(self._client.settings)
        summary = self._tally.summary(self._folder, service, asked, self._listing.unreadable)
        if is_interrupted:
            raise FetchInterrupted(summary, GOES_ON)
        return summary

    def _open(self, opened: ExitStack) -> tuple[Register, Journal, Writer]:
        service = require_service(self._client.settings)
        dataset = opened.enter_context(Dataset(self._folder, service))
        register = take_up(dataset, service)
        journal = Journal(dataset.layout.inner, register.position, self._cancel)
        opened.callback(journal.close)
        return register, journal, Writer(dataset, register, journal, self._tally)

    def _work(self, flow: Flow, writer: Writer, report: _Report, opened: ExitStack) -> None:
        """Do what the thread of its own does; what was opened is closed when this ends."""
        with opened:
            writer.write(flow.records(self._handed_over()), report)
            self._tally.key_refused = flow.key_refused

    def _attend(
        self,
        job: Job[Status, None],
        portions: Iterator[list[WalletAddress]],
        count: _Report,
    ) -> bool:
        """Do what the caller's thread does; return whether it was interrupted."""
        try:
            for portion in chain(portions, [None]):
                is_taken = False
                while not (is_taken or job.has_ended()):
                    is_taken = self._hand_over(portion)
                    for status in job.news_so_far():
                        count(status)
                if job.has_ended():
                    break
            for status in job.news():
                count(status)
            job.result()
        except KeyboardInterrupt:
            self._cancel.set()
            job.result()
            return True
        except BaseException:
            self._cancel.set()
            with suppress(Exception):
                job.result()
            raise
        return False

    def _hand_over(self, portion: list[WalletAddress] | None) -> bool:
        """Hand over a portion, or wait a moment while the one before is still there."""
        # An interrupt between the steps of `Queue.put` would leave its lock held for ever.
        if self._portions.qsize():
            time.sleep(_TAKEN_S)
            return False
        self._portions.put(portion)
        return True

    def _handed_over(self) -> Iterator[list[WalletAddress]]:
        """Hand out the portions; an empty one where there is none, so that a flow can end."""
        while True:
            try:
                portion = self._portions.get(timeout=_TICK_S)
            except Empty:
                portion = []
            if portion is None:
                return
            yield portion

    def _cut(self, register: Register, count: _Report) -> Iterator[list[WalletAddress]]:
        """Cut the wallets that have to be asked for into portions, small ones of a slow stream."""
        portion: list[WalletAddress] = []
        begun = time.monotonic()
        for wallet in self._listing.wallets:
            turn = register.meet(key_of(wallet))
            if turn is Turn.ASK:
                portion.append(wallet)
            elif turn is Turn.HELD and self._listing.whole is None:
                self._tally.resumed += 1
                count(Status.OK)
            if len(portion) >= _PORTION or (portion and time.monotonic() - begun > _PORTION_S):
                yield portion
                portion, begun = [], time.monotonic()
        if portion:
            yield portion
