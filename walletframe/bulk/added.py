"""Columns that are added to balances on the disk whenever they are read: prices, and what is spam.

Both are the same in all rows of a case, which is a token under one symbol. A row of an unknown
token is of a token of its own, and known by its place.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - msgspec reads the types of flags
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.frames import UNKNOWN, TokenKey, is_unknown, text_array, token_identities

if TYPE_CHECKING:
    from walletframe.frames import Codes, Mask, Ways

PRICED = {"unit_price": "float64", "value": "float64", "currency": "str"}
FLAGGED = {"spam_score": "float64", "spam_reasons": "str", "is_spam": "bool"}
_CLEAN = (0.0, "")


@dataclass(frozen=True, slots=True)
class Cases:
    """Of which token n rows are, and under which symbol."""

    codes: Codes  # of each row, its case
    keys: list[TokenKey]  # of each case; `UNKNOWN` for all unknown tokens
    symbols: list[str | None]  # of each case
    places: (
        Codes  # of each row, its place among all rows of the folder; maybe of unknown ones alone
    )

    @property
    def unknown(self) -> Mask:
        """Whether a row is of an unknown token."""
        return np.array([key == UNKNOWN for key in self.keys], dtype=bool)[self.codes]


def cases_of_ways(ways: Ways, places: Codes) -> Cases:
    """Tell the cases of rows by how their tokens are written."""
    return Cases(ways.codes, ways.keys, _texts(ways.written()["symbol"]), places)


def cases_of_frame(holdings: pd.DataFrame, unknown: Codes | None) -> Cases:
    """Tell the cases of rows that a frame has; `unknown` has the places of all unknown tokens."""
    tokens = token_identities(holdings)
    numbers, symbols = pd.factorize(holdings["symbol"].array, use_na_sentinel=False)
    codes, pairs = pd.factorize(tokens.codes * max(len(symbols), 1) + numbers)
    of_cases, spelled = np.divmod(pairs, max(len(symbols), 1))
    keys = [UNKNOWN if is_unknown(key) else key for key in tokens.keys]
    texts, places = _texts(symbols), np.full(len(holdings), -1)
    found = Cases(
        codes,
        [keys[place] for place in of_cases.tolist()],
        [texts[place] for place in spelled.tolist()],
        places,
    )
    if unknown is not None and found.unknown.any():  # then all of them are there
        places[found.unknown] = unknown
    return found


@dataclass(frozen=True, slots=True)
class Units:
    """Prices of balances: of tokens, of symbols, or those that the service has sent."""

    of: Mapping[Any, float] | None  # None: sent
    by_symbol: bool
    currency: str | None

    def columns(self, cases: Cases, holdings: pd.DataFrame) -> dict[str, Any]:
        """Value rows as `walletframe.analysis.value` does."""
        if self.of is None:
            units = np.array(holdings["price"], dtype=np.float64)
        else:
            of: Any = self.of
            names: list[Any] = cases.symbols if self.by_symbol else cases.keys
            units = np.array([*(of.get(name, np.nan) for name in names), np.nan])[cases.codes]
        units[holdings["token_blockchain"].isna()] = np.nan
        return {
            "unit_price": units,
            "value": holdings["amount"].array * units,
            "currency": text_array([self.currency] * len(units)),
        }


@dataclass(frozen=True, slots=True)
class Flags:
    """What was found of cases: a score, and its reasons in words."""

    of: Mapping[tuple[TokenKey, str | None], tuple[float, str]]  # those not clean, of known tokens
    of_rows: Mapping[int, tuple[float, str]]  # the same of unknown tokens, by the place of the row
    threshold: float

    def columns(self, cases: Cases) -> dict[str, Any]:
        """Flag rows as `walletframe.analysis.flag_spam` does."""
        pairs = zip(cases.keys, cases.symbols, strict=True)
        found = [*(self.of.get(pair, _CLEAN) for pair in pairs), _CLEAN]
        codes, rows = cases.codes.copy(), np.flatnonzero(cases.unknown)
        codes[rows] = len(found) + np.arange(len(rows))
        found += [self.of_rows.get(place, _CLEAN) for place in cases.places[rows].tolist()]
        scores = np.array([score for score, _ in found])[codes]
        reasons = text_array(np.array([words for _, words in found], dtype=object))
        return {
            "spam_score": scores,
            "spam_reasons": reasons.take(codes),
            "is_spam": scores >= self.threshold,
        }


def _texts(symbols: Any) -> list[str | None]:
    return [symbol if isinstance(symbol, str) else None for symbol in symbols]
