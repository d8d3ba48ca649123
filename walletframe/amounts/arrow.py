"""Amounts as Arrow arrays: text, which holds all amounts, or decimals, which hold some.

Parquet, Feather and IPC store amounts as text with an extension type. Files for other programs have
the nearest decimals with 18 decimal places, null above 20 digits before the point, and exact text
beside them, which our own readers use if a decimal may have been rounded. Every other conversion
that would round is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from walletframe.amounts.arithmetic import rounded
from walletframe.amounts.integers import MAX_DECIMALS, POWERS, Exact, rescale
from walletframe.amounts.sums import Int128Amounts, words_from
from walletframe.amounts.text import plain, plain_texts
from walletframe.amounts.values import from_decimals, read, read_texts
from walletframe.errors import AmountPrecisionError, ArgumentError, SettingsError
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from walletframe.amounts.integers import Indices, Integers, Mask

SUFFIX = "_text"
"""The suffix of a column of exact text, beside the decimals of the same amounts."""

AMOUNT_TEXT = f"amount{SUFFIX}"
"""The exact text of the amounts of holdings."""

DECIMALS = pa.decimal128(38, 18)
"""One type for all tokens, so that all files of a folder have the same schema."""


if TYPE_CHECKING:

    class _ArrowType:  # Arrow ships no types
        extension_name: str

        def __init__(self, storage_type: pa.DataType, extension_name: str) -> None: ...

else:
    _ArrowType = pa.ExtensionType


class AmountType(_ArrowType):
    """The Arrow extension type of amounts; readers that don't know it read plain text."""

    def __init__(self) -> None:
        super().__init__(pa.large_string(), "walletframe.amount")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> AmountType:
        return cls()

    def __hash__(self) -> int:
        return hash(self.extension_name)

    def to_pandas_dtype(self) -> object:
        """Return the pandas dtype."""
        return pd.api.types.pandas_dtype("amount")


pa.register_extension_type(AmountType())


def as_text(amounts: Exact) -> pa.Array:
    """Return amounts as an Arrow array of plain text, null for missing ones."""
    texts = plain_texts(amounts.integers, amounts.scale)
    return pc.if_else(amounts.missing, None, texts) if amounts.missing.any() else texts


def to_scale(amounts: Exact, scale: int, low: int, high: int, kind: object, hint: str) -> Integers:
    """Return the integers at a scale; refuse amounts with more decimals, or out of bounds."""
    integers, inexact, own_scale = amounts.integers, np.False_, amounts.scale
    if own_scale > scale:
        unit = 10 ** (own_scale - scale)
        integers, inexact = integers // unit, integers % unit != 0
    integers = rescale(integers, min(own_scale, scale), scale)
    lost = np.flatnonzero(inexact | (integers < low) | (integers > high))
    if len(lost):
        value = plain(amounts.integers[lost[0]], own_scale)
        message = f"{value} (at position {lost[0]}) does not fit in {kind}"
        raise AmountPrecisionError(message, hint=hint)
    return integers


def as_decimals(amounts: Exact, kind: pa.DataType) -> pa.Array:
    """Return amounts as an Arrow array of decimals, null for missing ones."""
    high = 10**kind.precision - 1
    hint = "use text, which holds every amount: astype('string'), or to_arrow() without a type"
    integers = to_scale(amounts, kind.scale, -high, high, kind, hint)
    return decimals_from(integers, amounts.missing, kind)


def decimals_from(integers: Integers, missing: Mask, kind: pa.DataType) -> pa.Array:
    """Return an Arrow array of integers, which have to fit the decimal type at its scale."""
    width = kind.byte_width
    words = b"".join([n.to_bytes(width, "little", signed=True) for n in integers.tolist()])
    present = np.packbits(~missing, bitorder="little").tobytes()
    buffers = [pa.py_buffer(present), pa.py_buffer(words)]
    return pa.Array.from_buffers(kind, len(integers), buffers)


