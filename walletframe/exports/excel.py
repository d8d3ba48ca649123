"""Frames as Excel files: exact amounts, and text that does no harm there."""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from walletframe.amounts import AmountDtype
from walletframe.cells import as_excel_cell
from walletframe.disk import replaced
from walletframe.errors import MissingExtraError
from walletframe.exports.separated import as_texts, may_hold_text, rebuilt
from walletframe.text import as_link

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBER = "_number"
"""What the name of a column of nearest numbers ends with, beside the amounts it belongs to."""

_EXCEL_CELL = 32_000
_EXCEL_LINKS = 65_000


def require_openpyxl(purpose: str) -> None:
    """Refuse where openpyxl is not installed: pandas needs it, and says so less clearly."""
    if find_spec("openpyxl") is None:
        raise MissingExtraError("excel", purpose)


def to_excel(frame: pd.DataFrame, path: str | Path) -> None:
    """Write an Excel file: amounts as text with the nearest number beside, times in UTC.

    Links are of columns ``…_url`` alone, to http or https; the first row stays in sight.
    """
    require_openpyxl("writing Excel files")
    beside = _with_numbers(frame)
    safe = _disarmed(beside, lambda text: as_excel_cell(text, _EXCEL_CELL))
    for place, dtype in enumerate(safe.dtypes):
        if isinstance(dtype, pd.DatetimeTZDtype):
            moments = safe.iloc[:, place].dt.tz_convert("UTC").dt.tz_localize(None)
            safe.isetitem(place, moments)
    whole = BytesIO()  # openpyxl can't be left where a disk is full
    with pd.ExcelWriter(whole, engine="openpyxl") as book:
        safe.to_excel(book, index=False, freeze_panes=(1, 0))
        _link(next(iter(book.sheets.values())), beside)
    with replaced(Path(path)) as file:
        file.write(whole.getbuffer())


def _with_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Put the nearest numbers beside amounts."""
    columns = []
    for name, series in frame.items():
        columns.append((name, series))
        if isinstance(series.dtype, AmountDtype):
            columns.append((f"{name}{NUMBER}", series.astype("float64")))
    if len(columns) == len(frame.columns):
        return frame
    names, parts = zip(*columns, strict=True)
    return rebuilt(parts, names, frame)


def _link(sheet: Any, frame: pd.DataFrame) -> None:
    """Make links of web addresses in columns ``…_url``, as many as Excel takes."""
    left = _EXCEL_LINKS
    for place, (name, series) in enumerate(frame.items(), start=1):
        if not str(name).endswith("_url"):
            continue
        for row, text in enumerate(series, start=2):
            if left and isinstance(text, str) and as_link(text):
                sheet.cell(row, place).hyperlink = text
                left -= 1


def _disarmed(frame: pd.DataFrame, change: Callable[[str], str]) -> pd.DataFrame:
    """Change every text of a frame, labels included; amounts become exact text."""

    def safe(value: Any) -> Any:
        return change(value) if isinstance(value, str) else value

    columns = [
        as_texts(series)
        if isinstance(series.dtype, AmountDtype)
        else series.astype(object).map(safe)
        if may_hold_text(series)
        else series
        for _, series in frame.items()
    ]
    return rebuilt(columns, [safe(name) for name in frame.columns], frame)
