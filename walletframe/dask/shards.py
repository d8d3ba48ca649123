"""Fetch wallets in shards: subsets of the wallets, each with its own folder.

A hash of the wallet selects the shard, and a marker file stores the number of shards. So a wallet
is always in the same shard. Tasks don't contain the API key: workers read it from the environment.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from queue import Empty, SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4
from zlib import crc32

import distributed
import numpy as np
from distributed import CancelledError, KilledWorker, get_worker

from walletframe.bulk.files import Paths, as_dataset_errors, read_or_write_marker, wallet_key
from walletframe.bulk.run import fetch_into
from walletframe.bulk.summary import RESUME_HINT, FetchSummary, RunCounters
from walletframe.client import Client
from walletframe.dask.rate import RateLimiterPlugin, WorkerRateLimiter
from walletframe.disk import create_private_folder, file_lock
from walletframe.errors import ClusterError, DatasetError, SettingsError
from walletframe.numerals import counted_noun
from walletframe.settings.values import Settings, add_env_key, endpoint_and_key
from walletframe.wire.outcome import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    import pandas as pd

    from walletframe.address.forms import WalletAddress

LOCK_TIMEOUT_S = 120.0  # network drives release a dead machine's locks sooner
_REPORT_INTERVAL_S = 0.5
_TICK_S = 0.2
_MAX_NAMED = 10
_running: Final[dict[Event, str]] = {}  # the event that cancels a shard: the name of the fetch
_cancelled: Final[set[str]] = set()  # names of fetches


@dataclass(frozen=True, slots=True, repr=False)
class Shard:
    """The wallets and the folder of one task."""

    root: Path
    wallets: list[WalletAddress]
    positions: list[int]  # of the wallets in the complete list
    extra_columns: pd.DataFrame | None

    def __repr__(self) -> str:
        return f"<{self.root.name}: {counted_noun(len(self.wallets), 'wallet')}>"


def claim_folder(root: Path, service: str, shards: int) -> None:
    """Write the marker file. Raise an error if an earlier file has different values."""
    paths = Paths(root)
    marker = paths.hidden / "shards.json"
    with as_dataset_errors(root):
        create_private_folder(paths.hidden)
        with file_lock(paths.hidden / "shards.lock"):  # the first caller sets the number
            if not marker.exists():
                paths.require_empty("that of an earlier fetch on a cluster")
            existing = read_or_write_marker(marker, service=service, shards=shards)["shards"]
    if existing != shards:
        raise DatasetError(
            f"{root} has {existing} shards, not {shards}, so all wallets would be requested again",
            hint=f"pass shards={existing}, or use another folder",
        )


def split_into_shards(
    root: Path, wallets: list[WalletAddress], extra_columns: pd.DataFrame | None, shards: int
) -> list[Shard]:
    """Split distinct wallets into nonempty shards. For no wallets, return one empty shard."""
    positions_by_shard: dict[int, list[int]] = defaultdict(list)
    for position, wallet in enumerate(wallets):
        shard = crc32(wallet_key(wallet).encode("utf-8", "surrogatepass")) % shards
        positions_by_shard[shard].append(position)
    nonempty: list[Shard] = []
    for number, positions in sorted(positions_by_shard.items()) or [(0, [])]:
        chosen, extra = [wallets[position] for position in positions], extra_columns
        if extra is not None:
            extra = extra.take(np.array(positions)).reset_index(drop=True)
        nonempty.append(Shard(root / f"shard-{number:03}", chosen, positions, extra))
    return nonempty


def fetch_shards(
    cluster: distributed.Client,
    root: Path,
    shards: list[Shard],
    settings: Settings,
    summaries: dict[str, FetchSummary],
    display: AbstractContextManager[Callable[..., object]],
) -> bool:
    """Fetch shards, and add each summary to `summaries`. Return whether Ctrl-C ended the fetch."""
    name = f"walletframe-{uuid4().hex}"
    _set_up_cluster(cluster, root, settings, name)
    pending: set[distributed.Future[FetchSummary]] = {
        cluster.submit(fetch_shard, each, settings, name, key=f"{name}-{each.root.name}")
        for each in shards
    }
    queue: SimpleQueue[tuple[float, dict[str, Any]]] = SimpleQueue()
    reports: dict[str, dict[str, Any]] = {}  # last report of each shard
    cluster.subscribe_topic(name, queue.put)
    try:
        with display as show:
            while pending:
                reports |= {report["shard"]: report for report in _drain_reports(queue)}
                for future in [each for each in pending if each.done()]:
                    summary = _shard_summary(future)
                    counts = Counter({Status.OK.value: summary.resumed}) + Counter(summary.statuses)
                    done = {"counts": counts, "before": summary.resumed, "worker": None}
                    reports[summary.folder.name] = done
                    summaries[summary.folder.name] = summary
                    pending.discard(future)  # frees the shard's wallets on the worker
                    if summary.key_rejected:
                        cluster.run(cancel_worker_shards, name, on_error="ignore")
                counts = Counter()
                for report in reports.values():
                    counts.update(report["counts"])
                workers = {report["worker"] for report in reports.values()} - {None}
                before = sum(report["before"] for report in reports.values())
                show(counts, before, workers=len(workers))
    except BaseException as fault:
        with suppress(Exception):  # an error of the scheduler or a shard was already raised
            if cluster.status == "running":
                cluster.run(cancel_worker_shards, name, on_error="ignore")
                distributed.wait(pending)  # until no worker writes
        if not isinstance(fault, KeyboardInterrupt):
            raise
        finished = [future.result() for future in pending if future.status == "finished"]
        summaries |= {summary.folder.name: summary for summary in finished}
        return True
    finally:
        with suppress(Exception):  # if the scheduler is lost, an error was already raised
            cluster.unsubscribe_topic(name)
    return False


def require_cluster() -> distributed.Client:
    """Return the current Dask client. Raise an error if there is no client or no worker."""
    try:
        cluster: distributed.Client = distributed.default_client()
    except ValueError:
        raise ClusterError(
            "there is no Dask cluster",
            hint="create a client: distributed.Client(…) with the scheduler's address, or "
            "distributed.Client() for workers on this machine",
        ) from None
    if not cluster.nthreads():  # tasks would wait forever
        hint = "start workers, and call client.wait_for_workers(1) before the fetch"
        raise ClusterError("the cluster has no workers", hint)
    return cluster


def _set_up_cluster(cluster: distributed.Client, root: Path, settings: Settings, name: str) -> None:
    """Start the rate limiter, and raise an error if a worker can't fetch."""
    required = version("walletframe")
    try:
        cluster.register_plugin(RateLimiterPlugin(required))
    except Exception as fault:  # a scheduler without walletframe may raise any exception
        raise ClusterError(
            "the rate limiter can't be started on the Dask scheduler, so no request was sent: "
            f"{fault}",
            hint=f'install "walletframe[dask]=={required}" on the scheduler',
        ) from fault
    probe, lines = Paths(root).hidden / name, []
    with as_dataset_errors(root):
        try:
            probe.touch(mode=0o600)
            problems = cluster.run(worker_problem, required, settings, probe, on_error="return")
            for worker, problem in problems.items():
                text = problem
                if isinstance(problem, Exception):
                    text = f"the worker can't run walletframe: {problem}"
                elif not problem and not _probe_path_of_worker(probe, worker).exists():
                    text = f"the files that it writes to {root} are not visible here"
                if text:
                    lines.append(f"\n  {worker}: {text}")
        finally:
            for path in probe.parent.glob(f"{name}*"):
                path.unlink(missing_ok=True)
    if lines:
        more = f"\n  and {len(lines) - _MAX_NAMED:,} more" if len(lines) > _MAX_NAMED else ""
        raise ClusterError(
            f"{len(lines):,} of {len(problems):,} workers can't fetch, so no request was sent:"
            f"{''.join(lines[:_MAX_NAMED])}{more}",
            hint=f"each worker needs walletframe {required}, an API key for {settings.endpoint} in "
            f"the variable WALLETFRAME_API_KEY, and write access to {root}; this folder must be on "
            "a drive that all workers and this machine share",
        )


