"""Valuation of holdings at prices from the service, a table, a file or a price source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from walletframe.analysis.prices import (
    UTC_TIME,
    LoadedPrices,
    ParquetPrices,
    PriceHistorySource,
    PriceSource,
    PriceTable,
    asset_key,
    keys_and_prices,
    normalize_price_table,
    parse_prices,
    price_fault,
    read_price_file,
    stated_currency,
)
from walletframe.bulk import first_known_prices
from walletframe.errors import POSITIONS_NOTE, PricesError, PricesWarning, SettingsError
from walletframe.frames.asset_list import assets as listed_assets
from walletframe.frames.identity import is_unknown, token_identities
from walletframe.frames.names import ambiguous_token_error, tokens_by_shared_symbol
from walletframe.frames.positions import token_columns
from walletframe.frames.schema import amounts_of, one_currency, require_columns, text_array
from walletframe.notice import notify
from walletframe.numerals import counted_noun
from walletframe.pandas_versions import factorized
from walletframe.settings.tables import SERVICE_PRICES, table_settings
from walletframe.text import safe_line, token_text

if TYPE_CHECKING:
    from walletframe.amounts.integers import Floats
    from walletframe.analysis.prices import PriceKey
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.identity import Codes, KeyCodes, TokenKey

PriceEntry: TypeAlias = PriceTable | PriceSource | PriceHistorySource | str | Path
PricesLike: TypeAlias = "PriceEntry | Sequence[PriceEntry]"
_TokensByAsset: TypeAlias = "dict[str, list[TokenKey]]"
_SHOWN = 10
_BY_CONTRACT = "pass prices by (blockchain, contract), such as "


def value(  # noqa: PLR0913 - users pass each option by name
    holdings: pd.DataFrame,
    prices: PricesLike | None = None,
    *,
    currency: str | None = None,
    by_symbol: bool = False,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    at: Literal["snapshot"] | None = None,
) -> pd.DataFrame:
    """Add the value of each balance at given prices.

    Parameters
    ----------
    prices : mapping, Series, DataFrame, str, Path or PriceSource, optional
        The price of one unit of each token. The default is the setting ``prices`` or, if it is not
        set, the service's prices in the column ``price``. `prices` can be:

        - ``"service"``: the service's prices;
        - a mapping ``{(blockchain, contract): price}``. The contract of a native coin is None;
        - a Series with the index (blockchain, contract);
        - a DataFrame, or the path of a ``.csv`` or ``.parquet`` file, with the columns
          ``token_blockchain`` (or ``blockchain``), ``token_address`` (or ``contract``), ``price``,
          and optionally ``currency``. Column names may differ in case and surrounding spaces;
        - a ``walletframe.analysis.PriceSource``;
        - the path of a folder of daily prices, as in ``walletframe.analysis.ParquetPrices``;
        - a list of these, such as ``["mine.csv", "service"]``. Each token gets its price from the
          first entry that has a price for the token.

        A price can also be for an asset of `walletframe.assets`. Instead of (blockchain, contract),
        write the asset's name in upper or lower case, as in ``{"USDC": 1}``, or use a column
        ``asset``. A price for a token takes precedence over a price for the token's asset.
    currency : str, optional
        The currency of the prices, such as ``"USD"``. The service does not state the currency of
        its prices. If neither `currency` nor the prices state a currency, the setting ``currency``
        is used.
    by_symbol : bool, default False
        Whether `prices` are by symbol. Symbols must match exactly. An error is raised if several
        tokens share a symbol, because anybody can create a token with any symbol.
    assets : DataFrame, str or Path, optional
        Contracts of your own for prices by asset, in a form that `walletframe.assets` accepts.
    bridged : bool, default False
        Whether the price of an asset is also used for its bridged versions.
    at : {"snapshot"}, optional
        Value each row at the prices on the day of its ``snapshot``. The service's prices are those
        in the snapshot. All other `prices`, also those of the setting, must be a DataFrame or file
        with a column ``date``, a folder of daily prices, a
        ``walletframe.analysis.PriceHistorySource``, or a list of these and ``"service"``.
        ``date`` contains days or times, in UTC unless they have a time zone. A row gets the token's
        last price on the snapshot's day (in UTC), up to the time of the snapshot. Prices of other
        days are never used.

    Returns
    -------
    DataFrame, or WalletDetails of a fetch
        The same rows and columns, followed by the columns below. They replace the columns of an
        earlier valuation.

        - ``unit_price`` (float64): the price, rounded to the nearest float64; NaN if there is none;
        - ``value`` (float64): the exact product of amount and price, rounded once to the nearest
          float64. If the amount or the price is unknown, the value is NaN, and never 0;
        - ``currency`` (str): the currency, the same in each row; NA if no currency is stated;
        - ``price_source`` (str), only if `prices` is a list: the entry of the list that has the
          price. It is ``service``, the name of a file or folder, or the type of the prices; NA if
          there is no price.

    Raises
    ------
    PricesError
        If prices can't be read or used: a price is not a number, or is negative, NaN or infinite; a
        token has two prices; or the currencies of the prices differ from each other or from
        `currency`. The error lists all unusable prices, with their positions or line numbers.
    SettingsError
        If `by_symbol` is combined with `assets` or `bridged`, if `at` is not ``"snapshot"``, or if
        a file in the setting ``prices`` does not exist.
    TokenListError
        If `assets` can't be used.
    AmbiguousTokenError
        With `by_symbol`, if several tokens share a symbol that has a price.
    ColumnsError, AmountError
        If the holdings or the prices lack a column, or if ``amount`` does not contain amounts.
    OSError
        If the file of prices can't be opened.

    Warns
    -----
    PricesWarning
        If no price matches a token in these holdings. Otherwise, one warning lists the lines of a
        file that match no token, and the prices for unknown assets. With `at`, another warning
        counts the snapshots that have no price for their day. If `prices` is a list or comes from
        the settings, the only warning is about prices for unknown assets.

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
    chosen = choose_prices(prices, by_symbol=by_symbol, assets=assets, bridged=bridged)
    if at not in (None, "snapshot"):
        hint = 'pass at="snapshot", or leave out at=…'
        raise SettingsError(f"at={at!r} is not supported", hint=hint)
    times = None
    if at:
        require_columns(holdings, ["snapshot"])
        times = pd.to_datetime(holdings["snapshot"], utc=True).astype(UTC_TIME)
    amounts = amounts_of(holdings["amount"])
    known, stated = chosen.read(holdings, currency, partial(_service_prices, holdings), times)
    units, sources = first_known_prices(known)
    columns = {
        "unit_price": units,
        "value": amounts * units,
        "currency": text_array([stated]).repeat(len(holdings)),
    }
    if chosen.sources:
        columns["price_source"] = text_array(chosen.sources).take(sources, allow_fill=True)
    elif "price_source" in holdings:
        holdings = holdings.drop(columns="price_source")
    return holdings.assign(**columns)


