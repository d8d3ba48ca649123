"""Writers of CSV, Parquet, JSON and Excel files, with exact amounts and escaped text.

The CSV writer of pandas is not used. It doesn't quote a carriage return without a line feed, which
ends a row for most readers. It also writes empty text and missing values in the same way.
"""

from __future__ import annotations

import gzip
import json
import re
from contextlib import nullcontext
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

from walletframe.amounts import AmountDtype, arrow
from walletframe.disk import atomic_write
from walletframe.errors import ArgumentError, MissingExtraError, SettingsError
from walletframe.pandas_versions import TEXT
from walletframe.text import escape_csv_cell, escape_excel_cell, url_if_safe

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    import pyarrow as pa
    from sqlalchemy import Connection, Engine

    Database = sqlite3.Connection | Engine | Connection | str
IfExists = Literal["fail", "replace", "append"]

SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}  # by the end of a file's name, before ``.gz``
PANDAS_ATTRS: Final = b"PANDAS_ATTRS"  # pandas' key for `attrs` in a Parquet file
_OTHER_COMPRESSIONS = (".bz2", ".tar", ".xz", ".zip", ".zst")
_TO_QUOTE = re.compile(r"""[,;|\t"']|^[\s\#]|\s$""")
_MAX_CELL_CHARS, _MAX_LINKS = 32_000, 65_000


def to_csv(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a CSV file with exact amounts, escaped text and one line for each row.

    Amounts and floats have all digits and no exponent. Formulas and text with control characters
    are escaped, with a leading apostrophe. Empty text is written as ``""``, and a missing value as
    an empty cell. The index and the conditions of `where` are not written. `read_holdings` reads
    the file back. A spreadsheet converts symbols such as ``1e5`` in a CSV file to numbers; use
    `to_excel` to avoid this.

    Parameters
    ----------
    path : str or Path
        The path of the file. The suffix ``.tsv`` means tabs as separators, and ``.gz`` means
        compression. An existing file is replaced once the new file is complete.

    Raises
    ------
    SettingsError
        If the name ends in an unsupported suffix, such as ``.zip``.
    OSError
        If the file can't be written.

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
            f"to_csv can't write {target.name!r}, since {target.suffix} is not supported",
            hint="use a name that ends in .csv, .tsv, .csv.gz or .tsv.gz",
        )
    separator = SEPARATORS.get(without_gz(target).suffix.lower(), ",")
    header = [_quote(_csv_cell(name)) for name in frame.columns]
    cells = [_csv_cells(series) for _, series in frame.items()]
    if len(cells) == 1:  # most readers skip empty lines
        cells = [[cell or '""' for cell in cells[0]]]
    rows = chain([header], zip(*cells, strict=True))
    lines = (f"{separator.join(row)}\n".encode() for row in rows)
    is_gzip = target.suffix.lower() == ".gz"
    with atomic_write(target) as file:
        output = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if is_gzip else nullcontext(file)
        with output as stream:
            stream.writelines(lines)


def without_gz(path: Path) -> Path:
    """Return a path without the suffix ``.gz``."""
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


def _csv_cells(series: pd.Series) -> list[str]:
    is_exact = isinstance(series.dtype, AmountDtype)  # `is_float_dtype` is also true for amounts
    if is_float_dtype(series.dtype) and not is_exact:
        plain = np.format_float_positional
        return ["" if pd.isna(value) else plain(value, trim="0") for value in series]
    if not _may_hold_text(series):
        return [value or "" for value in _text_or_none(series)]
    written = cache(lambda text: _quote(escape_csv_cell(text)))  # cached, since texts repeat
    cells = (written(each) if isinstance(each, str) else _quote(_csv_cell(each)) for each in series)
    return ["" if missing else cell for cell, missing in zip(cells, series.isna(), strict=True)]


def _csv_cell(value: object) -> str:
    return str(value) if isinstance(value, Number) else escape_csv_cell(str(value))


def _quote(cell: str) -> str:
    if cell and not _TO_QUOTE.search(cell):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def _may_hold_text(series: pd.Series) -> bool:
    return series.dtype.kind not in "biufcmM" and not is_numeric_dtype(series.dtype)


def _text_or_none(series: pd.Series) -> pd.Series:
    return series.astype(TEXT).astype(object).where(series.notna(), None)


