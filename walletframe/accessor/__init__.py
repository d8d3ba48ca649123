"""``df.wf``, ``series.wf`` and ``details.wf``: methods that call the library's functions.

An accessor stores only its data, since pandas may create a new accessor on every access. The
function of a method is imported when the method is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

from walletframe.accessor.delegation import LazyPackage, delegate
from walletframe.accessor.holdings import DetailsAccessor, HoldingsAccessor
from walletframe.amounts import columns

if TYPE_CHECKING:
    from walletframe import client, exports
    from walletframe.analysis import distribution, selection, valuation
    from walletframe.analysis.spam import flags
    from walletframe.frames import inspection, joining
else:
    client, exports, flags = map(LazyPackage, ("client", "exports", "analysis.spam.flags"))
    distribution, selection, valuation = map(
        LazyPackage, ("analysis.distribution", "analysis.selection", "analysis.valuation")
    )
    inspection, joining = map(LazyPackage, ("frames.inspection", "frames.joining"))

NAME = "wf"


class WalletsAccessor:
    """Methods of Series and DataFrames that contain wallets."""

    def __init__(self, data: pd.DataFrame | pd.Series) -> None:
        self._data = data

    check: Final = delegate(lambda: inspection.check)
    clean: Final = delegate(lambda: inspection.clean)
    parse: Final = delegate(lambda: joining.parse)
    fetch: Final = delegate(lambda: client.fetch_wallets)


@pd.api.extensions.register_dataframe_accessor(NAME)
class FrameAccessor(WalletsAccessor, HoldingsAccessor):
    """Methods of a DataFrame of wallets or of holdings.

    The wallets are in the columns ``blockchain`` and ``address``, or in one column of strings.

    Examples
    --------
    >>> import walletframe
    >>> pd.DataFrame({"blockchain": ["near"], "address": ["alice.near"]}).wf.parse()
      blockchain     address
    0       NEAR  alice.near
    >>> frame = pd.DataFrame({"symbol": ["ETH"], "amount": pd.array(["1.5"], dtype="amount")})
    >>> frame.wf.to_parquet("amounts.parquet")
    >>> frame.wf.to_excel("amounts.xlsx")
    >>> pd.read_excel("amounts.xlsx").columns.tolist()
    ['symbol', 'amount', 'amount_text']
    """

    _data: pd.DataFrame

    _details_accessor: Final = DetailsAccessor  # for `WalletDetails`, in a lower package

    top: Final = delegate(lambda: distribution.top_rows)
    value: Final = delegate(lambda: valuation.value)
    flag_spam: Final = delegate(lambda: flags.flag_spam)
    without_spam: Final = delegate(lambda: flags.without_spam)
    where: Final = delegate(lambda: selection.where)
    join: Final = delegate(lambda: joining.join)
    to_csv: Final = delegate(lambda: exports.to_csv)
    to_parquet: Final = delegate(lambda: exports.to_parquet)
    to_arrow: Final = delegate(lambda: exports.to_arrow)
    to_sql: Final = delegate(lambda: exports.to_sql)
    to_excel: Final = delegate(lambda: exports.to_excel)


@pd.api.extensions.register_series_accessor(NAME)
class SeriesAccessor(WalletsAccessor):
    """Methods of a Series of ``<BLOCKCHAIN>.<ADDRESS>`` strings, or of amounts.

    Examples
    --------
    >>> import walletframe
    >>> pd.Series(["eth.0xAb"]).wf.parse()
      blockchain address
    0        ETH    0xAb
    """

    _data: pd.Series

    top: Final = delegate(lambda: distribution.top)

    rolling: Final = delegate(lambda: columns.Rolling)
    pct_change: Final = delegate(lambda: columns.pct_change)
