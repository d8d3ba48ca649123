"""The shapes of an answer as it is read: those of the document, and what is seen to differ.

Nearly every field may be null or left out, and an amount may be an integer. Whatever else a
service sends in its place is left to `odd`. Fields that are not named here are ignored.
"""

from __future__ import annotations

import sys
from typing import Annotated

import msgspec

_LARGEST = sys.float_info.max
Price = Annotated[float, msgspec.Meta(ge=-_LARGEST, le=_LARGEST)] | None


class Asset(msgspec.Struct, frozen=True, gc=False):
    """A token; an unknown one where the blockchain is None, else a native coin without address."""

    blockchain: str | None = None
    symbol: str | None = None
    address: str | None = None


class Amount(msgspec.Struct, frozen=True, gc=False):
    """A quantity in base units, as text where it is no JSON integer, and its decimals."""

    amount: str | int | None = None
    decimals: int | None = None


class Balance(msgspec.Struct, frozen=True, gc=False):
    """A token and how much of it a wallet holds."""

    asset: Asset = Asset()
    amount: Amount = Amount()
    price: Price = None


class Detail(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What the service answers about one wallet."""

    block_chain: str
    address: str
    failed: bool = False
    balances: list[Balance] | None = None
    explorer_url: str | None = None


class Details(msgspec.Struct, frozen=True, gc=False):
    """The whole answer."""

    wallets: list[Detail]
