"""HTTP to the service or to a node, and the answers cached on this machine.

The only place that imports requests or requests-cache.
"""

from walletframe.transport.cachefile import CachedAnswer
from walletframe.transport.pace import Pacer
from walletframe.transport.session import NodeSession, Reply, ServiceSession
from walletframe.transport.store import AnswerStore, StoreFacts, clear, describe
