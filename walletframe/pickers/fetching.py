"""Fetching in the background, and what stands in for lost answers."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import deque
from contextlib import nullcontext
from functools import partial
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from traitlets import Dict, Instance, Unicode

from walletframe.client import default_client
from walletframe.errors import WalletframeError
from walletframe.frames import (
    HOLDING_DTYPES,
    WALLET_DTYPES,
    Source,
    WalletDetails,
    known_wallets,
    wallet_identities,
)
from walletframe.numerals import many
from walletframe.pickers.widget import PageWidget, handler
from walletframe.service import latest_sandbox
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from walletframe.client import Client

_SHOW_EVERY_S, _LATELY_S = 0.1, 15.0
_PATIENCE_S = 5.0  # how long `close` waits for a thread
_SERVICE = 80


class Fetches(PageWidget):
    """A widget that fetches in the background, one fetch at a time, and says how far it is."""

    details: Instance[WalletDetails] = Instance(WalletDetails)
    _under_way = Dict().tag(sync=True)  # of the fetch: done, total, and lines that say more
    _again = Unicode().tag(sync=True)  # what a second try would be for

    def __init__(self, *given: Any, **traits: Any) -> None:
        self._thread: Thread | None = None  # of the fetch that is under way
        self._cancelled = Event()
        self._asked: Sequence[str] | pd.DataFrame = ()
        self._keep: Sequence[str] = ()  # of its columns
        super().__init__(*given, **traits)
        self._handlers["cancel"] = lambda _: self.cancel()
        self._handlers["again"] = lambda _: self._ask_again()

    def close(self) -> None:
        """Close this and all that is in it, so that no model and no thread is left behind."""
        if (thread := getattr(self, "_thread", None)) is not None:
            self._cancelled.set()
            thread.join(_PATIENCE_S)
        super().close()

    @handler
    def cancel(self) -> None:
        """End the fetch that is under way, if any; what was finished is kept.

        Examples
        --------
        >>> from walletframe.pickers import FetchPanel
        >>> panel = FetchPanel(["NEAR.alice.near"])
        >>> panel.cancel()
        >>> panel.close()
        """
        if self._thread is not None:
            self._cancelled.set()
            self._under_way = {**self._under_way, "said": "cancelling …", "more": ""}

    @abstractmethod
    def _client_of_now(self) -> AbstractContextManager[Client]:
        """Return the client that is to be asked, closed behind it where it is lent."""

    def _fetch(
        self,
        wallets: Sequence[str] | pd.DataFrame,
        *,
        hint: str = "",
        keep: Sequence[str] = (),
        refresh: bool = False,
    ) -> None:
        """Fetch in the background; nothing is begun while a fetch is under way."""
        if self._thread is not None:
            return
        self._show_error("")
        if not len(wallets):
            raise WalletframeError("no wallets to fetch", hint=hint)
        client = self._client_of_now()
        self._asked, self._keep = wallets, keep
        total = len(wallets)
        self._under_way = {"done": 0, "total": total, "said": f"0 of {many(total, 'wallet')}"}
        self._cancelled = Event()
        work = partial(self._run, client, refresh=refresh)
        self._thread = Thread(target=work, name="walletframe-panel", daemon=True)
        self._thread.start()

    @handler
    def _ask_again(self) -> None:
        """Ask again for what is not ok; what is ok is taken from the cache."""
        self._fetch(self._asked, keep=self._keep)

    def _run(self, client: AbstractContextManager[Client], *, refresh: bool) -> None:
        """Fetch, on a thread of its own; what goes wrong is shown by `_finish`."""
        left, shown_s = TimeLeft(time.monotonic()), 0.0

        def progress(done: int, total: int, counts: Mapping[str, int]) -> None:
            nonlocal shown_s
            now_s = time.monotonic()
            if done == total or now_s - shown_s > _SHOW_EVERY_S:
                shown_s = now_s
                left.note(now_s, done)
                self._show_progress(done, total, counts, left.text(total))

        try:
            with client as asked:
                result: WalletDetails | Exception = asked.fetch(
                    self._asked,
                    keep=self._keep,
                    refresh=refresh,
                    progress=progress,
                    on_failure="ignore",
                    cancel=self._cancelled,
                )
        except Exception as error:  # noqa: BLE001 - on a thread nobody else would see it
            result = error
        self._finish(result)

    @handler
    def _show_progress(self, done: int, total: int, counts: Mapping[str, int], left: str) -> None:
        said, more = f"{done:,} of {many(total, 'wallet')}{', ' * bool(left)}{left}", ""
        if self._cancelled.is_set():
            said = "cancelling …"
        else:
            more = ", ".join(f"{count:,} {status}" for status, count in counts.items())
        self._under_way = {"done": done, "total": total, "said": said, "more": more}

    @handler
    def _finish(self, result: WalletDetails | Exception) -> None:
        self._thread = None
        self._under_way = {}
        if isinstance(result, Exception):
            raise result
        failed = int((~known_wallets(result.wallets)).sum())
        self._again = f"Ask again for {failed:,} not ok" if failed else ""
        self.details = renewed(self.details, result)


def client_for(details: WalletDetails, client: Client | None) -> AbstractContextManager[Client]:
    """Return the client that can ask anew for a fetch: the one given, or one of its service."""
    if client is not None:
        return nullcontext(client)
    services = [*details.wallets["service"].dropna().unique()]
    problem = ""
    try:
        found = default_client()
        if not services or [found.settings.service] == services:
            return nullcontext(found)
    except WalletframeError as error:
        problem = f"; {error}"
    if services == ["sandbox"] and (made := latest_sandbox()) is not None:
        return made.client()
    asked = ", ".join(shown(str(name), _SERVICE) for name in services) or "a service"
    raise WalletframeError(
        f"Refresh needs a client of {asked}{problem}",
        hint="give the explorer client=, or tell walletframe.configure of that service",
    )


class TimeLeft:
    """How long the rest takes, by the last seconds: answers of a cache don't count for long."""

    def __init__(self, begun_s: float) -> None:
        self._marks = deque([(begun_s, 0)])

    def note(self, now_s: float, done: int) -> None:
        """Take note of how much is done in all, by the clock of `begun_s`."""
        self._marks.append((now_s, done))
        while len(self._marks) > 2 and now_s - self._marks[0][0] > _LATELY_S:  # noqa: PLR2004
            self._marks.popleft()

    def text(self, total: int) -> str:
        """Say how long the rest of `total` will take; empty where it can't be said."""
        (then_s, before), (now_s, done) = self._marks[0], self._marks[-1]
        if done == before or done >= total:
            return ""
        seconds = (total - done) * (now_s - then_s) / (done - before)
        if seconds < 100:  # noqa: PLR2004 - as people say it
            return f"about {max(1, round(seconds))} s left"
        return f"about {round(seconds / 60)} min left"


