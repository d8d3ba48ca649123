"""Wallets of whatever holds addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from walletframe.address import accepted_wallets, read_list, tell_doubts
from walletframe.notice import at_the_boundary

if TYPE_CHECKING:
    from walletframe.address import OnUnreadable
    from walletframe.client import Client
    from walletframe.client.engine import OnFailure
    from walletframe.client.progress import Progress
    from walletframe.frames import WalletDetails


class AddressesAccessor:
    """What can be done with anything that holds addresses."""

    def __init__(self, data: pd.DataFrame | pd.Series) -> None:
        self._data = data

    @at_the_boundary
    def parse(self, *, on_unreadable: OnUnreadable = "raise") -> pd.DataFrame:
        """Read the wallets, without asking for them.

        Parameters
        ----------
        on_unreadable : {"raise", "drop"}, default "raise"
            What to do with rows that can't be read; empty ones are skipped whatever it is.

        Returns
        -------
        DataFrame
            The columns ``blockchain``, as the service writes it, and ``address``, as written but
            for white space around it, both str; one row for each row that is not left out, on its
            own index, repeats included.

        Raises
        ------
        AddressError
            Naming every wallet that can't be read, with its position and the reason.
        ColumnsError
            Where a DataFrame lacks the column ``blockchain`` or ``address``.

        Warns
        -----
        InputWarning
            Where rows are left out, and where a blockchain is not known.

        Examples
        --------
        >>> import walletframe
        >>> pd.Series(["near.alice.near"], index=["a"]).wf.parse()
          blockchain     address
        a       NEAR  alice.near
        """
        reading = read_list(self._data)
        wallets = accepted_wallets(reading, on_unreadable)
        tell_doubts(wallets)
        return pd.DataFrame(
            {
                "blockchain": pd.array([wallet.blockchain for wallet in wallets], dtype="str"),
                "address": pd.array([wallet.address for wallet in wallets], dtype="str"),
            },
            index=self._data.index[reading.places],
        )

    @at_the_boundary
    def fetch(
        self,
        *,
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
        client : Client, optional
            Whom to ask through; the default client where not given, see `configure`.
        refresh : bool, default False
            Ask the service for every wallet, even where an answer is in the cache.
        offline : bool, default False
            Ask for none: what is not in the cache has the status ``not_cached``.
        progress : bool or callable, optional
            False draws no bar; a callable gets (done, total, counts by status).
        on_failure : {"warn", "raise", "ignore"}, default "warn"
            What to do where wallets are not ok. Each has its row, whatever it is.
        on_unreadable : {"raise", "drop"}, default "raise"
            What to do with rows that can't be read; empty ones are skipped whatever it is.

        Returns
        -------
        WalletDetails
            ``wallets`` and ``holdings``, as from `fetch_wallets`.

        Raises
        ------
        ArgumentError
            Where `client` is something else.
        AddressError
            Naming every wallet that can't be read; nothing was asked then.
        ColumnsError
            Where a DataFrame lacks the column ``blockchain`` or ``address``.
        SettingsError
            Where something has to be asked and the key, its kind or its address is not set.
        FetchError
            With ``on_failure="raise"``, carrying ``.details``.

        Warns
        -----
        InputWarning
            Where wallets are repeated or left out, and where a blockchain is not known.

        Examples
        --------
        >>> import walletframe
        >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
        ...     details = pd.Series(["NEAR.alice.near"]).wf.fetch(client=client)
        >>> details.wallets.status.item()
        'ok'
        """
        from walletframe.client import fetch_wallets  # noqa: PLC0415 - loads requests

        return fetch_wallets(
            self._data,
            client=client,
            refresh=refresh,
            offline=offline,
            progress=progress,
            on_failure=on_failure,
            on_unreadable=on_unreadable,
        )
