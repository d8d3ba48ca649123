"""A node over JSON-RPC: methods out, results in, each with its own trouble.

https://www.jsonrpc.org/specification, of which a client needs four fields. web3.py is not used for
them: its batches give up at the first error and match by order what bears no id (its issue 3657),
it logs the node's URL, and importing it lifts Python's recursion limit for the whole process, which
then crashes on JSON that is nested deeply. Once a node does not answer, or refuses, it is not asked
again.
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
_TWICE = Trouble(NodeStatus.INVALID, "the node answered this question twice, and not the same")


class Node:
    """Asks a node; to be closed, or used in a ``with`` block.

    Parameters
    ----------
    url : NodeUrl
        Where it is.
    timeout_s : float
        How long one request may take as a whole, in seconds.

    Raises
    ------
    SettingsError
        Where the URL can't be used.
    """

    def __init__(self, url: NodeUrl, timeout_s: float) -> None:
        self._session = NodeSession(url, timeout_s)
        self._gave_up: Trouble | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._session.close()

    def ask(self, method: str, *params: Any) -> Any:
        """Ask one question.

        Parameters
        ----------
        method : str
            Such as ``eth_chainId``.
        *params
            Its parameters.

        Returns
        -------
        object or Trouble
            The result as sent, which can be any JSON, or why there is none.
        """
        answer = self._answer(_question(0, method, params))
        return answer if isinstance(answer, Trouble) else _result(answer)

    def ask_many(self, questions: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
        """Ask many questions in one request.

        Parameters
        ----------
        questions : sequence of (str, sequence)
            Methods with their parameters.

        Returns
        -------
        list of (object or Trouble)
            One for each question, in their order, whatever the order of the answers.
        """
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
