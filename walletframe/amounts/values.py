"""Read a column of amounts from numbers or text, or from base units and decimals.

Floats and bools raise an error with a hint. The missing values of pandas become missing amounts.
Base units are ASCII digits with an optional minus. ``1_000`` and ``+5`` raise an error.
"""

from __future__ import annotations

import re
from contextlib import suppress
from decimal import Decimal
from itertools import starmap
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from walletframe.amounts.integers import (
    MAX_DECIMALS,
    MAX_DIGITS,
    ExactAmounts,
    align_scales,
    object_array,
    zero_missing,
)
from walletframe.amounts.scalar import Amount, integer_and_scale
from walletframe.amounts.sums import integers_from_words, words_of_decimal_array
from walletframe.amounts.text import parse_integer_and_scale, short_repr
from walletframe.errors import AmountError, AmountPrecisionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from walletframe.amounts.integers import Indices, Integers, Mask

_DIGITS = re.compile("-?[0-9]+")
_MIN_ARROW_COUNT = 20  # Arrow is faster above this number of values
_USUAL_DECIMALS, _USUAL_DIGITS = 36, 40  # their sum is at most 76, the digits of Arrow's decimal256


def read_amounts(values: Sequence[Any] | npt.NDArray[Any]) -> ExactAmounts:
    """Read n values as amounts. The error for an inexact value contains the position."""
    objects = object_array(values)
    missing = np.asarray(pd.isna(objects), dtype=bool)
    for position in np.flatnonzero(missing):
        if isinstance(objects[position], Decimal):
            _read_at_position(objects[position], int(position))  # a NaN raises an error
    is_text = pd.api.types.infer_dtype(objects) == "string"
    is_exact = is_text or set(map(type, objects[~missing])) <= {str, int, Decimal, Amount}
    if is_exact and len(objects) > _MIN_ARROW_COUNT:
        texts = objects if is_text else object_array([str(value) for value in objects])
        with suppress(ValueError):  # invalid Unicode, or an integer that is too long
            amounts = read_texts_with_arrow(pa.array(texts, pa.large_string(), mask=missing))
            if amounts is not None:
                return amounts
    integers = np.full(len(objects), 0, dtype=object)
    scales = np.zeros(len(objects), dtype=np.intp)
    for position in np.flatnonzero(~missing):
        integers[position], scales[position] = _read_at_position(objects[position], int(position))
    return align_scales(integers, missing, scales)


def read_texts_with_arrow(texts: pa.Array) -> ExactAmounts | None:
    """Read text with Arrow. Return None if Arrow can't read all texts."""
    lengths, points = pc.binary_length(texts), pc.find_substring(texts, ".")
    lengths, points = (np.asarray(each.fill_null(0), dtype=np.intp) for each in (lengths, points))
    decimals = np.where(points < 0, 0, lengths - points - 1)
    unusual = (decimals > _USUAL_DECIMALS) | (lengths - decimals > _USUAL_DIGITS)
    if np.frombuffer(texts.buffers()[2] or b"", dtype=np.uint8).max(initial=0) > ord("9"):
        # Arrow reads exponents, but does not report an overflow of 256 bits.
        unusual |= np.asarray(pc.match_substring_regex(texts, "[eE]").fill_null(fill_value=False))
    # A filter, since pc.if_else reads wrong texts from slices before Arrow 24.
    usual = texts.filter(pa.array(~unusual)) if unusual.any() else texts
    scale = int(decimals.max(initial=0, where=~unusual))
    digits = scale + int((lengths - decimals).max(initial=0, where=~unusual))
    narrow, wide = pa.decimal128(38, scale), pa.decimal256(76, scale)
    try:
        amounts = read_decimals(usual.cast(narrow if digits <= narrow.precision else wide))
    except pa.ArrowInvalid:
        return None
    if usual is texts:
        return amounts
    integers, scales = np.zeros(len(texts), dtype=object), np.full(len(texts), scale)
    integers[~unusual] = amounts.integers
    positions = np.flatnonzero(unusual)
    pairs = zip(texts.filter(pa.array(unusual)).to_pylist(), positions.tolist(), strict=True)
    integers[positions], scales[positions] = zip(*starmap(_read_at_position, pairs), strict=True)
    return align_scales(integers, np.asarray(texts.is_null()), scales)


