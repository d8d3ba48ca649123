"""Decide first, for each wallet: answer from the cache, or send a request.

Pure: no sockets, no files, no clock of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from walletframe.address import WalletAddress
    from walletframe.transport import Kept

_OTHER_CLOCKS_S = 60.0  # how far another computer's clock may be ahead
_OUT_OF_DATE = "out of date"
_AHEAD = "dated ahead of this computer's clock"


@dataclass(frozen=True, slots=True)
class Policy:
    """What the caller wants of the cache: how long an answer is fresh, and whether to ask."""

    expire_after_s: float
    refresh: bool = False  # ask for every wallet, whatever is kept
    offline: bool = False  # ask for none
    stale_if_error: bool = True  # let a kept answer stand in where a new one can't be had


@dataclass(frozen=True, slots=True)
class Step:
    """What is done for one wallet: ask for it, or use the answer that is kept, or both."""

    wallet: WalletAddress
    ask: bool
    kept: Kept | None = None  # used where the service is not asked, or can't answer
    outdated: str | None = None  # why that answer is not fresh
    may_ask: bool = True  # where it proves to be none


def plan(
    wallets: Iterable[WalletAddress],
    kept: Mapping[WalletAddress, Kept],
    policy: Policy,
    now: datetime,
) -> list[Step]:
    """Decide for each of some distinct wallets, in their order."""
    return [_step(wallet, kept.get(wallet), policy, now) for wallet in wallets]


def missed(step: Step) -> Step:
    """Decide anew for a wallet whose kept answer can't be used: as if nothing were kept."""
    return replace(step, ask=step.may_ask, kept=None, outdated=None)


def _step(wallet: WalletAddress, kept: Kept | None, policy: Policy, now: datetime) -> Step:
    outdated = None if kept is None else _outdated(kept, policy, now)
    if policy.offline:
        return Step(wallet, ask=False, kept=kept, outdated=outdated, may_ask=False)
    if kept is not None and outdated is None and not policy.refresh:
        return Step(wallet, ask=False, kept=kept)
    return Step(wallet, ask=True, kept=kept if policy.stale_if_error else None, outdated=outdated)


def _outdated(kept: Kept, policy: Policy, now: datetime) -> str | None:
    age_s = (now - kept.fetched_at) / timedelta(seconds=1)
    if age_s < -_OTHER_CLOCKS_S:
        return _AHEAD
    return None if max(age_s, 0.0) < policy.expire_after_s else _OUT_OF_DATE
