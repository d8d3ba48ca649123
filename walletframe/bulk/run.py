"""One run: wallets in, parts of a dataset out.

The order of operations: open the folder, make a part of what an earlier run has left in its
journal, see what the folder holds, and ask for the rest; a part is written whenever there is enough
for one, while the asking goes on and the next is filled.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, TypeAlias

from walletframe.bulk.dataset import Dataset
from walletframe.bulk.files import key_of
from walletframe.bulk.journal import Journal
from walletframe.bulk.register import Register, Turn
from walletframe.bulk.summary import GOES_ON, Tally
from walletframe.client import Job, counted
from walletframe.errors import FetchInterrupted
from walletframe.frames import assemble
from walletframe.settings import require_service
from walletframe.wire import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    import pandas as pd

    from walletframe.address import WalletAddress
    from walletframe.bulk.summary import FetchSummary
    from walletframe.client import Client, Flow, OpenProgress
    from walletframe.frames import WalletDetails, WalletRecord

PART_WALLETS, PART_BALANCES = 2_000, 200_000
_PORTION, _PORTION_S = 250, 0.2
_TICK_S, _TAKEN_S = 0.05, 0.01
_Wallets: TypeAlias = "list[WalletAddress] | Iterator[WalletAddress]"
_Report: TypeAlias = "Callable[[Status], None]"


def fetch_into(  # noqa: PLR0913 - `fetch_to_parquet` is a function of as many
    folder: Path,
    wallets: _Wallets,
    client: Client,
    progress: OpenProgress,
    tally: Tally,
    *,
    kept: pd.DataFrame | None = None,
    orders: Orders | None = None,
) -> FetchSummary:
    """Do all of a run; raises FetchInterrupted after Ctrl-C, when all is written."""
    service, orders = require_service(client.settings), orders or Orders()
    cancel = orders.cancel
    whole = wallets if isinstance(wallets, list) else None  # distinct; a stream may repeat itself
    total = None if whole is None else len(whole)
    with ExitStack() as opened:
        dataset = opened.enter_context(Dataset(folder, service, orders.patience_s, cancel))
        register = dataset.take_up(orders.places)
        if kept is not None:
            dataset.keep(list(wallets), kept)
        journal = Journal(dataset.layout.inner, register.position, cancel)
        opened.callback(journal.close)
        tally.resumed = sum(register.holds(key_of(wallet)) for wallet in whole or ())
        run = _Run(dataset, register, journal, tally, cancel)
        with (
            client.flow(keep=journal.append, cancel=cancel) as flow,
            counted(progress, total, done=tally.resumed) as count,
        ):
            to_close = opened.pop_all()
            job: Job[Status, None] = Job(lambda report: run.write(flow, report, to_close))
            is_interrupted = run.attend(job, wallets, count)
    asked = register.met if total is None else total
    summary = tally.summary(folder, service, asked)
    if is_interrupted:
        raise FetchInterrupted(summary, GOES_ON)
    return summary


@dataclass(frozen=True, slots=True)
class Orders:
    """What a run is told that is one of several of one list, which others may end."""

    places: Mapping[str, int] | None = None  # of its wallets in the whole list, by key
    cancel: Event = field(default_factory=Event)  # its own: it is set at the end, too
    patience_s: float = 0.0  # how long to wait for another run that writes there


class _Run:
    """What the two threads of a run do."""

    # The caller's thread reads the caller's wallets and draws the bar: a cursor of a database works
    # there alone, an interrupt ends what blocks there, and an error of a stream has the caller's
    # own traceback. A thread of its own does all else, so that an interrupt finds nothing half
    # done. Wallets go to it in portions, statuses come back as the news of its job.

    def __init__(
        self, dataset: Dataset, register: Register, journal: Journal, tally: Tally, cancel: Event
    ) -> None:
        self._dataset, self._register, self._journal = dataset, register, journal
        self._tally, self._cancel = tally, cancel
        self._portions: SimpleQueue[list[WalletAddress] | None] = SimpleQueue()  # None: no more

    def attend(self, job: Job[Status, None], wallets: _Wallets, count: _Report) -> bool:
        """Do what the caller's thread does; return whether it was interrupted."""
        try:
            for portion in self._cut(wallets, count):
                self._portions.put(portion)
                # An interrupt between the steps of `Queue.put`, which waits, would leave its lock
                # held for ever.
                while self._portions.qsize() and not job.has_ended():
                    for status in job.news_so_far():
                        count(status)
                    time.sleep(_TAKEN_S)
                if job.has_ended():
                    break
            self._portions.put(None)
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

    def _cut(self, wallets: _Wallets, count: _Report) -> Iterator[list[WalletAddress]]:
        """Cut the wallets that have to be asked for into portions, small ones of a slow stream."""
        portion: list[WalletAddress] = []
        begun = time.monotonic()
        for wallet in wallets:
            turn = self._register.meet(key_of(wallet))
            if turn is Turn.ASK:
                portion.append(wallet)
            elif turn is Turn.HELD and not isinstance(wallets, list):  # else it is counted
                self._tally.resumed += 1
                count(Status.OK)
            if len(portion) >= _PORTION or (portion and time.monotonic() - begun > _PORTION_S):
                yield portion
                portion, begun = [], time.monotonic()
        if portion:
            yield portion

    def write(self, flow: Flow, report: _Report, opened: ExitStack) -> None:
        """Do what the thread of its own does; what was opened is closed when this ends.

        `report` gets each status once it would outlive a kill.
        """
        with opened:
            records = flow.records(self._handed_over())
            with ThreadPoolExecutor(1, thread_name_prefix="walletframe-parts") as pool:
                written: Future[None] | None = None
                while True:
                    places: dict[str, int] = {}
                    later: list[Status] = []
                    details = assemble(self._taken(records, places, later, report))
                    if written is not None:
                        written.result()
                    if not places:
                        break
                    self._journal.begin_segment()
                    written = pool.submit(self._add, details, places, later, report)
            self._journal.check()
            self._dataset.tidy()
            self._tally.key_refused = flow.key_refused

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

    def _taken(
        self,
        records: Iterator[WalletRecord],
        places: dict[str, int],
        later: list[Status],
        report: _Report,
    ) -> Iterator[WalletRecord]:
        """Take records, in any order, until there are enough for a part; note their places."""
        balances = 0
        for record in records:
            status = record.outcome.status
            self._tally.add(record)
            if status is Status.CANCELLED:  # it was never asked for, and is counted only
                report(status)
                continue
            key = key_of(record.wallet)
            places[key] = self._register.settle(key)
            is_safe = self._journal.secure(record, places[key])
            (report if is_safe else later.append)(status)
            balances += len(record.outcome.balances or ())
            yield record
            if len(places) >= PART_WALLETS or balances >= PART_BALANCES:
                return

    def _add(
        self, details: WalletDetails, places: dict[str, int], later: list[Status], report: _Report
    ) -> None:
        self._dataset.add(details, list(places.values()))
        self._journal.release(places)
        self._tally.parts += 1
        self._tally.balances += len(details.holdings)
        for status in later:
            report(status)
