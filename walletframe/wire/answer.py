"""The answer: bytes in, one outcome for each requested wallet, or one body for each.

A fast decoder reads what keeps to the service's document, or nearly so. What it refuses is read
once more, entry by entry and balance by balance: an odd balance costs itself, and what has no
structure that can be used costs its own wallet.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import Raw
from msgspec.json import Decoder

from walletframe.address import canonical_key
from walletframe.text import shown
from walletframe.wire.outcome import Balances, Outcome, Status
from walletframe.wire.shapes import (
    Price,
    SentAmount,
    SentAnswer,
    SentAsset,
    SentBalance,
    SentWallet,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from walletframe.address import WalletAddress

_Key: TypeAlias = tuple[str, str]  # blockchain and address, in the form in which they are compared
_T = TypeVar("_T")
_NULL = Raw(b"null")


class _Name(msgspec.Struct, rename="camel"):
    block_chain: str
    address: str


class _WalletParts(_Name, rename="camel"):
    failed: bool = False
    balances: Raw = _NULL
    explorer_url: Raw = _NULL


class _Entries(msgspec.Struct):
    wallets: list[Raw]


NO_LIST = "the service gave no list of balances"
_FAILED = "the service could not retrieve this wallet"
_MISSING = Outcome(Status.MISSING, "the answer left this wallet out")
_CONTRADICTION = Outcome(
    Status.INVALID, "the answer has this wallet twice, with different contents"
)
_ESCAPES = re.compile(
    r"\\\\"  # a backslash that escapes nothing behind it
    r"|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}"  # a pair, which is one character
    r"|(?P<lone>\\u[dD][89a-fA-F][\da-fA-F]{2})"
)
_MOST_DECIMALS = 9  # digits: more are out of any range

_decode_answer = Decoder(SentAnswer).decode
_decode_entries = Decoder(_Entries).decode
_decode_name = Decoder(_Name).decode
_decode_wallet = Decoder(SentWallet).decode
_decode_wallet_parts = Decoder(_WalletParts).decode
_decode_list = Decoder(list[Raw] | None).decode
_decode_balance = Decoder(SentBalance).decode
_decode_asset = Decoder(SentAsset).decode
_decode_price = Decoder(Price).decode
_decode_text = Decoder(str | None).decode
_decode_parts = Decoder(dict[str, Raw]).decode


class Answer(NamedTuple):
    """One outcome for each wallet asked for, in the order asked; whom nobody asked for, as text."""

    outcomes: list[Outcome]
    strangers: list[str]


def read_answer(body: bytes, asked: Sequence[WalletAddress]) -> Answer:
    """Read the body of an answer with status 200; nothing in it raises."""
    try:
        wallets = _decode_answer(body).wallets
    except (ValueError, RecursionError):
        return _read_carefully(body, asked)
    return _match([(_key(wallet), _outcome(wallet)) for wallet in wallets], asked)


def _key(wallet: SentWallet | _Name) -> _Key:
    return canonical_key(wallet.block_chain, wallet.address)


def _outcome(wallet: SentWallet) -> Outcome:
    if wallet.failed:
        return Outcome(Status.FAILED, _FAILED, wallet.explorer_url)
    if wallet.balances is None:
        return Outcome(Status.FAILED, NO_LIST, wallet.explorer_url)
    balances = Balances.of(wallet.balances)
    return Outcome(Status.OK, balances.flaws, wallet.explorer_url, balances)


def _match(
    entries: Iterable[tuple[_Key | None, Outcome]], asked: Sequence[WalletAddress]
) -> Answer:
    """Match by canonical address, never by position; an entry without one is of who is missing."""
    found: dict[_Key, Outcome] = {}
    missing = None
    for key, outcome in entries:
        if key is None:
            missing = missing or outcome
            continue
        first = found.setdefault(key, outcome)
        if (first.status, first.balances) != (outcome.status, outcome.balances):
            found[key] = _CONTRADICTION
    keys = [canonical_key(wallet.blockchain, wallet.address) for wallet in asked]
    strangers = [shown(".".join(key)) for key in found.keys() - set(keys)]
    return Answer([found.get(key, missing or _MISSING) for key in keys], strangers)


def _read_carefully(body: bytes, asked: Sequence[WalletAddress]) -> Answer:
    try:
        entries = _decode_entries(_mended(body)).wallets
    except msgspec.ValidationError:
        reason = "the answer has no list of wallets"
    except RecursionError:
        reason = "the answer is nested too deeply"
    except ValueError:
        reason = "the answer is empty"
        if body.strip():
            beginning = shown(body[:400].decode(errors="replace"), 60)
            reason = f"the answer is not JSON; it begins with {beginning!r}"
    else:
        return _match(map(_read_entry, entries), asked)
    return Answer([Outcome(Status.INVALID, reason)] * len(asked), [])


def _mended(body: bytes) -> bytes:
    """Replace what no text can hold: bytes that are none, and lone surrogates."""
    text = body.decode(json.detect_encoding(body), "replace")
    if "\\u" in text:
        text = _ESCAPES.sub(lambda found: "\ufffd" if found["lone"] else found[0], text)
    return text.encode()


def _read_entry(entry: Raw) -> tuple[_Key | None, Outcome]:
    """Return whose entry it is, where it says so, and its outcome."""
    try:
        wallet = _read(_decode_wallet, entry) or _read_odd(entry)
    except (ValueError, RecursionError) as fault:
        reason = f"breaks the contract: {shown(str(fault))}"
        return _entry_key(entry), Outcome(Status.INVALID, reason)
    return _key(wallet), _outcome(wallet)


def _entry_key(entry: Raw) -> _Key | None:
    name = _read(_decode_name, entry)
    return None if name is None else _key(name)


def _read_odd(entry: Raw) -> SentWallet:
    """Read a wallet's entry part by part, with a balance for each that was sent unless it failed.

    A ValueError where it does not say whose it is, ``failed`` is no boolean, or ``balances`` no
    list.
    """
    parts = _decode_wallet_parts(entry)
    sent = None if parts.failed else _decode_list(parts.balances)
    balances = None if sent is None else [_balance(each) for each in sent]
    link = _read(_decode_text, parts.explorer_url)
    return SentWallet(parts.block_chain, parts.address, parts.failed, balances, link)


def _balance(sent: Raw) -> SentBalance:
    plain = _read(_decode_balance, sent)
    if plain is not None:
        return plain
    parts = _read(_decode_parts, sent)
    if parts is None:
        return SentBalance(amount=SentAmount(_as_sent(sent)))
    price = parts.get("price", _NULL)
    number = _read(_decode_price, price)
    if number is None:  # it may be the text of one
        number = _read(_decode_price, (_read(_decode_text, price) or "").encode())
    return SentBalance(
        _asset(parts.get("asset", _NULL)), _amount(parts.get("amount", _NULL)), number
    )


def _asset(sent: Raw) -> SentAsset:
    plain = _read(_decode_asset, sent)
    if plain is not None:
        return plain
    parts = _read(_decode_parts, sent) or {}
    given = parts.get("address", _NULL)
    address = _read(_decode_text, given)
    known = address is not None or bytes(given) == b"null"  # else it may be any of the blockchain
    blockchain = _read(_decode_text, parts.get("blockchain", _NULL)) if known else None
    return SentAsset(blockchain, _read(_decode_text, parts.get("symbol", _NULL)), address)


def _amount(sent: Raw) -> SentAmount:
    parts = _read(_decode_parts, sent)
    if parts is None:
        return SentAmount(_as_sent(sent))
    digits = _as_sent(parts.get("decimals", _NULL)) or ""
    whole = digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DECIMALS
    return SentAmount(_as_sent(parts.get("amount", _NULL)), int(digits) if whole else None)


def _as_sent(sent: Raw) -> str | None:
    """Return a text, or the JSON of anything else; None for null."""
    if bytes(sent) == b"null":
        return None
    text = _read(_decode_text, sent)
    return bytes(sent).decode() if text is None else text


def _read(decode: Callable[[Raw | bytes], _T], sent: Raw | bytes) -> _T | None:
    try:
        return decode(sent)
    except (ValueError, RecursionError):
        return None


class Split(NamedTuple):
    """An answer taken apart: by place among the wallets asked for, a body for each that is named.

    A body is what the service would have answered for that wallet alone, its entries untouched.
    """

    bodies: dict[int, bytes]
    strangers: list[str]


def split_answer(body: bytes, asked: Sequence[WalletAddress]) -> Split:
    """Take the answer to several wallets apart, into nothing where it can't be read."""
    entries = _read(_decode_entries, body)
    places = {canonical_key(each.blockchain, each.address): n for n, each in enumerate(asked)}
    found: dict[int, list[bytes]] = {}
    strangers: dict[str, None] = {}
    for entry in entries.wallets if entries else ():
        key = _entry_key(entry)
        if key in places:
            found.setdefault(places[key], []).append(bytes(entry))
        elif key is not None:
            strangers[shown(".".join(key))] = None
    bodies = {place: b'{"wallets":[%s]}' % b",".join(parts) for place, parts in found.items()}
    return Split(bodies, list(strangers))
