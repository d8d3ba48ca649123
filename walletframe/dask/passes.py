"""A pass over many partitions: the pieces in which a cluster does it, and what comes of them."""

from __future__ import annotations

from itertools import accumulate, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

import dask
from dask.base import compute, get_scheduler
from dask.system import CPU_COUNT
from distributed import Client, as_completed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")
_PIECES = 4  # for each thread: none waits long for the last one
_LARGEST = 1_000_000  # rows: a worker holds what they add up to, maybe each for itself


def pieces(items: Sequence[T], rows: Sequence[int]) -> Iterator[list[T]]:
    """Cut what is read into pieces that are worth their messages, given the rows of each item."""
    cluster = _cluster()
    here = dask.config.get("num_workers", None) or CPU_COUNT
    threads = sum(cluster.nthreads().values()) if cluster else here
    most = min(max(sum(rows) / (_PIECES * max(threads, 1)), 1), _LARGEST)
    starts = accumulate(rows[:-1], initial=0)
    numbered = zip((start // most for start in starts), items, strict=True)
    return ([item for _, item in some] for _, some in groupby(numbered, key=itemgetter(0)))


def results(tasks: Sequence[Any]) -> Iterator[Any]:
    """Give results as they come, so that a cluster's need not be here all at once."""
    cluster = _cluster()
    if cluster is None:
        return iter(compute(*tasks))
    futures = as_completed(cluster.compute(tasks), with_results=True)
    return (result for _, result in futures)


def _cluster() -> Client | None:
    found = getattr(get_scheduler(), "__self__", None)
    return found if isinstance(found, Client) else None
