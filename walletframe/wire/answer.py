"""Parse the body of an answer into one outcome per requested wallet.

A fast decoder parses well-formed answers. All other answers are parsed entry by entry. So a
malformed entry makes only one wallet invalid. A malformed balance keeps its valid fields.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import Raw
from msgspec.json import Decoder, decode, encode

from walletframe.address.forms import WalletAddress, canonical_key
from walletframe.text import safe_line
from walletframe.wire.outcome import Outcome, Status
from walletframe.wire.schemas import (
    NULL,
    Balances,
    Price,
    SentAmount,
    SentAnswer,
    SentAsset,
    SentBalance,
    SentWallet,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


_Key: TypeAlias = tuple[str, str]  # canonical blockchain and address
_T = TypeVar("_T")


class _WalletId(msgspec.Struct, rename="camel"):
    block_chain: str
    address: str


class _WalletWithRawFields(_WalletId, rename="camel"):
    failed: bool = False
    balances: Raw = NULL
    explorer_url: Raw = NULL
    error: Raw = NULL


class _AnswerWithRawWallets(msgspec.Struct):
    wallets: list[Raw]
    error: Raw = NULL


NO_LIST = "the service sent no list of balances"
_MISSING = Outcome(Status.MISSING, "the answer does not contain this wallet")
_ESCAPES = re.compile(
    r"\\\\"  # an escaped backslash
    r"|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}"  # a surrogate pair
    r"|(?P<lone>\\u[dD][89a-fA-F][\da-fA-F]{2})"
)
_MAX_DECIMALS_DIGITS = 9  # a longer number is not a valid number of decimals
_MAX_FAST_CHECK_BYTES = 1_000_000

_decode_answer = Decoder(SentAnswer).decode
_decode_raw_answer = Decoder(_AnswerWithRawWallets).decode
_decode_wallet_id = Decoder(_WalletId).decode
_decode_wallet = Decoder(SentWallet).decode
_decode_raw_wallet = Decoder(_WalletWithRawFields).decode
_decode_list = Decoder(list[Raw] | None).decode
_decode_balance = Decoder(SentBalance).decode
_decode_price = Decoder(Price, strict=False).decode  # also from a string
_decode_text = Decoder(str | None).decode
_decode_raw_fields = Decoder(dict[str, Raw]).decode


def find_duplicate_name(body: bytes) -> str | None:
    """Return a name that occurs twice in a JSON object. Return None if all names are unique."""
    duplicates: list[str] = []

    def add_duplicate_name(pairs: list[tuple[str, object]]) -> None:
        if len(dict(pairs)) < len(pairs):
            duplicates.append(Counter(name for name, _ in pairs).most_common(1)[0][0])

    # Decoding drops duplicate names. So the encoded result has fewer colons than a body with
    # duplicates, unless some colons were escaped.
    with suppress(ValueError, RecursionError):
        can_count = len(body) <= _MAX_FAST_CHECK_BYTES and b"\\u003" not in body
        if can_count and encode(decode(body)).count(b":") == body.count(b":"):
            return None
    with suppress(ValueError, RecursionError):
        text = body.decode(json.detect_encoding(body), "replace")
        json.loads(
            text, object_pairs_hook=add_duplicate_name, parse_int=len, parse_float=len, strict=False
        )
    return next(iter(duplicates), None)


class Answer(NamedTuple):
    """The outcomes in the order of the requested wallets, and the unrequested wallets."""

    outcomes: list[Outcome]
    unrequested: list[str]


def read_answer(body: bytes, requested: Sequence[WalletAddress]) -> Answer:
    """Parse the body of an answer with status 200. Never raise an error."""
    try:
        answer = _decode_answer(body)
    except (ValueError, RecursionError):
        return _read_answer_leniently(body, requested)
    error = _error_field_message(answer.error)
    entries = [
        (canonical_key(each.block_chain, each.address), _entry_outcome(each, error))
        for each in answer.wallets
    ]
    return _match_entries(entries, requested, error)


def _error_field_message(raw: Raw) -> str | None:
    if not _decoded_or_none(decode, raw):
        return None
    return f"the service sent an error and no balances: {safe_line(_string_or_json(raw) or '')!r}"


def _entry_outcome(wallet: SentWallet, answer_error: str | None) -> Outcome:
    if wallet.failed:
        reason = "the service could not retrieve this wallet"
        return Outcome(Status.FAILED, reason, wallet.explorer_url)
    if not wallet.balances and (error := _error_field_message(wallet.error) or answer_error):
        return Outcome(Status.INVALID, error, wallet.explorer_url)
    if wallet.balances is None:
        return Outcome(Status.FAILED, NO_LIST, wallet.explorer_url)
    balances = Balances.from_sent_balances(wallet.balances)
    return Outcome(Status.OK, balances.unreadable_message, wallet.explorer_url, balances)


def _match_entries(
    entries: Iterable[tuple[_Key | None, Outcome]],
    requested: Sequence[WalletAddress],
    error: str | None,
) -> Answer:
    by_key: dict[_Key, Outcome] = {}
    missing = Outcome(Status.INVALID, error) if error else None
    for key, outcome in entries:
        if key is None:
            missing = missing or outcome
            continue
        first = by_key.setdefault(key, outcome)
        if (first.status, first.balances) != (outcome.status, outcome.balances):
            reason = "the answer contains this wallet twice, with different contents"
            by_key[key] = Outcome(Status.INVALID, reason)
    keys = [canonical_key(wallet.blockchain, wallet.address) for wallet in requested]
    unrequested = [safe_line(".".join(key)) for key in by_key.keys() - set(keys)]
    return Answer([by_key.get(key, missing or _MISSING) for key in keys], unrequested)


def _read_answer_leniently(body: bytes, requested: Sequence[WalletAddress]) -> Answer:
    text = body.decode(json.detect_encoding(body), "replace")
    if "\\u" in text:  # lone surrogates are replaced like invalid bytes
        text = _ESCAPES.sub(lambda match: "\ufffd" if match["lone"] else match[0], text)
    repaired = text.encode()
    try:
        answer = _decode_raw_answer(repaired)
    except msgspec.ValidationError:
        raw = (_decoded_or_none(_decode_raw_fields, repaired) or {}).get("error", NULL)
        reason = _error_field_message(raw) or "the answer contains no list of wallets"
    except RecursionError:
        reason = "the answer is nested too deeply"
    except ValueError:
        reason = "the answer is empty"
        if body.strip():
            beginning = safe_line(body[:400].decode(errors="replace"), 60)
            reason = f"the answer is not JSON; it begins with {beginning!r}"
    else:
        error, entries = _error_field_message(answer.error), []
        for entry in answer.wallets:
            try:
                wallet = _decoded_or_none(_decode_wallet, entry) or _read_wallet_leniently(entry)
                outcome = _entry_outcome(wallet, error)
            except (ValueError, RecursionError) as fault:
                reason = f"the entry does not match the schema: {safe_line(str(fault))}"
                outcome = Outcome(Status.INVALID, reason)
            entries.append((_wallet_key_of_entry(entry), outcome))
        return _match_entries(entries, requested, error)
    return Answer([Outcome(Status.INVALID, reason)] * len(requested), [])


def _wallet_key_of_entry(entry: Raw) -> _Key | None:
    wallet = _decoded_or_none(_decode_wallet_id, entry)
    return None if wallet is None else canonical_key(wallet.block_chain, wallet.address)


def _read_wallet_leniently(entry: Raw) -> SentWallet:
    """Parse an entry field by field. If it lacks a blockchain or an address, raise an error."""
    parts = _decode_raw_wallet(entry)
    raw = None if parts.failed else _decode_list(parts.balances)
    balances = None if raw is None else [_read_balance_leniently(each) for each in raw]
    link = _decoded_or_none(_decode_text, parts.explorer_url)
    return SentWallet(parts.block_chain, parts.address, parts.failed, balances, link, parts.error)


def _read_balance_leniently(raw: Raw) -> SentBalance:
    if (balance := _decoded_or_none(_decode_balance, raw)) is not None:
        return balance
    if (parts := _decoded_or_none(_decode_raw_fields, raw)) is None:
        return SentBalance(amount=SentAmount(_string_or_json(raw)))
    asset_parts = _decoded_or_none(_decode_raw_fields, parts.get("asset", NULL)) or {}
    chain, symbol, address = (
        _decoded_or_none(_decode_text, asset_parts.get(name, NULL))
        for name in ("blockchain", "symbol", "address")
    )
    if address is None and bytes(asset_parts.get("address", NULL)) != b"null":
        chain = None  # an unreadable address means an unknown token, not the native coin
    quantity = parts.get("amount", NULL)
    amount = SentAmount(_string_or_json(quantity))
    if (amount_parts := _decoded_or_none(_decode_raw_fields, quantity)) is not None:
        digits = _string_or_json(amount_parts.get("decimals", NULL)) or ""
        is_valid = digits.isascii() and digits.isdecimal() and len(digits) <= _MAX_DECIMALS_DIGITS
        decimals = int(digits) if is_valid else None
        amount = SentAmount(_string_or_json(amount_parts.get("amount", NULL)), decimals)
    price = _decoded_or_none(_decode_price, parts.get("price", NULL))
    return SentBalance(SentAsset(chain, symbol, address), amount, price)


def _string_or_json(raw: Raw) -> str | None:
    if bytes(raw) == b"null":
        return None
    text = _decoded_or_none(_decode_text, raw)
    return bytes(raw).decode(errors="replace") if text is None else text


def _decoded_or_none(decode: Callable[[Raw | bytes], _T], raw: Raw | bytes) -> _T | None:
    with suppress(ValueError, RecursionError):
        return decode(raw)
    return None


def split_into_bodies_and_unrequested(
    body: bytes, batch: Sequence[WalletAddress]
) -> tuple[dict[int, bytes], list[str]]:
    """Return {position in `batch`: body with one wallet}, and the unrequested wallets."""
    answer = _decoded_or_none(_decode_raw_answer, body)
    positions = {canonical_key(w.blockchain, w.address): n for n, w in enumerate(batch)}
    entries: dict[int, list[bytes]] = {}
    unrequested: dict[str, None] = {}
    for entry in answer.wallets if answer else ():
        if (key := _wallet_key_of_entry(entry)) in positions:
            entries.setdefault(positions[key], []).append(bytes(entry))
        elif key is not None:
            unrequested[safe_line(".".join(key))] = None
    error = bytes(answer.error) if answer else b""
    bodies = {
        position: b'{"wallets":[%s],"error":%s}' % (b",".join(parts), error)
        for position, parts in entries.items()
    }
    return bodies, list(unrequested)
