"""A list is cut into shards, and workers fetch these, each into its folder.

The order of operations: the list is computed and checked here, as that of `fetch_to_parquet` is;
the folder is claimed; each worker is asked whether it could fetch; then each shard is a task. What
these tell on their way is drawn here. Workers are sent wallets, and settings without the key.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import uuid4

import distributed
from dask.dataframe.dispatch import make_meta
from distributed import CancelledError, KilledWorker

from walletframe.address import COLUMNS, distinct_labels, wallets_to_ask
from walletframe.bulk.files import Layout, dataset_errors
from walletframe.bulk.summary import GOES_ON, Tally, conclude
from walletframe.client import check_on_failure, default_client, drawn
from walletframe.dask.folders import open_wallets
from walletframe.dask.shards import claim, cut, require_number
from walletframe.dask.workers import Crew, check, end, fetch_shard, release, signed
from walletframe.disk import local_folder
from walletframe.errors import ClusterError, FetchInterrupted, SettingsError
from walletframe.frames import names_to_keep
from walletframe.settings import require_service, require_settings
from walletframe.walletfile import read_given
from walletframe.wire import Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import dask.dataframe as dd

    from walletframe.address import OnUnreadable, Reading
    from walletframe.bulk import FetchSummary
    from walletframe.client import Draw, OnFailure, Progress
    from walletframe.dask.folders import ClusterWallets
    from walletframe.settings import Settings

    Futures: TypeAlias = set[distributed.Future[FetchSummary]]

_TICK_S = 0.2
_NAMED = 10


def fetch(  # noqa: PLR0913 - what a caller may wish
    frame: dd.DataFrame,
    folder: str | Path,
    *,
    keep: str | Sequence[str],
    settings: Settings | None,
    shards: int,
    progress: Progress,
    on_failure: OnFailure,
    on_unreadable: OnUnreadable,
) -> ClusterWallets:
    """Fetch the wallets of a frame on the cluster, as ``ddf.wf.fetch`` says."""
    check_on_failure(on_failure)
    require_number(shards)
    require_settings(settings)
    root, tally, name = local_folder(folder).absolute(), Tally(), f"walletframe-{uuid4().hex}"
    settings = _to_send(settings or default_client().settings)
    service, cluster = require_service(settings), _cluster()
    reading = _read(frame, names_to_keep(keep))
    asked = wallets_to_ask(reading, on_unreadable)
    cuts = cut(root, asked, distinct_labels(reading), shards)
    claim(root, service, shards)
    crew = _checked(cluster, root, settings, name)
    waiting = {
        cluster.submit(fetch_shard, each, settings, crew, name, key=f"{name}-{each.root.name}")
        for each in cuts
    }
    found: dict[str, FetchSummary] = {}
    is_interrupted = _attend(cluster, waiting, found, name, drawn(progress, len(asked)))
    for each in found.values():
        tally.take_in(each)
    summary = tally.summary(root, service, len(asked))
    if is_interrupted:
        raise FetchInterrupted(summary, GOES_ON)
    conclude(summary, on_failure)
    return open_wallets(root)._replace(summary=summary)


def _to_send(settings: Settings) -> Settings:
    if hasattr(settings.cache, "responses"):
        raise SettingsError(
            "cache: a requests-cache backend can't be sent to workers",
            hint='give a path, "memory", False, or a URL (redis://…)',
        )
    return settings


def _cluster() -> distributed.Client:
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


def _read(frame: dd.DataFrame, keep: Sequence[str]) -> Reading:
    """Compute the wallets of a frame, and the columns to keep; see before that they are there."""
    read_given(make_meta(frame), keep)
    wanted = [*COLUMNS, *keep] if {*COLUMNS} <= {*frame.columns} else [*frame.columns]
    return read_given(frame[wanted].compute(), keep)


def _checked(cluster: distributed.Client, root: Path, settings: Settings, name: str) -> Crew:
    """Count the workers, or name those that could not fetch."""
    sign = Layout(root).inner / name
    with dataset_errors(root):
        try:
            sign.touch(mode=0o600)
            said = cluster.run(check, release(), settings, sign, on_error="return")
            problems = {place: _problem(sign, place, each) for place, each in said.items()}
        finally:
            for path in sign.parent.glob(f"{name}*"):
                path.unlink(missing_ok=True)
    lines = [f"\n  {place}: {problem}" for place, problem in problems.items() if problem]
    if lines:
        more = f"\n  and {len(lines) - _NAMED:,} more" if len(lines) > _NAMED else ""
        raise ClusterError(
            f"{len(lines):,} of {len(said):,} workers can't fetch, and nothing was asked:"
            f"{''.join(lines[:_NAMED])}{more}",
            hint="each worker needs this release of walletframe, WALLETFRAME_API_KEY in its "
            f"environment, of a key for {settings.endpoint}, and this folder on a shared drive",
        )
    return Crew.of(cluster.nthreads())


def _problem(sign: Path, address: str, said: str | Exception) -> str:
    if isinstance(said, Exception):
        return f"it can't run walletframe: {said}"
    if not said and not signed(sign, address).exists():
        return f"what it writes into {sign.parents[1]} is not to be seen here"
    return said


def _attend(
    cluster: distributed.Client,
    waiting: Futures,
    found: dict[str, FetchSummary],
    name: str,
    drawing: AbstractContextManager[Draw],
) -> bool:
    """Draw how far the shards are, until all have ended; return whether it was interrupted.

    Who has fetched a shard keeps its wallets until the future is let go, which is at once.
    """
    news: SimpleQueue[tuple[float, dict[str, Any]]] = SimpleQueue()
    told: dict[str, dict[str, Any]] = {}  # of each shard, what it told last
    cluster.subscribe_topic(name, news.put)
    try:
        with drawing as draw:
            while waiting:
                told |= {said["shard"]: said for said in _arrived(news)}
                for future in [each for each in waiting if each.done()]:
                    summary = _result(future)
                    told[summary.folder.name] = _last(summary)
                    found[summary.folder.name] = summary
                    waiting.discard(future)
                    if summary.key_refused:
                        cluster.run(end, name, on_error="ignore")
                _draw(draw, told)
    except KeyboardInterrupt:
        _end(cluster, waiting, name)
        ended = [future.result() for future in waiting if future.status == "finished"]
        found |= {summary.folder.name: summary for summary in ended}
        return True
    except BaseException:
        _end(cluster, waiting, name)
        raise
    finally:
        with suppress(Exception):  # a lost scheduler, which is what is told already
            cluster.unsubscribe_topic(name)
    return False


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


def _last(summary: FetchSummary) -> dict[str, Any]:
    counts = Counter(summary.statuses)
    counts[Status.OK.value] += summary.resumed
    return {"counts": +counts, "before": summary.resumed, "worker": None}


def _draw(draw: Draw, told: dict[str, dict[str, Any]]) -> None:
    counts: Counter[str] = Counter()
    for said in told.values():
        counts.update(said["counts"])
    workers = {said["worker"] for said in told.values()} - {None}
    draw(counts, sum(said["before"] for said in told.values()), len(workers))


def _end(cluster: distributed.Client, futures: Futures, name: str) -> None:
    """Let workers end what they fetch, and wait until none of them writes any more."""
    with suppress(Exception):  # a lost scheduler, or a failed shard, is what is told already
        if cluster.status == "running":
            cluster.run(end, name, on_error="ignore")
            distributed.wait(futures)
