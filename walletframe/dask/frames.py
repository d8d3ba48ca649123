"""``ddf.wf`` of Dask's DataFrames: of addresses, which it fetches, or of holdings.

The folder of a fetch opens as two such frames. Each shard, the folder of one bulk run, is a
partition, with its wallets and all of their balances. Workers read a shard when they need it, and
raise if its files have changed since the folder was opened.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import dask
import dask.dataframe as dd
import pandas as pd
from dask.base import is_dask_collection
from dask.dataframe.dispatch import make_meta
from dask.dataframe.extensions import register_dataframe_accessor
from dask.delayed import delayed

from walletframe.accessor import NAME
from walletframe.accessor.holdings import warn_without_wallets
from walletframe.accessor.partitioned import PartitionedAccessor
from walletframe.address.forms import COLUMNS, canonical_key
from walletframe.address.lists import wallets_to_request, with_standard_columns
from walletframe.bulk.files import Layout, dataset_errors
from walletframe.bulk.reading import service_of, with_kept_columns
from walletframe.bulk.summary import RESUME_HINT, RunCounters, conclude
from walletframe.client import check_on_failure, default_client, progress_display
from walletframe.dask.holdings import (
    Opened,
    balances_of,
    holdings_of,
    holdings_of_fetch,
    holdings_without_wallets,
    list_files,
    wallets_of,
)
from walletframe.dask.shards import claim, cluster_here, fetch_shards, split_into_shards
from walletframe.disk import local_folder
from walletframe.errors import ArgumentError, ColumnsError, FetchInterrupted, SettingsError
from walletframe.frameless import at_the_boundary
from walletframe.frames.assembly import assemble
from walletframe.frames.identity import wallet_identities
from walletframe.frames.joining import merge, read_wallets
from walletframe.frames.kept import names_to_keep
from walletframe.pandas_versions import TEXT
from walletframe.settings.values import require_service, require_settings
from walletframe.walletfile import read_input

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from walletframe.address.lists import OnUnreadable
    from walletframe.bulk import FetchSummary
    from walletframe.client import OnFailure, Progress
    from walletframe.dask.holdings import ClusterHoldings, WalletsLike
    from walletframe.frames.groups import By
    from walletframe.frames.identity import TokenKey
    from walletframe.frames.joining import How
    from walletframe.settings.values import Settings

_KEY_COLUMN = "_walletframe_key"
_CONFIG_LOCK = Lock()
_MAX_SHARDS = 10_000

RowsT = TypeVar("RowsT")


class ClusterAccessor(PartitionedAccessor[RowsT]):
    """Tables of holdings in partitions, equal to those of ``details.wf`` in memory.

    A table computes the graph twice: to find the wallets of each partition, and to aggregate. A
    table of chosen tokens computes it twice more: for the names of tokens, and for their balances.
    For the frames of `walletframe.dask.open_wallets`, the graph of ``wallets`` is computed to find
    the wallets. ``persist()`` frames whose graph takes long.

    Parameters
    ----------
    holdings : dask.dataframe.DataFrame
        With the columns of holdings; all rows of a wallet in one partition.
    wallets : dask.dataframe.DataFrame or None
        The wallets of the same fetch.
    again : callable
        Returns the object that has this accessor, with other holdings.

    Raises
    ------
    ArgumentError
        From tables, if rows of a wallet are in several partitions.
    FramesNeededError
        From other calls of ``details.wf``, such as charts, which need balances in memory.

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
        self._data, self._wallets, self._make_fetch = holdings, wallets, again

    def _with_wallets(self, wallets: WalletsLike | None, by: By) -> ClusterHoldings:
        warn_without_wallets(wallets, self._wallets)
        if wallets is None and self._wallets is not None:
            return holdings_of_fetch(self._data, self._wallets, by)
        return holdings_of(self._data, wallets, by)

    def _without_wallets(self) -> ClusterHoldings:
        return holdings_without_wallets(self._data)


