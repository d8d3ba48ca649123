"""``details.wf``: what is asked of holdings, with the wallets of the same fetch given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from walletframe.accessor.delegation import Delegate, LazyPackage, call_with_data
from walletframe.accessor.holdings import HoldingsAccessor
from walletframe.frames.details import WalletDetails, details_given

if TYPE_CHECKING:
    import pandas as pd

    from walletframe import analysis
    from walletframe.analysis import selection
    from walletframe.frames.details import DetailsLike
else:
    analysis, selection = map(LazyPackage, ("analysis", "analysis.selection"))


class DetailsAccessor(HoldingsAccessor):
    """Tables and charts of a whole fetch, which say how complete they are.

    The calls of ``holdings.wf`` with ``wallets=`` given. Those that add to the rows of holdings, or
    leave some out (`value`, `flag_spam`, `without_spam`, `where`), return a fetch again.

    Parameters
    ----------
    details : WalletDetails or tuple of (DataFrame, DataFrame)
        What was fetched.

    Raises
    ------
    ArgumentError
        If `details` is not a fetch, or has its frames the wrong way round.

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
        self._wallets, self._data = details_given(details)

    def _with_rows(self, function: Any, /, *args: Any, **kwargs: Any) -> WalletDetails:
        """Return the fetch with a function's rows in place of its holdings."""
        return WalletDetails(self._wallets, call_with_data(self, function, *args, **kwargs))

    def _where(self, _function: object, /, *args: Any, **kwargs: Any) -> WalletDetails:
        return selection.where_in_fetch(self._data, self._wallets, *args, **kwargs)

    value: Final = Delegate(lambda: analysis.value, _with_rows)
    flag_spam: Final = Delegate(lambda: analysis.flag_spam, _with_rows)
    without_spam: Final = Delegate(lambda: analysis.without_spam, _with_rows)
    where: Final = Delegate(lambda: analysis.where, _where)
