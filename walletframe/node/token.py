"""What a token's contract says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from walletframe.node.abi import DECIMALS, SYMBOL, read_decimals, read_symbol
from walletframe.node.reading import ContractCall
from walletframe.node.status import NodeStatus, Trouble

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """What is known of a token.

    Attributes
    ----------
    symbol : str or None
        As its contract says it: neither unique nor harmless; None where it says none.
    decimals : int or None
        From 0 to 77; None where the contract has none, or absurd ones.
    trouble : Trouble or None
        Why the node could not say whether the contract has decimals.
    """

    symbol: str | None = None
    decimals: int | None = None
    trouble: Trouble | None = None


def token_calls(contract: str) -> list[ContractCall]:
    """Return what to ask a contract of itself.

    Parameters
    ----------
    contract : str
        A hex address in lower case.

    Returns
    -------
    list of ContractCall
        For `token_facts`.
    """
    return [ContractCall(contract, DECIMALS), ContractCall(contract, SYMBOL)]


def token_facts(answers: Sequence[bytes | Trouble]) -> TokenFacts:
    """Read what a contract said of itself.

    Parameters
    ----------
    answers : sequence of (bytes or Trouble)
        To `token_calls`; none where nothing was asked.

    Returns
    -------
    TokenFacts
        A contract that refuses to say is one that has none; a node that can't be asked is a
        trouble.
    """
    if not answers:
        return TokenFacts()
    decimals, symbol = answers
    name = None if isinstance(symbol, Trouble) else read_symbol(symbol)
    if not isinstance(decimals, Trouble):
        return TokenFacts(name, read_decimals(decimals))
    if decimals.status is NodeStatus.REVERTED:
        return TokenFacts(name)
    return TokenFacts(name, trouble=Trouble(decimals.status, f"decimals: {decimals.error}"))
