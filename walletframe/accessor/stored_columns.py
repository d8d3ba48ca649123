"""What is worked out of a folder that stays on the disk: values, and which tokens are spam."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from walletframe.bulk import Flags, Units

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from walletframe.analysis import PricesLike, TokensLike
    from walletframe.bulk import StoredHoldings
    from walletframe.frames import TokenLike

FolderT = TypeVar("FolderT")


class StoredColumnsAccessor(Generic[FolderT]):
    """Methods that add to balances, or leave some out, whenever these are read."""

    _held: StoredHoldings
    _again: Callable[[StoredHoldings], FolderT]

    def value(
        self,
        prices: PricesLike | None = None,
        *,
        currency: str | None = None,
        by_symbol: bool = False,
        assets: pd.DataFrame | None = None,
        bridged: bool = False,
    ) -> FolderT:
        """Value the balances, as ``details.wf.value`` does, whenever they are read.

        Parameters
        ----------
        prices : mapping, Series, DataFrame, str, Path or PriceSource, optional
            As there; default: the service's own.
        currency : str, optional
            What they are in.
        by_symbol : bool, default False
            Whether prices are by symbol.
        assets, bridged : optional
            Prices are by asset, as there.

        Returns
        -------
        StoredWallets
            The same folder; tables of it have values.

        Raises
        ------
        DatasetError
            If a file is broken or gone.
        WalletframeError
            As ``details.wf.value`` raises it.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import walletframe as wf
        >>> with TemporaryDirectory() as folder, wf.sandbox() as service:
        ...     with service.client(cache=False) as client:
        ...         summary = wf.fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
        ...     table = wf.open_wallets(folder).wf.value({("NEAR", None): 3}).wf.totals()
        >>> len(table) > 0
        True
        """
        from walletframe.analysis import units_on_disk

        units, currency = units_on_disk(
            self._held,
            prices,
            currency=currency,
            by_symbol=by_symbol,
            assets=assets,
            bridged=bridged,
        )
        return self._again(self._held.valued(Units(units, by_symbol, currency)))

    def flag_spam(
        self,
        *,
        allow: TokensLike | None = None,
        deny: TokensLike | None = None,
        threshold: float = 0.5,
    ) -> FolderT:
        """Score tokens as ``details.wf.flag_spam`` does; no balance is left out.

        Parameters
        ----------
        allow, deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
            Tokens that are never spam, and tokens that are, as there.
        threshold : float, default 0.5
            The lowest score that counts as spam.

        Returns
        -------
        StoredWallets
            The same folder; ``by=`` of its tables takes ``is_spam``, ``spam_score`` and
            ``spam_reasons``, too. All balances are read once for that, a part at a time.

        Raises
        ------
        DatasetError
            If a file is broken or gone.
        WalletframeError, OSError
            As ``details.wf.flag_spam`` raises it.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import walletframe as wf
        >>> with TemporaryDirectory() as folder, wf.sandbox() as service:
        ...     with service.client(cache=False) as client:
        ...         summary = wf.fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
        ...     flagged = wf.open_wallets(folder).wf.flag_spam(deny=[("NEAR", None)])
        ...     table = flagged.wf.totals(by="is_spam")
        >>> bool(table["is_spam"].any())
        True
        """
        from walletframe.analysis import flags_on_disk

        of, rows, unknown = flags_on_disk(self._held, allow=allow, deny=deny, threshold=threshold)
        return self._again(self._held.flagged(Flags(of, rows, threshold), unknown))

    def without_spam(
        self,
        *,
        allow: TokensLike | None = None,
        deny: TokensLike | None = None,
        threshold: float = 0.5,
    ) -> FolderT:
        """Leave out the balances that `flag_spam` flags.

        Parameters
        ----------
        allow, deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
            Tokens that are never spam, and tokens that are, as in ``details.wf.without_spam``.
        threshold : float, default 0.5
            The lowest score that counts as spam.

        Returns
        -------
        StoredWallets
            The same folder, of which tables don't read these balances. Nothing on the disk changes.

        Raises
        ------
        DatasetError
            If a file is broken or gone.
        WalletframeError, OSError
            As ``details.wf.without_spam`` raises it.

        Warns
        -----
        SpamWarning
            Saying how many rows of how many tokens are left out, if any.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import walletframe as wf
        >>> with TemporaryDirectory() as folder, wf.sandbox() as service:
        ...     with service.client(cache=False) as client:
        ...         summary = wf.fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
        ...     table = wf.open_wallets(folder).wf.without_spam().wf.totals()
        >>> len(table) > 0
        True
        """
        from walletframe.analysis import flags_on_disk

        lists = {"allow": allow, "deny": deny}
        found = flags_on_disk(self._held, **lists, threshold=threshold, dropped=True)
        flags = Flags(found.of, found.of_rows, threshold)
        return self._again(self._held.without(flags, found.unknown))

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
        DataFrame
            As ``details.wf.explain_spam`` returns it.

        Raises
        ------
        DatasetError
            If a file is broken or gone.
        WalletframeError, OSError
            As ``details.wf.explain_spam`` raises it.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import walletframe as wf
        >>> with TemporaryDirectory() as folder, wf.sandbox() as service:
        ...     with service.client(cache=False) as client:
        ...         summary = wf.fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
        ...     table = wf.open_wallets(folder).wf.explain_spam(deny=[("NEAR", None)])
        >>> table.columns[:2].tolist()
        ['symbol', 'token_blockchain']
        """
        from walletframe.analysis import explain_on_disk

        return explain_on_disk(
            self._held, token, allow=allow, deny=deny, threshold=threshold, everything=everything
        )
