"""`fetch_to_parquet`, the public function."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from walletframe.bulk.listing import list_wallets
from walletframe.bulk.run import fetch_into
from walletframe.bulk.summary import conclude
from walletframe.client import check_on_failure, default_client, require_client
from walletframe.frameless import at_the_boundary

if TYPE_CHECKING:
    from walletframe.address import OnUnreadable
    from walletframe.bulk.listing import BulkInput
    from walletframe.bulk.summary import FetchSummary
    from walletframe.client import Client, OnFailure, OpenProgress


@at_the_boundary
def fetch_to_parquet(
    wallets: BulkInput,
    folder: str | Path,
    *,
    client: Client | None = None,
    progress: OpenProgress = None,
    on_failure: OnFailure = "warn",
    on_unreadable: OnUnreadable | None = None,
) -> FetchSummary:
    """Fetch more wallets than memory holds into a folder of Parquet files.

    The folder is written while the answers arrive. To resume, however the run ended, repeat the
    call: only the wallets that are not ok in the folder are requested. Wallets that are ok are
    never updated: for the holdings of another day, use another folder.

    Parameters
    ----------
    wallets : path, iterator, or anything that `fetch_wallets` takes
        A path, or a str that ends in ``.csv`` or ``.txt``, is a file: a CSV with the columns
        blockchain and address, or with one column of wallets; else one wallet a line, where #
        begins a comment. Lists and files are checked before anything is asked. An iterator is
        consumed lazily; items that can't be read are left out, with a warning, and counted in the
        summary.
    folder : str or Path
        A new or an empty folder, or one that an earlier call has begun.
    client : Client, optional
        The client that sends the requests; the default client if not given, see `configure`.
        Answers that are fresh in its cache are used; new ones are not kept there, since the folder
        holds them.
    progress : bool or callable, optional
        False hides the progress bar; a callable gets (done, total, counts by status), where the
        total of an iterator is None. Wallets that were ok in the folder before count as done.
    on_failure : {"warn", "raise", "ignore"}, default "warn"
        What to do if wallets are not ok.
    on_unreadable : {"raise", "drop"}, optional
        What to do with items that can't be read; empty ones are always skipped. Without it, a list
        or a file raises, before anything is asked, and an iterator drops.

    Returns
    -------
    FetchSummary
        How many wallets are ok, and why the others are not.

    Raises
    ------
    ArgumentError
        If `client` is not a `Client`.
    AddressError
        Lists every wallet of a list or a file that can't be read; no request was sent. With
        ``on_unreadable="raise"``, the first of an iterator; what came before is in the folder.
    SettingsError
        If a request is needed and the key, its kind or its base address is not set.
    DatasetError
        If the folder holds something else or another service's wallets, another run writes
        into it, or the disk is full. What was written before is whole.
    FetchError
        With ``on_failure="raise"``; its ``.details`` are the summary.
    FetchInterrupted
        After Ctrl-C or the notebook's stop button, carrying the summary as ``.details``; what was
        finished is in the folder.

    Warns
    -----
    FetchWarning
        With ``on_failure="warn"``, where wallets are not ok, and for an iterator's first item that
        is no wallet.
    AnswerWarning
        If the service sent wallets that were not requested, or balances can't be read.
    InputWarning
        If wallets of a list are repeated or left out, or a blockchain is unknown.

    See Also
    --------
    read_wallets : Gives the frames back.

    Notes
    -----
    Any pandas, DuckDB or polars opens the files:

    - ``folder/wallets/*.parquet``, the wallets that are ok, with the columns of
      `WalletDetails.wallets` and ``position``, the place in the order asked;
    - ``folder/holdings/*.parquet``, what they hold, with the columns of `WalletDetails.holdings`:
      amounts as exact text, and beside them ``amount_decimal``, decimal128(38, 18), which can be
      summed: null where 38 digits don't hold an amount;
    - ``folder/failed/*.parquet``, the wallets that were asked for and are not ok, with the columns
      of the first. A wallet that was never asked for is in no file.

    Status and source are text, times UTC. A file holds up to 2,000 wallets or about 200,000
    balances. Files of the first two never change, so that they can be read while a run goes on;
    what failed is brought up to date when it ends. What has arrived and is in no file yet is in
    ``folder/.walletframe``, and is written by the next call where a run was killed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from walletframe.service import sandbox
    >>> with (
    ...     TemporaryDirectory() as folder,
    ...     sandbox() as service,
    ...     service.client(cache=False) as client,
    ... ):
    ...     first = fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
    ...     again = fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
    >>> first.ok, first.resumed, again.ok, again.resumed
    (1, 0, 1, 1)
    """
    check_on_failure(on_failure)
    require_client(client)
    listing = list_wallets(wallets, on_unreadable)
    summary = fetch_into(Path(folder), listing, client or default_client(), progress)
    conclude(summary, on_failure)
    return summary
