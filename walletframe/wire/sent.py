"""Tolerant shapes for reading answers: the document's, with the deviations seen in practice.

Nearly every field may be null or left out, and an amount may be an integer; fields that are not
named here are ignored. An entry with anything else in it is read part by part, so that an odd one
costs no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from walletframe.wire.shapes import Price

if TYPE_CHECKING:
    from collections.abc import Callable

    from msgspec import Raw

_T = TypeVar("_T")
_NULL = msgspec.Raw(b"null")
_MOST_DECIMALS = 9  # digits: more are out of any range


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


class SentAnswer(msgspec.Struct, frozen=True, gc=False):
    """The whole answer."""

    wallets: list[SentWallet]


class _WalletParts(msgspec.Struct, rename="camel"):
    block_chain: str
    address: str
    failed: bool = False
    balances: msgspec.Raw = _NULL
    explorer_url: msgspec.Raw = _NULL


class _BalanceParts(msgspec.Struct):
    asset: msgspec.Raw = _NULL
    amount: msgspec.Raw = _NULL
    price: msgspec.Raw = _NULL


class _AssetParts(msgspec.Struct):
    blockchain: msgspec.Raw = _NULL
    symbol: msgspec.Raw = _NULL
    address: msgspec.Raw = _NULL


class _AmountParts(msgspec.Struct):
    amount: msgspec.Raw = _NULL
    decimals: msgspec.Raw = _NULL


_WALLET_PARTS = msgspec.json.Decoder(_WalletParts).decode
_LIST = msgspec.json.Decoder(list[msgspec.Raw] | None).decode
_BALANCE = msgspec.json.Decoder(SentBalance).decode
_BALANCE_PARTS = msgspec.json.Decoder(_BalanceParts).decode
_ASSET = msgspec.json.Decoder(SentAsset).decode
_ASSET_PARTS = msgspec.json.Decoder(_AssetParts).decode
_AMOUNT_PARTS = msgspec.json.Decoder(_AmountParts).decode
_PRICE = msgspec.json.Decoder(Price).decode
_TEXT = msgspec.json.Decoder(str | None).decode


def read_odd(entry: Raw) -> SentWallet:
    """Read a wallet's entry part by part, with a balance for each that was sent unless it failed.

    A ValueError where it does not say whose it is, ``failed`` is no boolean, or ``balances`` no
    list.
    """
    parts = _WALLET_PARTS(entry)
    sent = None if parts.failed else _LIST(parts.balances)
    balances = None if sent is None else [_balance(each) for each in sent]
    link = _read(_TEXT, parts.explorer_url)
    return SentWallet(parts.block_chain, parts.address, parts.failed, balances, link)


def _balance(sent: Raw) -> SentBalance:
    plain = _read(_BALANCE, sent)
    if plain is not None:
        return plain
    parts = _read(_BALANCE_PARTS, sent)
    if parts is None:
        return SentBalance(amount=SentAmount(_as_sent(sent)))
    return SentBalance(_asset(parts.asset), _amount(parts.amount), _price(parts.price))


def _asset(sent: Raw) -> SentAsset:
    plain = _read(_ASSET, sent)
    if plain is not None:
        return plain
    parts = _read(_ASSET_PARTS, sent) or _AssetParts()
    address = _read(_TEXT, parts.address)
    is_native = bytes(parts.address) == b"null"
    known = address is not None or is_native  # else it may be any token of the blockchain
    blockchain = _read(_TEXT, parts.blockchain) if known else None
    return SentAsset(blockchain, _read(_TEXT, parts.symbol), address)


def _amount(sent: Raw) -> SentAmount:
    parts = _read(_AMOUNT_PARTS, sent)
    if parts is None:
        return SentAmount(_as_sent(sent))
    digits = _as_sent(parts.decimals) or ""
    whole = digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DECIMALS
    return SentAmount(_as_sent(parts.amount), int(digits) if whole else None)


def _price(sent: Raw) -> float | None:
    """Read a number, or the text of one."""
    plain = _read(_PRICE, sent)
    return _read(_PRICE, (_read(_TEXT, sent) or "").encode()) if plain is None else plain


def _as_sent(sent: Raw) -> str | None:
    """Return a text, or the JSON of anything else; None for null."""
    if bytes(sent) == b"null":
        return None
    text = _read(_TEXT, sent)
    return bytes(sent).decode() if text is None else text


def _read(decode: Callable[[Raw | bytes], _T], sent: Raw | bytes) -> _T | None:
    try:
        return decode(sent)
    except (ValueError, RecursionError):
        return None
