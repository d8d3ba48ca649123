"""The value of holdings at given prices."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from walletframe.analysis.prices import (
    FilePrices,
    PriceSource,
    PriceTable,
    price_fault,
    read_currency,
    read_prices,
)
from walletframe.errors import Argument, Either, PricesError, PricesWarning, Spelled, token_text
from walletframe.frames import (
    ambiguous,
    amounts_of,
    is_unknown,
    require_columns,
    shared_symbols,
    text_array,
    token_columns,
    token_identities,
)
from walletframe.notice import notify
from walletframe.numerals import many
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from walletframe.amounts.integers import Floats
    from walletframe.frames import Identities

PricesLike: TypeAlias = PriceTable | PriceSource | str | Path


def value(
    holdings: pd.DataFrame,
    prices: PricesLike | None = None,
    *,
    currency: str | None = None,
    by_symbol: bool = False,
) -> pd.DataFrame:
    """Value holdings."""
    require_columns(holdings, ["symbol", "token_blockchain", "token_address", "amount"])
    amounts = amounts_of(holdings["amount"])
    if prices is None:
        units = _own_prices(holdings)
    else:
        tokens = token_identities(holdings)
        table = _table(prices, holdings, tokens)
        currency = read_currency(table, currency)
        found = read_prices(table, by_symbol=by_symbol)
        codes, keys = tokens.codes, tokens.keys
        if by_symbol:
            _require_unshared(found, holdings, tokens)
            codes, keys = pd.factorize(holdings["symbol"].array)
        units = np.array([*(found.get(key, np.nan) for key in keys), np.nan])[codes]
        units[holdings["token_blockchain"].isna()] = np.nan
        if len(units) and np.isnan(units).all():
            _warn_of_no_match(len(found), keys)
    return holdings.assign(
        unit_price=units, value=amounts * units, currency=text_array([currency] * len(holdings))
    )


def _warn_of_no_match(count: int, keys: Iterable[Any]) -> None:
    """Say what prices would have to be by, with the first token held as the example."""
    first = next(iter(keys), None)
    if isinstance(first, tuple):
        empty = Either("None or nothing", "nothing")
        by = Spelled("blockchain and contract, ", empty, " for a native coin, such as ")
        example = token_text(first)
    else:
        by, example = Spelled("symbol, exactly as written, such as "), repr(shown(str(first)))
    none = "none of a token that is held, so that nothing has a value; prices are by "
    notify(Spelled(f"{many(count, 'price')} given, {none}", by, example), PricesWarning)


def _own_prices(holdings: pd.DataFrame) -> Floats:
    require_columns(holdings, ["price"])
    units = holdings["price"].to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    units[holdings["token_blockchain"].isna()] = np.nan
    wrong = np.flatnonzero((units < 0) | np.isinf(units))
    if len(wrong):
        masked = ', or make them NaN: holdings["price"].where(holdings["price"].between(0, 1e300))'
        raise PricesError(
            f"{many(len(wrong), 'price')} of the service can't be used (by position, from 0):",
            hint=Spelled("give ", Argument("prices"), " of your own", Either(masked)),
            problems=[(int(row), str(units[row]), price_fault(units[row])) for row in wrong],
        )
    return units


def _table(prices: PricesLike, holdings: pd.DataFrame, tokens: Identities) -> PriceTable:
    if isinstance(prices, str | Path):
        prices = FilePrices(prices)
    if isinstance(prices, Mapping | pd.Series | pd.DataFrame) or not isinstance(
        prices, PriceSource
    ):
        return prices
    known = [place for place, key in enumerate(tokens.keys) if not is_unknown(key)]
    return prices.prices(pd.DataFrame(token_columns(holdings, tokens, np.array(known, np.intp))))


def _require_unshared(symbols: Iterable[str], holdings: pd.DataFrame, tokens: Identities) -> None:
    """Refuse symbols that several tokens share: a price is one token's."""
    shared = shared_symbols(holdings, tokens)
    columns = "give prices with the columns token_blockchain and token_address, such as those of "
    by_contract = Either("give prices by (blockchain, contract), such as ", columns)
    if mixed := {symbol: shared[symbol] for symbol in symbols if symbol in shared}:
        raise ambiguous(mixed, lambda first: Spelled(by_contract, token_text(first)))
