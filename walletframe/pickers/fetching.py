"""Widgets that fetch in the background: a base class, and the widget `FetchPanel`."""

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
from walletframe.frames.details import WalletDetails, as_details, is_pair_of_frames
from walletframe.frames.identity import encode_wallets
from walletframe.frames.known import known_mask
from walletframe.frames.schema import HOLDING_DTYPES, WALLET_DTYPES, AnswerSource
from walletframe.numerals import counted_noun
from walletframe.pickers.data import status_message
from walletframe.pickers.page import join_css, join_js
from walletframe.pickers.picker import WalletPicker
from walletframe.pickers.widget import MessageHandlingWidget, locked_handler

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from walletframe.address.lists import OnUnreadable
    from walletframe.client import Client
    from walletframe.pickers.picker import WalletSource

_PROGRESS_INTERVAL_S, _RECENT_S = 0.1, 15.0


class FetchingWidget(MessageHandlingWidget):
    """A widget that fetches in the background and shows the progress."""

    details: Instance[WalletDetails] = Instance(WalletDetails)
    _progress = Dict().tag(sync=True)  # done, total, text and more; empty without a fetch
    _retry_label = Unicode().tag(sync=True)  # the label of the button Retry; empty to hide it
    _on_unreadable: OnUnreadable = "raise"

    def __init__(self, *args: Any, **traits: Any) -> None:
        self._thread: Thread | None = None  # the thread of the running fetch
        self._cancelled = Event()
        self._requested: Sequence[str] | pd.DataFrame = ()
        self._keep: Sequence[str] = ()  # the extra columns to keep
        super().__init__(*args, **traits)
        self._handlers["cancel"] = lambda _: self.cancel()
        self._handlers["retry"] = lambda _: self._retry_fetch()

    def close(self) -> None:
        """Close this widget and stop its fetch."""
        if (thread := getattr(self, "_thread", None)) is not None:
            self._cancelled.set()
            thread.join(timeout=5.0)
        super().close()

    @locked_handler
    def cancel(self) -> None:
        """Cancel the running fetch, if any. The result contains all finished wallets.

        Examples
        --------
        >>> from walletframe.pickers import FetchPanel
        >>> panel = FetchPanel(["NEAR.alice.near"])
        >>> panel.cancel()
        >>> panel.close()
        """
        if self._thread is not None:
            self._cancelled.set()
            self._progress = {**self._progress, "text": "cancelling …", "more": ""}

    @abstractmethod
    def _client_context(self) -> AbstractContextManager[Client]:
        """Return a context manager that leaves the user's client and the default client open."""

    def _start_fetch(
        self,
        wallets: Sequence[str] | pd.DataFrame,
        *,
        hint: str = "",
        keep: Sequence[str] = (),
        refresh: bool = False,
    ) -> None:
        if self._thread is not None:
            return
        self._show_error("")
        if not len(wallets):
            raise WalletframeError("there are no wallets to fetch", hint=hint)
        client = self._client_context()
        self._requested, self._keep = wallets, keep
        text = f"0 of {counted_noun(len(wallets), 'wallet')}"
        self._progress = {"done": 0, "total": len(wallets), "text": text}
        self._cancelled = Event()
        run_fetch = partial(self._run_fetch, client, refresh=refresh)
        self._thread = Thread(target=run_fetch, name="walletframe-panel", daemon=True)
        self._thread.start()

    @locked_handler
    def _retry_fetch(self) -> None:
        self._start_fetch(self._requested, keep=self._keep)

    def _run_fetch(self, client: AbstractContextManager[Client], *, refresh: bool) -> None:
        samples, last_shown_s = deque([(time.monotonic(), 0)]), 0.0

        def report_progress(done: int, total: int, counts: Mapping[str, int]) -> None:
            nonlocal last_shown_s
            now_s = time.monotonic()
            if done == total or now_s - last_shown_s > _PROGRESS_INTERVAL_S:
                last_shown_s = now_s
                samples.append((now_s, done))
                self._show_progress(done, total, counts, format_time_left(samples, total))

        try:
            with client as current:
                result: WalletDetails | Exception = current.fetch(
                    self._requested,
                    keep=self._keep,
                    refresh=refresh,
                    progress=report_progress,
                    on_failure="ignore",
                    on_unreadable=self._on_unreadable,
                    cancel=self._cancelled,
                )
        except Exception as error:  # noqa: BLE001 - `_finish_fetch` raises it
            result = error
        self._finish_fetch(result)

    @locked_handler
    def _show_progress(self, done: int, total: int, counts: Mapping[str, int], eta: str) -> None:
        text = f"{done:,} of {counted_noun(total, 'wallet')}{', ' * bool(eta)}{eta}"
        more = ", ".join(f"{count:,} {status}" for status, count in counts.items())
        if self._cancelled.is_set():
            text, more = "cancelling …", ""
        self._progress = {"done": done, "total": total, "text": text, "more": more}

    @locked_handler
    def _finish_fetch(self, result: WalletDetails | Exception) -> None:
        self._thread = None
        self._progress = {}
        if isinstance(result, Exception):
            raise result
        self.details = _keep_older_answers(self.details, result)
        self._show_retry_button(result.wallets)

    def _show_retry_button(self, wallets: pd.DataFrame) -> None:
        unknown = int((~known_mask(wallets)).sum())
        counted = counted_noun(unknown, "unknown wallet")
        self._retry_label = f"Retry {'all ' * (unknown > 1)}{counted}" if unknown else ""


