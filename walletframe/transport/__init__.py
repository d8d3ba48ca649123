"""HTTP to the service or to a node, and the answers cached on this machine.

The only place that imports requests or requests-cache.
"""

from walletframe.transport.kept import Kept
from walletframe.transport.pacer import Pacer, pace_place
from walletframe.transport.session import NodeSession, Reply, ServiceSession
from walletframe.transport.store import AnswerStore, StoreFacts, clear, default_path, describe

__all__ = [
    "AnswerStore",
    "Kept",
    "NodeSession",
    "Pacer",
    "Reply",
    "ServiceSession",
    "StoreFacts",
    "clear",
    "default_path",
    "describe",
    "pace_place",
]
