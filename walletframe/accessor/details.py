"""``details.wf``: what is asked of holdings, with the wallets of the same fetch given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.accessor.holdings import HoldingsAccessor
from walletframe.accessor.spam import SpamAccessor
from walletframe.accessor.totals import TotalsAccessor
from walletframe.accessor.values import ValuesAccessor
from walletframe.frames import WalletDetails, details_given

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.frames import DetailsLike


class DetailsAccessor(
    HoldingsAccessor[WalletDetails],
    TotalsAccessor[WalletDetails],
    ValuesAccessor[WalletDetails],
    SpamAccessor[WalletDetails],
):
    """Tables and charts of a whole fetch, which say how complete they are.

    The calls of ``holdings.wf`` with ``wallets=`` given. Those that add to the rows of holdings, or
    leave some out (`value`, `flag_spam`, `without_spam`), return a fetch again.

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

    def _again(self, holdings: pd.DataFrame) -> WalletDetails:
        return WalletDetails(self._wallets, holdings)
