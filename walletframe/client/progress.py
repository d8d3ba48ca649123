"""How far a fetch has come, for a person or for a callable."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from walletframe.wire import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ProgressCall: TypeAlias = "Callable[[int, int, Mapping[str, int]], object]"
Progress: TypeAlias = "bool | ProgressCall | None"
OpenProgressCall: TypeAlias = "Callable[[int, int | None, Mapping[str, int]], object]"
OpenProgress: TypeAlias = "bool | OpenProgressCall | None"
_Wish: TypeAlias = "bool | Callable[..., object] | None"


@contextmanager
def counted(
    progress: _Wish, total: int | None, *, done: int = 0
) -> Iterator[Callable[[Status], None]]:
    """Count finished wallets.

    Parameters
    ----------
    progress : bool, callable or None
        A callable gets (done, total, counts by status) after each wallet. True draws a bar,
        False none; None draws one in a notebook and in a terminal.
    total : int or None
        How many wallets there are; None where nobody knows.
    done : int, default 0
        How many of them were ok before.

    Yields
    ------
    callable
        To be told the status of each finished wallet.
    """
    counts = Counter({Status.OK.value: done} if done else {})
    if callable(progress):
        yield _caller(progress, total, counts)
    elif total != 0 and (progress or (progress is None and _is_watched())):
        with _bar(total, counts) as tell:
            yield tell
    else:
        yield _ignore


def _ignore(status: Status) -> None:
    """Take note of nothing."""


def _caller(
    call: Callable[..., object], total: int | None, counts: Counter[str]
) -> Callable[[Status], None]:
    def tell(status: Status) -> None:
        counts[status.value] += 1
        call(counts.total(), total, dict(counts))

    return tell


@contextmanager
def _bar(total: int | None, counts: Counter[str]) -> Iterator[Callable[[Status], None]]:
    tqdm = import_module("tqdm.auto").tqdm  # which looks for a notebook when it is imported

    # What was done before is no part of the rate, by which the time left is reckoned.
    with tqdm(total=total, initial=counts.total(), unit="wallet", desc="wallets") as bar:

        def tell(status: Status) -> None:
            counts[status.value] += 1
            bar.update()
            bar.set_postfix(counts, refresh=False)

        yield tell


def _is_watched() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel") or sys.stderr.isatty()  # a notebook's shell has a kernel
