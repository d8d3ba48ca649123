"""The lines of pandas code that make what the explorer shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from walletframe.address import WalletAddress

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from walletframe.pickers.explorer.selection import Selection
    from walletframe.pickers.explorer.views import View

_NAMES = '''
def names(chain, address):
    """Spell alike what is the same: hex addresses are compared without case."""
    is_hex = address.str.fullmatch("0[xX][ -~]*", na=False)
    return chain.str.upper() + "." + address.where(~is_hex, address.str.lower()).fillna("")
'''


def script(view: View, selection: Selection, chosen: Mapping[str, Any]) -> str:
    """Write the code.

    Parameters
    ----------
    view : View
        The chart.
    selection : Selection
        What a person chose.
    chosen : mapping
        The arguments of the chart.

    Returns
    -------
    str
        Python in ASCII, whatever the tokens are called, for a variable ``details`` that holds
        what was fetched. It makes ``shown``, the rows, and ``figure``, the chart.

    Examples
    --------
    >>> from walletframe.pickers.explorer.selection import Selection
    >>> from walletframe.pickers.explorer.views import VIEWS
    >>> print(script(VIEWS["Treemap"], Selection(blockchains=("ETH",)), {}))
    from walletframe.charts import token_colors
    <BLANKLINE>
    wallets, holdings = details  # as fetch_wallets returned it
    shown = holdings
    <BLANKLINE>
    chains = [
        'ETH',
    ]
    wallets = wallets[wallets["blockchain"].str.upper().isin(chains)]
    shown = shown[shown["blockchain"].str.upper().isin(chains)]
    <BLANKLINE>
    figure = shown.wf.plot.treemap(wallets=wallets, colors=token_colors(holdings))
    """
    parts = ["from walletframe.charts import token_colors\n"] if view.colored else []
    if selection.wallets or selection.tokens:
        parts += [_NAMES, ""]
    parts += ["wallets, holdings = details  # as fetch_wallets returned it", "shown = holdings\n"]
    parts += _filters(selection)
    given = [f"{name}={value!a}" for name, value in chosen.items()]
    given += ["wallets=wallets", *["colors=token_colors(holdings)"] * view.colored]
    return "\n".join([*parts, f"figure = shown.wf.plot.{view.function}({', '.join(given)})"])


def _filters(selection: Selection) -> list[str]:
    parts: list[str] = []
    if selection.blockchains:
        parts += _listed("chains", (name.upper() for name in selection.blockchains))
        parts.append('wallets = wallets[wallets["blockchain"].str.upper().isin(chains)]')
        parts.append('shown = shown[shown["blockchain"].str.upper().isin(chains)]\n')
    if selection.wallets:
        keys = (WalletAddress.parse(name).canonical for name in selection.wallets)
        parts += _listed("chosen", map(str, keys))
        parts += [
            f'{frame} = {frame}[names({frame}["blockchain"], {frame}["address"]).isin(chosen)]'
            for frame in ("wallets", "shown")
        ]
        parts.append("")
    if selection.tokens:
        parts += _listed(
            "tokens", (f"{chain}.{contract or ''}" for chain, contract in selection.tokens)
        )
        parts.append('held = names(shown["token_blockchain"], shown["token_address"])')
        parts.append("shown = shown[held.isin(tokens)]\n")
    return parts


def _listed(name: str, values: Iterable[str]) -> list[str]:
    return [f"{name} = [", *(f"    {value!a}," for value in values), "]"]
