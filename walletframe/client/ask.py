"""One question, asked again where that may help, at the pace that the service takes."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime
from itertools import count
from threading import Event
from typing import TYPE_CHECKING, TypeAlias

from walletframe.transport import Reply
from walletframe.wire import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from walletframe.address import WalletAddress
    from walletframe.transport import Pacer, ServiceSession

Keep: TypeAlias = "Callable[[Sequence[WalletAddress], Reply], object]"

_NOT_ASKED = Outcome(Status.CANCELLED, "not asked for, since the key was refused before")
_CANCELLED = Outcome(Status.CANCELLED, "cancelled before it was answered")
_OF_THE_BATCH = frozenset({Status.REJECTED, Status.SERVICE_ERROR, Status.INVALID})
_ATTEMPTS = 5
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 20.0


class Asking:
    """Asks from several threads; a refused key ends it for all of them.

    Parameters
    ----------
    session : ServiceSession
        Whom to ask.
    pacer : Pacer
        When.
    deadline_s : float
        How long one question may take from its first request, in seconds.
    cancel : Event
        Ends it all.
    keep : callable, optional
        Gets the wallets and the reply of each request, on the thread that asked, before anyone
        else hears of it; it must not raise.

    Attributes
    ----------
    cancel : Event
        The same.
    """

    def __init__(
        self,
        session: ServiceSession,
        pacer: Pacer,
        deadline_s: float,
        cancel: Event,
        keep: Keep | None = None,
    ) -> None:
        self.cancel = cancel
        self._keep = keep
        self._session, self._pacer = session, pacer
        self._deadline_s = deadline_s
        self._key_refused = Event()

    def abort(self, threads: Collection[int]) -> None:
        """Cut off what some threads ask at this moment.

        Parameters
        ----------
        threads : collection of int
            The threads, by ``threading.get_ident()``.
        """
        self._session.abort(threads)

    def reply(self, wallets: Sequence[WalletAddress]) -> Reply:
        """Ask until there is an answer, or no sense in asking on.

        Parameters
        ----------
        wallets : sequence of WalletAddress
            What to ask for in one request; several are given up at once where they may fare
            better alone.

        Returns
        -------
        Reply
            The last one; nothing on the way raises.
        """
        try:
            return self._reply(wallets)
        except Exception as fault:  # noqa: BLE001 - else nobody would hear of these wallets again
            outcome = Outcome(Status.INVALID, f"an answer beyond words: {type(fault).__name__}")
            return Reply(datetime.now(UTC), outcome)

    def _reply(self, wallets: Sequence[WalletAddress]) -> Reply:
        end = float("inf")
        reply = Reply(datetime.now(UTC), _CANCELLED)
        for attempt in count():
            if self._key_refused.is_set():
                return Reply(datetime.now(UTC), _NOT_ASKED)
            if not self._pacer.wait(self.cancel, end):
                break
            end = min(end, time.monotonic() + self._deadline_s)
            reply = self._attempt(wallets)
            if len(wallets) > 1 and is_of_the_batch(reply):
                break
            wait_s = _wait_s(attempt, reply)
            if wait_s is None or time.monotonic() + wait_s > end or self.cancel.wait(wait_s):
                break
        return Reply(reply.fetched_at, _CANCELLED) if self._is_cut_off(reply) else reply

    def _attempt(self, wallets: Sequence[WalletAddress]) -> Reply:
        reply = self._session.ask(wallets)
        if self._keep is not None:
            self._keep(wallets, reply)
        if reply.key_refused:
            self._key_refused.set()
        if _is_refused(reply):
            self._pacer.tell_refused(reply.retry_after_s)
        else:
            self._pacer.tell_answered()
        return reply

    def _is_cut_off(self, reply: Reply) -> bool:
        return self.cancel.is_set() and isinstance(reply.answer, Outcome)


def is_of_the_batch(reply: Reply) -> bool:
    """Tell whether wallets may fare better alone than in the batch they were asked for in.

    Parameters
    ----------
    reply : Reply
        What came of the batch.

    Returns
    -------
    bool
        False for an answer, and for troubles that have nothing to do with how many were asked.
    """
    if not isinstance(reply.answer, Outcome) or reply.key_refused:
        return False
    status = reply.answer.status
    return status is Status.TIMEOUT or (status in _OF_THE_BATCH and not reply.passing)


def _is_refused(reply: Reply) -> bool:
    return isinstance(reply.answer, Outcome) and reply.answer.status is Status.RATE_LIMITED


def _wait_s(attempt: int, reply: Reply) -> float | None:
    """Return how long to wait before the next attempt; None where there is to be none."""
    if not reply.passing:
        return None
    if _is_refused(reply):
        return 0.0 if reply.retry_after_s is None else reply.retry_after_s
    if attempt + 1 >= _ATTEMPTS:
        return None
    longest = min(_FIRST_WAIT_S * 2**attempt, _LONGEST_WAIT_S)
    jittered = random.uniform(longest / 2, longest)  # noqa: S311 - no secret
    return max(jittered, reply.retry_after_s or 0.0)
