"""Conversion of amounts to Arrow arrays and back.

Some amounts have too many digits for Arrow's decimals. So pandas writes amounts as exact text, with
an extension type. Files for other programs store two columns: the exact text, and decimals rounded
to 18 places. The decimal is null if an amount has over 20 digits before the point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from walletframe.amounts.arithmetic import round_half_even
from walletframe.amounts.integers import MAX_DECIMALS, POWERS_OF_TEN, ExactAmounts, rescale
from walletframe.amounts.sums import Int128Amounts, words_of_decimal_array
from walletframe.amounts.text import plain_text, plain_texts
from walletframe.amounts.values import read_amounts, read_decimals, read_texts_with_arrow
from walletframe.errors import AmountPrecisionError, ArgumentError, SettingsError
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from walletframe.amounts.integers import Indices, Integers, Mask

TEXT_SUFFIX = "_text"  # the decimals in `amount` have their exact text in `amount_text`
AMOUNT_TEXT = f"amount{TEXT_SUFFIX}"
DECIMALS = pa.decimal128(38, 18)  # for all tokens, since all files of a folder have the same schema


if TYPE_CHECKING:

    class _ExtensionType:  # PyArrow has no type annotations
        extension_name: str

        def __init__(self, storage_type: pa.DataType, extension_name: str) -> None: ...

else:
    _ExtensionType = pa.ExtensionType


class AmountType(_ExtensionType):
    """The Arrow extension type of amounts, which other programs read as text."""

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
        """Return the pandas dtype of a column with this type."""
        return pd.api.types.pandas_dtype("amount")


pa.register_extension_type(AmountType())


def to_arrow_text(amounts: ExactAmounts) -> pa.Array:
    """Return amounts as an Arrow array of plain text, null for missing amounts."""
    texts = plain_texts(amounts.integers, amounts.scale)
    return pc.if_else(amounts.missing, None, texts) if amounts.missing.any() else texts


def integers_at_scale(
    amounts: ExactAmounts, scale: int, low: int, high: int, dtype: object, hint: str
) -> Integers:
    """Return amounts times ``10**scale``, which must be integers from `low` to `high`."""
    integers, inexact, own_scale = amounts.integers, np.False_, amounts.scale
    if own_scale > scale:
        unit = 10 ** (own_scale - scale)
        integers, inexact = integers // unit, integers % unit != 0
    integers = rescale(integers, min(own_scale, scale), scale)
    lost = np.flatnonzero(inexact | (integers < low) | (integers > high))
    if len(lost):
        value = plain_text(amounts.integers[lost[0]], own_scale)
        message = f"{value} (at position {lost[0]}) does not fit in {dtype}"
        raise AmountPrecisionError(message, hint=hint)
    return integers


def to_arrow_decimals(amounts: ExactAmounts, dtype: pa.DataType) -> pa.Array:
    """Return amounts as an Arrow array of decimals, null for missing amounts."""
    high = 10**dtype.precision - 1
    hint = "convert the amounts to text, with .astype('string') or .to_arrow() without a type"
    integers = integers_at_scale(amounts, dtype.scale, -high, high, dtype, hint)
    return decimals_from_integers(integers, amounts.missing, dtype)


def decimals_from_integers(integers: Integers, missing: Mask, dtype: pa.DataType) -> pa.Array:
    """Convert unscaled integers to an Arrow array of decimals. The integers must fit."""
    width = dtype.byte_width
    words = b"".join([n.to_bytes(width, "little", signed=True) for n in integers.tolist()])
    present = np.packbits(~missing, bitorder="little").tobytes()
    return pa.Array.from_buffers(dtype, len(integers), [pa.py_buffer(present), pa.py_buffer(words)])


def from_arrow(array: pa.Array | pa.ChunkedArray) -> ExactAmounts:
    """Read an Arrow array of amounts, text, decimals or integers. Null means missing."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.cast(array.type.storage_type)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    dtype, amounts = array.type, None
    if pa.types.is_string(dtype) or pa.types.is_large_string(dtype):
        amounts = read_texts_with_arrow(array.cast(pa.large_string()))
    elif pa.types.is_decimal(dtype) and dtype.scale >= 0:
        if dtype.scale > MAX_DECIMALS:
            raise AmountPrecisionError(
                f"an amount has at most {MAX_DECIMALS} decimals, but the type {dtype} has more",
                hint="round the values first, and cast them to a type with fewer decimals",
            )
        is_wide = pa.types.is_decimal128(dtype) or pa.types.is_decimal256(dtype)
        amounts = read_decimals(array if is_wide else array.cast(pa.decimal256(76, dtype.scale)))
    return read_amounts(array.to_pylist()) if amounts is None else amounts


