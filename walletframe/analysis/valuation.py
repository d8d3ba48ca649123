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
from walletframe.errors import (
    Argument,
    Either,
    PricesError,
    PricesWarning,
    Spelled,
    token_text,
)
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

    import numpy.typing as npt

    from walletframe.errors import Text
    from walletframe.frames import Codes, Identities, TokenKey

    Floats: TypeAlias = npt.NDArray[np.float64]

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
        codes, keys = (
            _by_symbol(holdings, tokens, found) if by_symbol else (tokens.codes, tokens.keys)
        )
        units = np.array([*(found.get(key, np.nan) for key in keys), np.nan])[codes]
        units[holdings["token_blockchain"].isna()] = np.nan
        if len(units) and np.isnan(units).all():
            _warn_of_no_match(len(found), keys)
    return holdings.assign(
        unit_price=units,
        value=amounts * units,
        currency=text_array([currency] * len(holdings)),
    )


def _warn_of_no_match(count: int, keys: Iterable[Any]) -> None:
    """Say what prices would have to be by, with the first token held as the example."""
    first = next(iter(keys), None)
    if isinstance(first, tuple):
        chain, contract = first
        none = Either("None or nothing", "nothing")
        by = Spelled("blockchain and contract, ", none, " for a native coin, such as ")
        example = token_text((chain, contract))
    else:
        by, example = Spelled("symbol, exactly as written, such as "), repr(shown(str(first)))
    lead = (
        f"{many(count, 'price')} given, none of a token that is held, so that nothing has a value"
    )
    notify(Spelled(lead, "; prices are by ", by, example), PricesWarning)


def _own_prices(holdings: pd.DataFrame) -> Floats:
    require_columns(holdings, ["price"])
    units = holdings["price"].to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    units[holdings["token_blockchain"].isna()] = np.nan
    wrong = np.flatnonzero((units < 0) | np.isinf(units))
    if len(wrong):
        raise PricesError(
            f"{many(len(wrong), 'price')} of the service can't be used (by position, from 0):",
            hint=Spelled(
                "give ",
                Argument("prices"),
                " of your own",
                Either(
                    ", or make them NaN: "
                    'holdings["price"].where(holdings["price"].between(0, 1e300))'
                ),
            ),
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


def _by_contract(first: TokenKey) -> Text:
    columns = "give prices with the columns token_blockchain and token_address, such as those of "
    return Spelled(
        Either("give prices by (blockchain, contract), such as ", columns), token_text(first)
    )


def _by_symbol(
    holdings: pd.DataFrame, tokens: Identities, found: Mapping[str, float]
) -> tuple[Codes, Iterable[str]]:
    """Give the symbol of each row, -1 for none, where each that has a price is one token's."""
    shared = shared_symbols(holdings, tokens)
    mixed = {symbol: shared[symbol] for symbol in found if symbol in shared}
    if mixed:
        raise ambiguous(mixed, _by_contract)
    return pd.factorize(holdings["symbol"].array)
