"""Treemap and sunburst: blockchains, their wallets, and the tokens of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from walletframe.charts.balances import read_balances
from walletframe.charts.canvas import blank, figure
from walletframe.charts.leaves import pick_leaves
from walletframe.charts.notes import drawn_of, notes
from walletframe.charts.palette import EDGE, pattern, text_on
from walletframe.charts.ranking import check_top
from walletframe.charts.space import Space
from walletframe.charts.tree import OTHER_CHAINS, OTHER_WALLETS, grow
from walletframe.numerals import many, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.analysis.positions import WalletsLike
    from walletframe.charts.balances import Balances
    from walletframe.charts.leaves import Leaves
    from walletframe.charts.tree import Node
    from walletframe.frames import HoldingsLike, TokenKey, TokenLike

_TREEMAP, _SUNBURST = 500, 300
_ROUNDED = 2
_OPPOSITE = {"#000000": "#FFFFFF", "#FFFFFF": "#000000"}
_SPACE = Space(420)
_ROUNDING = 1e-12


def treemap(
    holdings: HoldingsLike,
    *,
    token: TokenLike | None = None,
    top: int = 250,
    wallets: WalletsLike | None = None,
    colors: Mapping[TokenKey, str] | None = None,
) -> go.Figure:
    """Draw holdings as nested rectangles: blockchains, wallets, tokens.

    Parameters
    ----------
    holdings : DataFrame
        The ``holdings`` of a fetch, or some rows of it. Areas are values where there is a column
        ``value`` (float64, with ``currency`` if wanted), else numbers of balances.
    token : str or (str, str or None), optional
        One token, whose amounts are then the areas.
    top : int, default 250
        The most rectangles, up to 500, for that is what a browser's time goes into. Where all are
        too many, the largest wallets are drawn alone, and the others of each blockchain together,
        what they hold of a token added up; the rest are drawn as Other.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch, for a line on how complete and how old it is.
    colors : mapping of (str, str or None) to str, optional
        Colours of tokens, as from `token_colors`: hex or CSS names.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace, with exact amounts in the hover; none, and the reason, where nothing is above 0.

    Raises
    ------
    ColumnsError
        Where a column is missing.
    AmountError
        Where the column ``amount`` holds no amounts.
    PricesError
        Where values are in more than one currency.
    UnknownTokenError, AmbiguousTokenError
        Where the token is not there, or its symbol is another's too.
    SettingsError
        Where `top` is out of range.

    Examples
    --------
    >>> from walletframe.frames import assemble
    >>> treemap(assemble([]).holdings).layout.annotations[0].text
    'No holdings: there is no row to draw.'
    """
    limit = check_top("top", top, _TREEMAP)
    balances = read_balances(holdings, token=token)
    if not len(balances.rows):
        return _nothing(balances, wallets)
    leaves = pick_leaves(balances, limit)
    nodes = grow(balances, leaves, colors)
    trace = go.Treemap(
        **_columns(nodes),
        tiling={"pad": 1},
        marker_pad={"t": 20, "l": 2, "r": 2, "b": 2},
        marker_cornerradius=_ROUNDED,
    )
    return figure(
        [trace],
        title=_title(balances),
        notes=notes(_said("Area", balances, leaves, nodes), balances, wallets),
        space=_SPACE,
        uniformtext={"minsize": 8, "mode": "hide"},
    )


def sunburst(
    holdings: HoldingsLike,
    *,
    token: TokenLike | None = None,
    top: int = 250,
    wallets: WalletsLike | None = None,
    colors: Mapping[TokenKey, str] | None = None,
) -> go.Figure:
    """Draw holdings as rings: blockchains inside, around them their wallets, outside the tokens.

    Parameters
    ----------
    holdings : DataFrame
        The ``holdings`` of a fetch, or some rows of it. Angles are values where there is a column
        ``value`` (float64, with ``currency`` if wanted), else numbers of balances.
    token : str or (str, str or None), optional
        One token, whose amounts are then the angles.
    top : int, default 250
        The most pieces, up to 300, for that is what a browser's time goes into. Where all are too
        many, the largest wallets are drawn alone, and the others of each blockchain together, what
        they hold of a token added up; the rest are drawn as Other.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch, for a line on how complete and how old it is.
    colors : mapping of (str, str or None) to str, optional
        Colours of tokens, as from `token_colors`: hex or CSS names.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace, with exact amounts in the hover; none, and the reason, where nothing is above 0.

    Raises
    ------
    ColumnsError
        Where a column is missing.
    AmountError
        Where the column ``amount`` holds no amounts.
    PricesError
        Where values are in more than one currency.
    UnknownTokenError, AmbiguousTokenError
        Where the token is not there, or its symbol is another's too.
    SettingsError
        Where `top` is out of range.

    Examples
    --------
    >>> from walletframe.frames import assemble
    >>> len(sunburst(assemble([]).holdings).data)
    0
    """
    limit = check_top("top", top, _SUNBURST)
    balances = read_balances(holdings, token=token)
    if not len(balances.rows):
        return _nothing(balances, wallets)
    leaves = pick_leaves(balances, limit)
    nodes = grow(balances, leaves, colors)
    trace = go.Sunburst(**_columns(nodes), leaf_opacity=1)
    return figure(
        [trace],
        title=_title(balances),
        notes=notes(_said("Angle", balances, leaves, nodes), balances, wallets),
        space=_SPACE,
    )


def _columns(nodes: list[Node]) -> dict[str, Any]:
    return {
        "ids": [node.id for node in nodes],
        "parents": [node.parent for node in nodes],
        "labels": [node.label for node in nodes],
        "text": [node.text for node in nodes],
        "values": [node.size for node in nodes],
        "hovertext": [node.hover for node in nodes],
        "marker": {
            "colors": [node.color for node in nodes],
            "line": {"color": EDGE, "width": 0.5},
            "pattern": {
                **pattern([node.pattern for node in nodes]),
                # On the other side of the colour than the text, which is read on it all the same.
                "fgcolor": [_OPPOSITE[text_on(node.color)] for node in nodes],
                "fgopacity": 0.4,
            },
        },
        "branchvalues": "remainder",
        "textinfo": "label+text",
        "textfont": {"color": [text_on(node.color) for node in nodes]},
        "hoverinfo": "text",
    }


def _title(balances: Balances) -> str:
    if balances.measure.kind == "amount":
        return f"{balances.measure.unit} by blockchain and wallet"
    return "Holdings by blockchain, wallet and token"


def _nothing(balances: Balances, wallets: WalletsLike | None) -> go.Figure:
    return blank(_title(balances), notes([], balances, wallets), balances.why_none)


def _said(size: str, balances: Balances, leaves: Leaves, nodes: list[Node]) -> list[str]:
    lost = 1 - sum(node.size for node in nodes) / leaves.total
    said = [f"{size}: {balances.measure.phrase}.", *_drawn(balances, leaves, nodes)]
    return [*said, f"{percent(lost)} is too small to be drawn."] if lost > _ROUNDING else said


def _drawn(balances: Balances, leaves: Leaves, nodes: list[Node]) -> list[str]:
    """Say which blockchains, wallets and balances are drawn, as far as not all are."""
    chains, wallets = int((leaves.members > 0).sum()), int(leaves.members.sum())
    drawn, own = len(leaves.drawn_chains), len(leaves.drawn_wallets)
    beyond = any(node.id == OTHER_CHAINS for node in nodes)
    said = [drawn_of((drawn, chains - drawn, "blockchain"))] * beyond
    if balances.measure.kind == "amount" and own:
        return [*said, drawn_of((own, wallets - own, "wallet"))]
    if own == wallets:
        rest = len(leaves.sizes) - len(leaves.drawn)
        return [*said, drawn_of((len(leaves.drawn), rest, "balance"))]
    which = many(wallets, "wallet")
    if own and not any(node.id.startswith(OTHER_WALLETS) for node in nodes):
        return [*said, f"{own:,} of {which}."]
    which = f"{own:,} of {which} alone, the others" if own else which
    level = "blockchain and token" if len(leaves.drawn) else "blockchain"
    return [*said, f"{which} added up by {level}."]
