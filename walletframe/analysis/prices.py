"""Prices of tokens: the forms that people have them in, read strictly, and where they come from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import pandas as pd

from walletframe.address import is_blank
from walletframe.errors import ColumnsError, Either, PricesError, Spelled, token_text
from walletframe.frames import require_columns, token_key
from walletframe.numerals import many
from walletframe.tokens import known_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from walletframe.errors import Piece, Text
    from walletframe.frames import TokenKey

PriceTable: TypeAlias = Mapping[Any, Any] | pd.Series | pd.DataFrame

_KEYS = (("token_blockchain", "blockchain"), ("token_address", "contract"))
_NUMBERS = (int, float, str, Decimal, np.integer, np.floating)
_NO_PAIR = "its key is not (blockchain, contract)"
_FORMS = Spelled(
    Either(
        "a mapping of (blockchain, contract) to a price, a Series with such an index, or a "
        "DataFrame",
        "a file",
    ),
    " with the columns token_blockchain, token_address and price",
)


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
class FilePrices:
    """Prices in a ``.csv`` or ``.parquet`` with the columns that `value` takes of a DataFrame."""

    path: str | Path

    def prices(self, tokens: pd.DataFrame) -> pd.DataFrame:  # noqa: ARG002 - a file has what it has
        """Read all of the file; of a CSV, text."""
        path = Path(self.path).expanduser()
        suffix = path.suffix.lower()
        if suffix not in (".csv", ".parquet"):
            raise PricesError(
                f"{path}: neither .csv nor .parquet", hint="save the prices as .csv or .parquet"
            )
        try:
            if suffix == ".parquet":
                return pd.read_parquet(path)
            return pd.read_csv(path, dtype="str", keep_default_na=False, encoding="utf-8-sig")
        except ValueError as fault:  # what parsers and Arrow raise
            reason = str(fault)
        raise PricesError(f"{path} can't be read: {reason}")


def read_prices(table: PriceTable, *, by_symbol: bool) -> dict[Any, float]:
    """Read prices by token or symbol, and report all that can't be used at once."""
    found: dict[Any, float] = {}
    first: dict[Any, int] = {}
    problems: list[tuple[int, str, Text]] = []
    for place, (name, price) in enumerate(_entries(table, by_symbol=by_symbol)):
        if is_blank(name) and is_blank(price):
            continue
        key = _symbol(name) if by_symbol else _token(name)
        fault = price_fault(price)
        if key is None:
            fault = "its key is not a symbol" if by_symbol else _NO_PAIR
        elif first.setdefault(key, place) != place:
            fault = f"priced already, at {first[key]}"
        if fault:
            meant = _meant(name) if fault == _NO_PAIR else ""
            problems.append((place, str(price)[:40], Spelled(fault, ": ", token_text(name), meant)))
        else:
            found[key] = float(price)
    if problems:
        raise PricesError(
            f"{many(len(problems), 'price')} can't be used (by position, from 0):",
            hint="one price of 0 or more for each token; leave out those that have none",
            problems=problems,
        )
    return found


def _entries(table: PriceTable, *, by_symbol: bool) -> Iterable[tuple[Any, Any]]:
    if isinstance(table, Mapping):
        return table.items()
    if isinstance(table, pd.Series):
        return zip(table.index, table, strict=True)
    if not isinstance(table, pd.DataFrame):
        raise PricesError(f"prices can't be of type {type(table).__name__}", hint=_FORMS)
    if by_symbol:
        require_columns(table, ["symbol", "price"])
        return zip(table["symbol"], table["price"], strict=True)
    names = [next((name for name in each if name in table.columns), each[0]) for each in _KEYS]
    missing = [name for name in [*names, "price"] if name not in table.columns]
    if missing:
        raise ColumnsError(missing, [str(name) for name in table.columns], hint=_FORMS)
    keys = zip(table[names[0]], table[names[1]], strict=True)
    return zip(keys, table["price"], strict=True)


def _symbol(name: Any) -> str | None:
    return name.strip() if isinstance(name, str) else None


def _token(name: Any) -> TokenKey | None:
    match name:
        case (str() as chain, contract) if chain.strip():
            if isinstance(contract, str):
                return token_key((chain, contract))
            return token_key((chain, None)) if pd.isna(contract) else None
        case _:
            return None


def _meant(name: Any) -> Piece:
    """Say what a key would have to be where it is a known symbol."""
    symbol = name.lower() if isinstance(name, str) else None
    known = next((token for token in known_tokens() if token.symbol.lower() == symbol), None)
    if known is None:
        return ""
    return Spelled("; that may be ", token_text((known.blockchain, known.contract)))


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
