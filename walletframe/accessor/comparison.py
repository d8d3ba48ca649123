"""Bar, pie and heatmap of holdings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from walletframe.charts import Figure
    from walletframe.frames import AssetsLike, By, FetchLike, TokenKey, TokenLike, WalletLike

    Colors = Mapping[TokenKey, str]


class ComparisonPlots:
    """Charts of how much each wallet, or each owner, has of what."""

    _data: pd.DataFrame
    _wallets: pd.DataFrame | None

    def _asked(self, wallets: FetchLike | None) -> FetchLike | None:
        """Return the wallets that a chart is of: those the caller names, else of the fetch."""
        return self._wallets if wallets is None else wallets

    def bar(  # noqa: PLR0913  each is one choice of whoever draws it
        self,
        *,
        by: By = "wallet",
        token: TokenLike | None = None,
        asset: TokenLike | None = None,
        top: int = 20,
        top_tokens: int = 8,
        wallets: FetchLike | None = None,
        assets: AssetsLike | None = None,
        bridged: bool = False,
        colors: Colors | None = None,
    ) -> Figure:
        """Draw a bar for each wallet, owner or whatever you know, stacked by token or asset.

        Lengths show ``value`` if there is such a column (float64, with an optional ``currency``),
        else numbers of balances.

        Parameters
        ----------
        by : str or list of str, default "wallet"
            What a bar stands for: ``"wallet"``, ``"blockchain"`` (that of the wallet), a column of
            yours that `wallets` kept, such as ``"owner"``, any column of these holdings, or several
            of them. ``"asset"`` behind others makes the colours assets, as `totals` knows them;
            alone, or ``"token"`` alone, it makes a bar of each. What has no label is a group of its
            own, such as "no owner".
        token : str or (str, str or None), optional
            Draw its amounts: an unambiguous symbol, or (blockchain, contract), None if native.
        asset : str or (str, str or None), optional
            Draw its amounts, on all blockchains: an asset that `walletframe.assets` lists, or one
            of its contracts.
        top : int, default 20
            The most bars, up to 200; the rest are Other, given as text if its bar would be more
            than twice as long as the longest.
        top_tokens : int, default 8
            The most tokens or assets with a colour of their own, up to 20; the rest are drawn as
            Other.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch, to note how complete and how old the data is: of each
            group, too. ``details.wf`` has them.
        assets : DataFrame, str or Path, optional
            By asset: contracts of your own, as `walletframe.assets` takes them.
        bridged : bool, default False
            By asset: whether twins count, such as USDC.e and WETH.
        colors : mapping of (str, str or None) to str, optional
            Colours of tokens, hex or CSS names, as from `token_colors`. An asset has that of its
            largest token.

        Returns
        -------
        plotly.graph_objects.Figure
            One trace for each token or asset, the largest first, with exact amounts in the hover,
            and how many wallets of an owner are known; if nothing is above 0, no trace, but a note
            why.

        Raises
        ------
        ArgumentError, UnknownWalletError, SettingsError
            If `by`, `wallets` or `colors` is something else, `top` or `top_tokens` out of range,
            or `wallets` lacks the wallet of a row.
        ColumnsError, AmountError, PricesError, TokenListError, OSError
            If a column is missing, ``amount`` holds no amounts, values have several currencies, or
            `assets` can't be used.
        UnknownTokenError, AmbiguousTokenError
            If no row has the token or asset, or several tokens share the symbol.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xb"], "symbol": "ETH",
        ... "token_blockchain": "ETH", "token_address": None, "amount": pd.array([1, 3], "amount")})
        >>> list(frame.wf.plot.bar().data[0].x)
        [1.0, 1.0]
        """
        from walletframe.charts import bar

        return bar(
            self._data,
            by=by,
            token=token,
            asset=asset,
            top=top,
            top_tokens=top_tokens,
            wallets=self._asked(wallets),
            assets=assets,
            bridged=bridged,
            colors=colors,
        )

    def pie(
        self,
        wallet: WalletLike,
        *,
        top: int = 8,
        wallets: FetchLike | None = None,
        colors: Colors | None = None,
    ) -> Figure:
        """Draw one wallet's holdings as a pie.

        Slices show ``value`` if there is such a column (float64, with an optional ``currency``).
        Otherwise all have one size, since amounts of different tokens can't be compared.

        Parameters
        ----------
        wallet : str, (str, str) or WalletAddress
            ``"ETH.0x…"`` or (blockchain, address).
        top : int, default 8
            The most tokens, up to 20; the rest are drawn as Other.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch, to note how old the answer is, or why it has no rows.
            ``details.wf`` has them.
        colors : mapping of (str, str or None) to str, optional
            Colours of tokens, hex or CSS names, as from `token_colors`.

        Returns
        -------
        plotly.graph_objects.Figure
            One trace, the largest slice first, with exact amounts in the hover; if nothing is above
            0, no trace, but a note why.

        Raises
        ------
        ArgumentError, SettingsError
            If `wallets` or `colors` is something else, or `top` is out of range.
        ColumnsError, AmountError, PricesError
            If a column is missing, ``amount`` holds no amounts, or values have several currencies.
        AddressError, UnknownWalletError
            If the wallet can't be read, or has no rows, and `wallets` does not say why.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xb"], "symbol": "ETH",
        ... "token_blockchain": "ETH", "token_address": None, "amount": pd.array([1, 3], "amount")})
        >>> frame.wf.plot.pie("ETH.0xa").data[0].labels
        ('ETH',)
        """
        from walletframe.charts import pie

        return pie(self._data, wallet, top=top, wallets=self._asked(wallets), colors=colors)

    def heatmap(
        self,
        *,
        by: By = "wallet",
        top: int = 30,
        top_tokens: int = 20,
        wallets: FetchLike | None = None,
        assets: AssetsLike | None = None,
        bridged: bool = False,
    ) -> Figure:
        """Draw a heatmap of wallets, owners or whatever you know, by tokens or assets.

        Colours show ``value`` if there is such a column (float64, with an optional ``currency``),
        else the row's share of all of the token in the frame, on a logarithmic scale. Wallets, and
        tokens, of one blockchain stand together.

        Parameters
        ----------
        by : str or list of str, default "wallet"
            What a row stands for: ``"wallet"``, ``"blockchain"`` (that of the wallet), a column of
            yours that `wallets` kept, such as ``"owner"``, any column of these holdings, or several
            of them. With ``"asset"`` among them the columns are assets, as `totals` knows them.
            What has no label is a group of its own, such as "no owner".
        top : int, default 30
            The most rows, up to 200; the rest are drawn as Other.
        top_tokens : int, default 20
            The most tokens or assets, up to 200: those with the largest value, or the most holders,
            among the rows drawn. With values, the rest are drawn as Other.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch, to note how complete and how old the data is: of each
            group, too. ``details.wf`` has them.
        assets, bridged : optional
            By asset, as in `bar`.

        Returns
        -------
        plotly.graph_objects.Figure
            One trace, with exact amounts in the hover; a cell is empty if its row holds none of the
            token. Other gets a second trace, in grey, if it holds more of a token than any other
            row. If nothing is above 0, no trace, but a note why.

        Raises
        ------
        ArgumentError, UnknownWalletError, SettingsError
            If `by` or `wallets` is something else, `top` or `top_tokens` is out of range, or
            `wallets` lacks the wallet of a row.
        ColumnsError, AmountError, PricesError, TokenListError, OSError
            If a column is missing, ``amount`` holds no amounts, values have several currencies, or
            `assets` can't be used.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xb"], "symbol": "ETH",
        ... "token_blockchain": "ETH", "token_address": None, "amount": pd.array([1, 3], "amount")})
        >>> len(frame.wf.plot.heatmap().data)
        1
        """
        from walletframe.charts import heatmap

        return heatmap(
            self._data,
            by=by,
            top=top,
            top_tokens=top_tokens,
            wallets=self._asked(wallets),
            assets=assets,
            bridged=bridged,
        )
