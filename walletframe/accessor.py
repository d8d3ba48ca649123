"""``df.wf`` and ``series.wf``: one-line delegation from pandas objects to the library.

Stateless, and built anew by pandas on every access; what a method needs is imported when it is
called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from walletframe.address import parse_wallets
from walletframe.analysis import top, top_rows
from walletframe.exports import to_csv, to_excel, to_parquet

if TYPE_CHECKING:
    from walletframe.client import Client
    from walletframe.client.engine import OnFailure
    from walletframe.client.progress import Progress
    from walletframe.exports import PathLike
    from walletframe.frames import WalletDetails

NAME = "wf"


class _AddressesAccessor:
    """What can be done with anything that holds addresses."""

    def __init__(self, data: pd.DataFrame | pd.Series) -> None:
        self._data = data

    def parse(self) -> pd.DataFrame:
        """Read the wallets, without asking for them.

        Returns
        -------
        DataFrame
            The columns ``blockchain`` and ``address``, both str, as written but for white space
            around them; one row for each input row, on the same index, repeats included.

        Raises
        ------
        AddressError
            Naming every wallet that can't be read, with its position and the reason.
        ColumnsError
            Where a DataFrame lacks the column ``blockchain`` or ``address``.

        Examples
        --------
        >>> import walletframe
        >>> pd.Series(["NEAR.alice.near"], index=["a"]).wf.parse()
          blockchain     address
        a       NEAR  alice.near
        """
        wallets = parse_wallets(self._data)
        return pd.DataFrame(
            {
                "blockchain": pd.array([wallet.blockchain for wallet in wallets], dtype="str"),
                "address": pd.array([wallet.address for wallet in wallets], dtype="str"),
            },
            index=self._data.index,
        )

    def fetch(
        self,
        *,
        client: Client | None = None,
        refresh: bool = False,
        offline: bool = False,
        progress: Progress = None,
        on_failure: OnFailure = "warn",
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

        Returns
        -------
        WalletDetails
            ``wallets`` and ``holdings``, as from `fetch_wallets`.

        Raises
        ------
        AddressError
            Naming every wallet that can't be read; nothing was asked then.
        ColumnsError
            Where a DataFrame lacks the column ``blockchain`` or ``address``.
        SettingsError
            Where something has to be asked and the key, its kind or its address is not set.
        FetchError
            With ``on_failure="raise"``, carrying ``.details``.

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
        )


@pd.api.extensions.register_dataframe_accessor(NAME)
class FrameAccessor(_AddressesAccessor):
    """Wallets in the columns ``blockchain`` and ``address`` of a DataFrame, and exports of any."""

    _data: pd.DataFrame

    def top(self, n: int = 10, *, by: str = "amount") -> pd.DataFrame:
        """Return the rows with the largest amounts, exactly.

        Parameters
        ----------
        n : int, default 10
            How many.
        by : str, default "amount"
            The column of amounts.

        Returns
        -------
        DataFrame
            At most `n` rows, the largest first, equal ones in their order; no NA.

        Raises
        ------
        ColumnsError
            Where the column is missing.
        AmountError
            Where the values are no amounts.

        Examples
        --------
        >>> import walletframe
        >>> frame = pd.DataFrame({"amount": pd.array(["2", "7", None], dtype="amount")})
        >>> frame.wf.top(1)
          amount
        1      7
        """
        return top_rows(self._data, n, by=by)

    def to_csv(self, path: PathLike) -> None:
        """Write a CSV file: amounts exact, formulas of strangers disarmed.

        Parameters
        ----------
        path : str or Path
            Where to write.
        """
        to_csv(self._data, path)

    def to_parquet(self, path: PathLike) -> None:
        """Write a Parquet file that pandas without walletframe, DuckDB and polars open.

        Amounts are exact text; beside each such column stands ``<name>_decimal``,
        decimal128(38, 18), which can be summed there: null where it can't hold an amount.

        Parameters
        ----------
        path : str or Path
            Where to write.
        """
        to_parquet(self._data, path)

    def to_excel(self, path: PathLike) -> None:
        """Write an Excel file: amounts as exact text, all other text harmless.

        Parameters
        ----------
        path : str or Path
            Where to write.

        Raises
        ------
        MissingExtraError
            Where openpyxl is not installed.
        """
        to_excel(self._data, path)


@pd.api.extensions.register_series_accessor(NAME)
class SeriesAccessor(_AddressesAccessor):
    """Wallets in a Series of ``<BLOCKCHAIN>.<ADDRESS>`` strings, or amounts."""

    _data: pd.Series

    def top(self, n: int = 10) -> pd.Series:
        """Return the largest amounts, exactly.

        Parameters
        ----------
        n : int, default 10
            How many.

        Returns
        -------
        Series
            At most `n` amounts, the largest first, equal ones in their order; no NA.

        Raises
        ------
        AmountError
            Where the values are no amounts.

        Examples
        --------
        >>> import walletframe
        >>> pd.Series(["2", "7", None], dtype="amount").wf.top(1).tolist()
        [Amount('7')]
        """
        return top(self._data, n)