@dataclass(frozen=True, slots=True)
class ChosenPrices:
    """The prices to use: those of the caller, else of the settings, else of the service."""

    entries: Sequence[PriceEntry]  # each token gets its price from the first entry with a price
    sources: Sequence[str]  # the names of the entries; empty if there is no column `price_source`
    may_match_nothing: bool  # False: warn about prices that match no token in the holdings
    by_asset: _TokensByAsset | None  # None: prices are by symbol

    def read(
        self,
        holdings: pd.DataFrame,
        currency: str | None,
        service_prices: Callable[[], Floats | None],
        times: pd.Series | None = None,
    ) -> tuple[list[Any], str | None]:
        """Return each entry's prices of the rows, and the currency of all prices."""
        known, currencies = [], []
        for each in self.entries:
            if is_service_prices(each):  # its prices already are those at the time of the snapshot
                own, stated = service_prices(), currency
            else:
                own, stated = _custom_prices(holdings, each, self, currency, times)
            known.append(own)
            currencies.append(table_settings().currency if stated is None else stated)
        hint = "pass prices in one currency; currency=… is only used if prices don't state one"
        [shared] = one_currency(currencies, "prices", hint)
        return known, shared


def choose_prices(
    prices: PricesLike | None, *, by_symbol: bool, assets: AssetsLike | None, bridged: bool
) -> ChosenPrices:
    """Choose between the argument `prices`, the setting `prices` and the service's prices."""
    if by_symbol and (bridged or assets is not None):
        problem = "by_symbol=True can't be combined with assets=… or bridged=…"
        hint = "leave out by_symbol=…, or leave out assets=… and bridged=…"
        raise SettingsError(problem, hint=hint)
    chosen: Any = table_settings().prices if prices is None else prices
    if chosen is None:
        chosen = SERVICE_PRICES
    is_list = isinstance(chosen, list | tuple)
    if is_list and not chosen:
        hint = 'pass prices=["service"], or leave out prices=…'
        raise PricesError("the list of prices is empty", hint=hint)
    entries = chosen if is_list else [chosen]
    for path in entries if prices is None else ():
        if isinstance(path, Path) and not path.exists():
            problem = f"{safe_line(str(path), 300)!r} in the setting `prices` does not exist"
            raise SettingsError(problem, hint="correct the setting, or pass prices=…")
    names = [
        safe_line(Path(each).name) if isinstance(each, str | Path) else type(each).__name__
        for each in (chosen if is_list else ())
    ]
    by_asset = None
    if not by_symbol and not all(map(is_service_prices, entries)):
        by_asset = tokens_by_asset(assets, bridged=bridged)
    return ChosenPrices(entries, names, is_list or prices is None, by_asset)