def read_decimals(decimals: pa.Array) -> ExactAmounts:
    """Read amounts from an Arrow array of type decimal128 or decimal256."""
    integers = integers_from_words(words_of_decimal_array(decimals))
    return zero_missing(integers, np.asarray(decimals.is_null()), decimals.type.scale)


def read_integer_and_scale(value: object) -> tuple[int, int]:
    """Read one value, which must not be missing, as (integer, scale)."""
    pair = parse_integer_and_scale(value) if isinstance(value, str) else integer_and_scale(value)
    if pair is not None:
        return pair if pair[1] <= MAX_DECIMALS else parse_integer_and_scale(str(value))
    message = f"{short_repr(value)} is not an exact amount"
    if isinstance(value, (float, np.floating)):
        raise AmountPrecisionError(
            message,
            hint="a float may already have lost digits; write the amount as text or as a Decimal, "
            f"for example '{value:.15g}' if this is the correct amount",
        )
    raise AmountError(
        message,
        hint="write an amount as text such as '1.5', as a decimal.Decimal or as an integer; "
        "for a missing amount, use pd.NA",
    )


def _read_at_position(value: object, position: int) -> tuple[int, int]:
    try:
        return read_integer_and_scale(value)
    except AmountError as fault:
        raise type(fault)(f"{fault.message} (at position {position})", hint=fault.hint) from None


def read_digits_or_ints(values: list[Any] | Integers) -> Integers | None:
    """Read a list of digit strings or a list of ints. Return None for other lists."""
    try:
        joined = "".join(values)
    except TypeError:  # not all values are strings
        # The result must be a copy, since the caller changes it.
        return np.fromiter(values, object, len(values)) if {*map(type, values)} == {int} else None
    is_plain = joined.isascii() and joined.encode().isdigit()
    return np.fromiter(map(int, values), object, len(values)) if is_plain else None


def read_raw_int(value: Any, position: int) -> int:
    """Read an integer or a string of digits. Errors contain the position."""
    if isinstance(value, str) and len(value) <= MAX_DIGITS and _DIGITS.fullmatch(value):
        return int(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    raise AmountError(
        f"{short_repr(value)} (at position {position}) is not an integer number of base units",
        hint="write base units as integers or as strings of ASCII digits; "
        "for decimal amounts such as '1.5', use pd.array([...], dtype='amount')",
    )


def read_scales(decimals: Any, count: int) -> tuple[Indices, Mask]:
    """Return the scale of each value, and a mask of unknown scales. Unknown scales are 0."""
    is_list = pd.api.types.is_list_like(decimals)
    scales = _to_integers_or_objects(decimals) if is_list else object_array([decimals])
    if len(scales) != count and is_list:
        raise AmountError(
            f"the amounts and the decimals differ in length: {count} and {len(scales)}",
            hint="pass one number for all amounts, or a list with a number for each amount",
        )
    unknown = np.asarray(pd.isna(scales), dtype=bool)
    if scales.dtype.kind in "iu":
        wrong = (scales < 0) | (scales > MAX_DECIMALS)
    else:
        valid = [pd.api.types.is_integer(n) and 0 <= n <= MAX_DECIMALS for n in scales]
        wrong = ~(unknown | np.array(valid, dtype=bool))
    if wrong.any():
        position = int(wrong.argmax())
        position_text = f" (at position {position})" if is_list else ""
        raise AmountError(
            f"{short_repr(scales[position])}{position_text} is not a valid number of decimals, "
            f"which must be an integer from 0 to {MAX_DECIMALS}",
            hint="if the decimals of a token are unknown, pass None to AmountArray.from_raw; "
            "the amount is then NA",
        )
    scales = np.where(unknown, 0, scales).astype(np.intp)
    return np.resize(scales, count), np.resize(unknown, count)  # repeats a single scale


def _to_integers_or_objects(decimals: Any) -> npt.NDArray[Any]:
    array = np.asarray(decimals)
    is_integer = array.dtype.kind in "iu"
    if is_integer and not hasattr(decimals, "dtype") and array.min(initial=2) <= 1:
        is_integer = bool not in set(map(type, decimals))
    return array if is_integer else object_array(decimals)
