"""Which blockchain a node is of, and the one block that all of a call's questions are about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from walletframe.node.status import NodeStatus, Trouble
from walletframe.text import shown

if TYPE_CHECKING:
    from walletframe.node.rpc import Node

_ABSURD = 2**63


def chain_id_of(node: Node) -> int | Trouble:
    """Ask a node which blockchain it is of.

    Parameters
    ----------
    node : Node
        Whom to ask.

    Returns
    -------
    int or Trouble
        The chain id.
    """
    return _quantity(node.ask("eth_chainId"))


def pinned_block(node: Node, block: int | None) -> int | Trouble:
    """Ask for the block that is to be read.

    Parameters
    ----------
    node : Node
        Whom to ask.
    block : int or None
        Its number; None for the latest.

    Returns
    -------
    int or Trouble
        Its number; a trouble where the node lacks it.
    """
    asked = "latest" if block is None else hex(block)
    header = node.ask("eth_getBlockByNumber", asked, False)  # noqa: FBT003 - the method's own form
    if isinstance(header, Trouble):
        return header
    if header is None:
        return Trouble(NodeStatus.NO_BLOCK, f"the node has no block {block}")
    number = _quantity(header.get("number") if isinstance(header, dict) else header)
    if block is None or number == block or isinstance(number, Trouble):
        return number
    return Trouble(NodeStatus.NO_BLOCK, f"asked for block {block}, the node gave {number}")


def _quantity(result: Any) -> int | Trouble:
    if isinstance(result, Trouble):
        return result
    try:
        number = int(result, 16)
    except (TypeError, ValueError):
        number = -1
    if 0 <= number < _ABSURD:
        return number
    return Trouble(NodeStatus.INVALID, f"no number: {shown(str(result), 60)!r}")
