"""The shapes of the service's answer, field by field as its document names them.

The sandbox sends these, and what it is given to send has to keep to them: a number where the
document says string, or a field that is not there, is an error. Only where null is allowed may a
field be left out. What is read of real answers is in `received`.
"""

from __future__ import annotations

import sys
from typing import Annotated

import msgspec

DETAILS_PATH = "/wallets/details"
ADDRESS_PARAMETER = "address"
KEY_PARAMETER = "apiKey"
MAX_DECIMALS = 77
_LARGEST = sys.float_info.max


class Asset(msgspec.Struct, frozen=True, gc=False):
    """A token: where it lives, and how it calls itself.

    Attributes
    ----------
    blockchain : str
        Blockchain identifier.
    address : str or None
        Contract address; None for the native coin of the blockchain.
    symbol : str
        Chosen by whoever made the token: neither unique nor harmless.
    """

    blockchain: str
    symbol: str
    address: str | None = None


class Amount(msgspec.Struct, frozen=True, gc=False):
    """A quantity in the token's smallest unit.

    Attributes
    ----------
    amount : str
        Decimal digits.
    decimals : int or None
        How many of the digits stand behind the point; None where the service does not know.
    """

    amount: str
    decimals: int | None = None


class AssetAndAmount(msgspec.Struct, frozen=True, gc=False):
    """A token and how much of it a wallet holds.

    Attributes
    ----------
    asset : Asset
        The token.
    amount : Amount
        How much.
    price : float or None
        The service's own price; not in its document, but sent by live services.
    """

    asset: Asset
    amount: Amount
    price: Annotated[float, msgspec.Meta(ge=-_LARGEST, le=_LARGEST)] | None = None


class WalletDetail(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What the service answers about one wallet.

    Attributes
    ----------
    failed : bool
        Whether retrieving this wallet's data failed.
    block_chain : str
        Blockchain identifier; ``blockChain`` on the wire.
    address : str
        Wallet address.
    balances : list of AssetAndAmount or None
        The tokens held; None is possible.
    explorer_url : str or None
        Page of the wallet on a block explorer; ``explorerUrl`` on the wire.
    """

    failed: bool
    block_chain: str
    address: str
    balances: list[AssetAndAmount] | None = None
    explorer_url: str | None = None


class WalletDetailsAnswer(msgspec.Struct, frozen=True, gc=False):
    """The whole answer.

    Attributes
    ----------
    wallets : list of WalletDetail
        One for each wallet asked for, when the request is valid.
    """

    wallets: list[WalletDetail]
