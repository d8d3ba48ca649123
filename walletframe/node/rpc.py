"""A node over JSON-RPC: methods out, a result or an error for each in.

https://www.jsonrpc.org/specification. web3.py is not used: its batches give up at the first error
and match by order what bears no id (its issue 3657), it logs the node's URL, and importing it lifts
Python's recursion limit for the whole process, which then crashes on JSON that is nested deeply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import msgspec

from walletframe.node.status import NodeStatus, Trouble, error_trouble, outcome_trouble
from walletframe.transport import NodeSession
from walletframe.wire import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.settings import NodeUrl

_GIVING_UP = (
    NodeStatus.TIMEOUT,
    NodeStatus.UNREACHABLE,
    NodeStatus.REJECTED,
    NodeStatus.RATE_LIMITED,
)
_NO_JSON_RPC = Trouble(NodeStatus.INVALID, "the node's answer is not JSON-RPC")
_LEFT_OUT = Trouble(NodeStatus.INVALID, "the node's answer left this question out")
_TWICE = Trouble(NodeStatus.INVALID, "the node answered this question twice, differently")


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
        answer = self._answer(_question(0, method, params))
        return answer if isinstance(answer, Trouble) else _result(answer)

    def ask_many(self, questions: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
        """Ask methods with parameters in one request; return the results in their order."""
        answer = self._answer([_question(id_, *each) for id_, each in enumerate(questions)])
        if not isinstance(answer, list):
            whole = answer if isinstance(answer, Trouble) else _result(answer)
            return [whole if isinstance(whole, Trouble) else _NO_JSON_RPC] * len(questions)
        results = _by_id(answer)
        return [results.get(place, _LEFT_OUT) for place in range(len(questions))]

    def _answer(self, questions: Any) -> Any:
        if self._gave_up is not None:
            return self._gave_up
        answer = self._session.post(msgspec.json.encode(questions)).answer
        if isinstance(answer, Outcome):
            trouble = outcome_trouble(answer)
            self._gave_up = trouble if trouble.status in _GIVING_UP else None
            return trouble
        try:
            return msgspec.json.decode(answer)
        except (ValueError, RecursionError):
            return _NO_JSON_RPC


def _question(id_: int, method: str, params: Sequence[Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def _by_id(answers: list[Any]) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for answer in answers:
        place = answer.get("id") if isinstance(answer, dict) else None
        if isinstance(place, int):
            result = _result(answer)
            if found.setdefault(place, result) != result:
                found[place] = _TWICE
    return found


def _result(answer: Any) -> Any:
    if not isinstance(answer, dict):
        return _NO_JSON_RPC
    if answer.get("error") is not None:
        return error_trouble(answer["error"])
    return answer.get("result", _NO_JSON_RPC)
