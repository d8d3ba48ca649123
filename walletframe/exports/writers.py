"""Frames as CSV, Parquet, JSON and Excel files: exact amounts, and text that does no harm there.

pandas's own CSV writer leaves a bare carriage return unquoted, which begins a new row for most
readers, and writes missing and empty text alike. Here no cell has a control character, and empty
text is quoted, missing text is not.
"""

from __future__ import annotations

import gzip
import json
import re
from datetime import datetime
from decimal import Decimal
from functools import cache
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
from walletframe.amounts.arrow import DECIMALS, rounded_decimals, text_name, to_portable_table
from walletframe.disk import atomic_write
from walletframe.errors import ArgumentError, MissingExtraError, SettingsError
from walletframe.pandas_versions import TEXT
from walletframe.text import as_cell, as_excel_cell, as_link

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    import pyarrow as pa
    from sqlalchemy import Connection, Engine

    Database = sqlite3.Connection | Engine | Connection | str
Existing = Literal["fail", "replace", "append"]

SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}  # by the end of a file's name, before ``.gz``
_OTHER_COMPRESSIONS = (".bz2", ".tar", ".xz", ".zip", ".zst")
_TO_QUOTE = re.compile(r"""[,;|\t"']|^[\s\#]|\s$""")
_EXCEL_CELL, _EXCEL_LINKS = 32_000, 65_000


