"""What the explorer shows: a selection as a chart to choose, as code, and as files to download."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe import charts
from walletframe.address import WalletAddress
from walletframe.errors import ArgumentError, WalletframeError
from walletframe.exports import to_csv, to_parquet
from walletframe.frames import (
    WalletDetails,
    holdings_table,
    known_wallets,
    summary_html,
    table_html,
)
from walletframe.numerals import many
from walletframe.pickers.pane import alert_html, error_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from walletframe.charts import Figure
    from walletframe.frames import Positions, TokenKey
    from walletframe.pickers.selection import Catalog, Selection


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart to choose."""

    function: str  # in `walletframe.charts`
    takes: str  # "perhaps a token", "a token", "a wallet" or ""
    options: Mapping[str, Any]  # how much is drawn, so that a browser draws it in a moment
    by: tuple[str, ...] = ()  # what it groups by; nothing where that is no choice
    below: tuple[str, ...] = ()  # what it groups by below a user's own column
    colored: bool = True  # whether it takes the colours of tokens


_NESTED, _BARS = {"top": 80}, {"top": 12, "top_tokens": 6}
_CELLS = {"top": 20, "top_tokens": 15}
_LEVELS = ("blockchain", "wallet", "token"), ("wallet", "token")
_OF_CHAINS = ("blockchain",), ("blockchain",)
CHARTS = {
    "Treemap": Chart("treemap", "perhaps a token", _NESTED, *_LEVELS),
    "Sunburst": Chart("sunburst", "perhaps a token", _NESTED, *_LEVELS),
    "Bars by wallet": Chart("bar", "perhaps a token", _BARS, ("wallet",)),
    "Bars by blockchain": Chart("bar", "perhaps a token", _BARS, *_OF_CHAINS),
    "Heatmap": Chart("heatmap", "", _CELLS, ("wallet",), colored=False),
    "Pie of a wallet": Chart("pie", "a wallet", {}),
    "Lorenz curve": Chart("lorenz", "a token", {}, colored=False),
}
WALLET, TOKENS, ASSETS = "wallet", "tokens", "assets"

_MOST_ROWS, _PAGE_ROWS = 200_000, 1_000
FORMATS = {
    "CSV": ("holdings.csv", "text/csv"),
    "Parquet": ("holdings.parquet", "application/vnd.apache.parquet"),
    "HTML page": ("holdings.html", "text/html"),
    "pandas code": ("holdings.py", "text/x-python"),
}

# JupyterLab doesn't tell the kernel which theme it has, and a person may change it at any time: so
# the page itself decides, by a style sheet. Pages without this attribute of the body know no theme.
FOLLOWS = "walletframe-follows-page"
_TEXT, _LINE = "var(--jp-ui-font-color1)", "var(--jp-border-color2)"
_RULES = {
    ".main-svg, .modebar-group": "background: transparent",
    ".bglayer .bg, .legend .bg": "fill: transparent",
    ":is(.infolayer, .cartesianlayer) text, .modebar-btn path": f"fill: {_TEXT}",
    ":is(.gridlayer, .zerolinelayer, .xtick, .ytick) path": f"stroke: {_LINE}",
}
_DARK = f'body[data-jp-theme-light="false"] .{FOLLOWS} .js-plotly-plot'
STYLE = "\n".join(f"{_DARK} :is({parts}) {{ {rule} !important }}" for parts, rule in _RULES.items())

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
    group: str = WALLET  # or a column that the wallets keep
    assets: bool = False  # in the place of tokens


@dataclass(frozen=True, slots=True)
class Rendered:
    """A view as it is shown."""

    rows: WalletDetails
    figure: Figure | None
    reason: str  # why there is no figure, as strangers may have written it
    code: str  # the lines of pandas code that make rows and figure


def render(view: View) -> Rendered:
    """Render a view; where its chart can't be drawn, all the rest."""
    catalog, selection, chart = view.catalog, view.selection, view.chart
    wallets, held = catalog.select(selection)
    rows = WalletDetails(wallets, held.holdings)
    figure, given, reason = None, None, ""
    if rows.holdings.empty:
        reason = _absence(wallets, selection)
    else:
        try:
            given = _arguments(view, held)
            colors = {"colors": catalog.colors} if chart.colored else {}
            figure = getattr(charts, chart.function)(held, wallets=wallets, **given, **colors)
        except Exception as error:  # noqa: BLE001 - shown in the chart's place
            given, reason = None, f"No chart: {error_text(error)}"
    code = _script(chart, selection, given, prepared=catalog.is_prepared)
    return Rendered(rows, figure, reason, code)


def _arguments(view: View, held: Positions) -> dict[str, Any]:
    """Choose the arguments of a chart of some holdings, which are not empty.

    Where it needs a token or a wallet and none is chosen, it is that with the most balances.
    """
    chart, selection = view.chart, view.selection
    by = _by(view)
    found: dict[str, Any] = {"by": by[0] if len(by) == 1 else list(by)} if by else {}
    found |= chart.options
    if chart.takes == "a token":
        found["token"] = _first(selection.tokens, held.tokens.keys, held.tokens.codes)
    elif chart.takes == "a wallet":
        found["wallet"] = _first(selection.wallet_keys(), held.wallet_keys, held.wallet_codes)
    elif chart.takes and len(selection.tokens) == 1:
        [found["token"]] = selection.tokens
    return found


