"""The value of holdings at given prices."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from walletframe.analysis.prices import (
    MOMENT,
    LoadedPrices,
    ParquetPrices,
    PriceHistory,
    PriceSource,
    PriceTable,
    asset_key,
    normalize_price_table,
    price_fault,
    read_currency,
    read_price_file,
    read_prices,
)
from walletframe.errors import PricesError, PricesWarning, SettingsError
from walletframe.frames.asset_list import assets as listed_assets
from walletframe.frames.contract import amounts_of, require_columns, text_array
from walletframe.frames.identity import is_unknown, token_identities
from walletframe.frames.names import ambiguous, shared_symbols
from walletframe.frames.positions import token_columns
from walletframe.notice import notify
from walletframe.numerals import counted_noun
from walletframe.pandas_versions import factorized
from walletframe.text import safe_line, token_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.amounts.integers import Floats
    from walletframe.analysis.prices import PriceKey
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.identity import Codes, KeyCodes, TokenKey

PricesLike: TypeAlias = PriceTable | PriceSource | PriceHistory | str | Path
_Members: TypeAlias = "dict[str, list[TokenKey]]"  # the tokens of each asset
_SHOWN = 10
_BY_CONTRACT = "give prices by (blockchain, contract), such as "


def value(  # noqa: PLR0913 - options
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
        ``token_address`` (or ``contract``), ``price`` and perhaps ``currency``, ignoring
        capitals and spaces around a name; a source; or a folder of daily prices, as for
        ``walletframe.analysis.ParquetPrices``. Instead of a token, each may have the name of
        an asset, as in `walletframe.assets`, ignoring case (``{"USDC": 1}``, or the column
        ``asset``); a token's own price comes first. By default, the service's own prices in
        the column ``price``.
    currency : str, optional
        The currency of the prices, such as ``"USD"``; the service doesn't state its own.
    by_symbol : bool, default False
        Read prices by symbol, as written; refused if several tokens share a symbol, since
        anybody can give a token any symbol.
    assets : DataFrame, str or Path, optional
        Contracts of your own, as `walletframe.assets` takes them, for prices by asset.
    bridged : bool, default False
        Whether an asset's price is used for its bridged versions, too.
    at : {"snapshot"}, optional
        Value each row at the prices of its ``snapshot``, from a DataFrame or a file with a
        column ``date``, too (days or times, in UTC unless they name a zone), a folder of daily
        prices, or any ``walletframe.analysis.PriceHistory``. The last price of a token on the
        snapshot's day in UTC, up to its time, is used; a price of another day never is.

    Returns
    -------
    DataFrame, or WalletDetails of a fetch
        All rows and columns, and after them, replacing those of an earlier valuation:
        ``unit_price``, float64, the nearest to the price, NaN if there is none; ``value``,
        float64, the nearest to the exact product of amount and price, NaN, never 0, if either
        is unknown; ``currency``, str, the same in each row, NA if it was not given.

    Raises
    ------
    PricesError
        If a price is not a number, negative, NaN or infinite, a token is priced twice, or
        prices are in several currencies or another one than `currency`; all bad prices are
        named, with their positions or lines. Or if prices, or their file, can't be read.
    SettingsError
        If prices are both by symbol and by asset, or `at` is not ``"snapshot"``.
    TokenListError
        If `assets` can't be used.
    AmbiguousTokenError
        By symbol, if several tokens share one that has a price.
    ColumnsError, AmountError
        If holdings or prices lack a column, or ``amount`` holds no amounts.
    OSError
        If the file of prices can't be opened.

    Warns
    -----
    PricesWarning
        If no price matches a token in the holdings; otherwise with the lines of a file that
        match none, and with names that no asset has; with `at`, if snapshots have no price of
        their day.

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
        raise SettingsError(f"at can't be {at!r}", hint='give at="snapshot", or leave it out')
    times = None
    if at:
        require_columns(holdings, ["snapshot"])
        times = pd.to_datetime(holdings["snapshot"], utc=True).astype(MOMENT)
    amounts = amounts_of(holdings["amount"])
    if prices is None:  # the service's own prices are of the time of each snapshot
        require_columns(holdings, ["price"])
        units = holdings["price"].to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
        units[holdings["token_blockchain"].isna()] = np.nan
        refuse_prices(unusable(units, np.arange(len(units))))
    else:
        tokens = token_identities(holdings)
        loaded = _load_prices(prices, holdings, tokens, times)
        currency = read_currency(loaded.table, currency)
        quotes, places = read_prices(loaded, by_symbol=by_symbol)
        priced = dict.fromkeys(name for name, _ in quotes)
        codes, keys, members = tokens.codes, tokens.keys, None
        if by_symbol:
            shared = shared_symbols(holdings, tokens)
            if mixed := {symbol: shared[symbol] for symbol in priced if symbol in shared}:
                raise ambiguous(mixed, lambda first: f"{_BY_CONTRACT}{token_text(first)}")
            codes, keys = factorized(holdings["symbol"])
        else:
            members = _members(listed_assets(assets), bridged=bridged)
        units = _units(quotes, keys, codes, times)
        if members and members.keys() & priced:  # for tokens without a price of their own
            names = {token: name for name, owned in members.items() for token in owned}
            of_keys, named = factorized(np.array([*map(names.get, keys), None], dtype=object))
            of_assets = _units(quotes, [*named], of_keys[codes], times)
            units = np.where(np.isnan(units), of_assets, units)
        units[holdings["token_blockchain"].isna()] = np.nan
        _warn(loaded, places, units, keys, members, times)
    return holdings.assign(
        unit_price=units,
        value=amounts * units,
        currency=text_array([currency]).repeat(len(holdings)),
    )


def _units(
    prices: Mapping[PriceKey, float], names: Sequence[Any], codes: Codes, times: pd.Series | None
) -> Floats:
    """Return the price of each row by name; with `times`, the last of the day up to its time."""
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
    loaded: LoadedPrices,
    places: Mapping[PriceKey, int],
    units: Floats,
    keys: Sequence[Any],
    members: _Members | None,
    times: pd.Series | None,
) -> None:
    """Warn of prices that match no token, and of snapshots without prices."""
    held, priced, unlisted = {*keys}, {name for name, _ in places}, False
    if members is not None:
        of_assets = {name for name in priced if isinstance(name, str)}
        unlisted = not of_assets <= members.keys()
        priced.update(token for name in of_assets for token in members.get(name, ()))
    none = len(units) and np.isnan(units).all() and (times is None or priced.isdisjoint(held))
    if none and not unlisted:
        first = next(iter(keys), None)  # the example in the message
        by = f"symbol, exactly as written, such as {safe_line(str(first))!r}"
        if isinstance(first, tuple):
            by = "blockchain and contract, None or nothing for a native coin, such as "
            by += f"{token_text(first)}, or by asset, such as 'USDC'"
        count = counted_noun(len(places), "price")
        message = f"no price matches a token in these holdings ({count} given)"
        notify(f"{message}: give prices by {by}", PricesWarning)
        return
    if len(units):
        _warn_of_unmatched(loaded, places, held, members)
    if times is not None:
        valued = pd.Series(units).notna().groupby(times.array).any()
        without = valued.index[~valued]
        if len(without):
            counted = f"{len(without):,} of {counted_noun(len(valued), 'snapshot')}"
            why = f"{'has' if len(without) == 1 else 'have'} no value: there is no price of the day"
            notify(f"{counted} {why}; the first is of {without[0]:%Y-%m-%d}", PricesWarning)


def _warn_of_unmatched(
    loaded: LoadedPrices, places: Mapping[PriceKey, int], held: set[Any], members: _Members | None
) -> None:
    """Warn of lines of a file that match no token in the holdings, and of assets in no list.

    Only lines of a file are checked: a mapping or a source may have the prices of all tokens.
    """
    lines = []
    for (key, _), number in places.items():
        tokens = [key] if members is None or isinstance(key, tuple) else members.get(key)
        if tokens is None:
            why = f"{safe_line(key)!r} is in no list of assets"
        elif not loaded.file or any(token in held for token in tokens):
            continue
        elif isinstance(key, str):
            why = repr(safe_line(key))
        else:
            chains = sorted(chain for chain, contract in held if contract and contract == key[1])
            elsewhere = f", which is held on {', '.join(map(safe_line, chains))}" if chains else ""
            why = f"{token_text(key)}{elsewhere}"
        lines.append(f"  {loaded.place(number)}: {why}")
    if lines:
        verb = "matches" if len(lines) == 1 else "match"
        counted = f"{len(lines):,} of {counted_noun(len(places), 'price')} {verb}"
        more = len(lines) - _SHOWN
        message = [f"{counted} no token in these holdings ({loaded.counted}):", *lines[:_SHOWN]]
        message += [f"  … and {more:,} more"] if more > 0 else []
        notify("\n".join(message), PricesWarning)


def unusable(units: Floats, rows: Codes) -> list[tuple[int, str, str]]:
    """Return the row, the text and the fault of each price that can't be used."""
    wrong = np.flatnonzero((units < 0) | np.isinf(units))
    faults = [f"it is {price_fault(units[place])}" for place in wrong]
    return [(int(rows[at]), str(units[at]), fault) for at, fault in zip(wrong, faults, strict=True)]


