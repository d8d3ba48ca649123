"""Amounts as Arrow arrays: text that holds all of them, or decimals that hold some.

Nothing here rounds but the decimals in files for other programs: these are the nearest ones with 18
places, null where more than 20 digits stand before the point, and the exact text stands beside
them. Our own readers take the text wherever they may have been rounded. Parquet, Feather and IPC
keep amounts of our own as text of a type of its own. What else does not fit is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from walletframe.amounts.arithmetic import rounded
from walletframe.amounts.integers import MAX_DECIMALS, POWERS, Exact, rescale
from walletframe.amounts.sums import Words, words_from
from walletframe.amounts.text import plain, plain_texts
from walletframe.amounts.values import from_decimals, read, read_texts
from walletframe.errors import AmountPrecisionError, ArgumentError, SettingsError
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from walletframe.amounts.integers import Integers, Mask, Places

SUFFIX = "_text"
"""What the name of a column of exact text ends with, beside the decimals of the same amounts."""

AMOUNT_TEXT = f"amount{SUFFIX}"
"""The exact text of the amounts of holdings."""

DECIMALS = pa.decimal128(38, 18)
"""One type for all tokens, so that the files of a folder agree."""


if TYPE_CHECKING:

    class _ArrowType:  # Arrow ships no types
        extension_name: str

        def __init__(self, storage_type: pa.DataType, extension_name: str) -> None: ...

else:
    _ArrowType = pa.ExtensionType


class AmountType(_ArrowType):
    """The Arrow type that Parquet, Feather and IPC keep, by its name; plain text for others."""

    def __init__(self) -> None:
        super().__init__(pa.large_string(), "walletframe.amount")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> AmountType:
        """Return the type; it has no parameters."""
        return cls()

    def __hash__(self) -> int:
        return hash(self.extension_name)

    def to_pandas_dtype(self) -> object:
        """Return the dtype of a column of pandas."""
        return pd.api.types.pandas_dtype("amount")


pa.register_extension_type(AmountType())


def as_text(amounts: Exact) -> pa.Array:
    """Write amounts as an Arrow array of plain text, null where missing."""
    texts = plain_texts(amounts.integers, amounts.scale)
    return pc.if_else(amounts.missing, None, texts) if amounts.missing.any() else texts


def fitting(amounts: Exact, scale: int, least: int, most: int, kind: object, hint: str) -> Integers:
    """Return the integers at a scale, or refuse what needs more decimals or is out of bounds."""
    integers, wrong, own = amounts.integers, np.False_, amounts.scale
    if own > scale:
        unit = 10 ** (own - scale)
        integers, wrong = integers // unit, integers % unit != 0
    integers = rescale(integers, min(own, scale), scale)
    lost = np.flatnonzero(wrong | (integers < least) | (integers > most))
    if len(lost):
        value = plain(amounts.integers[lost[0]], own)
        message = f"{value} (at position {lost[0]}) does not fit in {kind}"
        raise AmountPrecisionError(message, hint=hint)
    return integers


def as_decimals(amounts: Exact, kind: pa.DataType) -> pa.Array:
    """Write amounts as an Arrow array of decimals, null where missing."""
    most = 10**kind.precision - 1
    hint = "text holds every amount: astype('string'), or to_arrow() without a type"
    integers = fitting(amounts, kind.scale, -most, most, kind, hint)
    return decimals_from(integers, amounts.missing, kind)


def decimals_from(integers: Integers, missing: Mask, kind: pa.DataType) -> pa.Array:
    """Make an Arrow array of integers that are known to fit the decimal type at its scale."""
    width = kind.byte_width
    words = b"".join([n.to_bytes(width, "little", signed=True) for n in integers.tolist()])
    present = np.packbits(~missing, bitorder="little").tobytes()
    buffers = [pa.py_buffer(present), pa.py_buffer(words)]
    return pa.Array.from_buffers(kind, len(integers), buffers)


def from_arrow(array: pa.Array | pa.ChunkedArray) -> Exact:
    """Read amounts, text, decimals or integers; null is missing."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.cast(array.type.storage_type)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    kind, found = array.type, None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        found = read_texts(array.cast(pa.large_string()))
    elif pa.types.is_decimal(kind) and kind.scale >= 0:
        if kind.scale > MAX_DECIMALS:
            raise AmountPrecisionError(
                f"{kind} has more decimals than an amount, which has at most {MAX_DECIMALS}",
                hint="round them on purpose first, to a type of fewer decimals",
            )
        wide = pa.types.is_decimal128(kind) or pa.types.is_decimal256(kind)
        found = from_decimals(array if wide else array.cast(pa.decimal256(76, kind.scale)))
    return read(array.to_pylist()) if found is None else found