def from_arrow(array: pa.Array | pa.ChunkedArray) -> Exact:
    """Read an Arrow array of amounts, text, decimals or integers; null is missing."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.cast(array.type.storage_type)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    kind, amounts = array.type, None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        amounts = read_texts(array.cast(pa.large_string()))
    elif pa.types.is_decimal(kind) and kind.scale >= 0:
        if kind.scale > MAX_DECIMALS:
            raise AmountPrecisionError(
                f"{kind} has more decimals than an amount, which has at most {MAX_DECIMALS}",
                hint="round them on purpose first, to a type of fewer decimals",
            )
        is_wide = pa.types.is_decimal128(kind) or pa.types.is_decimal256(kind)
        amounts = from_decimals(array if is_wide else array.cast(pa.decimal256(76, kind.scale)))
    return read(array.to_pylist()) if amounts is None else amounts


def to_portable_table(frame: pd.DataFrame) -> pa.Table:
    """Return an Arrow table for readers that don't know amounts, without the index.

    A column ``c`` of amounts becomes a column of decimals, and ``c_text`` with the exact text.
    """
    columns: dict[str, Any] = {}
    for name, series in frame.items():
        is_exact = series.dtype == "amount"
        column = rounded_decimals(series) if is_exact else _column(name, series)
        columns[str(name)] = column
        if column.type == DECIMALS:  # also of the user's: with text, they would be read as amounts
            text = text_name(name, frame)
            if is_exact:
                columns[text] = pa.array(series.array, pa.large_string())
    return pa.table(columns)  # without pandas's metadata, since other readers lack the dtype


def text_name(name: object, frame: pd.DataFrame) -> str:
    """Return the name of a column's exact text; refuse a frame that already has the name."""
    text = f"{name}{SUFFIX}"
    if text in map(str, frame.columns):
        raise SettingsError(
            f"the file needs the name {safe_line(text)!r} for the exact text of "
            f"{safe_line(str(name))!r}, but the frame has a column of this name",
            hint=f"drop it, or rename it: frame.rename(columns={{{safe_line(text)!r}: …}})",
        )
    return text


def rounded_decimals(series: pd.Series) -> pa.Array:
    """Return the nearest decimals, rounded half to even, and null above 38 digits."""
    array: Any = series.array
    integers, missing, scale = rounded(array.exact(), DECIMALS.scale)
    integers = rescale(integers, scale, DECIMALS.scale)
    fits = np.asarray(np.abs(integers) < POWERS[DECIMALS.precision], dtype=bool) & ~missing
    return decimals_from(np.where(fits, integers, 0), ~fits, DECIMALS)


def _column(name: object, series: pd.Series) -> pa.Array:
    """Return an Arrow array; refuse values that don't have one Arrow type."""
    try:
        return pa.Array.from_pandas(series)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as fault:
        reason = str(fault)
    kinds = ", ".join(sorted({type(value).__name__ for value in series.dropna()}))
    label = safe_line(str(name))
    raise ArgumentError(
        f"Arrow has no type for all values of the column {label!r} ({kinds}): {safe_line(reason)}",
        hint=f'drop it, or make it text: frame.astype({{{label!r}: "str"}})',
    )


def with_amounts(table: pa.Table) -> pa.Table:
    """Replace the decimals and text of a portable table by amounts of `AmountType`."""
    for field in table.schema:
        text = f"{field.name}{SUFFIX}"
        if field.type == DECIMALS and text in table.column_names:
            position = table.column_names.index(field.name)
            exact = table[text].cast(pa.large_string()).cast(AmountType())
            table = table.set_column(position, field.name, exact).drop_columns(text)
    return table


def from_portable(
    decimals: pa.Array, inexact: Mask, texts: Callable[[Indices], pa.Array]
) -> Int128Amounts:
    """Read the amounts of a portable table, from text if decimals are null or inexact.

    `inexact` marks decimals that may have been rounded. `texts` returns the text of some rows; it
    is called only if there are null or inexact decimals.
    """
    words, missing = words_from(decimals), np.asarray(decimals.is_null())
    rows = np.flatnonzero(missing | inexact)
    overrides = Exact(np.empty(0, dtype=object), np.empty(0, dtype=bool), 0)
    if len(rows):
        overrides = from_arrow(texts(rows))
        words, missing = words.copy(), missing.copy()
        words[rows], missing[rows] = 0, overrides.missing
    return Int128Amounts(words, missing, decimals.type.scale, rows, overrides)
