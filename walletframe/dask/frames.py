"""The accessor ``ddf.wf`` of Dask DataFrames that contain holdings, or addresses to fetch."""

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
from walletframe.address.lists import OnUnreadable, rename_wallet_columns, wallets_and_extra_columns
from walletframe.bulk.files import Paths, as_dataset_errors
from walletframe.bulk.reading import append_extra_columns, warn_if_unfinished
from walletframe.bulk.summary import RESUME_HINT, FetchSummary, RunCounters, warn_or_raise
from walletframe.client import check_on_failure, default_client, progress_display
from walletframe.dask.holdings import (
    SizedFolder,
    holdings_of_fetch,
    holdings_with_dummy_wallet,
    holdings_with_partition_wallets,
    meta_of,
    non_holdings_files_and_sizes,
    read_folder_balances,
    read_folder_wallets,
)
from walletframe.dask.shards import claim_folder, fetch_shards, require_cluster, split_into_shards
from walletframe.disk import local_path
from walletframe.errors import ArgumentError, ColumnsError, FetchInterrupted, SettingsError
from walletframe.frames.assembly import assemble
from walletframe.frames.extra_columns import check_keep
from walletframe.frames.groups import By, by_as_list
from walletframe.frames.identity import encode_wallets
from walletframe.frames.joining import merge_by_wallet, parse_row_wallets, warn_repeated_wallets
from walletframe.frames.positions import reject_mixed_snapshots
from walletframe.frames.schema import SNAPSHOT
from walletframe.pandas_versions import TEXT
from walletframe.settings.values import Settings, require_service, require_settings
from walletframe.tracebacks import strip_address_tracebacks
from walletframe.walletfile import read_input

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from walletframe.client import OnFailure, Progress
    from walletframe.dask.holdings import ClusterHoldings, WalletsLike
    from walletframe.frames.joining import How

_NO_KEYS = pd.Series([], dtype=TEXT)
_CONFIG_LOCK = Lock()
_MAX_SHARDS = 10_000

RowsT = TypeVar("RowsT")


class ClusterAccessor(PartitionedAccessor[RowsT]):
    """Methods that compute tables from holdings in a Dask DataFrame.

    The results equal the tables of ``details.wf`` in memory. A method computes the graph of the
    DataFrame one to four times. If the graph is slow to compute, call ``persist()`` first.

    Parameters
    ----------
    holdings : dask.dataframe.DataFrame
        The holdings. All rows of a wallet must be in one partition.
    wallets : dask.dataframe.DataFrame or None
        The wallets of the same fetch.
    wrap : callable
        A function that converts holdings to the return type of methods such as `value`.

    Raises
    ------
    ArgumentError
        Raised by the methods if rows of a wallet are in several partitions.
    FramesNeededError
        Raised by methods that need balances in memory, such as ``plot``.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd, walletframe.dask
    >>> frame = pd.DataFrame({"blockchain": ["NEAR"], "address": ["alice.near"]})
    >>> dd.from_pandas(frame, npartitions=1).wf.plot
    Traceback (most recent call last):
    walletframe.errors.FramesNeededError: plot needs balances in memory, ...
    """

    _location = "in a Dask DataFrame"
    _read_example = 'holdings[holdings["symbol"] == "USDC"].compute()'

    def __init__(
        self,
        holdings: dd.DataFrame,
        wallets: dd.DataFrame | None,
        wrap: Callable[[dd.DataFrame], RowsT],
    ) -> None:
        self._data, self._wallets, self._wrap_holdings = holdings, wallets, wrap

    def _holdings_with_wallets(self, wallets: WalletsLike | None, by: By) -> ClusterHoldings:
        warn_without_wallets(wallets, self._wallets)
        if SNAPSHOT in self._data.columns and SNAPSHOT not in by_as_list(by):
            reject_mixed_snapshots(self._data[[SNAPSHOT]].drop_duplicates().compute())
        if wallets is None and self._wallets is not None:
            return holdings_of_fetch(self._data, self._wallets, by)
        return holdings_with_partition_wallets(self._data, wallets, by)

    def _holdings_without_wallets(self) -> ClusterHoldings:
        return holdings_with_dummy_wallet(self._data)


