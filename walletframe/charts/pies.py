"""The pie: the tokens of one wallet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from walletframe.address import parse_wallets
from walletframe.charts.balances import added, check_top, largest, lay_out, read_balances
from walletframe.charts.canvas import Space, blank, figure, markup, with_legend
from walletframe.charts.nodes import LEAST
from walletframe.charts.notes import answered, drawn_of, wallets_frame
from walletframe.charts.palette import EDGE, pattern, text_on
from walletframe.errors import UnknownWalletError
from walletframe.frames import as_failed, find_wallet, short_wallet
from walletframe.numerals import percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from walletframe.charts.balances import Grid
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
    answers = _answers(wallets, wallet)
    of_answer = [] if answers is None else answered(answers)
    try:
        balances = read_balances(holdings, wallet=wallet)
    except UnknownWalletError:
        if answers is None:
            raise
        status = answers["status"].iloc[0]
        nothing = f"What it holds is not known: {status}."
        return blank(title, of_answer, "It holds nothing." if status == "ok" else nothing)
    if not len(balances.rows):
        return blank(title, [*balances.left_out, *of_answer], balances.why_none)
    sizes = added(balances.token_codes, balances.sizes)
    sizes[sizes < LEAST * sizes.sum()] = 0
    grid = lay_out(balances, np.zeros_like(balances.rows), np.array([0]), largest(sizes, limit))
    return _drawn(grid, title, str(named), of_answer, colors)


def _answers(wallets: FetchLike | None, wallet: WalletLike) -> pd.DataFrame | None:
    """Return the rows of a wallet, None where it was not asked."""
    if wallets is None:
        return None
    frame = as_failed(wallets_frame(wallets))
    try:
        return frame[find_wallet(frame, wallet)]
    except UnknownWalletError:
        return None


def _drawn(
    grid: Grid,
    title: str,
    owner: str,
    of_answer: list[str],
    colors: Mapping[TokenKey, str] | None,
) -> go.Figure:
    measure, rest = grid.balances.measure, float(grid.sizes[0, -1] / grid.sizes.sum())
    slices = grid.series(colors)[: len(grid.tokens) + (rest >= LEAST)]
    sizes = grid.sizes[0, : len(slices)]
    total = float(sizes.sum())
    parts = [measure.slice(size, total) for size in sizes.tolist()]
    named = [*zip([each.name for each in slices], parts, strict=True)]
    labels = [f"{name} {part}".rstrip() for name, part in named]
    # Clockwise in their order, with text on those that have room for it.
    trace = go.Pie(
        labels=[markup([label]) for label in labels],
        values=sizes.tolist(),
        text=[markup([part or name]) for name, part in named],
        hovertext=[grid.hover(0, token, owner, total) for token in range(len(slices))],
        sort=False,
        direction="clockwise",
        hole=0.4,
        hoverinfo="text",
        textinfo="text",
        textposition="inside",
        insidetextorientation="horizontal",
        textfont={"color": [text_on(each.color) for each in slices]},
        marker={
            "colors": [each.color for each in slices],
            "line": {"color": EDGE, "width": 0.5},
            "pattern": pattern([each.pattern for each in slices]),
        },
    )
    said = [f"Slice: {measure.phrase}."]
    said.append(drawn_of((len(grid.tokens), grid.other_tokens, "token")))
    if 0 < rest < LEAST:
        said.append(f"Other is too small to be drawn ({percent(rest)}).")
    return figure(
        [trace],
        title=title,
        notes=[*said, *grid.balances.left_out, *of_answer],
        uniformtext={"minsize": 10, "mode": "hide"},
        **with_legend(_SPACE, labels),
    )
