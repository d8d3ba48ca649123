"""Read the values of a column of amounts: amounts, or base units with decimals.

Text, Decimals and integers are exact. Floats and bools are refused with a hint, and pandas's
missing values are missing amounts. Base units are read strictly, as digits with an optional minus:
underscores, spaces, a plus and other alphabets' digits, which ``int()`` accepts, are refused.
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
    Exact,
    aligned,
    as_objects,
)
from walletframe.amounts.scalar import Amount, exact_pair
from walletframe.amounts.sums import integers_of, words_from
from walletframe.amounts.text import parse, short_repr
from walletframe.errors import AmountError, AmountPrecisionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from walletframe.amounts.integers import Indices, Integers, Mask

_EXACT_AS_TEXT = {str, int, Decimal, Amount}
_DIGITS = re.compile("-?[0-9]+")
_MIN_ARROW_COUNT = 20  # up to this count, values are read faster one by one than by Arrow
_USUAL_DECIMALS, _USUAL_DIGITS = 36, 40  # together no more than Arrow's 76 digits


def read(values: Sequence[Any] | npt.NDArray[Any]) -> Exact:
    """Read n values; the error for a value that is not exact names its position."""
    objects = as_objects(values)
    missing = np.asarray(pd.isna(objects), dtype=bool)
    for position in np.flatnonzero(missing):
        if isinstance(objects[position], Decimal):
            _read_at(objects[position], int(position))  # a NaN Decimal is refused, not missing
    is_text = pd.api.types.infer_dtype(objects) == "string"
    is_exact = is_text or set(map(type, objects[~missing])) <= _EXACT_AS_TEXT
    if is_exact and len(objects) > _MIN_ARROW_COUNT:
        texts = objects if is_text else as_objects([str(value) for value in objects])
        with suppress(ValueError):  # invalid Unicode, or too long an integer
            amounts = read_texts(pa.array(texts, pa.large_string(), mask=missing))
            if amounts is not None:
                return amounts
    integers = np.full(len(objects), 0, dtype=object)
    scales = np.zeros(len(objects), dtype=np.intp)
    for position in np.flatnonzero(~missing):
        integers[position], scales[position] = _read_at(objects[position], int(position))
    return aligned(integers, missing, scales)


def read_texts(texts: pa.Array) -> Exact | None:
    """Read text with Arrow, null as missing; return None if Arrow can't read all of it."""
    lengths, points = pc.binary_length(texts), pc.find_substring(texts, ".")
    lengths, points = (np.asarray(each.fill_null(0), dtype=np.intp) for each in (lengths, points))
    decimals = np.where(points < 0, 0, lengths - points - 1)
    unusual = (decimals > _USUAL_DECIMALS) | (lengths - decimals > _USUAL_DIGITS)
    if np.frombuffer(texts.buffers()[2] or b"", dtype=np.uint8).max(initial=0) > ord("9"):
        # Arrow's cast expands exponents, and does not report an overflow of 256 bits.
        unusual |= np.asarray(pc.match_substring_regex(texts, "[eE]").fill_null(fill_value=False))
    usual = pc.if_else(unusual, None, texts) if unusual.any() else texts
    scale = int(decimals.max(initial=0, where=~unusual))
    digits = scale + int((lengths - decimals).max(initial=0, where=~unusual))
    narrow, wide = pa.decimal128(38, scale), pa.decimal256(76, scale)
    try:
        amounts = from_decimals(usual.cast(narrow if digits <= narrow.precision else wide))
    except pa.ArrowInvalid:
        return None
    if usual is texts:
        return amounts
    positions = np.flatnonzero(unusual)
    pairs = zip(texts.filter(pa.array(unusual)).to_pylist(), positions.tolist(), strict=True)
    scales = np.full(len(texts), scale)
    amounts.integers[positions], scales[positions] = zip(*starmap(_read_at, pairs), strict=True)
    return aligned(amounts.integers, np.asarray(texts.is_null()), scales)


