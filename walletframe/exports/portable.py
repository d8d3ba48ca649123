"""Frames as Parquet and JSON, for other programs: exact amounts."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.amounts.arrow import to_portable_table
from walletframe.disk import replaced

if TYPE_CHECKING:
    from collections.abc import Mapping


def to_parquet(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a Parquet file: amounts as text, and as decimal128 in ``<name>_decimal``."""
    import pyarrow.parquet  # noqa: PLC0415 - pandas does not load it either

    table = to_portable_table(frame)
    with replaced(Path(path)) as file:
        pyarrow.parquet.write_table(table, file)


def to_json(frames: Mapping[str, pd.DataFrame], path: str | Path) -> None:
    """Write frames by name, as lists of records: exact amounts as text, times in ISO 8601."""
    whole = {name: _records(frame) for name, frame in frames.items()}
    with replaced(Path(path)) as file:
        file.write(json.dumps(whole, ensure_ascii=False, indent=1).encode())


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