def has_prices(holdings: pd.DataFrame) -> bool:
    """Return whether the settings or the service have prices, which `value` uses by default."""
    sends_prices = "price" in holdings and bool(holdings["price"].notna().any())
    return sends_prices or table_settings().prices is not None


def has_only_service_prices(holdings: pd.DataFrame) -> bool:
    """Return whether all prices of a valuation are those that the service sent."""
    if not {"unit_price", "price"} <= {*holdings}:
        return False
    used = holdings["unit_price"].notna()
    return bool(used.any() and (holdings["unit_price"] == holdings["price"])[used].all())


def is_service_prices(prices: PriceEntry) -> bool:
    """Return whether an entry means the prices of the service."""
    return isinstance(prices, str) and prices == SERVICE_PRICES


def _service_prices(holdings: pd.DataFrame) -> Floats:
    """Return the service's price of the token in each row."""
    require_columns(holdings, ["price"])
    units = holdings["price"].to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    units[holdings["token_blockchain"].isna()] = np.nan
    raise_for_unusable_prices(unusable_prices(units, np.arange(len(units))))
    return units


def _custom_prices(
    holdings: pd.DataFrame,
    prices: PriceEntry,
    chosen: ChosenPrices,
    currency: str | None,
    times: pd.Series | None,
) -> tuple[Floats, str | None]:
    """Return the price of each row, and the currency. `prices` is an entry of `chosen`."""
    tokens, by_asset = token_identities(holdings), chosen.by_asset
    loaded = _load_prices(prices, holdings, tokens, times)
    currency = stated_currency(loaded.table, currency)
    quotes, places = parse_prices(loaded, by_symbol=by_asset is None)
    priced = dict.fromkeys(name for name, _ in quotes)
    codes, keys = tokens.codes, tokens.keys
    if by_asset is None:
        shared = tokens_by_shared_symbol(holdings, tokens)
        if mixed := {symbol: shared[symbol] for symbol in priced if symbol in shared}:
            raise ambiguous_token_error(mixed, lambda first: f"{_BY_CONTRACT}{token_text(first)}")
        codes, keys = factorized(holdings["symbol"])
    units = _row_prices(quotes, keys, codes, times)
    if by_asset and by_asset.keys() & priced:  # used for tokens without a price of their own
        names = {token: name for name, owned in by_asset.items() for token in owned}
        of_keys, named = factorized(np.array([*map(names.get, keys), None], dtype=object))
        of_assets = _row_prices(quotes, [*named], of_keys[codes], times)
        units = np.where(np.isnan(units), of_assets, units)
    units[holdings["token_blockchain"].isna()] = np.nan
    if chosen.may_match_nothing:
        _warn_about_unmatched_lines(loaded, places, None, by_asset)
    else:
        _warn_about_unmatched_prices(loaded, places, units, keys, by_asset, times)
    return units, currency


