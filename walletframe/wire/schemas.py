"""The path, the query and the answer schemas of the service's endpoint.

The sandbox writes answers with the strict schemas, which the service documents. The client reads
answers with the lenient schemas, which accept missing fields.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeGuard, cast
from urllib.parse import urlencode

import msgspec

from walletframe.amounts.integers import MAX_DECIMALS, MAX_DIGITS
from walletframe.numerals import counted_noun

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from walletframe.address.forms import WalletAddress

DETAILS_PATH = "/wallets/details"
ADDRESS_PARAMETER = "address"
KEY_PARAMETER = "apiKey"
NULL = msgspec.Raw(b"null")
_MAX_FLOAT = sys.float_info.max
_VALID_DECIMALS = frozenset(range(MAX_DECIMALS + 1))
_MAX_KEPT_CHARS = 200  # maximum length of an unreadable amount
Price = Annotated[float, msgspec.Meta(ge=-_MAX_FLOAT, le=_MAX_FLOAT)] | None


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
    """The answer to a valid request, with one entry per requested wallet."""

    wallets: list[WalletDetail]


# The lenient schemas. In answers of the service, nearly every field can be null or missing.


class SentAsset(msgspec.Struct, frozen=True, gc=False):
    """A token, or an unknown token if `blockchain` is None."""

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
    """The complete answer. `error` is undocumented, but other endpoints send this field."""

    wallets: list[SentWallet]
    error: msgspec.Raw = NULL


@dataclass(frozen=True, slots=True)
class Balances:
    """The balances of one wallet, as columns of equal length in the order of the answer.

    A token without a blockchain is unknown. A token with a blockchain, but no address, is a
    native coin. Amounts are in base units. The text of an unreadable amount may be truncated.
    """

    symbols: list[str | None]
    token_addresses: list[str | None]
    token_blockchains: list[str | None]
    raw_amounts: list[str | None]
    decimals: list[int | None]
    prices: list[float | None]
    unreadable_positions: frozenset[int] = frozenset()  # of the unreadable amounts
    unreadable_count: int = 0  # number of balances with an unreadable amount, decimals or token

    @classmethod
    def from_sent_balances(cls, sent: Sequence[SentBalance]) -> Balances:
        """Convert decoded balances to columns."""
        assets = [balance.asset for balance in sent]
        amounts = [balance.amount for balance in sent]
        symbols = [asset.symbol or None for asset in assets]
        addresses = [asset.address for asset in assets]
        chains = [asset.blockchain or None for asset in assets]
        raw = [amount.amount for amount in amounts]
        decimals = [amount.decimals for amount in amounts]
        prices = [balance.price for balance in sent]
        if "" in addresses:  # only null means the native coin: "" is an unknown token
            pairs = zip(chains, addresses, strict=True)
            chains = [None if address == "" else chain for chain, address in pairs]
            addresses = [address or None for address in addresses]
        max_digits = min(MAX_DIGITS, sys.get_int_max_str_digits() or MAX_DIGITS)
        is_plain = _VALID_DECIMALS.issuperset(decimals) and all(chains)
        if is_plain and _all_digits(raw, max_digits):
            return cls(symbols, addresses, chains, raw, decimals, prices)
        texts = [str(each) if isinstance(each, int) else each for each in raw]
        invalid = frozenset(
            n
            for n, text in enumerate(texts)
            if not (text and _has_only_digits(text) and len(text) <= max_digits)
        )
        unreadable = sum(
            n in invalid or each not in _VALID_DECIMALS or chain is None
            for n, (each, chain) in enumerate(zip(decimals, chains, strict=True))
        )
        for n in invalid:  # an amount of only digits is not truncated
            text = texts[n]
            if text and len(text) > _MAX_KEPT_CHARS and not _has_only_digits(text):
                texts[n] = f"{text[: _MAX_KEPT_CHARS - 1]}…"
        return cls(symbols, addresses, chains, texts, decimals, prices, invalid, unreadable)

    @property
    def unreadable_message(self) -> str | None:
        """A message about unreadable balances, or None if there are none."""
        if not self.unreadable_count:
            return None
        total = counted_noun(len(self), "balance")
        return f"{self.unreadable_count:,} of {total} could not be read"

    def __len__(self) -> int:
        return len(self.symbols)


def _all_digits(values: Sequence[str | int | None], max_digits: int) -> TypeGuard[list[str | None]]:
    strings = cast("list[str]", values)
    try:
        joined = "".join(strings)
    except TypeError:  # not all values are strings
        return False
    if "" in strings or (joined and not (joined.isascii() and joined.encode().isdigit())):
        return False
    return len(joined) <= max_digits or max(map(len, strings)) <= max_digits


def _has_only_digits(text: str) -> bool:
    return text.isascii() and text.isdecimal()
