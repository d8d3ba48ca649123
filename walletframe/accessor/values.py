"""What holdings are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.analysis.valuation import PricesLike


class ValuesAccessor:
    """What a DataFrame with the columns of holdings is worth."""

    _data: pd.DataFrame

    def value(
        self,
        prices: PricesLike | None = None,
        *,
        currency: str | None = None,
        by_symbol: bool = False,
    ) -> pd.DataFrame:
        """Value each balance.

        Parameters
        ----------
        prices : mapping, Series, DataFrame, str, Path or PriceSource, optional
            The price of one unit of each token: a mapping of (blockchain, contract) to a number;
            a Series with these two as its index; a DataFrame or a ``.csv`` or ``.parquet`` file
            with ``token_blockchain``, ``token_address``, ``price`` and perhaps ``currency``; or
            a source. Without it, the service's own prices in the column ``price``.
        currency : str, optional
            What the prices are in; the service names none for its own.
        by_symbol : bool, default False
            Take prices by symbol instead; refused where several tokens share one of them.

        Returns
        -------
        DataFrame
            All rows and columns, and ``unit_price``, ``value`` (float64; NaN where amount or
            price is unknown, never 0 for that) and ``currency``.

        Raises
        ------
        PricesError
            Where prices can't be used, naming all bad ones with their positions.
        AmbiguousTokenError
            By symbol, where several tokens share one that has a price.
        ColumnsError
            Where a column is missing.
        AmountError
            Where the column ``amount`` holds no amounts.

        Warns
        -----
        PricesWarning
            Where none of the prices is of a token that is held.

        Examples
        --------
        >>> import walletframe
        >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
        ...     wallets, holdings = client.fetch(["NEAR.alice.near"])
        >>> holdings.wf.value({("NEAR", None): 3}, currency="USD").currency.unique().tolist()
        ['USD']
        """
        from walletframe.analysis import value  # noqa: PLC0415 - loads pyarrow.compute

        return value(self._data, prices, currency=currency, by_symbol=by_symbol)