def _by(view: View) -> tuple[str, ...]:
    """Choose what a chart groups by: as it is, or by a user's own column, and by assets."""
    chart = view.chart
    if not chart.by:
        return ()
    by = chart.by if view.group == WALLET else (view.group, *chart.below)
    if view.assets:
        by = (*(name for name in by if name != "token"), "asset")
    return by


def _first(chosen: Iterable[TokenKey], keys: list[TokenKey], codes: np.ndarray) -> TokenKey:
    """Return the first that is chosen and there, or else that with the most rows."""
    there, most = set(keys), keys[int(np.bincount(codes).argmax())]
    return next((key for key in chosen if key in there), most)


def _absence(wallets: pd.DataFrame, selection: Selection) -> str:
    """Say why there is no balance: by what is picked, or by what the wallets are like."""
    picked = selection.blockchains or selection.wallets or selection.tokens or selection.labels
    known, tokens = known_wallets(wallets), wallets["tokens"]
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
    chart: Chart, selection: Selection, given: Mapping[str, Any] | None, *, prepared: bool
) -> str:
    """Write the code; where no chart can be drawn (`given` is None), that of the rows alone."""
    colored = chart.colored and given is not None
    parts = ["from walletframe.charts import token_colors\n"] if colored else []
    if selection.wallets or selection.tokens or selection.labels:
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
        parts += _listed("chains", [name.upper() for name in selection.blockchains])
        parts.append('wallets = wallets[wallets["blockchain"].str.upper().isin(chains)]')
        parts.append('shown = shown[shown["blockchain"].str.upper().isin(chains)]\n')
    if selection.wallets:
        keys = [str(WalletAddress.parse(name).canonical) for name in selection.wallets]
        parts += _listed("chosen", keys)
        named = '{0} = {0}[names({0}["blockchain"], {0}["address"]).isin(chosen)]'
        parts += [named.format("wallets"), named.format("shown"), ""]
    for name in {column: None for column, _ in selection.labels}:
        texts = [text for column, text in selection.labels if column == name]
        parts += _listed("labels", texts)
        parts.append(f'told = wallets[{name!a}].astype("str").fillna("")')
        parts.append("wallets = wallets[told.isin(labels)]")
    if selection.labels:
        parts.append('labelled = names(wallets["blockchain"], wallets["address"])')
        parts.append('shown = shown[names(shown["blockchain"], shown["address"]).isin(labelled)]\n')
    if selection.tokens:
        keys = [f"{chain}.{contract or ''}" for chain, contract in selection.tokens]
        parts += _listed("tokens", keys)
        parts.append('held = names(shown["token_blockchain"], shown["token_address"])')
        parts.append("shown = shown[held.isin(tokens)]\n")
    return parts


def _listed(name: str, values: list[str]) -> list[str]:
    return [f"{name} = [", *(f"    {value!a}," for value in values), "]"]


def link(kind: str, rendered: Rendered) -> str:
    """Return, as HTML, a link that holds a file: every row exactly, or a page without network."""
    if kind not in FORMATS:
        raise ArgumentError(f"{kind!r} is not a file format", hint=f"one of {', '.join(FORMATS)}")
    name, media_type = FORMATS[kind]
    contents = _contents(kind, rendered)
    data = base64.b64encode(contents).decode()
    size = f"{len(contents) / 1e6:,.1f} MB" if len(contents) > 1e5 else f"{len(contents):,} bytes"  # noqa: PLR2004
    style = "text-decoration: underline; color: var(--jp-content-link-color, revert)"
    anchor = f'<a download="{name}" style="{style}" href="data:{media_type};base64,{data}">'
    return f'<span role="status">{anchor}Download {name} ({size})</a></span>'


def _contents(kind: str, rendered: Rendered) -> bytes:
    if kind == "pandas code":
        return f"{rendered.code}\n".encode()
    if kind == "HTML page":
        return _page(rendered).encode()
    holdings = rendered.rows.holdings
    if len(holdings) > _MOST_ROWS:
        raise WalletframeError(
            f"{len(holdings):,} rows are too many for a download by the browser",
            hint="run the pandas code, then shown.wf.to_parquet(path)",
        )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "holdings"
        (to_csv if kind == "CSV" else to_parquet)(holdings, path)
        return path.read_bytes()


def _page(rendered: Rendered) -> str:
    if rendered.figure is None:
        chart = alert_html(rendered.reason)
    else:
        chart = rendered.figure.to_html(include_plotlyjs=True, full_html=False)
    wallets, holdings = rendered.rows
    table = table_html(holdings_table(holdings, _PAGE_ROWS, wallets=wallets))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Holdings</title>'
        '<meta name="viewport" content="width=device-width">'
        '<meta name="referrer" content="no-referrer">'
        "<style>body { font-family: sans-serif; margin: 1em; color-scheme: light dark }"
        " td, th { padding: 0.2em 0.6em }</style></head><body><h1>Holdings</h1>"
        f"{summary_html(*rendered.rows)}{chart}{table}</body></html>"
    )
