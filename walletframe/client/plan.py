"""Decide first: what is done for each wallet, before anything is sent.

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
    """What the caller wants of the cache.

    Attributes
    ----------
    expire_after_s : float
        How long a kept answer is fresh, in seconds.
    refresh : bool
        Ask for every wallet, whatever is kept.
    offline : bool
        Ask for none.
    stale_if_error : bool
        Let a kept answer stand in where a new one can't be had.
    """

    expire_after_s: float
    refresh: bool = False
    offline: bool = False
    stale_if_error: bool = True


@dataclass(frozen=True, slots=True)
class Step:
    """What is done for one wallet.

    Attributes
    ----------
    wallet : WalletAddress
        As asked.
    ask : bool
        Whether the service is asked.
    kept : Kept or None
        The answer to use where the service is not asked, or can't answer.
    outdated : str or None
        Why that answer is not within its time; None where it is.
    may_ask : bool
        Whether the service may be asked where that answer proves to be none.
    """

    wallet: WalletAddress
    ask: bool
    kept: Kept | None = None
    outdated: str | None = None
    may_ask: bool = True


def plan(
    wallets: Iterable[WalletAddress],
    kept: Mapping[WalletAddress, Kept],
    policy: Policy,
    now: datetime,
) -> list[Step]:
    """Decide for each wallet.

    Parameters
    ----------
    wallets : iterable of WalletAddress
        The distinct wallets, in the order asked.
    kept : mapping of WalletAddress to Kept
        What the cache holds.
    policy : Policy
        What the caller wants.
    now : datetime
        The time, in UTC.

    Returns
    -------
    list of Step
        One for each wallet, in the same order.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from walletframe.address import parse_wallets
    >>> [step] = plan(parse_wallets("ETH.0x1"), {}, Policy(3600), datetime.now(UTC))
    >>> step.ask
    True
    """
    return [_step(wallet, kept.get(wallet), policy, now) for wallet in wallets]


def missed(step: Step) -> Step:
    """Decide anew for a wallet whose kept answer can't be used.

    Parameters
    ----------
    step : Step
        What was decided before it was read.

    Returns
    -------
    Step
        As if nothing were kept.
    """
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
