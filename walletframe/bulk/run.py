"""The function `fetch_to_parquet`, which fetches wallets into the parts of a dataset.

A run checks the list, opens the folder, writes an earlier run's journal as a part, and requests the
missing wallets. Iterators are read lazily. Requests continue while a part is written.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from queue import Empty, SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from walletframe.address import forms, lists
from walletframe.address.formats import malformed_reason
from walletframe.address.forms import WalletAddress, WalletLike
from walletframe.bulk.dataset import DatasetWriter, WalletRegister
from walletframe.bulk.files import wallet_key
from walletframe.bulk.journal import Journal
from walletframe.bulk.summary import RESUME_HINT, FetchSummary, RunCounters, warn_or_raise
from walletframe.client import (
    CachePolicy,
    Job,
    check_on_failure,
    default_client,
    require_client,
    status_counter,
)
from walletframe.disk import local_path
from walletframe.errors import AddressError, FetchInterrupted, InputWarning
from walletframe.frames.assembly import WalletRecord, assemble
from walletframe.frames.extra_columns import check_keep
from walletframe.notice import notify, warn_never_raise
from walletframe.settings.values import require_service
from walletframe.text import safe_line
from walletframe.tracebacks import strip_address_tracebacks
from walletframe.walletfile import read_input
from walletframe.wire.outcome import Status

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import pandas as pd

    from walletframe.address.lists import OnUnreadable, WalletsLike
    from walletframe.client import BulkProgress, Client, OnFailure, ResultStream, WalletResult
    from walletframe.frames.details import WalletDetails

MAX_WALLETS_PER_PART, MAX_BALANCES_PER_PART = 2_000, 200_000
_BATCH_WALLETS, _BATCH_S = 250, 0.2
_TICK_S, _YIELD_S = 0.05, 0.01
_Wallets: TypeAlias = "list[WalletAddress] | Iterator[WalletAddress]"
_Report: TypeAlias = "Callable[[Status], None]"


@strip_address_tracebacks
def fetch_to_parquet(  # noqa: PLR0913 - users pass each option by name
    wallets: WalletsLike | os.PathLike[str],
    folder: str | Path,
    *,
    keep: str | Sequence[str] = (),
    client: Client | None = None,
    progress: BulkProgress = None,
    on_failure: OnFailure = "warn",
    on_unreadable: OnUnreadable | None = None,
    fix: bool = False,
) -> FetchSummary:
    """Fetch wallets, even more than fit in memory, into a folder of Parquet files.

    The folder is written while the answers arrive, and `read_wallets` reads the folder. To resume a
    run, repeat the call: wallets that are ok in the folder are not requested again. Use a new
    folder for each day's holdings.

    Parameters
    ----------
    wallets : path, iterator, or anything that `fetch_wallets` accepts
        The wallets. Lists and files are checked before the first request, iterators during the run.
    folder : str or Path
        A new or an empty folder, or the folder of an earlier call.
    keep : str or list of str, optional
        Columns of a DataFrame or a CSV file, such as ``["name", "owner"]``, to save in the folder.
        `read_wallets` adds the columns to ``wallets``. Missing values don't replace earlier values.
    client : Client, optional
        As for `fetch_wallets`. Fresh answers in the cache are used, but no answers are stored.
    progress : bool or callable, optional
        As for `fetch_wallets`. Wallets in the folder count as done. An iterator's total is None.
    on_failure, on_unreadable, fix : optional
        As for `fetch_wallets`, but by default, unreadable items of an iterator are dropped.

    Returns
    -------
    FetchSummary
        The number of wallets that are ok, and the reasons for failures.

    Raises
    ------
    ArgumentError, AddressError, ColumnsError, SettingsError
        In the same cases as `fetch_wallets`. Also if a column in `keep` has values of several
        types, or a name that the files use. Wallets before an unreadable item are saved.
    DatasetError
        - If the folder is a URL, has files of other programs, or wallets of a different service.
        - If another run is writing to the folder.
        - If the disk is full.

        All written parts are complete.
    FetchError
        If wallets are not ok and ``on_failure="raise"``. The attribute ``details`` is the summary.
    FetchInterrupted
        After Ctrl-C or the notebook's stop button. The attribute ``details`` is the summary.

    Warns
    -----
    FetchWarning, AnswerWarning, InputWarning
        As `fetch_wallets`, and a FetchWarning for the first dropped item of an iterator.

    Notes
    -----
    Other programs can read the files. A file has up to 2,000 wallets or about 200,000 balances:

    - ``folder/wallets/*.parquet``: the wallets that are ok, with the columns of
      `WalletDetails.wallets` and ``position``, the wallet's position in the input.
    - ``folder/holdings/*.parquet``: the holdings of these wallets, with the columns of
      `WalletDetails.holdings`. ``amount`` is decimal128(38, 18). It is rounded to 18 decimals,
      and null for more than 20 digits before the point. ``amount_text`` is exact.
    - ``folder/failed/*.parquet``: the requested wallets that are not ok, with the columns of
      ``wallets``. These files are updated when a run ends.
    - ``folder/kept.parquet``, if `keep` is passed: blockchain, address and the columns in `keep`.

    Status and source are text, and times are in UTC. Files of wallets and holdings never change, so
    you can read the files during a run. ``folder/.walletframe`` has answers that are not in these
    files yet. If a run was killed, the next call writes these answers.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import walletframe as wf
    >>> with TemporaryDirectory() as folder, wf.sandbox() as service:
    ...     with service.client(cache=False) as client:
    ...         first = wf.fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
    ...         again = wf.fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
    >>> first.ok_count, first.resumed, again.ok_count, again.resumed
    (1, 0, 1, 1)
    """
    check_on_failure(on_failure)
    require_client(client)
    root, names, counters = local_path(folder), check_keep(keep), RunCounters()
    lists.check_on_unreadable(on_unreadable or "drop")
    requested: _Wallets
    if isinstance(wallets, Iterator) and not names:
        requested = lists.unify_unknown_blockchain_spellings(
            _parse_items(wallets, on_unreadable or "drop", counters.count_unreadable, fix=fix)
        )
        extra_columns = None
    else:
        parsed, choice = read_input(wallets, names), on_unreadable or "raise"
        requested, extra_columns = lists.wallets_and_extra_columns(parsed, choice, fix=fix)
    summary = fetch_into(
        root, requested, client or default_client(), progress, counters, extra_columns=extra_columns
    )
    warn_or_raise(summary, on_failure)
    return summary


def fetch_into(  # noqa: PLR0913 - `fetch_to_parquet` and shards of a cluster set different options
    folder: Path,
    wallets: _Wallets,
    client: Client,
    progress: BulkProgress,
    counters: RunCounters,
    *,
    extra_columns: pd.DataFrame | None = None,
    positions: Mapping[str, int] | None = None,
    cancel: Event | None = None,
    lock_timeout_s: float = 0.0,
) -> FetchSummary:
    """Fetch into a folder. After Ctrl-C, write all answers, and raise a FetchInterrupted.

    For one shard of a larger run, `positions` maps wallet keys to positions in the complete list.
    Set the event `cancel` to end the run. The run also sets `cancel` when it ends.
    """
    service, cancel = require_service(client.settings), cancel or Event()
    distinct = wallets if isinstance(wallets, list) else None  # an iterator may have duplicates
    total = None if distinct is None else len(distinct)
    with ExitStack() as resources:
        dataset = resources.enter_context(DatasetWriter(folder, service, lock_timeout_s, cancel))
        register = dataset.recover_journal(positions)
        expected = 0 if distinct is None else register.count_including(map(wallet_key, distinct))
        dataset.mark_unfinished(expected)
        if extra_columns is not None:
            dataset.merge_extra_columns(list(wallets), extra_columns)
        journal = Journal(dataset.paths.hidden, register.pending, cancel)
        resources.callback(journal.close)
        counters.resumed = sum(wallet_key(wallet) in register.stored for wallet in distinct or ())
        bulk_run = _BulkRun(dataset, register, journal, counters, cancel, SimpleQueue())
        policy = CachePolicy(stale_if_error=False)
        with (
            closing(client._open_result_stream(policy, cancel, on_reply=journal.append)) as stream,  # noqa: SLF001 - users have no use for it
            status_counter(progress, total, done=counters.resumed) as on_status,
        ):
            worker_resources = resources.pop_all()
            job = Job(lambda report: bulk_run.write_parts(stream, report, worker_resources))
            steps = bulk_run.queue_wallets(job, wallets, on_status)
            _, is_interrupted = job.run_with_progress(on_status, cancel, steps)
    stream.problems.warn()
    summary = counters.summary(folder, service, len(register.seen) if total is None else total)
    if is_interrupted:
        raise FetchInterrupted(summary, RESUME_HINT)
    return summary


def _parse_items(
    items: Iterator[WalletLike],
    on_unreadable: OnUnreadable,
    count_unreadable: Callable[[int, str, str], object],
    *,
    fix: bool,
) -> Iterator[WalletAddress]:
    """Parse wallets one by one. Warn once about each kind of typo and each replaced alias."""
    messages, replaced = [*lists.TYPO_CHECKS], {""}
    for position, item in enumerate(items):
        wallet, alias = (
            forms.wallet_or_reason_and_alias(item) if fix else (forms.wallet_or_reason(item), "")
        )
        is_read = isinstance(wallet, WalletAddress)
        if isinstance(wallet, WalletAddress) and on_unreadable != "ask":
            wallet = malformed_reason(wallet) or wallet
        if isinstance(wallet, WalletAddress):
            if alias not in replaced:
                replaced.add(alias)
                text = f"replaced {safe_line(alias)!r} with {wallet.blockchain}"
                warn_never_raise(text, InputWarning)
            for message_of in [*messages]:
                if message := message_of([wallet]):
                    messages.remove(message_of)
                    notify(message, InputWarning)
            yield wallet
        elif not forms.is_blank(item):
            problem = position, forms.truncated_text(item), wallet
            if on_unreadable != "drop":
                raise AddressError([problem], malformed=is_read)
            count_unreadable(*problem)


class _BulkRun(NamedTuple):
    """A run in two threads. The caller's thread reads the input, and a worker thread fetches."""

    # The caller's thread iterates over the wallets and draws the progress bar. There, an iterator
    # can use a database cursor, an interrupt ends a blocking read, and an error has the caller's
    # traceback. The worker thread gets batches of wallets. An interrupt never stops its writes.

    dataset: DatasetWriter
    register: WalletRegister
    journal: Journal
    counters: RunCounters
    cancel: Event
    batches: SimpleQueue[list[WalletAddress] | None]  # None marks the end

    def queue_wallets(self, job: Job[None], wallets: _Wallets, report: _Report) -> Iterator[None]:
        """Queue batches for the worker thread. Yield while a batch waits, to show progress."""
        for batch in self._split_batches(wallets, report):
            self.batches.put(batch)
            # The queue is unbounded: an interrupt in a blocking `put` could leave a lock held.
            while self.batches.qsize() and not job.ended.is_set():
                yield
                time.sleep(_YIELD_S)
            if job.ended.is_set():
                return
        self.batches.put(None)

    def _split_batches(self, wallets: _Wallets, report: _Report) -> Iterator[list[WalletAddress]]:
        """Yield batches of the wallets to request. If the input is slow, batches are small."""
        batch: list[WalletAddress] = []
        started_at = time.monotonic()
        for wallet in wallets:
            if (kind := self.register.classify_next(wallet_key(wallet))) == "request":
                batch.append(wallet)
            # A stored wallet of an iterator was not counted at the start of the run.
            elif kind == "stored" and not isinstance(wallets, list):
                self.counters.resumed += 1
                report(Status.OK)
            if len(batch) >= _BATCH_WALLETS or (batch and time.monotonic() - started_at > _BATCH_S):
                yield batch
                batch, started_at = [], time.monotonic()
        if batch:
            yield batch

    def write_parts(self, stream: ResultStream, report: _Report, resources: ExitStack) -> None:
        """Write all parts. Report a wallet when its record is in the journal or in a part."""
        with resources:
            records = stream.results(self._queued_or_empty_batches(stream))
            with ThreadPoolExecutor(1, thread_name_prefix="walletframe-parts") as pool:
                written: Future[None] | None = None
                while True:
                    positions: dict[str, int] = {}
                    delayed: list[Status] = []
                    details = assemble(self._part_records(records, positions, delayed, report))
                    if written is not None:
                        written.result()
                    if not positions:
                        break
                    self.journal.end_segment()
                    written = pool.submit(self._write_part, details, positions, delayed, report)
            self.journal.raise_write_error()
            self.dataset.merge_failed_files()
            if not (stream.key_rejected or self.cancel.is_set()):
                self.dataset.mark_if_finished(self.register.count_including(self.register.seen))
            self.counters.key_rejected = stream.key_rejected

    def _queued_or_empty_batches(self, stream: ResultStream) -> Iterator[list[WalletAddress]]:
        """Yield queued batches until the run ends. If the queue is empty, yield an empty batch."""
        while not (stream.key_rejected or self.cancel.is_set()):
            batch: list[WalletAddress] | None = []
            with suppress(Empty):
                batch = self.batches.get(timeout=_TICK_S)
            if batch is None:
                return
            yield batch

    def _part_records(
        self,
        results: Iterator[WalletResult | None],
        positions: dict[str, int],
        delayed: list[Status],
        report: _Report,
    ) -> Iterator[WalletRecord]:
        """Yield the records of one part. Add the position of each wallet to `positions`."""
        balances = 0
        for record in (result.record for result in results if result is not None):
            status = record.outcome.status
            self.counters.count_record(record)
            if status is Status.CANCELLED:  # never requested
                report(status)
                continue
            key = wallet_key(record.wallet)
            is_recorded = self.journal.ensure_recorded(record)
            positions[key] = self.register.pending.pop(key)
            (report if is_recorded else delayed.append)(status)
            balances += len(record.outcome.balances or ())
            yield record
            if len(positions) >= MAX_WALLETS_PER_PART or balances >= MAX_BALANCES_PER_PART:
                return

    def _write_part(
        self, part: WalletDetails, positions: dict[str, int], delayed: list[Status], report: _Report
    ) -> None:
        self.dataset.write_part(part, list(positions.values()))
        self.journal.mark_written(positions)
        self.counters.parts += 1
        self.counters.balances += len(part.holdings)
        for status in delayed:
            report(status)
