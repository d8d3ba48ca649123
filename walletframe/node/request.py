"""What is asked of a node, checked first, what is found, and the warning of what is not.

The native coin has 18 decimals on all EVM blockchains: wallets accept no other number
(https://eips.ethereum.org/EIPS/eip-3085).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from importlib.util import find_spec
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from walletframe.address import canonical_address, canonical_blockchain, parse_wallets
from walletframe.chains import known_blockchains
from walletframe.client import with_reasons
from walletframe.errors import (
    AddressError,
    Argument,
    Either,
    FetchWarning,
    MissingExtraError,
    SettingsError,
    Spelled,
)
from walletframe.notice import notify
from walletframe.numerals import part
from walletframe.settings import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from walletframe.address import WalletAddress, WalletsLike
    from walletframe.node.rpc import Trouble

COIN_DECIMALS = 18
CHAIN_HINT = Spelled(
    "if it is an EVM blockchain, give its id: ",
    Argument("chain_ids", Either('{"HYPEREVM": 999}', "HYPEREVM 999")),
)
_EVM = re.compile("0x[0-9a-f]{40}")
_NEEDED = "no address of an EVM blockchain: 0x and 40 hex digits are needed"
_BLOCKS = 2**63
_NOTHING = Either("None", "nothing")


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
            some = Either('{"HYPEREVM": 999}', "such as HYPEREVM 999")
            raise SettingsError(
                Spelled(Argument("chain_ids", ""), f": {', '.join(wrong)}"),
                hint=Spelled("a positive int for each, ", some),
            )
        if block is not None and not _within(block, Integral, -1, _BLOCKS):
            raise SettingsError(
                f"block: {quoted(block)}",
                hint=Spelled("the number of a block, or ", _NOTHING, " for the latest"),
            )
        if not _within(timeout_s, Real, 0, math.inf):
            raise SettingsError(f"timeout_s: {quoted(timeout_s)}", hint="seconds, more than 0")
        self.block: int | None = block
        self.timeout_s: float = timeout_s
        known = [each for each in known_blockchains().values() if each.chain_id is not None]
        self._ids = {each.identifier: each.chain_id for each in known}
        self._coins = {each.identifier: each.coin for each in known}
        for name, value in own.items():
            if self.id_of(name) != value:
                self._ids[canonical_blockchain(name)] = value
                self._coins.pop(canonical_blockchain(name), None)

    def id_of(self, blockchain: str) -> int | None:
        """Return what nodes of a blockchain, in any case, call it; None where it is not known."""
        return self._ids.get(canonical_blockchain(blockchain))

    def coin_of(self, blockchain: str) -> str | None:
        """Return the symbol of its native coin."""
        return self._coins.get(canonical_blockchain(blockchain))

    def require_ids(self, blockchains: Iterable[str]) -> None:
        """Raise `SettingsError`, naming all blockchains that are not known."""
        unknown = sorted({name for name in blockchains if self.id_of(name) is None})
        if unknown:
            named = ", ".join(map(repr, unknown))
            raise SettingsError(f"no chain id is known for {named}", hint=CHAIN_HINT)


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
            hint=Spelled("give the contract's address, or ", _NOTHING, " for the native coin"),
        )
    return contract


def _within(value: Any, kind: Any, low: float, high: float) -> bool:
    """Tell whether a value is a number between two others."""
    if isinstance(value, bool) or not isinstance(value, kind):
        return False
    return bool(low < value < high)


def require_extra() -> None:
    """Say how to install what asking a node needs."""
    if find_spec("eth_abi") is None:
        raise MissingExtraError("node", "asking a node")


def tell_unknown(errors: pd.Series) -> None:
    """Warn where balances are not known: the errors, NA where one is."""
    reasons = {str(reason): int(count) for reason, count in errors.value_counts().items()}
    if reasons:
        lead = f"{part(sum(reasons.values()), len(errors), 'balance')} not known"
        notify(f"{with_reasons(lead, reasons)}; the column error says why", FetchWarning)
