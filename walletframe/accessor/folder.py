"""`open_wallets`: a folder of Parquet files as a fetch that stays on the disk, and its ``.wf``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from walletframe.accessor.stored import StoredAccessor
from walletframe.bulk import StoredHoldings, open_holdings
from walletframe.frameless import at_the_boundary
from walletframe.frames import summary_lines

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


@at_the_boundary
def open_wallets(folder: str | Path) -> StoredWallets:
    """Open what `fetch_to_parquet` has written, without reading the balances.

    Parameters
    ----------
    folder : str or Path
        The folder. What a run writes later is seen where it is opened anew.

    Returns
    -------
    StoredWallets
        A fetch that stays on the disk, larger than memory maybe; its ``.wf`` asks it.

    Raises
    ------
    DatasetError
        If the folder holds no such files, or one of those of wallets is broken.

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
    """The fetch in a folder of Parquet files, of which only the wallets are in memory.

    Parameters
    ----------
    holdings : StoredHoldings
        The folder, as `open_wallets` has opened it.

    Raises
    ------
    DatasetError
        From whatever is asked, if a file is broken or gone.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import walletframe as wf
    >>> with TemporaryDirectory() as folder, wf.sandbox() as service:
    ...     with service.client(cache=False) as client:
    ...         summary = wf.fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
    ...     stored = open_wallets(folder)
    >>> stored.wallets.status.item()
    'ok'
    """

    holdings: StoredHoldings

    @property
    def wallets(self) -> pd.DataFrame:
        """The wallets, as `read_wallets` returns them.

        Returns
        -------
        DataFrame
            One row for each wallet, in the order asked. Not to be changed.

        Raises
        ------
        AttributeError
            Where it is set: it says what is on the disk.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import walletframe
        >>> with TemporaryDirectory() as folder, walletframe.sandbox() as service:
        ...     with service.client(cache=False) as client:
        ...         summary = walletframe.fetch_to_parquet([], folder, client=client)
        ...     len(open_wallets(folder).wallets)
        0
        """
        return self.holdings.wallets

    @property
    def wf(self) -> StoredAccessor[StoredWallets]:
        """Tables of the folder, which say how complete they are.

        Returns
        -------
        StoredAccessor
            With calls of ``details.wf``, which read a part of the folder at a time.

        Raises
        ------
        AttributeError
            Where it is set.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import walletframe
        >>> with TemporaryDirectory() as folder, walletframe.sandbox() as service:
        ...     with service.client(cache=False) as client:
        ...         summary = walletframe.fetch_to_parquet([], folder, client=client)
        ...     len(open_wallets(folder).wf.totals())
        0
        """
        return StoredAccessor(self.holdings, StoredWallets)

    def __repr__(self) -> str:
        return "\n".join([*summary_lines(self.wallets), f"On the disk, in {self.holdings.root}"])