def to_portable_table(frame: pd.DataFrame) -> pa.Table:
    """Make an Arrow table for readers that don't know amounts, without the index.

    A column ``c`` of amounts becomes decimals, and has its exact text beside it in ``c_text``.
    """
    columns: dict[str, Any] = {}
    for name, series in frame.items():
        is_exact = series.dtype == "amount"
        column = rounded_decimals(series) if is_exact else _column(name, series)
        columns[str(name)] = column
        if column.type == DECIMALS:  # a user's own decimals beside text would be read as amounts
            text = text_name(name, frame)
            if is_exact:
                columns[text] = pa.array(series.array, pa.large_string())
    return pa.table(columns)  # without pandas's metadata: it names a dtype that others don't have


def text_name(name: object, frame: pd.DataFrame) -> str:
    """Return the name of the exact text of a column, or refuse a frame that has it already."""
    text = f"{name}{SUFFIX}"
    if text in map(str, frame.columns):
        raise SettingsError(
            f"files have the exact text of {shown(str(name))!r} in {shown(text)!r}, "
            "and the frame has a column of that name",
            hint=f"drop it, or rename it: frame.rename(columns={{{shown(text)!r}: …}})",
        )
    return text


def rounded_decimals(series: pd.Series) -> pa.Array:
    """Write a column of amounts as the nearest decimals, half to even, null beyond 38 digits."""
    array: Any = series.array
    integers, missing, scale = rounded(array.exact(), DECIMALS.scale)
    integers = rescale(integers, scale, DECIMALS.scale)
    held = np.asarray(np.abs(integers) < POWERS[DECIMALS.precision], dtype=bool) & ~missing
    return decimals_from(np.where(held, integers, 0), ~held, DECIMALS)


def _column(name: object, series: pd.Series) -> pa.Array:
    """Make an Arrow array, or refuse values that no one type of Arrow holds."""
    try:
        return pa.Array.from_pandas(series)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as fault:
        reason = str(fault)
    kinds = ", ".join(sorted({type(value).__name__ for value in series.dropna()}))
    label = shown(str(name))
    raise ArgumentError(
        f"no type of Arrow holds all values of the column {label!r} ({kinds}): {shown(reason)}",
        hint=f'drop it, or make it text: frame.astype({{{label!r}: "str"}})',
    )


def with_amounts(table: pa.Table) -> pa.Table:
    """Take the amounts of such a table from their text, as columns that pandas knows as amounts."""
    for field in table.schema:
        text = f"{field.name}{SUFFIX}"
        if field.type == DECIMALS and text in table.column_names:
            place = table.column_names.index(field.name)
            exact = table[text].cast(pa.large_string()).cast(AmountType())
            table = table.set_column(place, field.name, exact).drop_columns(text)
    return table


def from_portable(decimals: pa.Array, inexact: Mask, texts: Callable[[Places], pa.Array]) -> Words:
    """Read amounts as `to_portable_table` writes them, by their text where decimals won't do.

    `inexact` marks decimals that may have been rounded. `texts` gives the text at some positions;
    it is not asked where no decimal is inexact or null.
    """
    words, missing = words_from(decimals), np.asarray(decimals.is_null())
    places = np.flatnonzero(missing | inexact)
    others = Exact(np.empty(0, dtype=object), np.empty(0, dtype=bool), 0)
    if len(places):
        others = from_arrow(texts(places))
        words, missing = words.copy(), missing.copy()
        words[places], missing[places] = 0, others.missing
    return Words(words, missing, decimals.type.scale, places, others)
