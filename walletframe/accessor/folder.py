"""`open_wallets` for a folder of Parquet files, and the accessor ``.wf`` of the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from walletframe.accessor.delegation import Delegate, LazyPackage
from walletframe.accessor.partitioned import PartitionedAccessor
from walletframe.bulk import StoredHoldings, open_holdings
from walletframe.errors import SettingsError
from walletframe.tracebacks import strip_address_tracebacks

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from walletframe.analysis import selection
    from walletframe.frames.details import WalletDetails
    from walletframe.frames.groups import By
else:
    selection = LazyPackage("analysis.selection")


@strip_address_tracebacks
def open_wallets(folder: str | Path) -> StoredWallets:
    """Open a folder that `fetch_to_parquet` has written, without reading the balances.

    Parameters
    ----------
    folder : str or Path
        The folder. To read rows that are written later, open the folder again.

    Returns
    -------
    StoredWallets
        The result of the fetch, with methods in ``.wf``. The balances stay on disk.

    Raises
    ------
    DatasetError
        If the folder has no files written by `fetch_to_parquet`, or if a file of wallets is broken.

    See Also
    --------
    read_wallets : Read all or some wallets, tokens and columns into memory.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import walletframe as wf
    >>> with TemporaryDirectory() as folder, wf.sandbox() as service:
    ...     with service.client(cache=False) as client:
    ...         summary = wf.fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
    ...     table = open_wallets(folder).wf.totals(by="wallet")
    >>> table.address.item()
    'alice.near'
    """
    return StoredWallets(open_holdings(folder))


@dataclass(frozen=True, slots=True, repr=False)
class StoredWallets:
    """The result of a fetch in a folder of Parquet files. Only the wallets are in memory.

    Parameters
    ----------
    holdings : StoredHoldings
        The folder, opened by `open_wallets`.
    """

    holdings: StoredHoldings

    @property
    def wallets(self) -> pd.DataFrame:
        """The table ``wallets`` in the requested order. Don't modify this frame."""
        return self.holdings.wallets

    @property
    def wf(self) -> StoredAccessor:
        """The methods of ``details.wf`` that can read the folder in parts."""
        return StoredAccessor(self.holdings)

    def __repr__(self) -> str:
        return repr(self.holdings)


class StoredAccessor(PartitionedAccessor[StoredWallets]):
    """Methods of ``details.wf`` that read a folder in parts.

    `value`, `flag_spam` and `without_spam` return a new `StoredWallets`, and don't change files.
    The new columns are computed, and spam is dropped, whenever a method reads the folder.

    Parameters
    ----------
    holdings : StoredHoldings
        The opened folder.

    Raises
    ------
    DatasetError
        If a method reads a file that is broken or missing.
    SettingsError
        If you pass ``wallets`` to a method, since the folder already contains the wallets.
    FramesNeededError
        If you call a method of ``details.wf`` that needs the balances in memory.

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

    _location = "on disk"
    _read_example = "read_wallets(folder, tokens=[…], wallets=[…])"

    def __init__(self, holdings: StoredHoldings) -> None:
        self._holdings, self._wrap_holdings = holdings, StoredWallets

    def _select_rows(
        self,
        _function: object,
        /,
        *,
        spam: bool | None = None,
        small: float | None = None,
        **options: Any,
    ) -> WalletDetails:
        # Spam flags and prices depend on all balances of the folder.
        stored = StoredWallets(self._holdings)
        names = [*stored.holdings.template.holdings]
        if spam is not None and not (stored.holdings.flags or stored.holdings.removed):
            stored = stored.wf.flag_spam()
        if small is not None and stored.holdings.prices is None:
            stored = stored.wf.value()
        return selection.where_in_chunks(stored.holdings, names, spam=spam, small=small, **options)

    where: Final = Delegate(lambda: selection.where, _select_rows)

    def _holdings_with_wallets(self, wallets: object, by: By) -> StoredHoldings:  # noqa: ARG002 - used on clusters
        if wallets is not None:
            raise SettingsError("the folder already contains its wallets", "leave out wallets=…")
        return self._holdings

    def _holdings_without_wallets(self) -> StoredHoldings:
        return self._holdings
