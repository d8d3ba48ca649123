"""Queries to a node: validated options, results, and the warning about failures.

The native coin has 18 decimals on all EVM blockchains, since wallet software rejects any other
number (https://eips.ethereum.org/EIPS/eip-3085).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

from walletframe.address.forms import WalletAddress, canonical_address, canonical_blockchain
from walletframe.address.lists import WalletsLike, parse_wallets
from walletframe.chains import known_blockchains
from walletframe.client import append_reasons
from walletframe.errors import AddressError, FetchWarning, SettingsError
from walletframe.notice import notify
from walletframe.numerals import count_with_verb
from walletframe.settings.key import safe_repr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from walletframe.node.rpc import NodeFailure

COIN_DECIMALS = 18
CHAIN_HINT = 'for an EVM blockchain, pass its chain id, such as chain_ids={"HYPEREVM": 999}'
_EVM = re.compile("0x[0-9a-f]{40}")
_EVM_NEEDED = "not an EVM address (0x and 40 hex digits)"


class BalanceQuery(NamedTuple):
    """A balance to look up. The addresses are hex in lower case."""

    blockchain: str
    holder: str
    contract: str | None  # None for the native coin


class NodeBalance(NamedTuple):
    """The result of a query: a balance, or the reason why the balance is not known."""

    balance: int | None = None  # in base units
    block: int | None = None  # the block that was read, or None
    failure: NodeFailure | None = None


class TokenMetadata(NamedTuple):
    """The symbol and the decimals that a token's contract reports."""

    symbol: str | None = None
    decimals: int | None = None
    failure: NodeFailure | None = None  # the reason why the decimals could not be read


class NodeOptions:
    """The validated options of a look-up, and the chain ids of known blockchains."""

    def __init__(
        self, block: int | None, chain_ids: Mapping[str, int] | None, timeout_s: float
    ) -> None:
        custom = dict(chain_ids or {})
        invalid = [
            f"{name!r}: {safe_repr(value)}"
            for name, value in custom.items()
            if not _is_strictly_between(value, Integral, 0, math.inf)
        ]
        if invalid:
            hint = 'use a positive int for each blockchain, such as {"HYPEREVM": 999}'
            raise SettingsError(f"chain_ids has invalid values: {', '.join(invalid)}", hint)
        if block is not None and not _is_strictly_between(block, Integral, -1, 2**63):
            hint = "use the number of a block, or None for the latest block"
            raise SettingsError(f"block is not valid: {safe_repr(block)}", hint)
        if not _is_strictly_between(timeout_s, Real, 0, math.inf):
            hint = "use a number of seconds above 0"
            raise SettingsError(f"timeout_s is not valid: {safe_repr(timeout_s)}", hint)
        self.block: int | None = block
        self.timeout_s: float = timeout_s
        known = [each for each in known_blockchains().values() if each.chain_id is not None]
        self._chain_ids = {each.identifier: each.chain_id for each in known}
        self.coins: dict[str, str | None] = {each.identifier: each.coin for each in known}
        for name, value in custom.items():
            if self.chain_id_of(name) != value:
                self._chain_ids[canonical_blockchain(name)] = value
                self.coins.pop(canonical_blockchain(name), None)

    def chain_id_of(self, blockchain: str) -> int | None:
        """Return the chain id of a blockchain in any spelling, or None if it is unknown."""
        return self._chain_ids.get(canonical_blockchain(blockchain))


def parse_evm_address(address: str) -> str | None:
    """Return an EVM address in lower case, or None if the address has another form."""
    canonical = canonical_address(address)
    return canonical if _EVM.fullmatch(canonical) else None


def parse_evm_wallets(wallets: WalletsLike) -> list[WalletAddress]:
    """Parse wallets. Raise an AddressError unless all addresses are EVM addresses."""
    parsed = parse_wallets(wallets)
    problems = [
        (position, str(wallet), _EVM_NEEDED)
        for position, wallet in enumerate(parsed)
        if parse_evm_address(wallet.address) is None
    ]
    if problems:
        raise AddressError(problems)
    return parsed


def parse_contract(token: Any) -> str | None:
    """Return the address of a token's contract in lower case, or None for the native coin."""
    if token is None:
        return None
    contract = parse_evm_address(token.strip()) if isinstance(token, str) else None
    if contract is None:
        # The URL of a node is secret, so text that looks like a URL is never quoted.
        value = safe_repr(token) if "/" in str(token) else repr(str(token)[:80])
        hint = "use the address of the token's contract, or None for the native coin"
        raise SettingsError(f"token is {_EVM_NEEDED}: {value}", hint)
    return contract


def _is_strictly_between(value: Any, kind: Any, low: float, high: float) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool) and bool(low < value < high)


def warn_of_unknown_balances(errors: Sequence[str | None]) -> None:
    """Warn if balances are not known. `errors` contains None for each known balance."""
    if reasons := Counter(filter(None, errors)):
        lead = f"{count_with_verb(reasons.total(), len(errors), 'balance')} not known"
        notify(f"{append_reasons(lead, reasons)}; the column 'error' has the reasons", FetchWarning)
