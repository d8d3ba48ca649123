"""Valuation of holdings at prices from the service, a table, a file or a price source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from walletframe.analysis.prices import (
    UTC_TIME,
    LoadedPrices,
    ParquetPrices,
    PriceHistorySource,
    PriceSource,
    PriceTable,
    currency_or_default,
    keys_and_prices,
    normalize_asset_name,
    normalize_price_column_names,
    parse_prices,
    read_price_file,
    unusable_price_reason,
)
from walletframe.errors import POSITIONS_NOTE, PricesError, PricesWarning, SettingsError
from walletframe.frames.asset_list import assets as listed_assets
from walletframe.frames.identity import encode_tokens, is_unknown
from walletframe.frames.lookups import price_columns
from walletframe.frames.names import ambiguous_token_error, tokens_by_shared_symbol
from walletframe.frames.positions import token_columns
from walletframe.frames.schema import amounts_of, require_columns, single_currency
from walletframe.notice import notify, warn_once
from walletframe.numerals import counted_noun
from walletframe.pandas_versions import factorize
from walletframe.settings.tables import SERVICE_PRICES, table_defaults
from walletframe.text import safe_line, token_repr

if TYPE_CHECKING:
    from walletframe.amounts.integers import Floats
    from walletframe.analysis.prices import PriceKey
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.identity import Codes, KeyCodes, TokenKey

PriceEntry: TypeAlias = PriceTable | PriceSource | PriceHistorySource | str | Path
PricesLike: TypeAlias = "PriceEntry | Sequence[PriceEntry]"
TokensByAsset: TypeAlias = "dict[str, list[TokenKey]]"
_MAX_LINES = 10
_CONTRACT_HINT = "pass prices by (blockchain, contract), such as "


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
        The price of one unit of each token. By default, the setting ``prices`` is used. If it
        is missing, the service's prices in the column ``price`` are used. `prices` can be:

        - ``"service"``: the service's prices;
        - a mapping ``{(blockchain, contract): price}``. The contract of a native coin is None;
        - a Series with the index (blockchain, contract);
        - a DataFrame, or the path of a ``.csv`` or ``.parquet`` file, with the columns
          ``token_blockchain`` (or ``blockchain``), ``token_address`` (or ``contract``), ``price``,
          and optionally ``currency``. Case and surrounding spaces of column names are ignored;
        - a ``walletframe.analysis.PriceSource``;
        - the path of a folder of daily prices, as in ``walletframe.analysis.ParquetPrices``;
        - a list of such prices, as in ``["mine.csv", "service"]``. A token without a price in the
          first entry gets its price from the next entry.

        Prices can also be by asset. Instead of (blockchain, contract), pass the name of an asset in
        `walletframe.assets`, as in ``{"USDC": 1}``, or use a column ``asset``. Case is ignored.
        Prices by token take precedence over prices by asset.
    currency : str, optional
        The currency of the prices, such as ``"USD"``. Nothing is converted. By default, the column
        ``currency`` of the prices is used. Without this column, the setting ``currency`` is used.
    by_symbol : bool, default False
        Whether `prices` are by symbol. Symbols must match exactly. If several tokens share a
        symbol, an error is raised, because anybody can create a token with any symbol.
    assets : DataFrame, str or Path, optional
        Your own contracts for prices by asset, in a form that `walletframe.assets` accepts.
    bridged : bool, default False
        Whether the price of an asset is also used for its bridged versions.
    at : {"snapshot"}, optional
        Value each row at a price of the day of its ``snapshot``, in UTC. The token's last price up
        to the snapshot is used. The service's prices need no dates. All other prices need dates.
        Pass a folder of daily prices, a ``walletframe.analysis.PriceHistorySource``, or a table
        with a column ``date``. Times in this column are in UTC, unless they have a time zone.

    Returns
    -------
    DataFrame, or WalletDetails of a fetch
        The same rows and columns. These columns are added or replaced:

        - ``unit_price`` (float64): the price, rounded to the nearest float64; NaN without a price;
        - ``value`` (float64): the exact product of amount and price, rounded once to the nearest
          float64. If the amount or the price is unknown, the value is NaN, not 0;
        - ``currency`` (str): the currency, the same in each row; NA if no currency is stated;
        - ``price_source`` (str), only if `prices` is a list: where the price is from, such as
          ``service``, ``your prices`` or the name of a file; NA without a price.

    Raises
    ------
    PricesError
        If prices can't be read, if a price is negative, infinite or not a number, if a token has
        two prices, or if currencies differ. The error lists all unusable prices, with positions or
        line numbers.
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
        - If a price is for an unknown asset.
        - If no price matches a token, if a line of a file matches none, or if a snapshot has no
          prices of its day (only if you pass `prices`, and not as a list).
        - With several sources, once per session: if a bridged version doesn't get your price of
          its asset.

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
    chosen = prices_or_default(prices, by_symbol=by_symbol, assets=assets, bridged=bridged)
    if at not in (None, "snapshot"):
        hint = 'pass at="snapshot", or leave out at=…'
        raise SettingsError(f"at={at!r} is not supported", hint=hint)
    times = None
    if at:
        require_columns(holdings, ["snapshot"])
        times = pd.to_datetime(holdings["snapshot"], utc=True).astype(UTC_TIME)
    amounts = amounts_of(holdings["amount"])
    service_prices = partial(_service_prices, holdings)
    prices_by_entry, stated = chosen.row_prices_by_entry(holdings, currency, service_prices, times)
    columns = price_columns(prices_by_entry, amounts, stated, chosen.sources)
    if not chosen.sources and "price_source" in holdings:
        holdings = holdings.drop(columns="price_source")
    return holdings.assign(**columns)


class EffectivePrices(NamedTuple):
    """The chosen sources of prices, and how to match prices with tokens."""

    entries: Sequence[PriceEntry]  # the first entry with a price for a token is used
    sources: Sequence[str]  # names of the entries in the column `price_source`, or empty
    allows_unmatched: bool  # whether prices without a matching token are allowed
    tokens_by_asset: TokensByAsset | None  # None if prices are by symbol
    omitted_versions: Mapping[TokenKey, str]  # bridged version without the price -> its asset

    def row_prices_by_entry(
        self,
        holdings: pd.DataFrame,
        currency: str | None,
        service_prices: Callable[[], Floats | None],
        times: pd.Series | None = None,
    ) -> tuple[list[Any], str | None]:
        """Return a price per row for each entry, and the currency that all entries share."""
        prices_by_entry, currencies = [], []
        for entry in self.entries:
            if is_service_prices(entry):  # these are already prices of the snapshot's day
                prices, stated = service_prices(), currency
            else:
                prices, stated = _custom_prices(holdings, entry, self, currency, times)
            prices_by_entry.append(prices)
            currencies.append(table_defaults().currency if stated is None else stated)
        hint = "pass prices in one currency; currency=… is only used if prices don't state one"
        unnamed = [entry for entry, name in zip(self.entries, currencies, strict=True) if not name]
        if unnamed and (named := next(filter(None, currencies), None)):
            hint = f"add currency={named!r} if all prices are in this currency"
        others = "the service's" if all(map(is_service_prices, unnamed)) else "others"
        [common] = single_currency(currencies, "prices", hint, others)
        return prices_by_entry, common


def prices_or_default(
    prices: PricesLike | None, *, by_symbol: bool, assets: AssetsLike | None, bridged: bool
) -> EffectivePrices:
    """Return the given prices, or the prices in the setting `prices`, or the service's prices."""
    if by_symbol and (bridged or assets is not None):
        problem = "by_symbol=True can't be combined with assets=… or bridged=…"
        hint = "leave out by_symbol=…, or leave out assets=… and bridged=…"
        raise SettingsError(problem, hint=hint)
    chosen: Any = table_defaults().prices if prices is None else prices
    chosen = SERVICE_PRICES if chosen is None else chosen
    is_list = isinstance(chosen, list | tuple)
    if is_list and not chosen:
        hint = 'pass prices=["service"], or leave out prices=…'
        raise PricesError("the list of prices is empty", hint=hint)
    entries = chosen if is_list else [chosen]
    for path in entries if prices is None else ():
        if isinstance(path, Path) and not path.exists():
            problem = f"{safe_line(str(path), 300)!r} in the setting `prices` does not exist"
            raise SettingsError(problem, hint="correct the setting, or pass prices=…")
    names = [*map(_source_label, chosen if is_list else ())]
    by_asset: tuple[Any, Any] = None, {}
    if not by_symbol and not all(map(is_service_prices, entries)):
        by_asset = _tokens_by_asset_and_omitted_versions(assets, bridged=bridged)
    return EffectivePrices(entries, names, is_list or prices is None, *by_asset)


