"""The client: settings, and the connections, rate limiter and cache that they open."""

from __future__ import annotations

from contextlib import closing, contextmanager
from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING, Literal, Self, TypeAlias, Unpack

from walletframe.address import distinct_labels, wallets_to_ask
from walletframe.client.ask import Asking
from walletframe.client.collect import Collection, Flow
from walletframe.client.conclusion import check_on_failure, conclude
from walletframe.client.job import Job, counted
from walletframe.client.plan import Policy, plan
from walletframe.client.send import Sending
from walletframe.errors import FetchInterrupted, SettingsError, TestKeyWarning
from walletframe.forks import OwnLock, begins_anew
from walletframe.frameless import at_the_boundary, frameless
from walletframe.frames import WalletDetails, assemble, names_to_keep
from walletframe.notice import notify
from walletframe.settings import Settings, require_service, require_settings, with_own_key
from walletframe.transport import AnswerStore, Pacer, ServiceSession, pace_place
from walletframe.walletfile import read_given

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd

    from walletframe.address import OnUnreadable, WalletAddress, WalletsLike
    from walletframe.client.ask import Keep, Turn
    from walletframe.client.conclusion import Oddities
    from walletframe.client.job import Progress
    from walletframe.settings import SomeSettings
    from walletframe.wire import Status

OnFailure: TypeAlias = Literal["warn", "raise", "ignore"]
_Found: TypeAlias = "tuple[WalletDetails, Oddities]"
_AHEAD = 2  # requests for each worker: one under way, one waiting
_left: list[object] = []  # what closing, or forgetting, in a forked child could spoil or wait for


