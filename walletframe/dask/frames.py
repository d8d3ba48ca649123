"""``ddf.wf`` of any frame of Dask: of addresses, which are fetched, or of holdings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dask.dataframe.extensions import register_dataframe_accessor

from walletframe.accessor import NAME
from walletframe.dask.accessor import ClusterAccessor
from walletframe.dask.fetching import fetch
from walletframe.dask.rows import joined
from walletframe.frameless import at_the_boundary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import dask.dataframe as dd
    import pandas as pd

    from walletframe.address import OnUnreadable
    from walletframe.client import OnFailure, Progress
    from walletframe.dask.folders import ClusterWallets
    from walletframe.frames import How
    from walletframe.settings import Settings


@register_dataframe_accessor(NAME)
class FrameAccessor(ClusterAccessor["dd.DataFrame"]):
    """Holdings, or addresses, in a frame of Dask.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        Any.

    Raises
    ------
    FramesNeededError
        From what a pandas frame's ``.wf`` has beyond these calls.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd, walletframe.dask
    >>> frame = pd.DataFrame({"blockchain": ["ETH"], "address": ["0xa"]})
    >>> type(dd.from_pandas(frame, npartitions=1).wf).__name__
    'FrameAccessor'
    """

    def __init__(self, frame: dd.DataFrame) -> None:
        super().__init__(frame, None, lambda holdings: holdings)

    @at_the_boundary
    def fetch(  # noqa: PLR0913 - what a caller may wish
        self,
        folder: str | Path,
        *,
        keep: str | Sequence[str] = (),
        settings: Settings | None = None,
        shards: int = 64,
        progress: Progress = None,
        on_failure: OnFailure = "warn",
        on_unreadable: OnUnreadable = "raise",
    ) -> ClusterWallets:
        """Fetch the tokens of the wallets on the cluster, into a folder that all workers share.

        To resume after anything, killed workers, a killed scheduler or an interrupt, repeat the
        call: only the wallets that are not ok in the folder are requested.

        Parameters
        ----------
        folder : str or Path
            A new or an empty folder, or one that an earlier call has begun, on a drive that is
            mounted at the same place on all workers, and here.
        keep : str or list of str, optional
            Columns of this frame, such as ``["name", "owner"]``: what you know of the wallets, to
            come behind the columns of ``wallets``.
        settings : Settings, optional
            How to ask the service; those of the default client if not given, see `configure`.
            Workers take the key from their own environment, ``WALLETFRAME_API_KEY``.
        shards : int, default 64
            How many folders the wallets are cut into, by their addresses. Each is one task, so
            several for each thread of the cluster even them out; another number needs another
            folder.
        progress : bool or callable, optional
            False hides the progress bar; a callable gets (done, total, counts by status). Wallets
            that were ok in the folder before count as done.
        on_failure : {"warn", "raise", "ignore"}, default "warn"
            What to do if wallets are not ok.
        on_unreadable : {"raise", "drop"}, default "raise"
            What to do with rows that can't be read; empty rows are always skipped.

        Returns
        -------
        ClusterWallets
            The frames ``wallets`` and ``holdings``, as from `open_wallets`, a partition for each
            shard that has wallets, and the ``summary``, a `FetchSummary` of all.

        Raises
        ------
        ClusterError
            If there is no cluster, or workers can't fetch, which it names: without a key, with
            another release, or where the folder is not shared; nothing was asked then. If the
            scheduler is lost, or one shard's workers die again and again.
        ArgumentError, SettingsError
            If `shards` is no number from 1 to 10,000, an option is none of its choices, a column to
            keep has a name that walletframe uses, or the base address is not set.
        AddressError, ColumnsError
            Lists all wallets that can't be read, or columns that the frame lacks; none was asked.
        DatasetError
            If the folder is a URL, has another number of shards, holds something else or another
            service's wallets; if another run keeps writing into a shard, perhaps on a worker that
            was given up, which it names; or if the disk is full.
        FetchError
            With ``on_failure="raise"``; its ``.details`` are the summary.
        FetchInterrupted
            After Ctrl-C or the notebook's stop button, when all workers have ended; its
            ``.details`` are the summary.

        Warns
        -----
        FetchWarning
            With ``on_failure="warn"``, where wallets are not ok.
        InputWarning
            If wallets are repeated or left out, a blockchain is unknown, or rows of one wallet
            differ in what is kept: the first value is.

        See Also
        --------
        walletframe.fetch_to_parquet : The same on one machine; each shard is such a folder.

        Notes
        -----
        The list is computed and checked on this machine, about 500 bytes a wallet. Positions in the
        files are those in the whole list. Without `Settings.pace` each worker keeps to its part of
        ``requests_per_second``, as many as there are at the start; those of one machine share a
        cache file and its pace. What else a worker warns of is in its log.

        Examples
        --------
        >>> import os, tempfile
        >>> import dask.dataframe as dd, pandas as pd, walletframe.dask
        >>> from distributed import Client
        >>> addresses = pd.DataFrame({"wallet": ["NEAR.alice.near", "NEAR.bob.near"]})
        >>> with (
        ...     walletframe.sandbox() as service,
        ...     tempfile.TemporaryDirectory() as folder,
        ...     Client(processes=False, dashboard_address=":0") as cluster,
        ... ):
        ...     settings = service.settings(cache=False)
        ...     os.environ["WALLETFRAME_API_KEY"] = settings.api_key.reveal()
        ...     frame = dd.from_pandas(addresses, npartitions=1)
        ...     wallets, holdings, summary = frame.wf.fetch(folder, settings=settings, shards=2)
        ...     wallets["status"].compute().tolist()
        ['ok', 'ok']
        """
        return fetch(
            self._data,
            folder,
            keep=keep,
            settings=settings,
            shards=shards,
            progress=progress,
            on_failure=on_failure,
            on_unreadable=on_unreadable,
        )

    def join(
        self,
        frame: dd.DataFrame | pd.DataFrame,
        how: How = "left",
        *,
        on: str | None = None,
        suffixes: tuple[str, str] = ("_yours", ""),
    ) -> dd.DataFrame:
        """Merge your own table with ``wallets`` or ``holdings``, as a pandas frame's ``.wf`` does.

        Parameters
        ----------
        frame : DataFrame
            ``wallets`` or ``holdings`` of a fetch, in partitions or in memory.
        how : {"left", "inner", "right", "outer"}, default "left"
            Which rows to keep: all of your table, those of both, all of `frame`, or all.
        on : str, optional
            The column of your table that has wallets as ``"ETH.0x…"``, if it has no ``blockchain``
            and ``address``.
        suffixes : (str, str), default ("_yours", "")
            Appended to the names of the other columns that both have.

        Returns
        -------
        dask.dataframe.DataFrame
            The same rows and columns. Nothing is computed, and nothing said of rows without a
            match. A `frame` in memory goes to all workers, and rows stay in their order where all
            others, or none, are kept: left or inner. Else both are shuffled by wallet.

        Raises
        ------
        ArgumentError, ColumnsError
            If `frame` is not a DataFrame, or either lacks the columns that name the wallets.
        SettingsError
            If `how` is none of its choices, or the suffixes give two columns one name.

        Examples
        --------
        >>> import dask.dataframe as dd, pandas as pd, walletframe as wf, walletframe.dask
        >>> with wf.sandbox() as service, service.client(cache=False) as client:
        ...     wallets, holdings = client.fetch(["NEAR.alice.near"])
        >>> people = pd.DataFrame({"wallet": [" near.alice.near"], "name": ["Alice"]})
        >>> parts = dd.from_pandas(people, npartitions=1)
        >>> parts.wf.join(wallets, on="wallet")[["name", "address", "status"]].compute()
            name     address status
        0  Alice  alice.near     ok
        """
        return joined(self._data, frame, how, on=on, suffixes=suffixes)
