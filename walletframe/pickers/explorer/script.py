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


def script(
    view: View, selection: Selection, chosen: Mapping[str, Any] | None, *, prepared: bool = False
) -> str:
    """Write the code."""
    colored = view.colored and chosen is not None
    parts = ["from walletframe.charts import token_colors\n"] if colored else []
    if selection.wallets or selection.tokens:
        parts += [_NAMES, ""]
    parts.append("wallets, holdings = details  # as the explorer got it")
    if prepared:
        parts.append("holdings = prepare(holdings)  # the function that the explorer got")
    parts += ["shown = holdings\n", *_filters(selection)]
    if chosen is None:
        return "\n".join(parts).rstrip()
    given = [f"{name}={value!a}" for name, value in chosen.items()]
    given += ["wallets=wallets", *["colors=token_colors(holdings)"] * colored]
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
