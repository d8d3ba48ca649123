"""JSON-RPC calls to a node (https://www.jsonrpc.org/specification), and their failures.

web3.py is not used. Its batches stop at the first error, and match answers without an id by their
order (web3.py issue 3657). It also logs the URL of the node. It raises Python's recursion limit,
and then deeply nested JSON can crash the process.
"""

from __future__ import annotations

import re
import tomllib
from enum import StrEnum
from importlib.resources import files
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from walletframe.text import safe_line
from walletframe.transport import NodeSession
from walletframe.wire.outcome import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.settings.key import RpcUrl


class NodeStatus(StrEnum):
    """The results of reading a balance, in the column ``status``."""

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


class NodeFailure(NamedTuple):
    """The status and the error text of a failed call."""

    status: NodeStatus  # never OK
    error: str  # one line of text for users


_ERRORS = tomllib.loads(files(__package__).joinpath("errors.toml").read_text(encoding="utf-8"))
_FATAL_STATUSES = ("timeout", "unreachable", "rejected", "rate_limited")  # also in `Status`
_STATUSES = {Status(each): NodeStatus(each) for each in _FATAL_STATUSES}
_STATUSES[Status.SERVICE_ERROR] = NodeStatus.NODE_ERROR
_NO_JSON_RPC = NodeFailure(NodeStatus.INVALID, "the node's answer is not JSON-RPC")
_MISSING = NodeFailure(NodeStatus.INVALID, "the node's answer does not include this call")
_CONFLICTING = NodeFailure(NodeStatus.INVALID, "the node gave two different answers to this call")
_UNREQUESTED = NodeFailure(NodeStatus.INVALID, "the node answered a call that was not sent")
_IDS = count(1)  # unique in this process, so that an answer matches only one call


class Node:
    """A connection to a node. After a fatal failure, such as a timeout, it sends nothing more."""

    def __init__(self, url: RpcUrl, timeout_s: float) -> None:
        self._session = NodeSession(url, timeout_s)
        self._fatal: NodeFailure | None = None

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def call(self, method: str, *params: Any) -> Any:
        """Return the result of one call, or a `NodeFailure`."""
        return self.call_batch([(method, params)])[0]

    def call_batch(self, calls: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
        """Send calls in one request. Return the results or failures in the order of `calls`."""
        ids = [next(_IDS) for _ in calls]
        batch = [
            {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
            for id_, (method, params) in zip(ids, calls, strict=True)
        ]
        answer = self._send_and_decode(batch if len(batch) > 1 else batch[0])
        if isinstance(answer, NodeFailure):
            return [answer] * len(ids)
        results: dict[int, Any] = {}
        default = _MISSING
        for each in answer if isinstance(answer, list) else [answer]:
            id_ = each.get("id") if isinstance(each, dict) else None
            result = _parse_result(each)
            if type(id_) is int and id_ in ids:
                if results.setdefault(id_, result) != result:
                    results[id_] = _CONFLICTING
            elif id_ is None and isinstance(result, NodeFailure):  # an error of the whole request
                default = result
            else:
                default = _UNREQUESTED
                # Later answers on this connection may belong to earlier calls.
                self._session.disconnect()
        return [results.get(id_, default) for id_ in ids]

    def _send_and_decode(self, body: Any) -> Any:
        if self._fatal is not None:
            return self._fatal
        answer = self._session.send(body=msgspec.json.encode(body)).answer
        if isinstance(answer, Outcome):
            status = _STATUSES.get(answer.status, NodeStatus.INVALID)
            failure = NodeFailure(status, str(answer.error))
            self._fatal = failure if status in _FATAL_STATUSES else None
            return failure
        try:
            return msgspec.json.decode(answer)
        except (ValueError, RecursionError):
            return _NO_JSON_RPC


def _parse_result(answer: Any) -> Any:
    if not isinstance(answer, dict):
        return _NO_JSON_RPC
    if (error := answer.get("error")) is None:
        return answer.get("result", _NO_JSON_RPC)
    fields = error if isinstance(error, dict) else {"message": error}
    message, code = str(fields.get("message")), fields.get("code")
    patterns = _ERRORS["messages"].items()
    status_by_message = (each for each, words in patterns if re.search(words, message.lower()))
    status = _ERRORS["codes"].get(str(code)) or next(status_by_message, NodeStatus.NODE_ERROR)
    return NodeFailure(NodeStatus(status), f"the node answered: {safe_line(message, 160)!r}")
