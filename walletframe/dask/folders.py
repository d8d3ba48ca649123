"""Folders of Parquet files as frames of Dask: a shard is a partition, read where it is needed.

A shard is the folder of one bulk run, and has its wallets with all of their balances. Partitions
are of the files as they were when the folder was opened: what has changed since is refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import dask
import dask.dataframe as dd

from walletframe.bulk.files import Layout, dataset_errors
from walletframe.bulk.reading import service_of, with_told
from walletframe.dask.accessor import ClusterAccessor
from walletframe.dask.reading import Opened, balances_of, files_of, wallets_of
from walletframe.frames import HOLDING_DTYPES, WALLET_DTYPES, typed_frame

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.bulk import FetchSummary


class ClusterWallets(NamedTuple):
    """A fetch in a folder that all workers can read: two frames of Dask, and how it went.

    Attributes
    ----------
    wallets : dask.dataframe.DataFrame
        One row for each distinct wallet, with the columns of `WalletDetails.wallets`, a partition
        for each shard, in the order asked within each.
    holdings : dask.dataframe.DataFrame
        One row for each balance, with the columns of `WalletDetails.holdings`; the wallets of a
        partition are those of the same partition of `wallets`.
    summary : FetchSummary or None
        How the fetch went; None where a folder was opened without one.
    """

    wallets: dd.DataFrame
    holdings: dd.DataFrame
    summary: FetchSummary | None = None

    @property
    def wf(self) -> ClusterAccessor[ClusterWallets]:
        """Tables of the fetch, which say how complete they are.

        Returns
        -------
        ClusterAccessor
            With calls of ``details.wf``, which are worked out where the partitions are.
        """
        return ClusterAccessor(self.holdings, self.wallets, self._again)

    def _again(self, holdings: dd.DataFrame) -> ClusterWallets:
        return self._replace(holdings=holdings)


def open_wallets(folder: str | Path) -> ClusterWallets:
    """Open the folder of a fetch as frames of Dask, without fetching or reading balances.

    Parameters
    ----------
    folder : str or Path
        What `fetch_to_parquet` has written, or a folder whose direct subfolders are such folders:
        each of these is a partition. All workers have to see it under this path.

    Returns
    -------
    ClusterWallets
        The frames ``wallets`` and ``holdings``, and None for the summary. Workers read a shard
        when a partition is computed, of holdings only the columns that are needed.

    Raises
    ------
    DatasetError
        If there is no such folder; on a worker, if a file is broken or has changed since.

    See Also
    --------
    walletframe.open_wallets : The same on one machine, without Dask.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import walletframe as wf, walletframe.dask
    >>> with TemporaryDirectory() as folder, wf.sandbox() as service:
    ...     with service.client(cache=False) as client:
    ...         summary = wf.fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
    ...     wallets, holdings, _ = walletframe.dask.open_wallets(folder)
    ...     wallets["address"].compute().item()
    'alice.near'
    """
    root = Path(folder).absolute()
    with dataset_errors(root):
        found = [root, *sorted(path for path in root.glob("*") if path.is_dir())]
        roots = [path for path in found if Layout(path).service() is not None]
        if not roots:
            service_of(Layout(root))
        shards = [Opened(path, files_of(path)) for path in roots]
        kept = [with_told(_none(WALLET_DTYPES), Layout(path)) for path in roots]
    widest = max(kept, key=lambda frame: len(frame.columns))
    with dask.config.set({"dataframe.convert-string": False}):  # which has another missing value
        wallets = dd.from_map(wallets_of, shards, meta=widest, args=[widest])
        holdings = dd.from_map(balances_of, shards, meta=_none(HOLDING_DTYPES))
    return ClusterWallets(wallets, holdings)


def _none(dtypes: dict[str, object]) -> pd.DataFrame:
    return typed_frame(dict.fromkeys(dtypes, ()), dtypes)