def _source_label(entry: PriceEntry) -> str:
    if isinstance(entry, str | Path):
        return safe_line(Path(entry).name)
    is_table = isinstance(entry, Mapping | pd.Series | pd.DataFrame)
    return "your prices" if is_table else type(entry).__name__


def has_default_prices(holdings: pd.DataFrame) -> bool:
    """Return whether `value` finds prices without the argument `prices`."""
    sends_prices = "price" in holdings and bool(holdings["price"].notna().any())
    return sends_prices or table_defaults().prices is not None


def has_only_service_prices(holdings: pd.DataFrame) -> bool:
    """Return whether the values of holdings use only the service's prices."""
    if not {"unit_price", "price"} <= {*holdings}:
        return False
    used = holdings["unit_price"].notna()
    return bool(used.any() and (holdings["unit_price"] == holdings["price"])[used].all())


def is_service_prices(entry: PriceEntry) -> bool:
    """Return whether an entry means the service's prices."""
    return isinstance(entry, str) and entry == SERVICE_PRICES


def _service_prices(holdings: pd.DataFrame) -> Floats:
    require_columns(holdings, ["price"])
    prices = holdings["price"].to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    prices[holdings["token_blockchain"].isna()] = np.nan
    raise_for_unusable_service_prices(unusable_prices(prices, np.arange(len(prices))))
    return prices


