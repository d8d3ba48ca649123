"""What holdings are worth at some prices."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from walletframe.analysis.positions import amounts_of, text_array, token_columns
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
    is_unknown,
    require_columns,
    shared_symbols,
    token_identities,
)
from walletframe.notice import notify
from walletframe.numerals import many
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from walletframe.analysis.positions import Codes
    from walletframe.errors import Text
    from walletframe.frames import Identities, TokenKey

    Floats: TypeAlias = npt.NDArray[np.float64]

PricesLike: TypeAlias = PriceTable | PriceSource | str | Path


def value(
    holdings: pd.DataFrame,
    prices: PricesLike | None = None,
    *,
    currency: str | None = None,
    by_symbol: bool = False,
) -> pd.DataFrame:
    """Value holdings.

    Parameters
    ----------
    holdings : DataFrame, n rows
        The ``holdings`` of a fetch, or some rows of it.
    prices : mapping, Series, DataFrame, str, Path or PriceSource, optional
        The price of one whole unit of each token: a mapping of (blockchain, contract), None for a
        native coin, to a number; a Series with these two as its index; a DataFrame with
        ``token_blockchain`` (or ``blockchain``), ``token_address`` (or ``contract``), ``price``
        and perhaps ``currency``; a ``.csv`` or ``.parquet`` file of these columns; or a source.
        Without it, the service's own prices in the column ``price`` are used.
    currency : str, optional
        What the prices are in, such as ``"USD"``. The service's document names no currency for
        its own prices: say so where you know it.
    by_symbol : bool, default False
        Take prices by symbol instead, as written, which is refused where several tokens share
        one of these symbols: anybody can give a token any symbol.

    Returns
    -------
    DataFrame
        The n rows and all columns, and behind them, in place of those of an earlier valuation:
        ``unit_price``, float64, the price used, the nearest float64 where it is a Decimal or
        text, NaN where there is none; ``value``, float64, the nearest to the exact product of
        amount and price, NaN where one of them is unknown, never 0 for that; ``currency``, str,
        the same in each row, NA where nobody named it. `totals` adds values up and counts the
        balances that have none.

    Raises
    ------
    PricesError
        Where a price is no number, negative, NaN or infinite, a token is priced twice, prices are
        in several currencies or another one than `currency`, or can't be read: naming all bad
        prices with their positions.
    AmbiguousTokenError
        By symbol, where several tokens share one that has a price.
    ColumnsError
        Where a column is missing.
    AmountError
        Where the column ``amount`` holds no amounts.

    Warns
    -----
    PricesWarning
        Where none of the prices is of a token that is held. That some are not is nothing to warn
        of: a list of all prices has them.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {
    ...         "symbol": ["ETH", "USDC"],
    ...         "token_blockchain": "ETH",
    ...         "token_address": [None, "0xc"],
    ...         "amount": pd.array(["2", "0.5"], dtype="amount"),
    ...     }
    ... )
    >>> value(frame, {("ETH", None): 2500}, currency="USD")[["symbol", "value", "currency"]]
      symbol   value currency
    0    ETH  5000.0      USD
    1   USDC     NaN      USD
    """
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
        example = f"({chain!a}, {contract and shown(contract)!r})"
        by = f"blockchain and contract, None or nothing for a native coin, such as {example}"
    else:
        by = f"symbol, exactly as written, such as {shown(str(first))!r}"
    notify(
        f"{many(count, 'price')} given, none of a token that is held, so that nothing has a value; "
        f"prices are by {by}",
        PricesWarning,
    )


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
