"""A row of buttons that fetches in the background, and what stands in for lost answers."""

from __future__ import annotations

import time
from collections import deque
from functools import partial
from threading import Event, Thread
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from ipywidgets import HTML, Button, HBox, IntProgress
from traitlets import Instance

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
from walletframe.pickers.pane import PATIENCE_S, Pane, guarded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from walletframe.client import Client

_SHOW_EVERY_S, _LATELY_S = 0.1, 15.0


class FetchBar(Pane):
    """Buttons to fetch, to cancel and to ask again; `details` is what was fetched last."""

    details = Instance(WalletDetails, allow_none=True, default_value=None)

    def __init__(
        self, start: Button, begin: Callable[[], None], client: Client | None = None, *, hint: str
    ) -> None:
        """Let the button `start` call `begin`, which calls `fetch`; `hint` is for no wallets."""
        super().__init__()
        self._start, self._client, self._hint = start, client, hint
        self._thread: Thread | None = None  # of the fetch that is under way
        self._cancelled = Event()
        self._endings.append(self._stop)
        self._asked: Sequence[str] | pd.DataFrame = ()
        self._keep: Sequence[str] = ()  # of its columns
        wide, hidden = {"width": "auto"}, {"width": "auto", "display": "none"}
        self._cancel = Button(description="Cancel", icon="stop", disabled=True, layout=wide)
        self._retry = Button(icon="repeat", layout=hidden)
        self._bar, self._status = IntProgress(layout=hidden), HTML(layout={"display": "none"})
        buttons = HBox([self._start, self._cancel, self._retry], layout={"flex_flow": "wrap"})
        self.children = (buttons, self._alert, self._status, self._bar)
        self._start.on_click(lambda _: begin())
        self._cancel.on_click(lambda _: self.cancel())
        self._retry.on_click(lambda _: self.retry())

    @guarded
    def fetch(
        self,
        wallets: Sequence[str] | pd.DataFrame,
        *,
        keep: Sequence[str] = (),
        refresh: bool = False,
    ) -> None:
        """Fetch in the background; nothing is begun while a fetch is under way."""
        if self._thread is not None:
            return
        self._show_error("")
        if not len(wallets):
            raise WalletframeError("no wallets to fetch", hint=self._hint)
        client = self._client or default_client()
        self._asked, self._keep = wallets, keep
        self._bar.value, self._bar.max = 0, len(wallets)
        self._show_status(f"0 of {many(len(wallets), 'wallet')}")
        self._show_busy(busy=True)
        self._cancelled = Event()
        work = partial(self._run, client, refresh=refresh)
        self._thread = Thread(target=work, name="walletframe-panel", daemon=True)
        self._thread.start()

    def retry(self) -> None:
        """Ask again for what is not ok; what is ok is taken from the cache."""
        self.fetch(self._asked, keep=self._keep)

    @guarded
    def cancel(self) -> None:
        """End the fetch that is under way, if any; what was finished is kept."""
        if self._thread is not None:
            self._cancel.disabled = True
            self._show_status("cancelling …")
            self._cancelled.set()

    def _stop(self) -> None:
        if (thread := self._thread) is not None:
            self._cancelled.set()
            thread.join(PATIENCE_S)

    def _run(self, client: Client, *, refresh: bool) -> None:
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
            result: WalletDetails | Exception = client.fetch(
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

    @guarded
    def _show_progress(self, done: int, total: int, counts: Mapping[str, int], left: str) -> None:
        self._bar.max, self._bar.value = total, done
        if not self._cancel.disabled:
            statuses = ", ".join(f"{count:,} {status}" for status, count in counts.items())
            text = f"{done:,} of {many(total, 'wallet')}"
            self._show_status(f"{text}, {left}" if left else text, statuses)

    @guarded
    def _finish(self, result: WalletDetails | Exception) -> None:
        self._thread = None
        self._show_busy(busy=False)
        if isinstance(result, Exception):
            raise result
        failed = int((~known_wallets(result.wallets)).sum())
        self._retry.description = f"Ask again for {failed:,} not ok"
        self._retry.layout.display = None if failed else "none"
        self.details = result

    def _show_status(self, text: str, more: str = "") -> None:
        self._status.value = f'<div role="status">{text}</div><div>{more}</div>'

    def _show_busy(self, *, busy: bool) -> None:
        self._start.disabled = self._retry.disabled = busy
        self._cancel.disabled = not busy
        self._bar.layout.display = self._status.layout.display = None if busy else "none"


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
