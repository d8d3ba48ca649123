"""What a table says of its wallets beside where they are: the columns that its user keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.address.forms import canonical_key
from walletframe.address.lists import frame_rows, read_rows
from walletframe.errors import (
    ArgumentError,
    ColumnsError,
    Either,
    InputWarning,
    SettingsError,
    Spelled,
)
from walletframe.notice import notify
from walletframe.numerals import many
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from walletframe.address.lists import Reading

    Places = npt.NDArray[np.intp]

_NAMED = 3
_TEXT = pd.StringDtype(na_value=float("nan"))


def read_table(table: object, keep: Sequence[str]) -> Reading:
    """Read a DataFrame, with the columns to keep."""
    if not isinstance(table, pd.DataFrame):
        raise ArgumentError(
            f"wallets of type {type(table).__name__} have no columns to keep",
            hint=Spelled("give ", Either("a DataFrame, or the path of a CSV file", "a CSV file")),
        )
    if missing := [name for name in keep if name not in table.columns]:
        raise ColumnsError(missing, [str(name) for name in table.columns])
    labels = table[[*keep]]
    if labels.shape[1] > len(keep):
        raise SettingsError(f"keep: {list(keep)!r}", hint="one of these is there twice")
    reading = read_rows(enumerate(frame_rows(table.drop(columns=[*keep]))))
    return labelled(reading, labels.iloc[reading.places].reset_index(drop=True))


def labelled(reading: Reading, labels: pd.DataFrame) -> Reading:
    """Put beside the wallets what else is told of each, row by row; empty texts are missing."""
    trimmed = {name: _trimmed(column) for name, column in labels.items()}
    return replace(reading, labels=pd.DataFrame(trimmed))


def _trimmed(column: pd.Series) -> pd.Series:
    """Return a column whose texts have no white space around them."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        labels = [label for label in column.cat.categories if isinstance(label, str)]
        if all(label and label == label.strip() for label in labels):
            return column
    elif column.dtype.kind not in "OU":
        return column
    cells = [cell.strip() or None if isinstance(cell, str) else cell for cell in column]
    is_text = all(isinstance(cell, str) for cell in cells if not _is_missing(cell))
    if is_text:  # a lone surrogate is in no column of text
        cells = [
            cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else None
            for cell in cells
        ]
    return pd.Series(cells, index=column.index, dtype=_TEXT if is_text else object)


def _is_missing(cell: Any) -> bool:
    return bool(pd.api.types.is_scalar(cell) and pd.isna(cell))


def distinct_labels(reading: Reading, *, place: Callable[[int], str] = str) -> pd.DataFrame | None:
    """Return a row for each distinct wallet: the first that is told of it; warn where more is."""
    if reading.labels is None:
        return None
    keys: dict[tuple[str, str], int] = {}
    codes = np.array(
        [
            keys.setdefault(canonical_key(wallet.blockchain, wallet.address), len(keys))
            for wallet in reading.wallets
        ],
        dtype=np.intp,
    )
    columns = {}
    for name, column in reading.labels.items():
        rows, others = telling_rows(str(name), codes, column)
        if len(others):
            pairs = [(int(rows[codes[row]]), row) for row in others]
            _warn_of(str(name), reading, column, pairs, place)
        columns[name] = column.array.take(rows, allow_fill=bool((rows < 0).any()))
    return pd.DataFrame(columns, index=range(len(keys)))


def telling_rows(name: str, codes: Places, column: Any) -> tuple[Places, list[int]]:
    """Give the first row that tells a label of each code, -1 for none, and those that tell another.

    The rows of a code are those of one wallet, say.
    """
    try:
        labels, _ = pd.factorize(column)
    except TypeError:
        raise unnameable(name) from None
    told = np.flatnonzero(labels >= 0)
    rows = np.full(int(codes.max(initial=-1)) + 1, -1)
    rows[codes[told[::-1]]] = told[::-1]
    others = told[labels[told] != labels[rows[codes[told]]]]
    return rows, others.tolist()


def unnameable(name: str) -> SettingsError:
    """Make the error for a column whose values can't be compared."""
    return SettingsError(
        f"the column {shown(name)!r} holds lists or the like, which name no group",
        hint=Spelled("make text of them", Either(": .astype('str')", "")),
    )


def _warn_of(
    name: str,
    reading: Reading,
    column: pd.Series,
    pairs: list[tuple[int, int]],
    place: Callable[[int], str],
) -> None:
    """Say which wallets have several labels, and in which rows."""

    def label(row: int) -> str:
        return f"{shown(str(column.iloc[row]))!r} at {place(reading.places[row])}"

    cells = [
        f"{shown(str(reading.wallets[first]))}: {label(first)}, {label(other)}"
        for first, other in pairs[:_NAMED]
    ]
    more = f"; and {len(pairs) - _NAMED:,} more" if len(pairs) > _NAMED else ""
    said = f"{many(len(pairs), 'row')} with another {shown(name)!r} than before for one wallet"
    text = f"{said}; the first is kept ({reading.where}: {'; '.join(cells)}{more})"
    notify(text, InputWarning)
