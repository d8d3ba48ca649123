"""A server that may be gone: its login, its faults, and when it is asked again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

from walletframe.errors import CacheError, CacheWarning, MissingExtraError
from walletframe.forks import OwnLock
from walletframe.frameless import frameless
from walletframe.notice import notify

try:
    from redis import CredentialProvider, Redis, exceptions
    from redis.backoff import NoBackoff
    from redis.retry import Retry
except ImportError as _fault:
    raise MissingExtraError("redis", "a cache or a pace in a Redis or Valkey") from _fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from walletframe.settings import ServerUrl

T = TypeVar("T")

FAULTS = (exceptions.RedisError, OSError)
_TIMEOUT_S = 2.0
_QUICK_S = 0.5
_SOON_S, _LATER_S = 1, 10
_SAID: dict[type[Exception], str] = {
    exceptions.AuthenticationError: "it refuses the login",
    exceptions.TimeoutError: f"no answer within {_TIMEOUT_S:g} s",
    exceptions.ConnectionError: "it can't be reached",
    Exception: "it refuses a command",
}


class _Unseen(str):
    """A text that the frames of redis-py hold, and no traceback with locals shows."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"


class _Login(CredentialProvider):
    """The login, which redis-py would keep as plain text."""

    def __init__(self, url: ServerUrl) -> None:
        self._url = url

    def get_credentials(self) -> tuple[str] | tuple[str, str]:
        *name, password = map(_Unseen, self._url.login() or ("",))
        return (name[0], password) if name else (password,)


class Server:
    """A Redis or Valkey that is told of once where it is gone, and is asked again later.

    All processes ask it again at the same moments of the clock, full seconds, so that they come
    back together; after one that hung, at every tenth. `without` says what is lost meanwhile.
    """

    def __init__(self, url: ServerUrl, without: str) -> None:
        self._place, self._without = url.place, without
        self._again_at = 0.0
        self._is_told = False
        self._lock = OwnLock()
        self.redis: Redis = Redis.from_url(
            url.place,
            credential_provider=_Login(url) if url.login() else None,
            socket_timeout=_TIMEOUT_S,
            socket_connect_timeout=_TIMEOUT_S,
            retry=Retry(NoBackoff(), 1, supported_errors=(exceptions.ConnectionError,)),
            retry_on_error=[exceptions.ConnectionError],  # one that was idle may have been cut
        )

    @frameless
    def ask(self, work: Callable[[Redis], T]) -> T | None:
        """Return what some work returns, which may be done twice; None where the server is gone."""
        now, begun = time.time(), time.monotonic()
        if 0 < self._again_at - now <= _LATER_S:
            return None
        if self._again_at:
            self._again_at = now + _TIMEOUT_S  # one thread tries
        try:
            result = work(self.redis)
        except FAULTS as fault:
            said = _said(fault)
        else:
            self._again_at = 0.0
            return result
        period_s = _SOON_S if time.monotonic() - begun < _QUICK_S else _LATER_S
        self._again_at = (time.time() // period_s + 1) * period_s
        self._tell(said)
        return None

    @frameless
    def demand(self, work: Callable[[Redis], T]) -> T:
        """Return what some work returns; a CacheError where the server is gone."""
        try:
            return work(self.redis)
        except FAULTS as fault:
            said = self._without.format(place=self._place, said=_said(fault))
        raise CacheError(said, hint="start it, or name another: WALLETFRAME_CACHE")

    def script(self, text: str) -> Callable[..., Any]:
        """Return a script of Lua as a function of the connection, its keys and its arguments."""
        script = self.redis.register_script(text)
        return lambda redis, keys, args: script(keys, args, redis)

    def close(self) -> None:
        """Close the connections; the next use opens them again."""
        self.redis.close()

    def _tell(self, said: str) -> None:
        with self._lock:
            was_told, self._is_told = self._is_told, True
        if not was_told:
            notify(self._without.format(place=self._place, said=said), CacheWarning)


def _said(fault: Exception) -> str:
    said = next(said for kind, said in _SAID.items() if isinstance(fault, kind))
    return f"{said}: {type(fault).__name__}"
