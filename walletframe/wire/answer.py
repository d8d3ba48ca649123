"""The answer: bytes in, one outcome for each requested wallet, or one body for each.

A fast decoder reads what keeps to the service's document, or nearly so. What it refuses is read
once more, entry by entry and balance by balance: an odd balance costs itself, and what has no
structure that can be used costs its own wallet.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import Raw
from msgspec.json import Decoder

from walletframe.address.forms import canonical_key
from walletframe.text import shown
from walletframe.wire.outcome import Balances, Outcome, Status
from walletframe.wire.shapes import (
    NULL,
    Price,
    SentAmount,
    SentAnswer,
    SentAsset,
    SentBalance,
    SentWallet,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from walletframe.address.forms import WalletAddress

_Key: TypeAlias = tuple[str, str]  # blockchain and address, in the form in which they are compared
_T = TypeVar("_T")


class _Name(msgspec.Struct, rename="camel"):
    block_chain: str
    address: str


class _WalletParts(_Name, rename="camel"):
    failed: bool = False
    balances: Raw = NULL
    explorer_url: Raw = NULL
    error: Raw = NULL


class _Entries(msgspec.Struct):
    wallets: list[Raw]
    error: Raw = NULL


# The document with all of its fields, none of which may be left out.


class _WholeAsset(msgspec.Struct, gc=False):
    blockchain: str | None
    symbol: str | None
    address: str | None


class _WholeAmount(msgspec.Struct, gc=False):
    amount: str | int | None
    decimals: int | None


class _WholeBalance(msgspec.Struct, gc=False):
    asset: _WholeAsset
    amount: _WholeAmount
    price: Price | msgspec.UnsetType = msgspec.UNSET


class _WholeWallet(msgspec.Struct, gc=False, rename="camel"):
    failed: bool
    block_chain: str
    address: str
    balances: list[_WholeBalance]
    explorer_url: str | None


class _WholeAnswer(msgspec.Struct, gc=False):
    wallets: list[_WholeWallet]


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
_QUICK_BYTES = 1_000_000

_decode_answer = Decoder(SentAnswer).decode
_decode_whole = Decoder(_WholeAnswer).decode
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
_decode_any = Decoder().decode
_encode = msgspec.json.Encoder().encode


def repeated_name(body: bytes) -> str | None:
    """Return a name that an object of some JSON has twice; None without, and for what is no JSON.

    Readers differ in which of the two they take.
    """
    repeated: list[str] = []

    def note(pairs: list[tuple[str, object]]) -> None:
        if len(dict(pairs)) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            repeated.append(max(counts, key=counts.__getitem__))

    # First two quick looks, for ten times the memory. An answer that has all fields has so many
    # names at least. JSON that is decoded and encoded again has fewer colons where a name was
    # repeated, unless some were escaped.
    is_fit = len(body) <= _QUICK_BYTES
    with suppress(ValueError, RecursionError):
        is_plain = is_fit and not any(space in body for space in (b" :", b"\t", b"\n", b"\r"))
        if is_plain:
            count = 1
            for balances in (wallet.balances for wallet in _decode_whole(body).wallets):
                prices = [balance.price for balance in balances]
                count += 5 + 8 * len(balances) - prices.count(msgspec.UNSET)
            if count == body.count(b'":'):
                return None
    with suppress(ValueError, RecursionError):
        is_fit = is_fit and b"\\u003" not in body
        if is_fit and _encode(_decode_any(body)).count(b":") == body.count(b":"):
            return None
    with suppress(ValueError, RecursionError):
        text = body.decode(json.detect_encoding(body), "replace")
        json.loads(text, object_pairs_hook=note, parse_int=len, parse_float=len, strict=False)
    return next(iter(repeated), None)


class Answer(NamedTuple):
    """One outcome for each wallet asked for, in the order asked; whom nobody asked for, as text."""

    outcomes: list[Outcome]
    strangers: list[str]


def read_answer(body: bytes, asked: Sequence[WalletAddress]) -> Answer:
    """Read the body of an answer with status 200; nothing in it raises."""
    try:
        answer = _decode_answer(body)
    except (ValueError, RecursionError):
        return _read_carefully(body, asked)
    error = _error(answer.error)
    entries = [
        (canonical_key(each.block_chain, each.address), _outcome(each, error))
        for each in answer.wallets
    ]
    return _match(entries, asked, error)


def _error(sent: Raw) -> str | None:
    """Return what an answer without balances says went wrong, None where it says nothing."""
    if bytes(sent) == b"null" or not _read(_decode_any, sent):
        return None
    return f"an error and no balances came: {shown(_as_sent(sent) or '')!r}"


def _outcome(wallet: SentWallet, error: str | None) -> Outcome:
    """Return what became of a wallet; the error is that of the whole answer."""
    if wallet.failed:
        return Outcome(Status.FAILED, _FAILED, wallet.explorer_url)
    if not wallet.balances and (error := _error(wallet.error) or error):
        return Outcome(Status.INVALID, error, wallet.explorer_url)
    if wallet.balances is None:
        return Outcome(Status.FAILED, NO_LIST, wallet.explorer_url)
    balances = Balances.of(wallet.balances)
    return Outcome(Status.OK, balances.flaws, wallet.explorer_url, balances)


def _match(
    entries: Iterable[tuple[_Key | None, Outcome]],
    asked: Sequence[WalletAddress],
    error: str | None,
) -> Answer:
    """Match by canonical address, never by position; an entry without one is of who is missing."""
    found: dict[_Key, Outcome] = {}
    missing = Outcome(Status.INVALID, error) if error else None
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
    text = body.decode(json.detect_encoding(body), "replace")
    if "\\u" in text:  # no text can hold lone surrogates either
        text = _ESCAPES.sub(lambda found: "\ufffd" if found["lone"] else found[0], text)
    mended = text.encode()
    try:
        answer = _decode_entries(mended)
    except msgspec.ValidationError:
        parts = _read(_decode_parts, mended) or {}
        reason = _error(parts.get("error", NULL)) or "the answer has no list of wallets"
    except RecursionError:
        reason = "the answer is nested too deeply"
    except ValueError:
        reason = "the answer is empty"
        if body.strip():
            beginning = shown(body[:400].decode(errors="replace"), 60)
            reason = f"the answer is not JSON; it begins with {beginning!r}"
    else:
        error, entries = _error(answer.error), []
        for entry in answer.wallets:
            try:
                wallet = _read(_decode_wallet, entry) or _read_odd(entry)
                outcome = _outcome(wallet, error)
            except (ValueError, RecursionError) as fault:
                reason = f"breaks the contract: {shown(str(fault))}"
                outcome = Outcome(Status.INVALID, reason)
            entries.append((_entry_key(entry), outcome))
        return _match(entries, asked, error)
    return Answer([Outcome(Status.INVALID, reason)] * len(asked), [])


def _entry_key(entry: Raw) -> _Key | None:
    """Return whose entry it is, where it says so."""
    name = _read(_decode_name, entry)
    return None if name is None else canonical_key(name.block_chain, name.address)


def _read_odd(entry: Raw) -> SentWallet:
    """Read a wallet's entry part by part, with a balance for each that was sent unless it failed.

    A ValueError where it does not say whose it is, ``failed`` is no boolean, or ``balances`` no
    list.
    """
    parts = _decode_wallet_parts(entry)
    sent = None if parts.failed else _decode_list(parts.balances)
    balances = None if sent is None else [_balance(each) for each in sent]
    link = _read(_decode_text, parts.explorer_url)
    return SentWallet(parts.block_chain, parts.address, parts.failed, balances, link, parts.error)


def _balance(sent: Raw) -> SentBalance:
    plain = _read(_decode_balance, sent)
    if plain is not None:
        return plain
    parts = _read(_decode_parts, sent)
    if parts is None:
        return SentBalance(amount=SentAmount(_as_sent(sent)))
    asset = _read(_decode_asset, parts.get("asset", NULL))
    if asset is None:
        of_asset = _read(_decode_parts, parts.get("asset", NULL)) or {}
        chain, symbol, given = (
            _read(_decode_text, of_asset.get(name, NULL))
            for name in ("blockchain", "symbol", "address")
        )
        if given is None and bytes(of_asset.get("address", NULL)) != b"null":
            chain = None  # it may be any token of the blockchain
        asset = SentAsset(chain, symbol, given)
    quantity = parts.get("amount", NULL)
    amount = SentAmount(_as_sent(quantity))
    of_amount = _read(_decode_parts, quantity)
    if of_amount is not None:
        digits = _as_sent(of_amount.get("decimals", NULL)) or ""
        whole = digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DECIMALS
        decimals = int(digits) if whole else None
        amount = SentAmount(_as_sent(of_amount.get("amount", NULL)), decimals)
    price = parts.get("price", NULL)
    number = _read(_decode_price, price)
    if number is None:  # it may be the text of one
        number = _read(_decode_price, (_read(_decode_text, price) or "").encode())
    return SentBalance(asset, amount, number)


def _as_sent(sent: Raw) -> str | None:
    """Return a text, or the JSON of anything else; None for null."""
    if bytes(sent) == b"null":
        return None
    text = _read(_decode_text, sent)
    return bytes(sent).decode(errors="replace") if text is None else text


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
    answer = _read(_decode_entries, body)
    places = {canonical_key(each.blockchain, each.address): n for n, each in enumerate(asked)}
    found: dict[int, list[bytes]] = {}
    strangers: dict[str, None] = {}
    for entry in answer.wallets if answer else ():
        key = _entry_key(entry)
        if key in places:
            found.setdefault(places[key], []).append(bytes(entry))
        elif key is not None:
            strangers[shown(".".join(key))] = None
    error = bytes(answer.error) if answer else b""
    bodies = {
        place: b'{"wallets":[%s],"error":%s}' % (b",".join(parts), error)
        for place, parts in found.items()
    }
    return Split(bodies, list(strangers))
