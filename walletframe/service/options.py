"""The options of a sandbox, and its keys, one of each kind."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, field

from walletframe.errors import SettingsError

BASES = ("private", "public")  # the kinds of keys with their own base address
TEST_KEY_PER_SECOND = 2
_LARGEST_SEED = 10**18
_LOWEST_RATE, _HIGHEST_RATE = 0.02, 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """The numeric parameters of `walletframe.sandbox`, checked."""

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
            raise SettingsError(f"seed can't be {self.seed!r}", "use a whole number") from None
        _check("seed", self.seed, -_LARGEST_SEED, _LARGEST_SEED)


def _check(name: str, value: float, low: float, high: float) -> None:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not low <= number <= high:
        hint = f"use a number from {low:g} to {high:g}"
        raise SettingsError(f"{name} can't be {value!r}", hint)


@dataclass(frozen=True, slots=True)
class SandboxKey:
    """A key for the base address of its kind (test: for both), with an optional CORS origin."""

    key: str = field(repr=False)
    kind: str
    domain: str | None = None  # the origin of the website that may read the answers


# These keys are public, and give access only to simulated data on this machine.
_DOMAINS = {"private": None, "public": "https://notebook.example", "test": None}
SANDBOX_KEYS = {
    kind: SandboxKey(f"wf-sandbox-{kind}-0000", kind, domain) for kind, domain in _DOMAINS.items()
}
