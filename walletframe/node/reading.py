"""Many questions about one block, in few round trips.

Where the contract Multicall3 is deployed, as on nearly all public blockchains, one call asks 300
questions and counts as one with a provider's limits. Elsewhere JSON-RPC batches of 100 are sent,
which is what nodes accept unless told otherwise. From the first refusal on they are sent as well,
since a contract that refuses may have burnt the gas that the call had for the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from walletframe.node.abi import MULTICALL3, WORD, aggregate, coin_balance_of, read_aggregate
from walletframe.node.status import NodeStatus, Trouble
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from walletframe.node.rpc import Node

_AGGREGATED, _BATCHED = 300, 100
_TRY_OTHERWISE = (NodeStatus.REVERTED, NodeStatus.INVALID, NodeStatus.NODE_ERROR)


@dataclass(frozen=True, slots=True)
class CoinBalance:
    """The question what somebody, a hex address in lower case, holds of the native coin."""

    owner: str

    def aggregated(self) -> tuple[str, bytes]:
        """Return contract and data for Multicall3."""
        return MULTICALL3, coin_balance_of(self.owner)

    def asked(self, block: str) -> tuple[str, list[Any]]:
        """Return method and parameters for JSON-RPC."""
        return "eth_getBalance", [self.owner, block]

    def read(self, result: Any) -> bytes | Trouble:
        """Read the result, a quantity in hex digits, as what a contract would have answered."""
        try:
            return int(result, 16).to_bytes(WORD, "big")
        except (TypeError, ValueError, OverflowError):
            return Trouble(NodeStatus.INVALID, f"not a balance: {shown(str(result), 60)!r}")


@dataclass(frozen=True, slots=True)
class ContractCall:
    """A question to a contract, a hex address in lower case."""

    contract: str
    data: bytes

    def aggregated(self) -> tuple[str, bytes]:
        """Return contract and data for Multicall3."""
        return self.contract, self.data

    def asked(self, block: str) -> tuple[str, list[Any]]:
        """Return method and parameters for JSON-RPC."""
        return "eth_call", [{"to": self.contract, "data": f"0x{self.data.hex()}"}, block]

    def read(self, result: Any) -> bytes | Trouble:
        """Read the result, bytes in hex digits."""
        try:
            return bytes.fromhex(result.removeprefix("0x"))
        except (AttributeError, TypeError, ValueError):
            return Trouble(NodeStatus.INVALID, f"not bytes: {shown(str(result), 60)!r}")


Question = CoinBalance | ContractCall


class BlockReader:
    """Asks a node about one block."""

    def __init__(self, node: Node, block: int) -> None:
        self._node = node
        self._block = hex(block)
        self._aggregates = True

    def read(self, questions: Sequence[Question]) -> list[bytes | Trouble]:
        """Ask any number of questions; for each what was answered, or why nothing was."""
        found: list[bytes | Trouble] = []
        for chunk in _chunks(questions, _AGGREGATED):
            results = self._aggregated(chunk)
            found += self._direct(chunk) if results is None else results
        return found

    def _aggregated(self, chunk: Sequence[Question]) -> list[bytes | Trouble] | None:
        """Return the answers, or None where they have to be had otherwise."""
        if len(chunk) == 1 or not self._aggregates:
            return None
        call = ContractCall(MULTICALL3, aggregate([each.aggregated() for each in chunk]))
        data = self._ask(call)
        if isinstance(data, Trouble):
            return None if data.status in _TRY_OTHERWISE else [data] * len(chunk)
        results = read_aggregate(data, len(chunk))
        self._aggregates = results is not None
        if results is None:
            return None
        good: list[bytes | Trouble] = [value for _, value in takewhile(itemgetter(0), results)]
        return good + self._direct(chunk[len(good) :])

    def _direct(self, chunk: Sequence[Question]) -> list[bytes | Trouble]:
        if len(chunk) == 1:
            return [self._ask(chunk[0])]
        found: list[bytes | Trouble] = []
        for batch in _chunks(chunk, _BATCHED):
            results = self._node.ask_many([each.asked(self._block) for each in batch])
            pairs = zip(batch, results, strict=True)
            found += [_read(question, result) for question, result in pairs]
        return found

    def _ask(self, question: Question) -> bytes | Trouble:
        method, params = question.asked(self._block)
        return _read(question, self._node.ask(method, *params))


def _read(question: Question, result: Any) -> bytes | Trouble:
    return result if isinstance(result, Trouble) else question.read(result)


def _chunks(questions: Sequence[Question], size: int) -> Iterator[Sequence[Question]]:
    for first in range(0, len(questions), size):
        yield questions[first : first + size]
