"""The arguments of a request to a node, checked first: blockchain, holders, token and block.

The native coin has 18 decimals on all EVM blockchains: wallets accept no other number
(https://eips.ethereum.org/EIPS/eip-3085).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from walletframe.address import canonical_address, canonical_blockchain, parse_wallets
from walletframe.chains import known_blockchains
from walletframe.errors import (
    AddressError,
    Argument,
    Either,
    MissingExtraError,
    SettingsError,
    Spelled,
)
from walletframe.settings import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from walletframe.address import WalletAddress, WalletsLike

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
class EvmChain:
    """An EVM blockchain: what its nodes say of themselves, and its coin's symbol where known."""

    chain_id: int
    coin: str | None = None


@cache
def _usual() -> dict[str, EvmChain]:
    return {
        chain.identifier: EvmChain(chain.chain_id, chain.coin)
        for chain in known_blockchains().values()
        if chain.chain_id is not None
    }


class Chains:
    """The blockchains that are known in one call, with the caller's own chain ids."""

    def __init__(self, chain_ids: Mapping[str, int] | None = None) -> None:
        given = dict(chain_ids or {})
        wrong = [f"{name!r}: {quoted(value)}" for name, value in given.items() if not _is_id(value)]
        if wrong:
            raise SettingsError(
                Spelled(Argument("chain_ids", ""), f": {', '.join(wrong)}"),
                hint=Spelled(
                    "a positive int for each, ",
                    Either('{"HYPEREVM": 999}', "such as HYPEREVM 999"),
                ),
            )
        usual = _usual()
        named = {canonical_blockchain(name): EvmChain(value) for name, value in given.items()}
        others = {
            name: chain
            for name, chain in named.items()
            if name not in usual or usual[name].chain_id != chain.chain_id
        }
        self._known = usual | others

    def find(self, blockchain: str) -> EvmChain | None:
        """Return what is known of a blockchain, in any case."""
        return self._known.get(canonical_blockchain(blockchain))

    def require(self, blockchains: Iterable[str]) -> None:
        """Raise `SettingsError`, naming all blockchains that are not known."""
        unknown = sorted({name for name in blockchains if self.find(name) is None})
        if unknown:
            named = ", ".join(map(repr, unknown))
            raise SettingsError(f"no chain id is known for {named}", hint=CHAIN_HINT)


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


@dataclass(frozen=True, slots=True)
class Holder:
    """Somebody, and what they may hold: hex addresses in lower case, no contract for the coin."""

    blockchain: str
    owner: str
    contract: str | None


@dataclass(frozen=True, slots=True)
class Terms:
    """How a node is asked, checked: at which block (None is the latest), and how long."""

    block: int | None
    chains: Chains
    timeout_s: float

    def __post_init__(self) -> None:
        if self.block is not None and not _within(self.block, Integral, -1, _BLOCKS):
            raise SettingsError(
                f"block: {quoted(self.block)}",
                hint=Spelled("the number of a block, or ", _NOTHING, " for the latest"),
            )
        if not _within(self.timeout_s, Real, 0, math.inf):
            raise SettingsError(f"timeout_s: {quoted(self.timeout_s)}", hint="seconds, more than 0")


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
        raise SettingsError(
            f"token: {_quoted_address(token)} is {_NEEDED}",
            hint=Spelled("give the contract's address, or ", _NOTHING, " for the native coin"),
        )
    return contract


def _quoted_address(given: Any) -> str:
    """Quote what was given as an address, unless it looks like the URL of a node."""
    return quoted(given) if "/" in str(given) else repr(str(given)[:80])


def _within(value: Any, kind: Any, low: float, high: float) -> bool:
    """Tell whether a value is a number between two others."""
    if isinstance(value, bool) or not isinstance(value, kind):
        return False
    return bool(low < value < high)


def require_extra() -> None:
    """Say how to install what asking a node needs."""
    if find_spec("eth_abi") is None:
        raise MissingExtraError("node", "asking a node")
