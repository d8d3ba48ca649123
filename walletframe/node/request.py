"""Queries to a node, their checked options and their results, and the warning of failures.

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
from walletframe.numerals import count_of
from walletframe.settings.values import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from walletframe.address.forms import WalletAddress
    from walletframe.address.lists import WalletsLike
    from walletframe.node.rpc import NodeFailure

COIN_DECIMALS = 18
CHAIN_HINT = 'if it is an EVM blockchain, give its id: chain_ids={"HYPEREVM": 999}'
_EVM = re.compile("0x[0-9a-f]{40}")
_EVM_NEEDED = "no address of an EVM blockchain: 0x and 40 hex digits are needed"
_MAX_BLOCK = 2**63


@dataclass(frozen=True, slots=True)
class BalanceQuery:
    """A balance to look up; its addresses are hex in lower case."""

    blockchain: str
    holder: str
    contract: str | None  # None for the native coin


@dataclass(frozen=True, slots=True)
class NodeBalance:
    """The balance of a query, or the reason why it is not known."""

    balance: int | None = None  # in base units
    block: int | None = None  # the block that was read, if any
    failure: NodeFailure | None = None


@dataclass(frozen=True, slots=True)
class TokenMetadata:
    """The symbol and the decimals that a token's contract reports."""

    symbol: str | None = None
    decimals: int | None = None
    failure: NodeFailure | None = None  # why the decimals could not be read


class NodeOptions:
    """Checked options of a look-up: block (None is the latest), time limit, and chain ids.

    The chain ids are those of the known EVM blockchains, and the caller's own.
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
            hint = 'give a positive int for each, such as {"HYPEREVM": 999}'
            raise SettingsError(f"chain_ids can't have {', '.join(wrong)}", hint)
        if block is not None and not _within(block, Integral, -1, _MAX_BLOCK):
            hint = "give the number of a block, or None for the latest"
            raise SettingsError(f"block can't be {quoted(block)}", hint)
        if not _within(timeout_s, Real, 0, math.inf):
            raise SettingsError(f"timeout_s can't be {quoted(timeout_s)}", "give seconds, above 0")
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
        """Return the chain id of a blockchain, in upper or lower case; None if it is unknown."""
        return self._ids.get(canonical_blockchain(blockchain))


def evm_address(address: str) -> str | None:
    """Return an address in lower case; None if it is not one of an EVM blockchain."""
    canonical = canonical_address(address)
    return canonical if _EVM.fullmatch(canonical) else None


def parse_evm_wallets(wallets: WalletsLike) -> list[WalletAddress]:
    """Read wallets, each with an address of an EVM blockchain."""
    parsed = parse_wallets(wallets)
    problems = [
        (position, str(wallet), _EVM_NEEDED)
        for position, wallet in enumerate(parsed)
        if evm_address(wallet.address) is None
    ]
    if problems:
        raise AddressError(problems)
    return parsed


def parse_contract(token: Any) -> str | None:
    """Return the contract of the requested token in lower case; None for the native coin."""
    if token is None:
        return None
    contract = evm_address(token.strip()) if isinstance(token, str) else None
    if contract is None:
        # The URL of a node is secret: never quote a text that looks like one.
        value = quoted(token) if "/" in str(token) else repr(str(token)[:80])
        raise SettingsError(
            f"token can't be {value}, which is {_EVM_NEEDED}",
            hint="give the contract's address, or None for the native coin",
        )
    return contract


def _within(value: Any, kind: Any, low: float, high: float) -> bool:
    """Return whether a value is a number between two others."""
    is_number = isinstance(value, kind) and not isinstance(value, bool)
    return is_number and bool(low < value < high)


def require_extra() -> None:
    """Raise a MissingExtraError unless the extra ``node`` is installed."""
    if find_spec("eth_abi") is None:
        raise MissingExtraError("node", "asking a node")


def warn_unknown(errors: Sequence[str | None]) -> None:
    """Warn if balances are not known: the errors, None for each known balance."""
    counts = Counter(error for error in errors if error is not None)
    if reasons := dict(counts.most_common()):
        lead = f"{count_of(sum(reasons.values()), len(errors), 'balance')} not known"
        notify(f"{with_reasons(lead, reasons)}; the column error says why", FetchWarning)
