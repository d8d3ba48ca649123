"""The answer: bytes in, one outcome for each wallet that was asked for.

A fast decoder reads what keeps to the service's document, or nearly so. What it refuses is read
once more, entry by entry and balance by balance: an odd balance costs itself, and what has no
structure that can be used costs its own wallet.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from walletframe.address import canonical_key
from walletframe.text import shown
from walletframe.wire.batch import WALLETS, entry_key
from walletframe.wire.odd import read_odd
from walletframe.wire.outcome import Balances, Outcome, Status
from walletframe.wire.received import Detail, Details

if TYPE_CHECKING:
    from collections.abc import Sequence

    from msgspec import Raw

    from walletframe.address import WalletAddress

NO_LIST = "the service gave no list of balances"
_DECODE = msgspec.json.Decoder(Details).decode
_DECODE_DETAIL = msgspec.json.Decoder(Detail).decode
_FAILED = "the service could not retrieve this wallet"
_MISSING = Outcome(Status.MISSING, "the answer left this wallet out")
_CONTRADICTION = Outcome(Status.INVALID, "the answer has this wallet twice, and not the same")
_ESCAPES = re.compile(
    r"\\\\"  # a backslash that escapes nothing behind it
    r"|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}"  # a pair, which is one character
    r"|(?P<lone>\\u[dD][89a-fA-F][\da-fA-F]{2})"
)

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


def _key(detail: Detail) -> _Key:
    return canonical_key(detail.block_chain, detail.address)


def _outcome(detail: Detail) -> Outcome:
    if detail.failed:
        return Outcome(Status.FAILED, _FAILED, detail.explorer_url)
    if detail.balances is None:
        return Outcome(Status.FAILED, NO_LIST, detail.explorer_url)
    balances = Balances.of(detail.balances)
    return Outcome(Status.OK, balances.flaws, detail.explorer_url, balances)


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
        wallets = WALLETS(_mended(body)).wallets
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
        detail = _DECODE_DETAIL(entry)
    except (ValueError, RecursionError):
        try:
            detail = read_odd(entry)
        except (ValueError, RecursionError) as fault:
            reason = f"breaks the contract: {shown(str(fault))}"
            return entry_key(entry), Outcome(Status.INVALID, reason)
    return _key(detail), _outcome(detail)


def _body_fault(body: bytes, fault: Exception) -> str:
    if isinstance(fault, RecursionError):
        return "the answer is nested too deeply"
    if not body.strip():
        return "the answer is empty"
    beginning = shown(body[:400].decode(errors="replace"), 60)
    return f"the answer is not JSON; it begins with {beginning!r}"
