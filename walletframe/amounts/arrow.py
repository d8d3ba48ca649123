"""Amounts as Arrow arrays: plain text that holds all of them, or decimals that hold some.

Text is lossless for every amount; Parquet and Feather files of pandas hold it. A decimal of 38 or
76 digits is made only where every value fits. Nothing here rounds: what does not fit is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from walletframe.amounts.integers import or_none
from walletframe.amounts.text import plain, plain_texts
from walletframe.amounts.values import read
from walletframe.errors import AmountPrecisionError

if TYPE_CHECKING:
    from walletframe.amounts.integers import Exact, Integers, Mask


def as_text(amounts: Exact) -> pa.Array:
    """Write amounts as an Arrow array of plain text, null where missing."""
    texts = or_none(plain_texts(amounts.integers, amounts.scale), amounts.missing)
    return pa.array(texts, type=pa.large_string(), from_pandas=True)


def as_decimals(amounts: Exact, kind: pa.DataType) -> pa.Array:
    """Write amounts as an Arrow array of decimals, null where missing.

    Raises
    ------
    AmountError
        If an amount has more decimals or more digits than the type holds; the message names it and
        its position.
    """
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
    """Read amounts, text, decimals or integers; null is missing.

    Raises
    ------
    AmountError
        If there are floats, bools or text that isn't a number.
    """
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        array, kind = array.cast(kind.storage_type), kind.storage_type
    if pa.types.is_decimal(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return read(array.to_numpy(zero_copy_only=False))
    return read(array.to_pylist())