def format_time_left(samples: deque[tuple[float, int]], total: int) -> str:
    """Return a text such as ``about 20 s left``. A sample is (time in s, finished wallets)."""
    (start_s, before), (now_s, done) = samples[0], samples[-1]
    while len(samples) > 2 and now_s - start_s > _RECENT_S:  # noqa: PLR2004 - needed for a rate
        samples.popleft()
        start_s, before = samples[0]
    if done == before or done >= total:
        return ""
    seconds = (total - done) * (now_s - start_s) / (done - before)
    if seconds < 100:  # noqa: PLR2004 - otherwise in minutes
        return f"about {max(1, round(seconds))} s left"
    return f"about {round(seconds / 60)} min left"


def _keep_older_answers(previous: WalletDetails, latest: WalletDetails) -> WalletDetails:
    row_by_key = {key: row for row, key in enumerate(encode_wallets(latest.wallets).keys)}

    def positions_in_latest(frame: pd.DataFrame) -> np.ndarray:
        wallets = encode_wallets(frame)
        positions = [row_by_key.get(key, -1) for key in wallets.keys]
        return np.array(positions, dtype=np.intp)[wallets.codes]

    older = encode_wallets(previous.wallets).first
    positions = positions_in_latest(previous.wallets)[older]
    failed = (positions >= 0) & ~known_mask(latest.wallets)[positions]
    is_replaced = failed & known_mask(previous.wallets)[older]
    if not is_replaced.any():
        return latest
    older, positions = older[is_replaced], positions[is_replaced]
    reasons = latest.wallets["error"].iloc[positions].fillna("the reason is unknown")
    stale = previous.wallets.iloc[older].reindex(columns=latest.wallets.columns)
    stale = stale.set_axis(positions).assign(
        source=AnswerSource.STALE.value, error=[f"not refreshed: {reason}" for reason in reasons]
    )
    fresh = latest.wallets.drop(index=positions)
    wallets = pd.concat([fresh, stale.astype(WALLET_DTYPES)]).sort_index()
    old, new = map(positions_in_latest, (previous.holdings, latest.holdings))
    is_older_row = np.isin(old, positions)
    older_rows = previous.holdings[is_older_row].reindex(columns=list(HOLDING_DTYPES))
    holdings = pd.concat([latest.holdings, older_rows.astype(HOLDING_DTYPES)], ignore_index=True)
    order = np.concatenate([new, old[is_older_row]]).argsort(kind="stable")
    return WalletDetails(wallets, holdings.iloc[order].reset_index(drop=True))


class FetchPanel(FetchingWidget, WalletPicker):
    """A widget to pick wallets and fetch them in the background.

    Parameters
    ----------
    wallets : WalletDetails, or wallets in any form that `fetch_wallets` accepts
        The options, which are all selected at first. Other wallets can be pasted.
    client : Client, optional
        The client that sends the requests. Default: the default client (see `configure`).

    Attributes
    ----------
    details : WalletDetails
        The result of the last fetch. Before the first fetch, it is `wallets` if this argument is a
        WalletDetails, otherwise an empty result. The attribute can be observed and linked. After a
        cancelled fetch, unfinished wallets have the status ``cancelled``. Wallets that can't be
        refreshed keep older answers, with the source ``stale``.

    Raises
    ------
    ArgumentError, AddressError
        If `client` is not a `Client`, or if a wallet is not valid.

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

    _esm, _css = join_js("panel"), join_css("picker", "fetch")
    _refresh = Bool().tag(sync=True)  # whether to bypass the cache
    _edition = Int().tag(sync=True)  # the number of results so far

    def __init__(self, wallets: WalletSource = (), *, client: Client | None = None) -> None:
        require_client(client)
        self._client = client
        super().__init__(wallets)
        self.choose_all()
        self._handlers["fetch"] = lambda _: self.fetch()
        self._handlers["status"] = lambda _: status_message(*self.details)
        if is_pair_of_frames(wallets):
            self.details = as_details(wallets)

    @default("details")
    def _empty_details(self) -> WalletDetails:
        return assemble([])

    @locked_handler
    def fetch(self) -> None:
        """Fetch the selected and pasted wallets in the background.

        This method returns immediately; `details` changes when the fetch ends. If a pasted line
        can't be read, nothing is fetched. Errors are shown in the panel.
        """
        if not self.take_pasted():
            hint = "correct or delete the lines in the field, then fetch again"
            message = "nothing was fetched, because some pasted lines can't be read"
            raise WalletframeError(message, hint=hint)
        hint = "paste wallets, or select wallets from the list"
        self._start_fetch(self.value, hint=hint, refresh=self._refresh)

    def retry(self) -> None:
        """Repeat the last fetch. Wallets with the status ok are read from the cache."""
        self._retry_fetch()

    def _client_context(self) -> AbstractContextManager[Client]:
        return nullcontext(self._client or default_client())

    @observe("details")
    def _increment_edition(self, _change: object) -> None:
        self._edition += 1
