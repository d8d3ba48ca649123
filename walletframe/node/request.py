"""What is asked of a node, checked first, what is found, and the warning of what is not.

The native coin has 18 decimals on all EVM blockchains: wallets accept no other number
(https://eips.ethereum.org/EIPS/eip-3085).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from importlib.util import find_spec
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from walletframe.address.forms import canonical_address, canonical_blockchain
from walletframe.address.lists import parse_wallets
from walletframe.chains import known_blockchains
from walletframe.client import with_reasons
from walletframe.errors import AddressError, FetchWarning, MissingExtraError, SettingsError
from walletframe.notice import notify
from walletframe.numerals import part
from walletframe.settings.values import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from walletframe.address.forms import WalletAddress
    from walletframe.address.lists import WalletsLike
    from walletframe.node.rpc import Trouble

COIN_DECIMALS = 18
CHAIN_HINT = 'if it is an EVM blockchain, give its id: chain_ids={"HYPEREVM": 999}'
_EVM = re.compile("0x[0-9a-f]{40}")
_NEEDED = "no address of an EVM blockchain: 0x and 40 hex digits are needed"
_BLOCKS = 2**63


@dataclass(frozen=True, slots=True)
class Holder:
    """Somebody, and what they may hold: hex addresses in lower case, no contract for the coin."""

    blockchain: str
    owner: str
    contract: str | None


@dataclass(frozen=True, slots=True)
class Found:
    """What a holder has in base units, and at which block, if at any; else why it is not known."""

    balance: int | None = None
    block: int | None = None
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """What a token's contract says of itself, and why the node could not say its decimals."""

    symbol: str | None = None
    decimals: int | None = None
    trouble: Trouble | None = None


class Terms:
    """How a node is asked, checked: at which block, how long, and of which EVM blockchains.

    These are the known ones, with the caller's own chain ids; no block is the latest.
    """

    def __init__(
        self, block: int | None, chain_ids: Mapping[str, int] | None, timeout_s: float
    ) -> None:
        own = dict(chain_ids or {})
        wrong = [
            f"{name!r}: {quoted(value)}"
            for name, value in own.items()
            if not _within(value, Integral, 0, math.inf)
        ]
        if wrong:
            hint = 'a positive int for each, {"HYPEREVM": 999}'
            raise SettingsError(f"chain_ids: {', '.join(wrong)}", hint)
        if block is not None and not _within(block, Integral, -1, _BLOCKS):
            hint = "the number of a block, or None for the latest"
            raise SettingsError(f"block: {quoted(block)}", hint)
        if not _within(timeout_s, Real, 0, math.inf):
            raise SettingsError(f"timeout_s: {quoted(timeout_s)}", hint="seconds, more than 0")
        self.block: int | None = block
        self.timeout_s: float = timeout_s
        known = [each for each in known_blockchains().values() if each.chain_id is not None]
        self._ids = {each.identifier: each.chain_id for each in known}
        self.coins: dict[str, str | None] = {each.identifier: each.coin for each in known}
        for name, value in own.items():
            if self.id_of(name) != value:
                self._ids[canonical_blockchain(name)] = value
                self.coins.pop(canonical_blockchain(name), None)

    def id_of(self, blockchain: str) -> int | None:
        """Return what nodes of a blockchain, in any case, call it; None where it is not known."""
        return self._ids.get(canonical_blockchain(blockchain))


def evm_address(address: str) -> str | None:
    """Return an address as a node is asked for it; None where it is none of an EVM blockchain."""
    canonical = canonical_address(address)
    return canonical if _EVM.fullmatch(canonical) else None


def parse_evm_wallets(wallets: WalletsLike) -> list[WalletAddress]:
    """Read wallets, each with an address of an EVM blockchain."""
    found = parse_wallets(wallets)
    problems = [
        (place, str(wallet), _NEEDED)
        for place, wallet in enumerate(found)
        if evm_address(wallet.address) is None
    ]
    if problems:
        raise AddressError(problems)
    return found


def parse_contract(token: Any) -> str | None:
    """Read which token is asked for: its contract in lower case, None for the native coin."""
    if token is None:
        return None
    contract = evm_address(token.strip()) if isinstance(token, str) else None
    if contract is None:
        # Not to be quoted where it looks like the URL of a node.
        given = quoted(token) if "/" in str(token) else repr(str(token)[:80])
        raise SettingsError(
            f"token: {given} is {_NEEDED}",
            hint="give the contract's address, or None for the native coin",
        )
    return contract


def _within(value: Any, kind: Any, low: float, high: float) -> bool:
    """Return whether a value is a number between two others."""
    is_number = isinstance(value, kind) and not isinstance(value, bool)
    return is_number and bool(low < value < high)


def require_extra() -> None:
    """Raise a MissingExtraError where what asking a node needs is not installed."""
    if find_spec("eth_abi") is None:
        raise MissingExtraError("node", "asking a node")


def tell_unknown(errors: Sequence[str | None]) -> None:
    """Warn where balances are not known: the errors, None where one is."""
    counts = Counter(error for error in errors if error is not None)
    if reasons := dict(counts.most_common()):
        lead = f"{part(sum(reasons.values()), len(errors), 'balance')} not known"
        notify(f"{with_reasons(lead, reasons)}; the column error says why", FetchWarning)