def _drain_reports(queue: SimpleQueue[tuple[float, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    with suppress(Empty):
        yield queue.get(timeout=_TICK_S)[1]
        while True:
            yield queue.get_nowait()[1]


def _shard_summary(future: distributed.Future[FetchSummary]) -> FetchSummary:
    try:
        return future.result()
    except CancelledError:
        raise ClusterError(
            "the scheduler, or the connection to the scheduler, is lost",
            f"start the scheduler again; {RESUME_HINT}",
        ) from None
    except KilledWorker as fault:
        workers = counted_noun(fault.allowed_failures + 1, "worker")
        raise ClusterError(
            f"{workers} died while fetching the same shard; the last one was "
            f"{fault.last_worker.address}",
            hint=f"read the worker's log: perhaps the memory was full; {RESUME_HINT}",
        ) from None


# The functions below run on workers.


def worker_problem(required_version: str, settings: Settings, probe: Path, dask_worker: Any) -> str:
    """Return why this worker can't fetch, or "" after writing a file beside `probe`."""
    if (installed := version("walletframe")) != required_version:
        return f"the worker runs walletframe {installed}, but this machine runs {required_version}"
    try:
        endpoint_and_key(add_env_key(settings))
        probe.read_bytes()
        _probe_path_of_worker(probe, dask_worker.address).touch(mode=0o600)
    except SettingsError as fault:
        return f"in its environment, {str(fault).partition(chr(10))[0]}"
    except OSError as fault:
        return f"the worker can't access your machine's folder {probe.parents[1]}: {fault}"
    return ""


def _probe_path_of_worker(probe: Path, address: str) -> Path:
    suffix = "".join(char if char.isalnum() else "-" for char in address)
    return probe.with_name(f"{probe.name}-{suffix}")


def fetch_shard(shard: Shard, settings: Settings, fetch_name: str) -> FetchSummary:
    """Fetch the unfinished wallets of a shard, and report the progress to the cluster."""
    worker, counters = get_worker(), RunCounters()
    reported_at = 0.0

    def report_progress(_done: int, _total: int | None, counts: Mapping[str, int]) -> None:
        nonlocal reported_at
        if time.monotonic() - reported_at >= _REPORT_INTERVAL_S:
            reported_at = time.monotonic()
            event = {"shard": shard.root.name, "worker": worker.address, "before": counters.resumed}
            worker.log_event(fetch_name, event | {"counts": dict(counts)})

    with Client(add_env_key(settings)) as client, _registered_cancel_event(fetch_name) as cancel:
        client._make_limiter = partial(WorkerRateLimiter, worker=worker)  # noqa: SLF001 - only here is the limiter replaced, so Client has no public option for it
        return fetch_into(
            shard.root,
            shard.wallets,
            client,
            report_progress,
            counters,
            extra_columns=shard.extra_columns,
            positions=dict(zip(map(wallet_key, shard.wallets), shard.positions, strict=True)),
            cancel=cancel,
            lock_timeout_s=LOCK_TIMEOUT_S,
        )


@contextmanager
def _registered_cancel_event(fetch_name: str) -> Iterator[Event]:
    cancel = Event()
    _running[cancel] = fetch_name
    try:
        if fetch_name in _cancelled:
            cancel.set()
        yield cancel
    finally:
        del _running[cancel]


def cancel_worker_shards(fetch_name: str) -> None:
    """Cancel the running and the future shards of a fetch on this worker."""
    _cancelled.add(fetch_name)
    for cancel, fetch in [*_running.items()]:
        if fetch == fetch_name:
            cancel.set()
