"""Readers of walletframe's own files, which restore the original frames."""

from __future__ import annotations

import csv
import json
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zipfile import BadZipFile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
from pandas.api.types import infer_dtype

from walletframe.amounts import AmountDtype
from walletframe.amounts.arrow import TEXT_SUFFIX, merge_amount_columns
from walletframe.disk import read_parquet
from walletframe.errors import AmountError, ColumnsError, DatasetError, SettingsError
from walletframe.exports import writers
from walletframe.frames.extra_columns import ARROW_DTYPES
from walletframe.frames.positions import HOLDING_COLUMNS
from walletframe.frames.schema import HOLDING_DTYPES, WALLET_DTYPES
from walletframe.text import ESCAPE_SIGN, unescape_cell

if TYPE_CHECKING:
    from collections.abc import Mapping

SUFFIXES: Final = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".xlsx", ".json")
_REQUIRED_WALLET_COLUMNS = ("blockchain", "address", "status", "fetched_at")
_TEXT = HOLDING_DTYPES["symbol"]
_DTYPES: Mapping[str, Any] = {
    **HOLDING_DTYPES,
    **WALLET_DTYPES,
    "snapshot": WALLET_DTYPES["fetched_at"],
    "block": pd.Int64Dtype(),
    **dict.fromkeys(("unit_price", "value", "spam_score"), "float64"),
    **dict.fromkeys(("currency", "price_source", "spam_reasons"), _TEXT),
    "is_spam": "bool",
}
_BLOCK_BYTES = 1 << 26  # the longest possible cell
_FLOAT_TOLERANCE = 1e-14  # a spreadsheet keeps 15 digits of a number


def read_holdings(path: str | Path) -> pd.DataFrame:
    """Read a file that walletframe wrote, and return the original DataFrame.

    Parameters
    ----------
    path : str or Path
        A .csv, .tsv, .csv.gz, .tsv.gz, .parquet, .xlsx or .json file, written by ``.wf.to_csv``,
        ``.wf.to_parquet``, ``.wf.to_excel`` or ``walletframe fetch --output``.

    Returns
    -------
    DataFrame
        The original rows, columns and dtypes. Amounts are exact, and missing values are unchanged.
        A file such as ``holdings.wallets.csv`` contains the table ``wallets``. Your own columns
        become text if the format stores no types, as in CSV. An Excel file stores times to the
        millisecond, and at most 32,000 characters of a text.

    Raises
    ------
    SettingsError
        If the name of the file has an unsupported ending.
    ColumnsError
        If the file contains neither holdings nor wallets.
    DatasetError
        If the file is broken, or a value has the wrong type.
    MissingExtraError
        If the file is an Excel file, and openpyxl is not installed.
    OSError
        If the file does not exist or can't be read.

    Examples
    --------
    >>> import tempfile, walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     holdings = walletframe.fetch_wallets(["NEAR.alice.near"], client=client).holdings
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     holdings.wf.to_csv(f"{folder}/holdings.csv")
    ...     back = read_holdings(f"{folder}/holdings.csv")
    >>> back.equals(holdings)
    True
    """
    frame, _ = _read_frame_and_wallets(Path(path))
    missing = [name for name in HOLDING_COLUMNS if name not in frame.columns]
    if missing and not {*_REQUIRED_WALLET_COLUMNS} <= {*frame.columns}:
        hint = "use a file of holdings, or the file of wallets beside it"
        raise ColumnsError(missing, [*map(str, frame.columns)], hint)
    return restore_dtypes(frame)


def read_with_wallets(path: Path) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Read holdings, and wallets from the same file or a second file. Missing wallets are None."""
    frame, wallets = _read_frame_and_wallets(path)
    beside = path.with_suffix(f".wallets{path.suffix}")
    if wallets is None and beside.exists():
        wallets, _ = _read_frame_and_wallets(beside)
    return frame, wallets


def restore_dtypes(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert each column of walletframe to its dtype, or raise a DatasetError."""
    columns = {name: _restore_dtype(str(name), column) for name, column in frame.items()}
    restored = pd.DataFrame(columns)
    restored.attrs = frame.attrs
    return restored


def _read_frame_and_wallets(path: Path) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    suffix = writers.without_gz(path).suffix.lower()
    readers = dict.fromkeys(writers.SEPARATORS, _read_csv_or_tsv)
    readers |= {".parquet": _read_parquet, ".xlsx": _read_excel}
    if suffix != ".json" and suffix not in readers:
        hint = f"pass a file whose name ends in {', '.join(SUFFIXES)}"
        raise SettingsError(f"the suffix of {path.name!r} is not supported", hint)
    try:
        return _read_json(path) if suffix == ".json" else (readers[suffix](path), None)
    except OSError as fault:
        if fault.errno is not None:
            raise
        raise _unreadable_error(str(path), str(fault)) from None
    except (ArithmeticError, ValueError, TypeError, LookupError, BadZipFile) as fault:
        raise _unreadable_error(str(path), f"{type(fault).__name__}: {fault}") from None


