"""What is asked of a node, checked before anything is sent."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from walletframe.address import canonical_address, parse_wallets
from walletframe.errors import AddressError, Either, SettingsError, Spelled
from walletframe.settings import quoted

if TYPE_CHECKING:
    from walletframe.address import WalletAddress, WalletsLike
    from walletframe.node.chains import Chains

_EVM = re.compile("0x[0-9a-f]{40}")
_NEEDED = "no address of an EVM blockchain: 0x and 40 hex digits are needed"
_BLOCKS = 2**63
_NOTHING = Either("None", "nothing")


@dataclass(frozen=True, slots=True)
class Holder:
    """Somebody, and what they may hold.

    Attributes
    ----------
    blockchain : str
        Its identifier, as written.
    owner : str
        The wallet's hex address in lower case.
    contract : str or None
        The token's hex address in lower case; None for the native coin.
    """

    blockchain: str
    owner: str
    contract: str | None


@dataclass(frozen=True, slots=True)
class Terms:
    """How a node is asked.

    Attributes
    ----------
    block : int or None
        The number of the block to read; None for the latest.
    chains : Chains
        What the identifiers of the blockchains stand for.
    timeout_s : float
        How long one request may take as a whole, in seconds.

    Raises
    ------
    SettingsError
        Where one is out of range.
    """

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
    """Return an address as a node is asked for it.

    Parameters
    ----------
    address : str
        As written by anybody.

    Returns
    -------
    str or None
        In lower case; None where it is none of an EVM blockchain.

    Examples
    --------
    >>> evm_address("0X" + "Ab" * 20)[:6], evm_address("alice.near")
    ('0xabab', None)
    """
    canonical = canonical_address(address)
    return canonical if _EVM.fullmatch(canonical) else None


def parse_evm_wallets(wallets: WalletsLike) -> list[WalletAddress]:
    """Read wallets, each with an address of an EVM blockchain.

    Parameters
    ----------
    wallets : str, tuple, mapping, WalletAddress, Series, DataFrame, or iterable of them
        As for `fetch_wallets`.

    Returns
    -------
    list of WalletAddress
        One for each input, in its order.

    Raises
    ------
    AddressError
        Naming every wallet that can't be read or has another kind of address.
    """
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
    """Read which token is asked for.

    Parameters
    ----------
    token : str or None
        A contract's address; None for the native coin.

    Returns
    -------
    str or None
        In lower case.

    Raises
    ------
    SettingsError
        Where it is no such address.
    """
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
