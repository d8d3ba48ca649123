"""What people put into a column of amounts: amounts, or base units with decimals.

Text, Decimals and integers are exact and welcome; floats and bools are refused with a hint; what
pandas calls missing becomes missing. Base units are read strictly: what ``int()`` accepts beyond
digits and a minus (underscores, spaces, a plus, other alphabets' digits) is refused.
"""

from __future__ import annotations

import re
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from walletframe.amounts.integers import (
    MAX_DECIMALS,
    MAX_DIGITS,
    POWERS,
    Exact,
    Integers,
    Mask,
    Places,
    aligned,
    as_objects,
    integers_from,
)
from walletframe.amounts.rational import exact_pair
from walletframe.amounts.scalar import Amount
from walletframe.amounts.text import parse, plain, shortened
from walletframe.amounts.words import integers_of, words_from
from walletframe.errors import AmountError, AmountPrecisionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt


_WRITTEN_PLAINLY = {str, int, Decimal, Amount}
_DIGITS = re.compile("-?[0-9]+")
_FEW = 20  # are read faster one by one than by Arrow
_USUAL_DECIMALS, _USUAL_DIGITS = 36, 40  # together no more than Arrow's 76 digits


def read(values: Sequence[Any] | npt.NDArray[Any]) -> Exact:
    """Read n values; what is no exact amount is refused with its position."""
    objects = as_objects(values)
    missing = _missing(objects)
    kinds = set(map(type, objects[~missing]))
    found = None
    if kinds <= _WRITTEN_PLAINLY and len(objects) > _FEW:
        texts = objects if kinds <= {str} else as_objects([str(value) for value in objects])
        with suppress(ValueError):  # text that isn't Unicode, or too long an integer
            found = read_texts(pa.array(texts, pa.large_string(), mask=missing))
    return _read_each(objects, missing) if found is None else found


def read_texts(texts: pa.Array) -> Exact | None:
    """Read plain text by Arrow, null as missing; None if some needs a closer look."""
    lengths, points = pc.binary_length(texts), pc.find_substring(texts, ".")
    lengths, points = (np.asarray(each.fill_null(0), dtype=np.intp) for each in (lengths, points))
    decimals = np.where(points < 0, 0, lengths - points - 1)
    long = (decimals > _USUAL_DECIMALS) | (lengths - decimals > _USUAL_DIGITS)
    usual = pc.if_else(long, None, texts) if long.any() else texts
    scale = int(decimals[~long & np.asarray(texts.is_valid())].max(initial=0))
    try:
        amounts = from_decimals(usual.cast(pa.decimal256(76, scale)))
    except pa.ArrowInvalid:
        return None
    if not long.any():
        return amounts
    places = np.flatnonzero(long)
    found = [_located(texts[int(place)].as_py(), int(place)) for place in places]
    scales = np.full(len(texts), scale)
    amounts.integers[places], scales[places] = zip(*found, strict=True)
    return aligned(amounts.integers, np.asarray(texts.is_null()), scales)


def from_decimals(decimals: pa.Array) -> Exact:
    """Read an Arrow array of decimals that are 128 or 256 bits wide."""
    integers = integers_of(words_from(decimals))
    missing = np.asarray(decimals.is_null())
    if missing.any():
        integers[missing] = 0
    return Exact(integers, missing, decimals.type.scale)


def read_one(value: object) -> tuple[int, int]:
    """Read one value that isn't missing as (integer, scale)."""
    pair = parse(value) if isinstance(value, str) else exact_pair(value)
    if pair is None:
        raise _refusal(value)
    return pair if pair[1] <= MAX_DECIMALS else parse(str(value))


def _refusal(value: object) -> AmountError:
    message = f"{shortened(value)} is no exact amount"
    if isinstance(value, (float, np.floating)):
        return AmountPrecisionError(
            message,
            hint="a float has lost digits already; write the amount as text or as a Decimal, "
            f"such as '{value:.15g}' if that is what was meant",
        )
    return AmountError(
        message,
        hint="an amount is text such as '1.5', a decimal.Decimal or an integer; missing is pd.NA",
    )


def _missing(objects: Integers) -> Mask:
    missing = np.asarray(pd.isna(objects), dtype=bool)
    for place in np.flatnonzero(missing):
        if isinstance(objects[place], Decimal):
            _located(objects[place], int(place))  # a Decimal that is NaN is a mistake, not a gap
    return missing


def _located(value: object, place: int) -> tuple[int, int]:
    try:
        return read_one(value)
    except AmountError as fault:
        refused = type(fault)(f"{fault.message} (at position {place})", hint=fault.hint)
    raise refused


def _read_each(objects: Integers, missing: Mask) -> Exact:
    integers = np.full(len(objects), 0, dtype=object)
    scales = np.zeros(len(objects), dtype=np.intp)
    for place in np.flatnonzero(~missing):
        integers[place], scales[place] = _located(objects[place], int(place))
    return aligned(integers, missing, scales)


