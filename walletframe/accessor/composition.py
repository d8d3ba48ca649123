"""Charts of what wallets are made of: areas, rings, bars and slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from walletframe.charts import Figure
    from walletframe.frames import FetchLike, TokenKey, TokenLike, WalletLike

    Colors = Mapping[TokenKey, str]


class CompositionPlots:
    """What holdings are made of: blockchains, wallets and tokens as parts of a whole."""

    _data: pd.DataFrame

    def treemap(
        self,
        *,
        token: TokenLike | None = None,
        top: int = 250,
        wallets: FetchLike | None = None,
        colors: Colors | None = None,
    ) -> Figure:
        """Draw holdings as nested rectangles: blockchains, wallets, tokens.

        The areas are values where there is a column ``value`` (float64, with ``currency`` if
        wanted), else numbers of balances.

        Parameters
        ----------
        token : str or (str, str or None), optional
            One token, whose amounts are then the areas: (blockchain, contract), None for a
            native coin; or a symbol that one token alone has.
        top : int, default 250
            The most rectangles, up to 500, for that is what a browser's time goes into. Where all
            are too many, the largest wallets are drawn alone, and the others of each blockchain
            together, what they hold of a token added up; the rest are drawn as Other.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch, for a line on how complete and how old it is.
        colors : mapping of (str, str or None) to str, optional
            Colours of tokens, as from `token_colors`: hex or CSS names.

        Returns
        -------
        plotly.graph_objects.Figure
            One trace, with exact amounts in the hover; none, and the reason, where nothing is
            above 0.

        Raises
        ------
        ArgumentError
            Where `wallets` is something else.
        ColumnsError, AmountError
            Where a column is missing, or ``amount`` holds no amounts.
        PricesError
            Where values are in more than one currency.
        UnknownTokenError, AmbiguousTokenError
            Where no row has the token, or several tokens share the symbol.
        SettingsError
            Where `top` is out of range, or `colors` has no tokens or no colours.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"blockchain": "NEAR", "address": ["alice.near", "bob.near"],
        ...     "symbol": "NEAR", "token_blockchain": "NEAR", "token_address": None,
        ...     "amount": pd.array(["1", "3"], dtype="amount")})
        >>> len(frame.wf.plot.treemap().data)
        1
        """
        from walletframe.charts import treemap

        return treemap(self._data, token=token, top=top, wallets=wallets, colors=colors)

    def sunburst(
        self,
        *,
        token: TokenLike | None = None,
        top: int = 250,
        wallets: FetchLike | None = None,
        colors: Colors | None = None,
    ) -> Figure:
        """Draw holdings as rings: blockchains inside, around them wallets, outside the tokens.

        The angles are values where there is a column ``value`` (float64, with ``currency`` if
        wanted), else numbers of balances.

        Parameters
        ----------
        token : str or (str, str or None), optional
            One token, whose amounts are then the angles: (blockchain, contract), None for a
            native coin; or a symbol that one token alone has.
        top : int, default 250
            The most pieces, up to 300, for that is what a browser's time goes into. Where all
            are too many, the largest wallets are drawn alone, and the others of each blockchain
            together, what they hold of a token added up; the rest are drawn as Other.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch, for a line on how complete and how old it is.
        colors : mapping of (str, str or None) to str, optional
            Colours of tokens, as from `token_colors`: hex or CSS names.

        Returns
        -------
        plotly.graph_objects.Figure
            One trace, with exact amounts in the hover; none, and the reason, where nothing is
            above 0.

        Raises
        ------
        ArgumentError
            Where `wallets` is something else.
        ColumnsError, AmountError
            Where a column is missing, or ``amount`` holds no amounts.
        PricesError
            Where values are in more than one currency.
        UnknownTokenError, AmbiguousTokenError
            Where no row has the token, or several tokens share the symbol.
        SettingsError
            Where `top` is out of range, or `colors` has no tokens or no colours.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"blockchain": "NEAR", "address": ["alice.near", "bob.near"],
        ...     "symbol": "NEAR", "token_blockchain": "NEAR", "token_address": None,
        ...     "amount": pd.array(["1", "3"], dtype="amount")})
        >>> len(frame.wf.plot.sunburst().data)
        1
        """
        from walletframe.charts import sunburst

        return sunburst(self._data, token=token, top=top, wallets=wallets, colors=colors)

    def bar(
        self,
        *,
        by: Literal["wallet", "blockchain"] = "wallet",
        token: TokenLike | None = None,
        top: int = 20,
        top_tokens: int = 8,
        wallets: FetchLike | None = None,
        colors: Colors | None = None,
    ) -> Figure:
        """Draw a bar for each wallet or blockchain, stacked by token.

        The lengths are values where there is a column ``value`` (float64, with ``currency`` if
        wanted), else numbers of balances.

        Parameters
        ----------
        by : {"wallet", "blockchain"}, default "wallet"
            What has a bar; the blockchain is that of the wallet.
        token : str or (str, str or None), optional
            One token, whose amounts are then the lengths: (blockchain, contract), None for a
            native coin; or a symbol that one token alone has.
        top : int, default 20
            The most bars, up to 200; the rest are Other, which is written, not drawn, where its
            bar would be more than twice as long as the longest.
        top_tokens : int, default 8
            The most tokens with a colour of their own, up to 20, the largest of what is drawn; the
            rest are drawn as Other.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch, for a line on how complete and how old it is.
        colors : mapping of (str, str or None) to str, optional
            Colours of tokens, as from `token_colors`: hex or CSS names.

        Returns
        -------
        plotly.graph_objects.Figure
            One trace for each token, the largest first, with exact amounts in the hover; none,
            and the reason, where nothing is above 0.

        Raises
        ------
        ArgumentError
            Where `wallets` is something else.
        ColumnsError, AmountError
            Where a column is missing, or ``amount`` holds no amounts.
        PricesError
            Where values are in more than one currency.
        UnknownTokenError, AmbiguousTokenError
            Where no row has the token, or several tokens share the symbol.
        SettingsError
            Where `by`, `top` or `top_tokens` is none of these, or `colors` has no tokens or no
            colours.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"blockchain": "NEAR", "address": ["alice.near", "bob.near"],
        ...     "symbol": "NEAR", "token_blockchain": "NEAR", "token_address": None,
        ...     "amount": pd.array(["1", "3"], dtype="amount")})
        >>> list(frame.wf.plot.bar().data[0].x)
        [1.0, 1.0]
        """
        from walletframe.charts import bar

        return bar(
            self._data,
            by=by,
            token=token,
            top=top,
            top_tokens=top_tokens,
            wallets=wallets,
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
        """Draw what one wallet holds as slices.

        The slices are values where there is a column ``value`` (float64, with ``currency`` if
        wanted), else of one size, since amounts of different tokens can't be compared.

        Parameters
        ----------
        wallet : str, (str, str) or WalletAddress
            ``"ETH.0x…"`` or (blockchain, address).
        top : int, default 8
            The most tokens, up to 20; the rest are drawn as Other.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch, for a line on how old the wallet's answer is, and to
            say why it has no rows where it has none.
        colors : mapping of (str, str or None) to str, optional
            Colours of tokens, as from `token_colors`: hex or CSS names.

        Returns
        -------
        plotly.graph_objects.Figure
            One trace, the largest slice first, with exact amounts in the hover; none, and the
            reason, where nothing is above 0.

        Raises
        ------
        ArgumentError
            Where `wallets` is something else.
        ColumnsError, AmountError
            Where a column is missing, or ``amount`` holds no amounts.
        PricesError
            Where values are in more than one currency.
        AddressError
            Where the wallet can't be read.
        UnknownWalletError
            Where the wallet has no rows, and `wallets` does not say why.
        SettingsError
            Where `top` is out of range, or `colors` has no tokens or no colours.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"blockchain": "NEAR", "address": ["alice.near", "bob.near"],
        ...     "symbol": "NEAR", "token_blockchain": "NEAR", "token_address": None,
        ...     "amount": pd.array(["1", "3"], dtype="amount")})
        >>> frame.wf.plot.pie("NEAR.alice.near").data[0].labels
        ('NEAR',)
        """
        from walletframe.charts import pie

        return pie(self._data, wallet, top=top, wallets=wallets, colors=colors)
