"""Prices in files: one with the prices of a moment, or a folder with those of many days."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from walletframe.analysis.prices import read_dates
from walletframe.disk import read_parquet
from walletframe.errors import ColumnsError, PricesError
from walletframe.frames import token_identities
from walletframe.text import from_cell, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

_DAILY = ("token_blockchain", "token_address", "date", "price")
_FIRST, _LAST = date(1970, 1, 1), date(9999, 1, 1)


@dataclass(frozen=True, slots=True)
class FilePrices:
    """Prices in a ``.csv`` or ``.parquet`` with the columns that `value` takes of a DataFrame."""

    path: str | Path

    def prices(self, tokens: pd.DataFrame) -> pd.DataFrame:  # noqa: ARG002 - a file has what it has
        """Read all of the file; of a CSV, text, also of one that walletframe wrote."""
        return self.read()[0]

    def read(self) -> tuple[pd.DataFrame, Sequence[int] | None]:
        """Read all of the file, and of a CSV the line of each row."""
        path = Path(self.path).expanduser()
        suffix = path.suffix.lower()
        if suffix not in (".csv", ".parquet"):
            raise PricesError(
                f"{path}: neither .csv nor .parquet", hint="save the prices as .csv or .parquet"
            )
        try:
            if suffix == ".parquet":
                return read_parquet(path).to_pandas(), None
            return _read_csv(path)
        except (ValueError, csv.Error) as fault:  # what parsers and Arrow raise
            reason = str(fault)
        raise PricesError(f"{path} can't be read: {reason}")


def _read_csv(path: Path) -> tuple[pd.DataFrame, list[int]]:
    """Read texts as they were before `cells` made them harmless, and the line each row ends on."""
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
    return pd.DataFrame(cells, columns=heads, dtype="str"), [line for line, _ in rows]


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
        names = {name: frame[name].astype("str") for name in ("token_blockchain", "token_address")}
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
                return _of_days(frame, since, until)
        except ValueError as fault:  # what Arrow and pandas raise
            reason = str(fault)
        else:
            raise ColumnsError(missing, there)
        raise PricesError(f"{folder} can't be read: {reason}")


def _of_days(frame: pd.DataFrame, since: date, until: date) -> pd.DataFrame:
    dates = read_dates(frame["date"])
    if len(unread := frame["date"][dates.isna()]):
        raise ValueError(f"{shown(str(unread.iloc[0]))!r} is no date")
    days = dates.dt.floor("D")
    inside = (days >= pd.Timestamp(since, tz="UTC")) & (days <= pd.Timestamp(until, tz="UTC"))
    found: pd.DataFrame = frame.assign(date=dates)[inside]
    return found
