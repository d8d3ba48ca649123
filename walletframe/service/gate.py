"""Access control by API key, base URL and rate limit, and the answers to refused requests.

The service's document shows neither error codes nor error bodies, so the sandbox defines them. No
body quotes the request, since the request contains the key.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec
from fastapi import HTTPException
from limits import RateLimitItem, RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from walletframe.service.options import TEST_KEY_PER_SECOND

if TYPE_CHECKING:
    from collections.abc import Iterable

    from walletframe.service.options import SandboxKey

_LONGEST_WINDOW_S = 50


class Problem(msgspec.Struct, frozen=True):
    """An error, with an HTTP status, a code for programs and a message for people."""

    status: int
    code: str
    message: str


class ProblemAnswer(msgspec.Struct, frozen=True):
    """The body of every answer to a refused request."""

    error: Problem


NO_ADDRESS = Problem(400, "no_address", "The query parameter `address` is missing.")
NO_KEY = Problem(401, "no_key", "The query parameter apiKey is missing.")
UNKNOWN_KEY = Problem(401, "unknown_key", "The API key is not known.")
WRONG_BASE = Problem(403, "wrong_base", "The API key is not for this base URL.")
NO_SUCH_PATH = Problem(404, "no_such_path", "This path does not exist.")
NOT_ALLOWED = Problem(405, "not_allowed", "Only GET is allowed here.")
WRONG_HOST = Problem(421, "wrong_host", "The Host header is not for this machine.")
LIMITED_IP = Problem(429, "limited_ip", "Too many requests from this IP address.")
LIMITED_KEY = Problem(429, "limited_key", "Too many requests with this API key.")
BROKEN = Problem(500, "broken", "The sandbox could not answer; its ledger may be faulty.")


def http_error(problem: Problem, headers: dict[str, str] | None = None) -> HTTPException:
    """Return an exception for the application's error handler."""
    return HTTPException(problem.status, problem, headers)


class Gate:
    """Access control by API key, base URL and rate limit."""

    def __init__(self, requests_per_second: float | None, keys: Iterable[SandboxKey]) -> None:
        self._keys = {known.key: known for known in keys}
        self._storage = MemoryStorage()
        self._limiter = MovingWindowRateLimiter(self._storage)
        self._limit: RateLimitItem | None = None
        if requests_per_second is not None:
            rate = Fraction(requests_per_second).limit_denominator(_LONGEST_WINDOW_S)
            self._limit = RateLimitItemPerSecond(rate.numerator, rate.denominator)
        self._test_limit = RateLimitItemPerSecond(TEST_KEY_PER_SECOND)

    def check_access(self, key_text: str | None, base_kind: str, ip_address: str) -> None:
        """Raise an HTTP error for a wrong key, a wrong base URL or too many requests."""
        self._enforce_limit(self._limit, LIMITED_IP, "ip", ip_address)
        key = self.find_key(key_text)
        if key is None:
            raise http_error(UNKNOWN_KEY if key_text else NO_KEY)
        if key.kind not in (base_kind, "test"):
            raise http_error(WRONG_BASE)
        limit = self._test_limit if key.kind == "test" else self._limit
        self._enforce_limit(limit, LIMITED_KEY, "key", key.key)

    def find_key(self, key_text: str | None) -> SandboxKey | None:
        """Return the key with this text, or None for a missing or unknown text."""
        return self._keys.get(key_text or "")

    def close(self) -> None:
        """Wait for the thread of the library `limits` that removes old requests."""
        self._storage.timer.join()

    def _enforce_limit(self, limit: RateLimitItem | None, problem: Problem, *caller: str) -> None:
        if limit is None or self._limiter.hit(limit, *caller):
            return
        wait_s = self._limiter.get_window_stats(limit, *caller).reset_time - time.time()
        raise http_error(problem, {"Retry-After": str(max(1, math.ceil(wait_s)))})
