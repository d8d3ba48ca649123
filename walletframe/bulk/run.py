"""One run: wallets in, parts of a dataset out.

The order of operations: open the folder, make a part of what an earlier run has left in its
journal, see what the folder holds, and ask for the rest; a part is written whenever there is enough
for one, while the asking goes on. The caller's thread reads the caller's stream and draws the bar;
all else is done by a thread of its own, which an interrupt finds with nothing half done.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, suppress
from enum import Enum
from threading import Event
from typing import TYPE_CHECKING, TypeAlias

from walletframe.bulk.dataset import Dataset
from walletframe.bulk.inbox import Inbox
from walletframe.bulk.journal import Journal
from walletframe.bulk.recovery import registered
from walletframe.bulk.register import Turn
from walletframe.bulk.summary import GOES_ON, Tally
from walletframe.bulk.tables import key_of
from walletframe.bulk.writer import Writer
from walletframe.client.job import Job
from walletframe.client.progress import counted
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
    from walletframe.client import Client
    from walletframe.client.flow import Flow
    from walletframe.client.progress import OpenProgress

_PORTION = 250
_PORTION_S = 0.2


class _Wish(Enum):
    MORE = "wallets"


_News: TypeAlias = Status | _Wish
_Job: TypeAlias = "Job[_News, None]"


class Run:
    """A fetch into a folder.

    Parameters
    ----------
    client : Client
        Whom to ask through.
    listing : Listing
        The wallets.
    folder : Path
        Where to write.
    """

    def __init__(self, client: Client, listing: Listing, folder: Path) -> None:
        self._client, self._listing, self._folder = client, listing, folder
        self._tally = Tally(time.monotonic())
        self._cancel = Event()
        self._inbox = Inbox(self._cancel)

    def go(self, progress: OpenProgress) -> FetchSummary:
        """Do all of it.

        Parameters
        ----------
        progress : bool, callable or None
            As for `fetch_to_parquet`.

        Returns
        -------
        FetchSummary
            What became of the wallets.

        Raises
        ------
        DatasetError
            Where the folder can't be used.
        FetchInterrupted
            After Ctrl-C, when what was finished is in the folder.
        """
        whole = self._listing.whole
        total = None if whole is None else len(whole)
        with ExitStack() as opened:
            register, journal, writer = self._open(opened)
            held = sum(register.holds(key_of(wallet)) for wallet in whole or ())
            self._tally.resumed = held
            with (
                self._client.flow(keep=journal.append, cancel=self._cancel) as flow,
                counted(progress, total, done=held) as tell,
            ):
                all_opened = opened.pop_all()
                job: _Job = Job(lambda report: self._work(flow, writer, report, all_opened))
                is_interrupted = self._attend(job, self._portions(register, tell), tell)
        asked = register.met if total is None else total
        service = require_service(self._client.settings)
        summary = self._tally.summary(self._folder, service, asked, self._listing.unreadable)
        if is_interrupted:
            raise FetchInterrupted(summary, GOES_ON)
        return summary

    def _open(self, opened: ExitStack) -> tuple[Register, Journal, Writer]:
        service = require_service(self._client.settings)
        dataset = opened.enter_context(Dataset(self._folder, service))
        register = registered(dataset, service)
        journal = Journal(dataset.layout.inner, register.position, self._cancel)
        opened.callback(journal.close)
        return register, journal, Writer(dataset, register, journal, self._tally)

    def _work(
        self,
        flow: Flow,
        writer: Writer,
        report: Callable[[_News], None],
        opened: ExitStack,
    ) -> None:
        """Do what the thread of its own does; what was opened is closed when this ends."""
        with opened:
            portions = self._inbox.portions(lambda: report(_Wish.MORE))
            writer.write(flow.records(portions), report)
            self._tally.key_refused = flow.key_refused

    def _attend(
        self,
        job: _Job,
        portions: Iterator[list[WalletAddress]],
        tell: Callable[[Status], None],
    ) -> bool:
        """Do what the caller's thread does; tell whether it was interrupted."""
        try:
            for news in job.news():
                if isinstance(news, Status):
                    tell(news)
                else:
                    self._inbox.put(next(portions, None))
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

    def _portions(
        self, register: Register, tell: Callable[[Status], None]
    ) -> Iterator[list[WalletAddress]]:
        """Cut the wallets that have to be asked for into portions, small ones of a slow stream."""
        portion: list[WalletAddress] = []
        begun = time.monotonic()
        for wallet in self._listing.wallets:
            turn = register.meet(key_of(wallet))
            if turn is Turn.ASK:
                portion.append(wallet)
            elif turn is Turn.HELD and self._listing.whole is None:
                self._tally.resumed += 1
                tell(Status.OK)
            if len(portion) >= _PORTION or (portion and time.monotonic() - begun > _PORTION_S):
                yield portion
                portion, begun = [], time.monotonic()
        if portion:
            yield portion
