"""The tokens of one wallet as slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from walletframe.address import parse_wallets
from walletframe.charts.apportionment import LEAST
from walletframe.charts.balances import read_balances
from walletframe.charts.canvas import blank, figure, markup, with_legend
from walletframe.charts.grid import lay_out
from walletframe.charts.labels import short_address
from walletframe.charts.notes import answered, drawn_of, wallets_frame
from walletframe.charts.palette import EDGE, pattern, text_on
from walletframe.charts.ranking import added, check_top, largest
from walletframe.charts.series import token_series
from walletframe.charts.space import Space
from walletframe.errors import UnknownWalletError
from walletframe.frames import as_failed, find_wallet
from walletframe.numerals import percent
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from walletframe.analysis.positions import WalletsLike
    from walletframe.charts.grid import Grid
    from walletframe.charts.series import Series
    from walletframe.frames import HoldingsLike, TokenKey, WalletLike

_LIMIT = 20
_SPACE = Space(320)


def pie(
    holdings: HoldingsLike,
    wallet: WalletLike,
    *,
    top: int = 8,
    wallets: WalletsLike | None = None,
    colors: Mapping[TokenKey, str] | None = None,
) -> go.Figure:
    """Draw what one wallet holds as slices.

    Parameters
    ----------
    holdings : DataFrame
        The ``holdings`` of a fetch, or some rows of it. Slices are values where there is a column
        ``value`` (float64, with ``currency`` if wanted), else of one size, since amounts of
        different tokens can't be compared.
    wallet : str, (str, str) or WalletAddress
        ``"ETH.0x…"`` or (blockchain, address).
    top : int, default 8
        The most tokens, up to 20; the rest are drawn as Other.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch, for a line on how old the wallet's answer is, and to
        say why it has no rows where it has none.
    colors : mapping of (str, str or None) to str, optional
        Colours of tokens, as from `token_colors`: hex or CSS names.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace, the largest slice first, with exact amounts in the hover; none, and the reason,
        where nothing is above 0.

    Raises
    ------
    ColumnsError
        Where a column is missing.
    AmountError
        Where the column ``amount`` holds no amounts.
    PricesError
        Where values are in more than one currency.
    AddressError, UnknownWalletError
        Where the wallet can't be read, or has no rows.
    SettingsError
        Where `top` is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {
    ...         "blockchain": "NEAR",
    ...         "address": "alice.near",
    ...         "symbol": ["NEAR", "USDC"],
    ...         "token_blockchain": "NEAR",
    ...         "token_address": [None, "usdc.near"],
    ...         "amount": pd.array(["2", "7"], dtype="amount"),
    ...     }
    ... )
    >>> pie(frame, "NEAR.alice.near").data[0].labels
    ('NEAR', 'USDC')
    """
    limit = check_top("top", top, _LIMIT)
    [named] = parse_wallets(wallet)
    title = f"Holdings of {shown(named.blockchain, 24)}.{short_address(named.address)}"
    answers = None if wallets is None else _answers(as_failed(wallets_frame(wallets)), wallet)
    told = [] if answers is None else answered(answers)
    try:
        balances = read_balances(holdings, wallet=wallet)
    except UnknownWalletError:
        if answers is None:
            raise
        return blank(title, told, _why_no_rows(answers.iloc[0]))
    if not len(balances.rows):
        return blank(title, [*balances.left_out, *told], balances.why_none)
    sizes = added(balances.token_codes, balances.sizes)
    sizes[sizes < LEAST * sizes.sum()] = 0
    grid = lay_out(balances, np.zeros_like(balances.rows), np.array([0]), largest(sizes, limit))
    return _drawn(grid, title, str(named), told, colors)


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
    told: list[str],
    colors: Mapping[TokenKey, str] | None,
) -> go.Figure:
    rest = float(grid.sizes[0, -1] / grid.sizes.sum())
    slices = token_series(grid, colors)[: len(grid.tokens) + (rest >= LEAST)]
    sizes = grid.sizes[0, : len(slices)]
    names = [each.name for each in slices]
    parts = [percent(float(part)) for part in sizes / sizes.sum()]
    counted = grid.balances.measure.kind == "count"
    labels = names if counted else [f"{n} {p}" for n, p in zip(names, parts, strict=True)]
    trace = go.Pie(
        labels=[markup([label]) for label in labels],
        values=sizes.tolist(),
        text=[markup([text]) for text in (names if counted else parts)],
        hovertext=[grid.cell(0, token, owner, sizes.sum()) for token in range(len(slices))],
        **_look(slices),
    )
    return figure(
        [trace],
        title=title,
        notes=[*_said(grid, rest), *grid.balances.left_out, *told],
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
