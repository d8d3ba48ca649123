"""The value of holdings at given prices."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from walletframe.analysis.price_files import FilePrices, ParquetPrices, PriceHistory
from walletframe.analysis.prices import (
    MOMENT,
    GivenPrices,
    PriceBook,
    PriceSource,
    PriceTable,
    asset_key,
    price_fault,
    read_currency,
    read_prices,
    tidied,
)
from walletframe.errors import (
    Argument,
    Either,
    PricesError,
    PricesWarning,
    SettingsError,
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
from walletframe.frames import assets as listed_assets
from walletframe.notice import notify
from walletframe.numerals import many, part
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from walletframe.amounts.integers import Floats
    from walletframe.analysis.prices import Quoted
    from walletframe.errors import Piece
    from walletframe.frames import AssetsLike, Codes, Identities, TokenKey

PricesLike: TypeAlias = PriceTable | PriceSource | PriceHistory | str | Path
_Members: TypeAlias = "dict[str, list[TokenKey]]"  # the tokens of each asset
_SHOWN = 10


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
    """Value holdings."""
    require_columns(holdings, ["symbol", "token_blockchain", "token_address", "amount"])
    if by_symbol and (bridged or assets is not None):
        raise SettingsError("prices are either by symbol or by asset", hint="leave out one of both")
    times = None if at is None else _times(holdings, at)
    amounts = amounts_of(holdings["amount"])
    if prices is None:  # the service's own are as of each snapshot anyway
        units = _own_prices(holdings)
    else:
        tokens = token_identities(holdings)
        given = _given(prices, holdings, tokens, times)
        currency = read_currency(given.table, currency)
        book = read_prices(given, by_symbol=by_symbol)
        members = None if by_symbol else _members(listed_assets(assets), bridged=bridged)
        codes, keys = tokens.codes, tokens.keys
        if by_symbol:
            _require_unshared(book.names, holdings, tokens)
            codes, keys = pd.factorize(holdings["symbol"].array)
        units = _units(book.units, keys, codes, times)
        if members and members.keys() & book.names:  # for tokens that have no price of their own
            names = {token: name for name, owned in members.items() for token in owned}
            of_keys, named = pd.factorize(np.array([*map(names.get, keys), None], dtype=object))
            of_assets = _units(book.units, [*named], of_keys[codes], times)
            units = np.where(np.isnan(units), of_assets, units)
        units[holdings["token_blockchain"].isna()] = np.nan
        _warn(given, book, units, keys, members, times)
    return holdings.assign(
        unit_price=units, value=amounts * units, currency=text_array([currency] * len(holdings))
    )


def _times(holdings: pd.DataFrame, at: str) -> pd.Series:
    if at != "snapshot":
        hint = Spelled("give ", Argument("at", '"snapshot"'), ", or leave it out")
        raise SettingsError(f"at: {at!r}", hint=hint)
    require_columns(holdings, ["snapshot"])
    return pd.to_datetime(holdings["snapshot"], utc=True).astype(MOMENT)


def _units(
    prices: Mapping[Quoted, float], names: Sequence[Any], codes: Codes, times: pd.Series | None
) -> Floats:
    """Give each row the price of its name; of dated ones the last of the day, up to its time."""
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
    """Give the tokens of each asset."""
    tokens = token_identities(assets)
    members: _Members = {}
    for name, code, kind in zip(assets["asset"], tokens.codes, assets["kind"], strict=True):
        of_asset = members.setdefault(asset_key(name), [])
        if bridged or kind != "bridged":
            of_asset.append(tokens.keys[code])
    return members


def _warn(
    given: GivenPrices,
    book: PriceBook,
    units: Floats,
    keys: Sequence[Any],
    members: _Members | None,
    times: pd.Series | None,
) -> None:
    """Say which prices were of no use, and which snapshots none was of."""
    held, priced, unlisted = {*keys}, {*book.names}, False
    if members is not None:
        of_assets = {name for name in priced if isinstance(name, str)}
        unlisted = not of_assets <= members.keys()
        priced.update(token for name in of_assets for token in members.get(name, ()))
    none = len(units) and np.isnan(units).all() and (times is None or priced.isdisjoint(held))
    if none and not unlisted:
        _warn_of_no_match(len(book.units), keys)
        return
    if len(units):
        _warn_of_the_unmatched(given, book, held, members)
    if times is not None:
        valued = pd.Series(units).notna().groupby(times.array).any()
        without = valued.index[~valued]
        if len(without):
            said = f"{part(len(without), len(valued), 'snapshot')} without a value, for want of "
            notify(f"{said}prices of the day; the first is of {without[0]:%Y-%m-%d}", PricesWarning)


def _warn_of_no_match(count: int, keys: Iterable[Any]) -> None:
    """Say what prices would have to be by, with the first token held as the example."""
    first = next(iter(keys), None)
    if isinstance(first, tuple):
        empty = Either("None or nothing", "nothing")
        by = Spelled("blockchain and contract, ", empty, " for a native coin, such as ")
        example = Spelled(token_text(first), ", or by asset, such as 'USDC'")
    else:
        by = Spelled("symbol, exactly as written, such as ")
        example = Spelled(repr(shown(str(first))))
    none = "none of a token that is held, so that nothing has a value; prices are by "
    notify(Spelled(f"{many(count, 'price')} given, {none}", by, example), PricesWarning)


def _warn_of_the_unmatched(
    given: GivenPrices, book: PriceBook, held: set[Any], members: _Members | None
) -> None:
    """Say which lines of a file are of no token that is held, and which assets are in no list.

    A mapping or a source may well have the prices of all tokens that there are.
    """
    told = []
    for (key, _), number in book.places.items():
        tokens = [key] if members is None or isinstance(key, tuple) else members.get(key)
        why: Piece
        if tokens is None:
            why = f"{shown(key)!r} is in no list of assets"
        elif not given.file or any(token in held for token in tokens):
            continue
        elif isinstance(key, str):
            why = repr(shown(key))
        else:
            chains = sorted(chain for chain, contract in held if contract and contract == key[1])
            elsewhere = f", which is held on {', '.join(map(shown, chains))}" if chains else ""
            why = Spelled(token_text(key), elsewhere)
        told.append(Spelled(f"  {given.place(number)}: ", why))
    if told:
        counted = part(len(told), len(book.units), "price")
        said: list[Piece] = [f"{counted} of no token that is held ({given.counted}):"]
        for line in told[:_SHOWN]:
            said += ["\n", line]
        left = len(told) - _SHOWN
        notify(Spelled(*said, f"\n  … and {left:,} more" if left > 0 else ""), PricesWarning)


def _own_prices(holdings: pd.DataFrame) -> Floats:
    require_columns(holdings, ["price"])
    units = holdings["price"].to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    units[holdings["token_blockchain"].isna()] = np.nan
    refuse_prices(unusable(units, np.arange(len(units))))
    return units


def unusable(units: Floats, rows: Codes) -> list[tuple[int, str, str]]:
    """Give the prices that can't be used, with their rows and what is wrong with each."""
    wrong = np.flatnonzero((units < 0) | np.isinf(units))
    return [(int(rows[place]), str(units[place]), price_fault(units[place])) for place in wrong]


