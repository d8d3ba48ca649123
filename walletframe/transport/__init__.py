"""The way to the service and back: one session, and the answers kept on this machine.

The only place that imports requests or requests-cache.
"""

from walletframe.transport.session import Reply, ServiceSession
from walletframe.transport.store import (
    AnswerStore,
    Kept,
    StoreFacts,
    clear,
    default_path,
    describe,
)

__all__ = [
    "AnswerStore",
    "Kept",
    "Reply",
    "ServiceSession",
    "StoreFacts",
    "clear",
    "default_path",
    "describe",
]
