"""The question: which wallets, as the endpoint's query string. The key is not known here."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from walletframe.wire.shapes import ADDRESS_PARAMETER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from walletframe.address import WalletAddress


def details_query(wallets: Iterable[WalletAddress]) -> str:
    """Return the query string that asks for wallets, percent-encoded, without the key.

    Parameters
    ----------
    wallets : iterable of WalletAddress
        One is what the service's document guarantees; several become repeated parameters.

    Returns
    -------
    str
        ``address=<BLOCKCHAIN>.<WALLET_ADDRESS>``, once for each wallet.

    Examples
    --------
    >>> from walletframe.address import parse_wallets
    >>> details_query(parse_wallets("NEAR.alice.near"))
    'address=NEAR.alice.near'
    """
    return urlencode([(ADDRESS_PARAMETER, str(wallet)) for wallet in wallets])