def from_base_units(raw: Sequence[Any], decimals: Any) -> Exact:
    """Read n integers or strings of digits at one or n numbers of decimals (0 to 77)."""
    if isinstance(raw, str):
        raise AmountError("one string is no sequence of base units", hint="put it in a list")
    integers, missing = _read_raw(raw if isinstance(raw, list) else as_objects(raw))
    scales, unknown = each_scale(decimals, len(integers))
    missing |= unknown
    if missing.any():
        integers[missing] = 0
    return aligned(integers, missing, scales)


def _read_raw(values: list[Any] | Integers) -> tuple[Integers, Mask]:
    """Read base units; 0 where missing. Columns of strings or of integers are read as a whole."""
    try:
        if not _only_digits("".join(values)):
            return _read_each_raw(as_objects(values))
        integers = integers_from(map(int, values), len(values))
    except TypeError:  # not all of them are strings
        if set(map(type, values)) != {int}:
            return _read_each_raw(as_objects(values))
        integers = integers_from(values, len(values))
    except ValueError:  # an empty string, or more digits than Python reads
        return _read_each_raw(as_objects(values))
    return integers, np.zeros(len(values), dtype=bool)


def _read_each_raw(objects: Integers) -> tuple[Integers, Mask]:
    missing = np.asarray(pd.isna(objects), dtype=bool)
    pairs = enumerate(zip(objects, missing, strict=True))
    read = (0 if absent else _integer(value, place) for place, (value, absent) in pairs)
    return integers_from(read, len(objects)), missing


def _only_digits(joined: str) -> bool:
    return joined.isascii() and joined.encode().isdigit()


def _integer(value: Any, place: int) -> int:
    if isinstance(value, str) and len(value) <= MAX_DIGITS and _DIGITS.fullmatch(value):
        return int(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    raise AmountError(
        f"{shortened(value)} at position {place} is no integer number of base units",
        hint="base units are integers or strings of ASCII digits; "
        "a quantity with a point is read by pd.array([...], dtype='amount')",
    )


def each_scale(decimals: Any, count: int) -> tuple[Places, Mask]:
    """Give the decimals of each value, 0 where unknown, and where they are unknown."""
    if not pd.api.types.is_list_like(decimals):
        known = not pd.isna(decimals)
        scale = _scale(decimals, None) if known else 0
        return np.full(count, scale, dtype=np.intp), np.full(count, not known)
    scales = _whole(decimals)
    if len(scales) != count:
        raise AmountError(
            f"amounts in base units: {count}, and numbers of decimals: {len(scales)}",
            hint="give one number of decimals, or one for each amount",
        )
    unknown = np.asarray(pd.isna(scales), dtype=bool)
    if scales.dtype.kind not in "iu":
        pairs = zip(as_objects(decimals)[~unknown], np.flatnonzero(~unknown), strict=True)
        scales = np.zeros(count, dtype=np.intp)
        scales[~unknown] = [_scale(value, place) for value, place in pairs]
    elif count and not 0 <= scales.min() <= scales.max() <= MAX_DECIMALS:
        place = int(np.flatnonzero((scales < 0) | (scales > MAX_DECIMALS))[0])
        _scale(scales[place], place)
    return scales.astype(np.intp, copy=False), unknown


def _whole(decimals: Any) -> npt.NDArray[Any]:
    """Give decimals as an array, of integers only where no bool hides behind a 0 or 1."""
    array = np.asarray(decimals)
    if hasattr(decimals, "dtype") or array.dtype.kind not in "iu" or array.min(initial=2) > 1:
        return array
    return as_objects(list(decimals)) if bool in set(map(type, decimals)) else array


def _scale(value: Any, place: SupportsIndex | None) -> int:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if whole and 0 <= value <= MAX_DECIMALS:
        return int(value)
    where = "" if place is None else f" at position {place}"
    raise AmountError(
        f"decimals of {shortened(value)}{where} are no integer from 0 to {MAX_DECIMALS}",
        hint="where the decimals of a token are unknown, give None: its amount is then NA",
    )


def to_base_units(amounts: Exact, decimals: Any) -> Integers:
    """Give n amounts in base units at one or n numbers of decimals, None where missing."""
    integers, missing, scale = amounts
    scales, unknown = each_scale(decimals, len(integers))
    result = np.full(len(integers), None, dtype=object)
    for wanted in np.unique(scales):
        chosen = np.flatnonzero((scales == wanted) & ~missing)
        finer, coarser = POWERS[max(wanted - scale, 0)], POWERS[max(scale - wanted, 0)]
        wrong = chosen[(integers[chosen] % coarser != 0) | unknown[chosen]]
        if len(wrong):
            raise AmountError(
                f"{plain(integers[wrong[0]], scale)} (at position {wrong[0]}) is no whole number "
                f"of base units at {'unknown' if unknown[wrong[0]] else wanted} decimals",
                hint="give the decimals of each token; round on purpose with .round(decimals)",
            )
        result[chosen] = integers[chosen] * finer // coarser
    return result
