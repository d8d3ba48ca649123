"""A node over JSON-RPC: methods out, for each a result in, or why there is none.

https://www.jsonrpc.org/specification. web3.py is not used: its batches give up at the first error
and match by order what bears no id (its issue 3657), it logs the node's URL, and importing it lifts
Python's recursion limit for the whole process, which then crashes on JSON that is nested deeply.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from typing import TYPE_CHECKING, Any, Self

import msgspec

from walletframe.text import shown
from walletframe.transport import NodeSession
from walletframe.wire.outcome import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.settings.key import NodeUrl

_QUOTED = 160


class NodeStatus(StrEnum):
    """What became of a balance that a node was asked for; the categories of ``status``."""

    OK = "ok"
    REVERTED = "reverted"
    INVALID = "invalid"
    NO_BLOCK = "no_block"
    OTHER_CHAIN = "other_chain"
    NODE_ERROR = "node_error"
    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why there is no value: a status that is never ok, and one line for a person."""

    status: NodeStatus
    error: str


# Nodes agree on few error codes, so what an error means is told by its message as well:
# https://eips.ethereum.org/EIPS/eip-1474#error-codes and the texts of geth, erigon, nethermind,
# besu, anvil and the large providers.
_CODES = {
    3: NodeStatus.REVERTED,
    429: NodeStatus.RATE_LIMITED,
    4444: NodeStatus.NO_BLOCK,
    -32001: NodeStatus.NO_BLOCK,
    -32005: NodeStatus.RATE_LIMITED,
}
_WORDS = {
    NodeStatus.RATE_LIMITED: r"rate limit|too many requests|limit exceeded|throughput",
    NodeStatus.NO_BLOCK: r"(header|block) not found|unknown block|missing trie node|pruned|"
    r"historical state|state (is )?not available|out ?of ?range",
    NodeStatus.REVERTED: r"revert|opcode|evm error|vm execution|invalid jump|stack underflow|"
    r"out ?of ?gas",
}
_GIVING_UP = (
    NodeStatus.TIMEOUT,
    NodeStatus.UNREACHABLE,
    NodeStatus.REJECTED,
    NodeStatus.RATE_LIMITED,
)
_STATUSES = {Status(each): each for each in _GIVING_UP}  # the names are the same
_STATUSES[Status.SERVICE_ERROR] = NodeStatus.NODE_ERROR
_NO_JSON_RPC = Trouble(NodeStatus.INVALID, "the node's answer is not JSON-RPC")
_LEFT_OUT = Trouble(NodeStatus.INVALID, "the node's answer left this question out")
_TWICE = Trouble(NodeStatus.INVALID, "the node answered this question twice, differently")
_NOT_ASKED = Trouble(NodeStatus.INVALID, "the node answered a question that was not asked")
_IDS = count(1)  # one for each question of this process, so that no answer fits two of them


class Node:
    """Asks a node, which is not asked again once it does not answer, or refuses; to be closed."""

    def __init__(self, url: NodeUrl, timeout_s: float) -> None:
        self._session = NodeSession(url, timeout_s)
        self._gave_up: Trouble | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._session.close()

    def ask(self, method: str, *params: Any) -> Any:
        """Ask one question; return the result, which can be any JSON, or a `Trouble`."""
        question = _question(method, params)
        return self._results(question, [question["id"]])[0]

    def ask_many(self, questions: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
        """Ask methods with parameters in one request; return the results in their order."""
        asked = [_question(*each) for each in questions]
        return self._results(asked, [each["id"] for each in asked])

    def _results(self, asked: Any, ids: Sequence[int]) -> list[Any]:
        """Ask, and return the results by their questions' ids."""
        answer = self._answer(asked)
        if isinstance(answer, Trouble):
            return [answer] * len(ids)
        results: dict[int, Any] = {}
        others = _LEFT_OUT
        for each in answer if isinstance(answer, list) else [answer]:
            id_ = each.get("id") if isinstance(each, dict) else None
            result = _result(each)
            if type(id_) is int and id_ in ids:
                if results.setdefault(id_, result) != result:
                    results[id_] = _TWICE
            elif id_ is None and isinstance(result, Trouble):  # an error of the request as a whole
                others = result
            else:
                others = _NOT_ASKED
                self._session.reconnect()  # else it may be one question behind from now on
        return [results.get(id_, others) for id_ in ids]

    def _answer(self, questions: Any) -> Any:
        if self._gave_up is not None:
            return self._gave_up
        answer = self._session.ask(body=msgspec.json.encode(questions)).answer
        if isinstance(answer, Outcome):
            status = _STATUSES.get(answer.status, NodeStatus.INVALID)
            trouble = Trouble(status, str(answer.error))
            self._gave_up = trouble if status in _GIVING_UP else None
            return trouble
        try:
            return msgspec.json.decode(answer)
        except (ValueError, RecursionError):
            return _NO_JSON_RPC


def _question(method: str, params: Sequence[Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": next(_IDS), "method": method, "params": params}


def _result(answer: Any) -> Any:
    """Return the result of one answer, or what its error means: by its code, else its message."""
    if not isinstance(answer, dict):
        return _NO_JSON_RPC
    error = answer.get("error")
    if error is None:
        return answer.get("result", _NO_JSON_RPC)
    fields = error if isinstance(error, dict) else {"message": error}
    message, code = str(fields.get("message")), fields.get("code")
    by_words = (each for each, words in _WORDS.items() if re.search(words, message.lower()))
    known = _CODES.get(code) if isinstance(code, int) else None
    status = known or next(by_words, NodeStatus.NODE_ERROR)
    return Trouble(status, f"the node answered: {shown(message, _QUOTED)!r}")
