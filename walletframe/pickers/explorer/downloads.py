"""What the explorer shows, as files for a browser to download."""

from __future__ import annotations

import base64
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from walletframe.errors import ArgumentError, WalletframeError
from walletframe.exports import to_csv, to_parquet
from walletframe.frames import holdings_table, summary_html, table_html
from walletframe.pickers.pane import alert_html

if TYPE_CHECKING:
    from walletframe.pickers.explorer.views import Rendered

FORMATS = ("CSV", "Parquet", "HTML page", "pandas code")
_MOST_ROWS = 200_000
_PAGE_ROWS = 1_000
_TYPES = {
    "holdings.csv": "text/csv",
    "holdings.parquet": "application/vnd.apache.parquet",
    "holdings.html": "text/html",
    "holdings.py": "text/x-python",
}


def make_file(kind: str, rendered: Rendered) -> tuple[str, bytes]:
    """Return the name and the contents of a file: every row exactly, or a page without network."""
    if kind not in FORMATS:
        raise ArgumentError(f"{kind!r} is not a file format", hint=f"one of {', '.join(FORMATS)}")
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
