"""A rate limit that 16 processes share through a file, and two workers through a scheduler.

Permits are counted in whole seconds, by one clock. The counts are only printed.
"""

import time
from importlib import import_module
from importlib.metadata import version
from threading import Event, Thread

import pytest
from cluster_fetches import local_cluster
from distributed import get_worker
from permit_takers import Takers, by_second

import walletframe as wf
from walletframe.dask.rate import RateLimiterPlugin, WorkerRateLimiter

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(300)]

LIMIT, PROCESSES, THREADS, SECONDS = 200, 16, 8, 6.5


def print_permits(what, permits, begun):
    """Print the permits of each second."""
    counts = by_second(permits, begun + 1, begun + 6)
    print(f"{what}: {min(counts)} to {max(counts)} permits a second, wanted 190 to 204: {counts}")
    each = [len(times) for times in permits]
    print(f"  of each process: {min(each)} to {max(each)}")


@pytest.mark.together
def test_one_pace_for_many_processes(tmp_path):
    """Print the permits each second of processes that share a file."""
    print(f"\n{PROCESSES} processes that take all they get, at {LIMIT} a second")
    takers, now = Takers(tmp_path / "p.pace", PROCESSES), time.time()
    takers.go(LIMIT, now + SECONDS)
    print_permits("in a file", takers.permits(), now)


class Counted(WorkerRateLimiter):
    """A rate limiter that counts its messages to the scheduler."""

    messages = 0

    def _send(self, handler, **options):
        self.messages += 1
        return super()._send(handler, **options)


def take(until):
    """Take permits on eight threads of a worker; return the times, and the number of messages."""
    own = {"key_kind": "private", "base_url": "https://api.example"}
    settings = wf.Settings.isolated(**own, requests_per_second=LIMIT)
    limiter, end, result = (
        Counted(settings, get_worker()),
        time.monotonic() + until - time.time(),
        [],
    )

    def run():
        while limiter.wait_for_permit(Event(), end):
            result.append(time.time())
            limiter.note_answer()

    threads = [Thread(target=run) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    limiter.close()
    return result, limiter.messages


@pytest.mark.together
def test_one_pace_for_a_cluster():
    """Print the permits each second of two workers, and the messages for each permit."""
    with local_cluster() as client:
        client.register_plugin(RateLimiterPlugin(version("walletframe")))
        client.run(import_module, "walletframe.dask.rate")
        workers, now = [*client.nthreads()], time.time() + 1
        tasks = [client.submit(take, now + SECONDS, workers=[each], pure=False) for each in workers]
        permits, messages = zip(*client.gather(tasks), strict=True)
    print(f"\n{len(workers)} workers of {THREADS} threads each, at {LIMIT} a second")
    print_permits("by the scheduler", permits, now)
    print(f"  messages a permit: {sum(messages) / sum(map(len, permits)):.3f}")
