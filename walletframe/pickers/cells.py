"""Cells of a page's table: how those of a column are ordered and written; texts, and their search.

Whatever the order and its direction, a missing cell comes last, and equal ones stand as they stood.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from walletframe.text import as_cell, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.frames import Codes, Mask

_LONGEST, _WHOLE, _SAMPLE = 80, 500, 1_000


class Cells(ABC):
    """What stands in a column of n rows."""

    is_number: ClassVar[bool] = True
    has_bars: bool = False

    @abstractmethod
    def order(self, *, down: bool) -> Codes:
        """Return the n rows in order."""

    @abstractmethod
    def written(self, rows: Codes) -> dict[str, list[Any]]:
        """Write some rows, as lists of one length: what a page shows of them."""

    @abstractmethod
    def room(self) -> tuple[int, int]:
        """Tell what the column needs: digits before and behind the point, or letters."""

    def found(self, _word: str) -> Mask | bool:
        """Mark the rows that hold a word, which is case folded; numbers are not searched."""
        return False


def ordered(keys: Any, missing: Mask, *, down: bool) -> Codes:
    """Sort what NumPy can compare, stable in both directions, and those missing last."""
    present = np.flatnonzero(~missing)
    if down:
        found = present[::-1][np.argsort(keys[present[::-1]], kind="stable")][::-1]
    else:
        found = present[np.argsort(keys[present], kind="stable")]
    return np.concatenate((found, np.flatnonzero(missing)))


@dataclass(eq=False)
class Texts(Cells):
    """Each row has one of some texts, by its code; that of -1 has none."""

    is_number: ClassVar[bool] = False
    codes: Codes
    labels: Sequence[str]  # which a page shows: harmless lines, as wholes are
    wholes: Sequence[str] = ()  # which it copies, where these are others
    _: KW_ONLY
    links: Sequence[str | None] = ()
    words: Sequence[str] = ()  # which are searched beside them
    by: Sequence[Any] = ()  # by which they are ordered, if not by labels
    keys: Sequence[Any] = ()  # for which they stand

    def key(self, row: int) -> Any:
        """Return what the text of a row stands for, None for nothing."""
        code = self.codes[row]
        return None if code < 0 or not self.keys else self.keys[code]

    @cached_property
    def _ranks(self) -> Codes:
        """Give each text its place; the last is that of none."""
        keys = [*(self.by or self.labels)]
        try:
            places = {key: place for place, key in enumerate(sorted({*keys}))}
        except TypeError:  # a user's column may hold what can't be compared
            keys = [str(key) for key in keys]
            places = {key: place for place, key in enumerate(sorted({*keys}))}
        return np.array([*(places[key] for key in keys), -1], dtype=np.intp)

    @cached_property
    def _searched(self) -> list[str]:
        parts = [each for each in (self.labels, self.wholes, self.words) if each]
        return [" ".join(dict.fromkeys(each)).casefold() for each in zip(*parts, strict=True)]

    def order(self, *, down: bool) -> Codes:
        """Sort by rank: the texts are compared once."""
        return ordered(self._ranks[self.codes], self.codes < 0, down=down)

    def found(self, word: str) -> Mask:
        """Look at each text once."""
        marks = [*(word in text for text in self._searched), False]
        return np.array(marks, dtype=bool)[self.codes]

    def room(self) -> tuple[int, int]:
        """Tell how many letters most labels have at most."""
        lengths = sorted(map(len, self.labels[:_SAMPLE])) or [0]
        return lengths[len(lengths) * 9 // 10], 0

    def written(self, rows: Codes) -> dict[str, list[Any]]:
        """Write labels; wholes and what is to be copied of them, where these are others."""
        codes = self.codes[rows].tolist()
        labels = ["" if code < 0 else self.labels[code] for code in codes]
        whole = self.wholes or self.labels
        wholes = ["" if code < 0 else whole[code] for code in codes]
        copies = [as_cell(whole) for whole in wholes]
        found: dict[str, list[Any]] = {"text": labels}
        if wholes != labels:
            found["whole"] = where_other(wholes, labels)
        if copies != wholes:
            found["copy"] = where_other(copies, wholes)
        if self.links:
            found["link"] = [None if code < 0 else self.links[code] for code in codes]
        return found


def where_other(texts: list[str], usual: list[str]) -> list[str | None]:
    """Leave out what is as usual."""
    return [None if one == other else one for one, other in zip(texts, usual, strict=True)]


def text_cells(values: pd.Series) -> Texts:
    """Show a column of any type as text, in the order of what it holds where that has one."""
    try:
        codes, uniques = pd.factorize(values)
    except TypeError:  # lists and dictionaries
        codes, uniques = pd.factorize(values.astype("str"))
    found: list[Any] = [*uniques]
    labels = [shown(_written(each), _LONGEST) for each in found]
    wholes = [shown(str(each), _WHOLE) for each in found]
    by: list[Any] = found
    if isinstance(values.dtype, pd.CategoricalDtype) and values.dtype.ordered:
        by = [values.dtype.categories.get_loc(each) for each in found]
    elif all(isinstance(each, str) for each in found):
        by = [alphabetical(each) for each in found]
    return Texts(codes, labels, wholes, by=by, keys=found)


def _written(value: object) -> str:
    return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else str(value)


def alphabetical(text: str) -> tuple[str, str]:
    """Give what orders texts without regard to case, and those that differ in nothing else."""
    return text.casefold(), text
