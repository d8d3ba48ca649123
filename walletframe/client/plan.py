"""Decide, for each wallet, whether to ask for it, and what the answer makes of it.

Pure: no sockets, no files, no clock of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from walletframe.chains import doubt
from walletframe.frames import Source, WalletRecord
from walletframe.transport import Kept
from walletframe.wire import Outcome, Status, read_answer, unforeseen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from walletframe.address import WalletAddress
    from walletframe.transport import Reply

_OTHER_CLOCKS_S = 60.0  # how far another computer's clock may be ahead
_NOT_CACHED = Outcome(Status.NOT_CACHED, "not in the cache, and no request was sent")
_SAID_BY_THE_SERVICE = frozenset(
    {Status.FAILED, Status.REJECTED, Status.SERVICE_ERROR, Status.INVALID, Status.MISSING}
)


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


class Resolved(NamedTuple):
    """One step's record, an answer to keep where it is ok, and wallets that nobody asked for."""

    record: WalletRecord
    keep: Kept | None
    strangers: list[str]


def plan(
    wallets: Iterable[WalletAddress],
    kept: Mapping[WalletAddress, Kept],
    policy: Policy,
    now: datetime,
) -> list[Step]:
    """Decide for each of some distinct wallets, in their order."""
    return [_step(wallet, kept.get(wallet), policy, now) for wallet in wallets]


def _step(wallet: WalletAddress, kept: Kept | None, policy: Policy, now: datetime) -> Step:
    outdated = None
    if kept is not None:
        age_s = (now - kept.fetched_at).total_seconds()
        if age_s < -_OTHER_CLOCKS_S:
            outdated = "dated ahead of this computer's clock"
        elif max(age_s, 0.0) >= policy.expire_after_s:
            outdated = "out of date"
    if policy.offline:
        return Step(wallet, ask=False, kept=kept, outdated=outdated, may_ask=False)
    if kept is not None and outdated is None and not policy.refresh:
        return Step(wallet, ask=False, kept=kept)
    return Step(wallet, ask=True, kept=kept if policy.stale_if_error else None, outdated=outdated)


def resolve_kept(step: Step, service: str) -> WalletRecord | None:
    """Resolve a step without asking; None where what is kept is not ok, and asking is allowed."""
    record = None
    if step.kept is not None:
        error = step.outdated and f"{step.outdated}, and no request was sent"
        record = _kept_record(step, step.kept, service, error)
    if record is None and not step.may_ask:
        return WalletRecord(step.wallet, _NOT_CACHED, service)
    return record


def _kept_record(step: Step, kept: Kept, service: str, error: str | None) -> WalletRecord | None:
    """Return the record of an answer that is kept; None where it proves not to be ok.

    An error says why there is none that is newer: then it is stale, whatever its age.
    """
    outcome = read_answer(kept.body, [step.wallet]).outcomes[0]
    if outcome.status is not Status.OK:
        return None
    source = Source.CACHE if error is None else Source.STALE
    return WalletRecord(step.wallet, outcome, service, kept.fetched_at, source, error)


def resolve_reply(step: Step, reply: Reply, service: str) -> Resolved:
    """Resolve a step from the service's reply; what is kept stands in where that is not ok."""
    try:
        return _resolved(step, reply, service)
    except Exception as fault:  # noqa: BLE001 - one wallet's answer is no reason to lose the others
        return _resolved(step, replace(reply, answer=unforeseen(fault)), service)


def _resolved(step: Step, reply: Reply, service: str) -> Resolved:
    body = reply.answer
    strangers: list[str] = []
    if isinstance(body, Outcome):
        record = WalletRecord(step.wallet, _doubted(body, step.wallet, reply), service)
    else:
        outcomes, strangers = read_answer(body, [step.wallet])
        outcome = _doubted(outcomes[0], step.wallet, reply)
        record = WalletRecord(step.wallet, outcome, service, reply.fetched_at, Source.SERVICE)
        if outcome.status is Status.OK:
            return Resolved(record, Kept(body, reply.fetched_at, reply.turn), strangers)
    if step.kept is not None:
        error = f"not refreshed: {record.outcome.error}"
        record = _kept_record(step, step.kept, service, error) or record
    return Resolved(record, None, strangers)


def _doubted(outcome: Outcome, wallet: WalletAddress, reply: Reply) -> Outcome:
    """Say behind the service's own reason that the blockchain may be mistaken."""
    if reply.key_refused or outcome.status not in _SAID_BY_THE_SERVICE:
        return outcome
    said = doubt(wallet.blockchain)
    return replace(outcome, error=f"{outcome.error}; {said}") if said else outcome
