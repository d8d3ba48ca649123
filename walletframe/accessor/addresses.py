"""Wallets of whatever holds addresses, and tables of a person's own beside what was fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from walletframe.address import accepted_wallets, read_list, warn_of_doubts
from walletframe.frameless import at_the_boundary

if TYPE_CHECKING:
    from walletframe.address import OnUnreadable
    from walletframe.client import Client, OnFailure, Progress
    from walletframe.frames import How, WalletDetails


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
        SettingsError
            Where `on_unreadable` is another word.

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
        warn_of_doubts(wallets)
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
            ``wallets``, one row for each distinct wallet, in the order of the first mention, and
            ``holdings``, one row for each balance, as from `fetch_wallets`. Both have all their
            columns whatever happened.

        Raises
        ------
        ArgumentError
            Where `client` is something else.
        AddressError
            Naming every wallet that can't be read; nothing was asked then.
        ColumnsError
            Where a DataFrame lacks the column ``blockchain`` or ``address``.
        SettingsError
            Where something has to be asked and the key, its kind or its address is not set; where
            `on_failure` or `on_unreadable` is another word.
        FetchError
            With ``on_failure="raise"``, carrying ``.details``.
        FetchInterrupted
            After Ctrl-C or the notebook's stop button, carrying ``.details``.

        Warns
        -----
        FetchWarning
            With ``on_failure="warn"``, where wallets are not ok or could not be made fresh.
        AnswerWarning
            Where the service answered wallets that nobody asked for.
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
        from walletframe.client import fetch_wallets

        return fetch_wallets(
            self._data,
            client=client,
            refresh=refresh,
            offline=offline,
            progress=progress,
            on_failure=on_failure,
            on_unreadable=on_unreadable,
        )


class TablesAccessor:
    """What a DataFrame of a person's own, with wallets in it, can be merged with."""

    _data: pd.DataFrame

    @at_the_boundary
    def join(
        self,
        frame: pd.DataFrame,
        how: How = "left",
        *,
        on: str | None = None,
        suffixes: tuple[str, str] = ("_yours", ""),
    ) -> pd.DataFrame:
        """Merge your own table with ``wallets`` or ``holdings``, however the wallets are written.

        Rows belong together where their wallet is the same: white space around it, the case of
        its blockchain and, in a hex address, of its letters count for nothing.

        Parameters
        ----------
        frame : DataFrame
            ``wallets`` or ``holdings`` of a fetch, or what was made of them.
        how : {"left", "inner", "right", "outer"}, default "left"
            Which rows to keep: all of your table, those of both, all of `frame`, or all.
        on : str, optional
            The column of your table that has wallets as ``"ETH.0x…"``; needed where it has
            neither ``blockchain`` and ``address`` nor one such column alone.
        suffixes : (str, str), default ("_yours", "")
            What is put behind the names of other columns that both have.

        Returns
        -------
        DataFrame
            Your columns and those of `frame`, with the dtypes they have there (``amount`` stays
            exact); ``blockchain`` and ``address`` as `frame` writes them. A row of yours comes
            once for each row that it matches, in your order, then in that of `frame` (with
            ``"right"`` the other way round); what has no partner is NA there. On an index from 0.

        Raises
        ------
        ArgumentError
            Where `frame` is no DataFrame.
        ColumnsError
            Where either lacks the columns that name the wallets.
        SettingsError
            Where `how` is another word, or the suffixes give two columns one name.

        Warns
        -----
        InputWarning
            Where rows of your table match nothing, saying how many.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
        ...     wallets, holdings = client.fetch(["NEAR.alice.near"])
        >>> people = pd.DataFrame({"wallet": [" near.alice.near"], "name": ["Alice"]})
        >>> people.wf.join(wallets)[["name", "blockchain", "address", "status"]]
            name blockchain     address status
        0  Alice       NEAR  alice.near     ok
        """
        from walletframe.frames import join

        return join(self._data, frame, how, on=on, suffixes=suffixes)
