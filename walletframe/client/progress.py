"""How far a fetch has come, for a person or for a callable."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from walletframe.wire import Status

ProgressCall: TypeAlias = "Callable[[int, int, Mapping[str, int]], object]"
Progress: TypeAlias = "bool | ProgressCall | None"


@contextmanager
def counted(progress: Progress, total: int) -> Iterator[Callable[[Status], None]]:
    """Count finished wallets.

    Parameters
    ----------
    progress : bool, callable or None
        A callable gets (done, total, counts by status) after each wallet. True draws a bar,
        False none; None draws one in a notebook and in a terminal.
    total : int
        How many wallets there are.

    Yields
    ------
    callable
        To be told the status of each finished wallet.
    """
    if callable(progress):
        yield _caller(progress, total)
    elif total and (progress or (progress is None and _is_watched())):
        with _bar(total) as tell:
            yield tell
    else:
        yield _ignore


def _ignore(status: Status) -> None:
    """Take note of nothing."""


def _caller(call: ProgressCall, total: int) -> Callable[[Status], None]:
    counts: Counter[str] = Counter()

    def tell(status: Status) -> None:
        counts[status.value] += 1
        call(counts.total(), total, dict(counts))

    return tell


@contextmanager
def _bar(total: int) -> Iterator[Callable[[Status], None]]:
    tqdm = import_module("tqdm.auto").tqdm  # which looks for a notebook when it is imported

    counts: Counter[str] = Counter()
    with tqdm(total=total, unit="wallet", desc="wallets") as bar:

        def tell(status: Status) -> None:
            counts[status.value] += 1
            bar.update()
            bar.set_postfix(counts, refresh=False)

        yield tell


def _is_watched() -> bool:
    return "ipykernel" in sys.modules or sys.stderr.isatty()
