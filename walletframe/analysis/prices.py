"""Prices of tokens: the forms that people have them in, read strictly, and where they come from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import repeat
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from walletframe.address import is_blank
from walletframe.errors import ColumnsError, Either, PricesError, Spelled, token_text
from walletframe.frames import require_columns, token_key
from walletframe.numerals import many

if TYPE_CHECKING:
    from collections.abc import Iterable, KeysView, Sequence

    from walletframe.errors import Text
    from walletframe.frames import TokenKey

PriceTable: TypeAlias = Mapping[Any, Any] | pd.Series | pd.DataFrame
Quoted: TypeAlias = tuple[Any, pd.Timestamp | None]
"""What has a price: a token, a symbol or an asset in lower case, and of dated prices the time."""

MOMENT = pd.DatetimeTZDtype("us", "UTC")

_KEYS = (("token_blockchain", "blockchain"), ("token_address", "contract"))
_NUMBERS = (int, float, str, Decimal, np.integer, np.floating)
_COLUMNS = frozenset({"price", "currency", "symbol", "asset", "date"}).union(*_KEYS)
_NO_PAIR = "its key is neither (blockchain, contract) nor the name of an asset"
_FORMS = Spelled(
    Either(
        "a mapping of (blockchain, contract) to a price, a Series with such an index, or a "
        "DataFrame",
        "a file",
    ),
    " with the columns token_blockchain, token_address and price, or asset and price",
)
_DATED = (
    "give a DataFrame or a file with the column date, a folder of daily prices, or a source with "
    "the method price_history"
)
_OF_DAYS = Either('; prices of several days are for at="snapshot"', "")


@runtime_checkable
class PriceSource(Protocol):
    """Whatever knows prices: implement this one method to let `value` use it.

    Examples
    --------
    >>> class Pegged:
    ...     def prices(self, tokens):
    ...         return {key: 1 for key in [("ETH", "0xa"), ("BASE", "0xb")]}
    >>> isinstance(Pegged(), PriceSource)
    True
    >>> Pegged().prices(pd.DataFrame())[("ETH", "0xa")]
    1
    """

    def prices(self, tokens: pd.DataFrame) -> PriceTable:
        """Return the prices of some tokens, in any form that `value` takes.

        Parameters
        ----------
        tokens : DataFrame
            One row for each distinct token: ``token_blockchain``, ``token_address`` (NA for a
            native coin) and ``symbol``, str.

        Returns
        -------
        mapping, Series or DataFrame
            Of one unit of each token that has a price, the others left out; more tokens than
            were asked for do no harm.

        Raises
        ------
        Exception
            Whatever it raises ends the valuation.
        """


@dataclass(frozen=True, slots=True)
class GivenPrices:
    """Prices in one of their forms, and where each stands in the file they are of."""

    table: PriceTable
    dated: bool  # whether each is of a time, in the column date
    file: str = ""
    lines: Sequence[int] | None = None  # of each row, from 1; without, rows count from 0

    @property
    def counted(self) -> str:
        """What places count."""
        if not self.file:
            return "by position, from 0"
        return f"by {'row' if self.lines is None else 'line'} of {self.file}" + (
            ", from 0" if self.lines is None else ""
        )

    def place(self, number: int) -> int:
        """Return the line of a price in its file, else its position."""
        return number if self.lines is None else self.lines[number]


@dataclass(frozen=True, slots=True)
class PriceBook:
    """Prices by token, by symbol or by asset in lower case, and their places in what was given."""

    units: dict[Quoted, float]
    places: dict[Quoted, int]

    @property
    def names(self) -> KeysView[Any]:
        """What has prices, at whatever time."""
        return dict.fromkeys(name for name, _ in self.units).keys()


def read_prices(given: GivenPrices, *, by_symbol: bool = False) -> PriceBook:
    """Read prices, and report all that can't be used at once; a text is the name of an asset."""
    found: dict[Quoted, float] = {}
    places: dict[Quoted, int] = {}
    problems: list[tuple[int, str, Text]] = []
    entries = _entries(given.table, by_symbol=by_symbol)
    dates = read_dates(given.table["date"]) if given.dated else repeat(None)
    for place, ((name, price), date) in enumerate(zip(entries, dates, strict=False)):
        if is_blank(name) and is_blank(price):
            continue
        key: Any = _symbol(name) if by_symbol else _named(name)
        fault = price_fault(price)
        if key is None:
            fault = "its key is not a symbol" if by_symbol else _NO_PAIR
        elif date is pd.NaT:
            fault = "its date can't be read"
        elif places.setdefault((key, date), place) != place:
            fault = f"priced already, at {given.place(places[key, date])}"
        if fault:
            said = Spelled(fault, ": ", token_text(name))
            problems.append((given.place(place), str(price)[:40], said))
        else:
            found[key, date] = float(price)
    if problems:
        columns = given.table.columns if isinstance(given.table, pd.DataFrame) else ()
        of_days = "" if given.dated or "date" not in columns else _OF_DAYS
        one_each = "one price of 0 or more for each token; leave out those that have none"
        raise PricesError(
            f"{many(len(problems), 'price')} can't be used ({given.counted}):",
            hint=Spelled(one_each, of_days),
            problems=problems,
        )
    return PriceBook(found, places)


