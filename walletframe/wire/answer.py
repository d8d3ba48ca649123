"""Read the body of an answer into one outcome, or one body, for each requested wallet.

A fast decoder reads answers that follow the service's document, or nearly so. Other answers are
read leniently, entry by entry and balance by balance: a malformed balance is read as far as
possible, and a malformed entry makes only its own wallet invalid.
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
from walletframe.text import safe_line
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

_Key: TypeAlias = tuple[str, str]  # blockchain and address, in the form for comparisons
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


# The document's shapes with all fields required.


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
    explorer_url: str | msgspec.UnsetType | None = msgspec.UNSET


class _WholeAnswer(msgspec.Struct, gc=False):
    wallets: list[_WholeWallet]


NO_LIST = "the service gave no list of balances"
_FAILED_REASON = "the service could not retrieve this wallet"
_MISSING = Outcome(Status.MISSING, "the answer left this wallet out")
_CONTRADICTION = Outcome(
    Status.INVALID, "the answer has this wallet twice, with different contents"
)
_ESCAPES = re.compile(
    r"\\\\"  # an escaped backslash
    r"|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}"  # a surrogate pair
    r"|(?P<lone>\\u[dD][89a-fA-F][\da-fA-F]{2})"
)
_MAX_DECIMALS_DIGITS = 9  # longer numbers of decimals are out of range
_MAX_FAST_CHECK_BYTES = 1_000_000

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
    """Return a name that a JSON object has twice, else None; None if the body is not JSON.

    JSON readers differ in which of the two values they use.
    """
    repeated: list[str] = []

    def note(pairs: list[tuple[str, object]]) -> None:
        if len(dict(pairs)) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            repeated.append(max(counts, key=counts.__getitem__))

    # Two fast checks come first, which take ten times the memory. A complete answer has a known
    # number of names. JSON that is decoded and encoded again has fewer colons if a name was
    # repeated, unless colons were escaped.
    is_small = len(body) <= _MAX_FAST_CHECK_BYTES
    with suppress(ValueError, RecursionError):
        if is_small and not any(space in body for space in (b" :", b"\t", b"\n", b"\r")):
            count = 1
            for wallet in _decode_whole(body).wallets:
                optional = [wallet.explorer_url, *(each.price for each in wallet.balances)]
                count += 4 + 7 * len(wallet.balances) + len(optional)
                count -= optional.count(msgspec.UNSET)
            if count == body.count(b'":'):
                return None
    with suppress(ValueError, RecursionError):
        can_count = is_small and b"\\u003" not in body
        if can_count and _encode(_decode_any(body)).count(b":") == body.count(b":"):
            return None
    with suppress(ValueError, RecursionError):
        text = body.decode(json.detect_encoding(body), "replace")
        json.loads(text, object_pairs_hook=note, parse_int=len, parse_float=len, strict=False)
    return next(iter(repeated), None)


class Answer(NamedTuple):
    """One outcome for each requested wallet, in their order, and unrequested wallets as text."""

    outcomes: list[Outcome]
    unrequested: list[str]


def read_answer(body: bytes, requested: Sequence[WalletAddress]) -> Answer:
    """Read the body of an answer with status 200, whatever it contains, without an error."""
    try:
        answer = _decode_answer(body)
    except (ValueError, RecursionError):
        return _read_answer_leniently(body, requested)
    error = _error_message(answer.error)
    entries = [
        (canonical_key(each.block_chain, each.address), _outcome(each, error))
        for each in answer.wallets
    ]
    return _match(entries, requested, error)


def _error_message(sent: Raw) -> str | None:
    """Return a message for the `error` field of an answer without balances, None if it is empty."""
    if bytes(sent) == b"null" or not _decoded(_decode_any, sent):
        return None
    return f"an error and no balances came: {safe_line(_as_sent(sent) or '')!r}"


def _outcome(wallet: SentWallet, error: str | None) -> Outcome:
    """Return the outcome of an entry; `error` is the message of the whole answer."""
    if wallet.failed:
        return Outcome(Status.FAILED, _FAILED_REASON, wallet.explorer_url)
    if not wallet.balances and (error := _error_message(wallet.error) or error):
        return Outcome(Status.INVALID, error, wallet.explorer_url)
    if wallet.balances is None:
        return Outcome(Status.FAILED, NO_LIST, wallet.explorer_url)
    balances = Balances.of(wallet.balances)
    return Outcome(Status.OK, balances.unreadable_message, wallet.explorer_url, balances)


def _match(
    entries: Iterable[tuple[_Key | None, Outcome]],
    requested: Sequence[WalletAddress],
    error: str | None,
) -> Answer:
    """Match entries by canonical address, not position; unnamed ones are of missing wallets."""
    by_key: dict[_Key, Outcome] = {}
    missing = Outcome(Status.INVALID, error) if error else None
    for key, outcome in entries:
        if key is None:
            missing = missing or outcome
            continue
        first = by_key.setdefault(key, outcome)
        if (first.status, first.balances) != (outcome.status, outcome.balances):
            by_key[key] = _CONTRADICTION
    keys = [canonical_key(wallet.blockchain, wallet.address) for wallet in requested]
    unrequested = [safe_line(".".join(key)) for key in by_key.keys() - set(keys)]
    return Answer([by_key.get(key, missing or _MISSING) for key in keys], unrequested)


def _read_answer_leniently(body: bytes, requested: Sequence[WalletAddress]) -> Answer:
    text = body.decode(json.detect_encoding(body), "replace")
    if "\\u" in text:  # lone surrogates are replaced like invalid bytes
        text = _ESCAPES.sub(lambda match: "\ufffd" if match["lone"] else match[0], text)
    repaired = text.encode()
    try:
        answer = _decode_entries(repaired)
    except msgspec.ValidationError:
        parts = _decoded(_decode_parts, repaired) or {}
        reason = _error_message(parts.get("error", NULL)) or "the answer has no list of wallets"
    except RecursionError:
        reason = "the answer is nested too deeply"
    except ValueError:
        reason = "the answer is empty"
        if body.strip():
            beginning = safe_line(body[:400].decode(errors="replace"), 60)
            reason = f"the answer is not JSON; it begins with {beginning!r}"
    else:
        error, entries = _error_message(answer.error), []
        for entry in answer.wallets:
            try:
                wallet = _decoded(_decode_wallet, entry) or _read_wallet_leniently(entry)
                outcome = _outcome(wallet, error)
            except (ValueError, RecursionError) as fault:
                reason = f"the entry breaks the contract: {safe_line(str(fault))}"
                outcome = Outcome(Status.INVALID, reason)
            entries.append((_entry_key(entry), outcome))
        return _match(entries, requested, error)
    return Answer([Outcome(Status.INVALID, reason)] * len(requested), [])


def _entry_key(entry: Raw) -> _Key | None:
    """Return the key of the wallet that an entry names, if it does."""
    name = _decoded(_decode_name, entry)
    return None if name is None else canonical_key(name.block_chain, name.address)


def _read_wallet_leniently(entry: Raw) -> SentWallet:
    """Read a wallet's entry part by part, without dropping a balance.

    Raise a ValueError if it names no wallet, ``failed`` is not a boolean, or ``balances`` is not a
    list.
    """
    parts = _decode_wallet_parts(entry)
    sent = None if parts.failed else _decode_list(parts.balances)
    balances = None if sent is None else [_read_balance_leniently(each) for each in sent]
    link = _decoded(_decode_text, parts.explorer_url)
    return SentWallet(parts.block_chain, parts.address, parts.failed, balances, link, parts.error)


def _read_balance_leniently(sent: Raw) -> SentBalance:
    balance = _decoded(_decode_balance, sent)
    if balance is not None:
        return balance
    parts = _decoded(_decode_parts, sent)
    if parts is None:
        return SentBalance(amount=SentAmount(_as_sent(sent)))
    asset = _decoded(_decode_asset, parts.get("asset", NULL))
    if asset is None:
        asset_parts = _decoded(_decode_parts, parts.get("asset", NULL)) or {}
        chain, symbol, address = (
            _decoded(_decode_text, asset_parts.get(name, NULL))
            for name in ("blockchain", "symbol", "address")
        )
        if address is None and bytes(asset_parts.get("address", NULL)) != b"null":
            chain = None  # an unreadable address is an unknown token, not the native coin
        asset = SentAsset(chain, symbol, address)
    quantity = parts.get("amount", NULL)
    amount = SentAmount(_as_sent(quantity))
    amount_parts = _decoded(_decode_parts, quantity)
    if amount_parts is not None:
        digits = _as_sent(amount_parts.get("decimals", NULL)) or ""
        is_valid = digits.isascii() and digits.isdecimal() and len(digits) <= _MAX_DECIMALS_DIGITS
        decimals = int(digits) if is_valid else None
        amount = SentAmount(_as_sent(amount_parts.get("amount", NULL)), decimals)
    sent_price = parts.get("price", NULL)
    price = _decoded(_decode_price, sent_price)
    if price is None:  # it can be a number as text
        price = _decoded(_decode_price, (_decoded(_decode_text, sent_price) or "").encode())
    return SentBalance(asset, amount, price)


def _as_sent(sent: Raw) -> str | None:
    """Return a text, or the JSON of anything else; None for null."""
    if bytes(sent) == b"null":
        return None
    text = _decoded(_decode_text, sent)
    return bytes(sent).decode(errors="replace") if text is None else text


def _decoded(decode: Callable[[Raw | bytes], _T], sent: Raw | bytes) -> _T | None:
    try:
        return decode(sent)
    except (ValueError, RecursionError):
        return None


class SplitAnswer(NamedTuple):
    """One body for each requested wallet with an entry, by position, and unrequested wallets.

    A body is the answer that the service would send for that wallet alone, its entries unchanged.
    """

    bodies: dict[int, bytes]
    unrequested: list[str]


def split_answer(body: bytes, requested: Sequence[WalletAddress]) -> SplitAnswer:
    """Split the answer for a batch into one body per wallet; without bodies if it is unreadable."""
    answer = _decoded(_decode_entries, body)
    positions = {canonical_key(w.blockchain, w.address): n for n, w in enumerate(requested)}
    entries: dict[int, list[bytes]] = {}
    unrequested: dict[str, None] = {}
    for entry in answer.wallets if answer else ():
        key = _entry_key(entry)
        if key in positions:
            entries.setdefault(positions[key], []).append(bytes(entry))
        elif key is not None:
            unrequested[safe_line(".".join(key))] = None
    error = bytes(answer.error) if answer else b""
    bodies = {
        position: b'{"wallets":[%s],"error":%s}' % (b",".join(parts), error)
        for position, parts in entries.items()
    }
    return SplitAnswer(bodies, list(unrequested))