def _custom_prices(
    holdings: pd.DataFrame,
    entry: PriceEntry,
    chosen: EffectivePrices,
    currency: str | None,
    times: pd.Series | None,
) -> tuple[Floats, str | None]:
    tokens, by_asset = encode_tokens(holdings), chosen.tokens_by_asset
    loaded = _load_prices(entry, holdings, tokens, times)
    currency = currency_or_default(loaded.table, currency)
    price_by_key, position_by_key = parse_prices(loaded, by_symbol=by_asset is None)
    priced = dict.fromkeys(name for name, _ in price_by_key)
    codes, keys = tokens.codes, tokens.keys
    if by_asset is None:
        shared = tokens_by_shared_symbol(holdings, tokens)
        if mixed := {symbol: shared[symbol] for symbol in priced if symbol in shared}:
            raise ambiguous_token_error(mixed, lambda first: f"{_CONTRACT_HINT}{token_repr(first)}")
        codes, keys = factorize(holdings["symbol"])
    prices = _row_prices(price_by_key, keys, codes, times)
    if by_asset and by_asset.keys() & priced:  # for tokens without a price by token
        asset_by_token = {token: asset for asset, listed in by_asset.items() for token in listed}
        names = np.array([*map(asset_by_token.get, keys), None], dtype=object)
        asset_codes, assets = factorize(names)
        asset_prices = _row_prices(price_by_key, [*assets], asset_codes[codes], times)
        prices = np.where(np.isnan(prices), asset_prices, prices)
        if len(chosen.entries) > 1:
            omitted = [chosen.omitted_versions.get(key, "") for key in keys if key not in priced]
            _warn_about_unpriced_versions(omitted, priced)
    prices[holdings["token_blockchain"].isna()] = np.nan
    if chosen.allows_unmatched:
        _warn_with_list_of_unmatched_prices(loaded, position_by_key, None, by_asset)
    else:
        _warn_about_unmatched_prices(loaded, position_by_key, prices, keys, by_asset, times)
    return prices, currency


