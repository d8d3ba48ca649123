"""The value of holdings at given prices."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from walletframe.analysis.prices import (
    MOMENT,
    GivenPrices,
    ParquetPrices,
    PriceHistory,
    PriceSource,
    PriceTable,
    asset_key,
    price_fault,
    read_currency,
    read_price_file,
    read_prices,
    tidied,
)
from walletframe.errors import PricesError, PricesWarning, SettingsError
from walletframe.frames.asset_list import assets as listed_assets
from walletframe.frames.contract import amounts_of, require_columns, text_array
from walletframe.frames.identity import is_unknown, token_identities
from walletframe.frames.names import ambiguous, shared_symbols
from walletframe.frames.positions import token_columns
from walletframe.notice import notify
from walletframe.numerals import many, part
from walletframe.pandas_versions import factorized
from walletframe.text import shown, token_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.amounts.integers import Floats
    from walletframe.analysis.prices import Quoted
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.identity import Codes, Identities, TokenKey

PricesLike: TypeAlias = PriceTable | PriceSource | PriceHistory | str | Path
_Members: TypeAlias = "dict[str, list[TokenKey]]"  # the tokens of each asset
_SHOWN = 10
_BY_CONTRACT = "give prices by (blockchain, contract), such as "


def value(  # noqa: PLR0913 - what a caller may wish
    holdings: pd.DataFrame,
    prices: PricesLike | None = None,
    *,
    currency: str | None = None,
    by_symbol: bool = False,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    at: Literal["snapshot"] | None = None,
) -> pd.DataFrame:
    """Value each balance.

    Parameters
    ----------
    prices : mapping, Series, DataFrame, str, Path or PriceSource, optional
        The price of one whole unit of each token: a mapping of (blockchain, contract), None
        for a native coin, to a number; a Series with these two as its index; a DataFrame or a
        ``.csv`` or ``.parquet`` file with ``token_blockchain`` (or ``blockchain``),
        ``token_address`` (or ``contract``), ``price`` and perhaps ``currency``, where capitals
        and spaces around a name don't count; a source; or a folder of daily prices, as for
        ``walletframe.analysis.ParquetPrices``. In the place of a token each may have the name
        of an asset, as in `walletframe.assets`, without case (``{"USDC": 1}``, or the column
        ``asset``); a token's own price comes first. Without it, the service's own prices in
        the column ``price``.
    currency : str, optional
        That of the prices, such as ``"USD"``; the service doesn't state that of its own.
    by_symbol : bool, default False
        Take prices by symbol instead, as written; refused where several tokens share one,
        since anybody can give a token any symbol.
    assets : DataFrame, str or Path, optional
        Contracts of your own, as `walletframe.assets` takes them, for prices by asset.
    bridged : bool, default False
        Whether an asset's price is also that of its bridged twins.
    at : {"snapshot"}, optional
        Value each row at the prices of its ``snapshot``, from a DataFrame or a file with a
        column ``date``, too (days or times, in UTC unless they name a zone), a folder of daily
        prices, or any ``walletframe.analysis.PriceHistory``. Of each token the last price of
        the snapshot's day in UTC, up to its time, counts; one of another day never does.

    Returns
    -------
    DataFrame, or WalletDetails of a fetch
        All rows and columns, and behind them, in place of those of an earlier valuation:
        ``unit_price``, float64, the nearest to the price used, NaN where there is none;
        ``value``, float64, the nearest to the exact product of amount and price, NaN where
        either is unknown, never 0 for that; ``currency``, str, the same in each row, NA where
        nobody named it.

    Raises
    ------
    PricesError
        If a price is no number, negative, NaN or infinite, a token is priced twice, or
        prices are in several currencies or another one than `currency`, naming all bad ones
        with their positions, or lines of their file; or if they, or their file, can't be read.
    SettingsError
        If prices are to be both by symbol and by asset, or `at` is something else.
    TokenListError
        If `assets` can't be used.
    AmbiguousTokenError
        By symbol, where several tokens share one that has a price.
    ColumnsError, AmountError
        If holdings or prices lack a column, or ``amount`` holds no amounts.
    OSError
        If the file of prices can't be opened.

    Warns
    -----
    PricesWarning
        If none of the prices is for a token in the holdings; otherwise with the lines of a file
        that are for none, and with names that no asset has; with `at`, if snapshots have no
        price of their day.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"symbol": ["ETH", "USDC"], "token_blockchain": "ETH",
    ...     "token_address": [None, "0xc"],
    ...     "amount": pd.array(["2", "0.5"], dtype="amount")})
    >>> valued = frame.wf.value({("ETH", None): 2500}, currency="USD")
    >>> valued[["symbol", "value", "currency"]]
      symbol   value currency
    0    ETH  5000.0      USD
    1   USDC     NaN      USD
    """
    require_columns(holdings, ["symbol", "token_blockchain", "token_address", "amount"])
    if by_symbol and (bridged or assets is not None):
        raise SettingsError("prices are either by symbol or by asset", hint="leave out one of both")
    if at not in (None, "snapshot"):
        raise SettingsError(f"at: {at!r}", hint='give at="snapshot", or leave it out')
    times = None
    if at:
        require_columns(holdings, ["snapshot"])
        times = pd.to_datetime(holdings["snapshot"], utc=True).astype(MOMENT)
    amounts = amounts_of(holdings["amount"])
    if prices is None:  # the service's own are as of each snapshot anyway
        require_columns(holdings, ["price"])
        units = holdings["price"].to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
        units[holdings["token_blockchain"].isna()] = np.nan
        refuse_prices(unusable(units, np.arange(len(units))))
    else:
        tokens = token_identities(holdings)
        given = _given(prices, holdings, tokens, times)
        currency = read_currency(given.table, currency)
        quotes, places = read_prices(given, by_symbol=by_symbol)
        priced = dict.fromkeys(name for name, _ in quotes)
        codes, keys, members = tokens.codes, tokens.keys, None
        if by_symbol:  # a price is one token's
            shared = shared_symbols(holdings, tokens)
            if mixed := {symbol: shared[symbol] for symbol in priced if symbol in shared}:
                raise ambiguous(mixed, lambda first: f"{_BY_CONTRACT}{token_text(first)}")
            codes, keys = factorized(holdings["symbol"])
        else:
            members = _members(listed_assets(assets), bridged=bridged)
        units = _units(quotes, keys, codes, times)
        if members and members.keys() & priced:  # for tokens that have no price of their own
            names = {token: name for name, owned in members.items() for token in owned}
            of_keys, named = factorized(np.array([*map(names.get, keys), None], dtype=object))
            of_assets = _units(quotes, [*named], of_keys[codes], times)
            units = np.where(np.isnan(units), of_assets, units)
        units[holdings["token_blockchain"].isna()] = np.nan
        _warn(given, places, units, keys, members, times)
    return holdings.assign(
        unit_price=units,
        value=amounts * units,
        currency=text_array([currency]).repeat(len(holdings)),
    )


def _units(
    prices: Mapping[Quoted, float], names: Sequence[Any], codes: Codes, times: pd.Series | None
) -> Floats:
    """Return the price of each row by its name: if dated, the last of the day, up to its time."""
    if times is None:
        return np.array([*(prices.get((name, None), np.nan) for name in names), np.nan])[codes]
    places = {name: place for place, name in enumerate(names)}
    quotes = [(places[name], day, price) for (name, day), price in prices.items() if name in places]
    dated = pd.DataFrame(quotes, columns=["code", "date", "price"])
    dated = dated.astype({"code": np.intp, "date": MOMENT}).sort_values("date")
    rows = pd.DataFrame({"code": codes, "time": times.array}).dropna().sort_values("time")
    last = pd.merge_asof(rows, dated, left_on="time", right_on="date", by="code")
    of_day = last["date"] >= last["time"].dt.floor("D")
    units = np.full(len(codes), np.nan)
    units[rows.index] = last["price"].where(of_day)
    return units


def _members(assets: pd.DataFrame, *, bridged: bool) -> _Members:
    """Return the tokens of each asset."""
    tokens = token_identities(assets)
    members: _Members = {}
    for name, code, kind in zip(assets["asset"], tokens.codes, assets["kind"], strict=True):
        of_asset = members.setdefault(asset_key(name), [])
        if bridged or kind != "bridged":
            of_asset.append(tokens.keys[code])
    return members


def _warn(
    given: GivenPrices,
    places: Mapping[Quoted, int],
    units: Floats,
    keys: Sequence[Any],
    members: _Members | None,
    times: pd.Series | None,
) -> None:
    """Warn of prices that were of no use, and of snapshots without any."""
    held, priced, unlisted = {*keys}, {name for name, _ in places}, False
    if members is not None:
        of_assets = {name for name in priced if isinstance(name, str)}
        unlisted = not of_assets <= members.keys()
        priced.update(token for name in of_assets for token in members.get(name, ()))
    none = len(units) and np.isnan(units).all() and (times is None or priced.isdisjoint(held))
    if none and not unlisted:
        first = next(iter(keys), None)  # the example of what prices would have to be by
        by = f"symbol, exactly as written, such as {shown(str(first))!r}"
        if isinstance(first, tuple):
            by = "blockchain and contract, None or nothing for a native coin, such as "
            by += f"{token_text(first)}, or by asset, such as 'USDC'"
        said = "none of a token that is held, so that nothing has a value; prices are by "
        notify(f"{many(len(places), 'price')} given, {said}{by}", PricesWarning)
        return
    if len(units):
        _warn_of_the_unmatched(given, places, held, members)
    if times is not None:
        valued = pd.Series(units).notna().groupby(times.array).any()
        without = valued.index[~valued]
        if len(without):
            said = f"{part(len(without), len(valued), 'snapshot')} without a value, for want of "
            notify(f"{said}prices of the day; the first is of {without[0]:%Y-%m-%d}", PricesWarning)


def _warn_of_the_unmatched(
    given: GivenPrices, places: Mapping[Quoted, int], held: set[Any], members: _Members | None
) -> None:
    """Warn of lines of a file that are of no token that is held, and of assets in no list.

    A mapping or a source may well have the prices of all tokens that there are.
    """
    told = []
    for (key, _), number in places.items():
        tokens = [key] if members is None or isinstance(key, tuple) else members.get(key)
        if tokens is None:
            why = f"{shown(key)!r} is in no list of assets"
        elif not given.file or any(token in held for token in tokens):
            continue
        elif isinstance(key, str):
            why = repr(shown(key))
        else:
            chains = sorted(chain for chain, contract in held if contract and contract == key[1])
            elsewhere = f", which is held on {', '.join(map(shown, chains))}" if chains else ""
            why = f"{token_text(key)}{elsewhere}"
        told.append(f"  {given.place(number)}: {why}")
    if told:
        counted = part(len(told), len(places), "price")
        left = len(told) - _SHOWN
        said = [f"{counted} of no token that is held ({given.counted}):", *told[:_SHOWN]]
        said += [f"  … and {left:,} more"] if left > 0 else []
        notify("\n".join(said), PricesWarning)


def unusable(units: Floats, rows: Codes) -> list[tuple[int, str, str]]:
    """Return the prices that can't be used, with their rows and what is wrong with each."""
    wrong = np.flatnonzero((units < 0) | np.isinf(units))
    return [(int(rows[place]), str(units[place]), price_fault(units[place])) for place in wrong]


