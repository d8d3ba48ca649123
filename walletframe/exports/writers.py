"""Frames as CSV, Parquet, JSON and Excel files: exact amounts, and text that does no harm there.

pandas's own CSV writer leaves a bare carriage return unquoted, which begins a new row for most
readers; and it writes missing and empty text alike. Here no cell has a control character, and empty
text is quoted while what is missing is not.
"""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
from datetime import datetime
from decimal import Decimal
from importlib.util import find_spec
from io import BytesIO
from itertools import chain
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype, is_numeric_dtype

from walletframe.amounts import AmountDtype
from walletframe.amounts.arrow import to_portable_table
from walletframe.disk import replaced
from walletframe.errors import ArgumentError, MissingExtraError, SettingsError
from walletframe.text import as_cell, as_excel_cell, as_link

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from sqlalchemy import Connection, Engine

    Database = sqlite3.Connection | Engine | Connection | str
Existing = Literal["fail", "replace", "append"]

SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}  # by the end of a file's name, before ``.gz``
NUMBER = "_number"  # ends the name of an Excel column of numbers, beside the amounts it belongs to
_OTHER_COMPRESSIONS = (".bz2", ".tar", ".xz", ".zip", ".zst")
_TO_QUOTE = re.compile(r"""[,;|\t"']|^[\s\#]|\s$""")
_EXCEL_CELL, _EXCEL_LINKS = 32_000, 65_000


