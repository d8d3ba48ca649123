"""What holdings add up to, and who has how much of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from walletframe.analysis.partition import By
    from walletframe.analysis.positions import WalletsLike
    from walletframe.frames import TokenLike


class TotalsAccessor:
    """What is counted and added up of a DataFrame with the columns of holdings."""

    _data: pd.DataFrame

    def totals(
        self, by: By | Sequence[By] = "token", *, wallets: WalletsLike | None = None
    ) -> pd.DataFrame:
        """Add up by token, wallet or blockchain, and say how complete that is.

        Amounts of different tokens are never added: without ``"token"`` among `by` there are
        counts and, behind `value`, values.

        Parameters
        ----------
        by : {"token", "wallet", "blockchain", "symbol"} or list of them, default "token"
            What makes a group. ``"symbol"`` is ``"token"`` after making sure that no symbol is
            shared; ``"blockchain"`` is that of the wallet.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch: then failed wallets are counted, and each wallet or
            blockchain asked has a row.

        Returns
        -------
        DataFrame
            One row for each group: ``token_blockchain``, ``token_address``, ``symbol`` or
            ``blockchain``, ``address``, what names it; ``amount`` (exact, by token), ``tokens``,
            ``holders`` (of more than 0), ``balances``, ``amount_na`` (balances of unknown
            amount); behind `value`, ``value``, ``currency`` and ``unpriced`` (balances without a
            value); with `wallets`, ``wallets_ok`` of ``wallets_asked``, and how many of these
            are out of date (``wallets_stale``). What is unknown is NA,
            never 0.

        Raises
        ------
        ArgumentError
            Where `wallets` is something else.
        ColumnsError
            Where a column is missing.
        AmountError
            Where the column ``amount`` holds no amounts.
        AmbiguousTokenError
            By symbol, where several tokens share one: it names their contracts.
        PricesError
            Where values are in more than one currency.
        UnknownWalletError
            Where a row is of a wallet that is not in `wallets`.
        SettingsError
            Where `by` is something else.

        Examples
        --------
        >>> import walletframe
        >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
        ...     wallets, holdings = client.fetch(["NEAR.alice.near"])
        >>> holdings.wf.totals(by="wallet", wallets=wallets)[["address", "wallets_ok"]]
              address  wallets_ok
        0  alice.near           1
        """
        from walletframe.analysis import totals  # noqa: PLC0415 - loads pyarrow.compute

        return totals(self._data, by, wallets=wallets)

    def share(self, token: TokenLike, *, wallets: WalletsLike | None = None) -> pd.DataFrame:
        """Tell how much of one token each wallet holds, of all that these wallets hold of it.

        Parameters
        ----------
        token : str or (str, str or None)
            (blockchain, contract), None for a native coin; or a symbol that one token alone has.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch: then all that were asked on the token's
            blockchains have a row.

        Returns
        -------
        DataFrame
            One row for each wallet, the largest amount first, unknown ones last: ``blockchain``,
            ``address``, ``amount`` (exact), ``amount_na``, ``share`` (float64 from 0 to 1, of the
            known amounts) and, with `wallets`, ``wallets_ok`` of ``wallets_asked``, and how many of
            these are out of date (``wallets_stale``).

        Raises
        ------
        ArgumentError
            Where `wallets` is something else.
        UnknownTokenError
            Where no row holds the token.
        AmbiguousTokenError
            Where several tokens share the symbol.
        ColumnsError
            Where a column is missing.
        AmountError
            Where the column ``amount`` holds no amounts.
        UnknownWalletError
            Where a row is of a wallet that is not in `wallets`.

        Examples
        --------
        >>> import walletframe
        >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
        ...     wallets, holdings = client.fetch(["NEAR.alice.near"])
        >>> holdings.wf.share(("NEAR", None), wallets=wallets).share.tolist()
        [1.0]
        """
        from walletframe.analysis import share  # noqa: PLC0415 - loads pyarrow.compute

        return share(self._data, token, wallets=wallets)

    def pivot(self, n: int | None = 50, *, wallets: WalletsLike | None = None) -> pd.DataFrame:
        """Put wallets beside tokens.

        Parameters
        ----------
        n : int or None, default 50
            How many tokens: those of the greatest value behind `value`, else those with the most
            holders. None for all.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch: then failed and empty wallets have rows, too.

        Returns
        -------
        DataFrame
            One row for each wallet, index ``blockchain``, ``address``; one column of exact
            amounts for each token, named as `token_labels` does: 0 where the wallet holds none,
            NA where that is unknown.

        Raises
        ------
        ArgumentError
            Where `wallets` is something else.
        ColumnsError
            Where a column is missing.
        AmountError
            Where the column ``amount`` holds no amounts.
        PricesError
            Where values are in more than one currency.
        UnknownWalletError
            Where a row is of a wallet that is not in `wallets`.
        SettingsError
            Where `n` is below 1.

        Examples
        --------
        >>> import walletframe
        >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
        ...     wallets, holdings = client.fetch(["NEAR.alice.near"])
        >>> holdings.wf.pivot(2, wallets=wallets).shape
        (1, 2)
        """
        from walletframe.analysis import pivot  # noqa: PLC0415 - loads pyarrow.compute

        return pivot(self._data, n, wallets=wallets)

    def concentration(
        self,
        token: TokenLike | None = None,
        *,
        top: int = 10,
        wallets: WalletsLike | None = None,
    ) -> pd.DataFrame:
        """Tell how unequally tokens are spread over the wallets that hold them.

        Parameters
        ----------
        token : str or (str, str or None), optional
            (blockchain, contract), None for a native coin; or a symbol that one token alone has.
            All tokens unless given.
        top : int, default 10
            How many of the largest holders ``top_share`` is of.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch.

        Returns
        -------
        DataFrame
            One row for each token: the columns of `totals` by token, and ``gini``,
            ``herfindahl`` and ``top_share``, float64 from 0 to 1, NaN where nobody holds any.

        Raises
        ------
        ArgumentError
            Where `wallets` is something else.
        UnknownTokenError
            Where no row holds the token.
        AmbiguousTokenError
            Where several tokens share the symbol.
        ColumnsError
            Where a column is missing.
        AmountError
            Where the column ``amount`` holds no amounts.
        UnknownWalletError
            Where a row is of a wallet that is not in `wallets`.
        SettingsError
            Where `top` is below 1.

        Examples
        --------
        >>> import walletframe
        >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
        ...     wallets, holdings = client.fetch(["NEAR.alice.near"])
        >>> holdings.wf.concentration(("NEAR", None))[["holders", "herfindahl"]]
           holders  herfindahl
        0        1         1.0
        """
        from walletframe.analysis import concentration  # noqa: PLC0415 - loads pyarrow.compute

        return concentration(self._data, token, top=top, wallets=wallets)

    def overlap(self, n: int | None = 100, *, wallets: WalletsLike | None = None) -> pd.DataFrame:
        """Find the pairs of wallets that hold the most of the same tokens.

        Parameters
        ----------
        n : int or None, default 100
            How many pairs. None for all that have a token in common.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch.

        Returns
        -------
        DataFrame
            One row for each pair, the most alike first: ``blockchain``, ``address``,
            ``other_blockchain``, ``other_address``, ``tokens_both``, ``tokens_either``,
            ``jaccard`` (the one over the other, float64) and, with `wallets`, ``wallets_ok`` of
            ``wallets_asked``, and how many of these are out of date (``wallets_stale``).

        Raises
        ------
        ArgumentError
            Where `wallets` is something else.
        ColumnsError
            Where a column is missing.
        AmountError
            Where the column ``amount`` holds no amounts.
        UnknownWalletError
            Where a row is of a wallet that is not in `wallets`.
        SettingsError
            Where `n` is below 1.

        Examples
        --------
        >>> import walletframe
        >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
        ...     wallets, holdings = client.fetch(["NEAR.alice.near"])
        >>> holdings.wf.overlap().shape
        (0, 7)
        """
        from walletframe.analysis import overlap  # noqa: PLC0415 - loads pyarrow.compute

        return overlap(self._data, n, wallets=wallets)

    def token_labels(self) -> pd.Series:
        """Name each row's token by text that is unique, readable and harmless.

        Returns
        -------
        Series
            str, on the same index, one label for each token and no other: the symbol where it is
            alone in having it, else with blockchain and contract.

        Raises
        ------
        ColumnsError
            Where a column is missing.

        Examples
        --------
        >>> import walletframe
        >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
        ...     wallets, holdings = client.fetch(["NEAR.alice.near"])
        >>> holdings.wf.token_labels().iloc[0]
        'NEAR'
        """
        from walletframe.analysis import token_labels  # noqa: PLC0415 - loads pyarrow.compute

        return token_labels(self._data)