def from_decimals(decimals: pa.Array) -> Exact:
    """Read an Arrow array of decimal128 or decimal256."""
    integers = integers_of(words_from(decimals))
    missing = np.asarray(decimals.is_null())
    if missing.any():
        integers[missing] = 0
    return Exact(integers, missing, decimals.type.scale)


def read_one(value: object) -> tuple[int, int]:
    """Read one value that isn't missing as (integer, scale)."""
    pair = parse(value) if isinstance(value, str) else exact_pair(value)
    if pair is not None:
        return pair if pair[1] <= MAX_DECIMALS else parse(str(value))
    message = f"{short_repr(value)} is not an exact amount"
    if isinstance(value, (float, np.floating)):
        raise AmountPrecisionError(
            message,
            hint="a float has lost digits already; write the amount as text or as a Decimal, "
            f"such as '{value:.15g}' if that is what was meant",
        )
    raise AmountError(
        message,
        hint="an amount is text such as '1.5', a decimal.Decimal or an integer; missing is pd.NA",
    )


def _read_at(value: object, position: int) -> tuple[int, int]:
    try:
        return read_one(value)
    except AmountError as fault:
        raise type(fault)(f"{fault.message} (at position {position})", hint=fault.hint) from None


def plain_integers(values: list[Any] | Integers) -> Integers | None:
    """Read values that are all digit strings or all ints; return None for other values."""
    try:
        joined = "".join(values)
    except TypeError:  # not all of them are strings
        # A copy, since the caller changes it.
        return np.fromiter(values, object, len(values)) if {*map(type, values)} == {int} else None
    is_plain = joined.isascii() and joined.encode().isdigit()
    return np.fromiter(map(int, values), object, len(values)) if is_plain else None


def base_units(value: Any, position: int) -> int:
    """Read one integer or string of digits; the error names its position."""
    if isinstance(value, str) and len(value) <= MAX_DIGITS and _DIGITS.fullmatch(value):
        return int(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    raise AmountError(
        f"{short_repr(value)} at position {position} is not an integer number of base units",
        hint="base units are integers or strings of ASCII digits; "
        "to read a quantity with a point, use pd.array([...], dtype='amount')",
    )


def scales_of(decimals: Any, count: int) -> tuple[Indices, Mask]:
    """Return the scale of each value, 0 if its decimals are unknown, and a mask of unknown ones."""
    several = pd.api.types.is_list_like(decimals)
    scales = _as_integer_array(decimals) if several else as_objects([decimals])
    if len(scales) != count and several:
        raise AmountError(
            f"raw_amount and decimals differ in length: {count} and {len(scales)}",
            hint="give one number of decimals, or one for each amount",
        )
    unknown = np.asarray(pd.isna(scales), dtype=bool)
    if scales.dtype.kind in "iu":
        wrong = (scales < 0) | (scales > MAX_DECIMALS)
    else:
        pairs = zip(scales, unknown, strict=True)
        known = (gap or (pd.api.types.is_integer(n) and 0 <= n <= MAX_DECIMALS) for n, gap in pairs)
        wrong = ~np.fromiter(known, bool, len(scales))
    if wrong.any():
        position = int(wrong.argmax())
        where = f" at position {position}" if several else ""
        raise AmountError(
            f"the decimals {short_repr(scales[position])}{where} are not an integer "
            f"from 0 to {MAX_DECIMALS}",
            hint="if the decimals of a token are unknown, give None: its amount is then NA",
        )
    repeats = 1 if several else count
    scales = np.where(unknown, 0, scales).astype(np.intp)
    return np.repeat(scales, repeats), np.repeat(unknown, repeats)


def _as_integer_array(decimals: Any) -> npt.NDArray[Any]:
    """Return an integer array if all decimals are integers and none is a bool, else objects."""
    array = np.asarray(decimals)
    if array.dtype.kind in "iu" and (
        hasattr(decimals, "dtype")
        or array.min(initial=2) > 1
        or bool not in set(map(type, decimals))
    ):
        return array
    return as_objects(decimals)
