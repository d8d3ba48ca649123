"""The charts to choose from, and what each needs of a selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe import charts
from walletframe.address import canonical_key, parse_wallets

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from walletframe.charts import Figure
    from walletframe.frames import Identified, Identities, TokenKey
    from walletframe.pickers.explorer.selection import Picked, Selection


@dataclass(frozen=True, slots=True)
class View:
    """A chart to choose.

    Attributes
    ----------
    label : str
        What a person sees.
    function : str
        The name of the function in `walletframe.charts`.
    options : mapping
        How much is drawn, so that a browser draws it in a moment, and what has a bar.
    takes : {"", "perhaps a token", "a token", "a wallet"}
        What else the function takes.
    colored : bool
        Whether it takes colours of tokens.
    """

    label: str
    function: str
    options: Mapping[str, Any]
    takes: str = ""
    colored: bool = True


VIEWS = {
    view.label: view
    for view in (
        View("Treemap", "treemap", {"top": 80}, takes="perhaps a token"),
        View("Sunburst", "sunburst", {"top": 80}, takes="perhaps a token"),
        View(
            "Bars by wallet",
            "bar",
            {"by": "wallet", "top": 12, "top_tokens": 6},
            takes="perhaps a token",
        ),
        View(
            "Bars by blockchain",
            "bar",
            {"by": "blockchain", "top_tokens": 6},
            takes="perhaps a token",
        ),
        View("Heatmap", "heatmap", {"top": 20, "top_tokens": 15}, colored=False),
        View("Pie of a wallet", "pie", {}, takes="a wallet"),
        View("Lorenz curve", "lorenz", {}, takes="a token", colored=False),
    )
}


def arguments(view: View, selection: Selection, holdings: Identified) -> dict[str, Any]:
    """Choose the arguments of a chart.

    Parameters
    ----------
    view : View
        The chart.
    selection : Selection
        What a person chose: the token, where it is one; the first, where the chart needs one.
    holdings : Identified
        What is selected, not empty: where a chart needs a token or a wallet and none is chosen,
        it is that with the most balances.

    Returns
    -------
    dict
        The view's options, and ``token`` or ``wallet``, as far as the chart takes them.
    """
    found = dict(view.options)
    if view.takes == "a token":
        found["token"] = _first(selection.tokens, holdings.tokens)
    elif view.takes == "perhaps a token" and len(selection.tokens) == 1:
        [found["token"]] = selection.tokens
    if view.takes == "a wallet":
        named = parse_wallets(selection.wallets)
        keys = [canonical_key(wallet.blockchain, wallet.address) for wallet in named]
        found["wallet"] = _first(keys, holdings.wallets)
    return found


def draw(
    view: View, chosen: Mapping[str, Any], picked: Picked, colors: Mapping[TokenKey, str]
) -> Figure:
    """Draw a chart.

    Parameters
    ----------
    view : View
        Which.
    chosen : mapping
        What `arguments` returned.
    picked : Picked
        What is selected; not without holdings.
    colors : mapping of (str, str or None) to str
        The colours that tokens have in all charts of the fetch.

    Returns
    -------
    plotly.graph_objects.Figure
        The chart, which says how complete it is.
    """
    more: dict[str, Any] = {"colors": colors} if view.colored else {}
    function = getattr(charts, view.function)
    figure: Figure = function(picked.holdings, wallets=picked.wallets, **chosen, **more)
    return figure


def _first(chosen: Iterable[TokenKey], identities: Identities) -> TokenKey:
    """Return the first that is chosen and there, or else that with the most rows."""
    there = set(identities.keys)
    most = identities.keys[int(np.bincount(identities.codes).argmax())]
    return next((key for key in chosen if key in there), most)
