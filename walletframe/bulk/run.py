"""`fetch_to_parquet`: wallets in, parts of a dataset out.

The order of operations: check a list (an iterator is read lazily), open the folder, write the
journal of an earlier run as a part, and request the wallets that the folder lacks. Whenever there
are enough answers for a part it is written, while requests continue and the next part is filled.
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
from walletframe.bulk.dataset import Dataset, InputAction, Register
from walletframe.bulk.files import key_of
from walletframe.bulk.journal import Journal
from walletframe.bulk.summary import RESUME_HINT, RunCounters, conclude
from walletframe.client import (
    Job,
    Policy,
    check_on_failure,
    default_client,
    require_client,
    status_counter,
)
from walletframe.disk import local_folder
from walletframe.errors import AddressError, FetchInterrupted, InputWarning
from walletframe.frameless import at_the_boundary
from walletframe.frames.assembly import assemble
from walletframe.frames.kept import names_to_keep
from walletframe.notice import notify
from walletframe.settings.values import require_service
from walletframe.walletfile import read_input
from walletframe.wire.outcome import Status

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    import pandas as pd

    from walletframe.address.forms import WalletLike
    from walletframe.address.lists import OnUnreadable, WalletsLike
    from walletframe.bulk.summary import FetchSummary
    from walletframe.client import Client, OnFailure, OpenProgress, Stream, WalletResult
    from walletframe.frames.assembly import WalletRecord
    from walletframe.frames.details import WalletDetails

PART_WALLETS, PART_BALANCES = 2_000, 200_000
_BATCH, _BATCH_S = 250, 0.2
_TICK_S, _YIELD_S = 0.05, 0.01
_Wallets: TypeAlias = "list[WalletAddress] | Iterator[WalletAddress]"
_Report: TypeAlias = "Callable[[Status], None]"


@at_the_boundary
def fetch_to_parquet(  # noqa: PLR0913 - options
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
        blockchain and address, or with one column of wallets; else a text with one wallet per line,
        and comments after #. A file may have 5 million lines and 256 million characters. Lists and
        files are checked before the first request. An iterator is consumed lazily.
    folder : str or Path
        A new or an empty folder, or the folder of an earlier call.
    keep : str or list of str, optional
        Columns of a DataFrame or a CSV, such as ``["name", "owner"]``, that `read_wallets` returns
        behind the columns of ``wallets``. Values of an earlier call stay, unless this call has new
        ones.
    client : Client, optional
        The client that sends the requests; the default client if not given, see `configure`.
        Answers that are fresh in its cache are used; new ones are not stored there.
    progress : bool or callable, optional
        False hides the progress bar; a callable gets (done, total, counts by status); the total of
        an iterator is None. Wallets that were ok in the folder before count as done.
    on_failure : {"warn", "raise", "ignore"}, default "warn"
        What to do if wallets are not ok.
    on_unreadable : {"raise", "drop"}, optional
        What to do with items that can't be read; empty ones are always skipped. Default: raise for
        a list or a file; drop items of an iterator, with a warning and a count in the summary.

    Returns
    -------
    FetchSummary
        How many wallets are ok, and why the others are not.

    Raises
    ------
    ArgumentError
        If `client` is not a `Client`, or `wallets` have no columns to keep, or a column to keep has
        values of several types.
    AddressError
        Lists every wallet of a list or a file that can't be read; no request was sent. With
        ``on_unreadable="raise"``, the first of an iterator; earlier wallets are in the folder.
    ColumnsError
        If a column to keep is missing.
    SettingsError
        If a request is needed and the key, its kind or its base address is not set, or if a column
        to keep has a name that walletframe or its files use, or holds lists.
    DatasetError
        If the folder is a URL, has other files or another service's wallets, another run writes
        into it, or the disk is full. Earlier parts are complete.
    FetchError
        With ``on_failure="raise"``; its ``.details`` are the summary.
    FetchInterrupted
        After Ctrl-C or the notebook's stop button; its ``.details`` are the summary. Finished
        wallets are in the folder.

    Warns
    -----
    FetchWarning
        With ``on_failure="warn"``, if wallets are not ok, and for an iterator's first item that is
        not a wallet.
    AnswerWarning
        If the service sent wallets that were not requested, or balances can't be read.
    InputWarning
        If wallets of a list are repeated or left out, or a blockchain is unknown.

    See Also
    --------
    read_wallets : Reads the folder as frames.

    Notes
    -----
    Any pandas, DuckDB or polars opens the files, of up to 2,000 wallets or about 200,000 balances:

    - ``folder/wallets/*.parquet``, the wallets that are ok, with the columns of
      `WalletDetails.wallets` and ``position``, the index in the order requested;
    - ``folder/holdings/*.parquet``, their holdings, with the columns of `WalletDetails.holdings`:
      ``amount`` is decimal128(38, 18), the nearest if a token has more decimals, null with more
      than 20 digits before the point; ``amount_text`` beside it is exact;
    - ``folder/failed/*.parquet``, the requested wallets that are not ok, with the columns of
      ``wallets``, updated when a run ends. A wallet that was never requested is in no file;
    - ``folder/kept.parquet``, with `keep`: blockchain, address and the columns to keep.

    Status and source are text, times UTC. Files of wallets and holdings never change, so that they
    can be read during a run. Answers that are in no file yet are in ``folder/.walletframe``; after
    a killed run, the next call writes them.

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
    root, names, counters = local_folder(folder), names_to_keep(keep), RunCounters()
    lists.check_on_unreadable(on_unreadable or "drop")
    requested: _Wallets
    if isinstance(wallets, Iterator) and not names:
        count_unreadable = None if on_unreadable == "raise" else counters.count_unreadable
        requested, kept = lists.unify_blockchains(_streamed(wallets, count_unreadable)), None
    else:
        if isinstance(wallets, str) and wallets.lower().endswith((".csv", ".txt")):
            wallets = Path(wallets)
        reading = read_input(wallets, names)
        requested, kept = lists.wallets_to_request(reading, on_unreadable or "raise")
    summary = fetch_into(root, requested, client or default_client(), progress, counters, kept=kept)
    conclude(summary, on_failure)
    return summary


def fetch_into(  # noqa: PLR0913 - options
    folder: Path,
    wallets: _Wallets,
    client: Client,
    progress: OpenProgress,
    counters: RunCounters,
    *,
    kept: pd.DataFrame | None = None,
    positions: Mapping[str, int] | None = None,
    cancel: Event | None = None,
    patience_s: float = 0.0,
) -> FetchSummary:
    """Fetch into a folder; raise FetchInterrupted after Ctrl-C, when all answers are written.

    For a shard, `positions` has each wallet's position in the whole list, by key. `cancel` ends the
    run, and is set when it ends. Another run that writes there is waited for, `patience_s` at most.
    """
    service, cancel = require_service(client.settings), cancel or Event()
    whole = wallets if isinstance(wallets, list) else None  # distinct; a stream may repeat itself
    total = None if whole is None else len(whole)
    with ExitStack() as opened:
        dataset = opened.enter_context(Dataset(folder, service, patience_s, cancel))
        register = dataset.recover(positions)
        if kept is not None:
            dataset.write_kept(list(wallets), kept)
        journal = Journal(dataset.layout.inner, register.pending, cancel)
        opened.callback(journal.close)
        counters.resumed = sum(key_of(wallet) in register.stored for wallet in whole or ())
        run = _Run(dataset, register, journal, counters, cancel)
        policy = Policy(client.settings.expire_after_s, stale_if_error=False)
        with (
            closing(client.stream(policy, cancel, on_reply=journal.append)) as stream,
            status_counter(progress, total, done=counters.resumed) as count,
        ):
            to_close = opened.pop_all()
            job = Job(lambda report: run.write(stream, report, to_close))
            _, is_interrupted = job.wait_with_progress(count, cancel, run.feed(job, wallets, count))
    stream.oddities.warn()
    summary = counters.summary(folder, service, len(register.seen) if total is None else total)
    if is_interrupted:
        raise FetchInterrupted(summary, RESUME_HINT)
    return summary


def _streamed(
    items: Iterator[WalletLike], count_unreadable: Callable[[int, str, str], object] | None
) -> Iterator[WalletAddress]:
    """Read wallets one by one, and warn of the first unknown blockchain."""
    doubts = ""
    for position, item in enumerate(items):
        wallet = read_wallet(item)
        if isinstance(wallet, WalletAddress):
            if not doubts and (doubts := lists.unknown_blockchains_message([wallet])):
                notify(doubts, InputWarning)
            yield wallet
        elif not is_blank(item):
            if count_unreadable is None:
                raise AddressError([(position, shorten(item), wallet)])
            count_unreadable(position, shorten(item), wallet)


class _Run:
    """The two threads of a run."""

    # The caller's thread reads the caller's wallets and draws the bar: a database cursor works only
    # there, an interrupt ends what blocks there, and an error of a stream has the caller's own
    # traceback. The worker thread does all else, so that an interrupt never stops a write halfway.
    # It gets wallets in batches, and reports statuses to its job.

    def __init__(
        self,
        dataset: Dataset,
        register: Register,
        journal: Journal,
        counters: RunCounters,
        cancel: Event,
    ) -> None:
        self._dataset, self._register, self._journal = dataset, register, journal
        self._counters, self._cancel = counters, cancel
        self._batches: SimpleQueue[list[WalletAddress] | None] = SimpleQueue()  # None: no more

    def feed(self, job: Job[None], wallets: _Wallets, count: _Report) -> Iterator[None]:
        """Queue the wallets for the worker thread in batches; yield while one waits there."""
        for batch in self._split_batches(wallets, count):
            self._batches.put(batch)
            # `Queue.put` would wait by itself, but an interrupt in it could leave its lock held for
            # ever.
            while self._batches.qsize() and not job.ended.is_set():
                yield
                time.sleep(_YIELD_S)
            if job.ended.is_set():
                return
        self._batches.put(None)

    def _split_batches(self, wallets: _Wallets, count: _Report) -> Iterator[list[WalletAddress]]:
        """Yield the wallets to request in batches, in small ones if the input is slow."""
        batch: list[WalletAddress] = []
        begun = time.monotonic()
        for wallet in wallets:
            action = self._register.classify(key_of(wallet))
            if action is InputAction.REQUEST:
                batch.append(wallet)
            elif action is InputAction.STORED and not isinstance(wallets, list):  # not counted yet
                self._counters.resumed += 1
                count(Status.OK)
            if len(batch) >= _BATCH or (batch and time.monotonic() - begun > _BATCH_S):
                yield batch
                batch, begun = [], time.monotonic()
        if batch:
            yield batch

    def write(self, stream: Stream, report: _Report, opened: ExitStack) -> None:
        """Fetch and write; report statuses once records would survive a kill; close `opened`."""
        with opened:
            records = stream.records(self._queued_batches(stream))
            with ThreadPoolExecutor(1, thread_name_prefix="walletframe-parts") as pool:
                written: Future[None] | None = None
                while True:
                    positions: dict[str, int] = {}
                    later: list[Status] = []
                    details = assemble(self._part_records(records, positions, later, report))
                    if written is not None:
                        written.result()
                    if not positions:
                        break
                    self._journal.end_segment()
                    written = pool.submit(self._write_part, details, positions, later, report)
            self._journal.check()
            self._dataset.compact_failed()
            self._counters.key_refused = stream.key_refused

    def _queued_batches(self, stream: Stream) -> Iterator[list[WalletAddress]]:
        """Yield queued batches, or an empty one, until there are no more or the run must end."""
        while not (stream.key_refused or self._cancel.is_set()):
            batch: list[WalletAddress] | None = []
            with suppress(Empty):
                batch = self._batches.get(timeout=_TICK_S)
            if batch is None:
                return
            yield batch

    def _part_records(
        self,
        records: Iterator[WalletResult | None],
        positions: dict[str, int],
        later: list[Status],
        report: _Report,
    ) -> Iterator[WalletRecord]:
        """Yield records, in any order, until there are enough for a part; note their positions."""
        balances = 0
        for settled in records:
            if settled is None:
                continue
            record = settled.record
            status = record.outcome.status
            self._counters.add(record)
            if status is Status.CANCELLED:  # it was never requested: only count it
                report(status)
                continue
            key = key_of(record.wallet)
            is_safe = self._journal.ensure_recorded(record)
            positions[key] = self._register.pending.pop(key)
            (report if is_safe else later.append)(status)
            balances += len(record.outcome.balances or ())
            yield record
            if len(positions) >= PART_WALLETS or balances >= PART_BALANCES:
                return

    def _write_part(
        self, part: WalletDetails, positions: dict[str, int], later: list[Status], report: _Report
    ) -> None:
        self._dataset.write_part(part, list(positions.values()))
        self._journal.release(positions)
        self._counters.parts += 1
        self._counters.balances += len(part.holdings)
        for status in later:
            report(status)
