"""Prices of tokens: strict parsers of tables and files, and interfaces of price sources."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from walletframe.address.forms import is_blank
from walletframe.amounts.arrow import merge_amount_columns
from walletframe.disk import read_parquet
from walletframe.errors import POSITIONS_NOTE, PricesError
from walletframe.frames.identity import encode_tokens, token_key
from walletframe.frames.schema import require_columns, single_currency
from walletframe.numerals import counted_noun
from walletframe.pandas_versions import TEXT
from walletframe.text import safe_line, token_repr, unescape_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from walletframe.frames.identity import TokenKey

PriceTable: TypeAlias = Mapping[Any, Any] | pd.Series | pd.DataFrame
PriceKey: TypeAlias = tuple[Any, pd.Timestamp | None]
"""A pair: a token, symbol or normalized asset name; and the time of its price, or None."""

UTC_TIME = pd.DatetimeTZDtype("us", "UTC")

_KEY_SYNONYMS = (("token_blockchain", "blockchain"), ("token_address", "contract"))
_NUMBER_TYPES = (int, float, str, Decimal, np.integer, np.floating)
_COLUMNS = frozenset({"price", "currency", "symbol", "asset", "date"}).union(*_KEY_SYNONYMS)
_DAILY_COLUMNS = ("token_blockchain", "token_address", "date", "price")
_FIRST_DAY, _LAST_DAY = date(1970, 1, 1), date(9999, 1, 1)
_INVALID_KEY = "neither (blockchain, contract) nor the name of an asset"
_FORMS = (
    "pass a mapping {(blockchain, contract): price}, a Series with the index (blockchain, "
    "contract), or a DataFrame with the columns token_blockchain, token_address and price (or the "
    "columns asset and price)"
)
_DATED = (
    "pass a DataFrame or a file with the column 'date', a folder of daily prices, a source with "
    'the method price_history, or prices="service"; without prices=…, the setting `prices` is used'
)
_DAILY_HINT = '; for prices of several days, also pass at="snapshot"'


@runtime_checkable
class PriceSource(Protocol):
    """The interface of a source of prices for `value`.

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
        """Return the prices of some tokens, in a form that `value` accepts.

        Parameters
        ----------
        tokens : DataFrame
            One row for each distinct token: ``token_blockchain``, ``token_address`` (NA for a
            native coin) and ``symbol``, str.

        Returns
        -------
        mapping, Series or DataFrame
            The price of one unit of each token. Tokens can be missing. Extra tokens are ignored.

        Raises
        ------
        Exception
            Any exception ends the valuation.
        """


@runtime_checkable
class PriceHistorySource(Protocol):
    """The interface of a source of daily prices for ``value(at="snapshot")``.

    Examples
    --------
    >>> class Pegged:
    ...     def price_history(self, tokens, since, until):
    ...         days = pd.DataFrame({"date": pd.date_range(since, until)})
    ...         return tokens.merge(days, how="cross").assign(price=1)
    >>> isinstance(Pegged(), PriceHistorySource)
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
            The first and the last day, in UTC.

        Returns
        -------
        DataFrame
            One row for each token and day with a price. The columns are ``token_blockchain``,
            ``token_address``, ``date``, ``price``, and optionally ``currency``.

        Raises
        ------
        Exception
            Any exception ends the valuation.
        """


