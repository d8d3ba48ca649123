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
    """A chart to choose."""

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
    """Choose the arguments of a chart."""
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
    """Draw a chart."""
    more: dict[str, Any] = {"colors": colors} if view.colored else {}
    function = getattr(charts, view.function)
    figure: Figure = function(picked.holdings, wallets=picked.wallets, **chosen, **more)
    return figure


def _first(chosen: Iterable[TokenKey], identities: Identities) -> TokenKey:
    """Return the first that is chosen and there, or else that with the most rows."""
    there = set(identities.keys)
    most = identities.keys[int(np.bincount(identities.codes).argmax())]
    return next((key for key in chosen if key in there), most)