def refuse_prices(problems: list[tuple[int, str, str]]) -> None:
    """Raise where the service has sent prices that can't be used."""
    if problems:
        masked = ', or make them NaN: holdings["price"].where(holdings["price"].between(0, 1e300))'
        raise PricesError(
            f"{many(len(problems), 'price')} of the service can't be used (by position, from 0):",
            hint=Spelled("give ", Argument("prices"), " of your own", Either(masked)),
            problems=problems,
        )


def _given(
    prices: PricesLike, holdings: pd.DataFrame, tokens: Identities, times: pd.Series | None
) -> GivenPrices:
    """Take prices from where they are, of the days of all snapshots where there are times."""
    dated = times is not None
    if isinstance(prices, str | Path):
        prices = ParquetPrices(prices) if Path(prices).expanduser().is_dir() else FilePrices(prices)
    if isinstance(prices, FilePrices):
        table, lines = prices.read()
        return GivenPrices(tidied(table, dated=dated), dated, shown(Path(prices.path).name), lines)
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


def _require_unshared(symbols: Iterable[str], holdings: pd.DataFrame, tokens: Identities) -> None:
    """Refuse symbols that several tokens share: a price is one token's."""
    shared = shared_symbols(holdings, tokens)
    columns = "give prices with the columns token_blockchain and token_address, such as those of "
    by_contract = Either("give prices by (blockchain, contract), such as ", columns)
    if mixed := {symbol: shared[symbol] for symbol in symbols if symbol in shared}:
        raise ambiguous(mixed, lambda first: Spelled(by_contract, token_text(first)))
