"""`fetch_to_parquet`: wallets in, parts of a dataset out.

The order of operations: check a list (an iterator is read lazily), open the folder, make a part of
what an earlier run has left in its journal, and ask for what the folder lacks; a part is written
whenever there is enough for one, while the asking goes on and the next is filled.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, TypeAlias

from walletframe.address import lists
from walletframe.address.forms import WalletAddress, is_blank, read_wallet, shorten
from walletframe.bulk.dataset import Dataset, Register, Turn
from walletframe.bulk.files import key_of
from walletframe.bulk.journal import Journal
from walletframe.bulk.summary import GOES_ON, Tally, conclude
from walletframe.client import (
    Job,
    Policy,
    check_on_failure,
    counted,
    default_client,
    require_client,
)
from walletframe.disk import local_folder
from walletframe.errors import AddressError, FetchInterrupted, InputWarning
from walletframe.frameless import at_the_boundary
from walletframe.frames.assembly import assemble
from walletframe.frames.kept import names_to_keep
from walletframe.notice import notify
from walletframe.settings.values import require_service
from walletframe.walletfile import read_given
from walletframe.wire.outcome import Status

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    import pandas as pd

    from walletframe.address.forms import WalletLike
    from walletframe.address.lists import OnUnreadable, WalletsLike
    from walletframe.bulk.summary import FetchSummary
    from walletframe.client import Client, OnFailure, OpenProgress, Settled, Stream
    from walletframe.frames.assembly import WalletRecord
    from walletframe.frames.details import WalletDetails

PART_WALLETS, PART_BALANCES = 2_000, 200_000
_PORTION, _PORTION_S = 250, 0.2
_TICK_S, _TAKEN_S = 0.05, 0.01
_Wallets: TypeAlias = "list[WalletAddress] | Iterator[WalletAddress]"
_Report: TypeAlias = "Callable[[Status], None]"


@at_the_boundary
def fetch_to_parquet(  # noqa: PLR0913 - what a caller may wish
    wallets: WalletsLike | os.PathLike[str],
    folder: str | Path,
    *,
    keep: str | Sequence[str] = (),
    client: Client | None = None,
    progress: OpenProgress = None,
    on_failure: OnFailure = "warn",
    on_unreadable: OnUnreadable | None = None,
) -> FetchSummary:
    """Fetch more wallets than memory holds into a folder of Parquet files.

    The folder is written while the answers arrive. To resume, however the run ended, repeat the
    call: only the wallets that are not ok in the folder are requested. Wallets that are ok are
    never updated: for the holdings of another day, use another folder.

    Parameters
    ----------
    wallets : path, iterator, or anything that `fetch_wallets` takes
        A path, or a str that ends in ``.csv`` or ``.txt``, is a file: a CSV with the columns
        blockchain and address, or with one column of wallets; else one wallet a line, where #
        begins a comment; it may have 5 million lines and 256 million characters. Lists and files
        are checked before anything is asked. An iterator is consumed lazily.
    folder : str or Path
        A new or an empty folder, or one that an earlier call has begun.
    keep : str or list of str, optional
        Columns of a DataFrame or a CSV, such as ``["name", "owner"]``: what you know of the
        wallets, for `read_wallets` to put behind the columns of ``wallets``. What an earlier call
        kept stays, where this one has no other value for it.
    client : Client, optional
        The client that sends the requests; the default client if not given, see `configure`.
        Answers that are fresh in its cache are used; new ones are not kept there.
    progress : bool or callable, optional
        False hides the progress bar; a callable gets (done, total, counts by status), where the
        total of an iterator is None. Wallets that were ok in the folder before count as done.
    on_failure : {"warn", "raise", "ignore"}, default "warn"
        What to do if wallets are not ok.
    on_unreadable : {"raise", "drop"}, optional
        What to do with items that can't be read; empty ones are always skipped. Without it, a list
        or a file raises, and an iterator drops, with a warning and a count in the summary.

    Returns
    -------
    FetchSummary
        How many wallets are ok, and why the others are not.

    Raises
    ------
    ArgumentError
        If `client` is not a `Client`, or `wallets` have no columns to keep, or one of them has
        values of several types.
    AddressError
        Lists every wallet of a list or a file that can't be read; no request was sent. With
        ``on_unreadable="raise"``, the first of an iterator; what came before is in the folder.
    ColumnsError
        If a column to keep is missing.
    SettingsError
        If a request is needed and the key, its kind or its base address is not set, or if a column
        to keep has a name that walletframe or its files use, or holds lists.
    DatasetError
        If the folder is a URL, holds something else or another service's wallets, another run
        writes into it, or the disk is full. What was written before is whole.
    FetchError
        With ``on_failure="raise"``; its ``.details`` are the summary.
    FetchInterrupted
        After Ctrl-C or the notebook's stop button, carrying the summary as ``.details``; what was
        finished is in the folder.

    Warns
    -----
    FetchWarning
        With ``on_failure="warn"``, where wallets are not ok, and for an iterator's first item that
        is no wallet.
    AnswerWarning
        If the service sent wallets that were not requested, or balances can't be read.
    InputWarning
        If wallets of a list are repeated or left out, or a blockchain is unknown.

    See Also
    --------
    read_wallets : Gives the frames back.

    Notes
    -----
    Any pandas, DuckDB or polars opens the files, of up to 2,000 wallets or about 200,000 balances:

    - ``folder/wallets/*.parquet``, the wallets that are ok, with the columns of
      `WalletDetails.wallets` and ``position``, the place in the order asked;
    - ``folder/holdings/*.parquet``, what they hold, with the columns of `WalletDetails.holdings`:
      ``amount`` is decimal128(38, 18), the nearest where a token has more decimals and null where
      more than 20 digits stand before the point; ``amount_text`` beside it is exact;
    - ``folder/failed/*.parquet``, the wallets that were asked for and are not ok, with the columns
      of the first, brought up to date when a run ends. One never asked for is in no file;
    - ``folder/kept.parquet``, with `keep`: blockchain, address and the columns that were kept.

    Status and source are text, times UTC. Files of the first two never change, so that they can be
    read while a run goes on. What has arrived and is in no file yet is in ``folder/.walletframe``,
    and is written by the next call where a run was killed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from walletframe.service import sandbox
    >>> with (
    ...     TemporaryDirectory() as folder,
    ...     sandbox() as service,
    ...     service.client(cache=False) as client,
    ... ):
    ...     first = fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
    ...     again = fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
    >>> first.ok, first.resumed, again.ok, again.resumed
    (1, 0, 1, 1)
    """
    check_on_failure(on_failure)
    require_client(client)
    root, names, tally = local_folder(folder), names_to_keep(keep), Tally()
    lists.check_unreadable(on_unreadable or "drop")
    asked: _Wallets
    if isinstance(wallets, Iterator) and not names:
        leave_out = None if on_unreadable == "raise" else tally.leave_out
        asked, kept = lists.in_one_spelling(_streamed(wallets, leave_out)), None
    else:
        if isinstance(wallets, str) and wallets.lower().endswith((".csv", ".txt")):
            wallets = Path(wallets)
        reading = read_given(wallets, names)
        asked = lists.wallets_to_ask(reading, on_unreadable or "raise")
        kept = lists.distinct_labels(reading)
    summary = fetch_into(root, asked, client or default_client(), progress, tally, kept=kept)
    conclude(summary, on_failure)
    return summary


def fetch_into(  # noqa: PLR0913 - `fetch_to_parquet` is a function of as many
    folder: Path,
    wallets: _Wallets,
    client: Client,
    progress: OpenProgress,
    tally: Tally,
    *,
    kept: pd.DataFrame | None = None,
    places: Mapping[str, int] | None = None,
    cancel: Event | None = None,
    patience_s: float = 0.0,
) -> FetchSummary:
    """Run all of a fetch; raise FetchInterrupted after Ctrl-C, when all is written.

    For one of several runs of a list, `places` has those of its wallets in the whole list, by key;
    `cancel` ends it, and is set at its end, too. Another run that writes there is waited for.
    """
    service, cancel = require_service(client.settings), cancel or Event()
    whole = wallets if isinstance(wallets, list) else None  # distinct; a stream may repeat itself
    total = None if whole is None else len(whole)
    with ExitStack() as opened:
        dataset = opened.enter_context(Dataset(folder, service, patience_s, cancel))
        register = dataset.take_up(places)
        if kept is not None:
            dataset.keep(list(wallets), kept)
        journal = Journal(dataset.layout.inner, register.under_way, cancel)
        opened.callback(journal.close)
        tally.resumed = sum(key_of(wallet) in register.held for wallet in whole or ())
        run = _Run(dataset, register, journal, tally, cancel)
        policy = Policy(client.settings.expire_after_s, stale_if_error=False)
        with (
            closing(client.stream(policy, cancel, on_reply=journal.append)) as stream,
            counted(progress, total, done=tally.resumed) as count,
        ):
            to_close = opened.pop_all()
            job = Job(lambda report: run.write(stream, report, to_close))
            _, is_interrupted = job.attend(count, cancel, run.hand_over(job, wallets, count))
    stream.oddities.warn()
    summary = tally.summary(folder, service, len(register.met) if total is None else total)
    if is_interrupted:
        raise FetchInterrupted(summary, GOES_ON)
    return summary


def _streamed(
    items: Iterator[WalletLike], leave_out: Callable[[int, str, str], object] | None
) -> Iterator[WalletAddress]:
    """Read wallets one by one, and warn of the first whose blockchain is not known."""
    doubts = ""
    for place, item in enumerate(items):
        wallet = read_wallet(item)
        if isinstance(wallet, WalletAddress):
            if not doubts and (doubts := lists.doubts_about([wallet])):
                notify(doubts, InputWarning)
            yield wallet
        elif not is_blank(item):
            if leave_out is None:
                raise AddressError([(place, shorten(item), wallet)])
            leave_out(place, shorten(item), wallet)


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

    def hand_over(self, job: Job[None], wallets: _Wallets, count: _Report) -> Iterator[None]:
        """Hand the wallets over, portion by portion, and pause while there is one to be taken."""
        for portion in self._cut(wallets, count):
            self._portions.put(portion)
            # An interrupt between the steps of `Queue.put`, which waits, would leave its lock held
            # for ever.
            while self._portions.qsize() and not job.ended.is_set():
                yield
                time.sleep(_TAKEN_S)
            if job.ended.is_set():
                return
        self._portions.put(None)

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

    def write(self, stream: Stream, report: _Report, opened: ExitStack) -> None:
        """Run on the thread of its own; what was opened is closed when this ends.

        `report` gets each status once it would outlive a kill.
        """
        with opened:
            records = stream.records(self._handed_over(stream))
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
                    self._journal.end_segment()
                    written = pool.submit(self._add, details, places, later, report)
            self._journal.check()
            self._dataset.tidy()
            self._tally.key_refused = stream.key_refused

    def _handed_over(self, stream: Stream) -> Iterator[list[WalletAddress]]:
        """Hand out the portions, an empty one where there is none, until it makes no more sense."""
        while not (stream.key_refused or self._cancel.is_set()):
            portion: list[WalletAddress] | None = []
            with suppress(Empty):
                portion = self._portions.get(timeout=_TICK_S)
            if portion is None:
                return
            yield portion

    def _taken(
        self,
        records: Iterator[Settled | None],
        places: dict[str, int],
        later: list[Status],
        report: _Report,
    ) -> Iterator[WalletRecord]:
        """Take records, in any order, until there are enough for a part; note their places."""
        balances = 0
        for settled in records:
            if settled is None:
                continue
            record = settled.record
            status = record.outcome.status
            self._tally.add(record)
            if status is Status.CANCELLED:  # it was never asked for, and is counted only
                report(status)
                continue
            key = key_of(record.wallet)
            is_safe = self._journal.secure(record)
            places[key] = self._register.under_way.pop(key)
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