def to_csv(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a CSV file with exact amounts, harmless text and one line per row.

    Amounts and floats have all their digits and no exponent. Text that a spreadsheet would read
    as a formula, or that has control characters, is escaped and begins with an apostrophe.
    Empty text is quoted, missing values are not. The index is left out. A spreadsheet turns
    symbols such as ``1e5`` and ``2026-01-01`` into numbers and dates; `to_excel` keeps them.
    `read_holdings` reads the file back.

    Parameters
    ----------
    path : str or Path
        The file; an earlier one is replaced once the new one is complete on the disk.
        Separated by tabs if it ends in ``.tsv``, compressed if it ends in ``.gz``.

    Raises
    ------
    SettingsError, OSError
        If the name ends in another compression, or the file can't be written.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"symbol": ["ETH"], "amount": pd.array(["1.5"], dtype="amount")})
    >>> frame.wf.to_csv("amounts.csv")
    >>> pd.read_csv("amounts.csv", dtype="str").amount.tolist()
    ['1.5']
    """
    target = Path(path)
    if target.suffix.lower() in _OTHER_COMPRESSIONS:
        raise SettingsError(
            f"a CSV can't be written as {target.name!r}",
            hint="use a name that ends in .csv, .tsv, .csv.gz or .tsv.gz",
        )
    separator = SEPARATORS.get(uncompressed(target).suffix.lower(), ",")
    heads = [_quoted(_cell(name)) for name in frame.columns]
    cells = [_cells(series) for _, series in frame.items()]
    if len(cells) == 1:  # most readers skip empty lines
        cells = [[cell or '""' for cell in cells[0]]]
    rows = chain([heads], zip(*cells, strict=True))
    lines = (f"{separator.join(row)}\n".encode() for row in rows)
    with atomic_write(target) as file:
        if target.suffix.lower() != ".gz":
            file.writelines(lines)
        else:
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                packed.writelines(lines)


def uncompressed(path: Path) -> Path:
    """Return a path without the suffix ``.gz``."""
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


def _cells(series: pd.Series) -> list[str]:
    """Return the cells of a column, empty for missing values."""
    is_exact = isinstance(series.dtype, AmountDtype)  # its kind is "f", too
    if is_float_dtype(series.dtype) and not is_exact:
        plain = np.format_float_positional
        return ["" if pd.isna(value) else plain(value, trim="0") for value in series]
    if not _may_hold_text(series):
        return ["" if value is None else value for value in _as_texts(series)]
    written = cache(lambda text: _quoted(as_cell(text)))  # texts repeat
    cells = []
    for value in series:
        if isinstance(value, str):
            cells.append(written(value))
        else:
            is_missing = pd.api.types.is_scalar(value) and pd.isna(value)
            cells.append("" if is_missing else _quoted(_cell(value)))
    return cells


def _cell(value: object) -> str:
    """Return the text of any value; numbers are not escaped, since they are no formulas."""
    return str(value) if isinstance(value, Number) else as_cell(str(value))


def _quoted(cell: str) -> str:
    if cell and not _TO_QUOTE.search(cell):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def _may_hold_text(series: pd.Series) -> bool:
    return series.dtype.kind not in "biufcmM" and not is_numeric_dtype(series.dtype)


def _as_texts(series: pd.Series) -> pd.Series:
    """Return each value as text in an object column; None if missing."""
    return series.astype(TEXT).astype(object).where(series.notna(), None)


def to_arrow(frame: pd.DataFrame) -> pa.Table:
    """Return an Arrow table for DuckDB, polars and other programs.

    Returns
    -------
    pyarrow.Table
        The columns of the frame, without the index. Amounts are decimal128(38, 18), the nearest
        if an amount has more decimals, and null if it has more than 20 digits before the point.
        Beside each such column its exact text is in ``<name>_text``, large_string.

    Raises
    ------
    ArgumentError, SettingsError
        If a column has values of several types, or the name of another column's exact text.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"symbol": ["ETH"], "amount": pd.array(["1.5"], dtype="amount")})
    >>> frame.wf.to_arrow().column_names
    ['symbol', 'amount', 'amount_text']
    """
    return to_portable_table(frame)


def to_parquet(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a Parquet file for DuckDB, polars, and pandas without walletframe.

    It has the columns of `to_arrow`: decimals for computing, and exact texts. `read_holdings`
    reads the file back.

    Parameters
    ----------
    path : str or Path
        The file; an earlier one is replaced once the new one is complete on the disk.

    Raises
    ------
    ArgumentError, SettingsError, OSError
        If a column has values of several types, or the name of another column's exact text; or
        the file can't be written.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"symbol": ["ETH"], "amount": pd.array(["1.5"], dtype="amount")})
    >>> frame.wf.to_parquet("amounts.parquet")
    >>> pd.read_parquet("amounts.parquet").columns.tolist()
    ['symbol', 'amount', 'amount_text']
    """
    import pyarrow.parquet  # noqa: PLC0415 - pandas does not load it either

    columns = [  # Parquet stores categories in the order of their first rows
        each.cat.as_unordered() if getattr(each.dtype, "ordered", False) else each
        for _, each in frame.items()
    ]
    table = to_portable_table(rebuilt(columns, [*frame], frame))
    with atomic_write(Path(path)) as file:
        pyarrow.parquet.write_table(table, file)


def to_sql(frame: pd.DataFrame, name: str, con: Database, *, if_exists: Existing = "fail") -> None:
    """Write a table into a database.

    Amounts are DECIMAL(38, 18), as in `to_arrow`, so that the database can compute with them.
    SQLite has no decimals: amounts are the nearest floats. Beside each such column its exact text
    is in ``<name>_text``; read that: ``pd.read_sql("…", con, dtype={"amount_text": "amount"})``.
    The index is left out.

    Parameters
    ----------
    name : str
        The name of the table.
    con : sqlite3.Connection, str, or engine or connection of SQLAlchemy
        The database; a str is SQLAlchemy's URL.
    if_exists : {"fail", "replace", "append"}, default "fail"
        What to do if the table exists.

    Raises
    ------
    ArgumentError
        If `con` is of another type.
    SettingsError
        If a column has the name of another column's exact text.
    ValueError
        If the table exists; this error is pandas's own, as all errors of the database are.

    Examples
    --------
    >>> import sqlite3, pandas as pd, walletframe
    >>> database = sqlite3.connect(":memory:")
    >>> frame = pd.DataFrame({"symbol": ["ETH"], "amount": pd.array(["1.5"], dtype="amount")})
    >>> frame.wf.to_sql("holdings", database)
    >>> database.execute("select * from holdings").fetchall()
    [('ETH', 1.5, '1.5')]
    """
    has_decimals = _has_decimals(con)
    columns: dict[str, pd.Series] = {}
    types: dict[Any, Any] = {}
    for label, series in frame.reset_index(drop=True).items():
        column = str(label)
        columns[column] = series
        if not isinstance(series.dtype, AmountDtype):
            continue
        columns[text_name(label, frame)] = series.array.to_arrow().to_pandas()
        if has_decimals:
            columns[column], types[column] = rounded_decimals(series).to_pandas(), _decimal_type()
        else:
            columns[column] = series.astype("float64")
    pd.DataFrame(columns).to_sql(name, con, if_exists=if_exists, index=False, dtype=types)


def _decimal_type() -> Any:
    """Return SQLAlchemy's decimal type without conversion: some dialects (DuckDB's) send floats."""
    from sqlalchemy import Numeric  # noqa: PLC0415 - pandas needs it, too

    class Decimals(Numeric[Decimal]):
        def bind_processor(self, dialect: Any) -> None:  # noqa: ARG002 - SQLAlchemy's own
            return None

    return Decimals(DECIMALS.precision, DECIMALS.scale)


def _has_decimals(con: Database) -> bool:
    """Return whether a database has decimals: SQLite stores floats."""
    import sqlite3  # noqa: PLC0415 - a caller with a connection has loaded it

    if isinstance(con, sqlite3.Connection):
        return False
    dialect = con if isinstance(con, str) else getattr(getattr(con, "dialect", None), "name", None)
    if dialect is None:
        raise ArgumentError(
            f"a {type(con).__name__} is not a connection for writing tables",
            hint="give a sqlite3.Connection, or an engine or a connection of SQLAlchemy; "
            "other databases read the Arrow table of `to_arrow`",
        )
    return not dialect.startswith("sqlite")


def to_json(frames: Mapping[str, pd.DataFrame], path: str | Path) -> None:
    """Write frames by name, as lists of records: exact amounts as text, times in ISO 8601."""
    records = {}
    for title, frame in frames.items():
        names = [str(name) for name in frame.columns]
        columns = [[_json_value(value) for value in series] for _, series in frame.items()]
        records[title] = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    with atomic_write(Path(path)) as file:
        file.write(json.dumps(records, ensure_ascii=False, indent=1).encode())


def _json_value(value: Any) -> Any:
    """Return a cell as a JSON value; pandas's own writer cuts floats to ten decimals."""
    if pd.isna(value):
        return None
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return value.item() if isinstance(value, np.generic) else value


def require_openpyxl(purpose: str) -> None:
    """Raise if openpyxl is not installed: pandas needs it, and its own error is less clear."""
    if find_spec("openpyxl") is None:
        raise MissingExtraError("excel", purpose)


def to_excel(frame: pd.DataFrame, path: str | Path) -> None:
    """Write an Excel file: amounts as numbers and as exact text, all other text harmless.

    Amounts are the nearest numbers, for sorting, filtering and sums: a cell's number is a float,
    of which Excel shows 15 digits. Beside each such column its exact text is in ``<name>_text``.
    Times are in UTC, to the millisecond; text is on one line, and cut to the size of a cell.
    Only columns ``…_url`` have links, to http or https. The index is left out. `read_holdings`
    reads the file back, from the exact text.

    Parameters
    ----------
    path : str or Path
        The file; an earlier one is replaced once the new one is complete on the disk.

    Raises
    ------
    MissingExtraError, SettingsError, OSError
        If openpyxl is not installed, a column has the name of another column's exact text, or the
        file can't be written.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"symbol": ["ETH"], "amount": pd.array(["1.5"], dtype="amount")})
    >>> frame.wf.to_excel("amounts.xlsx")
    >>> pd.read_excel("amounts.xlsx").columns.tolist()
    ['symbol', 'amount', 'amount_text']
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
            names.append(_excel_value(text_name(name, frame)))
            columns.append(_as_texts(series))
    buffer = BytesIO()  # with a full disk, openpyxl's writer can't be closed
    with pd.ExcelWriter(buffer, engine="openpyxl") as book:
        rebuilt(columns, names, frame).to_excel(book, index=False, freeze_panes=(1, 0))
        sheet: Any = next(iter(book.sheets.values()))
        for row, column, text in links[:_EXCEL_LINKS]:
            sheet.cell(row, column).hyperlink = text
    with atomic_write(Path(path)) as file:
        file.write(buffer.getbuffer())


def _excel_column(series: pd.Series) -> pd.Series:
    """Convert a column: text becomes harmless, amounts floats, and times UTC without a zone."""
    if isinstance(series.dtype, AmountDtype):
        return series.astype("float64")
    if _may_hold_text(series):
        series = series.astype(object).map(_excel_value)  # infers the dtype of times, too
    if isinstance(series.dtype, pd.DatetimeTZDtype):
        series = series.dt.tz_convert(None)  # keeps the time in UTC
    return series


def _excel_value(value: Any) -> Any:
    return as_excel_cell(value, _EXCEL_CELL) if isinstance(value, str) else value


def rebuilt(columns: list[pd.Series], labels: list[Any], frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of columns whose labels may repeat; without columns, ``frame`` itself."""
    if not columns:
        return frame
    return pd.concat(columns, axis=1, keys=range(len(columns))).set_axis(labels, axis=1)
