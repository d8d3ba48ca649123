"""Sizes of groups, the largest of them, and what is left for "Other"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from walletframe.errors import SettingsError

if TYPE_CHECKING:
    import numpy.typing as npt

    Places: TypeAlias = npt.NDArray[np.intp]
    Sizes: TypeAlias = npt.NDArray[np.float64]


def check_top(name: str, number: Any, limit: int) -> int:
    """Check how many things to draw.

    Parameters
    ----------
    name : str
        The argument's name.
    number : int
        As the caller wrote it.
    limit : int
        More than so many freeze a browser, or are no longer told apart.

    Returns
    -------
    int
        The number.

    Raises
    ------
    SettingsError
        Where it is no integer from 1 to `limit`.
    """
    whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not whole or not 1 <= number <= limit:
        raise SettingsError(
            f"{name}: {number!r}", hint=f"an integer from 1 to {limit}; the rest is drawn as Other"
        )
    return int(number)


def added(groups: Places, sizes: Sizes, count: int = 0) -> Sizes:
    """Add up the sizes of each group.

    Parameters
    ----------
    groups : ndarray of intp, shape (n,)
        The group of each size, from 0.
    sizes : ndarray of float64, shape (n,)
        What to add up.
    count : int, default 0
        The number of groups, where it is larger than any group says.

    Returns
    -------
    ndarray of float64
        One for each group, 0 for those without a size.
    """
    return np.bincount(groups, sizes, minlength=count).astype(np.float64, copy=False)


def largest(sizes: Sizes, top: int) -> Places:
    """Find the largest.

    Parameters
    ----------
    sizes : ndarray of float64, shape (n,)
        Those of 0 don't count.
    top : int
        How many. One more is given where it would be the only other.

    Returns
    -------
    ndarray of intp
        Their positions, the largest first, equal ones in their order.

    Examples
    --------
    >>> largest(np.array([1.0, 3.0, 0.0, 2.0, 1.0]), 2)
    array([1, 3])
    """
    order = np.argsort(-sizes, kind="stable")[: int((sizes > 0).sum())]
    return order if len(order) == top + 1 else order[:top]


def slots(chosen: Places, count: int) -> Places:
    """Give each of many things a place: its rank among the chosen ones, or the one behind them.

    Parameters
    ----------
    chosen : ndarray of intp
        The things that have a place of their own.
    count : int
        How many things there are.

    Returns
    -------
    ndarray of intp, shape (count,)
        ``len(chosen)`` for all others.

    Examples
    --------
    >>> slots(np.array([2, 0]), 4)
    array([1, 2, 0, 2])
    """
    places = np.full(count, len(chosen), dtype=np.intp)
    places[chosen] = np.arange(len(chosen))
    return places
