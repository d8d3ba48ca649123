"""`fetch_to_parquet`, and its input: a list that is checked first, or an iterator read lazily."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from walletframe.address import (
    WalletAddress,
    check_unreadable,
    distinct_labels,
    doubts_about,
    in_one_spelling,
    is_blank,
    read_wallet,
    shorten,
    wallets_to_ask,
)
from walletframe.bulk.run import fetch_into
from walletframe.bulk.summary import Tally, conclude
from walletframe.client import check_on_failure, default_client, require_client
from walletframe.disk import local_folder
from walletframe.errors import AddressError, InputWarning
from walletframe.frameless import at_the_boundary
from walletframe.frames import names_to_keep
from walletframe.notice import notify
from walletframe.walletfile import read_given

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    import pandas as pd

    from walletframe.address import OnUnreadable, WalletLike, WalletsLike
    from walletframe.bulk.summary import FetchSummary
    from walletframe.client import Client, OnFailure, OpenProgress

_LeaveOut: TypeAlias = "Callable[[int, str, str], object]"

_FILES = (".csv", ".txt")


@at_the_boundary
def fetch_to_parquet(  # noqa: PLR0913 - what a caller may wish
    wallets: WalletsLike | os.PathLike[str],
    folder: str | Path,
    *,
    keep: str | Sequence[str] = (),
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
        consumed lazily.
    folder : str or Path
        A new or an empty folder, or one that an earlier call has begun.
    keep : str or list of str, optional
        Columns of a DataFrame or a CSV, such as ``["name", "owner"]``: what you know of the
        wallets, for `read_wallets` to put behind the columns of ``wallets``. What an earlier call
        kept stays, where this one has no other value for it.
    client : Client, optional
        The client that sends the requests; the default client if not given, see `configure`.
        Answers that are fresh in its cache are used; new ones are not kept there.
    progress : bool or callable, optional
        False hides the progress bar; a callable gets (done, total, counts by status), where the
        total of an iterator is None. Wallets that were ok in the folder before count as done.
    on_failure : {"warn", "raise", "ignore"}, default "warn"
        What to do if wallets are not ok.
    on_unreadable : {"raise", "drop"}, optional
        What to do with items that can't be read; empty ones are always skipped. Without it, a list
        or a file raises, and an iterator drops, with a warning and a count in the summary.

    Returns
    -------
    FetchSummary
        How many wallets are ok, and why the others are not.

    Raises
    ------
    ArgumentError
        If `client` is not a `Client`, or `wallets` have no columns to keep.
    AddressError
        Lists every wallet of a list or a file that can't be read; no request was sent. With
        ``on_unreadable="raise"``, the first of an iterator; what came before is in the folder.
    ColumnsError
        If a column to keep is missing.
    SettingsError
        If a request is needed and the key, its kind or its base address is not set, or if a column
        to keep has a name that walletframe uses, or holds lists.
    DatasetError
        If the folder is a URL, holds something else or another service's wallets, another run
        writes into it, or the disk is full. What was written before is whole.
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
    Any pandas, DuckDB or polars opens the files, of up to 2,000 wallets or about 200,000 balances:

    - ``folder/wallets/*.parquet``, the wallets that are ok, with the columns of
      `WalletDetails.wallets` and ``position``, the place in the order asked;
    - ``folder/holdings/*.parquet``, what they hold, with the columns of `WalletDetails.holdings`:
      amounts as exact text, and beside them ``amount_decimal``, decimal128(38, 18), which can be
      summed: null where 38 digits don't hold an amount;
    - ``folder/failed/*.parquet``, the wallets that were asked for and are not ok, with the columns
      of the first, brought up to date when a run ends. One never asked for is in no file;
    - ``folder/kept.parquet``, with `keep`: blockchain, address and the columns that were kept.

    Status and source are text, times UTC. Files of the first two never change, so that they can be
    read while a run goes on. What has arrived and is in no file yet is in ``folder/.walletframe``,
    and is written by the next call where a run was killed.

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
    root, tally = local_folder(folder), Tally()
    listed, kept = _listed(wallets, names_to_keep(keep), on_unreadable, tally.leave_out)
    summary = fetch_into(root, listed, client or default_client(), progress, tally, kept=kept)
    conclude(summary, on_failure)
    return summary


def _listed(
    given: WalletsLike | os.PathLike[str],
    keep: Sequence[str],
    on_unreadable: OnUnreadable | None,
    leave_out: _LeaveOut,
) -> tuple[list[WalletAddress] | Iterator[WalletAddress], pd.DataFrame | None]:
    """Read and check a list or a file as a whole; of an iterator, nothing is read yet.

    By default a list or a file raises for what is no wallet, and an iterator drops it.
    """
    check_unreadable(on_unreadable or "drop")
    if isinstance(given, Iterator) and not keep:
        stream = _streamed(given, None if on_unreadable == "raise" else leave_out)
        return _with_doubts(in_one_spelling(stream)), None
    if isinstance(given, str) and given.lower().endswith(_FILES):
        given = Path(given)
    reading = read_given(given, keep)
    return wallets_to_ask(reading, on_unreadable or "raise"), distinct_labels(reading)


def _streamed(items: Iterator[WalletLike], leave_out: _LeaveOut | None) -> Iterator[WalletAddress]:
    for place, item in enumerate(items):
        wallet = read_wallet(item)
        if isinstance(wallet, WalletAddress):
            yield wallet
        elif not is_blank(item):
            if leave_out is None:
                raise AddressError([(place, shorten(item), wallet)])
            leave_out(place, shorten(item), wallet)


def _with_doubts(wallets: Iterator[WalletAddress]) -> Iterator[WalletAddress]:
    """Pass wallets on, and warn of the first whose blockchain is not known."""
    for wallet in wallets:
        doubts = doubts_about([wallet])
        if doubts:
            notify(doubts, InputWarning)
        yield wallet
        if doubts:
            yield from wallets
