"""Treemap and sunburst of holdings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.accessor.comparison import ComparisonPlots

if TYPE_CHECKING:
    from walletframe.accessor.comparison import Colors
    from walletframe.charts import Figure
    from walletframe.frames import AssetsLike, By, FetchLike, TokenLike


class CompositionPlots(ComparisonPlots):
    """Charts of blockchains, wallets and tokens as parts of a whole."""

    def treemap(  # noqa: PLR0913  each is one choice of whoever draws it
        self,
        *,
        by: By = ("blockchain", "wallet", "token"),
        token: TokenLike | None = None,
        asset: TokenLike | None = None,
        top: int = 250,
        wallets: FetchLike | None = None,
        assets: AssetsLike | None = None,
        bridged: bool = False,
        colors: Colors | None = None,
    ) -> Figure:
        """Draw holdings as nested rectangles: blockchains, wallets, tokens, or any other path.

        Areas show ``value`` if there is such a column (float64, with an optional ``currency``),
        else numbers of balances.

        Parameters
        ----------
        by : str or list of str, default ("blockchain", "wallet", "token")
            The path, from outside in: the names that `bar` takes, such as ``["owner", "asset"]``.
        token, asset : str or (str, str or None), optional
            Draw the amounts of one, as in `bar`.
        top : int, default 250
            The most rectangles, up to 500, since a browser is slow with more. Of too many, only the
            largest wallets are drawn separately; the others of each blockchain are drawn together,
            added up by token, and the rest as Other. Of other paths the largest groups are drawn,
            and what else is in each as its Other.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch, to note how complete and how old the data is: of each
            group, too. ``details.wf`` has them.
        assets, bridged : optional
            By asset, as in `bar`.
        colors : mapping of (str, str or None) to str, optional
            Colours of tokens, hex or CSS names, as from `token_colors`. An asset has that of its
            largest token.

        Returns
        -------
        plotly.graph_objects.Figure
            One trace, exact amounts in its hover; if nothing is above 0, no trace, but a note why.

        Raises
        ------
        ArgumentError, UnknownWalletError, SettingsError
            If `by`, `wallets` or `colors` is something else, `top` is out of range, or `wallets`
            lacks the wallet of a row.
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
        >>> len(frame.wf.plot.treemap().data)
        1
        """
        from walletframe.charts import treemap

        return treemap(
            self._data,
            by=by,
            token=token,
            asset=asset,
            top=top,
            wallets=self._asked(wallets),
            assets=assets,
            bridged=bridged,
            colors=colors,
        )

    def sunburst(  # noqa: PLR0913  each is one choice of whoever draws it
        self,
        *,
        by: By = ("blockchain", "wallet", "token"),
        token: TokenLike | None = None,
        asset: TokenLike | None = None,
        top: int = 250,
        wallets: FetchLike | None = None,
        assets: AssetsLike | None = None,
        bridged: bool = False,
        colors: Colors | None = None,
    ) -> Figure:
        """Draw holdings as rings: blockchains, wallets, tokens from inside out, or any other path.

        Angles show ``value`` if there is such a column (float64, with an optional ``currency``),
        else numbers of balances.

        Parameters
        ----------
        by : str or list of str, default ("blockchain", "wallet", "token")
            The path, from inside out: the names that `bar` takes, such as ``["owner", "asset"]``.
        token, asset : str or (str, str or None), optional
            Draw the amounts of one, as in `bar`.
        top : int, default 250
            The most pieces, up to 300, since a browser is slow with more. Only what has room for
            its name is drawn separately: the other wallets of each blockchain are drawn together,
            added up by token, and the rest as Other; without an outer ring where most would be.
            Of other paths the largest groups are drawn, and what else is in each as its Other.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch, to note how complete and how old the data is: of each
            group, too. ``details.wf`` has them.
        assets, bridged : optional
            By asset, as in `bar`.
        colors : mapping of (str, str or None) to str, optional
            Colours of tokens, hex or CSS names, as from `token_colors`. An asset has that of its
            largest token.

        Returns
        -------
        plotly.graph_objects.Figure
            One trace, exact amounts in its hover; if nothing is above 0, no trace, but a note why.

        Raises
        ------
        ArgumentError, UnknownWalletError, SettingsError
            If `by`, `wallets` or `colors` is something else, `top` is out of range, or `wallets`
            lacks the wallet of a row.
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
        >>> len(frame.wf.plot.sunburst().data)
        1
        """
        from walletframe.charts import sunburst

        return sunburst(
            self._data,
            by=by,
            token=token,
            asset=asset,
            top=top,
            wallets=self._asked(wallets),
            assets=assets,
            bridged=bridged,
            colors=colors,
        )
