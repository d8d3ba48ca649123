"""The slots of a pace that several machines share, in a Redis or Valkey.

A script takes slots, by the server's clock, at the interval that was found out; what is found out,
by `transport.pace`, is written back unless somebody else did so first. While the server is gone
each process keeps to its part of the rate.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from walletframe.transport.pace import begun, read_pace, share, take, write_pace
from walletframe.transport.redis.server import FAULTS, Server
from walletframe.transport.slots import AHEAD_S, UNCOUNTED, Slot, Slots, changed

if TYPE_CHECKING:
    from redis import Redis

    from walletframe.settings import ServerUrl
    from walletframe.transport.pace import Pace
    from walletframe.transport.slots import Change

_IDLE_S = 300
_AGAIN_S = 0.001
_FIELDS = ("pace", "version", "next_at", "answers")
_WITHOUT = (
    "the pace can't be shared in {place} ({said}); until it is back each process keeps to its part "
    f"of the rate: as processes= says, or were counted, else one in {UNCOUNTED}"
)

# Who looks ahead far enough for one slot of each process need not ask twice for its own. Answers
# are counted here, and whoever hears that they are due finds out the rate anew.
_TAKE = f"""
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
redis.call('ZADD', KEYS[2], string.format('%.6f', now), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.6f', now - 60))
redis.call('EXPIRE', KEYS[2], 60)
local processes = redis.call('ZCARD', KEYS[2])
local known = redis.call('HMGET', KEYS[1], 'interval', 'paused_until', 'next_at', 'tuned_at')
for number = 1, 4 do known[number] = tonumber(known[number] or '') end
local interval, paused_until, next_at, tuned_at = unpack(known, 1, 4)
if not (interval and paused_until and next_at) then return {{0, '0', 1, processes, ''}} end
local answers = redis.call('HINCRBY', KEYS[1], 'answers', ARGV[2])
local wait = math.max(now, next_at, paused_until) - now
if wait > tonumber(ARGV[4]) then wait = 0 end  -- a clock was set back
local ahead = math.min(math.max(tonumber(ARGV[3]), processes * interval), 1)
local is_idle = now - math.max(next_at, paused_until) > {_IDLE_S}
local is_taken = not is_idle and wait <= ahead
if is_taken then
  redis.call('HSET', KEYS[1], 'next_at', string.format('%.6f', now + wait + interval))
elseif not is_idle then
  wait = wait - ahead
end
local is_due = is_idle or (answers > 0 and now - (tuned_at or 0) >= 0.2)
if is_due then redis.call('HSET', KEYS[1], 'tuned_at', string.format('%.6f', now)) end
return {{is_taken and 1 or 0, string.format('%.6f', wait), is_due and 1 or 0, processes,
  redis.call('HGET', KEYS[1], 'pace') or ''}}
"""
_WRITE = """
if (redis.call('HGET', KEYS[1], 'version') or '') ~= ARGV[1] then return 0 end
redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('HINCRBY', KEYS[1], 'answers', 0 - ARGV[2])  -- Redis refuses -0
redis.call('HSET', KEYS[1], 'pace', ARGV[3], 'interval', ARGV[4], 'paused_until', ARGV[5])
if ARGV[6] ~= '' then redis.call('HSET', KEYS[1], 'next_at', ARGV[6]) end
redis.call('EXPIRE', KEYS[1], 2592000)
return 1
"""


class RedisSlots(Slots):
    """The slots of all processes that know a server; `own` is the pace as it was seen last.

    `processes` is how many they are where somebody knows; else the server counts them.
    """

    def __init__(
        self,
        url: ServerUrl,
        service: str,
        *,
        rate: float | None,
        longest_s: float,
        processes: int | None,
    ) -> None:
        super().__init__(rate=rate, longest_s=longest_s)
        self._server = Server(url, _WITHOUT)
        self._take, self._write = self._server.script(_TAKE), self._server.script(_WRITE)
        self._keys = [f"walletframe:pace:{service}", f"walletframe:processes:{service}"]
        self._name = uuid4().hex
        self._told, self._counted = processes, 0
        self._shared = self.own
        self._server_ahead_s = 0.0
        self._is_in, self._was_cut_off, self._is_closed = False, False, False
        self.update(0, _tuned)

    def take(self, answers: int) -> Slot:
        """Take the next slot on the server, or, where it is gone, of this process's part."""
        slot = None if self._is_closed else self._server.ask(partial(self._take_there, answers))
        return super().take(answers) if slot is None else slot

    def update(self, answers: int, change: Change) -> None:
        """Change the pace on the server, or, where it is gone, this process's part."""
        pace = None
        if not self._is_closed:
            pace = self._server.ask(partial(self._exchange, answers, change))
        if pace is None:
            self._go_alone()
            super().update(answers, change)

    def close(self) -> None:
        """Be counted no longer; threads that are late go on with what was seen last."""
        if self._is_in:
            with suppress(*FAULTS):
                self._server.redis.zrem(self._keys[1], self._name)
        self._is_closed = True
        self._server.close()

    def _take_there(self, answers: int, redis: Redis) -> Slot:
        if not self._is_in:
            self._exchange(0, _tuned, redis)
        sent = [self._name, answers, AHEAD_S, self._longest_s]
        taken, wait_s, is_due, self._counted, stored = self._take(redis, self._keys, sent)
        if is_due:
            self._exchange(0, _tuned, redis)
        else:
            self.own = self._shared = read_pace(stored)
        return Slot(max(float(wait_s), 0.0 if taken else _AGAIN_S), is_taken=bool(taken))

    def _exchange(self, answers: int, change: Change, redis: Redis) -> Pace:
        """Change what the server has, or what was seen last where it has nothing any more."""
        is_written = False
        while not is_written:
            stored, version, next_at, waiting, now = self._look(redis)
            pace = self._shared if stored is None else read_pace(stored)
            pace = pace if next_at is None else replace(pace, next_at=next_at)
            if not self._is_in:
                pace = self._joined(pace, now)
            pace = changed(pace, answers + waiting, change, now)
            interval_s = take(pace, now).next_at - now
            moved = "" if pace.next_at == next_at else f"{pace.next_at:.6f}"
            sent = [version, waiting, write_pace(pace), interval_s, pace.paused_until, moved]
            is_written = self._write(redis, self._keys, sent)
        self.own = self._shared = pace
        self._is_in, self._was_cut_off = True, False
        return pace

    def _look(self, redis: Redis) -> tuple[Any, bytes, float | None, int, float]:
        """Return what the server has, and its time."""
        with redis.pipeline(transaction=False) as trip:
            trip.hmget(self._keys[0], *_FIELDS)
            trip.time()
            (stored, version, next_at, answers), (seconds, micros) = trip.execute()
        now = seconds + micros / 1e6
        self._server_ahead_s = now - time.time()
        return stored, version or b"", _number(next_at), int(_number(answers) or 0), now

    def _joined(self, pace: Pace, now: float) -> Pace:
        """Return the pace for one more, who waits until all that kept to their part are back."""
        pace = begun(pace, self._rate)
        if not self._was_cut_off:
            return pace
        return replace(pace, next_at=max(pace.next_at, now + self._processes() / pace.rate))

    def _go_alone(self) -> None:
        with self._lock:
            if self._was_cut_off or self._is_closed:
                return
            self._is_in, self._was_cut_off = False, True
            own = share(self._shared, self._processes(), time.time())
            paused_until = self._shared.paused_until - self._server_ahead_s
            self.own: Pace = replace(own, paused_until=paused_until)

    def _processes(self) -> int:
        return self._told or self._counted or UNCOUNTED


def _number(text: bytes | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:  # nobody here wrote it
        return None


def _tuned(pace: Pace, now: float) -> Pace:
    """Return the pace as the next slot finds it, which nobody takes."""
    idle = now - pace.next_at > _IDLE_S
    return replace(take(pace, now), next_at=now if idle else pace.next_at)
