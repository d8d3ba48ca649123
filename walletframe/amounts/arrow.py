"""Amounts as Arrow arrays and tables: text that holds all of them, or decimals that hold some.

Nothing here rounds: what does not fit is an error, or null where the caller asks for what fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from walletframe.amounts.integers import POWERS, Exact, Integers, Mask, Places
from walletframe.amounts.text import plain, plain_texts
from walletframe.amounts.values import from_decimals, read, read_texts
from walletframe.amounts.words import Words, words_from
from walletframe.errors import AmountPrecisionError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd


SUFFIX = "_decimal"
"""What the name of a column of decimals ends with, beside the column of text it belongs to."""

_DIGITS = 38
_ETHER_DECIMALS = 18


def as_text(amounts: Exact) -> pa.Array:
    """Write amounts as an Arrow array of plain text, null where missing."""
    texts = plain_texts(amounts.integers, amounts.scale)
    return pc.if_else(amounts.missing, None, texts) if amounts.missing.any() else texts


def as_decimals(amounts: Exact, kind: pa.DataType) -> pa.Array:
    """Write amounts as an Arrow array of decimals, null where missing."""
    integers = _at_scale(amounts, kind)
    _refuse(amounts, kind, np.abs(integers) >= 10**kind.precision)
    return decimals_from(integers, amounts.missing, kind)


def decimals_from(integers: Integers, missing: Mask, kind: pa.DataType) -> pa.Array:
    """Make an Arrow array of integers that are known to fit the decimal type at its scale."""
    width = kind.byte_width
    words = b"".join([int(n).to_bytes(width, "little", signed=True) for n in integers])
    present = np.packbits(~missing, bitorder="little").tobytes()
    buffers = [pa.py_buffer(present), pa.py_buffer(words)]
    return pa.Array.from_buffers(kind, len(integers), buffers)


def _at_scale(amounts: Exact, kind: pa.DataType) -> Integers:
    """Bring integers to the type's scale, which may be negative, without losing a digit."""
    finer = kind.scale - amounts.scale
    integers: Integers = amounts.integers * 10 ** max(finer, 0)
    if finer < 0:
        _refuse(amounts, kind, integers % 10**-finer != 0)
        integers = integers // 10**-finer
    return integers


def _refuse(amounts: Exact, kind: pa.DataType, wrong: Mask) -> None:
    places = np.flatnonzero(wrong)
    if len(places):
        value = plain(amounts.integers[places[0]], amounts.scale)
        raise AmountPrecisionError(
            f"{value} (at position {places[0]}) does not fit in {kind}",
            hint="text holds every amount: astype('string'), or to_arrow() without a type",
        )


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
        wide = pa.types.is_decimal128(kind) or pa.types.is_decimal256(kind)
        found = from_decimals(array if wide else array.cast(pa.decimal256(76, kind.scale)))
    return read(array.to_pylist()) if found is None else found


def from_portable(decimals: pa.Array, texts: Callable[[Places], pa.Array]) -> Words:
    """Read amounts as `to_portable_table` writes them, and by their text where decimals are null.

    `texts` gives the text at some positions; it is not asked where every decimal is there.
    """
    words, missing = words_from(decimals), np.asarray(decimals.is_null())
    places = np.flatnonzero(missing)
    others = Exact(np.empty(0, dtype=object), np.empty(0, dtype=bool), 0)
    if len(places):
        others = from_arrow(texts(places))
        words, missing = words.copy(), missing.copy()
        words[places], missing[places] = 0, others.missing
    return Words(words, missing, decimals.type.scale, places, others)


def to_portable_table(frame: pd.DataFrame, *, decimals: int = _ETHER_DECIMALS) -> pa.Table:
    """Make an Arrow table for readers that don't know amounts, without the index.

    A column ``c`` of amounts is text, and has ``c_decimal`` beside it, null where 38 digits at
    so many decimals can't hold the amount.
    """
    columns: dict[str, Any] = {}
    for name, series in frame.items():
        if series.dtype.name != "amount":
            columns[str(name)] = pa.Array.from_pandas(series)
            continue
        array: Any = series.array
        amounts = array.exact()
        columns[str(name)] = as_text(amounts)
        if f"{name}{SUFFIX}" not in frame.columns:
            columns[f"{name}{SUFFIX}"] = fitting_decimals(amounts, decimals=decimals)
    return pa.table(columns)  # without pandas's metadata: it names a dtype that others don't have


def fitting_decimals(amounts: Exact, *, decimals: int = _ETHER_DECIMALS) -> pa.Array:
    """Make decimals of 38 digits of the amounts that they hold exactly, null for the others."""
    integers, missing, scale = amounts
    finer, coarser = POWERS[max(decimals - scale, 0)], POWERS[max(scale - decimals, 0)]
    fits = (integers % coarser == 0) & (np.abs(integers) * finer < POWERS[_DIGITS] * coarser)
    held = np.asarray(fits, dtype=bool) & ~missing
    converted = np.where(held, integers, 0) * finer // coarser
    return decimals_from(converted, ~held, pa.decimal128(_DIGITS, decimals))
