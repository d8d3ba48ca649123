"""Work on a thread of its own, and its progress, for a bar or a callable.

An interrupt finds the caller waiting, and nothing half done.
"""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import contextmanager, suppress
from importlib import import_module
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from walletframe.wire import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Progress: TypeAlias = "bool | Callable[[int, int, Mapping[str, int]], object] | None"
OpenProgress: TypeAlias = "bool | Callable[[int, int | None, Mapping[str, int]], object] | None"
Draw: TypeAlias = "Callable[[Mapping[str, int], int, int], object]"
_AnyProgress: TypeAlias = "bool | Callable[..., object] | None"

N = TypeVar("N")
T = TypeVar("T")

_TICK_S = 0.1  # a wait without end would miss an interrupt that comes just before it begins


class Job(Generic[N, T]):
    """Work that has begun: it gets a function for its news, such as a finished wallet's status."""

    def __init__(self, work: Callable[[Callable[[N], None]], T]) -> None:
        self._work = work
        self._news: SimpleQueue[N | None] = SimpleQueue()
        self._ended = Event()
        self._results: list[T] = []
        self._fault: BaseException | None = None
        Thread(target=self._run, name="walletframe-fetch", daemon=True).start()

    def news(self) -> Iterator[N]:
        """Hand out the news in their order, until the work has ended."""
        while not self._ended.is_set():
            with suppress(Empty):
                if (news := self._news.get(timeout=_TICK_S)) is not None:
                    yield news
        yield from self.news_so_far()

    def news_so_far(self) -> Iterator[N]:
        """Hand out the news that are there, without waiting."""
        with suppress(Empty):
            while True:
                if (news := self._news.get_nowait()) is not None:
                    yield news

    def has_ended(self) -> bool:
        """Return whether the work has ended; there may be news left."""
        return self._ended.is_set()

    def result(self) -> T:
        """Wait for what the work returns, or raise what it raised."""
        while not self._ended.wait(_TICK_S):
            pass
        if self._fault is not None:
            raise self._fault
        return self._results[0]

    def _run(self) -> None:
        try:
            self._results.append(self._work(self._news.put))
        except BaseException as fault:  # noqa: BLE001 - it is raised where the result is asked for
            self._fault = fault
        finally:
            self._ended.set()
            self._news.put(None)  # wakes who waits for news


@contextmanager
def counted(
    progress: _AnyProgress, total: int | None, *, done: int = 0
) -> Iterator[Callable[[Status], None]]:
    """Give a function that counts finished wallets, of a total that may be unknown.

    A callable gets (done, total, counts by status) after each; True draws a bar, False none, None
    one in a notebook and in a terminal. So many as `done` were ok before.
    """
    counts = Counter({Status.OK.value: done} if done else {})
    if callable(progress):

        def tell(status: Status) -> None:
            counts[status.value] += 1
            progress(counts.total(), total, dict(counts))

        yield tell
    elif _is_drawn(progress, total):
        # What was done before is no part of the rate, by which the ETA is reckoned.
        with _bar(total, initial=done) as bar:

            def draw(status: Status) -> None:
                counts[status.value] += 1
                bar.update()
                bar.set_postfix(counts, refresh=False)

            yield draw
    else:
        yield lambda _: None


@contextmanager
def drawn(progress: Progress, total: int) -> Iterator[Draw]:
    """Give a function that shows the counts of a fetch on several workers, as they are told.

    It takes the counts by status, how many of these were ok before, and how many workers there are.
    """
    if callable(progress):
        yield lambda counts, *_: progress(sum(counts.values()), total, dict(counts))
    elif _is_drawn(progress, total):
        with _bar(total, smoothing=0) as bar:

            def draw(counts: Mapping[str, int], before: int, workers: int) -> None:
                bar.initial, bar.n = before, sum(counts.values())
                bar.set_postfix(dict(counts) | {"workers": workers})

            yield draw
    else:
        yield lambda *_: None


def _bar(total: int | None, **options: float) -> Any:
    tqdm = import_module("tqdm.auto").tqdm  # which looks for a notebook when it is imported
    return tqdm(total=total, unit="wallet", desc="wallets", **options)


def _is_drawn(progress: _AnyProgress, total: int | None) -> bool:
    return total != 0 and bool(progress or (progress is None and _is_watched()))


def _is_watched() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel") or sys.stderr.isatty()  # a notebook's shell has a kernel