def refuse_prices(problems: list[tuple[int, str, str]]) -> None:
    """Raise where the service has sent prices that can't be used."""
    if problems:
        masked = ', or make them NaN: holdings["price"].where(holdings["price"].between(0, 1e300))'
        raise PricesError(
            f"{many(len(problems), 'price')} of the service can't be used (by position, from 0):",
            hint=f"give prices=… of your own{masked}",
            problems=problems,
        )


def _given(
    prices: PricesLike, holdings: pd.DataFrame, tokens: Identities, times: pd.Series | None
) -> GivenPrices:
    """Take prices from where they are, of the days of all snapshots where there are times."""
    dated = times is not None
    if isinstance(prices, str | Path):
        path = Path(prices).expanduser()
        if not path.is_dir():
            table, lines = read_price_file(path)
            return GivenPrices(tidied(table, dated=dated), dated, shown(path.name), lines)
        prices = ParquetPrices(path)
    if not isinstance(prices, Mapping | pd.Series | pd.DataFrame):
        known = [place for place, key in enumerate(tokens.keys) if not is_unknown(key)]
        asked = pd.DataFrame(token_columns(holdings, tokens, np.array(known, np.intp)))
        if not dated and isinstance(prices, PriceSource):
            prices = prices.prices(asked)
        elif times is not None and isinstance(prices, PriceHistory):
            ends = [time for time in (times.min(), times.max()) if not pd.isna(time)]
            ends = ends or [pd.Timestamp.now("UTC")]
            prices = prices.price_history(asked, ends[0].date(), ends[-1].date())
    return GivenPrices(tidied(prices, dated=dated), dated)
