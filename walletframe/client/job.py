"""Work on a thread of its own: an interrupt finds the caller waiting, and nothing half done."""

from __future__ import annotations

from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

N = TypeVar("N")
T = TypeVar("T")

_TICK_S = 0.1  # a wait without end would miss an interrupt that comes just before it begins


class Job(Generic[N, T]):
    """A piece of work that tells how far it is.

    Parameters
    ----------
    work : callable
        Gets a function to tell its news, such as the status of each finished wallet, and returns
        the result.
    """

    def __init__(self, work: Callable[[Callable[[N], None]], T]) -> None:
        self._work = work
        self._news: SimpleQueue[N | None] = SimpleQueue()
        self._ended = Event()
        self._results: list[T] = []
        self._fault: BaseException | None = None
        Thread(target=self._run, name="walletframe-fetch", daemon=True).start()

    def news(self) -> Iterator[N]:
        """Hand out what is told, until the work has ended.

        Yields
        ------
        N
            In the order told.
        """
        while True:
            try:
                news = self._news.get(timeout=_TICK_S)
            except Empty:
                if self._ended.is_set():
                    return
                continue
            if news is None:
                return
            yield news

    def news_so_far(self) -> Iterator[N]:
        """Hand out what is told by now, without waiting."""
        with suppress(Empty):
            while (news := self._news.get_nowait()) is not None:
                yield news

    def has_ended(self) -> bool:
        """Return whether the work has ended; there may be news left."""
        return self._ended.is_set()

    def result(self) -> T:
        """Wait for the result.

        Returns
        -------
        T
            What the work returned.

        Raises
        ------
        BaseException
            What the work raised.
        """
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
            self._news.put(None)
