"""Answers in a Redis or Valkey: many a trip, compressed, the one asked later first.

Next to the answers are a list of them in the order of their turns, and their sizes, by which the
oldest give way. Turns are the server's time in microseconds, so they go on where it was emptied.
"""

from __future__ import annotations

import math
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from operator import methodcaller
from struct import Struct
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from walletframe.forks import OwnLock
from walletframe.transport.kept import Kept, SpareShelf, checksum, turn_of
from walletframe.transport.redis.server import Server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.settings import ServerUrl

_LIST, _SIZES, _BYTES, _TURN = (
    f"walletframe:{name}" for name in ("list", "sizes", "bytes", "turn")
)
_ANSWER = "walletframe:answer:"
_A_TRIP = 250
_AT_ONCE = 10_000_000  # bytes that give way while others wait
_KEPT_S = 30 * 86_400.0
_MOST = 2**53
_TURN_END, _HEAD = 16, 48  # bytes
_SEAL = Struct("<II")  # the checksum, and the size of the body when it is unpacked
_BODY = _HEAD + _SEAL.size
_ZSTD = pa.Codec("zstd", compression_level=1)
_WITHOUT = "answers can't be kept in {place} ({said}); they are kept in memory instead"
_UNSEEN = "{place} can't be looked into ({said})"

# An answer begins with its turn. One of the future is damaged: the next answer takes its place.
_WRITE = """
local most, live_ms = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local newest = math.max(time[1] * 1000000 + time[2], tonumber(redis.call('GET', KEYS[4]) or 0))
for number = 5, #KEYS do
  local key, value = KEYS[number], ARGV[number - 2]
  local turn = tonumber(string.sub(value, 1, 16))
  local kept = tonumber(redis.call('GETRANGE', key, 0, 15)) or 0
  if kept <= turn or kept > newest then
    if live_ms > 0 then
      redis.call('SET', key, value, 'PX', live_ms)
    else
      redis.call('SET', key, value)
    end
    local size = #value + 3 * #key + 400  -- with what the list and the sizes take
    local before = redis.call('HGET', KEYS[2], key) or 0
    redis.call('ZADD', KEYS[1], turn, key)
    redis.call('HSET', KEYS[2], key, size)
    redis.call('INCRBY', KEYS[3], size - before)
  end
end
while tonumber(redis.call('GET', KEYS[3]) or 0) > most do
  local oldest = redis.call('ZPOPMIN', KEYS[1])[1]
  if not oldest then
    redis.call('DEL', KEYS[2], KEYS[3])
    break
  end
  redis.call('DECRBY', KEYS[3], redis.call('HGET', KEYS[2], oldest) or 0)
  redis.call('HDEL', KEYS[2], oldest)
  redis.call('DEL', oldest)
end
if live_ms > 0 then
  for number = 1, 3 do redis.call('PEXPIRE', KEYS[number], live_ms) end
end
return 1
"""
_NEXT_TURN = """
local time = redis.call('TIME')
local last = math.max(tonumber(ARGV[1]), tonumber(redis.call('GET', KEYS[1]) or 0))
local turn = string.format('%.0f', math.max(time[1] * 1000000 + time[2], last + 1))
redis.call('SET', KEYS[1], turn)
return turn
"""


class RedisShelf:
    """Keeps answers in a server, and in memory, after one warning, while it is gone.

    Beyond `max_bytes` the oldest give way, and all after 30 days, or later where `fresh_s` is more.
    """

    def __init__(self, url: ServerUrl, *, max_bytes: int | None, fresh_s: float) -> None:
        live_s = max(_KEPT_S, fresh_s)
        self._bounds = (max_bytes or _MOST, 0 if math.isinf(live_s) else int(live_s * 1000))
        self._server = Server(url, _WITHOUT)
        self._write = self._server.script(_WRITE)
        self._turn = self._server.script(_NEXT_TURN)
        self._spare = SpareShelf()
        self._last_turn = 0
        self._lock = OwnLock()

    def read(self, keys: Sequence[str]) -> dict[str, Kept]:
        """Return those that are there and undamaged; of two for one key, the one asked later."""
        found: dict[str, Kept] = {}
        for start in range(0, len(keys), _A_TRIP):
            part = keys[start : start + _A_TRIP]
            names = [_ANSWER + key for key in part]
            values: Any = self._server.ask(methodcaller("mget", names))
            read = zip(part, map(_unpacked, names, values or ()), strict=False)
            found |= {key: kept for key, kept in read if kept is not None}
        with self._lock:
            return self._spare.over(found, keys)

    def write(self, answers: Sequence[tuple[str, Kept]]) -> None:
        """Keep all of them, each unless one that was asked for later is there."""
        now = self.turn() if any(kept.turn is None for _, kept in answers) else 0
        turned = [(key, replace(it, turn=now) if it.turn is None else it) for key, it in answers]
        for start in range(0, len(turned), _A_TRIP):
            part = turned[start : start + _A_TRIP]
            names = [_ANSWER + key for key, _ in part]
            values = [_packed(name, kept) for name, (_, kept) in zip(names, part, strict=True)]
            sent = {
                "keys": [_LIST, _SIZES, _BYTES, _TURN, *names],
                "args": [*self._bounds, *values],
            }
            if self._server.ask(partial(self._write, **sent)) is None:
                with self._lock:
                    self._spare.write(part)

    def turn(self) -> int:
        """Return a number above all that were given before, by any process, from 1 on."""
        found: Any = self._server.ask(partial(self._turn, keys=[_TURN], args=[self._last_turn]))
        with self._lock:
            turn = max(self._last_turn + 1, int(time.time() * 1e6)) if found is None else int(found)
            self._last_turn = max(self._last_turn, turn)
            return turn

    def close(self) -> None:
        """Close the connections; the next use opens them again."""
        self._server.close()


def kept_in(url: ServerUrl) -> tuple[int, int]:
    """Count the answers in a server, and their bytes, as they are bounded; maybe expired ones."""
    with closing(Server(url, _UNSEEN)) as server:
        return server.demand(_counted)


def clear(url: ServerUrl) -> int:
    """Forget all answers in a server, and nothing else; return how many there were."""
    with closing(Server(url, _UNSEEN)) as server:
        write = server.script(_WRITE)
        answers, size = server.demand(_counted)
        while size > 0:  # all of them give way
            size = max(size - _AT_ONCE, 0)
            keys = [_LIST, _SIZES, _BYTES, _TURN]
            server.demand(partial(write, keys=keys, args=[size, 0]))
        return answers


def _counted(redis: Any) -> tuple[int, int]:
    return redis.zcard(_LIST), int(redis.get(_BYTES) or 0)


def _packed(name: str, kept: Kept) -> bytes:
    moment = kept.fetched_at.astimezone(UTC).isoformat(timespec="microseconds").encode()
    head, body = b"%016d%s" % (turn_of(kept), moment), _ZSTD.compress(kept.body, asbytes=True)
    size = len(kept.body)
    return b"%s%s%s" % (head, _SEAL.pack(checksum(name, head, size, body), size), body)


def _unpacked(name: str, value: bytes | None) -> Kept | None:
    """Return what was packed; None for nothing, and for what is damaged."""
    if value is None or len(value) < _BODY:
        return None
    head, body = value[:_HEAD], value[_BODY:]
    seal, size = _SEAL.unpack_from(value, _HEAD)
    if seal != checksum(name, head, size, body):
        return None
    moment = datetime.fromisoformat(head[_TURN_END:].decode())
    return Kept(_ZSTD.decompress(body, size, asbytes=True), moment, int(head[:_TURN_END]))
