"""Run work on a separate thread, and show progress bars.

After an interrupt, the caller cancels the work and waits until the work has ended.
"""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from importlib import import_module
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from walletframe.wire.outcome import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

Progress: TypeAlias = "bool | Callable[[int, int, Mapping[str, int]], object] | None"
# The total is None if the wallets come from an iterator.
BulkProgress: TypeAlias = "bool | Callable[[int, int | None, Mapping[str, int]], object] | None"

T = TypeVar("T")

_TICK_S = 0.1  # without a timeout, a wait could miss an interrupt


class Job(Generic[T]):
    """Work that runs on its own thread and reports the status of each finished wallet."""

    def __init__(self, work: Callable[[Callable[[Status], None]], T]) -> None:
        self._work = work
        self._statuses: SimpleQueue[Status | None] = SimpleQueue()
        self.may_begin: Event = Event()  # the work waits until this is set
        self.ended: Event = Event()  # set when the work has ended; unread statuses may remain
        self._future: Future[T] = Future()
        Thread(target=self._run, name="walletframe-fetch", daemon=True).start()

    def run_with_progress(
        self, on_status: Callable[[Status], None], cancel: Event, meanwhile: Iterable[object] = ()
    ) -> tuple[T, bool]:
        """Wait for the work while iterating over `meanwhile`. Return (result, is_interrupted)."""
        try:
            self.may_begin.set()  # inside the try statement, which handles interrupts
            for _ in meanwhile:
                for status in self.unread_statuses():
                    on_status(status)
            for status in self.iter_statuses():
                on_status(status)
            return self.result(), False
        except KeyboardInterrupt:
            cancel.set()
            self.may_begin.set()  # cancelled work returns a result at once
            return self.result(), True
        except BaseException:
            cancel.set()
            with suppress(Exception):
                self.result()
            raise

    def iter_statuses(self) -> Iterator[Status]:
        """Yield the statuses in the order of arrival until the work has ended."""
        while not self.ended.is_set():
            with suppress(Empty):
                if (status := self._statuses.get(timeout=_TICK_S)) is not None:
                    yield status
        yield from self.unread_statuses()

    def unread_statuses(self) -> Iterator[Status]:
        """Yield the unread statuses, without waiting for more."""
        with suppress(Empty):
            while True:
                if (status := self._statuses.get_nowait()) is not None:
                    yield status

    def result(self) -> T:
        """Wait until the work ends, then return its result or raise its exception."""
        while not self.ended.wait(_TICK_S):
            pass
        return self._future.result()

    def _run(self) -> None:
        self.may_begin.wait()
        try:
            self._future.set_result(self._work(self._statuses.put))
        except BaseException as fault:  # noqa: BLE001 - `result` raises it
            self._future.set_exception(fault)
        finally:
            self.ended.set()
            self._statuses.put(None)  # wakes a thread that waits for a status


@contextmanager
def status_counter(
    progress: BulkProgress | Progress, total: int | None, *, done: int = 0
) -> Iterator[Callable[[Status], None]]:
    """Yield a function that adds a status to the progress. `done` wallets are ok from the start."""
    counts = Counter({Status.OK.value: done} if done else {})
    with progress_display(progress, total, initial=done) as show:

        def count_status(status: Status) -> None:
            counts[status.value] += 1
            show(counts, done)

        yield count_status


@contextmanager
def progress_display(
    progress: BulkProgress | Progress, total: int | None, **tqdm_options: float
) -> Iterator[Callable[..., object]]:
    """Yield the function ``show(counts_by_status, done_before_the_run, **other_counts)``."""
    if callable(progress):
        report: Callable[..., object] = progress
        yield lambda counts, *_, **__: report(sum(counts.values()), total, dict(counts))
        return
    ipython = sys.modules.get("IPython")
    is_notebook = hasattr(ipython and ipython.get_ipython(), "kernel")
    is_terminal = bool(sys.stderr and sys.stderr.isatty())  # stderr is None if it is closed
    if total != 0 and (progress or (progress is None and (is_notebook or is_terminal))):
        tqdm = import_module("tqdm.auto").tqdm  # imported late, since the import detects a notebook
        with tqdm(total=total, unit="wallet", desc="wallets", **tqdm_options) as bar:

            def draw_bar(counts: Mapping[str, int], before: int, **other_counts: int) -> None:
                bar.initial = before  # tqdm ignores these when it estimates the remaining time
                bar.set_postfix(dict(counts) | other_counts, refresh=False)
                bar.update(sum(counts.values()) - bar.n)

            yield draw_bar
    else:
        yield lambda *_, **__: None
