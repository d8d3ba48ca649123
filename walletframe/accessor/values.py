"""What holdings are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from walletframe.accessor.given import Given, RowsT

if TYPE_CHECKING:
    from walletframe.analysis import PricesLike
    from walletframe.frames import AssetsLike


class ValuesAccessor(Given[RowsT]):
    """Values of a DataFrame with the columns of holdings."""

    def value(
        self,
        prices: PricesLike | None = None,
        *,
        currency: str | None = None,
        by_symbol: bool = False,
        assets: AssetsLike | None = None,
        bridged: bool = False,
        at: Literal["snapshot"] | None = None,
    ) -> RowsT:
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
        from walletframe.analysis import value

        valued = value(
            self._data,
            prices,
            currency=currency,
            by_symbol=by_symbol,
            assets=assets,
            bridged=bridged,
            at=at,
        )
        return self._again(valued)
