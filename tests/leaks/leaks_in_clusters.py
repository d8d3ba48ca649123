"""Surfaces that a cluster offers while it fetches with the key."""

import pickle
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import dask.dataframe as dd
import pandas as pd
import pytest
import requests
from distributed import Client, LocalCluster
from leak_ground import texts_of, within
from leak_scan import KEY
from leak_surfaces import surfaces

import walletframe as wf
import walletframe.dask
from walletframe.dask.rate import RateLimiterPlugin
from walletframe.errors import FetchError

SHOWN = (
    "the scheduler's state",
    "the scheduler's rate",
    "task graphs",
    "logs of the scheduler",
    "logs of workers",
    "events",
    "pages",
    "processes",
    "tasks of workers",
    "the summary",
    "the error",
)
PAGES = (
    *(f"info/main/{page}.html" for page in ("workers", "logs", "exceptions")),
    *(f"json/{page}.json" for page in ("counts", "identity")),
    *(f"info/{page}/{{}}.html" for page in ("worker", "call-stacks", "logs")),
    "metrics",
)
WALLETS = [f"ETH.0x{number:040x}" for number in range(12)]
_seen = {}


def specifications(dask_scheduler):
    """Return the tasks' specifications, as workers get them; it runs on the scheduler."""
    return [pickle.dumps(task.run_spec) for task in dask_scheduler.tasks.values()]


def of_the_rate(dask_scheduler):
    """Return all within the plugin that limits the rate; it runs on the scheduler."""
    return within(dask_scheduler.plugins[RateLimiterPlugin.name])


def of_a_process():
    """Return a worker's public information of the system; it runs there."""
    names = [path.read_text() for path in Path("/proc/self/task").glob("*/comm")]
    return [Path("/proc/self/cmdline").read_bytes(), *names]


def of_tasks(dask_worker):
    """Return a worker's data of its tasks; it runs there."""
    tasks = dask_worker.state.tasks.values()
    return [repr(getattr(task, name, "")) for task in tasks for name in type(task).__slots__]


def look(client, folder):
    """Return all views of a cluster in the middle of a fetch."""
    client.dump_cluster_state(str(folder / "state"), format="yaml")
    address = quote(next(iter(client.nthreads())), safe="")
    site = client.dashboard_link.rpartition("/")[0]
    pages = [requests.get(f"{site}/{page.format(address)}", timeout=60) for page in PAGES]
    # some releases of distributed can't write their identity, and show an error in its place
    assert all(page.ok or page.url.endswith("identity.json") for page in pages)
    return {
        "the scheduler's state": (folder / "state.yaml").read_bytes(),
        "the scheduler's rate": client.run_on_scheduler(of_the_rate),
        "task graphs": client.run_on_scheduler(specifications),
        "pages": [page.content for page in pages],
        "processes": [part for parts in client.run(of_a_process).values() for part in parts],
        "tasks of workers": [part for parts in client.run(of_tasks).values() for part in parts],
    }


@contextmanager
def cluster(**environment):
    """Start a worker, a process with this environment."""
    own = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**own, env=environment) as workers, Client(workers) as client:
        yield client


def fetch(ground, client, settings):
    """Fetch on a cluster, and return all views of it."""
    frame, seen = dd.from_pandas(pd.DataFrame({"wallet": WALLETS}), npartitions=1), {}

    def progress(*_):
        if not seen:
            seen.update(look(client, ground.folder))

    options = {"settings": settings, "shards": 2, "progress": progress, "on_failure": "raise"}
    with pytest.raises(FetchError) as caught:
        frame.wf.fetch(ground.folder / "bulk", **options)
    seen["logs of the scheduler"] = repr(client.get_scheduler_logs())
    seen["logs of workers"] = repr(client.get_worker_logs())
    seen["events"] = repr(client.get_events())
    seen["the summary"] = within(caught.value.details)
    seen["the error"] = texts_of(caught.value)
    assert b"fetch_shard" in b"".join(seen["task graphs"])
    assert "service_error" in repr(caught.value.details)
    return seen


@surfaces(SHOWN)
def key(ground, variant):
    """A cluster whose workers have the key."""
    if "key" not in _seen:
        ground.echo()
        own = ground.settings(requests_per_second=10, cache=False)
        with cluster(WALLETFRAME_API_KEY=KEY) as client:
            _seen["key"] = fetch(ground, client, wf.Settings.isolated(**own))
        assert ground.server.paths
    return _seen["key"][variant]
