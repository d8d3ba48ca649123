"""Which charts fit the data."""

from __future__ import annotations

from dataclasses import dataclass
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

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from walletframe.frames import Positions

# what a phone has room for, where others have that of the charts' own
_BARS, _COLORS, _ROWS, _COLUMNS = 12, 6, 15, 8
_LOOK = {
    "template": "plotly_white",
    "font": {"family": "system-ui, sans-serif", "color": "#1b1b1b", "size": 12},
}
_HOLDERS = 10  # of fewer, a curve of how unequally a token is spread says little
_TOTALS = "The numbers are in the table “Totals by token”."
_WALLETS = "The numbers are in the table “Wallets”."


@dataclass(frozen=True, slots=True)
class View:
    """A chart without its title and notes, as drawn for ``wide`` or for ``narrow`` pages."""

    name: str
    notes: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, and in words what it shows, and which table has its numbers."""

    title: str
    words: str
    views: tuple[View, ...]


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

    def bars(words: str, by: Literal["wallet", "blockchain"]) -> Chart:
        wide = bar(held, by=by, wallets=wallets, colors=colors)
        few = bar(held, by=by, wallets=wallets, colors=colors, top=_BARS, top_tokens=_COLORS)
        return _chart(words, wide, few)

    small = heatmap(held, wallets=wallets, top=_ROWS, top_tokens=_COLUMNS)
    small.update_xaxes(tickangle=-90).update_traces(texttemplate=None)  # too small to write on
    grid = heatmap(held, wallets=wallets)
    charts = [
        bars(f"What each wallet holds, by token. {_WALLETS}", "wallet"),
        _chart(f"Which wallet holds which token. {_TOTALS}", grid, small),
    ]
    if "value" in held.holdings:
        nested = treemap(held, wallets=wallets, colors=colors)
        charts.append(_chart(f"Blockchains, their wallets and tokens. {_TOTALS}", nested))
    if len(held.chains) > 1:
        charts.append(bars(f"What is held on each blockchain, by token. {_TOTALS}", "blockchain"))
    token, holders = _most_widely_held(held)
    if holders >= _HOLDERS:
        curve = lorenz(held, held.tokens.keys[token], wallets=wallets)
        words = f"How unequally the most widely held token is spread. {_TOTALS}"
        charts.append(_chart(words, curve))
    return charts


def _most_widely_held(held: Positions) -> tuple[int, int]:
    """Return the place of a token, and how many wallets hold it."""
    pairs = pd.DataFrame({"token": held.tokens.codes, "owner": held.wallet_codes})
    holders = pairs.drop_duplicates()["token"].value_counts()
    return int(holders.index[0]), int(holders.iloc[0])


def _chart(words: str, wide: Figure, narrow: Figure | None = None) -> Chart:
    """Take a chart's title and notes out, and let it look like the page around it."""
    title, _, _ = split_words(wide)
    views = []
    for name, drawn in (("wide", wide), ("narrow", narrow or wide)):
        _, notes, figure = split_words(drawn)
        if not has_template():  # of the user's own choice
            figure.update_layout(**_LOOK)
        views.append(View(name, notes, figure))
    return Chart(title, words, tuple(views))
