"""The endpoint: path, parameters, query, and the shapes of its answer, documented and tolerated.

The sandbox sends the documented shapes, and what it is given to send has to keep to them: a
number where the document says string, or a field that is not there, is an error. Only where null is
allowed may a field be left out. Answers are read in the tolerant shapes, whose names begin with
`Sent`.
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
    """Return the query string that asks for wallets, percent-encoded, without the key."""
    return urlencode([(ADDRESS_PARAMETER, str(wallet)) for wallet in wallets])


class Asset(msgspec.Struct, frozen=True, gc=False):
    """A token; a native coin has no address, and a symbol is neither unique nor harmless."""

    blockchain: str
    symbol: str
    address: str | None = None


class Amount(msgspec.Struct, frozen=True, gc=False):
    """A quantity in base units, as digits; decimals are None where the service knows none."""

    amount: str
    decimals: int | None = None


class AssetAndAmount(msgspec.Struct, frozen=True, gc=False):
    """A token and how much of it a wallet holds; live services also send a price."""

    asset: Asset
    amount: Amount
    price: Price = None


class WalletDetail(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What the service answers about one wallet, unless retrieving it `failed`."""

    failed: bool
    block_chain: str
    address: str
    balances: list[AssetAndAmount] | None = None
    explorer_url: str | None = None


class WalletDetailsAnswer(msgspec.Struct, frozen=True, gc=False):
    """The whole answer: one entry for each wallet asked for, when the request is valid."""

    wallets: list[WalletDetail]


# As seen in practice, nearly every field may be null or left out, and an amount be an integer;
# fields that are not named here are ignored.


class SentAsset(msgspec.Struct, frozen=True, gc=False):
    """A token; an unknown one where the blockchain is None, else a native coin without address."""

    blockchain: str | None = None
    symbol: str | None = None
    address: str | None = None


class SentAmount(msgspec.Struct, frozen=True, gc=False):
    """A quantity in base units, as text where it is no JSON integer, and its decimals."""

    amount: str | int | None = None
    decimals: int | None = None


class SentBalance(msgspec.Struct, frozen=True, gc=False):
    """A token and how much of it a wallet holds."""

    asset: SentAsset = SentAsset()
    amount: SentAmount = SentAmount()
    price: Price = None


class SentWallet(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What the service answers about one wallet."""

    block_chain: str
    address: str
    failed: bool = False
    balances: list[SentBalance] | None = None
    explorer_url: str | None = None
    error: msgspec.Raw = NULL


class SentAnswer(msgspec.Struct, frozen=True, gc=False):
    """The whole answer; other endpoints of the service send `error` where they fail."""

    wallets: list[SentWallet]
    error: msgspec.Raw = NULL
