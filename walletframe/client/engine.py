"""`Client`, the owner of the settings, the connections, the rate limiter and the cache."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, closing
from threading import Event
from typing import TYPE_CHECKING, Literal, TypeAlias, Unpack

from walletframe.address.lists import OnUnreadable, WalletsLike, wallets_and_extra_columns
from walletframe.client.job import Job, Progress, status_counter
from walletframe.client.problems import check_on_failure, warn_or_raise
from walletframe.client.stream import CachePolicy, ResultStream, WalletResult
from walletframe.client.workers import OnReply, RequestWorkers
from walletframe.errors import FetchInterrupted, SettingsError, TestKeyWarning
from walletframe.forks import ForkSafeLock, register_fork_reset
from walletframe.frames.assembly import WalletRecord, assemble
from walletframe.frames.extra_columns import check_keep
from walletframe.notice import notify
from walletframe.settings.values import Settings, add_env_key, require_service, require_settings
from walletframe.tracebacks import strip_address_tracebacks, strip_tracebacks
from walletframe.transport import AnswerStore, RateLimiter, ServiceSession
from walletframe.walletfile import read_input

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from walletframe.frames.details import WalletDetails
    from walletframe.settings.values import SettingsKwargs
    from walletframe.wire.outcome import Status

OnFailure: TypeAlias = Literal["warn", "raise", "ignore"]
_CHUNK_SIZE = 500  # wallets that are looked up in the cache at once
_STORE_INTERVAL_S = 0.25
_inherited: list[object] = []  # not finalized in a forked child, where closing could block


class Client(AbstractContextManager["Client"]):
    """A client that fetches wallets, with its own connections and cache.

    Parameters
    ----------
    settings : Settings, optional
        The settings, by default from the environment. A pickled client does not contain the API
        key. After unpickling, the client reads the key from the environment, but only for the same
        base URL and key kind.
    **overrides
        Single settings, which replace values in `settings`.

    Raises
    ------
    ArgumentError
        If `settings` is not a `Settings`.
    SettingsError
        If a setting is unknown or not valid. Missing settings raise an error only at a fetch.

    Examples
    --------
    >>> from walletframe.service import sandbox
    >>> with sandbox() as service:
    ...     client = service.client(cache=False)
    ...     wallets, holdings = client.fetch(["ETH.0x" + "1" * 40])
    ...     client.close()
    >>> wallets.status.item()
    'ok'
    """

    @strip_tracebacks
    def __init__(
        self, settings: Settings | None = None, **overrides: Unpack[SettingsKwargs]
    ) -> None:
        require_settings(settings)
        chosen = settings.replace(**overrides) if settings else Settings(**overrides)
        lacks_key = chosen.api_key is not None and not chosen.api_key  # after unpickling
        self.settings: Settings = add_env_key(chosen) if lacks_key else chosen
        self._session: ServiceSession | None = None
        self._limiter: RateLimiter | None = None
        # On a cluster, this is WorkerRateLimiter.
        self._make_limiter: Callable[[Settings], RateLimiter] = RateLimiter
        self._store: AnswerStore | None = None
        self._open_lock = ForkSafeLock()
        self._has_warned = False
        register_fork_reset(self)

    def __repr__(self) -> str:
        return f"Client({self.settings!r})"

    def __reduce__(self) -> tuple[type[Client], tuple[Settings]]:
        return Client, (self.settings,)

    def __exit__(self, *exc: object) -> None:
        self.close()

    def reset_after_fork(self) -> None:
        """Drop the parent process's connections in a forked child.

        Examples
        --------
        >>> Client(cache=False).reset_after_fork()
        """
        if self._session is not None:
            self._session.in_flight.close_sockets_after_fork()
            _inherited.append((self._session, self._limiter))
            self._session = self._limiter = None

    def close(self) -> None:
        """Close the connections and the cache. A later fetch opens them again."""
        with self._open_lock:
            opened = (self._session, self._limiter, self._store)
            self._session = self._limiter = self._store = None
        for resource in opened:
            if resource is not None:
                resource.close()

    @strip_address_tracebacks
    def fetch(  # noqa: PLR0913 - users pass each option by name
        self,
        wallets: WalletsLike | os.PathLike[str],
        *,
        keep: str | Sequence[str] = (),
        refresh: bool = False,
        offline: bool = False,
        progress: Progress = None,
        on_failure: OnFailure = "warn",
        on_unreadable: OnUnreadable = "raise",
        fix: bool = False,
        cancel: Event | None = None,
    ) -> WalletDetails:
        """Fetch the tokens of wallets.

        Parameters
        ----------
        wallets, keep, refresh, offline, progress, on_failure, on_unreadable, fix : optional
            The arguments of `fetch_wallets`. Only `wallets` is required.
        cancel : threading.Event, optional
            To end the fetch, set this event in another thread. Unfinished wallets then have the
            status ``cancelled``. Each fetch needs a new event, since the end of a fetch sets it.

        Returns
        -------
        WalletDetails
            The result, as from `fetch_wallets`.

        Raises
        ------
        ArgumentError, AddressError, ColumnsError, SettingsError, FetchError, FetchInterrupted
            In the same cases as `fetch_wallets`.

        Warns
        -----
        FetchWarning, AnswerWarning, InputWarning
            In the same cases as `fetch_wallets`.
        """
        check_on_failure(on_failure)
        if refresh and offline:
            hint = "pass only one of them"
            raise SettingsError("refresh=True and offline=True can't be combined", hint)
        policy = CachePolicy(refresh, offline, self.settings.stale_if_error)
        parsed = read_input(wallets, check_keep(keep))
        requested, labels = wallets_and_extra_columns(parsed, on_unreadable, fix=fix)
        cancel = cancel or Event()
        chunks = (requested[at : at + _CHUNK_SIZE] for at in range(0, len(requested), _CHUNK_SIZE))
        with (
            closing(self._open_result_stream(policy, cancel)) as stream,  # first: this can raise
            status_counter(progress, len(requested)) as on_status,
        ):
            results = stream.results(chunks)
            job = Job(lambda report: assemble(self._store_and_order(results, report), labels))
            details, is_interrupted = job.run_with_progress(on_status, cancel)
        stream.problems.warn()
        if is_interrupted:
            raise FetchInterrupted(details)
        warn_or_raise(details, on_failure)
        return details

    def _store_and_order(
        self, results: Iterator[WalletResult | None], report: Callable[[Status], None]
    ) -> Iterator[WalletRecord]:
        """Cache answers, and yield records in the order of the wallets."""
        store = self._open_store()
        unordered: dict[int, WalletRecord] = {}
        unstored: list[WalletResult] = []
        position, stored_at = 0, time.monotonic()

        def store_answers() -> None:
            pairs = ((each.record.wallet, each.answer) for each in unstored if each.answer)
            store.write_answers(pairs)
            for each in unstored:
                report(each.record.outcome.status)
            unstored.clear()

        for result in results:
            if result is not None:
                unordered[result.position] = result.record
                unstored.append(result)
            if time.monotonic() - stored_at > _STORE_INTERVAL_S:
                store_answers()
                stored_at = time.monotonic()
            while position in unordered:
                yield unordered.pop(position)
                position += 1
        store_answers()

    def _open_result_stream(
        self, policy: CachePolicy, cancel: Event, *, on_reply: OnReply | None = None
    ) -> ResultStream:
        """Return a stream. `on_reply` runs on worker threads, and must not raise an error."""
        is_ready = self.settings.api_key and self.settings.endpoint and not policy.offline
        if self.settings.key_kind == "test" and is_ready and not self._has_warned:
            self._has_warned = True
            notify("the shared test key has a low limit and is for testing only", TestKeyWarning)
        store = self._open_store()
        number = store.sequence_now if on_reply is None else None
        workers = RequestWorkers(self._session_and_limiter, self.settings, cancel, on_reply, number)
        return ResultStream(store, policy, workers, self.settings)

    def _session_and_limiter(self) -> tuple[ServiceSession, RateLimiter]:
        with self._open_lock:
            if self._session is None or self._limiter is None:
                self._session = ServiceSession(self.settings)
                self._limiter = self._make_limiter(self.settings)
            return self._session, self._limiter

    def _open_store(self) -> AnswerStore:
        with self._open_lock:
            if self._store is None:
                service, max_bytes = require_service(self.settings), self.settings.cache_max_bytes
                self._store = AnswerStore(self.settings.cache, service, max_bytes=max_bytes)
            return self._store
