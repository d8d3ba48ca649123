"""Prices of tokens: the forms that people have them in, read strictly, and where they come from."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from walletframe.address.forms import is_blank
from walletframe.amounts.arrow import with_amounts
from walletframe.disk import read_parquet
from walletframe.errors import ColumnsError, PricesError
from walletframe.frames.contract import require_columns
from walletframe.frames.identity import token_identities, token_key
from walletframe.numerals import many
from walletframe.pandas_versions import TEXT
from walletframe.text import from_cell, shown, token_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from walletframe.frames.identity import TokenKey

PriceTable: TypeAlias = Mapping[Any, Any] | pd.Series | pd.DataFrame
Quoted: TypeAlias = tuple[Any, pd.Timestamp | None]
"""What has a price: a token, a symbol or an asset in lower case, and of dated prices the time."""

MOMENT = pd.DatetimeTZDtype("us", "UTC")

_KEYS = (("token_blockchain", "blockchain"), ("token_address", "contract"))
_NUMBERS = (int, float, str, Decimal, np.integer, np.floating)
_COLUMNS = frozenset({"price", "currency", "symbol", "asset", "date"}).union(*_KEYS)
_DAILY = ("token_blockchain", "token_address", "date", "price")
_FIRST, _LAST = date(1970, 1, 1), date(9999, 1, 1)
_NO_PAIR = "its key is neither (blockchain, contract) nor the name of an asset"
_FORMS = (
    "a mapping of (blockchain, contract) to a price, a Series with such an index, or a "
    "DataFrame with the columns token_blockchain, token_address and price, or asset "
    "and price"
)
_DATED = (
    "give a DataFrame or a file with the column date, a folder of daily prices, or a source with "
    "the method price_history"
)
_OF_DAYS = '; prices of several days are for at="snapshot"'


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


@runtime_checkable
class PriceHistory(Protocol):
    """Whatever knows the prices of many days: the daily counterpart of a `PriceSource`.

    Examples
    --------
    >>> class Pegged:
    ...     def price_history(self, tokens, since, until):
    ...         days = pd.DataFrame({"date": pd.date_range(since, until)})
    ...         return tokens.merge(days, how="cross").assign(price=1)
    >>> isinstance(Pegged(), PriceHistory)
    True
    >>> tokens = pd.DataFrame({"token_blockchain": ["ETH"], "token_address": ["0xa"]})
    >>> len(Pegged().price_history(tokens, date(2026, 1, 1), date(2026, 1, 31)))
    31
    """

    def price_history(self, tokens: pd.DataFrame, since: date, until: date) -> pd.DataFrame:
        """Return the prices of some tokens on some days.

        Parameters
        ----------
        tokens : DataFrame
            One row for each distinct token, as in `PriceSource.prices`.
        since, until : date
            The first and the last day wanted, in UTC.

        Returns
        -------
        DataFrame
            One row for each token and day that has a price: ``token_blockchain``,
            ``token_address``, ``date``, ``price``, and perhaps ``currency``.

        Raises
        ------
        Exception
            Whatever it raises ends the valuation.
        """


@dataclass(frozen=True, slots=True)
class ParquetPrices:
    """Daily prices in a folder of Parquet files: a `PriceSource`, and a `PriceHistory`.

    Parameters
    ----------
    folder : str or Path
        ``.parquet`` files, in folders such as ``date=2026-01-31`` or in none, with the columns
        ``token_blockchain``, ``token_address``, ``date`` (days, times, or text such as
        2026-01-31; in UTC), ``price``, and perhaps ``currency``.
    on : date or str, optional
        The day whose prices `value` uses; without it, the last day in the folder.
    max_age_days : int, default 7
        How old a price may be on that day: a token without a newer one has none.

    Examples
    --------
    >>> import tempfile
    >>> daily = pd.DataFrame({"token_blockchain": "ETH", "token_address": None,
    ...     "date": ["2026-01-30", "2026-01-31"], "price": [2400.0, 2500.0]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     daily.to_parquet(f"{folder}/ether.parquet")
    ...     source = ParquetPrices(folder, on="2026-01-30")
    ...     on_the_day = source.prices(daily)
    ...     later = source.price_history(daily, date(2026, 1, 31), date(2026, 2, 28))
    >>> on_the_day["price"].item(), later["price"].item()
    (2400.0, 2500.0)
    """

    folder: str | Path
    on: date | str | None = None
    max_age_days: int = 7

    def prices(self, tokens: pd.DataFrame) -> pd.DataFrame:
        """Return the last price of each token, up to the day, and not too old.

        Parameters
        ----------
        tokens : DataFrame
            One row for each distinct token.

        Returns
        -------
        DataFrame
            As `price_history` returns, with the last day of each token alone.

        Raises
        ------
        PricesError, ColumnsError, OSError
            If the folder can't be read, or its files lack a column.
        """
        if self.on is None:
            days = self._rows(["date"], _FIRST, _LAST)["date"]
            day = _LAST if days.empty else days.max().date()
        else:
            day = pd.Timestamp(self.on).date()
        found = self.price_history(tokens, day - timedelta(days=self.max_age_days), day)
        last = found["date"].groupby(token_identities(found).codes).transform("max")
        return found[found["date"] == last].drop_duplicates(ignore_index=True)

    def price_history(self, tokens: pd.DataFrame, since: date, until: date) -> pd.DataFrame:
        """Return the prices of some tokens on some days.

        Parameters
        ----------
        tokens : DataFrame
            One row for each distinct token.
        since, until : date
            The first and the last day wanted, in UTC.

        Returns
        -------
        DataFrame
            ``token_blockchain``, ``token_address``, str; ``date``, datetime64, the time in UTC;
            ``price``, and ``currency`` where the files have it, as they are there.

        Raises
        ------
        PricesError, ColumnsError, OSError
            If the folder can't be read, or its files lack a column.
        """
        frame = self._rows([*_DAILY, "currency"], since, until)
        names = {name: frame[name].astype(TEXT) for name in ("token_blockchain", "token_address")}
        frame = frame.assign(**names)
        known, asked = token_identities(frame), {*token_identities(tokens).keys}
        wanted = [place for place, key in enumerate(known.keys) if key in asked]
        return frame[np.isin(known.codes, wanted)].reset_index(drop=True)

    def _rows(self, columns: Sequence[str], since: date, until: date) -> pd.DataFrame:
        """Read some columns of the files, where they have them, of some days alone."""
        from pyarrow import string  # noqa: PLC0415 - pandas does not load it either
        from pyarrow.dataset import dataset, field  # noqa: PLC0415  the same

        folder = Path(self.folder).expanduser()
        # As text, days, times and texts compare alike; a zone moves a time by a day at most.
        day, wide = field("date").cast(string()), timedelta(days=1)
        try:
            files = dataset(folder, format="parquet", partitioning="hive")
            there = files.schema.names
            missing = [name for name in _DAILY if name not in there]
            if not missing:
                within = (day >= str(since - wide)) & (day <= str(until + 2 * wide))
                kept = [name for name in columns if name in there]
                frame: pd.DataFrame = files.to_table(kept, filter=within).to_pandas()
                dates = read_dates(frame["date"])
        except ValueError as fault:  # what Arrow and pandas raise
            reason = str(fault)
        else:
            if missing:
                raise ColumnsError(missing, there)
            unread = frame["date"][dates.isna()]
            if unread.empty:
                ends = (pd.Timestamp(each, tz="UTC") for each in (since, until))
                inside = dates.dt.floor("D").between(*ends)
                found: pd.DataFrame = frame.assign(date=dates)[inside]
                return found
            reason = f"{shown(str(unread.iloc[0]))!r} is no date"
        raise PricesError(f"{folder} can't be read: {reason}")


def read_price_file(path: Path) -> tuple[pd.DataFrame, Sequence[int] | None]:
    """Read all of a file, and of a CSV, also of one that walletframe wrote, each row's line."""
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        hint = "save the prices as .csv or .parquet"
        raise PricesError(f"{path}: neither .csv nor .parquet", hint=hint)
    try:
        if suffix == ".parquet":
            return with_amounts(read_parquet(path)).to_pandas(), None
        return _read_csv(path)
    except (ValueError, csv.Error) as fault:  # what parsers and Arrow raise
        reason = str(fault)
    raise PricesError(f"{path} can't be read: {reason}")


def _read_csv(path: Path) -> tuple[pd.DataFrame, list[int]]:
    """Read texts as they were before `as_cell` changed them, and the line each row ends on."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        numbered = [(reader.line_num, [*map(from_cell, row)]) for row in reader if row]
    if not numbered:
        raise ValueError("it is empty")
    (_, heads), *rows = numbered
    for line, row in rows:
        if len(row) > len(heads):
            raise ValueError(f"line {line} has {len(row)} cells, and the first one {len(heads)}")
    cells = [[*row, *[""] * (len(heads) - len(row))] for _, row in rows]
    return pd.DataFrame(cells, columns=heads, dtype=TEXT), [line for line, _ in rows]


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
        if self.lines is not None:
            return f"by line of {self.file}"
        return f"by {f'row of {self.file}' if self.file else 'position'}, from 0"

    def place(self, number: int) -> int:
        """Return the line of a price in its file, else its position."""
        return number if self.lines is None else self.lines[number]


def read_prices(
    given: GivenPrices, *, by_symbol: bool = False
) -> tuple[dict[Quoted, float], dict[Quoted, int]]:
    """Read prices, and of each its place; report all that can't be used at once."""
    found: dict[Quoted, float] = {}
    places: dict[Quoted, int] = {}
    problems: list[tuple[int, str, str]] = []
    entries = _entries(given.table, by_symbol=by_symbol)
    dates = read_dates(given.table["date"]) if given.dated else repeat(None)
    for place, ((name, price), day) in enumerate(zip(entries, dates, strict=False)):
        if is_blank(name) and is_blank(price):
            continue
        key: Any = _named(name)
        if by_symbol:
            key = name.strip() if isinstance(name, str) else None
        fault = price_fault(price)
        if key is None:
            fault = "its key is not a symbol" if by_symbol else _NO_PAIR
        elif day is pd.NaT:
            fault = "its date can't be read"
        elif places.setdefault((key, day), place) != place:
            fault = f"priced already, at {given.place(places[key, day])}"
        if fault:
            problems.append((given.place(place), str(price)[:40], f"{fault}: {token_text(name)}"))
        else:
            found[key, day] = float(price)
    if problems:
        columns = given.table.columns if isinstance(given.table, pd.DataFrame) else ()
        of_days = "" if given.dated or "date" not in columns else _OF_DAYS
        one_each = "one price of 0 or more for each token; leave out those that have none"
        raise PricesError(
            f"{many(len(problems), 'price')} can't be used ({given.counted}):",
            hint=f"{one_each}{of_days}",
            problems=problems,
        )
    return found, places


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
    require_columns(table, [*pairs, "price"], _FORMS)
    keys: list[Any] = [*zip(*(table[name] for name in pairs), strict=True)] or [None] * len(table)
    if has_assets:
        both = zip(keys, table["asset"], strict=True)
        keys = [asset if is_blank(key) else key for key, asset in both]
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
    """Return what is wrong with a price, if anything is."""
    if not isinstance(price, _NUMBERS) or isinstance(price, bool) or "_" in str(price):
        return "no number"
    try:
        number = float(price)
    except ValueError:
        return "no number"
    except OverflowError:
        return "infinite"
    if math.isnan(number):
        return "no number"
    return "infinite" if math.isinf(number) else "negative" if number < 0 else ""


def read_currency(table: PriceTable, currency: str | None) -> str | None:
    """Return the currency of prices."""
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
