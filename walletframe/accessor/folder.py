"""`open_wallets`: a folder of Parquet files as a fetch that stays on the disk, and its ``.wf``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from walletframe.accessor.delegation import Delegate, LazyPackage
from walletframe.accessor.partitioned import PartitionedAccessor
from walletframe.bulk import StoredHoldings, open_holdings
from walletframe.errors import SettingsError
from walletframe.frameless import at_the_boundary
from walletframe.frames.known import summary_lines

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from walletframe import analysis
    from walletframe.analysis import selection
    from walletframe.frames.details import WalletDetails
    from walletframe.frames.groups import By
else:
    analysis, selection = map(LazyPackage, ("analysis", "analysis.selection"))


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
    """

    holdings: StoredHoldings

    @property
    def wallets(self) -> pd.DataFrame:
        """The wallets, as `read_wallets` returns them.

        Returns
        -------
        DataFrame
            One row for each wallet, in the order asked. Not to be changed.
        """
        return self.holdings.wallets

    @property
    def wf(self) -> StoredAccessor:
        """Tables of the folder, which say how complete they are.

        Returns
        -------
        StoredAccessor
            With calls of ``details.wf``, which read a part of the folder at a time.
        """
        return StoredAccessor(self.holdings)

    def __repr__(self) -> str:
        return "\n".join([*summary_lines(self.wallets), f"On the disk, in {self.holdings.root}"])


class StoredAccessor(PartitionedAccessor[StoredWallets]):
    """Tables of a folder, read a part at a time; the same as ``details.wf`` returns of its frames.

    `value`, `flag_spam` and `without_spam` return a `StoredWallets` again, whose balances have
    their columns, or are left out, whenever they are read; nothing on the disk changes. They read
    the tokens of all balances once, and prices and lists at once.

    Parameters
    ----------
    held : StoredHoldings
        The folder, opened.

    Raises
    ------
    DatasetError
        From each method, if a file is broken or gone.
    SettingsError
        From a method that is given ``wallets``: those of the folder count.
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

    _place = "on the disk"
    _read_into_memory = "read_wallets(folder, tokens=[…], wallets=[…])"

    def __init__(self, held: StoredHoldings) -> None:
        self._holdings, self._again = held, StoredWallets

    def _where(
        self,
        _function: object,
        /,
        *,
        spam: bool | None = None,
        small: float | None = None,
        **given: Any,
    ) -> WalletDetails:
        """Read a selection: all balances of the folder tell what is spam, and what has a price."""
        stored = StoredWallets(self._holdings)
        names = [*stored.holdings.whole.holdings]
        if spam is not None and stored.holdings.flags is None:
            stored = stored.wf.flag_spam()
        if small is not None and stored.holdings.units is None:
            stored = stored.wf.value()
        return selection.where_on_disk(stored.holdings, names, spam=spam, small=small, **given)

    where: Final = Delegate(lambda: analysis.where, _where)

    def _held(self, wallets: object, by: By) -> StoredHoldings:  # noqa: ARG002 - any cut can be read
        if wallets is not None:
            raise SettingsError("The folder has its own wallets.", hint="Leave out wallets=.")
        return self._holdings

    def _rows(self) -> StoredHoldings:
        return self._holdings
