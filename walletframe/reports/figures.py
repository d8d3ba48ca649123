"""Which charts fit the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pandas as pd

from walletframe.charts import (
    bar,
    has_template,
    heatmap,
    lorenz,
    pie,
    split_words,
    token_colors,
    treemap,
)
from walletframe.frames import read_positions
from walletframe.reports.content import Chart, View

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from walletframe.frames import Positions, TokenKey

_BARS, _COLORS = 12, 6
_ROWS, _COLUMNS = 15, 8
"""What a phone has room for, where others have that of the charts' own."""
_LOOK = {
    "template": "plotly_white",
    "font": {"family": "system-ui, sans-serif", "color": "#1b1b1b", "size": 12},
}
_HOLDERS = 10
"""Of fewer, a curve of how unequally a token is spread says little."""
_TOTALS = "The numbers are in the table “Totals by token”."
_WALLETS = "The numbers are in the table “Wallets”."


def fitting_charts(holdings: pd.DataFrame, wallets: pd.DataFrame) -> list[Chart]:
    """Draw the charts that say something of these holdings: none where nothing is held."""
    held = read_positions(holdings[(holdings["amount"] > 0).fillna(value=False)])
    if not held.wallet_keys:
        return []
    colors = token_colors(held)
    if len(held.wallet_keys) == 1:
        [owner] = held.wallets.itertuples(index=False, name=None)
        whole = pie(held, owner, wallets=wallets, colors=colors)
        return [_chart(f"The tokens of the one wallet that holds any. {_TOTALS}", whole)]
    return [
        *_bars(held, wallets, colors, several=len(held.chains) > 1),
        *_spread(held, wallets),
    ]


def _bars(
    held: Positions, wallets: pd.DataFrame, colors: dict[TokenKey, str], *, several: bool
) -> list[Chart]:
    """Draw wallets and tokens, and blockchains where there are several."""
    small = heatmap(held, wallets=wallets, top=_ROWS, top_tokens=_COLUMNS)
    small.update_xaxes(tickangle=-90)
    charts = [
        _stacked(f"What each wallet holds, by token. {_WALLETS}", held, "wallet", wallets, colors),
        _chart(
            f"Which wallet holds which token. {_TOTALS}",
            heatmap(held, wallets=wallets),
            small.update_traces(texttemplate=None),  # its cells are too small to write on
        ),
    ]
    if "value" in held.holdings:
        nested = treemap(held, wallets=wallets, colors=colors)
        charts.append(_chart(f"Blockchains, their wallets and tokens. {_TOTALS}", nested))
    if several:
        words = f"What is held on each blockchain, by token. {_TOTALS}"
        charts.append(_stacked(words, held, "blockchain", wallets, colors))
    return charts


def _stacked(
    words: str,
    held: Positions,
    by: Literal["wallet", "blockchain"],
    wallets: pd.DataFrame,
    colors: dict[TokenKey, str],
) -> Chart:
    return _chart(
        words,
        bar(held, by=by, wallets=wallets, colors=colors),
        bar(held, by=by, wallets=wallets, colors=colors, top=_BARS, top_tokens=_COLORS),
    )


def _chart(words: str, wide: Figure, narrow: Figure | None = None) -> Chart:
    title, _, _ = split_words(wide)
    return Chart(title, words, (_view("wide", wide), _view("narrow", narrow or wide)))


def _view(name: str, drawn: Figure) -> View:
    _, notes, figure = split_words(drawn)
    return View(name, notes, _dressed(figure))


def _dressed(figure: Figure) -> Figure:
    """Let a chart look like the page around it, unless the user has chosen a template."""
    return figure if has_template() else figure.update_layout(**_LOOK)


def _spread(held: Positions, wallets: pd.DataFrame) -> list[Chart]:
    """Draw how unequally the token of the most holders is spread, where these are many."""
    tokens = held.tokens
    pairs = pd.DataFrame({"token": tokens.codes, "owner": held.wallet_codes}).drop_duplicates()
    holders = pairs["token"].value_counts()
    if holders.iloc[0] < _HOLDERS:
        return []
    curve = lorenz(held, tokens.keys[holders.index[0]], wallets=wallets)
    return [_chart(f"How unequally the most widely held token is spread. {_TOTALS}", curve)]
