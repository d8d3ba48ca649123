"""The pie: the tokens of one wallet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from walletframe.address import parse_wallets
from walletframe.charts.balances import added, check_top, largest, read_balances
from walletframe.charts.canvas import Space, blank, figure, markup, with_legend
from walletframe.charts.grid import lay_out
from walletframe.charts.nodes import LEAST
from walletframe.charts.notes import answered, drawn_of, wallets_frame
from walletframe.charts.palette import EDGE, pattern, text_on
from walletframe.errors import UnknownWalletError
from walletframe.frames import as_failed, find_wallet, short_wallet
from walletframe.numerals import percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from walletframe.charts.grid import Grid, Series
    from walletframe.frames import FetchLike, PositionsLike, TokenKey, WalletLike

_LIMIT = 20
_SPACE = Space(320)


def pie(
    holdings: PositionsLike,
    wallet: WalletLike,
    *,
    top: int = 8,
    wallets: FetchLike | None = None,
    colors: Mapping[TokenKey, str] | None = None,
) -> go.Figure:
    """Draw one wallet's holdings as a pie."""
    limit = check_top("top", top, _LIMIT)
    [named] = parse_wallets(wallet)
    title = f"Holdings of {short_wallet(named.blockchain, named.address)}"
    answers = None if wallets is None else _answers(as_failed(wallets_frame(wallets)), wallet)
    answer_notes = [] if answers is None else answered(answers)
    try:
        balances = read_balances(holdings, wallet=wallet)
    except UnknownWalletError:
        if answers is None:
            raise
        return blank(title, answer_notes, _why_no_rows(answers.iloc[0]))
    if not len(balances.rows):
        return blank(title, [*balances.left_out, *answer_notes], balances.why_none)
    sizes = added(balances.token_codes, balances.sizes)
    sizes[sizes < LEAST * sizes.sum()] = 0
    grid = lay_out(balances, np.zeros_like(balances.rows), np.array([0]), largest(sizes, limit))
    return _drawn(grid, title, str(named), answer_notes, colors)


def _answers(wallets: pd.DataFrame, wallet: WalletLike) -> pd.DataFrame | None:
    """Return the rows of a wallet, None where it was not asked."""
    try:
        return wallets[find_wallet(wallets, wallet)]
    except UnknownWalletError:
        return None


def _why_no_rows(row: pd.Series) -> str:
    if row["status"] != "ok":
        return f"What it holds is not known: {row['status']}."
    return "It holds nothing."


def _drawn(
    grid: Grid,
    title: str,
    owner: str,
    answer_notes: list[str],
    colors: Mapping[TokenKey, str] | None,
) -> go.Figure:
    rest = float(grid.sizes[0, -1] / grid.sizes.sum())
    slices = grid.series(colors)[: len(grid.tokens) + (rest >= LEAST)]
    measure, sizes = grid.balances.measure, grid.sizes[0, : len(slices)]
    names = [each.name for each in slices]
    parts = [measure.slice(size, float(sizes.sum())) for size in sizes.tolist()]
    labels = [f"{name} {part}".rstrip() for name, part in zip(names, parts, strict=True)]
    trace = go.Pie(
        labels=[markup([label]) for label in labels],
        values=sizes.tolist(),
        text=[markup([part or name]) for name, part in zip(names, parts, strict=True)],
        hovertext=[grid.hover(0, token, owner, sizes.sum()) for token in range(len(slices))],
        **_look(slices),
    )
    return figure(
        [trace],
        title=title,
        notes=[*_said(grid, rest), *grid.balances.left_out, *answer_notes],
        uniformtext={"minsize": 10, "mode": "hide"},
        **with_legend(_SPACE, labels),
    )


def _look(slices: list[Series]) -> dict[str, Any]:
    """Draw slices clockwise in their order, with text on those that have room for it."""
    return {
        "sort": False,
        "direction": "clockwise",
        "hole": 0.4,
        "hoverinfo": "text",
        "textinfo": "text",
        "textposition": "inside",
        "insidetextorientation": "horizontal",
        "textfont": {"color": [text_on(each.color) for each in slices]},
        "marker": {
            "colors": [each.color for each in slices],
            "line": {"color": EDGE, "width": 0.5},
            "pattern": pattern([each.pattern for each in slices]),
        },
    }


def _said(grid: Grid, rest: float) -> list[str]:
    said = [f"Slice: {grid.balances.measure.phrase}."]
    said.append(drawn_of((len(grid.tokens), grid.other_tokens, "token")))
    if 0 < rest < LEAST:
        said.append(f"Other is too small to be drawn ({percent(rest)}).")
    return said
