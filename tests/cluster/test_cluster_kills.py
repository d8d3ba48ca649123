"""Killed clusters: nothing is lost or doubled, and unfinished requests are repeated."""

import os
import signal
import sys

import dask
import pytest
from cluster_fetches import (
    ENVIRONMENT,
    WORKERS,
    check,
    frame,
    local_cluster,
    repeated_requests,
    settings,
    started_cluster,
    wallet_names,
)
from fast_service import fast_service

from walletframe.errors import ClusterError

TOKENS = 3
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def server():
    """Start one fast server for the whole module."""
    with fast_service(tokens=TOKENS, latency_s=0.005) as running:
        yield running


@pytest.fixture
def fast(server):
    """Return the server, reset and healed."""
    server.forget()
    server.heal()
    return server


@pytest.fixture
def folder(tmp_path):
    """Return the path of a folder that does not exist yet."""
    return tmp_path / "bulk"


class Killing:
    """Kills processes, each when so many wallets are done; a callable for progress."""

    def __init__(self, *kills):
        self.left = list(kills)

    def __call__(self, done, *_):
        """Kill the processes that are due."""
        if self.left and done >= self.left[0][0]:
            for pid in self.left.pop(0)[1:]:
                os.kill(pid, signal.SIGKILL)


def test_without_workers(folder, server):
    """It raises, and does not wait."""
    with local_cluster(n_workers=0), pytest.raises(ClusterError, match="no workers"):
        frame(wallet_names(3)).wf.fetch(folder, settings=settings(server))


def test_without_a_cluster(folder, server):
    """The hint is to create a client."""
    with pytest.raises(ClusterError, match=r"there is no Dask cluster[^$]*Hint: create a client"):
        frame(wallet_names(3)).wf.fetch(folder, settings=settings(server))


def test_a_killed_worker_is_replaced(fast, folder):
    """Its shard is resumed elsewhere, within the same call."""
    requested = wallet_names(1_500)
    with local_cluster() as client:
        [victim, _] = client.run(os.getpid).values()
        killing = Killing((300, victim))
        result = frame(requested).wf.fetch(
            folder, settings=settings(fast), shards=6, progress=killing
        )
        assert victim not in client.run(os.getpid).values()
    assert not killing.left
    assert result.summary.ok_count == result.summary.wallets == 1_500
    check(folder, requested, TOKENS)
    assert repeated_requests(fast) <= WORKERS


def test_a_shard_that_kills_its_workers_is_reported(fast, folder):
    """With the last of them, instead of endless retries."""
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}), local_cluster() as client:
        killing = Killing(*((1, pid) for pid in client.run(os.getpid).values()))
        with pytest.raises(
            ClusterError, match=r"1 worker died while fetching the same shard.*tcp://127"
        ):
            frame(wallet_names(2_000)).wf.fetch(
                folder, settings=settings(fast), shards=2, progress=killing
            )


def environment():
    """Return the environment of a shell for workers."""
    path = os.pathsep.join(each for each in sys.path if each)
    return os.environ | ENVIRONMENT | {"PYTHONPATH": path}


@pytest.mark.parametrize(
    "count, shards",
    [(600, 4), pytest.param(10_000, 32, marks=[pytest.mark.stress, pytest.mark.timeout(3_600)])],
)
def test_two_workers_and_the_scheduler_are_killed(fast, folder, tmp_path, count, shards):
    """A second cluster resumes; only unfinished requests are repeated."""
    requested, own = wallet_names(count), settings(fast)
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with started_cluster(tmp_path / "one", environment()) as (_, [scheduler, *workers]):
        one, *others = (process.pid for process in (*workers, scheduler))
        # Without workers, no later progress would be reported.
        killing = Killing((count // 10, one), (count // 10, *others))
        with pytest.raises(
            ClusterError, match="the scheduler, or the connection to the scheduler, is lost"
        ):
            frame(requested).wf.fetch(folder, settings=own, shards=shards, progress=killing)
    assert not killing.left
    with started_cluster(tmp_path / "two", environment()):
        result = frame(requested).wf.fetch(folder, settings=own, shards=shards)
    assert count // 10 <= result.summary.resumed < result.summary.ok_count == count
    check(folder, requested, TOKENS)
    assert repeated_requests(fast) <= 2 * WORKERS
    print(f"{count} wallets: {repeated_requests(fast)} asked again, 0 lost, 0 double")  # noqa: T201 - with -s
