"""HTTP requests to the service or to a node, and the cache of answers.

No other package of walletframe imports requests or requests-cache.
"""

from walletframe.transport.rate import RateLimiter
from walletframe.transport.session import NodeSession, Reply, ServiceSession
from walletframe.transport.store import AnswerStore, CachedAnswer, cache_statistics, clear_cache
