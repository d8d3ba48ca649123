"""What holders have at one block, as far as the node is of their blockchain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from walletframe.node.abi import balance_of, read_integer
from walletframe.node.reading import BlockReader, CoinBalance, ContractCall
from walletframe.node.state import chain_id_of, pinned_block
from walletframe.node.status import NodeStatus, Trouble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.node.chains import Chains
    from walletframe.node.reading import Question
    from walletframe.node.request import Holder, Terms
    from walletframe.node.rpc import Node

_NO_BALANCE = Trouble(
    NodeStatus.INVALID,
    "the contract answered no balance: is it a token, and was it there at this block?",
)


@dataclass(frozen=True, slots=True)
class Found:
    """What one holder has.

    Attributes
    ----------
    balance : int or Trouble
        In base units, or why it is not known.
    block : int or None
        The block that was asked about; None where it came to none.
    """

    balance: int | Trouble
    block: int | None = None


@dataclass(frozen=True, slots=True)
class Lookup:
    """What was looked up.

    Attributes
    ----------
    found : list of Found
        One for each holder, in their order.
    answers : list of (bytes or Trouble)
        One for each further call; empty where the node is of none of the blockchains.
    """

    found: list[Found]
    answers: list[bytes | Trouble]


def look_up(
    node: Node,
    holders: Sequence[Holder],
    terms: Terms,
    calls: Sequence[ContractCall] = (),
) -> Lookup:
    """Ask a node for the balances of holders, all at one block.

    Parameters
    ----------
    node : Node
        Whom to ask.
    holders : sequence of Holder
        Each with what it may hold.
    terms : Terms
        Which block, and what the identifiers of the blockchains stand for.
    calls : sequence of ContractCall
        What else to ask at that block.

    Returns
    -------
    Lookup
        Nothing on the way raises, but an interrupt.
    """
    here = chain_id_of(node)
    found = [_elsewhere(holder, here, terms.chains) for holder in holders]
    asked = [place for place, elsewhere in enumerate(found) if elsewhere is None]
    answers: list[bytes | Trouble] = []
    if asked:
        number = pinned_block(node, terms.block)
        questions = [*(_question(holders[place]) for place in asked), *calls]
        answers = _answers(node, number, questions)
        read = number if isinstance(number, int) else None
        for place, answer in zip(asked, answers, strict=False):  # those to the calls come last
            found[place] = Found(_balance(answer), read)
    return Lookup([each for each in found if each is not None], answers[len(asked) :])


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
