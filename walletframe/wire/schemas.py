"""The endpoint: its path, its parameters, its query, and the strict and lenient answer schemas.

The sandbox answers with the strict, documented schema, and validates its holdings. A wrong type is
an error. So is a missing field, unless the field can be null. The lenient schemas parse the
service's answers.
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
    """Return the percent-encoded query string for wallets, without the API key."""
    return urlencode([(ADDRESS_PARAMETER, str(wallet)) for wallet in wallets])


class Asset(msgspec.Struct, frozen=True, gc=False):
    """A token. The native coin has no address. Symbols are untrusted and not unique."""

    blockchain: str
    symbol: str
    address: str | None = None


class Amount(msgspec.Struct, frozen=True, gc=False):
    """A quantity in base units, as digits, and its decimals (None if unknown)."""

    amount: str
    decimals: int | None = None


class AssetAndAmount(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A balance: a token, its amount, and its price (None if unknown)."""

    asset: Asset
    amount: Amount
    price: Price = None


class WalletDetail(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The entry of one wallet. If `failed`, the service could not retrieve the wallet."""

    failed: bool
    block_chain: str
    address: str
    balances: list[AssetAndAmount] | None = None
    explorer_url: str | None = None


class WalletDetailsAnswer(msgspec.Struct, frozen=True, gc=False):
    """The answer to a valid request, with one entry for each requested wallet."""

    wallets: list[WalletDetail]


# The lenient schemas. In answers, nearly every field can be null or missing, and an amount can be
# an integer. Unknown fields are ignored.


class SentAsset(msgspec.Struct, frozen=True, gc=False):
    """A token: unknown if `blockchain` is None; the native coin if only `address` is None."""

    blockchain: str | None = None
    symbol: str | None = None
    address: str | None = None


class SentAmount(msgspec.Struct, frozen=True, gc=False):
    """A quantity in base units, and its decimals."""

    amount: str | int | None = None
    decimals: int | None = None


class SentBalance(msgspec.Struct, frozen=True, gc=False):
    """A balance: a token, its amount, and its price."""

    asset: SentAsset = SentAsset()
    amount: SentAmount = SentAmount()
    price: Price = None


class SentWallet(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The entry of one wallet, as the service sent it."""

    block_chain: str
    address: str
    failed: bool = False
    balances: list[SentBalance] | None = None
    explorer_url: str | None = None
    error: msgspec.Raw = NULL


class SentAnswer(msgspec.Struct, frozen=True, gc=False):
    """The complete answer. The field `error` has been seen only at other endpoints."""

    wallets: list[SentWallet]
    error: msgspec.Raw = NULL
