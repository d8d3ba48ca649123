"""Shards: the wallets of a list, each in the one that its address decides, and a folder for each.

How many there are is in a marker beside them: each wallet is found again where it was. A fetch asks
each worker first whether it could fetch; then each shard is a task, and what the tasks tell on
their way is drawn here. Workers are sent wallets, and settings without the key.
"""
# FOLDER/.walletframe/shards.json      the format, the service, and how many shards there are
# FOLDER/.walletframe/shards.lock      held while that is decided
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

from walletframe.bulk.files import Layout, dataset_errors, key_of, mark
from walletframe.bulk.run import fetch_into
from walletframe.bulk.summary import GOES_ON, Tally
from walletframe.client import Client
from walletframe.dask.pace import ClusterPacer, PaceKeeper
from walletframe.disk import locked, private_folder
from walletframe.errors import ClusterError, DatasetError, SettingsError
from walletframe.numerals import many
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

PATIENCE_S = 120.0  # longer than a network drive keeps the locks of a machine that is gone
_TELL_S = 0.5
_TICK_S = 0.2
_NAMED = 10
_under_way: Final[dict[Event, str]] = {}  # what ends a shard, and the fetch that it is of
_ended: Final[set[str]] = set()  # fetches


@dataclass(frozen=True, slots=True, repr=False)
class Shard:
    """What one task fetches."""

    root: Path
    wallets: list[WalletAddress]
    positions: list[int]  # of each, in the whole list
    kept: pd.DataFrame | None

    def __repr__(self) -> str:
        return f"<{self.root.name}: {many(len(self.wallets), 'wallet')}>"


def claim(root: Path, service: str, shards: int) -> None:
    """Mark a folder as that of a fetch into shards; refuse what it is already, if that differs."""
    layout = Layout(root)
    marker = layout.inner / "shards.json"
    with dataset_errors(root):
        private_folder(layout.inner)
        with locked(layout.inner / "shards.lock"):  # of several callers, the first one decides
            if not marker.exists():
                layout.require_empty("that of an earlier fetch on a cluster")
            there = mark(marker, service=service, shards=shards)["shards"]
    if there != shards:
        raise DatasetError(
            f"{root} is cut into {there} shards, not {shards}: wallets that it has would be asked "
            "for again",
            hint=f"give shards={there}, or another folder",
        )


def cut(
    root: Path, wallets: list[WalletAddress], kept: pd.DataFrame | None, shards: int
) -> list[Shard]:
    """Cut a list of distinct wallets; shards without any are left out, but for the one of none."""
    found: dict[int, list[int]] = defaultdict(list)
    for position, wallet in enumerate(wallets):
        found[crc32(key_of(wallet).encode("utf-8", "surrogatepass")) % shards].append(position)
    return [
        Shard(
            root / f"shard-{number:03}",
            [wallets[position] for position in positions],
            positions,
            None if kept is None else kept.take(np.array(positions)).reset_index(drop=True),
        )
        for number, positions in sorted(found.items()) or [(0, [])]
    ]


def fetch_shards(
    cluster: distributed.Client,
    root: Path,
    shards: list[Shard],
    settings: Settings,
    found: dict[str, FetchSummary],
    drawing: AbstractContextManager[Callable[..., object]],
) -> bool:
    """Fetch each shard on a worker, and draw how far they are; return whether it was interrupted.

    Summaries come into `found`, by the shard's name. Whoever has fetched a shard keeps its wallets
    until the future is let go, which is at once.
    """
    name = f"walletframe-{uuid4().hex}"
    _check(cluster, root, settings, name)
    waiting: Futures = {
        cluster.submit(fetch_shard, each, settings, name, key=f"{name}-{each.root.name}")
        for each in shards
    }
    news: SimpleQueue[tuple[float, dict[str, Any]]] = SimpleQueue()
    told: dict[str, dict[str, Any]] = {}  # of each shard, what it told last
    cluster.subscribe_topic(name, news.put)
    try:
        with drawing as draw:
            while waiting:
                told |= {said["shard"]: said for said in _arrived(news)}
                for future in [each for each in waiting if each.done()]:
                    summary = _result(future)
                    counts = Counter({Status.OK.value: summary.resumed}) + Counter(summary.statuses)
                    done = {"counts": counts, "before": summary.resumed, "worker": None}
                    told[summary.folder.name] = done
                    found[summary.folder.name] = summary
                    waiting.discard(future)
                    if summary.key_refused:
                        cluster.run(end, name, on_error="ignore")
                counts = Counter()
                for said in told.values():
                    counts.update(said["counts"])
                workers = {said["worker"] for said in told.values()} - {None}
                draw(counts, sum(said["before"] for said in told.values()), workers=len(workers))
    except BaseException as fault:
        _end(cluster, waiting, name)
        if not isinstance(fault, KeyboardInterrupt):
            raise
        ended = [future.result() for future in waiting if future.status == "finished"]
        found |= {summary.folder.name: summary for summary in ended}
        return True
    finally:
        with suppress(Exception):  # a lost scheduler, which is what is told already
            cluster.unsubscribe_topic(name)
    return False


def cluster_here() -> distributed.Client:
    """Return the client of the cluster, or refuse one without workers."""
    try:
        cluster: distributed.Client = distributed.default_client()
    except ValueError:
        raise ClusterError(
            "there is no cluster to fetch on",
            hint="make its client first: distributed.Client(…) with the scheduler's address, or "
            "distributed.Client() for workers on this machine",
        ) from None
    if not cluster.nthreads():  # what is computed would wait for ever
        raise ClusterError(
            "the cluster has no workers", hint="start some; client.wait_for_workers(1) waits"
        )
    return cluster


