"""One request with its retries, at the rate that the service accepts."""

from __future__ import annotations

import math
import random
import time
from dataclasses import replace
from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING, TypeAlias

from walletframe.transport import Reply
from walletframe.wire import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from walletframe.address import WalletAddress
    from walletframe.transport import Pacer, ServiceSession

Keep: TypeAlias = "Callable[[Sequence[WalletAddress], Reply], object]"
Turn: TypeAlias = "Callable[[], int]"

CANCELLED = Outcome(Status.CANCELLED, "cancelled before it was answered")
_NOT_ASKED = Outcome(Status.CANCELLED, "not asked for, since the key was refused before")
_OF_THE_BATCH = frozenset({Status.REJECTED, Status.SERVICE_ERROR, Status.INVALID})
_ATTEMPTS = 5
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 20.0
_LOOK_S = 0.25
_GRACE_S = 5.0


class Asking:
    """Asks from several threads; a refused key, or nothing but 429, ends it for all of them.

    `deadline_s` is for one question from its first request on, 0 asks once. `keep` gets each reply
    on the thread that asked, and must not raise; `turn` numbers the requests.
    """

    def __init__(
        self,
        session: ServiceSession,
        pacer: Pacer,
        deadline_s: float,
        *,
        cancel: Event,
        keep: Keep | None = None,
        turn: Turn | None = None,
    ) -> None:
        self._session, self._pacer, self._deadline_s = session, pacer, deadline_s
        self._cancel, self._keep, self._turn = cancel, keep, turn
        self._key_refused = Event()
        self._refused_until = math.inf  # a row of 429 is put up with until then
        self._patience_s = deadline_s

    def abort(self, threads: Collection[int]) -> None:
        """Cut off what some threads, by ``threading.get_ident()``, ask at this moment."""
        self._session.abort(threads)

    def reply(self, wallets: Sequence[WalletAddress]) -> Reply:
        """Ask until there is an answer, or no sense in asking on; return the last reply.

        Several wallets are given up at once where they may fare better alone.
        """
        end = math.inf
        reply = unasked = not_answered(CANCELLED)
        attempt = 0
        while True:
            if self._key_refused.is_set():
                return not_answered(_NOT_ASKED)
            if not self._slot(end):
                break
            end = min(end, time.monotonic() + self._deadline_s)
            most_s = end - time.monotonic() if self._deadline_s else math.inf
            reply = self._attempt(wallets, most_s)
            if len(wallets) > 1 and is_of_the_batch(reply):
                break
            wait_s = _wait_s(attempt, reply)
            if wait_s is None or time.monotonic() + wait_s > end or self._cancel.wait(wait_s):
                break
            attempt += 1
        if self._cancel.is_set() and isinstance(reply.answer, Outcome):
            return Reply(reply.fetched_at, CANCELLED)
        if reply is unasked:
            said = f"429 (too many requests) to everything for {self._patience_s:.0f} s"
            why = f"not asked for: the service answered {said}"
            return not_answered(Outcome(Status.RATE_LIMITED, why))
        if self._deadline_s and time.monotonic() > end and _is(reply, Status.TIMEOUT):
            late = f"no answer within {self._deadline_s:g} s"  # and not within the last attempt
            return replace(reply, answer=Outcome(Status.TIMEOUT, late))
        return reply

    def _slot(self, end: float) -> bool:
        """Wait for a slot, as long as that makes sense."""
        while not self._cancel.is_set() and time.monotonic() <= min(end, self._refused_until):
            look_again = time.monotonic() + _LOOK_S
            if self._pacer.wait(self._cancel, min(end, self._refused_until, look_again)):
                return True
        return False

    def _attempt(self, wallets: Sequence[WalletAddress], most_s: float) -> Reply:
        turn = None if self._turn is None else self._turn()
        reply = replace(self._session.ask(wallets, most_s=most_s), turn=turn)
        if self._keep is not None:
            self._keep(wallets, reply)  # before anyone else hears of it
        if reply.key_refused:
            self._key_refused.set()
        if not _is(reply, Status.RATE_LIMITED):
            if time.monotonic() <= self._refused_until:  # else all has been given up by now
                self._refused_until = math.inf
            self._pacer.note_answer()
            return reply
        if self._refused_until == math.inf:  # the first in a row
            self._patience_s = max(self._deadline_s, (reply.retry_after_s or 0.0) + _GRACE_S)
            self._refused_until = time.monotonic() + self._patience_s
        self._pacer.note_refusal(reply.retry_after_s)
        return reply


def not_answered(outcome: Outcome) -> Reply:
    """Return the reply to what was not asked, or not asked to its end."""
    return Reply(datetime.now(UTC), outcome)


def is_of_the_batch(reply: Reply) -> bool:
    """Tell whether wallets may fare better alone than in the batch they were asked for in."""
    if not isinstance(reply.answer, Outcome) or reply.key_refused:
        return False
    status = reply.answer.status
    return status is Status.TIMEOUT or (status in _OF_THE_BATCH and not reply.passing)


def _is(reply: Reply, status: Status) -> bool:
    return isinstance(reply.answer, Outcome) and reply.answer.status is status


def _wait_s(attempt: int, reply: Reply) -> float | None:
    """Return how long to wait before the next attempt; None where there is to be none."""
    if not reply.passing:
        return None
    if _is(reply, Status.RATE_LIMITED):
        return 0.0 if reply.retry_after_s is None else reply.retry_after_s
    if attempt + 1 >= _ATTEMPTS:
        return None
    longest = min(_FIRST_WAIT_S * 2**attempt, _LONGEST_WAIT_S)
    jittered = random.uniform(longest / 2, longest)  # noqa: S311 - no secret
    return max(jittered, reply.retry_after_s or 0.0)
