"""``df.wf.plot``: the charts, which load plotly when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.accessor.composition import CompositionPlots

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.accessor.comparison import Colors
    from walletframe.charts import Figure
    from walletframe.frames import AssetsLike, By, FetchLike, TokenKey, TokenLike


class PlotAccessor(CompositionPlots):
    """Charts of a DataFrame with the columns of holdings.

    They draw the column ``value`` if there is one, the amounts of one token if you name it, and
    otherwise counts or each token's shares: amounts of different tokens are never added.

    Parameters
    ----------
    holdings : DataFrame
        The ``holdings`` of a fetch, or some rows of it.
    wallets : DataFrame, optional
        The ``wallets`` of the same fetch.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"token_blockchain": ["ETH"], "token_address": [None]})
    >>> frame.wf.plot.token_colors()
    {('ETH', None): '#CC6677'}
    """

    def __init__(self, holdings: pd.DataFrame, wallets: pd.DataFrame | None = None) -> None:
        self._data, self._wallets = holdings, wallets

    def lorenz(self, token: TokenLike, *, wallets: FetchLike | None = None) -> Figure:
        """Draw the Lorenz curve of one token, with its Gini coefficient.

        Parameters
        ----------
        token : str or (str, str or None)
            An unambiguous symbol, or (blockchain, contract), None for a native coin.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch, to note how complete and how old the data is.
            ``details.wf`` has them.

        Returns
        -------
        plotly.graph_objects.Figure
            The curve, of at most 200 points, with exact amounts in the hover, and the diagonal on
            which all would hold the same; if no amount is above 0, no trace, but a note why.

        Raises
        ------
        ArgumentError, ColumnsError, AmountError
            If `wallets` is something else, a column is missing, or ``amount`` holds no amounts.
        UnknownTokenError, AmbiguousTokenError
            If no row has the token, or several tokens share the symbol.

        Notes
        -----
        The curve is of the wallets that hold more than 0; one wallet is not one person. Of n
        wallets with amounts x in ascending order the Gini coefficient is
        ``(n + 1 - 2 * sum(cumsum(x)) / sum(x)) / n``: 0 where all hold the same, ``1 - 1/n`` at
        most. It is that of ``df.wf.concentration``, which names its source.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xb"], "symbol": "ETH",
        ... "token_blockchain": "ETH", "token_address": None, "amount": pd.array([1, 3], "amount")})
        >>> frame.wf.plot.lorenz("ETH").data[0].y
        (0.0, 0.25, 1.0)
        """
        from walletframe.charts import lorenz

        return lorenz(self._data, token, wallets=self._asked(wallets))

    def timeline(  # noqa: PLR0913  each is one choice of whoever draws it
        self,
        *,
        by: By = "token",
        token: TokenLike | None = None,
        asset: TokenLike | None = None,
        top_tokens: int = 8,
        wallets: FetchLike | None = None,
        assets: AssetsLike | None = None,
        bridged: bool = False,
        colors: Colors | None = None,
    ) -> Figure:
        """Draw snapshots of holdings along time: stacked by token, or a line for each owner.

        The frame has the rows of several fetches, and a column ``snapshot``, datetime64[us, UTC].
        Heights show ``value`` if there is such a column (float64, with an optional ``currency``),
        else numbers of balances.

        Parameters
        ----------
        by : str or list of str, default "token"
            ``"token"`` or ``"asset"`` for stacked bars; any other names that `bar` takes, such as
            ``"owner"`` or ``"wallet"``, for a line for each group.
        token, asset : str or (str, str or None), optional
            Draw the amounts of one, as in `bar`.
        top_tokens : int, default 8
            The most tokens, assets or lines with a colour of their own, up to 20; the rest are
            drawn as Other.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetches, with a column ``snapshot``. Then snapshots with
            failed wallets are marked, wholly unknown snapshots are not drawn as 0, and out-of-date
            answers are left out; with a token, only wallets that could hold it count. A line has a
            gap where nothing is known of its group, and a point that stands alone where less is
            known than at other times. ``details.wf`` has them.
        assets, bridged : optional
            By asset, as in `bar`.
        colors : mapping of (str, str or None) to str, optional
            Colours of tokens, hex or CSS names, as from `token_colors`.

        Returns
        -------
        plotly.graph_objects.Figure
            One trace for each token, the largest first, with exact amounts in the hover; a line has
            two or three; with `wallets`, one more of the marks, if there are any; none, but a note
            why, if nothing is above 0. At most 200 snapshots, evenly chosen. Times are in UTC.

        Raises
        ------
        ArgumentError, UnknownWalletError, SettingsError
            If `by`, `wallets` or `colors` is something else, `top_tokens` is out of range, or
            `wallets` lacks the wallet of a row, or has several owners of one wallet.
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
        >>> frame["snapshot"] = pd.Timestamp("2026-01-31", tz="UTC")
        >>> frame.wf.plot.timeline(token="ETH").data[0].y
        (4.0,)
        """
        from walletframe.charts import timeline

        return timeline(
            self._data,
            by=by,
            token=token,
            asset=asset,
            top_tokens=top_tokens,
            wallets=self._asked(wallets),
            assets=assets,
            bridged=bridged,
            colors=colors,
        )

    def waterfall(
        self,
        *,
        token: TokenLike | None = None,
        asset: str | None = None,
        top: int = 20,
        wallets: FetchLike | None = None,
    ) -> Figure:
        """Draw what changed of one token or asset, as `history.compare` says it.

        Parameters
        ----------
        token : str or (str, str or None), optional
            Which one: an unambiguous symbol, or (blockchain, contract), None if native; needed
            where there are changes of several.
        asset : str, optional
            Of changes by asset: which one.
        top : int, default 20
            The most bars, up to 100: the largest changes; the rest are drawn as Other.
        wallets : DataFrame or WalletDetails, optional
            One of the two fetches, whose column ``name``, if any, names the wallets.

        Returns
        -------
        plotly.graph_objects.Figure
            One trace with a bar for each wallet, or what ``by=`` added up, and one for all
            together, with exact amounts in the hover; none, but a note why, if nothing is known.

        Raises
        ------
        SettingsError
            If there are several tokens or assets and none is named, or `top` is out of range.
        ColumnsError
            If a column of changes is missing: holdings have none.
        UnknownTokenError, AmbiguousTokenError
            If no row has the token, or several tokens share the symbol.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> changes = pd.DataFrame({"owner": ["Ada", "Bo"], "symbol": "ETH", "change": "increased",
        ...     "token_address": None, "token_blockchain": "ETH", "before": 0,
        ...     "difference": pd.array(["1.5", "2"], dtype="amount")})
        >>> changes.wf.plot.waterfall().data[0].x
        (2.0, 1.5, 0)
        """
        from walletframe.charts import waterfall

        return waterfall(self._data, token=token, asset=asset, top=top, wallets=wallets)

    def token_colors(self) -> dict[TokenKey, str]:
        """Choose a colour for each token, to be kept while the view changes.

        Make it once, of all holdings, and give it to charts of some of them as ``colors=``.

        Returns
        -------
        dict of (str, str or None) to str
            The colour, as ``#RRGGBB``, of each token (blockchain, contract), the largest first: by
            value where there is one, else by the number of rows. The first nine differ, then the
            colours begin anew; empty for no rows.

        Raises
        ------
        ColumnsError
            If ``token_blockchain`` or ``token_address`` is missing.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"token_blockchain": ["ETH"], "token_address": [None]})
        >>> frame.wf.plot.token_colors()
        {('ETH', None): '#CC6677'}
        """
        from walletframe.charts import token_colors

        return token_colors(self._data)
