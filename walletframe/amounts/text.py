"""Write exact amounts as plain decimal text, and read amounts from text.

Written text has no exponent and no trailing zeros. The decimal context is not used.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from walletframe.amounts.integers import MAX_DECIMALS, MAX_DIGITS, POWERS_OF_TEN, Integers
from walletframe.errors import AmountError, AmountPrecisionError

COMMON_DECIMALS = 18
NUMBER_PATTERN = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,6}))?")
_SPECIFICATION = re.compile(r"\A(.*?)(?:\.([0-9]+))?([eEfFgGn%]?)\Z", re.DOTALL)


def plain_text(integer: int, scale: int) -> str:
    """Return ``integer / 10**scale`` as plain text."""
    if not scale:
        return str(integer)
    digits = str(integer).zfill(scale + 1 + (integer < 0))
    fraction = digits[-scale:].rstrip("0")
    return f"{digits[:-scale]}.{fraction}" if fraction else digits[:-scale]


def plain_texts(integers: Integers, scale: int) -> pa.Array:
    """Return n amounts of one scale as an Arrow array of plain text."""
    surplus = scale - COMMON_DECIMALS
    if surplus > 0:  # usually, few amounts need more than the common number of decimals
        coarse, remainders = integers // POWERS_OF_TEN[surplus], integers % POWERS_OF_TEN[surplus]
        fine = np.asarray(remainders != 0, dtype=bool)
        texts = plain_texts(coarse, COMMON_DECIMALS)
        fine_texts = [plain_text(integer, scale) for integer in integers[fine]]
        return pc.replace_with_mask(texts, fine, pa.array(fine_texts, pa.large_string()))
    texts = pa.array(list(map(str, np.abs(integers))), pa.large_string())
    if scale:
        padded = pc.ascii_lpad(texts, scale + 1, "0").cast(pa.large_binary())
        pointed = pc.binary_replace_slice(padded, -scale, -scale, b".").cast(pa.large_string())
        texts = pc.ascii_rtrim(pc.ascii_rtrim(pointed, "0"), ".")
    negative = np.asarray(integers < 0, dtype=bool)
    if negative.any():
        minus, separator = (pa.scalar(text, pa.large_string()) for text in ("-", ""))
        texts = pc.if_else(negative, pc.binary_join_element_wise(minus, texts, separator), texts)
    return texts


def format_decimal(value: Decimal, specification: str) -> str:
    """Format like the built-in ``format``, but round half to even, and avoid exponents."""
    [(prefix, digits, presentation)] = _SPECIFICATION.findall(specification)
    if digits and presentation and presentation in "fF%":
        step = Decimal((0, (1,), -int(digits) - (2 if presentation == "%" else 0)))
        value = value.quantize(step, ROUND_HALF_EVEN, Context(prec=2 * MAX_DIGITS))
    elif digits:  # the number of significant digits
        count = int(digits) + 1 if presentation and presentation in "eE" else max(int(digits), 1)
        value = Context(prec=count, rounding=ROUND_HALF_EVEN).plus(value)
    return Decimal.__format__(value, specification if presentation else f"{prefix}f")


def parse_integer_and_scale(text: str) -> tuple[int, int]:
    """Parse a finite number in ASCII text. Return the smallest possible scale."""
    if (match := NUMBER_PATTERN.fullmatch(text)) is None:
        raise AmountError(
            f"{short_repr(text)} is not a number",
            hint="write a decimal number such as '1.5', without spaces or thousands separators; "
            "for a missing amount, use pd.NA",
        )
    sign, integer_part, fraction, exponent = match.groups(default="")
    digits, scale = integer_part + fraction, len(fraction) - int(exponent or 0)
    significant = digits.rstrip("0")
    if not significant:
        return 0, 0
    scale -= len(digits) - len(significant)
    padding = max(0, -scale)
    if len(significant) + padding > MAX_DIGITS:
        hint = "check the value: the largest amount on EVM blockchains, 2**256-1, has 78 digits"
        raise AmountError(f"{short_repr(text)} has more than {MAX_DIGITS} digits", hint)
    if scale > MAX_DECIMALS:
        raise AmountPrecisionError(
            f"{short_repr(text)} has {scale} decimals, but an amount has at most {MAX_DECIMALS}",
            hint="if you don't need all decimals, round the value before you convert it",
        )
    return int(sign + significant + "0" * padding), max(0, scale)


def short_repr(value: object) -> str:
    """Return a value's repr, truncated for a message."""
    try:
        text = repr(value)
    except ValueError:  # an integer with more digits than Python converts to text
        return f"an integer with more than {MAX_DIGITS} digits"
    return text if len(text) <= 60 else f"{text[:57]}…"  # noqa: PLR2004 - the length of a line in a message