def _row_prices(
    prices: Mapping[PriceKey, float], names: Sequence[Any], codes: Codes, times: pd.Series | None
) -> Floats:
    """Return the price of each row. `codes` has the index of the row's token in `names`.

    With `times`, return the last price on the day of the row's time, up to that time.
    """
    if times is None:
        return np.array([*(prices.get((name, None), np.nan) for name in names), np.nan])[codes]
    indices = {name: index for index, name in enumerate(names)}
    quotes = [
        (indices[name], day, price) for (name, day), price in prices.items() if name in indices
    ]
    dated = pd.DataFrame(quotes, columns=["code", "date", "price"])
    dated = dated.astype({"code": np.intp, "date": UTC_TIME}).sort_values("date")
    rows = pd.DataFrame({"code": codes, "time": times.array}).dropna().sort_values("time")
    last = pd.merge_asof(rows, dated, left_on="time", right_on="date", by="code")
    of_day = last["date"] >= last["time"].dt.floor("D")
    units = np.full(len(codes), np.nan)
    units[rows.index] = last["price"].where(of_day)
    return units


def tokens_by_asset(assets: AssetsLike | None, *, bridged: bool) -> _TokensByAsset:
    """Return a dict that maps each `asset_key` to the tokens of the asset."""
    listed = listed_assets(assets)
    tokens = token_identities(listed)
    by_asset: _TokensByAsset = {}
    for name, code, kind in zip(listed["asset"], tokens.codes, listed["kind"], strict=True):
        of_asset = by_asset.setdefault(asset_key(name), [])
        if bridged or kind != "bridged":
            of_asset.append(tokens.keys[code])
    return by_asset


def _warn_about_unmatched_prices(
    loaded: LoadedPrices,
    places: Mapping[PriceKey, int],
    units: Floats,
    keys: Sequence[Any],
    by_asset: _TokensByAsset | None,
    times: pd.Series | None,
) -> None:
    """Warn about prices that match no token in the holdings, and about snapshots without prices."""
    held, priced, unlisted = {*keys}, {name for name, _ in places}, False
    if by_asset is not None:
        of_assets = {name for name in priced if isinstance(name, str)}
        unlisted = not of_assets <= by_asset.keys()
        priced.update(token for name in of_assets for token in by_asset.get(name, ()))
    matches_nothing = (
        len(units) and np.isnan(units).all() and (times is None or priced.isdisjoint(held))
    )
    if matches_nothing and not unlisted:
        first = next(iter(keys), None)  # the example in the message
        by = f"symbol, spelled as in the holdings, such as {safe_line(str(first))!r}"
        if isinstance(first, tuple):
            by = f"blockchain and contract (None for a native coin), such as {token_text(first)}, "
            by += "or by asset, such as 'USDC'"
        count = counted_noun(len(places), "price")
        message = f"no price matches a token in these holdings ({count} given)"
        notify(f"{message}: pass prices by {by}", PricesWarning)
        return
    if len(units):
        _warn_about_unmatched_lines(loaded, places, held, by_asset)
    if times is not None:
        valued = pd.Series(units).notna().groupby(times.array).any()
        without = valued.index[~valued]
        if len(without):
            counted = f"{len(without):,} of {counted_noun(len(valued), 'snapshot')}"
            verb = "has" if len(without) == 1 else "have"
            message = f"{counted} {verb} no value, because there are no prices for the day"
            notify(f"{message}; the first is from {without[0]:%Y-%m-%d}", PricesWarning)