@register_dataframe_accessor(NAME)
class FrameAccessor(ClusterAccessor["dd.DataFrame"]):
    """The accessor of a Dask DataFrame that contains holdings or addresses.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        Any Dask DataFrame. Each method checks the columns that it needs.

    Raises
    ------
    FramesNeededError
        Raised by methods that need balances in memory, such as ``plot``.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd, walletframe.dask
    >>> frame = pd.DataFrame({"blockchain": ["NEAR"], "address": ["alice.near"]})
    >>> type(dd.from_pandas(frame, npartitions=1).wf).__name__
    'FrameAccessor'
    """

    def __init__(self, frame: dd.DataFrame) -> None:
        super().__init__(frame, None, lambda holdings: holdings)

    @strip_address_tracebacks
    def fetch(  # noqa: PLR0913 - users pass each option by name
        self,
        folder: str | Path,
        *,
        keep: str | Sequence[str] = (),
        settings: Settings | None = None,
        shards: int = 64,
        progress: Progress = None,
        on_failure: OnFailure = "warn",
        on_unreadable: OnUnreadable = "raise",
        fix: bool = False,
    ) -> ClusterWallets:
        """Fetch the tokens of the wallets with a Dask cluster, into a folder on a shared drive.

        To resume the fetch after an interrupt or a failure, repeat the call. Wallets with the
        status ok are not requested again.

        Parameters
        ----------
        folder : str or Path
            A new folder, an empty folder, or the folder of an earlier call. All workers and this
            machine must have access to the folder at the same path.
        keep : str or list of str, optional
            Extra columns to keep, as for `walletframe.fetch_to_parquet`.
        settings : Settings, optional
            The settings, by default from `configure`. Each worker reads the API key from the
            environment variable ``WALLETFRAME_API_KEY``.
        shards : int, default 64
            The number of shards. Each shard is one task and one subfolder. Use several shards per
            thread. Later calls for the same folder must pass the same number.
        progress, on_failure, on_unreadable, fix : optional
            Options, as for `walletframe.fetch_to_parquet`.

        Returns
        -------
        ClusterWallets
            The frames ``wallets`` and ``holdings``, with one partition per nonempty shard, and the
            ``summary`` of all shards.

        Raises
        ------
        ClusterError
            If there is no cluster, if the scheduler is lost, or if a shard kills several workers.
            Also if a worker has a different version of walletframe, no API key or no access to the
            folder. The error then names the worker, and no request was sent.
        ArgumentError
            If `shards` is not an integer from 1 to 10,000.
        DatasetError
            As `walletframe.fetch_to_parquet`. Also if the folder has a different number of shards,
            or if a lost worker is still writing. The error names the process.
        SettingsError, AddressError, ColumnsError, FetchError, FetchInterrupted
            As `walletframe.fetch_to_parquet`.

        Warns
        -----
        FetchWarning, InputWarning
            As `walletframe.fetch_to_parquet`.

        See Also
        --------
        walletframe.fetch_to_parquet : Fetch on one machine, without Dask.

        Notes
        -----
        This machine computes and checks the list of wallets, and needs about 500 bytes of memory
        per wallet. In the files, the column ``position`` is the position in this complete list. All
        workers share the rate limit. If the scheduler is lost, they divide the last rate among
        themselves. Warnings that are not listed under Warns are in the workers' logs.

        Examples
        --------
        >>> import os, tempfile, dask.dataframe as dd, pandas as pd, walletframe.dask
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
            hint = f"use an integer from 1 to {_MAX_SHARDS:,}"
            raise ArgumentError(f"shards={shards!r} is not valid", hint)
        require_settings(settings)
        root, names, counters = local_path(folder).absolute(), check_keep(keep), RunCounters()
        settings = settings or default_client().settings
        if hasattr(settings.cache, "responses"):
            raise SettingsError(
                "the cache is a requests-cache backend, which can't be sent to workers",
                hint='set cache=… to a path, "memory" or False',
            )
        service, cluster = require_service(settings), require_cluster()
        frame = rename_wallet_columns(self._data)
        read_input(make_meta(frame), names)  # raises an error if columns are missing
        wanted = [*COLUMNS, *names] if {*COLUMNS} <= {*frame.columns} else [*frame.columns]
        parsed = read_input(frame[wanted].compute(), names)
        requested, labels = wallets_and_extra_columns(parsed, on_unreadable, fix=fix)
        parts = split_into_shards(root, requested, labels, shards)
        claim_folder(root, service, shards)
        summaries: dict[str, FetchSummary] = {}
        display = progress_display(progress, len(requested), smoothing=0)
        is_interrupted = fetch_shards(cluster, root, parts, settings, summaries, display)
        for each in summaries.values():
            counters.add_summary(each)
        summary = counters.summary(root, service, len(requested))
        if is_interrupted:
            raise FetchInterrupted(summary, RESUME_HINT)
        warn_or_raise(summary, on_failure)
        return open_wallets(root)._replace(summary=summary)

    def join(
        self,
        frame: dd.DataFrame | pd.DataFrame,
        how: How = "left",
        *,
        on: str | None = None,
        suffixes: tuple[str, str] = ("_yours", ""),
    ) -> dd.DataFrame:
        """Merge your own table with ``wallets`` or ``holdings``, like ``.wf.join`` in pandas.

        Parameters
        ----------
        frame : DataFrame
            The ``wallets`` or ``holdings`` of a fetch, in pandas or Dask.
        how, on, suffixes : optional
            As for ``.wf.join`` in pandas. If your table lacks ``blockchain`` or ``address``, `on`
            is required.

        Returns
        -------
        dask.dataframe.DataFrame
            The same rows and columns as in pandas. The join is lazy. Only the check for repeated
            wallets computes the columns with wallets. A left or inner join with a pandas DataFrame
            sends it to all workers, and keeps the order of your rows. All other joins shuffle rows.

        Raises
        ------
        ArgumentError, ColumnsError
            If `frame` is not a DataFrame, or if a table lacks the columns with wallets.
        SettingsError
            If `how` has an invalid value, or if two columns of the result would have the same name.

        Warns
        -----
        InputWarning
            If a wallet with balances is in several rows of your table.

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
        table = rename_wallet_columns(self._data) if on is None else self._data
        other: Any = frame
        table_meta, frame_meta = meta_of(table), getattr(other, "_meta", other)
        if on is None and not {*COLUMNS} <= {*table_meta.columns}:
            hint = 'pass the name of the column with strings such as "ETH.0x…": on="wallet"'
            raise ColumnsError([*COLUMNS], [*map(str, table_meta.columns)], hint=hint)
        merge_rows = partial(_merge_without_warning, how=how, on=on, suffixes=suffixes)
        empty = frame_meta[:0] if isinstance(frame_meta, pd.DataFrame) else frame_meta
        meta = merge_rows(table_meta, empty)
        if not is_dask_collection(other):
            with _unchanged_text_dtypes():
                other = dd.from_pandas(other, npartitions=1, sort=False)
        rows, read_keys = table[[*COLUMNS] if on is None else [on]], partial(_wallet_keys, on=on)
        user_keys = rows.map_partitions(read_keys, meta=_NO_KEYS)
        frame_keys = other[[*COLUMNS]].map_partitions(_wallet_key_by_row, meta=_NO_KEYS)
        if "amount" in frame_meta:
            counts = user_keys.value_counts()
            if repeated := [*counts[counts > 1].compute().index]:
                warn_repeated_wallets(len(frame_keys[frame_keys.isin(repeated)].unique().compute()))
        if other is not frame and how in ("left", "inner"):
            shared = delayed(frame, pure=True, traverse=False)
            return table.map_partitions(merge_rows, shared, meta=meta)
        count = max(table.npartitions, other.npartitions)
        # In both frames, a wallet's rows move to the partition with the same number.
        shuffled_frame = other.shuffle(frame_keys, npartitions=count)
        return table.shuffle(user_keys, npartitions=count).map_partitions(
            merge_rows, shuffled_frame, meta=meta, align_dataframes=False
        )


