"""Fetches on clusters of real processes, and their results."""

import os
import subprocess
import sys
from contextlib import contextmanager
from unittest.mock import patch

import dask.dataframe as dd
import duckdb
import pandas as pd
from canned_service import KEY
from distributed import Client, LocalCluster
from fast_service import wallet_address

import walletframe as wf
import walletframe.dask

WORKERS = 4  # concurrent requests of each task
ENVIRONMENT = {"WALLETFRAME_API_KEY": KEY}


def wallet_names(count):
    """Return wallets. A tenth of them fail until the server is healed."""
    return [wallet_address(number, failing=number % 10 == 7) for number in range(count)]


def frame(wallets, **columns):
    """Return the wallets as a Dask DataFrame."""
    return dd.from_pandas(pd.DataFrame({"wallet": wallets} | columns), npartitions=3)


def settings(server, **options):
    """Return settings without the key, since workers have the key in their environment."""
    own = {"key_kind": "private", "base_url": server.base_url, "cache": False, "workers": WORKERS}
    return wf.Settings(**own | {"requests_per_second": 100_000} | options)


@contextmanager
def local_cluster(**options):
    """Start worker processes that have the key in their environment.

    Dask also changes this process's environment, which would slow down other children. So the
    environment is restored at the end.
    """
    own = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        patch.dict(os.environ),
        LocalCluster(**own | {"env": ENVIRONMENT} | options) as workers,
        Client(workers) as client,
    ):
        yield client


@contextmanager
def started_cluster(place, environment):
    """Start a scheduler and two workers from the shell; yield their processes and a client."""
    file, processes = place / "scheduler.json", []
    worker = ["worker", "--nthreads", "1", "--no-nanny", "--local-directory", str(place)]
    for number, kind in enumerate((["scheduler", "--port", "0"], worker, worker)):
        words = [sys.executable, "-m", "dask", *kind, "--no-dashboard", "--scheduler-file", file]
        with (place / f"log-{number}").open("wb") as log:
            process = subprocess.Popen(
                list(map(str, words)), env=environment, stdout=log, stderr=subprocess.STDOUT
            )
        processes.append(process)
    try:
        with Client(scheduler_file=str(file), timeout=100) as client:
            client.wait_for_workers(2, timeout=100)
            yield client, processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def rows(folder, name, columns):
    """Return the rows that DuckDB reads from the files of all shards."""
    query = f"SELECT {columns} FROM '{folder}/*/{name}/*.parquet'"
    return duckdb.sql(f"{query} GROUP BY 1" if "count" in columns else query).fetchall()


def check(folder, requested, tokens):
    """Check that the folder has each wallet once, at its position, with all balances."""
    result = rows(folder, "wallets", "position, blockchain || '.' || address")
    assert sorted(result) == list(enumerate(requested))
    held = rows(folder, "holdings", "blockchain || '.' || address AS wallet, count(*)")
    assert dict(held) == dict.fromkeys(requested, tokens)


def repeated_requests(server):
    """Count the repeated requests for wallets that don't fail."""
    counts = server.request_counts()
    return sum(count - 1 for name, count in counts.items() if name.endswith("cafe"))
