"""Balances at one block, if the node is of the wallets' blockchain, in few round trips.

Contracts (https://eips.ethereum.org/EIPS/eip-20, https://github.com/mds1/multicall3) are written by
strangers: whatever they answer, nothing here raises.
"""
# Where the contract Multicall3 is deployed, as on nearly all public blockchains, one call asks 300
# questions and counts as one with a provider's limits. Elsewhere JSON-RPC batches of 100 are sent,
# which is what nodes accept unless told otherwise. From the first refusal on they are sent as well,
# since a contract that refuses may have burnt the gas that the call had for the others.

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from eth_abi.abi import decode, encode
from eth_abi.exceptions import DecodingError

from walletframe.node.request import Found, TokenFacts
from walletframe.node.rpc import Node, NodeStatus, Trouble
from walletframe.text import shown
from walletframe.wire.outcome import MAX_DECIMALS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.node.request import Holder, Terms
    from walletframe.settings.key import NodeUrl

_AGGREGATED, _BATCHED = 300, 100
_ABSURD = 2**63
_LONGEST_SYMBOL = 1_000
_WORD = 32
_HEX = re.compile("0x[0-9a-fA-F]*")
_MULTICALL3 = "0xca11bde05977b3631167028862be2a173976ca11"

# The first four bytes of the hash of what is called.
_DECIMALS = bytes.fromhex("313ce567")  # decimals()
_SYMBOL = bytes.fromhex("95d89b41")  # symbol()
_BALANCE_OF = bytes.fromhex("70a08231")  # balanceOf(address)
_COIN_BALANCE_OF = bytes.fromhex("4d2301cc")  # getEthBalance(address)
_AGGREGATE = bytes.fromhex("82ad56cb")  # aggregate3((address,bool,bytes)[])

