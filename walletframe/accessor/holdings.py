"""The accessors ``holdings.wf`` and ``details.wf``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

from walletframe.accessor.delegation import Delegate, LazyPackage, call_with_data, delegate
from walletframe.errors import FramesNeededError, InputWarning
from walletframe.notice import warn_once

if TYPE_CHECKING:
    import pandas as pd

    from walletframe import charts
    from walletframe.analysis import distribution, selection, sums, valuation
    from walletframe.analysis.spam import flags
    from walletframe.frames import details as fetches
    from walletframe.frames.details import DetailsLike, FetchLike, WalletDetails
else:
    charts, fetches = map(LazyPackage, ("charts", "frames.details"))
    distribution, selection = map(LazyPackage, ("analysis.distribution", "analysis.selection"))
    sums, valuation = map(LazyPackage, ("analysis.sums", "analysis.valuation"))
    flags = LazyPackage("analysis.spam.flags")
package: Any = LazyPackage("accessor")  # lazy, since the package imports this module
pickers: Any = LazyPackage("pickers")  # a higher layer, imported when `explore` is called

_NO_WALLETS = (
    "holdings don't show which wallets failed, so completeness is unknown: call the method on the "
    "result of the fetch, as in details.wf.totals(), or pass wallets=… (this warning is shown once)"
)


def warn_without_wallets(*wallets: object) -> None:
    """If all arguments are None, warn once per process that completeness is unknown."""
    if all(each is None for each in wallets):
        warn_once(_NO_WALLETS, InputWarning)


class PlotAccessor:
    """Charts of a DataFrame with the columns of holdings. The first chart imports plotly.

    If you pass a token or asset, a chart shows its amounts. Other charts show the column ``value``.
    Without this column, charts show shares, counts of balances, or the amounts of a single asset.
    Amounts of different assets are never added up.

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
    {('ETH', None): '#8B8DC0'}
    >>> frame.wf.plot.bar(by="wallet", token="ETH", colors=colors).data[0].x
    (3.0, 1.0)
    >>> frame.wf.plot.pie("NEAR.ada.near", colors=colors).data[0].labels
    ('ETH 100%',)
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
        """Methods that draw charts of holdings, and return plotly figures."""
        return PlotAccessor(self._data, self._wallets)

    totals: Final = delegate(lambda: sums.totals)
    coverage: Final = delegate(lambda: sums.coverage)
    share: Final = delegate(lambda: distribution.share)
    concentration: Final = delegate(lambda: distribution.concentration)
    pivot: Final = delegate(lambda: distribution.pivot)
    overlap: Final = delegate(lambda: distribution.overlap)
    token_labels: Final = delegate(lambda: distribution.token_labels)
    explain_spam: Final = delegate(lambda: flags.explain_spam)


class DetailsAccessor(HoldingsAccessor):
    """Tables and charts of a fetch that show its completeness.

    The methods of ``holdings.wf`` are called with the ``wallets`` of the fetch. `value`,
    `flag_spam`, `without_spam` and `where` return `walletframe.WalletDetails` with new holdings.

    Parameters
    ----------
    details : WalletDetails or tuple of (DataFrame, DataFrame)
        The result of a fetch.

    Raises
    ------
    ArgumentError
        If `details` is not the result of a fetch, or if the two frames are in the wrong order.

    Examples
    --------
    >>> import walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = client.fetch(["NEAR.alice.near"])
    >>> valued = details.wf.without_spam().wf.value({("NEAR", None): 3}, currency="USD")
    >>> valued.wf.totals(by="wallet")[["address", "currency", "wallets_ok", "wallets_asked"]]
          address currency  wallets_ok  wallets_asked
    0  alice.near      USD           1              1
    """

    _wallets: pd.DataFrame

    def __init__(self, details: DetailsLike) -> None:
        self._wallets, self._data = fetches.as_details(details)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_") or not hasattr(package.FrameAccessor, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        raise FramesNeededError(
            f"{name} needs one DataFrame, but a fetch has two",
            f"use details.holdings.wf.{name} or details.wallets.wf.{name}",
        )

    def _replace_holdings(self, function: Any, /, *args: Any, **kwargs: Any) -> WalletDetails:
        return fetches.WalletDetails(self._wallets, call_with_data(self, function, *args, **kwargs))

    def _select_rows(self, _function: object, /, *args: Any, **kwargs: Any) -> WalletDetails:
        return selection.where_in_fetch(self._data, self._wallets, *args, **kwargs)

    def _make_widget(self, widget_class: Any, /, *args: Any, **kwargs: Any) -> Any:
        return widget_class(fetches.WalletDetails(self._wallets, self._data), *args, **kwargs)

    def _top_rows(self, _function: object, /, *args: Any, **kwargs: Any) -> pd.DataFrame:
        return distribution.top_rows_with_coverage(self._data, self._wallets, *args, **kwargs)

    top: Final = Delegate(lambda: distribution.top_rows, _top_rows)
    explore: Final = Delegate(lambda: pickers.HoldingsExplorer, _make_widget)
    value: Final = Delegate(lambda: valuation.value, _replace_holdings)
    flag_spam: Final = Delegate(lambda: flags.flag_spam, _replace_holdings)
    without_spam: Final = Delegate(lambda: flags.without_spam, _replace_holdings)
    where: Final = Delegate(lambda: selection.where, _select_rows)