def to_portable_table(frame: pd.DataFrame) -> pa.Table:
    """Return an Arrow table without the index. Amounts become two columns: decimals and text."""
    columns: dict[str, Any] = {}
    for name, series in frame.items():
        is_exact = series.dtype == "amount"
        column = rounded_decimals(series) if is_exact else _to_arrow_array(name, series)
        columns[str(name)] = column
        # If the frame has a column with the text's name, readers would merge it with the decimals.
        if column.type == DECIMALS:
            text = text_column_name(name, frame)
            if is_exact:
                columns[text] = pa.array(series.array, pa.large_string())
    return pa.table(columns)  # no metadata of pandas, since other programs lack the dtype


def text_column_name(name: object, frame: pd.DataFrame) -> str:
    """Return the name of the column of exact text. Raise an error if the name is in use."""
    if (text := f"{name}{TEXT_SUFFIX}") in map(str, frame.columns):
        label = safe_line(text)
        message = f"the name of your column {label!r} is reserved for the exact text of the amounts"
        hint = f"drop your column, or rename it: frame.rename(columns={{{label!r}: …}})"
        raise SettingsError(message, hint)
    return text


def rounded_decimals(series: pd.Series) -> pa.Array:
    """Round half to even to 18 decimals. Amounts that don't fit become null."""
    array: Any = series.array
    integers, missing, scale = round_half_even(array.exact(), DECIMALS.scale)
    integers = rescale(integers, scale, DECIMALS.scale)
    fits = np.asarray(np.abs(integers) < POWERS_OF_TEN[DECIMALS.precision], dtype=bool) & ~missing
    return decimals_from_integers(np.where(fits, integers, 0), ~fits, DECIMALS)


def _to_arrow_array(name: object, series: pd.Series) -> pa.Array:
    try:
        return pa.Array.from_pandas(series)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as fault:
        reason = str(fault)
    kinds = ", ".join(sorted({type(value).__name__ for value in series.dropna()}))
    label = safe_line(str(name))
    raise ArgumentError(
        f"the column {label!r}, with values of type {kinds}, can't be converted to an Arrow array: "
        f"{safe_line(reason)}",
        hint=f'drop the column, or convert it to text: frame.astype({{{label!r}: "str"}})',
    )


def merge_amount_columns(table: pa.Table) -> pa.Table:
    """Merge each pair of columns (decimals, exact text) into a column of amounts."""
    for field in table.schema:
        text = f"{field.name}{TEXT_SUFFIX}"
        if field.type == DECIMALS and text in table.column_names:
            position = table.column_names.index(field.name)
            exact = table[text].cast(pa.large_string()).cast(AmountType())
            table = table.set_column(position, field.name, exact).drop_columns(text)
    return table


def read_decimals_or_texts(
    decimals: pa.Array, inexact: Mask, load_texts: Callable[[Indices], pa.Array]
) -> Int128Amounts:
    """Read amounts from decimals. Where a decimal is null or inexact, read the text."""
    words, missing = words_of_decimal_array(decimals), np.asarray(decimals.is_null())
    rows = np.flatnonzero(missing | inexact)
    overrides = ExactAmounts(np.empty(0, dtype=object), np.empty(0, dtype=bool), 0)
    if len(rows):
        overrides = from_arrow(load_texts(rows))
        words, missing = words.copy(), missing.copy()
        words[rows], missing[rows] = 0, overrides.missing
    return Int128Amounts(words, missing, decimals.type.scale, rows, overrides)