def asset_key(name: str) -> str:
    """Return the form in which the names of two assets are compared."""
    return name.strip().casefold()


def _entries(table: PriceTable, *, by_symbol: bool) -> Iterable[tuple[Any, Any]]:
    if isinstance(table, Mapping):
        return table.items()
    if isinstance(table, pd.Series):
        return zip(table.index, table, strict=True)
    if by_symbol:
        require_columns(table, ["symbol", "price"])
        return zip(table["symbol"], table["price"], strict=True)
    names = [next((name for name in each if name in table.columns), each[0]) for each in _KEYS]
    has_assets = "asset" in table.columns
    pairs = [] if has_assets and not {*names} & {*table.columns} else names
    missing = [name for name in [*pairs, "price"] if name not in table.columns]
    if missing:
        raise ColumnsError(missing, [str(name) for name in table.columns], hint=_FORMS)
    keys: Iterable[Any] = zip(*(table[name] for name in pairs), strict=True)
    if has_assets:
        assets = table["asset"]
        keys = (
            assets
            if not pairs
            else (asset if is_blank(key) else key for key, asset in zip(keys, assets, strict=True))
        )
    return zip(keys, table["price"], strict=True)


def tidied(table: object, *, dated: bool = False) -> PriceTable:
    """Name the columns of prices as they are known, whatever their spaces and capitals."""
    if not isinstance(table, pd.DataFrame):
        if dated:
            raise PricesError("prices as of each snapshot need their dates", hint=_DATED)
        if isinstance(table, Mapping | pd.Series):
            return table
        raise PricesError(f"prices can't be of type {type(table).__name__}", hint=_FORMS)
    plain = [str(name).strip().lower() for name in table.columns]
    names = [
        found if found in _COLUMNS and (name == found or found not in table.columns) else name
        for name, found in zip(table.columns, plain, strict=True)
    ]
    twice = sorted({name for name in names if name in _COLUMNS and names.count(name) > 1})
    if twice:
        raise PricesError(
            f"several columns of the prices are called {', '.join(map(repr, twice))}",
            hint="leave one of each; capitals and spaces around a name don't count",
        )
    frame = table.set_axis(names, axis=1)
    if dated:
        require_columns(frame, ["date"])
    return frame


def read_dates(column: pd.Series) -> pd.Series:
    """Read days or times, of UTC unless they name a zone; what is neither is NaT."""
    if is_numeric_dtype(column):
        raise PricesError(f"the column date is {column.dtype}, neither days nor text")
    dates: pd.Series = pd.to_datetime(column, utc=True, format="ISO8601", errors="coerce")
    return dates


def _symbol(name: Any) -> str | None:
    return name.strip() if isinstance(name, str) else None


def _named(name: Any) -> TokenKey | str | None:
    match name:
        case str():
            return asset_key(name) or None
        case (str() as chain, contract) if chain.strip():
            if isinstance(contract, str):
                return token_key((chain, contract))
            return token_key((chain, None)) if pd.isna(contract) else None
        case _:
            return None


def price_fault(price: Any) -> str:
    """Tell what is wrong with a price."""
    if not isinstance(price, _NUMBERS) or isinstance(price, bool) or "_" in str(price):
        return "no number"
    try:
        number = float(price)
    except ValueError:
        number = math.nan
    except OverflowError:
        number = math.inf
    if math.isnan(number):
        return "no number"
    return "infinite" if math.isinf(number) else "negative" if number < 0 else ""


def read_currency(table: PriceTable, currency: str | None) -> str | None:
    """Tell what prices are in."""
    if not isinstance(table, pd.DataFrame) or "currency" not in table.columns:
        return currency
    filled = [not all(map(is_blank, row)) for row in table.itertuples(index=False, name=None)]
    written = table["currency"][filled]
    named = list(dict.fromkeys(None if pd.isna(name) else str(name).strip() for name in written))
    if len(named) > 1:
        raise PricesError(
            f"prices are in {len(named)} currencies: {named}", hint="give prices in one currency"
        )
    if currency is not None and named not in ([], [None], [currency]):
        raise PricesError(f"prices are in {named[0]!r}, not in {currency!r}")
    return next(iter(named), None) or currency
