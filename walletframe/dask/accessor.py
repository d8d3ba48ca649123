"""``ddf.wf``: tables of holdings whose partitions are on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from walletframe.accessor import FrameAccessor as OfPandas
from walletframe.dask.columns import ClusterColumns, RowsT
from walletframe.dask.tables import ClusterTables
from walletframe.errors import FramesNeededError

if TYPE_CHECKING:
    from collections.abc import Callable

    import dask.dataframe as dd


class ClusterAccessor(ClusterTables, ClusterColumns[RowsT]):
    """Tables of holdings in partitions; the same as ``details.wf`` gives of frames in memory.

    Parameters
    ----------
    holdings : dask.dataframe.DataFrame
        With the columns of holdings; all rows of a wallet in one partition.
    wallets : dask.dataframe.DataFrame or None
        The wallets of the same fetch.
    again : callable
        Puts other holdings into the form in which these were given.

    Raises
    ------
    FramesNeededError
        From what ``details.wf`` has beyond these calls, charts among them: it takes balances that
        are in memory.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd, walletframe.dask
    >>> frame = pd.DataFrame({"blockchain": ["ETH"], "address": ["0xa"]})
    >>> dd.from_pandas(frame, npartitions=1).wf.plot
    Traceback (most recent call last):
    walletframe.errors.fetches.FramesNeededError: plot takes balances that are in memory, ...
    """

    def __init__(
        self,
        holdings: dd.DataFrame,
        wallets: dd.DataFrame | None,
        again: Callable[[dd.DataFrame], RowsT],
    ) -> None:
        self._data, self._wallets, self._again = holdings, wallets, again

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(OfPandas, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        raise FramesNeededError(
            f"{name} takes balances that are in memory, and these are in partitions",
            hint="reduce them first, to the rows that it needs, such as "
            f'holdings[holdings["symbol"] == "USDC"].compute().wf.{name}',
        )