def _row_prices(
    prices: Mapping[PriceKey, float], names: Sequence[Any], codes: Codes, times: pd.Series | None
) -> Floats:
    if times is None:
        return np.array([*(prices.get((name, None), np.nan) for name in names), np.nan])[codes]
    index = {name: index for index, name in enumerate(names)}
    quotes = [(index[name], day, price) for (name, day), price in prices.items() if name in index]
    dated = pd.DataFrame(quotes, columns=["code", "date", "price"])
    dated = dated.astype({"code": np.intp, "date": UTC_TIME}).sort_values("date")
    rows = pd.DataFrame({"code": codes, "time": times.array}).dropna().sort_values("time")
    last = pd.merge_asof(rows, dated, left_on="time", right_on="date", by="code")
    is_of_day = last["date"] >= last["time"].dt.floor("D")
    row_prices = np.full(len(codes), np.nan)
    row_prices[rows.index] = last["price"].where(is_of_day)
    return row_prices


def _tokens_by_asset_and_omitted_versions(
    assets: AssetsLike | None, *, bridged: bool
) -> tuple[TokensByAsset, dict[TokenKey, str]]:
    listed = listed_assets(assets)
    tokens = encode_tokens(listed)
    by_asset: TokensByAsset = {}
    omitted_versions: dict[TokenKey, str] = {}
    for name, code, kind in zip(listed["asset"], tokens.codes, listed["kind"], strict=True):
        keys = by_asset.setdefault(normalize_asset_name(name), [])
        if bridged or kind != "bridged":
            keys.append(tokens.keys[code])
        else:
            omitted_versions[tokens.keys[code]] = name
    return by_asset, omitted_versions


def _warn_about_unpriced_versions(assets: Sequence[str], priced: Mapping[str, object]) -> None:
    if versions := [name for name in assets if normalize_asset_name(name) in priced]:
        names = ", ".join(sorted({*map(safe_line, versions)}))
        count = counted_noun(len(versions), "bridged version")
        problem = (
            f"the price of {names} in your list is not used for {count}, which may get another"
        )
        hint = "pass bridged=True to value an asset and its bridged versions at one price"
        warn_once(f"{problem} price; {hint}", PricesWarning)


def _warn_about_unmatched_prices(
    loaded: LoadedPrices,
    position_by_key: Mapping[PriceKey, int],
    prices: Floats,
    keys: Sequence[Any],
    by_asset: TokensByAsset | None,
    times: pd.Series | None,
) -> None:
    held, priced, has_unlisted = {*keys}, {name for name, _ in position_by_key}, False
    if by_asset is not None:
        assets = {name for name in priced if isinstance(name, str)}
        has_unlisted = not assets <= by_asset.keys()
        priced.update(token for name in assets for token in by_asset.get(name, ()))
    first = next((key for key in keys if key and key[0]), None)  # not an unknown token
    matches_nothing = np.isnan(prices).all() and (times is None or priced.isdisjoint(held))
    if first and matches_nothing and not has_unlisted:
        by = f"symbol, spelled as in the holdings, such as {safe_line(str(first))!r}"
        if isinstance(first, tuple):
            by = f"blockchain and contract (None for a native coin), such as {token_repr(first)}, "
            by += "or by asset, such as 'USDC'"
        count = counted_noun(len(position_by_key), "price")
        message = f"no price matches a token in these holdings ({count} given)"
        notify(f"{message}: pass prices by {by}", PricesWarning)
        return
    if len(prices):
        _warn_with_list_of_unmatched_prices(loaded, position_by_key, held, by_asset)
    if times is not None:
        is_valued = pd.Series(prices).notna().groupby(times.array).any()
        unvalued = is_valued.index[~is_valued]
        if len(unvalued):
            counted = f"{len(unvalued):,} of {counted_noun(len(is_valued), 'snapshot')}"
            verb = "has" if len(unvalued) == 1 else "have"
            message = f"{counted} {verb} no value, because there are no prices for the day"
            notify(f"{message}; the first is from {unvalued[0]:%Y-%m-%d}", PricesWarning)