def _check(cluster: distributed.Client, root: Path, settings: Settings, name: str) -> None:
    """Have the scheduler keep the pace, and name the workers that could not fetch."""
    release = version("walletframe")
    try:
        cluster.register_plugin(PaceKeeper(release))
    except Exception as fault:  # what it lacks to run walletframe may raise anything
        raise ClusterError(
            f"the scheduler can't keep the pace, and nothing was asked: {fault}",
            hint="it needs this release of walletframe, with the extra dask",
        ) from fault
    sign, lines = Layout(root).inner / name, []
    with dataset_errors(root):
        try:
            sign.touch(mode=0o600)
            said = cluster.run(check, release, settings, sign, on_error="return")
            for place, problem in said.items():
                if isinstance(problem, Exception):
                    lines.append(f"\n  {place}: it can't run walletframe: {problem}")
                elif problem:
                    lines.append(f"\n  {place}: {problem}")
                elif not signed(sign, place).exists():
                    lines.append(f"\n  {place}: what it writes into {root} is not to be seen here")
        finally:
            for path in sign.parent.glob(f"{name}*"):
                path.unlink(missing_ok=True)
    if lines:
        more = f"\n  and {len(lines) - _NAMED:,} more" if len(lines) > _NAMED else ""
        raise ClusterError(
            f"{len(lines):,} of {len(said):,} workers can't fetch, and nothing was asked:"
            f"{''.join(lines[:_NAMED])}{more}",
            hint="each worker needs this release of walletframe, WALLETFRAME_API_KEY in its "
            f"environment, of a key for {settings.endpoint}, and this folder on a shared drive",
        )


def _arrived(news: SimpleQueue[tuple[float, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Wait a little for news, and hand out all that are there."""
    with suppress(Empty):
        yield news.get(timeout=_TICK_S)[1]
        while True:
            yield news.get_nowait()[1]


def _result(future: distributed.Future[FetchSummary]) -> FetchSummary:
    try:
        return future.result()
    except CancelledError:
        raise ClusterError(
            "the scheduler is gone, or the connection to it", hint=f"start it anew: {GOES_ON}"
        ) from None
    except KilledWorker as fault:
        raise ClusterError(
            f"{fault.allowed_failures + 1} workers died over one shard, of which the last was "
            f"{fault.last_worker.address}",
            hint=f"see its log: perhaps memory was short; {GOES_ON}",
        ) from None


def _end(cluster: distributed.Client, futures: Futures, name: str) -> None:
    """End the fetches of workers, and wait until none of them writes any more."""
    with suppress(Exception):  # a lost scheduler, or a failed shard, is what is told already
        if cluster.status == "running":
            cluster.run(end, name, on_error="ignore")
            distributed.wait(futures)


# What runs on workers.


def check(wanted: str, settings: Settings, sign: Path, dask_worker: Any) -> str:
    """Return why a worker could not fetch, or nothing; write a sign beside the caller's."""
    found = version("walletframe")
    if found != wanted:
        return f"it has walletframe {found}, and here it is {wanted}"
    try:
        require_endpoint(with_own_key(settings))
        sign.read_bytes()
        signed(sign, dask_worker.address).touch(mode=0o600)
    except SettingsError as fault:
        return f"in its environment: {str(fault).partition(chr(10))[0]}"
    except OSError as fault:
        return f"it does not see {sign.parents[1]} as it is here: {fault}"
    return ""


def signed(sign: Path, address: str) -> Path:
    """Return the file that the worker at an address leaves beside a sign."""
    place = "".join(char if char.isalnum() else "-" for char in address)
    return sign.with_name(f"{sign.name}-{place}")


def fetch_shard(shard: Shard, settings: Settings, name: str) -> FetchSummary:
    """Fetch a shard, as far as its folder does not have it; tell how far it is, under a name."""
    worker, tally = get_worker(), Tally()
    told_at = 0.0

    def tell(_done: int, _total: int | None, counts: Mapping[str, int]) -> None:
        nonlocal told_at
        if time.monotonic() - told_at >= _TELL_S:
            told_at = time.monotonic()
            news = {"shard": shard.root.name, "worker": worker.address, "before": tally.resumed}
            worker.log_event(name, news | {"counts": dict(counts)})

    with Client(with_own_key(settings)) as client, _ending(name) as cancel:
        client._new_pacer = partial(ClusterPacer, worker=worker)  # noqa: SLF001 - of ours
        return fetch_into(
            shard.root,
            shard.wallets,
            client,
            tell,
            tally,
            kept=shard.kept,
            places=dict(zip(map(key_of, shard.wallets), shard.positions, strict=True)),
            cancel=cancel,
            patience_s=PATIENCE_S,
        )


@contextmanager
def _ending(name: str) -> Iterator[Event]:
    """Yield the event that ends a shard of a fetch, already set where the fetch has ended."""
    cancel = Event()
    _under_way[cancel] = name
    try:
        if name in _ended:
            cancel.set()
        yield cancel
    finally:
        del _under_way[cancel]


def end(name: str) -> None:
    """End the shards of a fetch here, those that are still to come as well."""
    _ended.add(name)
    for cancel, fetch in [*_under_way.items()]:
        if fetch == name:
            cancel.set()
