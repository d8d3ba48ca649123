"""A row of buttons that fetches in the background, with progress and the time left."""

from __future__ import annotations

import time
from collections import deque
from threading import Event, Thread
from typing import TYPE_CHECKING

from ipywidgets import HTML, Button, HBox, IntProgress, Layout
from traitlets import Instance

from walletframe.client import default_client
from walletframe.errors import WalletframeError
from walletframe.frames import WalletDetails, known_wallets
from walletframe.numerals import many
from walletframe.pickers.pane import PATIENCE_S, Pane, guarded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from walletframe.client import Client

_SHOW_EVERY_S = 0.1
_LATELY_S = 15.0
_AUTO = "auto"


class FetchBar(Pane):
    """Buttons to fetch, to cancel and to ask again; `details` is what was fetched last."""

    details = Instance(WalletDetails, allow_none=True, default_value=None)

    def __init__(
        self, start: Button, begin: Callable[[], None], client: Client | None = None, *, hint: str
    ) -> None:
        """Let the button `start` call `begin`, which calls `fetch`; `hint` is for no wallets."""
        super().__init__()
        self._start, self._client, self._hint = start, client, hint
        self._fetch: _BackgroundFetch | None = None
        self._on_close(self._stop)
        self._asked: Sequence[str] = ()
        self._cancel = Button(
            description="Cancel", icon="stop", disabled=True, layout={"width": _AUTO}
        )
        self._retry = Button(icon="repeat", layout={"width": _AUTO, "display": "none"})
        self._bar = IntProgress(layout=Layout(width=_AUTO, display="none"))
        self._status = HTML(layout=Layout(display="none"))
        buttons = HBox([self._start, self._cancel, self._retry], layout={"flex_flow": "wrap"})
        self.children = (buttons, self._alert, self._status, self._bar)
        self._start.on_click(lambda _: begin())
        self._cancel.on_click(lambda _: self.cancel())
        self._retry.on_click(lambda _: self.retry())

    @guarded
    def fetch(self, wallets: Sequence[str], *, refresh: bool = False) -> None:
        """Fetch in the background; nothing is begun while a fetch is under way."""
        if self._fetch is not None:
            return
        self._show_error("")
        if not wallets:
            raise WalletframeError("no wallets to fetch", hint=self._hint)
        client = self._client or default_client()
        self._asked = wallets
        self._bar.value, self._bar.max = 0, len(wallets)
        self._show_status(f"0 of {many(len(wallets), 'wallet')}")
        self._show_busy(busy=True)
        self._fetch = _BackgroundFetch(
            client, wallets, refresh=refresh, progress=self._show_progress, finish=self._finish
        )

    def retry(self) -> None:
        """Ask again for what is not ok; what is ok is taken from the cache."""
        self.fetch(self._asked)

    @guarded
    def cancel(self) -> None:
        """End the fetch that is under way, if any; what was finished is kept."""
        if self._fetch is not None:
            self._cancel.disabled = True
            self._show_status("cancelling …")
            self._fetch.cancel()

    def _stop(self) -> None:
        if self._fetch is not None:
            self._fetch.stop()

    @guarded
    def _show_progress(self, done: int, total: int, counts: Mapping[str, int], left: str) -> None:
        self._bar.max, self._bar.value = total, done
        if not self._cancel.disabled:
            statuses = ", ".join(f"{count:,} {status}" for status, count in counts.items())
            text = f"{done:,} of {many(total, 'wallet')}"
            self._show_status(f"{text}, {left}" if left else text, statuses)

    @guarded
    def _finish(self, result: WalletDetails | Exception) -> None:
        self._fetch = None
        self._show_busy(busy=False)
        if isinstance(result, Exception):
            raise result
        failed = int((~known_wallets(result.wallets, stale=True)).sum())
        self._retry.description = f"Ask again for {failed:,} not ok"
        self._retry.layout.display = None if failed else "none"
        self.details = result

    def _show_status(self, text: str, more: str = "") -> None:
        self._status.value = f'<div role="status">{text}</div><div>{more}</div>'

    def _show_busy(self, *, busy: bool) -> None:
        self._start.disabled = self._retry.disabled = busy
        self._cancel.disabled = not busy
        self._bar.layout.display = self._status.layout.display = None if busy else "none"


class _BackgroundFetch:
    """A fetch on a thread of its own, which calls `progress` and, at the end, `finish`."""

    def __init__(
        self,
        client: Client,
        wallets: Sequence[str],
        *,
        refresh: bool,
        progress: Callable[[int, int, Mapping[str, int], str], None],
        finish: Callable[[WalletDetails | Exception], None],
    ) -> None:
        self._cancel = Event()
        self._time_left, self._shown_s = TimeLeft(time.monotonic()), 0.0
        self._progress, self._finish = progress, finish
        self._thread = Thread(
            target=self._run,
            args=(client, wallets),
            kwargs={"refresh": refresh},
            name="walletframe-panel",
            daemon=True,
        )
        self._thread.start()

    def cancel(self) -> None:
        """End it soon: what is not finished by then has the status ``cancelled``."""
        self._cancel.set()

    def stop(self) -> None:
        """End it, and wait until it has ended."""
        self.cancel()
        self._thread.join(PATIENCE_S)

    def _run(self, client: Client, wallets: Sequence[str], *, refresh: bool) -> None:
        try:
            result: WalletDetails | Exception = client.fetch(
                wallets,
                progress=self._count,
                on_failure="ignore",
                cancel=self._cancel,
                refresh=refresh,
            )
        except Exception as error:  # noqa: BLE001 - shown by who is waiting for the end
            result = error
        self._finish(result)

    def _count(self, done: int, total: int, counts: Mapping[str, int]) -> None:
        now_s = time.monotonic()
        if done == total or now_s - self._shown_s > _SHOW_EVERY_S:
            self._shown_s = now_s
            self._time_left.note(now_s, done)
            self._progress(done, total, counts, self._time_left.text(total))


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
