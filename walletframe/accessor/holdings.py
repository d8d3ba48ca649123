"""Tables and charts of holdings, alone or with the wallets of the same fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from walletframe.accessor.delegation import LazyPackage, delegate
from walletframe.errors import InputWarning
from walletframe.notice import mention_once

if TYPE_CHECKING:
    import pandas as pd

    from walletframe import analysis, charts
    from walletframe.frames.details import FetchLike
else:
    analysis, charts = map(LazyPackage, ("analysis", "charts"))

_ALONE = (
    "a table of holdings alone can't tell how complete it is, since wallets that failed have no "
    "rows there: ask the whole fetch, as in details.wf.totals(), or pass its wallets= (said once)"
)


def note_alone(*wallets: object) -> None:
    """Warn once in a process that holdings are asked without any wallets."""
    if all(each is None for each in wallets):
        mention_once(_ALONE, InputWarning)


class PlotAccessor:
    """Charts of a DataFrame with the columns of holdings; plotly is loaded by the first.

    They draw the column ``value`` if there is one, the amounts of one token if you name it, and
    otherwise counts or each token's shares: amounts of different tokens are never added.

    Parameters
    ----------
    holdings : DataFrame
        The ``holdings`` of a fetch, or some rows of it.
    wallets : DataFrame, optional
        The ``wallets`` of the same fetch.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"token_blockchain": ["ETH"], "token_address": [None]})
    >>> frame.wf.plot.token_colors()
    {('ETH', None): '#CC6677'}
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
        note_alone(wallets, self._wallets)
        return self._wallets if wallets is None else wallets

    @property
    def plot(self) -> PlotAccessor:
        """Charts of holdings.

        Returns
        -------
        PlotAccessor
            With a method for each chart, each of which returns a plotly figure.
        """
        return PlotAccessor(self._data, self._wallets)

    totals: Final = delegate(lambda: analysis.totals)
    share: Final = delegate(lambda: analysis.share)
    concentration: Final = delegate(lambda: analysis.concentration)
    pivot: Final = delegate(lambda: analysis.pivot)
    overlap: Final = delegate(lambda: analysis.overlap)
    top: Final = delegate(lambda: analysis.top_rows)
    token_labels: Final = delegate(lambda: analysis.token_labels)
    explain_spam: Final = delegate(lambda: analysis.explain_spam)
