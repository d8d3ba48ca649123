"""The gate before the endpoint: keys, the bases they belong to, and limits.

Decides whether a request may pass and knows nothing about wallets. The order: the IP address's
limit, the key, its base, the key's limit.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import TYPE_CHECKING

from limits import RateLimitItem, RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from walletframe.service import problems
from walletframe.service.options import TEST_KEY_PER_SECOND
from walletframe.service.problems import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from walletframe.service.keys import Base, SandboxKey
    from walletframe.service.problems import Problem

_LONGEST_WINDOW_S = 50


class Gate:
    """Lets a request pass, or refuses it.

    Parameters
    ----------
    requests_per_second : float or None
        Limit for each IP address and for each key; None for none but the test key's.
    keys : iterable of SandboxKey
        Those that may pass.
    """

    def __init__(self, requests_per_second: float | None, keys: Iterable[SandboxKey]) -> None:
        self._keys = {known.key: known for known in keys}
        self._storage = MemoryStorage()
        self._limiter = MovingWindowRateLimiter(self._storage)
        self._limit = None if requests_per_second is None else _limit(requests_per_second)
        self._test_limit = RateLimitItemPerSecond(TEST_KEY_PER_SECOND)

    def admit(self, text: str | None, base: Base, ip_address: str) -> SandboxKey:
        """Let a request pass, or refuse it.

        Parameters
        ----------
        text : str or None
            The key as sent.
        base : Base
            The base address that was asked.
        ip_address : str
            Who asks.

        Returns
        -------
        SandboxKey
            What is known of the key.

        Raises
        ------
        RefusedError
            With status 401, 403 or 429.
        """
        self._count(self._limit, problems.LIMITED_IP, "ip", ip_address)
        key = self.find(text)
        if key is None:
            raise RefusedError(problems.UNKNOWN_KEY if text else problems.NO_KEY)
        if base not in key.bases:
            raise RefusedError(problems.WRONG_BASE)
        limit = self._test_limit if key.kind == "test" else self._limit
        self._count(limit, problems.LIMITED_KEY, "key", key.key)
        return key

    def find(self, text: str | None) -> SandboxKey | None:
        """Return what is known of a key.

        Parameters
        ----------
        text : str or None
            The key as sent.

        Returns
        -------
        SandboxKey or None
            None for a missing or an unknown key.
        """
        return self._keys.get(text or "")

    def close(self) -> None:
        """Wait for the thread in which the library `limits` forgets old requests."""
        self._storage.timer.join()

    def _count(self, limit: RateLimitItem | None, problem: Problem, *who: str) -> None:
        if limit is None or self._limiter.hit(limit, *who):
            return
        wait_s = self._limiter.get_window_stats(limit, *who).reset_time - time.time()
        raise RefusedError(problem, retry_after_s=max(1, math.ceil(wait_s)))


def _limit(requests_per_second: float) -> RateLimitItem:
    rate = Fraction(requests_per_second).limit_denominator(_LONGEST_WINDOW_S)
    return RateLimitItemPerSecond(rate.numerator, rate.denominator)