class ClusterWallets(NamedTuple):
    """The result of a fetch with Dask: two DataFrames and a summary.

    Attributes
    ----------
    wallets : dask.dataframe.DataFrame
        One row per distinct wallet, with the columns of `WalletDetails.wallets`. A partition has
        the wallets of one subfolder, in the order in which they were requested.
    holdings : dask.dataframe.DataFrame
        One row per balance, with the columns of `WalletDetails.holdings`. Partition i contains the
        balances of the wallets in partition i of `wallets`.
    summary : FetchSummary or None
        The summary of the fetch, or None after `open_wallets`.
    """

    wallets: dd.DataFrame
    holdings: dd.DataFrame
    summary: FetchSummary | None = None

    @property
    def wf(self) -> ClusterAccessor[ClusterWallets]:
        """Methods of ``details.wf`` that run on the workers."""
        return ClusterAccessor(self.holdings, self.wallets, lambda new: self._replace(holdings=new))


def open_wallets(folder: str | Path) -> ClusterWallets:
    """Open the folder of a fetch as Dask DataFrames, without fetching or reading balances.

    Parameters
    ----------
    folder : str or Path
        The folder of ``ddf.wf.fetch`` or `fetch_to_parquet`, or a folder that contains folders of
        `fetch_to_parquet`. All workers must be able to read the folder at the same path.

    Returns
    -------
    ClusterWallets
        The lazy frames ``wallets`` and ``holdings``. Each folder of `fetch_to_parquet` is one
        partition. Workers read only the needed columns of ``holdings``. The ``summary`` is None.

    Raises
    ------
    DatasetError
        If `folder` is not such a folder. During a computation: if a file has changed.

    See Also
    --------
    walletframe.open_wallets : Open a folder on one machine, without Dask.

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
    with as_dataset_errors(root):
        folders = [root, *sorted(path for path in root.glob("*") if path.is_dir())]
        roots = [path for path in folders if Paths(path).read_service() is not None]
        for paths in map(Paths, roots or [root]):  # raises an error if `roots` is empty
            paths.require_service()
            warn_if_unfinished(paths, {})
        shards = [SizedFolder(path, non_holdings_files_and_sizes(path)) for path in roots]
        empty = assemble([])
        wallet_frames = [append_extra_columns(empty.wallets, Paths(path)) for path in roots]
    widest = max(wallet_frames, key=lambda frame: len(frame.columns))
    with _unchanged_text_dtypes():
        wallets = dd.from_map(read_folder_wallets, shards, meta=widest, args=[widest])
        holdings = dd.from_map(read_folder_balances, shards, meta=empty.holdings)
    return ClusterWallets(wallets, holdings)


@contextmanager
def _unchanged_text_dtypes() -> Iterator[None]:
    """Keep Dask from converting text columns, which would change the missing value."""
    # The setting is global. Without the lock, threads would undo each other's changes.
    with _CONFIG_LOCK, dask.config.set({"dataframe.convert-string": False}):
        yield


def _merge_without_warning(table: pd.DataFrame, frame: object, **options: Any) -> pd.DataFrame:
    return merge_by_wallet(table, frame, **options)[0]


def _wallet_keys(rows: pd.DataFrame, on: str | None) -> pd.Series:
    wallets = parse_row_wallets(rows, on)
    keys = [str(each and canonical_key(each.blockchain, each.address)) for each in wallets]
    return pd.Series(keys, rows.index, TEXT)


def _wallet_key_by_row(rows: pd.DataFrame) -> pd.Series:
    ids = encode_wallets(rows)
    return pd.Series([str(ids.keys[code]) for code in ids.codes], rows.index, TEXT)
