"""A pass over many partitions: the pieces in which a cluster does it, and what comes of them."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any, TypeVar

from dask.base import compute, get_scheduler
from distributed import Client, as_completed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")
_PIECES = 4  # for each thread: none waits long for the last one


def pieces(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Cut what is done into pieces that are worth their messages."""
    cluster = _cluster()
    threads = sum(cluster.nthreads().values()) if cluster else 1
    size = ceil(len(items) / (_PIECES * max(threads, 1)))
    return (items[start : start + size] for start in range(0, len(items), size))


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
