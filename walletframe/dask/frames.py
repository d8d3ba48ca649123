"""``ddf.wf`` of any frame of Dask: of addresses, which are fetched, or of holdings.

The folder of a fetch is two such frames. A shard, the folder of one bulk run, is a partition: it
has its wallets with all of their balances, read where they are needed. Partitions are of the files
as they were when the folder was opened: what has changed since is refused.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import dask
import dask.dataframe as dd
import pandas as pd
from dask.base import is_dask_collection
from dask.dataframe.dispatch import make_meta
from dask.dataframe.extensions import register_dataframe_accessor
from dask.delayed import delayed

from walletframe.accessor import NAME
from walletframe.accessor.holdings import note_alone
from walletframe.accessor.partitioned import PartitionedAccessor
from walletframe.address.forms import COLUMNS, canonical_key
from walletframe.address.lists import distinct_labels, in_our_names, wallets_to_ask
from walletframe.bulk.files import Layout, dataset_errors
from walletframe.bulk.reading import service_of, with_told
from walletframe.bulk.summary import GOES_ON, Tally, conclude
from walletframe.client import check_on_failure, default_client, shown
from walletframe.dask.holdings import (
    Opened,
    balances_of,
    files_of,
    holdings_of,
    holdings_of_fetch,
    rows_alone,
    wallets_of,
)
from walletframe.dask.shards import claim, cluster_here, cut, fetch_shards
from walletframe.disk import local_folder
from walletframe.errors import ArgumentError, ColumnsError, FetchInterrupted, SettingsError
from walletframe.frameless import at_the_boundary
from walletframe.frames.assembly import assemble
from walletframe.frames.identity import wallet_identities
from walletframe.frames.joining import merge, read_wallets
from walletframe.frames.kept import names_to_keep
from walletframe.pandas_versions import TEXT
from walletframe.settings.values import require_service, require_settings
from walletframe.walletfile import read_given

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from walletframe.address.lists import OnUnreadable
    from walletframe.bulk import FetchSummary
    from walletframe.client import OnFailure, Progress
    from walletframe.dask.holdings import ClusterHoldings, WalletsLike
    from walletframe.frames.groups import By
    from walletframe.frames.identity import TokenKey
    from walletframe.frames.joining import How
    from walletframe.settings.values import Settings

_KEY = "_walletframe_key"
_SHARDS = 10_000  # at most

RowsT = TypeVar("RowsT")


class ClusterAccessor(PartitionedAccessor[RowsT]):
    """Tables of holdings in partitions; the same as ``details.wf`` returns of frames in memory.

    The graph is computed for the wallets of each partition and again for what each adds up to, and
    once more each for the names of tokens and the balances of those that are chosen. Of what
    `walletframe.dask.open_wallets` returns, the wallets are those of the other frame, whose graph
    is computed instead. ``persist()`` what takes long to make.

    Parameters
    ----------
    holdings : dask.dataframe.DataFrame
        With the columns of holdings; all rows of a wallet in one partition.
    wallets : dask.dataframe.DataFrame or None
        The wallets of the same fetch.
    again : callable
        Puts other holdings into the form in which these were given.

    Raises
    ------
    ArgumentError
        From tables, if rows of a wallet are in several partitions.
    FramesNeededError
        From what ``details.wf`` has beyond these calls, charts among them: it takes balances that
        are in memory.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd, walletframe.dask
    >>> frame = pd.DataFrame({"blockchain": ["ETH"], "address": ["0xa"]})
    >>> dd.from_pandas(frame, npartitions=1).wf.plot
    Traceback (most recent call last):
    walletframe.errors.FramesNeededError: plot takes balances that are in memory, ...
    """

    _place = "in partitions"
    _read_into_memory = 'holdings[holdings["symbol"] == "USDC"].compute()'

    def __init__(
        self,
        holdings: dd.DataFrame,
        wallets: dd.DataFrame | None,
        again: Callable[[dd.DataFrame], RowsT],
    ) -> None:
        self._data, self._wallets, self._again = holdings, wallets, again

    def _held(self, wallets: WalletsLike | None, by: By) -> ClusterHoldings:
        note_alone(wallets, self._wallets)
        if wallets is None and self._wallets is not None:
            return holdings_of_fetch(self._data, self._wallets, by)
        return holdings_of(self._data, wallets, by)

    def _rows(self) -> ClusterHoldings:
        return rows_alone(self._data)


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
            If there is no cluster, or its scheduler has another release, or workers can't fetch,
            which it names: without a key, with another release, or where the folder is not shared;
            nothing was asked then. If the scheduler is lost, or one shard's workers die again and
            again.
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
        files are those in the whole list. The scheduler keeps the rate for all workers; without it
        each keeps to its share of the last one. What else a worker warns of is in its log.

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
        check_on_failure(on_failure)
        given: object = shards
        if not isinstance(given, int) or isinstance(given, bool) or not 1 <= shards <= _SHARDS:
            raise ArgumentError(f"shards: {shards!r}", hint=f"a whole number from 1 to {_SHARDS:,}")
        require_settings(settings)
        root, names, tally = local_folder(folder).absolute(), names_to_keep(keep), Tally()
        settings = settings or default_client().settings
        if hasattr(settings.cache, "responses"):
            raise SettingsError(
                "cache: a requests-cache backend can't be sent to workers",
                hint='give a path, "memory" or False',
            )
        service, cluster = require_service(settings), cluster_here()
        frame = in_our_names(self._data)
        read_given(make_meta(frame), names)  # see that the columns are there before any is computed
        wanted = [*COLUMNS, *names] if {*COLUMNS} <= {*frame.columns} else [*frame.columns]
        reading = read_given(frame[wanted].compute(), names)
        asked = wallets_to_ask(reading, on_unreadable)
        cuts = cut(root, asked, distinct_labels(reading), shards)
        claim(root, service, shards)
        found: dict[str, FetchSummary] = {}
        drawing = shown(progress, len(asked), smoothing=0)
        is_interrupted = fetch_shards(cluster, root, cuts, settings, found, drawing)
        for each in found.values():
            tally.take_in(each)
        summary = tally.summary(root, service, len(asked))
        if is_interrupted:
            raise FetchInterrupted(summary, GOES_ON)
        conclude(summary, on_failure)
        return open_wallets(root)._replace(summary=summary)

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
        table = in_our_names(self._data) if on is None else self._data
        other: Any = frame
        mine, theirs = table._meta, getattr(other, "_meta", other)  # noqa: SLF001 - Dask's
        if on is None and not {*COLUMNS} <= {*mine.columns}:
            hint = 'name the column of "<BLOCKCHAIN>.<ADDRESS>" strings: on="wallet"'
            raise ColumnsError([*COLUMNS], [*map(str, mine.columns)], hint=hint)
        work = partial(_merged, how=how, on=on, suffixes=suffixes)
        meta = work(mine, theirs if not isinstance(theirs, pd.DataFrame) else theirs[:0])
        if not is_dask_collection(other):
            if how in ("left", "inner"):
                shared = delayed(other, pure=True, traverse=False)
                return table.map_partitions(work, shared, meta=meta)
            with dask.config.set({"dataframe.convert-string": False}):
                other = dd.from_pandas(other, npartitions=1)
        count = max(table.npartitions, other.npartitions)
        ours = _together(table, partial(_of_table, on=on), count)
        others = _together(other, _of_fetch, count)
        return ours.map_partitions(_joined, others, work, meta=meta, align_dataframes=False)


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
        none = assemble([])
        kept = [with_told(none.wallets, Layout(path)) for path in roots]
    widest = max(kept, key=lambda frame: len(frame.columns))
    with dask.config.set({"dataframe.convert-string": False}):  # which has another missing value
        wallets = dd.from_map(wallets_of, shards, meta=widest, args=[widest])
        holdings = dd.from_map(balances_of, shards, meta=none.holdings)
    return ClusterWallets(wallets, holdings)


def _merged(table: pd.DataFrame, frame: object, **given: Any) -> pd.DataFrame:
    """Merge without a word of rows that match nothing: they may in another partition."""
    return merge(table, frame, **given)[0]


def _together(
    frame: dd.DataFrame, keyed: Callable[[pd.DataFrame], pd.DataFrame], count: int
) -> dd.DataFrame:
    """Bring the rows of a wallet into one partition, which is the same for any frame."""
    meta = keyed(frame._meta)  # noqa: SLF001 - Dask's
    return frame.map_partitions(keyed, meta=meta).shuffle(_KEY, npartitions=count)


def _of_table(rows: pd.DataFrame, on: str | None) -> pd.DataFrame:
    found = read_wallets(rows, on)
    keys = [canonical_key(each.blockchain, each.address) if each else None for each in found]
    return _keyed(rows, keys)


def _of_fetch(rows: pd.DataFrame) -> pd.DataFrame:
    found = wallet_identities(rows)
    return _keyed(rows, [found.keys[code] for code in found.codes])


def _keyed(rows: pd.DataFrame, keys: Sequence[TokenKey | None]) -> pd.DataFrame:
    return rows.assign(**{_KEY: pd.array([str(key) for key in keys], dtype=TEXT)})


def _joined(
    table: pd.DataFrame, frame: pd.DataFrame, work: Callable[..., pd.DataFrame]
) -> pd.DataFrame:
    return work(*(rows.drop(columns=_KEY) for rows in (table, frame)))
