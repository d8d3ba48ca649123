"""What the explorer shows: charts to choose from, a selection drawn as one, and code for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe import charts
from walletframe.address import WalletAddress, canonical_key, parse_wallets
from walletframe.frames import known_wallets
from walletframe.numerals import many
from walletframe.pickers.pane import error_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from walletframe.charts import Figure
    from walletframe.frames import Positions, TokenKey, WalletDetails
    from walletframe.pickers.explorer.selection import Catalog, Picked, Selection


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart to choose."""

    label: str
    function: str  # in `walletframe.charts`
    options: Mapping[str, Any]  # how much is drawn, so that a browser draws it in a moment
    takes: str = ""  # "perhaps a token", "a token" or "a wallet"
    colored: bool = True  # whether it takes the colours of tokens


CHARTS = {
    chart.label: chart
    for chart in (
        Chart("Treemap", "treemap", {"top": 80}, takes="perhaps a token"),
        Chart("Sunburst", "sunburst", {"top": 80}, takes="perhaps a token"),
        Chart(
            "Bars by wallet",
            "bar",
            {"by": "wallet", "top": 12, "top_tokens": 6},
            takes="perhaps a token",
        ),
        Chart(
            "Bars by blockchain",
            "bar",
            {"by": "blockchain", "top_tokens": 6},
            takes="perhaps a token",
        ),
        Chart("Heatmap", "heatmap", {"top": 20, "top_tokens": 15}, colored=False),
        Chart("Pie of a wallet", "pie", {}, takes="a wallet"),
        Chart("Lorenz curve", "lorenz", {}, takes="a token", colored=False),
    )
}

_NAMES = '''
def names(chain, address):
    """Spell alike what is the same: hex addresses are compared without case."""
    is_hex = address.str.fullmatch("0[xX][ -~]*", na=False)
    return chain.str.upper() + "." + address.where(~is_hex, address.str.lower()).fillna("")
'''


@dataclass(frozen=True, slots=True)
class View:
    """What a person wants to see: which rows of which fetch, as which chart."""

    catalog: Catalog
    selection: Selection
    chart: Chart


@dataclass(frozen=True, slots=True)
class Rendered:
    """A view as it is shown."""

    view: View
    rows: WalletDetails
    figure: Figure | None
    reason: str  # why there is no figure, as strangers may have written it
    code: str  # the lines of pandas code that make rows and figure


def render(view: View) -> Rendered:
    """Render a view; where its chart can't be drawn, all the rest."""
    catalog, selection, chart = view.catalog, view.selection, view.chart
    picked = catalog.select(selection)
    rows = picked.details
    figure, given, reason = None, None, ""
    if rows.holdings.empty:
        reason = _absence(rows, selection)
    else:
        try:
            given = _arguments(chart, selection, picked.holdings)
            figure = _drawn(chart, given, picked, catalog.colors)
        except Exception as error:  # noqa: BLE001 - shown in the chart's place
            given, reason = None, f"No chart: {error_text(error)}"
    code = _script(chart, selection, given, prepared=catalog.is_prepared)
    return Rendered(view, rows, figure, reason, code)


def _arguments(chart: Chart, selection: Selection, held: Positions) -> dict[str, Any]:
    """Choose the arguments of a chart of some holdings, which are not empty.

    Where it needs a token or a wallet and none is chosen, it is that with the most balances.
    """
    found = dict(chart.options)
    if chart.takes == "a token":
        found["token"] = _first(selection.tokens, held.tokens.keys, held.tokens.codes)
    elif chart.takes == "perhaps a token" and len(selection.tokens) == 1:
        [found["token"]] = selection.tokens
    if chart.takes == "a wallet":
        named = parse_wallets(selection.wallets)
        keys = [canonical_key(wallet.blockchain, wallet.address) for wallet in named]
        found["wallet"] = _first(keys, held.wallet_keys, held.wallet_codes)
    return found


def _drawn(
    chart: Chart, given: Mapping[str, Any], picked: Picked, colors: Mapping[TokenKey, str]
) -> Figure:
    """Draw a chart, with the colours that tokens have in all charts of the fetch."""
    more: dict[str, Any] = {"colors": colors} if chart.colored else {}
    function = getattr(charts, chart.function)
    figure: Figure = function(picked.holdings, wallets=picked.wallets, **given, **more)
    return figure


def _first(chosen: Iterable[TokenKey], keys: list[TokenKey], codes: np.ndarray) -> TokenKey:
    """Return the first that is chosen and there, or else that with the most rows."""
    there, most = set(keys), keys[int(np.bincount(codes).argmax())]
    return next((key for key in chosen if key in there), most)


def _absence(rows: WalletDetails, selection: Selection) -> str:
    """Say why there is no balance: by what is picked, or by what the wallets are like."""
    wallets = rows.wallets
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


def _script(
    chart: Chart, selection: Selection, given: Mapping[str, Any] | None, *, prepared: bool = False
) -> str:
    """Write the code; where no chart can be drawn (`given` is None), that of the rows alone."""
    colored = chart.colored and given is not None
    parts = ["from walletframe.charts import token_colors\n"] if colored else []
    if selection.wallets or selection.tokens:
        parts += [_NAMES, ""]
    parts.append("wallets, holdings = details  # as the explorer got it")
    if prepared:
        parts.append("holdings = prepare(holdings)  # the function that the explorer got")
    parts += ["shown = holdings\n", *_filters(selection)]
    if given is None:
        return "\n".join(parts).rstrip()
    arguments = [f"{name}={value!a}" for name, value in given.items()]
    arguments += ["wallets=wallets", *["colors=token_colors(holdings)"] * colored]
    return "\n".join([*parts, f"figure = shown.wf.plot.{chart.function}({', '.join(arguments)})"])


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
