"""Tables of a folder that stays on the disk: each method delegates to a function of `analysis`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from walletframe.accessor.details import DetailsAccessor
from walletframe.accessor.stored_columns import FolderT, StoredColumnsAccessor
from walletframe.errors import FramesNeededError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from walletframe.analysis import By
    from walletframe.bulk import StoredHoldings
    from walletframe.frames import AssetsLike, TokenLike


class StoredAccessor(StoredColumnsAccessor[FolderT]):
    """Tables of a folder, read a part at a time; the same as ``details.wf`` gives of its frames.

    Parameters
    ----------
    held : StoredHoldings
        The folder, opened.
    again : callable
        Puts it into the form in which it was given.

    Raises
    ------
    DatasetError
        From each method, if a file is broken or gone.
    FramesNeededError
        From what ``details.wf`` has beyond that: it takes balances that are in memory.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import walletframe as wf
    >>> with TemporaryDirectory() as folder, wf.sandbox() as service:
    ...     with service.client(cache=False) as client:
    ...         summary = wf.fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
    ...     valued = wf.open_wallets(folder).wf.value({("NEAR", None): 3}, currency="USD")
    ...     table = valued.wf.totals(by="wallet")
    >>> table[["address", "currency", "wallets_ok", "wallets_asked"]]
          address currency  wallets_ok  wallets_asked
    0  alice.near      USD           1              1
    """

    def __init__(self, held: StoredHoldings, again: Callable[[StoredHoldings], FolderT]) -> None:
        self._held, self._again = held, again

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(DetailsAccessor, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        raise FramesNeededError(
            f"{name} takes balances that are in memory, and these are on the disk",
            hint="read as many as it needs, such as "
            f"read_wallets(folder, tokens=[…], wallets=[…]).wf.{name}",
        )

    def totals(
        self,
        by: By = "token",
        *,
        assets: AssetsLike | None = None,
        bridged: bool = False,
    ) -> pd.DataFrame:
        """Add up all balances, as ``details.wf.totals`` does, in the memory of one part.

        Parameters
        ----------
        by : str or list of str, default "token"
            As in ``details.wf.totals``.
        assets, bridged : optional
            By asset, as there.

        Returns
        -------
        DataFrame
            The same table.

        Raises
        ------
        DatasetError
            If a file is broken or gone.
        WalletframeError
            As ``details.wf.totals`` raises it.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import walletframe as wf
        >>> with TemporaryDirectory() as folder, wf.sandbox() as service:
        ...     with service.client(cache=False) as client:
        ...         summary = wf.fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
        ...     table = wf.open_wallets(folder).wf.totals()
        >>> len(table) > 0
        True
        """
        from walletframe.analysis import totals_of_blocks

        return totals_of_blocks(self._held, by, assets=assets, bridged=bridged)

    def share(
        self,
        token: TokenLike | None = None,
        *,
        asset: TokenLike | None = None,
        by: By = "wallet",
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
        assets, bridged : optional
            With an asset, as in ``details.wf.totals``.

        Returns
        -------
        DataFrame
            The same table. The balances of this token alone are in memory meanwhile.

        Raises
        ------
        DatasetError
            If a file is broken or gone.
        WalletframeError
            As ``details.wf.share`` raises it.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import walletframe as wf
        >>> with TemporaryDirectory() as folder, wf.sandbox() as service:
        ...     with service.client(cache=False) as client:
        ...         summary = wf.fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
        ...     table = wf.open_wallets(folder).wf.share(("NEAR", None))
        >>> len(table) > 0
        True
        """
        from walletframe.analysis import share_on_disk

        return share_on_disk(self._held, token, asset=asset, by=by, assets=assets, bridged=bridged)

    def concentration(
        self,
        token: TokenLike | None = None,
        *,
        asset: TokenLike | None = None,
        top: int = 10,
        by: By = "wallet",
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
        assets, bridged : optional
            With an asset, as in ``details.wf.totals``.

        Returns
        -------
        DataFrame
            The same table. All tokens are read some at a time, in several passes.

        Raises
        ------
        DatasetError
            If a file is broken or gone.
        WalletframeError
            As ``details.wf.concentration`` raises it.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import walletframe as wf
        >>> with TemporaryDirectory() as folder, wf.sandbox() as service:
        ...     with service.client(cache=False) as client:
        ...         summary = wf.fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
        ...     table = wf.open_wallets(folder).wf.concentration()
        >>> len(table) > 0
        True
        """
        from walletframe.analysis import concentration_on_disk

        return concentration_on_disk(
            self._held, token, asset=asset, top=top, by=by, assets=assets, bridged=bridged
        )

    def pivot(
        self,
        n: int | None = 50,
        *,
        by: By = "wallet",
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
        assets, bridged : optional
            By asset, as in ``details.wf.totals``.

        Returns
        -------
        DataFrame
            The same table. The balances of these tokens alone are in memory meanwhile.

        Raises
        ------
        DatasetError
            If a file is broken or gone.
        WalletframeError
            As ``details.wf.pivot`` raises it.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import walletframe as wf
        >>> with TemporaryDirectory() as folder, wf.sandbox() as service:
        ...     with service.client(cache=False) as client:
        ...         summary = wf.fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
        ...     table = wf.open_wallets(folder).wf.pivot(3)
        >>> len(table) > 0
        True
        """
        from walletframe.analysis import pivot_on_disk

        return pivot_on_disk(self._held, n, by=by, assets=assets, bridged=bridged)