def _read_csv_or_tsv(path: Path) -> pd.DataFrame:
    separator = writers.SEPARATORS[writers.without_gz(path).suffix.lower()]
    with pa.input_stream(path) as stream:
        names = next(csv.reader(TextIOWrapper(stream, "utf-8-sig"), delimiter=separator), [])
    with pa.input_stream(path) as stream:
        table = pa_csv.read_csv(
            stream,
            pa_csv.ReadOptions(block_size=_BLOCK_BYTES),
            pa_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    return _unescape_texts(table.to_pandas(types_mapper={pa.string(): _TEXT}.get))


def _read_parquet(path: Path) -> pd.DataFrame:
    table = merge_amount_columns(read_parquet(path))
    text_types = {pa.string(): _TEXT, pa.large_string(): _TEXT}
    frame: pd.DataFrame = table.to_pandas(types_mapper=text_types.get)
    # With missing values, pandas converts integers to floats, and booleans to objects.
    with_missing = [
        field.name
        for field in table.schema
        if (pa.types.is_integer(field.type) or pa.types.is_boolean(field.type))
        and field.name in frame.columns
        and frame[field.name].hasnans
    ]
    exact = table.select(with_missing).to_pandas(types_mapper=ARROW_DTYPES.get)
    frame.attrs = json.loads((table.schema.metadata or {}).get(writers.PANDAS_ATTRS, "{}"))
    return frame.assign(**{name: exact[name].array for name in with_missing})


def _read_excel(path: Path) -> pd.DataFrame:
    writers.require_openpyxl("reading Excel files")
    import openpyxl  # noqa: PLC0415 - the package is an optional extra

    with path.open("rb") as file:
        sheet = openpyxl.load_workbook(file, read_only=True, data_only=True).worksheets[0]
        header, *rows = sheet.iter_rows(values_only=True)
    written = [row for row in rows if any(cell is not None for cell in row)]
    frame = _unescape_texts(pd.DataFrame(written, columns=pd.Index(header, dtype=object)))
    for name in [*frame]:  # a text column with the same numbers contains the exact amounts
        text = f"{name}{TEXT_SUFFIX}"
        if text not in frame.columns or infer_dtype(frame[name]) == "string":
            continue
        with suppress(AmountError, TypeError, ValueError):  # the user's own text column
            amounts = frame[text].astype(AmountDtype())
            numbers = amounts.astype("float64"), frame[name].astype("float64")
            if np.allclose(*numbers, rtol=_FLOAT_TOLERANCE, atol=0, equal_nan=True):
                frame = frame.assign(**{str(name): amounts}).drop(columns=text)
    return frame


def _read_json(path: Path) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    content = json.loads(path.read_text(encoding="utf-8"))
    frames = {}
    for name, rows in (content if isinstance(content, dict) else {"": content}).items():
        columns = WALLET_DTYPES if name == "wallets" else HOLDING_DTYPES  # if there are no rows
        frames[name] = pd.DataFrame(rows, columns=None if rows else [*columns])
    first = next(iter(frames.values()), pd.DataFrame())
    return frames.get("holdings", first), frames.get("wallets")


def _unescape_texts(frame: pd.DataFrame) -> pd.DataFrame:
    def unescape(cell: Any) -> Any:
        return unescape_cell(cell) if isinstance(cell, str) else cell

    def unescape_column(column: pd.Series) -> pd.Series:
        if column.dtype == _TEXT and not column.str.startswith(ESCAPE_SIGN).any():
            return column
        return column.map(unescape).astype(column.dtype)

    columns = [unescape_column(column) for _, column in frame.items()]
    return writers.concat_columns(columns, [*map(unescape, frame)], frame)


def _restore_dtype(name: str, column: pd.Series) -> pd.Series:
    is_text = column.dtype == object and infer_dtype(column) == "string"
    dtype = _DTYPES.get(name, _TEXT if is_text else column.dtype)
    try:
        if column.dtype == dtype:
            return column
        if isinstance(dtype, pd.CategoricalDtype):
            is_known = column.dropna().isin(dtype.categories).all()
            return column.astype(dtype if is_known else _TEXT)  # nodes have other statuses
        if isinstance(dtype, pd.DatetimeTZDtype):
            return pd.to_datetime(column, utc=True, format="ISO8601").astype(dtype)
        if isinstance(dtype, pd.Int16Dtype | pd.Int64Dtype):
            return pd.to_numeric(column).astype(dtype)
        if dtype == "bool":
            values = column.map({"True": True, "False": False})
            if values.isna().any():
                raise ValueError("some values are neither True nor False")  # noqa: TRY301 - translated below, as the errors of pandas are
            return values.astype(dtype)
        return column.astype(dtype)
    except (ArithmeticError, ValueError, TypeError) as fault:
        if name not in HOLDING_DTYPES and name not in WALLET_DTYPES:
            return column
        raise _unreadable_error(f"the column {name!r}", str(fault)) from None


def _unreadable_error(source: str, reason: str) -> DatasetError:
    hint = "use an unchanged file that walletframe wrote"
    return DatasetError(f"{source} can't be read: {reason}", hint)