def _warn_about_unmatched_lines(
    loaded: LoadedPrices,
    places: Mapping[PriceKey, int],
    held: set[Any] | None,
    by_asset: _TokensByAsset | None,
) -> None:
    """Warn about lines of a file that match no token in the holdings, and about unknown assets.

    A mapping or a price source may have the prices of all tokens, so there is no warning about it.
    If `held` is None, prices may match nothing, and the warning is only about unknown assets.
    """
    lines = []
    names = [name for name, _ in keys_and_prices(loaded.table, by_symbol=by_asset is None)]
    for (key, _), number in places.items():
        tokens = [key] if by_asset is None or isinstance(key, tuple) else by_asset.get(key)
        if tokens is None:
            why = f"{safe_line(names[number])!r} is not a known asset"
        elif held is None or not loaded.file or any(token in held for token in tokens):
            continue
        elif isinstance(key, str):
            why = repr(safe_line(names[number]))
        else:
            chains = sorted(chain for chain, contract in held if contract and contract == key[1])
            held_on = ", ".join(map(safe_line, chains))
            elsewhere = f", but this contract is held on {held_on}" if chains else ""
            why = f"{token_text(key)}{elsewhere}"
        lines.append(f"  {loaded.line_or_position(number)}: {why}")
    if lines:
        fault = "no token in these holdings" if held is not None else "no known asset"
        verb = "matches" if len(lines) == 1 else "match"
        counted = f"{len(lines):,} of {counted_noun(len(places), 'price')} {verb}"
        more = len(lines) - _SHOWN
        lead = f"{counted} {fault} ({loaded.numbering_note}):"
        message = [lead, *lines[:_SHOWN]]
        message += [f"  … and {more:,} more"] if more > 0 else []
        notify("\n".join(message), PricesWarning)


def unusable_prices(units: Floats, rows: Codes) -> list[tuple[int, str, str]]:
    """Return the row number, the text and the reason for each unusable price."""
    wrong = np.flatnonzero((units < 0) | np.isinf(units))
    faults = [f"it is {price_fault(units[place])}" for place in wrong]
    return [(int(rows[at]), str(units[at]), fault) for at, fault in zip(wrong, faults, strict=True)]


def raise_for_unusable_prices(problems: list[tuple[int, str, str]]) -> None:
    """Raise an error if there are problems with prices of the service."""
    if problems:
        masked = 'holdings["price"].where(holdings["price"].between(0, 1e300))'
        raise PricesError(
            f"{counted_noun(len(problems), 'price')} of the service can't be used "
            f"({POSITIONS_NOTE}):",
            hint=f"pass prices=…, or replace these prices with NaN: {masked}",
            problems=problems,
        )


def _load_prices(
    prices: PricesLike, holdings: pd.DataFrame, tokens: KeyCodes, times: pd.Series | None
) -> LoadedPrices:
    """Read prices from a table, file, folder or price source. `times` are those of the rows."""
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
        known = [index for index, key in enumerate(tokens.keys) if not is_unknown(key)]
        requested = pd.DataFrame(token_columns(holdings, tokens, np.array(known, np.intp)))
        if not dated and isinstance(prices, PriceSource):
            prices = prices.prices(requested)
        elif times is not None and isinstance(prices, PriceHistorySource):
            ends = [time for time in (times.min(), times.max()) if not pd.isna(time)]
            ends = ends or [pd.Timestamp.now("UTC")]
            prices = prices.price_history(requested, ends[0].date(), ends[-1].date())
    return LoadedPrices(normalize_price_table(prices, dated=dated), dated)
