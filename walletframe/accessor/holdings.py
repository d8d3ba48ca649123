"""Rows of holdings: the largest, names of tokens, pivot tables, and what wallets share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.accessor.given import Given, RowsT

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.analysis import By
    from walletframe.frames import AssetsLike, FetchLike


class HoldingsAccessor(Given[RowsT]):
    """Methods for the rows of a DataFrame with the columns of holdings."""

    def top(self, n: int = 10, *, by: str = "amount") -> pd.DataFrame:
        """Return the rows with the largest amounts, exactly, or with the largest numbers.

        Parameters
        ----------
        n : int, default 10
            How many.
        by : str, default "amount"
            The column of amounts, or of numbers, such as ``"value"``.

        Returns
        -------
        DataFrame
            At most `n` rows on their own index: the largest first, equal ones in their order, none
            where `by` is NA.

        Raises
        ------
        ColumnsError, AmountError
            If the column is missing, has neither amounts nor numbers, or is ``amount`` and has
            floats, which have lost digits already.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"amount": pd.array(["2", "7", None], dtype="amount")})
        >>> frame.wf.top(1)
          amount
        1      7
        """
        from walletframe.analysis import top_rows

        return top_rows(self._data, n, by=by)

    def token_labels(self) -> pd.Series:
        """Return a name for each row's token that is unique, readable and harmless.

        Returns
        -------
        Series
            str, named ``token``, on the same index; two rows have the same name if, and only if,
            they have the same token. It is the symbol, of at most 24 characters, if that is
            unambiguous, visible ASCII without a bracket: other letters may look like these.
            Otherwise blockchain and contract are added, shortened as far as they stay unique; of an
            unknown token ``(unknown token)``. Charts use the same names.

        Raises
        ------
        ColumnsError
            If a column is missing.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"symbol": ["ETH", "USDC", "USDC"], "token_blockchain": "ETH",
        ...     "token_address": [None, "0xa0b86991c6218b36c1d1", "0xbad0000000000000beef"]})
        >>> frame.wf.token_labels().tolist()
        ['ETH', 'USDC (ETH 0xa0b8…c1d1)', 'USDC (ETH 0xbad0…beef)']
        """
        from walletframe.analysis import token_labels

        return token_labels(self._data)

    def pivot(
        self,
        n: int | None = 50,
        *,
        by: By = "wallet",
        wallets: FetchLike | None = None,
        assets: AssetsLike | None = None,
        bridged: bool = False,
    ) -> pd.DataFrame:
        """Return a table of wallets, or of owners, by tokens or assets.

        Parameters
        ----------
        n : int or None, default 50
            The number of tokens: after `value` those with the largest value, then those with the
            most holders, then the first ones. None for all.
        by : str or list of str, default "wallet"
            What the rows stand for: as in `totals`, but for tokens. With ``"asset"`` among them,
            the columns are assets, of wallets unless `by` has more.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch: then failed and empty wallets have rows, too.
            ``details.wf`` has them.
        assets, bridged : optional
            By asset, as in `totals`.

        Returns
        -------
        DataFrame
            One row for each wallet, in the order of `wallets`, else of its first row; index
            ``blockchain``, ``address``, str, or what else `by` names. One column of exact amounts
            for each token, in the order that `n` says, named as by `token_labels`, or for each
            asset, named as in `totals`: 0 where the wallet holds none, since the service lists all
            that it holds; NA where its balances, or one of this token, are unknown; of several
            wallets, where that is so of one that could hold it. No rows and no wallets give an
            empty frame on the same index.

        Raises
        ------
        ArgumentError, UnknownWalletError, SettingsError
            If `wallets` or `by` is something else, `wallets` lacks the wallet of a row, `n` is
            below 1, or `assets` or `bridged` is given without ``"asset"``.
        TokenListError, OSError
            If `assets` can't be used.
        ColumnsError, AmountError, PricesError
            If a column is missing, ``amount`` holds no amounts, or values have several currencies.

        Warns
        -----
        InputWarning
            Once in a session, if there are no `wallets`: how complete that is can't be told.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xb", "0xb"],
        ...     "symbol": ["ETH", "ETH", "USDC"], "token_blockchain": "ETH",
        ...     "token_address": [None, None, "0xc"],
        ...     "amount": pd.array(["1", "3", "0.5"], dtype="amount")})
        >>> frame.wf.pivot()
        token              ETH USDC
        blockchain address
        ETH        0xa       1    0
                   0xb       3  0.5
        """
        from walletframe.analysis import pivot

        return pivot(
            self._data, n, by=by, wallets=self._asked(wallets), assets=assets, bridged=bridged
        )

    def overlap(
        self,
        n: int | None = 100,
        *,
        by: By = "wallet",
        wallets: FetchLike | None = None,
        assets: AssetsLike | None = None,
        bridged: bool = False,
    ) -> pd.DataFrame:
        """Find the pairs of wallets, or of owners, that hold the most of the same tokens.

        Leave out native coins and spam first, since nearly every wallet holds those.

        Parameters
        ----------
        n : int or None, default 100
            The number of pairs; None for all with a token in common, up to half the square of the
            number of wallets.
        by : str or list of str, default "wallet"
            What is paired, as in `share`; with ``"asset"`` among them, by what assets they hold.
        wallets : DataFrame or WalletDetails, optional
            The ``wallets`` of the same fetch. ``details.wf`` has them.
        assets, bridged : optional
            By asset, as in `totals`.

        Returns
        -------
        DataFrame
            One row for each pair of wallets that have a token in common, the most alike first,
            then those with the most tokens in common, then in the order of the wallets:
            ``blockchain``, ``address``, ``other_blockchain``, ``other_address``, str, or what else
            `by` names; ``tokens_both`` and ``tokens_either`` (by asset ``assets_both`` and
            ``assets_either``), Int64: tokens of which both, or at least one, are known to hold more
            than 0; ``jaccard``, float64, the one over the other; and with `wallets` ``wallets_ok``,
            ``wallets_stale`` and ``wallets_asked``, Int64, of all wallets.

        Raises
        ------
        ArgumentError, UnknownWalletError, SettingsError
            If `wallets` or `by` is something else, `wallets` lacks the wallet of a row, `n` is
            below 1, or `assets` or `bridged` is given without ``"asset"``; or if there are too many
            to compare: the square of their number and the pairs that share each token are together
            at most ten billion steps, fifty million where all pairs are listed.
        TokenListError, OSError
            If `assets` can't be used.
        ColumnsError, AmountError
            If a column is missing, or ``amount`` holds no amounts.

        Warns
        -----
        InputWarning
            Once in a session, if there are no `wallets`: how complete that is can't be told.

        Notes
        -----
        Jaccard, "The distribution of the flora in the alpine zone", New Phytologist 11 (1912),
        37-50. The time grows with the sum, over all tokens, of the square of their holders: 10,000
        wallets take seconds unless most of them hold the same tokens.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xa", "0xb"],
        ...     "symbol": ["A", "B", "A"], "token_blockchain": "ETH",
        ...     "token_address": ["0x1", "0x2", "0x1"],
        ...     "amount": pd.array(["1", "1", "1"], dtype="amount")})
        >>> frame.wf.overlap()[["address", "other_address", "tokens_both", "jaccard"]]
          address other_address  tokens_both  jaccard
        0     0xa           0xb            1      0.5
        """
        from walletframe.analysis import overlap

        return overlap(
            self._data, n, by=by, wallets=self._asked(wallets), assets=assets, bridged=bridged
        )
