"""Columns of a page's table, and their numbers, which are written in parts.

So the page can set them below each other at their points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from pandas.api.types import (
    is_bool_dtype,
    is_float_dtype,
    is_integer_dtype,
    is_unsigned_integer_dtype,
)

from walletframe.amounts import AmountDtype
from walletframe.amounts.integers import to_floats
from walletframe.frames import amounts_of, unread
from walletframe.frames.tables import UNKNOWN
from walletframe.numerals import cents, plain
from walletframe.pickers.cells import Cells, ordered, text_cells, where_other
from walletframe.text import shown

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.amounts import AmountArray
    from walletframe.amounts.integers import Floats
    from walletframe.frames import Codes, Mask

PICKS = {
    "wallet": "wallets",
    "token": "tokens",
    "contract": "tokens",
    "blockchain": "blockchains",
}
"""What a cell stands for, as a `Selection` names it, by the name of its column."""
_DIGITS, _ROUGHLY, _SAMPLE, _WHOLE = 18, 9, 1_000, 500


@dataclass(frozen=True, slots=True)
class Column:
    """A column, and the rank by which it is left out where a page has no room for all."""

    name: str  # by which the page asks for it
    label: str  # its heading, one harmless line
    rank: int  # those of high rank go first
    cells: Cells

    def described(self) -> dict[str, Any]:
        """Tell a page what it has to know of a column before it has any row."""
        cells = self.cells
        return {
            "name": self.name,
            "label": self.label,
            "rank": self.rank,
            "picks": PICKS.get(self.name),
            "number": cells.is_number,
            "bar": cells.has_bars,
            "room": cells.room(),
        }


class Numbers(Cells):
    """Each row has an int or a float; NaN and NA are missing. Values of money have cents."""

    def __init__(self, values: Any, missing: Mask, *, money: bool = False) -> None:
        self._values, self._missing, self._money = values, missing, money
        self.has_bars = money

    def order(self, *, down: bool) -> Codes:
        """Sort as NumPy does."""
        return ordered(self._values, self._missing, down=down)

    def room(self) -> tuple[int, int]:
        """Measure the largest, and how many decimals some have."""
        some = self._values[~self._missing]
        before = _digits_before(some.astype(np.float64))
        if self._money:
            return before, 2
        step = len(some) // _SAMPLE + 1
        behind = (len(_digits(value).partition(".")[2]) for value in some[::step].tolist())
        return before, max(behind, default=0)

    def written(self, rows: Codes) -> dict[str, list[Any]]:
        """Write plain digits; values to the cent, and what they are exactly."""
        values = self._values[rows].tolist()
        missing = self._missing[rows].tolist()
        exact = ["" if gone else _digits(each) for each, gone in zip(values, missing, strict=True)]
        texts = exact
        if self._money:
            texts = [each and cents(value) for each, value in zip(exact, values, strict=True)]
        found = _parts(texts)
        if texts != exact:
            found["copy"] = where_other(exact, texts)
        if self._money:
            found["bar"] = _shares(self._values[rows], self._largest)
        return found

    @cached_property
    def _largest(self) -> float:
        finite = np.abs(self._values[np.isfinite(self._values)])
        return float(finite.max(initial=0))


class Amounts(Cells):
    """Each row has an exact amount, or what was sent; behind some, of one token, are bars."""

    def __init__(
        self, amounts: AmountArray, raw: pd.Series | None = None, of_one: Mask | None = None
    ) -> None:
        self._amounts, self._raw, self._of_one = amounts, raw, of_one
        self.has_bars: bool = of_one is not None

    def order(self, *, down: bool) -> Codes:
        """Sort exactly."""
        return self._amounts.argsort(ascending=not down)

    @cached_property
    def _floats(self) -> Floats:
        return to_floats(self._amounts.exact())

    @cached_property
    def _largest(self) -> float:
        return float(np.nanmax(np.abs(self._floats[self._of_one]), initial=0))

    def room(self) -> tuple[int, int]:
        """Measure the largest of usual size, and find how many decimals all of them need."""
        integers, _, scale = self._amounts.exact()
        low, high = 0, scale
        while low < high:  # whether so many decimals are enough
            middle = (low + high) // 2
            if (integers % 10 ** (scale - middle)).any():
                low = middle + 1
            else:
                high = middle
        return _digits_before(self._floats[~np.isnan(self._floats)]), low

    def written(self, rows: Codes) -> dict[str, list[Any]]:
        """Write all digits."""
        amounts = self._amounts.take(rows)
        missing = np.asarray(amounts.isna())
        texts = ["" if gone else str(each) for each, gone in zip(amounts, missing, strict=True)]
        found = _parts(texts)
        if missing.any():
            raw = [None] * len(rows) if self._raw is None else self._raw.array.take(rows)
            notes = [shown(unread(each), _WHOLE) if each is not None else UNKNOWN for each in raw]
            found["note"] = [
                note if gone else None for note, gone in zip(notes, missing, strict=True)
            ]
        if self.has_bars:
            found["bar"] = _shares(self._floats[rows], self._largest)
        return found


def _digits(number: float) -> str:
    """Write an int or a float with all its digits."""
    return str(number) if isinstance(number, int) else plain(number).removesuffix(".0")


def _digits_before(values: Floats) -> int:
    """Count the digits before the point of the largest, but for those that are written roughly."""
    sizes = np.abs(values[np.isfinite(values)])
    usual = sizes[sizes < 10.0**_DIGITS]
    before = len(f"{usual.max(initial=0):.0f}") + bool((values < 0).any())
    return before if len(usual) == len(values) else max(before, _ROUGHLY)


def _shares(values: Floats, largest: float) -> list[float]:
    if not largest:
        return [0.0] * len(values)
    return [*np.round(np.nan_to_num(np.abs(values) / largest, posinf=1), 4).clip(0, 1).tolist()]


def _parts(texts: list[str]) -> dict[str, list[Any]]:
    halves = [text.partition(".") for text in texts]
    return {"whole": [half[0] for half in halves], "fraction": [half[2] for half in halves]}


def cells_of(values: pd.Series, *, money: bool = False) -> Cells:
    """Show a column of a frame by its dtype."""
    dtype = values.dtype
    if isinstance(dtype, AmountDtype):
        return Amounts(amounts_of(values))
    if is_bool_dtype(dtype) or not (is_integer_dtype(dtype) or is_float_dtype(dtype)):
        return text_cells(values)
    whole: type[Any] = np.uint64 if is_unsigned_integer_dtype(dtype) else np.int64
    kind = np.float64 if is_float_dtype(dtype) else whole
    missing = values.isna().to_numpy(dtype=bool)
    return Numbers(values.to_numpy(dtype=kind, na_value=0), missing, money=money)
