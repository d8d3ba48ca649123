"""The endpoint: its path, parameters and query, and the strict and tolerant shapes of its answer.

The sandbox sends the strict, documented shapes, and requires them of the holdings that it is told
to serve: a wrong type or a missing field is an error, and only a field that can be null may be
left out. Answers are read in the tolerant shapes, whose names begin with `Sent`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from walletframe.address.forms import WalletAddress

DETAILS_PATH = "/wallets/details"
ADDRESS_PARAMETER = "address"
KEY_PARAMETER = "apiKey"
NULL = msgspec.Raw(b"null")
_LARGEST = sys.float_info.max
Price = Annotated[float, msgspec.Meta(ge=-_LARGEST, le=_LARGEST)] | None


def details_query(wallets: Iterable[WalletAddress]) -> str:
    """Return the percent-encoded query string for wallets, without the key."""
    return urlencode([(ADDRESS_PARAMETER, str(wallet)) for wallet in wallets])


class Asset(msgspec.Struct, frozen=True, gc=False):
    """A token; a native coin has no address, and a symbol is neither unique nor harmless."""

    blockchain: str
    symbol: str
    address: str | None = None


class Amount(msgspec.Struct, frozen=True, gc=False):
    """A quantity in base units, as digits; decimals are None if the service does not know them."""

    amount: str
    decimals: int | None = None


class AssetAndAmount(msgspec.Struct, frozen=True, gc=False):
    """A balance: a token and its amount; live services also send a price."""

    asset: Asset
    amount: Amount
    price: Price = None


class WalletDetail(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The entry of one wallet; `failed` if the service could not retrieve it."""

    failed: bool
    block_chain: str
    address: str
    balances: list[AssetAndAmount] | None = None
    explorer_url: str | None = None


class WalletDetailsAnswer(msgspec.Struct, frozen=True, gc=False):
    """The whole answer to a valid request: one entry for each requested wallet."""

    wallets: list[WalletDetail]


# In practice, nearly every field can be null or missing, and an amount can be an integer; other
# fields are ignored.


class SentAsset(msgspec.Struct, frozen=True, gc=False):
    """A token: unknown if it has no blockchain, else the native coin if it has no address."""

    blockchain: str | None = None
    symbol: str | None = None
    address: str | None = None


class SentAmount(msgspec.Struct, frozen=True, gc=False):
    """A quantity in base units, as an integer if JSON had one, else as text; and its decimals."""

    amount: str | int | None = None
    decimals: int | None = None


class SentBalance(msgspec.Struct, frozen=True, gc=False):
    """A balance: a token, its amount, and perhaps a price."""

    asset: SentAsset = SentAsset()
    amount: SentAmount = SentAmount()
    price: Price = None


class SentWallet(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The entry of one wallet."""

    block_chain: str
    address: str
    failed: bool = False
    balances: list[SentBalance] | None = None
    explorer_url: str | None = None
    error: msgspec.Raw = NULL


class SentAnswer(msgspec.Struct, frozen=True, gc=False):
    """The whole answer; other endpoints of the service send `error` if they fail."""

    wallets: list[SentWallet]
    error: msgspec.Raw = NULL
