"""The stream of a fetch's results, from the cache or from the service."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count, islice
from typing import TYPE_CHECKING, NamedTuple

from walletframe.chains import unknown_blockchain_message
from walletframe.client.problems import AnswerProblemCounts
from walletframe.frames.assembly import WalletRecord
from walletframe.frames.schema import AnswerSource
from walletframe.transport import AnswerStore, CachedAnswer, Reply
from walletframe.wire.answer import read_answer
from walletframe.wire.outcome import Outcome, Status, outcome_of_exception

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from walletframe.address.forms import WalletAddress
    from walletframe.client.workers import RequestWorkers
    from walletframe.settings.values import Settings

_PENDING_PER_WORKER = 4
_CLOCK_TOLERANCE_S = 60.0  # how far the clock of another computer may be ahead
_CANCELLED = Outcome(Status.CANCELLED, "cancelled before it was requested")
_NOT_CACHED = Outcome(Status.NOT_CACHED, "not in the cache, and no request was sent")
_SERVICE_STATUSES = frozenset(
    {Status.FAILED, Status.REJECTED, Status.SERVICE_ERROR, Status.INVALID, Status.MISSING}
)


class CachePolicy(NamedTuple):
    """Options that decide whether a fetch uses a cached answer or sends a request."""

    refresh: bool = False  # request every wallet, even if its answer is cached
    offline: bool = False  # send no requests
    stale_if_error: bool = True  # use a cached answer, even an old one, if a request fails


class WalletResult(NamedTuple):
    """The result for one wallet."""

    position: int  # in the list of wallets
    record: WalletRecord
    answer: CachedAnswer | None = None  # the answer to store in the cache, if there is one


class ResultStream:
    """The results of one fetch. Requests are queued only while results are read."""

    def __init__(
        self, store: AnswerStore, policy: CachePolicy, workers: RequestWorkers, settings: Settings
    ) -> None:
        self.key_rejected: bool = False
        self.problems: AnswerProblemCounts = AnswerProblemCounts()
        self._store, self._policy, self._workers = store, policy, workers
        self._batch_size, self._expire_after_s = settings.batch_size, settings.expire_after_s
        self._max_pending = settings.workers * settings.batch_size * _PENDING_PER_WORKER
        self._positions = count()
        self._in_flight: dict[int, tuple[WalletAddress, CachedAnswer | None]] = {}

    def close(self) -> None:
        """Send no more requests, and abandon requests in flight."""
        self._workers.stop()
        self.problems.count_problems(None, self._workers.unrequested)

    def results(self, chunks: Iterable[list[WalletAddress]]) -> Iterator[WalletResult | None]:
        """Yield the result of each wallet in any order, and None while waiting for replies."""
        for chunk in chunks:
            if self._workers.cancel.is_set():
                yield from map(self._cancelled_result, chunk, self._positions)
                continue
            cached, now = self._store.read_answers(chunk), datetime.now(UTC)
            requested: dict[int, WalletAddress] = {}
            for wallet, position in zip(chunk, self._positions, strict=False):
                record = self._record_without_request(wallet, cached.get(wallet), now)
                if record is None:
                    requested[position] = wallet
                else:
                    self.problems.count_problems(record, [])
                    yield WalletResult(position, record)
            for start in range(0, len(requested), self._batch_size):
                batch = dict(islice(requested.items(), start, start + self._batch_size))
                yield from self._receive_results(max_pending=self._max_pending - len(batch))
                if self._workers.cancel.is_set():
                    yield from map(self._cancelled_result, batch.values(), batch)
                    continue
                stale = cached if self._policy.stale_if_error else {}
                for position, wallet in batch.items():
                    self._in_flight[position] = wallet, stale.get(wallet)
                self._workers.enqueue(batch)
            if not chunk:
                yield from islice(self._receive_results(), 1)
        yield from self._receive_results()

    def _cancelled_result(self, wallet: WalletAddress, position: int) -> WalletResult:
        return WalletResult(position, WalletRecord(wallet, _CANCELLED, self._store.service))

    def _record_without_request(
        self, wallet: WalletAddress, cached: CachedAnswer | None, now: datetime
    ) -> WalletRecord | None:
        stale_reason = None
        if cached is not None:
            age_s = (now - cached.fetched_at).total_seconds()
            if age_s < -_CLOCK_TOLERANCE_S:
                stale_reason = "dated in the future"
            elif max(age_s, 0.0) >= self._expire_after_s:
                stale_reason = "out of date"
        if self._policy.offline:
            error = stale_reason and f"the cached answer is {stale_reason}, and no request was sent"
            record = self._record_of_cached(wallet, cached, error)
            return record or WalletRecord(wallet, _NOT_CACHED, self._store.service)
        if stale_reason or self._policy.refresh:
            return None
        return self._record_of_cached(wallet, cached, None)

    def _record_of_cached(
        self, wallet: WalletAddress, cached: CachedAnswer | None, error: str | None
    ) -> WalletRecord | None:
        """Return the record of an ok cached answer, or None. With an `error`, it is stale."""
        if cached is None:
            return None
        outcome = read_answer(cached.body, [wallet]).outcomes[0]
        if outcome.status is not Status.OK:
            return None
        source = AnswerSource.CACHE if error is None else AnswerSource.STALE
        return WalletRecord(wallet, outcome, self._store.service, cached.fetched_at, source, error)

    def _receive_results(self, *, max_pending: int = 0) -> Iterator[WalletResult | None]:
        for arrival in self._workers.receive_replies(max_pending):
            if arrival is None:
                yield None
                continue
            position, reply = arrival
            self.key_rejected |= reply.key_rejected
            wallet, cached = self._in_flight.pop(position)
            try:
                result, unrequested = self._result_and_unrequested(position, wallet, cached, reply)
            except Exception as fault:  # noqa: BLE001 - other answers must not be lost
                broken = reply._replace(answer=outcome_of_exception(fault))
                result, unrequested = self._result_and_unrequested(position, wallet, cached, broken)
            self.problems.count_problems(result.record, unrequested)
            yield result

    def _result_and_unrequested(
        self, position: int, wallet: WalletAddress, cached: CachedAnswer | None, reply: Reply
    ) -> tuple[WalletResult, list[str]]:
        unrequested: list[str] = []
        origin: tuple[()] | tuple[datetime, AnswerSource] = ()
        answer = None
        if isinstance(reply.answer, Outcome):
            outcome = reply.answer
        else:
            [outcome], unrequested = read_answer(reply.answer, [wallet])
            origin = (reply.fetched_at, AnswerSource.SERVICE)
            answer = CachedAnswer(reply.answer, reply.fetched_at, reply.sequence)
        if outcome.status in _SERVICE_STATUSES and not reply.key_rejected:
            hint = unknown_blockchain_message(wallet.blockchain)
            outcome = outcome._replace(error=f"{outcome.error}; {hint}") if hint else outcome
        record = WalletRecord(wallet, outcome, self._store.service, *origin)
        if outcome.status is Status.OK:
            return WalletResult(position, record, answer), unrequested
        stale = self._record_of_cached(wallet, cached, f"not refreshed: {outcome.error}")
        return WalletResult(position, stale or record), unrequested
