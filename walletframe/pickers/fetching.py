"""Fetching in the background, older answers for failed wallets, and the panel for fetching."""

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
from traitlets import Bool, Dict, Instance, Int, Unicode, default, observe

from walletframe.client import default_client, require_client
from walletframe.errors import WalletframeError
from walletframe.frames.assembly import assemble
from walletframe.frames.contract import HOLDING_DTYPES, WALLET_DTYPES, Source
from walletframe.frames.details import WalletDetails, as_details, is_details
from walletframe.frames.identity import wallet_identities
from walletframe.frames.known import known_wallets
from walletframe.numerals import counted_noun
from walletframe.pickers.page import script, styles
from walletframe.pickers.picker import WalletPicker
from walletframe.pickers.portfolio import wallet_status
from walletframe.pickers.widget import PageWidget, handler

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from walletframe.client import Client
    from walletframe.pickers.picker import KnownWallets

_SHOW_EVERY_S, _LATELY_S = 0.1, 15.0
_PATIENCE_S = 5.0  # how long `close` waits for a thread


class FetchingWidget(PageWidget):
    """A widget that fetches in the background, one fetch at a time, and shows its progress."""

    details: Instance[WalletDetails] = Instance(WalletDetails)
    _under_way = Dict().tag(sync=True)  # progress of the fetch: done, total, and two lines of text
    _again = Unicode().tag(sync=True)  # the label of the button for a retry

    def __init__(self, *args: Any, **traits: Any) -> None:
        self._thread: Thread | None = None  # of the running fetch
        self._cancelled = Event()
        self._requested: Sequence[str] | pd.DataFrame = ()
        self._keep: Sequence[str] = ()  # the columns to keep
        super().__init__(*args, **traits)
        self._handlers["cancel"] = lambda _: self.cancel()
        self._handlers["again"] = lambda _: self._ask_again()

    def close(self) -> None:
        """Close this widget with its models, and stop its thread."""
        if (thread := getattr(self, "_thread", None)) is not None:
            self._cancelled.set()
            thread.join(_PATIENCE_S)
        super().close()

    @handler
    def cancel(self) -> None:
        """Cancel the running fetch, if any; finished wallets are kept.

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
    def _current_client(self) -> AbstractContextManager[Client]:
        """Return the client in a context manager, which closes it if it was made for this."""

    def _fetch(
        self,
        wallets: Sequence[str] | pd.DataFrame,
        *,
        hint: str = "",
        keep: Sequence[str] = (),
        refresh: bool = False,
    ) -> None:
        """Fetch in the background; do nothing if a fetch is running."""
        if self._thread is not None:
            return
        self._show_error("")
        if not len(wallets):
            raise WalletframeError("there are no wallets to fetch", hint=hint)
        client = self._current_client()
        self._requested, self._keep = wallets, keep
        total = len(wallets)
        self._under_way = {
            "done": 0,
            "total": total,
            "said": f"0 of {counted_noun(total, 'wallet')}",
        }
        self._cancelled = Event()
        work = partial(self._run, client, refresh=refresh)
        self._thread = Thread(target=work, name="walletframe-panel", daemon=True)
        self._thread.start()

    @handler
    def _ask_again(self) -> None:
        """Fetch again; wallets that are ok come from the cache."""
        self._fetch(self._requested, keep=self._keep)

    def _run(self, client: AbstractContextManager[Client], *, refresh: bool) -> None:
        """Fetch on the background thread; `_finish` shows errors."""
        marks, shown_s = deque([(time.monotonic(), 0)]), 0.0

        def progress(done: int, total: int, counts: Mapping[str, int]) -> None:
            nonlocal shown_s
            now_s = time.monotonic()
            if done == total or now_s - shown_s > _SHOW_EVERY_S:
                shown_s = now_s
                marks.append((now_s, done))
                self._show_progress(done, total, counts, time_left(marks, total))

        try:
            with client as current:
                result: WalletDetails | Exception = current.fetch(
                    self._requested,
                    keep=self._keep,
                    refresh=refresh,
                    progress=progress,
                    on_failure="ignore",
                    cancel=self._cancelled,
                )
        except Exception as error:  # noqa: BLE001 - it would be lost on this thread
            result = error
        self._finish(result)

    @handler
    def _show_progress(self, done: int, total: int, counts: Mapping[str, int], eta: str) -> None:
        text = f"{done:,} of {counted_noun(total, 'wallet')}{', ' * bool(eta)}{eta}"
        more = ", ".join(f"{count:,} {status}" for status, count in counts.items())
        if self._cancelled.is_set():
            text, more = "cancelling …", ""
        self._under_way = {"done": done, "total": total, "said": text, "more": more}

    @handler
    def _finish(self, result: WalletDetails | Exception) -> None:
        self._thread = None
        self._under_way = {}
        if isinstance(result, Exception):
            raise result
        failed = int((~known_wallets(result.wallets)).sum())
        self._again = f"Retry {counted_noun(failed, 'wallet')}" if failed else ""
        self.details = with_older_answers(self.details, result)


def time_left(marks: deque[tuple[float, int]], total: int) -> str:
    """Return the remaining time as text, from the progress of the last seconds."""
    (start_s, before), (now_s, done) = marks[0], marks[-1]
    while len(marks) > 2 and now_s - start_s > _LATELY_S:  # noqa: PLR2004
        marks.popleft()
        start_s, before = marks[0]
    if done == before or done >= total:
        return ""
    seconds = (total - done) * (now_s - start_s) / (done - before)
    if seconds < 100:  # noqa: PLR2004 - then in minutes
        return f"about {max(1, round(seconds))} s left"
    return f"about {round(seconds / 60)} min left"


def with_older_answers(known: WalletDetails, answer: WalletDetails) -> WalletDetails:
    """Replace each wallet that could not be refreshed by its older answer."""
    rows = {key: row for row, key in enumerate(wallet_identities(answer.wallets).keys)}

    def owners(frame: pd.DataFrame) -> np.ndarray:
        """Return the row of each row's wallet in the answer, -1 if there is none."""
        wallets = wallet_identities(frame)
        return np.array([rows.get(key, -1) for key in wallets.keys], dtype=np.intp)[wallets.codes]

    before = wallet_identities(known.wallets).first
    places = owners(known.wallets)[before]
    failed = (places >= 0) & ~known_wallets(answer.wallets)[places]
    is_used = failed & known_wallets(known.wallets)[before]
    if not is_used.any():
        return answer
    before, places = before[is_used], places[is_used]
    reasons = answer.wallets["error"].iloc[places].fillna("no reason was given")
    stale = known.wallets.iloc[before].reindex(columns=answer.wallets.columns)
    stale = stale.set_axis(places).assign(
        source=Source.STALE.value, error=[f"not refreshed: {reason}" for reason in reasons]
    )
    fresh = answer.wallets.drop(index=places)
    wallets = pd.concat([fresh, stale.astype(WALLET_DTYPES)]).sort_index()
    old, new = owners(known.holdings), owners(answer.holdings)
    is_kept = np.isin(old, places)
    older = known.holdings[is_kept].reindex(columns=list(HOLDING_DTYPES)).astype(HOLDING_DTYPES)
    holdings = pd.concat([answer.holdings, older], ignore_index=True)
    order = np.concatenate([new, old[is_kept]]).argsort(kind="stable")
    return WalletDetails(wallets, holdings.iloc[order].reset_index(drop=True))


