"""The way to the service and back: one session, and the answers kept on this machine.

The only place that imports requests or requests-cache.
"""

from walletframe.transport.kept import Kept
from walletframe.transport.pacer import Pacer, pace_path
from walletframe.transport.session import Reply, ServiceSession
from walletframe.transport.store import AnswerStore, default_path
from walletframe.transport.upkeep import StoreFacts, clear, describe

__all__ = [
    "AnswerStore",
    "Kept",
    "Pacer",
    "Reply",
    "ServiceSession",
    "StoreFacts",
    "clear",
    "default_path",
    "describe",
    "pace_path",
]