def renewed(known: WalletDetails, answer: WalletDetails) -> WalletDetails:
    """Let what was known stand in for each wallet that could not be asked anew."""
    rows = {key: row for row, key in enumerate(wallet_identities(answer.wallets).keys)}
    before = wallet_identities(known.wallets)
    lost = ~known_wallets(answer.wallets)
    was_ok = known_wallets(known.wallets)
    pairs = [(rows.get(key), int(row)) for key, row in zip(before.keys, before.first, strict=True)]
    stands_in = {new: old for new, old in pairs if new is not None and lost[new] and was_ok[old]}
    if not stands_in:
        return answer
    places = list(stands_in)
    reasons = answer.wallets["error"].iloc[places].fillna("no reason was given")
    stale = known.wallets.iloc[list(stands_in.values())].reindex(columns=answer.wallets.columns)
    stale = stale.set_axis(places).assign(
        source=Source.STALE.value, error=[f"not refreshed: {reason}" for reason in reasons]
    )
    fresh = answer.wallets.drop(index=places)
    wallets = pd.concat([fresh, stale.astype(WALLET_DTYPES)]).sort_index()

    def owners(holdings: pd.DataFrame) -> np.ndarray:
        """Return for each balance the row of its wallet, -1 where there is none."""
        found = wallet_identities(holdings)
        return np.array([rows.get(key, -1) for key in found.keys], dtype=np.intp)[found.codes]

    old, new = owners(known.holdings), owners(answer.holdings)
    kept = np.isin(old, places)
    older = known.holdings[kept].reindex(columns=list(HOLDING_DTYPES)).astype(HOLDING_DTYPES)
    holdings = pd.concat([answer.holdings, older], ignore_index=True)
    order = np.concatenate([new, old[kept]]).argsort(kind="stable")
    return WalletDetails(wallets, holdings.iloc[order].reset_index(drop=True))
