"""Shards: subsets of the wallets, chosen by a hash of the address, each with its own folder.

The number of shards is in a marker, so that each wallet stays in its shard. A fetch first checks
each worker; then each shard is a task, and this module shows the progress that tasks report.
Workers get wallets, and settings without the key.
"""
# FOLDER/.walletframe/shards.json      the format, the service, and the number of shards
# FOLDER/.walletframe/shards.lock      held while the marker is written
# FOLDER/shard-000, shard-001, …       each the folder of a bulk run

from __future__ import annotations

import time
from collections import Counter, defaultdict
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from queue import Empty, SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from uuid import uuid4
from zlib import crc32

import distributed
import numpy as np
from distributed import CancelledError, KilledWorker, get_worker

from walletframe.bulk.files import Layout, dataset_errors, key_of, write_marker
from walletframe.bulk.run import fetch_into
from walletframe.bulk.summary import RESUME_HINT, RunCounters
from walletframe.client import Client
from walletframe.dask.pace import ClusterPacer, PaceKeeper
from walletframe.disk import locked, private_folder
from walletframe.errors import ClusterError, DatasetError, SettingsError
from walletframe.numerals import counted_noun
from walletframe.settings.values import require_endpoint, with_own_key
from walletframe.wire.outcome import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    import pandas as pd

    from walletframe.address.forms import WalletAddress
    from walletframe.bulk import FetchSummary
    from walletframe.settings.values import Settings

    Futures: TypeAlias = set[distributed.Future[FetchSummary]]

LOCK_TIMEOUT_S = 120.0  # longer than a network drive keeps the locks of a dead machine
_REPORT_S = 0.5
_TICK_S = 0.2
_MAX_NAMED = 10
_running: Final[dict[Event, str]] = {}  # the event that cancels a shard, and its fetch
_cancelled: Final[set[str]] = set()  # fetches


@dataclass(frozen=True, slots=True, repr=False)
class Shard:
    """The input of one task."""

    root: Path
    wallets: list[WalletAddress]
    positions: list[int]  # of the wallets in the whole list
    kept: pd.DataFrame | None

    def __repr__(self) -> str:
        return f"<{self.root.name}: {counted_noun(len(self.wallets), 'wallet')}>"


def claim(root: Path, service: str, shards: int) -> None:
    """Write the marker of a fetch into shards; raise if the folder has another use."""
    layout = Layout(root)
    marker = layout.inner / "shards.json"
    with dataset_errors(root):
        private_folder(layout.inner)
        with locked(layout.inner / "shards.lock"):  # of several callers, the first one decides
            if not marker.exists():
                layout.require_empty("that of an earlier fetch on a cluster")
            existing = write_marker(marker, service=service, shards=shards)["shards"]
    if existing != shards:
        raise DatasetError(
            f"{root} is split into {existing} shards, not {shards}: its wallets would be requested "
            "again",
            hint=f"give shards={existing}, or another folder",
        )


def split_into_shards(
    root: Path, wallets: list[WalletAddress], kept: pd.DataFrame | None, shards: int
) -> list[Shard]:
    """Split a list of distinct wallets; skip empty shards, but return one for an empty list."""
    by_shard: dict[int, list[int]] = defaultdict(list)
    for position, wallet in enumerate(wallets):
        by_shard[crc32(key_of(wallet).encode("utf-8", "surrogatepass")) % shards].append(position)
    return [
        Shard(
            root / f"shard-{number:03}",
            [wallets[position] for position in positions],
            positions,
            None if kept is None else kept.take(np.array(positions)).reset_index(drop=True),
        )
        for number, positions in sorted(by_shard.items()) or [(0, [])]
    ]


