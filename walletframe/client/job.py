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
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from walletframe.wire.outcome import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

Progress: TypeAlias = "bool | Callable[[int, int, Mapping[str, int]], object] | None"
OpenProgress: TypeAlias = "bool | Callable[[int, int | None, Mapping[str, int]], object] | None"

T = TypeVar("T")

_TICK_S = 0.1  # a wait without end would miss an interrupt that comes just before it begins


class Job(Generic[T]):
    """Work that has begun: it gets a function for its news, the status of each finished wallet."""

    def __init__(self, work: Callable[[Callable[[Status], None]], T]) -> None:
        self._work = work
        self._news: SimpleQueue[Status | None] = SimpleQueue()
        self.ended: Event = Event()  # there may be news left
        self._results: list[T] = []
        self._fault: BaseException | None = None
        Thread(target=self._run, name="walletframe-fetch", daemon=True).start()

    def attend(
        self,
        count: Callable[[Status], None],
        cancel: Event,
        steps: Iterable[object] = (),
    ) -> tuple[T, bool]:
        """Count the news, between `steps` of the caller; an interrupt, or an error, sets `cancel`.

        Return the result, and whether there was an interrupt.
        """
        try:
            for _ in steps:
                for status in self.news_so_far():
                    count(status)
            for status in self.news():
                count(status)
            return self.result(), False
        except KeyboardInterrupt:
            cancel.set()
            return self.result(), True
        except BaseException:
            cancel.set()
            with suppress(Exception):
                self.result()
            raise

    def news(self) -> Iterator[Status]:
        """Hand out the news in their order, until the work has ended."""
        while not self.ended.is_set():
            with suppress(Empty):
                if (news := self._news.get(timeout=_TICK_S)) is not None:
                    yield news
        yield from self.news_so_far()

    def news_so_far(self) -> Iterator[Status]:
        """Hand out the news that are there, without waiting."""
        with suppress(Empty):
            while True:
                if (news := self._news.get_nowait()) is not None:
                    yield news

    def result(self) -> T:
        """Wait for what the work returns, or raise what it raised."""
        while not self.ended.wait(_TICK_S):
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
            self.ended.set()
            self._news.put(None)  # wakes who waits for news


@contextmanager
def counted(
    progress: OpenProgress | Progress, total: int | None, *, done: int = 0
) -> Iterator[Callable[[Status], None]]:
    """Return a function that counts finished wallets; `done` of them were ok before."""
    counts = Counter({Status.OK.value: done} if done else {})
    with shown(progress, total, initial=done) as show:

        def count(status: Status) -> None:
            counts[status.value] += 1
            show(counts, done)

        yield count


@contextmanager
def shown(
    progress: OpenProgress | Progress, total: int | None, **options: float
) -> Iterator[Callable[..., object]]:
    """Return a function that shows counts by status, how many were ok before, and what is named.

    A callable gets (done, total, counts); True draws a bar, None does in a notebook or terminal.
    """
    if callable(progress):
        told: Callable[..., object] = progress
        yield lambda counts, *_, **__: told(sum(counts.values()), total, dict(counts))
        return
    ipython = sys.modules.get("IPython")
    is_notebook = hasattr(ipython and ipython.get_ipython(), "kernel")
    is_terminal = bool(sys.stderr and sys.stderr.isatty())  # None where it is closed
    if total != 0 and (progress or (progress is None and (is_notebook or is_terminal))):
        tqdm = import_module("tqdm.auto").tqdm  # which looks for a notebook when it is imported
        with tqdm(total=total, unit="wallet", desc="wallets", **options) as bar:

            def draw(counts: Mapping[str, int], before: int, **beside: int) -> None:
                bar.initial = before  # which is no part of the rate, by which the ETA is reckoned
                bar.set_postfix(dict(counts) | beside, refresh=False)
                bar.update(sum(counts.values()) - bar.n)

            yield draw
    else:
        yield lambda *_, **__: None
