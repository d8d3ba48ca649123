"""What runs on workers: a check of what they have, the fetch of a shard, and its end."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from distributed import get_worker

from walletframe.bulk.run import Orders, fetch_into
from walletframe.bulk.summary import Tally
from walletframe.client import Client
from walletframe.errors import SettingsError
from walletframe.settings import ServerUrl, require_endpoint, with_own_key
from walletframe.transport import pace_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from walletframe.bulk import FetchSummary
    from walletframe.dask.shards import Shard
    from walletframe.settings import Settings

PATIENCE_S = 120.0  # longer than a network drive keeps the locks of a machine that is gone
_TELL_S = 0.5
_under_way: Final[dict[Event, str]] = {}  # what ends a shard, and the fetch that it is of
_ended: Final[set[str]] = set()  # fetches


@dataclass(frozen=True, slots=True)
class Crew:
    """How many shards are fetched at once, on all workers and on those of each machine."""

    threads: int
    by_host: dict[str, int]

    @classmethod
    def of(cls, threads: Mapping[str, int]) -> Crew:
        """Count them, given the threads of each worker by its address."""
        by_host: Counter[str] = Counter()
        for address, count in threads.items():
            by_host[_host(address)] += count
        return cls(by_host.total(), dict(by_host))

    def share(self, settings: Settings, address: str) -> Settings:
        """Give the worker at an address its part of the rate, if it has to keep to one by itself.

        Where the pace is a file, those of one machine share it, and have the part of all of them.
        """
        rate, processes = settings.requests_per_second, settings.processes or self.threads
        if isinstance(pace_place(settings.cache, settings.pace), Path):
            here = self.by_host.get(_host(address), 1)
            rate, processes = rate and rate * here / max(processes, here), here
        return settings.replace(requests_per_second=rate, processes=processes)


def _host(address: str) -> str:
    return urlsplit(address).hostname or address


def release() -> str:
    """Return the release of walletframe here."""
    return version("walletframe")


def check(wanted: str, settings: Settings, sign: Path, dask_worker: Any) -> str:
    """Say why a worker could not fetch, or nothing; and leave a sign beside that of who asks."""
    found = release()
    if found != wanted:
        return f"it has walletframe {found}, and here it is {wanted}"
    is_redis = any(isinstance(place, ServerUrl) for place in (settings.cache, settings.pace))
    if is_redis and find_spec("redis") is None:
        return "it lacks the extra walletframe[redis]"
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


def fetch_shard(shard: Shard, settings: Settings, crew: Crew, name: str) -> FetchSummary:
    """Fetch a shard, as far as its folder does not have it; tell how far it is, under a name."""
    worker, tally = get_worker(), Tally()
    told_at = 0.0

    def tell(_done: int, _total: int | None, counts: Mapping[str, int]) -> None:
        nonlocal told_at
        if time.monotonic() - told_at >= _TELL_S:
            told_at = time.monotonic()
            news = {"shard": shard.root.name, "worker": worker.address, "before": tally.resumed}
            worker.log_event(name, news | {"counts": dict(counts)})

    own = crew.share(with_own_key(settings), worker.address)
    with Client(own) as client, _ending(name) as cancel:
        orders = Orders(shard.places(), cancel, PATIENCE_S)
        return fetch_into(
            shard.root, shard.wallets, client, tell, tally, kept=shard.kept, orders=orders
        )


@contextmanager
def _ending(name: str) -> Iterator[Event]:
    """Give what ends a shard of a fetch, already set where the fetch has ended."""
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
