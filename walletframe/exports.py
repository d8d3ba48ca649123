"""Frames as files for other programs: exact amounts, and text that does no harm there.

Every function takes any frame; what an amount is, the amounts know.
"""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from walletframe.amounts import AmountDtype
from walletframe.amounts.files import to_portable_table
from walletframe.errors import MissingExtraError
from walletframe.text import as_cell, as_link, shown

if TYPE_CHECKING:
    from collections.abc import Callable

PathLike: TypeAlias = str | Path
_EXCEL_CELL = 32_000
_EXCEL_LINKS = 65_000


def to_csv(frame: pd.DataFrame, path: PathLike) -> None:
    """Write a CSV file.

    Parameters
    ----------
    frame : DataFrame
        Any; its index is left out.
    path : str or Path
        Where to write. Amounts are exact plain text, and floats have all their digits, neither
        with an exponent; text that a spreadsheet would take for a formula begins with an
        apostrophe.
    """
    _disarmed(frame, as_cell).to_csv(path, index=False, float_format=_plain)


def to_parquet(frame: pd.DataFrame, path: PathLike) -> None:
    """Write a Parquet file that opens anywhere.

    Parameters
    ----------
    frame : DataFrame
        Any; its index is left out.
    path : str or Path
        Where to write. A column of amounts is exact text, with a column ``<name>_decimal`` beside
        it, decimal128(38, 18), which other programs can sum: null where it can't hold an amount.
    """
    import pyarrow.parquet  # noqa: PLC0415 - pandas does not load it either

    pyarrow.parquet.write_table(to_portable_table(frame), str(path))


def to_excel(frame: pd.DataFrame, path: PathLike) -> None:
    """Write an Excel file.

    Parameters
    ----------
    frame : DataFrame
        Any; its index is left out.
    path : str or Path
        Where to write. Amounts are exact text, since a cell's number is a float that Excel shows
        with 15 digits; the number nearest to each stands beside it, in ``<name>_number``, to sort
        and filter by. Times are in UTC; text is made harmless, on one line, and cut to what a cell
        holds; only what is in a column ``…_url`` and begins with http or https becomes a link.
        The first row stays in sight.

    Raises
    ------
    MissingExtraError
        Where openpyxl is not installed.
    """
    try:
        import openpyxl  # noqa: F401, PLC0415 - pandas needs it, and says so less clearly
    except ImportError:
        missing = True
    else:
        missing = False
    if missing:
        raise MissingExtraError("excel", "writing Excel files")
    beside = _with_numbers(frame)
    safe = _disarmed(beside, lambda text: as_cell(shown(text, _EXCEL_CELL)))
    for place, dtype in enumerate(safe.dtypes):
        if isinstance(dtype, pd.DatetimeTZDtype):
            moments = safe.iloc[:, place].dt.tz_convert("UTC").dt.tz_localize(None)
            safe.isetitem(place, moments)
    with pd.ExcelWriter(path, engine="openpyxl") as book:
        safe.to_excel(book, index=False, freeze_panes=(1, 0))
        _link(next(iter(book.sheets.values())), beside)


def _with_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Put the nearest numbers beside amounts."""
    columns = []
    for name, series in frame.items():
        columns.append((name, series))
        if isinstance(series.dtype, AmountDtype):
            columns.append((f"{name}_number", series.astype("float64")))
    if len(columns) == len(frame.columns):
        return frame
    names, parts = zip(*columns, strict=True)
    return pd.concat(parts, axis=1, keys=range(len(parts))).set_axis(list(names), axis=1)


def _link(sheet: Any, frame: pd.DataFrame) -> None:
    """Make links of addresses of the web, as many as Excel takes, where there may be any."""
    left = _EXCEL_LINKS
    for place, (name, series) in enumerate(frame.items(), start=1):
        if not str(name).endswith("_url"):
            continue
        for row, text in enumerate(series, start=2):
            if left and isinstance(text, str) and as_link(text):
                sheet.cell(row, place).hyperlink = text
                left -= 1


def to_json(frames: dict[str, pd.DataFrame], path: PathLike) -> None:
    """Write several frames as one JSON file.

    Parameters
    ----------
    frames : dict of str to DataFrame
        By name; each becomes a list of records. Amounts are exact text, times ISO 8601.
    path : str or Path
        Where to write.
    """
    whole = {name: _records(frame) for name, frame in frames.items()}
    Path(path).write_text(json.dumps(whole, ensure_ascii=False, indent=1), encoding="utf-8")


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    columns = {str(name): [_json_value(value) for value in frame[name]] for name in frame.columns}
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def _json_value(value: Any) -> Any:
    """Return what JSON has for a cell; pandas's own writer cuts floats to ten decimals."""
    if pd.isna(value):
        return None
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return value.item() if isinstance(value, np.generic) else value


def _disarmed(frame: pd.DataFrame, change: Callable[[str], str]) -> pd.DataFrame:
    """Change every text of a frame, labels included; amounts become exact text."""

    def safe(value: Any) -> Any:
        return change(value) if isinstance(value, str) else value

    columns = [
        series.astype("str").astype(object).where(series.notna(), None)
        if isinstance(series.dtype, AmountDtype)
        else series.astype(object).map(safe)
        if _may_hold_text(series)
        else series
        for _, series in frame.items()
    ]
    labels = [safe(name) for name in frame.columns]
    if not columns:
        return frame
    return pd.concat(columns, axis=1, keys=range(len(columns))).set_axis(labels, axis=1)


def _plain(number: Any) -> str:
    return np.format_float_positional(number, trim="0")


def _may_hold_text(series: pd.Series) -> bool:
    return isinstance(series.dtype, pd.StringDtype | pd.CategoricalDtype) or series.dtype == object
