"""The client: wallets in, `WalletDetails` out.

The order of operations: read the addresses, look into the cache once, plan, ask for what is
missing, keep what is ok, build the frames, and say what failed.
"""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from walletframe.address import distinct_wallets, parse_wallets
from walletframe.client.conclusion import conclude
from walletframe.client.plan import Policy, Step, plan
from walletframe.client.progress import counted
from walletframe.client.records import resolve_kept, resolve_reply
from walletframe.client.send import replies
from walletframe.errors import AnswerWarning, SettingsError, TestKeyWarning
from walletframe.frames import WalletDetails, WalletRecord, assemble
from walletframe.notice import notify
from walletframe.settings import Settings, require_service
from walletframe.transport import AnswerStore, ServiceSession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from walletframe.address import WalletAddress, WalletsLike
    from walletframe.client.progress import Progress
    from walletframe.transport import Reply
    from walletframe.wire import Status

OnFailure: TypeAlias = Literal["warn", "raise", "ignore"]


class Client:
    """Fetches wallet details; holds the connections and the cache until it is closed.

    Parameters
    ----------
    settings : Settings, optional
        How to reach the service; made from the environment where not given.
    **overrides
        Settings that differ.

    Raises
    ------
    SettingsError
        For a setting that is unknown or wrong. What is missing is told when it is needed.

    Examples
    --------
    >>> from walletframe.service import sandbox
    >>> with sandbox() as service, service.client(cache=False) as client:
    ...     wallets, holdings = client.fetch(["ETH.0x" + "1" * 40])
    >>> wallets.status.item()
    'ok'
    """

    def __init__(self, settings: Settings | None = None, **overrides: Any) -> None:
        self.settings = settings.replace(**overrides) if settings else Settings(**overrides)
        self._session: ServiceSession | None = None
        self._store: AnswerStore | None = None
        self._opening = Lock()

    def __repr__(self) -> str:
        return f"Client({self.settings!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and the cache; a later fetch opens them again."""
        with self._opening:
            session, store = self._session, self._store
            self._session = self._store = None
        for resource in (session, store):
            if resource is not None:
                resource.close()

    def fetch(
        self,
        wallets: WalletsLike,
        *,
        refresh: bool = False,
        offline: bool = False,
        progress: Progress = None,
        on_failure: OnFailure = "warn",
    ) -> WalletDetails:
        """Fetch the tokens of wallets.

        Parameters
        ----------
        wallets : str, tuple, mapping, WalletAddress, Series, DataFrame, or iterable of them
            ``"ETH.0x…"``, ``("ETH", "0x…")``, ``{"blockchain": "ETH", "address": "0x…"}``, a
            Series of such strings, or a DataFrame with the columns blockchain and address.
        refresh : bool, default False
            Ask the service for every wallet, even where an answer is in the cache.
        offline : bool, default False
            Ask for none: what is not in the cache has the status ``not_cached``.
        progress : bool or callable, optional
            False draws no bar; a callable gets (done, total, counts by status).
        on_failure : {"warn", "raise", "ignore"}, default "warn"
            What to do where wallets are not ok. Each has its row, whatever it is.

        Returns
        -------
        WalletDetails
            ``wallets``, one row for each distinct wallet, in the order of the first mention, and
            ``holdings``, one row for each balance.

        Raises
        ------
        AddressError
            Naming every wallet that can't be read; nothing was asked then.
        SettingsError
            Where something has to be asked and the key, its kind or its address is not set.
        FetchError
            With ``on_failure="raise"``, carrying ``.details``.

        Warns
        -----
        FetchWarning
            With ``on_failure="warn"``, where wallets are not ok or could not be made fresh.
        AnswerWarning
            Where the service answered wallets that nobody asked for.
        """
        if on_failure not in ("warn", "raise", "ignore"):
            raise SettingsError(f"on_failure: {on_failure!r}", hint="warn, raise or ignore")
        if refresh and offline:
            raise SettingsError("refresh and offline contradict each other", hint="give one")
        policy = Policy(
            self.settings.expire_after_s, refresh, offline, self.settings.stale_if_error
        )
        asked = distinct_wallets(parse_wallets(wallets))
        steps = plan(asked, self._open_store().read(asked), policy, datetime.now(UTC))
        with counted(progress, len(steps)) as tell:
            details = assemble(self._records(steps, tell))
        conclude(details, on_failure)
        return details

    def _records(self, steps: list[Step], tell: Callable[[Status], None]) -> Iterator[WalletRecord]:
        service = require_service(self.settings)
        strangers: list[str] = []
        answers = self._replies([step.wallet for step in steps if step.ask])
        for step in steps:
            resolved = (
                resolve_reply(step, next(answers), service)
                if step.ask
                else resolve_kept(step, service)
            )
            if resolved.keep is not None:
                self._open_store().write(step.wallet, resolved.keep)
            strangers += resolved.strangers
            tell(resolved.record.outcome.status)
            yield resolved.record
        if strangers:
            named = ", ".join(strangers[:3])
            notify(
                f"the service answered {len(strangers)} wallets that nobody asked for, "
                f"which are left out: {named}",
                AnswerWarning,
            )

    def _replies(self, wanted: list[WalletAddress]) -> Iterator[Reply]:
        if not wanted:
            return iter(())
        return replies(self._open_session(), wanted, self.settings.workers)

    def _open_session(self) -> ServiceSession:
        with self._opening:
            if self._session is None:
                self._session = ServiceSession(self.settings)
                if self.settings.key_kind == "test":
                    notify(
                        "the shared test key has a low limit and is for testing only",
                        TestKeyWarning,
                    )
            return self._session

    def _open_store(self) -> AnswerStore:
        with self._opening:
            if self._store is None:
                self._store = AnswerStore(self.settings.cache, require_service(self.settings))
            return self._store
