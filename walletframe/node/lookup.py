"""Balances of one token at one block, if the node belongs to the wallets' blockchain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from walletframe.node.abi import (
    DECIMALS,
    SYMBOL,
    balance_of,
    read_decimals,
    read_integer,
    read_symbol,
)
from walletframe.node.reading import BlockReader, CoinBalance, ContractCall
from walletframe.node.status import NodeStatus, Trouble
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.node.reading import Question
    from walletframe.node.request import Chains, Holder, Terms
    from walletframe.node.rpc import Node

_ABSURD = 2**63
_NO_BALANCE = Trouble(
    NodeStatus.INVALID,
    "the contract's answer is not a balance: is it a token, and did it exist at this block?",
)


@dataclass(frozen=True, slots=True)
class Found:
    """What one holder has in base units, or why it is not known, and at which block if at any."""

    balance: int | Trouble
    block: int | None = None


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """What a token's contract says of itself, and why the node could not say its decimals."""

    symbol: str | None = None
    decimals: int | None = None
    trouble: Trouble | None = None


def look_up(
    node: Node, holders: Sequence[Holder], terms: Terms, token: str | None = None
) -> tuple[list[Found], TokenFacts]:
    """Ask for balances, and of a token, a contract, itself, at one block; only interrupts raise."""
    here = _chain_id(node)
    found = [_elsewhere(holder, here, terms.chains) for holder in holders]
    asked = [place for place, elsewhere in enumerate(found) if elsewhere is None]
    answers: list[bytes | Trouble] = []
    if asked:
        number = _pinned_block(node, terms.block)
        questions = [_question(holders[place]) for place in asked]
        if token is not None:
            questions += [ContractCall(token, DECIMALS), ContractCall(token, SYMBOL)]
        answers = _answers(node, number, questions)
        read = number if isinstance(number, int) else None
        for place, answer in zip(asked, answers, strict=False):  # those of the token come last
            found[place] = Found(_balance(answer), read)
    return [each for each in found if each is not None], _facts(answers[len(asked) :])


def _chain_id(node: Node) -> int | Trouble:
    """Ask a node for the chain id of its blockchain."""
    return _quantity(node.ask("eth_chainId"))


def _pinned_block(node: Node, block: int | None) -> int | Trouble:
    """Ask for the number of the block that is to be read; a trouble where the node lacks it."""
    asked = "latest" if block is None else hex(block)
    header = node.ask("eth_getBlockByNumber", asked, False)  # noqa: FBT003 - the method's own form
    if isinstance(header, Trouble):
        return header
    if header is None:
        return Trouble(NodeStatus.NO_BLOCK, f"the node has no block {block}")
    number = _quantity(header.get("number") if isinstance(header, dict) else header)
    if block is None or number == block or isinstance(number, Trouble):
        return number
    return Trouble(NodeStatus.NO_BLOCK, f"the node answered for block {number} instead of {block}")


def _quantity(result: Any) -> int | Trouble:
    if isinstance(result, Trouble):
        return result
    try:
        number = int(result, 16)
    except (TypeError, ValueError):
        number = -1
    if 0 <= number < _ABSURD:
        return number
    return Trouble(NodeStatus.INVALID, f"not a number: {shown(str(result), 60)!r}")


def _elsewhere(holder: Holder, here: int | Trouble, chains: Chains) -> Found | None:
    """Return why a holder can't be asked for here, or None."""
    if isinstance(here, Trouble):
        return Found(here)
    chain = chains.find(holder.blockchain)
    if chain is not None and chain.chain_id == here:
        return None
    wanted = "unknown" if chain is None else chain.chain_id
    reason = f"the node is of chain {here}; that of {holder.blockchain} is {wanted}"
    return Found(Trouble(NodeStatus.OTHER_CHAIN, reason))


def _answers(
    node: Node, number: int | Trouble, questions: Sequence[Question]
) -> list[bytes | Trouble]:
    if isinstance(number, Trouble):
        return [number] * len(questions)
    return BlockReader(node, number).read(questions)


def _question(holder: Holder) -> Question:
    if holder.contract is None:
        return CoinBalance(holder.owner)
    return ContractCall(holder.contract, balance_of(holder.owner))


def _balance(answer: bytes | Trouble) -> int | Trouble:
    if isinstance(answer, Trouble):
        return answer
    balance = read_integer(answer)
    return _NO_BALANCE if balance is None else balance


def _facts(answers: Sequence[bytes | Trouble]) -> TokenFacts:
    """Read what a contract said of itself; one that refuses to say has none."""
    if not answers:
        return TokenFacts()
    decimals, symbol = answers
    name = None if isinstance(symbol, Trouble) else read_symbol(symbol)
    if not isinstance(decimals, Trouble):
        return TokenFacts(name, read_decimals(decimals))
    if decimals.status is NodeStatus.REVERTED:
        return TokenFacts(name)
    return TokenFacts(name, trouble=Trouble(decimals.status, f"decimals: {decimals.error}"))
