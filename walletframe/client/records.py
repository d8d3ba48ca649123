"""The result of one step: the record for the frames, and the answer to cache.

Pure, like the plan: a reply goes in, a value comes out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from walletframe.chains import doubt
from walletframe.frames import Source, WalletRecord
from walletframe.transport import Kept
from walletframe.wire import Outcome, Status, read_answer, unforeseen

if TYPE_CHECKING:
    from walletframe.address import WalletAddress
    from walletframe.client.plan import Step
    from walletframe.transport import Reply

_CANCELLED = Outcome(Status.CANCELLED, "cancelled before its turn came")
_SAID_BY_THE_SERVICE = frozenset(
    {Status.FAILED, Status.REJECTED, Status.SERVICE_ERROR, Status.INVALID, Status.MISSING}
)
_NOT_CACHED = Outcome(Status.NOT_CACHED, "not in the cache, and no request was sent")


@dataclass(frozen=True, slots=True)
class Resolved:
    """One step's record, an answer to keep where it is ok, and wallets that nobody asked for."""

    record: WalletRecord
    keep: Kept | None = None
    strangers: list[str] = field(default_factory=list)


def resolve_kept(step: Step, service: str) -> Resolved | None:
    """Resolve a step from what is kept; None where that proves not to be ok, and so is none."""
    if step.kept is None:
        return Resolved(WalletRecord(step.wallet, _NOT_CACHED, service))
    outdated = step.outdated and f"{step.outdated}, and no request was sent"
    return _older(step, step.kept, service, outdated)


def _older(step: Step, kept: Kept, service: str, error: str | None) -> Resolved | None:
    outcome = read_answer(kept.body, [step.wallet]).outcomes[0]
    if outcome.status is not Status.OK:
        return None
    source = Source.CACHE if step.outdated is None else Source.STALE
    return Resolved(
        WalletRecord(step.wallet, outcome, service, kept.fetched_at, source, error),
    )


def resolve_cancelled(step: Step, service: str) -> Resolved:
    """Resolve a step whose turn never came."""
    return Resolved(WalletRecord(step.wallet, _CANCELLED, service))


def resolve_reply(step: Step, reply: Reply, service: str) -> Resolved:
    """Resolve a step from the service's reply; what is kept stands in where that is not ok."""
    try:
        return _resolved(step, reply, service)
    except Exception as fault:  # noqa: BLE001 - one wallet's answer is no reason to lose the others
        return _resolved(step, replace(reply, answer=unforeseen(fault)), service)


def _resolved(step: Step, reply: Reply, service: str) -> Resolved:
    body = reply.answer
    if isinstance(body, Outcome):
        record = WalletRecord(step.wallet, _doubted(body, step.wallet, reply), service)
        return _stood_in(step, Resolved(record), service)
    answer = read_answer(body, [step.wallet])
    outcome = _doubted(answer.outcomes[0], step.wallet, reply)
    record = WalletRecord(step.wallet, outcome, service, reply.fetched_at, Source.SERVICE)
    if outcome.status is Status.OK:
        return Resolved(record, Kept(body, reply.fetched_at, reply.turn), answer.strangers)
    return _stood_in(step, Resolved(record, strangers=answer.strangers), service)


def _stood_in(step: Step, failed: Resolved, service: str) -> Resolved:
    """Let what is kept stand in where the service has not given an answer that is ok."""
    error = f"not refreshed: {failed.record.outcome.error}"
    older = step.kept and _older(step, step.kept, service, error)
    return replace(older, strangers=failed.strangers) if older else failed


def _doubted(outcome: Outcome, wallet: WalletAddress, reply: Reply) -> Outcome:
    """Say behind the service's own reason that the blockchain may be mistaken."""
    if reply.key_refused or outcome.status not in _SAID_BY_THE_SERVICE:
        return outcome
    said = doubt(wallet.blockchain)
    return replace(outcome, error=f"{outcome.error}; {said}") if said else outcome
