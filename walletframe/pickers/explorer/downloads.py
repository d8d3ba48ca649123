"""What the explorer shows, to take along: as lines of pandas code, and as files for a browser."""

from __future__ import annotations

import base64
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from walletframe.address import WalletAddress
from walletframe.errors import WalletframeError
from walletframe.exports import to_csv, to_parquet
from walletframe.frames import holdings_table, summary_html, table_html
from walletframe.pickers.pane import alert_html

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from walletframe.pickers.explorer.selection import Selection
    from walletframe.pickers.explorer.views import Chart, Rendered

FORMATS = ("CSV", "Parquet", "HTML page", "pandas code")
_MOST_ROWS = 200_000
_PAGE_ROWS = 1_000
_TYPES = {
    "holdings.csv": "text/csv",
    "holdings.parquet": "application/vnd.apache.parquet",
    "holdings.html": "text/html",
    "holdings.py": "text/x-python",
}
_NAMES = '''
def names(chain, address):
    """Spell alike what is the same: hex addresses are compared without case."""
    is_hex = address.str.fullmatch("0[xX][ -~]*", na=False)
    return chain.str.upper() + "." + address.where(~is_hex, address.str.lower()).fillna("")
'''


def make_file(kind: str, rendered: Rendered) -> tuple[str, bytes]:
    """Return the name and the contents of a file of one of the `FORMATS`.

    CSV and Parquet hold every row, with exact amounts. The page needs no network; it has the
    summary, the chart and the first 1,000 rows. More rows than a browser should be given raise.
    """
    if kind == "pandas code":
        return "holdings.py", f"{rendered.code}\n".encode()
    if kind == "HTML page":
        return "holdings.html", _page(rendered).encode()
    holdings = rendered.rows.holdings
    if len(holdings) > _MOST_ROWS:
        raise WalletframeError(
            f"{len(holdings):,} rows are too many for a download by the browser",
            hint="run the pandas code, then shown.wf.to_parquet(path)",
        )
    name, write = ("holdings.csv", to_csv) if kind == "CSV" else ("holdings.parquet", to_parquet)
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(holdings, path)
        return name, path.read_bytes()


def link(name: str, contents: bytes) -> str:
    """Return, as HTML, a link that holds what `make_file` made."""
    data = base64.b64encode(contents).decode()
    size = f"{len(contents) / 1e6:,.1f} MB" if len(contents) > 1e5 else f"{len(contents):,} bytes"  # noqa: PLR2004
    href = f"data:{_TYPES[name]};base64,{data}"
    style = "text-decoration: underline; color: var(--jp-content-link-color, revert)"
    text = f"Download {name} ({size})"
    anchor = f'<a download="{name}" style="{style}" href="{href}">{text}</a>'
    return f'<span role="status">{anchor}</span>'


def _page(rendered: Rendered) -> str:
    if rendered.figure is None:
        chart = alert_html(rendered.reason)
    else:
        chart = rendered.figure.to_html(include_plotlyjs=True, full_html=False)
    table = table_html(holdings_table(rendered.rows.holdings, _PAGE_ROWS))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Holdings</title>'
        '<meta name="viewport" content="width=device-width">'
        '<meta name="referrer" content="no-referrer">'
        "<style>body { font-family: sans-serif; margin: 1em; color-scheme: light dark }"
        " td, th { padding: 0.2em 0.6em }</style></head><body><h1>Holdings</h1>"
        f"{summary_html(*rendered.rows)}{chart}{table}</body></html>"
    )


def script(
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
