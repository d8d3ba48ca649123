"""The answer: bytes in, one outcome for each wallet that was asked for.

A fast, strict decoder reads what keeps to the service's document. What it refuses is read once
more, entry by entry: what is only odd (lone surrogates, balances beside ``failed: true``) is
kept, and what breaks the contract harms only its own wallet.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Never

import msgspec

from walletframe.address import WalletAddress, canonical_key
from walletframe.text import shown
from walletframe.wire.outcome import Balances, Outcome, Status
from walletframe.wire.shapes import WalletDetail, WalletDetailsAnswer

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_DIGITS = 4300
_DECODE = msgspec.json.Decoder(WalletDetailsAnswer).decode
_FAILED = Outcome(Status.FAILED, "the service could not retrieve this wallet")
_MISSING = Outcome(Status.MISSING, "the answer left this wallet out")
_CONTRADICTION = Outcome(Status.INVALID, "the answer has this wallet twice, and not the same")

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answer says about the wallets asked for.

    Attributes
    ----------
    outcomes : list of Outcome
        One for each wallet asked for, in the order asked.
    strangers : list of str
        Wallets that nobody asked for, fit to be shown; their contents are left out.
    """

    outcomes: list[Outcome]
    strangers: list[str]


def read_answer(body: bytes, asked: Sequence[WalletAddress]) -> Answer:
    """Read the body of an answer with status 200.

    Parameters
    ----------
    body : bytes
        The JSON as received.
    asked : sequence of WalletAddress
        The distinct wallets that were asked for.

    Returns
    -------
    Answer
        With an outcome for every wallet asked for; nothing in the body raises.

    Examples
    --------
    >>> from walletframe.address import parse_wallets
    >>> body = b'{"wallets":[{"failed":true,"blockChain":"ETH","address":"0xA","balances":null}]}'
    >>> [outcome.status.value for outcome in read_answer(body, parse_wallets("ETH.0xa")).outcomes]
    ['failed']
    """
    try:
        details = _DECODE(body).wallets
    except (ValueError, RecursionError):
        return _read_carefully(body, asked)
    return _match([(_key(detail), _outcome(detail)) for detail in details], None, asked)


def _key(detail: WalletDetail) -> _Key:
    return canonical_key(detail.block_chain, detail.address)


def _outcome(detail: WalletDetail) -> Outcome:
    if detail.failed:
        return Outcome(_FAILED.status, _FAILED.error, detail.explorer_url)
    balances = None if detail.balances is None else Balances.of(detail.balances)
    reason = _digits_fault(balances.raw_amounts) if balances else ""
    if reason:
        return Outcome(Status.INVALID, reason)
    return Outcome(Status.OK, None, detail.explorer_url, balances)


def _digits_fault(texts: list[str]) -> str:
    """Return why a text is no string of digits, or nothing; quick where all are."""
    joined = "".join(texts)
    most = min(MAX_DIGITS, sys.get_int_max_str_digits() or MAX_DIGITS)
    if joined.isascii() and joined.encode().isdigit() and "" not in texts:
        if len(joined) <= most or max(map(len, texts)) <= most:
            return ""
        return f"an amount has more than {most} digits"
    bad = next(text for text in texts if not (text.isascii() and text.isdecimal()))
    return f"an amount is no string of digits: {shown(bad, 40)!r}"


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
        answer = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as fault:
        return _all_invalid(_body_fault(body, fault), asked)
    wallets = answer.get("wallets") if isinstance(answer, dict) else None
    if not isinstance(wallets, list):
        return _all_invalid("the answer has no list of wallets", asked)
    entries: list[tuple[_Key, Outcome]] = []
    unnamed: Outcome | None = None
    for wallet in wallets:
        key, outcome = _read_entry(wallet)
        if key is None:
            unnamed = unnamed or outcome
        else:
            entries.append((key, outcome))
    return _match(entries, unnamed, asked)


def _all_invalid(reason: str, asked: Sequence[WalletAddress]) -> Answer:
    return Answer([Outcome(Status.INVALID, reason)] * len(asked), [])


def _read_entry(entry: Any) -> tuple[_Key | None, Outcome]:
    """Return whose entry it is, where it says so, and its outcome."""
    if isinstance(entry, dict) and entry.get("failed") is True:
        entry = entry | {"balances": None}
    try:
        detail = msgspec.convert(_without_surrogates(entry), WalletDetail)
    except (ValueError, RecursionError) as fault:
        return _named(entry), Outcome(Status.INVALID, f"breaks the contract: {shown(str(fault))}")
    return _key(detail), _outcome(detail)


def _named(entry: Any) -> _Key | None:
    if not isinstance(entry, dict):
        return None
    blockchain, address = entry.get("blockChain"), entry.get("address")
    if isinstance(blockchain, str) and isinstance(address, str):
        return canonical_key(blockchain, address)
    return None


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is not JSON")


def _body_fault(body: bytes, fault: Exception) -> str:
    if isinstance(fault, RecursionError):
        return "the answer is nested too deeply"
    if not body.strip():
        return "the answer is empty"
    beginning = shown(body[:400].decode(errors="replace"), 60)
    return f"the answer is not JSON; it begins with {beginning!r}"