def _warn_with_list_of_unmatched_prices(
    loaded: LoadedPrices,
    position_by_key: Mapping[PriceKey, int],
    held: set[Any] | None,
    by_asset: TokensByAsset | None,
) -> None:
    lines = []
    names = [name for name, _ in keys_and_prices(loaded.table, by_symbol=by_asset is None)]
    for (key, _), position in position_by_key.items():
        tokens = [key] if by_asset is None or isinstance(key, tuple) else by_asset.get(key)
        if tokens is None:
            text = f"{safe_line(names[position])!r} is not a known asset"
        elif held is None or not loaded.file or any(token in held for token in tokens):
            continue
        elif isinstance(key, str):
            text = repr(safe_line(names[position]))
        else:
            chains = sorted(chain for chain, contract in held if contract and contract == key[1])
            held_on = ", ".join(map(safe_line, chains))
            elsewhere = f", but this contract is held on {held_on}" if chains else ""
            text = f"{token_repr(key)}{elsewhere}"
        lines.append(f"  {loaded.line_or_position(position)}: {text}")
    if lines:
        fault = "no token in these holdings" if held is not None else "no known asset"
        verb = "matches" if len(lines) == 1 else "match"
        counted = f"{len(lines):,} of {counted_noun(len(position_by_key), 'price')} {verb}"
        more = len(lines) - _MAX_LINES
        message = [f"{counted} {fault} ({loaded.numbering_note}):", *lines[:_MAX_LINES]]
        message += [f"  … and {more:,} more"] if more > 0 else []
        notify("\n".join(message), PricesWarning)


def unusable_prices(prices: Floats, rows: Codes) -> list[tuple[int, str, str]]:
    """Return the row number, the text and the problem of each unusable price."""
    positions = np.flatnonzero((prices < 0) | np.isinf(prices))
    return [
        (int(row), str(price), f"it is {unusable_price_reason(price)}")
        for row, price in zip(rows[positions], prices[positions], strict=True)
    ]


def raise_for_unusable_service_prices(problems: list[tuple[int, str, str]]) -> None:
    """Raise an error if prices of the service can't be used."""
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
    dated = times is not None
    if isinstance(prices, str | Path):
        path = Path(prices).expanduser()
        if not path.is_dir():
            table, lines = read_price_file(path)
            normalized = normalize_price_column_names(table, dated=dated)
            return LoadedPrices(normalized, dated, safe_line(path.name), lines)
        prices = ParquetPrices(path)
    if not isinstance(prices, Mapping | pd.Series | pd.DataFrame):
        known = [index for index, key in enumerate(tokens.keys) if not is_unknown(key)]
        requested = pd.DataFrame(token_columns(holdings, tokens, np.array(known, np.intp)))
        if not dated and isinstance(prices, PriceSource):
            prices = prices.prices(requested)
        elif times is not None and isinstance(prices, PriceHistorySource):
            bounds = [time for time in (times.min(), times.max()) if not pd.isna(time)]
            bounds = bounds or [pd.Timestamp.now("UTC")]
            prices = prices.price_history(requested, bounds[0].date(), bounds[-1].date())
    return LoadedPrices(normalize_price_column_names(prices, dated=dated), dated)