class Client:
    """Fetches wallet details; holds the connections and the cache until it is closed.

    Parameters
    ----------
    settings : Settings, optional
        How to reach the service; made from the environment where not given. A pickle leaves the
        key out: where it is read, the key of the environment is taken, unless that is for another
        address.
    **overrides
        Settings that differ.

    Raises
    ------
    ArgumentError
        If `settings` is not a `Settings`.
    SettingsError
        For a setting that is unknown or wrong; one that is missing raises when it is needed.

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

    @frameless
    def __init__(self, settings: Settings | None = None, **overrides: Unpack[SomeSettings]) -> None:
        require_settings(settings)
        made = settings.replace(**overrides) if settings else Settings(**overrides)
        is_left_out = made.api_key is not None and not made.api_key  # by a pickle
        self.settings: Settings = with_own_key(made) if is_left_out else made
        self._session: ServiceSession | None = None
        self._pacer: Pacer | None = None
        self._store: AnswerStore | None = None
        self._opening = OwnLock()
        self._warned = False
        begins_anew(self)

    def __repr__(self) -> str:
        return f"Client({self.settings!r})"

    def __reduce__(self) -> tuple[type[Client], tuple[Settings]]:
        return Client, (self.settings,)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def begin_anew(self) -> None:
        """Leave the connections and the pace to the parent, as each forked child does by itself.

        Examples
        --------
        >>> Client(cache=False).begin_anew()
        """
        if self._session is not None:
            self._session.leave()
            _left.append((self._session, self._pacer))
            self._session = self._pacer = None

    def close(self) -> None:
        """Close the connections and the cache; a later fetch opens them again."""
        with self._opening:
            opened = (self._session, self._pacer, self._store)
            self._session = self._pacer = self._store = None
        for resource in opened:
            if resource is not None:
                resource.close()

    @at_the_boundary
    def fetch(  # noqa: PLR0913 - what a caller may wish
        self,
        wallets: WalletsLike | os.PathLike[str],
        *,
        keep: str | Sequence[str] = (),
        refresh: bool = False,
        offline: bool = False,
        progress: Progress = None,
        on_failure: OnFailure = "warn",
        on_unreadable: OnUnreadable = "raise",
        cancel: Event | None = None,
    ) -> WalletDetails:
        """Fetch the tokens of wallets.

        Parameters
        ----------
        wallets, keep, refresh, offline, progress, on_failure, on_unreadable : as `fetch_wallets`
            What to fetch, and how.
        cancel : threading.Event, optional
            Ends the fetch when another thread sets it: what was not finished by then has the
            status ``cancelled``. For one fetch, which sets it at its end.

        Returns
        -------
        WalletDetails
            As `fetch_wallets` does.

        Raises
        ------
        ArgumentError, AddressError, ColumnsError, SettingsError, FetchError, FetchInterrupted
            As `fetch_wallets` does.

        Warns
        -----
        FetchWarning, AnswerWarning, InputWarning
            As `fetch_wallets` does.
        """
        check_on_failure(on_failure)
        if refresh and offline:
            raise SettingsError("refresh and offline contradict each other", hint="give only one")
        fresh_s, stale_if_error = self.settings.expire_after_s, self.settings.stale_if_error
        policy = Policy(fresh_s, refresh, offline, stale_if_error)
        reading = read_given(wallets, names_to_keep(keep))
        asked = wallets_to_ask(reading, on_unreadable)
        kept = distinct_labels(reading)
        details, oddities = self._run(asked, kept, policy, progress, cancel or Event())
        self._warn_of_test_key()
        oddities.warn()
        conclude(details, on_failure)
        return details

    def _run(
        self,
        asked: list[WalletAddress],
        kept: pd.DataFrame | None,
        policy: Policy,
        progress: Progress,
        cancel: Event,
    ) -> _Found:
        """Let a thread work, and show its progress; an interrupt ends what has not begun."""
        self._open_store()  # here: warnings name the caller's line, and errors come before a bar
        job: Job[Status, _Found] = Job(
            lambda report: self._work(asked, kept, policy, report, cancel)
        )
        try:
            with counted(progress, len(asked)) as count:
                for status in job.news():
                    count(status)
            return job.result()
        except KeyboardInterrupt:
            cancel.set()
            details, _ = job.result()
        except BaseException:
            cancel.set()
            raise
        raise FetchInterrupted(details)

    def _work(
        self,
        asked: list[WalletAddress],
        kept: pd.DataFrame | None,
        policy: Policy,
        report: Callable[[Status], None],
        cancel: Event,
    ) -> _Found:
        """Look into the cache once, plan, and collect what is sent for."""
        store = self._open_store()
        steps = plan(asked, store.read(asked), policy, datetime.now(UTC))
        sending = self._sending(cancel, turn=store.turn)
        collection = Collection(steps, store, sending, report=report, cancel=cancel)
        with closing(collection):
            details = assemble(collection.records(), kept)
        return details, collection.oddities

    @contextmanager
    def flow(self, *, keep: Keep, cancel: Event) -> Iterator[Flow]:
        """Open a flow, for more wallets than memory holds; what is fresh comes from the cache.

        Parameters
        ----------
        keep : callable
            Keeps the wallets and the reply of each request, which the cache does not, on the
            thread that has it; it must not raise.
        cancel : Event
            Ends the flow when it is set.

        Yields
        ------
        Flow
            To be read on any thread, once.

        Raises
        ------
        SettingsError
            If the service's name, or what is needed to ask it, is not set.

        Examples
        --------
        >>> with Client(service="mine", cache=False) as client:
        ...     with client.flow(keep=print, cancel=Event()) as flow:
        ...         records = list(flow.records([]))
        """
        settings = self.settings
        flow = Flow(
            self._open_store(),
            Policy(settings.expire_after_s, stale_if_error=False),
            self._sending(cancel, keep),
            ahead=settings.workers * settings.batch_size * _AHEAD,
            cancel=cancel,
        )
        with closing(flow):
            yield flow
        self._warn_of_test_key()
        flow.oddities.warn()

    def _sending(
        self, cancel: Event, keep: Keep | None = None, turn: Turn | None = None
    ) -> Sending:
        settings = self.settings

        def opened() -> Asking:
            session, pacer = self._open_session()
            return Asking(session, pacer, settings.deadline_s, cancel=cancel, keep=keep, turn=turn)

        return Sending(opened, cancel, workers=settings.workers, batch_size=settings.batch_size)

    def _open_session(self) -> tuple[ServiceSession, Pacer]:
        with self._opening:
            if self._session is None or self._pacer is None:
                settings = self.settings
                self._session = ServiceSession(settings)
                self._pacer = Pacer(
                    pace_place(settings.cache, settings.pace),
                    require_service(settings),
                    rate=settings.requests_per_second,
                    longest_s=settings.retry_after_max_s,
                    processes=settings.processes,
                )
            return self._session, self._pacer

    def _open_store(self) -> AnswerStore:
        with self._opening:
            if self._store is None:
                self._store = AnswerStore(
                    self.settings.cache,
                    require_service(self.settings),
                    max_bytes=self.settings.cache_max_bytes,
                    fresh_s=self.settings.expire_after_s,
                )
            return self._store

    def _warn_of_test_key(self) -> None:
        if self._session is not None and self.settings.key_kind == "test" and not self._warned:
            self._warned = True
            notify("the shared test key has a low limit and is for testing only", TestKeyWarning)
