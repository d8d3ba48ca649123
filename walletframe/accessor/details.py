"""``details.wf``: the methods of ``holdings.wf``, called with the wallets of the same fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from walletframe.accessor.delegation import Delegate, LazyPackage, call_with_data
from walletframe.accessor.holdings import HoldingsAccessor
from walletframe.frames.details import WalletDetails, as_details

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.analysis import selection, valuation
    from walletframe.analysis.spam import flags
    from walletframe.frames.details import DetailsLike
else:
    selection, valuation = map(LazyPackage, ("analysis.selection", "analysis.valuation"))
    flags = LazyPackage("analysis.spam.flags")
pickers: Any = LazyPackage("pickers")  # a layer above: `explore` imports it when it is called


class DetailsAccessor(HoldingsAccessor):
    """Methods for tables and charts of a fetch, which also state how complete the fetch is.

    The methods are those of ``holdings.wf``, called with the ``wallets`` of the fetch. Methods that
    add columns to holdings or drop rows (`value`, `flag_spam`, `without_spam`, `where`) return a
    `walletframe.WalletDetails`.

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
        self._wallets, self._data = as_details(details)

    def _replace_holdings(self, function: Any, /, *args: Any, **kwargs: Any) -> WalletDetails:
        """Return the result of the fetch with new holdings: those that a function returns."""
        return WalletDetails(self._wallets, call_with_data(self, function, *args, **kwargs))

    def _where(self, _function: object, /, *args: Any, **kwargs: Any) -> WalletDetails:
        return selection.where_in_fetch(self._data, self._wallets, *args, **kwargs)

    def _explore(self, widget: Any, /, *args: Any, **kwargs: Any) -> Any:
        return widget(WalletDetails(self._wallets, self._data), *args, **kwargs)

    explore: Final = Delegate(lambda: pickers.HoldingsExplorer, _explore)
    value: Final = Delegate(lambda: valuation.value, _replace_holdings)
    flag_spam: Final = Delegate(lambda: flags.flag_spam, _replace_holdings)
    without_spam: Final = Delegate(lambda: flags.without_spam, _replace_holdings)
    where: Final = Delegate(lambda: selection.where, _where)