@dataclass(frozen=True, slots=True)
class ParquetPrices:
    """A folder of Parquet files with daily prices, as a source of prices for `value`.

    Parameters
    ----------
    folder : str or Path
        A folder of ``.parquet`` files. It may have subfolders such as ``date=2026-01-31``. The
        columns are ``token_blockchain``, ``token_address``, ``date``, ``price``, and optionally
        ``currency``. Dates are days or times in UTC, or text such as 2026-01-31.
    on : date or str, optional
        The day whose prices `value` uses. By default, the last day in the folder.
    max_age_days : int, default 7
        The maximum number of days from the date of a price to the day `on`.

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
        """Return each token's last price on or before the day `on`.

        Parameters
        ----------
        tokens : DataFrame
            One row for each distinct token.

        Returns
        -------
        DataFrame
            The last row of each token. Rows more than `max_age_days` before `on` are left out. The
            columns are the same as in `price_history`.

        Raises
        ------
        PricesError, ColumnsError, OSError
            If the folder can't be read, or if the files lack a column.
        """
        if self.on is None:
            dates = self._read_period(["date"], _FIRST_DAY, _LAST_DAY)["date"]
            day = _LAST_DAY if dates.empty else dates.max().date()
        else:
            day = pd.Timestamp(self.on).date()
        rows = self.price_history(tokens, day - timedelta(days=self.max_age_days), day)
        last = rows["date"].groupby(encode_tokens(rows).codes).transform("max")
        return rows[rows["date"] == last].drop_duplicates(ignore_index=True)

    def price_history(self, tokens: pd.DataFrame, since: date, until: date) -> pd.DataFrame:
        """Return the prices of some tokens on some days.

        Parameters
        ----------
        tokens : DataFrame
            One row for each distinct token.
        since, until : date
            The first and the last day, in UTC.

        Returns
        -------
        DataFrame
            The columns ``token_blockchain`` and ``token_address`` (str), ``date`` (datetime64, in
            UTC), ``price``, and ``currency`` if the files have this column.

        Raises
        ------
        PricesError, ColumnsError, OSError
            If the folder can't be read, or if the files lack a column.
        """
        frame = self._read_period([*_DAILY_COLUMNS, "currency"], since, until)
        texts = {name: frame[name].astype(TEXT) for name in ("token_blockchain", "token_address")}
        frame = frame.assign(**texts)
        known, requested = encode_tokens(frame), {*encode_tokens(tokens).keys}
        codes = [code for code, key in enumerate(known.keys) if key in requested]
        return frame[np.isin(known.codes, codes)].reset_index(drop=True)

    def _read_period(self, columns: Sequence[str], since: date, until: date) -> pd.DataFrame:
        from pyarrow import string  # noqa: PLC0415 - slow to load, and few calls need it
        from pyarrow.dataset import dataset, field  # noqa: PLC0415 - slow to load, and few calls need it

        folder = Path(self.folder).expanduser()
        # Arrow compares dates as text. The margin allows for time zones.
        text, margin = field("date").cast(string()), timedelta(days=1)
        try:
            files = dataset(folder, format="parquet", partitioning="hive")
            present = files.schema.names
            require_columns(pd.DataFrame(columns=present), _DAILY_COLUMNS)
            within = (text >= str(since - margin)) & (text <= str(until + 2 * margin))
            kept = [name for name in columns if name in present]
            frame: pd.DataFrame = files.to_table(kept, filter=within).to_pandas()
            dates = parse_dates(frame["date"])
        except ValueError as fault:  # from Arrow and pandas
            reason = str(fault)
        else:
            unreadable = frame["date"][dates.isna()]
            if unreadable.empty:
                bounds = (pd.Timestamp(day, tz="UTC") for day in (since, until))
                in_period = dates.dt.floor("D").between(*bounds)
                rows: pd.DataFrame = frame.assign(date=dates)[in_period]
                return rows
            reason = f"{safe_line(str(unreadable.iloc[0]))!r} is not a date"
        raise PricesError(f"{folder} can't be read: {reason}")


def read_price_file(path: Path) -> tuple[pd.DataFrame, Sequence[int] | None]:
    """Return the table in a file, and the line number of each row (None for a Parquet file)."""
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        hint = "save the prices as .csv or .parquet"
        raise PricesError(f"{path} is not a .csv or .parquet file", hint=hint)
    try:
        if suffix == ".parquet":
            return merge_amount_columns(read_parquet(path)).to_pandas(), None
        return _read_csv_and_line_numbers(path)
    except (ValueError, csv.Error) as fault:  # from parsers and Arrow
        reason = str(fault)
    raise PricesError(f"{path} can't be read: {reason}")


def _read_csv_and_line_numbers(path: Path) -> tuple[pd.DataFrame, list[int]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        numbered = [(reader.line_num, [*map(unescape_cell, row)]) for row in reader if row]
    if not numbered:
        raise ValueError("the file is empty")
    (_, header), *rows = numbered
    for line, row in rows:
        if len(row) > len(header):
            raise ValueError(f"line {line} has {len(row)} cells, but the header has {len(header)}")
    cells = [[*row, *[""] * (len(header) - len(row))] for _, row in rows]
    return pd.DataFrame(cells, columns=header, dtype=TEXT), [line for line, _ in rows]


class LoadedPrices(NamedTuple):
    """A table of prices, and the file that it was read from."""

    table: PriceTable
    dated: bool  # whether the column `date` is used
    file: str = ""  # the name of the file, if any
    lines: Sequence[int] | None = None  # the line number of each row, from 1

    @property
    def numbering_note(self) -> str:
        """A note for messages, such as "listed by line number in prices.csv"."""
        if self.lines is not None:
            return f"listed by line number in {self.file}"
        rows = f"listed by row number in {self.file}, counted from 0"
        return rows if self.file else POSITIONS_NOTE

    def line_or_position(self, position: int) -> int:
        """Return the line of the price at a position, or the position if there is no CSV file."""
        return position if self.lines is None else self.lines[position]


def parse_prices(
    loaded: LoadedPrices, *, by_symbol: bool = False
) -> tuple[dict[PriceKey, float], dict[PriceKey, int]]:
    """Return each key's price, and each key's row position. One error lists all problems."""
    price_by_key: dict[PriceKey, float] = {}
    position_by_key: dict[PriceKey, int] = {}
    problems: list[tuple[int, str, str]] = []
    entries = keys_and_prices(loaded.table, by_symbol=by_symbol)
    dates = parse_dates(loaded.table["date"]) if loaded.dated else repeat(None)
    for position, ((name, price), day) in enumerate(zip(entries, dates, strict=False)):
        if is_blank(name) and is_blank(price):
            continue
        key: Any = _parse_token_or_asset(name)
        if by_symbol:
            key = name.strip() if isinstance(name, str) else None
        reason, token = unusable_price_reason(price), token_repr(name)
        problem = f"the price of {token} is {reason}" if reason else ""
        if key is None:
            problem = f"the key {token} is {'not a symbol' if by_symbol else _INVALID_KEY}"
        elif day is pd.NaT:
            problem = f"the date of the price of {token} can't be read"
        elif position_by_key.setdefault((key, day), position) != position:
            first = loaded.line_or_position(position_by_key[key, day])
            problem = f"{token} already has a price: see number {first}"
        if problem:
            problems.append((loaded.line_or_position(position), str(price)[:40], problem))
        else:
            price_by_key[key, day] = float(price)
    if problems:
        columns = loaded.table.columns if isinstance(loaded.table, pd.DataFrame) else ()
        daily = "" if loaded.dated or "date" not in columns else _DAILY_HINT
        hint = "give each token one price of 0 or more, and leave out tokens without a price"
        raise PricesError(
            f"{counted_noun(len(problems), 'price')} can't be used ({loaded.numbering_note}):",
            hint=f"{hint}{daily}",
            problems=problems,
        )
    return price_by_key, position_by_key


def normalize_asset_name(name: str) -> str:
    """Return a name in lower case, without leading and trailing spaces."""
    return name.strip().casefold()


def keys_and_prices(table: PriceTable, *, by_symbol: bool) -> Iterable[tuple[Any, Any]]:
    """Return the unparsed key and price of each row."""
    if isinstance(table, Mapping):
        return table.items()
    if isinstance(table, pd.Series):
        return zip(table.index, table, strict=True)
    if by_symbol:
        require_columns(table, ["symbol", "price"])
        return zip(table["symbol"], table["price"], strict=True)
    names = [
        next((name for name in synonyms if name in table.columns), synonyms[0])
        for synonyms in _KEY_SYNONYMS
    ]
    has_assets = "asset" in table.columns
    pairs = [] if has_assets and not {*names} & {*table.columns} else names
    require_columns(table, [*pairs, "price"], _FORMS)
    keys: list[Any] = [*zip(*(table[name] for name in pairs), strict=True)] or [None] * len(table)
    if has_assets:
        keys_and_assets = zip(keys, table["asset"], strict=True)
        keys = [asset if is_blank(key) else key for key, asset in keys_and_assets]
    return zip(keys, table["price"], strict=True)


def normalize_price_column_names(table: object, *, dated: bool = False) -> PriceTable:
    """Convert known column names to lower case without surrounding spaces."""
    if not isinstance(table, pd.DataFrame):
        if dated:
            raise PricesError("prices=… has no dates, but at=… needs dates", hint=_DATED)
        if isinstance(table, Mapping | pd.Series):
            return table
        raise PricesError(f"prices of type {type(table).__name__} are not supported", hint=_FORMS)
    normalized = [str(name).strip().lower() for name in table.columns]
    names = [
        standard if standard in _COLUMNS and standard not in table.columns else name
        for name, standard in zip(table.columns, normalized, strict=True)
    ]
    duplicates = sorted({name for name in names if name in _COLUMNS and names.count(name) > 1})
    if duplicates:
        raise PricesError(
            f"the prices have several columns with the name {' or '.join(map(repr, duplicates))} "
            "(case and surrounding spaces are ignored)",
            hint="keep one column of each name",
        )
    frame = table.set_axis(names, axis=1)
    if dated:
        require_columns(frame, ["date"], _DATED)
    return frame


def parse_dates(column: pd.Series) -> pd.Series:
    """Convert dates or times to UTC. Unreadable texts become NaT."""
    if is_numeric_dtype(column):
        raise PricesError(
            f"the column 'date' must contain dates or text, but has the dtype {column.dtype}",
            hint="write dates as text, such as 2026-01-31",
        )
    return pd.to_datetime(column, utc=True, format="ISO8601", errors="coerce")


def _parse_token_or_asset(name: Any) -> TokenKey | str | None:
    match name:
        case str():
            return normalize_asset_name(name) or None
        case (str() as chain, contract) if chain.strip():
            if isinstance(contract, str):
                return token_key((chain, contract))
            return token_key((chain, None)) if pd.isna(contract) else None
        case _:
            return None


def unusable_price_reason(price: Any) -> str:
    """Return why a price is unusable, such as "negative". The text is empty for a usable price."""
    if not isinstance(price, _NUMBER_TYPES) or isinstance(price, bool) or "_" in str(price):
        return "not a number"
    try:
        number = float(price)
    except ValueError:
        return "not a number"
    except OverflowError:
        return "infinite"
    if math.isnan(number):
        return "not a number"
    return "infinite" if math.isinf(number) else "negative" if number < 0 else ""


def currency_or_default(table: PriceTable, default: str | None) -> str | None:
    """Return the currency in the table, or `default` if the table has none."""
    if not isinstance(table, pd.DataFrame) or "currency" not in table.columns:
        return default
    filled = [not all(map(is_blank, row)) for row in table.itertuples(index=False, name=None)]
    names = [None if is_blank(cell) else str(cell).strip() for cell in table["currency"][filled]]
    [stated] = single_currency(names, "prices", "state the same currency for each price") or [None]
    if None not in (default, stated) and stated != default:
        raise PricesError(
            f"the prices are in {stated!r}, not in {default!r}",
            hint=f"convert the prices, or pass currency={stated!r}",
        )
    return stated or default
