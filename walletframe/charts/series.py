"""What the rows and the tokens of a grid are called, and how tokens are painted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from walletframe.charts.labels import token_labels, wallet_labels, whole_wallet
from walletframe.charts.palette import OTHER, chosen_colors, patterns
from walletframe.numerals import many

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.charts.grid import Grid
    from walletframe.frames import TokenKey


@dataclass(frozen=True, slots=True)
class Series:
    """One token of a chart, or all the others.

    Attributes
    ----------
    name : str
        Plain text.
    color : str
        As ``#RRGGBB``.
    pattern : str
        What tells it from another of this colour; empty for none.
    """

    name: str
    color: str
    pattern: str


def token_series(grid: Grid, colors: Mapping[TokenKey, str] | None) -> list[Series]:
    """Name and paint the columns of a grid.

    Parameters
    ----------
    grid : Grid
        A table of tokens.
    colors : mapping of (str, str or None) to str, optional
        Colours chosen earlier.

    Returns
    -------
    list of Series
        One for each column; the last is Other where there are others.
    """
    frame, tokens, places = grid.balances.frame, grid.balances.tokens, grid.tokens.tolist()
    names = [*token_labels(frame, tokens, places).values()]
    fills = [*chosen_colors(frame, tokens, places, colors).values()]
    if grid.other_tokens:
        names.append(other(grid.other_tokens, "token"))
        fills.append(OTHER)
    return [Series(*each) for each in zip(names, fills, patterns(fills), strict=True)]


def wallet_names(grid: Grid) -> tuple[list[str], list[str]]:
    """Name the rows of a grid of wallets.

    Parameters
    ----------
    grid : Grid
        A table of wallets.

    Returns
    -------
    tuple of (list of str, list of str)
        Short for an axis, and at length; the last is Other where there are others.
    """
    frame, wallets, places = grid.balances.frame, grid.balances.wallets, grid.rows.tolist()
    short = [*wallet_labels(frame, wallets, places).values()]
    full = [whole_wallet(frame, wallets, place) for place in places]
    rest = [other(grid.other_rows, "wallet")] * bool(grid.other_rows)
    return short + rest, full + rest


def other(count: int, noun: str) -> str:
    """Name what is not drawn for itself.

    Parameters
    ----------
    count : int
        How many.
    noun : str
        What.

    Returns
    -------
    str
        Such as ``Other (3 tokens)``.
    """
    return f"Other ({many(count, noun)})"
