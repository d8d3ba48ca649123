"""Tables of holdings in partitions: small ones, of which only parts travel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.accessor.given import note_alone
from walletframe.analysis import (
    concentration_on_disk,
    pivot_on_disk,
    share_on_disk,
    totals_of_blocks,
)
from walletframe.dask.holdings import holdings_of, holdings_of_fetch

if TYPE_CHECKING:
    import dask.dataframe as dd
    import pandas as pd

    from walletframe.analysis import By
    from walletframe.dask.holdings import ClusterHoldings, WalletsLike
    from walletframe.frames import AssetsLike, TokenLike


class ClusterTables:
    """Methods that add up, or measure."""

    _data: dd.DataFrame
    _wallets: dd.DataFrame | None

    def totals(
        self,
        by: By = "token",
        *,
        wallets: WalletsLike | None = None,
        assets: AssetsLike | None = None,
        bridged: bool = False,
    ) -> pd.DataFrame:
        """Add up all balances, as ``details.wf.totals`` does.

        Parameters
        ----------
        by : str or list of str, default "token"
            As in ``details.wf.totals``.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch, in memory or in partitions: then failed wallets are
            counted.
        assets, bridged : optional
            By asset, as there.

        Returns
        -------
        pandas.DataFrame
            The same table. The graph is computed twice: once for the wallets of each partition,
            once for what each adds up to, which is merged here as it comes. By symbol it is
            computed three times. ``persist()`` what takes long to make. Of what `open_wallets`
            returns, the wallets are those of the other frame, whose graph is computed instead.

        Raises
        ------
        ArgumentError
            If rows of a wallet are in several partitions.
        WalletframeError
            As ``details.wf.totals`` raises it.

        Warns
        -----
        InputWarning
            Once in a session, if there are no `wallets`: how complete that is can't be told.

        Examples
        --------
        >>> import dask.dataframe as dd, walletframe as wf, walletframe.dask
        >>> with wf.sandbox() as service, service.client(cache=False) as client:
        ...     wallets, holdings = client.fetch(["NEAR.alice.near"])
        >>> dd.from_pandas(holdings, npartitions=1).wf.totals("wallet", wallets=wallets).address
        0    alice.near
        Name: address, dtype: str
        """
        return totals_of_blocks(self._held(wallets, by), by, assets=assets, bridged=bridged)

    def share(
        self,
        token: TokenLike | None = None,
        *,
        asset: TokenLike | None = None,
        by: By = "wallet",
        wallets: WalletsLike | None = None,
        assets: AssetsLike | None = None,
        bridged: bool = False,
    ) -> pd.DataFrame:
        """Return each wallet's share of one token or asset, as ``details.wf.share`` does.

        Parameters
        ----------
        token : str or (str, str or None), optional
            An unambiguous symbol, or (blockchain, contract), None for a native coin.
        asset : str or (str, str or None), optional
            In its place an asset.
        by : str or list of str, default "wallet"
            Whose share.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch, as in `totals`.
        assets, bridged : optional
            With an asset, as in ``details.wf.totals``.

        Returns
        -------
        pandas.DataFrame
            The same table. The graph is computed three times: for the wallets of each partition,
            for the names of tokens, and for the balances of this one, which come here.

        Raises
        ------
        ArgumentError
            If rows of a wallet are in several partitions.
        WalletframeError
            As ``details.wf.share`` raises it.

        Warns
        -----
        InputWarning
            Once in a session, if there are no `wallets`: how complete that is can't be told.

        Examples
        --------
        >>> import dask.dataframe as dd, walletframe as wf, walletframe.dask
        >>> with wf.sandbox() as service, service.client(cache=False) as client:
        ...     wallets, holdings = client.fetch(["NEAR.alice.near"])
        >>> parts = dd.from_pandas(holdings, npartitions=1)
        >>> parts.wf.share(("NEAR", None), wallets=wallets)["share"].tolist()
        [1.0]
        """
        held = self._held(wallets, by)
        return share_on_disk(held, token, asset=asset, by=by, assets=assets, bridged=bridged)

    def concentration(  # noqa: PLR0913 - what a caller may wish
        self,
        token: TokenLike | None = None,
        *,
        asset: TokenLike | None = None,
        top: int = 10,
        by: By = "wallet",
        wallets: WalletsLike | None = None,
        assets: AssetsLike | None = None,
        bridged: bool = False,
    ) -> pd.DataFrame:
        """Measure how unequally tokens are distributed, as ``details.wf.concentration`` does.

        Parameters
        ----------
        token : str or (str, str or None), optional
            An unambiguous symbol, or (blockchain, contract), None for a native coin. Default: all.
        asset : str or (str, str or None), optional
            In its place an asset.
        top : int, default 10
            The number of largest holders that ``top_share`` adds up.
        by : str or list of str, default "wallet"
            What counts as one holder.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch, as in `totals`.
        assets, bridged : optional
            With an asset, as in ``details.wf.totals``.

        Returns
        -------
        pandas.DataFrame
            The same table. The graph is computed four times: for the wallets of each partition, for
            the names of tokens, for their totals, and to bring the balances of a token together
            on a worker.

        Raises
        ------
        ArgumentError
            If rows of a wallet are in several partitions.
        WalletframeError
            As ``details.wf.concentration`` raises it.

        Warns
        -----
        InputWarning
            Once in a session, if there are no `wallets`: how complete that is can't be told.

        Examples
        --------
        >>> import dask.dataframe as dd, walletframe as wf, walletframe.dask
        >>> with wf.sandbox() as service, service.client(cache=False) as client:
        ...     wallets, holdings = client.fetch(["NEAR.alice.near"])
        >>> parts = dd.from_pandas(holdings, npartitions=1)
        >>> parts.wf.concentration(("NEAR", None), wallets=wallets)["gini"].tolist()
        [0.0]
        """
        return concentration_on_disk(
            self._held(wallets, by),
            token,
            asset=asset,
            top=top,
            by=by,
            assets=assets,
            bridged=bridged,
        )

    def pivot(
        self,
        n: int | None = 50,
        *,
        by: By = "wallet",
        wallets: WalletsLike | None = None,
        assets: AssetsLike | None = None,
        bridged: bool = False,
    ) -> pd.DataFrame:
        """Return a table of wallets by tokens, as ``details.wf.pivot`` does.

        Parameters
        ----------
        n : int or None, default 50
            How many tokens, the foremost; None for all.
        by : str or list of str, default "wallet"
            Rows: wallet, blockchain, what `wallets` keeps, or asset with one of them.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch, as in `totals`.
        assets, bridged : optional
            By asset, as in ``details.wf.totals``.

        Returns
        -------
        pandas.DataFrame
            The same table. The graph is computed four times: for the wallets of each partition, for
            the names of tokens, for their totals, and for the balances of those chosen, which come
            here.

        Raises
        ------
        ArgumentError
            If rows of a wallet are in several partitions.
        WalletframeError
            As ``details.wf.pivot`` raises it.

        Warns
        -----
        InputWarning
            Once in a session, if there are no `wallets`: how complete that is can't be told.

        Examples
        --------
        >>> import dask.dataframe as dd, walletframe as wf, walletframe.dask
        >>> with wf.sandbox() as service, service.client(cache=False) as client:
        ...     wallets, holdings = client.fetch(["NEAR.alice.near"])
        >>> dd.from_pandas(holdings, npartitions=1).wf.pivot(3, wallets=wallets).shape
        (1, 3)
        """
        held = self._held(wallets, by)
        return pivot_on_disk(held, n, by=by, assets=assets, bridged=bridged)

    def _held(self, wallets: WalletsLike | None, by: By) -> ClusterHoldings:
        note_alone(wallets, self._wallets)
        if wallets is None and self._wallets is not None:
            return holdings_of_fetch(self._data, self._wallets, by)
        return holdings_of(self._data, wallets, by)
