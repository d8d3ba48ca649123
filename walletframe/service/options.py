"""How a sandbox behaves: latency, failures, limits and the seed, as one checked value."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass

from walletframe.errors import SettingsError

TEST_KEY_PER_SECOND = 2
_LARGEST_SEED = 10**18
_LOWEST_RATE, _HIGHEST_RATE = 0.02, 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """How a sandbox behaves.

    Parameters
    ----------
    latency_s : float, default 0.0
        Seconds that an answer takes for each wallet asked for.
    failure_share : float, default 0.0
        Share of the wallet answers that are failed, from 0 to 1.
    seed : int, default 0
        What the simulated holdings and the failures are drawn from, at most 10**18.
    requests_per_second : float, optional
        Limit for each IP address and each key, from 0.02 to 1,000,000; None for no limit, except
        the fixed one of the test key.

    Raises
    ------
    SettingsError
        Where a value is out of range.
    """

    latency_s: float = 0.0
    failure_share: float = 0.0
    seed: int = 0
    requests_per_second: float | None = None

    def __post_init__(self) -> None:
        _check("latency_s", self.latency_s, 0, 86_400)
        _check("failure_share", self.failure_share, 0, 1)
        if self.requests_per_second is not None:
            _check("requests_per_second", self.requests_per_second, _LOWEST_RATE, _HIGHEST_RATE)
        try:
            object.__setattr__(self, "seed", operator.index(self.seed))
        except TypeError:
            raise SettingsError(f"seed: {self.seed!r}", hint="a whole number") from None
        _check("seed", self.seed, -_LARGEST_SEED, _LARGEST_SEED)


def _check(name: str, value: float, low: float, high: float) -> None:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not low <= number <= high:
        raise SettingsError(f"{name}: {value!r}", hint=f"a number from {low:g} to {high:g}")