@register_dataframe_accessor(NAME)
class FrameAccessor(ClusterAccessor["dd.DataFrame"]):
    """Holdings, or addresses, in a Dask DataFrame.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        Any.

    Raises
    ------
    FramesNeededError
        From other calls of a pandas frame's ``.wf``.

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
    def fetch(  # noqa: PLR0913 - options
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

        To resume after killed workers, a killed scheduler, an interrupt or any other failure,
        repeat the call: only the wallets that are not ok in the folder are requested.

        Parameters
        ----------
        folder : str or Path
            A new or an empty folder, or the folder of an earlier call, on a drive that is mounted
            at the same path on all workers and on this machine.
        keep : str or list of str, optional
            Columns of this frame, such as ``["name", "owner"]``, that are added behind the columns
            of ``wallets``.
        settings : Settings, optional
            The service's settings; those of the default client if not given, see `configure`.
            Workers take the key from their own environment, ``WALLETFRAME_API_KEY``.
        shards : int, default 64
            The number of folders that the wallets are split into, by a hash of the address. Each is
            one task: several for each thread of the cluster balance the load. A folder's number of
            shards can't change.
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
            The frames ``wallets`` and ``holdings``, as from `open_wallets`, with a partition for
            each shard that has wallets, and the ``summary``, a `FetchSummary` of all shards.

        Raises
        ------
        ClusterError
            If there is no cluster, its scheduler has another release, or some workers can't fetch
            (no key, another release, or the folder is not shared); the error names these workers,
            and no request was sent. If the scheduler is lost, or one shard's workers die
            repeatedly.
        ArgumentError, SettingsError
            If `shards` is not an integer from 1 to 10,000, an option is none of its choices, a
            column to keep has a name that walletframe uses, or the base address is not set.
        AddressError, ColumnsError
            Lists all wallets that can't be read, or columns that the frame lacks; no request was
            sent.
        DatasetError
            If the folder is a URL, has another number of shards, other files or another service's
            wallets; if another run keeps writing into a shard, perhaps on a lost worker (the error
            names it); or if the disk is full.
        FetchError
            With ``on_failure="raise"``; its ``.details`` are the summary.
        FetchInterrupted
            After Ctrl-C or the notebook's stop button, when all workers have ended; its
            ``.details`` are the summary.

        Warns
        -----
        FetchWarning
            With ``on_failure="warn"``, if wallets are not ok.
        InputWarning
            If wallets are repeated or left out, a blockchain is unknown, or rows of one wallet have
            different values to keep: the first one is kept.

        See Also
        --------
        walletframe.fetch_to_parquet : The same on one machine; each shard is such a folder.

        Notes
        -----
        The list is computed and checked on this machine, about 500 bytes per wallet. ``position``
        in the files is the position in the whole list. The scheduler keeps the rate for all
        workers; if it is lost, each worker keeps to its share of the last rate. Other warnings of a
        worker are in its log.

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
        value: object = shards
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= shards <= _MAX_SHARDS:
            hint = f"give an integer from 1 to {_MAX_SHARDS:,}"
            raise ArgumentError(f"shards can't be {shards!r}", hint)
        require_settings(settings)
        root, names, counters = local_folder(folder).absolute(), names_to_keep(keep), RunCounters()
        settings = settings or default_client().settings
        if hasattr(settings.cache, "responses"):
            raise SettingsError(
                "the cache is a requests-cache backend, which can't be sent to workers",
                hint='give cache=… as a path, "memory" or False',
            )
        service, cluster = require_service(settings), cluster_here()
        frame = with_standard_columns(self._data)
        read_input(make_meta(frame), names)  # raises for missing columns before any is computed
        wanted = [*COLUMNS, *names] if {*COLUMNS} <= {*frame.columns} else [*frame.columns]
        reading = read_input(frame[wanted].compute(), names)
        requested, labels = wallets_to_request(reading, on_unreadable)
        parts = split_into_shards(root, requested, labels, shards)
        claim(root, service, shards)
        summaries: dict[str, FetchSummary] = {}
        display = progress_display(progress, len(requested), smoothing=0)
        is_interrupted = fetch_shards(cluster, root, parts, settings, summaries, display)
        for each in summaries.values():
            counters.add_summary(each)
        summary = counters.summary(root, service, len(requested))
        if is_interrupted:
            raise FetchInterrupted(summary, RESUME_HINT)
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
            The rows to keep: all of your table, those in both, all of `frame`, or all of both.
        on : str, optional
            The column of your table that has wallets as ``"ETH.0x…"``, if it has no ``blockchain``
            and ``address``.
        suffixes : (str, str), default ("_yours", "")
            Appended to the names of other columns that are in both.

        Returns
        -------
        dask.dataframe.DataFrame
            The same rows and columns. The join is lazy, without a warning about rows that have no
            match. With `how` left or inner, a `frame` in memory is sent to all workers, and your
            rows keep their order; else both are shuffled by wallet.

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
        table = with_standard_columns(self._data) if on is None else self._data
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
            with _own_text_dtypes():
                other = dd.from_pandas(other, npartitions=1)
        count = max(table.npartitions, other.npartitions)
        ours = _shuffle_by_wallet(table, partial(_key_table, on=on), count)
        others = _shuffle_by_wallet(other, _key_frame, count)
        return ours.map_partitions(_merge_keyed, others, work, meta=meta, align_dataframes=False)


class ClusterWallets(NamedTuple):
    """A fetch in a folder that all workers can read: two Dask DataFrames and a summary.

    Attributes
    ----------
    wallets : dask.dataframe.DataFrame
        One row for each distinct wallet, with the columns of `WalletDetails.wallets`, a partition
        for each shard, each in the order requested.
    holdings : dask.dataframe.DataFrame
        One row for each balance, with the columns of `WalletDetails.holdings`; partition i has the
        holdings of the wallets in partition i of `wallets`.
    summary : FetchSummary or None
        The counts of the fetch; None if the folder was opened without a fetch.
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
            With calls of ``details.wf``, which are computed on the workers.
        """
        return ClusterAccessor(self.holdings, self.wallets, self._with_holdings)

    def _with_holdings(self, holdings: dd.DataFrame) -> ClusterWallets:
        return self._replace(holdings=holdings)


def open_wallets(folder: str | Path) -> ClusterWallets:
    """Open the folder of a fetch as Dask DataFrames, without fetching or reading balances.

    Parameters
    ----------
    folder : str or Path
        A folder of `fetch_to_parquet`, or a folder whose direct subfolders are such folders: each
        is a partition. All workers need access to it under this path.

    Returns
    -------
    ClusterWallets
        The frames ``wallets`` and ``holdings``, and None for the summary. Workers read a shard
        when a partition is computed, and only the columns of holdings that are needed.

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
        folders = [root, *sorted(path for path in root.glob("*") if path.is_dir())]
        roots = [path for path in folders if Layout(path).service() is not None]
        if not roots:
            service_of(Layout(root))  # raises
        shards = [Opened(path, list_files(path)) for path in roots]
        none = assemble([])
        kept = [with_kept_columns(none.wallets, Layout(path)) for path in roots]
    widest = max(kept, key=lambda frame: len(frame.columns))
    with _own_text_dtypes():
        wallets = dd.from_map(wallets_of, shards, meta=widest, args=[widest])
        holdings = dd.from_map(balances_of, shards, meta=none.holdings)
    return ClusterWallets(wallets, holdings)


