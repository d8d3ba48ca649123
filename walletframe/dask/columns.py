"""What is worked out of the rows of holdings in partitions: values, and which tokens are spam."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from walletframe.analysis import explain_on_disk, flag_spam, flags_on_disk, units_on_disk
from walletframe.bulk import Flags, Units
from walletframe.dask.holdings import rows_alone
from walletframe.dask.rows import flagged, valued, without

if TYPE_CHECKING:
    from collections.abc import Callable

    import dask.dataframe as dd
    import pandas as pd

    from walletframe.analysis import PricesLike, TokensLike
    from walletframe.frames import TokenLike

RowsT = TypeVar("RowsT")


class ClusterColumns(Generic[RowsT]):
    """Methods that add to rows, or leave some out, when a partition is computed."""

    _data: dd.DataFrame
    _again: Callable[[dd.DataFrame], RowsT]

    def value(
        self,
        prices: PricesLike | None = None,
        *,
        currency: str | None = None,
        by_symbol: bool = False,
        assets: pd.DataFrame | None = None,
        bridged: bool = False,
    ) -> RowsT:
        """Value the balances, as ``details.wf.value`` does.

        Parameters
        ----------
        prices : mapping, Series, DataFrame, str, Path or PriceSource, optional
            As there, read here and not on workers; default: the service's own.
        currency : str, optional
            What they are in.
        by_symbol : bool, default False
            Whether prices are by symbol.
        assets, bridged : optional
            Prices are by asset, as there.

        Returns
        -------
        dask.dataframe.DataFrame, or ClusterWallets of a fetch
            The same rows with ``unit_price``, ``value`` and ``currency``. The graph is computed
            once, to see which tokens there are, or whether the service's prices can be used.

        Raises
        ------
        WalletframeError
            As ``details.wf.value`` raises it.

        Warns
        -----
        PricesWarning
            As ``details.wf.value`` does.

        Examples
        --------
        >>> import dask.dataframe as dd, walletframe as wf, walletframe.dask
        >>> with wf.sandbox() as service, service.client(cache=False) as client:
        ...     wallets, holdings = client.fetch(["NEAR.alice.near"])
        >>> parts = dd.from_pandas(holdings, npartitions=1)
        >>> parts.wf.value({("NEAR", None): 3})["unit_price"].max().compute().item()
        3.0
        """
        units, currency = units_on_disk(
            rows_alone(self._data),
            prices,
            currency=currency,
            by_symbol=by_symbol,
            assets=assets,
            bridged=bridged,
        )
        return self._again(valued(self._data, Units(units, by_symbol, currency)))

    def flag_spam(
        self,
        *,
        allow: TokensLike | None = None,
        deny: TokensLike | None = None,
        threshold: float = 0.5,
    ) -> RowsT:
        """Score tokens as ``details.wf.flag_spam`` does; no row is left out.

        Parameters
        ----------
        allow, deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
            Tokens that are never spam, and tokens that are, as there.
        threshold : float, default 0.5
            The lowest score that counts as spam.

        Returns
        -------
        dask.dataframe.DataFrame, or ClusterWallets of a fetch
            The same rows with ``spam_score``, ``spam_reasons`` and ``is_spam``. The graph is
            computed once, since a token is judged by all rows.

        Raises
        ------
        WalletframeError, OSError
            As ``details.wf.flag_spam`` raises it.

        Examples
        --------
        >>> import dask.dataframe as dd, walletframe as wf, walletframe.dask
        >>> with wf.sandbox() as service, service.client(cache=False) as client:
        ...     wallets, holdings = client.fetch(["NEAR.alice.near"])
        >>> flagged = dd.from_pandas(holdings, npartitions=1).wf.flag_spam(deny=[("NEAR", None)])
        >>> bool(flagged["is_spam"].any().compute())
        True
        """
        return self._again(flagged(self._data, self._flags(allow, deny, threshold, dropped=False)))

    def without_spam(
        self,
        *,
        allow: TokensLike | None = None,
        deny: TokensLike | None = None,
        threshold: float = 0.5,
    ) -> RowsT:
        """Leave out the rows that `flag_spam` flags.

        Parameters
        ----------
        allow, deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
            Tokens that are never spam, and tokens that are, as in ``details.wf.without_spam``.
        threshold : float, default 0.5
            The lowest score that counts as spam.

        Returns
        -------
        dask.dataframe.DataFrame, or ClusterWallets of a fetch
            The other rows, with the columns they had. The graph is computed once.

        Raises
        ------
        WalletframeError, OSError
            As ``details.wf.without_spam`` raises it.

        Warns
        -----
        SpamWarning
            Saying how many rows of how many tokens are left out, if any.

        Examples
        --------
        >>> import dask.dataframe as dd, walletframe as wf, walletframe.dask
        >>> with wf.sandbox() as service, service.client(cache=False) as client:
        ...     wallets, holdings = client.fetch(["NEAR.alice.near"])
        >>> left = dd.from_pandas(holdings, npartitions=1).wf.without_spam()
        >>> len(left) > 0
        True
        """
        return self._again(without(self._data, self._flags(allow, deny, threshold, dropped=True)))

    def _flags(
        self,
        allow: TokensLike | None,
        deny: TokensLike | None,
        threshold: float,
        *,
        dropped: bool,
    ) -> Flags:
        flag_spam(self._data._meta, allow=allow, deny=deny, threshold=threshold)  # noqa: SLF001 - checks
        found = flags_on_disk(
            rows_alone(self._data), allow=allow, deny=deny, threshold=threshold, dropped=dropped
        )
        return Flags(found.of, found.of_rows, threshold)

    def explain_spam(
        self,
        token: TokenLike | None = None,
        *,
        allow: TokensLike | None = None,
        deny: TokensLike | None = None,
        threshold: float = 0.5,
        everything: bool = False,
    ) -> pd.DataFrame:
        """Explain in words, token by token, what `flag_spam` found.

        Parameters
        ----------
        token : str or (str, str or None), optional
            Only this token, flagged or not.
        allow, deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
            Tokens that are never spam, and tokens that are.
        threshold : float, default 0.5
            The lowest score that counts as spam.
        everything : bool, default False
            Include tokens that are not flagged, if there are findings about them.

        Returns
        -------
        pandas.DataFrame
            As ``details.wf.explain_spam`` returns it, on an index from 0. The graph is computed
            once.

        Raises
        ------
        WalletframeError, OSError
            As ``details.wf.explain_spam`` raises it.

        Examples
        --------
        >>> import dask.dataframe as dd, walletframe as wf, walletframe.dask
        >>> with wf.sandbox() as service, service.client(cache=False) as client:
        ...     wallets, holdings = client.fetch(["NEAR.alice.near"])
        >>> parts = dd.from_pandas(holdings, npartitions=1)
        >>> parts.wf.explain_spam(deny=[("NEAR", None)]).columns[:2].tolist()
        ['symbol', 'token_blockchain']
        """
        flag_spam(self._data._meta, allow=allow, deny=deny, threshold=threshold)  # noqa: SLF001 - checks
        return explain_on_disk(
            rows_alone(self._data),
            token,
            allow=allow,
            deny=deny,
            threshold=threshold,
            everything=everything,
        )