_TRY_OTHERWISE = (NodeStatus.REVERTED, NodeStatus.INVALID, NodeStatus.NODE_ERROR)
_NO_BALANCE = Trouble(
    NodeStatus.INVALID,
    "the contract's answer is not a balance: is it a token, and did it exist at this block?",
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a contract; one for the native coin of an owner can do without Multicall3."""

    contract: str
    data: bytes
    coin_owner: str | None = None

    def asked(self, block: str) -> tuple[str, list[Any]]:
        """Return method and parameters for JSON-RPC."""
        if self.coin_owner is not None:
            return "eth_getBalance", [self.coin_owner, block]
        return "eth_call", [{"to": self.contract, "data": f"0x{self.data.hex()}"}, block]

    def read(self, result: Any) -> bytes | Trouble:
        """Read the result, hex digits: a quantity becomes what a contract would have answered."""
        if isinstance(result, Trouble):
            return result
        try:
            if self.coin_owner is not None:
                return int(_digits(result), 16).to_bytes(_WORD, "big")
            return bytes.fromhex(_digits(result))
        except (ValueError, OverflowError):
            needed = "bytes" if self.coin_owner is None else "a balance"
            return Trouble(NodeStatus.INVALID, f"not {needed}: {shown(str(result), 60)!r}")


def look_up(
    url: NodeUrl, holders: Sequence[Holder], terms: Terms, token: str | None = None
) -> tuple[dict[Holder, Found], TokenFacts]:
    """Ask for balances, and of a token, a contract, itself, at one block; only interrupts raise."""
    if not holders:
        return {}, TokenFacts()
    with Node(url, terms.timeout_s) as node:
        here = _quantity(node.ask("eth_chainId"))
        elsewhere = {holder: _elsewhere(holder, here, terms) for holder in holders}
        found = {holder: Found(trouble=why) for holder, why in elsewhere.items() if why}
        asked = [holder for holder, why in elsewhere.items() if not why]
        if not asked:
            return found, TokenFacts()
        questions = []
        for holder in asked:
            owner = encode(["address"], [holder.owner])
            if holder.contract is None:
                questions.append(Question(_MULTICALL3, _COIN_BALANCE_OF + owner, holder.owner))
            else:
                questions.append(Question(holder.contract, _BALANCE_OF + owner))
        if token is not None:
            questions += [Question(token, _DECIMALS), Question(token, _SYMBOL)]
        block = _pinned_block(node, terms.block)
        if isinstance(block, Trouble):
            return found | dict.fromkeys(asked, Found(trouble=block)), TokenFacts()
        answers = _BlockReader(node, hex(block)).read(questions)
    for holder, answer in zip(asked, answers, strict=False):  # those of the token come last
        if isinstance(answer, Trouble):
            found[holder] = Found(block=block, trouble=answer)
        else:
            balance = _decoded("uint256", answer)
            found[holder] = Found(balance, block, _NO_BALANCE if balance is None else None)
    facts = TokenFacts() if token is None else _facts(*answers[len(asked) :])
    return found, facts


def _digits(result: Any) -> str:
    """Return the hex digits of a result; raise ValueError where it is no text of 0x and these."""
    if not isinstance(result, str) or not _HEX.fullmatch(result):
        raise ValueError
    return result.removeprefix("0x")


def _quantity(result: Any) -> int | Trouble:
    if isinstance(result, Trouble):
        return result
    with suppress(ValueError):
        number = int(_digits(result), 16)
        if number < _ABSURD:
            return number
    return Trouble(NodeStatus.INVALID, f"not a number: {shown(str(result), 60)!r}")


def _elsewhere(holder: Holder, here: int | Trouble, terms: Terms) -> Trouble | None:
    """Return why a holder can't be asked for here, or None."""
    if isinstance(here, Trouble):
        return here
    wanted = terms.id_of(holder.blockchain)
    if wanted == here:
        return None
    reason = f"the node is of chain {here}; that of {holder.blockchain} is {wanted}"
    return Trouble(NodeStatus.OTHER_CHAIN, reason)


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


class _BlockReader:
    """Asks a node about one block."""

    def __init__(self, node: Node, block: str) -> None:
        self._node, self._block = node, block
        self._aggregates = True

    def read(self, questions: Sequence[Question]) -> list[bytes | Trouble]:
        """Ask any number of questions; for each what was answered, or why nothing was."""
        found: list[bytes | Trouble] = []
        for first in range(0, len(questions), _AGGREGATED):
            chunk = questions[first : first + _AGGREGATED]
            results = self._aggregated(chunk)
            found += self._direct(chunk) if results is None else results
        return found

    def _aggregated(self, chunk: Sequence[Question]) -> list[bytes | Trouble] | None:
        """Return the answers, or None where they have to be had otherwise."""
        if len(chunk) == 1 or not self._aggregates:
            return None
        calls = [(each.contract, True, each.data) for each in chunk]  # of which any may fail
        encoded = encode(["(address,bool,bytes)[]"], [calls])
        [data] = self._direct([Question(_MULTICALL3, _AGGREGATE + encoded)])
        if isinstance(data, Trouble):
            return None if data.status in _TRY_OTHERWISE else [data] * len(chunk)
        results = _decoded("(bool,bytes)[]", data)
        self._aggregates = results is not None and len(results) == len(chunk)
        if not self._aggregates:
            return None
        good: list[bytes | Trouble] = [value for _, value in takewhile(itemgetter(0), results)]
        return good + self._direct(chunk[len(good) :])

    def _direct(self, chunk: Sequence[Question]) -> list[bytes | Trouble]:
        if len(chunk) == 1:
            method, params = chunk[0].asked(self._block)
            return [chunk[0].read(self._node.ask(method, *params))]
        found: list[bytes | Trouble] = []
        for first in range(0, len(chunk), _BATCHED):
            batch = chunk[first : first + _BATCHED]
            results = self._node.ask_many([each.asked(self._block) for each in batch])
            pairs = zip(batch, results, strict=True)
            found += [question.read(result) for question, result in pairs]
        return found


def _facts(decimals: bytes | Trouble, symbol: bytes | Trouble) -> TokenFacts:
    """Read what a contract said of itself; one that refuses to say has none."""
    name = None if isinstance(symbol, Trouble) else _read_symbol(symbol)
    if not isinstance(decimals, Trouble):
        number = _decoded("uint256", decimals)
        return TokenFacts(name, number if number is not None and number <= MAX_DECIMALS else None)
    if decimals.status is NodeStatus.REVERTED:
        return TokenFacts(name)
    return TokenFacts(name, trouble=Trouble(decimals.status, f"decimals: {decimals.error}"))


def _read_symbol(data: bytes) -> str | None:
    """Read the symbol of a token, however hostile: a string, or bytes32 as in the first tokens.

    None where there is none, or one of more than 1,000 characters; what is not UTF-8 is replaced.
    """
    text = data.rstrip(b"\0") if len(data) == _WORD else _decoded("bytes", data)
    symbol = None if text is None else text.decode("utf-8", "replace")
    return symbol if symbol is not None and len(symbol) <= _LONGEST_SYMBOL else None


def _decoded(kind: str, data: bytes) -> Any:
    """Decode an answer; None where it is of another kind."""
    try:
        [value] = decode([kind], data)
    except (DecodingError, OverflowError):  # the latter where a length is beyond all memory
        return None
    return value
