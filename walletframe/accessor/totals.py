"""Totals of holdings, and how they are distributed over wallets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.accessor.given import Given, RowsT

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.analysis import By
    from walletframe.frames import AssetsLike, FetchLike, TokenLike


class TotalsAccessor(Given[RowsT]):
    """Totals and statistics of a DataFrame with the columns of holdings."""

    def totals(
        self,
        by: By = "token",
        *,
        wallets: FetchLike | None = None,
        assets: AssetsLike | None = None,
        bridged: bool = False,
    ) -> pd.DataFrame:
        """Add up by token, asset, wallet, owner or whatever you know, and say how complete that is.

        Amounts of different tokens are never added, but for contracts of the same asset: without
        ``"token"`` or ``"asset"`` in `by` there are counts and, after `value`, values.

        Parameters
        ----------
        by : str or list of str, default "token"
            ``"token"``, ``"asset"``, ``"wallet"``, ``"blockchain"`` (that of the wallet),
            ``"snapshot"``, a column of yours that `wallets` kept, such as ``"owner"``, or any
            column of these holdings. A token is identified by blockchain and contract;
            ``"symbol"`` does the same, but raises if tokens share a symbol. ``"asset"`` puts
            together the contracts that `walletframe.assets` lists as the same asset; any other
            token is an asset of its own. What has no label is a group of its own.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch: then failed wallets are counted. ``details.wf`` has
            them.
        assets : DataFrame, str or Path, optional
            By asset: contracts of your own, as `walletframe.assets` takes them.
        bridged : bool, default False
            By asset: whether twins count, such as USDC.e and WETH.

        Returns
        -------
        DataFrame
            One row for each group: by what is known of wallets in the order of `wallets`, else of
            the first row, then in the order of the first row. Its columns, in this order:

            - ``token_blockchain``, ``token_address`` (NA for a native coin), ``symbol`` (as the
              first row has it), str; by token;
            - ``asset``, str; by asset: its name, or that of a token of its own as in
              `token_labels`, with the contract where it bears the name of an asset;
            - ``blockchain``, ``address``, str; by wallet; ``blockchain``; by blockchain;
            - any other column of `by`, with its dtype (int and bool as those that can be NA);
            - ``amount``, amount; by token or asset: the exact sum of the known amounts, NA where
              none is;
            - ``contracts``, ``blockchains``, Int64; by asset: of how many contracts on how many
              blockchains more than 0 is held;
            - ``tokens``, Int64; by neither: distinct tokens of which more than 0 is held;
            - ``holders``, Int64; not by wallet: distinct wallets that hold more than 0 of anything
              in the group; both NA where there are balances and all amounts are unknown;
            - ``balances``, ``amount_na``, Int64: rows, and those whose amount is unknown;
            - ``value``, float64; behind `value`: the float64 nearest to the sum of the known
              values, NaN where none is;
            - ``currency``, str, and ``unpriced``, Int64; with ``value``: balances of a known
              amount without a value;
            - ``wallets_ok``, ``wallets_stale``, ``wallets_asked``, Int64; with `wallets`: how many
              of the group's wallets (by token: of those on its own blockchain, and on all where
              one holds it; by asset: of those on the blockchains of all its contracts) are known,
              and how many of those as of an out-of-date answer.

            With `wallets`, each wallet (blockchain, owner) asked has a row: NA but for these three
            columns where none of its balances are known; counts and value 0 where it holds nothing,
            with NA for the token, if asked by token too. No rows give no groups.

        Raises
        ------
        ArgumentError, UnknownWalletError, SettingsError
            If `wallets` or `by` is something else, `wallets` lacks the wallet of a row, or `assets`
            or `bridged` is given without ``"asset"``.
        TokenListError, OSError
            If `assets` can't be used.
        ColumnsError, AmountError, PricesError
            If a column is missing, ``amount`` holds no amounts, or values have several currencies.
        AmbiguousTokenError
            By symbol, where several tokens share one: it names their contracts.

        Warns
        -----
        InputWarning
            Once in a session, if there are no `wallets`: how complete that is can't be told.

        Examples
        --------
        >>> import walletframe
        >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
        ...     details = client.fetch(["NEAR.alice.near"])
        >>> details.wf.totals(by="wallet")[["address", "wallets_ok"]]
              address  wallets_ok
        0  alice.near           1
        >>> asked = details.wallets.assign(owner="Alice")
        >>> details.holdings.wf.totals(by="owner", wallets=asked).owner.item()
        'Alice'
        """
        from walletframe.analysis import totals

        asked = self._asked(wallets)
        return totals(self._data, by, wallets=asked, assets=assets, bridged=bridged)

    def share(
        self,
        token: TokenLike | None = None,
        *,
        asset: TokenLike | None = None,
        by: By = "wallet",
        wallets: FetchLike | None = None,
        assets: AssetsLike | None = None,
        bridged: bool = False,
    ) -> pd.DataFrame:
        """Return each wallet's, or owner's, amount of one token or asset, and its share of all.

        Parameters
        ----------
        token : str or (str, str or None), optional
            An unambiguous symbol, or (blockchain, contract), None for a native coin.
        asset : str or (str, str or None), optional
            In its place an asset as in `walletframe.assets`, or a contract of it: all its contracts
            are added up.
        by : str or list of str, default "wallet"
            Whose share: as in `totals`, but for tokens; by ``"owner"`` the wallets of one owner
            are added up, and those without an owner are one group. With ``"asset"`` among them,
            `token` names an asset.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch: then all that could hold the token have a row.
            ``details.wf`` has them.
        assets, bridged : optional
            With an asset, as in `totals`.

        Returns
        -------
        DataFrame
            One row for each wallet, the largest amount first, equal ones in their order, unknown
            ones last: ``blockchain``, ``address``, str, or what else `by` names; ``amount``,
            amount, the exact sum of what is known, 0 where the wallet holds none, NA where it is
            unknown; ``amount_na``, Int64, balances of unknown amount; ``share``, float64 from 0 to
            1, the nearest to the amount over the sum of all, NaN where either is unknown or the sum
            is 0. By wallet the same in each row, else those of the group, Int64: with `asset`
            ``contracts`` and ``blockchains``, of how many contracts on how many blockchains more
            than 0 is held; with `wallets` ``wallets_ok``, ``wallets_stale`` and ``wallets_asked``,
            of how many of these wallets the balances are known, and of how many of those as of an
            answer that is out of date.

        Raises
        ------
        ArgumentError, UnknownWalletError, SettingsError
            If `wallets` or `by` is something else, `wallets` lacks the wallet of a row, neither a
            token nor an asset is given, or both are, or `assets` or `bridged` without an asset.
        UnknownTokenError, AmbiguousTokenError
            If no row has the token or asset, or several tokens share the symbol.
        TokenListError, OSError
            If `assets` can't be used.
        ColumnsError, AmountError
            If a column is missing, or ``amount`` holds no amounts.

        Warns
        -----
        InputWarning
            Once in a session, if there are no `wallets`: how complete that is can't be told.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xb"], "symbol": "ETH",
        ... "token_blockchain": "ETH", "token_address": None, "amount": pd.array([1, 3], "amount")})
        >>> frame.wf.share("ETH")[["address", "amount", "share"]]
          address amount  share
        0     0xb      3   0.75
        1     0xa      1   0.25
        """
        from walletframe.analysis import share

        asked = self._asked(wallets)
        return share(
            self._data, token, asset=asset, by=by, wallets=asked, assets=assets, bridged=bridged
        )

    def concentration(  # noqa: PLR0913 - what a caller may wish
        self,
        token: TokenLike | None = None,
        *,
        asset: TokenLike | None = None,
        top: int = 10,
        by: By = "wallet",
        wallets: FetchLike | None = None,
        assets: AssetsLike | None = None,
        bridged: bool = False,
    ) -> pd.DataFrame:
        """Measure how unequally tokens, or assets, are distributed over their holders.

        Parameters
        ----------
        token : str or (str, str or None), optional
            An unambiguous symbol, or (blockchain, contract), None for a native coin. Default: all.
        asset : str or (str, str or None), optional
            In its place an asset, as in `share`. All of them: ``by="asset"``.
        top : int, default 10
            The number of largest holders that ``top_share`` adds up.
        by : str or list of str, default "wallet"
            What counts as one holder, as in `share`; ``holders`` counts wallets all the same.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch. ``details.wf`` has them.
        assets, bridged : optional
            With an asset, as in `totals`.

        Returns
        -------
        DataFrame
            One row for each token, or asset: the columns of `totals` by it, and ``gini``,
            ``herfindahl`` and ``top_share`` (the share of the largest holders), float64 from 0 to
            1, NaN where nobody holds any. No rows give no tokens.

        Raises
        ------
        ArgumentError, UnknownWalletError, SettingsError
            If `wallets` or `by` is something else, `wallets` lacks the wallet of a row, `top` is
            below 1, both a token and an asset are given, or `assets` or `bridged` without an asset.
        UnknownTokenError, AmbiguousTokenError
            If no row has the token or asset, or several tokens share the symbol.
        TokenListError, OSError
            If `assets` can't be used.
        ColumnsError, AmountError, PricesError
            If a column is missing, ``amount`` holds no amounts, or values have several currencies.

        Warns
        -----
        InputWarning
            Once in a session, if there are no `wallets`: how complete that is can't be told.

        Notes
        -----
        With n amounts x in ascending order, and s their sum:

        - Gini is (2 Σ i xᵢ - (n + 1) s) / (n s), i from 1 to n, without the correction n / (n - 1)
          for samples: equation 1 of Damgaard and Weiner, "Describing inequality in plant size or
          fecundity", Ecology 81 (2000), 1139-1142;
        - Herfindahl is Σ xᵢ² / s², from 0 to 1 and not to 10,000: Rhoades, "The
          Herfindahl-Hirschman index", Federal Reserve Bulletin 79 (1993), 188-189.

        A wallet is not a person: one may have many, and the wallet of an exchange belongs to many.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xb"], "symbol": "ETH",
        ... "token_blockchain": "ETH", "token_address": None, "amount": pd.array([1, 3], "amount")})
        >>> frame.wf.concentration("ETH", top=1)[["gini", "herfindahl", "top_share"]]
           gini  herfindahl  top_share
        0  0.25       0.625       0.75
        """
        from walletframe.analysis import concentration

        return concentration(
            self._data,
            token,
            asset=asset,
            top=top,
            by=by,
            wallets=self._asked(wallets),
            assets=assets,
            bridged=bridged,
        )
