"""The result of a request to a node: a value, or an error with its status and reason.

Nodes agree on few error codes, so what an error means is told by its message as well:
https://eips.ethereum.org/EIPS/eip-1474#error-codes and the texts of geth, erigon, nethermind,
besu, anvil and the large providers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from walletframe.errors import FetchWarning
from walletframe.notice import notify
from walletframe.numerals import many, part
from walletframe.text import shown
from walletframe.wire import Status

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.wire import Outcome

_QUOTED = 160
_NAMED = 3


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
_STATUSES = {
    Status.RATE_LIMITED: NodeStatus.RATE_LIMITED,
    Status.TIMEOUT: NodeStatus.TIMEOUT,
    Status.UNREACHABLE: NodeStatus.UNREACHABLE,
    Status.REJECTED: NodeStatus.REJECTED,
    Status.SERVICE_ERROR: NodeStatus.NODE_ERROR,
}


def error_trouble(error: Any) -> Trouble:
    """Tell what a JSON-RPC error means, by the specification a mapping with code and message."""
    fields = error if isinstance(error, dict) else {"message": error}
    message = str(fields.get("message"))
    text, code = message.lower(), fields.get("code")
    by_words = (status for status, words in _WORDS.items() if re.search(words, text))
    known = _CODES.get(code) if isinstance(code, int) else None
    status = known or next(by_words, NodeStatus.NODE_ERROR)
    return Trouble(status, f"the node answered: {shown(message, _QUOTED)!r}")


def outcome_trouble(outcome: Outcome) -> Trouble:
    """Tell what a request that brought no answer means, with the same reason."""
    return Trouble(_STATUSES.get(outcome.status, NodeStatus.INVALID), str(outcome.error))


def tell_unknown(errors: pd.Series) -> None:
    """Warn where balances are not known: the errors, NA where one is."""
    reasons = errors.value_counts()
    if reasons.empty:
        return
    named = [f"{count} x {reason}" for reason, count in reasons.head(_NAMED).items()]
    rest = len(reasons) - _NAMED
    more = [many(rest, "other reason")] if rest > 0 else []
    unknown = f"{part(int(reasons.sum()), len(errors), 'balance')} not known"
    notify(f"{unknown} ({'; '.join(named + more)}); the column error says why", FetchWarning)
