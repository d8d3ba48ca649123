"""``df.wf``, ``series.wf`` and ``details.wf``: one-line delegation to the library.

Stateless, and built anew by pandas on every access; what a method needs is imported when it is
called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from walletframe.accessor.addresses import AddressesAccessor
from walletframe.accessor.details import DetailsAccessor
from walletframe.accessor.exports import ExportsAccessor
from walletframe.accessor.holdings import HoldingsAccessor
from walletframe.accessor.spam import SpamAccessor
from walletframe.accessor.totals import TotalsAccessor
from walletframe.accessor.values import ValuesAccessor
from walletframe.amounts import columns
from walletframe.frameless import at_the_boundary

if TYPE_CHECKING:
    from walletframe.frames import How

NAME = "wf"

__all__ = ["NAME", "DetailsAccessor", "FrameAccessor", "SeriesAccessor"]


@pd.api.extensions.register_dataframe_accessor(NAME)
class FrameAccessor(
    AddressesAccessor,
    HoldingsAccessor[pd.DataFrame],
    TotalsAccessor[pd.DataFrame],
    ValuesAccessor[pd.DataFrame],
    SpamAccessor[pd.DataFrame],
    ExportsAccessor,
):
    """Wallets in the columns ``blockchain`` and ``address`` of a DataFrame, and what they hold.

    Examples
    --------
    >>> import walletframe
    >>> pd.DataFrame({"blockchain": ["eth"], "address": ["0xAb"]}).wf.parse()
      blockchain address
    0        ETH    0xAb
    """

    _data: pd.DataFrame

    def _again(self, holdings: pd.DataFrame) -> pd.DataFrame:
        return holdings

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

        White space around a wallet doesn't count, nor the case of its blockchain and of hex.

        Parameters
        ----------
        frame : DataFrame
            ``wallets`` or ``holdings`` of a fetch, or a frame derived from them.
        how : {"left", "inner", "right", "outer"}, default "left"
            Which rows to keep: all of your table, those of both, all of `frame`, or all.
        on : str, optional
            The column of your table that has wallets as ``"ETH.0x…"``, if there are several, and no
            ``blockchain`` and ``address``.
        suffixes : (str, str), default ("_yours", "")
            Appended to the names of the other columns that both have.

        Returns
        -------
        DataFrame
            Your columns and those of `frame`, with the dtypes they have there; ``blockchain`` and
            ``address`` as `frame` writes them. A row of yours comes once for each row it matches,
            in your order, then in that of `frame` (with ``"right"`` the other way round); without a
            match the other side's columns are NA. The index counts from 0.

        Raises
        ------
        ArgumentError, ColumnsError
            If `frame` is not a DataFrame, or either lacks the columns that name the wallets.
        SettingsError
            If `how` is none of its choices, or the suffixes give two columns one name.

        Warns
        -----
        InputWarning
            If rows of your table have no match; it says how many.

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


@pd.api.extensions.register_series_accessor(NAME)
class SeriesAccessor(AddressesAccessor):
    """Wallets in a Series of ``<BLOCKCHAIN>.<ADDRESS>`` strings, or amounts.

    Examples
    --------
    >>> import walletframe
    >>> pd.Series(["eth.0xAb"]).wf.parse()
      blockchain address
    0        ETH    0xAb
    """

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
            If the values are no amounts.

        Examples
        --------
        >>> import walletframe
        >>> pd.Series(["2", "7", None], dtype="amount").wf.top(1).tolist()
        [Amount('7')]
        """
        from walletframe.analysis import top

        return top(self._data, n)

    def rolling(self, window: int, min_periods: int | None = None) -> columns.Rolling:
        """Look at windows of so many rows, exactly.

        Parameters
        ----------
        window : int
            How many rows end at each row.
        min_periods : int, optional
            How many of them have to be there, not missing; `window` unless set.

        Returns
        -------
        Rolling
            With ``sum()``, ``min()`` and ``max()``, which are amounts, and ``mean()``, the nearest
            float64; each is a Series on the same index, and missing where a window is not full.

        Raises
        ------
        AmountError, ValueError
            From these methods: if the values are no amounts, or the window is no whole number.

        Examples
        --------
        >>> import walletframe
        >>> pd.Series(["1", "0.5", "1E-18"], dtype="amount").wf.rolling(2).sum().tolist()
        [<NA>, Amount('1.5'), Amount('0.500000000000000001')]
        """
        return columns.Rolling(self._data, window, min_periods)

    def pct_change(self, periods: int = 1) -> pd.Series:
        """Return the change from an earlier row, as a share of its amount, rounded once.

        Parameters
        ----------
        periods : int, default 1
            How many rows earlier; later ones if negative.

        Returns
        -------
        Series
            float64, the nearest to the exact change; NaN where an amount is missing, or 0 is
            divided by 0, and infinite if anything else is.

        Raises
        ------
        AmountError
            If the values are no amounts.

        Examples
        --------
        >>> import walletframe
        >>> pd.Series(["3", "3.000000003"], dtype="amount").wf.pct_change().iloc[1].item()
        1e-09
        """
        return columns.pct_change(self._data, periods)

    def corr(self, other: pd.Series, method: columns.Method = "pearson") -> float:
        """Return the correlation with another Series, from the exact values.

        Parameters
        ----------
        other : Series
            Amounts, integers or floats, matched by the index.
        method : {"pearson", "spearman", "kendall"}, default "pearson"
            Pearson's coefficient, or that of the ranks, or Kendall's tau.

        Returns
        -------
        float
            The nearest float64 (Kendall's as pandas computes it from exact ranks); NaN if either
            is constant. Rows with a missing value don't count.

        Raises
        ------
        AmountError
            If the values are no amounts, those of `other` no numbers, or infinite; or if no method
            has that name.

        Examples
        --------
        >>> import walletframe
        >>> series = pd.Series(["1", "2", "4"], dtype="amount")
        >>> series.wf.corr(series + 10**30)
        1.0
        """
        return columns.corr(self._data, other, method)

    def cov(self, other: pd.Series, ddof: int = 1) -> float:
        """Return the covariance with another Series, from the exact values.

        Parameters
        ----------
        other : Series
            Amounts, integers or floats, matched by the index.
        ddof : int, default 1
            What the number of rows is reduced by.

        Returns
        -------
        float
            The nearest float64; NaN for too few rows. Rows with a missing value don't count.

        Raises
        ------
        AmountError
            If the values are no amounts, or those of `other` no numbers, or infinite.

        Examples
        --------
        >>> import walletframe
        >>> series = pd.Series(["1", "2", "3"], dtype="amount")
        >>> series.wf.cov(series + 10**30)
        1.0
        """
        return columns.cov(self._data, other, ddof)
