"""Tables of a person's own beside what was fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.notice import at_the_boundary

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.frames.joining import How


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
        from walletframe.frames.joining import join  # noqa: PLC0415 - when it is called

        return join(self._data, frame, how, on=on, suffixes=suffixes)