@contextmanager
def _own_text_dtypes() -> Iterator[None]:
    """Keep text dtypes as they are: Dask's conversion changes the missing value.

    Dask restores what it met, so that two threads that change its settings at once leave a change.
    """
    with _CONFIG_LOCK, dask.config.set({"dataframe.convert-string": False}):
        yield


def _merged(table: pd.DataFrame, frame: object, **options: Any) -> pd.DataFrame:
    """Merge without a warning about unmatched rows: another partition may match them."""
    return merge(table, frame, **options)[0]


def _shuffle_by_wallet(
    frame: dd.DataFrame, keyed: Callable[[pd.DataFrame], pd.DataFrame], count: int
) -> dd.DataFrame:
    """Bring the rows of a wallet into one partition, with the same number for all frames."""
    meta = keyed(frame._meta)  # noqa: SLF001 - Dask's
    return frame.map_partitions(keyed, meta=meta).shuffle(_KEY_COLUMN, npartitions=count)


def _key_table(rows: pd.DataFrame, on: str | None) -> pd.DataFrame:
    wallets = read_wallets(rows, on)
    keys = [canonical_key(each.blockchain, each.address) if each else None for each in wallets]
    return _with_key(rows, keys)


def _key_frame(rows: pd.DataFrame) -> pd.DataFrame:
    ids = wallet_identities(rows)
    return _with_key(rows, [ids.keys[code] for code in ids.codes])


def _with_key(rows: pd.DataFrame, keys: Sequence[TokenKey | None]) -> pd.DataFrame:
    return rows.assign(**{_KEY_COLUMN: pd.array([str(key) for key in keys], dtype=TEXT)})


def _merge_keyed(
    table: pd.DataFrame, frame: pd.DataFrame, work: Callable[..., pd.DataFrame]
) -> pd.DataFrame:
    return work(*(rows.drop(columns=_KEY_COLUMN) for rows in (table, frame)))