def to_csv(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a CSV file: amounts and floats with all digits, formulas disarmed as by `cells`."""
    target = Path(path)
    if target.suffix.lower() in _OTHER_COMPRESSIONS:
        raise SettingsError(
            f"a CSV can't be written as {target.name!r}",
            hint="use a name that ends in .csv, .tsv, .csv.gz or .tsv.gz",
        )
    separator = SEPARATORS.get(uncompressed(target).suffix.lower(), ",")
    heads = [_quoted(_cell(name)) for name in frame.columns]
    cells = [_cells(series) for _, series in frame.items()]
    if len(cells) == 1:  # an empty line is no row for most readers
        cells = [[cell or '""' for cell in cells[0]]]
    rows = chain([heads], zip(*cells, strict=True))
    lines = (f"{separator.join(row)}\n".encode() for row in rows)
    with replaced(target) as file:
        if target.suffix.lower() != ".gz":
            file.writelines(lines)
        else:
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                packed.writelines(lines)


def uncompressed(path: Path) -> Path:
    """Return a path without the end that names its compression, ``.gz``."""
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


def _cells(series: pd.Series) -> list[str]:
    """Return the cells of a column, empty where something is missing."""
    is_exact = isinstance(series.dtype, AmountDtype)  # which is of kind f, too
    if is_float_dtype(series.dtype) and not is_exact:
        plain = np.format_float_positional
        return ["" if pd.isna(value) else plain(value, trim="0") for value in series]
    if not _may_hold_text(series):
        return ["" if value is None else value for value in _as_texts(series)]
    known: dict[str, str] = {}  # texts repeat
    cells = []
    for value in series:
        if not isinstance(value, str):
            is_missing = pd.api.types.is_scalar(value) and pd.isna(value)
            cells.append("" if is_missing else _quoted(_cell(value)))
            continue
        if value not in known:
            known[value] = _quoted(as_cell(value))
        cells.append(known[value])
    return cells


def _cell(value: object) -> str:
    """Return the text of anything; a number is no formula."""
    return str(value) if isinstance(value, Number) else as_cell(str(value))


def _quoted(cell: str) -> str:
    if cell and not _TO_QUOTE.search(cell):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def _may_hold_text(series: pd.Series) -> bool:
    return series.dtype.kind not in "biufcmM" and not is_numeric_dtype(series.dtype)


def _as_texts(series: pd.Series) -> pd.Series:
    """Write each value as text, as an object; None where it is missing."""
    return series.astype("str").astype(object).where(series.notna(), None)


def to_arrow(frame: pd.DataFrame) -> pa.Table:
    """Make an Arrow table: amounts as text, and as decimal128 in ``<name>_decimal``."""
    return to_portable_table(frame)


def to_parquet(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a Parquet file: amounts as text, and as decimal128 in ``<name>_decimal``."""
    import pyarrow.parquet  # noqa: PLC0415 - pandas does not load it either

    table = to_portable_table(_unordered(frame))
    with replaced(Path(path)) as file:
        pyarrow.parquet.write_table(table, file)


def _unordered(frame: pd.DataFrame) -> pd.DataFrame:
    """Take the order from categories: Parquet has them in that of their first rows."""
    dtypes = [series.dtype for _, series in frame.items()]
    if not any(isinstance(dtype, pd.CategoricalDtype) and dtype.ordered for dtype in dtypes):
        return frame
    columns = [
        series.cat.as_unordered() if isinstance(series.dtype, pd.CategoricalDtype) else series
        for _, series in frame.items()
    ]
    return rebuilt(columns, [*frame], frame)


def to_sql(frame: pd.DataFrame, name: str, con: Database, *, if_exists: Existing = "fail") -> None:
    """Write a table of a database: amounts as text, and as numbers in ``<name>_decimal``."""
    has_decimals = _has_decimals(con)
    table = to_portable_table(frame)
    columns = {str(label): series for label, series in frame.reset_index(drop=True).items()}
    types: dict[Any, Any] = {}
    for label in table.column_names:
        if label not in columns and not has_decimals:
            columns[label] = table[label].to_pandas().astype("float64")
        elif label not in columns:
            from sqlalchemy import Numeric  # noqa: PLC0415 - pandas needs it, too

            columns[label], types[label] = table[label].to_pandas(), Numeric(38, 18)
        elif isinstance(columns[label].dtype, AmountDtype):
            columns[label] = table[label].to_pandas()
    ordered = pd.DataFrame(columns)[table.column_names]
    ordered.to_sql(name, con, if_exists=if_exists, index=False, dtype=types)


def _has_decimals(con: Database) -> bool:
    """Tell a database that has decimals from SQLite, which makes floats of them."""
    if isinstance(con, sqlite3.Connection):
        return False
    dialect = con if isinstance(con, str) else getattr(getattr(con, "dialect", None), "name", None)
    if dialect is None:
        raise ArgumentError(
            f"a {type(con).__name__} is no connection that tables are written to",
            hint="give a sqlite3.Connection, or an engine or a connection of SQLAlchemy; "
            "other databases take the Arrow table that `to_arrow` gives",
        )
    return not dialect.startswith("sqlite")


def to_json(frames: Mapping[str, pd.DataFrame], path: str | Path) -> None:
    """Write frames by name, as lists of records: exact amounts as text, times in ISO 8601."""
    whole = {}
    for title, frame in frames.items():
        names = [str(name) for name in frame.columns]
        columns = [[_json_value(value) for value in series] for _, series in frame.items()]
        rows = zip(*columns, strict=True)
        whole[title] = [dict(zip(names, row, strict=True)) for row in rows]
    with replaced(Path(path)) as file:
        file.write(json.dumps(whole, ensure_ascii=False, indent=1).encode())


def _json_value(value: Any) -> Any:
    """Return what JSON has for a cell; pandas's own writer cuts floats to ten decimals."""
    if pd.isna(value):
        return None
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return value.item() if isinstance(value, np.generic) else value


def require_openpyxl(purpose: str) -> None:
    """Refuse where openpyxl is not installed: pandas needs it, and says so less clearly."""
    if find_spec("openpyxl") is None:
        raise MissingExtraError("excel", purpose)


def to_excel(frame: pd.DataFrame, path: str | Path) -> None:
    """Write an Excel file: amounts as text with the nearest number beside, times in UTC.

    Links are of columns ``…_url`` alone, to http or https; the first row stays in sight.
    """
    require_openpyxl("writing Excel files")
    names: list[Any] = []
    columns: list[pd.Series] = []
    links: list[tuple[int, int, str]] = []
    for name, series in frame.items():
        names.append(_excel_value(name))
        columns.append(_excel_column(series))
        if str(name).endswith("_url"):
            texts = [(row, text) for row, text in enumerate(series, 2) if isinstance(text, str)]
            links += [(row, len(names), text) for row, text in texts if as_link(text)]
        if isinstance(series.dtype, AmountDtype):
            names.append(_excel_value(f"{name}{NUMBER}"))
            columns.append(series.astype("float64"))
    whole = BytesIO()  # openpyxl can't be left where a disk is full
    with pd.ExcelWriter(whole, engine="openpyxl") as book:
        rebuilt(columns, names, frame).to_excel(book, index=False, freeze_panes=(1, 0))
        sheet: Any = next(iter(book.sheets.values()))
        for row, place, text in links[:_EXCEL_LINKS]:
            sheet.cell(row, place).hyperlink = text
    with replaced(Path(path)) as file:
        file.write(whole.getbuffer())


def _excel_column(series: pd.Series) -> pd.Series:
    """Make each text of a column harmless, amounts exact text, and times those of UTC."""
    if isinstance(series.dtype, AmountDtype):
        return _as_texts(series)
    if _may_hold_text(series):
        series = series.astype(object).map(_excel_value)  # times held as objects are times again
    if isinstance(series.dtype, pd.DatetimeTZDtype):
        in_utc: pd.Series = series.dt.tz_convert("UTC").dt.tz_localize(None)
        return in_utc
    return series


def _excel_value(value: Any) -> Any:
    return as_excel_cell(value, _EXCEL_CELL) if isinstance(value, str) else value


def rebuilt(columns: list[pd.Series], labels: list[Any], frame: pd.DataFrame) -> pd.DataFrame:
    """Make a frame of columns whose labels may repeat; of no columns, ``frame`` itself."""
    if not columns:
        return frame
    return pd.concat(columns, axis=1, keys=range(len(columns))).set_axis(labels, axis=1)
