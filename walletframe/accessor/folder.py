"""`open_wallets`: a fetch that stays in a folder of Parquet files, and its ``.wf``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from walletframe.accessor.delegation import Delegate, LazyPackage
from walletframe.accessor.partitioned import PartitionedAccessor
from walletframe.bulk import StoredHoldings, open_holdings
from walletframe.errors import SettingsError
from walletframe.frameless import frameless_address_errors
from walletframe.frames.known import summary_lines

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from walletframe.analysis import selection
    from walletframe.frames.details import WalletDetails
    from walletframe.frames.groups import By
else:
    selection = LazyPackage("analysis.selection")


@frameless_address_errors
def open_wallets(folder: str | Path) -> StoredWallets:
    """Open a folder from `fetch_to_parquet`, without reading the balances.

    Parameters
    ----------
    folder : str or Path
        The folder. To see what a run writes later, open it again.

    Returns
    -------
    StoredWallets
        A fetch that stays on the disk and may be larger than memory; ``.wf`` has its methods.

    Raises
    ------
    DatasetError
        If the folder has no such files, or a file of wallets is broken.

    See Also
    --------
    read_wallets : Reads all of it, or some wallets, tokens and columns, into memory.

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
    """The fetch in a folder of Parquet files, with only the wallets in memory.

    Parameters
    ----------
    holdings : StoredHoldings
        The folder, opened by `open_wallets`.

    Raises
    ------
    DatasetError
        From any method, if a file is broken or missing.
    """

    holdings: StoredHoldings

    @property
    def wallets(self) -> pd.DataFrame:
        """The wallets, as `read_wallets` returns them.

        Returns
        -------
        DataFrame
            One row for each wallet, in the requested order. Read-only.
        """
        return self.holdings.wallets

    @property
    def wf(self) -> StoredAccessor:
        """Tables of the folder, with their completeness.

        Returns
        -------
        StoredAccessor
            With methods of ``details.wf``, which read a part of the folder at a time.
        """
        return StoredAccessor(self.holdings)

    def __repr__(self) -> str:
        return "\n".join([*summary_lines(self.wallets), f"On the disk, in {self.holdings.root}"])


class StoredAccessor(PartitionedAccessor[StoredWallets]):
    """Tables of a folder, read a part at a time, with the same results as from ``details.wf``.

    `value`, `flag_spam` and `without_spam` return a `StoredWallets` that adds the columns, or
    leaves out rows, whenever it reads balances; nothing on the disk changes. These methods read
    the tokens of all balances once, and the prices and lists immediately.

    Parameters
    ----------
    held : StoredHoldings
        The opened folder.

    Raises
    ------
    DatasetError
        From each method, if a file is broken or missing.
    SettingsError
        From a method with the argument ``wallets``, since the folder has its own.
    FramesNeededError
        From other methods of ``details.wf``, which need the balances in memory.

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

    _place = "on the disk"
    _read_into_memory = "read_wallets(folder, tokens=[…], wallets=[…])"

    def __init__(self, held: StoredHoldings) -> None:
        self._holdings, self._make_fetch = held, StoredWallets

    def _where(
        self,
        _function: object,
        /,
        *,
        spam: bool | None = None,
        small: float | None = None,
        **options: Any,
    ) -> WalletDetails:
        """Read a selection; spam and prices are determined from all balances of the folder."""
        stored = StoredWallets(self._holdings)
        names = [*stored.holdings.whole.holdings]
        if spam is not None and stored.holdings.flags is None:
            stored = stored.wf.flag_spam()
        if small is not None and stored.holdings.prices is None:
            stored = stored.wf.value()
        return selection.where_in_chunks(stored.holdings, names, spam=spam, small=small, **options)

    where: Final = Delegate(lambda: selection.where, _where)

    def _with_wallets(self, wallets: object, by: By) -> StoredHoldings:  # noqa: ARG002 - as on a cluster
        if wallets is not None:
            raise SettingsError("the folder has its own wallets", hint="leave out wallets=…")
        return self._holdings

    def _without_wallets(self) -> StoredHoldings:
        return self._holdings
