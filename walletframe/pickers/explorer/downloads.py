"""What is shown, as files for a browser to download."""

from __future__ import annotations

import base64
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from walletframe.errors import WalletframeError
from walletframe.exports import to_csv, to_parquet
from walletframe.frames import holdings_table, summary_html, table_html

if TYPE_CHECKING:
    from walletframe.charts import Figure
    from walletframe.frames import WalletDetails

FORMATS = ("CSV", "Parquet", "HTML page", "pandas code")
_MOST_ROWS = 200_000
_PAGE_ROWS = 1_000
_TYPES = {
    "holdings.csv": "text/csv",
    "holdings.parquet": "application/vnd.apache.parquet",
    "holdings.html": "text/html",
    "holdings.py": "text/x-python",
}


def prepare(kind: str, shown: WalletDetails, figure: Figure | None, code: str) -> tuple[str, bytes]:
    """Make a file of what is shown.

    Parameters
    ----------
    kind : str
        One of `FORMATS`.
    shown : WalletDetails
        The rows.
    figure : plotly.graph_objects.Figure or None
        The chart, if any.
    code : str
        The lines of pandas code that make both.

    Returns
    -------
    tuple of (str, bytes)
        A name and the contents: every row, with exact amounts, as CSV or Parquet; a page that
        needs no network, with the summary, the chart and the first 1,000 rows; or the code.

    Raises
    ------
    WalletframeError
        Where there are more rows than a browser should be given.
    """
    if kind == "pandas code":
        return "holdings.py", f"{code}\n".encode()
    if kind == "HTML page":
        return "holdings.html", _page(shown, figure).encode()
    if len(shown.holdings) > _MOST_ROWS:
        raise WalletframeError(
            f"{len(shown.holdings):,} rows are too many for a download by the browser",
            hint="run the pandas code, then shown.wf.to_parquet(path)",
        )
    name, write = ("holdings.csv", to_csv) if kind == "CSV" else ("holdings.parquet", to_parquet)
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(shown.holdings, path)
        return name, path.read_bytes()


def link(name: str, contents: bytes) -> str:
    """Return a link that holds a file.

    Parameters
    ----------
    name : str
        One that `prepare` gives.
    contents : bytes
        The file.

    Returns
    -------
    str
        HTML.
    """
    data = base64.b64encode(contents).decode()
    size = f"{len(contents) / 1e6:,.1f} MB" if len(contents) > 1e5 else f"{len(contents):,} bytes"  # noqa: PLR2004
    href = f"data:{_TYPES[name]};base64,{data}"
    return f'<a role="status" download="{name}" href="{href}">Download {name} ({size})</a>'


def _page(shown: WalletDetails, figure: Figure | None) -> str:
    chart = figure.to_html(include_plotlyjs=True, full_html=False) if figure else ""
    table = table_html(holdings_table(shown.holdings, _PAGE_ROWS))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Holdings</title>'
        '<meta name="viewport" content="width=device-width">'
        '<meta name="referrer" content="no-referrer">'
        "<style>body { font-family: sans-serif; margin: 1em; color-scheme: light dark }"
        " td, th { padding: 0.2em 0.6em }</style></head><body><h1>Holdings</h1>"
        f"{summary_html(*shown)}{chart}{table}</body></html>"
    )