def refuse_prices(problems: list[tuple[int, str, str]]) -> None:
    """Raise an error if the service has sent prices that can't be used."""
    if problems:
        masked = ', or make them NaN: holdings["price"].where(holdings["price"].between(0, 1e300))'
        raise PricesError(
            f"{counted_noun(len(problems), 'price')} of the service can't be used "
            "(by position, from 0):",
            hint=f"give prices=… of your own{masked}",
            problems=problems,
        )


def _load_prices(
    prices: PricesLike, holdings: pd.DataFrame, tokens: KeyCodes, times: pd.Series | None
) -> LoadedPrices:
    """Read prices from their table, file, folder or source; with `times`, for these days."""
    dated = times is not None
    if isinstance(prices, str | Path):
        path = Path(prices).expanduser()
        if not path.is_dir():
            table, lines = read_price_file(path)
            return LoadedPrices(
                normalize_price_table(table, dated=dated), dated, safe_line(path.name), lines
            )
        prices = ParquetPrices(path)
    if not isinstance(prices, Mapping | pd.Series | pd.DataFrame):
        known = [place for place, key in enumerate(tokens.keys) if not is_unknown(key)]
        wanted = pd.DataFrame(token_columns(holdings, tokens, np.array(known, np.intp)))
        if not dated and isinstance(prices, PriceSource):
            prices = prices.prices(wanted)
        elif times is not None and isinstance(prices, PriceHistory):
            ends = [time for time in (times.min(), times.max()) if not pd.isna(time)]
            ends = ends or [pd.Timestamp.now("UTC")]
            prices = prices.price_history(wanted, ends[0].date(), ends[-1].date())
    return LoadedPrices(normalize_price_table(prices, dated=dated), dated)
