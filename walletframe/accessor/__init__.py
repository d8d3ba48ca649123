"""``df.wf`` and ``series.wf``: one-line delegation from pandas objects to the library.

Stateless, and built anew by pandas on every access; what a method needs is imported when it is
called.
"""

from __future__ import annotations

import pandas as pd

from walletframe.accessor.addresses import AddressesAccessor, TablesAccessor
from walletframe.accessor.exports import ExportsAccessor
from walletframe.accessor.holdings import HoldingsAccessor
from walletframe.accessor.plot import PlotAccessor
from walletframe.accessor.spam import SpamAccessor
from walletframe.accessor.totals import TotalsAccessor

NAME = "wf"

__all__ = ["NAME", "FrameAccessor", "SeriesAccessor"]


@pd.api.extensions.register_dataframe_accessor(NAME)
class FrameAccessor(
    AddressesAccessor,
    TablesAccessor,
    HoldingsAccessor,
    TotalsAccessor,
    SpamAccessor,
    ExportsAccessor,
):
    """Wallets in the columns ``blockchain`` and ``address`` of a DataFrame, and what they hold.

    See Also
    --------
    walletframe.fetch_wallets : Gives the frames of which all this can be asked.

    Examples
    --------
    >>> import walletframe
    >>> pd.DataFrame({"blockchain": ["eth"], "address": ["0xAb"]}).wf.parse()
      blockchain address
    0        ETH    0xAb
    """

    _data: pd.DataFrame

    @property
    def plot(self) -> PlotAccessor:
        """Charts of holdings.

        Returns
        -------
        PlotAccessor
            With a method for each chart, each of which returns a plotly figure.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> callable(pd.DataFrame().wf.plot.treemap)
        True
        """
        return PlotAccessor(self._data)


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
