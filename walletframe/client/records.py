"""What becomes of one step: the record for the frames, and what is worth keeping.

Pure, like the plan: a reply goes in, a value comes out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from walletframe.frames import Source, WalletRecord
from walletframe.transport import Kept
from walletframe.wire import Outcome, Status, read_answer

if TYPE_CHECKING:
    from walletframe.client.plan import Step
    from walletframe.transport import Reply

_CANCELLED = Outcome(Status.CANCELLED, "cancelled before its turn came")
_NOT_CACHED = Outcome(Status.NOT_CACHED, "not in the cache, and the service was not to be asked")


@dataclass(frozen=True, slots=True)
class Resolved:
    """One step, resolved.

    Attributes
    ----------
    record : WalletRecord
        What goes into the frames.
    keep : Kept or None
        An answer that is ok, to be kept.
    strangers : list of str
        Wallets in the answer that nobody asked for.
    """

    record: WalletRecord
    keep: Kept | None = None
    strangers: list[str] = field(default_factory=list)


def resolve_kept(step: Step, service: str, *, error: str | None = None) -> Resolved:
    """Resolve a step from what is kept.

    Parameters
    ----------
    step : Step
        The step; without anything kept, its wallet is ``not_cached``.
    service : str
        The service's name.
    error : str, optional
        Why the service could not give a newer answer.

    Returns
    -------
    Resolved
        With the source ``cache``, or ``stale`` where the answer is past its time.
    """
    kept = step.kept
    if kept is None:
        return Resolved(WalletRecord(step.wallet, _NOT_CACHED, service))
    outcome = read_answer(kept.body, [step.wallet]).outcomes[0]
    source = Source.CACHE if step.fresh else Source.STALE
    if not step.fresh and error is None:
        error = "out of date, and the service was not to be asked"
    return Resolved(
        WalletRecord(step.wallet, outcome, service, kept.fetched_at, source, error),
    )


def resolve_cancelled(step: Step, service: str) -> Resolved:
    """Resolve a step whose turn never came.

    Parameters
    ----------
    step : Step
        The step.
    service : str
        The service's name.

    Returns
    -------
    Resolved
        With the status ``cancelled``.
    """
    return Resolved(WalletRecord(step.wallet, _CANCELLED, service))


def resolve_reply(step: Step, reply: Reply, service: str) -> Resolved:
    """Resolve a step from the service's reply.

    Parameters
    ----------
    step : Step
        The step; what it has kept stands in where the reply is not ok.
    reply : Reply
        What the service said.
    service : str
        The service's name.

    Returns
    -------
    Resolved
        With the answer to keep only where it is ok.
    """
    body = reply.answer
    if isinstance(body, Outcome):
        if step.kept is not None:
            return resolve_kept(step, service, error=f"not refreshed: {body.error}")
        return Resolved(WalletRecord(step.wallet, body, service))
    answer = read_answer(body, [step.wallet])
    outcome = answer.outcomes[0]
    if outcome.status is Status.OK:
        record = WalletRecord(step.wallet, outcome, service, reply.fetched_at, Source.SERVICE)
        return Resolved(record, Kept(body, reply.fetched_at), answer.strangers)
    if step.kept is not None:
        older = resolve_kept(step, service, error=f"not refreshed: {outcome.error}")
        return Resolved(older.record, strangers=answer.strangers)
    record = WalletRecord(step.wallet, outcome, service, reply.fetched_at, Source.SERVICE)
    return Resolved(record, strangers=answer.strangers)