def fetch_shards(
    cluster: distributed.Client,
    root: Path,
    shards: list[Shard],
    settings: Settings,
    summaries: dict[str, FetchSummary],
    display: AbstractContextManager[Callable[..., object]],
) -> bool:
    """Fetch each shard on a worker, and show the progress; return whether it was interrupted.

    Add the summaries to `summaries`, by the shard's name. Each future is released once it is done,
    since a worker keeps the shard's wallets until then.
    """
    name = f"walletframe-{uuid4().hex}"
    _require_ready(cluster, root, settings, name)
    pending: Futures = {
        cluster.submit(fetch_shard, each, settings, name, key=f"{name}-{each.root.name}")
        for each in shards
    }
    queue: SimpleQueue[tuple[float, dict[str, Any]]] = SimpleQueue()
    reports: dict[str, dict[str, Any]] = {}  # the last one of each shard
    cluster.subscribe_topic(name, queue.put)
    try:
        with display as show:
            while pending:
                reports |= {report["shard"]: report for report in _received(queue)}
                for future in [each for each in pending if each.done()]:
                    summary = _result(future)
                    counts = Counter({Status.OK.value: summary.resumed}) + Counter(summary.statuses)
                    done = {"counts": counts, "before": summary.resumed, "worker": None}
                    reports[summary.folder.name] = done
                    summaries[summary.folder.name] = summary
                    pending.discard(future)
                    if summary.key_refused:
                        cluster.run(cancel_fetch, name, on_error="ignore")
                counts = Counter()
                for report in reports.values():
                    counts.update(report["counts"])
                workers = {report["worker"] for report in reports.values()} - {None}
                before = sum(report["before"] for report in reports.values())
                show(counts, before, workers=len(workers))
    except BaseException as fault:
        _cancel_all(cluster, pending, name)
        if not isinstance(fault, KeyboardInterrupt):
            raise
        finished = [future.result() for future in pending if future.status == "finished"]
        summaries |= {summary.folder.name: summary for summary in finished}
        return True
    finally:
        with suppress(Exception):  # a lost scheduler has raised already
            cluster.unsubscribe_topic(name)
    return False


def cluster_here() -> distributed.Client:
    """Return the current client of a cluster, or raise if there is none, or no workers."""
    try:
        cluster: distributed.Client = distributed.default_client()
    except ValueError:
        raise ClusterError(
            "there is no cluster to fetch on",
            hint="create a client first: distributed.Client(…) with the scheduler's address, or "
            "distributed.Client() for workers on this machine",
        ) from None
    if not cluster.nthreads():  # tasks would wait for ever
        raise ClusterError(
            "the cluster has no workers", hint="start some; client.wait_for_workers(1) waits"
        )
    return cluster


def _require_ready(cluster: distributed.Client, root: Path, settings: Settings, name: str) -> None:
    """Start the pace keeper on the scheduler; raise, and name the workers, if some can't fetch."""
    release = version("walletframe")
    try:
        cluster.register_plugin(PaceKeeper(release))
    except Exception as fault:  # without walletframe, it may raise anything
        raise ClusterError(
            f"the scheduler can't keep the pace, and no request was sent: {fault}",
            hint="it needs this release of walletframe, with the extra dask",
        ) from fault
    probe, lines = Layout(root).inner / name, []
    with dataset_errors(root):
        try:
            probe.touch(mode=0o600)
            problems = cluster.run(worker_problem, release, settings, probe, on_error="return")
            for worker, problem in problems.items():
                if isinstance(problem, Exception):
                    lines.append(f"\n  {worker}: it can't run walletframe: {problem}")
                elif problem:
                    lines.append(f"\n  {worker}: {problem}")
                elif not probe_file(probe, worker).exists():
                    lines.append(f"\n  {worker}: its files in {root} are not visible here")
        finally:
            for path in probe.parent.glob(f"{name}*"):
                path.unlink(missing_ok=True)
    if lines:
        more = f"\n  and {len(lines) - _MAX_NAMED:,} more" if len(lines) > _MAX_NAMED else ""
        raise ClusterError(
            f"{len(lines):,} of {len(problems):,} workers can't fetch, and no request was sent:"
            f"{''.join(lines[:_MAX_NAMED])}{more}",
            hint="each worker needs this release of walletframe, a key for "
            f"{settings.endpoint} in its WALLETFRAME_API_KEY, and this folder on a shared drive",
        )


