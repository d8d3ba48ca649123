"""The answer: bytes in, one outcome for each requested wallet, or one body for each.

A fast decoder reads what keeps to the service's document, or nearly so. What it refuses is read
once more, entry by entry and balance by balance: an odd balance costs itself, and what has no
structure that can be used costs its own wallet.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec

from walletframe.address import canonical_key
from walletframe.text import shown
from walletframe.wire.outcome import Balances, Outcome, Status
from walletframe.wire.sent import SentAnswer, SentWallet, read_odd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from msgspec import Raw

    from walletframe.address import WalletAddress


class _Name(msgspec.Struct, rename="camel"):
    block_chain: str
    address: str


class _Entries(msgspec.Struct):
    wallets: list[msgspec.Raw]


NO_LIST = "the service gave no list of balances"
_DECODE = msgspec.json.Decoder(SentAnswer).decode
_DECODE_WALLET = msgspec.json.Decoder(SentWallet).decode
_DECODE_ENTRIES = msgspec.json.Decoder(_Entries).decode
_DECODE_NAME = msgspec.json.Decoder(_Name).decode
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

_Key: TypeAlias = tuple[str, str]  # blockchain and address, in the form in which they are compared


class Answer(NamedTuple):
    """One outcome for each wallet asked for, in the order asked; whom nobody asked for, as text."""

    outcomes: list[Outcome]
    strangers: list[str]


def read_answer(body: bytes, asked: Sequence[WalletAddress]) -> Answer:
    """Read the body of an answer with status 200; nothing in it raises."""
    try:
        wallets = _DECODE(body).wallets
    except (ValueError, RecursionError):
        return _read_carefully(body, asked)
    return _match([(_key(wallet), _outcome(wallet)) for wallet in wallets], None, asked)


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
    entries: list[tuple[_Key, Outcome]], unnamed: Outcome | None, asked: Sequence[WalletAddress]
) -> Answer:
    """Match by canonical address, never by position."""
    found: dict[_Key, Outcome] = {}
    for key, outcome in entries:
        first = found.setdefault(key, outcome)
        if (first.status, first.balances) != (outcome.status, outcome.balances):
            found[key] = _CONTRADICTION
    keys = [canonical_key(wallet.blockchain, wallet.address) for wallet in asked]
    strangers = [shown(".".join(key)) for key in found.keys() - set(keys)]
    return Answer([found.get(key, unnamed or _MISSING) for key in keys], strangers)


def _read_carefully(body: bytes, asked: Sequence[WalletAddress]) -> Answer:
    try:
        wallets = _DECODE_ENTRIES(_mended(body)).wallets
    except msgspec.ValidationError:
        return _all_invalid("the answer has no list of wallets", asked)
    except (ValueError, RecursionError) as fault:
        return _all_invalid(_body_fault(body, fault), asked)
    entries: list[tuple[_Key, Outcome]] = []
    unnamed: Outcome | None = None
    for wallet in wallets:
        key, outcome = _read_entry(wallet)
        if key is None:
            unnamed = unnamed or outcome
        else:
            entries.append((key, outcome))
    return _match(entries, unnamed, asked)


def _mended(body: bytes) -> bytes:
    """Replace what no text can hold: bytes that are none, and lone surrogates."""
    text = body.decode(json.detect_encoding(body), "replace")
    if "\\u" in text:
        text = _ESCAPES.sub(lambda found: "\ufffd" if found["lone"] else found[0], text)
    return text.encode()


def _all_invalid(reason: str, asked: Sequence[WalletAddress]) -> Answer:
    return Answer([Outcome(Status.INVALID, reason)] * len(asked), [])


def _read_entry(entry: Raw) -> tuple[_Key | None, Outcome]:
    """Return whose entry it is, where it says so, and its outcome."""
    try:
        wallet = _DECODE_WALLET(entry)
    except (ValueError, RecursionError):
        try:
            wallet = read_odd(entry)
        except (ValueError, RecursionError) as fault:
            reason = f"breaks the contract: {shown(str(fault))}"
            return _entry_key(entry), Outcome(Status.INVALID, reason)
    return _key(wallet), _outcome(wallet)


def _body_fault(body: bytes, fault: Exception) -> str:
    if isinstance(fault, RecursionError):
        return "the answer is nested too deeply"
    if not body.strip():
        return "the answer is empty"
    beginning = shown(body[:400].decode(errors="replace"), 60)
    return f"the answer is not JSON; it begins with {beginning!r}"


class Split(NamedTuple):
    """An answer taken apart: by place among the wallets asked for, a body for each that is named.

    A body is what the service would have answered for that wallet alone, its entries untouched.
    """

    bodies: dict[int, bytes]
    strangers: list[str]


def split_answer(body: bytes, asked: Sequence[WalletAddress]) -> Split:
    """Take the answer to several wallets apart, into nothing where it can't be read."""
    try:
        entries = _DECODE_ENTRIES(body).wallets
    except (ValueError, RecursionError):
        return Split({}, [])
    places = {canonical_key(each.blockchain, each.address): n for n, each in enumerate(asked)}
    found: dict[int, list[bytes]] = {}
    strangers: dict[str, None] = {}
    for entry in entries:
        key = _entry_key(entry)
        if key in places:
            found.setdefault(places[key], []).append(bytes(entry))
        elif key is not None:
            strangers[shown(".".join(key))] = None
    bodies = {place: b'{"wallets":[%s]}' % b",".join(parts) for place, parts in found.items()}
    return Split(bodies, list(strangers))


def _entry_key(entry: Raw) -> _Key | None:
    """Return whose entry it is, None where it does not say."""
    try:
        return _key(_DECODE_NAME(entry))
    except (ValueError, RecursionError):
        return None
