"""Methods that compute tables and charts of holdings, with or without the wallets of a fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from walletframe.accessor.delegation import LazyPackage, delegate
from walletframe.errors import InputWarning
from walletframe.notice import warn_once

if TYPE_CHECKING:
    import pandas as pd

    from walletframe import charts
    from walletframe.analysis import distribution, sums
    from walletframe.analysis.spam import flags
    from walletframe.frames.details import FetchLike
else:
    charts, flags = map(LazyPackage, ("charts", "analysis.spam.flags"))
    distribution, sums = map(LazyPackage, ("analysis.distribution", "analysis.sums"))

_NO_WALLETS = (
    "holdings don't show which wallets failed, so completeness is unknown: call the method on the "
    "result of the fetch, as in details.wf.totals(), or pass wallets=… (this warning is shown once)"
)


def warn_without_wallets(*wallets: object) -> None:
    """Warn once per process that completeness is unknown, if all arguments are None."""
    if all(each is None for each in wallets):
        warn_once(_NO_WALLETS, InputWarning)


class PlotAccessor:
    """Charts of a DataFrame with the columns of holdings. The first chart imports plotly.

    If you pass a token, a chart shows the amounts of this token. Otherwise, it shows the column
    ``value``. If this column is missing, it shows numbers of balances, or shares of each token.
    Amounts of different tokens are never added up.

    Parameters
    ----------
    holdings : DataFrame
        The ``holdings`` of a fetch, or some of its rows.
    wallets : DataFrame, optional
        The ``wallets`` of the same fetch.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"blockchain": "NEAR", "address": ["ada.near", "ben.near"],
    ... "symbol": "ETH", "token_blockchain": "ETH", "token_address": None,
    ... "amount": pd.array([1, 3], "amount")})
    >>> colors = frame.wf.plot.token_colors()
    >>> colors
    {('ETH', None): '#CC6677'}
    >>> frame.wf.plot.bar(by="wallet", token="ETH", colors=colors).data[0].x
    (3.0, 1.0)
    >>> frame.wf.plot.pie("NEAR.ada.near", colors=colors).data[0].labels
    ('ETH',)
    >>> frame.wf.plot.lorenz("ETH").data[0].y
    (0.0, 0.25, 1.0)
    >>> nested = [frame.wf.plot.treemap(token="ETH"), frame.wf.plot.sunburst(token="ETH")]
    >>> heatmap = frame.wf.plot.heatmap(top=10)
    >>> snapshots = frame.assign(snapshot=pd.Timestamp("2026-01-31", tz="UTC"))
    >>> snapshots.wf.plot.timeline(token="ETH").data[0].y
    (4.0,)
    """

    def __init__(self, holdings: pd.DataFrame, wallets: pd.DataFrame | None = None) -> None:
        self._data, self._wallets = holdings, wallets

    def _wallets_or_own(self, wallets: FetchLike | None) -> FetchLike | None:
        return self._wallets if wallets is None else wallets

    bar: Final = delegate(lambda: charts.bar)
    pie: Final = delegate(lambda: charts.pie)
    heatmap: Final = delegate(lambda: charts.heatmap)
    treemap: Final = delegate(lambda: charts.treemap)
    sunburst: Final = delegate(lambda: charts.sunburst)
    lorenz: Final = delegate(lambda: charts.lorenz)
    timeline: Final = delegate(lambda: charts.timeline)
    waterfall: Final = delegate(lambda: charts.waterfall)
    token_colors: Final = delegate(lambda: charts.token_colors)


class HoldingsAccessor:
    """Methods of a DataFrame with the columns of holdings."""

    _data: pd.DataFrame
    _wallets: pd.DataFrame | None = None

    def _wallets_or_own(self, wallets: FetchLike | None) -> FetchLike | None:
        warn_without_wallets(wallets, self._wallets)
        return self._wallets if wallets is None else wallets

    @property
    def plot(self) -> PlotAccessor:
        """Methods that draw holdings, one for each type of chart. They return plotly figures."""
        return PlotAccessor(self._data, self._wallets)

    totals: Final = delegate(lambda: sums.totals)
    coverage: Final = delegate(lambda: sums.coverage)
    share: Final = delegate(lambda: distribution.share)
    concentration: Final = delegate(lambda: distribution.concentration)
    pivot: Final = delegate(lambda: distribution.pivot)
    overlap: Final = delegate(lambda: distribution.overlap)
    top: Final = delegate(lambda: distribution.top_rows)
    token_labels: Final = delegate(lambda: distribution.token_labels)
    explain_spam: Final = delegate(lambda: flags.explain_spam)
