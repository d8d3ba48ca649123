"""The options and the API keys of a sandbox."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, field

from walletframe.errors import SettingsError

BASES = ("private", "public")  # the kinds of keys that have their own base URL
TEST_KEY_PER_SECOND = 2
_MAX_SEED = 10**18


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """The validated numeric parameters of `walletframe.sandbox`."""

    latency_s: float = 0.0
    failure_share: float = 0.0
    seed: int = 0
    requests_per_second: float | None = None

    def __post_init__(self) -> None:
        _check_range("latency_s", self.latency_s, 0, 86_400)
        _check_range("failure_share", self.failure_share, 0, 1)
        if self.requests_per_second is not None:
            _check_range("requests_per_second", self.requests_per_second, 0.02, 1_000_000)
        try:
            object.__setattr__(self, "seed", operator.index(self.seed))
        except TypeError:
            raise SettingsError(f"seed={self.seed!r} is not valid", "use an integer") from None
        _check_range("seed", self.seed, -_MAX_SEED, _MAX_SEED)


def _check_range(name: str, value: float, minimum: float, maximum: float) -> None:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not minimum <= number <= maximum:
        hint = f"use a number from {minimum:g} to {maximum:g}"
        raise SettingsError(f"{name}={value!r} is not valid", hint)


@dataclass(frozen=True, slots=True)
class AcceptedKey:
    """An API key. A private or public key has its own base URL, and a test key can use both."""

    key: str = field(repr=False)
    kind: str
    origin: str | None = None  # the website whose scripts may read answers


# These keys are not secret. They give access only to simulated data on this machine.
_ORIGINS = {"private": None, "public": "https://notebook.example", "test": None}
SANDBOX_KEYS = {
    kind: AcceptedKey(f"wf-sandbox-{kind}-0000", kind, origin) for kind, origin in _ORIGINS.items()
}
