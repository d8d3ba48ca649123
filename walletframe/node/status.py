"""What became of a question to a node: a value, or a trouble with its status and its reason.

Nodes agree on few error codes, so what an error means is told by its message as well:
https://eips.ethereum.org/EIPS/eip-1474#error-codes and the texts of geth, erigon, nethermind,
besu, anvil and the large providers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from walletframe.text import shown
from walletframe.wire import Status

if TYPE_CHECKING:
    from walletframe.wire import Outcome

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
    """Why there is no value.

    Attributes
    ----------
    status : NodeStatus
        What kind of trouble; never ok.
    error : str
        One line for a person.
    """

    status: NodeStatus
    error: str


_CODES = {
    3: NodeStatus.REVERTED,
    429: NodeStatus.RATE_LIMITED,
    4444: NodeStatus.NO_BLOCK,
    -32001: NodeStatus.NO_BLOCK,
    -32005: NodeStatus.RATE_LIMITED,
}
_WORDS = (
    (NodeStatus.RATE_LIMITED, ("rate limit", "too many requests", "limit exceeded", "throughput")),
    (
        NodeStatus.NO_BLOCK,
        (
            "header not found",
            "block not found",
            "unknown block",
            "missing trie node",
            "historical state",
            "state not available",
            "state is not available",
            "pruned",
            "outofrange",
            "out of range",
        ),
    ),
    (
        NodeStatus.REVERTED,
        (
            "revert",
            "opcode",
            "evm error",
            "vm execution",
            "invalid jump",
            "stack underflow",
            "out of gas",
            "outofgas",
        ),
    ),
)
_STATUSES = {
    Status.RATE_LIMITED: NodeStatus.RATE_LIMITED,
    Status.TIMEOUT: NodeStatus.TIMEOUT,
    Status.UNREACHABLE: NodeStatus.UNREACHABLE,
    Status.REJECTED: NodeStatus.REJECTED,
    Status.SERVICE_ERROR: NodeStatus.NODE_ERROR,
}


def error_trouble(error: Any) -> Trouble:
    """Tell what a JSON-RPC error means.

    Parameters
    ----------
    error : object
        The error as sent: by the specification a mapping with a code and a message.

    Returns
    -------
    Trouble
        With the node's own message, short and cleaned.

    Examples
    --------
    >>> error_trouble({"code": -32000, "message": "header not found"})
    Trouble(status=<NodeStatus.NO_BLOCK: 'no_block'>, error="the node answered: 'header not found'")
    """
    fields = error if isinstance(error, dict) else {"message": error}
    message = str(fields.get("message"))
    text, code = message.lower(), fields.get("code")
    by_words = (status for status, words in _WORDS if any(word in text for word in words))
    known = _CODES.get(code) if isinstance(code, int) else None
    status = known or next(by_words, NodeStatus.NODE_ERROR)
    return Trouble(status, f"the node answered: {shown(message, _QUOTED)!r}")


def outcome_trouble(outcome: Outcome) -> Trouble:
    """Tell what a request that brought no answer means.

    Parameters
    ----------
    outcome : Outcome
        What the transport made of it.

    Returns
    -------
    Trouble
        With the same reason.

    Examples
    --------
    >>> from walletframe.wire import Outcome
    >>> outcome_trouble(Outcome(Status.TIMEOUT, "no answer within 30 s")).status.value
    'timeout'
    """
    return Trouble(_STATUSES.get(outcome.status, NodeStatus.INVALID), str(outcome.error))
