"""Frames as CSV: one row a line for every reader, whatever text the cells hold.

pandas's own writer leaves a bare carriage return unquoted, which begins a new row for most readers;
and it writes missing and empty text alike. Here no cell has a control character, and empty text is
quoted while what is missing is not.
"""

from __future__ import annotations

import gzip
import re
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype

from walletframe.cells import as_cell
from walletframe.disk import replaced
from walletframe.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence

SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}
"""By the end of a file's name, before ``.gz``."""

_OTHER_COMPRESSIONS = (".bz2", ".tar", ".xz", ".zip", ".zst")
_TO_QUOTE = re.compile(r"""[,;|\t"']|^[\s\#]|\s$""")


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
    with replaced(target) as file, _packed(file, target) as lines:
        for row in chain([heads], zip(*cells, strict=True)):
            lines.write(f"{separator.join(row)}\n".encode())


def uncompressed(path: Path) -> Path:
    """Return a path without the end that names its compression, ``.gz``."""
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


def _packed(file: BinaryIO, path: Path) -> AbstractContextManager[BinaryIO]:
    if path.suffix.lower() != ".gz":
        return nullcontext(file)
    return cast("BinaryIO", gzip.GzipFile("", "wb", fileobj=file, mtime=0))


def _cells(series: pd.Series) -> list[str]:
    """Return the cells of a column, empty where something is missing."""
    if is_float_dtype(series.dtype):
        return ["" if pd.isna(value) else _plain(value) for value in series]
    if not may_hold_text(series):
        return ["" if value is None else value for value in as_texts(series)]
    known: dict[Any, str] = {}
    return [_of_known(value, known) for value in series]


def _of_known(value: Any, known: dict[Any, str]) -> str:
    if not isinstance(value, str):
        return "" if pd.api.types.is_scalar(value) and pd.isna(value) else _quoted(_cell(value))
    if value not in known:
        known[value] = _quoted(as_cell(value))
    return known[value]


def _cell(value: object) -> str:
    """Return the text of anything; a number is no formula."""
    return str(value) if isinstance(value, Number) else as_cell(str(value))


def _quoted(cell: str) -> str:
    if cell and not _TO_QUOTE.search(cell):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def _plain(number: Any) -> str:
    return np.format_float_positional(number, trim="0")


def may_hold_text(series: pd.Series) -> bool:
    """Tell whether a column may hold text."""
    return isinstance(series.dtype, pd.StringDtype | pd.CategoricalDtype) or series.dtype == object


def as_texts(series: pd.Series) -> pd.Series:
    """Write each value as text, as an object; None where it is missing."""
    return series.astype("str").astype(object).where(series.notna(), None)


def rebuilt(
    columns: Sequence[pd.Series], labels: Sequence[Any], frame: pd.DataFrame
) -> pd.DataFrame:
    """Make a frame of columns whose labels may repeat; of no columns, ``frame`` itself."""
    if not columns:
        return frame
    whole = pd.concat(columns, axis=1, keys=range(len(columns)))
    return whole.set_axis(list(labels), axis=1)
