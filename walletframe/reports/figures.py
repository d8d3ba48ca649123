"""Which charts fit the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from walletframe import charts
from walletframe.analysis import totals
from walletframe.frames import read_positions

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

    from walletframe.frames import AssetsLike, By

# what a phone has room for, where others have that of the charts' own
_BARS, _COLORS, _ROWS, _COLUMNS = 12, 6, 15, 6
_LOOK = {
    "template": "plotly_white",
    "font": {"family": "system-ui, sans-serif", "color": "#1b1b1b", "size": 12},
}
_HOLDERS = 10  # of fewer, a curve of how unequally a token is spread says little
_TOTALS = "The numbers are in the table “Totals by token”."
_WALLETS = "The numbers are in the table “Wallets”."


class Grouping(NamedTuple):
    """What totals are by, as `totals` takes it."""

    by: By
    assets: AssetsLike | None = None
    bridged: bool = False


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


def grouped_chart(
    holdings: pd.DataFrame, wallets: pd.DataFrame, grouping: Grouping, table: str
) -> Chart:
    """Draw what each group has; the table is that of its numbers."""
    words = f"What each group has. The numbers are in the table “{table}”."
    held = holdings[(holdings["amount"] > 0).fillna(value=False)]
    options = {**grouping._asdict(), "wallets": wallets, "colors": charts.token_colors(held)}
    wide = charts.bar(held, **options)
    return _chart(words, wide, charts.bar(held, **options, top=_BARS, top_tokens=_COLORS))


def fitting_charts(holdings: pd.DataFrame, wallets: pd.DataFrame) -> list[Chart]:
    """Draw the charts that say something of these holdings: none where nothing is held."""
    held = read_positions(holdings[(holdings["amount"] > 0).fillna(value=False)])
    if not held.wallet_keys:
        return []
    colors = charts.token_colors(held)
    if len(held.wallet_keys) == 1:
        [owner] = held.wallets.itertuples(index=False, name=None)
        whole = charts.pie(held, owner, wallets=wallets, colors=colors)
        return [_chart(f"The tokens of the one wallet that holds any. {_TOTALS}", whole)]

    def bars(words: str, by: Literal["wallet", "blockchain"]) -> Chart:
        wide = charts.bar(held, by=by, wallets=wallets, colors=colors)
        few = charts.bar(held, by=by, wallets=wallets, colors=colors, top=_BARS, top_tokens=_COLORS)
        return _chart(words, wide, few)

    small = charts.heatmap(held, wallets=wallets, top=_ROWS, top_tokens=_COLUMNS)
    small.update_xaxes(tickangle=-90).update_traces(texttemplate=None)  # too small to write on
    grid = charts.heatmap(held, wallets=wallets)
    found = [
        bars(f"What each wallet holds, by token. {_WALLETS}", "wallet"),
        _chart(f"Which wallet holds which token. {_TOTALS}", grid, small),
    ]
    if "value" in held.holdings:
        nested = charts.treemap(held, wallets=wallets, colors=colors)
        found.append(_chart(f"Blockchains, their wallets and tokens. {_TOTALS}", nested))
    if len(held.chains) > 1:
        found.append(bars(f"What is held on each blockchain, by token. {_TOTALS}", "blockchain"))
    holders = totals(held)["holders"]
    if holders.max() >= _HOLDERS:
        most_widely_held = held.tokens.keys[int(holders.argmax())]
        curve = charts.lorenz(held, most_widely_held, wallets=wallets)
        words = f"How unequally the most widely held token is spread. {_TOTALS}"
        found.append(_chart(words, curve))
    return found


def _chart(words: str, wide: Figure, narrow: Figure | None = None) -> Chart:
    """Take a chart's title and notes out, and let it look like the page around it."""
    title, _, _ = charts.split_words(wide)
    views = []
    for name, drawn in (("wide", wide), ("narrow", narrow or wide)):
        _, notes, figure = charts.split_words(drawn)
        if not charts.has_template():  # of the user's own choice
            figure.update_layout(**_LOOK)
        views.append(View(name, " ".join(notes), figure))
    return Chart(title, words, tuple(views))