def _received(queue: SimpleQueue[tuple[float, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Wait a little, and yield all reports in the queue."""
    with suppress(Empty):
        yield queue.get(timeout=_TICK_S)[1]
        while True:
            yield queue.get_nowait()[1]


def _result(future: distributed.Future[FetchSummary]) -> FetchSummary:
    try:
        return future.result()
    except CancelledError:
        raise ClusterError(
            "the scheduler, or the connection to it, is lost", f"start it again: {RESUME_HINT}"
        ) from None
    except KilledWorker as fault:
        workers = counted_noun(fault.allowed_failures + 1, "worker")
        raise ClusterError(
            f"{workers} died while fetching one shard; the last was {fault.last_worker.address}",
            hint=f"see its log: perhaps it ran out of memory; {RESUME_HINT}",
        ) from None


def _cancel_all(cluster: distributed.Client, futures: Futures, name: str) -> None:
    """Cancel a fetch on all workers, and wait until none of them writes."""
    with suppress(Exception):  # a lost scheduler, or a failed shard, has raised already
        if cluster.status == "running":
            cluster.run(cancel_fetch, name, on_error="ignore")
            distributed.wait(futures)


# The functions below run on workers.


def worker_problem(release: str, settings: Settings, probe: Path, dask_worker: Any) -> str:
    """Return why this worker can't fetch, or ""; write a file to show that the folder is shared."""
    own = version("walletframe")
    if own != release:
        return f"it has walletframe {own}, and here it is {release}"
    try:
        require_endpoint(with_own_key(settings))
        probe.read_bytes()
        probe_file(probe, dask_worker.address).touch(mode=0o600)
    except SettingsError as fault:
        return f"in its environment: {str(fault).partition(chr(10))[0]}"
    except OSError as fault:
        return f"it can't read this machine's {probe.parents[1]}: {fault}"
    return ""


def probe_file(probe: Path, address: str) -> Path:
    """Return the path of a worker's file beside the caller's `probe`."""
    suffix = "".join(char if char.isalnum() else "-" for char in address)
    return probe.with_name(f"{probe.name}-{suffix}")


def fetch_shard(shard: Shard, settings: Settings, name: str) -> FetchSummary:
    """Fetch the wallets of a shard that its folder lacks; report progress to the topic `name`."""
    worker, counters = get_worker(), RunCounters()
    reported_at = 0.0

    def report(_done: int, _total: int | None, counts: Mapping[str, int]) -> None:
        nonlocal reported_at
        if time.monotonic() - reported_at >= _REPORT_S:
            reported_at = time.monotonic()
            event = {"shard": shard.root.name, "worker": worker.address, "before": counters.resumed}
            worker.log_event(name, event | {"counts": dict(counts)})

    with Client(with_own_key(settings)) as client, _cancel_event(name) as cancel:
        client._new_pacer = partial(ClusterPacer, worker=worker)  # noqa: SLF001 - of ours
        return fetch_into(
            shard.root,
            shard.wallets,
            client,
            report,
            counters,
            extra_columns=shard.kept,
            positions=dict(zip(map(key_of, shard.wallets), shard.positions, strict=True)),
            cancel=cancel,
            lock_timeout_s=LOCK_TIMEOUT_S,
        )


@contextmanager
def _cancel_event(name: str) -> Iterator[Event]:
    """Yield the event that cancels a shard; it is set already if the fetch was cancelled."""
    cancel = Event()
    _running[cancel] = name
    try:
        if name in _cancelled:
            cancel.set()
        yield cancel
    finally:
        del _running[cancel]


def cancel_fetch(name: str) -> None:
    """Cancel the shards of a fetch on this worker, running and future ones."""
    _cancelled.add(name)
    for cancel, fetch in [*_running.items()]:
        if fetch == name:
            cancel.set()