def to_arrow(frame: pd.DataFrame) -> pa.Table:
    """Return an Arrow table for DuckDB, polars and other programs.

    Returns
    -------
    pyarrow.Table
        The columns of the frame, without the index. A column of amounts becomes decimal128(38, 18).
        Amounts are rounded to 18 decimals. An amount with over 20 digits before the point is null.
        The next column, ``<name>_text``, contains the exact amounts as text (large_string).

    Raises
    ------
    ArgumentError
        If a column contains values of several types.
    SettingsError
        If the frame already has a column ``<name>_text`` for a column of amounts.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"symbol": ["ETH"], "amount": pd.array(["1.5"], dtype="amount")})
    >>> frame.wf.to_arrow().column_names
    ['symbol', 'amount', 'amount_text']
    """
    return arrow.to_portable_table(frame)


def to_parquet(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a Parquet file that other programs can read, such as DuckDB and polars.

    The columns are the same as in `to_arrow`. `read_holdings` reads the file back. The file stores
    ``attrs``, which record the rows that `where` and `without_spam` left out.

    Parameters
    ----------
    path : str or Path
        The path of the file. An existing file is replaced once the new file is complete.

    Raises
    ------
    ArgumentError, SettingsError
        As for `to_arrow`.
    OSError
        If the file can't be written.
    """
    import pyarrow.parquet  # noqa: PLC0415 - slow to load, and pandas does not load it

    columns = [  # Parquet stores categories in the order of their first rows
        each.cat.as_unordered() if getattr(each.dtype, "ordered", False) else each
        for _, each in frame.items()
    ]
    table = arrow.to_portable_table(concat_columns(columns, [*frame], frame))
    if frame.attrs:  # as pandas writes them
        attributes = json.dumps(frame.attrs, default=str, skipkeys=True)
        table = table.replace_schema_metadata({PANDAS_ATTRS: attributes})
    with atomic_write(Path(path)) as file:
        pyarrow.parquet.write_table(table, file)


def to_sql(frame: pd.DataFrame, name: str, con: Database, *, if_exists: IfExists = "fail") -> None:
    """Write a table into a database.

    Amounts are written as DECIMAL(38, 18), as in `to_arrow`, or as floats into SQLite. An added
    column, such as ``amount_text``, contains the exact amounts. Read this column with
    ``pd.read_sql("…", con, dtype={"amount_text": "amount"})``. The index is not written.

    Parameters
    ----------
    name : str
        The name of the table.
    con : sqlite3.Connection, str, or engine or connection of SQLAlchemy
        The database; a str is a database URL for SQLAlchemy.
    if_exists : {"fail", "replace", "append"}, default "fail"
        The action if the table exists.

    Raises
    ------
    ArgumentError
        If `con` has another type.
    SettingsError
        If the frame already has the column of exact texts, such as ``amount_text``.
    ValueError
        If the table exists and `if_exists` is "fail". Errors of the database are passed on.

    Examples
    --------
    >>> import sqlite3, pandas as pd, walletframe
    >>> database = sqlite3.connect(":memory:")
    >>> frame = pd.DataFrame({"symbol": ["ETH"], "amount": pd.array(["1.5"], dtype="amount")})
    >>> frame.wf.to_sql("holdings", database)
    >>> database.execute("select * from holdings").fetchall()
    [('ETH', 1.5, '1.5')]
    """
    has_decimals = _supports_decimals(con)
    columns: dict[str, pd.Series] = {}
    types: dict[Any, Any] = {}
    for label, series in frame.reset_index(drop=True).items():
        column = str(label)
        columns[column] = series
        if not isinstance(series.dtype, AmountDtype):
            continue
        columns[arrow.text_column_name(label, frame)] = series.array.to_arrow().to_pandas()
        if has_decimals:
            columns[column] = arrow.rounded_decimals(series).to_pandas()
            types[column] = _sql_decimal_type()
        else:
            columns[column] = series.astype("float64")
    pd.DataFrame(columns).to_sql(name, con, if_exists=if_exists, index=False, dtype=types)


def _sql_decimal_type() -> Any:
    """Return a SQL type that passes Decimals unchanged. `Numeric` would pass floats to DuckDB."""
    from sqlalchemy import Numeric  # noqa: PLC0415 - not a dependency; only databases other than SQLite need it

    class DecimalColumnType(Numeric[Decimal]):
        def bind_processor(self, dialect: Any) -> None:  # noqa: ARG002 - SQLAlchemy's own
            return None

    return DecimalColumnType(arrow.DECIMALS.precision, arrow.DECIMALS.scale)


def _supports_decimals(con: Database) -> bool:
    import sqlite3  # noqa: PLC0415 - a caller with a connection has loaded it

    if isinstance(con, sqlite3.Connection):
        return False
    dialect = con if isinstance(con, str) else getattr(getattr(con, "dialect", None), "name", None)
    if dialect is None:
        raise ArgumentError(
            f"a connection of type {type(con).__name__} is not supported",
            hint="pass a sqlite3.Connection, or an engine or a connection of SQLAlchemy; "
            "other databases can read the Arrow table that `to_arrow` returns",
        )
    return not dialect.startswith("sqlite")


def to_json(frames: Mapping[str, pd.DataFrame], path: str | Path) -> None:
    """Write the rows of each frame under its key, with amounts as text and times in ISO 8601."""
    records = {}
    for title, frame in frames.items():
        names = [str(name) for name in frame.columns]
        columns = [[_json_value(value) for value in series] for _, series in frame.items()]
        records[title] = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    with atomic_write(Path(path)) as file:
        file.write(json.dumps(records, ensure_ascii=False, indent=1).encode())


def _json_value(value: Any) -> Any:
    if pd.isna(value):
        return None
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return value.item() if isinstance(value, np.generic) else value


def require_openpyxl(purpose: str) -> None:
    """Raise an error if openpyxl is not installed."""
    if find_spec("openpyxl") is None:
        raise MissingExtraError("excel", purpose)


def to_excel(frame: pd.DataFrame, path: str | Path) -> None:
    """Write an Excel file, with each amount as a number and as exact text.

    The numbers are rounded to floats, and Excel shows 15 digits. The next column, ``<name>_text``,
    contains the exact amounts as text. Formulas and control characters in texts are escaped. Times
    are in UTC, to the millisecond. Text of more than 32,000 characters is truncated. Only columns
    whose name ends in ``_url`` have links. The index is not written. `read_holdings` reads the file
    back, without the conditions of `where`.

    Parameters
    ----------
    path : str or Path
        The path of the file. An existing file is replaced once the new file is complete.

    Raises
    ------
    MissingExtraError
        If openpyxl is not installed.
    SettingsError, OSError
        As for `to_parquet`.
    """
    require_openpyxl("writing Excel files")
    names: list[Any] = []
    columns: list[pd.Series] = []
    links: list[tuple[int, int, str]] = []
    for name, series in frame.items():
        names.append(_escape_for_excel(name))
        columns.append(_excel_column(series))
        if str(name).endswith("_url"):
            texts = [(row, text) for row, text in enumerate(series, 2) if isinstance(text, str)]
            links += [(row, len(names), text) for row, text in texts if url_if_safe(text)]
        if isinstance(series.dtype, AmountDtype):
            names.append(_escape_for_excel(arrow.text_column_name(name, frame)))
            columns.append(_text_or_none(series))
    buffer = BytesIO()  # on a full disk, openpyxl's writer could not be closed
    with pd.ExcelWriter(buffer, engine="openpyxl") as book:
        concat_columns(columns, names, frame).to_excel(book, index=False, freeze_panes=(1, 0))
        sheet: Any = next(iter(book.sheets.values()))
        for row, column, text in links[:_MAX_LINKS]:
            sheet.cell(row, column).hyperlink = text
    with atomic_write(Path(path)) as file:
        file.write(buffer.getbuffer())


def _excel_column(series: pd.Series) -> pd.Series:
    if isinstance(series.dtype, AmountDtype):
        return series.astype("float64")
    if _may_hold_text(series):
        series = series.astype(object).map(_escape_for_excel)  # also infers the dtype of times
    if isinstance(series.dtype, pd.DatetimeTZDtype):
        series = series.dt.tz_convert(None)  # to UTC
    return series


def _escape_for_excel(value: Any) -> Any:
    return escape_excel_cell(value, _MAX_CELL_CHARS) if isinstance(value, str) else value


def concat_columns(columns: list[pd.Series], names: list[Any], empty: pd.DataFrame) -> pd.DataFrame:
    """Concatenate columns. Names may repeat. Without columns, return `empty`."""
    if not columns:
        return empty
    return pd.concat(columns, axis=1, keys=range(len(columns))).set_axis(names, axis=1)
