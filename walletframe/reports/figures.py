"""Which charts fit the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.charts import bar, heatmap, lorenz, pie, token_colors, treemap
from walletframe.frames import token_identities, wallet_identities
from walletframe.reports.content import Chart

if TYPE_CHECKING:
    import pandas as pd

_HOLDERS = 10
"""Of fewer, a curve of how unequally a token is spread says little."""
_TOTALS = "The numbers are in the table “Totals by token”."
_WALLETS = "The numbers are in the table “Wallets”."


def fitting_charts(holdings: pd.DataFrame, wallets: pd.DataFrame) -> list[Chart]:
    """Draw the charts that say something of these holdings.

    Parameters
    ----------
    holdings : DataFrame
        Those to be drawn, valued where they can be.
    wallets : DataFrame
        All that were asked.

    Returns
    -------
    list of Chart
        None where nothing is held; of one wallet, its tokens; of several, more.
    """
    held = holdings[(holdings["amount"] > 0).fillna(value=False)]
    owners = wallet_identities(held)
    if not owners.keys:
        return []
    colors = token_colors(held)
    if len(owners.keys) == 1:
        whole = pie(held, _first_wallet(held), wallets=wallets, colors=colors)
        return [Chart(whole, f"The tokens of the one wallet that holds any. {_TOTALS}")]
    charts = [
        Chart(
            bar(held, wallets=wallets, colors=colors),
            f"What each wallet holds, by token. {_WALLETS}",
        ),
        Chart(heatmap(held, wallets=wallets), f"Which wallet holds which token. {_TOTALS}"),
    ]
    if "value" in held:
        nested = treemap(held, wallets=wallets, colors=colors)
        charts.append(Chart(nested, f"Blockchains, their wallets and tokens. {_TOTALS}"))
    if len({chain for chain, _ in owners.keys}) > 1:
        chains = bar(held, by="blockchain", wallets=wallets, colors=colors)
        charts.append(Chart(chains, f"What is held on each blockchain, by token. {_TOTALS}"))
    return charts + _spread(held, wallets)


def _first_wallet(held: pd.DataFrame) -> tuple[str, str]:
    return str(held["blockchain"].iloc[0]), str(held["address"].iloc[0])


def _spread(held: pd.DataFrame, wallets: pd.DataFrame) -> list[Chart]:
    """Draw how unequally the token of the most holders is spread, where these are many."""
    tokens, owners = token_identities(held), wallet_identities(held)
    pairs = held[[]].assign(token=tokens.codes, owner=owners.codes).drop_duplicates()
    holders = pairs["token"].value_counts()
    if holders.iloc[0] < _HOLDERS:
        return []
    curve = lorenz(held, tokens.keys[holders.index[0]], wallets=wallets)
    return [Chart(curve, f"How unequally the most widely held token is spread. {_TOTALS}")]
