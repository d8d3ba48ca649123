"""What is to be seen of what a person wants to see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from walletframe.frames import known_wallets
from walletframe.numerals import many
from walletframe.pickers.explorer.script import script
from walletframe.pickers.explorer.views import arguments, draw
from walletframe.pickers.pane import told

if TYPE_CHECKING:
    from walletframe.charts import Figure
    from walletframe.frames import WalletDetails
    from walletframe.pickers.explorer.selection import Catalog, Selection
    from walletframe.pickers.explorer.views import View


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person wants to see."""

    catalog: Catalog
    selection: Selection
    view: View


@dataclass(frozen=True, slots=True)
class Sight:
    """What is to be seen of it."""

    wish: Wish
    shown: WalletDetails
    figure: Figure | None
    reason: str
    code: str


def look(wish: Wish) -> Sight:
    """Look."""
    catalog, selection, view = wish.catalog, wish.selection, wish.view
    picked = catalog.select(selection)
    shown = picked.details
    figure, chosen, reason = None, None, ""
    if shown.holdings.empty:
        reason = absence(shown, selection)
    else:
        try:
            chosen = arguments(view, selection, picked.holdings)
            figure = draw(view, chosen, picked, catalog.colors)
        except Exception as error:  # noqa: BLE001 - told in the chart's place
            chosen, reason = None, f"No chart: {told(error)}"
    code = script(view, selection, chosen, prepared=catalog.is_prepared)
    return Sight(wish, shown, figure, reason, code)


def absence(shown: WalletDetails, selection: Selection) -> str:
    """Say why there is no balance."""
    wallets = shown.wallets
    picked = selection.blockchains or selection.wallets or selection.tokens
    known, tokens = known_wallets(wallets, stale=True), wallets["tokens"]
    others = "other tokens than are picked" if selection.tokens else "balances that were left out"
    counts = {
        "not ok": (~known).sum(),
        "without any balance": (known & (tokens == 0)).sum(),
        f"with {others}": (known & (tokens > 0)).sum(),
    }
    parts = [f"{many(int(count), 'wallet')} {said}" for said, count in counts.items() if count]
    none = "no wallet is on what is picked" if picked else "no wallet was asked for"
    advice = " Take away some of what is picked." if picked else ""
    return f"No balance to show: {', '.join(parts) or none}.{advice}"
