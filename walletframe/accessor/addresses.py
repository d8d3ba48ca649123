"""Wallets of Series and DataFrames: parse and fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from walletframe.address import accepted_wallets, read_list, warn_of_doubts
from walletframe.frameless import at_the_boundary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.address import OnUnreadable
    from walletframe.client import Client, OnFailure, Progress
    from walletframe.frames import WalletDetails


class AddressesAccessor:
    """Methods of Series and DataFrames that hold wallet addresses."""

    def __init__(self, data: pd.DataFrame | pd.Series) -> None:
        self._data = data

    @at_the_boundary
    def parse(self, *, on_unreadable: OnUnreadable = "raise") -> pd.DataFrame:
        """Read the wallets, without asking for them.

        Parameters
        ----------
        on_unreadable : {"raise", "drop"}, default "raise"
            What to do with rows that can't be read; empty rows are always skipped.

        Returns
        -------
        DataFrame
            ``blockchain``, as the service writes it, and ``address``, trimmed, both str: one row
            for each row that is not left out, on its own index, repeats included.

        Raises
        ------
        AddressError
            Lists every wallet that can't be read, with its position and the reason.
        ColumnsError
            If a DataFrame lacks the column ``blockchain`` or ``address``.
        SettingsError
            If `on_unreadable` is neither of these.

        Warns
        -----
        InputWarning
            If rows are left out, or a blockchain is unknown.

        Examples
        --------
        >>> import walletframe
        >>> pd.Series(["near.alice.near"], index=["a"]).wf.parse()
          blockchain     address
        a       NEAR  alice.near
        """
        reading = read_list(self._data)
        wallets = accepted_wallets(reading, on_unreadable)
        warn_of_doubts(wallets)
        return pd.DataFrame(
            {
                "blockchain": pd.array([wallet.blockchain for wallet in wallets], dtype="str"),
                "address": pd.array([wallet.address for wallet in wallets], dtype="str"),
            },
            index=self._data.index[reading.places],
        )

    @at_the_boundary
    def fetch(  # noqa: PLR0913 - what a caller may wish
        self,
        *,
        keep: str | Sequence[str] = (),
        client: Client | None = None,
        refresh: bool = False,
        offline: bool = False,
        progress: Progress = None,
        on_failure: OnFailure = "warn",
        on_unreadable: OnUnreadable = "raise",
    ) -> WalletDetails:
        """Fetch the tokens of the wallets.

        Parameters
        ----------
        keep : str or list of str, optional
            Columns of this DataFrame, such as ``["name", "owner"]``: what you know of the wallets,
            to come behind the columns of ``wallets``, trimmed, and to group by.
        client : Client, optional
            The client that sends the requests; the default client if not given, see `configure`.
        refresh : bool, default False
            Request every wallet from the service, even if its answer is in the cache.
        offline : bool, default False
            Send no request: wallets that are not in the cache have the status ``not_cached``.
        progress : bool or callable, optional
            False hides the progress bar; a callable gets (done, total, counts by status).
        on_failure : {"warn", "raise", "ignore"}, default "warn"
            What to do if wallets are not ok. Each has its row in any case.
        on_unreadable : {"raise", "drop"}, default "raise"
            What to do with rows that can't be read; empty rows are always skipped.

        Returns
        -------
        WalletDetails
            ``wallets``, a row for each distinct wallet, and ``holdings``, one for each balance, as
            from `fetch_wallets`.

        Raises
        ------
        ArgumentError, SettingsError
            If `client` is not a `Client`, a choice is none of those named, a column to keep has a
            name that walletframe uses, or is one of a Series, or a request is needed and the key,
            its kind or its base address is not set.
        AddressError, ColumnsError
            Lists all wallets that can't be read, or columns that a DataFrame lacks; none was asked.
        FetchError
            With ``on_failure="raise"``; its ``.details`` hold the result.
        FetchInterrupted
            After Ctrl-C or the notebook's stop button; its ``.details`` hold what was finished.

        Warns
        -----
        FetchWarning
            With ``on_failure="warn"``, if wallets are not ok, or their answers are out of date.
        AnswerWarning
            If the service sent wallets that were not requested, or balances can't be read.
        InputWarning
            If wallets are repeated or left out, a blockchain is unknown, or rows of one wallet
            differ in what is kept: the first value is.

        Examples
        --------
        >>> import walletframe
        >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
        ...     details = pd.Series(["NEAR.alice.near"]).wf.fetch(client=client)
        >>> details.wallets.status.item()
        'ok'
        """
        from walletframe.client import fetch_wallets

        return fetch_wallets(
            self._data,
            keep=keep,
            client=client,
            refresh=refresh,
            offline=offline,
            progress=progress,
            on_failure=on_failure,
            on_unreadable=on_unreadable,
        )