class FetchPanel(FetchingWidget, WalletPicker):
    """Fetch wallets in the background, so that the notebook stays usable and Cancel works.

    Parameters
    ----------
    wallets : WalletDetails, or whatever `fetch_wallets` takes
        The options, besides pasted wallets; all are selected at first.
    client : Client, optional
        The client that sends the requests; the default client if not given, see `configure`.

    Attributes
    ----------
    details : WalletDetails
        The last fetch; before that the fetch given as `wallets`, or an empty one. Can be observed
        and linked. After a cancelled fetch the rest has the status ``cancelled``. A wallet that
        can't be refreshed keeps its older answer, with the source ``stale``.

    Raises
    ------
    ArgumentError, AddressError
        If `client` is not a `Client`, or a wallet can't be read.

    Examples
    --------
    >>> from walletframe.service import sandbox
    >>> with sandbox() as service, service.client(cache=False) as client:
    ...     panel = FetchPanel(["NEAR.alice.near"], client=client)
    ...     panel.fetch()
    ...     panel.cancel()
    ...     panel.retry()
    ...     panel.close()
    """

    _esm, _css = script("panel"), styles("picker", "fetch")
    _refresh = Bool().tag(sync=True)  # whether to bypass the cache
    _edition = Int().tag(sync=True)  # counts fetches; 0 before the first

    def __init__(self, wallets: KnownWallets = (), *, client: Client | None = None) -> None:
        require_client(client)
        self._client = client
        super().__init__(wallets)
        self.choose_all()
        self._handlers["fetch"] = lambda _: self.fetch()
        self._handlers["status"] = lambda _: wallet_status(*self.details)
        if is_details(wallets):
            self.details = as_details(wallets)

    @default("details")
    def _nothing(self) -> WalletDetails:
        return assemble([])

    @handler
    def fetch(self) -> None:
        """Fetch the pasted and selected wallets; none if a pasted line can't be read.

        It returns at once; `details` changes when the fetch ends. Errors are shown in the panel.
        """
        if not self.take_pasted():
            hint = "correct or delete the lines in the field, and fetch again"
            raise WalletframeError("nothing was fetched: some lines can't be read", hint=hint)
        hint = "paste some, or choose from the list"
        self._fetch(self.value, hint=hint, refresh=self._refresh)

    def retry(self) -> None:
        """Fetch again; wallets that are ok come from the cache."""
        self._ask_again()

    def _current_client(self) -> AbstractContextManager[Client]:
        return nullcontext(self._client or default_client())

    @observe("details")
    def _show(self, _change: object) -> None:
        self._edition += 1
