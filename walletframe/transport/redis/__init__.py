"""A cache and a pace in a Redis or Valkey, for several machines.

The only place that imports redis-py. Nothing here quotes what the server says: it may repeat the
password.
"""

from walletframe.transport.redis.shelf import RedisShelf, clear, kept_in
from walletframe.transport.redis.slots import RedisSlots

__all__ = ["RedisShelf", "RedisSlots", "clear", "kept_in"]
