"""Files of what the explorer shows."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from walletframe.errors import ArgumentError, WalletframeError
from walletframe.exports import to_csv, to_excel, to_parquet
from walletframe.reports import report

if TYPE_CHECKING:
    from walletframe.frames import WalletDetails

FORMATS = {
    "CSV": ("holdings.csv", "text/csv"),
    "Parquet": ("holdings.parquet", "application/vnd.apache.parquet"),
    "Excel": (
        "holdings.xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    "Report": ("report.html", "text/html"),
}
_WRITERS = {"CSV": to_csv, "Parquet": to_parquet, "Excel": to_excel}
_MOST_ROWS = 200_000


def contents(kind: str, shown: WalletDetails) -> bytes:
    """Return a file of some kind: all rows exactly, or the report."""
    if kind not in FORMATS:
        raise ArgumentError(f"{kind!r} is not a file format", hint=f"one of {', '.join(FORMATS)}")
    with TemporaryDirectory() as folder:
        path = Path(folder) / FORMATS[kind][0]
        if kind == "Report":
            report(shown, path)
        elif len(shown.holdings) > _MOST_ROWS:
            raise WalletframeError(
                f"{len(shown.holdings):,} rows are too many for a download by the browser",
                hint="run the pandas code, then shown.wf.to_parquet(path)",
            )
        else:
            _WRITERS[kind](shown.holdings, path)
        return path.read_bytes()
