"""``df.wf.plot``: one-line delegation to the charts, which load plotly when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from walletframe.analysis.positions import WalletsLike
    from walletframe.charts import Figure
    from walletframe.frames import TokenKey, TokenLike, WalletLike

    Colors = Mapping[TokenKey, str]


class PlotAccessor:
    """Charts of a DataFrame with the columns of holdings.

    They draw values where there is a column ``value``, one token's amounts where one is named, and
    else counts or each token's shares: amounts of different tokens are never added.
    """

    def __init__(self, holdings: pd.DataFrame) -> None:
        self._data = holdings

    def treemap(
        self,
        *,
        token: TokenLike | None = None,
        top: int = 250,
        wallets: WalletsLike | None = None,
        colors: Colors | None = None,
    ) -> Figure:
        """Draw nested rectangles: blockchains, wallets, tokens.

        Parameters
        ----------
        token : str or (str, str or None), optional
            One token, whose amounts are then the areas.
        top : int, default 250
            The most rectangles, up to 500.
        wallets : DataFrame or WalletDetails, optional
            The wallets asked, for lines on how complete and how old it is.
        colors : mapping, optional
            Colours of tokens, as from `token_colors`.

        Returns
        -------
        plotly.graph_objects.Figure
            See `walletframe.charts.treemap`.
        """
        from walletframe.charts import treemap

        return treemap(self._data, token=token, top=top, wallets=wallets, colors=colors)

    def sunburst(
        self,
        *,
        token: TokenLike | None = None,
        top: int = 250,
        wallets: WalletsLike | None = None,
        colors: Colors | None = None,
    ) -> Figure:
        """Draw rings: blockchains inside, around them their wallets, outside the tokens.

        Parameters
        ----------
        token : str or (str, str or None), optional
            One token, whose amounts are then the angles.
        top : int, default 250
            The most pieces, up to 300.
        wallets : DataFrame or WalletDetails, optional
            The wallets asked, for lines on how complete and how old it is.
        colors : mapping, optional
            Colours of tokens, as from `token_colors`.

        Returns
        -------
        plotly.graph_objects.Figure
            See `walletframe.charts.sunburst`.
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
        wallets: WalletsLike | None = None,
        colors: Colors | None = None,
    ) -> Figure:
        """Draw a bar for each wallet or blockchain, stacked by token.

        Parameters
        ----------
        by : {"wallet", "blockchain"}, default "wallet"
            What has a bar.
        token : str or (str, str or None), optional
            One token, whose amounts are then the lengths.
        top : int, default 20
            The most bars, up to 200.
        top_tokens : int, default 8
            The most tokens that are told apart, up to 20.
        wallets : DataFrame or WalletDetails, optional
            The wallets asked, for lines on how complete and how old it is.
        colors : mapping, optional
            Colours of tokens, as from `token_colors`.

        Returns
        -------
        plotly.graph_objects.Figure
            See `walletframe.charts.bar`.
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

    def heatmap(
        self, *, top: int = 30, top_tokens: int = 20, wallets: WalletsLike | None = None
    ) -> Figure:
        """Draw a table of wallets and tokens in colours.

        Parameters
        ----------
        top : int, default 30
            The most wallets, up to 200.
        top_tokens : int, default 20
            The most tokens, up to 200.
        wallets : DataFrame or WalletDetails, optional
            The wallets asked, for lines on how complete and how old it is.

        Returns
        -------
        plotly.graph_objects.Figure
            See `walletframe.charts.heatmap`.
        """
        from walletframe.charts import heatmap

        return heatmap(self._data, top=top, top_tokens=top_tokens, wallets=wallets)

    def pie(
        self,
        wallet: WalletLike,
        *,
        top: int = 8,
        wallets: WalletsLike | None = None,
        colors: Colors | None = None,
    ) -> Figure:
        """Draw what one wallet holds as slices.

        Parameters
        ----------
        wallet : str, (str, str) or WalletAddress
            ``"ETH.0x…"`` or (blockchain, address).
        top : int, default 8
            The most tokens, up to 20.
        wallets : DataFrame or WalletDetails, optional
            The wallets asked, for lines on how complete and how old it is.
        colors : mapping, optional
            Colours of tokens, as from `token_colors`.

        Returns
        -------
        plotly.graph_objects.Figure
            See `walletframe.charts.pie`.
        """
        from walletframe.charts import pie

        return pie(self._data, wallet, top=top, wallets=wallets, colors=colors)

    def lorenz(self, token: TokenLike, *, wallets: WalletsLike | None = None) -> Figure:
        """Draw the Lorenz curve of one token, with its Gini coefficient.

        Parameters
        ----------
        token : str or (str, str or None)
            (blockchain, contract), or a symbol that one token alone has.
        wallets : DataFrame or WalletDetails, optional
            The wallets asked, for lines on how complete and how old it is.

        Returns
        -------
        plotly.graph_objects.Figure
            See `walletframe.charts.lorenz`.
        """
        from walletframe.charts import lorenz

        return lorenz(self._data, token, wallets=wallets)

    def timeline(
        self,
        *,
        token: TokenLike | None = None,
        top_tokens: int = 8,
        wallets: WalletsLike | None = None,
        colors: Colors | None = None,
    ) -> Figure:
        """Draw snapshots along time, stacked by token.

        Parameters
        ----------
        token : str or (str, str or None), optional
            One token, whose amounts are then the heights.
        top_tokens : int, default 8
            The most tokens that are told apart, up to 20.
        wallets : DataFrame or WalletDetails, optional
            The wallets of the snapshots, to mark those in which some failed.
        colors : mapping, optional
            Colours of tokens, as from `token_colors`.

        Returns
        -------
        plotly.graph_objects.Figure
            See `walletframe.charts.timeline`.
        """
        from walletframe.charts import timeline

        return timeline(
            self._data, token=token, top_tokens=top_tokens, wallets=wallets, colors=colors
        )

    def token_colors(self) -> dict[TokenKey, str]:
        """Choose a colour for each token, for charts of some of these rows.

        Returns
        -------
        dict of (str, str or None) to str
            See `walletframe.charts.token_colors`.
        """
        from walletframe.charts import token_colors

        return token_colors(self._data)
